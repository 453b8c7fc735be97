//! The lists over the screen: every command there is, profiles, models, parameters.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod stage;

use crossterm::event::{KeyCode, KeyModifiers};
use insta::assert_snapshot;
use limpid::conversation::{
    Command, Destination, KeyState, Parameter, ParameterValue, Profile, ProfileRow, Progress,
    Record, Repair, TransitionReason,
};
use limpid::tui::{Input, SessionRow};
use stage::Stage;

const SIZES: [(u16, u16); 3] = [(40, 10), (80, 24), (120, 40)];

fn ctrl(stage: &mut Stage, c: char) {
    stage.press_with(KeyCode::Char(c), KeyModifiers::CONTROL);
}

fn type_line(stage: &mut Stage, text: &str) {
    stage.type_text(text);
    stage.press(KeyCode::Enter);
}

fn profiles() -> Progress {
    let row = |name: &str, format: &str, host: &str, model: Option<&str>, key| ProfileRow {
        name: name.to_owned(),
        format: format.to_owned(),
        host: host.to_owned(),
        model: model.map(str::to_owned),
        key,
    };
    let (found, missing) = (KeyState::Found, KeyState::Missing);
    Progress::Profiles(vec![
        row(
            "dashscope",
            "openai-chat",
            "dashscope.example",
            Some("qwen-plus"),
            found("DASHSCOPE_API_KEY".to_owned()),
        ),
        row(
            "anthropic",
            "anthropic",
            "api.anthropic.com",
            Some("claude-sonnet-4-6"),
            missing("ANTHROPIC_API_KEY".to_owned()),
        ),
        row("ollama", "openai-chat", "127.0.0.1:11434", None, KeyState::NotNeeded),
    ])
}

fn models(profile: &str, ids: &[&str]) -> Progress {
    let models = ids.iter().map(|id| (*id).to_owned()).collect();
    Progress::Models { profile: profile.to_owned(), models, failure: None }
}

#[test]
fn pictures_of_the_lists() {
    for (columns, rows) in SIZES {
        let mut stage = Stage::new(columns, rows);
        stage.two_turns();
        ctrl(&mut stage, 'p');
        assert_snapshot!(format!("palette_{columns}x{rows}"), stage.screen());
        stage.press(KeyCode::Esc);
        ctrl(&mut stage, 't');
        stage.progress(profiles());
        assert_snapshot!(format!("profiles_{columns}x{rows}"), stage.screen());
        stage.press(KeyCode::Enter);
        stage.press(KeyCode::Tab);
        stage.progress(models("dashscope", &["qwen-plus", "qwen-max", "qwen3-coder"]));
        stage.type_text("max");
        assert_snapshot!(format!("models_{columns}x{rows}"), stage.screen());
        stage.press(KeyCode::Esc);
        stage.press(KeyCode::Esc);
        stage.record(Record::Parameters(vec![ParameterValue {
            parameter: Parameter::ThinkingBudget,
            value: "2048".to_owned(),
            source: "/set".to_owned(),
        }]));
        type_line(&mut stage, "/set");
        assert_snapshot!(format!("parameters_{columns}x{rows}"), stage.screen());
    }
}

#[test]
fn what_is_cut_in_the_selected_row_is_there_in_full_below_the_list() {
    let mut stage = Stage::new(80, 24);
    stage.press_with(KeyCode::Char('p'), KeyModifiers::CONTROL);
    stage.type_text("/model");
    let screen = stage.screen();
    let flat = screen.replace(['│', '\n'], " ");
    let flat = flat.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains("alone it lists them; /model PROFILE, /model ID (at this server)"),
        "{screen}"
    );
    stage.press_with(KeyCode::Char('u'), KeyModifiers::CONTROL);
    stage.type_text("/revoke");
    let screen = stage.screen();
    assert_eq!(screen.matches("ends that: every command asks again").count(), 1, "{screen}");
}

