//! Folded pastes: each stands in the draft as one character, its *mark*, and is drawn as a label.
//! The marks are private-use characters of the last plane; a text that itself holds one of them is
//! folded whatever its size, so that a mark in a draft never means anything else.

use crate::text;
use crate::text::say;

const FIRST: u32 = 0x10_0000;
const LAST: u32 = 0x10_FFFD;

/// A paste of more lines or characters than this is folded.
const LINES: usize = 10;
const CHARACTERS: usize = 1_000;

/// The folded texts of a draft, also those that only undo would bring back.
#[derive(Debug, Default)]
pub(super) struct Chips {
    texts: Vec<String>,
}

impl Chips {
    /// Folds a text; returns its mark. `None` after 65,534 of them in one draft.
    pub(super) fn fold(&mut self, text: String) -> Option<char> {
        let number = u32::try_from(self.texts.len()).ok()?;
        let mark = char::from_u32(FIRST + number).filter(|mark| is_mark(*mark))?;
        self.texts.push(text);
        Some(mark)
    }

    /// The text that a mark stands for.
    pub(super) fn text(&self, mark: char) -> Option<&str> {
        let number = u32::from(mark).checked_sub(FIRST)?;
        self.texts.get(usize::try_from(number).ok()?).map(String::as_str)
    }

    /// A piece of the draft with its marks replaced by what they stand for.
    pub(super) fn unfolded(&self, piece: String) -> String {
        if !holds_mark(&piece) {
            return piece;
        }
        let mut exact = String::new();
        for c in piece.chars() {
            match self.text(c) {
                Some(text) => exact.push_str(text),
                None => exact.push(c),
            }
        }
        exact
    }

    /// How a mark is drawn.
    pub(super) fn label(&self, mark: char) -> Option<String> {
        let text = self.text(mark)?;
        let lines = text.lines().count();
        let size = text::bytes(text.len() as u64);
        let told = match lines {
            1 => say!("pasted 1 line, {size}", size = size),
            _ => say!("pasted {lines} lines, {size}", lines = lines, size = size),
        };
        Some(format!("[{told}]"))
    }
}

fn is_mark(c: char) -> bool {
    (FIRST..=LAST).contains(&u32::from(c))
}

/// Whether a text holds a character that is used as a mark.
pub(super) fn holds_mark(text: &str) -> bool {
    // All of them begin with this byte.
    text.as_bytes().contains(&0xF4) && text.chars().any(is_mark)
}

/// Whether a paste is too long to stand in the draft as it is.
pub(super) fn is_long(text: &str) -> bool {
    text.bytes().filter(|byte| *byte == b'\n').nth(LINES - 1).is_some()
        || text.chars().nth(CHARACTERS).is_some()
}
