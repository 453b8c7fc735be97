//! Prompts with slots: `(create|make) a file called {file}`.
//!
//! `(a|b|)` is one of the alternatives, the empty one included; a space is any white space or
//! comma, or none; `{name}` is a slot. Letters match in both cases; the whole prompt must match, but
//! for punctuation at its end. What a slot takes depends on its name: `{count}` a number from 1 to
//! 9, `{prints}` and `{text}` a text in quotes or all the rest, any other a word, which stands in
//! quotes if it has spaces.

use std::collections::BTreeMap;

use serde::Deserialize;

/// What the slots hold, by name.
pub(super) type Slots = BTreeMap<String, String>;

/// The words of a language for 1 to 9.
pub(super) type Numbers = BTreeMap<String, u8>;

/// Longest word that a slot takes, in bytes.
const LONGEST_WORD: usize = 255;

const QUOTES: [(char, char); 7] =
    [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('‘', '’'), ('「', '」'), ('『', '』')];

/// A prompt with slots.
#[derive(Debug, Deserialize)]
#[serde(from = "String")]
pub(super) struct Pattern(Vec<Piece>);

#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Gap,
    OneOf(Vec<String>),
    Slot(String),
}

impl From<String> for Pattern {
    fn from(pattern: String) -> Self {
        let mut pieces = Vec::new();
        let mut chars = pattern.chars().peekable();
        while let Some(c) = chars.next() {
            pieces.push(match c {
                ' ' => Piece::Gap,
                '{' => Piece::Slot(chars.by_ref().take_while(|c| *c != '}').collect()),
                '(' => {
                    let inside: String = chars.by_ref().take_while(|c| *c != ')').collect();
                    Piece::OneOf(inside.split('|').map(str::to_owned).collect())
                }
                c => {
                    let mut words = String::from(c);
                    while let Some(c) = chars.next_if(|c| !" {(".contains(*c)) {
                        words.push(c);
                    }
                    Piece::OneOf(vec![words])
                }
            });
        }
        Self(pieces)
    }
}

impl Pattern {
    /// What the slots hold if the prompt matches.
    pub(super) fn capture(&self, prompt: &str, numbers: &Numbers) -> Option<Slots> {
        fit(&self.0, prompt.trim_start(), numbers)
    }
}

fn fit(pieces: &[Piece], rest: &str, numbers: &Numbers) -> Option<Slots> {
    let Some((piece, pieces)) = pieces.split_first() else {
        let ends = |c: char| c.is_whitespace() || ".?!。？！…".contains(c);
        return rest.chars().all(ends).then(Slots::new);
    };
    match piece {
        Piece::Gap => {
            let gap = |c: char| c.is_whitespace() || c == ',' || c == '，';
            fit(pieces, rest.trim_start_matches(gap), numbers)
        }
        Piece::OneOf(words) => words.iter().find_map(|word| {
            let start = rest.get(..word.len())?;
            start.eq_ignore_ascii_case(word).then(|| fit(pieces, &rest[word.len()..], numbers))?
        }),
        Piece::Slot(name) => {
            let taken = match name.as_str() {
                "count" => take_number(rest, numbers),
                "prints" | "text" => take_text(rest),
                _ => take_word(rest),
            };
            taken.into_iter().find_map(|(value, rest)| {
                let mut slots = fit(pieces, rest, numbers)?;
                slots.insert(name.clone(), value);
                Some(slots)
            })
        }
    }
}

/// A value that a slot may take, and what follows it.
type Taken<'a> = Vec<(String, &'a str)>;

fn take_number<'a>(rest: &'a str, numbers: &Numbers) -> Taken<'a> {
    let digits = (1..=9).map(|number| (number.to_string(), number));
    let words = numbers.iter().map(|(word, number)| (word.clone(), *number));
    digits
        .chain(words)
        .filter(|(word, _)| rest.get(..word.len()).is_some_and(|it| it.eq_ignore_ascii_case(word)))
        .map(|(word, number)| (number.to_string(), &rest[word.len()..]))
        .collect()
}

fn take_text(rest: &str) -> Taken<'_> {
    let mut taken = take_quoted(rest);
    let all = rest.trim();
    if !all.is_empty() {
        taken.push((all.to_owned(), ""));
    }
    taken
}

fn take_word(rest: &str) -> Taken<'_> {
    let mut taken = take_quoted(rest);
    if !rest.starts_with('-') {
        let ends = rest.char_indices().take_while(|(_, c)| !c.is_whitespace());
        let ends = ends.map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= LONGEST_WORD);
        taken.extend(ends.map(|end| (rest[..end].to_owned(), &rest[end..])));
    }
    taken
}

/// A text in quotes, the longest one first: quotes may stand within it.
fn take_quoted(rest: &str) -> Taken<'_> {
    let mut chars = rest.chars();
    let open = chars.next();
    let Some((_, close)) = QUOTES.into_iter().find(|(quote, _)| open == Some(*quote)) else {
        return Vec::new();
    };
    let inside = chars.as_str();
    inside
        .rmatch_indices(close)
        .filter(|(at, _)| *at > 0)
        .map(|(at, _)| (inside[..at].to_owned(), &inside[at + close.len_utf8()..]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(pattern: &str, prompt: &str) -> Option<Vec<(String, String)>> {
        let numbers = Numbers::from([("three".to_owned(), 3), ("三".to_owned(), 3)]);
        let slots = Pattern::from(pattern.to_owned()).capture(prompt, &numbers)?;
        Some(slots.into_iter().collect())
    }

    #[test]
    fn slots_take_words_texts_and_numbers() {
        let cases = [
            ("make (a|the|) file {file}", "Make a  file 'a b.py'.", "file=a b.py"),
            ("make (a|the|) file {file}", "make file x.py!", "file=x.py"),
            (
                "file {file} that prints {prints}",
                "File a.py, that prints \"x\".",
                "file=a.py prints=x",
            ),
            ("prints {prints}", "prints say \"hi\" twice", "prints=say \"hi\" twice"),
            ("prints {prints}", "prints \"say \"hi\"\"", "prints=say \"hi\""),
            ("{count} files", "Three files", "count=3"),
            ("{count} files", "9 files?", "count=9"),
            ("创建{file}的文件", "创建 a.py 的文件。", ""),
            ("创建 {file} 的文件", "创建a.py的文件。", "file=a.py"),
            ("写 {count} 个文件", "写三个文件", "count=3"),
            ("打印 {prints} 的 {file}", "打印“你好”的 a.py", "file=a.py prints=你好"),
        ];
        for (pattern, prompt, wanted) in cases {
            let slots = capture(pattern, prompt).unwrap_or_default();
            let found: Vec<_> =
                slots.iter().map(|(name, value)| format!("{name}={value}")).collect();
            assert_eq!(found.join(" "), wanted, "{pattern} / {prompt}");
        }
    }

    #[test]
    fn the_whole_prompt_must_match() {
        for prompt in ["files", "10 files", "0 files", "3 files and more", "-3 files", "3"] {
            assert_eq!(capture("{count} files", prompt), None, "{prompt}");
        }
        assert_eq!(capture("make {file}", "make -rf"), None);
        assert_eq!(capture("make {file}", "make two words"), None);
        assert_eq!(capture("prints {prints}", "prints "), None);
    }
}
