//! The acting gate at the keyboard: what decides, and above all what does not.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod stage;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use limpid::conversation::{
    CallStatus, Command, DecidedBy, Decision, Receipt, Record, Scope, TransitionReason,
};
use limpid::tui::{Input, KeySetting, Keymap};
use stage::Stage;

fn asked(commands: &[&str]) -> Stage {
    let mut stage = Stage::new(80, 24);
    stage.prompt("Do it.");
    stage.request();
    stage.reply("", commands);
    stage.ask(1);
    stage.frame();
    stage
}

fn armed(commands: &[&str]) -> Stage {
    let mut stage = asked(commands);
    stage.wait(600);
    stage
}

fn allowed(stage: &Stage, nth: usize, command: &str, scope: Scope) -> Command {
    let decision = Decision::Allow { command: command.to_owned(), scope };
    Command::Decide { call: stage.call(nth), decision }
}

fn denied(stage: &Stage, nth: usize, reason: Option<&str>) -> Command {
    let decision = Decision::Deny { reason: reason.map(str::to_owned) };
    Command::Decide { call: stage.call(nth), decision }
}

fn burst(stage: &mut Stage, keys: &str) {
    for c in keys.chars() {
        stage.press(if c == '\r' { KeyCode::Enter } else { KeyCode::Char(c) });
    }
}

#[test]
fn a_lone_y_on_the_armed_panel_allows_what_is_shown() {
    let mut stage = armed(&["ls *.py"]);
    stage.press(KeyCode::Char('y'));
    assert!(stage.sent.is_empty(), "not before it is sure that the key stays alone");
    stage.wait(50);
    assert_eq!(stage.sent, [allowed(&stage, 1, "ls *.py", Scope::Once)]);
    stage.press(KeyCode::Char('y'));
    stage.wait(600);
    assert_eq!(stage.sent.len(), 1, "one decision for one call");
}

#[test]
fn a_allows_for_the_session() {
    let mut stage = armed(&["ls *.py"]);
    stage.press(KeyCode::Char('a'));
    stage.wait(50);
    assert_eq!(stage.sent, [allowed(&stage, 1, "ls *.py", Scope::Session)]);
}

#[test]
fn a_is_not_offered_for_dangerous_commands() {
    let mut stage = armed(&["sudo ls"]);
    stage.press(KeyCode::Char('a'));
    stage.wait(600);
    assert!(stage.sent.is_empty());
    assert!(stage.screen().contains("\"a\" is not offered: not for a dangerous command"));
    assert!(stage.screen().contains("danger: "));
}

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
    stage.press(KeyCode::Char('y'));
    stage.wait(600);
    assert!(stage.sent.is_empty());
    assert!(stage.screen().contains("please say"));
    assert!(stage.screen().contains("Tab: decide"));
    stage.press(KeyCode::Tab);
    stage.wait(100);
    stage.press(KeyCode::Char('y'));
    stage.wait(100);
    assert!(stage.sent.is_empty(), "moving to it disarms it for a moment");
    stage.wait(600);
    stage.press(KeyCode::Char('y'));
    stage.wait(100);
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
    stage.press(KeyCode::Enter);
    stage.wait(40);
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
    stage.press(KeyCode::Char('y'));
    stage.wait(2_000);
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
    stage.press(KeyCode::Char('y'));
    stage.wait(600);
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
        stage.press(KeyCode::Char('y'));
        stage.wait(50);
        assert_eq!(stage.sent.len(), 1, "after a quiet moment it takes keys again: {keys:?}");
    }
}

