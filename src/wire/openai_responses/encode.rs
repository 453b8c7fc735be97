//! Entries → items of `OpenAI`'s Responses, and what stands around them. Nothing is stored at the
//! server: reasoning comes back encrypted and is sent back with what it led to.

use std::borrow::Cow;

use serde::Serialize;

use crate::conversation::{Block, Call, Entry, Origin, Part, Reasoning, Role, Slot};
use crate::wire::assemble::{Encoded, Encoding, Frame, envelope, model, within};
use crate::wire::{Settings, calls_back, json};

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
pub(in crate::wire) fn encode(entry: &Entry, encoding: &mut Encoding) -> Vec<Encoded> {
    let text = entry.text();
    let plain = |role: &'static str| -> Vec<Encoded> {
        let item = json(&Plain { role, content: &text });
        (!text.trim().is_empty()).then(|| encoded(role, item)).into_iter().collect()
    };
    match entry.role {
        Role::System => plain(encoding.dialect.system_role.word()),
        Role::User => plain("user"),
        Role::Tool => {
            let Some(result) = entry.result() else { return Vec::new() };
            let kind = "function_call_output";
            let call_id = calls_back::id(&result.call, encoding.dialect.call_ids);
            vec![encoded(kind, json(&CallOutput { kind, call_id, output: &result.text }))]
        }
        Role::Assistant => {
            let items = assistant(entry, encoding);
            if items.is_empty() {
                encoding.repair("a reply of which nothing can be sent is left out");
            }
            items
        }
    }
}

fn assistant(entry: &Entry, encoding: &mut Encoding) -> Vec<Encoded> {
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
            Block::Reasoning(thought) => {
                items.extend(reasoning(thought, encoding));
                continue;
            }
            Block::Call(call) => {
                items.push(encoded("function_call", function_call(call, encoding)));
            }
            Block::Opaque(opaque) => match encoding.own(opaque) {
                Some(json) => items.push(encoded("server_item", json.to_owned())),
                None => {
                    encoding.repair("what only another server understands is left out");
                    continue;
                }
            },
        }
        led_to = items.len();
    }
    if items.len() > led_to {
        encoding.repair("reasoning that led to nothing is not sent back");
        items.truncate(led_to);
    }
    items
}

fn reasoning(reasoning: &Reasoning, encoding: &mut Encoding) -> Option<Encoded> {
    let Some(opaque) = &reasoning.opaque else {
        encoding.repair("reasoning that is not encrypted is not sent back");
        return None;
    };
    let own = encoding.own(opaque).map(|json| encoded("reasoning", json.to_owned()));
    if own.is_none() {
        encoding.repair("reasoning sealed by another server is not sent back");
    }
    own
}

fn function_call(call: &Call, encoding: &mut Encoding) -> String {
    let call_id = calls_back::id(&call.id, encoding.dialect.call_ids);
    if matches!(call_id, Cow::Owned(_)) {
        encoding.repairs.push(calls_back::id_repair(&call.id, &call_id));
    }
    let name = calls_back::name(call, &mut encoding.repairs);
    let arguments = calls_back::arguments(call, &mut encoding.repairs);
    json(&FunctionCall { kind: "function_call", call_id, name, arguments })
}

fn encoded(role: &'static str, json: String) -> Encoded {
    Encoded { role, json }
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
    call_id: Cow<'a, str>,
    name: Cow<'a, str>,
    arguments: &'a str,
}

#[derive(Serialize)]
struct CallOutput<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    call_id: Cow<'a, str>,
    output: &'a str,
}
