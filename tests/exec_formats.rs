//! `limpid exec` in the formats beside Chat Completions: a server's captured calls run, and what is
//! posted next is what that format allows.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod rules;
mod support;

use support::limpid::{World, stderr, stdout};
use support::server::{Server, Step, sse_head};

/// A captured stream, with the head of our own server.
fn captured(name: &str) -> Vec<Step> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/wire");
    let bytes = std::fs::read(root.join(format!("{name}.response.http"))).unwrap();
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    vec![sse_head(), Step::Send(bytes[end + 4..].to_vec())]
}

/// Two turns: calls that run, then a text. Returns the requests' heads and bodies.
fn two_turns(format: &str, prefix: &str) -> Vec<(String, serde_json::Value)> {
    let world = World::new();
    let server = Server::start(vec![
        captured(&format!("aimock/{prefix}_two_tools_stream")),
        captured(&format!("aimock/{prefix}_text_stream")),
    ]);
    let url = server.url();
    let arguments = ["exec", "--yolo", "--format", format, "--url", &url, "--model", "m"];
    let output = world
        .limpid(&arguments)
        .args(["--key-env", "TEST_KEY", "go"])
        .env("TEST_KEY", "sk-test-key")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("Hello from aimock. Naïve café 你好 🎉"), "{output:?}");
    let outline = stdout(&world.run(&["inspect"]));
    assert!(outline.contains("prefix kept"), "{outline}");
    let bodies = server.requests().into_iter();
    let requests: Vec<_> =
        bodies.map(|r| (r.head, serde_json::from_slice(&r.body).unwrap())).collect();
    assert_eq!(requests.len(), 2, "{requests:?}");
    let rebuilt = world.run(&["inspect", "--turn", "2", "--body"]);
    assert_eq!(rebuilt.stdout, server.requests()[1].body);
    requests
}

#[test]
fn anthropic_runs_both_calls_and_answers_them_in_one_message() {
    let requests = two_turns("anthropic", "messages");
    for (head, body) in &requests {
        assert!(head.starts_with("POST /v1/messages HTTP/1.1\r\n"), "{head}");
        assert!(head.contains("\r\nx-api-key: sk-test-key\r\n"), "{head}");
        rules::anthropic(body);
    }
    let messages = requests[1].1["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 3);
    let results = messages[2]["content"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    assert!(results.iter().all(|block| block["type"] == "tool_result"), "{results:?}");
}

#[test]
fn responses_runs_both_calls_and_answers_each() {
    let requests = two_turns("openai-responses", "responses");
    for (head, body) in &requests {
        assert!(head.starts_with("POST /v1/responses HTTP/1.1\r\n"), "{head}");
        assert!(head.contains("\r\nauthorization: Bearer sk-test-key\r\n"), "{head}");
        rules::responses(body);
    }
    let items = requests[1].1["input"].as_array().unwrap();
    let kinds: Vec<_> = items.iter().filter_map(|item| item["type"].as_str()).collect();
    let kinds: Vec<_> = kinds.into_iter().filter(|kind| kind.starts_with("function")).collect();
    let (call, output) = ("function_call", "function_call_output");
    assert_eq!(kinds, [call, call, output, output]);
}

#[test]
fn the_offline_model_speaks_every_format() {
    for format in ["openai-chat", "anthropic", "openai-responses"] {
        let world = World::new();
        let prompt = "Think first: $ echo one\n$ echo two";
        let arguments =
            ["exec", "--offline", "--offline-pace", "full", "--yolo", "--format", format, prompt];
        let output = world.run(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let said = stdout(&output);
        assert!(said.contains("one") && said.contains("two"), "{said}");
        let body = world.run(&["inspect", "--turn", "2", "--body"]).stdout;
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        match format {
            "openai-chat" => rules::chat(&body),
            "anthropic" => rules::anthropic(&body),
            _ => rules::responses(&body),
        }
        assert_eq!(body["model"], "offline");
    }
}

/// Events of Anthropic's format.
fn events(events: &[&str]) -> Vec<Step> {
    let events = events.iter().map(|data| format!("data: {data}\n\n"));
    vec![sse_head(), Step::Send(events.collect::<String>().into_bytes())]
}

#[test]
fn a_server_that_pauses_is_asked_to_go_on() {
    let asked = r#"{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}"#;
    let found = r#"{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}"#;
    let start = |index: u8, block: &str| {
        format!(r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#)
    };
    let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    let end = |reason: &str| {
        format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}}}}"#)
    };
    let stop = r#"{"type":"message_stop"}"#;
    let world = World::new();
    let server = Server::start(vec![
        events(&[&start(0, &text("I look. ")), &start(1, asked), &end("pause_turn"), stop]),
        events(&[&start(0, found), &start(1, &text("Found.")), &end("end_turn"), stop]),
    ]);
    let url = server.url();
    let arguments =
        ["exec", "--format", "anthropic", "--url", &url, "--model", "m", "--json", "go"];
    let output = world.run(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains(r#""ended":"answered""#), "{}", stdout(&output));
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    let body: serde_json::Value = serde_json::from_slice(&requests[1].body).unwrap();
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2, "nothing is put after what the server said: {body}");
    let asked: serde_json::Value = serde_json::from_str(asked).unwrap();
    assert_eq!(messages[1]["content"][1], asked);

    let server = Server::start(vec![
        events(&[&start(0, &text("I look. ")), &end("pause_turn"), stop]),
        events(&[&start(0, &text("Found.")), &end("end_turn"), stop]),
    ]);
    let url = server.url();
    let arguments = ["exec", "--format", "anthropic", "--url", &url, "--model", "m", "go"];
    assert_eq!(stdout(&world.run(&arguments)), "I look. Found.\n");

    // A server that never ends is given up at the turn limit.
    let paused = events(&[&start(0, &text("Hm. ")), &end("pause_turn"), stop]);
    let server = Server::start(vec![paused]);
    let url = server.url();
    let arguments =
        ["exec", "--format", "anthropic", "--url", &url, "--model", "m", "--max-turns", "3", "go"];
    assert_eq!(world.run(&arguments).status.code(), Some(3));
    assert_eq!(server.requests().len(), 3);
}
