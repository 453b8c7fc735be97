//! The acting gate at the keyboard: which key decides what, call by call.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod stage;

use crossterm::event::{KeyCode, KeyModifiers};
use limpid::conversation::{Command, Scope};
use limpid::tui::{Input, KeySetting, Keymap};
use stage::Stage;
use stage::approval::{allowed, armed, asked, burst, denied};

#[test]
fn a_lone_y_on_the_armed_panel_allows_what_is_shown() {
    let mut stage = armed(&["ls *.py"]);
    stage.press(KeyCode::Char('y'));
    assert!(stage.sent.is_empty(), "not before it is sure that the key stays alone");
    stage.wait(50);
    assert_eq!(stage.sent, [allowed(&stage, 1, "ls *.py", Scope::Once)]);
    stage.key('y', 600);
    assert_eq!(stage.sent.len(), 1, "one decision for one call");
}

#[test]
fn a_allows_for_the_session() {
    let mut stage = armed(&["ls *.py"]);
    stage.key('a', 50);
    assert_eq!(stage.sent, [allowed(&stage, 1, "ls *.py", Scope::Session)]);
}

#[test]
fn a_is_not_offered_for_dangerous_commands() {
    let mut stage = armed(&["sudo ls"]);
    stage.key('a', 600);
    assert!(stage.sent.is_empty());
    assert!(stage.screen().contains("\"a\" is not offered: not for a dangerous command"));
    assert!(stage.screen().contains("danger: "));
}

/// A4
#[test]
fn in_fields_every_key_is_text() {
    let mut stage = armed(&["ls"]);
    stage.key('r', 100);
    stage.type_text("any 1 reason: y, n");
    stage.press_for(KeyCode::Delete, 2_000);
    assert!(stage.sent.is_empty());
    stage.press(KeyCode::Enter);
    assert_eq!(stage.sent, [denied(&stage, 1, Some("any 1 reason: y, n"))]);
}

#[test]
fn esc_leaves_the_reason_and_nothing_is_decided() {
    let mut stage = armed(&["ls"]);
    stage.key('r', 100);
    stage.type_text("hm");
    stage.press_for(KeyCode::Esc, 1_000);
    assert!(stage.sent.is_empty());
    assert!(stage.screen().contains("deny with reason"));
}

/// A5
#[test]
fn enter_and_space_do_not_allow_and_esc_denies_this_call() {
    let mut stage = armed(&["ls"]);
    stage.press_for(KeyCode::Enter, 600);
    stage.key(' ', 600);
    assert!(stage.sent.is_empty());
    assert!(!stage.quit);
    stage.press_for(KeyCode::Esc, 50);
    assert_eq!(stage.sent, [denied(&stage, 1, None)]);
    assert!(!stage.quit);
}

/// A6
#[test]
fn a_key_that_repeats_decides_one_call() {
    let mut stage = armed(&["ls", "rm x"]);
    stage.key('y', 20);
    stage.key('y', 11);
    assert_eq!(stage.sent, [allowed(&stage, 1, "ls", Scope::Once)]);
    stage.ran(1, "x\n");
    stage.ask(2);
    stage.frame();
    stage.wait(9);
    stage.key('y', 20);
    stage.key('y', 2_000);
    assert_eq!(stage.sent.len(), 1, "call 2 is pending");
    assert!(stage.screen().contains("2 of 2"));
}

#[test]
fn esc_held_down_denies_one_call() {
    let mut stage = armed(&["ls", "rm x"]);
    stage.press_for(KeyCode::Esc, 40);
    assert_eq!(stage.sent, [denied(&stage, 1, None)]);
    stage.decided(1, None, None);
    stage.ask(2);
    stage.frame();
    for _ in 0..20 {
        stage.press_for(KeyCode::Esc, 33);
    }
    assert_eq!(stage.sent.len(), 1);
    stage.wait(600);
    stage.press_for(KeyCode::Esc, 40);
    assert_eq!(stage.sent[1], denied(&stage, 2, None));
}

/// A7
#[test]
fn three_calls_are_decided_one_by_one() {
    let mut stage = armed(&["one", "two", "three"]);
    assert!(stage.screen().contains("1 of 3"));
    stage.key('y', 50);
    stage.ran(1, "1\n");
    stage.ask(2);
    stage.frame();
    stage.wait(600);
    assert!(stage.screen().contains("2 of 3"));
    stage.key('n', 50);
    stage.decided(2, None, None);
    stage.ask(3);
    stage.frame();
    stage.wait(600);
    assert!(stage.screen().contains("3 of 3"));
    stage.key('y', 50);
    let expected = [
        allowed(&stage, 1, "one", Scope::Once),
        denied(&stage, 2, None),
        allowed(&stage, 3, "three", Scope::Once),
    ];
    assert_eq!(stage.sent, expected);
}

