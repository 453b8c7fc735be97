//! Entries → blocks of Anthropic's Messages.
//!
//! What an entry becomes lacks the bracket that closes its last block: a cache marker may stand
//! before it, and the entry's text must not change when markers move (`layout`).

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::conversation::{Block, Call, CallId, Entry, Reasoning, Role, Slot};
use crate::wire::assemble::{Encoded, Encoding};
use crate::wire::sequel::Sequel;
use crate::wire::{calls_back, json};

/// Where an entry of this role stands in the body.
pub(in crate::wire) fn slot(role: &str) -> Slot {
    if role == "system" { Slot::System } else { Slot::MessageRest }
}

/// An entry as blocks; `None` if it holds nothing that can be sent.
pub(in crate::wire) fn encode(
    entry: &Entry,
    sequel: Sequel<'_>,
    encoding: &mut Encoding,
) -> Option<Encoded> {
    let (role, blocks) = match entry.role {
        Role::System => ("system", text_block(&entry.text()).into_iter().collect()),
        Role::User => ("user", text_block(&entry.text()).into_iter().collect()),
        Role::Tool => {
            let result = entry.result()?;
            let tool_use_id = wire_id(&result.call);
            let is_error = result.is_error;
            let kind = "tool_result";
            ("user", vec![json(&ToolResult { kind, tool_use_id, content: &result.text, is_error })])
        }
        Role::Assistant => ("assistant", assistant(entry, sequel, encoding)),
    };
    let mut json = blocks.join(",");
    // Nothing is left without the bracket that `layout` puts back.
    if json.pop().is_none() {
        if role == "assistant" {
            encoding.repair("a reply of which nothing can be sent is left out");
        }
        return None;
    }
    Some(Encoded { role, json })
}

fn assistant(entry: &Entry, sequel: Sequel<'_>, encoding: &mut Encoding) -> Vec<String> {
    let mut sent = Vec::new();
    // How much of it is more than thinking at its end: a message may not end with that.
    let mut led_to = 0;
    for block in &entry.blocks {
        match block {
            Block::Text(text) => sent.extend(text_block(text)),
            Block::Reasoning(reasoning) => {
                sent.extend(thinking(reasoning, encoding));
                continue;
            }
            Block::Call(call) => sent.push(tool_use(call, &mut encoding.repairs)),
            Block::Opaque(opaque) => match encoding.own(opaque) {
                Some(json) if sequel.is_open() || has_its_result(json, entry, sequel, encoding) => {
                    sent.push(json.to_owned());
                }
                Some(_) => {
                    encoding.repair("a server's call without its result is left out");
                    continue;
                }
                None => {
                    encoding.repair("what only another server understands is left out");
                    continue;
                }
            },
            Block::Result(_) => continue,
        }
        led_to = sent.len();
    }
    if !sequel.is_open() && sent.len() > led_to {
        encoding.repair("reasoning that led to nothing is not sent back");
        sent.truncate(led_to);
    }
    sent
}

fn thinking(reasoning: &Reasoning, encoding: &mut Encoding) -> Option<String> {
    let Some(opaque) = &reasoning.opaque else {
        encoding.repair("reasoning without a signature is not sent back");
        return None;
    };
    let own = encoding.own(opaque).map(str::to_owned);
    if own.is_none() {
        encoding.repair("reasoning sealed by another server is not sent back");
    }
    own
}

/// Whether a call that the server ran itself has its result; true for any other block.
fn has_its_result(json: &str, entry: &Entry, sequel: Sequel<'_>, encoding: &Encoding) -> bool {
    #[derive(serde::Deserialize)]
    struct Named {
        #[serde(rename = "type", default)]
        kind: String,
        #[serde(default)]
        id: Option<String>,
        #[serde(default)]
        tool_use_id: Option<String>,
    }

    let named = |json: &str| serde_json::from_str::<Named>(json).ok();
    let Some(block) = named(json) else { return false };
    !block.kind.ends_with("tool_use")
        || entry.blocks.iter().chain(sequel.blocks()).any(|other| match other {
            Block::Opaque(other) => encoding
                .own(other)
                .and_then(named)
                .is_some_and(|other| other.tool_use_id.is_some() && other.tool_use_id == block.id),
            _ => false,
        })
}

fn text_block(text: &str) -> Option<String> {
    // Blocks without visible text are refused.
    (!text.trim().is_empty()).then(|| json(&Text { kind: "text", text }))
}

fn tool_use(call: &Call, repairs: &mut Vec<String>) -> String {
    let id = wire_id(&call.id);
    if matches!(id, Cow::Owned(_)) {
        repairs.push(calls_back::id_repair(&call.id, &id));
    }
    let name = calls_back::name(call, repairs);
    let Ok(input) = serde_json::from_str::<&RawValue>(calls_back::arguments(call, repairs)) else {
        return String::new();
    };
    json(&ToolUse { kind: "tool_use", id, name, input })
}

/// An id as this format takes it: other formats have ids with other characters.
fn wire_id(id: &CallId) -> Cow<'_, str> {
    if id.0.chars().all(calls_back::is_plain) {
        return Cow::Borrowed(&id.0);
    }
    let plain = id.0.chars().map(|c| match c {
        c if calls_back::is_plain(c) => c.to_string(),
        other => format!("_x{:x}_", u32::from(other)),
    });
    Cow::Owned(plain.collect())
}

#[derive(Serialize)]
struct Text<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    text: &'a str,
}

#[derive(Serialize)]
struct ToolUse<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    id: Cow<'a, str>,
    name: Cow<'a, str>,
    input: &'a RawValue,
}

#[derive(Serialize)]
struct ToolResult<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    tool_use_id: Cow<'a, str>,
    content: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
}
