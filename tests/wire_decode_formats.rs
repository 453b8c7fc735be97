//! Decoding Anthropic's Messages and `OpenAI`'s Responses where no recording shows the case.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use limpid::conversation::{CallState, Content, FailureKind, Place, Progress, Reply};
use limpid::wire::{Decoder, End, Format, ResponseHead};
use serde_json::{Value, json};

fn decoder(format: Format) -> Decoder {
    let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
    Decoder::new(format, &ResponseHead { status: 200, headers })
}

fn decode(format: Format, events: &[Value], end: End) -> Reply {
    let mut decoder = decoder(format);
    for event in events {
        decoder.feed(format!("data: {event}\n\n").as_bytes());
    }
    decoder.finish(end)
}

fn start(id: &str) -> Value {
    json!({"type": "message_start", "message": {"id": id, "usage": {"input_tokens": 3}}})
}

fn block(index: u8, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u8, delta: &Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn stop(index: u8) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn call(index: u8, arguments: &str) -> [Value; 2] {
    let start = json!({"type": "tool_use", "id": format!("t{index}"), "name": "bash", "input": {}});
    let piece = json!({"type": "input_json_delta", "partial_json": arguments});
    [block(index, &start), delta(index, &piece)]
}

fn ended(reason: &str) -> [Value; 2] {
    let end = json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}});
    [end, json!({"type": "message_stop"})]
}

/// What each piece of a reply is, and its text, id or JSON.
fn shape(reply: &Reply) -> Vec<(&str, String)> {
    let piece = |content: &Content| match content {
        Content::Text(text) => ("text", text.clone()),
        Content::Refusal(text) => ("refusal", text.clone()),
        Content::Reasoning(reasoning) => match &reasoning.opaque {
            Some(opaque) => ("signed", opaque.json.clone()),
            None => ("reasoning", reasoning.text.clone()),
        },
        Content::Call(call) => ("call", call.call.id.to_string()),
        Content::Opaque(opaque) => ("opaque", opaque.json.clone()),
    };
    reply.content.iter().map(piece).collect()
}