/// A15
#[test]
fn denying_with_and_without_a_reason() {
    let mut stage = armed(&["ls"]);
    stage.key('n', 50);
    assert_eq!(stage.sent, [denied(&stage, 1, None)]);

    let mut stage = armed(&["ls"]);
    stage.key('r', 100);
    stage.press(KeyCode::Enter);
    assert_eq!(stage.sent, [denied(&stage, 1, None)]);
}

#[test]
fn a_refused_decision_can_be_made_again() {
    let mut stage = armed(&["ls"]);
    stage.key('y', 50);
    let command = stage.sent.pop().unwrap();
    stage.model.refused(command);
    assert!(stage.screen().contains("Busy"));
    stage.wait(600);
    stage.key('y', 50);
    assert_eq!(stage.sent.len(), 1);
}

#[test]
fn esc_in_a_pane_moves_to_the_panel_and_denies_nothing() {
    let mut stage = armed(&["ls"]);
    stage.press_for(KeyCode::Tab, 600);
    stage.key('y', 600);
    assert!(stage.sent.is_empty(), "the conversation has the keys");
    assert!(stage.screen().contains("Esc: decide"));
    stage.press_for(KeyCode::Esc, 100);
    stage.press_for(KeyCode::Esc, 600);
    assert!(stage.sent.is_empty(), "an Esc too many");
    stage.key('y', 50);
    assert_eq!(stage.sent, [allowed(&stage, 1, "ls", Scope::Once)]);
}

#[test]
fn ctrl_c_stops_while_a_call_is_asked_for() {
    let mut stage = asked(&["ls"]);
    stage.press_with(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(stage.sent, [Command::Stop]);
    assert!(!stage.quit);
    stage.wait(500);
    stage.press_with(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert!(stage.quit);
}

/// A panel in which `x` allows and `d` denies.
fn armed_with_own_keys() -> Stage {
    let (x, d) = (["x".to_owned()], ["d".to_owned()]);
    let settings = [
        KeySetting { place: None, action: "allow-once", keys: &x },
        KeySetting { place: Some("approval"), action: "deny", keys: &d },
    ];
    let mut stage = Stage::with_keymap(80, 24, Keymap::new(None, &settings).unwrap());
    stage.prompt("Do it.");
    stage.request();
    stage.reply("", &["ls *.py"]);
    stage.ask(1);
    stage.frame();
    stage
}

#[test]
fn a_key_of_the_users_own_decides_and_the_key_that_did_does_not() {
    let mut stage = armed_with_own_keys();
    stage.wait(600);
    let screen = stage.screen();
    assert!(screen.contains("▸ x once") && screen.contains("  d deny"), "{screen}");
    for key in ['y', 'n'] {
        stage.press(KeyCode::Char(key));
        stage.wait(600);
        assert!(stage.sent.is_empty(), "{key}: {:?}", stage.sent);
        stage.press_for(KeyCode::Backspace, 600);
    }
    stage.press(KeyCode::F(1));
    let names_it = |stage: &mut Stage| {
        stage.screen().lines().any(|row| row.contains(" x ") && row.contains("runs the command"))
    };
    let found = (0..20).any(|_| {
        let found = names_it(&mut stage);
        stage.press(KeyCode::PageDown);
        found
    });
    assert!(found, "{}", stage.screen());
    stage.press(KeyCode::Esc);
    stage.frame();
    stage.wait(600);
    stage.press(KeyCode::Char('x'));
    assert!(stage.sent.is_empty(), "not before it is sure that the key stays alone");
    stage.wait(50);
    assert_eq!(stage.sent, [allowed(&stage, 1, "ls *.py", Scope::Once)]);

    let mut stage = armed_with_own_keys();
    stage.wait(600);
    stage.key('d', 50);
    assert_eq!(stage.sent, [denied(&stage, 1, None)]);
}

#[test]
fn a_key_of_the_users_own_decides_no_sooner_and_in_no_burst() {
    let mut stage = armed_with_own_keys();
    stage.key('x', 50);
    assert!(stage.sent.is_empty(), "too early");
    let mut stage = armed_with_own_keys();
    stage.wait(600);
    burst(&mut stage, "xd");
    stage.wait(600);
    assert!(stage.sent.is_empty(), "a burst");
    let mut stage = armed_with_own_keys();
    stage.wait(600);
    stage.input(Input::Paste("x".to_owned()));
    stage.wait(600);
    assert!(stage.sent.is_empty(), "a paste");
}
