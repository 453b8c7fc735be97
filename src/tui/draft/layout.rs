//! How a draft's lines become rows on the screen, and where the cursor stands in them.
//!
//! Rows are one column narrower than the area, so that there is always a cell for the cursor after
//! the last grapheme. Spaces that a row has no room for hang: the cursor waits at the row's end.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use unicode_segmentation::UnicodeSegmentation as _;

use super::Direction;
use super::buffer::{Line, Place, Text};
use super::chips::{Chips, holds_mark};
use crate::text::{Show, visible, width, wrap};

/// Columns between tab stops.
const TAB: usize = 4;

/// One line as it is shown at one width.
#[derive(Debug)]
pub(super) struct Layout {
    columns: usize,
    /// Only when it is not the line itself.
    shown: Option<Shown>,
    /// In bytes of what is shown.
    rows: Vec<Range<usize>>,
}

/// A line with what cannot be seen in it made visible.
#[derive(Debug)]
struct Shown {
    text: String,
    /// For each grapheme of the line: where it begins there, and where here.
    starts: Vec<(usize, usize)>,
}

impl Layout {
    fn new(line: &str, columns: usize, chips: &Chips) -> Self {
        let shown = Shown::new(line, chips);
        let rows = wrap(shown.as_ref().map_or(line, |shown| &shown.text), columns);
        Self { columns, shown, rows }
    }

    fn text<'a>(&'a self, line: &'a str) -> &'a str {
        self.shown.as_ref().map_or(line, |shown| &shown.text)
    }

    /// Where a byte of the line stands in what is shown.
    fn shown_at(&self, at: usize) -> usize {
        let Some(shown) = &self.shown else { return at };
        let next = shown.starts.partition_point(|(line, _)| *line < at);
        shown.starts.get(next).map_or(shown.text.len(), |(_, here)| *here)
    }

    /// The byte of the line whose grapheme covers a byte of what is shown.
    fn line_at(&self, here: usize, line: &str) -> usize {
        let Some(shown) = &self.shown else { return here };
        if here >= shown.text.len() {
            return line.len();
        }
        let next = shown.starts.partition_point(|(_, start)| *start <= here);
        shown.starts.get(next.saturating_sub(1)).map_or(0, |(at, _)| *at)
    }

    /// The row of a byte of what is shown.
    fn row_of(&self, here: usize) -> usize {
        self.rows.partition_point(|row| row.start <= here).saturating_sub(1)
    }
}

impl Shown {
    fn new(line: &str, chips: &Chips) -> Option<Self> {
        if let (false, Cow::Borrowed(_)) = (holds_mark(line), visible(line, Show::Prose)) {
            return None;
        }
        let mut text = String::new();
        let mut starts = Vec::new();
        let mut column = 0;
        for (at, grapheme) in line.grapheme_indices(true) {
            starts.push((at, text.len()));
            let before = text.len();
            let label =
                grapheme.chars().next().and_then(|first| Some((first, chips.label(first)?)));
            if let Some((mark, label)) = label {
                text.push_str(&label);
                text.push_str(&visible(&grapheme[mark.len_utf8()..], Show::Prose));
            } else if grapheme == "\t" {
                text.extend(std::iter::repeat_n(' ', TAB - column % TAB));
            } else {
                text.push_str(&visible(grapheme, Show::Prose));
            }
            column += width(&text[before..]);
        }
        Some(Self { text, starts })
    }
}

/// Where the draft was last shown: how wide, and from which row on.
#[derive(Debug)]
pub(super) struct View {
    width: Cell<u16>,
    top: Cell<usize>,
}

impl Default for View {
    fn default() -> Self {
        Self { width: Cell::new(80), top: Cell::new(0) }
    }
}

impl View {
    fn with<T>(&self, text: &Text, line: &Line, read: impl FnOnce(&Layout) -> T) -> T {
        let columns = usize::from(self.width.get().saturating_sub(1).max(1));
        let mut kept = line.layout.borrow_mut();
        let layout = match kept.take() {
            Some(layout) if layout.columns == columns => layout,
            _ => Layout::new(&line.text, columns, text.chips()),
        };
        read(kept.insert(layout))
    }

    /// Rows of the whole text at a width.
    pub(super) fn rows(&self, text: &Text, width: u16) -> usize {
        self.width.set(width);
        text.lines().iter().map(|line| self.with(text, line, |layout| layout.rows.len())).sum()
    }

