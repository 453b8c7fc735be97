//! `limpid exec` in the formats beside Chat Completions: a server's captured calls run, and what is
//! posted next is what that format allows.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod rules;
mod support;

use serde_json::{Value, json};
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
    let outline = stdout(&world.run(&["inspect", "last"]));
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

/// What a server sends of one call, or ends a reply with.
#[derive(Clone, Copy)]
enum Piece<'a> {
    /// The call at this place begins: id and name.
    Begin(usize, &'a str, &'a str),
    /// More of its arguments.
    More(usize, &'a str),
    /// It is whole.
    End(usize),
    /// So is the reply.
    Done,
    /// The reply was cut off by the output limit.
    Cut,
}

/// These pieces as the format streams them.
fn stream(format: &str, pieces: &[Piece<'_>]) -> Vec<Step> {
    let event = if format == "anthropic" { anthropic_events } else { responses_events };
    let events: Vec<String> =
        pieces.iter().flat_map(|piece| event(*piece)).map(|event| event.to_string()).collect();
    self::events(&events.iter().map(String::as_str).collect::<Vec<_>>())
}

fn anthropic_events(piece: Piece<'_>) -> Vec<Value> {
    let end = |reason: &str| {
        let end = json!({"type": "message_delta", "delta": {"stop_reason": reason}});
        vec![end, json!({"type": "message_stop"})]
    };
    match piece {
        Piece::Begin(index, id, name) => {
            let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
            vec![json!({"type": "content_block_start", "index": index, "content_block": block})]
        }
        Piece::More(index, json) => {
            let delta = json!({"type": "input_json_delta", "partial_json": json});
            vec![json!({"type": "content_block_delta", "index": index, "delta": delta})]
        }
        Piece::End(index) => vec![json!({"type": "content_block_stop", "index": index})],
        Piece::Done => end("tool_use"),
        Piece::Cut => end("max_tokens"),
    }
}

fn responses_events(piece: Piece<'_>) -> Vec<Value> {
    match piece {
        Piece::Begin(index, id, name) => {
            let item = json!({"type": "function_call", "id": format!("fc_{index}"), "call_id": id,
                "name": name, "arguments": "", "status": "in_progress"});
            vec![json!({"type": "response.output_item.added", "output_index": index, "item": item})]
        }
        Piece::More(index, json) => vec![json!({"output_index": index, "delta": json,
            "type": "response.function_call_arguments.delta"})],
        // Servers send the item without what came in pieces, too.
        Piece::End(index) => {
            let item = json!({"type": "function_call", "id": format!("fc_{index}"),
                "status": "completed"});
            vec![json!({"type": "response.output_item.done", "output_index": index, "item": item})]
        }
        Piece::Done => {
            vec![json!({"type": "response.completed", "response": {"status": "completed"}})]
        }
        Piece::Cut => vec![json!({"type": "response.incomplete", "response": {
            "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}})],
    }
}

/// A reply that asks for one call.
fn one_call(format: &str, name: &str, arguments: &str, end: Piece<'_>) -> Vec<Step> {
    let (id, at) = ("same", 0);
    stream(format, &[Piece::Begin(at, id, name), Piece::More(at, arguments), Piece::End(at), end])
}

/// A reply that asks for nothing.
fn answer(format: &str) -> Vec<Step> {
    if format == "anthropic" {
        let text = json!({"type": "text", "text": "Done."});
        let start = json!({"type": "content_block_start", "index": 0, "content_block": text});
        let end = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}});
        return events(&[&start.to_string(), &end.to_string(), r#"{"type":"message_stop"}"#]);
    }
    let delta = json!({"type": "response.output_text.delta", "output_index": 0, "delta": "Done."});
    let end = json!({"type": "response.completed", "response": {"status": "completed"}});
    events(&[&delta.to_string(), &end.to_string()])
}

/// Runs the scripts to their end; every request has to be one that a strict server takes. Returns
/// what the last one tells of the calls: ids and results.
fn answered(format: &str, world: &World, mut scripts: Vec<Vec<Step>>) -> Vec<(String, String)> {
    scripts.push(answer(format));
    let turns = scripts.len();
    let server = Server::start(scripts);
    let url = server.url();
    let output =
        world.run(&["exec", "--yolo", "--format", format, "--url", &url, "--model", "m", "go"]);
    assert_eq!(stdout(&output), "Done.\n", "{format}: {}", stderr(&output));
    let requests = server.requests();
    assert_eq!(requests.len(), turns, "{format}");
    let mut last = Value::Null;
    for request in &requests {
        last = serde_json::from_slice(&request.body).unwrap();
        if format == "anthropic" { rules::anthropic(&last) } else { rules::responses(&last) }
    }
    let items: Vec<&Value> = if format == "anthropic" {
        let messages = last["messages"].as_array().unwrap().iter();
        messages.flat_map(|message| message["content"].as_array().unwrap()).collect()
    } else {
        last["input"].as_array().unwrap().iter().collect()
    };
    let results = items.iter().filter_map(|item| {
        let (id, text) = match item["type"].as_str()? {
            "tool_result" => ("tool_use_id", "content"),
            "function_call_output" => ("call_id", "output"),
            _ => return None,
        };
        Some((item[id].as_str()?.to_owned(), item[text].as_str()?.to_owned()))
    });
    results.collect()
}

const FORMATS: [&str; 2] = ["anthropic", "openai-responses"];

#[test]
fn f10_f11_unusable_calls_are_answered_and_never_run() {
    let cases = [
        ("bash", "[\"touch canary\"]", Piece::Done, "object"),
        ("bash", "{\"command\":\"touch canary\"", Piece::Done, "not run"),
        ("bash", "{\"cmd\":\"touch canary\"}", Piece::Done, "command"),
        ("bash", "{\"command\":[\"touch\",\"canary\"]}", Piece::Done, "command"),
        ("bash", "", Piece::Done, "command"),
        ("shell", "{\"command\":\"touch canary\"}", Piece::Done, "no tool \"shell\""),
        ("", "{\"command\":\"touch canary\"}", Piece::Done, "tool"),
        ("bash", "{\"command\":\"touch canary", Piece::Cut, "limit"),
        ("bash", "{\"command\":\"touch canary\"}", Piece::Cut, "limit"),
    ];
    for format in FORMATS {
        let scripts =
            cases.map(|(name, arguments, end, _)| one_call(format, name, arguments, end)).to_vec();
        let world = World::new();
        let results = answered(format, &world, scripts);
        assert!(!world.project().join("canary").exists(), "{format}");
        assert_eq!(results.len(), cases.len(), "{format}: {results:?}");
        for ((_, result), (_, arguments, _, words)) in results.iter().zip(cases) {
            assert!(result.contains(words), "{format} {arguments}: {words} is not in {result}");
        }
    }
}

#[test]
fn f12_calls_under_one_id_or_in_fragments_stay_two_calls() {
    use Piece::{Begin, Done, End, More};
    let one_id = [
        Begin(0, "same", "bash"),
        More(0, "{\"command\":\"echo one >> log\"}"),
        End(0),
        Begin(1, "same", "bash"),
        More(1, "{\"command\":\"echo two >> log\"}"),
        End(1),
        Done,
        Done,
    ];
    // The pieces mixed, and ids from the turn before.
    let interleaved = [
        Begin(0, "same", "bash"),
        Begin(1, "b", "bash"),
        More(0, "{\"command\":\"echo "),
        More(1, "{\"command\":\"echo "),
        More(0, "three >> log\"}"),
        More(1, "four >> log\"}"),
        End(0),
        End(1),
        Done,
    ];
    for format in FORMATS {
        let world = World::new();
        let scripts = vec![stream(format, &one_id), stream(format, &interleaved)];
        let results = answered(format, &world, scripts);
        let log = std::fs::read_to_string(world.project().join("log")).unwrap();
        assert_eq!(log, "one\ntwo\nthree\nfour\n", "{format}");
        let mut ids: Vec<&str> = results.iter().map(|(id, _)| id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 4, "{format}: {results:?}");
    }
}
