//! `OpenAI`'s Responses: what the strict model refuses, and the shape of what is sent.

use limpid::offline::{Pace, start};
use serde_json::{Value, json};

use crate::client::{assert_says, named_events, post_to, user};

const PATH: &str = "/v1/responses";

fn body(input: &Value) -> Value {
    let tool = json!({"type": "function", "name": "bash", "parameters": {"type": "object"}});
    json!({"model": "offline", "stream": true, "store": false, "tools": [tool], "input": input})
}

fn call(id: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": "bash",
        "arguments": "{\"command\":\"ls\"}"})
}

fn output(id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": "x\n[exit code 0]"})
}

/// An item in which a member is another.
fn with(item: &Value, name: &str, value: Value) -> Value {
    let mut item = item.clone();
    item[name] = value;
    item
}

/// The strict model refuses each body, naming this member, with these words; the lenient one takes
/// it.
async fn only_the_strict_model_refuses(cases: Vec<(Value, &str, &str)>) {
    let server = start(Pace::Full).await.unwrap();
    for (mut body, param, wanted) in cases {
        let response = post_to(&server, PATH, &body).await;
        assert_eq!(response.status, 400, "{body}: {}", response.body);
        assert!(response.content_type.starts_with("application/json"));
        let error = &response.json()["error"];
        assert_eq!(error["type"], "invalid_request_error", "{error}");
        assert_eq!(error["param"], param, "{error}");
        assert!(error["code"].is_string(), "{error}");
        assert_says(error["message"].as_str().unwrap(), &[wanted]);

        body["model"] = json!("offline-lenient");
        assert_eq!(post_to(&server, PATH, &body).await.status, 200, "{body}");
    }
}

#[tokio::test]
async fn malformed_items_are_refused() {
    let parts = |role: &str, parts: Value| json!([{"role": role, "content": parts}]);
    let text = |kind: &str, text: &str| json!([{"type": kind, "text": text}]);
    let fc = |item: Value| json!([user("$ ls"), item, output("a")]);
    let cases = [
        (json!([]), "input", "empty list"),
        (json!([{"type": "odd"}]), "input[0].type", "Supported values are: 'message'"),
        (json!([{"content": "x"}]), "input[0].role", "'assistant'"),
        (json!([{"role": "tool", "content": "x"}]), "input[0].role", "'assistant'"),
        (json!([user(" ")]), "input[0].content", "empty string"),
        (parts("user", json!([])), "input[0].content", "something in it"),
        (parts("user", json!(7)), "input[0].content", "something in it"),
        (parts("user", text("output_text", "x")), "input[0].content[0].type", "'input_text'"),
        (parts("user", text("input_text", "")), "input[0].content[0].text", "empty string"),
        (parts("assistant", text("input_text", "x")), "input[0].content[0].type", "'output_text'"),
        (fc(with(&call("a"), "call_id", json!(""))), "input[1].call_id", "1 to 64"),
        (fc(with(&call("a"), "call_id", json!("a".repeat(65)))), "input[1].call_id", "1 to 64"),
        (fc(with(&call("a"), "name", json!("a b"))), "input[1].name", "pattern"),
        (fc(with(&call("a"), "arguments", json!({}))), "input[1].arguments", "JSON object"),
        (fc(with(&call("a"), "arguments", json!("{"))), "input[1].arguments", "JSON object"),
        (fc(with(&call("a"), "id", json!("a"))), "input[1].id", "begins with 'fc'"),
        (json!([with(&user("x"), "id", json!("rs_1"))]), "input[0].id", "begins with 'msg'"),
        (
            json!([with(&user("x"), "id", json!("msg_1")), with(&user("x"), "id", json!("msg_1"))]),
            "input[1]",
            "Duplicate item found with id msg_1",
        ),
    ];
    let cases = cases.map(|(input, param, words)| (body(&input), param, words));
    only_the_strict_model_refuses(cases.into()).await;
    let mut blank = body(&json!(" "));
    only_the_strict_model_refuses(vec![(blank.clone(), "input", "empty string")]).await;
    blank["input"] = json!("hi");
    let server = start(Pace::Full).await.unwrap();
    assert_eq!(post_to(&server, PATH, &blank).await.status, 200);
}

