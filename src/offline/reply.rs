//! A reply on its way out, in no format's words: what identifies it, the pieces in which it is
//! sent, and their pace.

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use super::script::Answer;
use super::seal;

/// Longest piece of a text or of arguments, in characters.
const PIECE: usize = 6;

/// How fast the model answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// As one reads: the first piece after 150 ms, then one every 25 ms.
    Human,
    /// Without delay, for tests.
    Full,
}

impl Pace {
    /// From the request to the first byte.
    pub(super) fn first(self) -> Option<Duration> {
        (self == Self::Human).then(|| Duration::from_millis(150))
    }

    /// From one piece to the next.
    pub(super) fn between(self) -> Option<Duration> {
        (self == Self::Human).then(|| Duration::from_millis(25))
    }
}

/// An answer with all that identifies it.
#[derive(Debug, Clone)]
pub(super) struct Completion {
    /// How many there were before it, and it. Ids must not come twice, whatever is asked.
    pub(super) number: u64,
    /// Seconds since 1970.
    pub(super) created: u64,
    pub(super) model: &'static str,
    pub(super) answer: Answer,
    /// What tells each of its calls from all others, in order.
    pub(super) calls: Vec<String>,
    /// Size of the posted body in tokens, at four bytes each.
    pub(super) tokens_in: usize,
}

impl Completion {
    /// Size of the answer in tokens.
    pub(super) fn tokens_out(&self) -> usize {
        let Answer { reasoning, text, calls } = &self.answer;
        let calls: usize = calls.iter().map(|call| call.name.len() + call.arguments.len()).sum();
        (reasoning.len() + text.len() + calls).div_ceil(4)
    }

    /// Size of the reasoning in tokens.
    pub(super) fn tokens_of_reasoning(&self) -> usize {
        self.answer.reasoning.len().div_ceil(4)
    }

    /// The ids of the calls; where the reasoning is to come back, they say which led to them.
    pub(super) fn call_ids(&self, prefix: &str, led_by: Option<&str>) -> Vec<String> {
        let mark = seal::mark(led_by);
        self.calls.iter().map(|call| format!("{prefix}_{call}{mark}")).collect()
    }
}

/// An event whose data says what it is; its name, where the format names events, says so too.
pub(super) fn event(name: Option<&str>, data: &Value) -> Bytes {
    let name = name.map_or_else(String::new, |name| format!("event: {name}\n"));
    Bytes::from(format!("{name}data: {data}\n\n"))
}

/// A text in pieces of a word: one ends after white space, or when it is long.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut end = 0;
        for (count, c) in rest.chars().enumerate() {
            if count == PIECE {
                break;
            }
            end += c.len_utf8();
            if c.is_whitespace() {
                break;
            }
        }
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_add_up_to_the_text() {
        for text in ["", "a", "Created `hello.py`.\n\nnow", "我来查找以结尾的文件", "  x", "👩‍👩‍👧‍👦é"]
        {
            let all: Vec<&str> = pieces(text).collect();
            assert_eq!(all.concat(), text);
            assert!(all.iter().all(|piece| piece.chars().count() <= PIECE), "{all:?}");
        }
    }
}
