//! The two gates: what the model is told, and what the model does.
//!
//! The outgoing gate turns the history into a request and journals it before it can be posted. The
//! acting gate judges each call, asks a person where needed, and runs what was allowed.

use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::edited;
use super::looper::unusable;
use super::recorder::Recorder;
use crate::approval::{self, Mode, Verdict};
use crate::conversation::{
    Asker, Block, CallDecided, CallFinished, CallId, CallProposed, CallResult, CallState,
    CallStatus, DecidedBy, Decision, EntryId, History, LoopState, OWN_COMMAND, Origin, Overlays,
    Part, Progress, ProposedCall, Receipt, Record, Repair, RequestRecord, Role, Scope, Session,
    TurnNumber,
};
use crate::tools::{Job, Outcome, Sample, Tool};
use crate::wire::{Assembler, Request, Settings};

/// The gate to the model.
#[derive(Debug)]
pub struct Outgoing {
    assembler: Assembler,
    settings: Settings,
    last_turn: TurnNumber,
}

impl Outgoing {
    /// A gate for a new session.
    pub fn new(settings: Settings) -> Self {
        Self { assembler: Assembler::default(), settings, last_turn: TurnNumber(0) }
    }

    /// Goes on with a session: its turns are counted on, and what it sent is known.
    pub(super) fn take_up(&mut self, session: &Session) {
        self.last_turn = session.turns.last().map_or(TurnNumber(0), |turn| turn.number);
        self.assembler.take_up(session);
    }

    /// Requests go to this server from here on.
    pub(super) fn reach(&mut self, server: &str) {
        self.assembler.reach(server);
    }

    /// What requests say beside their messages, from the next one on.
    pub(super) fn settings_mut(&mut self) -> &mut Settings {
        &mut self.settings
    }

    /// What the first request would be without a prompt: nothing is sent, nothing journaled.
    pub(super) fn beginning(&self, system_prompt: &str, context: Option<&str>) -> Vec<Arc<Part>> {
        let mut history = History::default();
        let text = |text: &str| vec![Block::Text(text.to_owned())];
        history.append(Role::System, Origin::System, text(system_prompt));
        if let Some(context) = context {
            history.append(Role::User, Origin::Context, text(context));
        }
        let nothing = Overlays::default();
        Assembler::default().assemble(history.entries(), &nothing, &self.settings).parts
    }

    /// Assembles the next turn's request and journals it.
    pub async fn pass(
        &mut self,
        state: &LoopState,
        recorder: &mut Recorder,
    ) -> (TurnNumber, Request) {
        self.last_turn.0 += 1;
        let turn = self.last_turn;
        let history = state.messages.entries();
        let request = self.assembler.assemble(history, &state.overlays, &self.settings);
        for (number, part) in &request.new_parts {
            recorder.record(Record::Part { number: *number, part: (**part).clone() }).await;
        }
        let record = RequestRecord {
            turn,
            keep: u32::try_from(request.keep).unwrap_or(u32::MAX),
            parts: request.numbers[request.keep..].to_vec(),
            bytes: request.bytes,
            sha256: request.sha256.clone(),
        };
        recorder.record(Record::Request(record)).await;
        for what in &request.repairs {
            let repair = Repair::of_request(what);
            recorder.record(Record::Repair { turn, repair }).await;
        }
        (turn, request)
    }
}

/// How often the same command may be denied in a row before proposing it once more ends the loop.
const DENIALS: u32 = 2;

/// The gate to the tools.
pub struct Acting {
    tools: Vec<Arc<dyn Tool>>,
    mode: Mode,
    /// Whether there is a person to ask.
    attended: bool,
    /// Exact commands that the user allowed for the rest of the session.
    allowed: HashSet<String>,
    /// Withheld variables of which the user was told.
    withheld: HashSet<String>,
    decisions: mpsc::Receiver<(CallId, Decision)>,
    /// The command that was denied last, and how often in a row.
    denied: Option<(String, u32)>,
}

