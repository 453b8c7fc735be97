//! A text that may still grow at its end. What cannot change any more is laid out once.
//!
//! Of Markdown that is all blocks but the last, all items of a list but the last, all whole lines of
//! an open code block. What remains is made again each time; once it is long (a table, one endless
//! line), only after it has grown by an eighth, so that the whole costs a multiple of its length
//! and never its square.

use super::code::Fence;
use super::render::{Cut, render};
use crate::tui::rows::{Mark, Rows};
use crate::tui::theme::Look;

/// How a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tui) enum Style {
    /// As Markdown.
    Markdown(Look),
    /// As it is written.
    Plain(Look),
}

/// Bytes from which on a block without end is made anew less often.
const LONG: usize = 4096;

/// The rows of a text that grows.
#[derive(Debug, Default)]
pub(in crate::tui) struct Growing {
    rows: Rows,
    /// Up to here the source is laid out for good, and what it came to.
    settled: (usize, Mark),
    /// The code block that is open there.
    fence: Option<Fence>,
    /// Up to here the source was laid out in full, and what it came to.
    laid: (usize, Mark),
    /// Up to here what came since then is laid out as it is written, and what it came to.
    rest: (usize, Mark),
    /// Length of the source at the last call.
    seen: usize,
}

impl Growing {
    /// Lays out what came since the last call; `source` begins with what it was then.
    pub(in crate::tui) fn lay_out(&mut self, source: &str, style: Style, width: u16) -> &Rows {
        if source.len() == self.seen {
            return &self.rows;
        }
        self.seen = source.len();
        let tail = self.laid.0 - self.settled.0;
        if tail > LONG && source.len() - self.laid.0 < tail / 8 {
            self.rest(source, style, width);
            return &self.rows;
        }
        self.rows.back_to(self.settled.1);
        match style {
            Style::Markdown(look) => self.markdown(source, look, width),
            Style::Plain(_) => self.settled = self.plain(source, self.settled.0, style, width),
        }
        self.laid = (source.len(), self.rows.mark());
        self.rest = self.laid;
        &self.rows
    }

    pub(in crate::tui) fn rows(&self) -> &Rows {
        &self.rows
    }

    pub(in crate::tui) fn into_rows(self) -> Rows {
        self.rows
    }

    /// Lays out a source from a place on as it is written; returns how much of that is final.
    fn plain(&mut self, source: &str, from: usize, style: Style, width: u16) -> (usize, Mark) {
        let (Style::Plain(look) | Style::Markdown(look)) = style;
        let mut from = from;
        while let Some((line, _)) = source[from..].split_once('\n') {
            self.rows.push_plain(line, look, 0, width, from);
            from += line.len() + 1;
        }
        let whole = (from, self.rows.mark());
        if from < source.len() {
            self.rows.push_plain(&source[from..], look, 0, width, from);
        }
        whole
    }

    /// What came since all was laid out, for the time being: as it is written.
    fn rest(&mut self, source: &str, style: Style, width: u16) {
        self.rows.back_to(self.rest.1);
        self.rest = self.plain(source, self.rest.0, style, width);
        if source.len() - self.rest.0 > LONG / 4 {
            self.rest = (source.len(), self.rows.mark());
        }
    }

    fn markdown(&mut self, source: &str, look: Look, width: u16) {
        loop {
            if self.fence.is_some() && !self.code(source, width) {
                return;
            }
            let rendered = render(source, self.settled.0, look, width);
            let Cut { lines, source: cut, fence } = rendered.cut;
            for line in &rendered.lines[..lines] {
                self.rows.push_line(line, width);
            }
            self.settled = (cut, self.rows.mark());
            self.fence = fence;
            if self.fence.is_none() {
                for line in &rendered.lines[lines..] {
                    self.rows.push_line(line, width);
                }
                return;
            }
        }
    }

    /// Lays out lines of the code block that is open; whether its end was found.
    fn code(&mut self, source: &str, width: u16) -> bool {
        let Some(fence) = &mut self.fence else { return true };
        let mut from = self.settled.0;
        while let Some((line, _)) = source[from..].split_once('\n') {
            let end = from + line.len();
            let closed = fence.is_closed_by(line);
            if !closed {
                self.rows.push_line(&fence.line(line, from..end), width);
            }
            from = end + 1;
            self.settled = (from, self.rows.mark());
            if closed {
                self.fence = None;
                return true;
            }
        }
        let rest = &source[from..];
        if !rest.is_empty() && !fence.may_be_closed_by(rest) {
            let line = fence.clone().line(rest, from..source.len());
            self.rows.push_line(&line, width);
        }
        false
    }
}
