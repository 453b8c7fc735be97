//! What the user has typed and not sent, a queue and a draft, outlives limpid however it ends, and is
//! never sent by itself.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use std::path::PathBuf;

use rustix::process::Signal;
use support::limpid::{World, stderr, wait_until};
use support::pty::Screen;
use support::resuming::{kill, messages, on, quit, resume, start};
use support::server::{Server, Step, sse_head, text};

fn unsent(world: &World) -> PathBuf {
    world.sessions()[0].join("unsent.json")
}

fn kept(world: &World) -> String {
    std::fs::read_to_string(unsent(world)).unwrap_or_default()
}

fn stalls() -> Vec<Step> {
    vec![sse_head(), Step::Hold]
}

/// A session in which the prompt "one" was answered, and the server that it goes on with.
fn answered_one(world: &World) -> Server {
    let server = Server::start(vec![text("One.")]);
    let arguments = on(&server);
    let exec: Vec<&str> =
        ["exec", "one"].into_iter().chain(arguments.iter().map(|a| &**a)).collect();
    let made = world.run(&exec);
    assert!(made.status.success(), "{}", stderr(&made));
    server
}

#[test]
fn queued_prompts_come_back_held_after_a_kill() {
    let world = World::new();
    let server = Server::start(vec![stalls(), text("To the second."), text("To the third.")]);
    let mut screen = start(&world, &server, &[]);
    screen.ask("the first");
    screen.shows("turn 1");
    screen.ask("the second");
    screen.ask("the third");
    screen.shows("2 queued");
    wait_until("they are kept", || kept(&world).contains("the third"));
    kill(screen);
    let mut screen = resume(&world, &server, &[]);
    for shown in ["2 queued, held", "· the second", "· the third", "Enter send the next"] {
        assert!(screen.text().contains(shown), "{shown}: {}", screen.text());
    }
    assert_eq!(server.requests().len(), 1);
    // Edited and put back as ever.
    screen.keys("\x1b[A");
    screen.shows("1 queued");
    screen.keys("\x15");
    screen.hides("the third");
    screen.keys("\r");
    screen.shows("To the second.");
    screen.rests();
    let told = messages(&server.requests()[1]);
    assert_eq!(told.last().unwrap()["content"], "the second");
    assert_eq!(server.requests().len(), 2);
    quit(screen);
    assert!(!unsent(&world).exists(), "{}", kept(&world));
}

