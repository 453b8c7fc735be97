//! Which message a server names when it refuses a request.

use super::{Failure, FailureKind};

impl Failure {
    /// Position, from 0, of the wire message that the refusal names: servers write `messages[3]`,
    /// `messages.3` or `messages: 3` (Anthropic), also `input[3]`.
    pub fn refused_message(&self) -> Option<usize> {
        if self.kind != FailureKind::InvalidRequest {
            return None;
        }
        ["messages", "input"].iter().find_map(|list| {
            self.message.match_indices(list).find_map(|(at, _)| {
                let rest = &self.message[at + list.len()..];
                let rest = rest.strip_prefix(['[', '.']).or_else(|| rest.strip_prefix(": "))?;
                let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                rest[..end].parse().ok()
            })
        })
    }
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
        let other = Failure::new(Place::Http, FailureKind::Auth, "messages[3]");
        assert_eq!(other.refused_message(), None);
    }
}
