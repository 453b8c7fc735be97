//! Every way out of the screen, on a real terminal: it is given back, what ran is gone, and the
//! session is kept and named.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use std::time::{Duration, Instant};

use rustix::process::Signal;
use support::limpid::{OFFLINE, PATIENCE, World, binary, is_running, stderr, wait_until};
use support::pty::Screen;
use support::server::{Server, Step, calls, chunk, sse_head, text};

#[test]
fn a_signal_ends_it_in_good_order_and_the_session_is_named() {
    for (signal, sleep) in [
        (Signal::TERM, 971),
        (Signal::INT, 972),
        (Signal::QUIT, 973),
        (Signal::HUP, 974),
        (Signal::USR1, 975),
        (Signal::XCPU, 976),
    ] {
        let world = World::new();
        let server = Server::start(vec![calls(&[&format!("echo begun; sleep {sleep}")])]);
        let url = server.url();
        let mut screen = Screen::start(&world, &["--url", &url, "--model", "m", "--yolo"], 120, 40);
        screen.ask("go");
        screen.shows("begun");
        let sleep = format!("sleep {sleep}");
        wait_until("the command runs", || is_running(&sleep));
        screen.signal(signal);
        let code = u32::try_from(128 + signal.as_raw()).unwrap();
        assert_eq!(screen.end().exit_code(), code, "{signal:?}");
        assert!(screen.is_restored(), "{signal:?}");
        assert!(!is_running(&sleep), "{signal:?}");
        let said = screen.said();
        let session = world.sessions()[0].clone();
        let name = session.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(said.contains("ended by SIG"), "{said}");
        assert!(said.contains(session.to_str().unwrap()), "{said}");
        assert!(said.contains(&format!("limpid inspect {name}")), "{said}");
        assert!(world.journal().contains("\"go\""), "the prompt is kept");
        let shown = world.run(&["inspect", &name]);
        assert!(shown.status.success() && !shown.stdout.is_empty(), "as the message says");
    }
}

/// G10
#[test]
fn nothing_is_kept_behind_a_link_in_place_of_its_own_directory() {
    let world = World::new();
    let elsewhere = world.home().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::create_dir(world.data()).unwrap();
    std::os::unix::fs::symlink(&elsewhere, world.data().join("limpid")).unwrap();
    let mut screen = Screen::start(&world, OFFLINE, 120, 24);
    screen.keys("\x18");
    screen.shows("No editor: ");
    screen.shows("is a link");
    screen.keys("\x04");
    assert!(screen.end().success());
    assert!(screen.is_restored());
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn a_terminal_that_takes_nothing_keeps_no_signal_from_ending_it() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let world = World::new();
        let mut reply = vec![sse_head()];
        reply.extend((0..200).map(|n| chunk(&format!("{{\"content\":\"line {n}\\n\"}}"), None)));
        reply.push(Step::Hold);
        let server = Server::start(vec![reply]);
        let url = server.url();
        let mut screen = Screen::start(&world, &["--url", &url, "--model", "m"], 120, 40);
        screen.rests();
        let before = screen.raw.len();
        screen.stop();
        screen.keys("go\r");
        wait_until("the prompt is posted", || !server.requests().is_empty());
        screen.keys("more");
        screen.settle(Duration::from_millis(300));
        assert_eq!(screen.raw.len(), before, "the terminal takes nothing");
        let asked = Instant::now();
        screen.signal(signal);
        let code = u32::try_from(128 + signal.as_raw()).unwrap();
        assert_eq!(screen.end().exit_code(), code, "{signal:?}");
        assert!(asked.elapsed() < PATIENCE);
        assert!(world.journal().contains("\"go\""));
    }
}

