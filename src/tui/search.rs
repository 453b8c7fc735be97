//! Finding a text in the pane that has the keys: as it is typed, counted, from match to match. What
//! matches is highlighted; drawing finds where the matches are and tells which one it is at.

use crate::text::say;
use std::ops::Range;

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::draft::Draft;
use super::keymap::{Action, Context};
use super::model::{Focus, Model};
use super::rows::Rows;
use super::scroll::Measure;
use super::theme::Theme;

/// A search in one pane.
#[derive(Debug)]
pub(super) struct Search {
    pub(super) pane: Focus,
    pub(super) field: Draft,
    /// Whether keys go to the field.
    pub(super) typing: bool,
    needle: String,
    step: Step,
    pub(super) found: Found,
}

/// What the next frame has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Stay,
    /// To the first match in sight or below it, else to the last one.
    Near,
    /// So many matches on, and round.
    By(isize),
}

/// Where a search stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// The match it is at, from 0.
    pub(super) here: usize,
    /// All matches.
    pub(super) total: usize,
    /// Whether it went there with this frame.
    pub(super) moved: bool,
}

impl Search {
    pub(super) fn new(pane: Focus) -> Self {
        Self {
            pane,
            field: Draft::default(),
            typing: true,
            needle: String::new(),
            step: Step::Stay,
            found: Found::default(),
        }
    }

    /// What is looked for; empty if nothing is.
    pub(super) fn needle(&self) -> &str {
        &self.needle
    }

    /// Takes a key for the field; whether what is looked for is another text now.
    fn key(&mut self, key: KeyEvent) -> bool {
        self.field.key(key);
        self.typed()
    }

    /// Takes a pasted text, up to the end of its first line.
    fn paste(&mut self, text: &str) -> bool {
        self.field.paste(text.lines().next().unwrap_or_default());
        self.typed()
    }

    fn typed(&mut self) -> bool {
        let needle = self.field.text().replace('\n', " ");
        let changed = needle != self.needle;
        if changed {
            self.needle = needle;
            self.step = Step::Near;
        }
        changed
    }

    /// Goes so many matches on.
    pub(super) fn step(&mut self, by: isize) {
        self.step = match self.step {
            Step::By(before) => Step::By(before + by),
            Step::Stay | Step::Near => Step::By(by),
        };
    }

    /// Chooses the match to be at, and brings its row into sight. `rows` are the rows of all matches.
    pub(super) fn choose(&self, rows: &[usize], measure: &mut Measure) -> Found {
        let Some(last) = rows.len().checked_sub(1) else { return Found::default() };
        let before = self.found.here.min(last);
        let here = match self.step {
            Step::Stay => before,
            Step::Near => rows.iter().position(|row| *row >= measure.top).unwrap_or(last),
            Step::By(by) => {
                let count = isize::try_from(rows.len()).unwrap_or(isize::MAX);
                let to = (isize::try_from(before).unwrap_or(0) + by).rem_euclid(count);
                usize::try_from(to).unwrap_or(0)
            }
        };
        let moved = self.step != Step::Stay;
        let in_sight = measure.top..measure.top + measure.height;
        if moved && !in_sight.contains(&rows[here]) {
            let last_top = measure.total.saturating_sub(measure.height);
            measure.top = rows[here].saturating_sub(measure.height / 3).min(last_top);
        }
        Found { here, total: rows.len(), moved }
    }

    /// Takes over what was drawn.
    pub(super) fn drawn(&mut self, found: Found) {
        self.found = found;
        self.step = Step::Stay;
    }
}

/// The matches in the rows of a pane.
#[derive(Debug, Default)]
pub(super) struct Matches {
    needle: String,
    pub(super) found: Vec<Range<usize>>,
}

impl Matches {
    /// Brings them up to date; they are dropped when the rows are made anew.
    pub(super) fn update(&mut self, rows: &Rows, needle: &str) {
        if self.needle != needle {
            needle.clone_into(&mut self.needle);
            self.found = rows.find(needle);
        }
    }
}

/// Draws rows with what a search found in them; returns what that came to.
pub(super) fn draw_rows(
    (rows, matches): (&Rows, &mut Matches),
    search: Option<&Search>,
    measure: &mut Measure,
    area: Rect,
    buf: &mut Buffer,
    theme: &Theme,
) -> Option<Found> {
    matches.update(rows, search.map_or("", Search::needle));
    let found = search.map(|search| {
        let places: Vec<usize> =
            matches.found.iter().map(|range| rows.row_of(range.start)).collect();
        search.choose(&places, measure)
    });
    let here = found.filter(|found| found.total > 0).map(|found| found.here);
    rows.draw_found(measure.top, &matches.found, here, area, buf, theme);
    found
}

