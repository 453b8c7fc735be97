//! What came back from the model in one exchange, whole or cut off.

use serde::{Deserialize, Serialize};

use super::{Block, Call, Failure, Opaque, Reasoning};

/// The stop reason of a server that waits to be asked to go on (Anthropic).
pub(super) const PAUSE: &str = "pause_turn";

/// Everything that one response held. A failure is part of it: what arrived before stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// What the model said and asked for, in the order in which it came.
    pub content: Vec<Content>,
    /// Why the model stopped, in the server's word.
    pub stop_reason: Option<String>,
    /// Token counts, as far as sent.
    pub usage: Option<Usage>,
    /// What broke, if anything did.
    pub failure: Option<Failure>,
    /// Whether the format's end mark was seen (`[DONE]`, or the end of a JSON body).
    pub terminator: bool,
    /// Whether the user stopped it.
    pub stopped: bool,
    /// What the decoder adjusted.
    pub repairs: Vec<Repair>,
}

/// Something that was adjusted for a server's quirk or to keep the history valid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repair {
    /// What was adjusted, in words.
    pub what: String,
    /// For one made while decoding: how many bytes of the response's body had been read by then, so
    /// that it belongs to the event that ends there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
}

impl Repair {
    /// A repair that no byte of a response caused.
    pub fn of_request(what: impl Into<String>) -> Self {
        Self { what: what.into(), at: None }
    }
}

/// A piece of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// The answer's text.
    Text(String),
    /// Text with which the model refused.
    Refusal(String),
    /// What the model thought.
    Reasoning(Reasoning),
    /// It asks for a tool to be run.
    Call(ProposedCall),
    /// Something that only the server understands.
    Opaque(Opaque),
}

impl Reply {
    /// A text and nothing else.
    pub fn of_text(text: impl Into<String>) -> Self {
        Self { content: vec![Content::Text(text.into())], terminator: true, ..Self::default() }
    }

    /// Appends to the text, or to the refusal or reasoning, that is being written.
    pub fn push(&mut self, piece: &Content) {
        match (self.content.last_mut(), piece) {
            (Some(Content::Text(last)), Content::Text(text))
            | (Some(Content::Refusal(last)), Content::Refusal(text)) => last.push_str(text),
            (Some(Content::Reasoning(last)), Content::Reasoning(reasoning))
                if last.opaque.is_none() && reasoning.opaque.is_none() =>
            {
                last.text.push_str(&reasoning.text);
            }
            _ => self.content.push(piece.clone()),
        }
    }

    /// Whether the server waits for the same messages, with this reply, to go on with it.
    pub fn is_paused(&self) -> bool {
        let whole = self.failure.is_none() && !self.stopped && !self.content.is_empty();
        whole && self.stop_reason.as_deref() == Some(PAUSE)
    }

    /// The answer's text.
    pub fn text(&self) -> String {
        self.content
            .iter()
            .filter_map(|piece| match piece {
                Content::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// The text with which the model refused.
    pub fn refusal(&self) -> String {
        self.content
            .iter()
            .filter_map(|piece| match piece {
                Content::Refusal(text) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// What the model thought.
    pub fn reasoning(&self) -> String {
        self.content
            .iter()
            .filter_map(|piece| match piece {
                Content::Reasoning(reasoning) => Some(reasoning.text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// The calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ProposedCall> {
        self.content.iter().filter_map(|piece| match piece {
            Content::Call(call) => Some(call),
            _ => None,
        })
    }

    /// The content of the assistant's entry; empty if nothing came.
    pub fn blocks(&self) -> Vec<Block> {
        self.content
            .iter()
            .filter_map(|piece| match piece {
                Content::Text(text) | Content::Refusal(text) if text.trim().is_empty() => None,
                Content::Text(text) | Content::Refusal(text) => Some(Block::Text(text.clone())),
                Content::Reasoning(reasoning)
                    if reasoning.text.trim().is_empty() && reasoning.opaque.is_none() =>
                {
                    None
                }
                Content::Reasoning(reasoning) => Some(Block::Reasoning(reasoning.clone())),
                Content::Call(proposed) => Some(Block::Call(proposed.call.clone())),
                Content::Opaque(opaque) => Some(Block::Opaque(opaque.clone())),
            })
            .collect()
    }
}

/// A call and whether it may be run at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedCall {
    /// The call as it arrived.
    pub call: Call,
    /// Whether it is complete.
    pub state: CallState,
}

/// Whether a call arrived whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// Complete: the reply ended properly after it and its arguments are a JSON object.
    Complete,
    /// Never to be run; why, in words that the model reads.
    Unusable(String),
}

/// Token counts as the server reported them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read. On Anthropic without those of `cache_read` and `cache_write`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Tokens written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Of the tokens read, those served from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<u64>,
    /// Tokens read from a cache, beside `input` (Anthropic).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// Tokens read and written to a cache, beside `input` (Anthropic).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// Of the tokens written, those of reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
}

impl Usage {
    /// All tokens read, whichever way the server counts those of its cache.
    pub fn read(self) -> Option<u64> {
        let beside = self.cache_read.unwrap_or(0).saturating_add(self.cache_write.unwrap_or(0));
        self.input.map(|input| input.saturating_add(beside))
    }
}
