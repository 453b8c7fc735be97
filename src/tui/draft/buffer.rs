//! The text of a draft as lines, edits on it with undo, and the places that motions lead to.

use std::cell::RefCell;

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation as _};

use super::chips::{Chips, holds_mark};
use super::layout::Layout;

/// Edits that are kept to be undone; beyond that the oldest step is forgotten.
const UNDO: usize = 200;

/// A place between two graphemes: line, and byte in that line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) at: usize,
}

/// A line without its newline.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) text: String,
    /// How it was last laid out; forgotten when the text changes.
    pub(super) layout: RefCell<Option<Layout>>,
}

impl Line {
    fn new(text: String) -> Self {
        Self { text, layout: RefCell::default() }
    }
}

/// The lines of a draft (at least one), and what was done to them.
#[derive(Debug)]
pub(super) struct Text {
    lines: Vec<Line>,
    done: Vec<Edit>,
    undone: Vec<Edit>,
    chips: Chips,
    /// From where to where the pastes stand that were opened.
    opened: Vec<(Place, Place)>,
    /// The next typed character belongs to the last edit.
    typing: bool,
    /// Edits belong to one step, until it ends.
    in_steps: bool,
    /// The step under way has an edit.
    begun: bool,
}

#[derive(Debug)]
struct Edit {
    /// Whether it is undone with the one before it, and done again with that.
    joins: bool,
    at: Place,
    removed: String,
    inserted: String,
    cursor: Place,
}

impl Default for Text {
    fn default() -> Self {
        Self::new("")
    }
}

impl Text {
    pub(super) fn new(text: &str) -> Self {
        Self {
            lines: text.split('\n').map(|line| Line::new(line.to_owned())).collect(),
            done: Vec::new(),
            undone: Vec::new(),
            chips: Chips::default(),
            opened: Vec::new(),
            typing: false,
            in_steps: false,
            begun: false,
        }
    }

    pub(super) fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The pastes that are folded.
    pub(super) fn chips(&self) -> &Chips {
        &self.chips
    }

    /// Folds a text; returns what stands for it, or nothing if there is no room for one more.
    pub(super) fn fold(&mut self, text: String) -> String {
        self.chips.fold(text).map(String::from).unwrap_or_default()
    }

    /// Whether a folded paste stands right after a place.
    pub(super) fn is_folded(&self, place: Place) -> bool {
        let next = self.line(place.line)[place.at..].chars().next();
        next.is_some_and(|mark| self.chips.text(mark).is_some())
    }

    /// A folded paste was opened: its text stands at a place.
    pub(super) fn opened(&mut self, from: Place, text: &str) {
        self.opened.retain(|(start, _)| *start != from);
        self.opened.push((from, after(from, text)));
    }

    /// From where to where the opened paste stands that a place is in.
    pub(super) fn opened_around(&self, place: Place) -> Option<(Place, Place)> {
        let mut opened = self.opened.iter().copied();
        let holds = |(from, to): &(Place, Place)| *from <= place && place <= *to && from < to;
        opened.find(|opened| holds(opened) && !self.is_folded(opened.0))
    }

    /// The text between two places, folded pastes in full.
    pub(super) fn exact(&self, from: Place, to: Place) -> String {
        self.chips.unfolded(self.slice(from, to))
    }

    fn line(&self, line: usize) -> &str {
        self.lines.get(line).map_or("", |line| &line.text)
    }

    pub(super) fn end(&self) -> Place {
        let line = self.lines.len().saturating_sub(1);
        Place { line, at: self.line(line).len() }
    }

    fn slice(&self, from: Place, to: Place) -> String {
        if from.line == to.line {
            return self.line(from.line)[from.at..to.at].to_owned();
        }
        let mut text = self.line(from.line)[from.at..].to_owned();
        for line in &self.lines[from.line + 1..to.line] {
            text.push('\n');
            text.push_str(&line.text);
        }
        text.push('\n');
        text.push_str(&self.line(to.line)[..to.at]);
        text
    }

    /// Replaces a stretch; returns where the cursor then stands. `cursor` is where it stood, for undo.
    pub(super) fn edit(&mut self, from: Place, to: Place, with: &str, cursor: Place) -> Place {
        let removed = self.slice(from, to);
        let typed = removed.is_empty()
            && with != "\n"
            && !holds_mark(with)
            && with.graphemes(true).take(2).count() == 1;
        let end = self.replace(from, to, with);
        self.undone.clear();
        let last = self.done.last_mut().filter(|last| {
            let starts_word = !self.in_steps && last.inserted.ends_with(' ') && with != " ";
            self.typing && typed && !starts_word && after(last.at, &last.inserted) == from
        });
        if let Some(last) = last {
            last.inserted.push_str(with);
        } else {
            let joins = self.in_steps && self.begun;
            if !joins && self.done.len() >= UNDO {
                let joined = self.done.iter().skip(1).take_while(|edit| edit.joins).count();
                self.done.drain(..=joined);
            }
            self.done.push(Edit { joins, at: from, removed, inserted: with.to_owned(), cursor });
            self.begun = true;
        }
        self.typing = typed;
        self.settled(end)
    }

