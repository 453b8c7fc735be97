//! Calls while they arrive: which piece belongs to which call, and which calls may be run.
//!
//! Servers number the pieces in many ways. What holds for all of them:
//! - `index` is a key, not a position; without it, a new id starts a call and no id continues the
//!   last one (Ollama before 0.4.7, Mistral).
//! - The same index with another id and a name is another call (Ollama, Gemini).
//! - Id and name may be repeated with each piece, or be empty: set once, never appended.
//! - Complete arguments are never continued: what starts anew after them is another call.

use std::borrow::Cow;

use crate::conversation::{Call, CallId, CallState, ProposedCall};
use crate::text::say;

/// A piece of a call; what was not sent is empty.
#[derive(Debug)]
pub(super) struct CallPiece<'a> {
    pub(super) index: Option<i64>,
    pub(super) id: Cow<'a, str>,
    pub(super) name: Cow<'a, str>,
    pub(super) arguments: Cow<'a, str>,
}

/// The calls of one reply so far, in order of their first pieces.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<Arriving>,
}

#[derive(Debug)]
struct Arriving {
    index: Option<i64>,
    id: String,
    name: String,
    arguments: String,
}

/// What became of a piece.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// It belongs to the call at this position.
    At(usize),
    /// It starts the call at this position though its index was in use.
    Split(usize),
    /// It repeats a whole call that is there already.
    Repeated,
}

/// How the reply ended, as far as its calls are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending<'a> {
    /// In good order, for this reason.
    Proper(Option<&'a str>),
    /// The connection was lost.
    Disconnected,
    /// The server reported an error, or sent something unreadable.
    Failed,
    /// The user stopped it.
    Stopped,
}

impl Calls {
    /// Takes a piece from a stream.
    pub(super) fn take(&mut self, piece: &CallPiece<'_>) -> Taken {
        let found = self.calls.iter().rposition(|call| match piece.index {
            Some(index) => call.index == Some(index),
            None => piece.id.is_empty() || call.id == *piece.id,
        });
        let Some(position) = found else { return Taken::At(self.start(piece)) };
        let call = &mut self.calls[position];
        if call.is_followed_by(piece) {
            let repeated = piece.index.is_some()
                && !piece.id.is_empty()
                && call.id == *piece.id
                && call.name == *piece.name
                && call.arguments == *piece.arguments;
            return if repeated { Taken::Repeated } else { Taken::Split(self.start(piece)) };
        }
        for (known, sent) in [(&mut call.id, &piece.id), (&mut call.name, &piece.name)] {
            if known.is_empty() {
                known.push_str(sent);
            }
        }
        call.arguments.push_str(&piece.arguments);
        Taken::At(position)
    }

    /// Starts a call with a piece: the next one in a reply that is not streamed.
    pub(super) fn start(&mut self, piece: &CallPiece<'_>) -> usize {
        self.calls.push(Arriving {
            index: piece.index,
            id: piece.id.to_string(),
            name: piece.name.to_string(),
            arguments: piece.arguments.to_string(),
        });
        self.calls.len() - 1
    }

    /// How many calls have begun.
    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    /// Bytes of a call's id and name.
    pub(super) fn named(&self, position: usize) -> usize {
        self.calls.get(position).map_or(0, |call| call.id.len() + call.name.len())
    }

    /// The arguments of a call so far.
    pub(super) fn arguments(&mut self, position: usize) -> Option<&mut String> {
        self.calls.get_mut(position).map(|call| &mut call.arguments)
    }

    /// The name of a call as far as known.
    pub(super) fn name(&self, position: usize) -> &str {
        self.calls.get(position).map_or("", |call| &call.name)
    }

    /// The calls with what is to be thought of them.
    pub(super) fn finish(self, ending: Ending<'_>) -> Vec<ProposedCall> {
        let count = self.calls.len();
        let judge = |(position, call): (usize, Arriving)| {
            let state = match call.fault(ending, position + 1 == count) {
                Some(why) => CallState::Unusable(why),
                None => CallState::Complete,
            };
            let Arriving { id, name, arguments, .. } = call;
            ProposedCall { call: Call { id: CallId(id), name, arguments }, state }
        };
        self.calls.into_iter().enumerate().map(judge).collect()
    }
}

