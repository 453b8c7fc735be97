//! What the approval panel shows, and that only what it showed is allowed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod stage;

use crossterm::event::{KeyCode, KeyModifiers};
use limpid::conversation::{
    CallStatus, Command, DecidedBy, Receipt, Record, Scope, TransitionReason,
};
use limpid::tui::Input;
use stage::Stage;
use stage::approval::{allowed, armed, asked};

/// A9
#[test]
fn allowing_needs_every_row_to_have_been_on_the_screen() {
    let harmful = format!("echo {}; rm -rf ~", "x".repeat(3_000));
    let lines = (1..=200).map(|n| format!("echo {n}")).collect::<Vec<_>>().join("\n");
    for command in [harmful, lines] {
        let mut stage = armed(&[&command]);
        for key in ['y', 'a'] {
            stage.press(KeyCode::Char(key));
            stage.wait(600);
        }
        assert!(stage.sent.is_empty());
        assert!(stage.screen().contains("Scroll through the whole command"));
        // The end alone is not all of it.
        for key in [KeyCode::End, KeyCode::Char('y'), KeyCode::Home, KeyCode::Char('y')] {
            stage.press(key);
            stage.wait(600);
        }
        assert!(stage.sent.is_empty());
        for _ in 0..100 {
            stage.press(KeyCode::PageDown);
        }
        stage.wait(600);
        stage.key('y', 50);
        assert_eq!(stage.sent, [allowed(&stage, 1, &command, Scope::Once)]);
    }
}

#[test]
fn a_field_has_a_row_of_text_in_every_window_or_is_not_handed_over() {
    let command = "echo one\necho two\necho three";
    for key in ['e', 'r'] {
        for (columns, rows) in [(60, 16), (60, 14), (40, 12), (40, 10), (40, 8), (40, 7), (30, 8)] {
            let mut stage = armed(&[command]);
            stage.key(key, 50);
            stage.resize(columns, rows);
            stage.type_text("XY");
            let screen = stage.screen();
            let size = format!("{columns}x{rows}");
            let cursor = screen.lines().find(|line| line.contains("XY")).expect(&screen);
            assert!(cursor.starts_with('║'), "{size}: {screen}");
            assert!(screen.contains("cursor at"), "{size}: {screen}");
            if columns >= 60 && key == 'e' {
                assert!(screen.contains("3 lines · 30 characters"), "of the edited text: {screen}");
            }
        }
        let mut stage = armed(&[command]);
        stage.key(key, 50);
        stage.resize(40, 5);
        stage.type_text("XY");
        let screen = stage.screen();
        assert!(screen.contains("Enlarge the window to write"), "{screen}");
        assert!(!screen.contains("Enter"), "{screen}");
        stage.press(KeyCode::Enter);
        assert!(stage.sent.is_empty(), "nothing that was not seen is handed over");
        stage.resize(80, 24);
        assert!(stage.screen().contains("XY"), "{}", stage.screen());
    }
}

#[test]
fn many_blank_lines_are_counted_and_cannot_hide_what_follows() {
    let command = format!("ls{}rm -rf x", "\n".repeat(24 * 60));
    let mut stage = armed(&[&command]);
    let screen = stage.screen();
    assert!(screen.contains("⋯ 1439 blank lines ⋯") && screen.contains("rm -rf x"), "{screen}");
}

/// A10, A11
#[test]
fn what_cannot_be_seen_is_spelled_out() {
    let command = "a\u{1b}[2K\u{1b}[1A\r\u{8}\u{7}\u{1b}]52;c;x\u{7}\u{7f}\u{0}\u{9b}b\u{202e}\u{2066}\u{200b}\u{feff}\u{ad}\u{e0041}";
    let mut stage = armed(&[command]);
    let screen = stage.screen();
    for shown in [
        "\\x1b[2K",
        "\\x1b[1A",
        "\\r",
        "\\x08",
        "\\x07",
        "\\x1b]52;c;x",
        "\\x7f",
        "\\x00",
        "<U+009B>",
        "<U+202E>",
        "<U+2066>",
        "<U+200B>",
        "<U+FEFF>",
        "<U+00AD>",
        "<U+E0041>",
    ] {
        assert!(screen.contains(shown), "{shown} in\n{screen}");
    }
    stage.key('y', 50);
    assert_eq!(stage.sent, [allowed(&stage, 1, command, Scope::Once)], "the bytes are not changed");
}

/// A12
#[test]
fn text_of_the_model_cannot_draw_the_panel() {
    let fake = "╔═ Allow this command? ═══╗\n║ y once ║\n╚════════╝\nApproved, running `ls`.";
    let mut stage = Stage::new(80, 24);
    stage.prompt("Do it.");
    stage.request();
    stage.text(fake);
    stage.frame();
    stage.wait(1_000);
    stage.key('y', 100);
    assert!(stage.sent.is_empty());
    for row in stage.screen().lines().filter(|row| row.contains('╔') || row.contains('║')) {
        assert!(row.starts_with("│ "), "inside the conversation's border: {row}");
    }
}

/// A13
#[test]
fn an_edited_command_is_shown_anew_before_it_runs() {
    let mut stage = armed(&["ls"]);
    stage.key('e', 100);
    stage.type_text(" -l");
    stage.press(KeyCode::Enter);
    assert!(stage.sent.is_empty(), "Enter does not run it");
    let screen = stage.screen();
    assert!(screen.contains("edited by you") && screen.contains("ls -l"), "{screen}");
    stage.wait(100);
    stage.key('y', 600);
    assert!(stage.sent.is_empty(), "disarmed after the edit");
}

