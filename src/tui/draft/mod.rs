//! The editor of the prompt, of an edited command and of a reason: text, cursor, keys, drawing.
//!
//! Every motion and deletion steps by grapheme. The text is kept exactly as typed or pasted (only CR
//! LF and CR become newlines) and is what will be sent; what cannot be seen in it is drawn as marks.
//!
//! It is not built on ratatui-textarea: that editor steps by `char`, addresses its cursor by 16-bit
//! columns (so a pasted line of 100 kB cannot be edited), measures the whole text again at every key,
//! and wraps otherwise than the rest of the screen. Without motions, wrapping and drawing only a list
//! of lines would be left of it.

mod buffer;
mod chips;
mod layout;
pub(super) mod vi;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use self::buffer::{Place, Text};
use self::chips::{holds_mark, is_long};
use self::layout::View;

/// A text being written.
#[derive(Debug, Default)]
pub(super) struct Draft {
    text: Text,
    cursor: Place,
    view: View,
    /// The screen column that a run of Up and Down tries to keep.
    column: Option<usize>,
    /// What the last deletion of more than a grapheme took.
    yank: String,
    /// Whether long pastes are folded.
    folds: bool,
}

impl Draft {
    /// A draft that holds a text, with the cursor at its end.
    pub(super) fn with_text(text: &str) -> Self {
        let mut draft = Self::default();
        draft.set_text(text);
        draft
    }

    /// An empty draft in which long pastes are folded.
    pub(super) fn folding() -> Self {
        Self { folds: true, ..Self::default() }
    }

    /// The text as it will be sent.
    pub(super) fn text(&self) -> String {
        self.text.exact(Place::default(), self.text.end())
    }

    /// Whether there is no text at all.
    pub(super) fn is_empty(&self) -> bool {
        self.text.end() == Place::default()
    }

    /// Whether a part of it is folded, so that it does not stand there as it will be sent.
    pub(super) fn is_folded(&self) -> bool {
        self.text.lines().iter().any(|line| holds_mark(&line.text))
    }

    /// Removes the text; undo brings it back.
    pub(super) fn clear(&mut self) {
        self.text.end_step();
        self.replace(Place::default(), self.text.end(), "");
        self.text.end_step();
    }

    /// Puts another text in place; undo brings the first back. The cursor stands at its end.
    pub(super) fn replace_all(&mut self, text: &str) {
        let text = newlines(text);
        if text != self.text() {
            self.clear();
            self.insert(&text);
        }
    }

    /// Puts another text in place; nothing is left to undo. The cursor stands at its end.
    pub(super) fn set_text(&mut self, text: &str) {
        let text = newlines(text);
        if holds_mark(&text) {
            self.text = Text::default();
            let mark = self.text.fold(text);
            self.text.edit(Place::default(), Place::default(), &mark, Place::default());
        } else {
            self.text = Text::new(&text);
        }
        self.cursor = self.text.end();
        self.column = None;
    }

    /// Inserts a pasted text as it is; CR LF and CR become newlines. Whether it is folded.
    pub(super) fn paste(&mut self, text: &str) -> bool {
        let text = newlines(text);
        let folded = self.folds && is_long(&text);
        if folded {
            let mark = self.text.fold(text);
            self.replace(self.cursor, self.cursor, &mark);
        } else {
            self.insert(&text);
        }
        folded
    }

    /// Where the folded paste beside the cursor stands that can be opened.
    fn folded(&self) -> Option<(Place, Place)> {
        let sides = [
            (self.text.grapheme_before(self.cursor), self.cursor),
            (self.cursor, self.text.grapheme_after(self.cursor)),
        ];
        let can = |(from, to): &(Place, Place)| {
            from < to && self.text.is_folded(*from) && !holds_mark(&self.text.exact(*from, *to))
        };
        sides.into_iter().find(can)
    }

    /// Whether there is a folded paste beside the cursor that can be opened.
    pub(super) fn can_unfold(&self) -> bool {
        self.folded().is_some()
    }

