//! The room that panes have, and the mouse.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod stage;
mod support;

use crossterm::event::{KeyCode, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use limpid::conversation::{CallStatus, DecidedBy, Receipt, TransitionReason};
use limpid::tui::Input;
use stage::Stage;
use support::limpid::World;
use support::pty::Screen;

fn worked(columns: u16, rows: u16) -> Stage {
    let mut stage = Stage::new(columns, rows);
    stage.two_turns();
    stage.frame();
    stage
}

/// The columns at which panes begin in the second row of the screen.
fn corners(stage: &mut Stage) -> Vec<usize> {
    let screen = stage.screen();
    let row = screen.lines().nth(1).unwrap();
    row.chars().enumerate().filter(|(_, c)| *c == '╭').map(|(at, _)| at).collect()
}

#[test]
fn a_pane_takes_all_the_room_and_gives_it_back() {
    let mut stage = worked(120, 40);
    let before = stage.screen();
    stage.press(KeyCode::Tab);
    stage.press(KeyCode::Char('f'));
    assert_eq!(corners(&mut stage), [0]);
    assert!(stage.screen().contains("[Conversation] Tools"), "{}", stage.screen());
    assert!(stage.screen().contains("f all panes"), "{}", stage.screen());
    stage.press(KeyCode::Tab);
    assert!(stage.screen().contains("Conversation [Tools"), "the room goes with the keys");
    stage.press(KeyCode::Esc);
    stage.type_text("x");
    assert!(stage.screen().contains("Conversation [Tools"), "and stays while one writes");
    assert!(stage.screen().contains("│ x "), "what is written is in sight");
    stage.press(KeyCode::Backspace);
    stage.press(KeyCode::Tab);
    stage.press(KeyCode::Char('f'));
    stage.press(KeyCode::Esc);
    assert_eq!(stage.screen(), before);
}

#[test]
fn what_is_sent_brings_the_conversation_back_into_sight() {
    let mut stage = worked(120, 40);
    stage.reply("Two files, both fine.", &[]);
    stage.ended(TransitionReason::Answered);
    stage.press(KeyCode::BackTab);
    stage.press(KeyCode::Char('f'));
    assert!(!stage.screen().contains("both fine"), "{}", stage.screen());
    stage.press(KeyCode::Esc);
    stage.type_text("Thanks");
    assert!(!stage.screen().contains("both fine"), "{}", stage.screen());
    stage.press(KeyCode::Enter);
    let screen = stage.screen();
    assert!(screen.contains("both fine") && screen.contains("Inspector"), "{screen}");
    // The conversation alone stays alone.
    stage.ended(TransitionReason::Answered);
    stage.press(KeyCode::Tab);
    stage.press(KeyCode::Char('f'));
    stage.press(KeyCode::Esc);
    stage.type_text("/allowed");
    stage.press(KeyCode::Enter);
    assert_eq!(corners(&mut stage), [0]);
}

#[test]
fn a_narrow_list_of_calls_leaves_columns_out_instead_of_cutting_them() {
    let mut stage = Stage::new(100, 40);
    stage.two_turns();
    stage.decided_by(1, DecidedBy::UserForSession);
    stage.started(1);
    let receipt = Receipt { produced: 3, lines: 1, sent: 3, cut: 0, file: None };
    stage.finished(1, CallStatus::Exited(1), 83_000, receipt, "no\n");
    stage.frame();
    stage.press(KeyCode::Tab);
    let row = |stage: &mut Stage| {
        let screen = stage.screen();
        screen.lines().find(|line| line.contains("✗ 2 ")).unwrap().to_owned()
    };
    for _ in 0..8 {
        let row = row(&mut stage);
        let row = row.rsplit_once("✗ 2 bash").unwrap().1.trim_end_matches(['│', ' ']);
        let ends = ["1 min 23 s", "exit 1", "pytest -q"].iter().any(|end| row.ends_with(end));
        assert!(ends, "{}", stage.screen());
        let (exit, time) = (row.contains("exit 1"), row.contains("1 min 23 s"));
        assert!(exit || !time, "{row}");
        stage.press(KeyCode::Char('>'));
    }
    assert!(!row(&mut stage).contains("min"), "it was narrow: {}", stage.screen());
    let screen = stage.screen();
    let sizes = screen.lines().filter(|line| line.contains("=  1 system"));
    assert!(sizes.clone().count() > 0, "{screen}");
    for line in sizes {
        assert!(
            line.contains(" B") || line.trim_end_matches(['│', ' ']).ends_with("system"),
            "{line}"
        );
    }
}

#[test]
fn a_message_has_the_same_size_before_it_is_sent_and_afterwards() {
    for format in ["openai-chat", "anthropic", "openai-responses"] {
        let world = World::new();
        let mut screen = Screen::start(&world, &["--offline", "--format", format], 120, 40);
        screen.shows("Not sent yet. With your first prompt");
        let row = |screen: &Screen, name: &str| {
            let shown = screen.text();
            let row = shown.lines().find(|line| line.contains("│ +") && line.contains(name));
            row.expect(&shown).rsplit("│ +").next().unwrap().trim_matches([' ', '│']).to_owned()
        };
        let before = ["system ", " tools "].map(|name| row(&screen, name));
        screen.ask("Hello");
        screen.shows("turn ‹[1]›");
        let after = ["system ", " tools "].map(|name| row(&screen, name));
        assert_eq!(before, after, "{format}");
        assert!(before[0].contains(" B") || before[0].contains(" kB"), "{before:?}");
    }
}

#[test]
fn the_splits_are_moved_within_limits_and_stay() {
    let mut stage = worked(120, 40);
    assert_eq!(corners(&mut stage), [0, 63]);
    stage.press(KeyCode::Tab);
    stage.press(KeyCode::Char('<'));
    assert_eq!(corners(&mut stage), [0, 58]);
    for _ in 0..30 {
        stage.press(KeyCode::Char('<'));
    }
    assert_eq!(corners(&mut stage), [0, 30]);
    for _ in 0..30 {
        stage.press(KeyCode::Char('>'));
    }
    let widest = corners(&mut stage);
    assert_eq!(widest, [0, 92]);
    let tools = |stage: &mut Stage| {
        let screen = stage.screen();
        screen.lines().position(|line| line.contains("Inspector ─")).unwrap()
    };
    let before = tools(&mut stage);
    stage.press(KeyCode::Char('+'));
    assert!(tools(&mut stage) > before);
    for _ in 0..30 {
        stage.press(KeyCode::Char('-'));
    }
    assert!(tools(&mut stage) >= 5, "{}", stage.screen());
    stage.resize(80, 24);
    stage.press(KeyCode::Char('f'));
    assert!(stage.screen().contains("One pane at a time here"), "{}", stage.screen());
    stage.resize(120, 40);
    assert_eq!(corners(&mut stage), widest);
}

fn mouse(stage: &mut Stage, kind: MouseEventKind, column: u16, row: u16) {
    stage.input(Input::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }));
    stage.frame();
}

