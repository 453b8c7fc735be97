//! The right-hand panes: how one gets from view to view of a turn and back, and that nothing in
//! them is cut off, hidden or out of reach at any size.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod stage;

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use limpid::conversation::{
    Block, CallStatus, Event, Failure, FailureKind, Origin, Place, Reasoning, Receipt, Record,
    Repair, Response, Role, Stamped, TransitionReason, TurnNumber,
};
use limpid::tui::{self, Effect, Input};
use limpid::wire::exchange::{Kept, KeptResponse};
use stage::Stage;

const SIZES: [(u16, u16); 3] = [(40, 10), (80, 24), (120, 40)];

/// In the inspector, with two turns.
fn inspecting(columns: u16, rows: u16) -> Stage {
    let mut stage = Stage::new(columns, rows);
    stage.two_turns();
    stage.frame();
    stage.press(KeyCode::BackTab);
    stage
}

fn key(stage: &mut Stage, key: char) -> String {
    stage.press(KeyCode::Char(key));
    stage.screen()
}

#[track_caller]
fn has(screen: &str, words: &str) {
    assert!(screen.contains(words), "{words:?} is not in\n{screen}");
}

#[test]
fn every_view_is_one_key_from_every_other_and_keeps_the_turn() {
    let views = ["[roles]", "[message]", "[diff]", "[request]", "[response]", "[usage]"];
    for (columns, rows) in SIZES {
        for from in '1'..='6' {
            for to in '1'..='6' {
                let mut stage = inspecting(columns, rows);
                stage.press(KeyCode::Left);
                key(&mut stage, from);
                let screen = key(&mut stage, to);
                has(&screen, views[to as usize - '1' as usize]);
                if to != '1' {
                    has(&screen, "turn ‹[1] 2›");
                }
            }
        }
        let mut stage = inspecting(columns, rows);
        for view in views.iter().cycle().skip(1).take(6) {
            has(&key(&mut stage, 'v'), view);
        }
    }
}

#[test]
fn esc_leads_back_to_where_a_view_was_opened() {
    let mut stage = inspecting(120, 40);
    key(&mut stage, '4');
    stage.press(KeyCode::Esc);
    has(&stage.screen(), "[roles]");
    stage.press(KeyCode::Enter);
    key(&mut stage, '4');
    has(&key(&mut stage, '6'), "[usage]");
    stage.press(KeyCode::Esc);
    has(&stage.screen(), "[message]");
    stage.press(KeyCode::Esc);
    has(&stage.screen(), "[roles]");
    stage.press(KeyCode::Esc);
    assert!(!stage.screen().contains("▸Inspector"), "{}", stage.screen());
}

#[test]
fn long_views_and_lists_say_where_one_is() {
    for (columns, rows) in SIZES {
        let mut stage = inspecting(columns, rows);
        stage.ran(1, &"a line of a long result\n".repeat(60));
        stage.request();
        stage.press(KeyCode::Esc);
        stage.press(KeyCode::BackTab);
        let screen = key(&mut stage, '3');
        has(&screen, " rows 1–");
        stage.press(KeyCode::End);
        let screen = stage.screen();
        let position = screen.split("─ rows ").nth(1).unwrap().split(" ─").next().unwrap();
        let (range, of) = position.split_once(" of ").unwrap();
        assert_eq!(range.split_once('–').unwrap().1, of, "{screen}");
    }
    let mut stage = inspecting(40, 10);
    stage.press(KeyCode::Home);
    has(&stage.screen(), "rows 1–3 of 7");
    stage.press(KeyCode::End);
    has(&stage.screen(), "rows 5–7 of 7");
}

#[test]
fn the_list_stays_where_it_is_until_a_key_needs_another_row() {
    let mut stage = Stage::new(120, 40);
    stage.prompt("Much to do");
    for number in 1..=20 {
        stage.request();
        stage.reply(&format!("Step {number}."), &["ls"]);
        stage.ran(1, "app.py\n");
    }
    stage.request();
    let list = |stage: &mut Stage| {
        let rows = stage.screen();
        let rows = rows.lines().skip_while(|line| !line.contains("Inspector ─")).skip(3);
        let rows = rows.map(|line| line.chars().skip(64).collect::<String>().replace('▸', " "));
        rows.collect::<Vec<_>>()
    };
    let before = list(&mut stage);
    assert!(before.iter().any(|row| row.contains("+ 42 tool")), "{before:?}");
    stage.press(KeyCode::BackTab);
    assert_eq!(list(&mut stage)[..10], before[..10], "it has the keys");
    // The row that keys are about is one that can be seen.
    stage.press(KeyCode::Enter);
    let first = before[0].split_whitespace().nth(1).unwrap();
    has(&stage.screen(), &format!("= {first} "));
    stage.press(KeyCode::Esc);
    stage.press(KeyCode::Down);
    assert_eq!(list(&mut stage)[..10], before[..10], "that row was in sight");
    stage.press(KeyCode::Up);
    stage.press(KeyCode::Up);
    let up = list(&mut stage);
    assert_eq!(up[1..10], before[..9], "one row further up");
    stage.press(KeyCode::Esc);
    assert_eq!(list(&mut stage)[..10], up[..10], "it has lost the keys");
}

