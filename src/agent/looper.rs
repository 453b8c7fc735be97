//! The loop: post the messages, read the reply, run the tools it asks for, append the results, post
//! again, until it asks for nothing.
//!
//! The order never changes. What may be posted and what may run is decided behind the gates; how a
//! request reaches the model is the [`Model`]'s matter.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, info_span};

use super::gates::{Acting, Outgoing};
use super::recorder::Recorder;
use crate::conversation::{
    Block, Call, CallId, CallState, Content, Entry, EntryId, FailureKind, LoopState, Origin,
    Overlay, ProposedCall, Record, Repair, Reply, Role, TransitionReason, TurnNumber,
};
use crate::wire::Request;

/// Whoever answers requests.
pub trait Model {
    /// Posts a request and reads the reply, reporting progress. Failures and stops are part of the
    /// reply.
    fn ask(
        &mut self,
        turn: TurnNumber,
        request: &Request,
        recorder: &mut Recorder,
        stop: &CancellationToken,
    ) -> impl Future<Output = Reply> + Send;
}

/// The loop and all that it owns.
#[derive(Debug)]
pub struct Loop<M> {
    /// What it knows between two turns.
    pub state: LoopState,
    /// Prompts that the model has not been told yet.
    pub inbox: mpsc::Receiver<String>,
    /// The gate to the model.
    pub outgoing: Outgoing,
    /// The gate to the tools.
    pub acting: Acting,
    /// Who answers.
    pub model: M,
    /// The one log.
    pub recorder: Recorder,
    /// How many turns a prompt may take.
    pub turn_limit: u32,
}

impl<M: Model> Loop<M> {
    /// Answers what is in the inbox, or goes on with the history as it is, until the model asks for
    /// nothing or something ends it. Every way out leaves a history that a strict server accepts.
    pub async fn run(&mut self, stop: &CancellationToken) {
        self.state.turn_count = 1;
        self.acting.begin_prompt();
        let reason = self.turns(stop).await;
        self.state.transition_reason = Some(reason.clone());
        self.recorder.record(Record::Ended(reason)).await;
        self.recorder.sync().await;
    }

    async fn turns(&mut self, stop: &CancellationToken) -> TransitionReason {
        loop {
            while let Ok(prompt) = self.inbox.try_recv() {
                self.remember(Role::User, Origin::User, vec![Block::Text(prompt)]).await;
            }
            let (turn, request) = self.outgoing.pass(&self.state, &mut self.recorder).await;
            let span = info_span!("turn", number = %turn);
            let asked = self.model.ask(turn, &request, &mut self.recorder, stop);
            let reply = asked.instrument(span).await;
            let calls = self.remember_reply(turn, &reply).await;
            if calls.is_empty() && !reply.is_paused() {
                return ended(reply);
            }
            self.run_each(calls, stop).await;
            if reply.stopped || stop.is_cancelled() {
                return TransitionReason::Stopped;
            }
            if let Some(failure) = reply.failure {
                return TransitionReason::Failed(failure);
            }
            if self.acting.denied_too_often() {
                return TransitionReason::RepeatedDenial;
            }
            if self.state.turn_count >= self.turn_limit {
                return TransitionReason::TurnLimit(self.turn_limit);
            }
            self.state.turn_count += 1;
            let stop_reason = reply.stop_reason.as_deref();
            self.state.transition_reason = Some(TransitionReason::to_go_on(stop_reason));
        }
    }

    /// Answers each call with exactly one result, in order.
    async fn run_each(&mut self, calls: Vec<ProposedCall>, stop: &CancellationToken) {
        for (number, call) in (1u32..).zip(calls) {
            let span = info_span!("call", number);
            let answered = self.acting.answer(&call, &mut self.recorder, stop);
            let result = answered.instrument(span).await;
            self.remember(Role::Tool, Origin::Tool, vec![Block::Result(result)]).await;
        }
    }

    /// Appends the reply, also when it was cut off; nothing if nothing came. Returns its calls.
    pub(super) async fn remember_reply(
        &mut self,
        turn: TurnNumber,
        reply: &Reply,
    ) -> Vec<ProposedCall> {
        for repair in &reply.repairs {
            self.recorder.record(Record::Repair { turn, repair: repair.clone() }).await;
        }
        let reply = self.with_unique_ids(turn, reply).await;
        let calls: Vec<ProposedCall> = reply.calls().cloned().collect();
        let blocks = reply.blocks();
        if blocks.is_empty() {
            return calls;
        }
        let told = blocks.iter().any(|block| matches!(block, Block::Text(_)));
        let entry = self.remember(Role::Assistant, Origin::Model, blocks).await;
        if reply.is_paused() {
            self.state.paused = Some(entry.id);
        }
        self.acting.propose(turn, entry.id, &calls, &mut self.recorder).await;
        if told
            && calls.is_empty()
            && let Some(note) = interruption(&reply)
        {
            self.remember(Role::User, Origin::Harness, vec![Block::Text(note.to_owned())]).await;
        }
        calls
    }

