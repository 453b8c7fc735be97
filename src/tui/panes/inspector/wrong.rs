//! What went wrong in a turn: with the request, with the reply, with its calls.

use super::super::call;
use crate::conversation::{CallStatus, Session, Turn};
use crate::wire::views;

/// Marks and words, the worst first; `None` if it went well.
pub(in crate::tui) fn went_wrong(turn: &Turn, session: &Session) -> Option<String> {
    let outcome = views::outcome(turn).map(|(word, _)| format!("✗ {}", word.text()));
    let calls = turn.calls.iter().filter_map(|call| session.calls.get(call));
    let calls = calls.filter_map(|log| {
        let went_well = log.finished.as_ref()?.status == CallStatus::Exited(0);
        (!went_well).then(|| format!("{} {}", call::mark(log).0, call::outcome(log)))
    });
    let mut words: Vec<String> = outcome.chain(calls).collect();
    words.sort_by(|one, other| other.cmp(one));
    words.dedup();
    (!words.is_empty()).then(|| words.join(", "))
}
