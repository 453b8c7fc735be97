//! What went wrong in turns: with the request, with the reply, with its calls.

use std::collections::BTreeMap;

use super::super::call;
use crate::conversation::{Asker, CallStatus, Session, TurnNumber};
use crate::wire::views;

/// For each of these turns that did not go well, its marks and words, the worst first.
pub(in crate::tui) fn went_wrong(
    session: &Session,
    which: impl Fn(TurnNumber) -> bool,
) -> BTreeMap<TurnNumber, String> {
    let mut wrong: BTreeMap<TurnNumber, Vec<String>> = BTreeMap::new();
    for turn in session.turns.iter().filter(|turn| which(turn.number)) {
        for (word, _) in views::outcome(turn) {
            wrong.entry(turn.number).or_default().push(format!("✗ {}", word.text()));
        }
    }
    for log in session.calls.values() {
        let status = log.finished.as_ref().map(|finished| &finished.status);
        let Asker::Model { turn, .. } = log.proposed.asker else { continue };
        if which(turn) && status.is_some_and(|status| *status != CallStatus::Exited(0)) {
            let told = format!("{} {}", call::mark(log).0, call::outcome(log));
            wrong.entry(turn).or_default().push(told);
        }
    }
    let in_words = |(turn, mut words): (TurnNumber, Vec<String>)| {
        words.sort_by(|one, other| other.cmp(one));
        words.dedup();
        (turn, words.join(", "))
    };
    wrong.into_iter().map(in_words).collect()
}
