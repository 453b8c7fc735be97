//! Rows F5, F6, F17 and F18: servers that refuse, ask to wait, or break: what is posted once more and
//! when, what is not, what the user sees and can do meanwhile.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use std::process::Output;
use std::time::{Duration, Instant, SystemTime};

use support::limpid::{World, stderr, stdout};
use support::pty::Screen;
use support::server::{Server, Step, status, text};

fn exec(world: &World, server: &Server) -> Output {
    world.run(&["exec", "--url", &server.url(), "--model", "m", "go"])
}

/// An answer with another status, and further headers, each ended by CR LF.
fn refusal(line: &str, headers: &str, body: &str) -> Vec<Step> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {line}\r\n{headers}content-type: application/json\r\ncontent-length: {length}\r\n\
        connection: close\r\n\r\n{body}"
    );
    vec![Step::Send(head.into_bytes())]
}

const BUSY: &str = "{\"error\":{\"message\":\"slow down\",\"type\":\"requests\"}}";

/// Each attempt's status in the journal, in order.
fn recorded(world: &World) -> Vec<(u64, Option<u64>)> {
    let journal = std::fs::read_to_string(world.sessions()[0].join("journal.jsonl")).unwrap();
    let records =
        journal.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let responses = records.filter_map(|line| line["record"].get("response").cloned());
    responses
        .map(|response| (response["attempt"].as_u64().unwrap(), response["status"].as_u64()))
        .collect()
}

fn retries(output: &Output) -> Vec<String> {
    let lines = stderr(output);
    lines.lines().filter(|line| line.starts_with("retry ")).map(str::to_owned).collect()
}

#[test]
fn f05_the_same_request_follows_after_the_wait_that_the_server_asks_for() {
    let soon_at = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(3));
    let date = format!("retry-after: {soon_at}\r\n");
    for (headers, at_least) in [
        // First: the moment that it names comes nearer while the others wait.
        (&*date, 1000),
        ("Retry-After: 1\r\n", 1000),
        ("retry-after-ms: 700\r\n", 700),
        ("retry-after: soon\r\n", 250),
        ("", 250),
    ] {
        let (world, server) = (
            World::new(),
            Server::start(vec![refusal("429 Too Many Requests", headers, BUSY), text("Now.")]),
        );
        let begun = Instant::now();
        let output = exec(&world, &server);
        assert_eq!((output.status.code(), &*stdout(&output)), (Some(0), "Now.\n"));
        assert!(begun.elapsed() >= Duration::from_millis(at_least), "{headers}");
        let told = retries(&output);
        assert_eq!(told.len(), 1, "{told:?}");
        for words in ["retry 2 of 5 in ", "HTTP 429", "slow down"] {
            assert!(told[0].contains(words), "{told:?}");
        }
        let requests = server.requests();
        assert_eq!(requests.len(), 2);
        assert_eq!(requests[0].body, requests[1].body, "the user's turn is not doubled");
        assert_eq!(recorded(&world), [(1, Some(429)), (2, Some(200))]);
    }
}

#[test]
fn f05_a_server_that_breaks_is_asked_again() {
    for line in ["500 Internal", "502 Bad Gateway", "503 Unavailable", "529 Overloaded"] {
        let page = status(line, "text/html", "<h1>oops</h1>");
        let (world, server) = (World::new(), Server::start(vec![page, text("Better.")]));
        let output = exec(&world, &server);
        assert_eq!(stdout(&output), "Better.\n", "{line}: {}", stderr(&output));
        assert!(retries(&output)[0].contains(&format!("HTTP {}", &line[..3])));
        assert_eq!(server.requests().len(), 2);
    }
}

#[test]
fn f09_an_answer_that_is_no_http_is_not_asked_for_again() {
    let (world, server) = (
        World::new(),
        Server::start(vec![vec![Step::Send(b"SSH-2.0-OpenSSH_9.9\r\n".to_vec()), Step::Close]]),
    );
    let output = exec(&world, &server);
    assert_eq!(recorded(&world), [(1, None)]);
    let told = stderr(&output);
    for words in ["is no HTTP", "Not tried again: it would be the same.", "Check that the URL"] {
        assert!(told.contains(words), "{told}");
    }
}

#[test]
fn f05_five_attempts_are_enough() {
    let (world, server) =
        (World::new(), Server::start(vec![status("503 Unavailable", "text/plain", "no room")]));
    let output = exec(&world, &server);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(server.requests().len(), 5);
    assert_eq!(retries(&output).len(), 4);
    assert!(stderr(&output).contains("Given up after 5 attempts."), "{}", stderr(&output));
    assert_eq!(recorded(&world).len(), 5);
    let loaded = limpid::session::load(&world.sessions()[0]).unwrap().session;
    assert_eq!(loaded.branch().last().unwrap().text(), "go", "the prompt is kept");
}