#[tokio::test]
async fn calls_and_outputs_that_do_not_pair_are_refused() {
    let u = || user("$ ls");
    let open = "No tool output found for function call ";
    let odd = json!({"type": "function_call_output", "call_id": "a", "output": 7});
    let cases = [
        (json!([u(), call("a")]), "input", format!("{open}a.")),
        (json!([u(), call("a"), u()]), "input", format!("{open}a.")),
        (json!([u(), call("a"), u(), output("a")]), "input", format!("{open}a.")),
        (
            json!([u(), call("a"), call("b"), call("c"), output("b")]),
            "input",
            format!("{open}a, c."),
        ),
        (json!([u(), output("a")]), "input[1]", "No tool call found for".into()),
        (json!([u(), call("a"), output("a"), output("a")]), "input[3]", "a second output".into()),
        (json!([u(), call("a"), call("a"), output("a")]), "input[2].call_id", "Duplicate".into()),
        (json!([u(), call("a"), odd]), "input[2].output", "a string or a list".into()),
    ];
    let cases = cases.iter().map(|(input, param, words)| (body(input), *param, words.as_str()));
    only_the_strict_model_refuses(cases.collect()).await;
}

#[tokio::test]
async fn malformed_tools_and_what_is_not_stored_are_refused() {
    let whole = body(&json!([user("hi")]));
    let tool =
        |name: &str| json!({"type": "function", "name": name, "parameters": {"type": "object"}});
    only_the_strict_model_refuses(vec![
        (with(&whole, "tools", json!({})), "tools", "not a list"),
        (with(&whole, "tools", json!([{"type": "x"}])), "tools[0].type", "'function'"),
        (with(&whole, "tools", json!([tool("a b")])), "tools[0].name", "pattern"),
        (with(&whole, "tools", json!([tool("a"), tool("a")])), "tools[1].name", "another tool"),
        (
            with(&whole, "tools", json!([with(&tool("a"), "parameters", json!({}))])),
            "tools[0].parameters",
            "'object'",
        ),
        (
            with(&whole, "previous_response_id", json!("resp_1")),
            "previous_response_id",
            "not found",
        ),
    ])
    .await;
}

#[tokio::test]
async fn what_the_api_itself_requires_is_required_by_both_models() {
    let server = start(Pace::Full).await.unwrap();
    for model in ["offline", "offline-lenient"] {
        for input in [Value::Null, json!({})] {
            let body = with(&body(&input), "model", json!(model));
            let response = post_to(&server, PATH, &body).await;
            assert_eq!(response.status, 400, "{}", response.body);
            assert_eq!(response.json()["error"]["param"], "input");
        }
    }
    let response = post_to(&server, PATH, &json!({"model": "gpt-5"})).await;
    assert_eq!(response.status, 404);
    assert_eq!(response.json()["error"]["code"], "model_not_found");
}

