//! Writing, with limpid itself on a pseudo-terminal and a server that keeps what was posted.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use support::limpid::World;
use support::pty::Screen;
use support::server::{Server, calls, text};

fn start(world: &World, server: &Server, more: &[&str]) -> Screen {
    let url = server.url();
    let mut arguments = vec!["--url", &url, "--model", "m"];
    arguments.extend(more);
    Screen::start(world, &arguments, 100, 30)
}

fn submit(screen: &mut Screen, text: &str) {
    screen.keys(text);
    screen.shows(text);
    screen.keys("\r");
}

/// Roles and texts of the messages of the nth request, from 0.
fn messages(server: &Server, nth: usize) -> Vec<(String, String)> {
    let body: serde_json::Value = serde_json::from_slice(&server.requests()[nth].body).unwrap();
    let word = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let messages = body["messages"].as_array().unwrap().iter();
    messages.map(|message| (word(&message["role"]), word(&message["content"]))).collect()
}

#[test]
fn a_queued_prompt_is_sent_into_the_running_turn_and_another_after_it() {
    let world = World::new();
    let server = Server::start(vec![
        calls(&["until [ -e go ]; do sleep 0.05; done; echo gone"]),
        text("First answer."),
        text("Second answer."),
    ]);
    let mut screen = start(&world, &server, &["--yolo"]);
    submit(&mut screen, "begin");
    screen.shows("running");
    submit(&mut screen, "and also this");
    screen.shows("1 queued");
    submit(&mut screen, "afterwards that");
    screen.shows("2 queued");
    screen.keys("\x13");
    screen.shows("goes with the next request");
    std::fs::write(world.project().join("go"), "").unwrap();
    screen.shows("Second answer.");
    let second = messages(&server, 1);
    let roles: Vec<&str> = second.iter().map(|(role, _)| role.as_str()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "user"]);
    assert_eq!(second[4].1, "and also this");
    let third = messages(&server, 2);
    assert_eq!(third[6], ("user".to_owned(), "afterwards that".to_owned()));
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_stop_holds_the_queue_and_what_was_sent_into_the_turn_too_late_is_in_it() {
    let world = World::new();
    let server = Server::start(vec![calls(&["sleep 60"]), text("Now.")]);
    let mut screen = start(&world, &server, &["--yolo"]);
    submit(&mut screen, "begin");
    screen.shows("running");
    submit(&mut screen, "never told");
    screen.shows("1 queued");
    screen.keys("\x13");
    screen.shows("goes with the next request");
    screen.keys("\x1b");
    screen.shows("1 queued, held");
    assert_eq!(server.requests().len(), 1);
    screen.keys("\r");
    screen.shows("Now.");
    let told = messages(&server, 1);
    assert_eq!(told.iter().filter(|(_, text)| text == "never told").count(), 1);
}
