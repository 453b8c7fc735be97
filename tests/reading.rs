//! Reading a conversation: folding, going from landmark to landmark, following the end.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod stage;

use crossterm::event::KeyCode;
use limpid::conversation::{
    Block, CallStatus, Failure, FailureKind, Origin, Place, Progress, Reasoning, Receipt, Record,
    Role, TransitionReason,
};
use limpid::tui::Input;
use stage::Stage;

/// What stands in the conversation's rows, without the border.
fn rows(stage: &mut Stage) -> Vec<String> {
    let screen = stage.screen();
    let rows = screen.lines().filter(|line| line.starts_with('│'));
    rows.map(|line| line.trim_matches(|c| c == '│' || c == ' ').to_owned()).collect()
}

fn shows(stage: &mut Stage, text: &str) -> bool {
    stage.screen().contains(text)
}

/// Three prompts; a call that fails in the second; each answer is long.
fn long_session() -> Stage {
    let mut stage = Stage::new(80, 24);
    for nth in ["first", "second", "third"] {
        stage.prompt(&format!("The {nth} prompt"));
        stage.request();
        if nth == "second" {
            stage.reply("Looking.", &["cat missing"]);
            stage.decided(1, Some("cat missing"), None);
            stage.started(1);
            let receipt = Receipt { produced: 20, lines: 1, sent: 40, cut: 0, file: None };
            let result = "cat: missing: No such file\n[exit code 1]\n";
            stage.finished(1, CallStatus::Exited(1), 10, receipt, result);
            stage.request();
        }
        let lines: Vec<String> = (1..=30).map(|n| format!("- {nth} answer, line {n}")).collect();
        stage.reply(&lines.join("\n"), &[]);
        stage.ended(TransitionReason::Answered);
    }
    stage.frame();
    stage.press(KeyCode::Tab);
    stage
}

#[test]
fn reasoning_folds_into_one_row_when_it_is_finished() {
    let mut stage = Stage::new(80, 24);
    stage.prompt("Why?");
    stage.request();
    stage.progress(Progress::Reasoning("First I look ".to_owned()));
    stage.wait(3_200);
    stage.progress(Progress::Reasoning("at the sky.".to_owned()));
    assert!(shows(&mut stage, "First I look at the sky."));
    let reasoning =
        Reasoning { text: "First I look at the sky.".to_owned(), ..Reasoning::default() };
    let blocks = vec![Block::Reasoning(reasoning), Block::Text("Because.".to_owned())];
    stage.entry(Role::Assistant, Origin::Model, blocks);
    stage.ended(TransitionReason::Answered);
    let folded = rows(&mut stage);
    assert!(folded.contains(&"▸ thought for 3.2 s · 24 B".to_owned()), "{folded:?}");
    assert!(!shows(&mut stage, "the sky"));
    stage.press(KeyCode::Tab);
    stage.press(KeyCode::Char('{'));
    stage.press(KeyCode::Enter);
    let open = rows(&mut stage);
    assert!(open.contains(&"▌▾ thought for 3.2 s · 24 B".to_owned()), "{open:?}");
    assert!(open.contains(&"▌  First I look at the sky.".to_owned()), "{open:?}");
    stage.press(KeyCode::Enter);
    assert!(!shows(&mut stage, "the sky"));
}

#[test]
fn a_call_unfolds_to_what_the_model_was_told() {
    let mut stage = long_session();
    stage.press(KeyCode::Char('e'));
    assert!(shows(&mut stage, "✗ bash cat missing"));
    assert!(!shows(&mut stage, "No such file"));
    stage.press(KeyCode::Enter);
    let open = rows(&mut stage);
    let at = open.iter().position(|row| row.contains("✗ bash cat missing")).unwrap();
    assert_eq!(open[at + 1], "▌   │ cat missing");
    assert_eq!(open[at + 2], "▌   │ cat: missing: No such file");
}

