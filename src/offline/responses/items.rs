//! What the strict model refuses of a single input item. How items belong together is said by
//! `check`.

use std::collections::HashSet;

use serde_json::Value;

use crate::offline::posted::{Checked, is_name};
use crate::offline::refusal::Refusal;
use crate::offline::seal;

/// The types of items that are read here.
const TYPES: &str = "'message', 'reasoning', 'function_call' and 'function_call_output'";

/// What a string member may hold at most.
const LONGEST_ID: usize = 64;

fn refused<T>(param: String, what: &str) -> Checked<T> {
    let message = format!("Invalid '{param}': {what}");
    Err(Refusal::invalid(param, message))
}

/// Checks the id of an item, if it has one: it says of what kind the item is.
pub(super) fn id<'a>(item: &'a Value, here: &str) -> Checked<Option<&'a str>> {
    let Some(id) = item.get("id").filter(|id| !id.is_null()) else { return Ok(None) };
    let prefix = match item["type"].as_str() {
        Some("function_call" | "function_call_output") => "fc",
        Some("reasoning") => "rs",
        _ => "msg",
    };
    match id.as_str().filter(|id| id.starts_with(prefix)) {
        Some(id) => Ok(Some(id)),
        None => refused(
            format!("{here}.id"),
            &format!("{id}. Expected an ID that begins with '{prefix}'."),
        ),
    }
}

/// Checks a message, and returns whether it is the model's.
pub(super) fn message(item: &Value, here: &str) -> Checked<bool> {
    match item.get("type") {
        None => {}
        Some(kind) if kind == "message" => {}
        Some(kind) => {
            let what = format!("{kind}. Supported values are: {TYPES}.");
            return refused(format!("{here}.type"), &what);
        }
    }
    let (by_model, kind) = match item["role"].as_str() {
        Some("user" | "system" | "developer") => (false, "input_text"),
        Some("assistant") => (true, "output_text"),
        _ => {
            let what = "Supported values are: 'assistant', 'system', 'developer' and 'user'.";
            return refused(format!("{here}.role"), what);
        }
    };
    let here = format!("{here}.content");
    match &item["content"] {
        Value::String(text) => self::text(text, &here)?,
        Value::Array(parts) if !parts.is_empty() => {
            for (number, part) in parts.iter().enumerate() {
                let here = format!("{here}[{number}]");
                match part["type"].as_str() {
                    Some(found) if found == kind => {
                        text(part["text"].as_str().unwrap_or_default(), &format!("{here}.text"))?;
                    }
                    Some("refusal") if by_model => {
                        let refusal = part["refusal"].as_str().unwrap_or_default();
                        text(refusal, &format!("{here}.refusal"))?;
                    }
                    _ => {
                        let what = format!("Supported values are: '{kind}'.");
                        return refused(format!("{here}.type"), &what);
                    }
                }
            }
        }
        _ => return refused(here, "a string or a list with something in it is required."),
    }
    Ok(by_model)
}

/// Checks a text that must be there.
pub(super) fn text(text: &str, here: &str) -> Checked {
    if text.trim().is_empty() {
        return refused(here.to_owned(), "empty string. Expected a string with something in it.");
    }
    Ok(())
}

/// Checks a call, and returns its id.
pub(super) fn call<'a>(item: &'a Value, here: &str) -> Checked<&'a str> {
    let id = call_id(item, here)?;
    name(item, here)?;
    let arguments = item["arguments"].as_str().map(serde_json::from_str::<Value>);
    match arguments {
        Some(Ok(Value::Object(_))) => Ok(id),
        _ => refused(format!("{here}.arguments"), "a string that holds a JSON object is required."),
    }
}

/// Checks an output, and returns the id of the call that it answers.
pub(super) fn output<'a>(item: &'a Value, here: &str) -> Checked<&'a str> {
    let id = call_id(item, here)?;
    match &item["output"] {
        Value::String(_) | Value::Array(_) => Ok(id),
        _ => refused(format!("{here}.output"), "a string or a list is required."),
    }
}

/// Checks an item of reasoning, and returns its id.
pub(super) fn reasoning<'a>(item: &'a Value, here: &str) -> Checked<&'a str> {
    if !item["summary"].is_array() {
        let what = format!("Missing required parameter: '{here}.summary'.");
        return Err(Refusal::invalid(format!("{here}.summary"), what));
    }
    let Some(id) = item["id"].as_str() else {
        let what = format!("Missing required parameter: '{here}.id'.");
        return Err(Refusal::invalid(format!("{here}.id"), what));
    };
    let there = format!("{here}.encrypted_content");
    match item["encrypted_content"].as_str() {
        Some(sealed) if sealed == seal::of(id) => Ok(id),
        Some(_) => {
            let what =
                format!("{here}: The encrypted content for item {id} could not be verified.");
            Err(Refusal {
                code: Some("invalid_encrypted_content"),
                ..Refusal::invalid(there, what)
            })
        }
        None => {
            let what = format!("{here}: Item with id '{id}' not found: nothing is stored here.");
            Err(Refusal::invalid(there, what))
        }
    }
}

/// Checks the definitions of the tools.
pub(super) fn tools(tools: &Value) -> Checked {
    let Value::Array(tools) = tools else { return refused("tools".to_owned(), "not a list.") };
    let mut seen = HashSet::new();
    for (number, tool) in tools.iter().enumerate() {
        let here = format!("tools[{number}]");
        if tool["type"] != "function" {
            return refused(format!("{here}.type"), "Supported values are: 'function'.");
        }
        if !seen.insert(name(tool, &here)?) {
            return refused(format!("{here}.name"), "another tool has this name.");
        }
        if tool["parameters"]["type"] != "object" {
            return refused(format!("{here}.parameters"), "not a schema of the type 'object'.");
        }
    }
    Ok(())
}

fn call_id<'a>(item: &'a Value, here: &str) -> Checked<&'a str> {
    match item["call_id"].as_str() {
        Some(id) if !id.is_empty() && id.len() <= LONGEST_ID => Ok(id),
        _ => {
            let what = format!("a string of 1 to {LONGEST_ID} characters is required.");
            refused(format!("{here}.call_id"), &what)
        }
    }
}

fn name<'a>(object: &'a Value, here: &str) -> Checked<&'a str> {
    match object["name"].as_str() {
        Some(name) if is_name(name) => Ok(name),
        _ => {
            let what = "Expected a string that matches the pattern '^[a-zA-Z0-9_-]{1,64}$'.";
            refused(format!("{here}.name"), what)
        }
    }
}
