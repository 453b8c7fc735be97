//! The conversation laid out. An item is laid out once for a width, and again when it is folded or
//! unfolded.

use std::ops::Range;

use super::item::{self, Manner};
use super::matches::Matches;
use super::{At, Conversation, Live};
use crate::conversation::Session;
use crate::text;
use crate::text::say;
use crate::tui::markdown::{Growing, Style};
use crate::tui::rows::Rows;
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

/// A place that stays in sight when rows come and go.
#[derive(Debug, Clone, Copy)]
struct Anchor {
    item: usize,
    row: usize,
    source: Option<usize>,
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

    /// Brings the layout up to date; returns the row that shows what `top` showed before.
    pub(super) fn update(
        &mut self,
        conversation: &Conversation,
        session: &Session,
        width: u16,
        top: usize,
    ) -> usize {
        let manner = (width, conversation.as_written, conversation.overlays);
        let anew = manner != (self.width, self.as_written, self.overlays);
        let (known, rows) = (self.items.len(), self.total);
        let anchor = (anew || self.changes != conversation.changes).then(|| self.anchor(top));
        if anew {
            let (width, as_written, overlays) = manner;
            let changes = conversation.changes;
            *self = Self { width, as_written, overlays, changes, ..Self::default() };
        }
        if self.changes != conversation.changes {
            self.changes = conversation.changes;
            self.lay_out_changed(conversation, session);
        }
        for at in self.items.len()..conversation.items.len() {
            let laid = self.lay_out(conversation, session, at);
            self.starts.push(self.total);
            self.total += laid.len();
            self.items.push(laid);
        }
        self.live.update(conversation, width);
        let now = self.starts.get(known).copied().unwrap_or(self.total);
        self.shift = now.cast_signed() - rows.cast_signed();
        anchor.flatten().map_or(top, |anchor| self.row_of(anchor))
    }

    fn anchor(&self, top: usize) -> Option<Anchor> {
        let item = self.item_of(top);
        let laid = self.items.get(item)?;
        let row = top - self.starts[item];
        let source = row.checked_sub(usize::from(laid.live_row));
        let source = source.and_then(|row| laid.rows.source_of(row)).filter(|source| *source > 0);
        Some(Anchor { item, row, source })
    }

    fn row_of(&self, Anchor { item, row, source }: Anchor) -> usize {
        let Some(laid) = self.items.get(item) else { return 0 };
        let row = match source {
            Some(source) => laid.rows.row_of_source(source) + usize::from(laid.live_row),
            None => row,
        };
        self.starts[item] + row.min(laid.len().saturating_sub(1))
    }

    fn lay_out_changed(&mut self, conversation: &Conversation, session: &Session) {
        self.total = 0;
        for at in 0..self.items.len() {
            let placed = &conversation.items[at];
            let has_result = has_result(conversation, at);
            let laid = &self.items[at];
            if laid.open != placed.is_open() || (laid.open && laid.has_result != has_result) {
                self.items[at] = self.lay_out(conversation, session, at);
                self.matches.forget(at);
            }
            self.starts[at] = self.total;
            self.total += self.items[at].len();
        }
    }

    fn lay_out(&self, conversation: &Conversation, session: &Session, at: usize) -> Laid {
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
        usize::from(self.live_row) + self.rows.len()
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
