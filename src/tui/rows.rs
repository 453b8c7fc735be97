//! Untrusted text made safe, wrapped to a width and ready to be drawn from any row on.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_segmentation::UnicodeSegmentation as _;

use super::paint;
use super::search::{find, holds};
use super::theme::{Look, Theme};
use crate::text::{self, Show};

#[derive(Debug)]
struct Row {
    range: Range<usize>,
    indent: u16,
    look: Look,
    /// What stands in the indent: a key, the mark of a list item.
    lead: Range<usize>,
    lead_look: Look,
    /// Where in the source its line begins.
    source: usize,
}

/// A part of the text that looks otherwise than its row.
#[derive(Debug)]
struct Span {
    range: Range<usize>,
    look: Look,
}

/// A line before it is wrapped. All its text is safe to draw.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) text: String,
    /// Parts that look otherwise than the line, in order.
    pub(super) spans: Vec<(Range<usize>, Look)>,
    pub(super) look: Look,
    /// What stands before the text in its first row.
    pub(super) lead: String,
    /// What stands before it in all further rows.
    pub(super) rest: String,
    pub(super) lead_look: Look,
    /// Broken where the width ends and nowhere else.
    pub(super) exact: bool,
    /// The part of the source that it shows.
    pub(super) source: Range<usize>,
}

/// Where a text holds another.
#[derive(Debug, Default)]
pub(super) struct Places {
    pub(super) places: Vec<Range<usize>>,
    /// The row in which each begins.
    pub(super) rows: Vec<usize>,
}

/// How much there is at a moment, to go back to.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Mark {
    rows: usize,
    text: usize,
    leads: usize,
    spans: usize,
}

/// Breaks a line where the width ends. A grapheme wider than that has a row of its own.
pub(super) fn broken(line: &str, width: u16) -> Vec<Range<usize>> {
    let columns = usize::from(width.max(1));
    if line.len() <= columns {
        return std::iter::once(0..line.len()).collect();
    }
    let mut rows = Vec::new();
    let (mut start, mut used) = (0, 0);
    for (at, grapheme) in line.grapheme_indices(true) {
        let wide = text::width(grapheme);
        if used + wide > columns && at > start {
            rows.push(start..at);
            (start, used) = (at, 0);
        }
        used += wide;
    }
    rows.push(start..line.len());
    rows
}

/// Rows of one width.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// The lines, each with a newline behind it.
    text: String,
    leads: String,
    spans: Vec<Span>,
    list: Vec<Row>,
}

impl Rows {
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// An empty row.
    pub(super) fn blank(&mut self) {
        self.push_line(&Line::default(), 1);
    }

    /// All lines of a text, wrapped to `width` columns, indent included.
    pub(super) fn push(&mut self, raw: &str, look: Look, indent: u16, width: u16) {
        let mut source = 0;
        for line in raw.strip_suffix('\n').unwrap_or(raw).split('\n') {
            self.push_plain(line, look, indent, width, source);
            source += line.len() + 1;
        }
    }

    /// One line of a source, wrapped; it begins at `source` there.
    pub(super) fn push_plain(
        &mut self,
        line: &str,
        look: Look,
        indent: u16,
        width: u16,
        source: usize,
    ) {
        let shown = text::visible(line.strip_suffix('\r').unwrap_or(line), Show::Prose);
        let columns = usize::from(width.saturating_sub(indent).max(1));
        let start = self.text.len();
        self.text.push_str(&shown);
        self.text.push('\n');
        for range in text::wrap(&shown, columns) {
            let range = start + range.start..start + range.end;
            self.list.push(Row { range, indent, look, lead: 0..0, lead_look: look, source });
        }
    }

    /// All lines of a text, broken where the width ends and nowhere else, so that no space is lost.
    pub(super) fn push_exact(&mut self, raw: &str, look: Look, width: u16) {
        let mut source = 0;
        for line in raw.split('\n') {
            let start = self.text.len();
            let shown = text::visible(line, Show::Prose);
            self.text.push_str(&shown);
            self.text.push('\n');
            for range in broken(&shown, width) {
                let range = start + range.start..start + range.end;
                self.list.push(Row { range, indent: 0, look, lead: 0..0, lead_look: look, source });
            }
            source += line.len() + 1;
        }
    }

    /// An exact text with a word before it, which keeps to its column.
    pub(super) fn push_exact_beside(
        &mut self,
        word: &str,
        raw: &str,
        look: Look,
        column: u16,
        width: u16,
    ) {
        let first = self.list.len();
        self.push_exact(raw, look, width.saturating_sub(column).max(1));
        for row in &mut self.list[first..] {
            row.indent = column;
        }
        self.put_beside(first, word);
    }

