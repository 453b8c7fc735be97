//! A stage on which a command waits for a decision.

use crossterm::event::KeyCode;
use limpid::conversation::{Command, Decision, Scope};

use super::Stage;

/// A panel that was just drawn, for the first of these commands.
pub fn asked(commands: &[&str]) -> Stage {
    let mut stage = Stage::new(80, 24);
    stage.prompt("Do it.");
    stage.request();
    stage.reply("", commands);
    stage.ask(1);
    stage.frame();
    stage
}

/// A panel that takes keys.
pub fn armed(commands: &[&str]) -> Stage {
    let mut stage = asked(commands);
    stage.wait(600);
    stage
}

/// The decision that lets a call run.
pub fn allowed(stage: &Stage, nth: usize, command: &str, scope: Scope) -> Command {
    let decision = Decision::Allow { command: command.to_owned(), scope };
    Command::Decide { call: stage.call(nth), decision }
}

/// The decision that does not.
pub fn denied(stage: &Stage, nth: usize, reason: Option<&str>) -> Command {
    let decision = Decision::Deny { reason: reason.map(str::to_owned) };
    Command::Decide { call: stage.call(nth), decision }
}

/// Keys that come together.
pub fn burst(stage: &mut Stage, keys: &str) {
    for c in keys.chars() {
        stage.press(if c == '\r' { KeyCode::Enter } else { KeyCode::Char(c) });
    }
}