#[test]
fn one_key_unfolds_everything_and_folds_it_again() {
    let mut stage = long_session();
    stage.press(KeyCode::Char('z'));
    stage.press(KeyCode::Char('e'));
    assert!(shows(&mut stage, "No such file"));
    stage.press(KeyCode::Char('z'));
    let folded = stage.screen();
    for nth in ["second", "third"] {
        assert!(folded.contains(&format!("▸ - {nth} answer, line 1 … 7")), "{folded}");
    }
    assert!(!folded.contains("new row"), "folding brings nothing new: {folded}");
    assert!(folded.contains("All is folded. z: as at first."), "{folded}");
    stage.press(KeyCode::Char('z'));
    stage.press(KeyCode::End);
    let at_first = stage.screen();
    assert!(at_first.contains("third answer, line 30") && !at_first.contains("▸ -"), "{at_first}");
    stage.press(KeyCode::Char('e'));
    assert!(shows(&mut stage, "✗ bash cat missing") && !shows(&mut stage, "No such file"));
}

#[test]
fn the_footer_offers_to_fold_only_what_folds() {
    let mut stage = long_session();
    assert!(footer(&mut stage).contains("Enter fold"), "{}", stage.screen());
    stage.press(KeyCode::Char('t'));
    assert!(!footer(&mut stage).contains("Enter fold"), "{}", stage.screen());
    stage.press(KeyCode::Enter);
    assert!(footer(&mut stage).contains("nothing to fold here"), "{}", stage.screen());
}

#[test]
fn a_result_is_called_sent_when_a_request_has_held_it() {
    let mut stage = Stage::new(80, 24);
    stage.prompt("Look around");
    stage.request();
    stage.reply("Looking.", &["ls"]);
    stage.ran(1, "app.py\n(exit code 0)\n");
    stage.ended(TransitionReason::Stopped);
    assert!(shows(&mut stage, "exit 0 · 2 lines · not sent yet"), "{}", stage.screen());
    stage.prompt("Go on");
    assert!(shows(&mut stage, "not sent yet"), "{}", stage.screen());
    stage.request();
    assert!(shows(&mut stage, "exit 0 · 2 lines · sent 21 B"), "{}", stage.screen());
    let failure = Failure::new(Place::Transport, FailureKind::Unreachable, "cannot connect.");
    stage.failed(None, false, failure);
    assert!(shows(&mut stage, "exit 0 · 2 lines · not sent yet"), "{}", stage.screen());
    stage.request();
    assert!(shows(&mut stage, "exit 0 · 2 lines · sent 21 B"), "{}", stage.screen());
    stage.reply("Looking again.", &["ls -a"]);
    stage.ran(1, "..\n(exit code 0)\n");
    stage.ended(TransitionReason::Stopped);
    stage.record(Record::Head(None));
    stage.prompt("Anew");
    stage.request();
    let screen = stage.screen();
    assert!(screen.contains("ls -a · exit 0 · 2 lines · not sent "), "cleared before: {screen}");
}

#[test]
fn a_size_in_a_calls_row_is_never_cut_short() {
    let mut stage = Stage::new(100, 30);
    stage.prompt("Count");
    stage.request();
    stage.reply("Counting.", &["seq 1 50000"]);
    stage.decided(1, Some("seq 1 50000"), None);
    stage.started(1);
    let receipt =
        Receipt { produced: 288_894, lines: 50_000, sent: 49_900, cut: 238_994, file: None };
    stage.finished(1, CallStatus::Exited(0), 20, receipt, "1\n2\n[exit code 0]");
    stage.request();
    assert!(shows(&mut stage, "bash seq 1 50000 · exit 0 · sent 49.9 kB "), "{}", stage.screen());
}

#[test]
fn a_fault_that_comes_again_is_told_once() {
    let mut stage = Stage::new(80, 24);
    stage.prompt("Hello");
    stage.request();
    let waiting = |attempt, why: &str| Progress::Waiting {
        attempt,
        of: 5,
        until: 1_800_000_001_000,
        ms: 500,
        why: why.to_owned(),
    };
    stage.progress(waiting(2, "HTTP 500: no upstream."));
    stage.progress(waiting(3, "HTTP 500: no upstream."));
    stage.progress(waiting(4, "HTTP 503: busy."));
    let told = rows(&mut stage);
    let told: Vec<&str> = told.iter().map(|row| row.split("││").next().unwrap().trim()).collect();
    assert!(told.contains(&"HTTP 500: no upstream. Attempt 2 of 5 follows in 0.50 s."), "{told:?}");
    assert!(told.contains(&"The same again. Attempt 3 of 5 follows in 0.50 s."), "{told:?}");
    assert!(told.contains(&"HTTP 503: busy. Attempt 4 of 5 follows in 0.50 s."), "{told:?}");
}

