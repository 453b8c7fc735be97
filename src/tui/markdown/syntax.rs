//! The words of code told apart: comments, texts, numbers, words of the language, names that are
//! called. Line by line, so that a block can be coloured while it arrives.
//!
//! Not a grammar: where it cannot know, it leaves a word plain. Two libraries were measured instead,
//! on 400 lines of Rust: syntect takes 76 ms for the first 30 lines, 15 MB of memory for each of
//! the first languages and 2.3 MB of program; synoptic 90 ms and 1.7 MB of program. This takes less
//! than a millisecond, nothing at the start, and no thread beside the drawing.

mod languages;

use std::ops::Range;

use self::languages::{Kind, LANGUAGES, Language};
use crate::tui::theme::Look;

/// Where in a language a line begins.
#[derive(Debug, Clone)]
pub(super) struct Syntax {
    language: &'static Language,
    /// What ends the comment or text that the line before left open.
    open: Option<(&'static str, Look)>,
}

impl Syntax {
    /// The language that a fence names; `None` if it is not known.
    pub(super) fn named(info: &str) -> Option<Self> {
        let end = info.find(|c: char| c.is_whitespace() || matches!(c, ',' | '{' | ':'));
        let name = info[..end.unwrap_or(info.len())].trim_start_matches('.').to_ascii_lowercase();
        let known = LANGUAGES.iter().find(|language| language.names.contains(&name.as_str()))?;
        Some(Self { language: known, open: None })
    }

    /// The parts of the next line that are more than plain, in order.
    pub(super) fn line(&mut self, line: &str) -> Vec<(Range<usize>, Look)> {
        if self.language.kind == Kind::Diff {
            return diff(line).map(|look| (0..line.len(), look)).into_iter().collect();
        }
        let mut spans: Vec<(Range<usize>, Look)> = Vec::new();
        let mut at = 0;
        while at < line.len() {
            let (length, look) = self.token(line, at);
            let length = length.max(1);
            let end = line.ceil_char_boundary((at + length).min(line.len()));
            if let Some(look) = look {
                spans.push((at..end, look));
            }
            at = end;
        }
        spans
    }

    /// The token at a place: its length in bytes, and how it looks.
    fn token(&mut self, line: &str, at: usize) -> (usize, Option<Look>) {
        let language = self.language;
        let rest = &line[at..];
        if let Some((end, look)) = self.open {
            let found = rest.find(end);
            if found.is_some() {
                self.open = None;
            }
            return (found.map_or(rest.len(), |found| found + end.len()), Some(look));
        }
        let around = [(language.around, Look::Comment), (language.texts, Look::Literal)];
        for (marks, look) in around {
            if let Some((start, end)) = marks.iter().find(|(start, _)| rest.starts_with(start)) {
                self.open = Some((end, look));
                return (start.len(), Some(look));
            }
        }
        let before = line[..at].chars().next_back();
        let starts_word = before.is_none_or(|c| c.is_whitespace() || "([{;,".contains(c));
        let begins = |mark: &str| rest.starts_with(mark) && (mark != "#" || starts_word);
        if language.comments.iter().any(|mark| begins(mark)) {
            return (rest.len(), Some(Look::Comment));
        }
        let Some(first) = rest.chars().next() else { return (1, None) };
        match first {
            _ if language.quotes.contains(first) => (quoted(rest, first), Some(Look::Literal)),
            '\'' if language.kind == Kind::Characters => match character(rest) {
                Some(length) => (length, Some(Look::Literal)),
                None => (1, None),
            },
            '0'..='9' => (word(rest, |c| c == '.'), Some(Look::Number)),
            '$' | '@' if language.kind == Kind::Shell => {
                (1 + word(&rest[1..], |c| matches!(c, '{' | '}')), Some(Look::Type))
            }
            _ if first.is_alphabetic() || first == '_' => self.word(line, at),
            _ => (first.len_utf8(), None),
        }
    }

