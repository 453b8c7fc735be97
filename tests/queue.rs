//! Prompts submitted while the model works: listed, edited, removed, sent in order, or sent into
//! the running turn.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod stage;

use crossterm::event::{KeyCode, KeyModifiers};
use limpid::conversation::{
    Asker, CallFinished, CallId, CallProposed, CallState, CallStatus, Command, Receipt, Record,
    TransitionReason,
};
use stage::Stage;

fn running(columns: u16, rows: u16) -> Stage {
    let mut stage = Stage::new(columns, rows);
    stage.prompt("one");
    stage.request();
    stage
}

fn submit(stage: &mut Stage, text: &str) {
    stage.type_text(text);
    stage.press(KeyCode::Enter);
}

fn prompt(text: &str) -> Command {
    Command::Prompt(text.to_owned())
}

fn ctrl(stage: &mut Stage, c: char) {
    stage.press_with(KeyCode::Char(c), KeyModifiers::CONTROL);
}

#[test]
fn prompts_wait_in_sight_and_follow_one_by_one() {
    let mut stage = running(80, 24);
    submit(&mut stage, "two");
    submit(&mut stage, "three");
    assert!(stage.sent.is_empty());
    let screen = stage.screen();
    assert!(screen.contains(" 2 queued · Ctrl-S"), "{screen}");
    assert!(screen.contains("   · two\n   · three\n"), "{screen}");
    stage.ended(TransitionReason::Answered);
    assert_eq!(stage.sent, [prompt("two")]);
    stage.prompt("two");
    stage.request();
    assert!(stage.screen().contains(" 1 queued"), "{}", stage.screen());
    stage.ended(TransitionReason::Answered);
    assert_eq!(stage.sent, [prompt("two"), prompt("three")]);
    assert!(!stage.screen().contains("queued"));
}

#[test]
fn a_stopped_or_failed_prompt_holds_the_queue() {
    for reason in [TransitionReason::Stopped, TransitionReason::TurnLimit(50)] {
        let mut stage = running(80, 24);
        submit(&mut stage, "two");
        stage.ended(reason);
        assert!(stage.sent.is_empty());
        let screen = stage.screen();
        assert!(
            screen.contains("1 queued, held · Enter in an empty prompt sends the next"),
            "{screen}"
        );
        assert!(screen.contains("Queue held: Enter in an empty prompt"), "{screen}");
        stage.press(KeyCode::Enter);
        assert_eq!(stage.sent, [prompt("two")]);
    }
}

#[test]
fn the_last_one_is_taken_back_or_removed() {
    let mut stage = running(80, 24);
    submit(&mut stage, "two");
    submit(&mut stage, "three");
    stage.press(KeyCode::Up);
    let screen = stage.screen();
    assert!(screen.contains("│ three") && screen.contains(" 1 queued"), "{screen}");
    submit(&mut stage, "!");
    assert!(stage.screen().contains("   · three!"), "{}", stage.screen());
    ctrl(&mut stage, 'u');
    let screen = stage.screen();
    assert!(!screen.contains("three!") && screen.contains("Removed from the queue"), "{screen}");
    ctrl(&mut stage, 'y');
    assert!(stage.screen().contains("│ three!"), "{}", stage.screen());
    stage.ended(TransitionReason::Answered);
    assert_eq!(stage.sent, [prompt("two")]);
}

#[test]
fn any_of_them_is_taken_out_edited_in_its_place_or_removed() {
    let mut stage = running(80, 24);
    for text in ["two", "three", "four"] {
        submit(&mut stage, text);
    }
    stage.press(KeyCode::Up);
    stage.press(KeyCode::Up);
    stage.press(KeyCode::Up);
    assert!(stage.screen().contains("   · three\n   · four\n"), "{}", stage.screen());
    stage.press(KeyCode::Up);
    assert!(stage.screen().contains(" 2 queued"), "the first stays out: {}", stage.screen());
    stage.type_text(" and more");
    stage.press(KeyCode::Enter);
    let screen = stage.screen();
    assert!(screen.contains("   · two and more\n   · three\n   · four\n"), "{screen}");
    // The middle one is removed for good, as any text of the prompt is.
    stage.press(KeyCode::Up);
    stage.press(KeyCode::Up);
    ctrl(&mut stage, 'u');
    let screen = stage.screen();
    assert!(screen.contains("   · two and more\n   · four\n"), "{screen}");
    // What is written then is no edit of it.
    submit(&mut stage, "five");
    let screen = stage.screen();
    assert!(screen.contains("   · two and more\n   · four\n   · five\n"), "{screen}");
}

