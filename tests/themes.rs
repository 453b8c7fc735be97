//! How the screen looks in its themes, and that nothing is said by colour alone.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod stage;

use crossterm::event::KeyCode;
use insta::assert_snapshot;
use limpid::conversation::{CallStatus, Failure, FailureKind, Place, Receipt, TransitionReason};
use stage::Stage;

const THEMES: [&str; 3] = ["dark", "light", "high-contrast"];

fn asked(stage: &mut Stage) {
    stage.two_turns();
    stage.ask(1);
    stage.frame();
    stage.wait(600);
}

fn failed_call(stage: &mut Stage) {
    stage.two_turns();
    stage.decided(1, Some("pytest -q"), None);
    stage.started(1);
    let receipt = Receipt { produced: 30, lines: 2, sent: 30, cut: 0, file: None };
    stage.finished(1, CallStatus::Exited(1), 90, receipt, "1 failed\n(exit code 1)\n");
    stage.request();
    let why = "dashscope.example rejected the key in DASHSCOPE_API_KEY.";
    let failure = Failure::new(Place::Http, FailureKind::Auth, why);
    stage.ended(TransitionReason::Failed(Failure { status: Some(401), ..failure }));
    stage.press(KeyCode::BackTab);
    stage.press(KeyCode::Down);
}

#[test]
fn pictures_in_three_themes() {
    for theme in THEMES {
        for (columns, rows) in [(40, 10), (80, 24), (120, 40), (200, 60)] {
            let mut stage = Stage::with_theme(columns, rows, theme);
            asked(&mut stage);
            let picture = stage.screen() + &stage.styles();
            assert_snapshot!(format!("{theme}_{columns}x{rows}"), picture);
        }
        let mut stage = Stage::with_theme(80, 24, theme);
        failed_call(&mut stage);
        let picture = stage.screen() + &stage.styles();
        assert_snapshot!(format!("{theme}_failure_80x24"), picture);
    }
}

/// The row of the screen that holds this.
fn row(screen: &str, text: &str) -> String {
    let found = screen.lines().find(|line| line.contains(text));
    found.unwrap_or_else(|| panic!("no {text:?} in\n{screen}")).to_owned()
}

#[test]
fn without_colour_each_state_has_its_mark_or_word() {
    // Where the panes are tabs, the one in sight has brackets as well.
    for (columns, rows, focus) in [(80, 24, "[Inspector]"), (120, 40, "▸Inspector")] {
        let mut stage = Stage::with_theme(columns, rows, "none");
        asked(&mut stage);
        let screen = stage.screen();
        assert!(row(&screen, "Allow this command?").contains("╔═"), "the panel:\n{screen}");
        assert!(row(&screen, "y once").contains('▸'), "keys decide:\n{screen}");
        assert!(screen.contains("waiting"), "the call waits:\n{screen}");

        let mut stage = Stage::with_theme(columns, rows, "none");
        failed_call(&mut stage);
        let screen = stage.screen();
        assert!(row(&screen, focus).contains('▸'), "the focus:\n{screen}");
        assert!(row(&screen, "2 user").contains('▸'), "the selected row:\n{screen}");
        assert!(!row(&screen, "1 system").contains('▸'), "another row:\n{screen}");
        let mut stage = Stage::with_theme(columns, rows, "none");
        stage.two_turns();
        let screen = stage.screen();
        assert!(row(&screen, "Prompt ").contains('▸'), "the focus:\n{screen}");
        assert!(!screen.contains(focus), "no focus:\n{screen}");
    }
    let mut stage = Stage::with_theme(80, 24, "none");
    stage.type_text("/");
    let screen = stage.screen();
    assert!(screen.contains("│▸/help "), "the word that Tab takes:\n{screen}");
    assert!(screen.contains("│ /continue "), "another word:\n{screen}");
    let mut stage = Stage::with_theme(120, 40, "none");
    failed_call(&mut stage);
    let screen = stage.screen();
    assert!(row(&screen, "2 bash").contains('✗'), "the call went wrong:\n{screen}");
    assert!(row(&screen, "did not answer").contains('✗'), "the failure:\n{screen}");
}

#[test]
fn the_theme_changes_in_the_session() {
    let mut stage = Stage::new(80, 24);
    stage.two_turns();
    let dark = stage.styles();
    stage.type_text("/theme light");
    stage.press(KeyCode::Enter);
    let screen = stage.screen();
    assert!(screen.contains("Theme: light"), "{screen}");
    assert_ne!(stage.styles(), dark);
    stage.type_text("/theme drak");
    stage.press(KeyCode::Enter);
    let screen = stage.screen();
    assert!(screen.contains("there is no theme \"drak\""), "{screen}");
    stage.type_text("/theme");
    stage.press(KeyCode::Enter);
    let screen = stage.screen();
    assert!(screen.contains("▸✓  light") && !screen.contains("✓  dark"), "{screen}");
    stage.press(KeyCode::Up);
    stage.press(KeyCode::Enter);
    let screen = stage.screen();
    assert!(screen.contains("✓  dark"), "the list stays open:\n{screen}");
    stage.press(KeyCode::Esc);
    assert!(stage.sent.is_empty(), "no word of it is for the model");
}
