//! Ctrl-Z and `fg`, and what a kill left behind.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use portable_pty::CommandBuilder;
use rustix::process::{Pid, Signal, kill_process};
use support::limpid::{OFFLINE, PATIENCE, World, binary, child_of, lives, wait_until};
use support::pty::Screen;
use support::server::{Server, calls, in_two_halves, text};

/// limpid in a shell, by its line.
fn line(arguments: &[&str]) -> String {
    let binary = binary().display().to_string();
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
    let server = Server::start(vec![in_two_halves()]);
    let mut screen = Screen::shell(&world, 120, 40);
    screen.keys(&format!("{}\r", line(&["--url", &server.url(), "--model", "m"])));
    screen.shows("Ask something");
    screen.ask("go");
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
    screen.ask("go");
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

/// What a program in a container sees: the session of whoever started it began outside.
#[test]
fn a_session_that_began_in_another_pid_namespace_is_no_obstacle() {
    let inside = ["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"];
    let can = Command::new("unshare").args(inside).arg("true").status();
    if !can.is_ok_and(|status| status.success()) {
        eprintln!("not tried: this machine makes no namespaces");
        return;
    }
    let world = World::new();
    let inner = format!("{}; echo left=$?", line(OFFLINE));
    let mut command = CommandBuilder::new("unshare");
    command.args(inside);
    command.args(["bash", "-c", &inner]);
    let mut screen = Screen::run(&world, command, 120, 40, &[]);
    screen.shows("Ask something");
    screen.keys("\x1a");
    screen.keys("still here");
    screen.shows("still here");
    screen.keys("\x15\x04");
    screen.shows("left=0");
}

#[test]
fn where_nobody_could_continue_it_ctrl_z_stops_nothing() {
    let world = World::new();
    let mut screen = Screen::start(&world, OFFLINE, 120, 40);
    screen.keys("\x1a");
    screen.shows("Not stopped");
    screen.ask("hello");
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

/// A stop that comes while its group loses the shell would be for ever: nobody is left to end it.
#[test]
fn a_shell_that_is_killed_around_a_stop_leaves_nothing_stopped() {
    for (n, inner) in (0..24).map(|n| (n, n % 2 == 1)) {
        let world = World::new();
        let mut screen = Screen::shell(&world, 80, 24);
        if inner {
            screen.keys("bash --norc --noprofile --noediting -i\r");
            screen.until("a second shell", |text| text.matches("ready>").count() > 1);
        }
        screen.keys("clear; echo shell=$$.\r");
        let pid = |screen: &str, mark: &str| -> Option<i32> {
            screen.split(mark).find_map(|rest| rest.split_once('.')?.0.parse().ok())
        };
        screen.until("the shell's number", |text| pid(text, "shell=").is_some());
        let shell = pid(&screen.text(), "shell=").unwrap();
        screen.keys(&format!("{}\r", line(OFFLINE)));
        screen.shows("Ask something");
        let limpid = child_of(shell);
        screen.keys("\x1a");
        std::thread::sleep(Duration::from_micros(n / 2 * 700));
        kill_process(Pid::from_raw(shell).unwrap(), Signal::KILL).unwrap();
        let deadline = Instant::now() + PATIENCE;
        while lives(limpid) {
            let stat = std::fs::read_to_string(format!("/proc/{limpid}/stat"));
            assert!(Instant::now() < deadline, "{n}: {stat:?} for ever\n{}", screen.text());
            screen.settle(Duration::from_millis(20));
        }
    }
}

/// The shell is not always the parent, and who stands between may end as well.
#[test]
fn when_whoever_stands_above_is_killed_it_ends_too() {
    for shell_is_killed in [true, false] {
        let world = World::new();
        // The outermost shell has the terminal then.
        let mut screen = Screen::shell(&world, 80, 24);
        screen.keys("bash --norc --noprofile --noediting -i\r");
        screen.until("a second shell", |text| text.matches("ready>").count() > 1);
        screen.keys(&format!("sh -c '{}; true'\r", line(OFFLINE)));
        screen.shows("Ask something");
        let shell = child_of(screen.pid().cast_signed());
        let between = child_of(shell);
        let limpid = child_of(between);
        let killed = if shell_is_killed { shell } else { between };
        kill_process(Pid::from_raw(killed).unwrap(), Signal::KILL).unwrap();
        wait_until("it has ended", || !lives(limpid));
        screen.shows("ready>");
    }
}

#[test]
fn an_editor_where_nobody_could_continue_it_is_not_stopped() {
    let world = World::new();
    let editor = "kill -s TSTP 0; sleep 1; echo edited >>";
    let mut screen = Screen::start_with(&world, OFFLINE, 80, 24, &[("EDITOR", editor)]);
    screen.keys("\x18");
    screen.shows("edited");
}
