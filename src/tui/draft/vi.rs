//! The normal mode of vi: the motions and operators that people have in their fingers. The cursor
//! stands on the grapheme after its place.

use super::buffer::Text;
use super::{Draft, Place};

/// A command that is typed in part.
#[derive(Debug, Default)]
pub(in crate::tui) struct Half {
    count: Option<usize>,
    operator: Option<Operator>,
    /// The first key of `gg`, of `r` and `f F t T` with a character, and of `iw` and `aw`.
    first: Option<char>,
}

/// What is done with the text that a motion passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Delete,
    Change,
    Yank,
}

impl Operator {
    fn of(key: char) -> Option<Self> {
        Some(match key {
            'd' => Self::Delete,
            'c' => Self::Change,
            'y' => Self::Yank,
            _ => return None,
        })
    }
}

/// What a key came to.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::tui) enum Came {
    /// Done, or the first half of something.
    Nothing,
    /// What is typed from here on is text.
    Insert,
    /// The cursor stays: there is no row above, or below.
    End,
}

/// Where a motion leads.
struct Motion {
    to: Place,
    /// Whether an operator takes the grapheme there too.
    inclusive: bool,
}

/// Counts beyond this are typed by mistake.
const MOST: usize = 9999;

impl Half {
    /// Whether something is typed.
    pub(in crate::tui) fn is_begun(&self) -> bool {
        self.count.is_some() || self.operator.is_some() || self.first.is_some()
    }
}

impl Draft {
    /// Text is being written: until that ends, it is one step to undo.
    pub(in crate::tui) fn write(&mut self) {
        self.text.edit_in_steps();
    }

    /// Enters normal mode: the cursor stands on what was typed last.
    pub(in crate::tui) fn leave_insert(&mut self) {
        self.text.end_step();
        if self.cursor.at > 0 {
            self.go(self.text.grapheme_before(self.cursor));
        }
    }

    /// Takes a key in normal mode.
    pub(in crate::tui) fn vi(&mut self, half: &mut Half, key: char) -> Came {
        self.text.edit_in_steps();
        self.text.end_step();
        let came = self.take(half, key);
        // What is written from here on belongs to the command that began it.
        if came != Came::Insert {
            self.text.end_step();
            self.stay_on_text();
        }
        came
    }

    fn take(&mut self, half: &mut Half, key: char) -> Came {
        match (half.first.take(), key) {
            (Some('r'), with) => {
                let count = half.count.take().unwrap_or(1);
                self.overwrite(count, with);
                return Came::Nothing;
            }
            (Some(how @ ('f' | 'F' | 't' | 'T')), with) => {
                let Half { count, operator, .. } = std::mem::take(half);
                let motion = self.find(how, with, count.unwrap_or(1));
                return match (motion, operator) {
                    (None, _) => Came::Nothing,
                    (Some(motion), Some(operator)) => self.pass(operator, &motion),
                    (Some(motion), None) => {
                        self.go(motion.to);
                        Came::Nothing
                    }
                };
            }
            (Some(how @ ('i' | 'a')), 'w') => {
                let operator = std::mem::take(half).operator;
                let (from, to) = self.text.word_around(self.cursor, how == 'a');
                return operator.map_or(Came::Nothing, |operator| self.apply(operator, from, to));
            }
            (None, first @ ('g' | 'f' | 'F' | 't' | 'T')) => {
                half.first = Some(first);
                return Came::Nothing;
            }
            (None, 'r') if half.operator.is_none() => {
                half.first = Some('r');
                return Came::Nothing;
            }
            (None, first @ ('i' | 'a')) if half.operator.is_some() => {
                half.first = Some(first);
                return Came::Nothing;
            }
            (None, digit @ '0'..='9') if digit != '0' || half.count.is_some() => {
                let digit = usize::from(u8::try_from(digit).unwrap_or(b'0') - b'0');
                half.count = Some((half.count.unwrap_or(0) * 10 + digit).min(MOST));
                return Came::Nothing;
            }
            (Some('g'), 'g') => {}
            (Some(_), _) => {
                *half = Half::default();
                return Came::Nothing;
            }
            _ => {}
        }
        if half.operator.is_none()
            && let Some(operator) = Operator::of(key)
        {
            half.operator = Some(operator);
            return Came::Nothing;
        }
        let Half { count, operator, .. } = std::mem::take(half);
        let count = count.unwrap_or(1);
        match operator {
            Some(operator) => self.operate(operator, key, count),
            None => self.command(key, count),
        }
    }

