//! The conversation laid out, as far as it is near what is in sight. An item is laid out once for a
//! width, and again when it is folded or unfolded. Of one that is far away, how many rows it has is a
//! guess: when it comes near, what is in sight stays where it is.

use std::ops::Range;

use super::item::{self, Manner};
use super::matches::Matches;
use super::{At, Conversation, Live};
use crate::conversation::Session;
use crate::text;
use crate::text::say;
use crate::tui::markdown::{Growing, Style};
use crate::tui::rows::Rows;
use crate::tui::scroll::Measure;
use crate::tui::theme::Look;

/// What is laid out already.
#[derive(Debug, Default)]
pub(in crate::tui) struct Layout {
    width: u16,
    as_written: bool,
    /// How many overlays it knows of.
    overlays: u64,
    changes: u64,
    pub(super) items: Vec<Laid>,
    /// The row at which each item starts.
    pub(super) starts: Vec<usize>,
    /// Rows that came or went with the last update in items that were there already.
    pub(super) shift: isize,
    /// Rows of all items.
    pub(super) total: usize,
    pub(super) live: LiveLaid,
    pub(super) matches: Matches,
}

#[derive(Debug)]
pub(super) struct Laid {
    /// Whether a row that is made anew each time stands above the others.
    pub(super) live_row: bool,
    pub(super) rows: Rows,
    /// Its rows without the blank ones before and after them.
    body: Range<usize>,
    /// How many rows it is taken to have before it is laid out.
    guess: Option<usize>,
    open: bool,
    has_result: bool,
}

#[derive(Debug, Default)]
pub(super) struct LiveLaid {
    number: u64,
    head: Rows,
    reasoning: Growing,
    text: Growing,
    calls: Rows,
}

/// What stays where it is on the screen when rows come and go.
#[derive(Debug, Clone, Copy)]
struct Anchor {
    item: usize,
    row: usize,
    /// The place in the item's source that the row shows, where rows are made anew.
    source: Option<usize>,
    /// Rows of the screen above it.
    above: usize,
}

/// What is laid out, and of what.
#[derive(Clone, Copy)]
struct Of<'a> {
    conversation: &'a Conversation,
    session: &'a Session,
}

impl Layout {
    /// Rows in all.
    pub(super) fn len(&self) -> usize {
        self.total + self.live.len()
    }

    /// The item that a row belongs to.
    pub(super) fn item_of(&self, row: usize) -> usize {
        self.starts.partition_point(|start| *start <= row).saturating_sub(1)
    }

    /// The rows of what keys can be about, but for blank ones before and after; empty if they cannot.
    pub(super) fn body(&self, conversation: &Conversation, at: At) -> Range<usize> {
        let At::Item(item) = at else { return self.total..self.len() };
        let can = conversation.items.get(item).is_some_and(|placed| placed.item.can_be_at_hand());
        let laid = self.items.get(item).filter(|_| can);
        laid.map_or(0..0, |laid| {
            let start = self.starts[item];
            start + laid.body.start..start + laid.body.end
        })
    }

    /// What keys can be about after something.
    pub(super) fn after(&self, conversation: &Conversation, at: At) -> Option<At> {
        let At::Item(item) = at else { return None };
        let items = (item + 1..self.items.len()).map(At::Item);
        items.chain([At::Arriving]).find(|at| !self.body(conversation, *at).is_empty())
    }

    /// What keys can be about before something.
    pub(super) fn before(&self, conversation: &Conversation, at: At) -> Option<At> {
        let item = match at {
            At::Item(item) => item,
            At::Arriving => self.items.len(),
        };
        (0..item).rev().map(At::Item).find(|at| !self.body(conversation, *at).is_empty())
    }

    /// Brings the layout up to date for a pane of this size: what is in sight, two screens around it and
    /// where the next steps lead, or everything. Returns what is in sight.
    pub(super) fn update(
        &mut self,
        conversation: &Conversation,
        session: &Session,
        (width, height): (u16, u16),
        everything: bool,
    ) -> Measure {
        let of = Of { conversation, session };
        let height = usize::from(height);
        let manner = (width, conversation.as_written, conversation.overlays);
        let anew = manner != (self.width, self.as_written, self.overlays);
        let changed = self.changes != conversation.changes;
        let (known, rows) = (self.items.len(), self.total);
        let anchor = self.anchor(conversation, height, anew || changed);
        if anew {
            let (width, as_written, overlays) = manner;
            *self = Self { width, as_written, overlays, ..Self::default() };
        } else if changed {
            self.forget_changed(conversation);
        }
        self.changes = conversation.changes;
        for at in self.items.len()..conversation.items.len() {
            let laid = if anew { self.guess(conversation, at) } else { self.lay_out(of, at) };
            self.items.push(laid);
        }
        self.live.update(conversation, width);
        let steps = conversation.steps.unsigned_abs();
        let near = if everything { usize::MAX } else { (2 + steps).saturating_mul(height) };
        let top = self.top(of, anchor, near);
        let now = self.starts.get(known).copied().unwrap_or(self.total);
        self.shift = now.cast_signed() - rows.cast_signed();
        let total = self.len();
        let last = total.saturating_sub(height);
        Measure { top: top.map_or(last, |top| top.min(last)), total, height }
    }

