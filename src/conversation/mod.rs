//! The domain: entries, requests, records and events, and what they add up to.
//!
//! Pure: no files, no sockets, no clock. Everything else in the crate speaks in these types.
//! Not here: how an entry becomes JSON (`wire`), how records reach the disk (`session`).

mod advice;
mod entry;
mod failure;
mod history;
mod overlays;
mod overlong;
mod record;
mod refusal;
mod reply;
mod request;
mod session;
mod unsent;
mod way;

pub use entry::{
    Block, Call, CallId, CallResult, Entry, EntryId, OWN_COMMAND, Opaque, Origin, Overlay,
    Reasoning, Role,
};
pub use failure::{Failure, FailureKind, Place};
pub use history::{History, Violation, check};
pub use overlays::{Overlays, Told, awaits_reply, told};
pub use overlong::{Cut, Plan, TooLong, excess, overlays_of, plan};
pub use record::{
    Asker, CallDecided, CallFinished, CallProposed, CallStatus, Command, DecidedBy, Decision,
    Event, Profile, Progress, Receipt, Record, Response, SCRIPTED, Scope, Stamped,
};
pub use reply::{CallState, Content, ProposedCall, Repair, Reply, Usage};
pub use request::{Part, PartNumber, RequestHead, RequestRecord, Slot, ToolDefinition};
pub use session::{CallLog, Exchange, Session, Turn};
pub use unsent::Unsent;
pub use way::{Destination, KeyState, Parameter, ParameterValue, ProfileRow};

use serde::{Deserialize, Serialize};

/// Number of a turn; runs through the whole session, from 1.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
#[serde(transparent)]
pub struct TurnNumber(pub u32);

impl std::fmt::Display for TurnNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Why the loop goes on, or ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransitionReason {
    /// Goes on: calls were answered, the model reads their results next.
    ToolResult,
    /// Goes on: the server paused in a long turn of its own tools and waits for the same messages,
    /// with what it has said so far.
    Paused,
    /// Ended: the model asked for nothing more.
    Answered,
    /// Ended: the model sent neither text nor a call.
    EmptyReply,
    /// Ended: the user stopped it.
    Stopped,
    /// Ended: the turn limit was reached; the number is the limit.
    TurnLimit(u32),
    /// Ended: the model proposed the same command again after it had been denied twice in a row.
    RepeatedDenial,
    /// Ended: the model or the way to it failed.
    Failed(Failure),
    /// Ended: limpid itself did, before the prompt was answered.
    ProgramEnded,
}

impl TransitionReason {
    /// Why the loop goes on after a reply that ended so, in the server's word.
    pub fn to_go_on(stop_reason: Option<&str>) -> Self {
        if stop_reason == Some(reply::PAUSE) { Self::Paused } else { Self::ToolResult }
    }

    /// The word that stands for it in the log.
    pub fn word(&self) -> &'static str {
        match self {
            Self::ToolResult => "tool_result",
            Self::Paused => "paused",
            Self::Answered => "answered",
            Self::EmptyReply => "empty_reply",
            Self::Stopped => "stopped",
            Self::TurnLimit(_) => "turn_limit",
            Self::RepeatedDenial => "repeated_denial",
            Self::Failed(_) => "failed",
            Self::ProgramEnded => "program_ended",
        }
    }
}

/// All that the loop knows between two turns. One value, owned by one task.
#[derive(Debug, Default)]
pub struct LoopState {
    /// What the model will be told next.
    pub messages: History,
    /// What is sent in entries' places.
    pub overlays: Overlays,
    /// The newest reply in which a server paused: it waits to be asked to go on.
    pub paused: Option<EntryId>,
    /// Turns since the last prompt; the turn limit counts these.
    pub turn_count: u32,
    /// Why the loop goes on or ended; `None` before the first turn.
    pub transition_reason: Option<TransitionReason>,
}

impl LoopState {
    /// Whether the model is told something that it has not answered.
    pub fn awaits_reply(&self) -> bool {
        awaits_reply(self.messages.entries(), &self.overlays, self.paused)
    }
}
