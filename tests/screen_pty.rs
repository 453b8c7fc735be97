//! limpid itself on a pseudo-terminal: what a person sees, types and gets back.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use std::time::{Duration, Instant};

use support::limpid::{OFFLINE, World, is_running};
use support::pty::Screen;
use support::server::{Server, Step, calls, chunk, done, sse_head, text};

/// The panel takes keys after a quiet moment; its mark says so.
fn armed(screen: &mut Screen) {
    screen.shows("▸ y once");
}

#[test]
fn a_newcomer_creates_a_file_and_asks_for_it() {
    let world = World::new();
    let mut screen = Screen::start(&world, OFFLINE, 120, 40);
    screen.shows("Ask something");
    screen.ask("Create a file called hello.py that prints \"Hello, World!\"");
    screen.shows("Allow this command?");
    screen.shows("── turn 1 → 2 messages: system user");
    assert!(!world.project().join("hello.py").exists(), "nothing runs before it is allowed");
    armed(&mut screen);
    screen.keys("y");
    screen.shows("Created `hello.py`");
    screen.shows("turn 2 · answered");
    let made = std::fs::read_to_string(world.project().join("hello.py")).unwrap();
    assert_eq!(made, "print(\"Hello, World!\")\n");
    screen.ask("/continue");
    screen.shows("nothing to continue");
    screen.keys("\x15");
    screen.ask("what file did we just create?");
    screen.shows("turn 3 · answered");
    screen.shows("hello.py");
    screen.ask("/clear");
    screen.shows("remembers nothing");
    screen.ask("what file did we just create?");
    screen.shows("I don't know");
    screen.keys("\x04");
    assert!(screen.end().success());
    assert!(screen.is_restored());
}

#[test]
fn a_command_is_denied_with_a_reason_that_reaches_the_model() {
    let world = World::new();
    let server = Server::start(vec![calls(&["touch canary"]), text("All right.")]);
    let url = server.url();
    let mut screen = Screen::start(&world, &["--url", &url, "--model", "m"], 80, 24);
    screen.ask("go");
    armed(&mut screen);
    screen.keys("r");
    screen.hides("▸ y once");
    // Letters are text in a field, also those that decide elsewhere.
    screen.keys("any no");
    screen.shows("any no");
    screen.keys("\r");
    screen.shows("All right.");
    let body: serde_json::Value = serde_json::from_slice(&server.requests()[1].body).unwrap();
    assert_eq!(body["messages"][3]["content"], "Denied by the user; not executed. Reason: any no");
    assert!(!world.project().join("canary").exists());
}

#[test]
fn an_edited_command_is_shown_anew_and_runs_as_shown() {
    let world = World::new();
    let server = Server::start(vec![calls(&["touch first"]), text("Fine.")]);
    let url = server.url();
    let mut screen = Screen::start(&world, &["--url", &url, "--model", "m"], 80, 24);
    screen.ask("go");
    armed(&mut screen);
    screen.keys("e");
    screen.hides("▸ y once");
    screen.keys("\x17second");
    screen.shows("touch second");
    screen.keys("\r");
    screen.shows("edited by you");
    armed(&mut screen);
    screen.keys("y");
    screen.shows("Fine.");
    assert!(world.project().join("second").exists());
    assert!(!world.project().join("first").exists());
    let body: serde_json::Value = serde_json::from_slice(&server.requests()[1].body).unwrap();
    let told = body["messages"][3]["content"].as_str().unwrap();
    assert!(
        told.starts_with(
            "The user edited the command. Proposed: touch first\nExecuted: touch second\n"
        ),
        "{told}"
    );
}

#[test]
fn keys_in_a_burst_and_early_keys_decide_nothing() {
    let world = World::new();
    let server = Server::start(vec![calls(&["touch canary"]), text("ok")]);
    let url = server.url();
    let mut screen = Screen::start(&world, &["--url", &url, "--model", "m"], 100, 30);
    screen.ask("go");
    screen.shows("Allow this command?");
    screen.keys("y\r\ra");
    screen.settle(Duration::from_millis(900));
    screen.keys("\x1b[200~y\r\x1b[201~y\r");
    screen.settle(Duration::from_millis(900));
    assert!(!world.project().join("canary").exists());
    assert_eq!(server.requests().len(), 1, "still pending");
    screen.shows("Allow this command?");
}

#[test]
fn text_in_the_draft_keeps_the_panel_from_taking_keys() {
    let world = World::new();
    let server = Server::start(vec![
        [vec![sse_head(), Step::Hold], calls(&["touch canary"])[1..].to_vec()].concat(),
        text("ok"),
    ]);
    let url = server.url();
    let mut screen = Screen::start(&world, &["--url", &url, "--model", "m"], 100, 30);
    screen.ask("go");
    screen.shows("turn 1");
    screen.keys("half a sen");
    screen.shows("half a sen");
    server.release();
    screen.shows("Allow this command?");
    screen.settle(Duration::from_millis(1200));
    screen.keys("y");
    screen.shows("half a seny");
    screen.rests();
    assert!(!world.project().join("canary").exists());
    screen.keys("\t");
    armed(&mut screen);
    screen.keys("y");
    screen.shows("answered");
    assert!(world.project().join("canary").exists());
    screen.shows("half a seny");
}

