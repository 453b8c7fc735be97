//! `OpenAI`'s Responses: entries → items, bytes → reply.

mod decode;
mod encode;
mod items;

pub(super) use decode::Reader;
pub(super) use encode::{encode, frame};
