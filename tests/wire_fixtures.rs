//! Answers of real servers decode to what they say, whatever the pieces in which they arrive.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::print_stdout)]

mod wire;

use limpid::conversation::{CallState, Content, Failure, FailureKind, Place, Reply};
use limpid::wire::{End, Format};
use serde_json::{Value, json};
use wire::{Fixture, fixtures, own_root, shared_root};

#[test]
fn captures_in_the_repository_decode() {
    assert_eq!(check_all(&fixtures(&own_root())), 144);
}

#[test]
fn the_shared_collection_decodes() {
    let root = shared_root();
    for part in ["recorded", "derived", "documented"] {
        let found = fixtures(&root).iter().filter(|fixture| fixture.name.starts_with(part)).count();
        if found == 0 {
            println!("skipped: no {part} under {} (set LIMPID_FIXTURES)", root.display());
        }
    }
    check_all(&fixtures(&root));
}

fn check_all(fixtures: &[Fixture]) -> usize {
    for fixture in fixtures {
        check(fixture);
        println!("ok {}", fixture.name);
    }
    fixtures.len()
}

fn check(fixture: &Fixture) {
    let mut expected = expected(fixture);
    // In a body of Anthropic's the arguments are JSON and no text; the collection's text of them
    // has other blanks than the wire.
    let is_json = fixture.format == Format::Anthropic && fixture.expected["stream"] == false;
    if is_json {
        forget_texts(&mut expected);
    }
    if fixture.head.is_none() {
        // The decoder never sees such an answer: it is `net`'s failure (tests/net.rs).
        assert_eq!(expected["error"]["kind"], "disconnected", "{}", fixture.name);
        assert!(fixture.body.is_empty(), "{}", fixture.name);
        return;
    }
    let mut ends = vec![End::Eof];
    // Where the connection was lost it may have been noticed; after the end mark it does not matter.
    if fixture.expected["error"]["where"] == "transport" || fixture.expected["terminator"] == true {
        let lost = Failure::new(Place::Transport, FailureKind::Disconnected, "reset");
        ends.push(End::Broken(lost));
    }
    for end in ends {
        let body = &*fixture.body;
        let mut replies = vec![
            ("whole", fixture.decode([body], end.clone())),
            ("by single bytes", fixture.decode(body.chunks(1), end.clone())),
        ];
        let mut random = 1_u64;
        for _ in 0..8 {
            replies
                .push(("in random pieces", fixture.decode(split(body, &mut random), end.clone())));
        }
        for (how, reply) in &replies {
            let mut found = found(fixture, reply);
            if is_json {
                forget_texts(&mut found);
            }
            assert_eq!(found, expected, "{} {how}", fixture.name);
            assert_eq!(*reply, replies[0].1, "{} {how}", fixture.name);
        }
        check_states(fixture, &replies[0].1);
    }
}

fn forget_texts(reply: &mut Value) {
    for call in reply["tool_calls"].as_array_mut().unwrap() {
        call["arguments_raw"] = Value::Null;
    }
}

/// What the collection says of an answer, in its own words.
fn expected(fixture: &Fixture) -> Value {
    let expected = &fixture.expected;
    let error = expected["error"].as_object().map(|error| {
        let text = |name: &str| match error.get(name) {
            Some(Value::Number(number)) => json!(number.to_string()),
            other => other.cloned().unwrap_or_default(),
        };
        json!({
            "where": text("where"),
            "kind": text("kind"),
            "type": text("type"),
            "code": code(fixture, text("code")),
            "message": text("message"),
            "retry_after": text("retry_after"),
            "retry_after_ms": text("retry_after_ms"),
        })
    });
    json!({
        "text": expected["text"],
        "reasoning": expected.get("reasoning").unwrap_or(&json!("")),
        "refusal": expected.get("refusal").unwrap_or(&json!("")),
        "tool_calls": expected["tool_calls"],
        "stop_reason": expected["stop_reason"],
        "usage": expected["usage"],
        "signatures": expected.get("reasoning_signatures").unwrap_or(&json!([])),
        "redacted_thinking": expected.get("redacted_thinking").unwrap_or(&json!(0)),
        "server_blocks": expected.get("server_blocks").unwrap_or(&json!([])),
        "terminator": expected["terminator"],
        "status": expected["http_status"],
        "error": error,
    })
}

