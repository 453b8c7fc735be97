//! Calls on their way back to a server. Servers refuse a history whose calls have no proper name or
//! whose arguments are not a JSON object, so an unusable call goes back in a form that they accept;
//! its result tells what had arrived.

use std::borrow::Cow;

use crate::conversation::Call;

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

/// What all servers take in a name.
pub(super) fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}
