//! What a terminal can do to limpid, and what others would like it to do to the terminal: sizes,
//! pastes, hostile text, and nothing at all.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use std::time::{Duration, Instant};

use rustix::process::Signal;
use support::limpid::{OFFLINE, World};
use support::pty::{Screen, is_whole};
use support::server::{Server, Step, calls, chunk, done, in_two_halves, sse_head, status, text};

/// The screen is what it would be were it written anew.
fn has_no_stale_cell(screen: &mut Screen) {
    screen.rests();
    let before = screen.text();
    let from = screen.raw.len();
    // Whoever is continued does not know what the terminal shows.
    screen.signal(Signal::CONT);
    let deadline = Instant::now() + Duration::from_secs(10);
    while !String::from_utf8_lossy(&screen.raw[from..]).contains("\x1b[2J") {
        assert!(Instant::now() < deadline, "never written anew");
        screen.settle(Duration::from_millis(50));
    }
    // A cell that was never written and one that holds a blank look the same.
    let rows = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    let before = rows(&before);
    // An approval takes no key for a while after it was drawn, and says so.
    screen.until(&format!("again what was there:\n{before}"), |screen| rows(screen) == before);
}

/// Sizes without a pattern, the same in each run.
fn sizes() -> impl Iterator<Item = (u16, u16)> {
    let mut seed: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut next = move |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        u16::try_from(seed % below).unwrap()
    };
    std::iter::repeat_with(move || match next(8) {
        0 => (next(4), next(4)),
        1 => (next(30), next(8)),
        _ => (next(200) + 1, next(60) + 1),
    })
}

#[test]
fn the_strangest_sizes_break_nothing() {
    let world = World::new();
    let mut screen = Screen::start(&world, OFFLINE, 120, 40);
    screen.keys("a draft 中文");
    screen.shows("a draft 中文");
    for (columns, rows) in [(0, 0), (1, 1), (2, 2), (20, 3), (0, 5), (5, 0), (500, 200), (3, 40)] {
        screen.resize_unseen(columns, rows);
        screen.settle(Duration::from_millis(80));
    }
    screen.resize(120, 40);
    screen.shows("a draft 中文");
    screen.shows("Inspector");
    has_no_stale_cell(&mut screen);
}

#[test]
fn a_thousand_sizes_while_streaming_leave_the_screen_whole() {
    let world = World::new();
    let mut steps = vec![sse_head()];
    for n in 0..40 {
        let words = format!("{{\"content\":\"line {n} 中文 of a long answer\\n\"}}");
        steps.push(chunk(&words, None));
        if n % 4 == 3 {
            steps.push(Step::Hold);
        }
    }
    steps.extend([chunk("{\"content\":\"the end\"}", Some("stop")), done()]);
    let server = Server::start(vec![steps]);
    let url = server.url();
    let mut screen = Screen::start(&world, &["--url", &url, "--model", "m"], 120, 40);
    screen.ask("go");
    screen.shows("line 3 ");
    screen.keys("a draft");
    screen.shows("a draft");
    for (n, (columns, rows)) in sizes().take(1000).enumerate() {
        screen.resize_unseen(columns, rows);
        if n % 100 == 50 {
            server.release();
        }
        screen.settle(Duration::from_millis(4));
    }
    screen.resize(120, 40);
    screen.shows("the end");
    screen.shows("answered");
    screen.shows("a draft");
    has_no_stale_cell(&mut screen);
    assert!(is_whole(&screen.raw));
}

#[test]
fn every_dialog_lives_through_a_hundred_sizes() {
    let world = World::new();
    let server = Server::start(vec![calls(&["touch canary; echo 中文"]), text("All done.")]);
    let url = server.url();
    let mut screen = Screen::start(&world, &["--url", &url, "--model", "m"], 120, 40);
    let mut sizes = sizes();
    let mut storm = |screen: &mut Screen, seen: &str| {
        for (columns, rows) in sizes.by_ref().take(100) {
            screen.resize_unseen(columns, rows);
            screen.settle(Duration::from_millis(3));
        }
        screen.resize(120, 40);
        screen.shows(seen);
        has_no_stale_cell(screen);
    };
    screen.ask("go");
    screen.shows("Allow this command?");
    storm(&mut screen, "Allow this command?");
    screen.shows("▸ y once");
    screen.keys("e");
    screen.hides("▸ y once");
    storm(&mut screen, "touch canary");
    screen.keys("\x1b");
    screen.shows("▸ y once");
    screen.keys("r");
    screen.hides("▸ y once");
    storm(&mut screen, "Allow this command?");
    screen.keys("\x1b");
    screen.shows("▸ y once");
    assert!(!world.project().join("canary").exists(), "no size decides anything");
    screen.keys("y");
    screen.shows("All done.");
    screen.keys("\x1bOP");
    screen.shows("sends the prompt");
    storm(&mut screen, "sends the prompt");
    screen.keys("\x1b");
    screen.hides("sends the prompt");
    screen.keys("\t\t");
    screen.shows("▸Tools");
    screen.keys("\r");
    screen.shows("canary");
    storm(&mut screen, "canary");
}

