//! A client for the tests: HTTP and events read by hand, commands really run.

use std::path::Path;
use std::process::{Command, Stdio};

use limpid::offline::{Pace, Server, start};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The prompts that the README tells newcomers to try.
pub(crate) const FOUR: [&str; 4] = [
    "Create a file called hello.py that prints \"Hello, World!\"",
    "List all Python files in this directory",
    "What is the current git branch?",
    "Create a directory called test_output and write 3 files in it",
];

pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) body: String,
}

impl Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.body))
    }
}

pub(crate) fn address(server: &Server) -> String {
    server.url().strip_prefix("http://").unwrap().strip_suffix("/v1").unwrap().to_owned()
}

pub(crate) async fn send(server: &Server, method: &str, path: &str, body: &str) -> Response {
    let mut socket = TcpStream::connect(address(server)).await.unwrap();
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
         anthropic-version: 2023-06-01\r\ncontent-length: {length}\r\n\r\n"
    );
    socket.write_all((head + body).as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    socket.read_to_end(&mut bytes).await.unwrap();
    let answer = String::from_utf8(bytes).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let head = head.to_ascii_lowercase();
    let content_type = head.lines().find_map(|line| line.strip_prefix("content-type: "));
    let chunked = head.contains("transfer-encoding: chunked");
    Response {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        content_type: content_type.unwrap().to_owned(),
        body: if chunked { unchunked(body) } else { body.to_owned() },
    }
}

pub(crate) fn unchunked(mut rest: &str) -> String {
    let mut body = String::new();
    loop {
        let (size, after) = rest.split_once("\r\n").unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return body;
        }
        body += &after[..size];
        rest = after[size..].strip_prefix("\r\n").unwrap();
    }
}

pub(crate) async fn post(server: &Server, body: &Value) -> Response {
    send(server, "POST", "/v1/chat/completions", &body.to_string()).await
}

/// Posts to the path of another format.
pub(crate) async fn post_to(server: &Server, path: &str, body: &Value) -> Response {
    send(server, "POST", path, &body.to_string()).await
}

/// The data of each event; checks that its name and its type are one.
pub(crate) fn named_events(body: &str) -> Vec<Value> {
    let body = body.strip_suffix("\n\n").unwrap();
    let read = |event: &str| {
        let (name, data) = event.split_once('\n').unwrap();
        let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(data["type"], name.strip_prefix("event: ").unwrap());
        data
    };
    body.split("\n\n").map(read).collect()
}

pub(crate) fn bash() -> Value {
    json!([{"type": "function", "function": {
        "name": "bash",
        "description": "Runs a command",
        "parameters": {"type": "object", "properties": {"command": {"type": "string"}}},
    }}])
}

/// What a streamed reply adds up to.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    pub(crate) text: String,
    /// Id, name, arguments.
    pub(crate) calls: Vec<(String, String, String)>,
    pub(crate) finish_reason: String,
}

impl Reply {
    pub(crate) fn commands(&self) -> Vec<String> {
        let read = |arguments: &str| serde_json::from_str::<Value>(arguments).unwrap();
        let command = |arguments| read(arguments)["command"].as_str().unwrap().to_owned();
        self.calls.iter().map(|(_, _, arguments)| command(arguments)).collect()
    }

    pub(crate) fn message(&self) -> Value {
        let mut message = json!({"role": "assistant", "content": null});
        if !self.text.is_empty() {
            message["content"] = json!(self.text);
        }
        if !self.calls.is_empty() {
            let call = |(id, name, arguments): &(String, String, String)| {
                json!({"id": id, "type": "function",
                    "function": {"name": name, "arguments": arguments}})
            };
            message["tool_calls"] = self.calls.iter().map(call).collect();
        }
        message
    }
}

/// The data of each event; checks the framing.
pub(crate) fn events(body: &str) -> Vec<&str> {
    let body = body.strip_suffix("\n\n").unwrap();
    body.split("\n\n").map(|event| event.strip_prefix("data: ").unwrap()).collect()
}

