//! The sanitizer: what cannot be seen, or would drive a terminal, becomes marks in plain ASCII.
//!
//! A control character becomes `\x1b`, `\r`, `\t`; any other character without ink becomes
//! `<U+202E>`. The text around a mark stays as it was, so an escape sequence reads `\x1b[2K`.
//! A grapheme that would take no column is spelled out too, because the screen would leave it out.
//! Not here: wrapping and widths.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthChar as _;

use super::width;

/// How much of what cannot be seen is made visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// For reading: escapes and controls become marks, emoji sequences stay whole, tabs become
    /// spaces up to the next multiple of four columns, and CR LF becomes a newline.
    Prose,
    /// For deciding: every character that has no ink, or not the same everywhere, is spelled out, also
    /// joiners, tabs and spaces that are not U+0020.
    Exact,
}

/// Makes a text safe to draw. Newlines stay; nothing is left out (but the CR of a CR LF in prose).
///
/// Borrowed when there was nothing to change. The columns of tabs are counted from the last newline in
/// `text`, so a caller hands over whole lines.
pub fn visible(text: &str, show: Show) -> Cow<'_, str> {
    if is_clean(text, show) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    spell_out(text, show, &mut out, |_| {});
    if out == text { Cow::Borrowed(text) } else { Cow::Owned(out) }
}

/// The characters that [`Show::Exact`] spells out, each once, in order of appearance.
pub fn hidden(text: &str) -> Vec<char> {
    let (mut found, mut known) = (Vec::new(), HashSet::new());
    if !is_clean(text, Show::Exact) {
        spell_out(text, Show::Exact, &mut String::new(), |c| {
            if known.insert(c) {
                found.push(c);
            }
        });
    }
    found
}

/// The mark that stands for a character that cannot be seen: `\x1b`, `\t`, `<U+200D>`.
pub fn spelled(c: char) -> String {
    let mut out = String::new();
    push_mark(&mut out, c);
    out
}

/// Columns between tab stops in prose.
const TAB: usize = 4;

/// Zero-width marks that one grapheme may carry (the limit of Unicode's stream-safe format). More
/// are spelled out, so that one cell cannot hold a megabyte.
const MARKS: usize = 30;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Seen as itself; also U+0020 and the newline.
    Ink,
    /// C0, DEL, C1.
    Control,
    /// Never shown as itself: bidi controls, zero-width spaces, fillers, tags.
    Hidden,
    /// ZWJ and ZWNJ.
    Joiner,
    /// Variation selectors.
    Selector,
    /// A space that is not U+0020.
    Space,
    /// Looks as each font likes, or like nothing: private use, and what is no character at all.
    Private,
    /// Takes no column of its own: combining marks, jamo vowels.
    Mark,
}

/// The hidden ones are the format characters (Cf) and default-ignorable code points of Unicode 17
/// that leave no ink, and the line and paragraph separators.
fn kind(c: char) -> Kind {
    match c {
        ' '..='~' | '\n' => Kind::Ink,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => Kind::Control,
        '\u{200c}' | '\u{200d}' => Kind::Joiner,
        '\u{fe00}'..='\u{fe0f}'
        | '\u{e0100}'..='\u{e01ef}'
        | '\u{180b}'..='\u{180d}'
        | '\u{180f}' => Kind::Selector,
        '\u{a0}'
        | '\u{1680}'
        | '\u{2000}'..='\u{200a}'
        | '\u{202f}'
        | '\u{205f}'
        | '\u{2800}'
        | '\u{3000}' => Kind::Space,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180e}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d159}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => Kind::Hidden,
        '\u{a1}'..='\u{2ff}' => Kind::Ink,
        '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}' | '\u{f0000}'..='\u{10ffff}' => {
            Kind::Private
        }
        _ if u32::from(c) & 0xfffe == 0xfffe => Kind::Private,
        _ if c.width().unwrap_or(0) == 0 => Kind::Mark,
        _ => Kind::Ink,
    }
}

/// Nothing but characters that stay whatever stands beside them.
fn is_clean(text: &str, show: Show) -> bool {
    text.bytes().all(|b| matches!(b, b' '..=b'~' | b'\n'))
        || text.chars().all(|c| match kind(c) {
            Kind::Ink => true,
            Kind::Space | Kind::Private => show == Show::Prose,
            _ => false,
        })
}

fn spell_out(text: &str, show: Show, out: &mut String, mut spelled: impl FnMut(char)) {
    for line in text.split_inclusive('\n') {
        if is_clean(line, show) {
            out.push_str(line);
        } else {
            spell_out_line(line, show, out, &mut spelled);
        }
    }
}