/// Writes while the program's answer is read, as a terminal does.
fn paste(screen: &mut Screen, text: &str) {
    for piece in text.as_bytes().chunks(2048) {
        screen.bytes(piece);
        screen.settle(Duration::ZERO);
    }
}

fn prompt_of(server: &Server) -> String {
    let requests = server.requests();
    let body: serde_json::Value = serde_json::from_slice(&requests[0].body).unwrap();
    body["messages"][1]["content"].as_str().unwrap().to_owned()
}

#[test]
fn a_huge_paste_is_one_text_and_sent_exactly() {
    let world = World::new();
    let server = Server::start(vec![text("Got it.")]);
    let url = server.url();
    let mut screen = Screen::start(&world, &["--url", &url, "--model", "m"], 120, 40);
    let line = "a line of text with 中文 in it, until a MiB is full\r\n";
    let mut pasted = line.repeat((1 << 20) / line.len());
    pasted.push_str("the last line");
    let began = Instant::now();
    paste(&mut screen, &format!("\x1b[200~{pasted}\x1b[201~"));
    screen.shows("[pasted ");
    let took = began.elapsed();
    assert!(took < Duration::from_secs(5), "a second is promised, not to a busy machine: {took:?}");
    screen.keys("!");
    screen.shows("]!");
    assert!(server.requests().is_empty(), "nothing was submitted");
    screen.keys("\r");
    screen.shows("Got it.");
    assert_eq!(prompt_of(&server), format!("{}!", pasted.replace("\r\n", "\n")));
}

#[test]
fn a_paste_of_many_lines_without_marks_is_not_submitted() {
    let world = World::new();
    let server = Server::start(vec![text("Got it.")]);
    let url = server.url();
    let mut screen = Screen::start(&world, &["--url", &url, "--model", "m"], 120, 40);
    let numbers: Vec<String> = (0..20_000).map(|n| n.to_string()).collect();
    let pasted = format!("{}\r", numbers.join("\r"));
    let began = Instant::now();
    paste(&mut screen, &pasted);
    screen.shows("[pasted 20000 lines");
    let took = began.elapsed();
    assert!(took < Duration::from_secs(5), "a second is promised, not to a busy machine: {took:?}");
    screen.rests();
    assert!(server.requests().is_empty(), "nothing was submitted");
    screen.keys("end");
    screen.shows("]end");
    screen.keys("\r");
    screen.shows("Got it.");
    assert_eq!(prompt_of(&server), format!("{}end", pasted.replace('\r', "\n")));
}

#[test]
fn a_paste_that_claims_to_end_early_submits_and_runs_nothing() {
    let world = World::new();
    let server = Server::start(vec![text("Got it.")]);
    let url = server.url();
    let mut screen = Screen::start(&world, &["--url", &url, "--model", "m"], 120, 40);
    screen.keys("\x1b[200~one\x1b[201~\rtwo\r\x03\x03\x04three\r\x1b[201~");
    screen.shows("three");
    screen.rests();
    assert!(server.requests().is_empty(), "nothing was submitted");
    screen.shows("one");
    screen.shows("two");
}

/// Half a sequence from the keyboard (Alt-[) holds nothing up.
#[test]
fn half_a_sequence_stops_neither_the_stream_nor_the_end() {
    let world = World::new();
    let server = Server::start(vec![in_two_halves()]);
    let url = server.url();
    let mut screen = Screen::start(&world, &["--url", &url, "--model", "m"], 120, 40);
    screen.ask("go");
    screen.shows("The first half");
    screen.keys("\x1b[");
    screen.rests();
    server.release();
    screen.shows("the second half.");
    screen.shows("answered");
    screen.signal(Signal::TERM);
    assert_eq!(screen.end().exit_code(), 128 + 15);
    assert!(screen.is_restored());
}

