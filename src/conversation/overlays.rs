//! What is sent in entries' places, and what a history with overlays comes to: still one that a
//! strict server takes.
//!
//! Three rules keep it so. Results are left out with the reply that asked for them. A result that is
//! left out alone is answered with a short text, since a call without its result is refused. Where
//! leaving out makes two speakers of one side meet, a short text of the other side stands between.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Block, CallResult, Entry, EntryId, Origin, Overlay, Role};

/// Told in the place of a result that is left out.
const NO_RESULT: &str = "[This result was left out.]";
/// Told in the place of the user's messages.
const NO_MESSAGE: &str = "[A message was left out here.]";
/// Told in the place of the model's replies.
const NO_REPLY: &str = "[A reply was left out here.]";

/// The overlays in force; an entry without one is sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overlays(HashMap<EntryId, Overlay>);

impl Overlays {
    /// Puts an overlay on an entry, in place of the one before.
    pub fn set(&mut self, entry: EntryId, overlay: Overlay) {
        match overlay {
            Overlay::Sent => drop(self.0.remove(&entry)),
            other => drop(self.0.insert(entry, other)),
        }
    }

    /// What is sent in an entry's place.
    pub fn of(&self, entry: EntryId) -> &Overlay {
        self.0.get(&entry).unwrap_or(&Overlay::Sent)
    }

    /// The entries that are not sent as they are, in no order.
    pub fn entries(&self) -> impl Iterator<Item = EntryId> + '_ {
        self.0.keys().copied()
    }
}

/// What becomes of an entry, or what stands between two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told<'a> {
    /// It is told as it is.
    Whole(&'a Arc<Entry>),
    /// It is told with another text.
    Altered(Entry),
    /// It is not told.
    NotSent(&'a Arc<Entry>),
    /// A text stands where entries are not told.
    Placeholder(Entry),
}

impl Told<'_> {
    /// What goes to the model, if anything does.
    pub fn entry(&self) -> Option<&Entry> {
        match self {
            Self::Whole(entry) => Some(entry),
            Self::Altered(entry) | Self::Placeholder(entry) => Some(entry),
            Self::NotSent(_) => None,
        }
    }
}

/// What the model is told of a history, in order.
pub fn told<'a>(history: &'a [Arc<Entry>], overlays: &Overlays) -> Vec<Told<'a>> {
    let mut told = Vec::with_capacity(history.len());
    // Before the first message stands, as it were, the model: the user speaks first.
    let mut last = Side::Model;
    let mut skipped: Vec<(Side, EntryId)> = Vec::new();
    let mut calls_left_out = false;
    for entry in history {
        let is_result = entry.role == Role::Tool;
        let sent = if is_result && calls_left_out {
            Told::NotSent(entry)
        } else {
            with(entry, overlays.of(entry.id))
        };
        let is_sent = !matches!(sent, Told::NotSent(_));
        if !is_result {
            calls_left_out = !is_sent;
        }
        if let Some(side) = Side::of(entry.role) {
            if is_sent {
                let between = skipped.iter().find(|(other, _)| *other != side);
                if let Some((other, first)) = between.filter(|_| last == side) {
                    told.push(Told::Placeholder(other.placeholder(*first)));
                }
                skipped.clear();
                last = side;
            } else {
                skipped.push((side, entry.id));
            }
        }
        told.push(sent);
    }
    told
}

/// Whether what the model is told of a history ends with something that it has not answered, or with
/// the reply in which its server has `paused`.
pub fn awaits_reply(history: &[Arc<Entry>], overlays: &Overlays, paused: Option<EntryId>) -> bool {
    let told = told(history, overlays);
    let last = told.iter().rev().find_map(Told::entry);
    last.is_some_and(|entry| entry.awaits_reply() || paused == Some(entry.id))
}

/// Who speaks, as far as turns are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    User,
    Model,
}

impl Side {
    fn of(role: Role) -> Option<Self> {
        match role {
            Role::System => None,
            Role::User | Role::Tool => Some(Self::User),
            Role::Assistant => Some(Self::Model),
        }
    }

    fn placeholder(self, first: EntryId) -> Entry {
        let (role, text) = match self {
            Self::User => (Role::User, NO_MESSAGE),
            Self::Model => (Role::Assistant, NO_REPLY),
        };
        let blocks = vec![Block::Text(text.to_owned())];
        Entry { id: first, parent: None, role, origin: Origin::Repair, blocks }
    }
}

fn with<'a>(entry: &'a Arc<Entry>, overlay: &Overlay) -> Told<'a> {
    match overlay {
        Overlay::Sent => Told::Whole(entry),
        // An empty text would be refused.
        Overlay::Replaced { text, by } if !text.trim().is_empty() => {
            Told::Altered(with_text(entry, text, *by))
        }
        Overlay::LeftOut { .. } | Overlay::Replaced { .. } if entry.role == Role::Tool => {
            Told::Altered(with_text(entry, NO_RESULT, Origin::Repair))
        }
        Overlay::LeftOut { .. } | Overlay::Replaced { .. } => Told::NotSent(entry),
    }
}

