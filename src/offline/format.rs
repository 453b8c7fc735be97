//! The formats that the server speaks: which answers at which URL, and the way from a body to a
//! request and from a reply to bytes. What is said in each is the matter of its own folder.

use bytes::Bytes;
use hyper::HeaderMap;
use serde_json::Value;

use super::posted::{self, Checked, Model, Object, Posted};
use super::reply::Completion;
use super::{anthropic, chat, responses};

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Chat Completions.
    Chat,
    /// Anthropic's Messages.
    Anthropic,
    /// `OpenAI`'s Responses.
    Responses,
}

impl Format {
    /// The format that is spoken at this path.
    pub(super) fn at(path: &str) -> Option<Self> {
        match path {
            "/v1/chat/completions" => Some(Self::Chat),
            "/v1/messages" => Some(Self::Anthropic),
            "/v1/responses" => Some(Self::Responses),
            _ => None,
        }
    }

    /// Reads a request. Of the strict model it must hold a history that a real API takes.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn read(self, headers: &HeaderMap, body: &[u8]) -> Checked<Posted> {
        if self == Self::Anthropic {
            anthropic::headers(headers)?;
        }
        let body = posted::object(body)?;
        let model = posted::model(&body)?;
        let read = match self {
            Self::Chat => chat::read(model, &body),
            Self::Anthropic => anthropic::read(model, &body),
            Self::Responses => responses::read(model, &body),
        }?;
        if model == Model::Strict {
            self.check(&body)?;
        }
        Ok(read)
    }

    /// What the strict model refuses of a body.
    ///
    /// # Errors
    /// The first fault.
    pub(super) fn check(self, body: &Object) -> Checked {
        match self {
            Self::Chat => chat::check(body),
            Self::Anthropic => anthropic::check(body),
            Self::Responses => responses::check(body),
        }
    }

    /// A reply as one object.
    pub(super) fn whole(self, reply: &Completion) -> Value {
        match self {
            Self::Chat => chat::whole(reply),
            Self::Anthropic => anthropic::whole(reply),
            Self::Responses => responses::whole(reply),
        }
    }

    /// A reply as server-sent events, the end mark included.
    pub(super) fn events(self, reply: &Completion, counts: bool) -> Vec<Bytes> {
        match self {
            Self::Chat => chat::events(reply, counts),
            Self::Anthropic => anthropic::events(reply),
            Self::Responses => responses::events(reply),
        }
    }
}
