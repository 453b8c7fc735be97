//! Rows F1–F4 and F7–F13: streams that end badly, say that something failed, arrive in pieces, are
//! not what was asked for, or hold calls that cannot be run.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::Output;
use std::time::{Duration, Instant};

use support::limpid::{World, stderr, stdout};
use support::pty::Screen;
use support::server::{Server, Step, calls, chunk, done, sse_head, status, text};

fn exec(world: &World, server: &Server) -> Output {
    world.run(&["exec", "--url", &server.url(), "--model", "m", "--yolo", "go"])
}

/// The last line that limpid says on stderr: why it failed.
fn verdict(output: &Output) -> String {
    let lines = stderr(output);
    lines.lines().rfind(|line| line.starts_with("limpid: ")).unwrap_or_default().to_owned()
}

/// The whole seconds of waiting that the screen counts.
fn waited(screen: &str) -> Option<u32> {
    let (_, after) = screen.split_once("waiting ")?;
    after.split(['.', ' ']).next()?.parse().ok()
}

fn call_delta(index: usize, id: &str, name: &str, arguments: &str) -> String {
    serde_json::json!({ "tool_calls": [{ "index": index, "id": id, "type": "function",
        "function": { "name": name, "arguments": arguments } }] })
    .to_string()
}

/// The results that the model was told in the last request, which a strict server accepts.
fn results(server: &Server) -> Vec<String> {
    let requests = server.requests();
    let body: serde_json::Value = serde_json::from_slice(&requests.last().unwrap().body).unwrap();
    let messages = body["messages"].as_array().unwrap();
    limpid::offline::check(limpid::offline::Format::Chat, &body).unwrap();
    let results = messages.iter().filter(|message| message["role"] == "tool");
    results.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn f01_a_cut_answer_keeps_its_text_and_runs_no_call() {
    let head = |extra: &str| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
        Step::Send(format!("{head}{extra}\r\n\r\n").into_bytes())
    };
    let piece = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Half\"}}]}\n\n";
    let mut chunked = format!("{:x}\r\n", piece.len()).into_bytes();
    chunked.extend(piece);
    chunked.extend(b"\r\n");
    let mut clean_end = chunked.clone();
    clean_end.extend(b"0\r\n\r\n");
    let call = chunk(&call_delta(0, "a", "bash", "{\"command\":\"touch canary\"}"), None);
    let cases = [
        ("closed", vec![head("connection: close"), Step::Send(piece.to_vec())]),
        ("within chunks", vec![head("transfer-encoding: chunked"), Step::Send(chunked)]),
        ("chunks ended", vec![head("transfer-encoding: chunked"), Step::Send(clean_end)]),
        ("with a call", vec![sse_head(), Step::Send(piece.to_vec()), call]),
    ];
    for (what, script) in cases {
        let (world, server) = (World::new(), Server::start(vec![script]));
        let output = exec(&world, &server);
        assert_eq!((output.status.code(), &*stdout(&output)), (Some(1), "Half\n"), "{what}");
        let told = verdict(&output);
        let named = ["ended before the end mark", "was lost in mid-answer"];
        assert!(named.iter().any(|words| told.contains(words)), "{what}: {told}");
        assert!(!world.project().join("canary").exists(), "{what}");
        assert_eq!(server.requests().len(), 1, "{what}: posted again although text was shown");
    }
}

#[test]
fn f02_an_error_in_the_stream_is_told_at_once_in_the_servers_words() {
    let event = |json: &str| Step::Send(format!("data: {json}\n\n").into_bytes());
    let burnt = r#"{"error":{"message":"the GPU caught fire","type":"server_error"}}"#;
    let odd = r#"{"error":{"message":"the moon is full","type":"lunar_error"}}"#;
    let half = chunk("{\"content\":\"Half\"}", None);
    let named =
        Step::Send(b"event: error\ndata: {\"message\":\"the GPU caught fire\"}\n\n".to_vec());
    let cases = [
        (vec![sse_head(), event(burnt)], "", "the GPU caught fire"),
        (vec![sse_head(), half.clone(), event(burnt)], "Half\n", "the GPU caught fire"),
        (vec![sse_head(), event(burnt), Step::Hold], "", "the GPU caught fire"),
        (vec![sse_head(), event(odd), Step::Hold], "", "the moon is full"),
        (vec![sse_head(), named, Step::Hold], "", "the GPU caught fire"),
    ];
    for (script, answer, words) in cases {
        let (world, server) = (World::new(), Server::start(vec![script]));
        let begun = Instant::now();
        let output = exec(&world, &server);
        assert!(begun.elapsed() < Duration::from_secs(10), "waited for a socket held open");
        assert_eq!((output.status.code(), &*stdout(&output)), (Some(1), answer));
        assert!(verdict(&output).contains(words), "{}", stderr(&output));
        assert_eq!(server.requests().len(), 1);
        let loaded = limpid::session::load(&world.sessions()[0]).unwrap().session;
        let says_so = loaded.branch().iter().any(|entry| entry.text().contains(words));
        assert!(!says_so, "an error is not kept as an answer");
    }
}

