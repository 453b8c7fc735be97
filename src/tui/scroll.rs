//! Where a pane stands in a list of rows that may grow. How long the list is, only drawing knows;
//! it tells the position afterwards ([`Scroll::measured`]).

use super::keymap::Action;
use crate::text::say;

/// What drawing found out about a scrolled list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Measure {
    /// First row shown.
    pub(super) top: usize,
    /// Rows in all.
    pub(super) total: usize,
    /// Rows that fit.
    pub(super) height: usize,
}

impl Measure {
    /// Which rows of how many are shown, in words; `None` if all are.
    pub(super) fn position(self, what: &str) -> Option<String> {
        let last = (self.top + self.height).min(self.total);
        let some = self.total > self.height && self.height > 0;
        some.then(|| {
            say!(
                "{what} {first}–{last} of {total}",
                what = what,
                first = self.top + 1,
                last = last,
                total = self.total
            )
        })
    }

    /// Whether there is more than is shown.
    pub(super) fn scrolls(self) -> bool {
        self.total > self.height
    }

    /// Whether the last row is on the screen.
    pub(super) fn at_end(self) -> bool {
        self.top + self.height >= self.total
    }
}

/// A position in a list of rows.
#[derive(Debug, Clone)]
pub(super) struct Scroll {
    /// The first row shown; `None` stays with the end.
    top: Option<usize>,
    /// Whether reaching the end means to stay with it.
    follows: bool,
    seen: Measure,
    /// Rows there were when the end was left.
    left_at: usize,
}

impl Scroll {
    /// Stays with the end until it is moved.
    pub(super) fn following() -> Self {
        Self { top: None, follows: true, seen: Measure::default(), left_at: 0 }
    }

    /// Starts at the top and stays where it is put.
    pub(super) fn from_top() -> Self {
        Self { top: Some(0), follows: false, seen: Measure::default(), left_at: 0 }
    }

    /// What of a list of `total` rows is shown in `height` rows.
    pub(super) fn measure(&self, total: usize, height: usize) -> Measure {
        let last = total.saturating_sub(height);
        Measure { top: self.top.map_or(last, |top| top.min(last)), total, height }
    }

    /// Takes over what was drawn.
    pub(super) fn measured(&mut self, measure: Measure) {
        if self.top.is_some() {
            self.top = Some(measure.top).filter(|_| !(self.follows && measure.at_end()));
        }
        self.seen = measure;
    }

    /// Takes over what was drawn, and whether it stands there or stays with the end.
    pub(super) fn stands(&mut self, measure: Measure, stands: bool) {
        if self.top.is_none() {
            self.left_at = measure.total;
        }
        self.top = stands.then_some(measure.top);
        self.seen = measure;
    }

    /// Rows that came in below since the end was left; 0 at the end.
    pub(super) fn news(&self, total: usize) -> usize {
        if self.top.is_some() { total.saturating_sub(self.left_at) } else { 0 }
    }

    /// Whether it stands somewhere rather than staying with the end.
    pub(super) fn is_moved(&self) -> bool {
        self.top.is_some()
    }

    /// Rows came or went in what was there already: that is not new.
    pub(super) fn shifted(&mut self, by: isize) {
        self.left_at = self.left_at.saturating_add_signed(by);
    }

    /// Stays where it is, also if it was staying with the end.
    pub(super) fn stand(&mut self) {
        if self.top.is_none() {
            self.left_at = self.seen.total;
            self.top = Some(self.seen.total.saturating_sub(self.seen.height));
        }
    }

    /// Moves by rows; negative is up.
    pub(super) fn by(&mut self, rows: isize) {
        let last = self.seen.total.saturating_sub(self.seen.height);
        let top = self.top.unwrap_or(last).min(last).saturating_add_signed(rows).min(last);
        let was_at_end = self.top.is_none();
        if was_at_end {
            self.left_at = self.seen.total;
        }
        // Only what goes on comes to the end.
        let stays = self.follows && top == last && (rows > 0 || was_at_end);
        self.top = if stays { None } else { Some(top) };
    }

    /// Moves by screens, keeping one row in common where there are enough.
    pub(super) fn pages(&mut self, pages: isize) {
        let common = usize::from(self.seen.height > 3);
        let page = isize::try_from((self.seen.height - common).max(1)).unwrap_or(1);
        self.by(pages.saturating_mul(page));
    }

    /// Takes a key that moves.
    pub(super) fn act(&mut self, action: Action) {
        match action {
            Action::Up => self.by(-1),
            Action::Down => self.by(1),
            Action::PageUp => self.pages(-1),
            Action::PageDown => self.pages(1),
            Action::Start => self.go_to_start(),
            Action::End => self.go_to_end(),
            _ => {}
        }
    }

    /// Moves to the first row.
    pub(super) fn go_to_start(&mut self) {
        self.by(isize::MIN);
    }

    /// Moves to the last row.
    pub(super) fn go_to_end(&mut self) {
        self.by(isize::MAX);
    }
}
