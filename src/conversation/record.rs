//! What happens in a session, as plain data: records (journaled) and progress (not).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::reply::PAUSE;
use super::{
    CallId, CallState, Destination, Entry, EntryId, Failure, Overlay, Parameter, ParameterValue,
    Part, PartNumber, ProfileRow, Repair, RequestHead, RequestRecord, TransitionReason, TurnNumber,
    Usage,
};

/// What subscribers of the loop receive, in order.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// Something that the journal holds.
    Record(Arc<Stamped>),
    /// Something that passes.
    Progress(Progress),
}

/// A record and when it was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamped {
    /// Milliseconds since 1970-01-01 UTC.
    pub at: u64,
    /// What happened.
    pub record: Record,
}

/// One line of the journal. Screen, headless output and resuming are folds of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// The way to the model, from here on.
    Profile(Profile),
    /// The parameters that are set, from here on; all others are left to the server.
    Parameters(Vec<ParameterValue>),
    /// An entry was added to the history.
    Entry(Arc<Entry>),
    /// The branch's newest entry is now this one; `None` after `/clear`.
    Head(Option<EntryId>),
    /// What is sent in an entry's place, from here on.
    Overlay {
        /// The entry.
        entry: EntryId,
        /// What is sent.
        overlay: Overlay,
    },
    /// A part, when it is first sent.
    Part {
        /// Its number; counts from 0 without gaps.
        number: PartNumber,
        /// The part.
        part: Part,
    },
    /// A request is about to be posted.
    Request(RequestRecord),
    /// An attempt to post a turn's request begins.
    Attempt {
        /// The turn.
        turn: TurnNumber,
        /// Counts from 1.
        attempt: u32,
        /// What goes before the body; `None` if it cannot be posted at all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<RequestHead>,
    },
    /// An attempt ended, well or not.
    Response(Response),
    /// Something was adjusted for a server's quirk or to keep the history valid.
    Repair {
        /// The turn on which it shows.
        turn: TurnNumber,
        /// What was adjusted.
        #[serde(flatten)]
        repair: Repair,
    },
    /// The model asks for a tool to be run, or the user runs a command of their own.
    CallProposed(CallProposed),
    /// It was decided whether the call runs.
    CallDecided(CallDecided),
    /// The command is about to be started.
    CallStarted {
        /// The call.
        call: CallId,
    },
    /// The call is over, whether it ran or not.
    CallFinished(CallFinished),
    /// What was allowed for the session is not any more. (`/clear` ends it too.)
    Revoked,
    /// The loop ended and waits for the next prompt.
    Ended(TransitionReason),
    /// limpid was started anew on this session, after it had ended. How what was open by then ended,
    /// the records before say. What was allowed for the session is not any more.
    Resumed,
}

/// A named way to reach a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// Shown as `MODEL @ NAME`: the profile's name or the server's host.
    pub name: String,
    /// Name of the wire format, as in `--format`.
    pub format: String,
    /// Base URL, without credentials.
    pub url: String,
    /// Model id.
    pub model: String,
    /// Name of the variable that holds the key; never the key.
    pub key_env: Option<String>,
}

/// Name of the profile of the offline model.
pub const SCRIPTED: &str = "scripted";

impl Profile {
    /// What tells its server from others: the URL; the offline model listens elsewhere each time, and
    /// is always the same.
    pub fn server(&self) -> &str {
        if self.name == SCRIPTED { SCRIPTED } else { &self.url }
    }

