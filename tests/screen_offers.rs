//! Rows F17 and F18 on the screen: after a refusal that would come again, what is offered, what its
//! key does, and that nothing is done without it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod stage;

use crossterm::event::{KeyCode, KeyModifiers};
use insta::assert_snapshot;
use limpid::conversation::{
    Command, EntryId, Failure, FailureKind, Origin, Overlay, Place, Record, TransitionReason,
};
use stage::Stage;

const SIZES: [(u16, u16); 4] = [(40, 10), (80, 24), (120, 40), (300, 100)];

fn refused(message: &str) -> Failure {
    let kind = FailureKind::InvalidRequest;
    Failure { status: Some(400), ..Failure::new(Place::Http, kind, message) }
}

fn too_long(message: &str) -> Failure {
    let kind = FailureKind::ContextLength;
    Failure { status: Some(400), ..Failure::new(Place::Http, kind, message) }
}

/// Message 2, the first prompt, is refused twice.
fn refused_twice(stage: &mut Stage) {
    stage.prompt("Look at this picture.\nAnd say what it shows.");
    stage.request();
    stage.reply("A cat.", &[]);
    stage.ended(TransitionReason::Answered);
    stage.prompt("And now?");
    for _ in 0..2 {
        stage.request();
        stage.refused(refused("Invalid value: 'messages[1].content'"));
    }
    stage.frame();
}

/// A result of 48 kB, and after it the messages are too long.
fn overlong(stage: &mut Stage) {
    stage.prompt("Show the log.");
    stage.request();
    stage.reply("", &["cat build.log", "ls"]);
    stage.ran(1, &"compiling something\n".repeat(2_400));
    stage.ran(2, "build.log\n");
    stage.request();
    stage.refused(too_long(
        "This model's maximum context length is 4096 tokens. However, you requested 12288 tokens.",
    ));
    stage.frame();
}

fn overlay(overlays: Vec<(EntryId, Overlay)>, goes_on: bool) -> Command {
    Command::Overlay { overlays, goes_on }
}

fn take(stage: &mut Stage) {
    stage.press_with(KeyCode::Char('o'), KeyModifiers::CONTROL);
}

#[test]
fn f18_pictures_of_the_offer_to_leave_a_message_out() {
    for (columns, rows) in SIZES {
        let mut stage = Stage::new(columns, rows);
        refused_twice(&mut stage);
        assert_snapshot!(format!("offer_leave_out_{columns}x{rows}"), stage.screen());
    }
}

#[test]
fn f17_pictures_of_the_offer_to_shorten() {
    for (columns, rows) in SIZES {
        let mut stage = Stage::new(columns, rows);
        overlong(&mut stage);
        assert_snapshot!(format!("offer_shorten_{columns}x{rows}"), stage.screen());
    }
}

#[test]
fn f17_pictures_after_it() {
    for (columns, rows) in SIZES {
        let mut stage = Stage::new(columns, rows);
        overlong(&mut stage);
        stage.wait(600);
        take(&mut stage);
        stage.overlaid();
        stage.request();
        stage.reply("The build went well.", &[]);
        stage.ended(TransitionReason::Answered);
        assert_snapshot!(format!("offer_shortened_{columns}x{rows}"), stage.screen());
    }
}

