//! What strict servers check of a body, by hand, knowing nothing of the encoders.
#![allow(dead_code, reason = "each test file uses its own share")]

use serde_json::Value;

fn list<'a>(body: &'a Value, name: &str) -> &'a [Value] {
    body[name].as_array().unwrap_or_else(|| panic!("no list {name}: {body}"))
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("no text {name}: {value}"))
}

fn plain(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

fn visible(value: &Value, name: &str) {
    assert!(!text(value, name).trim().is_empty(), "empty {name}: {value}");
}

/// Chat Completions: each call is answered right after it, once, and nothing else is answered.
pub(crate) fn chat(body: &Value) {
    let mut open: Vec<&str> = Vec::new();
    for message in list(body, "messages") {
        let role = text(message, "role");
        if role == "tool" {
            let id = text(message, "tool_call_id");
            let at = open.iter().position(|open| *open == id);
            open.remove(at.unwrap_or_else(|| panic!("{id} answers nothing: {body}")));
            continue;
        }
        assert!(open.is_empty(), "{open:?} not answered: {body}");
        let calls = message["tool_calls"].as_array().map_or(&[][..], Vec::as_slice);
        assert!(message.get("tool_calls").is_none() || !calls.is_empty(), "{message}");
        for call in calls {
            assert!(plain(text(&call["function"], "name")), "{call}");
            let arguments = text(&call["function"], "arguments");
            assert!(serde_json::from_str::<Value>(arguments).unwrap().is_object(), "{call}");
            open.push(text(call, "id"));
        }
        if role != "assistant" || calls.is_empty() {
            visible(message, "content");
        }
    }
    assert!(open.is_empty(), "{open:?} not answered: {body}");
}

/// Anthropic: the user begins, roles alternate, results come first and answer the message before.
pub(crate) fn anthropic(body: &Value) {
    assert!(body["max_tokens"].as_u64().is_some_and(|most| most > 0), "{body}");
    for block in list(body, "system") {
        visible(block, "text");
    }
    let mut open: Vec<&str> = Vec::new();
    let mut ids: Vec<&str> = Vec::new();
    for (position, message) in list(body, "messages").iter().enumerate() {
        let expected = if position % 2 == 0 { "user" } else { "assistant" };
        assert_eq!(text(message, "role"), expected, "message {position}: {body}");
        let content = list(message, "content");
        assert!(!content.is_empty(), "{message}");
        let mut text_came = false;
        for (at, block) in content.iter().enumerate() {
            let kind = text(block, "type");
            match (expected, kind) {
                ("user", "tool_result") => {
                    assert!(!text_came, "a result after text: {message}");
                    let id = text(block, "tool_use_id");
                    let at = open.iter().position(|open| *open == id);
                    open.remove(at.unwrap_or_else(|| panic!("{id} answers nothing: {body}")));
                }
                (_, "text") => {
                    text_came = true;
                    visible(block, "text");
                }
                ("assistant", "thinking") => visible(block, "signature"),
                ("assistant", "redacted_thinking") => visible(block, "data"),
                ("assistant", "tool_use") => {
                    assert!(plain(text(block, "id")) && plain(text(block, "name")), "{block}");
                    assert!(block["input"].is_object(), "{block}");
                    assert!(!ids.contains(&text(block, "id")), "{block}");
                    ids.push(text(block, "id"));
                    open.push(text(block, "id"));
                }
                ("assistant", "server_tool_use") => {
                    let id = &block["id"];
                    assert!(content.iter().any(|other| other["tool_use_id"] == *id), "{message}");
                }
                ("assistant", "web_search_tool_result" | "compaction") => {}
                _ => panic!("{kind} in a message of {expected}: {message}"),
            }
            let is_last = at + 1 == content.len();
            assert!(!is_last || !kind.ends_with("thinking"), "ends with thinking: {message}");
            assert!(is_last || block.get("cache_control").is_none(), "{message}");
        }
        assert!(expected == "assistant" || open.is_empty(), "{open:?} not answered: {body}");
    }
    assert!(open.is_empty(), "{open:?} not answered: {body}");
    let markers = body.to_string().matches("\"cache_control\"").count();
    assert!(markers <= 4, "{markers} markers: {body}");
}

/// Responses: each call has its output before anything else is said, and reasoning leads to
/// something.
pub(crate) fn responses(body: &Value) {
    assert_eq!(body["store"], false);
    let items = list(body, "input");
    let mut open: Vec<&str> = Vec::new();
    for (position, item) in items.iter().enumerate() {
        match item["type"].as_str() {
            Some("function_call_output") => {
                visible(item, "output");
                let id = text(item, "call_id");
                let at = open.iter().position(|open| *open == id);
                open.remove(at.unwrap_or_else(|| panic!("{id} answers nothing: {body}")));
            }
            Some("function_call") => {
                assert!(plain(text(item, "name")), "{item}");
                let arguments = text(item, "arguments");
                assert!(serde_json::from_str::<Value>(arguments).unwrap().is_object(), "{item}");
                open.push(text(item, "call_id"));
            }
            Some("reasoning") => {
                visible(item, "encrypted_content");
                let next = items[position..].iter().find(|item| item["type"] != "reasoning");
                let next = next.unwrap_or_else(|| panic!("reasoning at the end: {body}"));
                assert_ne!(next["type"], "function_call_output", "{body}");
                assert!(matches!(next["role"].as_str(), None | Some("assistant")), "{body}");
            }
            Some("message") => visible(&list(item, "content")[0], "text"),
            None => {
                assert!(open.is_empty(), "{open:?} not answered: {body}");
                visible(item, "content");
            }
            Some(other) => panic!("unknown item {other}: {body}"),
        }
    }
    assert!(open.is_empty(), "{open:?} not answered: {body}");
}
