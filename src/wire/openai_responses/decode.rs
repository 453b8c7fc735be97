//! Events and bodies of `OpenAI`'s Responses → the pieces of a reply.
//!
//! Goes by `type` in the data, not by the event's name. An item is known by its place in the output
//! (its id may change from event to event), or by its id where no place is sent (llama.cpp). What
//! an item says at its end is the server's last word.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::items::Item;
use crate::conversation::{FailureKind, Place, Usage};
use crate::wire::draft::{Draft, EndMarks, fault};
use crate::wire::{errors, response};

/// Reads events and bodies.
#[derive(Debug, Default)]
pub(in crate::wire) struct Reader {
    /// Items that have not ended.
    open: Vec<(Key, Item)>,
}

/// What an item is known by.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Key {
    Place(i64),
    Id(String),
}

#[derive(Debug, Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(default)]
    output_index: Option<i64>,
    #[serde(default)]
    item_id: Option<String>,
    #[serde(borrow, default)]
    item: Option<&'a RawValue>,
    #[serde(borrow, default)]
    delta: Option<&'a RawValue>,
    #[serde(default)]
    arguments: Option<String>,
    #[serde(borrow, default)]
    response: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
struct Response<'a> {
    #[serde(default)]
    status: Option<String>,
    #[serde(borrow, default)]
    output: Option<Vec<&'a RawValue>>,
    #[serde(default)]
    incomplete_details: Option<Incomplete>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
struct Incomplete {
    #[serde(default)]
    reason: Option<String>,
}

impl response::Reader for Reader {
    fn take_event(&mut self, json: &str, draft: &mut Draft) -> serde_json::Result<()> {
        let event: Event<'_> = serde_json::from_str(json)?;
        match &*event.kind {
            "response.completed" | "response.incomplete" | "response.failed" => {
                if let Some(response) = event.response {
                    take_end(response.get(), draft)?;
                }
                draft.terminate();
            }
            // What follows an error is at most the end mark.
            _ if draft.reply.failure.is_some() => {}
            "response.output_item.added" => {
                if let Some(item) = event.item {
                    let key = key(&event);
                    let item = Item::start(item.get(), draft)?;
                    self.open.push((key, item));
                }
            }
            "response.output_item.done" => {
                if let Some(sent) = event.item {
                    let item = match self.open.iter().position(|(open, _)| *open == key(&event)) {
                        Some(position) => self.open.remove(position).1,
                        None => Item::start(sent.get(), draft)?,
                    };
                    item.end(sent.get(), draft)?;
                }
            }
            "response.output_text.delta" => {
                let text = text(event.delta)?;
                match self.item(&event) {
                    Some(item) => item.text(&text, draft),
                    None => draft.text(&text),
                }
            }
            "response.refusal.delta" => {
                let text = text(event.delta)?;
                match self.item(&event) {
                    Some(item) => item.refusal(&text, draft),
                    None => draft.refusal(&text),
                }
            }
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                let text = text(event.delta)?;
                match self.item(&event) {
                    Some(item) => item.reasoning(&text, draft),
                    None => draft.reasoning(&text),
                }
            }
            "response.function_call_arguments.delta" => {
                let text = text(event.delta)?;
                if let Some(item) = self.item(&event) {
                    item.arguments(&text, draft);
                }
            }
            "response.function_call_arguments.done" => {
                if let (Some(item), Some(arguments)) = (self.item(&event), &event.arguments) {
                    item.set_arguments(arguments, draft);
                }
            }
            kind => {
                if (event.error.is_some() || kind.is_empty() || kind == "error")
                    && let Some(failure) = errors::from_event(Place::Stream, json)
                {
                    draft.note_failure(failure);
                }
            }
        }
        Ok(())
    }

    fn take_body(&mut self, json: &str, draft: &mut Draft) -> serde_json::Result<bool> {
        let response: Response<'_> = serde_json::from_str(json)?;
        let Some(output) = &response.output else { return Ok(false) };
        for item in output {
            Item::start(item.get(), draft)?.end(item.get(), draft)?;
        }
        take_result(&response, json, Place::Body, draft);
        Ok(true)
    }

    fn reads_on_after_error(&self) -> bool {
        true
    }

    fn end_marks(&self) -> EndMarks {
        EndMarks { reason: "status", end: "response.completed" }
    }
}