#[test]
fn f18_a_message_is_left_out_by_its_key_alone_and_after_a_moment() {
    let mut stage = Stage::new(120, 40);
    refused_twice(&mut stage);
    let screen = stage.screen();
    for words in ["refused message 2 (user) twice.", "Look at this picture.", "Ctrl-O leave it out"]
    {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    take(&mut stage);
    assert!(stage.sent.is_empty(), "too soon: {:?}", stage.sent);
    assert!(stage.screen().contains("Read it first"), "{}", stage.screen());
    stage.wait(600);
    for key in [KeyCode::Enter, KeyCode::Char(' '), KeyCode::Char('o'), KeyCode::Char('y')] {
        stage.press(key);
        assert!(stage.sent.is_empty(), "{key:?}: {:?}", stage.sent);
        stage.press(KeyCode::Backspace);
    }
    take(&mut stage);
    assert!(stage.sent.is_empty(), "not in a burst: {:?}", stage.sent);
    stage.wait(600);
    assert!(stage.screen().contains("▸ Ctrl-O leave it out"), "{}", stage.screen());
    stage.input(limpid::tui::Input::Paste("\u{f}".to_owned()));
    assert!(stage.sent.is_empty());
    stage.press(KeyCode::Backspace);
    stage.wait(600);
    take(&mut stage);
    let left_out = (EntryId(2), Overlay::LeftOut { by: Origin::User });
    assert_eq!(stage.sent, [overlay(vec![left_out], true)]);
    assert!(!stage.screen().contains("Leave this message out?"));
    take(&mut stage);
    assert_eq!(stage.sent.len(), 1, "it is taken once");
    stage.overlaid();
    stage.request();
    let screen = stage.screen();
    assert!(screen.contains("(not sent since turn 4)"), "{screen}");
    assert!(screen.contains("not sent: 44 B"), "{screen}");
}

#[test]
fn one_row_is_sent_again_by_itself_after_it_was_said() {
    let mut stage = Stage::new(120, 40);
    refused_twice(&mut stage);
    stage.wait(600);
    take(&mut stage);
    stage.overlaid();
    stage.request();
    stage.reply("Now what?", &[]);
    stage.ended(TransitionReason::Answered);
    stage.press(KeyCode::BackTab);
    stage.press(KeyCode::Home);
    assert!(!stage.screen().contains("s send again"), "that row is sent: {}", stage.screen());
    stage.press(KeyCode::Char('s'));
    assert!(stage.screen().contains("Nothing of this row is left out"), "{}", stage.screen());
    while !stage.screen().lines().any(|line| line.contains("▸-  · user")) {
        stage.press(KeyCode::Down);
    }
    assert!(stage.screen().contains("s send again"), "{}", stage.screen());
    let before = stage.sent.len();
    stage.press(KeyCode::Char('s'));
    assert!(stage.screen().contains("44 B would be sent again"), "{}", stage.screen());
    stage.press(KeyCode::Enter);
    assert!(stage.screen().contains("in the session; s "), "{}", stage.screen());
    stage.press(KeyCode::Char('s'));
    assert_eq!(stage.sent.len(), before, "another key came between: it is asked anew");
    stage.press(KeyCode::Char('s'));
    assert_eq!(stage.sent[before..], [overlay(vec![(EntryId(2), Overlay::Sent)], false)]);
    stage.overlaid();
    stage.prompt("And now?");
    stage.request();
    stage.press(KeyCode::Esc);
    let screen = stage.screen();
    assert!(!screen.contains("-  · user") && screen.contains("2 user"), "{screen}");
}

#[test]
fn f18_declined_nothing_changes_and_the_next_refusal_offers_again() {
    let mut stage = Stage::new(80, 24);
    refused_twice(&mut stage);
    stage.wait(600);
    stage.press(KeyCode::Esc);
    assert!(!stage.screen().contains("Leave this message out?"), "{}", stage.screen());
    take(&mut stage);
    assert!(stage.sent.is_empty());
    stage.request();
    stage.refused(refused("messages.1: bad"));
    assert!(stage.screen().contains("Leave this message out?"), "{}", stage.screen());
    // Going on in any other way takes it away.
    stage.record(Record::Head(None));
    assert!(!stage.screen().contains("Leave this message out?"));
}

#[test]
fn f18_only_the_same_message_twice_in_a_row_is_offered() {
    let mut stage = Stage::new(80, 24);
    stage.prompt("one");
    for message in ["messages[0] bad", "messages[1] bad", "messages[0] bad", "no number"] {
        stage.request();
        stage.refused(refused(message));
        assert!(!stage.screen().contains("Leave this message out?"), "{message}");
    }
    stage.request();
    stage.reply("fine", &[]);
    stage.ended(TransitionReason::Answered);
    stage.prompt("two");
    stage.request();
    stage.refused(refused("messages[0] bad"));
    assert!(!stage.screen().contains("Leave this message out?"), "an answer lay between");
}

#[test]
fn f18_where_nothing_is_left_to_answer_nothing_is_posted() {
    let mut stage = Stage::new(80, 24);
    stage.prompt("bad");
    for _ in 0..2 {
        stage.request();
        stage.refused(refused("messages[1] bad"));
    }
    stage.frame();
    stage.wait(600);
    take(&mut stage);
    let left_out = (EntryId(2), Overlay::LeftOut { by: Origin::User });
    assert_eq!(stage.sent, [overlay(vec![left_out], false)]);
    assert!(stage.screen().contains("The next prompt goes without it"), "{}", stage.screen());
    stage.overlaid();
    // The same place names another message now.
    stage.prompt("better");
    for _ in 0..2 {
        stage.request();
        stage.refused(refused("messages[1] bad"));
    }
    stage.frame();
    stage.wait(600);
    take(&mut stage);
    let left_out = (EntryId(3), Overlay::LeftOut { by: Origin::User });
    assert_eq!(stage.sent.last(), Some(&overlay(vec![left_out], false)));
}

#[test]
fn f17_results_are_shortened_when_the_user_takes_the_offer() {
    let mut stage = Stage::new(120, 40);
    overlong(&mut stage);
    let screen = stage.screen();
    for words in ["Too long: 12,288 over 4,096", "message 4  48.0 kB → ", "cat build.log"] {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    assert!(stage.sent.is_empty(), "not by itself");
    stage.wait(600);
    take(&mut stage);
    let [Command::Overlay { overlays, goes_on: true }] = &stage.sent[..] else {
        panic!("{:?}", stage.sent)
    };
    let [(EntryId(4), Overlay::Replaced { text, by: Origin::Harness })] = &overlays[..] else {
        panic!("{overlays:?}")
    };
    assert!(text.starts_with("compiling") && text.ends_with("something\n"), "{text}");
    assert!(text.contains("of 48000 bytes left out here"), "{text}");
    stage.overlaid();
    stage.request();
    let bytes = stage.model.session.turns.last().unwrap().request.bytes;
    assert!(bytes < 16_500, "a third of 49 kB, and room for the answer: {bytes}");
    let screen = stage.screen();
    assert!(screen.contains("sent 10.4 kB of 48.0 kB"), "{screen}");
    assert!(screen.contains("altered from "), "{screen}");
}

#[test]
fn f17_where_nothing_can_be_shortened_nothing_is_offered() {
    let mut stage = Stage::new(80, 24);
    stage.prompt("a long prompt");
    stage.request();
    stage.refused(too_long("prompt is too long: 5000 tokens > 4096 maximum"));
    let screen = stage.screen();
    assert!(!screen.contains("Ctrl-O") && screen.contains("/clear starts anew"), "{screen}");
}

#[test]
fn f17_the_oldest_prompts_go_when_results_do_not_suffice() {
    let mut stage = Stage::new(80, 24);
    for prompt in ["first", "second"] {
        stage.prompt(&format!("{prompt} {}", "words ".repeat(400)));
        stage.request();
        stage.reply("Yes.", &[]);
        stage.ended(TransitionReason::Answered);
    }
    stage.prompt("third");
    stage.request();
    stage.refused(too_long("prompt is too long: 5000 tokens > 4096 maximum"));
    let screen = stage.screen();
    assert!(screen.contains("Leave out the oldest prompt, with its turns."), "{screen}");
    stage.wait(600);
    take(&mut stage);
    let by = Origin::User;
    let left_out = |entry| (EntryId(entry), Overlay::LeftOut { by });
    assert_eq!(stage.sent, [overlay(vec![left_out(2), left_out(3)], true)]);
}

#[test]
fn what_a_busy_loop_did_not_take_is_offered_again_and_nothing_is_posted() {
    let mut stage = Stage::new(120, 40);
    overlong(&mut stage);
    stage.wait(600);
    take(&mut stage);
    assert_eq!(stage.sent.len(), 1, "one command does both: {:?}", stage.sent);
    let command = stage.sent.remove(0);
    stage.model.refused(command);
    let screen = stage.screen();
    assert!(screen.contains("Busy: that was not taken") && screen.contains("Too long"), "{screen}");
    stage.wait(600);
    take(&mut stage);
    assert!(matches!(stage.sent[..], [Command::Overlay { goes_on: true, .. }]), "{:?}", stage.sent);
}

#[test]
fn restore_sends_all_again() {
    let mut stage = Stage::new(120, 40);
    overlong(&mut stage);
    stage.wait(600);
    take(&mut stage);
    stage.overlaid();
    stage.request();
    stage.reply("Fine.", &[]);
    stage.ended(TransitionReason::Answered);
    assert!(stage.screen().contains("sent 10.4 kB of 48.0 kB"));
    stage.type_text("/restore");
    stage.press(KeyCode::Enter);
    assert_eq!(stage.sent.last(), Some(&overlay(vec![(EntryId(4), Overlay::Sent)], false)));
    stage.overlaid();
    assert!(!stage.screen().contains("sent 10.4 kB of 48.0 kB"), "{}", stage.screen());
    let sent = stage.sent.len();
    stage.type_text("/restore");
    stage.press(KeyCode::Enter);
    assert_eq!(stage.sent.len(), sent);
    assert!(stage.screen().contains("Nothing is left out or shortened."));
}

#[test]
fn f18_a_message_number_that_no_message_has_offers_nothing() {
    let mut stage = Stage::new(80, 24);
    stage.prompt("one");
    for message in ["messages[99] bad", "messages[18446744073709551615] bad"] {
        for _ in 0..2 {
            stage.request();
            stage.refused(refused(message));
        }
        assert!(!stage.screen().contains("Leave this message out?"), "{message}");
    }
}
