//! Chat Completions: entries → messages, bytes → reply.

mod calls;
mod chunk;
mod decode;
mod encode;
mod errors;

pub use decode::Decoder;
pub use encode::{encode, frame};
