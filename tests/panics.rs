//! A panic, wherever it is: the terminal is given back, a report is kept, and no key is in it. Only
//! debug builds can be told to panic.
#![cfg(debug_assertions)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use std::os::unix::fs::PermissionsExt;

use support::limpid::{OFFLINE, World, wait_until};
use support::pty::Screen;
use support::server::{Server, Step, chunk, done, sse_head};

const SECRET: &str = "sk-very-secret-000";

/// Makes limpid panic there, in the middle of a stream, with the key in its words.
fn panic_in(place: &str) -> (World, Screen, portable_pty::ExitStatus) {
    let world = World::new();
    let mut steps = vec![sse_head()];
    for n in 0..200 {
        steps.push(chunk(&format!("{{\"content\":\"word {n} of many \"}}"), None));
    }
    steps.extend([Step::Hold, done()]);
    let server = Server::start(vec![steps]);
    let url = server.url();
    let variables = [
        ("LIMPID_PANIC_KEY", "X"),
        ("LIMPID_PANIC_IN", place),
        ("LIMPID_PANIC_TEXT", SECRET),
        ("SOME_KEY", SECRET),
    ];
    let arguments = ["--url", &url, "--model", "m", "--key-env", "SOME_KEY"];
    let mut screen = Screen::start_with(&world, &arguments, 120, 40, &variables);
    screen.ask("go");
    screen.shows("word");
    screen.keys("X");
    let status = screen.end();
    (world, screen, status)
}

#[test]
fn a_panic_anywhere_ends_it_in_good_order() {
    for place in ["screen", "thread", "task"] {
        let (world, screen, status) = panic_in(place);
        assert_eq!(status.exit_code(), 101, "{place}");
        assert!(screen.is_restored(), "{place}");
        let said = screen.said();
        assert!(!said.contains('\x1b'), "nothing is drawn after the restore: {said:?}");
        assert!(said.contains("provoked by LIMPID_PANIC_KEY [redacted]"), "{place}: {said}");
        assert!(said.contains("The session is saved in "), "{place}: {said}");
        let journal = world.journal();
        assert!(journal.contains("word 0 of many"), "{place}: what had come is kept");
        report_is_private(&world);
    }
}

/// A panic while another one unwinds aborts the process: the terminal is restored before.
#[test]
fn a_panic_in_a_panic_gives_the_terminal_back_too() {
    let (world, screen, status) = panic_in("drop");
    assert!(!status.success());
    assert!(screen.is_restored());
    report_is_private(&world);
}

fn report_is_private(world: &World) {
    let folder = world.data().join("limpid");
    let reports: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("panic-"))
        .collect();
    assert_eq!(reports.len(), 1, "one report");
    let mode = std::fs::metadata(&reports[0]).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let report = std::fs::read_to_string(&reports[0]).unwrap();
    assert!(report.contains("provoked"), "{report}");
    assert!(!report.contains(SECRET), "no key in it");
}

/// Whatever writes to stdout or stderr meanwhile does not reach the screen.
#[test]
fn stray_output_goes_to_a_file() {
    let world = World::new();
    let variables = [
        ("LIMPID_PANIC_KEY", "X"),
        ("LIMPID_PANIC_IN", "stderr"),
        ("LIMPID_PANIC_TEXT", "a stray line"),
    ];
    let mut screen = Screen::start_with(&world, OFFLINE, 80, 24, &variables);
    screen.keys("X");
    let log = world.data().join("limpid/stray.log");
    let lines = "a stray line\na stray line\n";
    wait_until("both lines in the file", || {
        std::fs::read_to_string(&log).is_ok_and(|text| text == lines)
    });
    screen.shows("│ X");
    assert!(!String::from_utf8_lossy(&screen.raw).contains("a stray line"));
    assert_eq!(std::fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
    screen.keys("\x15\x04");
    assert!(screen.end().success());
    assert!(screen.is_restored());
}