#[test]
fn a_server_that_gave_no_answer_is_not_said_to_have_begun_one() {
    let cases = [
        (Place::Http, FailureKind::Auth, "✗ The model did not answer. "),
        (Place::Transport, FailureKind::Unreachable, "✗ The model did not answer. "),
        (Place::Transport, FailureKind::Disconnected, "✗ The model did not answer in full."),
        (Place::Stream, FailureKind::Server, "✗ The model did not answer in full."),
    ];
    for (place, kind, head) in cases {
        let mut stage = Stage::new(80, 24);
        stage.prompt("Hello");
        stage.request();
        stage.refused(Failure::new(place, kind, "no luck"));
        assert!(shows(&mut stage, head), "{place:?} {kind:?}: {}", stage.screen());
    }
}

#[test]
fn landmarks_are_reached_by_one_key_each_way() {
    let mut stage = long_session();
    assert!(shows(&mut stage, "third answer, line 30"));
    stage.press(KeyCode::Char('p'));
    assert!(shows(&mut stage, "The third prompt"));
    stage.press(KeyCode::Char('p'));
    assert!(shows(&mut stage, "The second prompt"));
    stage.press(KeyCode::Char('p'));
    assert!(shows(&mut stage, "The first prompt"));
    stage.press(KeyCode::Char('p'));
    assert!(shows(&mut stage, "No prompt before this one."));
    stage.press(KeyCode::Char('P'));
    assert!(shows(&mut stage, "The second prompt"));
    stage.press(KeyCode::Char('c'));
    assert!(shows(&mut stage, "No call before this one."));
    stage.press(KeyCode::Char('C'));
    stage.press(KeyCode::Char('T'));
    let screen = stage.screen();
    assert!(screen.contains("▌── turn 3"), "{screen}");
}

#[test]
fn messages_are_shown_as_they_were_written_on_a_key() {
    let mut stage = Stage::new(80, 24);
    stage.prompt("*mine* stays");
    stage.request();
    stage.reply("# Title\n**strong** <b>bold</b>", &[]);
    assert!(shows(&mut stage, "strong <b>bold</b>") && shows(&mut stage, "*mine* stays"));
    assert!(!shows(&mut stage, "**strong**"));
    stage.press(KeyCode::Tab);
    stage.press(KeyCode::Char('m'));
    assert!(shows(&mut stage, "**strong** <b>bold</b>"));
    assert!(shows(&mut stage, "Messages are shown as they were written."));
    stage.press(KeyCode::Char('m'));
    assert!(!shows(&mut stage, "**strong**"));
}

#[test]
fn the_place_that_is_read_stays_when_what_is_above_it_changes() {
    let mut stage = long_session();
    stage.press(KeyCode::Char('p'));
    stage.press(KeyCode::Char('m'));
    assert!(shows(&mut stage, "The third prompt"));
    stage.press(KeyCode::Char('z'));
    assert!(shows(&mut stage, "The third prompt"));
    stage.resize(60, 20);
    assert!(shows(&mut stage, "The third prompt"));
}

#[test]
fn what_is_new_is_counted_while_something_else_is_read() {
    let mut stage = long_session();
    stage.press(KeyCode::Char('p'));
    assert!(shows(&mut stage, " ↓ End "));
    stage.prompt("The fourth prompt");
    assert!(shows(&mut stage, " ↓ 4 new rows · End "), "{}", stage.screen());
    assert!(shows(&mut stage, "The third prompt"));
    stage.press(KeyCode::End);
    assert!(shows(&mut stage, "The fourth prompt") && !shows(&mut stage, "new rows"));
    stage.request();
    stage.text("Still following.");
    assert!(shows(&mut stage, "Still following."));
}

fn type_keys(stage: &mut Stage, text: &str) {
    text.chars().for_each(|c| stage.press(KeyCode::Char(c)));
}

fn footer(stage: &mut Stage) -> String {
    stage.screen().lines().nth(23).unwrap().to_owned()
}

