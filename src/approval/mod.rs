//! The acting gate's judgement: what a command holds that a person should know, and whether it is
//! allowed, asked for or denied. Pure.

mod danger;
mod remark;
mod shell_words;

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
pub fn analyse(command: &str) -> Analysis {
    Analysis { dangers: danger::dangers(command), remarks: remark::remarks(command) }
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
/// `attended` says whether there is a person to ask. A dangerous command is covered neither by
/// `allowed` nor by [`Mode::Yolo`], and a command that holds a NUL by nobody.
pub fn judge(command: &str, mode: Mode, allowed: &HashSet<String>, attended: bool) -> Verdict {
    if command.contains('\0') {
        return Verdict::Deny(
            "Denied: the command holds a NUL byte, which no shell can take; not executed.".into(),
        );
    }
    let dangers = danger::dangers(command);
    let safe = dangers.is_empty();
    match mode {
        _ if safe && allowed.contains(command) => Verdict::Allow(DecidedBy::SessionRule),
        Mode::Yolo if safe => Verdict::Allow(DecidedBy::Yolo),
        Mode::Ask | Mode::Yolo if attended => Verdict::Ask,
        Mode::Ask => Verdict::Deny(
            "Denied: limpid exec runs no commands without --yolo; not executed.".into(),
        ),
        Mode::Yolo => Verdict::Deny(format!(
            "Denied: dangerous ({}) and nobody is there to ask; not executed.",
            dangers.join("; ")
        )),
    }
}

/// Judges a command that the user typed with `!`: typing it was the decision, but for dangerous
/// shapes, which are asked for once.
pub fn judge_own(command: &str) -> Verdict {
    match judge(command, Mode::Yolo, &HashSet::new(), true) {
        Verdict::Allow(_) => Verdict::Allow(DecidedBy::OwnCommand),
        verdict => verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_its_verdict() {
        let allowed = HashSet::from(["cargo test".to_owned(), "sudo ls".to_owned()]);
        let no_yolo = "Denied: limpid exec runs no commands without --yolo; not executed.";
        let sudo = "Denied: dangerous (sudo: runs as another user) and nobody is there to ask; \
                    not executed.";
        let deny = |words: &str| Verdict::Deny(words.to_owned());
        for (command, mode, attended, verdict) in [
            ("ls", Mode::Ask, true, Verdict::Ask),
            ("ls", Mode::Ask, false, deny(no_yolo)),
            ("ls", Mode::Yolo, true, Verdict::Allow(DecidedBy::Yolo)),
            ("ls", Mode::Yolo, false, Verdict::Allow(DecidedBy::Yolo)),
            ("cargo test", Mode::Ask, true, Verdict::Allow(DecidedBy::SessionRule)),
            ("cargo test", Mode::Yolo, true, Verdict::Allow(DecidedBy::SessionRule)),
            ("cargo test ", Mode::Ask, true, Verdict::Ask),
            ("sudo ls", Mode::Ask, true, Verdict::Ask),
            ("sudo ls", Mode::Ask, false, deny(no_yolo)),
            ("sudo ls", Mode::Yolo, true, Verdict::Ask),
            ("sudo ls", Mode::Yolo, false, deny(sudo)),
        ] {
            assert_eq!(
                judge(command, mode, &allowed, attended),
                verdict,
                "{command:?} {mode:?} {attended}"
            );
        }
        assert_eq!(judge_own("ls"), Verdict::Allow(DecidedBy::OwnCommand));
        assert_eq!(judge_own("sudo ls"), Verdict::Ask);
        assert!(matches!(judge_own("ls\0"), Verdict::Deny(_)));
        for attended in [true, false] {
            let verdict = judge("ls\0", Mode::Yolo, &allowed, attended);
            assert!(matches!(verdict, Verdict::Deny(words) if words.contains("NUL")));
        }
    }
}
