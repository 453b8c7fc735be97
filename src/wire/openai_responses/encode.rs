//! Entries → items of `OpenAI`'s Responses, and what stands around them. Nothing is stored at the
//! server: reasoning comes back encrypted and is sent back with what it led to.

use std::borrow::Cow;

use serde::Serialize;

use crate::conversation::{Block, Call, Entry, Opaque, Origin, Part, Role, Slot};
use crate::wire::assemble::{Encoded, Frame, envelope, model, within};
use crate::wire::{Dialect, Format, Settings, calls_back, json};

/// The members of the body beside `input`.
pub(in crate::wire) fn frame(settings: &Settings) -> Frame {
    let mut before = vec![envelope("{\"model\":"), model(settings)];
    if !settings.tools.is_empty() {
        let tools: Vec<String> = settings
            .tools
            .iter()
            .map(|tool| {
                let (name, description) = (json(tool.name), json(tool.description));
                let schema = tool.parameters;
                // Strict schemas, the default here, must name every member as required.
                format!(
                    "{{\"type\":\"function\",\"name\":{name},\"description\":{description},\"parameters\":{schema},\"strict\":false}}"
                )
            })
            .collect();
        before.push(envelope(",\"tools\":"));
        let text = format!("[{}]", tools.join(","));
        before.push(Part { origin: Origin::Tools, ..within(Slot::Tools, text) });
    }
    before.push(envelope(",\"input\":["));
    let after = vec![envelope(format!("]{}}}", parameters(settings)))];
    Frame { before, after }
}

/// The members that follow the items.
fn parameters(settings: &Settings) -> String {
    let Settings { dialect, parameters, tools, .. } = settings;
    let mut text =
        ",\"stream\":true,\"store\":false,\"include\":[\"reasoning.encrypted_content\"]".to_owned();
    if let Some(temperature) = parameters.temperature {
        text.push_str(&format!(",\"temperature\":{}", json(&temperature)));
    }
    if let Some(most) = parameters.max_tokens {
        text.push_str(&format!(",\"max_output_tokens\":{most}"));
    }
    if let Some(effort) = &parameters.effort {
        text.push_str(&format!(",\"reasoning\":{{\"effort\":{}}}", json(effort)));
    }
    if let Some(parallel) = dialect.parallel_calls
        && !tools.is_empty()
    {
        text.push_str(&format!(",\"parallel_tool_calls\":{parallel}"));
    }
    text
}

/// An entry as items; none if it holds nothing that can be sent.
pub(in crate::wire) fn encode(entry: &Entry, dialect: Dialect) -> Vec<Encoded> {
    let text = entry.text();
    let plain = |role: &'static str| -> Vec<Encoded> {
        let item = json(&Plain { role, content: &text });
        (!text.trim().is_empty()).then(|| encoded(role, item)).into_iter().collect()
    };
    match entry.role {
        Role::System => plain(dialect.system_role.word()),
        Role::User => plain("user"),
        Role::Tool => {
            let Some(result) = entry.result() else { return Vec::new() };
            let kind = "function_call_output";
            let item = CallOutput { kind, call_id: &result.call.0, output: &result.text };
            vec![encoded(kind, json(&item))]
        }
        Role::Assistant => assistant(entry),
    }
}

fn assistant(entry: &Entry) -> Vec<Encoded> {
    let mut repairs = Vec::new();
    let mut items = Vec::new();
    // How many of them are more than reasoning at the end: an item of it may not come last.
    let mut led_to = 0;
    for block in &entry.blocks {
        match block {
            Block::Text(text) if !text.trim().is_empty() => {
                let content = [Text { kind: "output_text", text }];
                let item = Message { kind: "message", role: "assistant", content };
                items.push(encoded("assistant", json(&item)));
            }
            Block::Text(_) | Block::Result(_) => continue,
            Block::Reasoning(reasoning) => {
                match reasoning.opaque.as_ref().and_then(own) {
                    Some(json) => items.push(encoded("reasoning", json.to_owned())),
                    None => {
                        repairs.push("reasoning that is not encrypted is not sent back".to_owned());
                    }
                }
                continue;
            }
            Block::Call(call) => {
                items.push(encoded("function_call", function_call(call, &mut repairs)));
            }
            Block::Opaque(opaque) => match own(opaque) {
                Some(json) => items.push(encoded("server_item", json.to_owned())),
                None => {
                    repairs.push("what only another server understands is left out".to_owned());
                    continue;
                }
            },
        }
        led_to = items.len();
    }
    if items.len() > led_to {
        repairs.push("reasoning that led to nothing is not sent back".to_owned());
        items.truncate(led_to);
    }
    if let Some(first) = items.first_mut() {
        first.repairs = repairs;
    }
    items
}

fn function_call(call: &Call, repairs: &mut Vec<String>) -> String {
    let name = calls_back::name(call, repairs);
    let arguments = calls_back::arguments(call, repairs);
    json(&FunctionCall { kind: "function_call", call_id: &call.id.0, name, arguments })
}

/// A piece that came in this format.
fn own(opaque: &Opaque) -> Option<&str> {
    (opaque.format == Format::OpenaiResponses.name()).then_some(opaque.json.as_str())
}

fn encoded(role: &'static str, json: String) -> Encoded {
    Encoded { role, json, repairs: Vec::new() }
}

#[derive(Serialize)]
struct Plain<'a> {
    role: &'a str,
    content: &'a str,
}

#[derive(Serialize)]
struct Message<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    role: &'a str,
    content: [Text<'a>; 1],
}

#[derive(Serialize)]
struct Text<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    text: &'a str,
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    call_id: &'a str,
    name: Cow<'a, str>,
    arguments: &'a str,
}

#[derive(Serialize)]
struct CallOutput<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    call_id: &'a str,
    output: &'a str,
}