#[test]
fn a_burst_disarms() {
    let mut stage = armed(&["ls"]);
    burst(&mut stage, "ya");
    stage.wait(100);
    stage.press(KeyCode::Char('y'));
    stage.wait(100);
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

/// A4
#[test]
fn in_fields_every_key_is_text() {
    let mut stage = armed(&["ls"]);
    stage.press(KeyCode::Char('r'));
    stage.wait(100);
    stage.type_text("any 1 reason: y, n");
    stage.press(KeyCode::Delete);
    stage.wait(2_000);
    assert!(stage.sent.is_empty());
    stage.press(KeyCode::Enter);
    assert_eq!(stage.sent, [denied(&stage, 1, Some("any 1 reason: y, n"))]);
}

#[test]
fn esc_leaves_the_reason_and_nothing_is_decided() {
    let mut stage = armed(&["ls"]);
    stage.press(KeyCode::Char('r'));
    stage.wait(100);
    stage.type_text("hm");
    stage.press(KeyCode::Esc);
    stage.wait(1_000);
    assert!(stage.sent.is_empty());
    assert!(stage.screen().contains("deny with reason"));
}

/// A5
#[test]
fn enter_and_space_do_not_allow_and_esc_denies_this_call() {
    let mut stage = armed(&["ls"]);
    stage.press(KeyCode::Enter);
    stage.wait(600);
    stage.press(KeyCode::Char(' '));
    stage.wait(600);
    assert!(stage.sent.is_empty());
    assert!(!stage.quit);
    stage.press(KeyCode::Esc);
    stage.wait(50);
    assert_eq!(stage.sent, [denied(&stage, 1, None)]);
    assert!(!stage.quit);
}

/// A6
#[test]
fn a_key_that_repeats_decides_one_call() {
    let mut stage = armed(&["ls", "rm x"]);
    stage.press(KeyCode::Char('y'));
    stage.wait(20);
    stage.press(KeyCode::Char('y'));
    stage.wait(11);
    assert_eq!(stage.sent, [allowed(&stage, 1, "ls", Scope::Once)]);
    stage.ran(1, "x\n");
    stage.ask(2);
    stage.frame();
    stage.wait(9);
    stage.press(KeyCode::Char('y'));
    stage.wait(20);
    stage.press(KeyCode::Char('y'));
    stage.wait(2_000);
    assert_eq!(stage.sent.len(), 1, "call 2 is pending");
    assert!(stage.screen().contains("2 of 2"));
}

#[test]
fn esc_held_down_denies_one_call() {
    let mut stage = armed(&["ls", "rm x"]);
    stage.press(KeyCode::Esc);
    stage.wait(40);
    assert_eq!(stage.sent, [denied(&stage, 1, None)]);
    stage.decided(1, None, None);
    stage.ask(2);
    stage.frame();
    for _ in 0..20 {
        stage.press(KeyCode::Esc);
        stage.wait(33);
    }
    assert_eq!(stage.sent.len(), 1);
    stage.wait(600);
    stage.press(KeyCode::Esc);
    stage.wait(40);
    assert_eq!(stage.sent[1], denied(&stage, 2, None));
}

/// A7
#[test]
fn three_calls_are_decided_one_by_one() {
    let mut stage = armed(&["one", "two", "three"]);
    assert!(stage.screen().contains("1 of 3"));
    stage.press(KeyCode::Char('y'));
    stage.wait(50);
    stage.ran(1, "1\n");
    stage.ask(2);
    stage.frame();
    stage.wait(600);
    assert!(stage.screen().contains("2 of 3"));
    stage.press(KeyCode::Char('n'));
    stage.wait(50);
    stage.decided(2, None, None);
    stage.ask(3);
    stage.frame();
    stage.wait(600);
    assert!(stage.screen().contains("3 of 3"));
    stage.press(KeyCode::Char('y'));
    stage.wait(50);
    let expected = [
        allowed(&stage, 1, "one", Scope::Once),
        denied(&stage, 2, None),
        allowed(&stage, 3, "three", Scope::Once),
    ];
    assert_eq!(stage.sent, expected);
}

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
        stage.press(KeyCode::Char('y'));
        stage.wait(50);
        assert_eq!(stage.sent, [allowed(&stage, 1, &command, Scope::Once)]);
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
    stage.press(KeyCode::Char('y'));
    stage.wait(50);
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
    stage.press(KeyCode::Char('y'));
    stage.wait(100);
    assert!(stage.sent.is_empty());
    for row in stage.screen().lines().filter(|row| row.contains('╔') || row.contains('║')) {
        assert!(row.starts_with("│ "), "inside the conversation's border: {row}");
    }
}

/// A13
#[test]
fn an_edited_command_is_shown_anew_before_it_runs() {
    let mut stage = armed(&["ls"]);
    stage.press(KeyCode::Char('e'));
    stage.wait(100);
    stage.type_text(" -l");
    stage.press(KeyCode::Enter);
    assert!(stage.sent.is_empty(), "Enter does not run it");
    let screen = stage.screen();
    assert!(screen.contains("edited by you") && screen.contains("ls -l"), "{screen}");
    stage.wait(100);
    stage.press(KeyCode::Char('y'));
    stage.wait(600);
    assert!(stage.sent.is_empty(), "disarmed after the edit");
}

#[test]
fn an_edited_command_is_what_runs() {
    let mut stage = armed(&["ls"]);
    stage.press(KeyCode::Char('e'));
    stage.wait(100);
    stage.type_text(" -l");
    stage.press(KeyCode::Enter);
    stage.wait(600);
    stage.press(KeyCode::Char('a'));
    stage.wait(600);
    assert!(stage.sent.is_empty(), "not for the session");
    stage.press(KeyCode::Char('y'));
    stage.wait(50);
    assert_eq!(stage.sent, [allowed(&stage, 1, "ls -l", Scope::Once)]);
}

/// A14
#[test]
fn an_edit_is_looked_at_as_a_whole_and_must_not_be_empty() {
    let mut stage = armed(&["ls"]);
    stage.press(KeyCode::Char('e'));
    stage.wait(100);
    stage.press(KeyCode::Backspace);
    stage.press(KeyCode::Backspace);
    stage.type_text(" ");
    stage.press(KeyCode::Enter);
    assert!(stage.screen().contains("Edit the command"), "it stays in the editor");
    stage.press_with(KeyCode::Char('j'), KeyModifiers::CONTROL);
    stage.input(Input::Paste("sudo reboot".to_owned()));
    stage.wait(100);
    stage.press(KeyCode::Enter);
    stage.wait(600);
    let screen = stage.screen();
    assert!(screen.contains("danger: ") && screen.contains("sudo reboot"), "{screen}");
    assert!(stage.sent.is_empty());
}

