//! What the keys of the screen do, and that nothing breaks it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod stage;

use std::time::Duration;

use crossterm::event::{KeyCode, KeyModifiers};
use limpid::conversation::{Command, Progress, Record, TransitionReason};
use limpid::tui::Input;
use proptest::prelude::*;
use stage::Stage;

fn type_line(stage: &mut Stage, text: &str) {
    stage.type_text(text);
    stage.press(KeyCode::Enter);
}

#[test]
fn a_new_prompt_brings_the_inspector_back_to_the_newest_turn() {
    let mut stage = Stage::new(120, 40);
    stage.prompt("one");
    stage.request();
    stage.ended(TransitionReason::Answered);
    stage.prompt("two");
    stage.request();
    stage.ended(TransitionReason::Answered);
    assert!(stage.screen().contains("‹1 [2]›"), "{}", stage.screen());
    for key in [KeyCode::BackTab, KeyCode::Left] {
        stage.press(key);
    }
    assert!(stage.screen().contains("‹[1] 2›"), "{}", stage.screen());
    stage.press(KeyCode::Esc);
    type_line(&mut stage, "three");
    assert!(stage.screen().contains("‹1 [2]›"), "{}", stage.screen());
}

#[test]
fn enter_sends_and_empties_the_draft() {
    let mut stage = Stage::new(80, 24);
    type_line(&mut stage, "hello");
    assert_eq!(stage.sent, [Command::Prompt("hello".to_owned())]);
    assert!(!stage.screen().contains("hello"));
}

#[test]
fn the_footer_says_what_enter_does_with_what_is_written() {
    for (text, enter) in [
        ("", " Enter send "),
        ("hello", " Enter send "),
        (" !ls", " Enter send "),
        ("/usr/bin/env fails", " Enter send "),
        ("!ls", " Enter run "),
        ("!!ls", " Enter run, the model is not told "),
        ("/clear ", " Enter do it "),
        ("exit", " Enter quit "),
    ] {
        let mut stage = Stage::new(120, 40);
        stage.type_text(text);
        let screen = stage.screen();
        assert!(screen.contains(enter), "{text:?}: {screen}");
    }
    for text in ["!", "!!", "/nope ", "/clear now"] {
        let mut stage = Stage::new(120, 40);
        stage.type_text(text);
        let screen = stage.screen();
        assert!(!screen.contains(" Enter "), "{text:?} does nothing: {screen}");
    }
    let mut stage = Stage::new(120, 40);
    stage.prompt("go");
    stage.request();
    stage.type_text("!!ls");
    assert!(stage.screen().contains(" Enter queue "), "{}", stage.screen());
}

#[test]
fn a_folded_paste_says_how_it_is_seen_in_full() {
    let mut stage = Stage::new(100, 30);
    stage.input(Input::Paste("a line\n".repeat(50)));
    assert!(stage.screen().contains("Ctrl-X shows all of it"), "{}", stage.screen());
    stage.input(Input::Paste("short".to_owned()));
    assert!(!stage.screen().contains("Ctrl-X"), "{}", stage.screen());
}

#[test]
fn ctrl_d_over_a_draft_says_what_it_waits_for() {
    let mut stage = Stage::new(100, 30);
    stage.type_text("ab");
    stage.press_with(KeyCode::Char('d'), KeyModifiers::CONTROL);
    assert!(
        stage.screen().contains("Ctrl-D quits when the prompt is empty."),
        "{}",
        stage.screen()
    );
    stage.press(KeyCode::Left);
    stage.press_with(KeyCode::Char('d'), KeyModifiers::CONTROL);
    let screen = stage.screen();
    assert!(screen.contains("│ a ") && !screen.contains("Ctrl-D quits"), "{screen}");
    stage.press(KeyCode::Backspace);
    stage.press_with(KeyCode::Char('d'), KeyModifiers::CONTROL);
    assert!(stage.quit);
}

#[test]
fn a_key_without_meaning_names_what_esc_leads_to() {
    let mut stage = Stage::new(100, 30);
    stage.prompt("go");
    stage.request();
    stage.reply("I look.", &["ls"]);
    stage.ask(1);
    while !stage.screen().contains("▸Conversation") {
        stage.press(KeyCode::Tab);
    }
    stage.press(KeyCode::Char('x'));
    assert!(!stage.screen().contains("Esc, then write"), "{}", stage.screen());
    assert!(stage.screen().contains("Esc, then decide."), "{}", stage.screen());
}

