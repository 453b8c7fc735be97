//! The output items of a reply while they arrive: messages, reasoning, calls, and items that the
//! provider ran or understands alone.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::conversation::Opaque;
use crate::wire::Format;
use crate::wire::calls::CallPiece;
use crate::wire::draft::Draft;

/// An item that has begun.
#[derive(Debug)]
pub(super) enum Item {
    /// A message; whether any text of it has come.
    Message {
        has_text: bool,
    },
    Reasoning {
        position: usize,
        has_text: bool,
    },
    Call {
        number: usize,
    },
    /// Kept, sent back, never run.
    Server {
        position: usize,
    },
}

/// An item as it is sent, at its start and again, whole, at its end.
#[derive(Debug, Deserialize)]
struct Sent<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(default)]
    call_id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<String>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    summary: Option<&'a RawValue>,
    #[serde(default)]
    encrypted_content: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ContentPart<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
}

impl Item {
    /// Begins an item with what was sent of it.
    pub(super) fn start(json: &str, draft: &mut Draft) -> serde_json::Result<Self> {
        let sent: Sent<'_> = serde_json::from_str(json)?;
        Ok(match &*sent.kind {
            "message" => Self::Message { has_text: false },
            "reasoning" => Self::Reasoning { position: draft.open_reasoning(), has_text: false },
            "function_call" => {
                let piece = CallPiece {
                    index: None,
                    id: sent.call_id.unwrap_or_default().into(),
                    name: sent.name.unwrap_or_default().into(),
                    arguments: sent.arguments.unwrap_or_default().into(),
                };
                Self::Call { number: draft.start_call(&piece) }
            }
            _ => Self::Server { position: draft.place_opaque(opaque(json)) },
        })
    }

    /// Takes a piece of the answer's text.
    pub(super) fn text(&mut self, text: &str, draft: &mut Draft) {
        if let Self::Message { has_text } = self {
            *has_text = true;
        }
        draft.text(text);
    }

    /// Takes a piece of a refusal.
    pub(super) fn refusal(&mut self, text: &str, draft: &mut Draft) {
        if let Self::Message { has_text } = self {
            *has_text = true;
        }
        draft.refusal(text);
    }

    /// Takes a piece of reasoning.
    pub(super) fn reasoning(&mut self, text: &str, draft: &mut Draft) {
        match self {
            Self::Reasoning { position, has_text } => {
                *has_text = true;
                draft.append_reasoning(*position, text);
            }
            _ => draft.reasoning(text),
        }
    }

    /// Takes a piece of a call's arguments.
    pub(super) fn arguments(&mut self, piece: &str, draft: &mut Draft) {
        if let Self::Call { number } = self {
            draft.append_arguments(*number, piece);
        }
    }

    /// The arguments are complete: these.
    pub(super) fn set_arguments(&mut self, whole: &str, draft: &mut Draft) {
        if let Self::Call { number } = self {
            draft.set_arguments(*number, whole);
        }
    }

    /// The item is complete: `json` is the server's last word. What of it came in pieces is not
    /// taken again.
    pub(super) fn end(mut self, json: &str, draft: &mut Draft) -> serde_json::Result<()> {
        let sent: Sent<'_> = serde_json::from_str(json)?;
        match self {
            Self::Message { has_text: true } => {}
            Self::Message { .. } => {
                for part in parts(sent.content) {
                    if let Some(text) = part.text.filter(|text| !text.is_empty()) {
                        draft.text(&text);
                    }
                    if let Some(text) = part.refusal.filter(|text| !text.is_empty()) {
                        draft.refusal(&text);
                    }
                }
            }
            Self::Reasoning { position, has_text } => {
                let content = parts(sent.content);
                // What was only summarised cannot be sent back without its encrypted form; a server
                // that sends the text itself reads the text.
                let goes_back = sent.encrypted_content.is_some_and(|text| !text.is_empty())
                    || content.iter().any(|part| part.kind == "reasoning_text");
                if !has_text {
                    for part in parts(sent.summary).into_iter().chain(content) {
                        self.reasoning(&part.text.unwrap_or_default(), draft);
                    }
                }
                if goes_back && let Some(reasoning) = draft.reasoning_at(position) {
                    reasoning.opaque = Some(opaque(json));
                }
            }
            Self::Call { .. } => {
                if let Some(arguments) = sent.arguments {
                    self.set_arguments(&arguments, draft);
                }
            }
            Self::Server { position } => draft.set_opaque(position, json.to_owned()),
        }
        Ok(())
    }
}

/// The parts of a list; none if it is anything else.
fn parts(raw: Option<&RawValue>) -> Vec<ContentPart<'_>> {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

fn opaque(json: &str) -> Opaque {
    Opaque { format: Format::OpenaiResponses.name().to_owned(), json: json.to_owned() }
}
