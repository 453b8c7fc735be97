//! The list that the model's memory is: entries of one branch, in order, and its invariants.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Block, CallId, Entry, EntryId, Origin, Role};

/// The entries of the current branch, oldest first.
///
/// Ids run through the session and are never used twice, also not after [`History::clear`].
#[derive(Debug, Default, Clone)]
pub struct History {
    entries: Vec<Arc<Entry>>,
    call_ids: HashSet<CallId>,
    last_id: u64,
}

impl History {
    /// A branch of a session that is gone on with: its entries, and of the whole session every id of
    /// a call and the highest of an entry.
    pub(super) fn of(entries: Vec<Arc<Entry>>, call_ids: HashSet<CallId>, last_id: u64) -> Self {
        Self { entries, call_ids, last_id }
    }

    /// Makes an entry that follows the newest one, appends it and returns it.
    pub fn append(&mut self, role: Role, origin: Origin, blocks: Vec<Block>) -> Arc<Entry> {
        self.last_id += 1;
        let entry = Arc::new(Entry {
            id: EntryId(self.last_id),
            parent: self.head(),
            role,
            origin,
            blocks,
        });
        self.call_ids.extend(entry.calls().map(|call| call.id.clone()));
        self.entries.push(entry.clone());
        entry
    }

    /// Starts a new branch: the next entry has no parent.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Id of the newest entry.
    pub fn head(&self) -> Option<EntryId> {
        self.entries.last().map(|entry| entry.id)
    }

    /// An id for a command of the user's own, used by no call of this session.
    pub fn own_call_id(&mut self) -> CallId {
        let mut number = 1;
        loop {
            let id = CallId(format!("own_{number}"));
            if self.call_ids.insert(id.clone()) {
                return id;
            }
            number += 1;
        }
    }

    /// Whether a call of this session, on any branch, has the id.
    pub fn has_call(&self, id: &CallId) -> bool {
        self.call_ids.contains(id)
    }

    /// The entries, oldest first.
    pub fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }
}

/// Why a strict server would refuse a history.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// A call without its one result right after it.
    #[error("entry {0:?}: call {1} is not answered right after it, in order")]
    Unanswered(EntryId, CallId),
    /// A result that answers nothing.
    #[error("entry {0:?}: result for {1}, which no call before it asks for")]
    Orphan(EntryId, CallId),
    /// An id used by two calls.
    #[error("entry {0:?}: call id {1} was used before")]
    DuplicateId(EntryId, CallId),
    /// An entry without content, or with an empty block.
    #[error("entry {0:?} is empty or has an empty block")]
    Empty(EntryId),
}

/// Checks the invariants that every way out of the loop must leave intact.
///
/// # Errors
/// The first [`Violation`], if there is one.
pub fn check(entries: &[Arc<Entry>]) -> Result<(), Violation> {
    let mut seen = HashSet::new();
    let mut open: Vec<(EntryId, CallId)> = Vec::new();
    for entry in entries {
        let empty = |block: &Block| match block {
            Block::Text(text) => text.trim().is_empty(),
            Block::Reasoning(reasoning) => {
                reasoning.text.trim().is_empty() && reasoning.opaque.is_none()
            }
            Block::Result(result) => result.text.is_empty(),
            Block::Call(_) | Block::Opaque(_) => false,
        };
        if entry.blocks.is_empty() || entry.blocks.iter().any(empty) {
            return Err(Violation::Empty(entry.id));
        }
        if let Some(result) = entry.result() {
            if open.first().is_none_or(|(_, call)| *call != result.call) {
                return Err(Violation::Orphan(entry.id, result.call.clone()));
            }
            open.remove(0);
            continue;
        }
        if let Some((id, call)) = open.first() {
            return Err(Violation::Unanswered(*id, call.clone()));
        }
        for call in entry.calls() {
            if !seen.insert(call.id.clone()) {
                return Err(Violation::DuplicateId(entry.id, call.id.clone()));
            }
            open.push((entry.id, call.id.clone()));
        }
    }
    match open.first() {
        Some((id, call)) => Err(Violation::Unanswered(*id, call.clone())),
        None => Ok(()),
    }
}
