//! What would let a request pass that a server refused, and would refuse for ever: leaving out the
//! message that it named twice, or shortening what is too long. Only a proposal; a person agrees to
//! it, and it is carried out as overlays.

use std::sync::Arc;

use super::outline::{RowKind, outline};
use crate::conversation::{
    Cut, Entry, EntryId, Failure, FailureKind, Origin, Overlay, Part, Plan, Role, Session, TooLong,
    TransitionReason, Turn, excess, overlays_of, plan,
};

/// A way on after a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// Leave out what the server refused twice.
    LeaveOut(Refused),
    /// Send less.
    Shorten(Shorter),
}

/// The message that a server refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Its number among the messages, from 1, as the inspector counts.
    pub number: usize,
    /// Its role on the wire.
    pub role: String,
    /// The first line of what it says. Untrusted text.
    pub first_line: String,
    /// The entries that are in it.
    pub entries: Vec<EntryId>,
}

/// How the messages are made shorter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shorter {
    /// What the server said of their length.
    pub too_long: Option<TooLong>,
    /// The results to shorten, each with the number of its message and the command that it is of.
    pub results: Vec<(usize, String, Cut)>,
    /// The plan as a whole.
    pub plan: Plan,
}

impl Remedy {
    /// What a session's last failure can be answered with; `None` if it did not fail, or if only a
    /// new start helps.
    pub fn of(session: &Session) -> Option<Self> {
        let Some(TransitionReason::Failed(failure)) = &session.ended else { return None };
        let turn = session.turns.last()?;
        if failure.kind == FailureKind::ContextLength {
            shorter(session, turn, failure).map(Self::Shorten)
        } else {
            refused_twice(session, failure).map(Self::LeaveOut)
        }
    }

    /// The overlays that carry it out.
    pub fn overlays(&self, session: &Session) -> Vec<(EntryId, Overlay)> {
        match self {
            Self::LeaveOut(refused) => {
                let left_out = |entry: &EntryId| (*entry, Overlay::LeftOut { by: Origin::User });
                refused.entries.iter().map(left_out).collect()
            }
            Self::Shorten(shorter) => overlays_of(&shorter.plan, &session.branch()),
        }
    }
}

/// The message that the last failure names, if the one before named the same.
fn refused_twice(session: &Session, failure: &Failure) -> Option<Refused> {
    let mut failed = session.turns.iter().rev().map_while(|turn| {
        let failure = turn.response()?.failure.as_ref()?;
        Some((turn, failure))
    });
    let (last, _) = failed.next()?;
    let refused = refused(session, last, failure)?;
    let (turn, failure) = failed.find(|(_, failure)| failure.refused_block().is_some())?;
    let before = self::refused(session, turn, failure)?;
    let sent = |entry: &EntryId| *session.overlays.of(*entry) == Overlay::Sent;
    (refused.entries == before.entries && refused.entries.iter().any(sent)).then_some(refused)
}

/// The message that a failure names.
fn refused(session: &Session, turn: &Turn, failure: &Failure) -> Option<Refused> {
    let (index, block) = failure.refused_block()?;
    let parts = session.parts_of(turn.number);
    let rows = outline(&parts, &[], session);
    let number = index.checked_add(1)?;
    let row = rows.iter().find(|row| is_message(&row.kind, number))?;
    let told: Vec<&Arc<Part>> =
        row.parts.iter().map(|&part| &parts[part]).filter(|part| part.entry.is_some()).collect();
    // A message of the user holds one block for each entry; of a reply all blocks are one entry's.
    let told = match block.and_then(|block| told.get(block)).filter(|_| row.kind.word() == "user") {
        Some(part) => vec![*part],
        None => told,
    };
    let mut entries: Vec<EntryId> = told.iter().filter_map(|part| part.entry).collect();
    entries.dedup();
    let first = session.entries.get(entries.first()?)?;
    Some(Refused {
        number,
        role: row.kind.word().to_owned(),
        first_line: first_line(first),
        entries,
    })
}

fn is_message(kind: &RowKind, wanted: usize) -> bool {
    matches!(kind, RowKind::Message { number, .. } if *number == wanted)
}

/// The first line of what an entry says, or the call that it asks for.
fn first_line(entry: &Entry) -> String {
    let text = match entry.result() {
        Some(result) => result.text.clone(),
        None => entry.text(),
    };
    match text.lines().find(|line| !line.trim().is_empty()) {
        Some(line) => line.to_owned(),
        None => entry.calls().next().map_or_else(String::new, |call| {
            format!("{} {}", call.name, call.arguments.lines().next().unwrap_or_default())
        }),
    }
}

fn shorter(session: &Session, turn: &Turn, failure: &Failure) -> Option<Shorter> {
    let too_long = failure.too_long();
    let branch = session.branch();
    let plan = plan(&branch, &session.overlays, excess(turn.request.bytes, too_long));
    if plan.is_empty() {
        return None;
    }
    let parts = session.parts_of(turn.number);
    let rows = outline(&parts, &[], session);
    let number = |entry: EntryId| {
        rows.iter().find_map(|row| match row.kind {
            RowKind::Message { number, .. } => {
                row.parts.iter().any(|&part| parts[part].entry == Some(entry)).then_some(number)
            }
            _ => None,
        })
    };
    let command = |entry: EntryId| {
        let entry = session.entries.get(&entry).filter(|entry| entry.role == Role::Tool)?;
        let log = session.calls.get(&entry.result()?.call)?;
        let executed = log.decided.as_ref().and_then(|decided| decided.executed.as_ref());
        executed.or(log.proposed.command.as_ref()).cloned()
    };
    let results = plan.cuts.iter().map(|cut| {
        (number(cut.entry).unwrap_or(0), command(cut.entry).unwrap_or_default(), cut.clone())
    });
    Some(Shorter { too_long, results: results.collect(), plan })
}