#[test]
fn a_text_is_found_as_it_is_typed_and_matches_are_counted() {
    let mut stage = long_session();
    type_keys(&mut stage, "/LINE 30");
    assert!(footer(&mut stage).contains("/LINE 30"), "{}", footer(&mut stage));
    assert!(footer(&mut stage).contains("3 of 3"), "{}", footer(&mut stage));
    assert!(shows(&mut stage, "third answer, line 30"));
    stage.press(KeyCode::Enter);
    stage.press(KeyCode::Char('N'));
    assert!(footer(&mut stage).contains("2 of 3"), "{}", footer(&mut stage));
    assert!(shows(&mut stage, "second answer, line 30"));
    stage.press(KeyCode::Char('n'));
    stage.press(KeyCode::Char('n'));
    assert!(footer(&mut stage).contains("1 of 3"), "{}", footer(&mut stage));
    assert!(shows(&mut stage, "first answer, line 30"));
    stage.press(KeyCode::Esc);
    assert!(!footer(&mut stage).contains("of 3"), "{}", footer(&mut stage));
    assert!(footer(&mut stage).contains("find"), "still in the pane");
    assert!(shows(&mut stage, "first answer, line 30"));
}

#[test]
fn the_count_is_that_of_the_text_in_the_field_already_in_the_first_frame() {
    let mut stage = long_session();
    type_keys(&mut stage, "/line");
    for (key, count) in [(' ', "of 90"), ('3', "of 6"), ('0', "of 3")] {
        stage.input(Input::Key(KeyCode::Char(key).into()));
        let footer = footer(&mut stage);
        assert!(footer.contains(count), "{footer}");
    }
}

#[test]
fn what_is_folded_is_found_and_unfolded_while_it_is_looked_for() {
    let mut stage = long_session();
    type_keys(&mut stage, "/no such file");
    assert!(footer(&mut stage).contains("1 of 1"), "{}", footer(&mut stage));
    assert!(shows(&mut stage, "cat: missing: No such file"));
    for _ in 0..4 {
        stage.press(KeyCode::Backspace);
    }
    type_keys(&mut stage, "nowhere");
    assert!(footer(&mut stage).contains("none"), "{}", footer(&mut stage));
    assert!(!shows(&mut stage, "No such file"));
}

#[test]
fn an_opened_call_and_a_message_can_be_searched() {
    let mut stage = long_session();
    stage.press(KeyCode::Tab);
    stage.press(KeyCode::Enter);
    type_keys(&mut stage, "/missing");
    assert!(footer(&mut stage).contains("of 2"), "{}", footer(&mut stage));
    stage.press(KeyCode::Tab);
    assert!(!footer(&mut stage).contains("missing"), "another pane, no search");
    stage.press(KeyCode::Enter);
    type_keys(&mut stage, "/agent");
    assert!(footer(&mut stage).contains("1 of 1"), "{}", footer(&mut stage));
    stage.press(KeyCode::Esc);
    stage.press(KeyCode::Esc);
    assert!(!shows(&mut stage, "[2 message"), "{}", stage.screen());
}

/// The row that is selected in a list.
fn selected(stage: &mut Stage) -> String {
    let screen = stage.screen();
    screen.lines().find(|line| line.starts_with("│▸")).unwrap_or_default().to_owned()
}

#[test]
fn calls_are_found_by_command_and_result_and_stay_found_when_one_is_opened() {
    let mut stage = Stage::new(80, 24);
    stage.prompt("Look around.");
    stage.request();
    stage.reply("", &["ls", "cat notes", "pwd"]);
    for (nth, result) in [(1, "notes\ntodo\n"), (2, "buy milk\nMILK\n"), (3, "/home\n")] {
        stage.decided(nth, Some("x"), None);
        stage.started(nth);
        stage.ran(nth, result);
    }
    stage.frame();
    stage.press(KeyCode::Tab);
    stage.press(KeyCode::Tab);
    assert!(selected(&mut stage).contains(" 3 bash"), "{}", stage.screen());
    type_keys(&mut stage, "/milk");
    assert!(footer(&mut stage).contains("1 of 1"), "{}", footer(&mut stage));
    assert!(selected(&mut stage).contains(" 2 bash"), "{}", stage.screen());
    for _ in 0..4 {
        stage.press(KeyCode::Backspace);
    }
    type_keys(&mut stage, "BASH");
    stage.press(KeyCode::Enter);
    assert!(footer(&mut stage).contains("2 of 3"), "{}", footer(&mut stage));
    stage.press(KeyCode::Char('n'));
    assert!(selected(&mut stage).contains(" 3 bash"), "{}", stage.screen());
    stage.press(KeyCode::Char('n'));
    assert!(footer(&mut stage).contains("1 of 3"), "{}", footer(&mut stage));
    assert!(selected(&mut stage).contains(" 1 bash"), "{}", stage.screen());
    type_keys(&mut stage, "/milk");
    stage.press(KeyCode::Enter);
    stage.press(KeyCode::Enter);
    assert!(shows(&mut stage, "call 2") && shows(&mut stage, "buy milk"), "{}", stage.screen());
    assert!(footer(&mut stage).contains("1 of 2"), "{}", footer(&mut stage));
    stage.press(KeyCode::Esc);
    assert!(shows(&mut stage, "buy milk") && !footer(&mut stage).contains("of 2"));
    stage.press(KeyCode::Esc);
    assert!(selected(&mut stage).contains(" 2 bash"), "{}", stage.screen());
}

