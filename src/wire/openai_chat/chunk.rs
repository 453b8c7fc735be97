//! The JSON of an answer as the servers write it: one chunk of a stream, or a whole completion.
//!
//! Borrowed from the event's text; nothing is allocated for members that are not used. Members
//! that servers fill with different types (text, null, a list, an object) are kept raw and read by
//! the functions here. Members that are not named here are ignored.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::conversation::Usage;

/// A chunk of a stream, or a completion.
#[derive(Debug, Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
    /// Groq's place for the usage of a stream.
    #[serde(borrow, default)]
    x_groq: Option<Groq<'a>>,
    /// May stand beside `choices` (`OpenRouter`).
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
struct Groq<'a> {
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(default)]
    pub(super) index: Option<i64>,
    /// What a chunk adds.
    #[serde(borrow, default)]
    pub(super) delta: Option<Message<'a>>,
    /// The whole message of a completion. Perplexity's chunks have it beside `delta`.
    #[serde(borrow, default)]
    pub(super) message: Option<Message<'a>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Option<&'a RawValue>,
}

/// A message, or a piece of one.
#[derive(Debug, Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    /// `DeepSeek`, `DashScope`, Z.ai, xAI, llama.cpp.
    #[serde(borrow, default)]
    reasoning_content: Option<&'a RawValue>,
    /// `OpenRouter`, Groq, Ollama.
    #[serde(borrow, default)]
    reasoning: Option<&'a RawValue>,
    #[serde(borrow, default)]
    refusal: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) tool_calls: Option<Vec<ToolCall<'a>>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ToolCall<'a> {
    #[serde(default)]
    pub(super) index: Option<i64>,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    function: Option<Function<'a>>,
}

#[derive(Debug, Deserialize)]
struct Function<'a> {
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

/// One element of a `content` that is a list.
#[derive(Debug, Deserialize)]
struct ContentPart<'a> {
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    /// Mistral: again a list of parts.
    #[serde(borrow, default)]
    thinking: Option<&'a RawValue>,
}

/// A piece of what the model wrote.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Text(Cow<'a, str>),
    Reasoning(Cow<'a, str>),
    Refusal(Cow<'a, str>),
}

impl<'a> Chunk<'a> {
    /// The usage that it reports, unread.
    pub(super) fn usage(&self) -> Option<&'a RawValue> {
        self.usage.or_else(|| self.x_groq.as_ref().and_then(|groq| groq.usage))
    }
}

impl<'a> Message<'a> {
    /// Reasoning, text and refusal in it, in this order; never empty pieces.
    pub(super) fn pieces(&self, mut on_piece: impl FnMut(Piece<'a>)) {
        // A server that sends both names means the same text.
        let reasoning = string(self.reasoning_content).or_else(|| string(self.reasoning));
        if let Some(text) = reasoning {
            on_piece(Piece::Reasoning(text));
        }
        for part in listed(self.content) {
            for thought in listed(part.thinking) {
                if let Some(text) = string(thought.text) {
                    on_piece(Piece::Reasoning(text));
                }
            }
            if let Some(text) = string(part.thinking) {
                on_piece(Piece::Reasoning(text));
            }
            if let Some(text) = string(part.text) {
                on_piece(Piece::Text(text));
            }
        }
        if let Some(text) = string(self.content) {
            on_piece(Piece::Text(text));
        }
        if let Some(text) = string(self.refusal) {
            on_piece(Piece::Refusal(text));
        }
    }
}

impl<'a> ToolCall<'a> {
    /// The id; empty if none was sent.
    pub(super) fn id(&self) -> Cow<'a, str> {
        string(self.id).unwrap_or_default()
    }

    /// The tool's name; empty if none was sent.
    pub(super) fn name(&self) -> Cow<'a, str> {
        string(self.function.as_ref().and_then(|function| function.name)).unwrap_or_default()
    }

    /// The arguments' text, or the JSON itself where a server sends it instead of its text.
    pub(super) fn arguments(&self) -> Arguments<'a> {
        match self.function.as_ref().and_then(|function| function.arguments) {
            Some(raw) if !raw.get().starts_with('"') => Arguments::Json(raw.get()),
            raw => Arguments::Text(string(raw).unwrap_or_default()),
        }
    }
}

/// How the arguments of a call were sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Arguments<'a> {
    /// As the format wants them: a string that holds JSON.
    Text(Cow<'a, str>),
    /// As JSON.
    Json(&'a str),
}

/// A string that is not empty.
pub(super) fn string(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);

    let text = raw?.get();
    if !text.starts_with('"') {
        return None;
    }
    serde_json::from_str::<Borrowed<'_>>(text)
        .ok()
        .map(|text| text.0)
        .filter(|text| !text.is_empty())
}

/// The parts of a `content` that is a list; none if it is anything else.
fn listed(raw: Option<&RawValue>) -> Vec<ContentPart<'_>> {
    match raw.map(RawValue::get) {
        Some(list) if list.starts_with('[') => serde_json::from_str(list).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// Reads token counts; `None` if they are not of a known shape.
pub(super) fn usage(raw: &RawValue) -> Option<Usage> {
    #[derive(Deserialize)]
    struct Counts {
        prompt_tokens: Option<u64>,
        completion_tokens: Option<u64>,
        prompt_tokens_details: Option<InputDetails>,
        completion_tokens_details: Option<OutputDetails>,
        /// `DeepSeek`'s own name for the tokens from its cache.
        prompt_cache_hit_tokens: Option<u64>,
    }
    #[derive(Deserialize)]
    struct InputDetails {
        cached_tokens: Option<u64>,
    }
    #[derive(Deserialize)]
    struct OutputDetails {
        reasoning_tokens: Option<u64>,
    }

    let counts: Counts = serde_json::from_str(raw.get()).ok()?;
    Some(Usage {
        input: counts.prompt_tokens,
        output: counts.completion_tokens,
        cached_input: counts
            .prompt_tokens_details
            .and_then(|details| details.cached_tokens)
            .or(counts.prompt_cache_hit_tokens),
        reasoning: counts.completion_tokens_details.and_then(|details| details.reasoning_tokens),
        ..Usage::default()
    })
}
