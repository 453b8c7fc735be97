//! What the strict model refuses of Responses, in that API's words: each call has its one output
//! before anything else is said; reasoning comes back as it was sent, with what it led to; ids are
//! unique. What a single item must be is said by `items`.

use std::collections::HashSet;

use serde_json::Value;

use super::items;
use crate::offline::posted::{Checked, Object, list};
use crate::offline::refusal::Refusal;
use crate::offline::seal;

/// Checks the items and tools of a request.
///
/// # Errors
/// The first fault, with the position at which it is.
pub(in crate::offline) fn check(body: &Object) -> Checked {
    if let Some(id) = body.get("previous_response_id").filter(|id| !id.is_null()) {
        let what = format!("Previous response with id {id} not found: nothing is stored here.");
        return Err(Refusal::invalid("previous_response_id", what));
    }
    if let Some(tools) = body.get("tools") {
        items::tools(tools)?;
    }
    match body.get("input") {
        Some(Value::String(text)) => items::text(text, "input"),
        input => self::input(list(input)),
    }
}

#[derive(Default)]
struct Seen<'a> {
    /// Ids of items.
    ids: HashSet<&'a str>,
    /// Ids of calls.
    calls: HashSet<&'a str>,
    /// Calls without an output so far.
    open: Vec<&'a str>,
    /// Seals of the reasoning since the user spoke last.
    seals: Vec<&'a str>,
    /// Reasoning that has led to nothing so far.
    pending: Option<&'a str>,
}

fn input(items: &[Value]) -> Checked {
    if items.is_empty() {
        return Err(Refusal::invalid("input", "Invalid 'input': empty list."));
    }
    let mut seen = Seen::default();
    for (at, item) in items.iter().enumerate() {
        let here = format!("input[{at}]");
        if let Some(id) = items::id(item, &here)?
            && !seen.ids.insert(id)
        {
            let what = format!("Duplicate item found with id {id}. Remove duplicate items.");
            return Err(Refusal::invalid(here, what));
        }
        match item["type"].as_str() {
            Some("function_call") => seen.call(item, &here)?,
            Some("function_call_output") => seen.output(item, &here)?,
            Some("reasoning") => {
                let id = items::reasoning(item, &here)?;
                seen.pending = Some(id);
                seen.seals.push(item["encrypted_content"].as_str().unwrap_or_default());
            }
            _ => {
                let by_model = items::message(item, &here)?;
                seen.all_answered()?;
                if by_model {
                    seen.pending = None;
                } else {
                    seen.led_to_something()?;
                    seen.seals.clear();
                }
            }
        }
    }
    seen.all_answered()?;
    seen.led_to_something()
}

impl<'a> Seen<'a> {
    fn call(&mut self, item: &'a Value, here: &str) -> Checked {
        let id = items::call(item, here)?;
        if !self.calls.insert(id) {
            let what = format!("Duplicate function call found with call_id {id}.");
            return Err(Refusal::invalid(format!("{here}.call_id"), what));
        }
        if seal::marked(id).is_some_and(|seal| !self.seals.contains(&seal)) {
            let what = format!(
                "Item '{here}' of type 'function_call' was provided without its required \
                 'reasoning' item."
            );
            return Err(Refusal::invalid(here, what));
        }
        self.open.push(id);
        self.pending = None;
        Ok(())
    }

    fn output(&mut self, item: &'a Value, here: &str) -> Checked {
        let id = items::output(item, here)?;
        self.led_to_something()?;
        match self.open.iter().position(|open| *open == id) {
            Some(place) => {
                self.open.remove(place);
                Ok(())
            }
            None if self.calls.contains(id) => Err(Refusal::invalid(
                here,
                format!("{here}: a second output, for the function call with call_id {id}."),
            )),
            None => Err(Refusal::invalid(
                here,
                format!("{here}: No tool call found for function call output with call_id {id}."),
            )),
        }
    }

    fn all_answered(&self) -> Checked {
        if self.open.is_empty() {
            return Ok(());
        }
        let ids = self.open.join(", ");
        let what = format!("No tool output found for function call {ids}.");
        Err(Refusal::invalid("input", what))
    }

    fn led_to_something(&self) -> Checked {
        let Some(id) = self.pending else { return Ok(()) };
        let what = format!(
            "Item '{id}' of type 'reasoning' was provided without its required following item."
        );
        Err(Refusal::invalid("input", what))
    }
}