#[test]
fn f02_an_error_in_any_format_is_told_while_the_socket_is_held_open() {
    let event = |json: &str| {
        let (_, kind) = json.split_once("\"type\":\"").unwrap();
        let kind = kind.split('"').next().unwrap();
        Step::Send(format!("event: {kind}\ndata: {json}\n\n").into_bytes())
    };
    let anthropic =
        r#"{"type":"error","error":{"type":"overloaded_error","message":"the GPU caught fire"}}"#;
    let block =
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Half"}}"#;
    let responses = r#"{"type":"error","code":"server_error","message":"the GPU caught fire"}"#;
    let delta = r#"{"type":"response.output_text.delta","output_index":0,"delta":"Half"}"#;
    for (format, text, error) in
        [("anthropic", block, anthropic), ("openai-responses", delta, responses)]
    {
        let script = vec![sse_head(), event(text), event(error), Step::Hold];
        let (world, server) = (World::new(), Server::start(vec![script]));
        let begun = Instant::now();
        let arguments = ["exec", "--format", format, "--url", &server.url(), "--model", "m", "go"];
        let output = world.run(&arguments);
        assert!(begun.elapsed() < Duration::from_secs(10), "waited for a socket held open");
        assert_eq!((output.status.code(), &*stdout(&output)), (Some(1), "Half\n"));
        assert!(verdict(&output).contains("the GPU caught fire"), "{}", stderr(&output));
    }
}

#[test]
fn f03_silence_is_counted_and_given_up_at_the_limit() {
    let ping = Step::Send(b": ping\n\n".to_vec());
    let scripts = [vec![Step::Hold], vec![sse_head(), ping, Step::Hold]];
    for script in scripts {
        let (world, server) = (World::new(), Server::start(vec![script]));
        let arguments = ["--url", &server.url(), "--model", "m", "--idle-timeout", "7"];
        let mut screen = Screen::start(&world, &arguments, 120, 30);
        screen.keys("go");
        screen.shows("go");
        screen.keys("\r");
        screen.until("the seconds of waiting", |text| waited(text) >= Some(5));
        screen.shows(" s, Esc stops");
        screen.shows("no data from 127.0.0.1");
        screen.shows("for 7 s");
        let loaded = limpid::session::load(&world.sessions()[0]).unwrap().session;
        assert_eq!(loaded.branch().last().unwrap().text(), "go", "nothing was added");
    }
}

#[test]
fn f03_waiting_is_counted_and_stopped_by_one_key() {
    let ping = Step::Send(b": ping\n\n".to_vec());
    let scripts = [vec![Step::Hold], vec![sse_head(), ping.clone(), ping, Step::Hold]];
    for script in scripts {
        let (world, server) = (World::new(), Server::start(vec![script]));
        let url = server.url();
        let mut screen = Screen::start(&world, &["--url", &url, "--model", "m"], 100, 30);
        screen.keys("go");
        screen.shows("go");
        screen.keys("\r");
        for at_least in [1, 2] {
            screen.until("the seconds of waiting", |text| waited(text) >= Some(at_least));
        }
        screen.shows("Esc stop");
        let begun = Instant::now();
        screen.keys("\x1b");
        screen.shows("Stopped. What had arrived is kept.");
        assert!(begun.elapsed() < Duration::from_secs(1));
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn f04_nothing_is_posted_again_once_anything_was_shown() {
    let overloaded = Step::Send(
        b"data: {\"error\":{\"message\":\"busy\",\"type\":\"overloaded_error\"}}\n\n".to_vec(),
    );
    let shown = [
        chunk("{\"content\":\"Half\"}", None),
        chunk("{\"reasoning_content\":\"Hm\"}", None),
        chunk(&call_delta(0, "a", "bash", "{\"comm"), None),
    ];
    for piece in shown {
        let script = vec![sse_head(), piece, overloaded.clone()];
        let (world, server) = (World::new(), Server::start(vec![script, text("Doubled.")]));
        let output = exec(&world, &server);
        assert!(verdict(&output).contains("busy"), "{}", stderr(&output));
        assert_eq!(server.requests().len(), 1);
    }
    let (world, server) =
        (World::new(), Server::start(vec![vec![sse_head(), overloaded], text("Once.")]));
    let output = exec(&world, &server);
    assert_eq!((output.status.code(), &*stdout(&output)), (Some(0), "Once.\n"));
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].body, requests[1].body);
}