#[test]
fn the_mouse_is_off_until_it_is_asked_for_and_then_scrolls_and_focuses() {
    let mut stage = Stage::new(120, 40);
    stage.prompt("Count");
    stage.request();
    let lines: Vec<String> = (1..=60).map(|n| format!("- item {n}")).collect();
    stage.reply(&lines.join("\n"), &[]);
    stage.frame();
    assert!(!stage.mouse);
    stage.press_with(KeyCode::Char('m'), KeyModifiers::ALT);
    assert!(stage.mouse);
    assert!(stage.screen().contains("Mouse on."), "{}", stage.screen());
    assert!(stage.screen().contains("item 60"));
    for _ in 0..4 {
        mouse(&mut stage, MouseEventKind::ScrollUp, 10, 10);
    }
    assert!(!stage.screen().contains("item 60"), "{}", stage.screen());
    mouse(&mut stage, MouseEventKind::Down(MouseButton::Left), 100, 30);
    assert!(stage.screen().contains("▸Inspector"), "{}", stage.screen());
    mouse(&mut stage, MouseEventKind::Down(MouseButton::Left), 10, 37);
    stage.type_text("written");
    assert!(stage.screen().contains("written"));
    stage.press_with(KeyCode::Char('m'), KeyModifiers::ALT);
    assert!(!stage.mouse);
}

#[test]
fn a_click_decides_about_no_command() {
    let mut stage = Stage::new(120, 40);
    stage.prompt("Look");
    stage.request();
    stage.reply("", &["ls"]);
    stage.ask(1);
    stage.frame();
    stage.wait(2_000);
    for row in (0..40).step_by(2) {
        for column in (0..120).step_by(7) {
            mouse(&mut stage, MouseEventKind::Down(MouseButton::Left), column, row);
            mouse(&mut stage, MouseEventKind::ScrollDown, column, row);
        }
    }
    stage.wait(2_000);
    assert!(stage.sent.is_empty(), "{:?}", stage.sent);
}

#[test]
fn the_terminal_has_the_mouse_again_after_a_stop_and_at_the_end() {
    let world = World::new();
    let mut screen = Screen::start(&world, &["--offline"], 100, 30);
    let raw = |screen: &Screen| String::from_utf8_lossy(&screen.raw).into_owned();
    assert!(!raw(&screen).contains("\x1b[?1000h"));
    screen.keys("/mouse");
    screen.shows("/mouse");
    screen.keys("\r");
    screen.shows("Mouse on.");
    assert!(raw(&screen).contains("\x1b[?1000h\x1b[?1006h"));
    // A click into the conversation, as a terminal sends it.
    screen.keys("\x1b[<0;10;5M\x1b[<0;10;5m");
    screen.shows("▸Conversation");
    screen.keys("\x1b");
    screen.hides("▸Conversation");
    screen.keys("/quit");
    screen.shows("/quit");
    screen.keys("\r");
    assert!(screen.end().success());
    assert!(screen.is_restored());
}

#[test]
fn the_footer_offers_to_scroll_only_what_is_longer_than_its_place() {
    for (lines, scrolls) in [(1, false), (60, true)] {
        let mut stage = Stage::new(80, 24);
        stage.prompt("go");
        stage.request();
        stage.reply("I look.", &["true\n".repeat(lines).trim_end()]);
        stage.ask(1);
        stage.frame();
        stage.wait(600);
        assert_eq!(stage.footer().contains("PgDn scroll"), scrolls, "{}", stage.screen());
        stage.ran(1, &"a line\n".repeat(lines));
        stage.press(KeyCode::Tab);
        stage.press(KeyCode::Tab);
        stage.press(KeyCode::Enter);
        assert_eq!(stage.footer().contains("PgDn scroll"), scrolls, "{}", stage.screen());
    }
}

#[test]
fn a_calls_row_cuts_no_figure_in_a_narrow_pane() {
    let mut stage = Stage::new(40, 10);
    stage.prompt("go");
    stage.request();
    stage.reply("I look.", &["find . -maxdepth 1"]);
    stage.ran(1, "./a.py\n[exit code 0]");
    stage.request();
    let screen = stage.screen();
    assert!(screen.contains("✓ bash find .… · exit 0 · sent 20 B │"), "{screen}");
}

#[test]
fn the_help_says_where_one_is() {
    let mut stage = Stage::new(80, 24);
    stage.press(KeyCode::F(1));
    assert!(stage.screen().contains(" rows 1–20 of "), "{}", stage.screen());
}