/// The one expectation that is not taken as it is: the collection has no code here, but the bytes
/// do (beside an `error` that is a plain text), and the decoder keeps it.
fn code(fixture: &Fixture, code: Value) -> Value {
    if fixture.name == "recorded/xai-responses/err_400_key" {
        return json!("invalid-argument");
    }
    code
}

/// What the decoder made of it, in the same form.
fn found(fixture: &Fixture, reply: &Reply) -> Value {
    let wanted = &fixture.expected["error"]["message"];
    let error = reply.failure.as_ref().map(|failure| {
        // For an unreadable body, and where there was no message, ours stands in the failure: it
        // must quote the body, and say something.
        let message = match wanted {
            Value::String(text) if failure.place == Place::Body => {
                assert!(failure.message.contains(text.as_str()), "{}", failure.message);
                json!(text)
            }
            Value::Null => {
                assert!(!failure.message.is_empty(), "{}", fixture.name);
                Value::Null
            }
            _ => json!(failure.message),
        };
        json!({
            "where": failure.place,
            "kind": failure.kind,
            "type": failure.provider_type,
            "code": failure.code,
            "message": message,
            "retry_after": failure.retry_after,
            "retry_after_ms": failure.retry_after_ms,
        })
    });
    let calls: Vec<_> = reply
        .calls()
        .enumerate()
        .map(|(position, proposed)| {
            let raw = &proposed.call.arguments;
            // A call that was cut off before its arguments has none.
            let cut = proposed.state != CallState::Complete
                && fixture.expected["tool_calls"][position]["arguments"].is_null();
            let text = if raw.is_empty() && !cut { "{}" } else { raw };
            json!({
                "id": proposed.call.id,
                "name": proposed.call.name,
                "arguments_raw": raw,
                "arguments": serde_json::from_str::<Value>(text).ok(),
            })
        })
        .collect();
    let status = reply.failure.as_ref().and_then(|failure| failure.status);
    let kept: Vec<Value> = reply
        .content
        .iter()
        .filter_map(|content| match content {
            Content::Reasoning(reasoning) => reasoning.opaque.as_ref(),
            Content::Opaque(opaque) => Some(opaque),
            _ => None,
        })
        .map(|opaque| {
            assert_eq!(opaque.format, fixture.format.name(), "{}", fixture.name);
            serde_json::from_str(&opaque.json).unwrap()
        })
        .collect();
    let of = |kind: &str| kept.iter().filter(|block| block["type"] == kind).collect::<Vec<_>>();
    let reasoning = ["thinking", "redacted_thinking", "reasoning"];
    let server: Vec<_> = kept.iter().map(|block| block["type"].as_str().unwrap()).collect();
    let server: Vec<_> = server.into_iter().filter(|kind| !reasoning.contains(kind)).collect();
    json!({
        "text": reply.text(),
        "reasoning": reply.reasoning(),
        "refusal": reply.refusal(),
        "tool_calls": calls,
        "stop_reason": reply.stop_reason,
        "usage": reply.usage,
        "signatures": of("thinking").iter().map(|block| &block["signature"]).collect::<Vec<_>>(),
        "redacted_thinking": of("redacted_thinking").len(),
        "server_blocks": server,
        "terminator": reply.terminator,
        "status": status.unwrap_or(fixture.head.as_ref().unwrap().status),
        "error": error,
    })
}

/// A call may be run exactly if nothing failed, its arguments are whole, and the output limit did
/// not end the reply in it.
fn check_states(fixture: &Fixture, reply: &Reply) {
    for (position, proposed) in reply.calls().enumerate() {
        let last_of_cut = position + 1 == reply.calls().count()
            && matches!(
                fixture.expected["stop_reason"].as_str(),
                Some("length" | "max_tokens" | "refusal")
            );
        let runnable = fixture.expected["error"].is_null()
            && fixture.expected["tool_calls"][position]["arguments"].is_object()
            && !last_of_cut;
        let complete = proposed.state == CallState::Complete;
        assert_eq!(complete, runnable, "{} call {position}: {:?}", fixture.name, proposed.state);
    }
}

fn split<'a>(body: &'a [u8], random: &mut u64) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    let mut rest = body;
    while !rest.is_empty() {
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let size = usize::try_from(*random >> 33).unwrap() % 97 + 1;
        let (piece, tail) = rest.split_at(size.min(rest.len()));
        pieces.push(piece);
        rest = tail;
    }
    pieces
}