#[test]
fn f07_f08_a_stream_reads_the_same_one_byte_at_a_time() {
    let stream = "\u{feff}: ping\r\n\r\nevent: other\r\nid: 7\r\nretry: 5\r\ndata:{\"choices\":[{\"index\":0,\r\n\
        data: \"delta\":{\"content\":\"naïve 中文 🎉\"}}]}\r\n\r\n:\r\rdata:\n\n\
        data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\r\rdata: [DONE]\n\n";
    let mut script = vec![sse_head()];
    script.extend(stream.bytes().map(|byte| Step::Send(vec![byte])));
    let whole = vec![sse_head(), Step::Send(stream.as_bytes().to_vec())];
    for script in [script, whole] {
        let (world, server) = (World::new(), Server::start(vec![script]));
        let output = exec(&world, &server);
        assert_eq!(stdout(&output), "naïve 中文 🎉\n", "{}", stderr(&output));
        assert_eq!(output.status.code(), Some(0));
    }
}

#[test]
fn f07_a_line_without_end_is_given_up() {
    let endless = Step::Send([b"data: ".to_vec(), vec![b'x'; 11 << 20]].concat());
    let (world, server) =
        (World::new(), Server::start(vec![vec![sse_head(), endless, Step::Hold]]));
    let output = exec(&world, &server);
    assert_eq!(output.status.code(), Some(1));
    assert!(verdict(&output).contains("longer than 10 MiB"), "{}", verdict(&output));
}