    /// Opens the folded paste beside the cursor: its text stands in the draft then. Returns whether
    /// there is one.
    pub(super) fn unfold(&mut self) -> bool {
        let Some((from, to)) = self.folded() else { return false };
        let text = self.text.exact(from, to);
        self.replace(from, to, &text);
        self.text.opened(from, &text);
        true
    }

    /// Whether the cursor is in a paste that was opened.
    pub(super) fn can_fold(&self) -> bool {
        self.text.opened_around(self.cursor).is_some()
    }

    /// Folds the paste that was opened around the cursor, as it stands there now. Returns whether
    /// there is one.
    pub(super) fn fold(&mut self) -> bool {
        let Some((from, to)) = self.text.opened_around(self.cursor) else { return false };
        let text = self.text.exact(from, to);
        let mark = self.text.fold(text);
        if mark.is_empty() {
            return false;
        }
        self.replace(from, to, &mark);
        true
    }

    /// The row of the cursor, from 1, and how many there are, as it was drawn last.
    pub(super) fn place(&self) -> (usize, usize) {
        self.view.place(&self.text, self.cursor)
    }

    /// Ctrl-Y will insert this text.
    pub(super) fn keep(&mut self, text: &str) {
        self.yank = newlines(text);
    }

    /// The cursor's line up to the cursor, and whether it is the first.
    pub(super) fn before_cursor(&self) -> (&str, bool) {
        let line = self.text.lines().get(self.cursor.line).map_or("", |line| &line.text);
        (&line[..self.cursor.at], self.cursor.line == 0)
    }

    /// The first line.
    pub(super) fn first_line(&self) -> &str {
        self.text.lines().first().map_or("", |line| &line.text)
    }

    /// Puts a text in place of so many bytes of the line before the cursor.
    pub(super) fn replace_before(&mut self, bytes: usize, with: &str) {
        let at = self.cursor.at.saturating_sub(bytes);
        self.replace(Place { at, ..self.cursor }, self.cursor, with);
    }

    /// Breaks the line at the cursor.
    pub(super) fn newline(&mut self) {
        self.insert("\n");
    }

    /// Rows that the text needs at a width.
    pub(super) fn rows(&self, width: u16) -> u16 {
        u16::try_from(self.view.rows(&self.text, width)).unwrap_or(u16::MAX)
    }

    /// Draws the rows around the cursor; returns the cell of the hardware cursor.
    pub(super) fn draw(&self, area: Rect, buf: &mut Buffer, style: Style) -> Option<Position> {
        self.view.draw(&self.text, self.cursor, area, buf, style)
    }