#[test]
fn a_refused_prompt_is_put_back() {
    let mut stage = Stage::new(80, 24);
    type_line(&mut stage, "hello");
    let command = stage.sent.pop().unwrap();
    stage.model.refused(command);
    let screen = stage.screen();
    assert!(screen.contains("│ hello") && screen.contains("Busy"), "{screen}");
}

#[test]
fn words_of_the_prompt() {
    for (text, quits, sent) in [
        ("/quit", true, vec![]),
        ("q", true, vec![]),
        ("exit", true, vec![]),
        ("/clear", false, vec![Command::Clear]),
        ("/nope", false, vec![]),
        ("/continue", false, vec![]),
        ("/usr/bin/env", false, vec![Command::Prompt("/usr/bin/env".to_owned())]),
        ("/tmp is full", false, vec![Command::Prompt("/tmp is full".to_owned())]),
        ("quit q", false, vec![Command::Prompt("quit q".to_owned())]),
    ] {
        let mut stage = Stage::new(80, 24);
        type_line(&mut stage, text);
        assert_eq!(stage.quit, quits, "{text}");
        assert_eq!(stage.sent, sent, "{text}");
    }
    let mut stage = Stage::new(80, 24);
    type_line(&mut stage, "/nope");
    assert!(stage.screen().contains("│ /nope"), "the draft is kept");
    let mut stage = Stage::new(80, 24);
    stage.prompt("one");
    stage.request();
    stage.ended(TransitionReason::Stopped);
    type_line(&mut stage, "/continue");
    assert_eq!(stage.sent, [Command::Continue]);
    let mut stage = Stage::new(80, 24);
    type_line(&mut stage, "/help");
    assert!(stage.screen().contains("sends the prompt"));
    stage.press(KeyCode::Esc);
    assert!(!stage.screen().contains("sends the prompt"));
}

#[test]
fn ctrl_c_clears_then_quits_and_ctrl_d_quits_on_an_empty_prompt() {
    let ctrl = KeyModifiers::CONTROL;
    let mut stage = Stage::new(80, 24);
    stage.type_text("draft");
    stage.press_with(KeyCode::Char('d'), ctrl);
    assert!(!stage.quit);
    stage.press_with(KeyCode::Char('c'), ctrl);
    let screen = stage.screen();
    assert!(!screen.contains("draft") && screen.contains("Ctrl-C again quits"), "{screen}");
    stage.wait(2_500);
    assert!(!stage.screen().contains("Ctrl-C again quits"));
    stage.press_with(KeyCode::Char('c'), ctrl);
    assert!(!stage.quit);
    stage.press_with(KeyCode::Char('c'), ctrl);
    assert!(stage.quit);
    let mut stage = Stage::new(80, 24);
    stage.press_with(KeyCode::Char('d'), ctrl);
    assert!(stage.quit);
}

#[test]
fn esc_stops_and_an_idle_program_never_wakes() {
    let mut stage = Stage::new(80, 24);
    assert_eq!(stage.model.next_wake(stage.now), None);
    stage.prompt("one");
    stage.request();
    assert!(stage.model.next_wake(stage.now).is_some());
    stage.press(KeyCode::Esc);
    assert_eq!(stage.sent, [Command::Stop]);
    stage.ended(TransitionReason::Stopped);
    assert_eq!(stage.model.next_wake(stage.now), None);
}

#[test]
fn the_conversation_follows_its_end_unless_scrolled_up() {
    let mut stage = Stage::new(80, 24);
    stage.prompt("count");
    stage.request();
    let lines: Vec<String> = (1..=100).map(|n| format!("line {n}\n")).collect();
    stage.text(&lines.concat());
    assert!(stage.screen().contains("line 100"));
    stage.press(KeyCode::PageUp);
    let screen = stage.screen();
    assert!(!screen.contains("line 100") && screen.contains('↓'), "{screen}");
    let top = screen.lines().nth(2).unwrap().to_owned();
    stage.text("line 101\nline 102\n");
    let screen = stage.screen();
    assert_eq!(screen.lines().nth(2).unwrap(), top, "what is being read stays where it is");
    assert!(screen.contains("↓ 2 new"), "{screen}");
    stage.press(KeyCode::PageDown);
    stage.press(KeyCode::PageDown);
    stage.text("line 103\n");
    assert!(stage.screen().contains("line 103"), "back at the end it follows again");
}