impl Arriving {
    /// Whether a piece that names this call nevertheless starts another.
    fn is_followed_by(&self, piece: &CallPiece<'_>) -> bool {
        if piece.name.is_empty() {
            return false;
        }
        let other_id = !piece.id.is_empty() && !self.id.is_empty() && self.id != *piece.id;
        let other_name = piece.id.is_empty()
            && piece.index.is_none()
            && !self.name.is_empty()
            && self.name != *piece.name;
        let starts_anew = piece.arguments.trim_start().starts_with('{')
            && self.arguments.trim_end().ends_with('}')
            && object_fault(&self.arguments).is_none();
        other_id || other_name || starts_anew
    }

    /// Why the call must not be run, if it must not.
    fn fault(&self, ending: Ending<'_>, is_last: bool) -> Option<String> {
        let cut = match ending {
            Ending::Stopped => Some("stopped by the user before the call was complete"),
            Ending::Disconnected => Some("the connection ended before the call was complete"),
            Ending::Failed => {
                Some("the reply failed before it was complete, so the call may be cut off")
            }
            Ending::Proper(Some(reason)) if is_last && CUT_SHORT.contains(&reason) => {
                Some("cut off by the output limit; send a shorter call")
            }
            Ending::Proper(Some(reason)) if is_last && FILTERED.contains(&reason) => {
                Some("cut off by the server's content filter")
            }
            Ending::Proper(_) if self.name.trim().is_empty() => Some("the call names no tool"),
            Ending::Proper(_) => None,
        };
        match cut {
            Some(why) => Some(why.to_owned()),
            None if self.arguments.trim().is_empty() => None,
            None => object_fault(&self.arguments),
        }
    }
}

/// Why a reply that ended properly is not whole, if it is not.
pub(super) fn cut_off(stop_reason: &str) -> Option<&'static str> {
    match stop_reason {
        reason if CUT_SHORT.contains(&reason) => Some(say!("the reply reached the output limit")),
        reason if FILTERED.contains(&reason) => Some(say!("by the server's content filter")),
        _ => None,
    }
}

/// Why a reply ends that has reached a limit, in the words of all formats.
const CUT_SHORT: [&str; 5] = [
    "length",
    "max_tokens",
    "model_context_window_exceeded",
    "incomplete",
    "incomplete:max_output_tokens",
];

/// Why a reply ends that the server did not want to go on with, in the words of all formats.
const FILTERED: [&str; 3] = ["content_filter", "refusal", "incomplete:content_filter"];

