//! What a program wrote for a terminal → the text a person would have been left with: each line in
//! its last state, without escapes, each piece in the ink it was written with.
//!
//! Carriage returns, backspaces, ESC[K (erase in line) and ESC[m (colours) are acted on; every other
//! escape sequence is dropped, as are controls that print nothing. Tabs stay tabs: the model must be
//! able to tell them from spaces. Columns are counted in characters. A line is kept open for
//! rewriting up to [`LONGEST_OPEN_LINE`] characters; what comes before that is final.
//!
//! Bytes that are not UTF-8 become U+FFFD and NUL becomes `␀`; both are counted.
//!
//! The grammar of sequences is kept here and not in a parser crate for two reasons: text between
//! sequences is taken in runs, so that megabytes of plain output cost one pass; and a string
//! sequence (title, hyperlink) that never ends must not swallow what follows, so on the next
//! newline it turns out to have been text.

use super::ink::Ink;

/// Characters of the current line that a carriage return can still reach.
const LONGEST_OPEN_LINE: usize = 16 * 1024;

/// Characters of a string sequence after which it is taken for text.
const LONGEST_SEQUENCE: usize = 4096;

/// Takes bytes as they come, cut anywhere, and hands on finished text.
#[derive(Debug, Default)]
pub struct Printed {
    /// A character whose last bytes have not come yet.
    cut_off: Vec<u8>,
    /// The current line; it can still be rewritten.
    line: Vec<(char, Ink)>,
    /// What is written now is written with this.
    ink: Ink,
    /// Where the next character goes.
    column: usize,
    sequence: Sequence,
    /// What came of the sequence after its ESC.
    pending: String,
    /// Bytes that were not UTF-8.
    pub invalid: u64,
    /// NUL characters.
    pub nuls: u64,
}

/// Where in an escape sequence the next character stands.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Sequence {
    /// Outside.
    #[default]
    None,
    /// After ESC.
    Escape,
    /// After ESC [ : parameters, then one final character.
    Control,
    /// After ESC ] and the like: text up to BEL or ESC \.
    Text,
    /// In such a text, after ESC.
    TextEscape,
}

