//! The acting gate at the keyboard: keys that come too early, together or late decide nothing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod stage;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use limpid::conversation::Scope;
use limpid::tui::Input;
use stage::Stage;
use stage::approval::{allowed, armed, asked, burst};

/// A0
#[test]
fn with_text_in_the_draft_the_panel_takes_no_key_until_tab() {
    let mut stage = Stage::new(80, 24);
    stage.prompt("Do it.");
    stage.request();
    stage.type_text("please sa");
    stage.reply("", &["ls"]);
    stage.ask(1);
    stage.frame();
    stage.wait(2_000);
    stage.key('y', 600);
    assert!(stage.sent.is_empty());
    assert!(stage.screen().contains("please say"));
    assert!(stage.screen().contains("Tab: decide"));
    stage.press_for(KeyCode::Tab, 100);
    stage.key('y', 100);
    assert!(stage.sent.is_empty(), "moving to it disarms it for a moment");
    stage.wait(600);
    stage.key('y', 100);
    assert_eq!(stage.sent, [allowed(&stage, 1, "ls", Scope::Once)]);
    assert!(stage.screen().contains("please say"), "the draft is kept");
}

/// A1
#[test]
fn keys_typed_steadily_go_to_the_draft_and_decide_nothing() {
    let mut stage = Stage::new(80, 24);
    stage.prompt("Do it.");
    stage.request();
    stage.reply("", &["ls"]);
    for (index, c) in "yes always 1 a y".chars().enumerate() {
        stage.press(KeyCode::Char(c));
        if index == 2 {
            stage.ask(1);
        }
        stage.wait(40);
    }
    stage.press_for(KeyCode::Enter, 40);
    assert!(stage.sent.is_empty());
    assert!(stage.screen().contains("yes always 1 a y"));
    stage.wait(1_000);
    assert!(stage.sent.is_empty());
}

/// A1, from an empty draft: what is typed before the panel is armed is not lost.
#[test]
fn keys_before_arming_go_to_the_draft() {
    let mut stage = asked(&["ls"]);
    stage.wait(200);
    stage.key('y', 2_000);
    assert!(stage.sent.is_empty());
    assert!(stage.screen().contains("│ y "), "{}", stage.screen());
}

#[test]
fn a_panel_that_was_not_drawn_is_not_armed() {
    let mut stage = Stage::new(80, 24);
    stage.prompt("Do it.");
    stage.request();
    stage.reply("", &["ls"]);
    stage.ask(1);
    stage.now += std::time::Duration::from_secs(5);
    stage.key('y', 600);
    assert!(stage.sent.is_empty());
}

/// A2
#[test]
fn keys_in_a_burst_decide_nothing() {
    let mut stage = asked(&["ls"]);
    burst(&mut stage, "y\r\ra");
    stage.wait(2_000);
    assert!(stage.sent.is_empty());

    for keys in ["y\r\ra", "ya", "yes", "n\r", "no", "edit", "yy"] {
        let mut stage = armed(&["ls"]);
        burst(&mut stage, keys);
        stage.wait(2_000);
        assert!(stage.sent.is_empty(), "{keys:?}");
        assert!(stage.screen().contains("burst"), "{keys:?}\n{}", stage.screen());
        stage.key('y', 50);
        assert_eq!(stage.sent.len(), 1, "after a quiet moment it takes keys again: {keys:?}");
    }
}

#[test]
fn a_burst_disarms() {
    let mut stage = armed(&["ls"]);
    burst(&mut stage, "ya");
    stage.wait(100);
    stage.key('y', 100);
    assert!(stage.sent.is_empty());
}

/// A3
#[test]
fn pastes_decide_nothing() {
    for text in ["y", "1", "\r", "y\r", "a\u{1b}[A\u{1b}[B\r", "y\u{1b}[201~"] {
        let mut stage = armed(&["ls"]);
        stage.input(Input::Paste(text.to_owned()));
        assert!(stage.screen().contains("Paste ignored"));
        burst(&mut stage, "y\ra");
        stage.wait(400);
        assert!(stage.sent.is_empty());
    }
    let mut stage = armed(&["ls"]);
    stage.press(KeyCode::Char('y'));
    stage.input(Input::Paste("x".to_owned()));
    stage.wait(2_000);
    assert!(stage.sent.is_empty(), "a paste right after the key breaks it off");
}

#[test]
fn a_key_reported_as_held_down_decides_nothing() {
    let mut stage = armed(&["ls"]);
    for code in [KeyCode::Char('y'), KeyCode::Esc] {
        let held = KeyEvent::new_with_kind(code, KeyModifiers::NONE, KeyEventKind::Repeat);
        stage.input(Input::Key(held));
        stage.wait(600);
    }
    assert!(stage.sent.is_empty());
}

/// A2: keys that came together are told apart from keys that came alone by no clock that can stop.
#[test]
fn a_burst_decides_nothing_though_the_program_is_held_up() {
    let mut stage = armed(&["ls"]);
    stage.press(KeyCode::Char('y'));
    stage.stall(100);
    for key in ['e', 's'] {
        stage.press(KeyCode::Char(key));
    }
    stage.wait(50);
    assert!(stage.sent.is_empty());
}

/// A1: a key from before the panel could be read does not decide, however late it is taken.
#[test]
fn a_stall_is_no_quiet_time() {
    let mut stage = asked(&["ls"]);
    stage.stall(700);
    stage.key('y', 200);
    assert!(stage.sent.is_empty());
}

/// The same, where the program learns of the time before it learns of the keys.
#[test]
fn a_late_tick_waits_once_more_for_keys_that_are_on_their_way() {
    let mut stage = armed(&["ls"]);
    stage.press(KeyCode::Char('y'));
    stage.stall(100);
    stage.input(Input::Tick);
    stage.stall(5);
    stage.key('e', 50);
    assert!(stage.sent.is_empty());

    let mut stage = asked(&["ls"]);
    stage.stall(700);
    stage.input(Input::Tick);
    stage.key('y', 200);
    assert!(stage.sent.is_empty());
}

/// Being late is no reason to wait for ever.
#[test]
fn a_program_that_is_always_late_still_decides() {
    let mut stage = armed(&["ls"]);
    stage.press(KeyCode::Char('y'));
    for _ in 0..2 {
        stage.stall(60);
        stage.input(Input::Tick);
    }
    assert_eq!(stage.sent, [allowed(&stage, 1, "ls", Scope::Once)]);
}

#[test]
fn a_key_before_the_panel_is_armed_says_where_it_went_and_what_leads_back() {
    let mut stage = asked(&["ls"]);
    stage.press(KeyCode::Char('y'));
    let screen = stage.screen();
    assert!(screen.contains("Typed into the draft. Tab: decide."), "{screen}");
    stage.wait(2000);
    assert!(stage.sent.is_empty());
    stage.press_for(KeyCode::Tab, 600);
    stage.key('y', 50);
    assert_eq!(stage.sent, [allowed(&stage, 1, "ls", Scope::Once)]);
}