#[test]
fn titles_and_the_cache_break_are_never_cut() {
    for (columns, rows) in SIZES {
        let mut stage = inspecting(columns, rows);
        stage.clear();
        stage.prompt("Something else.");
        stage.request();
        has(&stage.screen(), "prefix broken at message 2");
        for view in '2'..='6' {
            let screen = key(&mut stage, view);
            has(&screen, "turn ‹1 2 [3]›");
            let title = screen.lines().find(|line| line.contains("▸")).unwrap();
            assert!(!title.contains('…'), "{screen}");
        }
    }
}

#[test]
fn repairs_are_rows_that_can_be_reached_and_opened() {
    for (columns, rows) in SIZES {
        let mut stage = inspecting(columns, rows);
        for number in 1..=30 {
            let what =
                format!("repair number {number}, which is told in as many words as it takes");
            let repair = Repair::of_request(what);
            stage.record(Record::Repair { turn: TurnNumber(2), repair });
        }
        stage.frame();
        stage.press(KeyCode::End);
        has(&stage.screen(), "repair number 30");
        stage.press(KeyCode::Enter);
        has(&stage.screen().replace("│\n│", "").replace("  ", " "), "takes");
    }
}

#[test]
fn a_request_that_never_left_is_not_listed_as_sent() {
    let mut stage = Stage::new(120, 40);
    stage.prompt("go");
    stage.request();
    let why = "cannot connect to 127.0.0.1:9 (connection refused).";
    let failure = || Failure::new(Place::Transport, FailureKind::Unreachable, why);
    stage.failed(None, false, failure());
    stage.ended(TransitionReason::Failed(failure()));
    stage.frame();
    stage.press(KeyCode::BackTab);
    let screen = stage.screen();
    has(&screen, "✗  · not sent   cannot connect");
    has(&screen, " · not sent ");
    has(&screen, "-  1 system");
    assert!(!screen.contains("│ + ") && !screen.contains("first turn"), "{screen}");
    for view in ['4', '5', '6'] {
        has(&key(&mut stage, view), "not sent: cannot connect");
    }
    has(&key(&mut stage, '3'), "This request was not sent.");
    // What goes in the next turn goes for the first time, whatever was meant to go before.
    stage.request();
    stage.reply("Done.", &[]);
    stage.ended(TransitionReason::Answered);
    stage.press(KeyCode::Esc);
    let screen = stage.screen();
    has(&screen, "+  1 system");
    has(&screen, "first turn");
    has(&key(&mut stage, '3'), "compared with turn 1, which was not sent");
}

#[test]
fn what_an_earlier_attempt_sent_is_not_called_unsent() {
    let mut stage = Stage::new(120, 40);
    stage.prompt("go");
    stage.request();
    stage.refused_once();
    let why = "cannot connect to 127.0.0.1:9 (connection refused).";
    let failure = Failure::new(Place::Transport, FailureKind::Unreachable, why);
    stage.failed(None, false, failure.clone());
    stage.ended(TransitionReason::Failed(failure));
    stage.frame();
    stage.press(KeyCode::BackTab);
    let screen = stage.screen();
    has(&screen, "✗  · failed     cannot connect");
    has(&screen, "+  1 system");
    assert!(!screen.contains("not sent"), "{screen}");
}

#[test]
fn an_unsaved_session_says_that_nothing_is_kept() {
    let mut stage = inspecting(120, 40);
    let screen = key(&mut stage, '5');
    has(&screen, "HTTP 200");
    has(&screen, "content-type: text/event-stream");
    has(&screen, "Raw events are not kept: the session is not saved.");
}

