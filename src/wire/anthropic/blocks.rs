//! The content blocks of a reply while they arrive: text, thinking with its signature, calls, and
//! blocks that the provider ran or understands alone.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::conversation::Opaque;
use crate::wire::Format;
use crate::wire::calls::CallPiece;
use crate::wire::draft::Draft;
use crate::wire::members::Members;

/// A block that has begun.
#[derive(Debug)]
pub(super) enum Block {
    /// Nothing is left to be done at its end.
    Plain,
    Thinking {
        position: usize,
        members: Members,
        /// As sent at its start; mostly it comes last.
        signature: Option<String>,
    },
    Call {
        number: usize,
        /// The arguments if no piece of them follows.
        input: String,
    },
    /// Kept, sent back, never run.
    Server {
        position: usize,
        members: Members,
        /// Pieces of its input.
        input: String,
    },
}

#[derive(Debug, Deserialize)]
struct Start<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    signature: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
struct Delta<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    signature: Option<String>,
    #[serde(default)]
    partial_json: Option<String>,
}

impl Block {
    /// Begins a block with what was sent of it. A block of a reply that came as one body is `whole`.
    pub(super) fn start(json: &str, whole: bool, draft: &mut Draft) -> serde_json::Result<Self> {
        let start: Start<'_> = serde_json::from_str(json)?;
        Ok(match &*start.kind {
            "text" => {
                if let Some(text) = start.text.filter(|text| !text.is_empty()) {
                    draft.text(&text);
                }
                Self::Plain
            }
            "thinking" => {
                let position = draft.open_reasoning();
                if let Some(text) = start.thinking.filter(|text| !text.is_empty()) {
                    draft.append_reasoning(position, &text);
                }
                // A stream begins with an empty signature, which the signature replaces.
                let signature = start.signature.filter(|text| whole || !text.is_empty());
                Self::Thinking { position, members: Members::of(json), signature }
            }
            "redacted_thinking" => {
                let position = draft.open_reasoning();
                if let Some(reasoning) = draft.reasoning_at(position) {
                    reasoning.opaque = Some(opaque(json.to_owned()));
                }
                Self::Plain
            }
            "tool_use" => {
                let piece = CallPiece {
                    index: None,
                    id: start.id.unwrap_or_default().into(),
                    name: start.name.unwrap_or_default().into(),
                    arguments: Cow::Borrowed(""),
                };
                let number = draft.start_call(&piece);
                let input = start.input.map(RawValue::get).unwrap_or_default();
                // A stream begins with an empty object, which stands for "not yet known".
                let input = if input == "{}" && !whole { "" } else { input };
                Self::Call { number, input: input.to_owned() }
            }
            _ => Self::Server {
                position: draft.place_opaque(opaque(json.to_owned())),
                members: Members::of(json),
                input: String::new(),
            },
        })
    }

    /// Takes a piece of a block.
    pub(super) fn add(&mut self, json: &str, draft: &mut Draft) -> serde_json::Result<()> {
        let delta: Delta<'_> = serde_json::from_str(json)?;
        if delta.kind == "citations_delta" {
            draft.repair("citations of the answer's text are not kept");
        }
        match self {
            Self::Plain => {
                if let Some(text) = delta.text {
                    draft.text(&text);
                }
            }
            Self::Thinking { position, members, .. } => {
                if let Some(text) = delta.thinking {
                    draft.append_reasoning(*position, &text);
                }
                if let Some(signature) = delta.signature {
                    sign(*position, members, &signature, draft);
                }
            }
            Self::Call { number, .. } => {
                if let Some(piece) = delta.partial_json {
                    draft.append_arguments(*number, &piece);
                }
            }
            Self::Server { members, input, .. } => match delta.partial_json {
                Some(piece) => input.push_str(&piece),
                None => {
                    for (name, value) in
                        Members::of(json).iter().filter(|(name, _)| *name != "type")
                    {
                        members.add(name, value);
                    }
                }
            },
        }
        Ok(())
    }

    /// The block is complete.
    pub(super) fn end(self, draft: &mut Draft) {
        match self {
            Self::Plain => {}
            Self::Thinking { position, mut members, signature } => {
                if let Some(signature) = signature {
                    sign(position, &mut members, &signature, draft);
                }
            }
            Self::Call { number, input } => {
                if !input.is_empty() && !draft.has_arguments(number) {
                    draft.set_arguments(number, &input);
                }
            }
            Self::Server { position, mut members, input } => {
                if !input.is_empty() {
                    members.set("input", &input);
                }
                draft.set_opaque(position, members.to_json());
            }
        }
    }
}

/// The thinking is complete: without its signature no server takes it back.
fn sign(position: usize, members: &mut Members, signature: &str, draft: &mut Draft) {
    if let Some(reasoning) = draft.reasoning_at(position) {
        members.set_text("thinking", &reasoning.text);
        members.set_text("signature", signature);
        reasoning.opaque = Some(opaque(members.to_json()));
    }
}

fn opaque(json: String) -> Opaque {
    Opaque { format: Format::Anthropic.name().to_owned(), json }
}
