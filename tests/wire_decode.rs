//! Decoding Chat Completions where no recording shows the case: progress, end marks, foreign replies.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use limpid::conversation::{
    CallState, Failure, FailureKind, Place, Progress, ProposedCall, Reply, Usage,
};
use limpid::wire::{Decoder, End, Format, ResponseHead};

fn decoder(status: u16, content_type: &str) -> Decoder {
    let headers = vec![("content-type".to_owned(), content_type.to_owned())];
    Decoder::new(Format::OpenaiChat, &ResponseHead { status, headers })
}

fn decode(status: u16, content_type: &str, body: &str, end: End) -> Reply {
    let mut decoder = decoder(status, content_type);
    decoder.feed(body.as_bytes());
    decoder.finish(end)
}

fn stream(chunks: &[&str]) -> String {
    chunks.iter().flat_map(|chunk| ["data: ", chunk, "\n\n"]).collect()
}

fn delta(delta: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{delta}}}]}}"#)
}

const CALL: &str = r#"{"tool_calls":[{"index":0,"id":"c","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}]}"#;
const END: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#;

fn why(call: &ProposedCall) -> &str {
    match &call.state {
        CallState::Complete => "",
        CallState::Unusable(why) => why,
    }
}

fn failure(reply: &Reply) -> (Place, FailureKind, &str) {
    let failure = reply.failure.as_ref().unwrap();
    (failure.place, failure.kind, &failure.message)
}