#[test]
fn an_edited_command_is_what_runs() {
    let mut stage = armed(&["ls"]);
    stage.key('e', 100);
    stage.type_text(" -l");
    stage.press_for(KeyCode::Enter, 600);
    stage.key('a', 600);
    assert!(stage.sent.is_empty(), "not for the session");
    stage.key('y', 50);
    assert_eq!(stage.sent, [allowed(&stage, 1, "ls -l", Scope::Once)]);
}

/// A14
#[test]
fn an_edit_is_looked_at_as_a_whole_and_must_not_be_empty() {
    let mut stage = armed(&["ls"]);
    stage.key('e', 100);
    stage.press(KeyCode::Backspace);
    stage.press(KeyCode::Backspace);
    stage.type_text(" ");
    stage.press(KeyCode::Enter);
    assert!(stage.screen().contains("Edit the command"), "it stays in the editor");
    stage.press_with(KeyCode::Char('j'), KeyModifiers::CONTROL);
    stage.input(Input::Paste("sudo reboot".to_owned()));
    stage.wait(100);
    stage.press_for(KeyCode::Enter, 600);
    let screen = stage.screen();
    assert!(screen.contains("danger: ") && screen.contains("sudo reboot"), "{screen}");
    assert!(stage.sent.is_empty());
}

/// A20
#[test]
fn in_a_window_too_small_nothing_is_armed() {
    for (columns, rows) in [(20, 4), (1, 1)] {
        let mut stage = asked(&["ls"]);
        stage.resize(columns, rows);
        stage.frame();
        stage.wait(2_000);
        stage.key('y', 100);
        assert!(stage.sent.is_empty());
    }
    let mut stage = armed(&["ls"]);
    stage.resize(20, 8);
    assert!(stage.screen().contains("Enlarge the window"));
    stage.wait(2_000);
    stage.key('y', 100);
    assert!(stage.sent.is_empty());
}

#[test]
fn a_resize_has_to_be_drawn_before_a_key_decides() {
    let mut stage = armed(&["ls"]);
    stage.press(KeyCode::Char('y'));
    stage.resize(100, 30);
    stage.wait(1_000);
    assert!(stage.sent.is_empty());
}

#[test]
fn blank_lines_that_a_command_would_write_are_shown_one_by_one() {
    for command in ["cat > x <<E\na\n\n\n\n\n\nb\nE", "printf 'a\n\n\n\n\n\nb' > x"] {
        let screen = asked(&[command]).screen();
        assert!(!screen.contains("blank lines ⋯"), "{screen}");
        for number in 1..=command.lines().count() {
            assert!(screen.contains(&format!("║ {number}")), "line {number}\n{screen}");
        }
    }
}

#[test]
fn in_a_narrow_window_the_command_comes_first_and_the_title_warns() {
    let mut stage = Stage::new(40, 10);
    stage.prompt("Do it.");
    stage.request();
    stage.reply("", &["sudo rm -rf /"]);
    stage.ask(1);
    let screen = stage.screen();
    assert!(screen.contains("Danger! Allow this command?"), "{screen}");
    assert!(screen.contains("║ sudo rm -rf /"), "{screen}");
    assert!(screen.contains("PgDn: more") && screen.contains("row "), "{screen}");
    stage.wait(600);
    // A screen at a time, and every row on the way is shown.
    let mut presses = 0;
    while !stage.screen().contains("▸ y") || stage.screen().contains("PgDn: more") {
        stage.press_for(KeyCode::PageDown, 600);
        presses += 1;
        assert!(presses < 5, "{}", stage.screen());
    }
    stage.key('y', 50);
    assert_eq!(stage.sent, [allowed(&stage, 1, "sudo rm -rf /", Scope::Once)]);
}

#[test]
fn what_is_allowed_for_the_session_is_marked_listed_and_revoked() {
    let mut stage = Stage::new(120, 40);
    let submit = |stage: &mut Stage, word: &str| {
        stage.type_text(word);
        stage.press(KeyCode::Enter);
    };
    stage.prompt("Do it.");
    stage.request();
    stage.reply("", &["ls -l", "pwd"]);
    stage.decided_by(1, DecidedBy::UserForSession);
    stage.started(1);
    stage.finished(1, CallStatus::Exited(0), 20, Receipt::default(), "x");
    stage.ran(2, "x");
    stage.ended(TransitionReason::Answered);
    let screen = stage.screen();
    let row = |word: &str| screen.lines().find(|line| line.contains(word)).unwrap().to_owned();
    assert!(row("bash ls -l").contains("allowed for this session"), "{screen}");
    assert!(!row("bash pwd").contains("allowed for this session"), "{screen}");
    submit(&mut stage, "/allowed");
    let screen = stage.screen();
    assert!(screen.contains("Allowed for this session, unasked:"), "{screen}");
    assert!(screen.contains("/revoke ends this; so does /clear."), "{screen}");
    submit(&mut stage, "/revoke");
    assert_eq!(stage.sent, [Command::Revoke]);
    stage.record(Record::Revoked);
    assert!(stage.screen().contains("every command asks again"), "{}", stage.screen());
    submit(&mut stage, "/allowed");
    assert!(stage.screen().contains("Nothing is allowed for the session"), "{}", stage.screen());
}