impl Reader {
    fn item(&mut self, event: &Event<'_>) -> Option<&mut Item> {
        let key = key(event);
        self.open.iter_mut().find(|(open, _)| *open == key).map(|(_, item)| item)
    }
}

/// Takes the whole response that the end mark holds: how it ended, and items that have not
/// come in pieces at all.
fn take_end(json: &str, draft: &mut Draft) -> serde_json::Result<()> {
    let response: Response<'_> = serde_json::from_str(json)?;
    if draft.reply.content.is_empty() {
        for item in response.output.iter().flatten() {
            Item::start(item.get(), draft)?.end(item.get(), draft)?;
        }
    }
    take_result(&response, json, Place::Stream, draft);
    Ok(())
}

fn key(event: &Event<'_>) -> Key {
    #[derive(Deserialize)]
    struct Named {
        #[serde(default)]
        id: Option<String>,
    }

    if let Some(place) = event.output_index {
        return Key::Place(place);
    }
    let named = event.item.and_then(|item| serde_json::from_str::<Named>(item.get()).ok());
    let id = named.and_then(|named| named.id).or_else(|| event.item_id.clone());
    Key::Id(id.unwrap_or_default())
}

/// A delta's text; empty if none was sent.
fn text(raw: Option<&RawValue>) -> serde_json::Result<String> {
    Ok(raw
        .map(|raw| serde_json::from_str::<Option<String>>(raw.get()))
        .transpose()?
        .flatten()
        .unwrap_or_default())
}

/// How a response ended.
fn take_result(response: &Response<'_>, json: &str, place: Place, draft: &mut Draft) {
    take_usage(response.usage, draft);
    let reason = response.incomplete_details.as_ref().and_then(|details| details.reason.as_deref());
    draft.reply.stop_reason = match (response.status.as_deref(), reason) {
        (Some("incomplete"), Some(reason)) => Some(format!("incomplete:{reason}")),
        (status, _) => status.map(str::to_owned),
    };
    let failed = matches!(response.status.as_deref(), Some("failed" | "cancelled"));
    if failed || response.error.is_some_and(|error| error.get() != "null") {
        let failure = errors::from_event(place, json);
        draft.note_failure(failure.unwrap_or_else(|| {
            let what = "The server reports that the response failed, without a reason";
            fault(place, FailureKind::Server, what)
        }));
    }
}

fn take_usage(raw: Option<&RawValue>, draft: &mut Draft) {
    #[derive(Deserialize)]
    struct Counts {
        input_tokens: Option<u64>,
        output_tokens: Option<u64>,
        input_tokens_details: Option<InputDetails>,
        output_tokens_details: Option<OutputDetails>,
    }
    #[derive(Deserialize)]
    struct InputDetails {
        cached_tokens: Option<u64>,
    }
    #[derive(Deserialize)]
    struct OutputDetails {
        reasoning_tokens: Option<u64>,
    }

    let Some(raw) = raw.filter(|raw| raw.get() != "null") else { return };
    match serde_json::from_str::<Counts>(raw.get()) {
        Ok(counts) => {
            draft.reply.usage = Some(Usage {
                input: counts.input_tokens,
                output: counts.output_tokens,
                cached_input: counts.input_tokens_details.and_then(|d| d.cached_tokens),
                reasoning: counts.output_tokens_details.and_then(|d| d.reasoning_tokens),
                ..Usage::default()
            });
        }
        Err(_) => draft.repair("token counts of unknown shape ignored"),
    }
}