#[test]
fn one_key_sends_the_next_into_the_running_turn() {
    let mut stage = running(80, 24);
    submit(&mut stage, "two");
    submit(&mut stage, "three");
    ctrl(&mut stage, 's');
    assert_eq!(stage.sent, [Command::Steer("two".to_owned())]);
    assert!(stage.screen().contains("→ two  goes with the next request"), "{}", stage.screen());
    // The loop took it.
    stage.prompt("two");
    let screen = stage.screen();
    assert!(!screen.contains("→ two") && screen.contains(" 1 queued"), "{screen}");
    stage.ended(TransitionReason::Answered);
    assert_eq!(stage.sent.last(), Some(&prompt("three")));
}

#[test]
fn what_came_too_late_for_the_turn_is_the_next_prompt() {
    let mut stage = running(80, 24);
    submit(&mut stage, "two");
    submit(&mut stage, "three");
    ctrl(&mut stage, 's');
    stage.ended(TransitionReason::Answered);
    assert_eq!(stage.sent, [Command::Steer("two".to_owned()), prompt("two")]);
    assert!(stage.screen().contains(" 1 queued"));
    // And one that the loop had no room for waits again.
    ctrl(&mut stage, 's');
    let refused = stage.sent.pop().unwrap();
    stage.model.refused(refused);
    let screen = stage.screen();
    assert!(screen.contains("   · three") && screen.contains("Busy"), "{screen}");
}

#[test]
fn the_list_is_bounded_and_leaves_room_for_the_rest() {
    for (columns, rows) in [(120, 40), (80, 24), (40, 10), (20, 6)] {
        let mut stage = running(columns, rows);
        for n in 1..=30 {
            stage.type_text(&format!("p{n}"));
            stage.press(KeyCode::Enter);
        }
        let screen = stage.screen();
        assert!(screen.contains("20 queued"), "{screen}");
        assert!(screen.contains("p30"), "what does not fit stays in the prompt: {screen}");
        if rows >= 24 {
            assert!(screen.contains("   · p3\n   … 17 more\n"), "{screen}");
        }
        assert!(!screen.contains("no cursor"), "{screen}");
    }
}

/// While a command of the user's own runs, nothing is posted into which a prompt could go.
#[test]
fn what_is_sent_into_a_turn_that_does_not_come_is_the_next_prompt() {
    for (status, held) in [(CallStatus::Exited(0), false), (CallStatus::Stopped, true)] {
        let mut stage = Stage::new(80, 24);
        submit(&mut stage, "!make");
        submit(&mut stage, "two");
        ctrl(&mut stage, 's');
        assert_eq!(stage.sent.last(), Some(&Command::Steer("two".to_owned())));
        let call = CallId("own_1".to_owned());
        stage.record(Record::CallProposed(CallProposed {
            call: call.clone(),
            asker: Asker::User { told: true },
            name: "!".to_owned(),
            command: Some("make".to_owned()),
            state: CallState::Complete,
        }));
        let (receipt, output) = (Receipt::default(), Some("made".to_owned()));
        stage.record(Record::CallFinished(CallFinished {
            call,
            status,
            duration_ms: 1,
            receipt,
            output,
        }));
        let screen = stage.screen();
        assert!(!screen.contains("goes with the next request"), "{screen}");
        assert_eq!(screen.contains("1 queued, held"), held, "{screen}");
        if held {
            stage.press(KeyCode::Enter);
        }
        assert_eq!(stage.sent.last(), Some(&prompt("two")));
    }
}

#[test]
fn the_head_of_the_queue_leaves_out_a_key_instead_of_cutting_it() {
    for (columns, removes) in [(80, false), (100, true)] {
        let mut stage = Stage::new(columns, 30);
        stage.prompt("go");
        stage.request();
        stage.type_text("next");
        stage.press(KeyCode::Enter);
        let screen = stage.screen();
        let head = screen.lines().find(|line| line.contains("1 queued")).unwrap();
        assert!(head.contains("↑ takes one out") && !head.contains('…'), "{screen}");
        assert_eq!(head.contains("Ctrl-U removes it"), removes, "{screen}");
    }
}
