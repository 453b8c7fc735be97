//! What is kept of each attempt: the head that went before the body, the answer's head, its raw
//! bytes and when they came, what was adjusted and where; and that no key is in any of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use std::path::Path;

use limpid::conversation::{Record, Stamped, TurnNumber};
use limpid::session;
use limpid::wire::exchange::Kept;
use support::limpid::{World, stderr, stdout};
use support::pty::Screen;
use support::server::{Server, Step, calls, chunk, done, sse_head, status, text};

const KEY: &str = "sk-canary-4711";

fn exec(world: &World, url: &str, more: &[&str]) -> std::process::Output {
    let mut arguments = vec!["exec", "--url", url, "--model", "m", "--key-env", "THE_KEY"];
    arguments.extend_from_slice(more);
    arguments.push("Say 'Grüße' \u{202e}now\u{1b}[2K");
    world.limpid(&arguments).env("THE_KEY", KEY).output().unwrap()
}

fn no_key_below(directory: &Path) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            no_key_below(&path);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            let found = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
            assert!(!found, "the key is in {}", path.display());
        }
    }
}

#[test]
fn c11_the_recorded_head_is_the_one_that_was_sent_with_the_key_masked() {
    for (format, masked) in
        [("openai-chat", "authorization: Bearer ***"), ("anthropic", "x-api-key: ***")]
    {
        let (world, server) = (World::new(), Server::start(vec![text("Hello.")]));
        exec(&world, &server.url(), &["--format", format]);
        let received = server.requests().remove(0);
        assert!(received.head.contains(KEY), "{}", received.head);
        let loaded = session::load(&world.sessions()[0]).unwrap().session;
        let head = loaded.turns[0].exchanges[0].head.clone().unwrap();
        let path = head.url.strip_prefix(server.url().strip_suffix("/v1").unwrap()).unwrap();
        let mut lines = vec![format!("{} {path} HTTP/1.1", head.method)];
        lines.extend(head.headers.iter().map(|(name, value)| format!("{name}: {value}")));
        let sent: Vec<String> =
            received.head.lines().map(|line| line.replace(KEY, "***")).collect();
        assert_eq!(lines, sent);
        assert!(lines.iter().any(|line| line == masked), "{lines:?}");
        assert_eq!(loaded.body(TurnNumber(1)).as_bytes(), received.body);
        no_key_below(&world.data());
        let shown = stdout(&world.run(&["inspect", "--request"]));
        for line in &lines[1..] {
            assert!(shown.contains(line), "{line} is not in {shown}");
        }
        assert!(shown.contains(&head.url) && !shown.contains(KEY), "{shown}");
    }
}

/// The bytes of a step.
fn length(step: &Step) -> u64 {
    match step {
        Step::Send(bytes) => bytes.len() as u64,
        _ => 0,
    }
}

#[test]
fn an_answer_is_kept_with_its_times_and_each_repair_with_its_place() {
    let odd = r#"{"tool_calls":[{"id":"c1","function":{"name":"bash","arguments":"{\"command\":\"true\"}"}}]}"#;
    let (first, second) = (chunk("{\"content\":\"One. \"}", None), chunk(odd, None));
    let (before, caused) = (length(&first), length(&first) + length(&second));
    let end = chunk("{}", Some("tool_calls"));
    let script = vec![sse_head(), first, Step::Hold, second, end, done()];
    let world = World::new();
    let server = Server::start(vec![script, text("Done.")]);
    let whole = std::thread::scope(|scope| {
        let running = scope.spawn(|| exec(&world, &server.url(), &["--yolo"]));
        // The first portion is on disk while the answer still arrives.
        let kept = wait_for(|| {
            let session = world.sessions().pop()?;
            match session::read_exchange(&session, TurnNumber(1), 1) {
                Kept::Response(kept) if kept.bytes() > 0 && !kept.arrivals.is_empty() => Some(kept),
                _ => None,
            }
        });
        assert_eq!((kept.bytes(), kept.head.status), (before, 200));
        let came = std::time::Instant::now();
        wait_for(|| (came.elapsed().as_millis() > 60).then_some(()));
        server.release();
        let output = running.join().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        session::read_exchange(&world.sessions()[0], TurnNumber(1), 1)
    });
    let Kept::Response(whole) = whole else { panic!("{whole:?}") };
    let events = whole.first_events();
    assert_eq!(events.len(), 4);
    assert_eq!((events[0].end(), events[1].end()), (before, caused));
    assert!(events[1].ms.unwrap() >= events[0].ms.unwrap() + 60, "{events:?}");
    assert_eq!(whole.head.header("content-type"), Some("text/event-stream"));

    let loaded = session::load(&world.sessions()[0]).unwrap().session;
    let repairs: Vec<_> =
        loaded.turns[0].all_repairs().map(|repair| (&*repair.what, repair.at)).collect();
    assert_eq!(repairs, [("call without index accepted", Some(caused))]);
    let response = loaded.turns[0].response().unwrap();
    assert!(response.sent && response.bytes == whole.bytes());
    assert!(response.headers.contains(&("content-type".into(), "text/event-stream".into())));

    let shown = stdout(&world.run(&["inspect", "--turn", "1", "--response"]));
    let lines: Vec<&str> = shown.lines().collect();
    let event = lines.iter().position(|line| line.contains("\"id\":\"c1\"")).expect(&shown);
    assert_eq!(lines[event + 1].trim(), "!  repair: call without index accepted", "{shown}");
    assert!(lines.iter().any(|line| line.contains(" s  data: [DONE]")), "{shown}");
    no_key_below(&world.data());
}

