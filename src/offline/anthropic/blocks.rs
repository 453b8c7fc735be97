//! What the strict model refuses of a single content block. How blocks and messages belong together
//! is said by `check`.

use serde_json::Value;

use super::check::refused;
use crate::offline::posted::{Checked, is_name};
use crate::offline::seal;

/// What a name must be.
pub(super) const NAME: &str = "String should match pattern '^[a-zA-Z0-9_-]{1,64}$'";

/// The blocks of a content; a content that is one text counts as one block.
pub(super) fn list<'a>(content: &'a Value, here: &str) -> Checked<Vec<&'a Value>> {
    match content {
        Value::String(text) if !text.trim().is_empty() => Ok(Vec::new()),
        Value::Array(blocks) if !blocks.is_empty() => Ok(blocks.iter().collect()),
        Value::String(_) | Value::Array(_) => {
            refused(here, "all messages must have non-empty content")
        }
        _ => refused(&format!("{here}.content"), "Input should be a valid string or list"),
    }
}

/// Checks content that may only be text: one string, or a list of text blocks.
pub(super) fn text(content: &Value, here: &str) -> Checked {
    for (number, block) in list(content, here)?.iter().enumerate() {
        text_block(block, &format!("{here}.{number}"))?;
    }
    Ok(())
}

/// Checks a block that may only be text.
pub(super) fn text_block(block: &Value, here: &str) -> Checked {
    match (block["type"].as_str(), block["text"].as_str()) {
        (Some("text"), Some(text)) if text.trim().is_empty() => {
            refused(&format!("{here}.text"), "text content blocks must contain non-whitespace text")
        }
        (Some("text"), Some(_)) => Ok(()),
        (Some("text"), None) => refused(&format!("{here}.text"), "Field required"),
        (Some(kind), _) => refused(
            here,
            &format!(
                "Input tag '{kind}' found using 'type' does not match any of the tags that may stand here"
            ),
        ),
        (None, _) => refused(&format!("{here}.type"), "Field required"),
    }
}

/// Checks thinking, and returns its seal.
pub(super) fn thinking<'a>(block: &'a Value, here: &str) -> Checked<&'a str> {
    let Some(thinking) = block["thinking"].as_str() else {
        return refused(&format!("{here}.thinking"), "Field required");
    };
    match block["signature"].as_str() {
        None => refused(&format!("{here}.signature"), "Field required"),
        Some(signature) if signature == seal::of(thinking) => Ok(signature),
        Some(_) => refused(here, "Invalid `signature` in `thinking` block"),
    }
}

/// Checks a call, and returns its id.
pub(super) fn call<'a>(block: &'a Value, here: &str) -> Checked<&'a str> {
    let id = id(block, "id", here)?;
    if !block["name"].as_str().is_some_and(is_name) {
        return refused(&format!("{here}.name"), NAME);
    }
    if !block["input"].is_object() {
        return refused(&format!("{here}.input"), "Input should be a valid dictionary");
    }
    Ok(id)
}

/// Checks a result, and returns the id of the call that it answers.
pub(super) fn result<'a>(block: &'a Value, here: &str) -> Checked<&'a str> {
    let id = id(block, "tool_use_id", here)?;
    let is_error = &block["is_error"];
    if !is_error.is_null() && !is_error.is_boolean() {
        return refused(&format!("{here}.is_error"), "Input should be a valid boolean");
    }
    // A result may be empty: then it has no content, or an empty one.
    match &block["content"] {
        Value::Null | Value::String(_) => Ok(id),
        Value::Array(blocks) if blocks.is_empty() => Ok(id),
        content => text(content, &format!("{here}.content")).map(|()| id),
    }
}

fn id<'a>(block: &'a Value, name: &str, here: &str) -> Checked<&'a str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match block[name].as_str() {
        Some(id) if !id.is_empty() && id.chars().all(plain) => Ok(id),
        _ => refused(&format!("{here}.{name}"), "String should match pattern '^[a-zA-Z0-9_-]+$'"),
    }
}