    /// The next character begins an edit of its own.
    pub(super) fn end_typing(&mut self) {
        self.typing = false;
    }

    /// From here on what is edited belongs to one step, until that ends.
    pub(super) fn edit_in_steps(&mut self) {
        self.in_steps = true;
    }

    /// The next edit begins a step of its own.
    pub(super) fn end_step(&mut self) {
        self.begun = false;
        self.typing = false;
    }

    /// Takes the last edit back, and those of the same step; returns where the cursor stood before.
    pub(super) fn undo(&mut self) -> Option<Place> {
        self.end_step();
        loop {
            let edit = self.done.pop()?;
            self.replace(edit.at, after(edit.at, &edit.inserted), &edit.removed);
            let (cursor, joins) = (edit.cursor, edit.joins);
            self.undone.push(edit);
            if !joins || self.done.is_empty() {
                return Some(cursor);
            }
        }
    }

    /// Does again what was last taken back; returns the place after it.
    pub(super) fn redo(&mut self) -> Option<Place> {
        self.end_step();
        loop {
            let edit = self.undone.pop()?;
            let end = self.replace(edit.at, after(edit.at, &edit.removed), &edit.inserted);
            self.done.push(edit);
            if !self.undone.last().is_some_and(|next| next.joins) {
                return Some(self.settled(end));
            }
        }
    }

    fn replace(&mut self, from: Place, to: Place, with: &str) -> Place {
        let end = after(from, with);
        // What is typed before or behind a paste is not of it.
        self.opened.retain_mut(|(start, stop)| {
            let (is_after, is_before) = (*stop <= from, to <= *start);
            let is_within = *start <= from && to <= *stop;
            if is_before {
                *start = moved(*start, to, end);
            }
            if !is_after && (is_before || is_within) {
                *stop = moved(*stop, to, end);
            }
            is_after || is_before || is_within
        });
        if from.line == to.line && !with.contains('\n') {
            let line = &mut self.lines[from.line];
            line.text.replace_range(from.at..to.at, with);
            line.layout.take();
        } else {
            let head = &self.line(from.line)[..from.at];
            let tail = &self.line(to.line)[to.at..];
            let joined = [head, with, tail].concat();
            let lines: Vec<Line> =
                joined.split('\n').map(|line| Line::new(line.to_owned())).collect();
            self.lines.splice(from.line..=to.line, lines);
        }
        end
    }

    /// An edit can join what stands around it into one grapheme: the place is then after that.
    pub(super) fn settled(&self, place: Place) -> Place {
        let line = self.line(place.line);
        let mut graphemes = GraphemeCursor::new(place.at, line.len(), true);
        match graphemes.is_boundary(line, 0) {
            Ok(false) => self.grapheme_after(place),
            _ => place,
        }
    }

    pub(super) fn grapheme_before(&self, place: Place) -> Place {
        if place.at == 0 {
            return place
                .line
                .checked_sub(1)
                .map_or(place, |line| Place { line, at: self.line(line).len() });
        }
        let line = self.line(place.line);
        let before = GraphemeCursor::new(place.at, line.len(), true).prev_boundary(line, 0);
        Place { at: before.ok().flatten().unwrap_or(0), ..place }
    }

    pub(super) fn grapheme_after(&self, place: Place) -> Place {
        let line = self.line(place.line);
        if place.at == line.len() {
            let last = place.line + 1 == self.lines.len();
            return if last { place } else { Place { line: place.line + 1, at: 0 } };
        }
        let after = GraphemeCursor::new(place.at, line.len(), true).next_boundary(line, 0);
        Place { at: after.ok().flatten().unwrap_or(line.len()), ..place }
    }

    /// The start of the word before a place, in this line; at a line's start, the end of the line above.
    pub(super) fn word_before(&self, place: Place) -> Place {
        if place.at == 0 {
            return self.grapheme_before(place);
        }
        let before = &self.line(place.line)[..place.at];
        let word = before.split_word_bound_indices().rev().find(|(_, word)| is_word(word));
        self.settled(Place { at: word.map_or(0, |(at, _)| at), ..place })
    }