#[test]
fn the_response_view_follows_the_stream() {
    let mut stage = Stage::new(120, 40);
    stage.prompt("go");
    stage.request();
    stage.frame();
    stage.press(KeyCode::BackTab);
    let kept = |events: usize| {
        let events: Vec<String> = (1..=events).map(|n| format!("data: event {n}\n\n")).collect();
        let first = events.concat();
        Kept::Response(KeptResponse { first: first.into_bytes(), ..KeptResponse::default() })
    };
    stage.kept.insert(1, kept(3));
    has(&key(&mut stage, '5'), "data: event 3");
    stage.kept.insert(1, kept(90));
    stage.stall(300);
    stage.text("more");
    let screen = stage.screen();
    has(&screen, "data: event 90");
    assert!(!screen.contains("data: event 3 "), "it stays with the end: {screen}");
    stage.press(KeyCode::Home);
    stage.kept.insert(1, kept(95));
    stage.stall(300);
    stage.text("more");
    has(&stage.screen(), "data: event 3 ");
}

#[test]
fn reasoning_says_whether_it_goes_back() {
    let mut stage = Stage::new(200, 40);
    stage.prompt("go");
    stage.request();
    let thought = Block::Reasoning(Reasoning::of_text("I think."));
    let said = Block::Text("Here.".to_owned());
    stage.entry(Role::Assistant, Origin::Model, vec![thought, said]);
    stage.prompt("more");
    stage.request();
    stage.frame();
    stage.press(KeyCode::BackTab);
    has(&stage.screen(), "reasoning: not sent back");
    for key in [KeyCode::Down, KeyCode::Down, KeyCode::Enter] {
        stage.press(key);
    }
    has(&stage.screen(), "reasoning: not sent back");
}

#[test]
fn a_running_call_out_of_sight_is_announced() {
    for (columns, rows) in SIZES {
        let mut stage = Stage::new(columns, rows);
        stage.prompt("go");
        stage.request();
        stage.reply("", &["sleep 9"; 40]);
        for call in 1..40 {
            stage.ran(call, "ok\n");
        }
        stage.decided(40, Some("sleep 9"), None);
        stage.started(40);
        stage.frame();
        for key in [KeyCode::Tab, KeyCode::Tab] {
            stage.press(key);
        }
        assert!(!stage.screen().contains("running ↓"), "{}", stage.screen());
        stage.press(KeyCode::Home);
        has(&stage.screen(), "of 40 · 1 running ↓");
    }
}

#[test]
fn an_opened_call_is_named_in_the_title() {
    for (columns, rows) in SIZES {
        let mut stage = Stage::new(columns, rows);
        stage.two_turns();
        stage.ran(1, &"many lines\n".repeat(80));
        stage.frame();
        for key in [KeyCode::Tab, KeyCode::Tab, KeyCode::Enter] {
            stage.press(key);
        }
        let screen = stage.screen();
        has(&screen, "─ call 2 ✓ exit 0 · 0.02 s");
        has(&screen, " rows ");
    }
}

#[test]
fn narrow_footers_keep_what_matters_most() {
    let mut stage = inspecting(40, 10);
    for words in ["Enter open", "views", "Esc prompt"] {
        has(&stage.screen(), words);
    }
    let screen = key(&mut stage, '2');
    for words in ["Esc back", "views", "r exact", "? help"] {
        has(&screen, words);
    }
    let mut stage = Stage::new(40, 10);
    for words in ["Enter send", "Tab next pane", "F1 help"] {
        has(&stage.screen(), words);
    }
}

#[test]
fn the_status_line_has_the_context_and_forgets_after_clear() {
    let mut stage = Stage::new(120, 40);
    stage.two_turns();
    stage.ended(TransitionReason::Answered);
    has(&stage.screen(), "turn 2 · answered   ctx 4.1k ↑3.9k ↓212");
    stage.clear();
    let screen = stage.screen();
    let status = screen.lines().next().unwrap();
    assert!(!status.contains("turn") && !status.contains("ctx"), "{status}");
    stage.prompt("new");
    stage.request();
    has(&stage.screen(), "turn 3");
}

