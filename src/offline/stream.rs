//! An answer as Chat Completions sends it: one JSON object, or server-sent events and their pace.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};

use super::script::Answer;

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
    pub(super) id: String,
    /// Seconds since 1970.
    pub(super) created: u64,
    pub(super) model: &'static str,
    pub(super) answer: Answer,
    /// One for each call, in order.
    pub(super) call_ids: Vec<String>,
    /// Size of the posted body in tokens, at four bytes each.
    pub(super) prompt_tokens: usize,
}

impl Completion {
    fn finish_reason(&self) -> &'static str {
        if self.answer.calls.is_empty() { "stop" } else { "tool_calls" }
    }

    fn usage(&self) -> Value {
        let calls = self.answer.calls.iter();
        let bytes: usize = calls.map(|call| call.name.len() + call.arguments.len()).sum();
        let completion = (self.answer.text.len() + bytes).div_ceil(4);
        json!({
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": completion,
            "total_tokens": self.prompt_tokens + completion,
        })
    }

    /// The answer as one object.
    pub(super) fn whole(&self) -> Value {
        let mut message = json!({"role": "assistant", "content": null});
        if !self.answer.text.is_empty() {
            message["content"] = json!(self.answer.text);
        }
        let calls: Vec<Value> = self
            .answer
            .calls
            .iter()
            .zip(&self.call_ids)
            .map(|(call, id)| {
                json!({
                    "id": id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                })
            })
            .collect();
        if !calls.is_empty() {
            message["tool_calls"] = json!(calls);
        }
        json!({
            "id": self.id,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "choices": [{
                "index": 0,
                "message": message,
                "logprobs": null,
                "finish_reason": self.finish_reason(),
            }],
            "usage": self.usage(),
        })
    }

    /// The answer as server-sent events, the end mark included.
    pub(super) fn events(&self, include_usage: bool) -> Vec<Bytes> {
        let mut deltas = vec![json!({"role": "assistant", "content": ""})];
        deltas.extend(pieces(&self.answer.text).map(|piece| json!({"content": piece})));
        for (index, (call, id)) in self.answer.calls.iter().zip(&self.call_ids).enumerate() {
            deltas.push(json!({"tool_calls": [{
                "index": index,
                "id": id,
                "type": "function",
                "function": {"name": call.name, "arguments": ""},
            }]}));
            deltas.extend(pieces(&call.arguments).map(
                |piece| json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}),
            ));
        }
        let choice = |delta: Value, finish_reason: Option<&str>| json!([{"index": 0, "delta": delta, "finish_reason": finish_reason}]);
        let choices = deltas.into_iter().map(|delta| choice(delta, None));
        let last = choice(json!({}), Some(self.finish_reason()));
        let mut chunks: Vec<Value> =
            choices.chain([last]).map(|choices| self.chunk(&choices)).collect();
        if include_usage {
            for chunk in &mut chunks {
                chunk["usage"] = Value::Null;
            }
            let mut chunk = self.chunk(&json!([]));
            chunk["usage"] = self.usage();
            chunks.push(chunk);
        }
        let data = chunks.iter().map(Value::to_string).chain(["[DONE]".to_owned()]);
        data.map(|data| Bytes::from(format!("data: {data}\n\n"))).collect()
    }

    fn chunk(&self, choices: &Value) -> Value {
        json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": choices,
        })
    }
}

/// A text in pieces of a word: one ends after white space, or when it is long.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
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
