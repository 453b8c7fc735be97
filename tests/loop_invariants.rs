//! Whatever the model replies, the user decides and breaks off: the history that the loop leaves is
//! one that a strict server accepts, each call has its one result, and what was denied never ran.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod no_other;

use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use limpid::agent::{self, Config, Handle, Model, Recorder};
use limpid::approval::Mode;
use limpid::conversation::{
    Call, CallId, CallState, CallStatus, Command, Content, DecidedBy, Decision, Event, Failure,
    FailureKind, Overlays, Place, Profile, Progress, ProposedCall, Reasoning, Receipt, Record,
    Reply, Role, Scope, Session, ToolDefinition, TransitionReason, TurnNumber, check,
};
use limpid::tools::{Job, Outcome, Tool};
use limpid::wire::{Assembler, Dialect, Format, Parameters, Request, Settings};
use no_other::NoOther;
use proptest::prelude::*;
use tokio_util::sync::CancellationToken;

/// A reply and whether the user stops while it arrives.
#[derive(Debug, Clone)]
struct Scripted {
    reply: Reply,
    stop: bool,
}

struct ScriptedModel {
    replies: std::vec::IntoIter<Scripted>,
}

impl Model for ScriptedModel {
    async fn ask(
        &mut self,
        _turn: TurnNumber,
        _request: &Request,
        recorder: &mut Recorder,
        stop: &CancellationToken,
    ) -> Reply {
        let Some(Scripted { mut reply, stop: stopped }) = self.replies.next() else {
            return Reply::of_text("done");
        };
        recorder.progress(Progress::Text(reply.text())).await;
        if stopped {
            // The test sends Stop when it sees this.
            recorder.progress(Progress::Notice("STOP".into())).await;
            stop.cancelled().await;
            reply.stopped = true;
            spoil(&mut reply, "stopped before it was complete");
        }
        reply
    }
}

/// Notes what it was asked to run; a command `slow…` runs until it is stopped.
struct Noting {
    ran: Arc<Mutex<Vec<String>>>,
}