#[test]
fn f05_a_long_wait_is_the_users_to_decide() {
    for headers in ["retry-after: 10800\r\n", "retry-after-ms: 10800000\r\n"] {
        let answer = refusal("429 Too Many Requests", headers, BUSY);
        let (world, server) = (World::new(), Server::start(vec![answer, text("No.")]));
        let output = exec(&world, &server);
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(server.requests().len(), 1);
        let told = stderr(&output);
        assert!(told.contains("asks to wait 3 h 00 min, until "), "{told}");
        assert!(told.contains(" UTC.") && told.contains("slow down"), "{told}");
    }
    let no = refusal("503 Unavailable", "x-should-retry: false\r\n", BUSY);
    let (world, server) = (World::new(), Server::start(vec![no, text("No.")]));
    let output = exec(&world, &server);
    assert!(stderr(&output).contains("says that it would fail again"), "{}", stderr(&output));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn f05_the_wait_is_counted_down_and_esc_ends_it_at_once() {
    let answer = refusal("429 Too Many Requests", "retry-after: 30\r\n", BUSY);
    let (world, server) = (World::new(), Server::start(vec![answer, text("Welcome back.")]));
    let url = server.url();
    let mut screen = Screen::start(&world, &["--url", &url, "--model", "m"], 60, 30);
    screen.ask("go");
    screen.shows("retry 2 of 5 in 30 s, Esc stops");
    screen.shows("slow down");
    screen.shows("retry 2 of 5 in 29 s, Esc stops");
    let begun = Instant::now();
    screen.keys("\x1b");
    screen.shows("Stopped. What had arrived is kept.");
    assert!(begun.elapsed() < Duration::from_secs(1));
    assert!(!screen.text().contains("retry 2 of 5 in"), "{}", screen.text());
    assert_eq!(server.requests().len(), 1);
    screen.ask("/continue");
    screen.shows("Welcome back.");
    let body: serde_json::Value = serde_json::from_slice(&server.requests()[1].body).unwrap();
    assert_eq!(body["messages"].as_array().unwrap().len(), 2, "the prompt is there once");
}

#[test]
fn f06_a_refused_request_is_not_posted_again() {
    let long = format!("<p>\x1b[2J{}</p>", "x".repeat(5 << 20));
    let bodies = [
        ("application/json", "{\"error\":{\"message\":\"not like this\"}}", "not like this"),
        ("text/html", "<h1>not like this</h1>", "not like this"),
        ("text/plain", "", "empty body"),
        ("text/html", &long, "<p>"),
    ];
    let lines = [
        ("400 Bad Request", "refuses the request"),
        ("401 Unauthorized", "asks for a key"),
        ("403 Forbidden", "asks for a key"),
        ("404 Not Found", "--model"),
        ("413 Too Large", "/clear"),
        ("422 Unprocessable", "refuses the request"),
    ];
    for (line, step) in lines {
        for (content_type, body, words) in bodies {
            let server = Server::start(vec![status(line, content_type, body), text("No.")]);
            let world = World::new();
            let output = exec(&world, &server);
            assert_eq!(output.status.code(), Some(1), "{line}");
            assert_eq!(server.requests().len(), 1, "{line}");
            let told = stderr(&output);
            let told = told.lines().rfind(|line| line.starts_with("limpid: ")).unwrap();
            for words in [words, step, &format!("HTTP {}", &line[..3])] {
                assert!(told.contains(words), "{line} {words}: {told}");
            }
            assert!(told.chars().count() < 1000 && !told.contains('\x1b'), "{line}: {told}");
            let loaded = limpid::session::load(&world.sessions()[0]).unwrap().session;
            assert_eq!(loaded.branch().last().unwrap().text(), "go", "the prompt is kept");
        }
    }
}

#[test]
fn f06_a_rejected_key_is_told_with_the_host_and_without_the_key() {
    let body = "{\"error\":{\"message\":\"Incorrect API key\"}}";
    let server = Server::start(vec![status("401 Unauthorized", "application/json", body)]);
    let world = World::new();
    let url = server.url();
    let arguments = ["exec", "--url", &url, "--model", "m", "--key-env", "MY_KEY", "go"];
    let output = world.limpid(&arguments).env("MY_KEY", "sk-canary").output().unwrap();
    let host = url.replace("http://", "").replace("/v1", "");
    let words = format!("HTTP 401: key rejected by {host}: Incorrect API key");
    assert!(stderr(&output).contains(&words), "{}", stderr(&output));
    assert!(!stderr(&output).contains("sk-canary"));
}

#[test]
fn f17_a_context_that_is_too_long_is_named_and_the_user_can_go_on() {
    let message = "This model's maximum context length is 4096 tokens, but the messages have 5000.";
    let body = serde_json::json!({ "error": { "message": message } }).to_string();
    for answer in [
        status("400 Bad Request", "application/json", &body),
        status("413 Payload Too Large", "application/json", &body),
    ] {
        let (world, server) = (World::new(), Server::start(vec![answer, text("Fresh.")]));
        let url = server.url();
        let mut screen = Screen::start(&world, &["--url", &url, "--model", "m"], 120, 30);
        screen.ask("go");
        screen.shows("maximum context length is");
        screen.shows("longer than the model can read: /clear");
        screen.ask("/clear");
        screen.shows("remembers nothing");
        screen.ask("again");
        screen.shows("Fresh.");
        let requests = server.requests();
        assert_eq!(requests.len(), 2, "not posted again by itself");
        assert!(!String::from_utf8_lossy(&requests[1].body).contains("\"go\""));
    }
}

#[test]
fn f18_a_message_that_is_refused_twice_is_named() {
    let refused = |index| {
        let text = format!("Invalid value: messages[{index}].content is not allowed");
        let body = serde_json::json!({ "error": { "message": text } }).to_string();
        status("400 Bad Request", "application/json", &body)
    };
    let scripts = vec![refused(1), refused(2), refused(1), refused(1), text("Fresh.")];
    let (world, server) = (World::new(), Server::start(scripts));
    let url = server.url();
    let mut screen = Screen::start(&world, &["--url", &url, "--model", "m"], 120, 60);
    for (turn, prompt) in [(1, "go"), (2, "/continue"), (3, "/continue")] {
        screen.ask(prompt);
        screen.shows(&format!("turn {turn} · failed"));
        screen.rests();
        assert!(!screen.text().contains("twice"), "{}", screen.text());
    }
    screen.ask("/continue");
    screen.shows("turn 4 · failed");
    screen.shows("refused message 2 (user) twice");
    screen.ask("/clear");
    screen.ask("again");
    screen.shows("Fresh.");
}
