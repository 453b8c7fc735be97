//! Going on with a session that was read back: the loop knows again what it knew, and what limpid
//! left open when it ended is closed, so that the history is one that a strict server accepts.
//!
//! Nothing is run and nothing is posted. A reply that was cut off is read from the bytes that had
//! arrived. A command that had begun has an outcome that nobody knows, and the model is told so.

use std::io::{self, Read as _};
use std::path::Path;

use super::looper::{Loop, Model};
use super::route::{Route, SET_HERE};
use crate::conversation::{
    Asker, Block, CallFinished, CallId, CallLog, CallResult, CallState, CallStatus, Exchange,
    Failure, FailureKind, OWN_COMMAND, Origin, Place, Profile, Progress, ProposedCall, Receipt,
    Record, Reply, Response, Role, Session, TransitionReason, TurnNumber,
};
use crate::session::{kept_output, read_exchange, whole_body};
use crate::wire::exchange::{Kept, KeptResponse};
use crate::wire::{Decoder, End, Format};

/// What the model is told of a call that had not begun.
const NOT_RUN: &str = "Not run: the program ended before this command was started.";
/// Of one that had.
const UNKNOWN: &str = "Started, but the program ended before the command did: its outcome is \
    unknown. Check what it did before repeating it.";
/// Of one whose end was journaled, and not its result.
const UNTOLD: &str = "The command ended, but the program ended before its output was recorded: it \
    is unknown. Check what it did before repeating it.";

impl<M: Model> Loop<M> {
    /// Takes up a session where its journal ends. `told` is what a branch begins with.
    pub(super) async fn resume(&mut self, session: &Session, told: (&str, Option<&str>)) {
        self.state = session.state();
        self.outgoing.take_up(session);
        if let Some((turn, exchange)) = unread(session) {
            self.close_exchange(turn, exchange, session.profile.as_ref()).await;
        }
        self.close_calls(session).await;
        self.close_own_commands(session).await;
        if session.ended.is_none() && !session.turns.is_empty() {
            self.close_prompt().await;
        }
        let mut history = self.state.messages.entries().iter();
        if history.all(|entry| matches!(entry.origin, Origin::System | Origin::Context)) {
            // Its beginning may not have been written to its end.
            self.begin(told.0, told.1).await;
        }
        self.recorder.record(Record::Resumed).await;
    }

    /// Keeps what had arrived of a reply: all of it, or as after a connection that broke.
    async fn close_exchange(
        &mut self,
        turn: TurnNumber,
        exchange: &Exchange,
        profile: Option<&Profile>,
    ) {
        let kept = match self.recorder.saved_in().get() {
            Some(session) => arrived(session, turn, exchange.attempt, profile),
            None => Ok(None),
        };
        let kept = match kept {
            Ok(kept) => kept,
            Err(error) => {
                let notice = format!("What had arrived of turn {turn} cannot be read: {error}.");
                self.recorder.progress(Progress::Notice(notice)).await;
                None
            }
        };
        let (kept, reply) = kept.unwrap_or_else(|| {
            let reply = Reply { failure: Some(program_ended()), ..Reply::default() };
            (KeptResponse::default(), reply)
        });
        if exchange.response.is_none() {
            let response = Response {
                turn,
                attempt: exchange.attempt,
                // Whether it had left, the journal does not say; it may have.
                sent: true,
                status: Some(kept.head.status).filter(|status| *status > 0),
                first_byte_ms: kept.arrivals.first().map(|arrival| arrival.ms),
                end_ms: kept.arrivals.last().map_or(0, |arrival| arrival.ms),
                bytes: kept.bytes(),
                headers: kept.head.headers,
                stop_reason: reply.stop_reason.clone(),
                usage: reply.usage,
                failure: reply.failure.clone(),
                stopped: false,
            };
            self.recorder.record(Record::Response(response)).await;
        }
        self.remember_reply(turn, &reply).await;
    }

    /// Answers the calls of the newest reply that have no result.
    async fn close_calls(&mut self, session: &Session) {
        let history = self.state.messages.entries();
        let Some(asking) = history.iter().rposition(|entry| entry.calls().next().is_some()) else {
            return;
        };
        let (asking, after) = (history[asking].clone(), &history[asking + 1..]);
        let answered = after.iter().filter(|entry| entry.result().is_some()).count();
        let turn = session.turns.last().map_or(TurnNumber(0), |turn| turn.number);
        for call in asking.calls().skip(answered) {
            let log = session.calls.get(&call.id);
            // Those of a reply that was only now read were proposed with it.
            if log.is_none() && session.entries.contains_key(&asking.id) {
                let proposed = ProposedCall { call: call.clone(), state: CallState::Complete };
                self.acting.propose(turn, asking.id, &[proposed], &mut self.recorder).await;
            }
            let text = match log {
                Some(CallLog { finished: Some(_), .. }) => UNTOLD,
                Some(CallLog { started_at: Some(_), .. }) => UNKNOWN,
                _ => NOT_RUN,
            };
            self.close_call(&call.id, log, text.len() as u64, None).await;
            let result =
                CallResult { call: call.id.clone(), text: text.to_owned(), is_error: true };
            self.remember(Role::Tool, Origin::Tool, vec![Block::Result(result)]).await;
        }
    }

