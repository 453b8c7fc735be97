//! In Chinese no English stands on the screen but names: an interface text that was forgotten shows
//! here, wherever it comes from.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod stage;

use crossterm::event::{KeyCode, KeyModifiers};
use limpid::conversation::{
    CallStatus, DecidedBy, Failure, FailureKind, KeyState, Place, ProfileRow, Progress, Receipt,
    Record, Repair, TransitionReason, TurnNumber,
};
use limpid::text::{Language, speak};
use stage::Stage;

/// Names: of the program, files, keys, roles, origins, reasons, settings; and what stands in the
/// conversation that is played.
const NAMES: &str = "
    limpid shop qwen plus dashscope bash ls py pytest app test sudo rm rf deepseek chat api com
    example http https scripted offline openai json Too many requests messages
    Enter Tab Esc Ctrl Alt Shift Up Down Left Right PgUp PgDn Home End Space Backspace
    system user assistant tool tools model envelope context sha sha256 stop tool_result answered
    stopped failed turn_limit repeated_denial empty_reply ctx kB role content tool_calls id type
    function name arguments command tool_call_id index message_start user-agent host accept
    text/event-stream authorization Bearer content-type content-length application/json
    token tokens Markdown Python shell fg fork mkfs dd of su doas pkexec shutdown reboot halt curl sh
    exit file toml inspect key_env max_tokens url temperature effort thinking_budget unset config set theme none
";

