//! `OpenAI`'s Responses: `POST /v1/responses`.

mod check;
mod items;
mod read;
mod write;

pub(super) use check::check;
pub(super) use read::read;
pub(super) use write::{events, whole};
