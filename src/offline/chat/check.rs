//! What the strict model refuses of Chat Completions: every history that some real API refuses.
//!
//! Each tool call has exactly one result, in the messages right after it and in any order; no
//! result without a call; ids unique; no empty text and no empty content list; an assistant
//! message has content or calls; roles are legal; arguments are a string that holds a JSON object.

use std::collections::HashSet;

use serde_json::Value;

use crate::offline::posted::{Checked, Object, is_name, list};
use crate::offline::refusal::Refusal;

/// Calls of the newest assistant message that still wait for their result.
#[derive(Default)]
struct Open<'a> {
    /// Position of that message.
    at: usize,
    waiting: Vec<&'a str>,
    answered: Vec<&'a str>,
}

/// Checks the messages of a request, and the definitions of its tools.
///
/// # Errors
/// The first fault, with the position at which it is.
pub(in crate::offline) fn check(body: &Object) -> Checked {
    messages(list(body.get("messages")))?;
    body.get("tools").filter(|tools| !tools.is_null()).map_or(Ok(()), tools)
}

fn messages(messages: &[Value]) -> Checked {
    if messages.is_empty() {
        return Err(Refusal::invalid("messages", "`messages` is empty"));
    }
    let mut seen = HashSet::new();
    let mut open = Open::default();
    for (at, message) in messages.iter().enumerate() {
        let here = format!("messages[{at}]");
        let Some(message) = message.as_object() else {
            return Err(Refusal::invalid(&here, format!("{here} is not an object")));
        };
        let role = text_member(message, "role", &here)?;
        if role != "tool" {
            all_answered(&open)?;
            open = Open { at, ..Open::default() };
        }
        match role {
            "system" | "developer" | "user" => content(message, &here)?,
            "assistant" => open.waiting = assistant(message, &here, &mut seen)?,
            "tool" => result(message, &here, &mut open)?,
            _ => {
                return Err(Refusal::invalid(
                    format!("{here}.role"),
                    format!(
                        "{here}: the role `{role}` does not exist; legal are system, developer, \
                         user, assistant and tool"
                    ),
                ));
            }
        }
    }
    all_answered(&open)
}

fn all_answered(open: &Open) -> Checked {
    if open.waiting.is_empty() {
        return Ok(());
    }
    let here = format!("messages[{}]", open.at);
    let ids = open.waiting.join("`, `");
    Err(Refusal::invalid(
        format!("{here}.tool_calls"),
        format!("{here}: no result right after it for the tool calls `{ids}`"),
    ))
}

fn result<'a>(message: &'a Object, here: &str, open: &mut Open<'a>) -> Checked {
    let id = text_member(message, "tool_call_id", here)?;
    if let Some(place) = open.waiting.iter().position(|waiting| *waiting == id) {
        open.waiting.remove(place);
        open.answered.push(id);
        return content(message, here);
    }
    let fault = if open.answered.contains(&id) {
        "a second result for the tool call"
    } else {
        "a result, but the assistant message right before it has no tool call"
    };
    Err(Refusal::invalid(format!("{here}.tool_call_id"), format!("{here}: {fault} `{id}`")))
}

/// Checks an assistant message and returns the ids of its calls.
fn assistant<'a>(
    message: &'a Object,
    here: &str,
    seen: &mut HashSet<&'a str>,
) -> Checked<Vec<&'a str>> {
    let calls = message.get("tool_calls").filter(|calls| !calls.is_null());
    match message.get("content") {
        None | Some(Value::Null) if calls.is_some() => {}
        None | Some(Value::Null) => {
            return Err(Refusal::invalid(
                format!("{here}.content"),
                format!("{here}: an assistant message has neither content nor tool calls"),
            ));
        }
        Some(_) => content(message, here)?,
    }
    let Some(calls) = calls else { return Ok(Vec::new()) };
    let Some(calls) = calls.as_array().filter(|calls| !calls.is_empty()) else {
        let there = format!("{here}.tool_calls");
        return Err(Refusal::invalid(&there, format!("{there} is empty or is not a list")));
    };
    let mut ids = Vec::new();
    for (number, value) in calls.iter().enumerate() {
        let there = format!("{here}.tool_calls[{number}]");
        let id = call(value, &there)?;
        if !seen.insert(id) {
            return Err(Refusal::invalid(
                format!("{there}.id"),
                format!("{there}: the id `{id}` is used by another tool call"),
            ));
        }
        ids.push(id);
    }
    Ok(ids)
}