fn spell_out_line(line: &str, show: Show, out: &mut String, spelled: &mut impl FnMut(char)) {
    let mut column = 0; // of `since`, which is where the output stood after the last tab
    let mut since = out.len();
    for (at, grapheme) in line.grapheme_indices(true) {
        match (grapheme, show) {
            ("\t", Show::Prose) => {
                column += width(&out[since..]);
                let gap = TAB - column % TAB;
                out.extend(std::iter::repeat_n(' ', gap));
                column += gap;
                since = out.len();
            }
            ("\r\n", Show::Prose) => out.push('\n'),
            _ if grapheme.chars().all(|c| kind(c) == Kind::Ink) => out.push_str(grapheme),
            _ => {
                let (before, rest) = line.split_at(at);
                spell_out_grapheme(before, rest, grapheme.len(), show, out, spelled);
            }
        }
    }
}

/// `rest` begins with the grapheme of `len` bytes; `before` is what precedes it in the line.
fn spell_out_grapheme(
    before: &str,
    rest: &str,
    len: usize,
    show: Show,
    out: &mut String,
    spelled: &mut impl FnMut(char),
) {
    let mut piece = String::new();
    let mut previous = before.chars().next_back();
    let mut attached = true; // to the characters before it
    let mut marks = 0;
    for (at, c) in rest[..len].char_indices() {
        let kept = match kind(c) {
            Kind::Ink => true,
            Kind::Space | Kind::Private => show == Show::Prose,
            Kind::Mark => {
                marks += 1;
                attached && marks <= MARKS
            }
            Kind::Joiner => {
                let next = rest[at + c.len_utf8()..].chars().next();
                show == Show::Prose && attached && joins(previous, next)
            }
            Kind::Selector => show == Show::Prose && attached && selects(previous, c),
            Kind::Control | Kind::Hidden => false,
        };
        if kept {
            piece.push(c);
        } else {
            push_mark(&mut piece, c);
            spelled(c);
            attached = false;
        }
        previous = Some(c);
    }
    // What is left may have lost the character that it was drawn on.
    for grapheme in piece.graphemes(true) {
        if width(grapheme) > 0 || grapheme == "\n" {
            out.push_str(grapheme);
        } else {
            for c in grapheme.chars() {
                push_mark(out, c);
                spelled(c);
            }
        }
    }
}

