//! Untrusted text made safe, wrapped to a width and ready to be drawn from any row on.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_segmentation::UnicodeSegmentation as _;

use super::theme::{Look, Theme};
use crate::text::{self, Show};

#[derive(Debug)]
struct Row {
    range: Range<usize>,
    indent: u16,
    look: Look,
    /// What stands in the indent, as a key does.
    lead: Range<usize>,
}

/// Breaks a line where the width ends. A grapheme wider than that has a row of its own.
pub(super) fn broken(line: &str, width: u16) -> Vec<Range<usize>> {
    let columns = usize::from(width.max(1));
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
    text: String,
    rows: Vec<Row>,
}

impl Rows {
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// An empty row.
    pub(super) fn blank(&mut self) {
        let end = self.text.len();
        self.rows.push(Row { range: end..end, indent: 0, look: Look::Text, lead: 0..0 });
    }

    /// All lines of a text, wrapped to `width` columns, indent included.
    pub(super) fn push(&mut self, raw: &str, look: Look, indent: u16, width: u16) {
        for line in raw.strip_suffix('\n').unwrap_or(raw).split('\n') {
            self.line(line.strip_suffix('\r').unwrap_or(line), look, indent, width);
        }
    }

    /// All lines of a text, broken where the width ends and nowhere else, so that no space is lost.
    pub(super) fn push_exact(&mut self, raw: &str, look: Look, width: u16) {
        for line in raw.split('\n') {
            let start = self.text.len();
            self.text.push_str(&text::visible(line, Show::Prose));
            for range in broken(&self.text[start..], width) {
                let range = start + range.start..start + range.end;
                self.rows.push(Row { range, indent: 0, look, lead: 0..0 });
            }
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
        let first = self.rows.len();
        self.push_exact(raw, look, width.saturating_sub(column).max(1));
        for row in &mut self.rows[first..] {
            row.indent = column;
        }
        self.lead(first, word);
    }

    /// A word with a text beside it, which keeps to its column when it is wrapped.
    pub(super) fn push_beside(&mut self, word: &str, what: &str, column: u16, width: u16) {
        let first = self.rows.len();
        self.push(what, Look::Text, column, width);
        self.lead(first, word);
    }

    /// Puts a word into the indent of a row.
    fn lead(&mut self, row: usize, word: &str) {
        let start = self.text.len();
        self.text.push_str(&text::visible(word, Show::Prose));
        if let Some(row) = self.rows.get_mut(row) {
            row.lead = start..self.text.len();
        }
    }

    /// A text with fenced code blocks.
    pub(super) fn push_markdown(&mut self, raw: &str, look: Look, width: u16) {
        let mut growing = Growing { rows: std::mem::take(self), ..Growing::default() };
        growing.settle(0, false);
        growing.lay_out(raw.trim_end_matches('\n'), look, width);
        *self = growing.rows;
    }

    /// One line, wrapped.
    fn line(&mut self, line: &str, look: Look, indent: u16, width: u16) {
        let shown = text::visible(line, Show::Prose);
        let columns = usize::from(width.saturating_sub(indent).max(1));
        let start = self.text.len();
        self.text.push_str(&shown);
        for range in text::wrap(&shown, columns) {
            let range = start + range.start..start + range.end;
            self.rows.push(Row { range, indent, look, lead: 0..0 });
        }
    }

    /// Draws the rows from `top` on and returns how many were drawn.
    pub(super) fn draw(&self, top: usize, area: Rect, buf: &mut Buffer, theme: Theme) -> u16 {
        let mut drawn = 0;
        for row in self.rows.iter().skip(top).take(usize::from(area.height)) {
            let x = area.x.saturating_add(row.indent);
            if let Some(columns) = area.right().checked_sub(x).filter(|columns| *columns > 0) {
                let text = &self.text[row.range.clone()];
                buf.set_stringn(x, area.y + drawn, text, columns.into(), theme.style(row.look));
            }
            let lead = &self.text[row.lead.clone()];
            if !lead.is_empty() {
                let room = row.indent.min(area.width).into();
                buf.set_stringn(area.x, area.y + drawn, lead, room, theme.style(Look::Key));
            }
            drawn += 1;
        }
        drawn
    }
}

/// Rows of a text with fenced code blocks that may still grow at its end. What cannot change any
/// more is laid out once.
#[derive(Debug, Default)]
pub(super) struct Growing {
    rows: Rows,
    /// Up to here the source is laid out for good, and what it came to.
    settled: Settled,
    /// Length of the source at the last call.
    seen: usize,
}

#[derive(Debug, Default, Clone, Copy)]
struct Settled {
    source: usize,
    rows: usize,
    text: usize,
    code: bool,
    mid_line: bool,
}

impl Growing {
    /// Lays out what came since the last call; `source` begins with what it was then.
    pub(super) fn lay_out(&mut self, source: &str, look: Look, width: u16) -> &Rows {
        if source.len() == self.seen {
            return &self.rows;
        }
        self.seen = source.len();
        self.rows.rows.truncate(self.settled.rows);
        self.rows.text.truncate(self.settled.text);
        let mut rest = &source[self.settled.source..];
        while let Some((line, after)) = rest.split_once('\n') {
            self.line(line, look, width);
            let source = self.settled.source + line.len() + 1;
            self.settle(source, false);
            rest = after;
        }
        if !rest.is_empty() {
            let before = self.settled.code;
            self.line(rest, look, width);
            self.settled.code = before;
            self.settle_long_line(rest);
        }
        &self.rows
    }

