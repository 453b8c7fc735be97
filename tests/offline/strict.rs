//! What the strict model refuses, and what it takes.

use limpid::offline::{Pace, start};
use serde_json::{Value, json};

use crate::client::{assert_says, post, send, user};

fn tool_result(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "x\n[exit code 0]"})
}

fn calls(ids: &[&str]) -> Value {
    let call = |id| {
        json!({"id": id, "type": "function",
            "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}})
    };
    json!({"role": "assistant", "content": null,
        "tool_calls": ids.iter().map(call).collect::<Vec<_>>()})
}

/// An assistant message with one call, in which the member at the pointer is another.
fn with(pointer: &str, value: Value) -> Value {
    let mut message = calls(&["a"]);
    *message.pointer_mut(pointer).unwrap() = value;
    message
}

/// Messages, the member that is at fault, and what the message says of it.
type Case<P> = (Value, P, &'static str);

/// The strict model refuses each; the lenient one takes it.
async fn only_the_strict_model_refuses<P: AsRef<str>>(cases: impl IntoIterator<Item = Case<P>>) {
    let server = start(Pace::Full).await.unwrap();
    for (messages, param, wanted) in cases {
        let body = json!({"model": "offline", "stream": true, "messages": messages});
        let response = post(&server, &body).await;
        assert_eq!(response.status, 400, "{messages}: {}", response.body);
        assert!(response.content_type.starts_with("application/json"));
        let error = &response.json()["error"];
        assert_eq!(error["type"], "invalid_request_error");
        assert_eq!(error["param"], param.as_ref(), "{messages}: {error}");
        assert_says(error["message"].as_str().unwrap(), &[wanted]);

        let body = json!({"model": "offline-lenient", "stream": true, "messages": messages});
        assert_eq!(post(&server, &body).await.status, 200, "{messages}");
    }
}

#[tokio::test]
async fn malformed_messages_are_refused() {
    only_the_strict_model_refuses([
        (json!([]), "messages", "is empty"),
        (json!(["hi"]), "messages[0]", "not an object"),
        (json!([{"content": "x"}]), "messages[0].role", "missing"),
        (json!([{"role": "robot", "content": "x"}]), "messages[0].role", "`robot`"),
        (json!([{"role": "system", "content": ""}]), "messages[0].content", "empty text"),
        (json!([{"role": "assistant"}]), "messages[0].content", "neither"),
        (json!([{"role": "assistant", "content": null}]), "messages[0].content", "neither"),
        (json!([{"role": "assistant", "content": ""}]), "messages[0].content", "empty text"),
    ])
    .await;
    let says = |content: Value| json!([{"role": "user", "content": content}]);
    let part = "messages[0].content[0]";
    only_the_strict_model_refuses([
        (says(json!("")), "messages[0].content", "empty text"),
        (says(json!(" \n")), "messages[0].content", "empty text"),
        (says(json!([])), "messages[0].content", "empty list"),
        (says(json!(null)), "messages[0].content", "missing"),
        (says(json!([{"type": "text", "text": ""}])), "messages[0].content[0].text", "empty text"),
        (says(json!([{"type": "text"}])), part, "no text"),
        (says(json!([{"type": "x", "text": "y"}])), part, "`text`"),
    ])
    .await;
}

#[tokio::test]
async fn malformed_calls_are_refused() {
    let cases = [
        ("/content", json!(""), "content", "empty text"),
        ("/tool_calls", json!([]), "tool_calls", "empty"),
        ("/tool_calls", json!({}), "tool_calls", "not a list"),
        ("/tool_calls/0", json!(1), "tool_calls[0]", "object"),
        ("/tool_calls/0/id", json!(""), "tool_calls[0].id", "empty"),
        ("/tool_calls/0/type", json!("x"), "tool_calls[0].type", "`function`"),
        ("/tool_calls/0/function", json!(1), "tool_calls[0].function", "object"),
        ("/tool_calls/0/function/name", json!(""), "tool_calls[0].function.name", "empty"),
        ("/tool_calls/0/function/name", json!("a b"), "tool_calls[0].function.name", "`a b`"),
    ];
    let arguments = [
        (json!({}), "not a string"),
        (json!(""), "not hold JSON"),
        (json!("{\"command\":"), "not hold JSON"),
        (json!("[1]"), "not hold a JSON object"),
        (json!("null"), "not hold a JSON object"),
    ];
    let arguments = arguments.map(|(value, wanted)| {
        ("/tool_calls/0/function/arguments", value, "tool_calls[0].function.arguments", wanted)
    });
    let cases = cases.into_iter().chain(arguments).map(|(pointer, value, param, wanted)| {
        let messages = json!([user("$ ls"), with(pointer, value), tool_result("a")]);
        (messages, format!("messages[1].{param}"), wanted)
    });
    only_the_strict_model_refuses(cases).await;
}

#[tokio::test]
async fn calls_and_results_that_do_not_pair_are_refused() {
    let u = || user("$ ls");
    let r = tool_result;
    let without_id = json!({"role": "tool", "content": "x"});
    let empty = json!({"role": "tool", "tool_call_id": "a", "content": ""});
    let open = "messages[1].tool_calls";
    only_the_strict_model_refuses([
        (json!([u(), calls(&["a"])]), open, "`a`"),
        (json!([u(), calls(&["a"]), u()]), open, "`a`"),
        (json!([u(), calls(&["a"]), u(), r("a")]), open, "`a`"),
        (json!([u(), calls(&["a"]), calls(&["b"]), r("a"), r("b")]), open, "`a`"),
        (json!([u(), calls(&["a", "b"]), r("b")]), open, "`a`"),
        (json!([u(), calls(&["a", "b", "c"]), r("b")]), open, "`a`, `c`"),
        (json!([u(), r("a")]), "messages[1].tool_call_id", "no tool call `a`"),
        (json!([u(), calls(&["a"]), r("b")]), "messages[2].tool_call_id", "no tool call `b`"),
        (json!([u(), calls(&["a"]), r("a"), u(), r("a")]), "messages[4].tool_call_id", "`a`"),
        (json!([u(), calls(&["a"]), r("a"), r("a")]), "messages[3].tool_call_id", "second result"),
        (json!([u(), calls(&["a"]), without_id]), "messages[2].tool_call_id", "missing"),
        (json!([u(), calls(&["a"]), empty]), "messages[2].content", "empty text"),
        (json!([u(), calls(&["a", "a"]), r("a")]), "messages[1].tool_calls[1].id", "used"),
        (
            json!([u(), calls(&["a"]), r("a"), calls(&["a"]), r("a")]),
            "messages[3].tool_calls[0].id",
            "used",
        ),
    ])
    .await;
}

#[tokio::test]
async fn the_strict_model_refuses_malformed_tools_and_switches() {
    let function = |function: Value| json!({"tools": [{"type": "function", "function": function}]});
    let twice = json!({"type": "function", "function": {"name": "a"}});
    let cases = [
        (json!({"tools": []}), "tools"),
        (json!({"tools": {}}), "tools"),
        (json!({"tools": [{"type": "x"}]}), "tools[0].type"),
        (json!({"tools": [{"type": "function"}]}), "tools[0].function"),
        (function(json!({})), "tools[0].function.name"),
        (function(json!({"name": "a b"})), "tools[0].function.name"),
        (function(json!({"name": "a", "description": 1})), "tools[0].function.description"),
        (function(json!({"name": "a", "parameters": {}})), "tools[0].function.parameters"),
        (json!({"tools": [twice, twice]}), "tools[1].function.name"),
        (json!({"stream": "yes"}), "stream"),
        (json!({"stream_options": {"include_usage": true}}), "stream_options"),
        (json!({"stream": true, "stream_options": 1}), "stream_options"),
        (json!({"messages": {}}), "messages"),
        (json!({"model": null}), "model"),
    ];
    let server = start(Pace::Full).await.unwrap();
    for (members, param) in cases {
        let mut body = json!({"model": "offline", "messages": [user("hi")]});
        for (name, value) in members.as_object().unwrap() {
            body[name] = value.clone();
        }
        let response = post(&server, &body).await;
        assert_eq!(response.status, 400, "{body}");
        assert_eq!(response.json()["error"]["param"], param, "{body}");
    }
    for body in ["", "{", "not JSON", "[]"] {
        let response = send(&server, "POST", "/v1/chat/completions", body).await;
        assert_eq!(response.status, 400, "{body}");
        assert_says(response.json()["error"]["message"].as_str().unwrap(), &["JSON"]);
    }
}

#[tokio::test]
async fn the_strict_model_takes_what_real_servers_take() {
    let system = json!({"role": "system", "content": [{"type": "text", "text": "x"}]});
    let developer = json!({"role": "developer", "content": "x"});
    let both = with("/content", json!("I'll look."));
    let histories = [
        json!([user("$ ls"), calls(&["a", "b"]), tool_result("b"), tool_result("a")]),
        json!([system, developer, user("$ ls"), user("again"), both, tool_result("a"), user("hi")]),
        json!([user("hi"), {"role": "assistant", "content": "Hello.", "reasoning_content": ""}]),
    ];
    let server = start(Pace::Full).await.unwrap();
    for messages in histories {
        let response = post(&server, &json!({"model": "offline", "messages": messages})).await;
        assert_eq!(response.status, 200, "{messages}: {}", response.body);
    }
}
