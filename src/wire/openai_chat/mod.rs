//! Chat Completions: entries → messages, bytes → reply.

mod chunk;
mod decode;
mod encode;
mod layout;

pub(super) use decode::Reader;
pub(super) use encode::{encode, frame, slot};
pub(super) use layout::{joined, repairs};
