//! Text that a terminal can be trusted with: the sanitizer, widths, wrapping, short figures.
//!
//! Pure, and knows nothing of the rest of the crate. Everything that limpid did not write itself
//! (model text, commands, outputs, error bodies, file names) passes [`visible`] before it is drawn.

use std::borrow::Cow;
use std::ops::Range;

/// How much of what cannot be seen is made visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// For reading: escapes and controls become marks, emoji sequences stay whole.
    Prose,
    /// For deciding: every character that has no ink is spelled out, also joiners and spaces that
    /// are not U+0020.
    Exact,
}

/// Makes a text safe to draw.
pub fn visible(text: &str, _show: Show) -> Cow<'_, str> {
    Cow::Borrowed(text)
}

/// Columns that a text takes, by grapheme, as ratatui counts them.
pub fn width(text: &str) -> usize {
    text.len()
}

/// Breaks one line (without newlines) into rows of at most `columns`; ranges are byte ranges.
pub fn wrap(line: &str, _columns: usize) -> Vec<Range<usize>> {
    vec![0..line.len()]
}

/// Cuts a line to at most `columns`, with `…` where something was cut.
pub fn fit(line: &str, _columns: usize) -> Cow<'_, str> {
    Cow::Borrowed(line)
}

/// A size in bytes, short: `61 B`, `1.9 kB`, `48.1 kB`, `2.3 MB` (powers of 1,000).
pub fn bytes(n: u64) -> String {
    format!("{n} B")
}

/// A time, short: `0.02 s`, `3.1 s`, `42 s`, `2 min 05 s`.
pub fn duration(ms: u64) -> String {
    format!("{ms} ms")
}
