//! What a search found in the conversation, item by item.

use std::ops::Range;

use super::item::Item;
use super::layout::Layout;
use super::{At, Conversation};
use crate::conversation::Session;
use crate::tui::rows::Places;
use crate::tui::scroll::Measure;
use crate::tui::search::{Found, Search, holds};

/// The matches in the items that are laid out, and in the reply that is arriving.
#[derive(Debug, Default)]
pub(super) struct Matches {
    needle: String,
    pub(super) items: Vec<InItem>,
    /// For each segment of the reply that is arriving.
    pub(super) live: Vec<Places>,
    /// The match that the search is at.
    here: Option<Place>,
}

/// The matches in one item.
#[derive(Debug, Default)]
pub(super) struct InItem {
    /// Whether the row that is made anew each time holds one.
    pub(super) live_row: bool,
    pub(super) rows: Places,
}

/// Where a match is: of which item or segment, and the how manieth there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    LiveRow(usize),
    Item(usize, usize),
    Live(usize, usize),
}

impl Matches {
    /// Forgets what was found from this item on.
    pub(super) fn forget(&mut self, from: usize) {
        self.items.truncate(from);
    }

    /// Finds what is new, and chooses the match to be at.
    pub(super) fn update(
        layout: &mut Layout,
        conversation: &Conversation,
        session: &Session,
        search: Option<&Search>,
        measure: &mut Measure,
    ) -> (Option<Found>, Option<At>) {
        let needle = search.map_or("", Search::needle);
        let mut matches = std::mem::take(&mut layout.matches);
        if matches.needle != needle {
            matches = Self { needle: needle.to_owned(), ..Self::default() };
        }
        matches.here = None;
        let Some(search) = search.filter(|_| !needle.is_empty()) else {
            layout.matches = Self::default();
            return (search.map(|_| Found::default()), None);
        };
        for at in matches.items.len()..layout.items.len() {
            let live_row = live_row_text(&conversation.items[at].item, session);
            matches.items.push(InItem {
                live_row: live_row.is_some_and(|text| holds(&text, needle)),
                rows: layout.items[at].rows.find(needle),
            });
        }
        matches.live = layout.live.segments().iter().map(|rows| rows.find(needle)).collect();
        let places = matches.places(layout);
        let rows: Vec<usize> = places.iter().map(|(row, _)| *row).collect();
        let found = search.choose(&rows, measure);
        matches.here = places.get(found.here).map(|(_, place)| *place);
        let went_to = match matches.here {
            _ if !found.moved => None,
            Some(Place::LiveRow(at) | Place::Item(at, _)) => Some(At::Item(at)),
            Some(Place::Live(..)) => Some(At::Arriving),
            None => None,
        };
        layout.matches = matches;
        (Some(found), went_to)
    }

    fn places(&self, layout: &Layout) -> Vec<(usize, Place)> {
        let mut places = Vec::new();
        for (at, found) in self.items.iter().enumerate() {
            let (start, laid) = (layout.starts[at], &layout.items[at]);
            if found.live_row {
                places.push((start, Place::LiveRow(at)));
            }
            let start = start + usize::from(laid.live_row);
            for (nth, row) in found.rows.rows.iter().enumerate() {
                places.push((start + row, Place::Item(at, nth)));
            }
        }
        let mut start = layout.total;
        for (at, rows) in layout.live.segments().iter().enumerate() {
            for (nth, row) in self.live[at].rows.iter().enumerate() {
                places.push((start + row, Place::Live(at, nth)));
            }
            start += rows.len();
        }
        places
    }

    /// What was found in an item, and which of that the search is at.
    pub(super) fn in_item(&self, at: usize) -> (&[Range<usize>], Option<usize>) {
        let found = self.items.get(at).map_or(&[][..], |found| &found.rows.places);
        let here = match self.here {
            Some(Place::Item(item, nth)) if item == at => Some(nth),
            _ => None,
        };
        (found, here)
    }

    /// Whether the row of an item that is made anew holds a match, and whether the search is there.
    pub(super) fn in_live_row(&self, at: usize) -> Option<bool> {
        let found = self.items.get(at).is_some_and(|found| found.live_row);
        found.then(|| self.here == Some(Place::LiveRow(at)))
    }

    /// What was found in a segment of the reply that is arriving.
    pub(super) fn in_live(&self, at: usize) -> (&[Range<usize>], Option<usize>) {
        let found = self.live.get(at).map_or(&[][..], |found| &found.places);
        let here = match self.here {
            Some(Place::Live(segment, nth)) if segment == at => Some(nth),
            _ => None,
        };
        (found, here)
    }
}

/// What stands in a row that is made anew each time, as far as it can be looked for.
fn live_row_text(item: &Item, session: &Session) -> Option<String> {
    match item {
        Item::Turn { posted, roles, .. } => Some(format!("{posted}: {}", roles.in_order)),
        Item::Call(id) => {
            let log = session.calls.get(id)?;
            Some(format!("{} {}", log.proposed.name, super::super::call::first_line(log)))
        }
        _ => None,
    }
}
