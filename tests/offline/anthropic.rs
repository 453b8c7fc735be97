//! Anthropic's Messages: what the strict model refuses, and the shape of what is sent.

use limpid::offline::{Pace, start};
use serde_json::{Value, json};

use crate::client::{address, assert_says, named_events, post_to, user};

const PATH: &str = "/v1/messages";

fn tools() -> Value {
    json!([{"name": "bash", "description": "d", "input_schema": {"type": "object"}}])
}

fn body(messages: &Value) -> Value {
    json!({"model": "offline", "max_tokens": 100, "stream": true, "tools": tools(),
        "messages": messages})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "bash", "input": {"command": "ls"}})
}

fn calls(ids: &[&str]) -> Value {
    json!({"role": "assistant", "content": ids.iter().map(|id| call(id)).collect::<Vec<_>>()})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "x\n[exit code 0]"})
}

fn results(ids: &[&str]) -> Value {
    json!({"role": "user", "content": ids.iter().map(|id| result(id)).collect::<Vec<_>>()})
}

/// A call in which the member at the pointer is another.
fn with(pointer: &str, value: Value) -> Value {
    let mut message = calls(&["a"]);
    *message.pointer_mut(pointer).unwrap() = value;
    message
}

/// The strict model refuses each body with these words; the lenient one takes it.
async fn only_the_strict_model_refuses(cases: Vec<(Value, &str)>) {
    let server = start(Pace::Full).await.unwrap();
    for (mut body, wanted) in cases {
        let response = post_to(&server, PATH, &body).await;
        assert_eq!(response.status, 400, "{body}: {}", response.body);
        assert!(response.content_type.starts_with("application/json"));
        let error = response.json();
        assert_eq!(error["type"], "error", "{error}");
        assert_eq!(error["error"]["type"], "invalid_request_error", "{error}");
        assert_says(error["error"]["message"].as_str().unwrap(), &[wanted]);

        body["model"] = json!("offline-lenient");
        assert_eq!(post_to(&server, PATH, &body).await.status, 200, "{body}");
    }
}

#[tokio::test]
async fn malformed_messages_are_refused() {
    let u = || user("$ ls");
    let says = |content: Value| json!({"role": "assistant", "content": content});
    let by_user = |content: Value| json!({"role": "user", "content": content});
    let refused = [
        (json!([]), "messages: at least one message is required"),
        (json!([says(json!("x"))]), "messages.0: the first message must use the \"user\" role"),
        (json!([u(), u()]), "messages.1: roles must alternate"),
        (json!([u(), says(json!("x")), says(json!("y"))]), "messages.2: roles must alternate"),
        (json!([{"role": "system", "content": "x"}]), "messages.0.role: Input should be 'user'"),
        (json!([by_user(json!(""))]), "messages.0: all messages must have non-empty content"),
        (json!([by_user(json!([]))]), "messages.0: all messages must have non-empty content"),
        (json!([by_user(json!(7))]), "messages.0.content: Input should be a valid"),
        (
            json!([by_user(json!([{"type": "text", "text": " \n"}]))]),
            "messages.0.content.0.text: text content blocks must contain non-whitespace text",
        ),
        (json!([by_user(json!([{"type": "text"}]))]), "messages.0.content.0.text: Field required"),
        (json!([by_user(json!([{"text": "x"}]))]), "messages.0.content.0.type: Field required"),
        (
            json!([u(), says(json!([{"type": "odd"}]))]),
            "messages.1.content.0: Input tag 'odd' found",
        ),
        (json!([by_user(json!([call("a")]))]), "messages.0.content.0: Input tag 'tool_use'"),
        (json!([u(), says(json!([result("a")]))]), "messages.1.content.0: Input tag 'tool_result'"),
    ];
    only_the_strict_model_refuses(refused.map(|(it, words)| (body(&it), words)).into()).await;
}