impl Tool for Noting {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition { name: "bash", description: "d", parameters: "{\"type\":\"object\"}" }
    }

    fn command(&self, arguments: &str) -> Result<String, String> {
        let value: serde_json::Value =
            serde_json::from_str(arguments).map_err(|error| error.to_string())?;
        value["command"].as_str().map(str::to_owned).ok_or_else(|| "missing field `command`".into())
    }

    fn run(&self, job: Job) -> Pin<Box<dyn Future<Output = Outcome> + Send + '_>> {
        Box::pin(async move {
            self.ran.lock().unwrap().push(job.command.clone());
            let status = if job.command.starts_with("slow") {
                job.stop.cancelled().await;
                CallStatus::Stopped
            } else {
                CallStatus::Exited(0)
            };
            let text = format!("ran {}", job.command);
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

#[derive(Debug, Clone)]
enum Choice {
    Allow,
    AllowForSession,
    Edit,
    EditTo(&'static str),
    Deny,
    Stop,
}

struct Rig {
    handle: Handle,
    session: Session,
    ran: Arc<Mutex<Vec<String>>>,
    /// Denied or never decided: must not run unless allowed elsewhere.
    asked: Vec<CallId>,
}

fn settings() -> Settings {
    Settings {
        format: Format::OpenaiChat,
        model: "m".into(),
        tools: Vec::new(),
        dialect: Dialect::default(),
        parameters: Parameters::default(),
    }
}

fn rig(replies: Vec<Scripted>, mode: Mode, turn_limit: u32) -> Rig {
    let ran = Arc::new(Mutex::new(Vec::new()));
    let config = Config {
        profile: Profile {
            name: "test".into(),
            format: "openai-chat".into(),
            url: String::new(),
            model: "m".into(),
            key_env: None,
        },
        settings: settings(),
        sources: Vec::new(),
        system_prompt: "system".into(),
        context: None,
        notices: Vec::new(),
        tools: vec![Arc::new(Noting { ran: ran.clone() })],
        mode,
        attended: true,
        turn_limit,
        directory: "/".into(),
        sessions: None,
        resumed: None,
    };
    let model = ScriptedModel { replies: replies.into_iter() };
    let handle = agent::spawn(config, model, NoOther(PhantomData));
    Rig { handle, session: Session::default(), ran, asked: Vec::new() }
}

impl Rig {
    /// Plays until the loop ends; decides with the choices in turn, then allows.
    async fn prompt(
        &mut self,
        prompt: &str,
        choices: &mut std::vec::IntoIter<Choice>,
    ) -> TransitionReason {
        self.handle.commands.send(Command::Prompt(prompt.into())).await.unwrap();
        loop {
            let event = self.handle.events.recv().await.expect("the loop lives");
            match event {
                Event::Record(stamped) => {
                    self.session.apply(&stamped);
                    match &stamped.record {
                        Record::Ended(reason) => return reason.clone(),
                        // A running slow command: only a stop ends it.
                        Record::CallStarted { call } => {
                            let log = &self.session.calls[call];
                            let command = log.decided.as_ref().unwrap().executed.clone().unwrap();
                            if command.starts_with("slow") {
                                self.send(Command::Stop).await;
                            }
                        }
                        _ => {}
                    }
                }
                Event::Progress(Progress::Notice(notice)) if notice == "STOP" => {
                    self.send(Command::Stop).await;
                }
                Event::Progress(Progress::Ask { call }) => {
                    self.asked.push(call.clone());
                    let command = self.session.calls[&call].proposed.command.clone().unwrap();
                    let decision = match choices.next().unwrap_or(Choice::Allow) {
                        Choice::Allow => Decision::Allow { command, scope: Scope::Once },
                        Choice::AllowForSession => {
                            Decision::Allow { command, scope: Scope::Session }
                        }
                        Choice::Edit => Decision::Allow {
                            command: format!("{command} edited"),
                            scope: Scope::Once,
                        },
                        Choice::EditTo(command) => {
                            Decision::Allow { command: command.into(), scope: Scope::Once }
                        }
                        Choice::Deny => Decision::Deny { reason: Some("no".into()) },
                        Choice::Stop => {
                            self.send(Command::Stop).await;
                            continue;
                        }
                    };
                    self.send(Command::Decide { call, decision }).await;
                }
                Event::Progress(_) => {}
            }
        }
    }

    async fn send(&self, command: Command) {
        self.handle.commands.send(command).await.unwrap();
    }

    /// Goes on; nothing is to be decided. Why it ended.
    async fn continued(&mut self) -> TransitionReason {
        self.send(Command::Continue).await;
        loop {
            if let Event::Record(stamped) = self.handle.events.recv().await.unwrap() {
                self.session.apply(&stamped);
                if let Record::Ended(reason) = &stamped.record {
                    return reason.clone();
                }
            }
        }
    }

    fn assert_sound(&self) {
        let branch = self.session.branch();
        assert_eq!(check(&branch), Ok(()), "{branch:#?}");
        // What would be posted next is accepted by the strict server of each format as well.
        for (format, strict) in [
            (Format::OpenaiChat, limpid::offline::Format::Chat),
            (Format::Anthropic, limpid::offline::Format::Anthropic),
            (Format::OpenaiResponses, limpid::offline::Format::Responses),
        ] {
            let settings = Settings { format, ..settings() };
            let request = Assembler::default().assemble(&branch, &Overlays::default(), &settings);
            let body: String = request.parts.iter().map(|part| &*part.text).collect();
            let body: serde_json::Value = serde_json::from_str(&body).unwrap();
            assert_eq!(limpid::offline::check(strict, &body), Ok(()), "{body:#}");
        }
        let results: Vec<_> = branch.iter().filter_map(|entry| entry.result()).collect();
        for (call, log) in &self.session.calls {
            let finished = log.finished.as_ref().expect("each call ends");
            let executed = log.decided.as_ref().and_then(|decided| decided.executed.clone());
            assert_eq!(log.started_at.is_some(), executed.is_some(), "{log:?}");
            if matches!(finished.status, CallStatus::Denied | CallStatus::NotRun(_)) {
                assert_eq!(executed, None);
            }
            assert_eq!(results.iter().filter(|result| result.call == *call).count(), 1);
        }
        let mut allowed: Vec<_> = self
            .session
            .calls
            .values()
            .filter_map(|log| log.decided.as_ref()?.executed.clone())
            .collect();
        let mut ran = self.ran.lock().unwrap().clone();
        allowed.sort();
        ran.sort();
        assert_eq!(ran, allowed, "what ran is what was allowed");
    }
}

fn call() -> impl Strategy<Value = ProposedCall> {
    let id = prop_oneof![Just(String::new()), Just("same".to_owned()), "[a-z]{1,3}"];
    let name = prop_oneof![6 => Just("bash"), 1 => Just("python"), 1 => Just("")];
    let arguments = prop_oneof![
        4 => prop_oneof!["ls", "rm -rf /", "slow"].prop_map(|c| format!("{{\"command\":\"{c}\"}}")),
        1 => Just("{\"command\":\"l".to_owned()),
        1 => Just(String::new()),
        1 => Just("[1]".to_owned()),
        1 => Just("{\"command\":7}".to_owned()),
    ];
    let state = prop_oneof![
        4 => Just(CallState::Complete),
        1 => Just(CallState::Unusable("cut off by the output limit".into())),
    ];
    (id, name, arguments, state).prop_map(|(id, name, arguments, state)| ProposedCall {
        call: Call { id: CallId(id), name: name.to_owned(), arguments },
        state,
    })
}

fn reply() -> impl Strategy<Value = Scripted> {
    let failure = Failure::new(Place::Transport, FailureKind::Disconnected, "cut");
    (
        prop_oneof![Just(""), Just("  \n"), Just("text")],
        prop_oneof![Just(""), Just("hm")],
        prop::collection::vec(call(), 0..4),
        prop::option::weighted(0.15, Just(failure)),
        prop::bool::weighted(0.15),
    )
        .prop_map(|(text, reasoning, calls, failure, stop)| {
            let mut content =
                vec![Content::Reasoning(Reasoning::of_text(reasoning)), Content::Text(text.into())];
            content.extend(calls.into_iter().map(Content::Call));
            let mut reply = Reply { content, failure, terminator: true, ..Reply::default() };
            if reply.failure.is_some() {
                spoil(&mut reply, "the connection ended");
            }
            Scripted { reply, stop }
        })
}

fn choice() -> impl Strategy<Value = Choice> {
    prop_oneof![
        3 => Just(Choice::Allow),
        1 => Just(Choice::AllowForSession),
        1 => Just(Choice::Edit),
        3 => Just(Choice::Deny),
        1 => Just(Choice::Stop),
    ]
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_way_out_leaves_a_history_that_a_strict_server_takes(
        replies in prop::collection::vec(reply(), 0..8),
        choices in prop::collection::vec(choice(), 0..12),
        yolo in any::<bool>(),
        limit in 1u32..6,
    ) {
        let mode = if yolo { Mode::Yolo } else { Mode::Ask };
        runtime().block_on(async {
            let mut rig = rig(replies, mode, limit);
            let mut choices = choices.into_iter();
            for prompt in ["one", "two", "three"] {
                rig.prompt(prompt, &mut choices).await;
                rig.assert_sound();
            }
        });
    }
}

fn asks_for(commands: &[&str]) -> Scripted {
    let calls = commands
        .iter()
        .enumerate()
        .map(|(index, command)| {
            let arguments = serde_json::json!({ "command": command }).to_string();
            let call = Call { id: CallId(format!("c{index}")), name: "bash".into(), arguments };
            Content::Call(ProposedCall { call, state: CallState::Complete })
        })
        .collect();
    Scripted { reply: Reply { content: calls, terminator: true, ..Reply::default() }, stop: false }
}

fn first_call(scripted: &mut Scripted) -> &mut Call {
    let calls = scripted.reply.content.iter_mut().find_map(|piece| match piece {
        Content::Call(proposed) => Some(&mut proposed.call),
        _ => None,
    });
    calls.unwrap()
}

/// No call of a reply that was cut off is complete.
fn spoil(reply: &mut Reply, why: &str) {
    for piece in &mut reply.content {
        if let Content::Call(call) = piece {
            call.state = CallState::Unusable(why.into());
        }
    }
}

fn results(session: &Session) -> Vec<String> {
    session.branch().iter().filter_map(|entry| entry.result().map(|r| r.text.clone())).collect()
}

#[test]
fn three_calls_are_decided_one_by_one_and_answered_in_order() {
    runtime().block_on(async {
        let mut rig = rig(vec![asks_for(&["a", "b", "c"])], Mode::Ask, 50);
        let choices = vec![Choice::Allow, Choice::Deny, Choice::Allow];
        let reason = rig.prompt("go", &mut choices.into_iter()).await;
        assert_eq!(reason, TransitionReason::Answered);
        assert_eq!(
            results(&rig.session),
            ["ran a", "Denied by the user; not executed. Reason: no", "ran c"]
        );
        rig.assert_sound();
    });
}

#[test]
fn an_edited_command_is_told_with_both_texts() {
    runtime().block_on(async {
        let mut rig = rig(vec![asks_for(&["ls"])], Mode::Ask, 50);
        rig.prompt("go", &mut vec![Choice::Edit].into_iter()).await;
        assert_eq!(
            results(&rig.session),
            ["The user edited the command. Proposed: ls\nExecuted: ls edited\nran ls edited"]
        );
    });
}

#[test]
fn an_always_covers_exactly_that_command_and_no_danger() {
    runtime().block_on(async {
        let replies = vec![
            asks_for(&["ls"]),
            asks_for(&["ls"]),
            asks_for(&["ls -l"]),
            asks_for(&["sudo ls"]),
            asks_for(&["sudo ls"]),
        ];
        let mut rig = rig(replies, Mode::Ask, 50);
        let always = std::iter::repeat_n(Choice::AllowForSession, 9).collect::<Vec<_>>();
        rig.prompt("go", &mut always.into_iter()).await;
        assert_eq!(rig.asked.len(), 4, "only the second ls was not asked for");
    });
}

#[test]
fn the_same_denied_command_a_third_time_ends_the_loop() {
    runtime().block_on(async {
        let replies = vec![asks_for(&["ls"]); 5];
        let mut rig = rig(replies, Mode::Ask, 50);
        let deny = vec![Choice::Deny; 5];
        let reason = rig.prompt("go", &mut deny.into_iter()).await;
        assert_eq!(reason, TransitionReason::RepeatedDenial);
        assert_eq!(rig.asked.len(), 2, "the third proposal is not asked for");
        assert_eq!(results(&rig.session).len(), 3);
        rig.assert_sound();
    });
}

#[test]
fn yolo_runs_without_asking_but_asks_for_dangers() {
    runtime().block_on(async {
        let mut rig = rig(vec![asks_for(&["ls", "sudo ls"])], Mode::Yolo, 50);
        rig.prompt("go", &mut vec![Choice::Deny].into_iter()).await;
        assert_eq!(rig.asked.len(), 1);
        assert_eq!(*rig.ran.lock().unwrap(), ["ls"]);
    });
}

#[test]
fn the_turn_limit_ends_the_loop_and_continue_goes_on() {
    runtime().block_on(async {
        let mut rig = rig(vec![asks_for(&["ls"]); 3], Mode::Yolo, 2);
        let reason = rig.prompt("go", &mut vec![].into_iter()).await;
        assert_eq!(reason, TransitionReason::TurnLimit(2));
        rig.assert_sound();
        assert_eq!(rig.continued().await, TransitionReason::Answered);
        assert_eq!(rig.session.turns.len(), 4);
    });
}

#[test]
fn the_turn_limit_within_a_pause_ends_the_loop_and_continue_goes_on() {
    runtime().block_on(async {
        let mut reply = Reply::of_text("I look.");
        reply.stop_reason = Some("pause_turn".into());
        let mut rig = rig(vec![Scripted { reply, stop: false }], Mode::Yolo, 1);
        let reason = rig.prompt("go", &mut vec![].into_iter()).await;
        assert_eq!(reason, TransitionReason::TurnLimit(1));
        assert_eq!(rig.continued().await, TransitionReason::Answered);
        let told: Vec<_> = rig.session.branch().iter().map(|entry| entry.text()).collect();
        assert_eq!(told, ["system", "go", "I look.", "done"]);
    });
}

#[test]
fn an_unknown_tool_and_bad_arguments_get_an_error_result_that_says_why() {
    runtime().block_on(async {
        let mut unknown = asks_for(&["ls"]);
        first_call(&mut unknown).name = "python".into();
        let mut missing = asks_for(&["ls"]);
        first_call(&mut missing).arguments = "{}".into();
        let mut rig = rig(vec![unknown, missing], Mode::Yolo, 50);
        rig.prompt("go", &mut vec![].into_iter()).await;
        assert_eq!(
            results(&rig.session),
            [
                "Error: not run: There is no tool \"python\". Tools: bash.",
                "Error: not run: missing field `command`"
            ]
        );
        assert!(rig.ran.lock().unwrap().is_empty());
    });
}

#[test]
fn an_empty_reply_leaves_no_empty_message() {
    runtime().block_on(async {
        let empty = Scripted { reply: Reply { terminator: true, ..Reply::default() }, stop: false };
        let mut rig = rig(vec![empty], Mode::Ask, 50);
        let reason = rig.prompt("go", &mut vec![].into_iter()).await;
        assert_eq!(reason, TransitionReason::EmptyReply);
        let roles: Vec<_> = rig.session.branch().iter().map(|entry| entry.role).collect();
        assert_eq!(roles, [Role::System, Role::User]);
        rig.assert_sound();
    });
}

#[test]
fn to_continue_where_nothing_waits_ends_at_once_and_posts_nothing() {
    runtime().block_on(async {
        let mut rig = rig(Vec::new(), Mode::Ask, 50);
        rig.prompt("go", &mut vec![].into_iter()).await;
        rig.send(Command::Continue).await;
        let Event::Record(stamped) = rig.handle.events.recv().await.unwrap() else { panic!() };
        assert_eq!(stamped.record, Record::Ended(TransitionReason::Answered));
        rig.session.apply(&stamped);
        assert_eq!(rig.session.turns.len(), 1);
    });
}

#[tokio::test]
async fn prompts_beyond_those_that_may_wait_are_handed_back() {
    let waits = Scripted { reply: Reply::of_text("first"), stop: true };
    let mut rig = rig(vec![waits], Mode::Ask, 10);
    rig.handle.commands.send(Command::Prompt("first".into())).await.unwrap();
    let mut busy = Vec::new();
    for number in 0..40 {
        rig.handle.commands.send(Command::Prompt(format!("prompt {number}"))).await.unwrap();
    }
    while busy.len() < 8 {
        match rig.handle.events.recv().await.unwrap() {
            Event::Progress(Progress::Busy { prompt }) => busy.extend(prompt),
            Event::Progress(_) | Event::Record(_) => {}
        }
    }
    let expected: Vec<String> = (32..40).map(|number| format!("prompt {number}")).collect();
    assert_eq!(busy, expected);
    // Those that wait are all asked, once the first was stopped.
    rig.handle.commands.send(Command::Stop).await.unwrap();
    let mut ended = 0;
    while ended < 33 {
        if let Event::Record(stamped) = rig.handle.events.recv().await.unwrap() {
            ended += usize::from(matches!(stamped.record, Record::Ended(_)));
            rig.session.apply(&stamped);
        }
    }
    let prompts = rig.session.entries.values().filter(|entry| entry.role == Role::User);
    assert_eq!(prompts.filter(|entry| entry.text().starts_with("prompt")).count(), 32);
}

#[test]
fn what_is_allowed_for_the_session_asks_again_after_revoking_and_after_clear() {
    runtime().block_on(async {
        for (end, asks) in [(None, 1), (Some(Command::Revoke), 2), (Some(Command::Clear), 2)] {
            let mut rig = rig(vec![asks_for(&["ls"]), asks_for(&["ls"])], Mode::Ask, 1);
            rig.prompt("go", &mut vec![Choice::AllowForSession].into_iter()).await;
            assert_eq!(rig.session.allowed.iter().collect::<Vec<_>>(), ["ls"]);
            if let Some(command) = end.clone() {
                rig.send(command).await;
            }
            rig.prompt("again", &mut vec![Choice::Allow].into_iter()).await;
            assert_eq!(rig.asked.len(), asks, "{end:?}");
            assert_eq!(rig.session.allowed.is_empty(), end.is_some(), "{end:?}");
        }
    });
}

#[test]
fn the_result_of_an_edited_command_tells_it_apart_from_its_output() {
    runtime().block_on(async {
        let replies = vec![asks_for(&["ls", "ls", "ls"])];
        let mut rig = rig(replies, Mode::Ask, 50);
        let choices =
            vec![Choice::EditTo("pwd"), Choice::EditTo("cd x\nls"), Choice::EditTo("ls\0")];
        rig.prompt("go", &mut choices.into_iter()).await;
        let note = "The user edited the command. Proposed: ls\n";
        assert_eq!(
            results(&rig.session),
            [
                format!("{note}Executed: pwd\nran pwd"),
                format!("{note}Executed:\n    cd x\n    ls\nOutput:\nran cd x\nls"),
                "Denied: the command holds a NUL byte, which no shell can take; not executed."
                    .into(),
            ]
        );
        // It was limpid that refused the last, not the user.
        let mut by: Vec<_> = rig.session.calls.values().collect();
        by.sort_by_key(|log| log.proposed.call.0.clone());
        let by: Vec<_> = by.iter().map(|log| log.decided.as_ref().unwrap().by).collect();
        assert_eq!(by, [DecidedBy::User, DecidedBy::User, DecidedBy::Harness]);
        rig.assert_sound();
    });
}
