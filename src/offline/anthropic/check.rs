//! What the strict model refuses of Anthropic's Messages, in that API's words: the user begins and
//! the roles alternate; each call is answered in the very next message, results first; no empty
//! text; thinking comes back as it was sent. What a block must be is said by `blocks`.

use std::collections::HashSet;

use hyper::HeaderMap;
use serde_json::Value;

use super::blocks;
use crate::offline::posted::{Checked, Object, is_name, list};
use crate::offline::refusal::Refusal;
use crate::offline::seal;

/// Markers that a body may hold.
const MARKERS: usize = 4;

/// Calls of the message before, which the next one has to answer.
#[derive(Default)]
struct Open<'a> {
    at: usize,
    ids: Vec<&'a str>,
}

/// A refusal in the API's style: the place, then what is wrong there.
pub(super) fn refused<T>(here: &str, what: &str) -> Checked<T> {
    Err(Refusal::invalid(here, format!("{here}: {what}")))
}

/// Checks the headers of a request.
///
/// # Errors
/// The version of the API is not named.
pub(in crate::offline) fn headers(headers: &HeaderMap) -> Checked {
    match headers.get("anthropic-version") {
        Some(version) if version == "2023-06-01" => Ok(()),
        Some(_) => refused("anthropic-version", "the version is not `2023-06-01`"),
        None => refused("anthropic-version", "header is required"),
    }
}

/// Checks the texts, tools and messages of a request.
///
/// # Errors
/// The first fault, with the position at which it is.
pub(in crate::offline) fn check(body: &Object) -> Checked {
    if let Some(system) = body.get("system") {
        blocks::text(system, "system")?;
    }
    if let Some(tools) = body.get("tools") {
        self::tools(tools)?;
    }
    messages(list(body.get("messages")))?;
    let markers = ["system", "tools", "messages"].map(|name| body.get(name).map_or(0, markers));
    let markers: usize = markers.iter().sum();
    if markers > MARKERS {
        let found = format!(
            "A maximum of {MARKERS} blocks with cache_control may be provided. Found {markers}."
        );
        return Err(Refusal::invalid("cache_control", found));
    }
    Ok(())
}

fn messages(messages: &[Value]) -> Checked {
    if messages.is_empty() {
        return refused("messages", "at least one message is required");
    }
    let mut seen = HashSet::new();
    let mut open = Open::default();
    for (at, message) in messages.iter().enumerate() {
        let here = format!("messages.{at}");
        let by_user = match message["role"].as_str() {
            Some("user") => true,
            Some("assistant") => false,
            _ => return refused(&format!("{here}.role"), "Input should be 'user' or 'assistant'"),
        };
        if at == 0 && !by_user {
            return refused(&here, "the first message must use the \"user\" role");
        }
        // The user's are the even ones.
        if by_user != at.is_multiple_of(2) {
            return refused(
                &here,
                "roles must alternate between \"user\" and \"assistant\", but found the same role \
                 twice in a row",
            );
        }
        let content = &message["content"];
        if by_user {
            let blocks = blocks::list(content, &here)?;
            user(&blocks, &here, &open)?;
            open = Open::default();
        } else {
            let ids = assistant(&blocks::list(content, &here)?, &here, &mut seen)?;
            open = Open { at, ids };
        }
    }
    if open.ids.is_empty() { Ok(()) } else { unanswered(&open, &open.ids) }
}

fn unanswered(open: &Open, ids: &[&str]) -> Checked {
    refused(
        &format!("messages.{}", open.at),
        &format!(
            "`tool_use` ids were found without `tool_result` blocks immediately after: {}. Each \
             `tool_use` block must have a corresponding `tool_result` block in the next message",
            ids.join(", ")
        ),
    )
}

/// Checks a message of the user: the results of all open calls, then texts.
fn user(blocks: &[&Value], here: &str, open: &Open) -> Checked {
    let mut waiting = open.ids.clone();
    let mut texts = false;
    for (number, block) in blocks.iter().enumerate() {
        let here = format!("{here}.content.{number}");
        if block["type"] != "tool_result" {
            blocks::text_block(block, &here)?;
            texts = true;
            continue;
        }
        if texts {
            return refused(&here, "`tool_result` blocks must come first in the content");
        }
        let id = blocks::result(block, &here)?;
        match waiting.iter().position(|waiting| *waiting == id) {
            Some(place) => {
                waiting.remove(place);
            }
            None if open.ids.contains(&id) => {
                let what = "each tool_use must have a single result. Found multiple `tool_result` \
                            blocks with id";
                return refused(&here, &format!("{what}: {id}"));
            }
            None => {
                let what = format!(
                    "unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each \
                     `tool_result` block must have a corresponding `tool_use` block in the \
                     previous message"
                );
                return refused(&here, &what);
            }
        }
    }
    if waiting.is_empty() { Ok(()) } else { unanswered(open, &waiting) }
}

/// Checks a message of the model and returns the ids of its calls.
fn assistant<'a>(
    blocks: &[&'a Value],
    here: &str,
    seen: &mut HashSet<&'a str>,
) -> Checked<Vec<&'a str>> {
    let mut ids = Vec::new();
    let mut seals = Vec::new();
    for (number, block) in blocks.iter().enumerate() {
        let here = format!("{here}.content.{number}");
        match block["type"].as_str() {
            Some("thinking") => {
                seals.push(blocks::thinking(block, &here)?);
                if number + 1 == blocks.len() {
                    let what = "The final block in an assistant message cannot be `thinking`";
                    return refused(&here, what);
                }
            }
            Some("redacted_thinking") => {
                return refused(&here, "Invalid `data` in `redacted_thinking` block");
            }
            Some("tool_use") => {
                let id = blocks::call(block, &here)?;
                if !seen.insert(id) {
                    return refused(&here, &format!("`tool_use` ids must be unique: {id}"));
                }
                // What led to the call has to stand before it.
                if seal::marked(id).is_some_and(|seal| !seals.contains(&seal)) {
                    let what = "Expected `thinking` or `redacted_thinking`, but found `tool_use`: \
                                the thinking that led to it must be sent back";
                    return refused(&here, what);
                }
                ids.push(id);
            }
            _ => blocks::text_block(block, &here)?,
        }
    }
    Ok(ids)
}

fn tools(tools: &Value) -> Checked {
    let mut seen = HashSet::new();
    let Value::Array(tools) = tools else {
        return refused("tools", "Input should be a valid list");
    };
    for (number, tool) in tools.iter().enumerate() {
        let here = format!("tools.{number}");
        let name = tool["name"].as_str().unwrap_or_default();
        if !is_name(name) {
            return refused(&format!("{here}.name"), blocks::NAME);
        }
        if !seen.insert(name) {
            return refused("tools", "Tool names must be unique.");
        }
        if tool["input_schema"]["type"] != "object" {
            return refused(&format!("{here}.input_schema.type"), "Input should be 'object'");
        }
    }
    Ok(())
}

/// How many cache markers stand in a value.
fn markers(value: &Value) -> usize {
    match value {
        Value::Array(members) => members.iter().map(markers).sum(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| match name.as_str() {
                "cache_control" => 1,
                // A call may be about anything.
                "input" => 0,
                _ => markers(value),
            })
            .sum(),
        _ => 0,
    }
}