#[test]
fn the_streamed_text_and_the_finished_one_look_the_same() {
    let text = "First a paragraph that is long enough to be wrapped more than once on a screen of \
                this width, with 你好，世界 and 👨‍👩‍👧 in it, and then some more words to fill it up.\n\n\
                ```sh\nls -l\n\tindented\n```\nafter\r\nend";
    let mut stage = Stage::new(60, 30);
    stage.prompt("go");
    stage.request();
    for c in text.chars() {
        stage.text(&c.to_string());
        stage.frame();
    }
    let streamed = stage.screen();
    stage.reply(text, &[]);
    let finished = stage.screen();
    let body =
        |screen: &str| screen.lines().skip(1).take(25).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(body(&streamed), body(&finished));
}

#[test]
fn no_escape_of_untrusted_text_reaches_a_cell() {
    let nasty = "\u{1b}]0;title\u{7}\u{1b}[2J\u{1b}c\u{9b}6n\u{1b}P1$r\u{202e}x\u{200b}\u{1b}]8;;unterminated\nnext";
    let mut stage = Stage::new(120, 40);
    stage.prompt(nasty);
    stage.request();
    stage.progress(Progress::Reasoning(nasty.to_owned()));
    stage.text(nasty);
    stage.frame();
    stage.reply(nasty, &[nasty]);
    stage.decided(1, Some(nasty), None);
    stage.started(1);
    let call = stage.call(1);
    stage.progress(Progress::Output { call, tail: nasty.to_owned(), produced: 1 });
    stage.frame();
    stage.progress(Progress::Notice(nasty.to_owned()));
    stage.record(Record::Repair {
        turn: limpid::conversation::TurnNumber(1),
        repair: limpid::conversation::Repair::of_request(nasty),
    });
    for _ in 0..3 {
        stage.press(KeyCode::Tab);
        stage.press(KeyCode::Enter);
        let screen = stage.screen();
        assert!(screen.chars().all(|c| c == '\n' || !c.is_control()), "{screen}");
        assert!(!screen.contains(['\u{202e}', '\u{200b}']), "{screen}");
    }
}

#[test]
fn an_opened_message_stays_when_the_next_turn_comes() {
    let mut stage = Stage::new(120, 40);
    stage.two_turns();
    stage.frame();
    stage.press(KeyCode::BackTab);
    stage.press(KeyCode::Enter);
    assert!(stage.screen().contains("‹1 [2]›"));
    stage.ran(1, "ok\n");
    stage.request();
    assert!(stage.screen().contains("‹1 [2] 3›"), "{}", stage.screen());
    stage.press(KeyCode::Esc);
    assert!(stage.screen().contains("‹1 2 [3]›"), "closed, it follows the newest again");
    stage.press(KeyCode::Left);
    assert!(stage.screen().contains("‹1 [2] 3›"));
}

#[test]
fn rows_of_the_inspector_add_up_to_the_body() {
    let mut stage = Stage::new(120, 40);
    stage.two_turns();
    let screen = stage.screen();
    assert!(screen.contains("4 messages · 811 B"), "{screen}");
    let sizes: u64 = screen
        .lines()
        .filter_map(|row| row.split("││ ").nth(1))
        .filter(|row| row.starts_with(['=', '+', '~']))
        .filter_map(|row| row.split(" B ").next()?.split_whitespace().last()?.parse::<u64>().ok())
        .sum();
    assert_eq!(sizes, 811);
}

#[derive(Debug, Clone)]
enum Step {
    Key(KeyCode, KeyModifiers),
    Paste(String),
    Resize(u16, u16),
    Wait(u64),
    Text(String),
    Prompt,
    Reply(String, Vec<String>),
    Ask,
    Run,
    Output(String),
    End,
    Clear,
}

