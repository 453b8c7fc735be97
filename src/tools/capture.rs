//! What is kept of a command's output: the start and the end of its plain text, whatever its
//! size, and counts of all of it. Memory stays flat.
//!
//! Not here: how the kept text becomes a result (`result`), the raw bytes on disk (`output_file`).

use std::borrow::Cow;

use super::inked::Inked;
use crate::text::{Printed, Redactor, Secrets};

/// Bytes of the newest lines at most.
pub(super) const NEWEST: usize = 16 * 1024;

/// Characters of the start that are kept.
const HEAD: usize = 50_000;

/// Bytes of the end that are kept at least (50,000 characters of the longest kind).
const TAIL: usize = 200_000;

/// Takes the output as it comes.
#[derive(Debug, Default)]
pub(super) struct Capture {
    printed: Printed,
    /// Escapes may have stood within a key, so that it shows only here.
    redactor: Redactor,
    secrets: Secrets,
    kept: Kept,
    inked: Inked,
    /// Bytes that the command wrote, counted by who reads them.
    pub(super) produced: u64,
}

/// The start and the end of a text.
#[derive(Debug, Default)]
struct Kept {
    head: String,
    head_chars: usize,
    tail: String,
    /// Bytes of the whole text.
    bytes: u64,
    /// Newlines of the whole text.
    newlines: u64,
}

/// The output, complete or shortened in the middle.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Excerpt {
    /// All of it.
    Whole(String),
    /// Its start and its end, cut at line ends where lines are short enough.
    Cut {
        /// The start.
        head: String,
        /// The end.
        tail: String,
        /// Bytes of plain text between them.
        bytes: u64,
        /// Lines that end between them.
        lines: u64,
    },
}

impl Capture {
    /// Keeps these out of the text.
    pub(super) fn without(secrets: Secrets) -> Self {
        Self { redactor: Redactor::new(secrets.clone()), secrets, ..Self::default() }
    }

    /// Takes more output.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let Self { printed, redactor, kept, inked, .. } = self;
        printed.push(bytes, &mut |text, ink| {
            let text = redactor.push_text(text);
            kept.push(&text);
            inked.push(&text, ink, NEWEST);
        });
    }

    /// Nothing more comes.
    pub(super) fn finish(&mut self) {
        let Self { printed, redactor, kept, inked, .. } = self;
        printed.finish(&mut |text, ink| {
            let text = redactor.push_text(text);
            kept.push(&text);
            inked.push(&text, ink, NEWEST);
        });
        kept.push(&String::from_utf8_lossy(&redactor.finish()));
    }

    /// Whether a key was replaced.
    pub(super) fn is_redacted(&self) -> bool {
        self.redactor.found > 0
    }

    /// The newest text, the unfinished line included: at most `most` bytes. In its colours, unless a
    /// key is to be replaced in it.
    pub(super) fn newest(&self, most: usize) -> String {
        let line = self.printed.open_line();
        let mut text = String::new();
        let room = most.saturating_sub(line.len());
        let from_head = room.saturating_sub(self.kept.tail.len());
        text.push_str(if self.kept.dropped() == 0 { end(&self.kept.head, from_head) } else { "" });
        text.push_str(end(&self.kept.tail, room));
        text.push_str(end(&line, most));
        if let Cow::Owned(redacted) = self.secrets.redact(&text) {
            return redacted;
        }
        let mut inked = self.inked.clone();
        self.printed.open_pieces(&mut |text, ink| inked.push(text, ink, NEWEST));
        if inked.is_coloured() { inked.newest(most).to_owned() } else { text }
    }

    /// Bytes that were not UTF-8.
    pub(super) fn invalid(&self) -> u64 {
        self.printed.invalid
    }

    /// NUL characters.
    pub(super) fn nuls(&self) -> u64 {
        self.printed.nuls
    }

    /// Lines of the finished text, a last one without its newline included.
    pub(super) fn lines(&self) -> u64 {
        let Kept { head, tail, newlines, .. } = &self.kept;
        let last = if tail.is_empty() { head } else { tail };
        newlines + u64::from(!last.is_empty() && !last.ends_with('\n'))
    }

    /// At most `most` characters of the finished text; `most` is not above 50,000.
    pub(super) fn excerpt(&self, most: usize) -> Excerpt {
        let Kept { head, tail, .. } = &self.kept;
        let (front, back);
        if self.kept.dropped() == 0 {
            let whole = format!("{head}{tail}");
            if whole.chars().count() <= most {
                return Excerpt::Whole(whole);
            }
            (front, back) = (whole.clone(), whole);
        } else {
            (front, back) = (head.clone(), tail.clone());
        }
        let head = first_chars(&front, most / 2);
        let tail = last_chars(&back, most / 2);
        Excerpt::Cut {
            bytes: self.kept.bytes - (head.len() + tail.len()) as u64,
            lines: self.kept.newlines - newlines(head) - newlines(tail),
            head: head.to_owned(),
            tail: tail.to_owned(),
        }
    }
}