fn wait_for<T>(mut ready: impl FnMut() -> Option<T>) -> T {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    loop {
        if let Some(ready) = ready() {
            return ready;
        }
        assert!(std::time::Instant::now() < deadline, "waited 20 s");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn what_never_left_is_not_taken_for_sent() {
    let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", unused.local_addr().unwrap());
    drop(unused);
    let world = World::new();
    exec(&world, &url, &[]);
    let loaded = session::load(&world.sessions()[0]).unwrap().session;
    assert!(!loaded.turns[0].response().unwrap().sent);
    let outline = stdout(&world.run(&["inspect", "last"]));
    assert!(outline.contains("not sent") && outline.contains("connection refused"), "{outline}");
    let mut lines = outline.lines();
    assert!(lines.next().unwrap().ends_with(" · not sent"), "{outline}");
    assert!(lines.all(|line| line.starts_with(['-', '✗'])), "{outline}");
    let world = World::new();
    let server = Server::start(vec![status("400 Bad Request", "application/json", "{}")]);
    exec(&world, &server.url(), &[]);
    let loaded = session::load(&world.sessions()[0]).unwrap().session;
    assert!(loaded.turns[0].response().unwrap().sent);
    let outline = stdout(&world.run(&["inspect", "last"]));
    assert!(outline.contains("failed") && !outline.contains("not sent"), "{outline}");
    let usage = stdout(&world.run(&["inspect", "--usage"]));
    assert!(usage.contains("HTTP 400") && usage.contains("not told"), "{usage}");
}

#[test]
fn every_attempt_is_shown_with_what_came_of_it() {
    let world = World::new();
    let busy = "{\"error\":{\"message\":\"overloaded\"}}";
    let server = Server::start(vec![
        status("503 Service Unavailable", "application/json", busy),
        text("Here."),
    ]);
    exec(&world, &server.url(), &[]);
    let shown = stdout(&world.run(&["inspect", "--response"]));
    for words in ["attempt 1 of 2", "HTTP 503", busy, "attempt 2 of 2", "data: [DONE]"] {
        assert!(shown.contains(words), "{words} is not in {shown}");
    }
    let usage = stdout(&world.run(&["inspect", "--usage"]));
    assert!(usage.contains("attempt 1 of 2") && usage.contains("attempt 2 of 2"), "{usage}");
}

#[test]
fn what_was_adjusted_in_an_attempt_that_was_tried_again_is_shown_with_it() {
    let overloaded =
        "event: error\ndata: {\"error\":{\"message\":\"x\",\"type\":\"overloaded_error\"}}\n\n";
    let plain = format!("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n{overloaded}");
    let world = World::new();
    let server =
        Server::start(vec![vec![Step::Send(plain.into_bytes()), Step::Close], text("Here.")]);
    let output = exec(&world, &server.url(), &[]);
    assert_eq!(stdout(&output), "Here.\n", "{}", stderr(&output));
    assert_eq!(server.requests().len(), 2);
    let repair = "repair: events read in a reply of type 'text/plain'";
    assert_eq!(stderr(&output).matches(repair).count(), 1, "{}", stderr(&output));
    let shown = stdout(&world.run(&["inspect", "--response"]));
    let (first, second) = shown.split_once("attempt 2 of 2").expect(&shown);
    assert!(first.contains(repair) && !second.contains(repair), "{shown}");
    assert!(stdout(&world.run(&["inspect", "last"])).contains("events read in a reply of type"));
}

#[test]
fn the_headers_of_a_redirect_and_of_a_proxys_refusal_are_shown() {
    let cases = [
        ("307 Temporary Redirect", "location: https://elsewhere.example/v1"),
        ("407 Proxy Authentication Required", "proxy-authenticate: Basic realm=\"lab\""),
    ];
    for (line, header) in cases {
        let world = World::new();
        let head =
            format!("HTTP/1.1 {line}\r\n{header}\r\nx-echo: {KEY}\r\ncontent-length: 0\r\n\r\n");
        let server = Server::start(vec![vec![Step::Send(head.into_bytes())]]);
        let output = exec(&world, &server.url(), &[]);
        assert_eq!(output.status.code(), Some(1));
        let shown = stdout(&world.run(&["inspect", "--response"]));
        let status = format!("HTTP {}", &line[..3]);
        for words in [status.as_str(), header, "x-echo: [redacted]", "No body is kept"] {
            assert!(shown.contains(words), "{words} is not in {shown}");
        }
        no_key_below(&world.data());
    }
}

#[test]
fn a_journal_without_these_members_can_be_read() {
    let lines = [
        r#"{"at":1,"record":{"attempt":{"turn":1,"attempt":1}}}"#,
        r#"{"at":2,"record":{"repair":{"turn":1,"what":"old"}}}"#,
        r#"{"at":3,"record":{"response":{"turn":1,"attempt":1,"status":200,"first_byte_ms":1,"end_ms":2,"bytes":3,"stop_reason":null,"usage":null,"failure":null,"stopped":false}}}"#,
    ];
    let records: Vec<Record> =
        lines.iter().map(|line| serde_json::from_str::<Stamped>(line).unwrap().record).collect();
    assert!(matches!(&records[0], Record::Attempt { head: None, .. }));
    assert!(matches!(&records[1], Record::Repair { repair, .. } if repair.at.is_none()));
    assert!(matches!(&records[2], Record::Response(response) if response.sent));
}

/// What stands in the right-hand pane, its rows whole.
fn inspector_rows(shown: &str) -> Vec<&str> {
    shown.lines().filter_map(|line| line.split("││ ").nth(1)?.strip_suffix(" │")).collect()
}

#[test]
fn c11_the_screen_shows_the_posted_bytes_and_never_the_key() {
    let world = World::new();
    let server = Server::start(vec![calls(&["echo 'a \"b\" \\ c'"]), text("Done.")]);
    let url = server.url();
    let arguments = ["--url", &url, "--model", "m", "--key-env", "THE_KEY", "--yolo"];
    let mut screen = Screen::start_with(&world, &arguments, 200, 60, &[("THE_KEY", KEY)]);
    screen.keys("Say \"so\".\r");
    screen.shows("turn 2 · answered");
    screen.keys("\u{1b}[Z");
    screen.shows("▸Inspector");
    for turn in [2, 1] {
        screen.keys("4");
        let received = &server.requests()[turn - 1];
        let sent = String::from_utf8(received.body.clone()).unwrap();
        screen.until("the posted bytes", |shown| {
            let pane = inspector_rows(shown);
            let body = pane.iter().position(|row| row.starts_with("── body"));
            body.is_some_and(|at| pane[at + 1..].concat().starts_with(&sent))
        });
        let shown = screen.text();
        let pane: Vec<&str> = inspector_rows(&shown).into_iter().map(str::trim_end).collect();
        for line in received.head.lines().skip(1) {
            let line = line.replace(KEY, "***");
            assert!(pane.contains(&&*line), "{line} is not in {shown}");
        }
        screen.keys("5");
        screen.shows("data: [DONE]");
        screen.keys("6");
        screen.shows("bytes received");
        screen.keys("\u{1b}[D");
        screen.shows("turn ‹[1] 2›");
        assert!(!screen.text().contains(KEY));
    }
    screen.keys("\u{3}\u{3}");
    assert!(screen.end().success());
    let loaded = session::load(&world.sessions()[0]).unwrap().session;
    for (turn, request) in loaded.turns.iter().zip(server.requests()) {
        assert_eq!(loaded.body(turn.number).as_bytes(), request.body);
    }
    no_key_below(&world.data());
}

#[test]
fn the_response_view_follows_what_arrives() {
    let world = World::new();
    let (one, two) = ("{\"content\":\"First.\"}", "{\"content\":\" Second.\"}");
    let server = Server::start(vec![vec![
        sse_head(),
        chunk(one, None),
        Step::Hold,
        chunk(two, None),
        Step::Hold,
        chunk("{}", Some("stop")),
        done(),
    ]]);
    let url = server.url();
    let mut screen = Screen::start(&world, &["--url", &url, "--model", "m"], 300, 40);
    screen.keys("go\r");
    screen.shows("First.");
    screen.keys("\u{1b}[Z");
    screen.shows("▸Inspector");
    screen.keys("5");
    screen.until("the first event", |text| text.contains("under way") && text.contains(one));
    assert!(!screen.text().contains(two));
    server.release();
    screen.until("the second event", |text| text.contains("under way") && text.contains(two));
    server.release();
    screen.until("the end", |text| text.contains("ended after") && text.contains("[DONE]"));
    screen.keys("\u{3}\u{3}");
    assert!(screen.end().success());
}

#[test]
fn of_a_huge_answer_the_first_and_the_last_part_are_shown() {
    let world = World::new();
    let mut script = vec![sse_head()];
    for piece in 0..4_000 {
        let text = format!("{{\"content\":\"piece {piece} {}\"}}", "x".repeat(40));
        script.push(chunk(&text, None));
    }
    script.extend([chunk("{}", Some("stop")), done()]);
    let all: u64 = script[1..].iter().map(length).sum();
    let server = Server::start(vec![script]);
    exec(&world, &server.url(), &[]);
    let Kept::Response(kept) = session::read_exchange(&world.sessions()[0], TurnNumber(1), 1)
    else {
        panic!("kept nothing")
    };
    assert_eq!(kept.bytes(), all);
    let shown = stdout(&world.run(&["inspect", "--response"]));
    assert!(shown.contains("piece 0 ") && shown.contains("piece 3999 "), "both ends");
    assert!(!shown.contains("piece 2000 ") && shown.len() < 400_000, "{}", shown.len());
    assert!(shown.contains("are left out here; exchanges/0001-1.http has them all"));
}
