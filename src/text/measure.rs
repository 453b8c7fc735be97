//! Columns: how wide a text is, where a line breaks, where it is cut.
//!
//! Counted by grapheme exactly as ratatui draws: a grapheme that holds a control character, or has
//! no width, is not drawn and takes no column. Tabs are controls: expand them first (`visible`).

use std::borrow::Cow;
use std::ops::Range;

use ratatui::buffer::CellWidth as _;
use unicode_segmentation::UnicodeSegmentation as _;

/// Columns that a text takes, by grapheme, as ratatui counts them.
pub fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.bytes().filter(|b| !b.is_ascii_control()).count();
    }
    if text.chars().all(is_simple) {
        return text.chars().count();
    }
    text.graphemes(true).map(columns_of).sum()
}

/// Whether a character is a grapheme of one column among others that are: Latin letters, usual
/// punctuation, arrows, what frames are drawn with. Nearly all that is measured and drawn is.
pub fn is_simple(c: char) -> bool {
    matches!(c, ' '..='~')
        || matches!(c,
            '\u{a1}'..='\u{ac}'
            | '\u{ae}'..='\u{2ff}'
            | '\u{2010}'..='\u{2027}'
            | '\u{2030}'..='\u{205e}'
            | '\u{2190}'..='\u{21ff}'
            | '\u{2500}'..='\u{25fc}')
}

/// Columns of one grapheme.
fn columns_of(grapheme: &str) -> usize {
    if grapheme.contains(char::is_control) { 0 } else { usize::from(grapheme.cell_width()) }
}

/// Breaks one line (without newlines) into rows of at most `columns`; ranges are byte ranges.
///
/// Breaks after spaces and between wide graphemes (not before closing punctuation), and inside a
/// word only where the word alone is wider than a row. The spaces at a break belong to the row
/// before it as far as they fit; those that do not fit are in no row. Apart from such spaces the
/// ranges join up to the line. There is always at least one row. A grapheme wider than `columns`
/// (which counts as 1 when it is 0) has a row of its own.
pub fn wrap(line: &str, columns: usize) -> Vec<Range<usize>> {
    if line.len() <= columns {
        return std::iter::once(0..line.len()).collect();
    }
    if line.is_ascii() {
        rows(
            line,
            columns,
            line.bytes().enumerate().map(|(at, b)| Piece {
                at,
                columns: usize::from(!b.is_ascii_control()),
                space: b == b' ',
                first: true,
            }),
        )
    } else {
        rows(
            line,
            columns,
            line.grapheme_indices(true).map(|(at, grapheme)| Piece {
                at,
                columns: columns_of(grapheme),
                space: grapheme == " ",
                first: !grapheme.starts_with(closes),
            }),
        )
    }
}

/// A grapheme, as far as breaking is concerned.
#[derive(Clone, Copy)]
struct Piece {
    at: usize,
    columns: usize,
    space: bool,
    /// May begin a row beside a wide grapheme.
    first: bool,
}

/// East Asian closing punctuation, which does not begin a row.
fn closes(c: char) -> bool {
    "、。，．：；！？）」』】〉》〕〗］｝…‥ー々”’".contains(c)
}

fn rows(line: &str, columns: usize, pieces: impl Iterator<Item = Piece>) -> Vec<Range<usize>> {
    let columns = columns.max(1);
    let mut pieces = pieces.peekable();
    let mut rows = Vec::new();
    let mut start = 0; // of the row
    let mut used = 0; // its columns so far
    let mut ink = false; // it holds more than spaces
    let mut can_break: Option<(usize, usize)> = None; // where, and the columns before it
    let mut before: Option<Piece> = None;
    while let Some(piece) = pieces.next() {
        if piece.space && used >= columns {
            rows.push(start..piece.at);
            while pieces.next_if(|next| next.space).is_some() {}
            start = pieces.peek().map_or(line.len(), |next| next.at);
            (used, ink, can_break, before) = (0, false, None, None);
            continue;
        }
        if !piece.space {
            let after_space = before.is_some_and(|b| b.space);
            let beside_wide = before.is_some_and(|b| b.columns > 1) || piece.columns > 1;
            if ink && (after_space || (beside_wide && piece.first)) {
                can_break = Some((piece.at, used));
            }
            ink = true;
        }
        if used + piece.columns > columns && piece.at > start {
            if let Some((at, columns_before)) = can_break.take() {
                rows.push(start..at);
                start = at;
                used -= columns_before;
            }
            if used + piece.columns > columns && piece.at > start {
                rows.push(start..piece.at);
                start = piece.at;
                used = 0;
            }
        }
        used += piece.columns;
        before = Some(piece);
    }
    if start < line.len() || rows.is_empty() {
        rows.push(start..line.len());
    }
    rows
}

/// The text and the spaces that fill it up to `columns`.
pub fn padded(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(width(text));
    let mut out = String::with_capacity(text.len() + missing);
    out.push_str(text);
    out.extend(std::iter::repeat_n(' ', missing));
    out
}