    fn command(&mut self, key: char, count: usize) -> Came {
        let start = Text::line_start(self.cursor);
        let end = self.text.line_end(self.cursor);
        match key {
            'j' => return self.step_rows(count, super::Direction::Forward),
            'k' => return self.step_rows(count, super::Direction::Back),
            'i' => return Came::Insert,
            'a' => {
                if self.cursor != end {
                    self.go(self.text.grapheme_after(self.cursor));
                }
                return Came::Insert;
            }
            'I' => {
                self.go(self.text.line_text(self.cursor));
                return Came::Insert;
            }
            'A' => {
                self.go(end);
                return Came::Insert;
            }
            'o' => {
                self.go(end);
                self.newline();
                return Came::Insert;
            }
            'O' => {
                self.go(start);
                self.newline();
                self.go(self.text.grapheme_before(self.cursor));
                return Came::Insert;
            }
            'x' => self.kill_to(self.graphemes_after(count)),
            'X' => self.kill_to(self.graphemes_before(count)),
            's' => {
                self.kill_to(self.graphemes_after(count));
                return Came::Insert;
            }
            'D' => self.kill_to(end),
            'C' => {
                self.kill_to(end);
                return Came::Insert;
            }
            'S' => return self.lines(Operator::Change, count),
            'p' | 'P' => (0..count).for_each(|_| self.put(key == 'p')),
            'u' => (0..count).for_each(|_| self.undo()),
            'U' => (0..count).for_each(|_| self.redo()),
            key => {
                if let Some(motion) = self.motion(key, count) {
                    self.go(motion.to);
                }
            }
        }
        Came::Nothing
    }

    fn operate(&mut self, operator: Operator, key: char, count: usize) -> Came {
        if Operator::of(key) == Some(operator) {
            return self.lines(operator, count);
        }
        // `cw` leaves the blank after the word.
        let key = if operator == Operator::Change && key == 'w' { 'e' } else { key };
        let Some(mut motion) = self.motion(key, count) else {
            return Came::Nothing;
        };
        // The last word of a line ends with the line.
        let Motion { to, .. } = motion;
        if key == 'w' && to.line > self.cursor.line && to == self.text.line_text(to) {
            motion.to = self.text.line_end(Place { line: to.line - 1, at: 0 });
        }
        self.pass(operator, &motion)
    }

    /// Does it with what a motion passes.
    fn pass(&mut self, operator: Operator, motion: &Motion) -> Came {
        let from = self.cursor.min(motion.to);
        let mut to = self.cursor.max(motion.to);
        if motion.inclusive && to != self.text.line_end(to) {
            to = self.text.grapheme_after(to);
        }
        self.apply(operator, from, to)
    }

    /// To a character of this line (`f`, `F`), or to the side of it that is nearer (`t`, `T`).
    fn find(&self, how: char, with: char, count: usize) -> Option<Motion> {
        let line = &self.text.lines().get(self.cursor.line)?.text;
        let on = |at| Place { at, ..self.cursor };
        if matches!(how, 'f' | 't') {
            let from = self.text.grapheme_after(self.cursor).at.max(self.cursor.at);
            let (at, _) = line.get(from..)?.match_indices(with).nth(count - 1)?;
            let found = self.text.settled(on(from + at));
            let to = if how == 'f' { found } else { self.text.grapheme_before(found) };
            return Some(Motion { to, inclusive: true });
        }
        let (at, _) = line[..self.cursor.at].rmatch_indices(with).nth(count - 1)?;
        let found = self.text.settled(on(at));
        let to = if how == 'F' { found } else { self.text.grapheme_after(found) };
        Some(Motion { to, inclusive: false })
    }

    fn apply(&mut self, operator: Operator, from: Place, to: Place) -> Came {
        self.go(from);
        match operator {
            Operator::Yank => self.yank = self.text.exact(from, to),
            Operator::Delete | Operator::Change => self.kill_to(to),
        }
        if operator == Operator::Change { Came::Insert } else { Came::Nothing }
    }

