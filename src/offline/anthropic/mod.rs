//! Anthropic's Messages: `POST /v1/messages`.

mod blocks;
mod check;
mod read;
mod write;

pub(super) use check::{check, headers};
pub(super) use read::read;
pub(super) use write::{events, whole};