impl std::fmt::Debug for Acting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Acting").field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// A call that could be run, if it is allowed.
struct Candidate {
    tool: Arc<dyn Tool>,
    command: String,
}

impl Acting {
    /// A gate before these tools. Decisions arrive on the channel.
    pub fn new(
        tools: Vec<Arc<dyn Tool>>,
        mode: Mode,
        attended: bool,
        decisions: mpsc::Receiver<(CallId, Decision)>,
    ) -> Self {
        let (allowed, withheld) = (HashSet::new(), HashSet::new());
        Self { tools, mode, attended, allowed, withheld, decisions, denied: None }
    }

    /// A new prompt: what was denied before it no longer counts.
    pub fn begin_prompt(&mut self) {
        self.denied = None;
    }

    /// Every command asks again.
    pub fn revoke(&mut self) {
        self.allowed.clear();
    }

    /// Whether the model proposed a command once more that had been denied twice in a row.
    pub fn denied_too_often(&self) -> bool {
        self.denied.as_ref().is_some_and(|(_, times)| *times > DENIALS)
    }

    /// Announces all calls of a reply, before the first is decided.
    pub async fn propose(
        &self,
        turn: TurnNumber,
        entry: EntryId,
        calls: &[ProposedCall],
        recorder: &mut Recorder,
    ) {
        for proposed in calls {
            recorder
                .record(Record::CallProposed(CallProposed {
                    call: proposed.call.id.clone(),
                    asker: Asker::Model { entry, turn },
                    name: proposed.call.name.clone(),
                    command: self.candidate(proposed).ok().map(|candidate| candidate.command),
                    state: proposed.state.clone(),
                }))
                .await;
        }
    }

    /// Judges, asks, runs: whatever happens to the call, this is its one result.
    pub async fn answer(
        &mut self,
        proposed: &ProposedCall,
        recorder: &mut Recorder,
        stop: &CancellationToken,
    ) -> CallResult {
        let call = &proposed.call.id;
        let answer = match self.candidate(proposed) {
            Err(why) => Answer::not_run(format!("Error: not run: {why}"), why),
            Ok(_) if stop.is_cancelled() => Answer::not_started(),
            Ok(candidate) => {
                let verdict = self.judge(&candidate.command);
                self.decide_and_run(call, candidate, verdict, recorder, stop).await
            }
        };
        let Answer { text, status, mut receipt, duration_ms, withheld } = answer;
        receipt.sent = text.len() as u64;
        let is_error = !matches!(status, CallStatus::Exited(_));
        let finished =
            CallFinished { call: call.clone(), status, duration_ms, receipt, output: None };
        recorder.record(Record::CallFinished(finished)).await;
        self.tell_withheld(withheld, recorder).await;
        CallResult { call: call.clone(), text, is_error }
    }

    /// Runs a command that the user typed with `!` or `!!`. Returns what the model is told of it:
    /// nothing if it is not to be told, or if nothing was started.
    pub async fn run_own(
        &mut self,
        call: CallId,
        command: String,
        told: bool,
        recorder: &mut Recorder,
        stop: &CancellationToken,
    ) -> Option<String> {
        recorder
            .record(Record::CallProposed(CallProposed {
                call: call.clone(),
                asker: Asker::User { told },
                name: if told { "!" } else { "!!" }.to_owned(),
                command: Some(command.clone()),
                state: CallState::Complete,
            }))
            .await;
        let tool = self.tools.iter().find(|tool| tool.definition().name == "bash").cloned();
        let answer = match tool {
            None => {
                Answer::not_run("Not run: there is no shell.".to_owned(), "no shell".to_owned())
            }
            Some(tool) => {
                let verdict = approval::judge_own(&command);
                let candidate = Candidate { tool, command: command.clone() };
                self.decide_and_run(&call, candidate, verdict, recorder, stop).await
            }
        };
        let Answer { text, status, mut receipt, duration_ms, withheld } = answer;
        let ran = !matches!(status, CallStatus::Denied | CallStatus::NotRun(_));
        let (output, told) = if told && ran {
            let note = format!("{OWN_COMMAND}{command}\n{text}");
            (note.clone(), Some(note))
        } else {
            (text, None)
        };
        receipt.sent = told.as_ref().map_or(0, |told| told.len() as u64);
        let finished = CallFinished { call, status, duration_ms, receipt, output: Some(output) };
        recorder.record(Record::CallFinished(finished)).await;
        self.tell_withheld(withheld, recorder).await;
        told
    }