    /// The row in its line, and the column, of a place.
    fn spot(&self, text: &Text, place: Place) -> (usize, usize) {
        let Some(line) = text.lines().get(place.line) else { return (0, 0) };
        self.with(text, line, |layout| {
            let here = layout.shown_at(place.at);
            let row = layout.row_of(here);
            let range = layout.rows[row].clone();
            let before = &layout.text(&line.text)[range.start..here.min(range.end)];
            (row, width(before))
        })
    }

    /// The column of a place on the screen.
    pub(super) fn column(&self, text: &Text, place: Place) -> usize {
        self.spot(text, place).1
    }

    /// The place in the row above or below that is nearest to a column; `None` when there is no such row.
    pub(super) fn beside(
        &self,
        text: &Text,
        place: Place,
        direction: Direction,
        column: usize,
    ) -> Option<Place> {
        let (row, _) = self.spot(text, place);
        let rows_of = |line: usize| {
            text.lines().get(line).map(|line| self.with(text, line, |l| l.rows.len()))
        };
        let (line, row) = match direction {
            Direction::Back if row > 0 => (place.line, row - 1),
            Direction::Back => {
                let line = place.line.checked_sub(1)?;
                (line, rows_of(line)?.saturating_sub(1))
            }
            Direction::Forward if row + 1 < rows_of(place.line)? => (place.line, row + 1),
            Direction::Forward => (place.line + 1, rows_of(place.line + 1).map(|_| 0)?),
        };
        let source = text.lines().get(line)?;
        let at = self.with(text, source, |layout| {
            let range = layout.rows[row].clone();
            let mut here = range.start;
            let mut used = 0;
            for (at, grapheme) in layout.text(&source.text)[range.clone()].grapheme_indices(true) {
                used += width(grapheme);
                here = range.start + at;
                if used > column {
                    break;
                }
                let next = here + grapheme.len();
                // The end of a row that goes on below is already the start of the next.
                if next < range.end || layout.rows.get(row + 1).is_none_or(|r| r.start > next) {
                    here = next;
                }
            }
            layout.line_at(here, &source.text)
        });
        Some(Place { line, at })
    }

    /// The row and the column of the cursor.
    fn cursor(&self, text: &Text, cursor: Place) -> (usize, usize) {
        let above = text.lines()[..cursor.line].iter();
        let above = above.map(|line| self.with(text, line, |layout| layout.rows.len()));
        let (row, column) = self.spot(text, cursor);
        (above.sum::<usize>() + row, column)
    }

    /// The row of the cursor, from 1, and how many there are.
    pub(super) fn place(&self, text: &Text, cursor: Place) -> (usize, usize) {
        (self.cursor(text, cursor).0 + 1, self.rows(text, self.width.get()))
    }

    /// Draws the rows around the cursor; returns the cell of the hardware cursor.
    pub(super) fn draw(
        &self,
        text: &Text,
        cursor: Place,
        area: Rect,
        buf: &mut Buffer,
        style: Style,
    ) -> Option<Position> {
        if area.is_empty() {
            return None;
        }
        self.width.set(area.width);
        let height = usize::from(area.height);
        let (cursor_row, column) = self.cursor(text, cursor);
        let all = self.rows(text, area.width);
        let top = self
            .top
            .get()
            .min(cursor_row)
            .max((cursor_row + 1).saturating_sub(height))
            .min(all.saturating_sub(height));
        self.top.set(top);

        let mut first = 0; // row of the line's first row in the whole text
        let mut y = area.y;
        for line in text.lines() {
            let rows = self.with(text, line, |layout| {
                for range in layout.rows.iter().skip(top.saturating_sub(first)) {
                    if y >= area.bottom() {
                        break;
                    }
                    let row = &layout.text(&line.text)[range.clone()];
                    buf.set_stringn(area.x, y, row, usize::from(area.width), style);
                    y += 1;
                }
                layout.rows.len()
            });
            first += rows;
            if y >= area.bottom() {
                break;
            }
        }
        let x = u16::try_from(column).unwrap_or(u16::MAX).min(area.width - 1);
        let y = u16::try_from(cursor_row - top).unwrap_or(0);
        Some(Position::new(area.x + x, area.y + y))
    }
}
