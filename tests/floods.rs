//! A server that never ends its answer: keys are served, Esc stops, nothing is kept without limit.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use std::time::{Duration, Instant};

use support::limpid::{World, stderr};
use support::pty::Screen;
use support::server::{Server, Step, chunk, sse_head};

/// Far longer than it takes, and far shorter than a person would bear.
const PROMPT: Duration = Duration::from_secs(2);

fn flood(deltas: &[&str]) -> Server {
    let mut bytes = Vec::new();
    while bytes.len() < 60_000 {
        for delta in deltas {
            let Step::Send(event) = chunk(delta, None) else { unreachable!() };
            bytes.extend(event);
        }
    }
    let start = chunk(r#"{"content":"Here it comes. "}"#, None);
    Server::start(vec![vec![sse_head(), start, Step::Flood(bytes)]])
}

#[test]
fn keys_are_served_and_esc_stops_while_a_server_floods() {
    let floods: [(&str, &[&str]); 3] = [
        ("text", &[r#"{"content":"x "}"#]),
        ("a line that is not drawn as it is written", &[r#"{"content":"x\u001b"}"#]),
        ("nothing", &["{}"]),
    ];
    for (what, deltas) in floods {
        let server = flood(deltas);
        let world = World::new();
        let arguments = ["--url", &server.url(), "--model", "m"];
        let mut screen = Screen::start(&world, &arguments, 100, 30);
        screen.keys("go\r");
        screen.shows("streaming");
        let mut slowest = Duration::ZERO;
        for typed in ["q1", "q1q2", "q1q2q3", "q1q2q3q4"] {
            let began = Instant::now();
            screen.keys(&typed[typed.len() - 2..]);
            screen.shows(typed);
            slowest = slowest.max(began.elapsed());
        }
        let began = Instant::now();
        screen.keys("\x1b");
        screen.shows("Stopped. What had arrived is kept.");
        let stopped = began.elapsed();
        assert!(slowest < PROMPT && stopped < PROMPT, "{what}: {slowest:?}, {stopped:?}");
    }
}

#[test]
fn an_answer_without_end_is_cut_at_a_limit_and_said_so() {
    let long = format!(r#"{{"content":"{}"}}"#, "x".repeat(50_000));
    let server = flood(&[&long]);
    let world = World::new();
    let output = world.run(&["exec", "--url", &server.url(), "--model", "m", "go"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("longer than 4 MiB"), "{}", stderr(&output));
    assert!(stderr(&output).contains("--max-tokens"), "{}", stderr(&output));
    assert_eq!(server.requests().len(), 1, "it is not asked for again");
}
