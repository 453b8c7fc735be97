//! Calls on their way back to a server. Servers refuse a history whose calls have no proper name or
//! whose arguments are not a JSON object, so an unusable call goes back in a form that they accept;
//! its result tells what had arrived.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

use super::CallIds;
use crate::conversation::{Call, CallId};

/// The longest name of a tool that all servers take, in characters.
const NAME: usize = 64;

/// A call's name as servers take it.
pub(super) fn name<'a>(call: &'a Call, repairs: &mut Vec<String>) -> Cow<'a, str> {
    if call.name.is_empty() {
        repairs.push(format!("call {}: the missing name is sent as \"unnamed\"", call.id));
        return Cow::Borrowed("unnamed");
    }
    if call.name.chars().all(is_plain) && call.name.len() <= NAME {
        return Cow::Borrowed(&call.name);
    }
    let plain = call.name.chars().take(NAME).map(|c| if is_plain(c) { c } else { '_' });
    let plain: String = plain.collect();
    repairs.push(format!("call {}: the name is sent as \"{plain}\"", call.id));
    Cow::Owned(plain)
}

/// A call's arguments: a JSON object in any case.
pub(super) fn arguments<'a>(call: &'a Call, repairs: &mut Vec<String>) -> &'a str {
    if call.arguments.trim().is_empty() {
        return "{}";
    }
    match serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&call.arguments) {
        Ok(_) => &call.arguments,
        Err(_) => {
            repairs.push(format!("call {}: unusable arguments are sent as {{}}", call.id));
            "{}"
        }
    }
}

/// A call's id as this server takes it; the same for the call and for its result.
pub(super) fn id(id: &CallId, taken: CallIds) -> Cow<'_, str> {
    let is_nine = || id.0.len() == 9 && id.0.bytes().all(|b| b.is_ascii_alphanumeric());
    match taken {
        CallIds::Any => Cow::Borrowed(&id.0),
        CallIds::Short if id.0.chars().count() <= 40 => Cow::Borrowed(&id.0),
        CallIds::Nine if is_nine() => Cow::Borrowed(&id.0),
        CallIds::Short => Cow::Owned(format!("call_{}", digest(id, 32))),
        CallIds::Nine => Cow::Owned(digest(id, 9)),
    }
}

/// Letters and digits that stand for an id.
fn digest(id: &CallId, length: usize) -> String {
    const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let hash = Sha256::digest(id.0.as_bytes());
    hash.iter().take(length).map(|byte| char::from(LETTERS[usize::from(*byte) % 62])).collect()
}

/// That an id is not sent as it is.
pub(super) fn id_repair(id: &CallId, sent: &str) -> String {
    format!("call {id}: its id is sent as \"{sent}\"")
}

/// What all servers take in a name.
pub(super) fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}