#[test]
fn the_palette_names_what_is_the_same_once() {
    for tabs in 0..4 {
        let mut stage = Stage::new(160, 200);
        stage.two_turns();
        stage.frame();
        for _ in 0..tabs {
            stage.press(KeyCode::Tab);
        }
        ctrl(&mut stage, 'p');
        let screen = stage.screen();
        let rows = screen.lines().filter(|row| row.starts_with('│')).map(|row| {
            let cells = row.trim_matches(['│', '▸', ' ']).split("  ");
            cells.filter(|cell| !cell.is_empty()).take(2).map(str::trim).collect::<Vec<_>>()
        });
        let mut known = std::collections::HashSet::new();
        for row in rows.filter(|row| row.len() == 2) {
            assert!(known.insert(row.clone()), "{row:?} twice in {screen}");
        }
        assert!(known.contains(&vec![">", "a wider conversation"]), "{screen}");
    }
}

#[test]
fn the_palette_finds_a_command_and_runs_it_where_it_belongs() {
    let mut stage = Stage::new(120, 40);
    stage.two_turns();
    stage.ended(TransitionReason::Answered);
    ctrl(&mut stage, 'p');
    stage.type_text("exact body");
    let screen = stage.screen();
    assert!(screen.contains("4  the request: URL, headers, exact body"), "{screen}");
    assert!(!screen.contains("sends the prompt"), "{screen}");
    stage.press(KeyCode::Enter);
    let screen = stage.screen();
    assert!(!screen.contains("▸Commands"), "{screen}");
    assert!(screen.contains("{\"model\":\"qwen-plus\""), "{screen}");

    stage.press(KeyCode::Esc);
    ctrl(&mut stage, 'p');
    stage.type_text("the exact JSON");
    stage.press(KeyCode::Enter);
    assert!(stage.screen().contains("No message is open."), "{}", stage.screen());
}

#[test]
fn words_run_from_the_palette_and_the_draft_stays() {
    let mut stage = Stage::new(80, 24);
    stage.type_text("my draft");
    ctrl(&mut stage, 'p');
    type_line(&mut stage, "/clear");
    assert_eq!(stage.sent, [Command::Clear]);
    assert!(stage.screen().contains("│ my draft"), "{}", stage.screen());
    ctrl(&mut stage, 'p');
    type_line(&mut stage, "/quit");
    assert!(stage.quit);
}

#[test]
fn nothing_in_a_list_decides_about_a_command() {
    let mut stage = Stage::new(120, 40);
    stage.two_turns();
    stage.ask(1);
    stage.frame();
    stage.wait(600);
    for command in ["runs the command", "unasked", "edits the command", "denies this", "denies a"] {
        ctrl(&mut stage, 'p');
        type_line(&mut stage, command);
        let screen = stage.screen();
        assert!(screen.contains("only its own key decides, in the panel"), "{command}: {screen}");
        assert!(screen.contains("Allow this command?"), "{screen}");
        stage.wait(600);
    }
    ctrl(&mut stage, 'p');
    // A key of the panel is text in the list, and the panel is not armed before it was shown again.
    for c in ['y', 'a', 'n'] {
        stage.press(KeyCode::Char(c));
    }
    stage.press(KeyCode::Esc);
    stage.press(KeyCode::Char('y'));
    stage.wait(100);
    assert!(stage.sent.is_empty(), "{:?}", stage.sent);
}

#[test]
fn ctrl_c_closes_a_list_and_a_paste_goes_to_its_field() {
    let mut stage = Stage::new(120, 40);
    ctrl(&mut stage, 'p');
    stage.input(Input::Paste("  exact body\nand more\n".to_owned()));
    let screen = stage.screen();
    assert!(screen.contains("› exact body") && !screen.contains("and more"), "{screen}");
    ctrl(&mut stage, 'c');
    assert!(!stage.screen().contains("▸Commands"), "{}", stage.screen());
    assert!(stage.screen().contains("Ask something"), "nothing reached the prompt");
}

