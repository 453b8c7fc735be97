//! The line that names the six views with their keys; the one that is shown stands in brackets.

use super::View;
use crate::text;
use crate::text::{Phrase, phrase, say};
use crate::tui::paint::Piece;
use crate::tui::theme::Look;

const NAMES: [(&str, Phrase, Phrase); 6] = [
    ("1", phrase("roles"), phrase("roles")),
    ("2", phrase("message"), phrase("msg")),
    ("3", phrase("diff"), phrase("diff")),
    ("4", phrase("request"), phrase("req")),
    ("5", phrase("response"), phrase("resp")),
    ("6", phrase("usage"), phrase("use")),
];

/// The pieces of the line: with whole names, else with short ones, else without the keys.
pub(super) fn line(shown: View, exact: bool, width: u16) -> Vec<Piece<'static>> {
    let columns =
        |pieces: &[Piece<'_>]| -> usize { pieces.iter().map(|(text, _)| text::width(text)).sum() };
    let fits = |pieces: &Vec<Piece<'_>>| columns(pieces) <= usize::from(width);
    let whole = pieces(shown, exact, |key, name, _| vec![key, " ", name]);
    let short = pieces(shown, exact, |key, _, short| vec![key, " ", short]);
    let bare = pieces(shown, exact, |_, _, short| vec![short]);
    [whole, short].into_iter().find(fits).unwrap_or(bare)
}

fn pieces(
    shown: View,
    exact: bool,
    of: impl Fn(&'static str, &'static str, &'static str) -> Vec<&'static str>,
) -> Vec<Piece<'static>> {
    let mut pieces = Vec::new();
    for (view, (key, name, short)) in View::ALL.into_iter().zip(NAMES) {
        if !pieces.is_empty() {
            pieces.push((" ", Look::Dim));
        }
        if view == shown {
            let name = if exact && view == View::Message { say!("exact") } else { name.text() };
            pieces.extend(["[", name, "]"].map(|text| (text, Look::Focus)));
        } else {
            let look = |text| if text == key { Look::Key } else { Look::Dim };
            pieces.extend(
                of(key, name.text(), short.text()).into_iter().map(|text| (text, look(text))),
            );
        }
    }
    pieces
}