/// A15
#[test]
fn denying_with_and_without_a_reason() {
    let mut stage = armed(&["ls"]);
    stage.press(KeyCode::Char('n'));
    stage.wait(50);
    assert_eq!(stage.sent, [denied(&stage, 1, None)]);

    let mut stage = armed(&["ls"]);
    stage.press(KeyCode::Char('r'));
    stage.wait(100);
    stage.press(KeyCode::Enter);
    assert_eq!(stage.sent, [denied(&stage, 1, None)]);
}

/// A20
#[test]
fn in_a_window_too_small_nothing_is_armed() {
    for (columns, rows) in [(20, 4), (1, 1)] {
        let mut stage = asked(&["ls"]);
        stage.resize(columns, rows);
        stage.frame();
        stage.wait(2_000);
        stage.press(KeyCode::Char('y'));
        stage.wait(100);
        assert!(stage.sent.is_empty());
    }
    let mut stage = armed(&["ls"]);
    stage.resize(20, 8);
    assert!(stage.screen().contains("Enlarge the window"));
    stage.wait(2_000);
    stage.press(KeyCode::Char('y'));
    stage.wait(100);
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
fn a_refused_decision_can_be_made_again() {
    let mut stage = armed(&["ls"]);
    stage.press(KeyCode::Char('y'));
    stage.wait(50);
    let command = stage.sent.pop().unwrap();
    stage.model.refused(command);
    assert!(stage.screen().contains("Busy"));
    stage.wait(600);
    stage.press(KeyCode::Char('y'));
    stage.wait(50);
    assert_eq!(stage.sent.len(), 1);
}

#[test]
fn esc_in_a_pane_moves_to_the_panel_and_denies_nothing() {
    let mut stage = armed(&["ls"]);
    stage.press(KeyCode::Tab);
    stage.wait(600);
    stage.press(KeyCode::Char('y'));
    stage.wait(600);
    assert!(stage.sent.is_empty(), "the conversation has the keys");
    assert!(stage.screen().contains("Esc: decide"));
    stage.press(KeyCode::Esc);
    stage.wait(100);
    stage.press(KeyCode::Esc);
    stage.wait(600);
    assert!(stage.sent.is_empty(), "an Esc too many");
    stage.press(KeyCode::Char('y'));
    stage.wait(50);
    assert_eq!(stage.sent, [allowed(&stage, 1, "ls", Scope::Once)]);
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
    let mut stage = Stage::new(100, 30);
    stage.prompt("go");
    stage.request();
    stage.reply("", &["ls"]);
    stage.ask(1);
    stage.frame();
    stage.stall(700);
    stage.press(KeyCode::Char('y'));
    stage.wait(200);
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
    stage.press(KeyCode::Char('e'));
    stage.wait(50);
    assert!(stage.sent.is_empty());

    let mut stage = Stage::new(100, 30);
    stage.prompt("go");
    stage.request();
    stage.reply("", &["ls"]);
    stage.ask(1);
    stage.frame();
    stage.stall(700);
    stage.input(Input::Tick);
    stage.press(KeyCode::Char('y'));
    stage.wait(200);
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
        stage.press(KeyCode::PageDown);
        stage.wait(600);
        presses += 1;
        assert!(presses < 5, "{}", stage.screen());
    }
    stage.press(KeyCode::Char('y'));
    stage.wait(50);
    assert_eq!(stage.sent, [allowed(&stage, 1, "sudo rm -rf /", Scope::Once)]);
}

#[test]
fn a_key_before_the_panel_is_armed_says_where_it_went_and_what_leads_back() {
    let mut stage = asked(&["ls"]);
    stage.press(KeyCode::Char('y'));
    let screen = stage.screen();
    assert!(screen.contains("Typed into the draft. Tab: decide."), "{screen}");
    stage.wait(2000);
    assert!(stage.sent.is_empty());
    stage.press(KeyCode::Tab);
    stage.wait(600);
    stage.press(KeyCode::Char('y'));
    stage.wait(50);
    assert_eq!(stage.sent, [allowed(&stage, 1, "ls", Scope::Once)]);
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
        stage.press(KeyCode::Backspace);
        stage.wait(600);
    }
    stage.press(KeyCode::F(1));
    let names_it = |stage: &mut Stage| {
        stage.screen().lines().any(|row| row.contains(" x ") && row.contains("runs the command"))
    };
    let found = (0..20).any(|_| {
        stage.press(KeyCode::PageDown);
        names_it(&mut stage)
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
    stage.press(KeyCode::Char('d'));
    stage.wait(50);
    assert_eq!(stage.sent, [denied(&stage, 1, None)]);
}

#[test]
fn a_key_of_the_users_own_decides_no_sooner_and_in_no_burst() {
    let mut stage = armed_with_own_keys();
    stage.press(KeyCode::Char('x'));
    stage.wait(50);
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
