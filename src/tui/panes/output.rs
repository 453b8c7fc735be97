//! All that a command wrote, as a person would have seen it in a terminal, colours included. It is
//! read from the session's directory when it is asked for; what the model was told is another text.

use crate::text::{Ink, Printed, Show, visible, width};
use crate::text::{say, translated};
use crate::tui::rows::{Line, Rows};
use crate::tui::theme::Look;

/// Columns between tab stops.
const TAB: usize = 4;

/// The output of the opened call, from when it is asked for.
#[derive(Debug)]
pub(in crate::tui) enum Output {
    /// It is to be read.
    Wanted,
    /// It is being read.
    Asked,
    /// It was read, or could not be.
    Read(Result<Vec<u8>, String>),
}

/// What a command wrote, as it was left on a terminal, without its colours.
pub(super) fn plain(bytes: &[u8]) -> String {
    let mut text = String::new();
    let mut printed = Printed::default();
    let mut take = |piece: &str, _| text.push_str(piece);
    printed.push(bytes, &mut take);
    printed.finish(&mut take);
    text
}

impl Output {
    /// What was read, as it was left on a terminal.
    pub(super) fn text(&self) -> Option<String> {
        let Self::Read(Ok(bytes)) = self else { return None };
        Some(plain(bytes))
    }

    /// Its rows below those that are there.
    pub(super) fn lay_out(&self, rows: &mut Rows, width: u16) {
        match self {
            Self::Wanted | Self::Asked => rows.push(say!("reading …"), Look::Dim, 0, width),
            Self::Read(Err(why)) => rows.push(&translated(why), Look::Bad, 0, width),
            Self::Read(Ok(bytes)) => lay_out(rows, bytes, width),
        }
    }
}

/// Rows of what a command wrote, in its colours.
pub(super) fn lay_out(rows: &mut Rows, bytes: &[u8], width: u16) {
    let mut line = Line::default();
    let mut printed = Printed::default();
    let mut take = |text: &str, ink: Ink| {
        for piece in text.split_inclusive('\n') {
            add(&mut line, piece.trim_end_matches('\n'), ink);
            if piece.ends_with('\n') {
                rows.push_line(&line, width);
                line.text.clear();
                line.spans.clear();
            }
        }
    };
    printed.push(bytes, &mut take);
    printed.finish(&mut take);
    if !line.text.is_empty() {
        rows.push_line(&line, width);
    }
}

fn add(line: &mut Line, piece: &str, ink: Ink) {
    let start = line.text.len();
    for (index, part) in piece.split('\t').enumerate() {
        if index > 0 {
            let gap = TAB - width(&line.text) % TAB;
            line.text.extend(std::iter::repeat_n(' ', gap));
        }
        line.text.push_str(&visible(part, Show::Prose));
    }
    if ink != Ink::default() && line.text.len() > start {
        line.spans.push((start..line.text.len(), Look::Printed(ink)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_shown_in_its_last_state_and_its_colours() {
        let bytes = b"10%\r100%\n\x1b[31mred\x1b[0m\tplain \x1b]0;title\x07\x1b[2J\x1b[6n\nend";
        let mut rows = Rows::default();
        Output::Read(Ok(bytes.to_vec())).lay_out(&mut rows, 40);
        assert_eq!(rows.texts(), ["100%", "red plain ", "end"]);
        let spans = rows.spanned();
        assert_eq!(spans.len(), 1);
        assert_eq!(spans[0].0, "red");
    }

    #[test]
    fn a_hundred_thousand_lines_are_laid_out_at_once() {
        let bytes: Vec<u8> =
            (0..100_000).flat_map(|n| format!("line {n} of it\n").into_bytes()).collect();
        let started = std::time::Instant::now();
        let mut rows = Rows::default();
        Output::Read(Ok(bytes)).lay_out(&mut rows, 80);
        assert_eq!(rows.len(), 100_000);
        assert!(started.elapsed() < std::time::Duration::from_secs(5), "{:?}", started.elapsed());
    }
}
