//! Rows F17 and F18 against real servers on loopback: what is posted once the offer was taken, in
//! each format; that the journal rebuilds it; and what `exec` says, which has nobody to ask.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod rules;
mod support;

use std::fmt::Write as _;

use limpid::conversation::{EntryId, Origin, Overlay, TurnNumber};
use limpid::session::load;
use sha2::{Digest, Sha256};
use support::limpid::{World, stderr, stdout};
use support::pty::Screen;
use support::server::{Server, Step, calls, status, text};

const FORMATS: [&str; 3] = ["openai-chat", "anthropic", "openai-responses"];

fn refusal(message: &str) -> Vec<Step> {
    let body = serde_json::json!({ "error": { "message": message } }).to_string();
    status("400 Bad Request", "application/json", &body)
}

/// A whole streamed text in this format, written by hand.
fn answer(format: &str, words: &str) -> Vec<Step> {
    let events: Vec<(&str, String)> = match format {
        "openai-chat" => return text(words),
        "anthropic" => vec![
            ("message_start", r#"{"type":"message_start","message":{"usage":{}}}"#.to_owned()),
            (
                "content_block_start",
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#.to_owned(),
            ),
            (
                "content_block_delta",
                format!(r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{words}"}}}}"#),
            ),
            ("content_block_stop", r#"{"type":"content_block_stop","index":0}"#.to_owned()),
            (
                "message_delta",
                r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{}}"#.to_owned(),
            ),
            ("message_stop", r#"{"type":"message_stop"}"#.to_owned()),
        ],
        _ => {
            let item = format!(
                r#"{{"type":"message","id":"m","role":"assistant","content":[{{"type":"output_text","text":"{words}"}}]}}"#
            );
            vec![
                (
                    "response.output_item.added",
                    r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m","role":"assistant","content":[]}}"#.to_owned(),
                ),
                (
                    "response.output_item.done",
                    format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{item}}}"#),
                ),
                (
                    "response.completed",
                    format!(r#"{{"type":"response.completed","response":{{"status":"completed","output":[{item}]}}}}"#),
                ),
            ]
        }
    };
    let mut steps = vec![support::server::sse_head()];
    for (name, data) in events {
        steps.push(Step::Send(format!("event: {name}\ndata: {data}\n\n").into_bytes()));
    }
    steps
}

/// Presses the offer's key as soon as it counts.
fn take(screen: &mut Screen, offer: &str) {
    screen.until(offer, |screen| screen.contains(offer) && screen.contains("▸ Ctrl-O"));
    screen.keys("\x0f");
}

fn check(format: &str, body: &[u8]) -> serde_json::Value {
    let json = serde_json::from_slice(body).unwrap();
    match format {
        "openai-chat" => rules::chat(&json),
        "anthropic" => rules::anthropic(&json),
        _ => rules::responses(&json),
    }
    json
}

/// Every body that the server got is the one that the journal rebuilds and has the hash of.
fn journal_has_them(world: &World, server: &Server) -> limpid::conversation::Session {
    let session = load(&world.sessions()[0]).unwrap().session;
    for (number, request) in (1..).zip(server.requests()) {
        let turn = session.turn(TurnNumber(number)).unwrap();
        assert_eq!(session.body(turn.number).as_bytes(), request.body, "turn {number}");
        let hash = Sha256::digest(&request.body);
        let hash = hash.iter().fold(String::new(), |mut hex, byte| {
            write!(hex, "{byte:02x}").unwrap();
            hex
        });
        assert_eq!(turn.request.sha256, hash, "turn {number}");
    }
    session
}

#[test]
fn f18_left_out_the_message_is_gone_and_servers_take_the_rest_in_each_format() {
    for format in FORMATS {
        // The first prompt is what the server refuses; on Anthropic the system text is no message.
        let refused = match format {
            "openai-chat" => "Invalid value: messages[1].content",
            "anthropic" => "messages.0.content.0: text is bad",
            _ => "Invalid value: input[1].content",
        };
        let server = Server::start(vec![
            answer(format, "Seen."),
            refusal(refused),
            refusal(refused),
            answer(format, "Welcome back."),
        ]);
        let (world, url) = (World::new(), server.url());
        let arguments = ["--url", &url, "--model", "m", "--format", format];
        let mut screen = Screen::start(&world, &arguments, 120, 50);
        screen.ask("POISON");
        screen.shows("Seen.");
        screen.ask("and now");
        screen.shows("turn 2 · failed");
        assert!(!screen.text().contains("Ctrl-O"), "{}", screen.text());
        screen.ask("/continue");
        screen.shows("turn 3 · failed");
        screen.shows("POISON");
        take(&mut screen, "Leave this message out?");
        screen.shows("Welcome back.");
        screen.shows("(not sent since turn 4)");

        let requests = server.requests();
        assert_eq!(requests.len(), 4, "{format}");
        assert_eq!(requests[1].body, requests[2].body);
        let body = String::from_utf8_lossy(&requests[3].body).into_owned();
        assert!(!body.contains("POISON") && body.contains("and now"), "{body}");
        assert!(body.contains("[A message was left out here.]"), "{body}");
        check(format, &requests[3].body);
        let session = journal_has_them(&world, &server);
        let left_out = Overlay::LeftOut { by: Origin::User };
        assert_eq!(*session.overlays.of(EntryId(2)), left_out);
        let repairs = &session.turn(TurnNumber(4)).unwrap().repairs;
        assert!(
            repairs.iter().any(|repair| repair.what.contains("stands for what is left out")),
            "{repairs:?}"
        );

        let inspected = stdout(&world.run(&["inspect", "--turn", "4"]));
        assert!(inspected.contains("not sent: 6 B"), "{inspected}");
        let before = stdout(&world.run(&["inspect", "--turn", "3"]));
        assert!(!before.contains("not sent"), "{before}");

        // And back again.
        screen.ask("/restore");
        screen.hides("(not sent since turn 4)");
        screen.ask("once more");
        screen.shows("turn 5 →");
        screen.until("a fifth answer", |_| server.requests().len() == 5);
        let body = String::from_utf8_lossy(&server.requests()[4].body).into_owned();
        assert!(body.contains("POISON") && !body.contains("left out here"), "{body}");
        check(format, body.as_bytes());
    }
}

#[test]
fn f18_declined_the_same_is_posted() {
    let refused = refusal("Invalid value: messages[1].content");
    let server = Server::start(vec![refused]);
    let (world, url) = (World::new(), server.url());
    let mut screen = Screen::start(&world, &["--url", &url, "--model", "m"], 80, 24);
    screen.ask("go");
    screen.shows("turn 1 · failed");
    screen.ask("/continue");
    screen.shows("Leave this message out?");
    screen.keys("\x1b");
    screen.hides("Leave this message out?");
    screen.ask("/continue");
    screen.shows("turn 3 · failed");
    screen.shows("Leave this message out?");
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    assert!(requests.iter().all(|request| request.body == requests[0].body));
}

const TOO_LONG: &str = "prompt is too long: 30000 tokens > 10000 maximum";

#[test]
fn f17_after_one_huge_result_it_is_shortened_and_the_turn_goes_on() {
    let command = "seq 1 9000";
    let bodies = [refusal(TOO_LONG), status("413 Payload Too Large", "text/html", "<h1>413</h1>")];
    for refused in bodies {
        let server =
            Server::start(vec![calls(&[command]), refused, text("Nine thousand."), text("Again.")]);
        let (world, url) = (World::new(), server.url());
        let arguments = ["--url", &url, "--model", "m", "--yolo"];
        let mut screen = Screen::start(&world, &arguments, 120, 50);
        screen.ask("count");
        screen.shows("turn 2 · failed");
        screen.shows("message 4  ");
        assert_eq!(server.requests().len(), 2, "not by itself");
        take(&mut screen, "Shorten this result");
        screen.shows("Nine thousand.");
        screen.shows(" of 43.9 kB");
        screen.shows("altered from");

        let requests = server.requests();
        let json = check("openai-chat", &requests[2].body);
        let result = json["messages"][3]["content"].as_str().unwrap();
        assert!(result.starts_with("1\n2\n3\n") && result.contains("9000\n"), "{result}");
        assert!(result.contains(" bytes left out here: the messages were too long]"), "{result}");
        assert!(requests[2].body.len() < requests[1].body.len() * 2 / 3);
        let session = journal_has_them(&world, &server);
        let whole = session.branch()[3].result().unwrap().text.clone();
        assert!(whole.contains("\n4500\n"), "the original is kept");
        // The next prompt keeps it short.
        screen.ask("more");
        screen.shows("Again.");
        let json = check("openai-chat", &server.requests()[3].body);
        assert_eq!(json["messages"][3]["content"].as_str(), Some(result));
        let inspected = stdout(&world.run(&["inspect", "--turn", "3"]));
        assert!(inspected.contains("altered from "), "{inspected}");
    }
}

#[test]
fn f17_refused_again_it_is_shortened_further_then_prompts_go_then_only_clear_is_left() {
    let too_long = || refusal(TOO_LONG);
    let server = Server::start(vec![
        text("First answer."),
        calls(&["seq 1 9000"]),
        too_long(),
        too_long(),
        too_long(),
        text("At last."),
    ]);
    let (world, url) = (World::new(), server.url());
    let mut screen = Screen::start(&world, &["--url", &url, "--model", "m", "--yolo"], 120, 50);
    screen.ask("the first prompt");
    screen.shows("First answer.");
    screen.ask("count");
    for turn in 3..=4 {
        screen.shows(&format!("turn {turn} · failed"));
        take(&mut screen, "Too long: 30,000 over 10,000");
    }
    screen.shows("turn 5 · failed");
    assert!(!screen.text().contains("Ctrl-O"), "{}", screen.text());
    let requests = server.requests();
    let lengths: Vec<usize> = requests.iter().map(|request| request.body.len()).collect();
    assert!(lengths[2] > lengths[3] && lengths[3] > lengths[4], "{lengths:?}");
    let body = |index: usize| String::from_utf8_lossy(&requests[index].body).into_owned();
    assert!(body(3).contains("the first prompt"), "results first");
    assert!(!body(4).contains("the first prompt") && body(4).contains("count"), "{}", body(4));
    for request in &requests {
        check("openai-chat", &request.body);
    }
    screen.ask("/clear");
    screen.shows("remembers nothing");
    screen.ask("anew");
    screen.shows("At last.");
    journal_has_them(&world, &server);
}

#[test]
fn f17_exec_names_what_to_do() {
    let server = Server::start(vec![calls(&["seq 1 9000"]), refusal(TOO_LONG)]);
    let (world, url) = (World::new(), server.url());
    let output = world.run(&["exec", "--url", &url, "--model", "m", "--yolo", "count"]);
    assert_eq!(output.status.code(), Some(1));
    let told = stderr(&output);
    for words in ["Largest results: ", " of `seq 1 9000`", "head, tail, grep", "too long: 30000"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert_eq!(server.requests().len(), 2, "not posted again by itself");
}