    /// Tells the user, once for each, of variables for want of which a command may have failed. The
    /// model is told nothing of it.
    async fn tell_withheld(&mut self, withheld: Vec<String>, recorder: &mut Recorder) {
        for name in withheld {
            if self.withheld.insert(name.clone()) {
                let notice = format!(
                    "{name} was withheld from this command. If commands are to have it, add it in \
                     config.toml, pass_to_commands = [\"{name}\"], and start limpid anew."
                );
                recorder.progress(Progress::Notice(notice)).await;
            }
        }
    }

    async fn decide_and_run(
        &mut self,
        call: &CallId,
        candidate: Candidate,
        verdict: Verdict,
        recorder: &mut Recorder,
        stop: &CancellationToken,
    ) -> Answer {
        match self.decide(call, &candidate.command, verdict, recorder, stop).await {
            Ok(executed) => run(call, candidate, executed, recorder, stop).await,
            Err(refused) => refused,
        }
    }

    /// The tool and command of a call, or why there is none, in words that the model reads.
    fn candidate(&self, proposed: &ProposedCall) -> Result<Candidate, String> {
        if let Some(why) = unusable(proposed) {
            return Err(why.to_owned());
        }
        let name = &proposed.call.name;
        let tool = self.tools.iter().find(|tool| tool.definition().name == name);
        let Some(tool) = tool else {
            let known: Vec<_> = self.tools.iter().map(|tool| tool.definition().name).collect();
            return Err(format!("There is no tool \"{name}\". Tools: {}.", known.join(", ")));
        };
        let command = tool.command(&proposed.call.arguments)?;
        Ok(Candidate { tool: tool.clone(), command })
    }

    /// What is to be executed, or the answer that says why nothing is.
    async fn decide(
        &mut self,
        call: &CallId,
        command: &str,
        verdict: Verdict,
        recorder: &mut Recorder,
        stop: &CancellationToken,
    ) -> Result<String, Answer> {
        let mut decided = CallDecided {
            call: call.clone(),
            proposed: command.to_owned(),
            executed: None,
            reason: None,
            by: DecidedBy::Harness,
        };
        let outcome = match verdict {
            Verdict::Allow(by) => {
                decided.by = by;
                Ok(command.to_owned())
            }
            Verdict::Deny(why) => Err(Answer::denied(why)),
            Verdict::Ask => match self.ask(call, recorder, stop).await {
                // Nobody decided.
                None => return Err(Answer::not_started()),
                Some(Decision::Allow { command: executed, scope }) => {
                    let allowed = self.allow(executed, scope).map_err(Answer::denied);
                    allowed.map(|(executed, by)| {
                        decided.by = by;
                        executed
                    })
                }
                Some(Decision::Deny { reason }) => {
                    decided.by = DecidedBy::User;
                    decided.reason.clone_from(&reason);
                    let mut text = "Denied by the user; not executed.".to_owned();
                    if let Some(reason) = reason {
                        text.push_str(" Reason: ");
                        text.push_str(&reason);
                    }
                    Err(Answer::denied(text))
                }
            },
        };
        match &outcome {
            Ok(executed) => {
                decided.executed = Some(executed.clone());
                self.denied = None;
            }
            Err(answer) => {
                if answer.status == CallStatus::Denied {
                    self.count_denial(command);
                }
                if decided.by == DecidedBy::Harness {
                    decided.reason = Some(answer.text.clone());
                }
            }
        }
        recorder.record(Record::CallDecided(decided)).await;
        outcome
    }