#[test]
fn hostile_text_from_everywhere_stays_text() {
    let bad = "\x1b]0;T\x07\x1b]8;;http://x\x07\x1b]52;c;QQ==\x07\x1bPq\x1b\\\x1b_x\x1b\\\x1b[6n\x1b[2J\x1bc\u{9b}31m\u{9d}0;T\u{9c}\x1b]0;never ended";
    let world = World::new();
    let wide = format!("{bad} seen in text");
    let output = "printf '\\033]0;T\\007\\033]52;c;QQ==\\007\\033Pq\\033\\134\\033[6n\\033[2J\\033cseen in output\\033]0;'";
    let refusal = serde_json::json!({ "error": { "message": format!("{bad} seen in error") } });
    let server = Server::start(vec![
        calls(&[output]),
        text(&wide),
        status("400 Bad Request", "application/json", &refusal.to_string()),
    ]);
    let url = server.url();
    let arguments = ["--url", &url, "--model", "m\x1b]0;T\x07seen in model", "--yolo"];
    let mut screen = Screen::start(&world, &arguments, 120, 40);
    screen.shows("seen in model");
    screen.ask("go");
    screen.shows("seen in text");
    screen.shows("answered");
    screen.keys("\t\t");
    screen.shows("▸Tools");
    screen.keys("\r");
    screen.shows("seen in output");
    screen.keys("\x1b");
    screen.hides("seen in output");
    screen.keys("\x1b");
    screen.shows("▸Prompt");
    screen.ask("more");
    screen.shows("seen in error");
    let raw = String::from_utf8_lossy(&screen.raw).into_owned();
    assert!(is_whole(&screen.raw));
    // limpid's own title is the only thing of its kind.
    let rest = raw.replace("\x1b]2;", "");
    for forbidden in ["\x1b]", "\x1bP", "\x1b_", "\x1bc", "\x1b[6n", "\u{9b}", "\u{9d}", "\u{9c}"] {
        assert!(!rest.contains(forbidden), "{forbidden:?} reached the terminal");
    }
    assert_eq!(raw.matches("\x1b[2J").count(), 1, "only the first frame clears");
}

#[test]
fn an_idle_program_writes_nothing_and_sleeps() {
    let world = World::new();
    let mut screen = Screen::start(&world, OFFLINE, 120, 40);
    screen.ask("hello");
    screen.shows("answered");
    screen.rests();
    let ticks = |screen: &Screen| -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", screen.pid())).unwrap();
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    let (bytes, before) = (screen.raw.len(), ticks(&screen));
    screen.settle(Duration::from_secs(3));
    assert_eq!(screen.raw.len(), bytes);
    assert!(ticks(&screen) - before <= 3, "a hundredth of the time at most");
}

#[test]
fn a_stream_costs_the_terminal_about_what_it_says() {
    // Two seconds are at most 60 large frames. Painting the pane anew in each costs 17 times the text.
    // A theme that paints its own ground writes the blanks as well.
    for theme in ["ansi", "dark"] {
        stream_in(theme, 7);
    }
}

fn stream_in(theme: &str, times: usize) {
    let world = World::new();
    let mut steps = vec![sse_head()];
    let mut said = 0;
    for n in 0..400 {
        let words = format!("word{n} and some more of it {}", if n % 9 == 8 { "\\n" } else { "" });
        said += words.len();
        steps.push(chunk(&format!("{{\"content\":\"{words}\"}}"), None));
        steps.push(Step::Pause(Duration::from_millis(5)));
    }
    steps.extend([chunk("{\"content\":\" the end\"}", Some("stop")), done()]);
    let server = Server::start(vec![steps]);
    let url = server.url();
    let arguments = ["--url", &url, "--model", "m", "--theme", theme];
    let mut screen = Screen::start(&world, &arguments, 120, 40);
    screen.ask("go");
    let before = screen.raw.len();
    screen.shows("the end");
    screen.shows("answered");
    let cost = screen.raw.len() - before;
    assert!(cost < said * times, "{theme}: {said} bytes of text cost {cost} bytes");
    has_no_stale_cell(&mut screen);
}
