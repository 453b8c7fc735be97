//! The line that names the six views with their keys; the one that is shown stands in brackets.

use super::View;
use crate::text;
use crate::tui::paint::Piece;
use crate::tui::theme::Look;

const NAMES: [(&str, &str, &str); 6] = [
    ("1", "roles", "roles"),
    ("2", "message", "msg"),
    ("3", "diff", "diff"),
    ("4", "request", "req"),
    ("5", "response", "resp"),
    ("6", "usage", "use"),
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
            let name = if exact && view == View::Message { "exact" } else { name };
            pieces.extend(["[", name, "]"].map(|text| (text, Look::Focus)));
        } else {
            let look = |text| if text == key { Look::Key } else { Look::Dim };
            pieces.extend(of(key, name, short).into_iter().map(|text| (text, look(text))));
        }
    }
    pieces
}
