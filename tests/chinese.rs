//! Pictures of the whole screen in Chinese, whose characters take two columns.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod stage;

use crossterm::event::{KeyCode, KeyModifiers};
use insta::assert_snapshot;
use limpid::conversation::{
    CallStatus, Failure, FailureKind, Place, Progress, Receipt, TransitionReason,
};
use limpid::text::{Language, speak};
use stage::Stage;

/// One picture at each of three sizes.
fn at_all_sizes(name: &str, play: impl Fn(&mut Stage)) {
    speak(Language::Chinese);
    for (columns, rows) in [(40, 10), (80, 24), (120, 40)] {
        let mut stage = Stage::new(columns, rows);
        play(&mut stage);
        assert_snapshot!(format!("{name}_{columns}x{rows}"), stage.screen());
    }
}

fn failed(stage: &mut Stage) {
    stage.two_turns();
    stage.decided(1, Some("pytest -q"), None);
    stage.started(1);
    let receipt = Receipt { produced: 48_100, lines: 1_204, sent: 1_900, cut: 46_200, file: None };
    stage.finished(1, CallStatus::Exited(1), 3_120, receipt, "1 failed\n(exit code 1)\n");
    stage.request();
    let failure = Failure::new(Place::Http, FailureKind::Auth, "Incorrect API key provided");
    stage.ended(TransitionReason::Failed(Failure { status: Some(401), ..failure }));
}

#[test]
fn an_empty_start() {
    at_all_sizes("empty", |_| {});
}

#[test]
fn a_running_command_and_a_queue() {
    at_all_sizes("running", |stage| {
        stage.two_turns();
        stage.decided(1, Some("pytest -q"), None);
        stage.started(1);
        let call = stage.call(1);
        stage.progress(Progress::Output { call, tail: "....F..\n".to_owned(), produced: 8 });
        stage.type_text("然后呢？");
        stage.press(KeyCode::Enter);
        stage.wait(3_100);
    });
}

#[test]
fn an_approval() {
    at_all_sizes("approval", |stage| {
        stage.two_turns();
        stage.ask(1);
        stage.frame();
        stage.wait(600);
    });
}

#[test]
fn a_failure_and_the_inspector() {
    at_all_sizes("failure", failed);
    at_all_sizes("inspector", |stage| {
        failed(stage);
        stage.frame();
        stage.press(KeyCode::BackTab);
        stage.press(KeyCode::Home);
        stage.press(KeyCode::Down);
    });
}

#[test]
fn a_call() {
    at_all_sizes("call", |stage| {
        failed(stage);
        stage.frame();
        stage.press(KeyCode::Tab);
        stage.press(KeyCode::Tab);
        stage.press(KeyCode::Enter);
    });
}

#[test]
fn help_and_palette() {
    at_all_sizes("help", |stage| stage.press(KeyCode::F(1)));
    at_all_sizes("palette", |stage| {
        stage.press_with(KeyCode::Char('p'), KeyModifiers::CONTROL);
    });
}