#[tokio::test]
async fn reasoning_comes_back_unchanged_and_with_its_calls() {
    let server = start(Pace::Full).await.unwrap();
    let prompt = user("Think first: $ ls\n$ pwd");
    let posted = with(&body(&json!([prompt])), "stream", json!(false));
    let response = post_to(&server, PATH, &posted).await.json();
    assert_eq!(response["status"], "completed", "{response}");
    let items = response["output"].as_array().unwrap();
    let kinds: Vec<_> = items.iter().map(|it| it["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["reasoning", "message", "function_call", "function_call"]);
    let [reasoning, message, first, second] = &items[..] else { panic!() };
    let outputs = [first, second].map(|call| output(call["call_id"].as_str().unwrap()));
    let again = |items: &[&Value]| {
        let all: Vec<&Value> =
            [&prompt].into_iter().chain(items.iter().copied()).chain(&outputs).collect();
        body(&json!(all))
    };
    let taken = post_to(&server, PATH, &again(&[reasoning, message, first, second])).await;
    assert_eq!(taken.status, 200, "{}", taken.body);

    let changed = with(reasoning, "encrypted_content", json!("x"));
    let renamed = with(reasoning, "id", json!("rs_other"));
    let bare = with(reasoning, "encrypted_content", Value::Null);
    let nameless = with(reasoning, "id", Value::Null);
    let short = with(reasoning, "summary", Value::Null);
    let misnamed = with(reasoning, "id", json!("x"));
    let sealed = "input[1].encrypted_content";
    only_the_strict_model_refuses(vec![
        (again(&[&changed, message, first, second]), sealed, "could not be verified"),
        (again(&[&renamed, message, first, second]), sealed, "could not be verified"),
        (again(&[&bare, message, first, second]), sealed, "not found"),
        (again(&[&nameless, message, first, second]), "input[1].id", "Missing required parameter"),
        (again(&[&short, message, first, second]), "input[1].summary", "Missing required"),
        (again(&[&misnamed, message, first, second]), "input[1].id", "begins with 'rs'"),
        (again(&[message, first, second]), "input[2]", "without its required 'reasoning' item"),
        (again(&[message, first, second, reasoning]), "input[2]", "required 'reasoning' item"),
        (body(&json!([prompt, reasoning])), "input", "without its required following item"),
        (body(&json!([prompt, reasoning, prompt])), "input", "without its required following item"),
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
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], number);
    }
    assert_eq!(events[0]["type"], "response.created");
    assert_eq!(events[1]["type"], "response.in_progress");
    assert_eq!(events[0]["response"]["status"], "in_progress");
    let end = events.last().unwrap();
    assert_eq!(end["type"], "response.completed");
    assert_eq!(end["response"]["status"], "completed");
    let usage = &end["response"]["usage"];
    assert!(usage["output_tokens_details"]["reasoning_tokens"].as_u64().unwrap() > 0, "{usage}");
    let whole = end["response"]["output"].as_array().unwrap();

    let of = |index: usize, kind: &str| -> Vec<&Value> {
        let of = |event: &&Value| event["output_index"] == index && event["type"] == kind;
        events.iter().filter(of).collect()
    };
    let deltas = |index: usize, kind: &str| -> String {
        of(index, kind).iter().map(|event| event["delta"].as_str().unwrap()).collect()
    };
    assert_eq!(whole.len(), 4);
    for (index, item) in whole.iter().enumerate() {
        let added = of(index, "response.output_item.added");
        assert_eq!(added[0]["item"]["id"], item["id"]);
        assert_eq!(added[0]["item"]["type"], item["type"]);
        assert_eq!(of(index, "response.output_item.done")[0]["item"], *item);
        let named =
            events.iter().filter(|it| it["output_index"] == index && it["item_id"] != Value::Null);
        assert!(named.clone().all(|event| event["item_id"] == item["id"]) && named.count() > 3);
    }
    assert_eq!(deltas(0, "response.reasoning_summary_text.delta"), whole[0]["summary"][0]["text"]);
    assert!(whole[0]["encrypted_content"].is_string());
    assert_eq!(deltas(1, "response.output_text.delta"), whole[1]["content"][0]["text"]);
    assert_eq!(deltas(2, "response.function_call_arguments.delta"), whole[2]["arguments"]);
    assert_eq!(whole[2]["arguments"], "{\"command\":\"echo 你好\"}");
    let done = of(2, "response.function_call_arguments.done");
    assert_eq!(done[0]["arguments"], whole[2]["arguments"]);
    assert_ne!(whole[2]["call_id"], whole[3]["call_id"]);
}

#[tokio::test]
async fn the_lenient_model_repeats_a_call_without_output_and_then_invents_one() {
    let server = start(Pace::Full).await.unwrap();
    let mut items = vec![user("$ ls -l")];
    for turn in 0..3 {
        let body = with(&body(&json!(items)), "model", json!("offline-lenient"));
        let response = post_to(&server, PATH, &with(&body, "stream", json!(false))).await.json();
        let output = response["output"].as_array().unwrap();
        let asks = output.iter().any(|it| it["type"] == "function_call");
        assert_eq!(asks, turn < 2, "{response}");
        items.extend(output.iter().cloned());
    }
    assert_says(&items.last().unwrap().to_string(), &["without any errors"]);
}
