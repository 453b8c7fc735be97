//! What the built-in themes promise, and how mistakes in a theme are told.

#![allow(clippy::unwrap_used, clippy::panic)]

use ratatui::style::{Color, Modifier};

use super::colour::mixture;
use super::*;

fn built_in(name: &str) -> Theme {
    let (_, text) = BUILT_IN.iter().find(|(known, _)| *known == name).unwrap();
    Theme::read(name, text, false).unwrap()
}

/// How bright a colour is, after WCAG 2.
fn luminance(colour: Color) -> f64 {
    let Color::Indexed(index) = colour else { panic!("{colour:?} is mixed by the terminal") };
    let [red, green, blue] = mixture(index).unwrap().map(|part| {
        let part = f64::from(part) / 255.0;
        if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

fn contrast(one: Color, other: Color) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn black_on_white_is_twenty_one_to_one() {
    let (black, white) = (Color::Indexed(16), Color::Indexed(231));
    assert!((contrast(black, white) - 21.0).abs() < 1e-9);
    assert!((contrast(white, white) - 1.0).abs() < 1e-9);
}

#[test]
fn every_text_stands_out_from_what_is_behind_it() {
    for (name, least) in [("dark", 4.5), ("light", 4.5), ("high-contrast", 7.0)] {
        let theme = built_in(name);
        let text = theme.style(Look::Text);
        for (role, look) in Look::ALL {
            let style = theme.style(*look);
            assert!(
                !style.add_modifier.intersects(Modifier::DIM | Modifier::REVERSED),
                "{name}: nobody can tell how {role} is mixed"
            );
            let (fg, bg) = (style.fg.or(text.fg).unwrap(), style.bg.or(text.bg).unwrap());
            let contrast = contrast(fg, bg);
            assert!(contrast >= least, "{name}: {role} has {contrast:.2}:1");
        }
    }
}

#[test]
fn a_theme_without_colours_has_none() {
    let theme = built_in("none");
    for (role, look) in Look::ALL {
        let style = theme.style(*look);
        let plain = |colour: Option<Color>| colour.is_none_or(|colour| colour == Color::Reset);
        assert!(plain(style.fg) && plain(style.bg), "{role}");
    }
}

#[test]
fn the_terminals_sixteen_are_enough_for_ansi() {
    let theme = built_in("ansi");
    for (role, look) in Look::ALL {
        let style = theme.style(*look);
        let mixed = |colour| matches!(colour, Some(Color::Indexed(_) | Color::Rgb(..)));
        assert!(!mixed(style.fg) && !mixed(style.bg), "{role}");
    }
}

#[test]
fn a_theme_of_ones_own_changes_what_it_names() {
    let text = "base = \"light\"\nground = \"#fdf6e3\"\nbad = \"bright-red on black struck\"\n";
    let own = Theme::read("own", text, true).unwrap();
    let light = built_in("light");
    assert_eq!(own.style(Look::Good), light.style(Look::Good));
    let ground = Some(Color::Rgb(0xfd, 0xf6, 0xe3));
    assert_eq!(own.style(Look::Text), Style { bg: ground, ..light.style(Look::Text) });
    let bad = Style::new().fg(Color::LightRed).bg(Color::Black);
    assert_eq!(own.style(Look::Bad), bad.add_modifier(Modifier::CROSSED_OUT));
    // Where mixtures cannot be shown, the nearest of the 256 stands in.
    let near = Theme::read("own", text, false).unwrap();
    assert_eq!(near.style(Look::Text).bg, Some(Color::Indexed(230)));
}

#[test]
fn a_mistake_is_told_with_its_line_and_the_way_out() {
    for (text, line, what) in [
        ("base = \"dark\"\n\ngood = \n", 3, "this is not TOML"),
        ("base = \"drak\"", 1, "base must be the name of a built-in theme: dark, light"),
        ("base = \"dark\"\ngod = \"red\"", 2, "god is not a role. There are: base, ground, text"),
        ("base = \"dark\"\ngood = 3", 2, "good must be a text in quotes"),
        ("base = \"dark\"\n[good]\nfg = 1", 2, "good must be a text in quotes"),
        ("base = \"dark\"\ngood = \"#12345\"", 2, "\"#12345\" is neither a colour"),
        ("base = \"dark\"\ngood = \"#+12345\"", 2, "is neither a colour"),
        ("base = \"dark\"\nground = \"reddish\"", 2, "\"reddish\" is not a colour"),
        ("base = \"dark\"\ngood = \"red on\"", 2, "\"\" is not a colour"),
        ("base = \"dark\"\ngood = \"on red\"", 2, "needs one for the text as well"),
        ("base = \"dark\"\ngood = \"red blue\"", 2, "the one behind it is written: on blue"),
        ("text = \"red\"", 1, "the role dim is missing. Name it, or start from another theme"),
    ] {
        let error = Theme::read("own", text, true).unwrap_err();
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.what.contains(what), "{text}: {error}");
    }
}
