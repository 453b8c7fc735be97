//! Completion of words and files in the prompt, and words that are nearly right.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod stage;

use crossterm::event::{KeyCode, KeyModifiers};
use limpid::conversation::{
    Command, Destination, KeyState, Parameter, ProfileRow, Progress, TransitionReason,
};
use limpid::tui::Input;
use stage::Stage;

fn files(stage: &mut Stage, names: &[&str]) {
    let paths = names.iter().map(Into::into).collect();
    stage.input(Input::Files { paths, more: false });
}

#[test]
fn words_are_listed_with_what_they_do() {
    let mut stage = Stage::new(80, 24);
    stage.type_text("/c");
    let screen = stage.screen();
    assert!(screen.contains("Words · 1 of 3"), "{screen}");
    assert!(screen.contains("/clear     starts anew: the model"), "{screen}");
    assert!(screen.contains("Tab take it"), "{screen}");
    stage.press(KeyCode::Down);
    stage.press(KeyCode::Enter);
    let screen = stage.screen();
    assert!(screen.contains("│ /clear") && !screen.contains("Words ·"), "{screen}");
    assert!(stage.sent.is_empty(), "taking a completion submits nothing");
    stage.press(KeyCode::Enter);
    assert_eq!(stage.sent, [Command::Clear]);
}

#[test]
fn esc_closes_the_list_first_and_it_stays_away_for_this_word() {
    let mut stage = Stage::new(80, 24);
    stage.prompt("one");
    stage.request();
    stage.type_text("/c");
    stage.press(KeyCode::Esc);
    assert!(stage.sent.is_empty(), "nothing is stopped");
    stage.type_text("o");
    assert!(!stage.screen().contains("Words ·"), "{}", stage.screen());
    stage.press(KeyCode::Esc);
    assert_eq!(stage.sent, [Command::Stop]);
}

#[test]
fn files_are_asked_for_with_the_first_mention_only() {
    let mut stage = Stage::new(80, 24);
    stage.type_text("me@home and a@b /clear");
    assert_eq!(stage.asked_for_files, 0);
    stage.type_text(" @ma");
    assert_eq!(stage.asked_for_files, 1);
    assert!(!stage.screen().contains("Files:"));
    files(&mut stage, &["README.md", "src/main.rs", "evil\u{1b}]0;x\u{7}ma"]);
    let screen = stage.screen();
    assert!(screen.contains("Files: only the path is sent · 1 of"), "{screen}");
    assert!(screen.contains("src/main.rs") && screen.contains("evil\\x1b]0;x\\x07ma"), "{screen}");
    stage.type_text("in.rs");
    stage.press(KeyCode::Tab);
    assert!(stage.screen().contains("/clear src/main.rs"), "{}", stage.screen());
}

#[test]
fn no_list_covers_the_approval_panel() {
    let mut stage = Stage::new(80, 24);
    stage.two_turns();
    stage.type_text("/c");
    assert!(stage.screen().contains("Words ·"));
    stage.ask(1);
    let screen = stage.screen();
    assert!(!screen.contains("Words ·") && screen.contains("pytest -q"), "{screen}");
}

#[test]
fn a_word_that_is_nearly_right_is_told_and_not_sent() {
    for text in ["/Help", "/clear now", "/CONTINUE", "/quit please"] {
        let mut stage = Stage::new(80, 24);
        stage.type_text(text);
        stage.press(KeyCode::Esc);
        stage.press(KeyCode::Enter);
        assert!(stage.screen().contains("Did you mean"), "{}", stage.screen());
        assert!(stage.sent.is_empty() && !stage.quit, "{text}");
        assert!(stage.screen().contains(&format!("│ {text}")), "{}", stage.screen());
    }
    let mut stage = Stage::new(80, 24);
    stage.type_text(" /clear now");
    stage.press(KeyCode::Enter);
    assert_eq!(stage.sent, [Command::Prompt(" /clear now".to_owned())]);
}

