//! Keys of the user's own: config.toml to the screen, and what is said of a mistake.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use support::limpid::{World, stderr, stdout};
use support::pty::Screen;
use support::server::{Server, text};

fn config(world: &World, text: &str) -> String {
    let folder = world.home().join(".config/limpid");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("config.toml");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn the_users_keys_work_and_footer_palette_and_help_show_them() {
    let world = World::new();
    config(
        &world,
        "[keys]\npreset = \"vi\"\npalette = [\"ctrl-k\", \"K\"]\n\n[keys.conversation]\nfold = \"space\"\n",
    );
    let mut screen = Screen::start(&world, &["--offline"], 120, 40);
    screen.shows("Ctrl-K commands");
    screen.keys("\x0b");
    screen.shows("lists every command and its key");
    screen.until("the palette's own key", |screen| {
        screen.lines().any(|line| line.contains("Ctrl-K") && line.contains("lists every command"))
    });
    screen.keys("\x1b");
    screen.hides("lists every command and its key");
    screen.keys("\t");
    screen.shows("▸Conversation");
    screen.keys("?");
    screen.until("the user's key for folding", |screen| {
        screen.lines().any(|line| line.contains("Space") && line.contains("folds or unfolds"))
    });
    screen.keys("\x1b");
    screen.hides("folds or unfolds");
    // As in vi, i leads to where one writes.
    screen.keys("i");
    screen.hides("▸Conversation");
    screen.keys("ik");
    screen.shows("│ ik");
}

#[test]
fn the_prompt_has_the_modes_of_vi() {
    let world = World::new();
    config(&world, "[keys]\npreset = \"vi\"\n");
    let server = Server::start(vec![text("Fine.")]);
    let url = server.url();
    let mut screen = Screen::start(&world, &["--url", &url, "--model", "m"], 100, 30);
    screen.keys("say hello twice");
    screen.shows("│ say hello twice");
    screen.keys("\x1b");
    screen.shows("Prompt · normal");
    screen.keys("bdw");
    screen.hides("twice");
    screen.keys("0");
    screen.keys("cw");
    screen.hides("· normal");
    screen.keys("cry");
    screen.shows("│ cry hello ");
    screen.keys("\x1b");
    screen.shows("· normal");
    screen.keys(":");
    screen.shows("lists every command and its key");
    screen.keys("\x1b");
    screen.hides("lists every command and its key");
    screen.keys("\r");
    screen.shows("Fine.");
    screen.shows("answered");
    screen.hides("· normal");
    screen.keys("x\x1b");
    screen.shows("· normal");
    // On the first row: the prompt before.
    screen.keys("k");
    screen.shows("│ cry hello ");
}

#[test]
fn a_mistake_is_named_with_its_line_and_nothing_starts() {
    let world = World::new();
    for (text, line, what) in [
        ("[keys]\n\ncoppy = \"y\"\n", 3, "coppy is no action: limpid config keys lists all"),
        ("[keys]\ncopy = \"hyper-y\"\n", 2, "hyper-y is no key"),
        ("[keys]\npalette = \"ctrl-m\"\n", 2, "the same for ctrl-m and Enter"),
        ("[keys]\ncopy = \"y\"\npalette = \"ctrl-t\"\n", 3, "it is models there"),
        ("[keys]\npreset = \"nano\"\n", 2, "there are emacs and vi"),
        ("[keys]\ncopy = 7\n", 2, "must be a key in quotes or a list of keys"),
        ("[keys.kitchen]\ncopy = \"y\"\n", 2, "kitchen is no place"),
        (
            "[keys]\ndeny = \"x\"\nedit = \"x\"\n",
            3,
            "x cannot be edit in approval: it is deny there",
        ),
        ("[keys]\nallow-once = \"enter\"\n", 2, "only letters (a to z, A to Z) and digits can"),
    ] {
        let path = config(&world, text);
        let output = world.run(&["config"]);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(&format!("{path}:{line}: ")) && told.contains(what), "{told}");
    }
}

#[test]
fn config_lists_the_wishes_and_all_keys() {
    let world = World::new();
    let path = config(&world, "[keys]\npreset = \"vi\"\n[keys.tools]\ncopy = [\"c\", \"f5\"]\n");
    let told = stdout(&world.run(&["config"]));
    assert!(told.contains("tools.copy = c f5") && told.contains(&format!("{path}:4")), "{told}");
    let listed = stdout(&world.run(&["config", "keys"]));
    let (_, tools) = listed.split_once("[keys.tools]\n").expect(&listed);
    let row = tools.lines().find(|line| line.starts_with("copy ")).unwrap();
    assert!(row.contains("c F5") && row.contains("copies the text at hand"), "{row}");
    assert!(
        tools.lines().any(|line| line.starts_with("page-down") && line.contains("PgDn Ctrl-D"))
    );
}