pub(crate) fn read_stream(body: &str) -> Reply {
    let mut reply = Reply::default();
    let mut events = events(body);
    assert_eq!(events.pop(), Some("[DONE]"));
    for event in events {
        let chunk: Value = serde_json::from_str(event).unwrap();
        let Some(choice) = chunk["choices"].get(0) else { continue };
        assert_eq!(reply.finish_reason, "", "a choice after the finish reason");
        let delta = &choice["delta"];
        reply.text += delta["content"].as_str().unwrap_or_default();
        for piece in delta["tool_calls"].as_array().into_iter().flatten() {
            let function = &piece["function"];
            let arguments = function["arguments"].as_str().unwrap();
            let index = usize::try_from(piece["index"].as_u64().unwrap()).unwrap();
            match reply.calls.get_mut(index) {
                Some(call) => call.2 += arguments,
                None => reply.calls.push((
                    piece["id"].as_str().unwrap().to_owned(),
                    function["name"].as_str().unwrap().to_owned(),
                    arguments.to_owned(),
                )),
            }
        }
        choice["finish_reason"].as_str().unwrap_or_default().clone_into(&mut reply.finish_reason);
    }
    reply
}

/// A conversation with a model, and a directory in which its commands are run.
pub(crate) struct Chat {
    pub(crate) server: Server,
    pub(crate) model: &'static str,
    pub(crate) messages: Vec<Value>,
    pub(crate) directory: TempDir,
}

impl Chat {
    pub(crate) async fn new() -> Self {
        Self {
            server: start(Pace::Full).await.unwrap(),
            model: "offline",
            messages: vec![json!({"role": "system", "content": "You are an agent."})],
            directory: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) async fn lenient() -> Self {
        Self { model: "offline-lenient", ..Self::new().await }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    pub(crate) fn prompt(&mut self, text: &str) {
        self.messages.push(json!({"role": "user", "content": text}));
    }

    pub(crate) fn result(&mut self, id: &str, text: &str) {
        self.messages.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
    }

    /// Posts the messages and appends the reply.
    pub(crate) async fn turn(&mut self) -> Reply {
        let body = json!({"model": self.model, "stream": true, "tools": bash(),
            "messages": self.messages});
        let response = post(&self.server, &body).await;
        assert_eq!(response.status, 200, "{}", response.body);
        let reply = read_stream(&response.body);
        self.messages.push(reply.message());
        reply
    }

    /// The whole loop for one prompt, in which `decide` makes each command's result. Returns the
    /// commands of each reply, and the answer.
    pub(crate) async fn ask(
        &mut self,
        prompt: &str,
        decide: impl Fn(&Path, &str) -> String,
    ) -> (Vec<Vec<String>>, String) {
        self.prompt(prompt);
        let mut asked = Vec::new();
        for _ in 0..10 {
            let reply = self.turn().await;
            if reply.calls.is_empty() {
                assert_eq!(reply.finish_reason, "stop");
                return (asked, reply.text);
            }
            assert_eq!(reply.finish_reason, "tool_calls");
            asked.push(reply.commands());
            for ((id, name, _), command) in reply.calls.iter().zip(reply.commands()) {
                assert_eq!(name, "bash");
                let result = decide(self.directory.path(), &command);
                self.result(id, &result);
            }
        }
        panic!("no end: {asked:?}");
    }

    pub(crate) async fn run(&mut self, prompt: &str) -> (Vec<Vec<String>>, String) {
        self.ask(prompt, run).await
    }
}

/// Runs a command as the client does, and says what came of it in the client's words.
pub(crate) fn run(directory: &Path, command: &str) -> String {
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(directory)
        .env("GIT_CEILING_DIRECTORIES", directory.parent().unwrap())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let text = if text.is_empty() { "(no output)\n".to_owned() } else { text };
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{newline}[exit code {}]", output.status.code().unwrap())
}

/// Runs a command of the test itself, which must succeed.
pub(crate) fn prepare(directory: &Path, command: &str) {
    let result = run(directory, command);
    assert!(result.ends_with("[exit code 0]"), "{result}");
}

#[track_caller]
pub(crate) fn assert_says(text: &str, wanted: &[&str]) {
    for wanted in wanted {
        assert!(text.contains(wanted), "{wanted:?} is not in: {text}");
    }
}

pub(crate) fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}