#[test]
fn the_context_of_a_request_under_way_is_its_own_and_marked_as_about() {
    let mut stage = Stage::new(120, 40);
    stage.prompt("Look around");
    stage.request();
    let status = |stage: &mut Stage| stage.screen().lines().next().unwrap().to_owned();
    let tokens = |status: &str| -> f64 {
        let told = status.split("ctx ~").nth(1).expect(status);
        let (number, unit) = (told.trim_end_matches('k'), told.ends_with('k'));
        number.parse::<f64>().unwrap() * if unit { 1000.0 } else { 1.0 }
    };
    let first = tokens(&status(&mut stage));
    assert!((100.0..1000.0).contains(&first), "by what is usual: {first}");
    stage.reply("", &["cat log"]);
    has(&status(&mut stage), "ctx 4.1k ↑3.9k ↓212");
    stage.ran(1, &"a line of the log\n".repeat(1000));
    stage.request();
    stage.text("It says");
    let now = status(&mut stage);
    assert!(!now.contains('↑'), "that was the turn before: {now}");
    assert!(tokens(&now) > 50_000.0, "18 kB more, by what the server counted: {now}");
}

/// What is read at a moment when the response still arrives must not come after what is read when
/// it has ended.
#[test]
fn responses_are_read_one_after_the_other() {
    let mut stage = Stage::new(120, 40);
    stage.prompt("one");
    stage.request();
    stage.frame();
    stage.press(KeyCode::BackTab);
    let input = |stage: &mut Stage, input: Input| -> usize {
        let effects = tui::update(&mut stage.model, input, stage.now);
        effects.iter().filter(|effect| matches!(effect, Effect::ReadExchanges { .. })).count()
    };
    let five = KeyEvent::new(KeyCode::Char('5'), KeyModifiers::NONE);
    assert_eq!(input(&mut stage, Input::Key(five)), 1);
    stage.now += Duration::from_secs(1);
    assert_eq!(input(&mut stage, Input::Tick), 0, "the first has not come yet");
    let turn = TurnNumber(1);
    let response = Response {
        turn,
        attempt: 1,
        sent: true,
        status: Some(200),
        headers: Vec::new(),
        first_byte_ms: Some(1),
        end_ms: 2,
        bytes: 3,
        stop_reason: None,
        usage: None,
        failure: None,
        stopped: true,
    };
    let stamped = Stamped { at: stage.unix_ms, record: Record::Response(response) };
    assert_eq!(input(&mut stage, Input::Event(Event::Record(stamped.into()))), 0);
    let kept = vec![(1, Kept::NoAnswer)];
    assert_eq!(input(&mut stage, Input::Exchanges { turn, kept: kept.clone() }), 1, "now the rest");
    assert_eq!(input(&mut stage, Input::Exchanges { turn, kept }), 0, "that is all");
}

/// Five turns, each of a prompt of its own.
fn five_turns(columns: u16, rows: u16) -> Stage {
    let mut stage = Stage::new(columns, rows);
    for name in ["ant", "bee", "cat", "dog", "eel"] {
        stage.prompt(&format!("About the {name}."));
        stage.request();
        stage.reply(&format!("The {name} it is."), &[]);
        stage.ended(TransitionReason::Answered);
    }
    stage.frame();
    stage
}

#[test]
fn a_turn_is_one_word_or_one_key_and_its_number_away() {
    for (columns, rows) in SIZES {
        let mut stage = five_turns(columns, rows);
        stage.type_text("/turn 3");
        stage.press(KeyCode::Enter);
        has(&stage.screen(), "1 2 [3] 4 5›");
        has(&stage.screen(), "▸");
        stage.press(KeyCode::Char('t'));
        has(&stage.screen(), "About the eel.");
        stage.press(KeyCode::Char('2'));
        stage.press(KeyCode::Enter);
        has(&stage.screen(), "1 [2] 3 4 5›");
        stage.press(KeyCode::Char('4'));
        stage.press(KeyCode::Char('t'));
        stage.type_text("dog");
        stage.press(KeyCode::Enter);
        has(&stage.screen(), "1 2 3 [4] 5›");
        has(&stage.screen(), "[request]");
    }
    let mut stage = five_turns(120, 40);
    stage.type_text("/turn 9");
    stage.press(KeyCode::Enter);
    has(&stage.screen(), "No such turn: the last one is 5.");
    has(&stage.screen(), "/turn 9");
    let mut stage = Stage::new(120, 40);
    stage.type_text("/turn");
    stage.press(KeyCode::Enter);
    has(&stage.screen(), "Nothing was sent yet.");
}

