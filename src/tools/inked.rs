//! The newest lines of an output in their colours: plain text in which nothing but ESC[…m is left.

use crate::text::Ink;

/// A text that grows at its end and is forgotten at its start.
#[derive(Debug, Clone, Default)]
pub(super) struct Inked {
    text: String,
    ink: Ink,
}

impl Inked {
    /// Adds a text that holds no escapes; of all, the last `most` bytes are kept at least.
    pub(super) fn push(&mut self, text: &str, ink: Ink, most: usize) {
        if text.is_empty() {
            return;
        }
        if ink != self.ink {
            self.ink = ink;
            ink.select_by(&mut self.text);
        }
        self.text.push_str(text);
        if self.text.len() > 2 * most {
            self.text = newest(&self.text, most).to_owned();
        }
    }

    /// Whether any of it is coloured.
    pub(super) fn is_coloured(&self) -> bool {
        self.text.contains('\x1b')
    }

    /// The newest lines, at most `most` bytes.
    pub(super) fn newest(&self, most: usize) -> &str {
        newest(&self.text, most)
    }
}

/// The end of a text, from the start of a line or else of an escape on, so that none is cut.
fn newest(text: &str, most: usize) -> &str {
    let from = text.ceil_char_boundary(text.len().saturating_sub(most));
    if from == 0 {
        return text;
    }
    let rest = &text[from..];
    let start = rest.find('\n').map(|at| at + 1).or_else(|| rest.find('\x1b'));
    &rest[start.unwrap_or(0)..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Printed;

    #[test]
    fn it_begins_with_a_whole_line_and_comes_out_as_it_was_put_in() {
        let (red, mut inked) = (b"\x1b[1;31mred\x1b[0m plain\n", Inked::default());
        let mut printed = Printed::default();
        for _ in 0..1000 {
            printed.push(red, &mut |text, ink| inked.push(text, ink, 200));
        }
        let shown = inked.newest(200);
        assert!(shown.len() <= 200 && inked.text.len() <= 400, "{shown:?}");
        assert!(shown.starts_with("\x1b[0;1;31mred\x1b[0m plain\n"), "{shown:?}");
        let (mut pieces, mut again) = (Vec::new(), Printed::default());
        again.push(shown.as_bytes(), &mut |text, ink: Ink| {
            pieces.push((text.to_owned(), ink == Ink::default()));
        });
        assert_eq!(pieces[..2], [("red".to_owned(), false), (" plain\n".to_owned(), true)]);
    }
}