    /// Takes a key. Returns `false`, having changed nothing, for a key that the editor has no use
    /// for: among them Enter, Tab, Esc, Up on the first row, Down on the last, Ctrl-D when empty.
    pub(super) fn key(&mut self, key: KeyEvent) -> bool {
        if key.kind == KeyEventKind::Release {
            return false;
        }
        let modifiers = key.modifiers - KeyModifiers::SHIFT;
        let ctrl = modifiers == KeyModifiers::CONTROL;
        let alt = modifiers == KeyModifiers::ALT;
        let plain = modifiers.is_empty();
        match key.code {
            KeyCode::Up if plain => return self.step_row(Direction::Back),
            KeyCode::Down if plain => return self.step_row(Direction::Forward),

            KeyCode::Left if plain => self.go(self.text.grapheme_before(self.cursor)),
            KeyCode::Char('b') if ctrl => self.go(self.text.grapheme_before(self.cursor)),
            KeyCode::Right if plain => self.go(self.text.grapheme_after(self.cursor)),
            KeyCode::Char('f') if ctrl => self.go(self.text.grapheme_after(self.cursor)),
            KeyCode::Left if ctrl || alt => self.go(self.text.word_before(self.cursor)),
            KeyCode::Char('b') if alt => self.go(self.text.word_before(self.cursor)),
            KeyCode::Right if ctrl || alt => self.go(self.text.word_after(self.cursor)),
            KeyCode::Char('f') if alt => self.go(self.text.word_after(self.cursor)),
            KeyCode::Home if plain => self.go(Text::line_start(self.cursor)),
            KeyCode::Char('a') if ctrl => self.go(Text::line_start(self.cursor)),
            KeyCode::End if plain => self.go(self.text.line_end(self.cursor)),
            KeyCode::Char('e') if ctrl => self.go(self.text.line_end(self.cursor)),
            KeyCode::Home if ctrl => self.go(Place::default()),
            KeyCode::End if ctrl => self.go(self.text.end()),

            // Many terminals send Ctrl-H for Backspace.
            KeyCode::Backspace if plain => self.delete_to(self.text.grapheme_before(self.cursor)),
            KeyCode::Char('h') if ctrl => self.delete_to(self.text.grapheme_before(self.cursor)),
            KeyCode::Char('d') if ctrl && self.is_empty() => return false,
            KeyCode::Delete if plain => self.delete_to(self.text.grapheme_after(self.cursor)),
            KeyCode::Char('d') if ctrl => self.delete_to(self.text.grapheme_after(self.cursor)),
            KeyCode::Char('w') if ctrl => self.kill_to(self.text.word_before(self.cursor)),
            KeyCode::Backspace if alt || ctrl => self.kill_to(self.text.word_before(self.cursor)),
            KeyCode::Char('d') if alt => self.kill_to(self.text.word_after(self.cursor)),
            KeyCode::Delete if alt || ctrl => self.kill_to(self.text.word_after(self.cursor)),
            KeyCode::Char('u') if ctrl => {
                let start = Text::line_start(self.cursor);
                let at_start = start == self.cursor;
                self.kill_to(if at_start { self.text.grapheme_before(start) } else { start });
            }
            KeyCode::Char('k') if ctrl => {
                let end = self.text.line_end(self.cursor);
                let at_end = end == self.cursor;
                self.kill_to(if at_end { self.text.grapheme_after(end) } else { end });
            }
            KeyCode::Char('y') if ctrl => {
                let yank = self.yank.clone();
                self.paste(&yank);
            }

            // Terminals send Ctrl-_ as 0x1F, which arrives as Ctrl-7.
            KeyCode::Char('_' | '7' | '/' | '-') if ctrl => self.undo(),
            KeyCode::Char('z') if alt => self.undo(),
            KeyCode::Char('Z') if alt => self.redo(),

            KeyCode::Char(c) if plain => {
                let mut bytes = [0; 4];
                self.insert(c.encode_utf8(&mut bytes));
            }
            _ => return false,
        }
        true
    }

    fn insert(&mut self, text: &str) {
        if holds_mark(text) {
            let mark = self.text.fold(text.to_owned());
            self.replace(self.cursor, self.cursor, &mark);
        } else {
            self.replace(self.cursor, self.cursor, text);
        }
    }

    fn replace(&mut self, from: Place, to: Place, with: &str) {
        if from == to && with.is_empty() {
            return;
        }
        self.cursor = self.text.edit(from, to, with, self.cursor);
        self.column = None;
    }

    fn go(&mut self, place: Place) {
        self.cursor = place;
        self.column = None;
        self.text.end_typing();
    }

    fn delete_to(&mut self, place: Place) {
        let (from, to) = (place.min(self.cursor), place.max(self.cursor));
        self.replace(from, to, "");
    }

    fn kill_to(&mut self, place: Place) {
        let (from, to) = (place.min(self.cursor), place.max(self.cursor));
        if from != to {
            self.yank = self.text.exact(from, to);
            self.replace(from, to, "");
        }
    }

    fn undo(&mut self) {
        if let Some(cursor) = self.text.undo() {
            self.go(cursor);
        }
    }

    fn redo(&mut self) {
        if let Some(cursor) = self.text.redo() {
            self.go(cursor);
        }
    }

    fn step_row(&mut self, direction: Direction) -> bool {
        let column = self.column.unwrap_or_else(|| self.view.column(&self.text, self.cursor));
        let Some(place) = self.view.beside(&self.text, self.cursor, direction, column) else {
            return false;
        };
        self.go(place);
        self.column = Some(column);
        true
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Back,
    Forward,
}

fn newlines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

#[cfg(test)]
mod tests;
