//! Anthropic's Messages: entries → blocks of messages, bytes → reply.

mod blocks;
mod decode;
mod encode;
mod layout;

pub(super) use decode::Reader;
pub(super) use encode::{encode, slot};
pub(super) use layout::lay_out;