#[test]
fn a_terminal_that_was_stopped_shows_all_when_it_goes_on() {
    let world = World::new();
    let mut screen = Screen::start(&world, OFFLINE, 120, 40);
    screen.stop();
    for n in 0..20 {
        screen.keys(&format!("word{n} "));
        screen.settle(Duration::from_millis(20));
    }
    assert!(!screen.text().contains("word0"));
    screen.go_on();
    screen.shows("word0 word1 ");
    screen.shows("word19");
    screen.keys("\x03");
    screen.hides("word19");
    screen.signal(Signal::TERM);
    screen.end();
    assert!(screen.is_restored());
}

#[test]
fn a_file_that_may_grow_no_further_ends_nothing_and_is_told() {
    let world = World::new();
    let server = Server::start(vec![text(&"much to keep ".repeat(4000))]);
    let line =
        format!("ulimit -f 16; exec {} --url {} --model m", binary().display(), server.url());
    let mut command = portable_pty::CommandBuilder::new("bash");
    command.args(["-c", &line]);
    let mut screen = Screen::run(&world, command, 120, 40, &[]);
    screen.shows("Ask something");
    screen.ask("go");
    screen.shows("Cannot save this session");
    screen.keys("goes on");
    screen.shows("goes on");
    screen.keys("\x03\x03\x03");
    assert_eq!(screen.end().exit_code(), 0);
    assert!(screen.is_restored());
    assert!(screen.said().contains("Not all of the session could be saved"), "{}", screen.said());
}

#[test]
fn quitting_says_where_the_session_is_and_nothing_else() {
    let world = World::new();
    let mut screen = Screen::start(&world, OFFLINE, 80, 24);
    screen.ask("hello");
    screen.shows("answered");
    screen.keys("\x04");
    assert!(screen.end().success());
    assert!(screen.is_restored());
    let said = screen.said();
    assert!(said.starts_with("The session is saved in "), "{said}");
    assert!(said.contains("limpid inspect 20"), "{said}");
}

#[test]
fn without_a_terminal_it_says_so_and_writes_no_escape() {
    let world = World::new();
    let output = world.run(OFFLINE);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let told = stderr(&output);
    assert!(told.contains("needs a terminal") && told.contains("limpid exec"), "{told}");
    assert!(!told.contains('\x1b'));
    for (term, word) in [("dumb", "TERM=dumb"), ("", "TERM is not set")] {
        let mut screen = Screen::open(&world, OFFLINE, 120, 24, &[("TERM", term)]);
        assert_eq!(screen.end().exit_code(), 2);
        let told = String::from_utf8_lossy(&screen.raw).into_owned();
        assert!(told.contains("needs a terminal") && told.contains(word), "{told}");
        assert!(told.contains("limpid exec") && !told.contains('\x1b'), "{told}");
    }
    let mut screen = Screen::open(&world, OFFLINE, 80, 24, &[("TERM", "never-heard-of")]);
    screen.shows("Ask something");
}

#[test]
fn who_looks_elsewhere_is_called_when_a_decision_waits() {
    let world = World::new();
    let server = Server::start(vec![calls(&["touch canary"]), text("ok")]);
    let url = server.url();
    let mut screen = Screen::start(&world, &["--url", &url, "--model", "m"], 80, 24);
    screen.ask("go");
    screen.shows("Allow this command?");
    screen.rests();
    let raw = String::from_utf8_lossy(&screen.raw).into_owned();
    assert!(raw.contains("\x1b]2;? limpid · "), "the title says it");
    assert!(!raw.contains("\x1b]9;"), "whoever looks needs no call");
    let second = Server::start(vec![calls(&["touch canary"]), text("ok")]);
    let url = second.url();
    let mut away = Screen::start(&world, &["--url", &url, "--model", "m"], 80, 24);
    away.keys("\x1b[O");
    away.ask("go");
    away.shows("Allow this command?");
    away.rests();
    let raw = String::from_utf8_lossy(&away.raw).into_owned();
    assert!(raw.contains("\x07\x1b]9;limpid asks to run a command\x07"));
    away.signal(Signal::TERM);
    away.end();
    assert!(away.is_restored(), "the title too");
}