    /// As it is shown: `MODEL @ NAME`. Untrusted text.
    pub fn shown(&self) -> String {
        format!("{} @ {}", self.model, self.name)
    }
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Response {
    /// The turn.
    pub turn: TurnNumber,
    /// The attempt.
    pub attempt: u32,
    /// Whether any of the request's body was handed to a connection. Not known of older journals,
    /// whose requests count as sent.
    #[serde(default = "sent")]
    pub sent: bool,
    /// HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// Headers of the answer in order; names in lower case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// Milliseconds from posting to the first byte of the body.
    pub first_byte_ms: Option<u64>,
    /// Milliseconds from posting to the end.
    pub end_ms: u64,
    /// Bytes of the response's body.
    pub bytes: u64,
    /// Why the model stopped, in the server's word.
    pub stop_reason: Option<String>,
    /// Token counts, as far as sent.
    pub usage: Option<Usage>,
    /// What broke, if anything did.
    pub failure: Option<Failure>,
    /// Whether the user stopped it.
    pub stopped: bool,
}

impl Response {
    /// Whether the server paused and waits for the same messages, with its reply, to go on with it.
    pub(super) fn is_paused(&self) -> bool {
        let whole = self.failure.is_none() && !self.stopped;
        whole && self.stop_reason.as_deref() == Some(PAUSE)
    }
}

fn sent() -> bool {
    true
}

/// Who asks for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Asker {
    /// The model, in a reply.
    Model {
        /// The assistant's entry in which it stands.
        entry: EntryId,
        /// The turn in whose reply it came.
        turn: TurnNumber,
    },
    /// The user, with `!` or `!!`.
    User {
        /// Whether the model is told of it (`!`). If not, nothing of it is ever in a request.
        told: bool,
    },
}

/// A call as it was proposed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallProposed {
    /// The call.
    pub call: CallId,
    /// Who asks for it.
    #[serde(flatten)]
    pub asker: Asker,
    /// The tool's name as the model wrote it; `!` or `!!` for a command of the user's own.
    pub name: String,
    /// What would be executed: for bash, the command. `None` if the call is unusable.
    pub command: Option<String>,
    /// Whether it may be run at all.
    pub state: CallState,
}

/// Whether a call runs, what exactly, and who decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallDecided {
    /// The call.
    pub call: CallId,
    /// What the model proposed.
    pub proposed: String,
    /// What is executed; `None` if denied.
    pub executed: Option<String>,
    /// Why it was denied, in the decider's words.
    pub reason: Option<String>,
    /// Who decided.
    pub by: DecidedBy,
}

/// Who allowed or denied a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    /// The user, for this call.
    User,
    /// The user, by typing the command with `!` or `!!`.
    OwnCommand,
    /// The user, for this call and for the rest of the session whenever this exact command comes.
    UserForSession,
    /// The user allowed this exact command for the rest of the session.
    SessionRule,
    /// `--yolo`.
    Yolo,
    /// limpid itself: nobody to ask, a repeated denial, or the prompt was stopped.
    Harness,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallFinished {
    /// The call.
    pub call: CallId,
    /// What became of it.
    pub status: CallStatus,
    /// Milliseconds it ran.
    pub duration_ms: u64,
    /// Bytes produced, shown and sent.
    pub receipt: Receipt,
    /// Of a command of the user's own, what came of it: word for word what the model is told, if
    /// it is told. For the model's calls the result's entry has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// The command ended with this exit code.
    Exited(i32),
    /// The command was ended by this signal from elsewhere.
    Signaled(i32),
    /// The command was ended after this many seconds.
    TimedOut(u64),
    /// The user stopped it while it ran.
    Stopped,
    /// It was denied.
    Denied,
    /// It was never started; why.
    NotRun(String),
    /// limpid ended while it ran: what became of it is not known.
    Unknown,
}

/// For each result: what was produced, kept and sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Bytes that the command wrote.
    pub produced: u64,
    /// Lines of plain text in them.
    pub lines: u64,
    /// Bytes of the result that the model reads.
    pub sent: u64,
    /// Bytes of output left out of what the model reads.
    pub cut: u64,
    /// File in the session's directory with the complete output, if any was kept.
    pub file: Option<String>,
}