    /// Ends the user's own commands that had not ended, and tells the model of what it was to be told
    /// and was not.
    async fn close_own_commands(&mut self, session: &Session) {
        let own = session.calls.values().filter_map(|log| match log.proposed.asker {
            Asker::User { told } => Some((log, told)),
            Asker::Model { .. } => None,
        });
        for (log, told) in own {
            match &log.finished {
                None => {
                    let has_begun = log.started_at.is_some();
                    let text = if has_begun { UNKNOWN } else { NOT_RUN };
                    let command = log.proposed.command.as_deref().unwrap_or_default();
                    let note =
                        (told && has_begun).then(|| format!("{OWN_COMMAND}{command}\n{text}"));
                    let sent = note.as_ref().map_or(0, |note| note.len() as u64);
                    let output = Some(note.clone().unwrap_or_else(|| text.to_owned()));
                    self.close_call(&log.proposed.call, Some(log), sent, output).await;
                    if let Some(note) = note {
                        self.remember(Role::User, Origin::User, vec![Block::Text(note)]).await;
                    }
                }
                Some(CallFinished { output: Some(text), receipt, .. })
                    if told && receipt.sent > 0 =>
                {
                    let mut entries = session.entries.values();
                    if !entries.any(|entry| entry.is_own_command() && entry.text() == *text) {
                        let text = vec![Block::Text(text.clone())];
                        self.remember(Role::User, Origin::User, text).await;
                    }
                }
                Some(_) => {}
            }
        }
    }

    /// Journals the end of a call that has none.
    async fn close_call(
        &mut self,
        call: &CallId,
        log: Option<&CallLog>,
        sent: u64,
        output: Option<String>,
    ) {
        if log.is_some_and(|log| log.finished.is_some()) {
            return;
        }
        let status = match log.and_then(|log| log.started_at) {
            Some(_) => CallStatus::Unknown,
            None => CallStatus::NotRun("limpid ended before it was started".to_owned()),
        };
        let session = self.recorder.saved_in();
        let kept = session.get().and_then(|session| kept_output(session, call));
        let (file, produced) = kept.map_or((None, 0), |(file, bytes)| (Some(file), bytes));
        let receipt = Receipt { produced, sent, file, ..Receipt::default() };
        let finished = CallFinished { call: call.clone(), status, duration_ms: 0, receipt, output };
        self.recorder.record(Record::CallFinished(finished)).await;
    }

    /// Says how a prompt ended that limpid did not see the end of.
    async fn close_prompt(&mut self) {
        let newest = self.state.messages.entries().last();
        let reason = match newest {
            Some(entry) if entry.is_own_command() => return,
            Some(_) if self.state.awaits_reply() => TransitionReason::ProgramEnded,
            Some(entry) if entry.role == Role::Assistant => TransitionReason::Answered,
            _ => return,
        };
        self.state.transition_reason = Some(reason.clone());
        self.recorder.record(Record::Ended(reason)).await;
    }
}

/// The newest attempt, if it had not ended, or if its reply had not become an entry.
fn unread(session: &Session) -> Option<(TurnNumber, &Exchange)> {
    let turn = session.turns.last()?;
    let exchange = turn.exchanges.last()?;
    let is_unread = match &exchange.response {
        None => true,
        Some(response) => {
            let is_whole = response.failure.is_none() && !response.stopped;
            is_whole && turn.head == session.head && session.ended.is_none()
        }
    };
    is_unread.then_some((turn.number, exchange))
}

/// The way and the parameters that hold from here on, where they are others than before. What was
/// set in the session still holds.
pub(super) async fn follow<M: Model>(agent: &mut Loop<M>, route: &mut Route, session: &Session) {
    for set in session.parameters.iter().filter(|set| set.source == SET_HERE) {
        // It was read before it was journaled; a damaged one is left out.
        let _ = route.set(set.parameter, Some(set.value.clone()));
    }
    agent.outgoing.settings_mut().parameters = route.parameters();
    if session.profile.as_ref() != Some(&route.profile) {
        agent.recorder.record(Record::Profile(route.profile.clone())).await;
    }
    if session.parameters != route.values() {
        agent.recorder.record(Record::Parameters(route.values())).await;
    }
}

/// What is kept of an answer, and the reply in it; `None` if none had come.
fn arrived(
    session: &Path,
    turn: TurnNumber,
    attempt: u32,
    profile: Option<&Profile>,
) -> io::Result<Option<(KeptResponse, Reply)>> {
    let Some(format) = profile.and_then(|profile| Format::named(&profile.format)) else {
        return Ok(None);
    };
    let kept = match read_exchange(session, turn, attempt) {
        Kept::Response(kept) => kept,
        Kept::NoAnswer | Kept::NotSaved => return Ok(None),
        Kept::Unreadable(why) => return Err(io::Error::other(why)),
    };
    let mut decoder = Decoder::new(format, &kept.head);
    let mut body = whole_body(session, turn, attempt, &kept)?;
    let mut chunk = vec![0; 64 * 1024];
    loop {
        match body.read(&mut chunk)? {
            0 => return Ok(Some((kept, decoder.finish(End::Broken(program_ended()))))),
            read => drop(decoder.feed(&chunk[..read])),
        }
    }
}

fn program_ended() -> Failure {
    let what = "limpid ended before the reply did";
    Failure::new(Place::Transport, FailureKind::ProgramEnded, what)
}