#[test]
fn the_first_up_leads_to_the_prompts_of_earlier_sessions() {
    let mut stage = Stage::new(80, 24);
    stage.press(KeyCode::Up);
    assert_eq!(stage.asked_for_prompts, 1);
    stage.input(Input::Prompts(vec!["the older one".to_owned(), "the newer one".to_owned()]));
    assert!(stage.screen().contains("the newer one"), "{}", stage.screen());
    stage.press(KeyCode::Up);
    assert!(stage.screen().contains("the older one"), "{}", stage.screen());
    assert_eq!(stage.asked_for_prompts, 1);
    for _ in 0..2 {
        stage.press(KeyCode::Down);
    }
    assert!(stage.screen().contains("Ask something"), "{}", stage.screen());
}

#[test]
fn earlier_prompts_are_searched_as_one_types() {
    let ctrl = KeyModifiers::CONTROL;
    let mut stage = Stage::new(80, 24);
    for prompt in ["fix the parser", "run the tests", "fix the printer\nand its tests"] {
        stage.type_text(prompt.split('\n').next().unwrap());
        if prompt.contains('\n') {
            stage.press_with(KeyCode::Char('j'), ctrl);
            stage.type_text("and its tests");
        }
        stage.press(KeyCode::Enter);
        stage.ended(TransitionReason::Answered);
    }
    stage.sent.clear();
    stage.press_with(KeyCode::Char('r'), ctrl);
    assert_eq!(stage.asked_for_prompts, 1);
    stage.input(Input::Prompts(vec!["FIX an older one".to_owned(), "run the tests".to_owned()]));
    assert!(stage.screen().contains("Earlier prompts · 1 of 4"), "{}", stage.screen());
    stage.type_text("fix");
    let screen = stage.screen();
    assert!(screen.contains("Earlier prompts · 1 of 3"), "{screen}");
    assert!(
        screen.contains("fix the printer ⏎") && screen.contains("FIX an older one"),
        "{screen}"
    );
    stage.press_with(KeyCode::Char('r'), ctrl);
    assert!(stage.screen().contains("· 2 of 3"), "{}", stage.screen());
    stage.press(KeyCode::Enter);
    let screen = stage.screen();
    assert!(screen.contains("│ fix the parser") && !screen.contains("Earlier"), "{screen}");
    assert!(stage.sent.is_empty(), "taking one submits nothing");
    stage.press_with(KeyCode::Char('u'), ctrl);
    // What matches nothing is not sent by the Enter that was meant for the search.
    stage.press_with(KeyCode::Char('r'), ctrl);
    stage.type_text("zzz");
    assert!(stage.screen().contains("No earlier prompt holds this"), "{}", stage.screen());
    stage.press(KeyCode::Enter);
    assert!(stage.sent.is_empty());
    assert!(!stage.screen().contains("zzz"), "{}", stage.screen());
    // Ctrl-C ends the search with the draft.
    stage.press_with(KeyCode::Char('r'), ctrl);
    stage.press_with(KeyCode::Char('c'), ctrl);
    assert!(!stage.screen().contains("Earlier prompts"), "{}", stage.screen());
    assert_eq!(stage.asked_for_prompts, 1);
}

fn profile(name: &str, model: &str, key: KeyState) -> ProfileRow {
    ProfileRow {
        name: name.to_owned(),
        format: "openai-chat".to_owned(),
        host: format!("{name}.example"),
        model: Some(model.to_owned()),
        key,
    }
}

