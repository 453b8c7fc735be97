//! Which theme limpid takes on a real terminal: argument, settings, the user's own, `NO_COLOR`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use support::limpid::World;
use support::pty::Screen;

const OFFLINE: &str = "--offline";

fn own(world: &World, name: &str, text: &str) {
    let directory = world.home().join(".config/limpid/themes");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join(name), text).unwrap();
}

fn quit(mut screen: Screen) -> String {
    screen.keys("\x04");
    assert!(screen.end().success());
    assert!(screen.is_restored());
    String::from_utf8_lossy(&screen.raw).into_owned()
}

#[test]
fn the_dark_theme_paints_and_no_color_sends_no_colour() {
    let world = World::new();
    let raw = quit(Screen::start(&world, &[OFFLINE], 100, 30));
    assert!(raw.contains("48;5;233"), "the ground is painted: {raw:?}");
    for arguments in [&[OFFLINE][..], &[OFFLINE, "--theme", "light"]] {
        let mut screen = Screen::start_with(&world, arguments, 100, 30, &[("NO_COLOR", "1")]);
        if arguments.len() > 1 {
            screen.shows("NO_COLOR is set, so the theme stays none.");
        }
        screen.keys("/theme dark\r");
        screen.shows("NO_COLOR is set, so the theme stays none.");
        let raw = quit(screen);
        let coloured = ["[3", "[4", ";3", ";4"].iter().any(|code| {
            raw.split('\x1b').any(|escape| {
                escape.ends_with('m') && escape.contains(code) && !escape.starts_with("[39m")
            })
        });
        assert!(!coloured, "a colour was sent: {raw:?}");
    }
}

#[test]
fn a_theme_of_ones_own_is_used_listed_and_changed_in_the_session() {
    let world = World::new();
    own(&world, "sun.toml", "base = \"light\"\nground = \"#fdf6e3\"\n");
    let config = world.home().join(".config/limpid/config.toml");
    std::fs::write(config, "theme = \"sun\"\n").unwrap();
    let truecolor = [("COLORTERM", "truecolor")];
    let mut screen = Screen::start_with(&world, &[OFFLINE], 100, 30, &truecolor);
    screen.keys("/theme\r");
    screen.shows("✓  sun");
    screen.keys("\x1b");
    screen.hides("✓  sun");
    // Corrected while limpid runs: it is read anew.
    own(&world, "sun.toml", "base = \"light\"\nbad = \"rot\"\n");
    screen.keys("/theme sun\r");
    screen.shows(":2: \"rot\" is neither a colour");
    screen.keys("/theme high-contrast\r");
    screen.shows("Theme: high-contrast");
    let raw = quit(screen);
    assert!(raw.contains("48;2;253;246;227") && raw.contains("48;5;16"), "{raw:?}");
}

#[test]
fn a_theme_that_cannot_be_had_is_told_before_the_screen_opens() {
    let world = World::new();
    own(&world, "broken.toml", "base = \"dark\"\n\ngod = \"red\"\n");
    for (name, what) in [
        ("broken", "broken.toml:3: god is not a role. There are: base, ground, text"),
        ("nowhere", "there is no theme \"nowhere\", and none of your own in"),
        ("../config", "there is no theme \"../config\""),
    ] {
        let mut screen = Screen::open(&world, &[OFFLINE, "--theme", name], 200, 20, &[]);
        screen.shows(what);
        screen.shows("Nothing was started");
        assert_eq!(screen.end().exit_code(), 2);
        assert!(!screen.raw.contains(&0x1b), "no escape sequence");
    }
}