#[tokio::test]
async fn calls_and_results_that_do_not_pair_are_refused() {
    let u = || user("$ ls");
    let open =
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: ";
    let late = json!({"role": "user", "content": [{"type": "text", "text": "x"}, result("a")]});
    let odd = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "is_error": 1}]});
    let refused = [
        (json!([u(), calls(&["a"])]), open.to_owned() + "a."),
        (json!([u(), calls(&["a"]), u()]), open.to_owned() + "a."),
        (json!([u(), calls(&["a", "b", "c"]), results(&["b"])]), open.to_owned() + "a, c."),
        (
            json!([u(), calls(&["a"]), u(), calls(&["b"]), results(&["a", "b"])]),
            open.to_owned() + "a.",
        ),
        (json!([results(&["a"])]), "messages.0.content.0: unexpected `tool_use_id`".into()),
        (
            json!([u(), calls(&["a"]), results(&["a", "b"])]),
            "messages.2.content.1: unexpected `tool_use_id` found in `tool_result` blocks: b."
                .into(),
        ),
        (
            json!([u(), calls(&["a"]), results(&["a", "a"])]),
            "messages.2.content.1: each tool_use must have a single result.".into(),
        ),
        (
            json!([u(), calls(&["a"]), late]),
            "messages.2.content.1: `tool_result` blocks must come first".into(),
        ),
        (
            json!([u(), calls(&["a"]), odd]),
            "messages.2.content.0.is_error: Input should be a valid boolean".into(),
        ),
        (
            json!([u(), calls(&["a", "a"]), results(&["a"])]),
            "messages.1.content.1: `tool_use` ids must be unique".into(),
        ),
        (
            json!([u(), calls(&["a"]), results(&["a"]), calls(&["a"]), results(&["a"])]),
            "messages.3.content.0: `tool_use` ids must be unique".into(),
        ),
        (
            json!([u(), with("/content/0/id", json!("a b")), results(&["a b"])]),
            "messages.1.content.0.id: String should match pattern".into(),
        ),
        (
            json!([u(), with("/content/0/name", json!("")), results(&["a"])]),
            "messages.1.content.0.name: String should match pattern".into(),
        ),
        (
            json!([u(), with("/content/0/input", json!("{}")), results(&["a"])]),
            "messages.1.content.0.input: Input should be a valid dictionary".into(),
        ),
    ];
    let refused = refused.iter().map(|(it, words)| (body(it), words.as_str())).collect();
    only_the_strict_model_refuses(refused).await;
}

#[tokio::test]
async fn malformed_texts_tools_and_markers_are_refused() {
    let whole = body(&json!([user("hi")]));
    let set = |name: &str, value: Value| {
        let mut body = whole.clone();
        body[name] = value;
        body
    };
    let tool = |name: &str, schema: Value| json!({"name": name, "input_schema": schema});
    let object = || json!({"type": "object"});
    let marked = json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}});
    only_the_strict_model_refuses(vec![
        (set("system", json!("")), "system: all messages must have non-empty content"),
        (
            set("system", json!([{"type": "text", "text": ""}])),
            "system.0.text: text content blocks",
        ),
        (set("tools", json!({})), "tools: Input should be a valid list"),
        (set("tools", json!([tool("a b", object())])), "tools.0.name: String should match"),
        (set("tools", json!([tool("a", json!({}))])), "tools.0.input_schema.type"),
        (set("tools", json!([tool("a", object()), tool("a", object())])), "names must be unique"),
        (set("system", json!(vec![marked; 5])), "A maximum of 4 blocks with cache_control"),
    ])
    .await;
}

