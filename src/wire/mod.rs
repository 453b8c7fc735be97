//! Between the domain and what goes over the wire. Pure: entries become the parts of a body
//! (`assemble`), response bytes become progress and a reply ([`Decoder`]), parts become the rows
//! of the inspector (`outline`). One folder per format holds what only that format does. Sockets and time-outs are `net`'s.

use crate::conversation::Failure;

mod anthropic;
mod assemble;
mod calls;
mod calls_back;
mod dialect;
mod draft;
mod errors;
pub mod exchange;
mod members;
mod openai_chat;
mod openai_responses;
pub mod outline;
mod overlaid;
mod parameters;
mod remedy;
mod response;
mod sequel;
mod sse;
pub mod views;

pub use assemble::{Assembler, Request, Settings, is_body_of};
pub use dialect::{CallIds, Dialect, MaxTokens, ReasoningBack, SystemRole};
pub use members::Members;
pub use overlaid::{rows_compared, rows_of_turn, sent_of, sent_of_result, to_send_again};
pub use parameters::Parameters;
pub use remedy::{Refused, Remedy, Shorter};
pub use response::Decoder;

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Chat Completions: `POST {url}/chat/completions`.
    OpenaiChat,
    /// Anthropic's Messages: `POST {url}/messages`.
    Anthropic,
    /// `OpenAI`'s Responses: `POST {url}/responses`.
    OpenaiResponses,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::OpenaiChat, Self::Anthropic, Self::OpenaiResponses];

    /// The format of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Its name, as in `--format`.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai-chat",
            Self::Anthropic => "anthropic",
            Self::OpenaiResponses => "openai-responses",
        }
    }

    /// What follows the base URL.
    pub fn path(self) -> &'static str {
        match self {
            Self::OpenaiChat => "/chat/completions",
            Self::Anthropic => "/messages",
            Self::OpenaiResponses => "/responses",
        }
    }

    /// In which header the key goes.
    pub fn auth(self) -> Auth {
        match self {
            Self::OpenaiChat | Self::OpenaiResponses => Auth::Bearer,
            Self::Anthropic => Auth::ApiKey,
        }
    }

    fn reader(self) -> Box<dyn response::Reader> {
        match self {
            Self::OpenaiChat => Box::new(openai_chat::Reader),
            Self::Anthropic => Box::new(anthropic::Reader::default()),
            Self::OpenaiResponses => Box::new(openai_responses::Reader::default()),
        }
    }
}

/// In which header a key goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    /// `authorization: Bearer KEY`.
    Bearer,
    /// `x-api-key: KEY`, beside `anthropic-version`, which goes also without a key.
    ApiKey,
}

/// Status line and headers of a response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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

/// JSON of plain structs and strings, which cannot fail.
fn json<T: serde::Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
