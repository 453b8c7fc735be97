//! Between the domain and what goes over the wire. Pure: entries become the parts of a body
//! (`assemble`), response bytes become progress and a reply ([`Decoder`]), parts become the rows
//! of the inspector (`outline`). One folder per format. Sockets and time-outs are `net`'s.

use crate::conversation::{Failure, Progress, Reply};

mod assemble;
mod dialect;
pub mod openai_chat;
pub mod outline;
mod sse;

pub use assemble::{Assembler, Request, Settings};
pub use dialect::{Dialect, MaxTokens, Parameters, ReasoningBack, SystemRole};

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Chat Completions: `POST {url}/chat/completions`.
    OpenaiChat,
}

impl Format {
    /// Its name, as in `--format`.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai-chat",
        }
    }

    /// What follows the base URL.
    pub fn path(self) -> &'static str {
        match self {
            Self::OpenaiChat => "/chat/completions",
        }
    }
}

/// Status line and headers of a response.
#[derive(Debug, Clone, Default)]
pub struct ResponseHead {
    /// HTTP status.
    pub status: u16,
    /// Headers in order; names in lower case.
    pub headers: Vec<(String, String)>,
}

impl ResponseHead {
    /// The first header of this name (lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// How the bytes of a response ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The server closed it in good order (or it was closed after the end mark).
    Eof,
    /// The connection broke or timed out.
    Broken(Failure),
    /// The user stopped it.
    Stopped,
}

/// Turns the bytes of one response into progress, and at the end into a reply. The result does not
/// depend on how the bytes are split.
#[derive(Debug)]
pub enum Decoder {
    /// Chat Completions.
    OpenaiChat(openai_chat::Decoder),
}

impl Decoder {
    /// A decoder for a response that began with `head`.
    pub fn new(format: Format, head: &ResponseHead) -> Self {
        match format {
            Format::OpenaiChat => Self::OpenaiChat(openai_chat::Decoder::new(head)),
        }
    }

    /// Takes the next bytes; returns what became visible by them, neighbours merged.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Progress> {
        match self {
            Self::OpenaiChat(decoder) => decoder.feed(bytes),
        }
    }

    /// Whether the reply is complete (or has failed), so that nothing more need be read.
    pub fn is_done(&self) -> bool {
        match self {
            Self::OpenaiChat(decoder) => decoder.is_done(),
        }
    }

    /// The reply that all bytes add up to.
    pub fn finish(self, end: End) -> Reply {
        match self {
            Self::OpenaiChat(decoder) => decoder.finish(end),
        }
    }
}