/// Whether a joiner between these two does what joiners are for: in emoji sequences and in the
/// scripts from Hebrew to Mongolian. Indic marks may end in one.
fn joins(previous: Option<char>, next: Option<char>) -> bool {
    let joining = |c: char| {
        matches!(c,
            '\u{590}'..='\u{1cff}' | '\u{a800}'..='\u{abff}' | '\u{fb1d}'..='\u{fdff}'
            | '\u{fe70}'..='\u{fefe}' | '\u{10a00}'..='\u{11fff}' | '\u{1e900}'..='\u{1e95f}'
            | '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
            && matches!(kind(c), Kind::Ink | Kind::Mark)
    };
    let Some(previous) = previous else { return false };
    let from = joining(previous) || previous == '\u{fe0f}';
    from && (kind(previous) == Kind::Mark
        || next.is_some_and(|c| joining(c) && kind(c) == Kind::Ink))
}

/// Whether a variation selector after this character can choose a form of it.
fn selects(previous: Option<char>, selector: char) -> bool {
    let Some(base) = previous else { return false };
    match selector {
        '\u{180b}'..='\u{180f}' => matches!(base, '\u{1800}'..='\u{18af}'),
        '\u{e0100}'..='\u{e01ef}' => matches!(base,
            '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'),
        _ => matches!(base, '#' | '*' | '0'..='9') || (!base.is_ascii() && kind(base) == Kind::Ink),
    }
}

fn push_mark(out: &mut String, c: char) {
    match c {
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        '\0'..='\u{7f}' => {
            let _ = write!(out, "\\x{:02x}", u32::from(c));
        }
        _ => {
            let _ = write!(out, "<U+{:04X}>", u32::from(c));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::CORPUS;
    use super::*;

    fn prose(text: &str) -> String {
        visible(text, Show::Prose).into_owned()
    }

    fn exact(text: &str) -> String {
        visible(text, Show::Exact).into_owned()
    }

    #[test]
    fn clean_text_is_borrowed() {
        for text in
            ["", "fn main() {}\n", "你好，世界。\n", "no\u{a0}break", "e\u{301} 👨‍👩‍👧 1️⃣ می‌خواهم"]
        {
            assert!(matches!(visible(text, Show::Prose), Cow::Borrowed(same) if same == text));
        }
        assert!(matches!(visible("ls *.py\n你好", Show::Exact), Cow::Borrowed(_)));
    }

    #[test]
    fn escapes_and_controls_become_marks_and_the_rest_stays_readable() {
        assert_eq!(prose("\u{1b}[2Kok\u{7}"), "\\x1b[2Kok\\x07");
        assert_eq!(prose("a\u{9b}31m\u{7f}"), "a<U+009B>31m\\x7f");
        assert_eq!(prose("100%\rdone\r\nnext\n"), "100%\\rdone\nnext\n");
        assert_eq!(exact("ls\r\nrm x"), "ls\\r\nrm x");
        assert_eq!(
            prose("gpj.\u{202e}exe\u{200b}\u{ad}\u{feff}"),
            "gpj.<U+202E>exe<U+200B><U+00AD><U+FEFF>"
        );
        assert_eq!(prose("hi\u{e0041}\u{e007f}"), "hi<U+E0041><U+E007F>");
        assert_eq!(prose("a\u{2028}b"), "a<U+2028>b");
    }

    #[test]
    fn tabs_reach_the_next_stop() {
        assert_eq!(prose("a\tb\n\tc\n你好\td"), "a   b\n    c\n你好    d");
        assert_eq!(prose("\u{1b}\t|"), "\\x1b    |");
        assert_eq!(exact("a\tb"), "a\\tb");
    }

    #[test]
    fn joiners_and_selectors_stay_where_they_join() {
        for text in ["👨‍👩‍👧‍👦", "🏳️‍🌈", "👩🏿‍🚀", "❤️", "1️⃣", "می‌خواهم", "क्‍ष", "ക്‍ x", "辻\u{e0100}"]
        {
            assert_eq!(prose(text), text);
        }
        assert_eq!(prose("a\u{200d}b"), "a<U+200D>b");
        assert_eq!(prose("👨\u{200d} x"), "👨<U+200D> x");
        assert_eq!(prose("\u{200d}"), "<U+200D>");
        assert_eq!(prose("x\u{fe0f}"), "x<U+FE0F>");
        assert_eq!(prose("😀\u{fe0f}\u{fe01}\u{e0101}"), "😀\u{fe0f}<U+FE01><U+E0101>");
    }

    #[test]
    fn exact_spells_out_all_that_has_no_ink() {
        assert_eq!(exact("👨‍👩"), "👨<U+200D>👩");
        assert_eq!(exact("a\u{a0}b\u{3000}c\u{2800}"), "a<U+00A0>b<U+3000>c<U+2800>");
        assert_eq!(exact("\u{3164}=1;\u{ffa0}\u{115f}"), "<U+3164>=1;<U+FFA0><U+115F>");
        assert_eq!(exact("\u{301}ls e\u{301}"), "<U+0301>ls e\u{301}");
        assert_eq!(hidden("ls\u{a0}-l\u{200b}\t\u{a0}"), ['\u{a0}', '\u{200b}', '\t']);
        assert_eq!(hidden("ls -l\r\n你好"), ['\r']);
        assert!(hidden("ls -l\n你好").is_empty());
    }

    #[test]
    fn what_the_screen_would_leave_out_is_spelled_out() {
        assert_eq!(prose("\u{301}x"), "<U+0301>x");
        assert_eq!(prose("a\u{1161}"), "a<U+1161>");
        let many = format!("a{}", "\u{301}".repeat(40));
        assert_eq!(prose(&many).matches("<U+0301>").count(), 10);
    }

    fn text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            any::<String>(),
            prop::sample::select(CORPUS).prop_map(str::to_owned),
            any::<char>().prop_map(String::from),
            prop::sample::select(
                "\u{1b}\r\n\t\u{200d}\u{fe0f}\u{301}\u{1161}\u{605}a".chars().collect::<Vec<_>>()
            )
            .prop_map(String::from),
        ];
        prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn nothing_that_drives_a_terminal_survives(text in text(), exact in any::<bool>()) {
            let show = if exact { Show::Exact } else { Show::Prose };
            let out = visible(&text, show);
            for c in out.chars() {
                prop_assert!(c == '\n' || !c.is_control(), "{c:?} in {out:?}");
                prop_assert!(!matches!(kind(c), Kind::Control | Kind::Hidden), "{c:?} in {out:?}");
                if exact {
                    prop_assert!(matches!(kind(c), Kind::Ink | Kind::Mark), "{c:?} in {out:?}");
                }
            }
            for grapheme in out.graphemes(true) {
                prop_assert!(grapheme == "\n" || width(grapheme) > 0, "{grapheme:?} in {out:?}");
            }
            prop_assert_eq!(visible(&out, show), out.clone());
            prop_assert_eq!(out.matches('\n').count(), text.matches('\n').count());
            if exact {
                prop_assert_eq!(hidden(&text).is_empty(), out == text);
            }
        }
    }
}