    /// The end of the word after a place, in this line; at a line's end, the start of the line below.
    pub(super) fn word_after(&self, place: Place) -> Place {
        let line = self.line(place.line);
        if place.at == line.len() {
            return self.grapheme_after(place);
        }
        let word = line[place.at..].split_word_bound_indices().find(|(_, word)| is_word(word));
        let at = word.map_or(line.len(), |(at, word)| place.at + at + word.len());
        self.settled(Place { at, ..place })
    }

    /// Where the word after a place begins, on this line or below; the end of the text if there is none.
    pub(super) fn next_word(&self, place: Place) -> Place {
        let rest = &self.line(place.line)[place.at..];
        let mut segments = rest.split_word_bound_indices().peekable();
        segments.next_if(|(_, first)| !is_blank(first));
        if let Some((at, _)) = segments.find(|(_, segment)| !is_blank(segment)) {
            return self.settled(Place { at: place.at + at, ..place });
        }
        if place.line + 1 < self.lines.len() {
            self.line_text(Place { line: place.line + 1, at: 0 })
        } else {
            self.end()
        }
    }

    /// Where the word before a place begins, on this line or above.
    pub(super) fn word_start(&self, place: Place) -> Place {
        let before = &self.line(place.line)[..place.at];
        let word = before.split_word_bound_indices().rev().find(|(_, word)| !is_blank(word));
        match (word, place.line.checked_sub(1)) {
            (Some((at, _)), _) => self.settled(Place { at, ..place }),
            (None, Some(line)) => {
                let end = self.line_end(Place { line, at: 0 });
                if end.at == 0 { end } else { self.word_start(end) }
            }
            (None, None) => Place::default(),
        }
    }

    /// The last grapheme of the word that a place is before or in, on this line or below.
    pub(super) fn word_end(&self, place: Place) -> Place {
        let place = self.grapheme_after(place);
        let rest = &self.line(place.line)[place.at..];
        let word = rest.split_word_bound_indices().find(|(_, word)| !is_blank(word));
        match word {
            Some((at, word)) => {
                self.grapheme_before(Place { at: place.at + at + word.len(), ..place })
            }
            None if place.line + 1 < self.lines.len() => self.word_end(self.line_end(place)),
            None => self.end(),
        }
    }

    /// The word, or the blanks, that a place is in; with the blanks after it, or else before it.
    pub(super) fn word_around(&self, place: Place, with_blanks: bool) -> (Place, Place) {
        let line = self.line(place.line);
        let words: Vec<(usize, &str)> = line.split_word_bound_indices().collect();
        let Some(nth) = words.iter().rposition(|(at, _)| *at <= place.at) else {
            return (place, place);
        };
        let (mut from, word) = words[nth];
        let mut to = from + word.len();
        let blank = |nth: usize| words.get(nth).filter(|(_, word)| is_blank(word));
        if with_blanks && let Some((_, blanks)) = blank(nth + 1) {
            to += blanks.len();
        } else if with_blanks && let Some((at, _)) = nth.checked_sub(1).and_then(blank) {
            from = *at;
        }
        (self.settled(Place { at: from, ..place }), self.settled(Place { at: to, ..place }))
    }

    /// The first of a line that is not blank; its end if there is nothing else.
    pub(super) fn line_text(&self, place: Place) -> Place {
        let line = self.line(place.line);
        self.settled(Place { at: line.len() - line.trim_start().len(), ..place })
    }

    pub(super) fn line_start(place: Place) -> Place {
        Place { at: 0, ..place }
    }

    pub(super) fn line_end(&self, place: Place) -> Place {
        Place { at: self.line(place.line).len(), ..place }
    }
}

fn is_word(segment: &str) -> bool {
    segment.chars().any(|c| c.is_alphanumeric() || (!c.is_ascii() && !c.is_whitespace()))
}

fn is_blank(segment: &str) -> bool {
    segment.chars().all(char::is_whitespace)
}

/// Where a place is that came after what was replaced up to `old`, now that it goes up to `new`.
fn moved(place: Place, old: Place, new: Place) -> Place {
    let at = if place.line == old.line { new.at + (place.at - old.at) } else { place.at };
    Place { line: new.line + (place.line - old.line), at }
}

/// The place after a text inserted at a place.
fn after(at: Place, text: &str) -> Place {
    match text.rfind('\n') {
        None => Place { at: at.at + text.len(), ..at },
        Some(last) => {
            Place { line: at.line + text.matches('\n').count(), at: text.len() - last - 1 }
        }
    }
}
