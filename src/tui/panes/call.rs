//! A call in a few words: its mark, what became of it, and its command.

use crate::conversation::{CallFinished, CallLog, CallState, CallStatus, DecidedBy};
use crate::text;
use crate::text::say;
use crate::tui::theme::Look;

/// The mark in front of a call, and how it looks.
pub(super) fn mark(log: &CallLog) -> (&'static str, Look) {
    match log.finished.as_ref().map(|finished| &finished.status) {
        Some(CallStatus::Exited(0)) => ("✓", Look::Good),
        Some(CallStatus::Unknown) => ("?", Look::Warning),
        Some(CallStatus::Denied | CallStatus::NotRun(_)) => ("⊘", Look::Warning),
        Some(_) => ("✗", Look::Bad),
        None if log.started_at.is_some() => ("▶", Look::Busy),
        None => ("…", Look::Dim),
    }
}

/// What became of a call, or what it waits for; also that it was allowed for the session.
pub(super) fn state(log: &CallLog) -> String {
    let ended = outcome(log);
    let by = log.decided.as_ref().map(|decided| decided.by);
    let for_session = matches!(by, Some(DecidedBy::UserForSession | DecidedBy::SessionRule));
    if for_session && log.finished.is_some() {
        say!("{ended} · allowed for this session", ended = ended)
    } else {
        ended
    }
}

/// What became of a call, or what it waits for.
pub(super) fn outcome(log: &CallLog) -> String {
    let Some(finished) = &log.finished else {
        let unusable = matches!(log.proposed.state, CallState::Unusable(_));
        return match &log.decided {
            _ if log.started_at.is_some() => say!("running").to_owned(),
            _ if unusable => say!("unusable").to_owned(),
            Some(decided) if decided.executed.is_none() => say!("denied").to_owned(),
            Some(_) => say!("allowed").to_owned(),
            None => say!("waiting").to_owned(),
        };
    };
    match &finished.status {
        CallStatus::Exited(code) => say!("exit {code}", code = code),
        CallStatus::Signaled(signal) => say!("signal {signal}", signal = signal),
        CallStatus::TimedOut(seconds) => say!("timed out after {seconds} s", seconds = seconds),
        CallStatus::Stopped => say!("stopped").to_owned(),
        CallStatus::Denied => say!("denied").to_owned(),
        CallStatus::NotRun(_) => say!("not run").to_owned(),
        CallStatus::Unknown => say!("outcome unknown").to_owned(),
    }
}

/// How long a call ran or has been running, in milliseconds; `None` if it did not,
/// or if nobody knows.
pub(super) fn ran_ms(log: &CallLog, now_unix_ms: u64) -> Option<u64> {
    let started = log.started_at?;
    match &log.finished {
        Some(CallFinished { status: CallStatus::Unknown, .. }) => None,
        Some(finished) => Some(finished.duration_ms),
        None => Some(now_unix_ms.saturating_sub(started)),
    }
}

/// What is or would be executed; empty for a call that is unusable.
pub(super) fn command(log: &CallLog) -> &str {
    let executed = log.decided.as_ref().and_then(|decided| decided.executed.as_deref());
    executed.or(log.proposed.command.as_deref()).unwrap_or_default()
}

/// The first line of the command, safe to draw; `⏎` says that there is more.
pub(super) fn first_line(log: &CallLog) -> String {
    let command = command(log);
    let (first, more) = command.split_once('\n').unwrap_or((command, ""));
    let mut line = text::visible(first, text::Show::Prose).into_owned();
    if !more.trim().is_empty() {
        line.push_str(" ⏎");
    }
    line
}

/// Whole seconds, as a running clock shows them.
pub(super) fn seconds(ms: u64) -> String {
    match ms / 1000 {
        s @ 0..60 => format!("{s} s"),
        s => format!("{} min {:02} s", s / 60, s % 60),
    }
}
