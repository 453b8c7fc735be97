//! The loop against the offline model over real HTTP, in all three formats: the same conversation
//! comes to the same history, and whatever the user does and wherever the connection breaks, the
//! strict model never refuses what limpid posts next.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod cutting;
mod no_other;

use std::cell::Cell;
use std::marker::PhantomData;
use std::pin::Pin;

use cutting::Relay;
use limpid::agent::{self, Config, Handle, HttpModel};
use limpid::approval::Mode;
use limpid::conversation::{
    Block, CallStatus, Command, Decision, Event, FailureKind, Profile, Progress, Receipt, Record,
    Role, Scope, Session, ToolDefinition, TransitionReason, check,
};
use limpid::net::{Client, Endpoint};
use limpid::offline::{Pace, start};
use limpid::tools::{Job, Outcome, Tool};
use limpid::wire::{Dialect, Format, Parameters, Settings};
use no_other::NoOther;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

const FORMATS: [Format; 3] = [Format::OpenaiChat, Format::Anthropic, Format::OpenaiResponses];

/// Says that it ran; a command with `slow` in it runs until it is stopped.
struct Echo;

impl Tool for Echo {
    fn definition(&self) -> ToolDefinition {
        let parameters = r#"{"type":"object","properties":{"command":{"type":"string"}}}"#;
        ToolDefinition { name: "bash", description: "Runs a command.", parameters }
    }

    fn command(&self, arguments: &str) -> Result<String, String> {
        let value: serde_json::Value =
            serde_json::from_str(arguments).map_err(|error| error.to_string())?;
        value["command"].as_str().map(str::to_owned).ok_or_else(|| "missing field `command`".into())
    }

    fn run(&self, job: Job) -> Pin<Box<dyn Future<Output = Outcome> + Send + '_>> {
        Box::pin(async move {
            let (status, text) = if job.command.contains("slow") {
                job.stop.cancelled().await;
                (CallStatus::Stopped, "[stopped by the user after 1 s]".to_owned())
            } else {
                (CallStatus::Exited(0), format!("ran {}\n[exit code 0]", job.command))
            };
            Outcome {
                status,
                text,
                receipt: Receipt::default(),
                duration_ms: 1,
                withheld: Vec::new(),
            }
        })
    }
}

#[derive(Debug, Clone, Copy)]
enum Choice {
    Allow,
    Edit,
    Deny,
    Stop,
}

#[derive(Debug, Clone)]
enum Step {
    Prompt {
        text: &'static str,
        choices: Vec<Choice>,
        /// Stopped when so many pieces were shown.
        stop_after: Option<usize>,
    },
    Clear,
    Continue,
}

fn prompt(text: &'static str, choices: &[Choice]) -> Step {
    Step::Prompt { text, choices: choices.to_vec(), stop_after: None }
}

struct Rig {
    handle: Handle,
    session: Session,
    ended: Vec<TransitionReason>,
    reasoning: usize,
}

impl Rig {
    fn new(format: Format, url: &str, client: Client) -> Self {
        let endpoint = Endpoint {
            url: url.to_owned(),
            path: format.path(),
            auth: format.auth(),
            key: None,
            named_by: None,
        };
        let config = Config {
            profile: Profile {
                name: "scripted".into(),
                format: format.name().into(),
                url: url.to_owned(),
                model: "offline".into(),
                key_env: None,
            },
            settings: Settings {
                format,
                model: "offline".into(),
                tools: vec![Echo.definition()],
                dialect: Dialect::default(),
                parameters: Parameters::default(),
            },
            sources: Vec::new(),
            system_prompt: "You are an agent.".into(),
            context: None,
            notices: Vec::new(),
            tools: vec![std::sync::Arc::new(Echo)],
            mode: Mode::Ask,
            attended: true,
            turn_limit: 5,
            directory: "/".into(),
            sessions: None,
            resumed: None,
        };
        let model = HttpModel::new(client, endpoint, format);
        let handle = agent::spawn(config, model, NoOther(PhantomData));
        Self { handle, session: Session::default(), ended: Vec::new(), reasoning: 0 }
    }

    async fn send(&self, command: Command) {
        self.handle.commands.send(command).await.unwrap();
    }