    /// What stays in its place; nothing where the end is followed.
    fn anchor(&self, conversation: &Conversation, height: usize, anew: bool) -> Option<Anchor> {
        if !conversation.scroll.is_moved() && conversation.wanted.is_none() {
            return None;
        }
        let top = conversation.scroll.measure(self.len(), height).top;
        // An item that was folded or unfolded, or that a key went to.
        if let Some(item) = conversation.wanted {
            let start = self.starts.get(item);
            let above = start.and_then(|start| start.checked_sub(top)).filter(|row| *row < height);
            return Some(Anchor { item, row: 0, source: None, above: above.unwrap_or(0) });
        }
        let item = self.item_of(top);
        let row = top - self.starts.get(item).copied().unwrap_or(0);
        let Some(laid) = self.items.get(item).filter(|laid| row < laid.len()) else {
            let (item, row) = (self.items.len(), top - self.total);
            return Some(Anchor { item, row, source: None, above: 0 });
        };
        let source = row.checked_sub(usize::from(laid.live_row)).filter(|_| anew);
        let source = source.and_then(|row| laid.rows.source_of(row)).filter(|source| *source > 0);
        Some(Anchor { item, row, source, above: 0 })
    }

    /// Lays out what comes near, and finds the first row in sight; `None` is the end.
    fn top(&mut self, of: Of<'_>, anchor: Option<Anchor>, near: usize) -> Option<usize> {
        let count = self.items.len();
        let Some(Anchor { item, row, source, above }) = anchor else {
            self.lay_out_some(of, (0..count).rev(), near.saturating_mul(2));
            self.place();
            return None;
        };
        self.lay_out_some(of, item..count.min(item + 1), 1);
        let row = match (self.items.get(item), source) {
            (Some(laid), Some(source)) => {
                laid.rows.row_of_source(source) + usize::from(laid.live_row)
            }
            (Some(laid), None) => row.min(laid.len().saturating_sub(1)),
            (None, _) => row,
        };
        self.lay_out_some(of, item..count, near.saturating_add(row));
        self.lay_out_some(of, (0..item.min(count)).rev(), near.saturating_add(above));
        self.place();
        let start = self.starts.get(item).copied().unwrap_or(self.total);
        Some((start + row).saturating_sub(above))
    }

    /// Lays out one item after the other until they have so many rows.
    fn lay_out_some(&mut self, of: Of<'_>, items: impl Iterator<Item = usize>, rows: usize) {
        let mut left = rows;
        for at in items {
            if left == 0 {
                break;
            }
            if self.items[at].guess.is_some() {
                self.items[at] = self.lay_out(of, at);
                self.starts.truncate(at);
                self.matches.forget(at);
            }
            left = left.saturating_sub(self.items[at].len());
        }
    }

    /// Finds where items start whose place is not known any more.
    fn place(&mut self) {
        let mut start = self.starts.pop().unwrap_or(0);
        for laid in &self.items[self.starts.len()..] {
            self.starts.push(start);
            start += laid.len();
        }
        self.total = start;
    }

    fn forget_changed(&mut self, conversation: &Conversation) {
        for at in 0..self.items.len() {
            let placed = &conversation.items[at];
            let laid = &self.items[at];
            let has_result = has_result(conversation, at);
            if laid.open != placed.is_open() || (laid.open && laid.has_result != has_result) {
                self.items[at] = self.guess(conversation, at);
                self.starts.truncate(at);
                self.matches.forget(at);
            }
        }
    }

    /// An item that is not laid out.
    fn guess(&self, conversation: &Conversation, at: usize) -> Laid {
        let placed = &conversation.items[at];
        let live_row = placed.item.has_live_row();
        let guess = placed.item.source().len() / usize::from(self.width.max(1)) + 1;
        Laid {
            live_row,
            rows: Rows::default(),
            body: 0..guess + usize::from(live_row),
            guess: Some(guess),
            open: placed.is_open(),
            has_result: has_result(conversation, at),
        }
    }

    fn lay_out(&self, Of { conversation, session }: Of<'_>, at: usize) -> Laid {
        let placed = &conversation.items[at];
        let manner = Manner {
            width: self.width,
            first: at == 0,
            open: placed.is_open(),
            as_written: self.as_written,
        };
        let result = placed.item.call().and_then(|call| conversation.results.get(call));
        let live_row = placed.item.has_live_row();
        let rows = item::rows(&placed.item, manner, session, result.map(|entry| &**entry));
        let body = rows.without_blanks();
        let above = usize::from(live_row);
        Laid {
            live_row,
            body: if live_row { 0..body.end + above } else { body },
            rows,
            guess: None,
            open: placed.is_open(),
            has_result: result.is_some(),
        }
    }
}

fn has_result(conversation: &Conversation, at: usize) -> bool {
    let call = conversation.items[at].item.call();
    call.is_some_and(|call| conversation.results.contains_key(call))
}

impl Laid {
    pub(super) fn len(&self) -> usize {
        usize::from(self.live_row) + self.guess.unwrap_or(self.rows.len())
    }
}

impl LiveLaid {
    fn update(&mut self, conversation: &Conversation, width: u16) {
        if self.number != conversation.live_number {
            *self = Self { number: conversation.live_number, ..Self::default() };
        }
        let Live { reasoning, text, calls, .. } = &conversation.live;
        if !conversation.headed && conversation.is_streaming() && self.head.len() == 0 {
            self.head.push(say!("model"), Look::Model, 0, width);
        }
        self.reasoning.lay_out(reasoning, Style::Plain(Look::Dim), width);
        self.text.lay_out(text, item::message_style(conversation.as_written), width);
        self.calls = Rows::default();
        for (name, bytes) in calls {
            let name = if name.is_empty() { say!("call") } else { name };
            let bytes = text::bytes(*bytes as u64);
            let line = say!("… {name} · arriving, {bytes}", name = name, bytes = bytes);
            self.calls.push(&line, Look::Dim, 1, width);
        }
    }

    pub(super) fn segments(&self) -> [&Rows; 4] {
        [&self.head, self.reasoning.rows(), self.text.rows(), &self.calls]
    }

    pub(super) fn len(&self) -> usize {
        self.segments().iter().map(|rows| rows.len()).sum()
    }
}
