//! What several tests need: a model server that plays a script and keeps what it received, and
//! limpid itself, as a process or on a terminal.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its own share")]

pub mod limpid;
pub mod pty;
pub mod resuming;
pub mod server;
