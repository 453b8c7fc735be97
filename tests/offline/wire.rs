//! What goes over the wire: streams, plain answers, errors, and the life of a connection.

use std::time::{Duration, Instant};

use limpid::offline::{Pace, start};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::{FOUR, address, assert_says, bash, events, post, read_stream, send, user};

#[tokio::test]
async fn a_stream_has_the_shape_of_the_format() {
    let server = start(Pace::Full).await.unwrap();
    let body = json!({"model": "offline", "stream": true, "tools": bash(),
        "stream_options": {"include_usage": true}, "messages": [user("$ echo 你好\n$ ls")]});
    let response = post(&server, &body).await;
    assert_eq!(response.status, 200);
    assert!(response.content_type.starts_with("text/event-stream"));

    let mut data = events(&response.body);
    assert_eq!(data.pop(), Some("[DONE]"));
    let chunks: Vec<Value> = data.iter().map(|data| serde_json::from_str(data).unwrap()).collect();
    let ids: Vec<_> = chunks.iter().map(|chunk| &chunk["id"]).collect();
    assert!(ids.iter().all(|id| *id == ids[0] && id.is_string()));
    assert!(chunks.iter().all(|chunk| chunk["object"] == "chat.completion.chunk"));
    assert!(chunks.iter().all(|chunk| chunk["model"] == "offline"));
    assert_eq!(chunks[0]["choices"][0]["delta"]["role"], "assistant");
    assert_eq!(chunks[0]["choices"][0]["finish_reason"], Value::Null);

    let [.., finish, usage] = &chunks[..] else { panic!("too few chunks") };
    assert_eq!(finish["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(finish["choices"][0]["delta"], json!({}));
    assert_eq!(usage["choices"], json!([]));
    let usage = &usage["usage"];
    let count = |name: &str| usage[name].as_u64().unwrap();
    assert!(count("prompt_tokens") > 0 && count("completion_tokens") > 0);
    assert_eq!(count("total_tokens"), count("prompt_tokens") + count("completion_tokens"));

    let text = chunks.iter().filter(|chunk| {
        chunk["choices"][0]["delta"]["content"].as_str().is_some_and(|it| !it.is_empty())
    });
    assert!(text.count() > 1, "the text comes in pieces");
    let pieces = chunks
        .iter()
        .filter(|chunk| chunk["choices"][0]["delta"]["tool_calls"][0]["index"] == json!(1));
    assert!(pieces.count() > 2, "the arguments come in pieces");
    let reply = read_stream(&response.body);
    assert_eq!(reply.commands(), ["echo 你好", "ls"]);
    assert_ne!(reply.calls[0].0, reply.calls[1].0);

    let body = json!({"model": "offline", "stream": true, "messages": [user("hi")]});
    let response = post(&server, &body).await;
    assert!(!response.body.contains("usage"));
    assert_eq!(read_stream(&response.body).finish_reason, "stop");
}

#[tokio::test]
async fn without_streaming_the_answer_is_one_object() {
    let server = start(Pace::Full).await.unwrap();
    let mut body = json!({"model": "offline", "tools": bash(), "messages": [user(FOUR[2])]});
    let response = post(&server, &body).await;
    assert_eq!(response.status, 200);
    assert!(response.content_type.starts_with("application/json"));
    let answer = response.json();
    assert_eq!(answer["object"], "chat.completion");
    assert!(answer["usage"]["total_tokens"].as_u64().unwrap() > 0);
    let choice = &answer["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    let call = &choice["message"]["tool_calls"][0];
    assert_eq!(call["type"], "function");
    let arguments = call["function"]["arguments"].as_str().unwrap();
    assert_eq!(arguments, "{\"command\":\"git branch --show-current\"}");

    body["stream"] = json!(true);
    let streamed = read_stream(&post(&server, &body).await.body);
    assert_eq!(streamed.text, choice["message"]["content"]);
    assert_eq!(streamed.calls[0].2, arguments);
}

#[tokio::test]
async fn ids_of_calls_never_come_twice() {
    let server = start(Pace::Full).await.unwrap();
    let body = json!({"model": "offline", "stream": true, "tools": bash(),
        "messages": [user("$ ls\n$ ls")]});
    let mut ids = Vec::new();
    for _ in 0..3 {
        let reply = read_stream(&post(&server, &body).await.body);
        ids.extend(reply.calls.into_iter().map(|(id, _, _)| id));
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 6);
}

#[tokio::test]
async fn unknown_models_and_urls_are_not_found() {
    let server = start(Pace::Full).await.unwrap();
    let response = post(&server, &json!({"model": "gpt-5", "messages": [user("hi")]})).await;
    assert_eq!(response.status, 404);
    assert_eq!(response.json()["error"]["code"], "model_not_found");
    assert_says(response.json()["error"]["message"].as_str().unwrap(), &["`gpt-5`", "`offline`"]);

    for (method, path) in [
        ("GET", "/"),
        ("GET", "/v1/chat/completions"),
        ("POST", "/chat/completions"),
        ("POST", "/v1/models"),
        ("DELETE", "/v1/models"),
    ] {
        let response = send(&server, method, path, "").await;
        assert_eq!(response.status, 404, "{method} {path}");
        assert!(response.json()["error"]["message"].as_str().unwrap().contains(path));
    }

    let response = send(&server, "GET", "/v1/models", "").await;
    assert_eq!(response.status, 200);
    let models = response.json();
    let names: Vec<_> = models["data"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
    assert_eq!(names, ["offline", "offline-lenient"]);
}

#[tokio::test]
async fn at_a_human_pace_the_pieces_take_their_time() {
    let server = start(Pace::Human).await.unwrap();
    let body = json!({"model": "offline", "stream": true, "tools": bash(),
        "messages": [user(FOUR[2])]});
    let begin = Instant::now();
    let response = post(&server, &body).await;
    let pieces = u32::try_from(events(&response.body).len()).unwrap();
    let least = Duration::from_millis(150) + Duration::from_millis(25) * pieces;
    assert!(begin.elapsed() >= least, "{:?} for {pieces} pieces", begin.elapsed());
}

/// Posts a prompt whose answer takes seconds, and reads the first bytes of it.
async fn begin_a_stream(address: &str) -> TcpStream {
    let body = json!({"model": "offline", "stream": true, "messages": [user("hi")]}).to_string();
    let mut socket = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    assert!(socket.read(&mut [0; 1024]).await.unwrap() > 0);
    socket
}

#[tokio::test]
async fn a_client_that_goes_away_ends_its_stream() {
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let server = start(Pace::Human).await.unwrap();
    let before = tasks();
    let socket = begin_a_stream(&address(&server)).await;
    assert_eq!(tasks(), before + 1);
    drop(socket);
    let deadline = Instant::now() + Duration::from_secs(3);
    while tasks() > before {
        assert!(Instant::now() < deadline, "the stream goes on");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn dropping_the_server_ends_its_streams_and_closes_the_port() {
    let server = start(Pace::Human).await.unwrap();
    let address = address(&server);
    let mut socket = begin_a_stream(&address).await;
    drop(server);
    let mut rest = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(5), socket.read_to_end(&mut rest)).await;
    // A reset is an end too.
    let _ = ended.expect("the connection ends");
    assert!(!String::from_utf8_lossy(&rest).contains("[DONE]"), "the stream was cut");
    assert!(TcpStream::connect(&address).await.is_err(), "nobody listens there any more");
}