#[test]
fn messages_of_a_turn_are_found_by_what_they_hold() {
    let mut stage = long_session();
    stage.press(KeyCode::Tab);
    stage.press(KeyCode::Tab);
    type_keys(&mut stage, "/no such FILE");
    assert!(footer(&mut stage).contains("1 of 1"), "{}", footer(&mut stage));
    assert!(selected(&mut stage).contains("tool"), "{}", stage.screen());
    stage.press(KeyCode::Enter);
    stage.press(KeyCode::Enter);
    assert!(shows(&mut stage, "[message]") && shows(&mut stage, "No such file"));
    assert!(footer(&mut stage).contains("1 of 1"), "{}", footer(&mut stage));
    stage.press(KeyCode::Esc);
    stage.press(KeyCode::Esc);
    type_keys(&mut stage, "/nowhere");
    assert!(footer(&mut stage).contains("none"), "{}", footer(&mut stage));
    assert!(selected(&mut stage).contains("tool"), "it stays where it was");
}

#[test]
fn what_the_model_will_be_told_can_be_searched_before_the_first_prompt() {
    let mut stage = Stage::new(80, 24);
    let system_prompt = format!("{}The needle.", "line\n".repeat(60));
    stage.progress(Progress::Begins { system_prompt, context: None, parts: Vec::new() });
    for _ in 0..3 {
        stage.press(KeyCode::Tab);
    }
    assert!(!shows(&mut stage, "needle"));
    type_keys(&mut stage, "/needle");
    assert!(footer(&mut stage).contains("1 of 1") && shows(&mut stage, "The needle."));
}

#[test]
fn a_finished_call_opens_at_its_beginning_and_a_running_one_at_its_end() {
    let mut stage = Stage::new(80, 24);
    stage.prompt("Count.");
    stage.request();
    stage.reply("", &["seq 5000", "seq 60"]);
    let lines = |to: usize| (1..=to).map(|n| format!("row {n}")).collect::<Vec<_>>().join("\n");
    stage.decided(1, Some("seq 5000"), None);
    stage.started(1);
    stage.ran(1, &lines(5_000));
    stage.decided(2, Some("seq 60"), None);
    stage.started(2);
    let call = stage.call(2);
    let tail = lines(60).replace("row 60", "\u{1b}[31mrow 60\u{1b}[0m");
    stage.progress(Progress::Output { call, tail, produced: 1_000 });
    stage.frame();
    for key in [KeyCode::Tab, KeyCode::Tab, KeyCode::Enter] {
        stage.press(key);
    }
    assert!(shows(&mut stage, "│ row 60 "), "{}", stage.screen());
    let at = stage.screen().lines().position(|line| line.contains("row 60")).unwrap();
    let looks: Vec<String> = stage.styles().lines().map(str::to_owned).collect();
    let look = |row: usize| looks[row].chars().nth(3).unwrap();
    assert_ne!(look(at), look(at - 1), "in its colour");
    for key in [KeyCode::Esc, KeyCode::Up, KeyCode::Enter] {
        stage.press(key);
    }
    assert!(shows(&mut stage, "│ seq 5000") && shows(&mut stage, "│ row 1 "), "{}", stage.screen());
}