/// What passes and is not journaled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// What the model is told before the first prompt. Nothing was sent yet.
    Begins {
        /// The built-in prompt.
        system_prompt: String,
        /// What the project's files say.
        context: Option<String>,
        /// The first request's body, but for the prompt.
        parts: Vec<Arc<Part>>,
    },
    /// A piece of the answer's text.
    Text(String),
    /// A piece of reasoning.
    Reasoning(String),
    /// A piece of a call that is still arriving; nothing that could be run.
    CallPiece {
        /// Position of the call in the reply, from 0.
        index: usize,
        /// The tool's name as far as known.
        name: String,
        /// A piece of its arguments.
        arguments: String,
    },
    /// A sample of a running command's output, for display; replaces the sample before it.
    Output {
        /// The call.
        call: CallId,
        /// The newest lines so far; of terminal escapes only those for colours are left.
        tail: String,
        /// Bytes that the command wrote so far.
        produced: u64,
    },
    /// The loop waits for `Command::Decide` on this call.
    Ask {
        /// The call.
        call: CallId,
    },
    /// An attempt failed; the same request is posted once more after a wait. `Command::Stop` ends it.
    Waiting {
        /// The attempt that comes next.
        attempt: u32,
        /// Attempts there are at most.
        of: u32,
        /// When it begins, in milliseconds since 1970.
        until: u64,
        /// How long the wait is in all, in milliseconds.
        ms: u64,
        /// Why the last attempt failed. Untrusted text.
        why: String,
    },
    /// The way to the model before the session has begun; its first prompt makes records of it.
    Planned {
        /// The way.
        profile: Profile,
        /// The parameters that are set.
        parameters: Vec<ParameterValue>,
    },
    /// Every profile that can be chosen: the answer to `Command::ListProfiles`.
    Profiles(Vec<ProfileRow>),
    /// The answer to `Command::ListModels`.
    Models {
        /// The profile that was asked for.
        profile: String,
        /// The ids of its server's models. Untrusted text.
        models: Vec<String>,
        /// Why there are none, if they could not be had. Untrusted text.
        failure: Option<String>,
    },
    /// Something the user should know: cause, what was not done, next step.
    Notice(String),
    /// A command that was not taken, as too many wait already: the prompt's text, if it was one.
    Busy {
        /// The prompt, word for word.
        prompt: Option<String>,
    },
}

/// What a person (or a script) asks of the loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// A new prompt.
    Prompt(String),
    /// Tell the model this before the next request of the running prompt. Where no further request
    /// comes, it is dropped: whoever sent it knows so by `Record::Ended` without its entry.
    Steer(String),
    /// Post the history as it is once more: after a failure, a stop or the turn limit.
    Continue,
    /// Start anew with an empty history.
    Clear,
    /// From the next request on, send this in these entries' places.
    Overlay {
        /// The entries, and what is sent in their places.
        overlays: Vec<(EntryId, Overlay)>,
        /// Whether the history is then posted once more, if it awaits a reply. One command, so that
        /// nothing is posted of which the leaving out was not taken.
        goes_on: bool,
    },
    /// Run a command of the user's own.
    Run {
        /// The command.
        command: String,
        /// Whether the model is told of it, with the next prompt.
        told: bool,
    },
    /// Decide the call that is being asked for. Another call's decision is ignored.
    Decide {
        /// The call.
        call: CallId,
        /// The decision.
        decision: Decision,
    },
    /// Ask for every command again, also for those allowed for the session.
    Revoke,
    /// Reach a model another way, from the next request on; after the prompt that is running.
    Connect(Destination),
    /// Set a parameter for the rest of the session, or leave it to the server (`None`).
    Set {
        /// Which.
        parameter: Parameter,
        /// The value in words.
        value: Option<String>,
    },
    /// Tell which profiles there are, at once.
    ListProfiles,
    /// Ask the server of this profile for its models, beside whatever else goes on.
    ListModels(String),
    /// Stop the running prompt.
    Stop,
}

/// What a person decided about one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Run exactly this text, which was displayed.
    Allow {
        /// What runs; differs from what was proposed if it was edited.
        command: String,
        /// For how long.
        scope: Scope,
    },
    /// Do not run it.
    Deny {
        /// Told to the model word for word.
        reason: Option<String>,
    },
}

/// How long an allowance lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// This call only.
    Once,
    /// This exact command, for the rest of the session.
    Session,
}