    async fn play(&mut self, step: &Step) {
        let (mut choices, stop_after) = match step {
            Step::Prompt { text, choices, stop_after } => {
                self.send(Command::Prompt((*text).to_owned())).await;
                (choices.clone().into_iter(), *stop_after)
            }
            Step::Clear => return self.send(Command::Clear).await,
            Step::Continue => {
                self.send(Command::Continue).await;
                (Vec::new().into_iter(), None)
            }
        };
        let mut shown = 0;
        loop {
            let event = self.handle.events.recv().await.expect("the loop lives");
            match event {
                Event::Record(stamped) => {
                    self.session.apply(&stamped);
                    match &stamped.record {
                        Record::Ended(reason) => return self.ended.push(reason.clone()),
                        Record::CallStarted { call } => {
                            let log = &self.session.calls[call];
                            let decided = log.decided.as_ref().unwrap();
                            if decided.executed.as_ref().unwrap().contains("slow") {
                                self.send(Command::Stop).await;
                            }
                        }
                        _ => {}
                    }
                }
                Event::Progress(Progress::Ask { call }) => {
                    let command = self.session.calls[&call].proposed.command.clone().unwrap();
                    let allow = |command| Decision::Allow { command, scope: Scope::Once };
                    let decision = match choices.next().unwrap_or(Choice::Allow) {
                        Choice::Allow => allow(command),
                        Choice::Edit => allow(format!("{command} # edited")),
                        Choice::Deny => Decision::Deny { reason: Some("not now".into()) },
                        Choice::Stop => {
                            self.send(Command::Stop).await;
                            continue;
                        }
                    };
                    self.send(Command::Decide { call, decision }).await;
                }
                Event::Progress(progress) => {
                    self.reasoning += usize::from(matches!(progress, Progress::Reasoning(_)));
                    shown += 1;
                    if stop_after == Some(shown) {
                        self.send(Command::Stop).await;
                    }
                }
            }
        }
    }

