//! Entries → messages of Chat Completions, and what stands around them.

use serde::Serialize;

use crate::conversation::{Block, Call, Entry, Origin, Part, Role, Slot};
use crate::wire::assemble::{Encoded, Frame, envelope};
use crate::wire::{Dialect, MaxTokens, ReasoningBack, Settings, SystemRole};

/// The members of the body beside `messages`.
pub fn frame(settings: &Settings) -> Frame {
    let mut before = vec![
        envelope("{\"model\":"),
        Part {
            origin: Origin::Envelope,
            entry: None,
            slot: Slot::Model,
            text: json(&settings.model).into(),
        },
    ];
    if !settings.tools.is_empty() {
        let tools: Vec<String> = settings
            .tools
            .iter()
            .map(|tool| {
                format!(
                    "{{\"type\":\"function\",\"function\":{{\"name\":{},\"description\":{},\"parameters\":{}}}}}",
                    json(tool.name),
                    json(tool.description),
                    tool.parameters
                )
            })
            .collect();
        before.push(envelope(",\"tools\":"));
        before.push(Part {
            origin: Origin::Tools,
            entry: None,
            slot: Slot::Tools,
            text: format!("[{}]", tools.join(",")).into(),
        });
    }
    before.push(envelope(",\"messages\":["));
    let after = vec![envelope(format!("]{}}}", parameters(settings)))];
    Frame { before, after }
}

/// The members that follow the messages.
fn parameters(settings: &Settings) -> String {
    let Settings { dialect, parameters, .. } = settings;
    let mut text = ",\"stream\":true".to_owned();
    if dialect.stream_options {
        text.push_str(",\"stream_options\":{\"include_usage\":true}");
    }
    if let Some(temperature) = parameters.temperature {
        text.push_str(&format!(",\"temperature\":{}", json(&temperature)));
    }
    if let Some(most) = parameters.max_tokens {
        let name = match dialect.max_tokens {
            MaxTokens::MaxTokens => "max_tokens",
            MaxTokens::MaxCompletionTokens => "max_completion_tokens",
        };
        text.push_str(&format!(",\"{name}\":{most}"));
    }
    if let Some(effort) = &parameters.effort {
        text.push_str(&format!(",\"reasoning_effort\":{}", json(effort)));
    }
    if let Some(parallel) = dialect.parallel_calls {
        text.push_str(&format!(",\"parallel_tool_calls\":{parallel}"));
    }
    text
}

/// An entry as a message; `None` if it holds nothing that can be sent (reasoning alone).
pub fn encode(entry: &Entry, dialect: &Dialect) -> Option<Encoded> {
    let text = entry.text();
    let mut repairs = Vec::new();
    let (role, json) = match entry.role {
        Role::System | Role::User if text.trim().is_empty() => return None,
        Role::System => {
            let role = match dialect.system_role {
                SystemRole::System => "system",
                SystemRole::Developer => "developer",
            };
            (role, json(&Plain { role, content: &text }))
        }
        Role::User => ("user", json(&Plain { role: "user", content: &text })),
        Role::Tool => {
            let result = entry.result()?;
            let message =
                ToolMessage { role: "tool", tool_call_id: &result.call.0, content: &result.text };
            ("tool", json(&message))
        }
        Role::Assistant => {
            let calls: Vec<_> =
                entry.calls().map(|call| function_call(call, &mut repairs)).collect();
            let content = Some(text.as_str()).filter(|text| !text.trim().is_empty());
            if content.is_none() && calls.is_empty() {
                return None;
            }
            let goes_back = dialect.reasoning_back == ReasoningBack::WithCalls && !calls.is_empty();
            let reasoning_content = goes_back.then(|| reasoning(entry));
            if !goes_back && entry.blocks.iter().any(|block| matches!(block, Block::Reasoning(_))) {
                repairs.push("reasoning is not sent back".to_owned());
            }
            if entry.blocks.iter().any(|block| matches!(block, Block::Opaque(_))) {
                repairs.push("what only another server understands is left out".to_owned());
            }
            let role = "assistant";
            (role, json(&Assistant { role, content, reasoning_content, tool_calls: calls }))
        }
    };
    Some(Encoded { role, json, repairs })
}