    pub(super) fn rows(&self) -> &Rows {
        &self.rows
    }

    fn line(&mut self, line: &str, look: Look, width: u16) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let fence = !self.settled.mid_line && line.trim_start().starts_with("```");
        let (look, indent) = match (fence, self.settled.code) {
            (true, _) => (Look::Dim, 0),
            (false, true) => (Look::Code, 2),
            (false, false) => (look, 0),
        };
        self.rows.line(line, look, indent, width);
        self.settled.code ^= fence;
    }

    fn settle(&mut self, source: usize, mid_line: bool) {
        let Self { rows, settled, .. } = self;
        *settled = Settled {
            source,
            rows: rows.rows.len(),
            text: rows.text.len(),
            code: settled.code,
            mid_line,
        };
    }

    /// A line without end is settled but for its last two rows, if it is drawn as it is written.
    fn settle_long_line(&mut self, rest: &str) {
        let tail = &self.rows.rows[self.settled.rows..];
        let fence = tail.first().is_some_and(|row| row.look == Look::Dim);
        if fence || tail.len() < 4 || self.rows.text[self.settled.text..] != *rest {
            return;
        }
        let keep = self.rows.rows.len() - 2;
        let text = self.rows.rows[keep].range.start;
        self.settled = Settled {
            source: self.settled.source + (text - self.settled.text),
            rows: keep,
            text,
            code: self.settled.code,
            mid_line: true,
        };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(rows: &Rows) -> Vec<(String, u16, Look)> {
        let row = |row: &Row| (rows.text[row.range.clone()].to_owned(), row.indent, row.look);
        rows.rows.iter().map(row).collect()
    }

    fn whole(text: &str, width: u16) -> Vec<(String, u16, Look)> {
        let mut rows = Rows::default();
        rows.push_markdown(text, Look::Text, width);
        shown(&rows)
    }

    #[test]
    fn no_space_is_lost_where_an_exact_text_breaks() {
        let mut rows = Rows::default();
        rows.push_exact("ab      cd", Look::Text, 4);
        let texts: Vec<String> = shown(&rows).into_iter().map(|row| row.0).collect();
        assert_eq!(texts, ["ab  ", "    ", "cd"]);
    }

    #[test]
    fn code_stands_apart_until_its_fence() {
        let looks: Vec<Look> =
            whole("a\n```sh\nls\n```\nb", 20).into_iter().map(|row| row.2).collect();
        assert_eq!(looks, [Look::Text, Look::Dim, Look::Code, Look::Dim, Look::Text]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn a_text_looks_the_same_however_it_arrives(
            lines in prop::collection::vec(
                prop::sample::select(vec![
                    "", "```", "```rust", "short", "你好，世界。这是一个很长的句子，没有空格。",
                    "some words that are wrapped more than once, and a verylongwordthatisbrokeninside it",
                    "👨‍👩‍👧 e\u{301} \u{1b}[2K tab\there", "spaces          between  \r",
                ]),
                0..8,
            ),
            pieces in prop::collection::vec(1..40usize, 1..40),
            width in 1..30u16,
        ) {
            let text = lines.join("\n");
            let mut growing = Growing::default();
            let mut end = 0;
            for piece in pieces.iter().cycle() {
                end = (end + piece).min(text.len());
                while !text.is_char_boundary(end) {
                    end += 1;
                }
                growing.lay_out(&text[..end], Look::Text, width);
                if end == text.len() {
                    break;
                }
            }
            let text = text.trim_end_matches('\n');
            let expected = whole(text, width);
            let mut arrived = shown(growing.rows());
            arrived.truncate(expected.len());
            prop_assert_eq!(arrived, expected);
        }
    }
}
