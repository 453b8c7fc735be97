//! Entries → messages of Chat Completions, and what stands around them.

use std::borrow::Cow;

use serde::Serialize;

use crate::conversation::{Block, Call, Entry, Origin, Part, Role, Slot};
use crate::wire::assemble::{Encoded, Encoding, Frame, envelope, model};
use crate::wire::{Dialect, MaxTokens, ReasoningBack, Settings, calls_back, json};

/// The members of the body beside `messages`.
pub(in crate::wire) fn frame(settings: &Settings) -> Frame {
    let mut before = vec![envelope("{\"model\":"), model(settings)];
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

/// The role of the user.
pub(super) const USER: &str = "user";

/// The place of an encoded entry.
pub(in crate::wire) fn slot(role: &str, dialect: Dialect) -> Slot {
    if dialect.join_user_messages && role == USER {
        Slot::MessageRest
    } else {
        Slot::MessageStart(role.to_owned())
    }
}

/// An entry as a message, or as the text in one; `None` if it holds nothing that can be sent.
pub(in crate::wire) fn encode(entry: &Entry, encoding: &mut Encoding) -> Option<Encoded> {
    let text = entry.text();
    let dialect = encoding.dialect;
    let (role, json) = match entry.role {
        Role::System | Role::User if text.trim().is_empty() => return None,
        Role::System => {
            let role = dialect.system_role.word();
            (role, json(&Plain { role, content: &text }))
        }
        Role::User if dialect.join_user_messages => (USER, within_quotes(&text)),
        Role::User => (USER, json(&Plain { role: USER, content: &text })),
        Role::Tool => {
            let result = entry.result()?;
            let tool_call_id = calls_back::id(&result.call, dialect.call_ids);
            let message = ToolMessage { role: "tool", tool_call_id, content: &result.text };
            ("tool", json(&message))
        }
        Role::Assistant => ("assistant", assistant(entry, &text, encoding)?),
    };
    Some(Encoded { role, json })
}

/// A text as it stands in JSON, without the quotes around it.
fn within_quotes(text: &str) -> String {
    let text = json(text);
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    inner.unwrap_or(&text).to_owned()
}

fn assistant(entry: &Entry, text: &str, encoding: &mut Encoding) -> Option<String> {
    let calls: Vec<_> = entry.calls().map(|call| function_call(call, encoding)).collect();
    let goes_back =
        encoding.dialect.reasoning_back == ReasoningBack::WithCalls && !calls.is_empty();
    let mut reasoning = String::new();
    let mut called = false;
    for block in &entry.blocks {
        match block {
            Block::Reasoning(thought) if goes_back => {
                reasoning.push_str(&thought.text);
                if thought.opaque.is_some() {
                    encoding.repair(if thought.text.is_empty() {
                        "sealed reasoning is left out"
                    } else {
                        "reasoning goes back as text, without its seal"
                    });
                }
            }
            Block::Reasoning(_) => encoding.repair("reasoning is not sent back"),
            Block::Opaque(_) => encoding.repair("what only another server understands is left out"),
            Block::Text(_) if called => encoding.repair("text after a call is sent before it"),
            Block::Call(_) => called = true,
            Block::Text(_) | Block::Result(_) => {}
        }
    }
    let role = "assistant";
    let content = Some(text).filter(|text| !text.trim().is_empty());
    if content.is_none() && calls.is_empty() {
        encoding.repair("a reply of which nothing can be sent is left out");
        return None;
    }
    let reasoning_content = goes_back.then_some(reasoning);
    Some(json(&Assistant { role, content, reasoning_content, tool_calls: calls }))
}

fn function_call<'a>(call: &'a Call, encoding: &mut Encoding) -> ToolCall<'a> {
    let id = calls_back::id(&call.id, encoding.dialect.call_ids);
    if matches!(id, Cow::Owned(_)) {
        encoding.repairs.push(calls_back::id_repair(&call.id, &id));
    }
    let arguments = calls_back::arguments(call, &mut encoding.repairs);
    let name = calls_back::name(call, &mut encoding.repairs);
    ToolCall { id, kind: "function", function: Function { name, arguments } }
}

#[derive(Serialize)]
struct Plain<'a> {
    role: &'a str,
    content: &'a str,
}

#[derive(Serialize)]
struct ToolMessage<'a> {
    role: &'a str,
    tool_call_id: Cow<'a, str>,
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
    id: Cow<'a, str>,
    #[serde(rename = "type")]
    kind: &'a str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: Cow<'a, str>,
    arguments: &'a str,
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
        let sent = |entry: &Entry, dialect: Dialect| {
            let mut encoding = Encoding::of(Format::OpenaiChat, dialect);
            (encode(entry, &mut encoding).unwrap().json, encoding.repairs)
        };
        let (json, _) = sent(&entry(Some("hm"), true), back);
        assert!(json.contains(r#""reasoning_content":"hm""#), "{json}");
        let (json, _) = sent(&entry(None, true), back);
        assert!(json.contains(r#""reasoning_content":"""#), "{json}");
        let (json, _) = sent(&entry(Some("hm"), false), back);
        assert!(!json.contains("reasoning_content"), "{json}");
        let (json, repairs) = sent(&entry(Some("hm"), true), Dialect::default());
        assert!(!json.contains("hm"), "{json}");
        assert_eq!(repairs, ["reasoning is not sent back"]);
    }
}