fn reasoning(entry: &Entry) -> String {
    entry
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Reasoning(reasoning) => Some(reasoning.text.as_str()),
            _ => None,
        })
        .collect()
}

/// Servers refuse a history whose calls have no name or whose arguments are not a JSON object, so
/// an unusable call goes back in a form that they accept; its result tells what had arrived.
fn function_call<'a>(call: &'a Call, repairs: &mut Vec<String>) -> ToolCall<'a> {
    let usable =
        serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&call.arguments);
    let arguments = if call.arguments.trim().is_empty() {
        "{}"
    } else if usable.is_err() {
        repairs.push(format!("call {}: unusable arguments are sent as {{}}", call.id));
        "{}"
    } else {
        &call.arguments
    };
    let name = if call.name.is_empty() {
        repairs.push(format!("call {}: the missing name is sent as \"unnamed\"", call.id));
        "unnamed"
    } else {
        &call.name
    };
    ToolCall { id: &call.id.0, kind: "function", function: Function { name, arguments } }
}

#[derive(Serialize)]
struct Plain<'a> {
    role: &'a str,
    content: &'a str,
}

#[derive(Serialize)]
struct ToolMessage<'a> {
    role: &'a str,
    tool_call_id: &'a str,
    content: &'a str,
}

#[derive(Serialize)]
struct Assistant<'a> {
    role: &'a str,
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ToolCall<'a>>,
}

#[derive(Serialize)]
struct ToolCall<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: &'a str,
}

/// JSON of plain structs and strings, which cannot fail.
fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Format, Parameters};

    fn after(dialect: Dialect, parameters: Parameters) -> String {
        let model = "m".to_owned();
        let settings =
            Settings { format: Format::OpenaiChat, model, tools: Vec::new(), dialect, parameters };
        frame(&settings).after.iter().map(|part| &*part.text).collect()
    }

    #[test]
    fn switches_and_parameters_stand_behind_the_messages() {
        assert_eq!(
            after(Dialect::default(), Parameters::default()),
            r#"],"stream":true,"stream_options":{"include_usage":true}}"#
        );
        let dialect = Dialect {
            max_tokens: MaxTokens::MaxCompletionTokens,
            stream_options: false,
            parallel_calls: Some(false),
            ..Dialect::default()
        };
        let parameters = Parameters {
            temperature: Some(0.2),
            max_tokens: Some(100),
            effort: Some("low".to_owned()),
            thinking_budget: None,
        };
        assert_eq!(
            after(dialect, parameters),
            r#"],"stream":true,"temperature":0.2,"max_completion_tokens":100,"reasoning_effort":"low","parallel_tool_calls":false}"#
        );
    }

    #[test]
    fn deepseek_gets_its_reasoning_back_with_calls_also_when_empty() {
        let entry = |reasoning: Option<&str>, with_call: bool| {
            let mut blocks = vec![Block::Text("t".to_owned())];
            blocks.extend(
                reasoning
                    .map(|text| Block::Reasoning(crate::conversation::Reasoning::of_text(text))),
            );
            if with_call {
                blocks.push(Block::Call(Call {
                    id: crate::conversation::CallId("c".to_owned()),
                    name: "bash".to_owned(),
                    arguments: String::new(),
                }));
            }
            let id = crate::conversation::EntryId(1);
            Entry { id, parent: None, role: Role::Assistant, origin: Origin::Model, blocks }
        };
        let back = Dialect { reasoning_back: ReasoningBack::WithCalls, ..Dialect::default() };
        let sent = |entry: &Entry, dialect: &Dialect| encode(entry, dialect).unwrap();
        let json = sent(&entry(Some("hm"), true), &back).json;
        assert!(json.contains(r#""reasoning_content":"hm""#), "{json}");
        let json = sent(&entry(None, true), &back).json;
        assert!(json.contains(r#""reasoning_content":"""#), "{json}");
        let json = sent(&entry(Some("hm"), false), &back).json;
        assert!(!json.contains("reasoning_content"), "{json}");
        let refused = sent(&entry(Some("hm"), true), &Dialect::default());
        assert!(!refused.json.contains("hm"), "{}", refused.json);
        assert_eq!(refused.repairs, ["reasoning is not sent back"]);
    }
}