#[test]
fn words_after_model_and_set_say_what_is_meant() {
    let named = |name: &str| Command::Connect(Destination::Named(name.to_owned()));
    let both = |name: &str, model: &str| {
        let (name, model) = (name.to_owned(), Some(model.to_owned()));
        Command::Connect(Destination::Profile { name, model })
    };
    let set = |parameter, value: Option<&str>| Command::Set {
        parameter,
        value: value.map(str::to_owned),
    };
    let cases: Vec<(&str, Vec<Command>, &str)> = vec![
        ("/model", vec![Command::ListProfiles], "first the profile"),
        ("/model deepseek", vec![named("deepseek")], ""),
        ("/model openrouter a/b:free", vec![both("openrouter", "a/b:free")], ""),
        ("/model one two three", vec![], "/model PROFILE ID"),
        ("/set", vec![], "Parameters of every request"),
        ("/set temperature 0.5", vec![set(Parameter::Temperature, Some("0.5"))], ""),
        ("/set max-tokens unset", vec![set(Parameter::MaxTokens, None)], ""),
        ("/set max_tokens 0", vec![], "must be a whole number from 1 up"),
        ("/set temprature 1", vec![], "There are: temperature, max_tokens"),
        ("/set temperature", vec![], "/set NAME VALUE"),
        ("/modelling is fun", vec![Command::Prompt("/modelling is fun".to_owned())], ""),
    ];
    for (text, sent, shown) in cases {
        let mut stage = Stage::new(120, 40);
        type_line(&mut stage, text);
        // What can follow is asked for while it is typed.
        stage.sent.retain(|command| shown.contains("profile") || *command != Command::ListProfiles);
        assert_eq!(stage.sent, sent, "{text}");
        assert!(stage.screen().contains(shown), "{text}: {}", stage.screen());
    }
}

#[test]
fn a_model_is_chosen_step_by_step_and_esc_goes_one_step_back() {
    let mut stage = Stage::new(120, 40);
    ctrl(&mut stage, 't');
    assert!(stage.screen().contains("Reading the settings"), "{}", stage.screen());
    stage.progress(profiles());
    stage.type_text("claude");
    stage.press(KeyCode::Enter);
    assert!(stage.screen().contains("Model at anthropic"), "{}", stage.screen());
    stage.press(KeyCode::Tab);
    // What another server lists is no answer to this.
    stage.progress(models("ollama", &["llama"]));
    assert!(stage.screen().contains("Asking api.anthropic.com"), "{}", stage.screen());
    stage.progress(models("anthropic", &["claude-opus", "claude-sonnet-4-6"]));
    stage.press(KeyCode::Down);
    stage.press(KeyCode::Enter);
    let to = |model: &str| {
        let (name, model) = ("anthropic".to_owned(), Some(model.to_owned()));
        Command::Connect(Destination::Profile { name, model })
    };
    let asked = Command::ListModels("anthropic".to_owned());
    assert_eq!(stage.sent, [Command::ListProfiles, asked, to("claude-opus")]);

    ctrl(&mut stage, 't');
    stage.progress(profiles());
    stage.press(KeyCode::Down);
    stage.press(KeyCode::Enter);
    type_line(&mut stage, "my-own");
    assert_eq!(stage.sent.last(), Some(&to("my-own")));

    ctrl(&mut stage, 't');
    stage.progress(profiles());
    stage.press(KeyCode::Enter);
    stage.press(KeyCode::Esc);
    assert!(stage.screen().contains("first the profile"), "{}", stage.screen());
    stage.press(KeyCode::Esc);
    assert!(!stage.screen().contains("first the profile"), "{}", stage.screen());
}