impl Kept {
    fn push(&mut self, text: &str) {
        self.bytes += text.len() as u64;
        self.newlines += newlines(text);
        let mut rest = text;
        if self.head_chars < HEAD {
            let room = HEAD - self.head_chars;
            let cut = text.char_indices().nth(room).map_or(text.len(), |(at, _)| at);
            self.head_chars += text[..cut].chars().count();
            self.head.push_str(&text[..cut]);
            rest = &text[cut..];
        }
        if rest.len() >= TAIL {
            self.tail.clear();
        }
        self.tail.push_str(end(rest, TAIL));
        if self.tail.len() > 2 * TAIL {
            self.tail = end(&self.tail, TAIL).to_owned();
        }
    }

    /// Bytes between head and tail that are gone.
    fn dropped(&self) -> u64 {
        self.bytes - (self.head.len() + self.tail.len()) as u64
    }
}

/// How many newlines a text holds.
fn newlines(text: &str) -> u64 {
    // Runs short enough for the sum of one byte compile to vector instructions.
    let runs = text.as_bytes().chunks(255);
    runs.map(|run| u64::from(run.iter().map(|byte| u8::from(*byte == b'\n')).sum::<u8>())).sum()
}

/// The last bytes of a text, at most `most`, from a character's start.
fn end(text: &str, most: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(most))..]
}

/// The first characters, at most `most`; to the end of a line if one ends in the later half.
fn first_chars(text: &str, most: usize) -> &str {
    let cut = text.char_indices().nth(most).map_or(text.len(), |(at, _)| at);
    let text = &text[..cut];
    match text.rfind('\n') {
        Some(at) if at >= cut / 2 => &text[..=at],
        _ => text,
    }
}

/// The last characters, at most `most`; from the start of a line if one starts in the earlier half.
fn last_chars(text: &str, most: usize) -> &str {
    let from = most
        .checked_sub(1)
        .map_or(text.len(), |before| text.char_indices().nth_back(before).map_or(0, |(at, _)| at));
    let text = &text[from..];
    match text.find('\n') {
        Some(at) if at < text.len() / 2 => &text[at + 1..],
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(pieces: &[&[u8]]) -> Capture {
        let mut capture = Capture::default();
        for piece in pieces {
            capture.push(piece);
        }
        capture.finish();
        capture
    }

    #[test]
    fn what_fits_is_whole() {
        let text = "é".repeat(1000);
        let capture = captured(&[text.as_bytes()]);
        assert_eq!(capture.excerpt(1000), Excerpt::Whole(text));
    }

    #[test]
    fn a_cut_is_counted_and_stands_between_lines() {
        let lines: Vec<String> = (0..200_000).map(|n| format!("line {n}\n")).collect();
        let text = lines.concat();
        let pieces: Vec<&[u8]> = text.as_bytes().chunks(777).collect();
        let Excerpt::Cut { head, tail, bytes, lines } = captured(&pieces).excerpt(10_000) else {
            panic!("not cut");
        };
        assert!(head.chars().count() <= 5000 && head.len() > 4900 && head.ends_with('\n'));
        assert!(tail.chars().count() <= 5000 && tail.len() > 4900 && tail.starts_with("line "));
        assert!(text.starts_with(&head) && text.ends_with(&tail));
        let gap = &text[head.len()..text.len() - tail.len()];
        assert_eq!(bytes, gap.len() as u64);
        assert_eq!(lines, gap.lines().count() as u64);
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        let text = "日本".repeat(300_000);
        let Excerpt::Cut { head, tail, bytes, lines } =
            captured(&[text.as_bytes()]).excerpt(50_000)
        else {
            panic!("not cut");
        };
        assert_eq!((head.chars().count(), tail.chars().count()), (25_000, 25_000));
        assert_eq!((bytes, lines), (text.len() as u64 - 150_000, 0));
    }

    #[test]
    fn memory_stays_flat() {
        let mut capture = Capture::default();
        let piece = b"0123456789\n".repeat(6000);
        for _ in 0..100 {
            capture.push(&piece);
            assert!(capture.kept.tail.capacity() < 1_000_000);
        }
        assert_eq!(capture.kept.newlines, 600_000);
    }

    #[test]
    fn no_key_stands_in_the_newest_text_however_it_is_coloured() {
        let mut capture = Capture::without(Secrets::new(["sk-12345678"]));
        for output in ["\x1b[31msk-1234\x1b[32m5678\x1b[0m end\n", "sk-\x1b[31m1234", "5678"] {
            capture.push(output.as_bytes());
            let newest = capture.newest(1000);
            assert!(!newest.contains("5678"), "{newest:?}");
        }
        let newest = capture.newest(1000);
        assert_eq!(newest.matches("[redacted]").count(), 2, "{newest:?}");
        assert!(!newest.contains('\x1b'), "{newest:?}");
    }

    #[test]
    fn the_newest_text_holds_the_unfinished_line() {
        let mut capture = Capture::default();
        capture.push(b"one\ntwo\n10%\r20%");
        assert_eq!(capture.newest(1000), "one\ntwo\n20%");
        assert_eq!(capture.newest(5), "o\n20%");
        assert_eq!(capture.newest(2), "0%");
        capture.push(b"\n\x1b]0;title\x07\x1b[31mred\x1b[0m\ngre\x1b[32men");
        let coloured = "one\ntwo\n20%\n\x1b[0;31mred\x1b[0m\ngre\x1b[0;32men";
        assert_eq!(capture.newest(1000), coloured);
    }
}