    /// Servers send empty ids and use ids twice; results are bound to calls by id, so each call of
    /// the session gets its own.
    async fn with_unique_ids(&mut self, turn: TurnNumber, reply: &Reply) -> Reply {
        let mut reply = reply.clone();
        let mut used: Vec<CallId> = Vec::new();
        for piece in &mut reply.content {
            let Content::Call(ProposedCall { call: Call { id, .. }, .. }) = piece else { continue };
            let taken = |id: &CallId| self.state.messages.has_call(id) || used.contains(id);
            if id.0.is_empty() || taken(id) {
                let mut number = used.len() + 1;
                let mut fresh = CallId(format!("call_{turn}_{number}"));
                while taken(&fresh) {
                    number += 1;
                    fresh = CallId(format!("call_{turn}_{number}"));
                }
                let sent = std::mem::replace(id, fresh);
                let what = format!("call id \"{sent}\" is replaced by \"{id}\"");
                let repair = Repair::of_request(what);
                self.recorder.record(Record::Repair { turn, repair }).await;
            }
            used.push(id.clone());
        }
        reply
    }

    /// Runs a command of the user's own. What the model is told of it goes with the next prompt.
    pub async fn run_own(&mut self, command: String, told: bool, stop: &CancellationToken) {
        let call = self.state.messages.own_call_id();
        let told = self.acting.run_own(call, command, told, &mut self.recorder, stop).await;
        if let Some(text) = told {
            self.remember(Role::User, Origin::User, vec![Block::Text(text)]).await;
        }
        self.recorder.sync().await;
    }

    pub(super) async fn remember(
        &mut self,
        role: Role,
        origin: Origin,
        blocks: Vec<Block>,
    ) -> Arc<Entry> {
        let entry = self.state.messages.append(role, origin, blocks);
        self.recorder.record(Record::Entry(entry.clone())).await;
        entry
    }

    /// Puts overlays on entries, from the next request on.
    pub async fn overlay(&mut self, overlays: Vec<(EntryId, Overlay)>) {
        for (entry, overlay) in overlays {
            self.state.overlays.set(entry, overlay.clone());
            self.recorder.record(Record::Overlay { entry, overlay }).await;
        }
    }

    /// Starts a branch: the model will know nothing but the system prompt and the project's files.
    pub async fn begin(&mut self, system_prompt: &str, context: Option<&str>) {
        self.state.messages.clear();
        let text = vec![Block::Text(system_prompt.to_owned())];
        self.remember(Role::System, Origin::System, text).await;
        if let Some(context) = context {
            let text = vec![Block::Text(context.to_owned())];
            self.remember(Role::User, Origin::Context, text).await;
        }
    }
}

/// Why the loop ends with a reply that asks for nothing.
fn ended(reply: Reply) -> TransitionReason {
    if reply.stopped {
        TransitionReason::Stopped
    } else if let Some(failure) = reply.failure {
        TransitionReason::Failed(failure)
    } else if reply.text().trim().is_empty() && reply.refusal().trim().is_empty() {
        TransitionReason::EmptyReply
    } else {
        TransitionReason::Answered
    }
}

/// What the model is told about a reply of its own that it could not finish. Calls need no note:
/// their results say it.
fn interruption(reply: &Reply) -> Option<&'static str> {
    let kind = reply.failure.as_ref().map(|failure| failure.kind);
    Some(match kind {
        _ if reply.stopped => "[The reply above was interrupted by the user; it is incomplete.]",
        None => return None,
        Some(FailureKind::TooLong) => {
            "[The reply above was cut off: it is longer than limpid keeps.]"
        }
        Some(FailureKind::ProgramEnded) => {
            "[The program ended during the reply above; it is incomplete.]"
        }
        Some(_) => "[The connection failed during the reply above; it is incomplete.]",
    })
}

/// Whether a call may be run at all.
pub(super) fn unusable(call: &ProposedCall) -> Option<&str> {
    match &call.state {
        CallState::Complete => None,
        CallState::Unusable(why) => Some(why),
    }
}