/// Cuts a line to at most `columns`, with `…` where something was cut.
pub fn fit(line: &str, columns: usize) -> Cow<'_, str> {
    if line.len() <= columns {
        return Cow::Borrowed(line);
    }
    let mut used = 0;
    let mut cut = 0; // what fits beside the `…`
    for (at, grapheme) in line.grapheme_indices(true) {
        used += columns_of(grapheme);
        if used > columns {
            return Cow::Owned(match columns {
                0 => String::new(),
                _ => format!("{}…", &line[..cut]),
            });
        }
        if used < columns {
            cut = at + grapheme.len();
        }
    }
    Cow::Borrowed(line)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::super::{CORPUS, Show, visible};
    use super::*;

    fn wrapped(line: &str, columns: usize) -> Vec<&str> {
        wrap(line, columns).into_iter().map(|range| &line[range]).collect()
    }

    fn drawn(text: &str) -> usize {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 4000, 1));
        usize::from(buffer.set_stringn(0, 0, text, 4000, Style::new()).0)
    }

    #[test]
    fn widths() {
        for (text, columns) in [
            ("abc", 3),
            ("你好", 4),
            ("👨‍👩‍👧‍👦", 2),
            ("🇨🇳", 2),
            ("👍🏽", 2),
            ("❤️", 2),
            ("e\u{301}", 1),
            ("ﾀﾞ", 3), // ratatui leaves a cell free after the sound mark
            ("\u{200d}", 0),
            ("a\tb", 2),
        ] {
            assert_eq!(width(text), columns, "{text:?}");
        }
    }

    #[test]
    fn words_break_after_spaces() {
        assert_eq!(wrapped("the quick brown fox", 10), ["the quick ", "brown fox"]);
        assert_eq!(wrapped("the quick brown fox", 9), ["the quick", "brown fox"]);
        assert_eq!(wrapped("abcdefgh ij", 3), ["abc", "def", "gh ", "ij"]);
        assert_eq!(wrapped("ab cdefgh", 4), ["ab ", "cdef", "gh"]);
        assert_eq!(wrapped("  abcdef", 4), ["  ab", "cdef"]);
        assert_eq!(wrapped("ab      ", 4), ["ab  "]);
        assert_eq!(wrapped("ab      cd", 3), ["ab ", "cd"]);
        assert_eq!(wrapped("", 3), [""]);
        assert_eq!(wrapped("ab", 0), ["a", "b"]);
    }

    #[test]
    fn wide_graphemes_break_anywhere_but_before_closing_punctuation() {
        assert_eq!(wrapped("你好世界", 5), ["你好", "世界"]);
        assert_eq!(wrapped("你好，世界", 4), ["你", "好，", "世界"]);
        assert_eq!(wrapped("use 你好 now", 6), ["use 你", "好 now"]);
        assert_eq!(wrapped("你好", 1), ["你", "好"]);
        assert_eq!(wrapped("👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 3), ["👨‍👩‍👧‍👦", "👨‍👩‍👧‍👦"]);
    }

    #[test]
    fn what_is_simple_is_drawn_by_itself_in_one_column() {
        let simple = || ('\0'..='\u{ffff}').filter(|c| is_simple(*c));
        assert!(simple().count() > 1000);
        for c in simple() {
            let text = format!("a{c}é{c}{c}─");
            assert_eq!(text.graphemes(true).map(columns_of).collect::<Vec<_>>(), [1; 6], "{text}");
        }
    }

    #[test]
    fn fit_marks_the_cut() {
        assert_eq!(fit("abcdef", 6), "abcdef");
        assert_eq!(fit("abcdef", 5), "abcd…");
        assert_eq!(fit("你好世界", 6), "你好…");
        assert_eq!(fit("你好世界", 8), "你好世界");
        assert_eq!(fit("abc", 1), "…");
        assert_eq!(fit("abc", 0), "");
        assert_eq!(fit("ab\u{301}", 2), "ab\u{301}");
    }

    fn line() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            any::<String>(),
            prop::sample::select(CORPUS).prop_map(str::to_owned),
            "[a ]{0,30}",
            "[你， a]{0,30}",
        ];
        prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat().replace('\n', " "))
    }

    proptest! {
        #[test]
        fn width_is_what_ratatui_draws(text in line(), safe in any::<bool>()) {
            let text = if safe { visible(&text, Show::Prose) } else { text.into() };
            prop_assert_eq!(width(&text), drawn(&text), "{:?}", text);
        }

        #[test]
        fn rows_fit_and_cover_the_line(text in line(), columns in 0usize..=200) {
            let ranges = wrap(&text, columns);
            prop_assert!(!ranges.is_empty());
            let mut end = 0;
            for range in &ranges {
                let row = &text[range.clone()];
                prop_assert!(range.start >= end);
                prop_assert!(text[end..range.start].bytes().all(|b| b == b' '));
                prop_assert!(
                    width(row) <= columns.max(1) || row.graphemes(true).filter(|g| width(g) > 0).count() == 1,
                    "{row:?} in {columns}"
                );
                end = range.end;
            }
            prop_assert!(text[end..].bytes().all(|b| b == b' '));
            prop_assert!(text.is_empty() || ranges.iter().all(|range| !range.is_empty()));
        }

        #[test]
        fn a_fitted_line_fits(text in line(), columns in 0usize..=200) {
            let fitted = fit(&text, columns);
            prop_assert!(width(&fitted) <= columns);
            if width(&text) <= columns {
                prop_assert_eq!(&fitted, &text);
            }
        }
    }
}
