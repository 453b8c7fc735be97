//! A terminal that goes away: limpid ends, with all that ran.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use support::limpid::{World, binary, is_running, wait_until};
use support::pty::Screen;
use support::server::{Server, Step, calls, chunk, sse_head};

#[test]
#[ignore = "holds a terminal for the next test, which kills it"]
fn holder() {
    let world = World::new();
    let state = std::env::var("HOLDER_STATE").unwrap();
    let url = std::env::var("HOLDER_URL").unwrap();
    let mut command = portable_pty::CommandBuilder::new(binary());
    command.args(["--url", &url, "--model", "m"]);
    if state == "running" {
        command.arg("--yolo");
    }
    // Without a controlling terminal no signal tells that it is gone.
    command.set_controlling_tty(std::env::var_os("HOLDER_DEAF").is_none());
    let mut screen = Screen::run(&world, command, 80, 24, &[]);
    screen.shows("Ask something");
    if !["idle", "typing"].contains(&state.as_str()) {
        screen.ask("go");
        screen.shows(match state.as_str() {
            "streaming" => "The first half",
            "asking" => "Allow this command?",
            _ => "running",
        });
    }
    screen.rests();
    println!("\nPID {} DATA {}", screen.pid(), world.data().display());
    std::mem::forget(world);
    if state == "typing" {
        loop {
            screen.keys("a");
            screen.settle(Duration::from_millis(1));
        }
    }
    screen.settle(Duration::from_mins(1));
}

/// A holder of a terminal, in which limpid is in this state.
struct Held {
    holder: Child,
    pid: String,
    data: PathBuf,
}

impl Held {
    fn start(state: &str, deaf: bool, url: &str) -> Self {
        let mut holder = Command::new(std::env::current_exe().unwrap());
        holder
            .args(["--exact", "holder", "--ignored", "--nocapture"])
            .env("HOLDER_URL", url)
            .env("HOLDER_STATE", state)
            .stdout(Stdio::piped());
        if deaf {
            holder.env("HOLDER_DEAF", "1");
        }
        let mut holder = holder.spawn().unwrap();
        let lines = BufReader::new(holder.stdout.take().unwrap()).lines();
        let found = lines
            .map_while(Result::ok)
            .find_map(|line| Some(line.strip_prefix("PID ")?.to_owned()));
        let found = found.expect("the holder shows limpid");
        let (pid, data) = found.split_once(" DATA ").unwrap();
        Self { holder, pid: pid.to_owned(), data: data.into() }
    }

    /// Takes the terminal away and waits until limpid is gone.
    fn take_away(&mut self, what: &str) {
        self.holder.kill().unwrap();
        self.holder.wait().unwrap();
        // One that has ended and waits to be reaped is gone.
        wait_until(&format!("limpid ends with its terminal ({what})"), || {
            !std::fs::read_to_string(format!("/proc/{}/status", self.pid))
                .is_ok_and(|status| !status.contains("State:\tZ"))
        });
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        if std::thread::panicking() {
            let _ = Command::new("kill").args(["-9", &self.pid]).status();
        }
        let _ = std::fs::remove_dir_all(self.data.parent().unwrap());
    }
}

#[test]
fn a_terminal_that_goes_away_ends_it_with_all_that_ran() {
    for (state, deaf) in [
        ("idle", false),
        ("idle", true),
        ("streaming", false),
        ("streaming", true),
        ("asking", true),
        ("running", false),
        ("running", true),
    ] {
        let server = Server::start(vec![match state {
            "streaming" => {
                vec![sse_head(), chunk("{\"content\":\"The first half\"}", None), Step::Hold]
            }
            _ => calls(&["sleep 986"]),
        }]);
        let mut held = Held::start(state, deaf, &server.url());
        held.take_away(&format!("{state}, deaf: {deaf}"));
        if state == "running" {
            wait_until("its command is gone", || !is_running("sleep 986"));
        }
        if state != "idle" {
            let sessions = held.data.join("limpid/sessions");
            let session = std::fs::read_dir(sessions).unwrap().next().unwrap().unwrap().path();
            let journal = std::fs::read_to_string(session.join("journal.jsonl")).unwrap();
            assert!(journal.contains("\"go\"") && journal.contains("stopped"), "{journal}");
            assert!(state != "streaming" || journal.contains("The first half"), "{journal}");
        }
    }
}

/// While a key is read is the moment in which nobody else is asked.
#[test]
fn a_terminal_that_goes_away_while_keys_come_ends_it_too() {
    let server = Server::start(vec![]);
    for n in 0..20 {
        let mut held = Held::start("typing", n % 2 == 1, &server.url());
        held.take_away("typing");
    }
}