#[test]
fn another_profile_shows_in_the_status_line_and_in_the_conversation() {
    let mut stage = Stage::new(200, 40);
    stage.two_turns();
    let profile = Profile {
        name: "anthropic".to_owned(),
        format: "anthropic".to_owned(),
        url: "https://api.anthropic.com/v1".to_owned(),
        model: "claude-\u{1b}[2Jopus".to_owned(),
        key_env: None,
    };
    stage.record(Record::Profile(profile));
    stage.request();
    for what in ["one", "two", "three", "four", "five"] {
        let turn = limpid::conversation::TurnNumber(3);
        let repair = Repair::of_request(format!("{what} is left out"));
        stage.record(Record::Repair { turn, repair });
    }
    let screen = stage.screen();
    for shown in [
        "claude-\\x1b[2Jopus @ anthropic   ask",
        "── from here on: claude-\\x1b[2Jopus @ anthropic · anthropic ──",
        "5 repairs ──",
        "! repair: three is left out",
        "! more repairs: see the inspector",
        "repair     five is left out",
    ] {
        assert!(screen.contains(shown), "{shown}: {screen}");
    }
    assert!(!screen.contains("! repair: four"), "{screen}");
}

fn sessions() -> Input {
    let row = |path: &str, here, age, prompt: Option<&str>, turns, way: &str| SessionRow {
        path: path.into(),
        directory: if here { "~/shop" } else { "~/other" }.to_owned(),
        here,
        age,
        prompt: prompt.map(str::to_owned),
        turns,
        way: Some(way.to_owned()),
    };
    let long =
        "List the Python files, run the tests, and tell me which of them fail and why that is";
    Input::Sessions(Ok(vec![
        row("/s/1", true, 42, Some("Fix the\nfailing test"), Some(12), "qwen-plus @ dashscope"),
        row("/s/2", false, 400, Some("Elsewhere"), Some(1), "gpt-5 @ openai"),
        row("/s/3", true, 90_000, Some(long), Some(3), "deepseek-chat @ deepseek"),
        row("/s/4", true, 900_000, None, None, "offline @ scripted"),
    ]))
}

#[test]
fn another_session_is_chosen_of_this_directory_or_of_any() {
    for (columns, rows) in SIZES {
        let mut stage = Stage::new(columns, rows);
        type_line(&mut stage, "/resume");
        assert_eq!(stage.asked_for_sessions, 1);
        assert!(stage.screen().contains("Reading the sessions …"), "{}", stage.screen());
        stage.input(sessions());
        assert_snapshot!(format!("sessions_{columns}x{rows}"), stage.screen());
        stage.press(KeyCode::Tab);
        assert_snapshot!(format!("sessions_everywhere_{columns}x{rows}"), stage.screen());
        stage.type_text("else");
        stage.press(KeyCode::Enter);
        assert_eq!(stage.goes_on_with, Some("/s/2".into()));
    }
    let mut stage = Stage::new(120, 40);
    type_line(&mut stage, "/resume");
    stage.input(Input::Sessions(Err("Permission denied (os error 13)".to_owned())));
    assert!(stage.screen().contains("Not listed: Permission denied"), "{}", stage.screen());
    stage.input(Input::Sessions(Ok(Vec::new())));
    assert!(stage.screen().contains("There is no other session yet."), "{}", stage.screen());
    stage.press(KeyCode::Enter);
    assert_eq!(stage.goes_on_with, None);
}

#[test]
fn no_session_is_left_while_a_prompt_runs() {
    let mut stage = Stage::new(120, 40);
    stage.prompt("one");
    stage.request();
    type_line(&mut stage, "/resume");
    assert_eq!(stage.asked_for_sessions, 0);
    let screen = stage.screen();
    assert!(screen.contains("Still running: Esc stops it. Your text stays."), "{screen}");
    assert!(screen.contains("│ /resume"), "{screen}");
}

#[test]
fn what_is_typed_in_the_palette_finds_first_what_it_names() {
    for (typed, first) in [("quit", "▸/quit"), ("/qu", "▸/quit"), ("unfold", "▸z")] {
        let mut stage = Stage::new(100, 30);
        stage.prompt("Tell me");
        stage.request();
        stage.reply("An answer.", &[]);
        stage.ended(TransitionReason::Answered);
        ctrl(&mut stage, 'p');
        stage.type_text(typed);
        assert!(stage.screen().contains(first), "{typed}: {}", stage.screen());
    }
}