#[test]
fn f09_a_compressed_answer_is_named() {
    for (line, encoding, words) in [
        ("200 OK", "gzip", &["compressed with gzip", "not read"][..]),
        ("200 OK", "br", &["compressed with br"]),
        ("200 OK", "deflate", &["compressed with deflate"]),
        ("401 Unauthorized", "gzip", &["HTTP 401", "compressed with gzip", "--key-env"]),
    ] {
        let head = format!(
            "HTTP/1.1 {line}\r\ncontent-type: text/event-stream\r\ncontent-encoding: {encoding}\r\n\
            connection: close\r\n\r\n"
        );
        let script =
            vec![Step::Send(head.into_bytes()), Step::Send(b"\x1f\x8b\x08\0\xff\xff".to_vec())];
        let (world, server) = (World::new(), Server::start(vec![script]));
        let output = exec(&world, &server);
        assert_eq!(output.status.code(), Some(1));
        for words in words {
            assert!(verdict(&output).contains(words), "{words}: {}", stderr(&output));
        }
        let head = server.requests()[0].head.to_ascii_lowercase();
        assert!(!head.contains("accept-encoding"), "{head}");
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn f09_what_is_no_answer_is_named_with_its_host() {
    let portal = status("200 OK", "text/html", "<title>Hotel\x1b]0;x\x07 login</title>");
    let (world, server) = (World::new(), Server::start(vec![portal]));
    let output = exec(&world, &server);
    let host = server.url().replace("http://", "").replace("/v1", "");
    let told = verdict(&output);
    for words in [&*format!("{host}: Unexpected reply (text/html)"), "Hotel", "--url"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert!(!told.contains('\x1b') && !told.contains('\x07'), "{told:?}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn f09_a_wrong_content_type_does_not_matter_where_the_bytes_are_clear() {
    let events = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let json =
        "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}";
    for (content_type, body) in [
        ("text/plain", events),
        ("application/octet-stream", events),
        ("text/event-stream", json),
        ("application/json", json),
    ] {
        let script = status("200 OK", content_type, body);
        let (world, server) = (World::new(), Server::start(vec![script]));
        let output = exec(&world, &server);
        assert_eq!(stdout(&output), "Hi\n", "{content_type}: {}", stderr(&output));
    }
}

#[test]
fn f10_f11_unusable_calls_are_answered_and_never_run() {
    let bad = |name: &str, arguments: &str, finish: &str| {
        vec![
            sse_head(),
            chunk(&call_delta(0, "x", name, arguments), None),
            chunk("{}", Some(finish)),
            done(),
        ]
    };
    let scripts = vec![
        bad("bash", "[\"touch canary\"]", "tool_calls"),
        bad("bash", "{\"cmd\":\"touch canary\"}", "tool_calls"),
        bad("bash", "{\"command\":[\"touch\",\"canary\"]}", "tool_calls"),
        bad("", "{\"command\":\"touch canary\"}", "tool_calls"),
        bad("bash", "{\"command\":\"touch canary", "length"),
        bad("bash", "{\"command\":\"touch canary\"}", "length"),
        text("I give up."),
    ];
    let (world, server) = (World::new(), Server::start(scripts));
    let output = exec(&world, &server);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(!world.project().join("canary").exists());
    let told = results(&server);
    assert_eq!(told.len(), 6);
    for (result, words) in
        told.iter().zip(["object", "command", "command", "tool", "limit", "limit"])
    {
        assert!(result.contains(words), "{words}: {result}");
    }
}

#[test]
fn f12_calls_under_one_id_or_in_fragments_stay_two_calls() {
    let one_id = vec![
        sse_head(),
        chunk(&call_delta(0, "same", "bash", "{\"command\":\"echo one >> log\"}"), None),
        chunk(&call_delta(1, "same", "bash", "{\"command\":\"echo two >> log\"}"), None),
        chunk("{}", Some("tool_calls")),
        chunk("{}", Some("tool_calls")),
        done(),
        done(),
    ];
    let more = |index: usize, arguments: &str| {
        let call = serde_json::json!({ "tool_calls": [{ "index": index,
            "function": { "arguments": arguments } }] });
        chunk(&call.to_string(), None)
    };
    let interleaved = vec![
        sse_head(),
        chunk(&call_delta(0, "same", "bash", "{\"command\":\"echo "), None),
        chunk(&call_delta(1, "b", "bash", "{\"command\":\"echo "), None),
        more(0, "three >> log\"}"),
        more(1, "four >> log\"}"),
        chunk("{}", Some("tool_calls")),
        done(),
    ];
    let (world, server) = (World::new(), Server::start(vec![one_id, interleaved, text("Done.")]));
    let output = exec(&world, &server);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let log = std::fs::read_to_string(world.project().join("log")).unwrap();
    assert_eq!(log, "one\ntwo\nthree\nfour\n");
    assert_eq!(results(&server).len(), 4);
}

#[test]
fn f13_an_empty_turn_is_told_and_leaves_no_empty_message() {
    let empty = [
        vec![sse_head(), chunk("{\"content\":\"\"}", Some("stop")), done()],
        vec![sse_head(), chunk("{\"content\":\" \\n \"}", Some("stop")), done()],
        vec![sse_head(), chunk("{\"reasoning_content\":\"Hm\"}", Some("stop")), done()],
        vec![sse_head(), done()],
    ];
    for script in empty {
        let (world, server) = (World::new(), Server::start(vec![script, text("Here I am.")]));
        let url = server.url();
        let mut screen = Screen::start(&world, &["--url", &url, "--model", "m"], 100, 30);
        for (prompt, answer) in [("first", "The model returned nothing."), ("second", "Here I am.")]
        {
            screen.keys(prompt);
            screen.shows(prompt);
            screen.keys("\r");
            screen.shows(answer);
        }
        assert!(results(&server).is_empty());
    }
}

#[test]
fn f01_a_reset_connection_is_told_and_its_text_kept() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (shown, wait) = std::sync::mpsc::sync_channel::<()>(1);
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        // The rest of the request stays unread: closing then makes a reset.
        stream.read_exact(&mut [0; 16]).unwrap();
        let Step::Send(head) = sse_head() else { return };
        let Step::Send(piece) = chunk("{\"content\":\"Half\"}", None) else { return };
        stream.write_all(&[head, piece].concat()).unwrap();
        let _ = wait.recv_timeout(Duration::from_secs(10));
    });
    let world = World::new();
    let mut command = world.limpid(&["exec", "--url", &url, "--model", "m", "--json", "go"]);
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut told = String::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        if line.contains("Half") {
            let _ = shown.try_send(());
        }
        told.push_str(&line);
    }
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(told.contains("connection reset by the server"), "{told}");
    let loaded = limpid::session::load(&world.sessions()[0]).unwrap().session;
    assert!(loaded.branch().iter().any(|entry| entry.text() == "Half"), "the text is kept");
}

#[test]
fn f11_a_call_beside_whole_ones_that_was_cut_is_not_run() {
    let script = vec![
        sse_head(),
        chunk(&call_delta(0, "a", "bash", "{\"command\":\"echo whole > whole\"}"), None),
        chunk(&call_delta(1, "b", "bash", "{\"command\":\"touch can"), None),
        Step::Close,
    ];
    let (world, server) = (World::new(), Server::start(vec![script, calls(&["true"])]));
    let output = exec(&world, &server);
    assert_eq!(output.status.code(), Some(1));
    let made: Vec<_> = std::fs::read_dir(world.project()).unwrap().collect();
    assert!(made.is_empty(), "{made:?}");
}
