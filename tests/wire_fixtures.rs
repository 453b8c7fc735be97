//! Answers of real servers decode to what they say, whatever the pieces in which they arrive.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::print_stdout)]

mod wire;

use limpid::conversation::{CallState, Failure, FailureKind, Place, Reply};
use limpid::wire::End;
use serde_json::{Value, json};
use wire::{Fixture, fixtures, own_root, shared_root};

#[test]
fn captures_in_the_repository_decode() {
    assert_eq!(check_all(&fixtures(&own_root())), 68);
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
    let expected = expected(fixture);
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
            assert_eq!(found(fixture, reply), expected, "{} {how}", fixture.name);
            assert_eq!(*reply, replies[0].1, "{} {how}", fixture.name);
        }
        check_states(fixture, &replies[0].1);
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
            "code": text("code"),
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
        "terminator": expected["terminator"],
        "status": expected["http_status"],
        "error": error,
    })
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
        .map(|proposed| {
            let raw = &proposed.call.arguments;
            let text = if raw.is_empty() { "{}" } else { raw };
            json!({
                "id": proposed.call.id,
                "name": proposed.call.name,
                "arguments_raw": raw,
                "arguments": serde_json::from_str::<Value>(text).ok(),
            })
        })
        .collect();
    let status = reply.failure.as_ref().and_then(|failure| failure.status);
    json!({
        "text": reply.text(),
        "reasoning": reply.reasoning(),
        "refusal": reply.refusal(),
        "tool_calls": calls,
        "stop_reason": reply.stop_reason,
        "usage": reply.usage,
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
            && fixture.expected["stop_reason"].as_str() == Some("length");
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
