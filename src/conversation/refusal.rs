//! Which message a server names when it refuses a request.

use super::{Failure, FailureKind};

impl Failure {
    /// Position, from 0, of the wire message that the refusal names: servers write `messages[3]`,
    /// `messages.3` or `messages: 3` (Anthropic), also `input[3]`.
    pub fn refused_message(&self) -> Option<usize> {
        self.refused_block().map(|(message, _)| message)
    }

    /// The same, and the position, from 0, of the block in it, where the refusal names one:
    /// `messages.3.content.1`, `messages[3].content[1]`.
    pub fn refused_block(&self) -> Option<(usize, Option<usize>)> {
        if self.kind != FailureKind::InvalidRequest {
            return None;
        }
        ["messages", "input"].iter().find_map(|list| {
            self.message.match_indices(list).find_map(|(at, _)| {
                let rest = &self.message[at + list.len()..];
                let rest = rest.strip_prefix(['[', '.']).or_else(|| rest.strip_prefix(": "))?;
                let (message, rest) = number(rest)?;
                let rest = rest.strip_prefix(']').unwrap_or(rest);
                let block = rest.strip_prefix(".content").and_then(|rest| {
                    number(rest.strip_prefix(['[', '.'])?).map(|(block, _)| block)
                });
                Some((message, block))
            })
        })
    }
}

/// The number that a text begins with, and what follows it.
fn number(text: &str) -> Option<(usize, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Place;

    #[test]
    fn f18_the_message_that_a_refusal_names_is_found() {
        let cases = [
            ("Invalid value for 'messages[3].content'", Some(3)),
            ("messages.12.content.0: image exceeds 5 MB", Some(12)),
            ("messages: 7: empty", Some(7)),
            ("the messages are bad; input[0] is empty", Some(0)),
            ("messages must alternate", None),
            ("messages[-1]", None),
            ("messages.99999999999999999999999", None),
            ("", None),
        ];
        for (message, index) in cases {
            let failure = Failure::new(Place::Http, FailureKind::InvalidRequest, message);
            assert_eq!(failure.refused_message(), index, "{message}");
        }
        for (message, block) in [
            ("messages.12.content.1: image exceeds 5 MB", Some(1)),
            ("Invalid value: 'messages[3].content[2].text'", Some(2)),
            ("messages[3].content is empty", None),
            ("messages.3: empty", None),
        ] {
            let failure = Failure::new(Place::Http, FailureKind::InvalidRequest, message);
            assert_eq!(failure.refused_block().and_then(|(_, block)| block), block, "{message}");
        }
        let other = Failure::new(Place::Http, FailureKind::Auth, "messages[3]");
        assert_eq!(other.refused_message(), None);
    }
}