#[test]
fn a_turn_is_compared_with_any_earlier_one() {
    let mut stage = five_turns(120, 40);
    stage.press(KeyCode::BackTab);
    let screen = key(&mut stage, '3');
    has(&screen, "── compared with turn 4 ──");
    assert!(!screen.contains("+ content: About the dog."), "{screen}");
    let screen = key(&mut stage, '[');
    has(&screen, "── compared with turn 3 ──");
    has(&screen, "+ content: About the dog.");
    has(&screen, "+ content: About the eel.");
    for _ in 0..5 {
        key(&mut stage, '[');
    }
    has(&stage.screen(), "── compared with turn 1 ──");
    stage.press(KeyCode::Left);
    has(&stage.screen(), "── compared with turn 1 ──");
    has(&stage.screen(), "+ content: About the bee.");
    stage.press(KeyCode::Char('y'));
    let (copied, _) = stage.copied.clone().unwrap();
    has(&copied, "+ content: About the bee.");
    has(&key(&mut stage, ']'), "── compared with turn 2 ──");
    // What is marked does not outlive the view.
    stage.press(KeyCode::Esc);
    has(&key(&mut stage, '3'), "── compared with turn 3 ──");
    key(&mut stage, ']');
    has(&stage.screen(), "── compared with turn 3 ──");
}

#[test]
fn rows_that_head_a_piece_of_a_diff_are_one_row_each() {
    let mut stage = inspecting(80, 24);
    let screen = key(&mut stage, '3');
    let rows: Vec<&str> = screen.lines().collect();
    let heads: Vec<usize> = (0..rows.len()).filter(|at| rows[*at].contains("call_")).collect();
    assert!(!heads.is_empty(), "{screen}");
    for head in heads {
        let below = rows[head + 1].trim_start_matches('│').trim_start();
        let begins = |mark: &char| below.starts_with(*mark);
        assert!(['+', '-', '=', '~', '╰'].iter().any(begins), "{below:?} in {screen}");
    }
}

#[test]
fn turns_that_went_wrong_are_marked_in_the_list_of_turns() {
    let mut stage = Stage::new(100, 30);
    let calls = |stage: &mut Stage| {
        stage.reply("I look.", &["ls"]);
        stage.decided(1, Some("ls"), None);
        stage.started(1);
    };
    let receipt = Receipt::default;
    stage.prompt("well");
    stage.request();
    stage.reply("Yes.", &[]);
    stage.ended(TransitionReason::Answered);
    for (prompt, status) in [
        ("exits", CallStatus::Exited(2)),
        ("stops", CallStatus::Stopped),
        ("denied", CallStatus::Denied),
    ] {
        stage.prompt(prompt);
        stage.request();
        calls(&mut stage);
        stage.finished(1, status, 10, receipt(), "what came of it");
        stage.ended(TransitionReason::Stopped);
    }
    stage.prompt("too long");
    stage.request();
    stage.cut_off("Once upon a", "length");
    stage.ended(TransitionReason::Answered);
    stage.type_text("/turn");
    stage.press(KeyCode::Enter);
    let screen = stage.screen();
    let of = |prompt: &str| {
        let row = screen.lines().find(|row| row.contains(&format!("  {prompt}  ")));
        row.unwrap_or_else(|| panic!("{prompt}: {screen}")).to_owned()
    };
    for (prompt, word) in [
        ("exits", "✗ exit 2"),
        ("stops", "✗ stopped"),
        ("denied", "⊘ denied"),
        ("too long", "✗ cut off"),
    ] {
        assert!(of(prompt).contains(word), "{prompt}: {screen}");
    }
    assert!(!of("well").contains('✗') && !of("well").contains('⊘'), "{screen}");
    stage.press(KeyCode::Enter);
    has(&stage.screen(), "turn ‹1 2✗ 3✗ 4⊘ [5✗]›");
    stage.press(KeyCode::End);
    has(&stage.screen(), "✗  · cut off    the reply reached");
}

#[test]
fn the_footer_of_a_diff_offers_only_turns_that_there_are() {
    let offers = |stage: &mut Stage| {
        let footer = stage.footer();
        (footer.contains("vs earlier"), footer.contains("vs later"))
    };
    let mut stage = inspecting(80, 24);
    key(&mut stage, '3');
    assert_eq!(offers(&mut stage), (false, false), "{}", stage.screen());
    let mut stage = five_turns(80, 24);
    stage.press(KeyCode::BackTab);
    key(&mut stage, '3');
    assert_eq!(offers(&mut stage), (true, false), "{}", stage.screen());
    key(&mut stage, '[');
    assert_eq!(offers(&mut stage), (true, true), "{}", stage.screen());
}