fn step() -> impl Strategy<Value = Step> {
    let text = prop_oneof![
        any::<String>(),
        prop::sample::select(vec![
            "你好，世界",
            "👨‍👩‍👧‍👦🏳️‍🌈",
            "e\u{301}\u{200d}",
            "a\tb\r\nc",
            "```\ncode",
            "\u{1b}[2K",
            "y",
            "",
        ])
        .prop_map(str::to_owned),
    ];
    let code = prop_oneof![
        any::<char>().prop_map(KeyCode::Char),
        prop::sample::select("yaenrbjkhlgGq?/ pt".chars().collect::<Vec<_>>())
            .prop_map(KeyCode::Char),
        prop::sample::select(vec![
            KeyCode::Enter,
            KeyCode::Esc,
            KeyCode::Tab,
            KeyCode::BackTab,
            KeyCode::Up,
            KeyCode::Down,
            KeyCode::Left,
            KeyCode::Right,
            KeyCode::PageUp,
            KeyCode::PageDown,
            KeyCode::Home,
            KeyCode::End,
            KeyCode::Backspace,
            KeyCode::Delete,
            KeyCode::F(1),
        ]),
    ];
    let modifiers = prop::sample::select(vec![
        KeyModifiers::NONE,
        KeyModifiers::NONE,
        KeyModifiers::CONTROL,
        KeyModifiers::ALT,
        KeyModifiers::SHIFT,
    ]);
    prop_oneof![
        8 => (code, modifiers).prop_map(|(code, modifiers)| Step::Key(code, modifiers)),
        1 => text.clone().prop_map(Step::Paste),
        3 => (0..140u16, 0..50u16).prop_map(|(columns, rows)| Step::Resize(columns, rows)),
        2 => (0..700u64).prop_map(Step::Wait),
        3 => text.clone().prop_map(Step::Text),
        1 => Just(Step::Prompt),
        2 => (text.clone(), prop::collection::vec(text.clone(), 0..3))
            .prop_map(|(text, calls)| Step::Reply(text, calls)),
        2 => Just(Step::Ask),
        1 => Just(Step::Run),
        1 => text.prop_map(Step::Output),
        1 => Just(Step::End),
        1 => Just(Step::Clear),
    ]
}

fn play(stage: &mut Stage, step: Step, calls: &mut usize) {
    match step {
        Step::Key(code, modifiers) => stage.press_with(code, modifiers),
        Step::Paste(text) => stage.input(Input::Paste(text)),
        Step::Resize(columns, rows) => stage.resize(columns, rows),
        Step::Wait(ms) => stage.wait(ms),
        Step::Text(text) => stage.text(&text),
        Step::Prompt => {
            stage.prompt("go on");
            stage.request();
        }
        Step::Reply(text, commands) => {
            let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
            stage.reply(&text, &commands);
            *calls = commands.len();
        }
        Step::Ask if *calls > 0 => stage.ask(*calls),
        Step::Run if *calls > 0 => {
            stage.ran(*calls, "output\n");
            *calls -= 1;
        }
        Step::Output(tail) if *calls > 0 => {
            stage.started(*calls);
            let call = stage.call(*calls);
            stage.progress(Progress::Output { call, tail, produced: 9 });
        }
        Step::End => stage.ended(TransitionReason::Stopped),
        Step::Clear => stage.record(Record::Head(None)),
        Step::Ask | Step::Run | Step::Output(_) => {}
    }
    stage.frame();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn no_sequence_of_inputs_breaks_the_screen(steps in prop::collection::vec(step(), 0..60)) {
        let mut stage = Stage::new(80, 24);
        let mut calls = 0;
        for step in steps {
            play(&mut stage, step, &mut calls);
        }
        let screen = stage.screen();
        prop_assert!(screen.chars().all(|c| c == '\n' || !c.is_control()));
    }
}

#[test]
fn a_prompt_that_the_loop_has_no_room_for_comes_back_into_the_draft() {
    let mut stage = Stage::new(100, 30);
    stage.prompt("first");
    stage.request();
    stage.progress(Progress::Busy { prompt: Some("one too many".to_owned()) });
    let screen = stage.screen();
    assert!(screen.contains("one too many") && screen.contains("Busy: that was not taken."));
}

