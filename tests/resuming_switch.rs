//! From within the screen to another session, and back: each is ended and taken up as by quitting and
//! `limpid resume`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use rustix::process::Signal;
use support::limpid::{OFFLINE, World, stderr, wait_until};
use support::pty::Screen;
use support::resuming::{messages, on, quit, resume, start};
use support::server::{Server, text};

fn made(world: &World, directory: &std::path::Path, arguments: &[&str]) -> String {
    let before = world.sessions();
    let made = world.limpid(arguments).current_dir(directory).output().unwrap();
    assert!(made.status.success(), "{}", stderr(&made));
    let new = world.sessions().into_iter().find(|session| !before.contains(session)).unwrap();
    new.file_name().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn another_session_goes_on_and_the_first_one_after_it() {
    let world = World::new();
    let server = Server::start(vec![
        text("To the first."),
        text("To the second."),
        text("To the first, again."),
    ]);
    let arguments = on(&server);
    let mut exec = vec!["exec", "the first prompt"];
    exec.extend(arguments.iter().map(String::as_str));
    let first = made(&world, &world.project(), &exec);
    let mut screen = start(&world, &server, &[]);
    screen.ask("the second prompt");
    screen.shows("To the second.");
    screen.rests();
    let sessions = world.sessions();
    let second = sessions.iter().find(|session| !session.ends_with(&first)).unwrap();
    let second = second.file_name().unwrap().to_str().unwrap().to_owned();
    screen.ask("/resume");
    screen.shows("the first prompt");
    screen.keys("\r");
    screen.shows("resumed: every command asks again");
    screen.shows("To the first.");
    screen.rests();
    assert!(!screen.text().contains("To the second."), "{}", screen.text());
    screen.ask("and on");
    screen.shows("To the first, again.");
    screen.rests();
    let told = messages(&server.requests()[2]);
    assert_eq!(told[1]["content"], "the first prompt");
    assert_eq!(told[3]["content"], "and on");
    // The one that was left can be gone on with.
    screen.ask("/resume");
    screen.shows("the second prompt");
    screen.keys("\r");
    screen.shows("To the second.");
    screen.rests();
    quit(screen);
    for session in [&first, &second] {
        let shown = world.run(&["inspect", session]);
        assert!(shown.status.success(), "{}", stderr(&shown));
    }
}

#[test]
fn one_of_another_directory_goes_on_there_with_its_own_model() {
    let world = World::new();
    let elsewhere = world.home().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let exec = ["exec", "--offline", "--offline-pace", "full", "hello from elsewhere"];
    made(&world, &elsewhere, &[&exec[..], &["--model", "offline-lenient"]].concat());
    let server = Server::start(vec![]);
    let mut screen = start(&world, &server, &[]);
    screen.ask("/resume");
    screen.shows("No other session has worked in this directory.");
    screen.keys("\t");
    screen.shows("elsewhere");
    screen.keys("\r");
    screen.shows("offline-lenient @ scripted");
    screen.rests();
    screen.ask("!pwd > where");
    wait_until("it ran there", || elsewhere.join("where").exists());
    screen.rests();
    // Signals are heard as before.
    screen.signal(Signal::TERM);
    assert_eq!(screen.end().exit_code(), 143);
    assert!(screen.is_restored());
    assert!(server.requests().is_empty());
}

#[test]
fn an_undecided_env_file_of_another_directory_is_not_asked_about_but_named() {
    let world = World::new();
    let server = Server::start(vec![text("From elsewhere."), text("On the same way.")]);
    let config = world.home().join(".config/limpid");
    std::fs::create_dir_all(&config).unwrap();
    let profile = format!(
        "[profiles.lan]\nurl = \"{}\"\nmodel = \"m\"\nkey_env = \"LAN_KEY\"\n",
        server.url()
    );
    std::fs::write(config.join("config.toml"), profile).unwrap();
    let elsewhere = world.home().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut exec = world.limpid(&["exec", "--profile", "lan", "hello from elsewhere"]);
    exec.current_dir(&elsewhere).env("LAN_KEY", "a-key-of-mine").status().unwrap();
    std::fs::write(elsewhere.join(".env"), "LAN_KEY=another-key\n").unwrap();
    let goes = |screen: &mut Screen| {
        screen.ask("/resume");
        screen.shows("Sessions");
        screen.keys("\t");
        screen.shows("hello from elsewhere");
        screen.keys("hello");
        screen.rests();
        screen.keys("\r");
    };
    let mut screen = Screen::start(&world, OFFLINE, 120, 40);
    goes(&mut screen);
    screen.shows("the variable LAN_KEY");
    screen.ask("!pwd > where");
    wait_until("it ran here", || world.project().join("where").exists());
    screen.rests();
    quit(screen);
    let key = [("LAN_KEY", "a-key-of-mine")];
    let mut screen = Screen::start_with(&world, OFFLINE, 120, 40, &key);
    goes(&mut screen);
    screen.shows("From elsewhere.");
    screen.shows("the environment sets it already");
    screen.rests();
    screen.ask("go on");
    screen.shows("On the same way.");
    screen.rests();
    quit(screen);
    assert_eq!(messages(&server.requests()[1])[3]["content"], "go on");
}

/// The environment of the process holds it still, whatever session goes on in it.
#[test]
fn a_key_stays_a_secret_in_the_next_session() {
    let world = World::new();
    let exec = ["exec", "--offline", "--offline-pace", "full", "hello to the scripted one"];
    made(&world, &world.project(), &exec);
    let server = Server::start(vec![text("Never asked.")]);
    let arguments = ["--url", &server.url(), "--model", "m", "--key-env", "FOO"];
    let key = [("FOO", "a-key-of-mine-33333")];
    let mut screen = Screen::start_with(&world, &arguments, 120, 40, &key);
    screen.ask("/resume");
    screen.shows("hello to the scripted one");
    screen.keys("\r");
    screen.shows("resumed: every command asks again");
    screen.rests();
    screen.ask("!echo \"<$FOO>\"; echo a-key-of-mine-33333");
    screen.shows("[redacted]");
    screen.rests();
    quit(screen);
    let journal = world.journal();
    assert!(journal.contains("<>\\n"), "{journal}");
}

#[test]
fn one_that_cannot_be_opened_leaves_this_one_open() {
    let world = World::new();
    let mut other = Screen::start(&world, OFFLINE, 120, 40);
    other.ask("hello");
    other.shows("answered");
    let mut screen = Screen::start(&world, OFFLINE, 120, 40);
    screen.ask("/resume");
    screen.shows("1 turn");
    screen.keys("\r");
    screen.shows("is open in another limpid");
    screen.ask("hello");
    screen.shows("answered");
    screen.rests();
    quit(screen);
    quit(other);
}

/// What is typed and not sent stays with its session.
#[test]
fn each_session_keeps_its_own_queue() {
    let world = World::new();
    let server = Server::start(vec![text("One."), text("Two.")]);
    let arguments = on(&server);
    let mut exec = vec!["exec", "the first prompt"];
    exec.extend(arguments.iter().map(String::as_str));
    made(&world, &world.project(), &exec);
    let second = made(&world, &world.project(), &exec);
    let unsent = world.data().join("limpid/sessions").join(second).join("unsent.json");
    std::fs::write(&unsent, r#"{"at":99999999999999,"queued":["waits"],"draft":""}"#).unwrap();
    let mut screen = resume(&world, &server, &[]);
    screen.shows("1 queued, held");
    screen.ask("/resume");
    screen.shows("1 turn");
    screen.keys("\r");
    screen.hides("1 queued");
    screen.shows("resumed: every command asks again");
    screen.rests();
    quit(screen);
    assert!(std::fs::read_to_string(unsent).unwrap().contains("waits"));
    assert_eq!(server.requests().len(), 2);
}
