//! Chat Completions: entries → messages, bytes → reply.

mod encode;

pub use encode::{encode, frame};

use super::{End, ResponseHead};
use crate::conversation::{Progress, Reply};

/// Decodes one response.
#[derive(Debug)]
pub struct Decoder;

impl Decoder {
    /// A decoder for a response that began with `head`.
    pub fn new(_head: &ResponseHead) -> Self {
        Self
    }

    /// See [`super::Decoder::feed`].
    pub fn feed(&mut self, _bytes: &[u8]) -> Vec<Progress> {
        Vec::new()
    }

    /// See [`super::Decoder::is_done`].
    pub fn is_done(&self) -> bool {
        false
    }

    /// See [`super::Decoder::finish`].
    pub fn finish(self, _end: End) -> Reply {
        Reply::default()
    }
}
