//! Every way out of the screen, on a real terminal: it is given back, what ran is gone, and the
//! session is kept and named.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use support::limpid::World;
use support::pty::Screen;
use support::server::{Server, Step, calls, chunk, done, sse_head, text};

const OFFLINE: &[&str] = &["--offline", "--offline-pace", "full"];

/// How long a busy machine may take for what is promised within two seconds.
const PATIENCE: Duration = Duration::from_secs(10);

fn ask(screen: &mut Screen, prompt: &str) {
    screen.keys(prompt);
    screen.shows(prompt);
    screen.keys("\r");
}

fn send(screen: &Screen, signal: Signal) {
    kill_process(Pid::from_raw(screen.pid().try_into().unwrap()).unwrap(), signal).unwrap();
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn is_running(command: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ").trim_end() == command
    })
}

/// What is on the normal screen after the full screen was left.
fn said(screen: &Screen) -> String {
    let raw = String::from_utf8_lossy(&screen.raw).into_owned();
    let at = raw.rfind("\x1b[?1049l").expect("the full screen was left");
    raw[at..].replace("\x1b[?1049l", "").replace("\x1b[?25h", "")
}

fn journal(world: &World) -> String {
    std::fs::read_to_string(world.sessions()[0].join("journal.jsonl")).unwrap()
}