/// What keeps a text from being a JSON object.
fn object_fault(text: &str) -> Option<String> {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(serde_json::Value::Object(_)) => None,
        Ok(_) => Some("the arguments are not a JSON object".to_owned()),
        Err(error) => {
            let error = error.to_string().replace(" at line 1 column ", " at column ");
            Some(format!("the arguments are not valid JSON ({error})"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Index, id, name, arguments.
    type Sent<'a> = (Option<i64>, &'a str, &'a str, &'a str);
    /// Pieces, how the reply ended, and for each call why it must not be run.
    type Case<'a> = (&'a [Sent<'a>], Ending<'a>, &'a [Option<&'a str>]);

    fn calls(pieces: &[Sent<'_>]) -> Calls {
        let mut calls = Calls::default();
        for (index, id, name, arguments) in pieces {
            calls.take(&CallPiece {
                index: *index,
                id: Cow::Borrowed(id),
                name: Cow::Borrowed(name),
                arguments: Cow::Borrowed(arguments),
            });
        }
        calls
    }

    fn shape(pieces: &[Sent<'_>]) -> Vec<String> {
        let finished = calls(pieces).finish(Ending::Proper(None));
        finished
            .iter()
            .map(|proposed| {
                let call = &proposed.call;
                format!("{}|{}|{}", call.id, call.name, call.arguments)
            })
            .collect()
    }

    #[test]
    fn pieces_find_their_call() {
        let cases: &[(&str, &[Sent<'_>], &[&str])] = &[
            (
                "interleaved by index, from 1 on",
                &[
                    (Some(1), "a", "x", ""),
                    (Some(2), "b", "y", "{"),
                    (Some(1), "", "", "{}"),
                    (Some(2), "", "", "}"),
                ],
                &["a|x|{}", "b|y|{}"],
            ),
            (
                "name and id repeated",
                &[
                    (Some(0), "a", "x", "{\"k\""),
                    (Some(0), "a", "x", ":{}"),
                    (Some(0), "a", "x", "}"),
                ],
                &["a|x|{\"k\":{}}"],
            ),
            (
                "one index for all, other ids",
                &[(Some(0), "a", "x", "{}"), (Some(0), "b", "x", "{}")],
                &["a|x|{}", "b|x|{}"],
            ),
            (
                "one index and one id for two calls",
                &[(Some(0), "a", "x", "{\"n\":1}"), (Some(0), "a", "x", "{\"n\":2}")],
                &["a|x|{\"n\":1}", "a|x|{\"n\":2}"],
            ),
            (
                "a whole call sent twice",
                &[(Some(0), "a", "x", "{\"n\":1}"), (Some(0), "a", "x", "{\"n\":1}")],
                &["a|x|{\"n\":1}"],
            ),
            (
                "no index: a new id starts, no id continues",
                &[(None, "a", "x", "{"), (None, "", "", "}"), (None, "b", "y", "{}")],
                &["a|x|{}", "b|y|{}"],
            ),
            (
                "neither index nor id",
                &[(None, "", "x", "{}"), (None, "", "x", "{}"), (None, "", "y", "")],
                &["|x|{}", "|x|{}", "|y|"],
            ),
            ("the id comes late", &[(Some(0), "", "x", "{"), (Some(0), "a", "", "}")], &["a|x|{}"]),
            (
                "one id under two indices",
                &[(Some(0), "a", "x", "{}"), (Some(1), "a", "y", "{}")],
                &["a|x|{}", "a|y|{}"],
            ),
        ];
        for (what, pieces, expected) in cases {
            assert_eq!(shape(pieces), *expected, "{what}");
        }
    }

    #[test]
    fn only_whole_calls_are_complete() {
        let proper = Ending::Proper(Some("tool_calls"));
        let cases: &[Case<'_>] = &[
            (&[(Some(0), "", "x", "{}"), (Some(1), "", "x", "")], proper, &[None, None]),
            (
                &[(Some(0), "", "x", "{}"), (Some(1), "", "x", "{}")],
                Ending::Proper(Some("length")),
                &[None, Some("cut off by the output limit; send a shorter call")],
            ),
            (
                &[(Some(0), "", "x", "{\"command\": 1")],
                proper,
                &[Some(
                    "the arguments are not valid JSON (EOF while parsing an object at column 13)",
                )],
            ),
            (&[(Some(0), "", "x", "[1]")], proper, &[Some("the arguments are not a JSON object")]),
            (&[(Some(0), "", "", "{}")], proper, &[Some("the call names no tool")]),
            (
                &[(Some(0), "", "x", "{}")],
                Ending::Disconnected,
                &[Some("the connection ended before the call was complete")],
            ),
            (
                &[(Some(0), "", "x", "{}")],
                Ending::Stopped,
                &[Some("stopped by the user before the call was complete")],
            ),
        ];
        for (pieces, ending, expected) in cases {
            let states: Vec<_> = calls(pieces)
                .finish(*ending)
                .into_iter()
                .map(|proposed| match proposed.state {
                    CallState::Complete => None,
                    CallState::Unusable(why) => Some(why),
                })
                .collect();
            let expected: Vec<_> = expected.iter().map(|why| why.map(str::to_owned)).collect();
            assert_eq!(states, expected, "{pieces:?} {ending:?}");
        }
    }
}