    /// The history in words, without what a format may do as it likes: ids, and how many messages
    /// a conversation is.
    fn told(&self) -> Vec<String> {
        let digits = |text: &str| {
            text.replace(|c: char| c.is_ascii_digit(), "#").replace("##", "#").replace("##", "#")
        };
        let block = |block: &Block| match block {
            Block::Text(text) => digits(text),
            Block::Reasoning(reasoning) => format!("({})", digits(&reasoning.text)),
            Block::Call(call) => format!("{} {}", call.name, call.arguments),
            Block::Result(result) => format!("{} error: {}", result.text, result.is_error),
            Block::Opaque(opaque) => panic!("{opaque:?}"),
        };
        let entries = self.session.branch();
        let entry = |role: Role, blocks: &[Block]| {
            format!("{role:?}: {}", blocks.iter().map(block).collect::<Vec<_>>().join(" | "))
        };
        entries.iter().map(|it| entry(it.role, &it.blocks)).collect()
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// All that the README tells newcomers to try, and what they may do to it.
fn readme() -> Vec<Step> {
    use Choice::{Allow, Deny, Edit, Stop};
    vec![
        prompt("Create a file called hello.py that prints \"Hello, World!\"", &[]),
        prompt("List all Python files in this directory", &[Edit]),
        prompt("What is the current git branch?", &[Deny]),
        prompt("Create a directory called test_output and write 3 files in it", &[]),
        prompt("Think first: create a directory called t and write 2 files in it", &[]),
        prompt("what file did we just create?", &[]),
        prompt("$ ls\n$ pwd\n$ date", &[Allow, Deny, Allow]),
        prompt("$ ls\n$ pwd\n$ date", &[Allow, Stop]),
        prompt("think first: $ slow", &[]),
        prompt("Think first: what is the current git branch?", &[Deny]),
        Step::Clear,
        prompt("what file did we just create?", &[]),
        prompt("$ ls -l", &[]),
    ]
}

#[test]
fn the_readme_comes_to_the_same_history_in_all_formats() {
    runtime().block_on(async {
        let server = start(Pace::Full).await.unwrap();
        let mut told = Vec::new();
        for format in FORMATS {
            let mut rig = Rig::new(format, &server.url(), Client::new());
            let mut histories = Vec::new();
            for step in readme() {
                if matches!(step, Step::Clear) {
                    histories.push(rig.told());
                }
                rig.play(&step).await;
            }
            histories.push(rig.told());
            assert!(rig.reasoning > 10, "{}: {} pieces", format.name(), rig.reasoning);
            told.push((histories, rig.ended));
        }
        let [chat, anthropic, responses] = &told[..] else { panic!() };
        assert_eq!(chat, anthropic);
        assert_eq!(chat, responses);
        let stopped = |it: &&TransitionReason| **it == TransitionReason::Stopped;
        assert_eq!(chat.1.iter().filter(stopped).count(), 2, "{:?}", chat.1);
        let answered = |it: &&TransitionReason| **it == TransitionReason::Answered;
        assert_eq!(chat.1.iter().filter(answered).count(), 10, "{:?}", chat.1);
        let first = chat.0[0].join("\n");
        for words in [
            "ran ls",
            "# edited",
            "Reason: not now",
            "We created `t/file",
            "(Messages that I was sent",
        ] {
            assert!(first.contains(words), "{words} is not in {first}");
        }
    });
}

fn step() -> impl Strategy<Value = Step> {
    let text = prop_oneof![
        Just("Create a file called hello.py that prints \"Hello, World!\""),
        Just("Think first: create a directory called t and write 3 files in it"),
        Just("$ ls\n$ pwd"),
        Just("Think first: $ ls\n$ pwd\n$ slow\n$ date"),
        Just("what file did we just create?"),
        Just("think first: hi"),
    ];
    let choice = prop_oneof![
        4 => Just(Choice::Allow),
        1 => Just(Choice::Edit),
        2 => Just(Choice::Deny),
        1 => Just(Choice::Stop),
    ];
    let choices = prop::collection::vec(choice, 0..5);
    let stop_after = prop::option::weighted(0.4, 1..60usize);
    let prompt = (text, choices, stop_after).prop_map(|(text, choices, stop_after)| Step::Prompt {
        text,
        choices,
        stop_after,
    });
    prop_oneof![8 => prompt, 1 => Just(Step::Clear), 2 => Just(Step::Continue)]
}

/// After so many events the connection breaks, once for each answer.
fn cut() -> impl Strategy<Value = Option<usize>> {
    prop::option::weighted(0.3, 7..60usize)
}

#[test]
fn the_strict_model_never_refuses_what_the_loop_leaves() {
    let strategy = (
        prop::sample::select(FORMATS.to_vec()),
        prop::collection::vec(step(), 1..7),
        prop::collection::vec(cut(), 0..12),
    );
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 100,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let runtime = runtime();
    let (server, relay, client) = runtime.block_on(async {
        let server = start(Pace::Full).await.unwrap();
        let relay = Relay::start(&server.url()).await;
        (server, relay, Client::new())
    });
    let seen = Cell::new((0, 0, 0));
    let tested = runner.run(&strategy, |(format, steps, cuts)| {
        runtime.block_on(async {
            relay.cut(cuts);
            let mut rig = Rig::new(format, &relay.url(), client.clone());
            for step in &steps {
                if matches!(step, Step::Continue) && rig.session.branch().is_empty() {
                    continue;
                }
                rig.play(step).await;
                assert_eq!(check(&rig.session.branch()), Ok(()));
            }
            // Whatever it was, the next prompt is answered.
            relay.cut(Vec::new());
            rig.play(&prompt("hi", &[])).await;
            assert_eq!(rig.ended.last(), Some(&TransitionReason::Answered), "{:#?}", rig.told());
            let (mut cut, mut stopped, mut other) = seen.get();
            for reason in &rig.ended {
                match reason {
                    TransitionReason::Failed(failure) => {
                        assert_eq!(failure.kind, FailureKind::Disconnected, "{failure:?}");
                        cut += 1;
                    }
                    TransitionReason::Stopped => stopped += 1,
                    _ => other += 1,
                }
            }
            seen.set((cut, stopped, other));
        });
        Ok(())
    });
    tested.unwrap();
    let (cut, stopped, other) = seen.get();
    assert!(cut > 10 && stopped > 10 && other > 10, "{cut} cut off, {stopped} stopped, {other}");
    drop(server);
}