/// The entry with another text; its calls, and what a server wants back unchanged, stay.
fn with_text(entry: &Entry, text: &str, origin: Origin) -> Entry {
    let mut blocks = Vec::with_capacity(entry.blocks.len() + 1);
    let mut unplaced = Some(Block::Text(text.to_owned()));
    for block in &entry.blocks {
        match block {
            Block::Text(_) => blocks.extend(unplaced.take()),
            Block::Result(result) => {
                unplaced = None;
                blocks.push(Block::Result(CallResult { text: text.to_owned(), ..result.clone() }));
            }
            Block::Call(_) => {
                blocks.extend(unplaced.take());
                blocks.push(block.clone());
            }
            Block::Reasoning(_) | Block::Opaque(_) => blocks.push(block.clone()),
        }
    }
    blocks.extend(unplaced);
    Entry { origin, blocks, ..entry.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{Call, CallId, History, check};

    /// `s` system, `u` user, `a` assistant, `c` assistant with a call, `t` its result.
    fn history(roles: &str) -> History {
        let mut history = History::default();
        let id = |number: usize| CallId(format!("c{number}"));
        for (number, role) in roles.chars().enumerate() {
            let text = Block::Text(format!("{role}{number}"));
            let call = |id| Call { id, name: "bash".to_owned(), arguments: String::new() };
            let result = |call| CallResult { call, text: format!("t{number}"), is_error: false };
            match role {
                's' => history.append(Role::System, Origin::System, vec![text]),
                'u' => history.append(Role::User, Origin::User, vec![text]),
                'a' => history.append(Role::Assistant, Origin::Model, vec![text]),
                'c' => {
                    let blocks = vec![text, Block::Call(call(id(number)))];
                    history.append(Role::Assistant, Origin::Model, blocks)
                }
                _ => {
                    let blocks = vec![Block::Result(result(id(number - 1)))];
                    history.append(Role::Tool, Origin::Tool, blocks)
                }
            };
        }
        history
    }

    /// What is told when the entries at these places are left out: a letter for each, `-` for what
    /// is not told, `x` for a result left out alone, capital letters for placeholders.
    fn shape(roles: &str, left_out: &[u64]) -> String {
        let history = history(roles);
        let mut overlays = Overlays::default();
        for place in left_out {
            overlays.set(EntryId(place + 1), Overlay::LeftOut { by: Origin::User });
        }
        let told = told(history.entries(), &overlays);
        let sent: Vec<Arc<Entry>> =
            told.iter().filter_map(Told::entry).cloned().map(Arc::new).collect();
        assert_eq!(check(&sent), Ok(()), "{roles} {left_out:?}");
        let letter = |told: &Told<'_>| match told {
            Told::Whole(entry) => {
                roles.chars().nth(usize::try_from(entry.id.0).unwrap() - 1).unwrap()
            }
            Told::Altered(_) => 'x',
            Told::NotSent(_) => '-',
            Told::Placeholder(entry) if entry.role == Role::User => 'U',
            Told::Placeholder(_) => 'A',
        };
        told.iter().map(letter).collect()
    }

    #[test]
    fn what_is_left_out_leaves_a_history_that_servers_take() {
        let cases: &[(&str, &[u64], &str)] = &[
            ("sua", &[], "sua"),
            // Results go with the reply that asked for them.
            ("suctau", &[2], "su--au"),
            ("suctua", &[2], "su--Aua"),
            ("suctct", &[2, 3], "su--ct"),
            // A result alone is answered.
            ("suct", &[3], "sucx"),
            // Nobody speaks twice in a row where somebody else had spoken.
            ("suaua", &[3], "sua-Ua"),
            ("suauau", &[2], "su-Auau"),
            ("suctau", &[4], "suct-Au"),
            ("suaua", &[1], "s-Uaua"),
            // A whole exchange needs nothing.
            ("suaua", &[1, 2], "s--ua"),
            ("suctaua", &[1, 2, 4], "s----ua"),
            ("sua", &[0], "-ua"),
            ("sua", &[1, 2], "s--"),
            // Who spoke twice may.
            ("suuua", &[2], "su-ua"),
        ];
        for (roles, left_out, expected) in cases {
            assert_eq!(shape(roles, left_out), *expected, "{roles} {left_out:?}");
        }
    }

    #[test]
    fn only_the_text_is_replaced() {
        let history = history("suct");
        let mut overlays = Overlays::default();
        let by = Origin::User;
        for (place, text) in [(1, "U"), (2, "C"), (3, "T")] {
            overlays.set(EntryId(place + 1), Overlay::Replaced { text: text.to_owned(), by });
        }
        let told = told(history.entries(), &overlays);
        let sent: Vec<&Entry> = told.iter().filter_map(Told::entry).collect();
        assert_eq!((sent[1].text(), sent[2].text()), ("U".to_owned(), "C".to_owned()));
        assert_eq!(sent[2].calls().count(), 1);
        assert_eq!(sent[3].result().unwrap().text, "T");
        assert_eq!(sent[3].origin, Origin::User);
        overlays.set(EntryId(2), Overlay::Replaced { text: " ".to_owned(), by });
        assert!(matches!(super::told(history.entries(), &overlays)[1], Told::NotSent(_)));
        overlays.set(EntryId(2), Overlay::Sent);
        assert!(matches!(super::told(history.entries(), &overlays)[1], Told::Whole(_)));
    }

    #[test]
    fn what_is_not_told_awaits_no_reply() {
        let history = history("suauct");
        let mut overlays = Overlays::default();
        let awaits =
            |overlays: &Overlays, len| awaits_reply(&history.entries()[..len], overlays, None);
        assert!(awaits(&overlays, 4) && awaits(&overlays, 6) && !awaits(&overlays, 3));
        overlays.set(EntryId(4), Overlay::LeftOut { by: Origin::User });
        assert!(!awaits(&overlays, 4));
        let paused = |len| awaits_reply(&history.entries()[..len], &overlays, Some(EntryId(3)));
        assert!(paused(3) && paused(4) && !awaits(&overlays, 3));
        overlays.set(EntryId(6), Overlay::LeftOut { by: Origin::User });
        assert!(awaits(&overlays, 6), "a result is answered");
        overlays.set(EntryId(5), Overlay::LeftOut { by: Origin::User });
        assert!(!awaits(&overlays, 6));
    }
}