/// The words of the screen that are no names, each with its row. Words of the prompt (`/help`),
/// options and variables are names wherever they stand.
fn english(screen: &str) -> Vec<String> {
    let names: Vec<&str> = NAMES.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-/$.'…".contains(c);
    let mut found = Vec::new();
    for row in screen.lines().filter(|row| !row.contains("cursor")) {
        let unknown: Vec<&str> = row
            .split(|c: char| !is_part(c))
            // What is cut may be anything.
            .filter(|run| !run.starts_with(['/', '-', '$']) && !run.ends_with('…'))
            .flat_map(|run| run.split(|c: char| !c.is_ascii_alphanumeric()))
            .filter(|word| word.bytes().filter(u8::is_ascii_lowercase).count() > 1)
            .filter(|word| !names.contains(word))
            .filter(|word| word.len() < 6 || !word.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .collect();
        if !unknown.is_empty() {
            found.push(format!("{} in: {}", unknown.join(" "), row.trim()));
        }
    }
    found
}

struct Player {
    columns: u16,
    stage: Stage,
    found: Vec<String>,
}

impl Player {
    fn look(&mut self, what: &str) {
        let screen = self.stage.screen();
        self.found.extend(english(&screen).into_iter().map(|word| format!("{what}: {word}")));
    }

    fn press(&mut self, code: KeyCode) {
        self.stage.press(code);
        self.stage.frame();
    }
}

/// Plays at three sizes; nothing may be found.
fn nothing_is_found(play: impl Fn(&mut Player)) {
    speak(Language::Chinese);
    let mut found = Vec::new();
    for (columns, rows) in [(120, 40), (80, 24), (40, 10)] {
        let mut player = Player { columns, stage: Stage::new(columns, rows), found: Vec::new() };
        play(&mut player);
        let here = player.found.into_iter().map(|what| format!("{columns}×{rows} {what}"));
        found.extend(here);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

fn two_turns(stage: &mut Stage) {
    stage.prompt("列出文件");
    stage.request();
    stage.reply("我先看看。", &["ls *.py"]);
    stage.ran(1, "app.py\n");
    stage.request();
    stage.reply("运行测试。", &["pytest -q"]);
}

fn failure(kind: FailureKind, place: Place, message: &str) -> Failure {
    Failure::new(place, kind, message)
}

fn repaired(stage: &mut Stage, turn: u32, what: &str) {
    let repair = Repair { what: what.to_owned(), at: None };
    stage.record(Record::Repair { turn: TurnNumber(turn), repair });
}

#[test]
fn every_view_of_the_inspector() {
    nothing_is_found(|player| {
        player.look("empty");
        two_turns(&mut player.stage);
        repaired(&mut player.stage, 2, "call without index accepted");
        player.stage.ran(1, "1 个\n");
        player.stage.request();
        player.stage.refused_once();
        let refused = failure(FailureKind::Auth, Place::Http, "key rejected by example.com: 错");
        player.stage.refused(Failure { status: Some(401), ..refused });
        player.stage.frame();
        player.press(KeyCode::BackTab);
        let is_narrow = player.columns < 80;
        // A narrow window breaks names.
        for view in ['1', '3', '5', '6'].into_iter().filter(|view| !is_narrow || *view != '3') {
            player.press(KeyCode::Char(view));
            player.look("newest turn");
            player.press(KeyCode::End);
            player.look("its end");
            player.press(KeyCode::Left);
            player.look("turn before");
            player.press(KeyCode::Right);
        }
        if !is_narrow {
            player.press(KeyCode::Char('4'));
            let screen = player.stage.screen();
            player.found.extend(english(screen.split("请求体").next().unwrap()));
        }
        player.press(KeyCode::Char('1'));
        player.press(KeyCode::Home);
        for _ in 0..14 {
            player.press(KeyCode::Down);
            player.look("a row");
        }
        player.press(KeyCode::Enter);
        player.look("a row opened");
    });
}

#[test]
fn approval_and_its_fields() {
    for command in ["pytest -q", "sudo rm -rf /", "ls \u{202e}py", &"ls\n".repeat(60)] {
        nothing_is_found(|player| {
            let stage = &mut player.stage;
            stage.prompt("运行");
            stage.request();
            stage.reply("好。", &[command, "ls"]);
            stage.ask(1);
            stage.frame();
            player.look("at once");
            player.stage.wait(600);
            player.look("armed");
            player.press(KeyCode::PageDown);
            player.look("scrolled");
            player.press(KeyCode::Char('a'));
            player.look("for the session");
            for key in ['e', 'r'] {
                player.stage.wait(1_200);
                player.press(KeyCode::Char(key));
                player.stage.wait(200);
                player.look("field");
                player.press(KeyCode::F(1));
                player.look("help of a field");
                player.press(KeyCode::Esc);
                player.press(KeyCode::Esc);
                player.look("left");
            }
        });
    }
}

#[test]
fn calls_and_what_became_of_them() {
    let ends = [
        CallStatus::Exited(1),
        CallStatus::Signaled(9),
        CallStatus::TimedOut(120),
        CallStatus::Stopped,
        CallStatus::Denied,
        CallStatus::NotRun("not started: the prompt was stopped".to_owned()),
    ];
    for end in ends {
        nothing_is_found(|player| {
            let stage = &mut player.stage;
            two_turns(stage);
            stage.decided_by(1, DecidedBy::UserForSession);
            stage.started(1);
            let call = stage.call(1);
            stage.progress(Progress::Output { call, tail: "....\n".to_owned(), produced: 8 });
            player.look("running");
            let receipt =
                Receipt { produced: 48_100, lines: 1_204, sent: 1_900, cut: 46_200, file: None };
            player.stage.finished(1, end.clone(), 3_120, receipt, "1\n");
            player.look("ended");
            player.press(KeyCode::Tab);
            player.look("conversation");
            player.press(KeyCode::Tab);
            player.look("tools");
            player.press(KeyCode::Enter);
            player.look("opened");
            player.press(KeyCode::End);
            player.look("its end");
            player.press(KeyCode::Char('o'));
            player.look("output");
        });
    }
}

#[test]
fn ways_in_which_a_prompt_ends() {
    let failures = [
        failure(
            FailureKind::Unreachable,
            Place::Transport,
            "cannot connect to example.com (connection refused). Nothing was sent to the model. Is \
             the server running? Check the port in the URL.",
        ),
        failure(FailureKind::RateLimit, Place::Http, "太多"),
        failure(FailureKind::Quota, Place::Http, "余额"),
        failure(FailureKind::ContextLength, Place::Http, "太长"),
        failure(FailureKind::NotFound, Place::Http, "没有"),
        failure(FailureKind::InvalidRequest, Place::Http, "不行"),
        failure(FailureKind::Server, Place::Http, "坏了"),
        failure(
            FailureKind::TooLong,
            Place::Body,
            "the reply is longer than 4 MiB. The rest was not read; no call in it is run.",
        ),
        failure(
            FailureKind::Disconnected,
            Place::Stream,
            "the connection ended before the end mark",
        ),
    ];
    let reasons = [
        TransitionReason::Answered,
        TransitionReason::EmptyReply,
        TransitionReason::Stopped,
        TransitionReason::TurnLimit(50),
        TransitionReason::RepeatedDenial,
    ];
    let ends = failures.map(TransitionReason::Failed).into_iter().chain(reasons);
    for end in ends {
        nothing_is_found(|player| {
            two_turns(&mut player.stage);
            player.stage.ran(1, "好\n");
            player.stage.request();
            player.look("waiting");
            player.stage.wait(6_000);
            player.look("waiting long");
            player.stage.ended(end.clone());
            player.look("ended");
            player.press(KeyCode::Tab);
            player.press(KeyCode::End);
            player.look("conversation");
        });
    }
}

#[test]
fn offers() {
    let ended = |stage: &mut Stage, failure: Failure| {
        stage.request();
        stage.refused(Failure { status: Some(400), ..failure });
    };
    nothing_is_found(|player| {
        let stage = &mut player.stage;
        stage.prompt("看图");
        stage.request();
        stage.reply("猫。", &[]);
        stage.ended(TransitionReason::Answered);
        stage.prompt("现在呢");
        for _ in 0..2 {
            let message = "'messages[1].content'";
            ended(stage, failure(FailureKind::InvalidRequest, Place::Http, message));
        }
        player.look("to leave out");
        player.stage.wait(1_000);
        player.stage.press_with(KeyCode::Char('o'), KeyModifiers::CONTROL);
        player.look("taken");
    });
    nothing_is_found(|player| {
        let stage = &mut player.stage;
        stage.prompt("看日志");
        stage.request();
        stage.reply("", &["ls", "ls"]);
        stage.ran(1, &"日志\n".repeat(2_400));
        stage.ran(2, "好\n");
        ended(stage, failure(FailureKind::ContextLength, Place::Http, "太长"));
        player.look("to shorten");
        player.stage.wait(1_000);
        player.stage.press_with(KeyCode::Char('o'), KeyModifiers::CONTROL);
        player.stage.overlaid();
        player.look("taken");
        player.press(KeyCode::BackTab);
        player.look("inspector");
        player.press(KeyCode::BackTab);
        player.press(KeyCode::Enter);
        player.look("call");
    });
}

#[test]
fn queue_copies_and_panes() {
    nothing_is_found(|player| {
        two_turns(&mut player.stage);
        player.stage.decided_by(1, DecidedBy::UserForSession);
        player.stage.started(1);
        for text in ["然后呢？", "再来", "!ls", "!!ls"] {
            player.stage.type_text(text);
            player.press(KeyCode::Enter);
            player.look("queued");
        }
        player.stage.press_with(KeyCode::Char('s'), KeyModifiers::CONTROL);
        player.look("sent now");
        player.press(KeyCode::Up);
        player.look("taken back");
        player.stage.press_with(KeyCode::Char('u'), KeyModifiers::CONTROL);
        player.stage.press_with(KeyCode::Char('u'), KeyModifiers::CONTROL);
        player.look("removed");
        player.stage.input(limpid::tui::Input::Paste("长\n".repeat(40)));
        player.look("folded");
        player.press(KeyCode::Esc);
        player.look("stopping");
        player.press(KeyCode::Tab);
        for key in ['Y', 'v', 'c', 'y', 'f', 'f', '<', '-', 'x'] {
            player.press(KeyCode::Char(key));
            player.look("a key");
        }
        player.stage.press_with(KeyCode::Char('c'), KeyModifiers::CONTROL);
        player.look("interrupted");
    });
}

#[test]
fn lists_help_and_search() {
    nothing_is_found(|player| {
        two_turns(&mut player.stage);
        player.stage.ran(1, "好\n");
        player.stage.ended(TransitionReason::Answered);
        player.stage.frame();
        for key in ['p', 't', 'r'] {
            player.stage.press_with(KeyCode::Char(key), KeyModifiers::CONTROL);
            player.look("a list");
            player.stage.type_text("的");
            player.look("a list, typed");
            player.press(KeyCode::Esc);
            player.press(KeyCode::Esc);
        }
        let profile = |name: &str, key| ProfileRow {
            name: name.to_owned(),
            format: "openai-chat".to_owned(),
            host: "api.deepseek.com".to_owned(),
            model: None,
            key,
        };
        player.stage.press_with(KeyCode::Char('t'), KeyModifiers::CONTROL);
        let missing = KeyState::Missing("DEEPSEEK_API_KEY".to_owned());
        player.stage.progress(Progress::Profiles(vec![
            profile("dashscope", KeyState::NotNeeded),
            profile("deepseek", missing),
        ]));
        player.look("profiles");
        player.press(KeyCode::Enter);
        player.look("models");
        player.press(KeyCode::Tab);
        player.look("asked");
        player.press(KeyCode::Esc);
        player.press(KeyCode::Esc);
        player.press(KeyCode::F(1));
        for _ in 0..12 {
            player.look("help");
            player.press(KeyCode::PageDown);
        }
        player.press(KeyCode::Esc);
        player.press(KeyCode::Tab);
        player.press(KeyCode::Char('/'));
        player.look("search");
        player.stage.type_text("列");
        player.look("found");
        player.press(KeyCode::Enter);
        player.look("kept");
        player.press(KeyCode::Esc);
        for key in ['z', 'z', 'z', 'm', 'y', 'Y', 'c', '{', '}', '[', ']'] {
            player.press(KeyCode::Char(key));
            player.look("a key in the conversation");
        }
    });
}

#[test]
fn words_in_the_prompt() {
    let words = [
        "/set",
        "/set x",
        "/set temperature 9x",
        "/theme none",
        "/model a b c",
        "/continue",
        "/allowed",
        "/revoke",
        "/restore",
        "/nothing",
        "/restor",
        "!",
        "/copy",
        "/clear",
    ];
    for word in words {
        nothing_is_found(|player| {
            player.stage.type_text("/");
            let screen = player.stage.screen();
            assert!(screen.contains("指令"), "{screen}");
            player.press(KeyCode::Backspace);
            player.stage.type_text(word);
            player.press(KeyCode::Esc);
            player.press(KeyCode::Enter);
            player.stage.frame();
            let shown = player.stage.screen().replace(word, "");
            player.found.extend(english(&shown));
        });
    }
}
