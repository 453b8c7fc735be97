//! The offline model, over real HTTP: whole conversations whose commands are really run, what the
//! strict model refuses, how the lenient one goes astray, and the shape of what is sent.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod anthropic;
mod client;
mod lenient;
mod prompts;
mod responses;
mod results;
mod strict;
mod wire;
