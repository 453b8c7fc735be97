//! A model server on loopback, over plain sockets: answers each request with the next bytes of a
//! script, and keeps the exact bytes of every request.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// One step of an answer.
#[derive(Debug, Clone)]
pub enum Step {
    /// Bytes as they are.
    Send(Vec<u8>),
    /// These bytes again and again, until nobody reads them.
    Flood(Vec<u8>),
    /// Waits until `Server::release` is called.
    Hold,
    /// Waits for this long, as a model that thinks.
    Pause(Duration),
    /// The connection ends here.
    Close,
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Request {
    /// Request line and headers.
    pub head: String,
    /// The exact body.
    pub body: Vec<u8>,
}

#[derive(Debug)]
pub struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
    released: Arc<Mutex<usize>>,
}

impl Server {
    /// Answers the n-th request with the n-th script; after the last one with the last again.
    pub fn start(scripts: Vec<Vec<Step>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let released = Arc::new(Mutex::new(0));
        let (seen, holds) = (requests.clone(), released.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                let (seen, holds, scripts) = (seen.clone(), holds.clone(), scripts.clone());
                std::thread::spawn(move || serve(stream, &seen, &holds, &scripts));
            }
        });
        Self { port, requests, released }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Lets the next `Hold` go on.
    pub fn release(&self) {
        *self.released.lock().unwrap() += 1;
    }
}

fn serve(
    stream: TcpStream,
    seen: &Mutex<Vec<Request>>,
    holds: &Mutex<usize>,
    scripts: &[Vec<Step>],
) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        if line == "\r\n" {
            break;
        }
        head.push_str(&line);
    }
    let length = head
        .lines()
        .find_map(|line| {
            line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok()
        })
        .unwrap_or(0);
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    let index = {
        let mut seen = seen.lock().unwrap();
        seen.push(Request { head, body });
        seen.len() - 1
    };
    let Some(script) = scripts.get(index).or(scripts.last()) else { return };
    for step in script {
        match step {
            Step::Send(bytes) => {
                if stream.write_all(bytes).is_err() {
                    return;
                }
            }
            Step::Flood(bytes) => while stream.write_all(bytes).is_ok() {},
            Step::Hold => hold(holds),
            Step::Pause(time) => std::thread::sleep(*time),
            Step::Close => break,
        }
    }
    // Every scripted answer ends with its connection.
    let _ = stream.shutdown(Shutdown::Both);
}

fn hold(holds: &Mutex<usize>) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while Instant::now() < deadline {
        let mut holds = holds.lock().unwrap();
        if *holds > 0 {
            *holds -= 1;
            return;
        }
        drop(holds);
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The head of a streamed answer.
pub fn sse_head() -> Step {
    Step::Send(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n".to_vec(),
    )
}

/// One chunk of Chat Completions, written by hand.
pub fn chunk(delta: &str, finish: Option<&str>) -> Step {
    let finish = finish.map_or("null".to_owned(), |reason| format!("\"{reason}\""));
    Step::Send(
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n")
            .into_bytes(),
    )
}

/// The end mark.
pub fn done() -> Step {
    Step::Send(b"data: [DONE]\n\n".to_vec())
}

/// A text of which the second half waits for a release.
pub fn in_two_halves() -> Vec<Step> {
    vec![
        sse_head(),
        chunk("{\"content\":\"The first half, \"}", None),
        Step::Hold,
        chunk("{\"content\":\"the second half.\"}", Some("stop")),
        done(),
    ]
}

/// A whole streamed text.
pub fn text(text: &str) -> Vec<Step> {
    let content = serde_json::json!({ "content": text }).to_string();
    vec![sse_head(), chunk(&content, None), chunk("{}", Some("stop")), done()]
}

/// A whole streamed reply that asks for bash calls.
pub fn calls(commands: &[&str]) -> Vec<Step> {
    let mut steps = vec![sse_head()];
    for (index, command) in commands.iter().enumerate() {
        let arguments = serde_json::json!({ "command": command }).to_string();
        let delta = serde_json::json!({ "tool_calls": [{
            "index": index, "id": format!("call_{}_{index}", short(command)), "type": "function",
            "function": { "name": "bash", "arguments": arguments },
        }]});
        steps.push(chunk(&delta.to_string(), None));
    }
    steps.push(chunk("{}", Some("tool_calls")));
    steps.push(done());
    steps
}

fn short(command: &str) -> u32 {
    command.bytes().fold(7, |hash: u32, byte| hash.wrapping_mul(31).wrapping_add(byte.into()))
        % 100_000
}

/// An answer with another status.
pub fn status(line: &str, content_type: &str, body: &str) -> Vec<Step> {
    vec![Step::Send(
        format!(
            "HTTP/1.1 {line}\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )
        .into_bytes(),
    )]
}
