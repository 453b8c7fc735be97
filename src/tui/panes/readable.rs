//! JSON made readable: members one below the other in their order, texts with their newlines, JSON
//! inside texts (arguments of calls) opened up. Numbers keep their digits. The exact text is a key
//! away.

use serde_json::value::RawValue;

use crate::wire::Members;

/// How deep values are opened up; what is deeper stays as it is written.
const DEPTH: usize = 12;

/// A readable form of a JSON text; `None` if it is not JSON.
pub(super) fn readable(json: &str) -> Option<String> {
    let json = json.trim().trim_matches(',').trim();
    serde_json::from_str::<&RawValue>(json).ok()?;
    let mut out = String::new();
    write_value(&mut out, json, 0, 0);
    Some(out)
}

fn write_value(out: &mut String, json: &str, indent: usize, depth: usize) {
    let opened = depth < DEPTH && write_opened(out, json, indent, depth);
    if !opened {
        line(out, json, indent);
    }
}

/// Writes an object, a list or a text; `false` if it is something else.
fn write_opened(out: &mut String, json: &str, indent: usize, depth: usize) -> bool {
    match json.as_bytes().first() {
        Some(b'{') => {
            let members = Members::of(json);
            for (name, value) in members.iter() {
                write_member(out, name, value.get(), indent, depth);
            }
            members.iter().next().is_some()
        }
        Some(b'[') => {
            let Ok(items) = serde_json::from_str::<Vec<Box<RawValue>>>(json) else { return false };
            if items.is_empty() {
                return false;
            }
            for (index, item) in items.iter().enumerate() {
                write_member(out, &format!("[{}]", index + 1), item.get(), indent, depth);
            }
            true
        }
        Some(b'"') => {
            let Ok(text) = serde_json::from_str::<String>(json) else { return false };
            text.split('\n').for_each(|text| line(out, text, indent));
            true
        }
        _ => false,
    }
}

fn write_member(out: &mut String, name: &str, value: &str, indent: usize, depth: usize) {
    let text = serde_json::from_str::<String>(value).ok();
    let inner = text.as_deref().map_or(value, |text| text);
    let nested = matches!(inner.as_bytes().first(), Some(b'{' | b'['))
        && serde_json::from_str::<&RawValue>(inner).is_ok()
        && inner.len() > 2;
    if nested {
        line(out, &format!("{name}:"), indent);
        write_value(out, inner, indent + 2, depth + 1);
    } else if inner.contains('\n') {
        line(out, &format!("{name}:"), indent);
        write_value(out, value, indent + 2, depth + 1);
    } else {
        let shown = if text.as_deref() == Some("") { "\"\"" } else { inner };
        line(out, &format!("{name}: {shown}"), indent);
    }
}

fn line(out: &mut String, text: &str, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
    out.push_str(text);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn members_stay_in_order_and_texts_become_lines() {
        let json = r#"{"role":"assistant","content":"one\ntwo","tool_calls":[{"id":"c1","function":{"name":"bash","arguments":"{\"command\":\"ls *.py\"}"}}],"n":1e2},"#;
        assert_eq!(
            readable(json).as_deref(),
            Some(
                "role: assistant\ncontent:\n  one\n  two\ntool_calls:\n  [1]:\n    id: c1\n    function:\n      name: bash\n      arguments:\n        command: ls *.py\nn: 1e2\n"
            )
        );
    }

    #[test]
    fn what_is_not_json_is_left_to_the_exact_view() {
        assert_eq!(readable("{\"role\":"), None);
        assert_eq!(readable("\"qwen-plus\"").as_deref(), Some("qwen-plus\n"));
    }
}