/// Takes a key that is about searching; whether it was one.
pub(super) fn act(model: &mut Model, context: Context, action: Action) -> bool {
    match (context, action) {
        (_, Action::Find) => {
            end(model);
            let pane = model.pane_with_keys(context).unwrap_or(model.focus);
            model.focus = pane;
            model.search = Some(Search::new(pane));
        }
        (_, Action::NextMatch | Action::PreviousMatch) => {
            let by = if action == Action::NextMatch { 1 } else { -1 };
            match model.search.as_mut().filter(|search| search.pane == model.focus) {
                Some(search) => search.step(by),
                None => model.note = Some(say!("Nothing is looked for: / begins.").to_owned()),
            }
        }
        (Context::Search, Action::Submit) => match &mut model.search {
            Some(search) if !search.needle.is_empty() => search.typing = false,
            _ => end(model),
        },
        (Context::Search, Action::Back) => end(model),
        (Context::Conversation | Context::Call | Context::Message, Action::Back)
            if model.searched(model.focus).is_some() =>
        {
            end(model);
        }
        _ => return false,
    }
    true
}

/// Takes a key for the field.
pub(super) fn typed(model: &mut Model, key: KeyEvent) {
    if model.search.as_mut().is_some_and(|search| search.key(key)) {
        changed(model);
    }
}

/// Takes a pasted text for the field.
pub(super) fn pasted(model: &mut Model, text: &str) {
    if model.search.as_mut().is_some_and(|search| search.paste(text)) {
        changed(model);
    }
}

/// What is looked for is another text now.
fn changed(model: &mut Model) {
    if let Some(search) = model.search.as_ref().filter(|s| s.pane == Focus::Conversation) {
        model.conversation.unfold_matches(search.needle(), &model.session);
    }
}

/// Ends the search.
pub(super) fn end(model: &mut Model) {
    if model.search.take().is_some_and(|search| search.pane == Focus::Conversation) {
        model.conversation.unfold_matches("", &model.session);
    }
}

/// Where a text holds another, capitals or not; matches do not overlap.
pub(super) fn find(text: &str, needle: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let Some(first) = needle.chars().next() else { return found };
    let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
    let mut from = 0;
    while let Some(at) = next(&text[from..], lower, upper, first) {
        let start = from + at;
        match matched(&text[start..], needle) {
            Some(length) => {
                found.push(start..start + length);
                from = start + length;
            }
            None => from = start + text[start..].chars().next().map_or(1, char::len_utf8),
        }
    }
    found
}

/// Whether a text holds another, capitals or not.
pub(super) fn holds(text: &str, needle: &str) -> bool {
    !find(text, needle).is_empty()
}

/// The next place at which a match may begin.
fn next(text: &str, lower: char, upper: char, first: char) -> Option<usize> {
    if first.is_ascii() {
        let (lower, upper) = (lower as u8, upper as u8);
        return text.bytes().position(|byte| byte == lower || byte == upper);
    }
    let folded = fold(first);
    text.char_indices().find(|(_, c)| fold(*c) == folded).map(|(at, _)| at)
}

/// Bytes of the match that a text begins with.
fn matched(text: &str, needle: &str) -> Option<usize> {
    let mut chars = text.char_indices();
    for wanted in needle.chars() {
        let (_, c) = chars.next()?;
        if c != wanted && fold(c) != fold(wanted) {
            return None;
        }
    }
    Some(chars.next().map_or(text.len(), |(at, _)| at))
}

fn fold(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capitals_make_no_difference_and_matches_do_not_overlap() {
        let texts = |text: &'static str, needle: &str| -> Vec<&str> {
            find(text, needle).into_iter().map(|range| &text[range]).collect()
        };
        assert_eq!(texts("Error, error: ERRor", "error"), ["Error", "error", "ERRor"]);
        assert_eq!(texts("aaaaa", "aa"), ["aa", "aa"]);
        assert_eq!(texts("Übel übel 你好你好", "üb"), ["Üb", "üb"]);
        assert_eq!(texts("你好你好", "好你"), ["好你"]);
        assert_eq!(texts("abc", ""), [""; 0]);
        assert_eq!(texts("İx ix", "ix"), ["ix"]);
    }
}