#[test]
fn a_turn_says_that_it_was_not_sent_or_not_answered_and_what_helps() {
    let refused = Failure::new(Place::Http, FailureKind::Unreachable, "connection refused");
    let unauthorised = Failure {
        status: Some(401),
        ..Failure::new(Place::Http, FailureKind::Auth, "HTTP 401: wrong key")
    };
    for (sent, failure, turn, kept) in [
        (false, refused, "turn 1 → 2 messages, not sent: system user", "/continue posts"),
        (
            true,
            unauthorised,
            "turn 1 → 2 messages, not answered: system user",
            "read DASHSCOPE_API_KEY",
        ),
    ] {
        let mut stage = Stage::new(120, 40);
        stage.prompt("Hello");
        stage.request();
        assert!(shows(&mut stage, "turn 1 → 2 messages: system user"), "{}", stage.screen());
        stage.failed(failure.status, sent, failure.clone());
        stage.ended(TransitionReason::Failed(failure));
        assert!(shows(&mut stage, turn), "{}", stage.screen());
        assert!(shows(&mut stage, kept), "{}", stage.screen());
        assert_eq!(shows(&mut stage, "/continue posts"), !sent, "{}", stage.screen());
    }
}

#[test]
fn the_cursor_is_in_the_search_field_while_it_takes_keys() {
    let mut stage = long_session();
    type_keys(&mut stage, "/你好");
    assert!(stage.screen().ends_with("cursor at column 6, row 23\n"), "{}", stage.screen());
    stage.press(KeyCode::Backspace);
    assert!(stage.screen().ends_with("cursor at column 4, row 23\n"), "{}", stage.screen());
    stage.press(KeyCode::Esc);
    assert!(stage.screen().ends_with("no cursor\n"));
}

#[test]
fn all_that_a_command_wrote_is_shown_on_a_key() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("1.out");
    let lines: Vec<String> =
        (1..=100_000).map(|n| format!("\x1b[32mrow\x1b[0m {n}\x1b[2J\n")).collect();
    std::fs::write(&file, lines.concat()).unwrap();
    let mut stage = Stage::new(80, 24);
    stage.prompt("Print.");
    stage.request();
    stage.reply("", &["seq"]);
    stage.decided(1, Some("seq"), None);
    stage.started(1);
    let receipt = Receipt {
        produced: 1_000,
        lines: 100_000,
        sent: 20,
        cut: 900,
        file: Some(file.display().to_string()),
    };
    stage.finished(1, CallStatus::Exited(0), 10, receipt, "[… omitted]\n[exit code 0]\n");
    stage.frame();
    for key in [KeyCode::Tab, KeyCode::Tab, KeyCode::Enter] {
        stage.press(key);
    }
    assert!(shows(&mut stage, "[… omitted]"));
    stage.press(KeyCode::Char('o'));
    assert!(shows(&mut stage, "│ row 1 ") && !shows(&mut stage, "[… omitted]"));
    stage.press(KeyCode::End);
    assert!(shows(&mut stage, "│ row 100000 "), "{}", stage.screen());
    type_keys(&mut stage, "/row 50000");
    assert!(shows(&mut stage, "│ row 50000 "), "{}", stage.screen());
    assert!(footer(&mut stage).contains("1 of 1"), "{}", footer(&mut stage));
    stage.press(KeyCode::Esc);
    let started = std::time::Instant::now();
    for _ in 0..20 {
        stage.press(KeyCode::PageUp);
    }
    assert!(started.elapsed() < std::time::Duration::from_secs(2), "{:?}", started.elapsed());
    stage.press(KeyCode::Char('o'));
    assert!(shows(&mut stage, "[… omitted]"));
    std::fs::remove_file(&file).unwrap();
    stage.press(KeyCode::Char('o'));
    assert!(shows(&mut stage, "No such file"), "{}", stage.screen());
}

/// The rows beside which the bar stands.
fn barred(stage: &mut Stage) -> Vec<String> {
    let barred = rows(stage).into_iter().filter_map(|row| Some(row.strip_prefix('▌')?.to_owned()));
    barred.map(|row| row.trim_end_matches("↓ End").trim_end().to_owned()).collect()
}