#[test]
fn esc_stops_a_stream_and_keeps_what_had_arrived() {
    let world = World::new();
    let server = Server::start(vec![
        vec![sse_head(), chunk("{\"content\":\"The first half\"}", None), Step::Hold, done()],
        text("Second answer."),
    ]);
    let url = server.url();
    let mut screen = Screen::start(&world, &["--url", &url, "--model", "m"], 100, 30);
    screen.ask("go");
    screen.shows("The first half");
    screen.keys("\x1b");
    screen.shows("Stopped.");
    screen.shows("The first half");
    screen.ask("and now?");
    screen.shows("Second answer.");
    let body: serde_json::Value = serde_json::from_slice(&server.requests()[1].body).unwrap();
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages[2]["content"], "The first half");
    assert!(messages[3]["content"].as_str().unwrap().contains("interrupted by the user"));
    limpid::offline::check(limpid::offline::Format::Chat, &body).unwrap();
}

#[test]
fn esc_stops_a_running_command_and_keeps_its_output() {
    let world = World::new();
    let server = Server::start(vec![calls(&["echo begun; sleep 987 & sleep 987"]), text("ok")]);
    let url = server.url();
    let mut screen = Screen::start(&world, &["--url", &url, "--model", "m", "--yolo"], 120, 40);
    screen.shows("YOLO");
    screen.ask("go");
    screen.shows("begun");
    screen.keys("\x1b");
    screen.shows("Stopped.");
    assert_eq!(server.requests().len(), 1, "a stop posts nothing more");
    gone("sleep 987");
    screen.ask("next");
    screen.shows("turn 2 · answered");
    let body: serde_json::Value = serde_json::from_slice(&server.requests()[1].body).unwrap();
    let told = body["messages"][3]["content"].as_str().unwrap();
    assert!(told.starts_with("begun\n[stopped by the user"), "{told}");
    limpid::offline::check(limpid::offline::Format::Chat, &body).unwrap();
}

#[test]
fn a_failure_is_shown_and_the_next_prompt_works() {
    let world = World::new();
    let html = b"HTTP/1.1 501 Not Implemented\r\ncontent-type: text/html\r\ncontent-length: 11\r\n\r\n<h1>no</h1>".to_vec();
    let server = Server::start(vec![vec![Step::Send(html)], text("Back again.")]);
    let url = server.url();
    let mut screen = Screen::start(&world, &["--url", &url, "--model", "m"], 80, 24);
    screen.ask("hello there");
    screen.shows("501");
    screen.shows("/continue");
    screen.shows("hello there");
    screen.ask("/continue");
    screen.shows("Back again.");
    let bodies: Vec<_> = server.requests().iter().map(|request| request.body.clone()).collect();
    assert_eq!(bodies[0], bodies[1], "the same messages");
}

#[test]
fn resizing_keeps_everything_in_place() {
    let world = World::new();
    let mut screen = Screen::start(&world, OFFLINE, 120, 40);
    screen.shows("Inspector");
    screen.keys("a draft 中文");
    screen.shows("a draft 中文");
    for (columns, rows) in [(80, 24), (40, 10), (20, 4), (1, 1), (300, 100), (120, 40)] {
        screen.resize(columns, rows);
        screen.settle(Duration::from_millis(60));
    }
    screen.shows("a draft 中文");
    screen.shows("Inspector");
}

#[test]
fn the_ways_to_quit() {
    for keys in ["\x03|\x03", "\x04", "/quit\r", "q\r", "exit\r", "/clear\r|\x04"] {
        let world = World::new();
        let mut screen = Screen::start(&world, OFFLINE, 80, 24);
        screen.shows("Ask something");
        for part in keys.split('|') {
            screen.keys(part);
            if part != keys.rsplit('|').next().unwrap() {
                screen.rests();
            }
        }
        assert!(screen.end().success(), "{keys:?}");
        assert!(screen.is_restored(), "{keys:?}");
        assert!(world.sessions().is_empty(), "looking around leaves nothing behind");
    }
}

#[test]
fn ctrl_c_clears_a_draft_before_it_quits() {
    let world = World::new();
    let mut screen = Screen::start(&world, OFFLINE, 80, 24);
    screen.keys("some words");
    screen.shows("some words");
    screen.keys("\x03");
    screen.hides("some words");
    screen.shows("Ctrl-C again quits");
}

/// Nothing with this command line lives on. One second is promised; a busy machine gets more.
fn gone(command: &str) {
    let deadline = Instant::now() + Duration::from_secs(5);
    while is_running(command) {
        assert!(Instant::now() < deadline, "{command} is left running");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn hostile_text_cannot_drive_the_terminal() {
    let world = World::new();
    let hostile = "before \u{1b}]52;c;ZXZpbA==\u{7} \u{1b}[2J\u{9b}31m \u{202e}after\u{1b}[6n";
    let server =
        Server::start(vec![calls(&["printf '\\033]0;title\\007\\033[2Jout'"]), text(hostile)]);
    let url = server.url();
    let mut screen = Screen::start(&world, &["--url", &url, "--model", "m", "--yolo"], 120, 40);
    screen.ask("go");
    screen.shows("after");
    screen.shows("before");
    let raw = String::from_utf8_lossy(&screen.raw).into_owned();
    for forbidden in ["\x1b]52", "\x1b]0;title", "\x1b[6n", "\u{9b}", "\u{202e}"] {
        assert!(!raw.contains(forbidden), "{forbidden:?} reached the terminal");
    }
}

#[test]
fn an_idle_program_writes_nothing() {
    let world = World::new();
    let mut screen = Screen::start(&world, OFFLINE, 120, 40);
    screen.rests();
    let before = screen.raw.len();
    screen.settle(Duration::from_millis(1500));
    assert_eq!(screen.raw.len(), before);
}