#[tokio::test]
async fn what_the_api_itself_requires_is_required_by_both_models() {
    let server = start(Pace::Full).await.unwrap();
    for model in ["offline", "offline-lenient"] {
        let mut body = body(&json!([user("hi")]));
        body["model"] = json!(model);
        for (name, wanted) in [
            ("max_tokens", "max_tokens: Field required"),
            ("messages", "messages: Field required"),
            ("model", "`model` is missing"),
        ] {
            let mut body = body.clone();
            body.as_object_mut().unwrap().remove(name);
            let response = post_to(&server, PATH, &body).await;
            assert_eq!(response.status, 400, "{name}");
            assert_says(response.json()["error"]["message"].as_str().unwrap(), &[wanted]);
        }
        let body = body.to_string();
        let url = format!("http://{}{PATH}", address(&server));
        for (version, wanted) in [(None, "header is required"), (Some("1"), "not `2023-06-01`")] {
            let response = without_version(&url, version, &body).await;
            assert!(response.starts_with("HTTP/1.1 400 "), "{response}");
            assert_says(&response, &["anthropic-version: ", wanted, "invalid_request_error"]);
        }
    }
    let response = post_to(&server, PATH, &json!({"model": "gpt-5"})).await;
    assert_eq!(response.status, 404);
    let error = response.json();
    assert_eq!(
        (&error["type"], &error["error"]["type"]),
        (&json!("error"), &json!("not_found_error"))
    );
}

async fn without_version(url: &str, version: Option<&str>, body: &str) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let version = version.map_or_else(String::new, |it| format!("anthropic-version: {it}\r\n"));
    let length = body.len();
    let request = format!(
        "POST /{path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{version}content-length: {length}\r\n\r\n{body}"
    );
    let mut socket = tokio::net::TcpStream::connect(host).await.unwrap();
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn thinking_comes_back_unchanged_or_not_at_all() {
    let server = start(Pace::Full).await.unwrap();
    let mut posted = body(&json!([user("Think first: $ ls")]));
    posted["stream"] = json!(false);
    let message = post_to(&server, PATH, &posted).await.json();
    assert_eq!(message["stop_reason"], "tool_use", "{message}");
    let kinds: Vec<_> =
        message["content"].as_array().unwrap().iter().map(|it| &it["type"]).collect();
    assert_eq!(kinds, ["thinking", "text", "tool_use"]);
    let id = message["content"][2]["id"].as_str().unwrap().to_owned();

    let with_content = |content: Value| {
        let reply = json!({"role": "assistant", "content": content});
        let mut body = posted.clone();
        body["stream"] = json!(true);
        body["messages"] = json!([posted["messages"][0], reply, results(&[&id])]);
        body
    };
    let whole = &message["content"];
    let taken = post_to(&server, PATH, &with_content(whole.clone())).await;
    assert_eq!(taken.status, 200, "{}", taken.body);

    let changed = |pointer: &str, value: Value| {
        let mut content = whole.clone();
        *content.pointer_mut(pointer).unwrap() = value;
        with_content(content)
    };
    let mut unsigned = whole.clone();
    unsigned[0].as_object_mut().unwrap().remove("signature");
    let mut last = whole.as_array().unwrap().clone();
    last.push(last[0].clone());
    let redacted = json!([{"type": "redacted_thinking", "data": "x"}, whole[1], whole[2]]);
    only_the_strict_model_refuses(vec![
        (
            changed("/0/thinking", json!("Something else.")),
            "messages.1.content.0: Invalid `signature`",
        ),
        (changed("/0/signature", json!("abc")), "messages.1.content.0: Invalid `signature`"),
        (with_content(unsigned), "messages.1.content.0.signature: Field required"),
        (with_content(json!([whole[1], whole[2]])), "Expected `thinking` or `redacted_thinking`"),
        (with_content(json!([whole[1], whole[2], whole[0]])), "but found `tool_use`"),
        (with_content(json!(last)), "The final block in an assistant message cannot be `thinking`"),
        (with_content(redacted), "Invalid `data` in `redacted_thinking` block"),
    ])
    .await;
}