    fn judge(&self, command: &str) -> Verdict {
        match &self.denied {
            Some((denied, times)) if denied == command && *times >= DENIALS => {
                Verdict::Deny(format!(
                    "Denied: this command was denied {times} times in a row already; not executed."
                ))
            }
            _ => approval::judge(command, self.mode, &self.allowed, self.attended),
        }
    }

    /// An allowed text may differ from the proposed one, so what no one may run is refused here too.
    fn allow(&mut self, executed: String, scope: Scope) -> Result<(String, DecidedBy), String> {
        let analysis = approval::analyse(&executed);
        if let Verdict::Deny(why) = approval::judge(&executed, Mode::Ask, &self.allowed, true) {
            return Err(why);
        }
        if scope == Scope::Session && analysis.dangers.is_empty() {
            self.allowed.insert(executed.clone());
            return Ok((executed, DecidedBy::UserForSession));
        }
        Ok((executed, DecidedBy::User))
    }

    fn count_denial(&mut self, command: &str) {
        match &mut self.denied {
            Some((denied, times)) if denied == command => *times += 1,
            _ => self.denied = Some((command.to_owned(), 1)),
        }
    }

    /// Waits for this call's decision; `None` if the prompt was stopped first.
    async fn ask(
        &mut self,
        call: &CallId,
        recorder: &mut Recorder,
        stop: &CancellationToken,
    ) -> Option<Decision> {
        recorder.progress(Progress::Ask { call: call.clone() }).await;
        loop {
            let (decided, decision) = tokio::select! {
                biased;
                () = stop.cancelled() => return None,
                decision = self.decisions.recv() => decision?,
            };
            if decided == *call {
                return Some(decision);
            }
        }
    }
}

/// Runs what was allowed, to its end.
async fn run(
    call: &CallId,
    Candidate { tool, command }: Candidate,
    executed: String,
    recorder: &mut Recorder,
    stop: &CancellationToken,
) -> Answer {
    recorder.record(Record::CallStarted { call: call.clone() }).await;
    let (samples, mut newest) = watch::channel(Sample::default());
    let is_edited = executed != command;
    let note = |has_run| {
        if is_edited { edited::note(&command, &executed, has_run) } else { String::new() }
    };
    let job = Job {
        command: executed.clone(),
        taken: note(true).chars().count(),
        output_file: recorder.output_file(call),
        samples,
        stop: stop.child_token(),
    };
    let mut running = tool.run(job);
    let Outcome { status, text, receipt, duration_ms, withheld } = loop {
        tokio::select! {
            biased;
            outcome = &mut running => break outcome,
            Ok(()) = newest.changed() => {
                let Sample { tail, produced } = newest.borrow_and_update().clone();
                recorder.progress(Progress::Output { call: call.clone(), tail, produced }).await;
            }
        }
    };
    let text = note(!matches!(status, CallStatus::NotRun(_))) + &text;
    Answer { text, status, receipt, duration_ms, withheld }
}

/// A result in the making.
struct Answer {
    text: String,
    status: CallStatus,
    receipt: Receipt,
    duration_ms: u64,
    /// Variables that the command may have wanted and was not given.
    withheld: Vec<String>,
}

impl Answer {
    fn of(text: String, status: CallStatus) -> Self {
        let (receipt, withheld) = (Receipt::default(), Vec::new());
        Self { text, status, receipt, duration_ms: 0, withheld }
    }

    fn not_run(text: String, why: String) -> Self {
        Self::of(text, CallStatus::NotRun(why))
    }

    fn not_started() -> Self {
        Self::not_run(
            "Not started: the user stopped the prompt.".to_owned(),
            "not started: the prompt was stopped".to_owned(),
        )
    }

    fn denied(text: String) -> Self {
        Self::of(text, CallStatus::Denied)
    }
}
