//! Chat Completions: `POST /v1/chat/completions`.

mod check;
mod read;
mod write;

pub(super) use check::check;
pub(super) use read::read;
pub(super) use write::{events, whole};