#[test]
fn a_signal_ends_it_in_good_order_and_the_session_is_named() {
    for (signal, sleep) in
        [(Signal::TERM, 971), (Signal::INT, 972), (Signal::QUIT, 973), (Signal::HUP, 974)]
    {
        let world = World::new();
        let server = Server::start(vec![calls(&[&format!("echo begun; sleep {sleep}")])]);
        let url = server.url();
        let mut screen = Screen::start(&world, &["--url", &url, "--model", "m", "--yolo"], 120, 40);
        ask(&mut screen, "go");
        screen.shows("begun");
        let sleep = format!("sleep {sleep}");
        wait_until("the command runs", || is_running(&sleep));
        send(&screen, signal);
        let code = u32::try_from(128 + signal.as_raw()).unwrap();
        assert_eq!(screen.end().exit_code(), code, "{signal:?}");
        assert!(screen.is_restored(), "{signal:?}");
        assert!(!is_running(&sleep), "{signal:?}");
        let said = said(&screen);
        let session = world.sessions()[0].clone();
        let name = session.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(said.contains("ended by SIG"), "{said}");
        assert!(said.contains(session.to_str().unwrap()), "{said}");
        assert!(said.contains(&format!("limpid inspect {name}")), "{said}");
        assert!(journal(&world).contains("\"go\""), "the prompt is kept");
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
        send(&screen, signal);
        let code = u32::try_from(128 + signal.as_raw()).unwrap();
        assert_eq!(screen.end().exit_code(), code, "{signal:?}");
        assert!(asked.elapsed() < PATIENCE);
        assert!(journal(&world).contains("\"go\""));
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
    send(&screen, Signal::TERM);
    screen.end();
    assert!(screen.is_restored());
}

#[test]
fn a_file_that_may_grow_no_further_ends_nothing_and_is_told() {
    let world = World::new();
    let server = Server::start(vec![text(&"much to keep ".repeat(4000))]);
    let line = format!(
        "ulimit -f 16; exec {} --url {} --model m",
        support::limpid::binary().display(),
        server.url()
    );
    let mut command = portable_pty::CommandBuilder::new("bash");
    command.args(["-c", &line]);
    let mut screen = Screen::run(&world, command, 120, 40, &[]);
    screen.shows("Ask something");
    ask(&mut screen, "go");
    screen.shows("Cannot save this session");
    screen.keys("goes on");
    screen.shows("goes on");
    screen.keys("\x03\x03\x03");
    assert_eq!(screen.end().exit_code(), 0);
    assert!(screen.is_restored());
    assert!(said(&screen).contains("Not all of the session could be saved"), "{}", said(&screen));
}

#[test]
fn quitting_says_where_the_session_is_and_nothing_else() {
    let world = World::new();
    let mut screen = Screen::start(&world, OFFLINE, 80, 24);
    ask(&mut screen, "hello");
    screen.shows("answered");
    screen.keys("\x04");
    assert!(screen.end().success());
    assert!(screen.is_restored());
    let said = said(&screen);
    assert!(said.starts_with("The session is saved in "), "{said}");
    assert!(said.contains("limpid inspect 20"), "{said}");
}

/// Only debug builds can be told to panic.
#[cfg(debug_assertions)]
mod panics {
    use super::*;

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
        ask(&mut screen, "go");
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
            let said = said(&screen);
            assert!(!said.contains('\x1b'), "nothing is drawn after the restore: {said:?}");
            assert!(said.contains("provoked by LIMPID_PANIC_KEY [redacted]"), "{place}: {said}");
            assert!(said.contains("The session is saved in "), "{place}: {said}");
            let journal = journal(&world);
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
}

/// limpid in a shell, by its line.
fn line(arguments: &[&str]) -> String {
    let binary = support::limpid::binary().display().to_string();
    format!("{binary} {}", arguments.join(" "))
}

/// How often a job's number was asked for.
static ASKED: AtomicU32 = AtomicU32::new(0);

/// Ctrl-Z was pressed: waits until the shell has the terminal; returns limpid's process.
fn stopped(screen: &mut Screen) -> i32 {
    screen.shows("Stopped");
    assert!(!screen.is_full());
    let mark = format!("job{}=", ASKED.fetch_add(1, Ordering::Relaxed));
    let job = |screen: &str| -> Option<i32> {
        screen.split(&mark).find_map(|rest| rest.split_once('.')?.0.parse().ok())
    };
    screen.keys(&format!("clear; echo {mark}$(jobs -p).\r"));
    screen.until("the job's number", |screen| job(screen).is_some());
    let pid = job(&screen.text()).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let state = stat.rsplit(") ").next().unwrap().chars().next();
    assert_eq!(state, Some('T'), "truly stopped");
    pid
}

fn go_on(screen: &mut Screen) {
    screen.keys("fg\r");
    screen.until("the full screen", |text| text.contains("Inspector") || text.contains("limpid  "));
    assert!(screen.is_full());
}

#[test]
fn ctrl_z_and_fg_lose_nothing() {
    for inner in [line(OFFLINE), format!("sh -c \"{}; true\"", line(OFFLINE))] {
        let world = World::new();
        let mut screen = Screen::shell(&world, 120, 40);
        screen.keys(&format!("{inner}\r"));
        screen.shows("Ask something");
        screen.keys("a draft 中文");
        screen.shows("a draft 中文");
        for _ in 0..2 {
            screen.keys("\x1a");
            stopped(&mut screen);
            go_on(&mut screen);
            screen.shows("a draft 中文");
        }
        screen.keys("\x03");
        screen.hides("a draft");
        screen.keys("\x04");
        screen.until("the shell", |text| text.trim_end().ends_with("ready>"));
        screen.keys("exit\r");
        screen.end();
        assert!(screen.is_restored());
    }
}

#[test]
fn a_stream_goes_on_after_a_stop() {
    let world = World::new();
    let server = Server::start(vec![vec![
        sse_head(),
        chunk("{\"content\":\"The first half, \"}", None),
        Step::Hold,
        chunk("{\"content\":\"the second half.\"}", Some("stop")),
        done(),
    ]]);
    let mut screen = Screen::shell(&world, 120, 40);
    screen.keys(&format!("{}\r", line(&["--url", &server.url(), "--model", "m"])));
    screen.shows("Ask something");
    ask(&mut screen, "go");
    screen.shows("The first half");
    screen.keys("\x1a");
    let pid = stopped(&mut screen);
    server.release();
    go_on(&mut screen);
    screen.shows("the second half.");
    screen.shows("answered");
    // The signal of the same name does the same.
    kill_process(Pid::from_raw(pid).unwrap(), Signal::TSTP).unwrap();
    stopped(&mut screen);
    go_on(&mut screen);
    screen.shows("the second half.");
}

#[test]
fn a_running_command_stops_and_goes_on_with_it() {
    let world = World::new();
    let counting = "i=0; while :; do i=$((i+1)); echo $i > count; sleep 0.02; done";
    let server = Server::start(vec![calls(&[counting]), text("ok")]);
    let mut screen = Screen::shell(&world, 120, 40);
    screen.keys(&format!("{}\r", line(&["--url", &server.url(), "--model", "m", "--yolo"])));
    screen.shows("Ask something");
    ask(&mut screen, "go");
    let file = world.project().join("count");
    let count = || -> u32 {
        std::fs::read_to_string(&file).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    };
    wait_until("it counts", || count() > 3);
    screen.keys("\x1a");
    stopped(&mut screen);
    // The command is told a moment later than the shell.
    wait_until("it stands still", || {
        let before = count();
        std::thread::sleep(Duration::from_millis(500));
        // It may stand still with the file just emptied.
        count() == before
    });
    let before = count();
    go_on(&mut screen);
    wait_until("it counts on", || count() > before + 3);
    screen.keys("\x1b");
    screen.shows("Stopped.");
}

#[test]
fn where_nobody_could_continue_it_ctrl_z_stops_nothing() {
    let world = World::new();
    let mut screen = Screen::start(&world, OFFLINE, 120, 40);
    screen.keys("\x1a");
    screen.shows("Not stopped");
    ask(&mut screen, "hello");
    screen.shows("answered");
}

#[test]
fn after_a_kill_the_next_start_puts_things_right() {
    let world = World::new();
    let mut screen = Screen::shell(&world, 120, 40);
    for _ in 0..3 {
        screen.keys(&format!("{}\r", line(OFFLINE)));
        screen.shows("Ask something");
        screen.keys("\x1a");
        let pid = stopped(&mut screen);
        screen.keys("fg\r");
        screen.shows("Ask something");
        // In the middle of a frame, half a sequence would swallow the shell's word.
        screen.settle(Duration::from_millis(300));
        kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
        screen.shows("Killed");
        screen.keys("stty sane; clear\r");
        screen.hides("Killed");
    }
    screen.keys(&format!("{}\r", line(OFFLINE)));
    screen.shows("Ask something");
    screen.keys("\x04");
    screen.until("the shell", |text| text.trim_end().ends_with("ready>"));
    assert!(!screen.is_full());
    // As a terminal keeps them: a pop of nothing is nothing.
    let raw = String::from_utf8_lossy(&screen.raw).into_owned();
    let (mut depth, mut deepest) = (0u32, 0);
    for (at, _) in raw.match_indices("\x1b[") {
        match &raw[at..] {
            rest if rest.starts_with("\x1b[>1u") => depth += 1,
            rest if rest.starts_with("\x1b[<1u") => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    assert_eq!((depth, deepest), (0, 1));
}

#[test]
fn without_a_terminal_it_says_so_and_writes_no_escape() {
    let world = World::new();
    let output = world.run(OFFLINE);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let told = support::limpid::stderr(&output);
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
#[ignore = "holds a terminal for the next test, which kills it"]
fn holder() {
    let world = World::new();
    let state = std::env::var("HOLDER_STATE").unwrap();
    let url = std::env::var("HOLDER_URL").unwrap();
    let mut command = portable_pty::CommandBuilder::new(support::limpid::binary());
    command.args(["--url", &url, "--model", "m"]);
    if state == "running" {
        command.arg("--yolo");
    }
    // Without a controlling terminal no signal tells that it is gone.
    command.set_controlling_tty(std::env::var_os("HOLDER_DEAF").is_none());
    let mut screen = Screen::run(&world, command, 80, 24, &[]);
    screen.shows("Ask something");
    if !["idle", "typing"].contains(&state.as_str()) {
        ask(&mut screen, "go");
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

#[test]
fn who_looks_elsewhere_is_called_when_a_decision_waits() {
    let world = World::new();
    let server = Server::start(vec![calls(&["touch canary"]), text("ok")]);
    let url = server.url();
    let mut screen = Screen::start(&world, &["--url", &url, "--model", "m"], 80, 24);
    ask(&mut screen, "go");
    screen.shows("Allow this command?");
    screen.rests();
    let raw = String::from_utf8_lossy(&screen.raw).into_owned();
    assert!(raw.contains("\x1b]2;? limpid · "), "the title says it");
    assert!(!raw.contains("\x1b]9;"), "whoever looks needs no call");
    let second = Server::start(vec![calls(&["touch canary"]), text("ok")]);
    let url = second.url();
    let mut away = Screen::start(&world, &["--url", &url, "--model", "m"], 80, 24);
    away.keys("\x1b[O");
    ask(&mut away, "go");
    away.shows("Allow this command?");
    away.rests();
    let raw = String::from_utf8_lossy(&away.raw).into_owned();
    assert!(raw.contains("\x07\x1b]9;limpid asks to run a command\x07"));
    send(&away, Signal::TERM);
    away.end();
    assert!(away.is_restored(), "the title too");
}