    /// A word with a text beside it, which keeps to its column when it is wrapped.
    pub(super) fn push_beside(&mut self, word: &str, what: &str, column: u16, width: u16) {
        let first = self.list.len();
        self.push(what, Look::Text, column, width);
        self.put_beside(first, word);
    }

    /// Puts a word into the indent of a row.
    fn put_beside(&mut self, row: usize, word: &str) {
        let start = self.leads.len();
        self.leads.push_str(&text::visible(word, Show::Prose));
        if let Some(row) = self.list.get_mut(row) {
            row.lead = start..self.leads.len();
            row.lead_look = Look::Key;
        }
    }

    /// A line that was made with its leads and spans.
    pub(super) fn push_line(&mut self, line: &Line, width: u16) {
        // Of what stands before the text, never so much that no room is left for it.
        let most = if width < 4 { 0 } else { usize::from(width.saturating_sub(8).max(width / 2)) };
        let start = self.text.len();
        self.text.push_str(&line.text);
        self.text.push('\n');
        let spans = line.spans.iter().map(|(range, look)| Span {
            range: start + range.start..start + range.end,
            look: *look,
        });
        self.spans.extend(spans);
        let lead = self.lead(&line.lead, most);
        let rest = if line.rest == line.lead { lead.clone() } else { self.lead(&line.rest, most) };
        let columns = width.saturating_sub(lead.1.max(rest.1)).max(1);
        let ranges = if line.exact {
            broken(&line.text, columns)
        } else {
            text::wrap(&line.text, columns.into())
        };
        for (index, range) in ranges.into_iter().enumerate() {
            let (lead, indent) = if index == 0 { lead.clone() } else { rest.clone() };
            self.list.push(Row {
                range: start + range.start..start + range.end,
                indent,
                look: line.look,
                lead,
                lead_look: line.lead_look,
                source: line.source.start,
            });
        }
    }

    fn lead(&mut self, lead: &str, most: usize) -> (Range<usize>, u16) {
        let lead = text::fit(lead, most);
        let start = self.leads.len();
        self.leads.push_str(&lead);
        let columns = u16::try_from(text::width(&lead)).unwrap_or(u16::MAX);
        (start..self.leads.len(), columns)
    }

    /// The rows but for blank ones before and after all others.
    pub(super) fn without_blanks(&self) -> Range<usize> {
        let is_blank =
            |row: &Row| row.lead.is_empty() && self.text[row.range.clone()].trim().is_empty();
        let first = self.list.iter().position(|row| !is_blank(row));
        let last = self.list.iter().rposition(|row| !is_blank(row));
        first.zip(last).map_or(0..0, |(first, last)| first..last + 1)
    }

    /// How much there is.
    pub(super) fn mark(&self) -> Mark {
        let Self { text, leads, spans, list } = self;
        Mark { rows: list.len(), text: text.len(), leads: leads.len(), spans: spans.len() }
    }

    /// Takes away what came after a moment.
    pub(super) fn back_to(&mut self, mark: Mark) {
        self.list.truncate(mark.rows);
        self.text.truncate(mark.text);
        self.leads.truncate(mark.leads);
        self.spans.truncate(mark.spans);
    }

    /// Where in the source the line of a row begins.
    pub(super) fn source_of(&self, row: usize) -> Option<usize> {
        self.list.get(row).map(|row| row.source)
    }

    /// The row that shows a place of the source, or the next place that is shown.
    pub(super) fn row_of_source(&self, source: usize) -> usize {
        self.list.partition_point(|row| row.source < source).min(self.len().saturating_sub(1))
    }

    /// Where the text holds another, capitals or not.
    pub(super) fn find(&self, needle: &str) -> Places {
        let places = find(&self.text, needle);
        let rows = places.iter().map(|place| {
            self.list.partition_point(|row| row.range.start <= place.start).saturating_sub(1)
        });
        Places { rows: rows.collect(), places }
    }

    /// Whether the text holds another, capitals or not.
    pub(super) fn holds(&self, needle: &str) -> bool {
        holds(&self.text, needle)
    }

    /// Draws the rows from `top` on and returns how many were drawn.
    pub(super) fn draw(&self, top: usize, area: Rect, buf: &mut Buffer, theme: &Theme) -> u16 {
        self.draw_found(top, &[], None, area, buf, theme)
    }