    fn word(&self, line: &str, at: usize) -> (usize, Option<Look>) {
        let language = self.language;
        let rest = &line[at..];
        let dashes = matches!(language.kind, Kind::Keys | Kind::Markup | Kind::Shell);
        let length = word(rest, |c| dashes && c == '-');
        let word = &rest[..length];
        let after = rest[length..].trim_start();
        let is_keyword = match language.kind {
            Kind::AnyCase => language.words.contains(&word.to_ascii_lowercase().as_str()),
            Kind::Markup => line[..at].ends_with('<') || line[..at].ends_with("</"),
            _ => language.words.contains(&word),
        };
        let look = if is_keyword {
            Look::Keyword
        } else if language.kind == Kind::Keys && after.starts_with([':', '=']) {
            Look::Function
        } else if matches!(word, "true" | "false" | "null" | "None" | "True" | "False" | "nil") {
            Look::Number
        } else if matches!(language.kind, Kind::Keys | Kind::Markup | Kind::Shell) {
            return (length, None);
        } else if rest[length..].starts_with('(') || rest[length..].starts_with("!(") {
            Look::Function
        } else if word.len() > 1 && !word.contains(|c: char| c.is_lowercase()) {
            Look::Number
        } else if word.starts_with(char::is_uppercase) {
            Look::Type
        } else {
            return (length, None);
        };
        (length, Some(look))
    }
}

/// Bytes of the word at the start of a text.
fn word(text: &str, also: impl Fn(char) -> bool) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_' && !also(c)).unwrap_or(text.len())
}

/// Bytes of the quoted text at the start of a text, to the end of the line at most.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// Bytes of a character between single quotes; `None` if it is something else (a lifetime).
fn character(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().skip(1);
    let (_, first) = chars.next()?;
    let end = if first == '\\' { text[2..].find('\'')? + 2 } else { chars.next()?.0 };
    text[end..].starts_with('\'').then_some(end + 1)
}

fn diff(line: &str) -> Option<Look> {
    match line.as_bytes().first()? {
        b'+' => Some(Look::Literal),
        b'-' => Some(Look::Bad),
        b'@' => Some(Look::Keyword),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks<'a>(name: &str, lines: &[&'a str]) -> Vec<(&'a str, Look)> {
        let mut syntax = Syntax::named(name).unwrap();
        let mut all = Vec::new();
        for line in lines {
            all.extend(syntax.line(line).into_iter().map(|(range, look)| (&line[range], look)));
        }
        all
    }

    #[test]
    fn words_of_rust() {
        let found = looks("rust,ignore", &["let x: &'a Vec = f('\\n', \"a\\\"b\", 1_0.5); // ü"]);
        let expected = [
            ("let", Look::Keyword),
            ("Vec", Look::Type),
            ("f", Look::Function),
            ("'\\n'", Look::Literal),
            ("\"a\\\"b\"", Look::Literal),
            ("1_0.5", Look::Number),
            ("// ü", Look::Comment),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_a_line_leaves_open_goes_on_in_the_next() {
        let found =
            looks("py", &["x = \"\"\"one", "def two", "three\"\"\" # four", "def f(): pass"]);
        let literals = found.iter().filter(|(_, look)| *look == Look::Literal);
        let literals: Vec<&str> = literals.map(|(text, _)| *text).collect();
        assert_eq!(literals, ["\"\"\"", "one", "def two", "three\"\"\""]);
        assert!(found.contains(&("# four", Look::Comment)));
        assert!(found.contains(&("f", Look::Function)));
        let c = looks("c", &["int a; /* one", "two */ return b;"]);
        assert!(c.contains(&("two */", Look::Comment)) && c.contains(&("return", Look::Keyword)));
    }

    #[test]
    fn other_kinds_of_text() {
        assert_eq!(looks("diff", &["+ä", "-b", " c"]), [("+ä", Look::Literal), ("-b", Look::Bad)]);
        assert_eq!(
            looks("sh", &["echo $HOME # x", "a#b"])[..2],
            [("$HOME", Look::Type), ("# x", Look::Comment)]
        );
        assert!(looks("yaml", &["some-key: 1"]).contains(&("some-key", Look::Function)));
        assert!(looks("SQL", &["Select a"]).contains(&("Select", Look::Keyword)));
        assert!(looks("html", &["<div class=\"a\">"]).contains(&("div", Look::Keyword)));
        assert!(Syntax::named("klingon").is_none());
    }

    #[test]
    fn spans_are_in_order_and_whole_whatever_the_text() {
        for text in crate::text::CORPUS {
            for language in LANGUAGES {
                let mut syntax = Syntax { language, open: None };
                for line in text.lines() {
                    let mut end = 0;
                    for (range, _) in syntax.line(line) {
                        assert!(range.start >= end && line.get(range.clone()).is_some());
                        end = range.end;
                    }
                }
            }
        }
    }
}