#[tokio::test]
async fn a_stream_has_the_shape_of_the_format() {
    let server = start(Pace::Full).await.unwrap();
    let posted = body(&json!([user("Think first: $ echo 你好\n$ ls")]));
    let response = post_to(&server, PATH, &posted).await;
    assert!(response.content_type.starts_with("text/event-stream"));
    let events = named_events(&response.body);
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds[..3], ["message_start", "ping", "content_block_start"]);
    assert_eq!(kinds[kinds.len() - 2..], ["message_delta", "message_stop"]);
    assert_eq!(events[0]["message"]["content"], json!([]));
    assert!(events[0]["message"]["usage"]["input_tokens"].as_u64().unwrap() > 0);
    let end = &events[events.len() - 2];
    assert_eq!(end["delta"]["stop_reason"], "tool_use");
    assert!(end["usage"]["output_tokens"].as_u64().unwrap() > 1);

    // What the deltas add up to, block by block.
    let mut blocks: Vec<(Value, String, Vec<String>)> = Vec::new();
    let mut open = None;
    for event in &events[2..events.len() - 2] {
        match event["type"].as_str().unwrap() {
            "content_block_start" => {
                assert_eq!((open, &event["index"]), (None, &json!(blocks.len())));
                open = Some(blocks.len());
                blocks.push((event["content_block"].clone(), String::new(), Vec::new()));
            }
            "content_block_delta" => {
                let block = &mut blocks[open.unwrap()];
                let delta = event["delta"].as_object().unwrap();
                let text = delta.iter().find(|(name, _)| *name != "type").unwrap().1;
                block.2.push(event["delta"]["type"].as_str().unwrap().to_owned());
                if event["delta"]["type"] != "signature_delta" {
                    block.1 += text.as_str().unwrap();
                }
            }
            "content_block_stop" => assert_eq!(json!(open.take()), event["index"]),
            other => panic!("{other}"),
        }
    }
    let kinds: Vec<_> = blocks.iter().map(|(start, ..)| start["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["thinking", "text", "tool_use", "tool_use"]);
    let of_thinking = &blocks[0].2;
    assert_eq!(of_thinking.last().unwrap(), "signature_delta");
    assert!(of_thinking[..of_thinking.len() - 1].iter().all(|it| it == "thinking_delta"));
    assert!(blocks[1].2.len() > 1 && blocks[1].2.iter().all(|it| it == "text_delta"));
    assert_eq!(blocks[2].0["input"], json!({}));
    assert!(blocks[2].2.len() > 2 && blocks[2].2.iter().all(|it| it == "input_json_delta"));
    assert_eq!(blocks[2].1, "{\"command\":\"echo 你好\"}");
    assert_eq!(blocks[3].1, "{\"command\":\"ls\"}");
    assert_ne!(blocks[2].0["id"], blocks[3].0["id"]);
}

#[tokio::test]
async fn thinking_that_a_parameter_asks_for_needs_no_words() {
    let server = start(Pace::Full).await.unwrap();
    let mut body = body(&json!([user("hi")]));
    assert!(!post_to(&server, PATH, &body).await.body.contains("thinking"));
    body["thinking"] = json!({"type": "enabled", "budget_tokens": 1024});
    assert!(post_to(&server, PATH, &body).await.body.contains("thinking_delta"));
}

#[tokio::test]
async fn the_lenient_model_repeats_a_call_without_result_and_then_invents_one() {
    let server = start(Pace::Full).await.unwrap();
    let mut messages = vec![user("$ ls -l")];
    for turn in 0..3 {
        let mut body = body(&json!(messages));
        body["model"] = json!("offline-lenient");
        body["stream"] = json!(false);
        let message = post_to(&server, PATH, &body).await.json();
        let asks = message["content"].as_array().unwrap().iter().any(|it| it["type"] == "tool_use");
        assert_eq!(asks, turn < 2, "{message}");
        messages.push(json!({"role": "assistant", "content": message["content"]}));
    }
    assert_says(&messages[3].to_string(), &["without any errors"]);
}
