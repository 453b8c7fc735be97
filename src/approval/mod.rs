//! The acting gate's judgement: what a command holds that a person should know, and whether it is
//! allowed, asked for or denied. Pure.

use std::collections::HashSet;

use crate::conversation::DecidedBy;

/// What a look at the command's text found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Analysis {
    /// Dangerous shapes, each in words (`sudo: runs as another user`). Never covered by an *always*.
    pub dangers: Vec<String>,
    /// Other things worth knowing before a decision (hidden characters, many lines), in words.
    pub remarks: Vec<String>,
}

/// Looks at a command.
pub fn analyse(_command: &str) -> Analysis {
    Analysis::default()
}

/// How a session treats commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Every command asks.
    Ask,
    /// `--yolo`: runs without asking, but for dangerous shapes.
    Yolo,
}

/// The judgement on one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Runs; who allowed it.
    Allow(DecidedBy),
    /// A person decides.
    Ask,
    /// Does not run; why, in words that the model reads.
    Deny(String),
}

/// Judges a command.
///
/// `allowed` holds the exact commands that the user allowed for the rest of the session;
/// `attended` says whether there is a person to ask.
pub fn judge(command: &str, mode: Mode, allowed: &HashSet<String>, attended: bool) -> Verdict {
    let _ = (command, mode, allowed, attended);
    Verdict::Ask
}