/// The reply had arrived in full, so that its prompt ends well where the session is taken up again.
#[test]
fn no_queued_prompt_follows_a_prompt_that_ended_before() {
    let world = World::new();
    let server = Server::start(vec![text("One."), text("Two.")]);
    let arguments = on(&server);
    let mut exec = vec!["exec", "one"];
    exec.extend(arguments.iter().map(String::as_str));
    assert!(world.run(&exec).status.success());
    let whole = world.journal();
    for cut in 1..4 {
        let lines: Vec<&str> = whole.split_inclusive('\n').collect();
        let journal = lines[..lines.len() - cut].concat();
        std::fs::write(world.sessions()[0].join("journal.jsonl"), journal).unwrap();
        let queue = format!(r#"{{"at":{},"queued":["two"],"draft":""}}"#, u64::MAX);
        std::fs::write(unsent(&world), queue).unwrap();
        let screen = resume(&world, &server, &[]);
        assert!(screen.text().contains("One."), "{}", screen.text());
        assert!(screen.text().contains("1 queued, held"), "{cut}: {}", screen.text());
        assert_eq!(server.requests().len(), 1);
        quit(screen);
    }
}

#[test]
fn a_draft_comes_back_after_a_kill_and_after_a_signal() {
    for signal in [Signal::KILL, Signal::TERM, Signal::HUP] {
        let world = World::new();
        let server = Server::start(vec![text("One."), text("Two.")]);
        let mut screen = start(&world, &server, &[]);
        screen.ask("one");
        screen.shows("One.");
        screen.rests();
        screen.keys("half a thought");
        screen.shows("half a thought");
        if signal == Signal::KILL {
            wait_until("it is kept", || kept(&world).contains("half a thought"));
        }
        screen.signal(signal);
        screen.end();
        let mut screen = resume(&world, &server, &[]);
        assert!(screen.text().contains("half a thought"), "{signal:?}: {}", screen.text());
        screen.keys(" and more\r");
        screen.shows("Two.");
        screen.rests();
        let told = messages(&server.requests()[1]);
        assert_eq!(told.last().unwrap()["content"], "half a thought and more");
        quit(screen);
        assert!(!unsent(&world).exists(), "{}", kept(&world));
    }
}

#[test]
fn quitting_keeps_the_queue_and_says_so() {
    let world = World::new();
    let server = Server::start(vec![stalls()]);
    let mut screen = start(&world, &server, &[]);
    screen.ask("the first");
    screen.shows("turn 1");
    screen.ask("the second");
    screen.shows("1 queued");
    screen.keys("\x03\x03");
    screen.end();
    let said = screen.said();
    assert!(said.contains("What you typed and did not send is kept with it."), "{said}");
    let screen = resume(&world, &server, &[]);
    assert!(screen.text().contains("1 queued, held"), "{}", screen.text());
    quit(screen);
}

/// Killed before the file was written anew, it still lists what was sent.
#[test]
fn what_was_sent_since_does_not_come_back() {
    let world = World::new();
    let server = answered_one(&world);
    std::fs::write(unsent(&world), r#"{"at":1,"queued":["one","two"],"draft":"three"}"#).unwrap();
    let screen = resume(&world, &server, &[]);
    assert!(screen.text().contains("1 queued, held"), "{}", screen.text());
    assert!(screen.text().contains("· two"), "{}", screen.text());
    screen.signal(Signal::TERM);
    drop(screen);
}

#[test]
fn what_cannot_be_read_is_named_and_put_aside() {
    let world = World::new();
    let server = answered_one(&world);
    std::fs::write(unsent(&world), r#"{"at":1,"queued":["#).unwrap();
    let screen = resume(&world, &server, &[]);
    assert!(screen.text().contains("What you had typed and not sent"), "{}", screen.text());
    quit(screen);
    let aside = world.sessions()[0].join("unsent-unreadable.json");
    assert_eq!(std::fs::read_to_string(aside).unwrap(), r#"{"at":1,"queued":["#);
}

/// Any command can put one there.
#[test]
fn a_pipe_in_its_place_holds_nobody_up() {
    let world = World::new();
    let server = Server::start(vec![text("One.")]);
    let mut screen = start(&world, &server, &[]);
    screen.ask("one");
    screen.shows("One.");
    screen.rests();
    let pipe = world.sessions()[0].join("unsent.json.new");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    screen.keys("a draft");
    wait_until("it is kept", || unsent(&world).exists());
    screen.signal(Signal::TERM);
    assert_eq!(screen.end().exit_code(), 143);
    assert!(kept(&world).contains("a draft"));
}

#[test]
fn who_quits_with_ctrl_c_twice_finds_the_draft_again() {
    let world = World::new();
    let server = Server::start(vec![text("One.")]);
    let mut screen = start(&world, &server, &[]);
    screen.ask("one");
    screen.shows("One.");
    screen.rests();
    screen.keys("a draft");
    screen.shows("a draft");
    screen.keys("\x03");
    screen.hides("a draft");
    screen.keys("\x03");
    screen.end();
    let said = screen.said();
    assert!(said.contains("What you typed and did not send is kept with it."), "{said}");
    let screen = resume(&world, &server, &[]);
    assert!(screen.text().contains("a draft"), "{}", screen.text());
}

#[test]
fn a_draft_without_a_session_is_kept_in_a_file_of_its_own() {
    let world = World::new();
    let mut screen = Screen::start(&world, &["--offline"], 140, 30);
    screen.keys("half a thought");
    screen.shows("half a thought");
    screen.signal(Signal::TERM);
    screen.end();
    let drafts = world.data().join("limpid/drafts");
    let kept = std::fs::read_dir(drafts).unwrap().next().unwrap().unwrap().path();
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "half a thought");
    let said = screen.said();
    assert!(said.contains(&format!("kept in {}", kept.display())), "{said}");
    assert!(world.sessions().is_empty());
}
