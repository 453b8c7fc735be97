//! limpid: a full-screen terminal client for AI agents that hides nothing.
//!
//! The program is built around one loop (`agent::looper`): post the messages, read the reply, run
//! the tool it asks for, append the result, post again, until it asks for nothing.
//!
//! | module | holds |
//! |---|---|
//! | [`conversation`] | pure: entries, requests, records and events, and what they add up to |
//! | [`wire`] | pure: entries → parts of a body; bytes → reply; outline |
//! | [`text`] | pure: the sanitizer, widths and graphemes |
//! | [`approval`] | pure: what a command does that a person should know; allow, ask or deny |
//! | [`clock`] | time limits that do not run out while limpid is stopped |
//! | [`net`] | the HTTP client |
//! | [`tools`] | bash: process, minder, capture |
//! | [`agent`] | the loop, its gates, the handle that the screen holds |
//! | [`session`] | the journal on disk |
//! | [`tui`] | the screen: model, update, panes; no HTTP, no files, no processes |
//! | [`app`] | the terminal and the event loop; binds `tui` to `agent` |
//! | [`cli`] | arguments; one file per subcommand |
//! | [`config`] | what is set and by whom: config.toml, profiles, .env, trust |
//! | [`offline`] | the built-in model server; knows nothing of the rest |
//!
//! Who may know whom: text, clock → nothing; conversation → text; wire, approval → conversation, text;
//! net → wire, conversation, clock; tools → conversation, text, clock; session, config →
//! conversation, wire; tui → conversation, wire, approval, text; agent → all above but tui; app,
//! cli → all; offline → nothing.
//! `tests/architecture.rs` holds this.
//!
//! Channels are bounded everywhere: 32 commands to the loop (the screen never waits: a full
//! channel means "busy"), 256 events from it (a slow reader slows the socket; nothing is dropped).

pub mod agent;
pub mod app;
pub mod approval;
pub mod cli;
pub mod clock;
pub mod config;
pub mod conversation;
pub mod net;
pub mod offline;
pub mod session;
pub mod text;
pub mod tools;
pub mod tui;
pub mod wire;
