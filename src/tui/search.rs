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
use super::rows::{Places, Rows};
use super::scroll::Measure;
use super::theme::{Look, Theme};

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
    /// The row of the match it is at.
    pub(super) row: usize,
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

    /// Goes to the nearest match: what is looked through is another text now.
    pub(super) fn near(&mut self) {
        self.step = Step::Near;
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
        Found { here, total: rows.len(), row: rows[here], moved }
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
    found: Places,
}

impl Matches {
    /// Brings them up to date; they are dropped when the rows are made anew.
    fn update(&mut self, rows: &Rows, needle: &str) {
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
    let found = search.map(|search| search.choose(&matches.found.rows, measure));
    let here = found.filter(|found| found.total > 0).map(|found| found.here);
    rows.draw_found(measure.top, &matches.found.places, here, area, buf, theme);
    found
}

/// The rows of a list that hold what is looked for, on the screen or in what opening them shows.
#[derive(Debug, Default)]
pub(super) struct Listed {
    needle: String,
    /// What else they depend on.
    of: u64,
    rows: Vec<usize>,
}

impl Listed {
    /// Finds the rows, unless that was done for the same list; chooses the one to be at, near the
    /// `selected` one. `holds` tells whether a row is one of them.
    pub(super) fn update(
        &mut self,
        search: Option<&Search>,
        (of, total): (u64, usize),
        selected: usize,
        holds: impl Fn(usize, &str) -> bool,
    ) -> Option<Found> {
        let needle = search.map_or("", Search::needle);
        if self.needle != needle || self.of != of {
            let holding = (0..total).filter(|row| !needle.is_empty() && holds(*row, needle));
            *self = Self { needle: needle.to_owned(), of, rows: holding.collect() };
        }
        let mut measure = Measure { top: selected, total, height: 1 };
        search.map(|search| search.choose(&self.rows, &mut measure))
    }

    /// How a row is marked, if it is one of them.
    pub(super) fn look(&self, row: usize, found: Option<Found>) -> Option<Look> {
        self.rows.binary_search(&row).ok()?;
        let here = found.is_some_and(|found| found.row == row);
        Some(if here { Look::FoundHere } else { Look::Found })
    }
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
        (context, Action::Back) if context.is_pane() && model.searched(model.focus).is_some() => {
            end(model);
        }
        (Context::Tools | Context::Inspector, Action::Open | Action::Show(_)) => {
            if let Some(search) = model.search.as_mut().filter(|s| s.pane == model.focus) {
                search.near();
            }
            return false;
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
    let mut from = 0;
    while let Some(place) = find_from(text, needle, from) {
        from = place.end;
        found.push(place);
    }
    found
}

/// Whether a text holds another, capitals or not.
pub(super) fn holds(text: &str, needle: &str) -> bool {
    find_from(text, needle, 0).is_some()
}

/// The first place from `from` on at which a text holds another; nothing is held nowhere.
fn find_from(text: &str, needle: &str, mut from: usize) -> Option<Range<usize>> {
    let first = needle.chars().next()?;
    let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
    loop {
        let start = from + next(&text[from..], lower, upper, first)?;
        if let Some(length) = matched(&text[start..], needle) {
            return Some(start..start + length);
        }
        from = start + text[start..].chars().next().map_or(1, char::len_utf8);
    }
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