/// An answer, and a second one that is arriving.
fn streaming() -> Stage {
    let mut stage = Stage::new(80, 24);
    stage.prompt("The first prompt");
    stage.request();
    stage.reply("The first answer", &[]);
    stage.ended(TransitionReason::Answered);
    stage.prompt("The second prompt");
    stage.request();
    stage.text("The second answer\n");
    stage.frame();
    stage.press(KeyCode::Tab);
    stage
}

fn stream(stage: &mut Stage, lines: std::ops::Range<u32>) {
    for line in lines {
        stage.text(&format!("\n- streamed {line}\n"));
        stage.frame();
    }
}

#[test]
fn what_keys_went_to_stays_at_hand_while_a_reply_streams_in() {
    let mut stage = streaming();
    assert_eq!(barred(&mut stage), ["model", "The second answer"]);
    stage.press(KeyCode::Char('p'));
    assert_eq!(barred(&mut stage), ["you", "The second prompt"]);
    stream(&mut stage, 0..50);
    assert_eq!(barred(&mut stage), ["you", "The second prompt"], "{}", stage.screen());
    assert!(shows(&mut stage, "new rows · End"), "{}", stage.screen());
    stage.press(KeyCode::Down);
    let turn = barred(&mut stage);
    assert!(turn.len() == 1 && turn[0].starts_with("── turn 2"), "{turn:?}");
    stage.press(KeyCode::Down);
    assert_eq!(barred(&mut stage)[..2], ["model", "The second answer"]);
    stage.press(KeyCode::End);
    assert!(shows(&mut stage, "streamed 49"));
    stream(&mut stage, 50..60);
    assert!(shows(&mut stage, "streamed 59"), "End stays with the newest");
    assert!(barred(&mut stage).contains(&"• streamed 59".to_owned()), "{}", stage.screen());
}

#[test]
fn one_key_goes_from_item_to_item_and_through_the_rows_of_a_long_one() {
    let mut stage = streaming();
    stream(&mut stage, 0..30);
    stage.press(KeyCode::Char('p'));
    let mut seen = Vec::new();
    for _ in 0..60 {
        stage.press(KeyCode::Down);
        let barred = barred(&mut stage);
        assert!(!barred.iter().all(String::is_empty), "the bar stands on text: {}", stage.screen());
        seen.push(barred.last().unwrap().clone());
    }
    for line in 15..30 {
        assert!(seen.contains(&format!("• streamed {line}")), "{line}: {seen:?}");
    }
    // Past the end it stays with the end.
    stream(&mut stage, 30..40);
    assert!(shows(&mut stage, "streamed 39"), "{}", stage.screen());
    let mut seen = Vec::new();
    for _ in 0..80 {
        stage.press(KeyCode::Up);
        let barred = barred(&mut stage);
        assert!(!barred.iter().all(String::is_empty), "the bar stands on text: {}", stage.screen());
        seen.extend(barred.first().cloned());
    }
    seen.dedup();
    let ends = ["The second answer", "model", "you"];
    for end in ends {
        assert!(seen.iter().any(|row| row.starts_with(end)), "{end}: {seen:?}");
    }
    assert_eq!(barred(&mut stage), ["you", "The first prompt"]);
}

#[test]
fn a_step_back_and_one_on_again_lead_to_the_same_place() {
    let mut stage = streaming();
    let before = stage.screen();
    stage.press(KeyCode::Up);
    assert_ne!(stage.screen(), before);
    stage.press(KeyCode::Down);
    assert_eq!(stage.screen(), before);
    stream(&mut stage, 0..50);
    assert!(shows(&mut stage, "streamed 49"), "it stays with the end");
}

#[test]
fn a_reply_that_is_read_while_it_arrives_is_at_hand_when_it_is_complete() {
    let mut stage = streaming();
    stream(&mut stage, 0..40);
    stage.press(KeyCode::Up);
    let lines: Vec<String> = (0..40).map(|line| format!("\n- streamed {line}\n")).collect();
    stage.reply(&format!("The second answer\n{}", lines.concat()), &[]);
    stage.ended(TransitionReason::Answered);
    stage.prompt("The third prompt");
    stage.frame();
    stage.press(KeyCode::Char('y'));
    let (copied, _) = stage.copied.take().unwrap();
    assert!(copied.starts_with("The second answer"), "{copied}");
}
