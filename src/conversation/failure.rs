//! What went wrong between limpid and the model, as a value.

use serde::{Deserialize, Serialize};

/// A failed exchange: where it broke, what kind of fault it is, and the server's own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The layer in which it showed.
    pub place: Place,
    /// What kind of fault it is.
    pub kind: FailureKind,
    /// HTTP status, if there was an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The server's `error.type`, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_type: Option<String>,
    /// The server's `error.code`, as text (numbers too).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What happened: the server's message, or ours when it sent none. Untrusted text.
    pub message: String,
    /// The `retry-after` header, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<String>,
    /// The `retry-after-ms` header, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<String>,
}

/// The layer in which a failure showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// The status line: anything but 200.
    Http,
    /// An error event within a stream that began well.
    Stream,
    /// The content of an answer: not what the format says.
    Body,
    /// The connection: refused, cut, timed out.
    Transport,
}

/// What kind of fault a failure is; decides the advice given and, later, whether to try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The key is missing, wrong or not allowed to do this.
    Auth,
    /// Too many requests.
    RateLimit,
    /// No money or quota left: trying again does not help.
    Quota,
    /// The server has too much to do.
    Overloaded,
    /// The request is longer than the model can read.
    ContextLength,
    /// Unknown model or URL.
    NotFound,
    /// The server refuses the request as it is.
    InvalidRequest,
    /// The server could not make a call out of what the model wrote.
    ToolUseFailed,
    /// The server broke.
    Server,
    /// Well-formed, but not in an order that the format allows.
    Protocol,
    /// Not JSON, or not of the format's shape.
    Malformed,
    /// The reply did not end where any reply does.
    TooLong,
    /// The connection ended before the end mark.
    Disconnected,
    /// No connection can be made, or nothing comes over it: nobody listens, an unknown name, a
    /// certificate, a proxy, a time-out. Trying again at once would not help.
    Unreachable,
    /// limpid ended before the reply did.
    ProgramEnded,
}

impl Failure {
    /// A failure that only has a place, a kind and a message.
    pub fn new(place: Place, kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            place,
            kind,
            status: None,
            provider_type: None,
            code: None,
            message: message.into(),
            retry_after: None,
            retry_after_ms: None,
        }
    }
}