impl Printed {
    /// Takes more bytes; finished text goes to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut impl FnMut(&str, Ink)) {
        let mut rest = bytes;
        while !self.cut_off.is_empty() {
            let Some((first, others)) = rest.split_first() else { return };
            self.cut_off.push(*first);
            match std::str::from_utf8(&self.cut_off) {
                Ok(_) => {
                    let whole = std::mem::take(&mut self.cut_off);
                    self.text(&String::from_utf8_lossy(&whole), out);
                    rest = others;
                }
                Err(error) if error.error_len().is_none() => rest = others,
                // The byte just taken is not part of the character.
                Err(_) => {
                    self.cut_off.pop();
                    self.replace_cut_off(out);
                }
            }
        }
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => return self.text(text, out),
                Err(error) => {
                    let (valid, bad) = rest.split_at(error.valid_up_to());
                    self.text(&String::from_utf8_lossy(valid), out);
                    let Some(length) = error.error_len() else {
                        self.cut_off.extend_from_slice(bad);
                        return;
                    };
                    self.invalid += length as u64;
                    self.text("\u{fffd}", out);
                    rest = &bad[length..];
                }
            }
        }
    }

    /// Nothing more comes: hands on the last line.
    pub fn finish(&mut self, out: &mut impl FnMut(&str, Ink)) {
        if !self.cut_off.is_empty() {
            self.replace_cut_off(out);
        }
        if matches!(self.sequence, Sequence::Text | Sequence::TextEscape) {
            self.take_for_text(out);
        }
        self.hand_on_line(out);
    }

    /// The current line in its present state.
    pub fn open_line(&self) -> String {
        self.line.iter().map(|(character, _)| character).collect()
    }

    /// The current line in its present state, piece by piece.
    pub fn open_pieces(&self, out: &mut impl FnMut(&str, Ink)) {
        for piece in self.line.chunk_by(|one, other| one.1 == other.1) {
            let text: String = piece.iter().map(|(character, _)| character).collect();
            out(&text, piece[0].1);
        }
    }

    fn replace_cut_off(&mut self, out: &mut impl FnMut(&str, Ink)) {
        self.invalid += self.cut_off.len() as u64;
        self.cut_off.clear();
        self.text("\u{fffd}", out);
    }

    fn text(&mut self, mut text: &str, out: &mut impl FnMut(&str, Ink)) {
        while let Some(first) = text.chars().next() {
            let taken = match (self.sequence, first) {
                (Sequence::None, '\0') => self.nuls(text, out),
                (Sequence::None, _) => match run_length(text) {
                    0 => {
                        self.control(first, out);
                        first.len_utf8()
                    }
                    length => {
                        self.run(&text[..length], out);
                        length
                    }
                },
                _ if self.in_sequence(first, out) => first.len_utf8(),
                _ => 0,
            };
            text = &text[taken..];
        }
    }

    /// The NULs at the start of a text, all at once; how many there are.
    fn nuls(&mut self, text: &str, out: &mut impl FnMut(&str, Ink)) -> usize {
        let length = text.bytes().take_while(|byte| *byte == 0).count();
        self.nuls += length as u64;
        self.run(&"␀".repeat(length), out);
        length
    }

    /// Text without controls but newlines and tabs.
    fn run(&mut self, mut run: &str, out: &mut impl FnMut(&str, Ink)) {
        // Over what a carriage return went back to, one by one …
        while self.column != self.line.len() {
            let Some(first) = run.chars().next() else { return };
            run = &run[first.len_utf8()..];
            if first == '\n' { self.newline(out) } else { self.put(first) }
        }
        // … and behind the end all at once; whole lines are not touched.
        if let (Some(first), Some(last)) = (run.find('\n'), run.rfind('\n')) {
            let mut whole_lines = &run[..=last];
            if !self.line.is_empty() {
                self.extend(&run[..first]);
                self.newline(out);
                whole_lines = &run[first + 1..=last];
            }
            if !whole_lines.is_empty() {
                out(whole_lines, self.ink);
            }
            run = &run[last + 1..];
        }
        if run.len() >= LONGEST_OPEN_LINE {
            self.hand_on_line(out);
            out(run, self.ink);
        } else {
            self.extend(run);
            self.column = self.line.len();
            if self.column > LONGEST_OPEN_LINE {
                self.hand_on_line(out);
            }
        }
    }

    fn control(&mut self, control: char, out: &mut impl FnMut(&str, Ink)) {
        match control {
            '\r' => self.column = 0,
            '\u{8}' => self.column = self.column.saturating_sub(1),
            '\u{b}' | '\u{c}' => self.newline(out),
            '\u{1b}' => self.begin(Sequence::Escape),
            _ => {}
        }
    }

    /// Takes a character of a sequence; whether it belonged to it.
    fn in_sequence(&mut self, next: char, out: &mut impl FnMut(&str, Ink)) -> bool {
        match (self.sequence, next) {
            (Sequence::Escape, '[') => self.begin(Sequence::Control),
            (Sequence::Escape, ']' | 'P' | 'X' | '^' | '_') => {
                self.sequence = Sequence::Text;
                self.pending.push(next);
            }
            (Sequence::Escape, ' '..='/') => {}
            (Sequence::Control, ' '..='?') if self.pending.len() < LONGEST_SEQUENCE => {
                self.pending.push(next);
            }
            (Sequence::Control, '@'..='~') => {
                self.sequence = Sequence::None;
                match next {
                    'K' => self.erase(),
                    'm' => self.ink.select(&self.pending),
                    _ => {}
                }
            }
            (Sequence::Escape, '0'..='~')
            | (Sequence::Text, '\u{7}' | '\u{9c}')
            | (Sequence::TextEscape, '\\') => self.sequence = Sequence::None,
            (Sequence::Text, '\u{1b}') => self.sequence = Sequence::TextEscape,
            (Sequence::TextEscape, _) => {
                self.begin(Sequence::Escape);
                return false;
            }
            (Sequence::Text, _) if next != '\n' && self.pending.len() < LONGEST_SEQUENCE => {
                self.pending.push(next);
            }
            (Sequence::Text, _) => {
                self.take_for_text(out);
                return false;
            }
            // Broken off: the character counts as itself.
            _ => {
                self.sequence = Sequence::None;
                return false;
            }
        }
        true
    }

    fn begin(&mut self, sequence: Sequence) {
        self.sequence = sequence;
        self.pending.clear();
    }

    /// The sequence was none: what it seemed to hold is text.
    fn take_for_text(&mut self, out: &mut impl FnMut(&str, Ink)) {
        self.sequence = Sequence::None;
        let text = std::mem::take(&mut self.pending);
        self.text(&text, out);
    }

    /// ESC[K: to the end of the line, from its start (1), or all of it (2).
    fn erase(&mut self) {
        match self.pending.as_str() {
            "" | "0" => self.line.truncate(self.column),
            "1" => {
                let end = self.line.len().min(self.column + 1);
                self.line[..end].fill((' ', Ink::default()));
            }
            "2" => self.line.clear(),
            _ => {}
        }
    }

    fn put(&mut self, character: char) {
        if self.column >= self.line.len() {
            self.line.resize(self.column, (' ', Ink::default()));
            self.line.push((character, self.ink));
        } else {
            self.line[self.column] = (character, self.ink);
        }
        self.column += 1;
    }

    fn newline(&mut self, out: &mut impl FnMut(&str, Ink)) {
        self.line.push(('\n', Ink::default()));
        self.hand_on_line(out);
    }

    fn hand_on_line(&mut self, out: &mut impl FnMut(&str, Ink)) {
        self.open_pieces(out);
        self.line.clear();
        self.column = 0;
    }

    /// Text behind the end of the line.
    fn extend(&mut self, text: &str) {
        let ink = self.ink;
        self.line.extend(text.chars().map(|character| (character, ink)));
    }
}

