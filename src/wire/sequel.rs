//! What the model said right after an entry of its own, a server having paused in it. To Anthropic
//! both are one message: a call that the server runs itself may have its result in the next entry,
//! or still wait for it.

use crate::conversation::{Block, Entry, EntryId, Role};

/// The entries that carry on an entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sequel<'a> {
    entries: &'a [&'a Entry],
    /// Whether nothing else follows: the server is asked to go on.
    open: bool,
}

/// What tells one sequel of an entry from another.
pub(super) type Key = (Option<EntryId>, bool);

impl<'a> Sequel<'a> {
    /// Of the entry at the head of the rest of what is told.
    pub(super) fn of(rest: &'a [&'a Entry]) -> Self {
        let run = rest.iter().take_while(|entry| entry.role == Role::Assistant).count();
        let entries = rest.get(1..run).unwrap_or_default();
        Self { entries, open: run > 0 && run == rest.len() }
    }

    pub(super) fn key(self) -> Key {
        (self.entries.first().map(|entry| entry.id), self.open)
    }

    pub(super) fn is_open(self) -> bool {
        self.open
    }

    pub(super) fn blocks(self) -> impl Iterator<Item = &'a Block> {
        self.entries.iter().flat_map(|entry| &entry.blocks)
    }
}