#[test]
fn what_can_follow_a_word_is_offered_with_what_is_in_force() {
    let mut stage = Stage::new(80, 24);
    stage.type_text("/set ");
    let screen = stage.screen();
    assert!(screen.contains("What can follow · 1 of 4"), "{screen}");
    for name in ["temperature", "max_tokens", "effort", "thinking_budget"] {
        assert!(screen.contains(name), "{screen}");
    }
    stage.type_text("eff");
    stage.press(KeyCode::Tab);
    assert!(stage.screen().contains("│ /set effort "), "{}", stage.screen());
    assert!(stage.screen().contains("unset  leaves it to the server"), "{}", stage.screen());
    stage.type_text("high");
    assert!(!stage.screen().contains("What can follow"), "{}", stage.screen());
    stage.press(KeyCode::Enter);
    let set = Command::Set { parameter: Parameter::Effort, value: Some("high".to_owned()) };
    assert_eq!(stage.sent, [set]);
    stage.sent.clear();

    stage.type_text("/model ");
    assert_eq!(stage.sent, [Command::ListProfiles]);
    let key = || KeyState::Found("GROQ_API_KEY".to_owned());
    let missing = KeyState::Missing("OPENAI_API_KEY".to_owned());
    stage.progress(Progress::Profiles(vec![
        profile("openai", "gpt-5", missing),
        profile("groq", "llama-3", key()),
        profile("dashscope", "qwen-plus", KeyState::NotNeeded),
    ]));
    let screen = stage.screen();
    assert!(screen.contains("openai     gpt-5 · ✗ no OPENAI_API_KEY"), "{screen}");
    assert!(screen.contains("qwen-plus  a model at this server"), "{screen}");
    stage.type_text("gr");
    stage.press(KeyCode::Tab);
    stage.type_text(" ");
    assert!(stage.screen().contains("llama-3"), "{}", stage.screen());
    // Enter sends what is written, also where another name begins so.
    stage.type_text("llama");
    stage.press(KeyCode::Enter);
    let to = Destination::Profile { name: "groq".to_owned(), model: Some("llama".to_owned()) };
    assert_eq!(stage.sent, [Command::ListProfiles, Command::Connect(to)]);
    // But what was selected is taken.
    stage.type_text("/theme ");
    stage.press(KeyCode::Down);
    stage.press(KeyCode::Enter);
    assert!(stage.screen().contains("│ /theme light"), "{}", stage.screen());
}

#[test]
fn a_draft_waits_while_earlier_prompts_are_searched() {
    let ctrl = KeyModifiers::CONTROL;
    let mut stage = Stage::new(80, 24);
    stage.type_text("run the tests");
    stage.press(KeyCode::Enter);
    stage.ended(TransitionReason::Answered);
    stage.input(Input::Paste("line\n".repeat(30)));
    stage.type_text(" explain");
    stage.press_with(KeyCode::Char('r'), ctrl);
    let screen = stage.screen();
    assert!(screen.contains("Earlier prompts · 1 of 1") && !screen.contains("explain"), "{screen}");
    assert!(screen.contains("Type a part of an earlier prompt."), "{screen}");
    stage.type_text("tes");
    stage.press(KeyCode::Esc);
    let screen = stage.screen();
    assert!(screen.contains("[pasted 30 lines, 150 B] explain"), "{screen}");
    // One taken stands in its place, and undo brings the draft back.
    stage.press_with(KeyCode::Char('r'), ctrl);
    stage.press(KeyCode::Enter);
    assert!(stage.screen().contains("│ run the tests"), "{}", stage.screen());
    stage.press_with(KeyCode::Char('7'), ctrl);
    stage.press_with(KeyCode::Char('7'), ctrl);
    let screen = stage.screen();
    assert!(screen.contains("[pasted 30 lines, 150 B] explain"), "{screen}");
}

#[test]
fn what_is_pasted_or_typed_beside_the_prompt_is_not_lost_silently() {
    let mut stage = Stage::new(120, 40);
    stage.press(KeyCode::Tab);
    stage.type_text("w");
    assert!(stage.screen().contains("Esc, then write"), "{}", stage.screen());
    stage.input(Input::Paste("pasted".to_owned()));
    let screen = stage.screen();
    assert!(screen.contains("│ pasted") && screen.contains("▸Prompt"), "{screen}");
}

#[test]
fn the_editor_gets_the_exact_draft_and_undo_takes_its_work_back() {
    let ctrl = KeyModifiers::CONTROL;
    let mut stage = Stage::new(80, 24);
    let long = "line\n".repeat(30);
    stage.input(Input::Paste(long.clone()));
    stage.type_text(" end");
    stage.press_with(KeyCode::Char('x'), ctrl);
    assert_eq!(stage.edited, Some(format!("{long} end")));
    stage.input(Input::Edited(Ok("short".to_owned())));
    assert!(stage.screen().contains("│ short"), "{}", stage.screen());
    stage.press_with(KeyCode::Char('7'), ctrl);
    stage.press_with(KeyCode::Char('7'), ctrl);
    assert!(stage.screen().contains("[pasted 30 lines, 150 B] end"), "{}", stage.screen());
    stage.input(Input::Edited(Err("The editor failed.".to_owned())));
    let screen = stage.screen();
    assert!(
        screen.contains("[pasted 30 lines") && screen.contains("The editor failed"),
        "{screen}"
    );
}