/// How many bytes at the start of a text hold no control but newlines and tabs.
fn run_length(text: &str) -> usize {
    // 0xC2 begins the controls U+0080 to U+009F, and some characters that print.
    let suspicious =
        |byte: u8| (byte < b' ' && byte != b'\n' && byte != b'\t') || byte == 0x7f || byte == 0xc2;
    let bytes = text.as_bytes();
    // Blocks grow, so that output full of controls is not scanned again for each of them.
    let (mut from, mut block) = (0, 32);
    while from < bytes.len() {
        let end = bytes.len().min(from + block);
        // Without an early way out, so that it compiles to vector instructions.
        if bytes[from..end].iter().fold(0, |any, byte| any | u8::from(suspicious(*byte))) != 0 {
            break;
        }
        (from, block) = (end, (2 * block).min(4096));
    }
    let from = text.floor_char_boundary(from);
    text[from..]
        .char_indices()
        .find(|(_, character)| character.is_control() && !matches!(character, '\n' | '\t'))
        .map_or(text.len(), |(at, _)| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All bytes at once, and one by one: the same text.
    fn plain(bytes: &[u8]) -> String {
        let mut at_once = String::new();
        let mut printed = Printed::default();
        printed.push(bytes, &mut |text, _| at_once.push_str(text));
        printed.finish(&mut |text, _| at_once.push_str(text));
        let mut one_by_one = String::new();
        let mut printed = Printed::default();
        for byte in bytes {
            printed.push(&[*byte], &mut |text, _| one_by_one.push_str(text));
        }
        printed.finish(&mut |text, _| one_by_one.push_str(text));
        assert_eq!(at_once, one_by_one, "depends on where the bytes were cut");
        at_once
    }

    #[test]
    fn a_progress_bar_leaves_its_last_state() {
        assert_eq!(plain(b"10%\r55%\r100%\ndone"), "100%\ndone");
        assert_eq!(plain(b"downloading 5\r\x1b[Kok\n"), "ok\n");
        assert_eq!(plain(b"\x1b[2K\rstep 1\x1b[2K\rstep 2\n"), "step 2\n");
    }

    #[test]
    fn a_shorter_text_leaves_the_rest_of_the_longer_one() {
        assert_eq!(plain(b"abcdef\rXY\n"), "XYcdef\n");
        assert_eq!(plain(b"abcdef\x08\x08\x08XY\n"), "abcXYf\n");
        assert_eq!(plain(b"abcdef\x08\x08\x1b[1KX\n"), "    Xf\n");
    }

    #[test]
    fn line_ends_of_windows_are_newlines() {
        assert_eq!(plain(b"a\r\nb\r\n\r\nc"), "a\nb\n\nc");
    }

    #[test]
    fn colours_cursor_moves_titles_and_links_vanish() {
        assert_eq!(plain(b"\x1b[1;31mred\x1b[0m \x1b[2J\x1b[Hx\x1b7\x1b(B\n"), "red x\n");
        assert_eq!(
            plain(b"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n"),
            "alink\n"
        );
        assert_eq!(plain(b"\x1bPq data\x1b\\\x1b_hidden\x1b\\b\x07\x0e\n"), "b\n");
        assert_eq!(plain("\u{9b}31mx\u{85}y\u{7f}\n".as_bytes()), "31mxy\n");
    }

    #[test]
    fn a_sequence_without_end_swallows_nothing() {
        assert_eq!(plain(b"\x1b]0;rm -rf\nnext\n"), "]0;rm -rf\nnext\n");
        assert_eq!(plain(b"\x1b]0;the end"), "]0;the end");
        assert_eq!(plain(b"\x1b[31\nnext"), "\nnext");
        assert_eq!(plain(b"a\x1b[3"), "a");
    }

    #[test]
    fn tabs_and_letters_of_all_scripts_stay() {
        let text = "all:\n\tcc -o x\n日本語 🦀 é °«»\n";
        assert_eq!(plain(text.as_bytes()), text);
    }

    #[test]
    fn what_is_not_utf8_is_replaced_and_counted() {
        let mut text = String::new();
        let mut printed = Printed::default();
        printed.push(b"\xff\xfe\x80abc\0\xe6\x97", &mut |piece, _| text.push_str(piece));
        printed.finish(&mut |piece, _| text.push_str(piece));
        assert_eq!(text, "\u{fffd}\u{fffd}\u{fffd}abc␀\u{fffd}");
        assert_eq!((printed.invalid, printed.nuls), (5, 1));
    }

    #[test]
    fn a_line_without_end_takes_little_memory() {
        let mut length = 0;
        let mut printed = Printed::default();
        for _ in 0..1000 {
            printed.push(&[b'x'; 5000], &mut |piece, _| length += piece.len());
            assert!(printed.line.capacity() < 64 * 1024);
        }
        printed.finish(&mut |piece, _| length += piece.len());
        assert_eq!(length, 5_000_000);
    }

    #[test]
    fn each_piece_keeps_its_ink() {
        let mut pieces = Vec::new();
        let mut printed = Printed::default();
        let bytes = b"\x1b[1;31mred\x1b[0m plain\nab\r\x1b[32mX\x1b[m\n\x1b[44m\x1b[8mhidden";
        printed.push(bytes, &mut |text, ink| pieces.push((text.to_owned(), ink)));
        printed.finish(&mut |text, ink| pieces.push((text.to_owned(), ink)));
        let ink = |parameters: &str| {
            let mut ink = Ink::default();
            ink.select(parameters);
            ink
        };
        let expected = [
            ("red", ink("1;31")),
            (" plain\n", ink("")),
            ("X", ink("32")),
            ("b\n", ink("")),
            ("hidden", ink("44")),
        ];
        assert_eq!(pieces, expected.map(|(text, ink)| (text.to_owned(), ink)));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_leave_a_control(bytes: Vec<u8>) {
            let text = plain(&bytes);
            let control = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
            assert_eq!(control, None);
        }
    }
}