#[test]
fn anthropic_pieces_keep_their_order_and_their_bytes() {
    let mut events = vec![start("m")];
    events.push(block(0, &json!({"type": "thinking", "thinking": "", "signature": ""})));
    events.push(delta(0, &json!({"type": "thinking_delta", "thinking": "hm"})));
    events.push(delta(0, &json!({"type": "signature_delta", "signature": "s"})));
    events.push(stop(0));
    events.extend(call(1, "{}"));
    events.push(stop(1));
    events.push(block(2, &json!({"type": "text", "text": "a"})));
    events.push(delta(2, &json!({"type": "text_delta", "text": "b"})));
    events.push(block(3, &json!({"type": "mcp_tool_use", "id": "m", "name": "n", "input": {}})));
    events.push(delta(3, &json!({"type": "input_json_delta", "partial_json": "{\"q\": "})));
    events.push(delta(3, &json!({"type": "input_json_delta", "partial_json": "1.0}"})));
    events.push(stop(3));
    events.push(block(4, &json!({"type": "thinking", "thinking": "un", "signature": ""})));
    events.push(delta(4, &json!({"type": "thinking_delta", "thinking": "signed"})));
    events.extend(ended("tool_use"));
    let reply = decode(Format::Anthropic, &events, End::Eof);
    let mut shape = shape(&reply);
    let (_, mcp) = shape.remove(3);
    assert!(mcp.contains(r#""input":{"q": 1.0}"#), "{mcp}");
    let (_, signed) = shape.remove(0);
    let signed: Value = serde_json::from_str(&signed).unwrap();
    assert_eq!(signed, json!({"type": "thinking", "thinking": "hm", "signature": "s"}));
    let pieces =
        [("call", "t1"), ("text", "ab"), ("reasoning", "unsigned")].map(|(k, t)| (k, t.to_owned()));
    assert_eq!(shape, pieces);
    assert_eq!(reply.calls().next().unwrap().state, CallState::Complete);
    let usage = reply.usage.unwrap();
    assert_eq!((usage.input, usage.output, usage.cache_read), (Some(3), Some(9), None));
}

#[test]
fn two_streams_in_one_are_a_protocol_failure_and_run_nothing() {
    let mut events = vec![start("one")];
    events.extend(call(0, "{}"));
    events.push(start("two"));
    events.extend(ended("tool_use"));
    let reply = decode(Format::Anthropic, &events, End::Eof);
    let failure = reply.failure.as_ref().unwrap();
    assert_eq!((failure.place, failure.kind), (Place::Stream, FailureKind::Protocol));
    assert_ne!(reply.calls().next().unwrap().state, CallState::Complete);
}

#[test]
fn only_the_last_call_is_cut_off_by_a_limit() {
    for (reason, words) in [
        ("max_tokens", "output limit"),
        ("refusal", "filter"),
        ("model_context_window_exceeded", "limit"),
    ] {
        let mut events = vec![start("m")];
        events.extend(call(0, "{}"));
        events.extend(call(1, "{}"));
        events.extend(ended(reason));
        let reply = decode(Format::Anthropic, &events, End::Eof);
        let states: Vec<_> = reply.calls().map(|call| &call.state).collect();
        assert_eq!(*states[0], CallState::Complete);
        assert!(matches!(states[1], CallState::Unusable(why) if why.contains(words)), "{states:?}");
    }
}

#[test]
fn a_stream_without_its_end_runs_nothing() {
    let mut events = vec![start("m")];
    events.extend(call(0, "{}"));
    events.push(stop(0));
    for end in [End::Eof, End::Stopped] {
        let reply = decode(Format::Anthropic, &events, end.clone());
        assert_eq!(reply.failure.is_some(), end == End::Eof);
        assert_ne!(reply.calls().next().unwrap().state, CallState::Complete);
    }
    let reply = decode(Format::OpenaiResponses, &[item("added", 0, "")], End::Eof);
    assert_eq!(reply.failure.unwrap().kind, FailureKind::Disconnected);
}

fn item(what: &str, index: u8, arguments: &str) -> Value {
    json!({"type": format!("response.output_item.{what}"), "output_index": index, "item": {
        "type": "function_call", "call_id": format!("c{index}"), "name": "bash", "arguments": arguments,
    }})
}

fn completed(status: &str) -> Value {
    json!({"type": format!("response.{status}"), "response": {"status": status}})
}

#[test]
fn what_an_item_says_at_its_end_is_the_last_word() {
    let piece = |text| json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": text});
    let events = [
        item("added", 0, ""),
        piece("{\"a\":"),
        item("done", 0, "{\"a\":1}"),
        // No pieces, and no start.
        item("done", 1, "{\"b\":2}"),
        completed("completed"),
    ];
    let reply = decode(Format::OpenaiResponses, &events, End::Eof);
    let calls: Vec<_> = reply.calls().map(|call| &*call.call.arguments).collect();
    assert_eq!(calls, ["{\"a\":1}", "{\"b\":2}"]);
    assert!(reply.calls().all(|call| call.state == CallState::Complete), "{reply:?}");
    let repairs: Vec<_> = reply.repairs.iter().map(|repair| &*repair.what).collect();
    assert_eq!(repairs, ["arguments that differ from their pieces taken as sent last"]);
}

#[test]
fn a_reply_that_comes_only_with_the_end_mark_is_read() {
    let output = json!([
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "message", "content": [{"type": "output_text", "text": "hi"}]},
        {"type": "web_search_call", "id": "w"},
    ]);
    let end = json!({"type": "response.completed", "response": {"status": "completed", "output": output}});
    let mut decoder = decoder(Format::OpenaiResponses);
    let progress = decoder.feed(format!("data: {end}\n\n").as_bytes());
    let shown = [Progress::Reasoning("hm".to_owned()), Progress::Text("hi".to_owned())];
    assert_eq!(progress, shown);
    assert!(decoder.is_done());
    let reply = decoder.finish(End::Eof);
    assert_eq!(shape(&reply)[0], ("reasoning", "hm".to_owned()));
    assert_eq!(shape(&reply)[2].0, "opaque");
}

#[test]
fn a_failed_response_is_a_failure_and_runs_nothing() {
    let error = json!({"code": "server_error", "message": "no"});
    let failed =
        json!({"type": "response.failed", "response": {"status": "failed", "error": error}});
    for events in [
        vec![item("done", 0, "{}"), failed],
        vec![
            item("done", 0, "{}"),
            json!({"type": "error", "message": "no", "code": "server_error"}),
        ],
    ] {
        let reply = decode(Format::OpenaiResponses, &events, End::Eof);
        let failure = reply.failure.as_ref().unwrap();
        assert_eq!((failure.kind, &*failure.message), (FailureKind::Server, "no"), "{events:?}");
        assert_ne!(reply.calls().next().unwrap().state, CallState::Complete);
    }
    let events = [item("done", 0, "{}"), completed("incomplete")];
    let reply = decode(Format::OpenaiResponses, &events, End::Eof);
    assert!(reply.failure.is_none());
    assert_ne!(reply.calls().next().unwrap().state, CallState::Complete);
}