/// Checks one call and returns its id.
fn call<'a>(value: &'a Value, here: &str) -> Checked<&'a str> {
    let (call, function) = function_of(value, here)?;
    let id = text_member(call, "id", here)?;
    let there = format!("{here}.function");
    name(function, &there)?;
    let there = format!("{there}.arguments");
    let Some(arguments) = function.get("arguments").and_then(Value::as_str) else {
        return Err(Refusal::invalid(&there, format!("{there} is missing or is not a string")));
    };
    match serde_json::from_str::<Value>(arguments) {
        Ok(Value::Object(_)) => Ok(id),
        Ok(_) => Err(Refusal::invalid(&there, format!("{there} does not hold a JSON object"))),
        Err(error) => Err(Refusal::invalid(&there, format!("{there} does not hold JSON: {error}"))),
    }
}

fn tools(tools: &Value) -> Checked {
    let Some(tools) = tools.as_array().filter(|tools| !tools.is_empty()) else {
        return Err(Refusal::invalid("tools", "`tools` is empty or is not a list"));
    };
    let mut seen = HashSet::new();
    for (number, value) in tools.iter().enumerate() {
        let here = format!("tools[{number}]");
        let (_, function) = function_of(value, &here)?;
        let there = format!("{here}.function");
        let name = name(function, &there)?;
        if !seen.insert(name) {
            return Err(Refusal::invalid(
                format!("{there}.name"),
                format!("{there}: the name `{name}` is used by another tool"),
            ));
        }
        if !matches!(function.get("description"), None | Some(Value::String(_))) {
            let there = format!("{there}.description");
            return Err(Refusal::invalid(&there, format!("{there} is not a string")));
        }
        let is_schema = |value: &Value| value["type"] == "object";
        if !function.get("parameters").is_none_or(is_schema) {
            let there = format!("{there}.parameters");
            return Err(Refusal::invalid(
                &there,
                format!("{there} is not a schema of the type `object`"),
            ));
        }
    }
    Ok(())
}

/// A call or a definition, and its `function`.
fn function_of<'a>(value: &'a Value, here: &str) -> Checked<(&'a Object, &'a Object)> {
    let Some(object) = value.as_object() else {
        return Err(Refusal::invalid(here, format!("{here} is not an object")));
    };
    if object.get("type").and_then(Value::as_str) != Some("function") {
        let there = format!("{here}.type");
        return Err(Refusal::invalid(&there, format!("{there} is not `function`")));
    }
    let Some(function) = object.get("function").and_then(Value::as_object) else {
        let there = format!("{here}.function");
        return Err(Refusal::invalid(&there, format!("{there} is missing or is not an object")));
    };
    Ok((object, function))
}

fn name<'a>(function: &'a Object, here: &str) -> Checked<&'a str> {
    let name = text_member(function, "name", here)?;
    if is_name(name) {
        return Ok(name);
    }
    let there = format!("{here}.name");
    Err(Refusal::invalid(
        &there,
        format!("{there}: `{name}` is not 1 to 64 letters, digits, `_` or `-`"),
    ))
}

/// Checks content that must be there: a text, or a list of parts.
fn content(message: &Object, here: &str) -> Checked {
    let here = format!("{here}.content");
    match message.get("content") {
        Some(Value::String(text)) => text_is_full(text, &here),
        Some(Value::Array(parts)) if parts.is_empty() => {
            Err(Refusal::invalid(&here, format!("{here} is an empty list")))
        }
        Some(Value::Array(parts)) => parts.iter().enumerate().try_for_each(|(number, part)| {
            let here = format!("{here}[{number}]");
            match (part["type"].as_str(), part["text"].as_str()) {
                (Some("text"), Some(text)) => text_is_full(text, &format!("{here}.text")),
                (Some("text"), None) => Err(Refusal::invalid(&here, format!("{here} has no text"))),
                _ => Err(Refusal::invalid(
                    &here,
                    format!("{here} is not of the type `text`, the only one read here"),
                )),
            }
        }),
        _ => Err(Refusal::invalid(
            &here,
            format!("{here} is missing, or is neither a string nor a list"),
        )),
    }
}

fn text_is_full(text: &str, here: &str) -> Checked {
    if text.trim().is_empty() {
        return Err(Refusal::invalid(here, format!("{here} is an empty text")));
    }
    Ok(())
}

/// A member that must be a string with something in it.
fn text_member<'a>(object: &'a Object, name: &str, here: &str) -> Checked<&'a str> {
    match object.get(name).and_then(Value::as_str) {
        Some(text) if !text.is_empty() => Ok(text),
        _ => {
            let there = format!("{here}.{name}");
            Err(Refusal::invalid(
                &there,
                format!("{there} is missing, is empty or is not a string"),
            ))
        }
    }
}
