//! A turn's rows with what its overlays changed: rows of altered entries say so, and what is not sent
//! has rows of its own, without bytes.

use std::collections::HashMap;
use std::sync::Arc;

use super::outline::{Change, Row, RowKind, outline};
use crate::conversation::{
    Asker, CallId, Entry, EntryId, Overlay, Part, Session, Told, Turn, told,
};
use crate::text::{self, say};

/// The rows of a turn's request. `previous` is the request that was sent before it, empty if there is
/// none. Of a request that never left, no row was sent.
pub fn rows_of_turn(
    turn: &Turn,
    parts: &[Arc<Part>],
    previous: &[Arc<Part>],
    session: &Session,
) -> Vec<Row> {
    let mut rows = rows_compared(turn, parts, previous, session);
    if turn.never_left() {
        for row in &mut rows {
            row.change = Change::NotSent;
        }
    }
    rows
}

/// The same rows, all compared with those of another request, as if they had been sent.
pub fn rows_compared(
    turn: &Turn,
    parts: &[Arc<Part>],
    previous: &[Arc<Part>],
    session: &Session,
) -> Vec<Row> {
    let mut rows = outline(parts, previous, session);
    if turn.overlays.entries().next().is_none() {
        return rows;
    }
    let mut row_of: HashMap<EntryId, usize> = HashMap::new();
    let is_message = |row: &Row| matches!(row.kind, RowKind::Message { .. });
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| is_message(row)) {
        for entry in row.parts.iter().filter_map(|&part| parts[part].entry) {
            row_of.entry(entry).or_insert(index);
        }
    }
    let branch = session.branch_to(turn.head);
    let told = told(&branch, &turn.overlays);
    for told in &told {
        if let Told::Altered(entry) = told
            && let Some(row) = row_of.get(&entry.id).and_then(|&row| rows.get_mut(row))
            && let Some(whole) = session.entries.get(&entry.id)
        {
            row.add_note(&say!("altered from {bytes}", bytes = text::bytes(whole.told_bytes())));
        }
    }
    // From the last one back, so that the places of those before stay.
    let mut place = rows.iter().filter(|row| is_message(row)).count();
    for told in told.iter().rev() {
        match told {
            Told::NotSent(entry) => rows.insert(place, not_sent(entry)),
            // A message of its own, before the one that follows.
            Told::Placeholder(_) => place = place.saturating_sub(1),
            sent => {
                let row = sent.entry().and_then(|entry| row_of.get(&entry.id));
                place = row.copied().unwrap_or(place);
            }
        }
    }
    rows
}

/// What is now sent of an entry, in words; `None` if it is sent as it is.
pub fn sent_of(session: &Session, entry: EntryId) -> Option<String> {
    let whole = session.entries.get(&entry)?;
    let since = session.overlaid_since.get(&entry)?;
    match session.overlays.of(entry) {
        Overlay::Sent => None,
        Overlay::Replaced { text, .. } if !text.trim().is_empty() => {
            let (sent, all) = (text.len() as u64, whole.told_bytes());
            let (sent_bytes, all_bytes) = (text::bytes(sent), text::bytes(all));
            Some(if sent < all {
                say!("sent {sent} of {all}", sent = sent_bytes, all = all_bytes)
            } else {
                say!("sent altered: {sent} of {all}", sent = sent_bytes, all = all_bytes)
            })
        }
        Overlay::LeftOut { .. } | Overlay::Replaced { .. } => {
            Some(say!("not sent since turn {since}", since = since))
        }
    }
}

/// The same of a call's result, which is not sent either where its call is not.
pub fn sent_of_result(session: &Session, call: &CallId) -> Option<String> {
    let asked = session.calls.get(call).and_then(|log| match log.proposed.asker {
        Asker::Model { entry, .. } => Some(entry),
        Asker::User { .. } => None,
    });
    let asked =
        asked.filter(|entry| matches!(session.overlays.of(*entry), Overlay::LeftOut { .. }));
    let own = || {
        session.overlays.entries().find(|entry| {
            let result = session.entries.get(entry).and_then(|entry| entry.result());
            result.is_some_and(|result| result.call == *call)
        })
    };
    sent_of(session, asked.or_else(own)?)
}

fn not_sent(entry: &Entry) -> Row {
    Row {
        kind: RowKind::NotSent(entry.role),
        bytes: 0,
        origins: vec![entry.origin],
        calls: Vec::new(),
        answers: Vec::new(),
        note: say!("not sent: {bytes}", bytes = text::bytes(entry.told_bytes())),
        change: Change::NotSent,
        parts: Vec::new(),
        entries: vec![entry.id],
    }
}

/// The entries of a row that are now not sent as they are, with the replies whose results they hold:
/// those that have to be sent again for the row to be what it was. None of another branch.
pub fn to_send_again(row: &Row, session: &Session) -> Vec<EntryId> {
    let mut all: Vec<EntryId> = Vec::new();
    for entry in &row.entries {
        let result = session.entries.get(entry).and_then(|entry| entry.result());
        let call = result.and_then(|result| session.calls.get(&result.call));
        let asked = call.and_then(|log| match log.proposed.asker {
            Asker::Model { entry, .. } => Some(entry),
            Asker::User { .. } => None,
        });
        all.extend(asked.into_iter().chain([*entry]));
    }
    all.retain(|entry| *session.overlays.of(*entry) != Overlay::Sent);
    if all.is_empty() {
        return all;
    }
    let branch = session.branch();
    all.retain(|id| branch.iter().any(|entry| entry.id == *id));
    all.dedup();
    all
}