/// A minute of a command: tenths for its first ten seconds, then nothing between the seconds.
#[test]
fn a_clock_that_shows_seconds_wakes_once_a_second() {
    let mut stage = Stage::new(120, 40);
    stage.two_turns();
    stage.decided(1, None, None);
    stage.started(1);
    stage.frame();
    let wakes = |stage: &mut Stage, seconds: u32| {
        let until = stage.now + Duration::from_secs(seconds.into());
        let mut wakes = 0;
        while let Some(wake) = stage.model.next_wake(stage.now).filter(|wake| *wake <= until) {
            let before = stage.screen();
            let ms = wake.duration_since(stage.now).as_millis();
            stage.stall(u64::try_from(ms).unwrap());
            stage.input(Input::Tick);
            assert_ne!(stage.screen(), before, "woken for nothing after {ms} ms");
            wakes += 1;
        }
        wakes
    };
    assert_eq!(wakes(&mut stage, 10), 100);
    assert_eq!(wakes(&mut stage, 50), 50);
}

#[test]
fn an_esc_right_after_one_that_closed_something_stops_nothing() {
    let (none, ctrl) = (KeyModifiers::NONE, KeyModifiers::CONTROL);
    let open = [
        ("Commands", vec![(KeyCode::Char('p'), ctrl)]),
        ("Help", vec![(KeyCode::F(1), none)]),
        ("Copy ", vec![(KeyCode::Tab, none), (KeyCode::Char('Y'), none)]),
        ("/clear", vec![(KeyCode::Char('/'), none)]),
    ];
    for (shown, open) in open {
        let mut stage = Stage::new(80, 24);
        stage.prompt("go");
        stage.request();
        stage.text("Going.");
        stage.frame();
        for (code, modifiers) in open {
            stage.press_with(code, modifiers);
        }
        assert!(stage.screen().contains(shown), "{shown}: {}", stage.screen());
        for _ in 0..20 {
            stage.press_for(KeyCode::Esc, 30);
        }
        assert_eq!(stage.sent, [], "{shown}: an Esc that is held down stops nothing");
        assert!(!stage.screen().contains(&format!("─ {shown}")), "{}", stage.screen());
        assert!(stage.screen().contains("Esc once more stops."), "{shown}: {}", stage.screen());
        stage.wait(600);
        stage.press_with(KeyCode::Char('u'), ctrl);
        stage.press(KeyCode::Esc);
        assert_eq!(stage.sent, [Command::Stop], "{shown}");
    }
}

#[test]
fn an_opened_paste_says_where_one_is_and_folds_again_as_it_was_edited() {
    for (columns, rows) in [(80, 24), (40, 12)] {
        let mut stage = Stage::new(columns, rows);
        let ctrl_x = |stage: &mut Stage| {
            stage.press_with(KeyCode::Char('x'), KeyModifiers::CONTROL);
        };
        let lines: Vec<String> = (1..=40).map(|n| format!("line {n}")).collect();
        stage.type_text("Why? ");
        stage.input(Input::Paste(lines.join("\n")));
        assert!(stage.footer().contains("open the paste") || columns < 80, "{}", stage.screen());
        ctrl_x(&mut stage);
        assert!(stage.screen().contains("Opened: Ctrl-X folds it"), "{}", stage.screen());
        assert!(stage.screen().contains("row 40 of 40"), "{}", stage.screen());
        stage.press(KeyCode::Up);
        assert!(stage.screen().contains("row 39 of 40"), "{}", stage.screen());
        assert!(stage.footer().contains("fold the paste") || columns < 80, "{}", stage.screen());
        stage.type_text("!");
        ctrl_x(&mut stage);
        assert!(stage.screen().contains("Why? [pasted 40 lines, "), "{}", stage.screen());
        assert!(!stage.screen().contains(" of 40"), "{}", stage.screen());
        assert_eq!(stage.edited, None);
        stage.press(KeyCode::Enter);
        let edited = lines.join("\n").replace("line 39", "line 39!");
        assert_eq!(stage.sent, [Command::Prompt(format!("Why? {edited}"))]);
    }
}
