//! A turn's rows with what its overlays changed: rows of altered entries say so, and what is not sent
//! has rows of its own, without bytes.

use std::collections::HashMap;
use std::sync::Arc;

use super::outline::{Change, Row, RowKind, outline};
use crate::conversation::{Entry, EntryId, Part, Session, Told, Turn, told};
use crate::text;

/// The rows of a turn's request. `previous` is the request of the turn before, empty if there is
/// none.
pub fn rows_of_turn(
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
            row.add_note(&format!("altered: {}", of_whole(entry, whole)));
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

/// How much of an entry is sent: `1.2 kB of 48.1 kB`.
pub fn of_whole(sent: &Entry, whole: &Entry) -> String {
    format!("{} of {}", text::bytes(sent.told_bytes()), text::bytes(whole.told_bytes()))
}

fn not_sent(entry: &Entry) -> Row {
    Row {
        kind: RowKind::NotSent(entry.role),
        bytes: 0,
        origins: vec![entry.origin],
        calls: Vec::new(),
        answers: Vec::new(),
        note: format!("not sent: {}", text::bytes(entry.told_bytes())),
        change: Change::NotSent,
        parts: Vec::new(),
    }
}