#[test]
fn neighbours_are_merged_into_one_progress() {
    let mut decoder = decoder(200, "text/event-stream");
    let body = stream(&[
        &delta(r#"{"reasoning":"a"}"#),
        &delta(r#"{"reasoning_content":"b","reasoning":"b"}"#),
        &delta(r#"{"content":"c"}"#),
        &delta(r#"{"content":"\u00e9"}"#),
        &delta(CALL),
        &delta(r#"{"tool_calls":[{"index":0,"function":{"arguments":" "}}]}"#),
    ]);
    let progress = decoder.feed(body.as_bytes());
    let call = Progress::CallPiece {
        index: 0,
        name: "bash".to_owned(),
        arguments: r#"{"command":"ls"} "#.to_owned(),
    };
    let expected = [Progress::Reasoning("ab".to_owned()), Progress::Text("cé".to_owned()), call];
    assert_eq!(progress, expected);
    assert_eq!(decoder.feed(b": ping\n\n"), []);
}

#[test]
fn an_end_mark_ends_it_at_once_and_what_follows_is_not_read() {
    let mut decoder = decoder(200, "text/event-stream");
    decoder.feed(stream(&[&delta(r#"{"content":"a"}"#), END]).as_bytes());
    assert!(!decoder.is_done(), "usage may follow");
    decoder.feed(b"data: [DONE]\n\n");
    assert!(decoder.is_done());
    let more = stream(&[&delta(r#"{"content":"b"}"#)]);
    assert_eq!(decoder.feed(more.as_bytes()), []);
    let reply = decoder.finish(End::Eof);
    assert_eq!((&*reply.text(), reply.terminator, reply.failure), ("a", true, None));
}

#[test]
fn an_error_event_shows_at_once() {
    for event in [
        r#"data: {"error":{"message":"no","type":"server_error"}}"#,
        r#"data: {"error":"no"}"#,
        "event: error\ndata: {\"code\":500,\"message\":\"no\"}",
        r#"data: [{"error":{"code":500,"message":"no"}}]"#,
        r#"data: {"object":"error","message":"no"}"#,
        "event: error\ndata: no",
    ] {
        let mut decoder = decoder(200, "text/event-stream");
        let chunk = stream(&[&delta(r#"{"content":"a"}"#), &delta(CALL)]);
        decoder.feed(chunk.as_bytes());
        decoder.feed(format!("{event}\n\n").as_bytes());
        assert!(decoder.is_done(), "{event}");
        let reply = decoder.finish(End::Eof);
        assert_eq!(failure(&reply), (Place::Stream, FailureKind::Server, "no"), "{event}");
        assert_eq!(reply.text(), "a");
        assert!(why(reply.calls().next().unwrap()).contains("the reply failed"), "{event}");
    }
}

#[test]
fn a_stream_that_just_ends_is_a_lost_connection() {
    for body in ["", "\n", ": ping\n\n", &stream(&[&delta(r#"{"content":"a"}"#), &delta(CALL)])] {
        let reply = decode(200, "text/event-stream", body, End::Eof);
        let words = "the connection ended before the end mark";
        assert_eq!(failure(&reply), (Place::Transport, FailureKind::Disconnected, words));
        for call in reply.calls() {
            assert_eq!(why(call), "the connection ended before the call was complete");
        }
    }
}

#[test]
fn how_the_connection_broke_is_told_unless_the_end_was_there() {
    let lost = Failure::new(Place::Transport, FailureKind::Disconnected, "reset by peer");
    let cut = stream(&[&delta(CALL), END]);
    let reply = decode(200, "text/event-stream", &cut, End::Broken(lost.clone()));
    assert_eq!(reply.failure, Some(lost.clone()));
    assert_ne!(reply.calls().next().unwrap().state, CallState::Complete);
    let whole = cut + "data: [DONE]\n\n";
    let reply = decode(200, "text/event-stream", &whole, End::Broken(lost.clone()));
    let state = &reply.calls().next().unwrap().state;
    assert_eq!((&reply.failure, state), (&None, &CallState::Complete));
    let reply = decode(200, "application/json", r#"{"choices":[{"mess"#, End::Broken(lost.clone()));
    assert_eq!(reply.failure, Some(lost));
}

#[test]
fn a_stop_is_no_failure_and_makes_calls_unusable() {
    let whole = stream(&[&delta(CALL), END, "[DONE]"]);
    for body in [&*whole, &whole[..whole.len() - 20]] {
        let reply = decode(200, "text/event-stream", body, End::Stopped);
        assert!(reply.stopped && reply.failure.is_none());
        let words = "stopped by the user before the call was complete";
        assert_eq!(why(reply.calls().next().unwrap()), words);
    }
}

#[test]
fn repairs_are_named() {
    let cases = [
        (stream(&[&delta(CALL), "[DONE]"]), "reply without finish_reason accepted"),
        (stream(&[&delta(CALL), END]), "reply without [DONE] accepted"),
        (
            stream(&[&delta(r#"{"tool_calls":[{"id":"c","function":{"name":"x"}}]}"#), END]),
            "call without index accepted",
        ),
        (
            stream(&[&delta(r#"{"tool_calls":[{"index":0,"function":{"name":"x"}}]}"#), END]),
            "call without id accepted",
        ),
        (
            stream(&[
                &delta(
                    r#"{"tool_calls":[{"index":0,"id":"c","function":{"name":"x","arguments":{"a":1}}}]}"#,
                ),
                END,
            ]),
            "arguments sent as JSON instead of text accepted",
        ),
        (
            stream(&[r#"{"choices":[{"index":1,"delta":{"content":"b"}}]}"#, END]),
            "choices other than the first ignored",
        ),
        (
            stream(&[r#"{"choices":[],"usage":{"prompt_tokens":"many"}}"#, END]),
            "token counts of unknown shape ignored",
        ),
        (stream(&[END]) + "data: {\"choices\":[{\"del", "a last event that was cut off ignored"),
    ];
    for (body, repair) in cases {
        let reply = decode(200, "text/event-stream", &body, End::Eof);
        assert!(reply.repairs.iter().any(|named| named.what == *repair), "{repair}: {reply:?}");
        assert_eq!(reply.failure, None, "{repair}");
        assert!(reply.calls().all(|call| why(call).is_empty()), "{repair}: {reply:?}");
        assert_eq!(reply.text(), "");
    }
}

#[test]
fn bytes_that_are_no_text_are_replaced_and_named() {
    let mut decoder = decoder(200, "text/event-stream");
    decoder.feed(b"data: {\"choices\":[{\"delta\":{\"content\":\"a\xFFb\"}}]}\n\ndata: [DONE]\n\n");
    let reply = decoder.finish(End::Eof);
    assert_eq!(reply.text(), "a\u{FFFD}b");
    assert!(reply.repairs.iter().any(|made| made.what == "invalid UTF-8 replaced by U+FFFD"));
}

#[test]
fn a_foreign_reply_is_quoted() {
    let page = format!("<html>Log in to the hotel's network {}</html>", "x".repeat(1000));
    let reply = decode(200, "text/html; charset=utf-8", &page, End::Eof);
    let (place, kind, message) = failure(&reply);
    assert_eq!((place, kind), (Place::Body, FailureKind::Malformed));
    let start = "Unexpected reply (text/html) from the server: <html>Log in to the hotel's network";
    assert!(message.starts_with(start), "{message}");
    assert!(message.len() < 600, "{}", message.len());

    let reply = decode(200, "text/plain", "Welcome", End::Eof);
    assert!(failure(&reply).2.contains("Unexpected reply (text/plain)"));
    let reply = decode(200, "application/json", r#"{"models":[]}"#, End::Eof);
    assert!(failure(&reply).2.contains("JSON, but not a completion"));
}

#[test]
fn a_type_that_misleads_is_seen_through() {
    let completion = r#"{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}],
        "usage":{"prompt_tokens":3,"completion_tokens":4,"prompt_cache_hit_tokens":2}}"#;
    for content_type in ["application/json", "text/event-stream", "application/octet-stream", ""] {
        let reply = decode(200, content_type, completion, End::Eof);
        assert_eq!((&*reply.text(), reply.terminator, &reply.failure), ("hi", true, &None));
        let usage =
            Usage { input: Some(3), output: Some(4), cached_input: Some(2), ..Usage::default() };
        assert_eq!(reply.usage, Some(usage));
    }
    let body = stream(&[&delta(r#"{"content":"hi"}"#), "[DONE]"]);
    for content_type in ["text/plain", ""] {
        let reply = decode(200, content_type, &body, End::Eof);
        assert_eq!((&*reply.text(), reply.failure), ("hi", None));
    }
    let reply = decode(200, "text/event-stream", r#"{"error":{"message":"no"}}"#, End::Eof);
    assert_eq!(failure(&reply), (Place::Body, FailureKind::Server, "no"));
}

#[test]
fn broken_json_within_a_stream_fails_and_keeps_what_came() {
    let body = stream(&[&delta(r#"{"content":"a"}"#), "{oops", &delta(r#"{"content":"b"}"#)]);
    let reply = decode(200, "text/event-stream", &body, End::Eof);
    let (place, kind, message) = failure(&reply);
    assert_eq!((place, kind, &*reply.text()), (Place::Body, FailureKind::Malformed, "a"));
    assert!(message.contains("{oops"), "{message}");
}

#[test]
fn endless_lines_and_bodies_are_given_up() {
    let mebibyte = "x".repeat(1024 * 1024);
    for (status, content_type, start) in [
        (200, "text/event-stream", "data: "),
        (200, "application/json", "{"),
        (200, "text/html", "<"),
        (500, "text/html", "<"),
    ] {
        let mut decoder = decoder(status, content_type);
        decoder.feed(start.as_bytes());
        for _ in 0..11 {
            decoder.feed(mebibyte.as_bytes());
        }
        assert!(decoder.is_done(), "{status} {content_type}");
        let reply = decoder.finish(End::Eof);
        let (_, _, message) = failure(&reply);
        assert!(message.len() < 700, "{}", message.len());
        if content_type != "text/html" {
            assert!(message.contains("longer than 10 MiB"), "{message}");
        }
    }
}

#[test]
fn a_reply_without_end_is_cut_and_its_calls_never_run() {
    let long = "x".repeat(100_000);
    let text = format!(r#"{{"content":"{long}é"}}"#);
    let reasoning = format!(r#"{{"reasoning":"{long}"}}"#);
    let piece = format!(
        r#"{{"tool_calls":[{{"index":1,"id":"d","function":{{"name":"bash","arguments":"{long}"}}}}]}}"#
    );
    for flood in [&*text, &reasoning, &piece] {
        let mut decoder = decoder(200, "text/event-stream");
        decoder.feed(stream(&[&delta(CALL)]).as_bytes());
        let event = stream(&[&delta(flood)]);
        let mut shown = 0;
        for _ in 0..100 {
            for progress in decoder.feed(event.as_bytes()) {
                shown += match progress {
                    Progress::Text(text) | Progress::Reasoning(text) => text.len(),
                    Progress::CallPiece { arguments, .. } => arguments.len(),
                    _ => 0,
                };
            }
        }
        assert!(decoder.is_done());
        // Nor does it matter how much comes afterwards.
        decoder.feed(stream(&[&delta(flood), "[DONE]"]).as_bytes());
        let reply = decoder.finish(End::Eof);
        let (_, kind, message) = failure(&reply);
        assert_eq!(kind, FailureKind::TooLong);
        assert!(message.contains("longer than 4 MiB"), "{message}");
        assert!((4_100_000..4_300_000).contains(&shown), "{shown}");
        assert!(reply.calls().all(|call| why(call).contains("failed before it was complete")));
        assert_eq!(reply.calls().count(), if flood == piece { 2 } else { 1 });
    }
    // Pieces without text, each of which starts a call.
    let mut decoder = decoder(200, "text/event-stream");
    let call =
        r#"{"tool_calls":[{"index":-1,"id":"ID","function":{"name":"bash","arguments":"{}"}}]}"#;
    for number in 0..10_000 {
        let call = call.replace("-1", &number.to_string()).replace("ID", &number.to_string());
        decoder.feed(stream(&[&delta(&call)]).as_bytes());
        if decoder.is_done() {
            break;
        }
    }
    let reply = decoder.finish(End::Eof);
    assert_eq!(failure(&reply).1, FailureKind::TooLong);
    assert!(reply.calls().count() < 1100 && reply.calls().all(|call| !why(call).is_empty()));
}
