//! What came back from the model in one exchange, whole or cut off.

use serde::{Deserialize, Serialize};

use super::{Block, Call, Failure};

/// Everything that one response held. A failure is part of it: what arrived before stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// The answer's text.
    pub text: String,
    /// What the model thought.
    pub reasoning: String,
    /// Text with which the model refused.
    pub refusal: String,
    /// The calls, in order.
    pub calls: Vec<ProposedCall>,
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
    /// What the decoder adjusted, in words.
    pub repairs: Vec<String>,
}

impl Reply {
    /// The content of the assistant's entry; empty if nothing came.
    pub fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        if !self.reasoning.trim().is_empty() {
            blocks.push(Block::Reasoning(self.reasoning.clone()));
        }
        let text = format!("{}{}", self.text, self.refusal);
        if !text.trim().is_empty() {
            blocks.push(Block::Text(text));
        }
        blocks.extend(self.calls.iter().map(|proposed| Block::Call(proposed.call.clone())));
        blocks
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
    /// Tokens read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Tokens written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Of the tokens read, those served from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<u64>,
    /// Of the tokens written, those of reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
}