    /// Does it with whole lines.
    fn lines(&mut self, operator: Operator, count: usize) -> Came {
        let last = (self.cursor.line + count - 1).min(self.text.end().line);
        let from = Text::line_start(self.cursor);
        let to = self.text.line_end(Place { line: last, at: 0 });
        let text = format!("{}\n", self.text.exact(from, to));
        if operator == Operator::Yank {
            self.yank = text;
            return Came::Nothing;
        }
        // A line goes with the newline that ends it, the last one with that before it.
        let (from, to) = match (operator, last == self.text.end().line) {
            (Operator::Change, _) => (from, to),
            (_, false) => (from, self.text.grapheme_after(to)),
            (_, true) => (self.text.grapheme_before(from), to),
        };
        let came = self.apply(operator, from, to);
        self.yank = text;
        if operator == Operator::Delete {
            self.go(self.text.line_text(self.cursor));
        }
        came
    }

    /// Puts back what was taken last: after the cursor or before it, whole lines below or above.
    fn put(&mut self, after: bool) {
        let end = self.text.line_end(self.cursor);
        let taken = self.yank.clone();
        match taken.strip_suffix('\n') {
            Some(lines) => {
                let line = self.cursor.line + usize::from(after);
                let (at, text) = if after {
                    (end, format!("\n{lines}"))
                } else {
                    (Text::line_start(self.cursor), taken)
                };
                self.go(at);
                self.insert(&text);
                let line = line.min(self.text.end().line);
                self.go(self.text.line_text(Place { line, at: 0 }));
            }
            None => {
                if after && self.cursor != end {
                    self.go(self.text.grapheme_after(self.cursor));
                }
                self.insert(&taken);
                self.go(self.text.grapheme_before(self.cursor));
            }
        }
    }

    fn overwrite(&mut self, count: usize, with: char) {
        let (from, to) = (self.cursor, self.graphemes_after(count));
        if to == self.graphemes_after(count - 1) {
            return;
        }
        self.replace(from, to, &with.to_string().repeat(count));
        self.go(self.text.grapheme_before(self.cursor));
    }

    fn step_rows(&mut self, count: usize, direction: super::Direction) -> Came {
        let moved = (0..count).take_while(|_| self.step_row(direction)).count();
        if moved == 0 { Came::End } else { Came::Nothing }
    }

    fn motion(&self, key: char, count: usize) -> Option<Motion> {
        let repeat = |step: fn(&Text, Place) -> Place| {
            (0..count).fold(self.cursor, |place, _| step(&self.text, place))
        };
        let (to, inclusive) = match key {
            'h' => (self.graphemes_before(count), false),
            'l' | ' ' => (self.graphemes_after(count), false),
            'w' => (repeat(Text::next_word), false),
            'b' => (repeat(Text::word_start), false),
            'e' => (repeat(Text::word_end), true),
            '0' => (Text::line_start(self.cursor), false),
            '^' => (self.text.line_text(self.cursor), false),
            '$' => (self.text.line_end(self.cursor), false),
            'g' => (Place::default(), false),
            'G' => (self.text.end(), false),
            _ => return None,
        };
        Some(Motion { to, inclusive })
    }

    /// So many graphemes on, in this line.
    fn graphemes_after(&self, count: usize) -> Place {
        let end = self.text.line_end(self.cursor);
        (0..count).fold(self.cursor, |place, _| {
            if place == end { place } else { self.text.grapheme_after(place) }
        })
    }

    /// So many graphemes back, in this line.
    fn graphemes_before(&self, count: usize) -> Place {
        (0..count).fold(self.cursor, |place, _| {
            if place.at == 0 { place } else { self.text.grapheme_before(place) }
        })
    }

    /// In normal mode the cursor stands on text, not after the last of a line.
    fn stay_on_text(&mut self) {
        if self.cursor.at > 0 && self.cursor == self.text.line_end(self.cursor) {
            let column = self.column;
            self.go(self.text.grapheme_before(self.cursor));
            self.column = column;
        }
    }
}