    /// Draws the rows from `top` on with parts of the text marked as found, one of them as the one
    /// that a search is at.
    pub(super) fn draw_found(
        &self,
        top: usize,
        found: &[Range<usize>],
        here: Option<usize>,
        area: Rect,
        buf: &mut Buffer,
        theme: &Theme,
    ) -> u16 {
        let mut y = area.y;
        for row in self.list.iter().skip(top).take(usize::from(area.height)) {
            let place = Rect { y, height: 1, ..area };
            self.draw_row(row, place, buf, theme);
            let first = found.partition_point(|range| range.end <= row.range.start);
            for (index, range) in found.iter().enumerate().skip(first) {
                if range.start >= row.range.end {
                    break;
                }
                let look = if here == Some(index) { Look::FoundHere } else { Look::Found };
                let x = (area.x + row.indent).min(area.right());
                let place = Rect { x, width: area.right() - x, ..place };
                self.restyle(row, range, place, buf, theme.style(look));
            }
            y += 1;
        }
        y - area.y
    }

    fn draw_row(&self, row: &Row, area: Rect, buf: &mut Buffer, theme: &Theme) {
        let lead = &self.leads[row.lead.clone()];
        if !lead.is_empty() {
            let room = row.indent.min(area.width);
            paint::words(buf, (area.x, area.y), room, lead, theme.style(row.lead_look));
        }
        let x = area.x.saturating_add(row.indent);
        let Some(columns) = area.right().checked_sub(x).filter(|columns| *columns > 0) else {
            return;
        };
        let text = &self.text[row.range.clone()];
        paint::words(buf, (x, area.y), columns, text, theme.style(row.look));
        let first = self.spans.partition_point(|span| span.range.end <= row.range.start);
        for span in self.spans[first..].iter().take_while(|span| span.range.start < row.range.end) {
            let place = Rect { x, width: columns, ..area };
            self.restyle(row, &span.range, place, buf, theme.style(span.look));
        }
    }

    /// Gives another style to the part of a row that lies in `range`: a character that is drawn
    /// together with others, with them.
    fn restyle(
        &self,
        row: &Row,
        range: &Range<usize>,
        area: Rect,
        buf: &mut Buffer,
        style: ratatui::style::Style,
    ) {
        let (mut from, mut wide) = (0, 0);
        for (at, grapheme) in self.text[row.range.clone()].grapheme_indices(true) {
            let start = row.range.start + at;
            if start >= range.end {
                break;
            }
            let is_before = start + grapheme.len() <= range.start;
            *if is_before { &mut from } else { &mut wide } += text::width(grapheme);
        }
        let wide = u16::try_from(wide).unwrap_or(u16::MAX);
        let from = u16::try_from(from).unwrap_or(u16::MAX).min(area.width);
        let place = Rect { x: area.x + from, width: wide.min(area.width - from), ..area };
        buf.set_style(place, style);
    }
}

#[cfg(test)]
impl Rows {
    /// What each row shows: lead, text, look.
    pub(super) fn shown(&self) -> Vec<(String, String, Look)> {
        let row = |row: &Row| {
            let text = self.text[row.range.clone()].to_owned();
            (self.leads[row.lead.clone()].to_owned(), text, row.look)
        };
        self.list.iter().map(row).collect()
    }

    /// What each row shows, as text.
    pub(super) fn texts(&self) -> Vec<String> {
        self.shown().into_iter().map(|(lead, text, _)| format!("{lead}{text}")).collect()
    }

    /// The parts that look otherwise.
    pub(super) fn spanned(&self) -> Vec<(&str, Look)> {
        self.spans.iter().map(|span| (&self.text[span.range.clone()], span.look)).collect()
    }

    /// Columns that each row takes, its lead included.
    pub(super) fn widths(&self) -> Vec<usize> {
        let row = |row: &Row| usize::from(row.indent) + text::width(&self.text[row.range.clone()]);
        self.list.iter().map(row).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn no_space_is_lost_where_an_exact_text_breaks() {
        let mut rows = Rows::default();
        rows.push_exact("ab      cd", Look::Text, 4);
        assert_eq!(rows.texts(), ["ab  ", "    ", "cd"]);
    }

    #[test]
    fn what_is_found_within_an_emoji_or_under_an_accent_is_marked_whole() {
        let mut rows = Rows::default();
        rows.push_exact("你 👨\u{200d}👩\u{200d}👧 e\u{301}x", Look::Text, 20);
        let area = Rect::new(0, 0, 20, 1);
        let theme = Theme::read("dark", crate::tui::theme::BUILT_IN[0].1, true).unwrap();
        for (needle, marked) in [("👩", 3..5), ("👧", 3..5), ("e", 6..7), ("x", 7..8), ("你", 0..2)]
        {
            let mut buf = Buffer::empty(area);
            let found = rows.find(needle);
            assert_eq!(found.rows, [0], "{needle}");
            rows.draw_found(0, &found.places, None, area, &mut buf, &theme);
            let is_marked = |x: &u16| Some(buf[(*x, 0)].bg) == theme.style(Look::Found).bg;
            let columns: Vec<u16> = (0..20).filter(is_marked).collect();
            assert_eq!(columns, marked.collect::<Vec<u16>>(), "{needle}");
        }
    }
}
