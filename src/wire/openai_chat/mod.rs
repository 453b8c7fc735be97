//! Chat Completions: entries → messages, bytes → reply.

mod chunk;
mod decode;
mod encode;

pub(super) use decode::Reader;
pub(super) use encode::{encode, frame};
