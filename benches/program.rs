//! The whole program on a terminal of its own, against a model server on loopback, beside a program
//! that does next to nothing: this one, started with `--nothing`. Prints each figure and its budget.
//!
//! `cargo bench --bench program`; takes about half a minute, on Linux. What the terminal and its
//! reading take is in both columns.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    missing_docs
)]

#[path = "long_journal/mod.rs"]
mod long_journal;
#[path = "../tests/support/mod.rs"]
mod support;

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use portable_pty::CommandBuilder;
use support::limpid::{World, binary};
use support::pty::Screen;
use support::server::{Server, Step, calls, chunk, done, sse_head, text};

const NOTHING: &str = "--nothing";
const COLUMNS: u16 = 120;
const ROWS: u16 = 40;
/// Does not occur on either screen before it is typed.
const PROBE: char = 'Q';

fn main() {
    if std::env::args().any(|argument| argument == NOTHING) {
        nothing();
        return;
    }
    let load = std::fs::read_to_string("/proc/loadavg").unwrap();
    println!("load of the machine: {}", load.trim());
    println!("{:<44} {:>12} {:>12}   budget", "", "limpid", "nothing");
    startup();
    idle();
    streaming();
    burst();
    long_history();
    resume();
    trivial_command();
    large_output();
    let size = binary().metadata().unwrap().len() as f64 / 1e6;
    row("the program, MB", &format!("{size:.1}"), "", "15");
}

fn row(what: &str, own: &str, nothing: &str, budget: &str) {
    println!("{what:<44} {own:>12} {nothing:>12}   {budget}");
}

/// A full screen that shows some words and then what is typed; Ctrl-C ends it.
fn nothing() {
    use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
    enable_raw_mode().unwrap();
    let mut out = std::io::stdout().lock();
    let mut write = |bytes: &[u8]| {
        out.write_all(bytes).unwrap();
        out.flush().unwrap();
    };
    write(b"\x1b[?1049h\x1b[2J\x1b[HA screen that does next to nothing.\r\n");
    let mut input = std::io::stdin().lock();
    let mut key = [0];
    while input.read(&mut key).is_ok_and(|count| count == 1) && key[0] != 3 {
        let echo = if key[0] == 0x7f { b"\x08 \x08" } else { &key[..] };
        write(echo);
    }
    write(b"\x1b[?1049l");
    disable_raw_mode().unwrap();
}

fn start_nothing(world: &World) -> Screen {
    let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
    command.arg(NOTHING);
    Screen::run(world, command, COLUMNS, ROWS, &[])
}

/// limpid with a server that answers so.
fn start(world: &World, server: &Server) -> Screen {
    let arguments = ["--url", &server.url(), "--model", "m", "--yolo"];
    Screen::start(world, &arguments, COLUMNS, ROWS)
}

fn median(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    (values[values.len() / 2], values[values.len() * 95 / 100])
}

fn kilobytes(bytes: usize) -> String {
    format!("{:.0} kB", bytes as f64 / 1e3)
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

// -- the figures -----------------------------------------------------------------------------

fn startup() {
    let world = World::new();
    let measure = |open: &dyn Fn() -> Screen| {
        let mut firsts = Vec::new();
        let mut readies = Vec::new();
        for _ in 0..9 {
            let began = Instant::now();
            let mut screen = open();
            screen.until("a first frame", |text| text.split_whitespace().count() > 5);
            firsts.push(ms(began.elapsed()));
            screen.keys(&PROBE.to_string());
            screen.until("the first key", |text| text.contains(PROBE));
            readies.push(ms(began.elapsed()));
            // The first run is not warm.
        }
        (median(firsts[1..].to_vec()).0, median(readies[1..].to_vec()).0)
    };
    let offline = ["--offline"];
    let (first, ready) = measure(&|| Screen::open(&world, &offline, COLUMNS, ROWS, &[]));
    let (floor_first, floor_ready) = measure(&|| start_nothing(&world));
    let ms = |value: f64| format!("{value:.1} ms");
    row("start to first frame", &ms(first), &ms(floor_first), "2 × nothing");
    row("start to first key on the screen", &ms(ready), &ms(floor_ready), "2 × nothing");
}

/// Median and 95th percentile of the time from a key to the screen, in words.
fn echo(screen: &mut Screen, keys: usize) -> String {
    let mut times = Vec::new();
    let before = screen.text().matches(PROBE).count();
    let mut typed = before;
    for _ in 0..keys {
        typed += 1;
        let began = Instant::now();
        screen.keys(&PROBE.to_string());
        screen.until("a key", |text| text.matches(PROBE).count() >= typed);
        times.push(ms(began.elapsed()));
        screen.settle(Duration::from_millis(12));
    }
    for _ in before..typed {
        screen.keys("\x7f");
    }
    screen.until("no key", |text| text.matches(PROBE).count() <= before);
    let (median, most) = median(times);
    format!("{median:.1} / {most:.1} ms")
}

fn idle() {
    let (world, server) = (World::new(), Server::start(vec![text("Hello.")]));
    let mut screen = start(&world, &server);
    let mut floor = start_nothing(&world);
    let (own, nothing) = (echo(&mut screen, 60), echo(&mut floor, 60));
    row("key to screen, idle, median / 95 %", &own, &nothing, "1 / 2.5 ms");
    screen.settle(Duration::from_secs(2));
    let (wakes, bytes) = (Process(screen.pid()).wakes(), screen.raw.len());
    screen.settle(Duration::from_secs(5));
    let wakes = Process(screen.pid()).wakes() - wakes;
    row("idle for 5 s: wake-ups", &wakes.to_string(), "", "0");
    row("idle for 5 s: bytes to the terminal", &(screen.raw.len() - bytes).to_string(), "", "0");
    let memory = |screen: &Screen| match Process(screen.pid()).pss() {
        Some(pss) => format!("{pss:.1} MB"),
        // limpid's memory is private.
        None => "only root".to_owned(),
    };
    row("idle: memory (PSS)", &memory(&screen), &memory(&floor), "10 MB");
}

/// A paragraph has so many words.
fn end_of(number: usize, words: usize) -> &'static str {
    if number % words == words - 1 { "\\n\\n" } else { "" }
}

/// Submits a prompt and waits for words on the screen (one: words may be wrapped).
fn ask(screen: &mut Screen, prompt: &str, answer: &str) -> Duration {
    screen.keys(prompt);
    screen.shows(prompt);
    screen.settle(Duration::from_millis(300));
    let began = Instant::now();
    screen.keys("\r");
    screen.shows(answer);
    began.elapsed()
}

fn streaming() {
    let mut script = vec![sse_head()];
    let mut said = 0;
    for number in 0..400 {
        let words = format!("word{number} and some more of it {}", end_of(number, 9));
        said += words.len();
        script.push(chunk(&format!(r#"{{"content":"{words}"}}"#), None));
        script.push(Step::Pause(Duration::from_millis(10)));
    }
    script.extend([chunk(r#"{"content":"DONE."}"#, Some("stop")), done()]);
    let (world, server) = (World::new(), Server::start(vec![text("Hello."), script]));
    let mut screen = start(&world, &server);
    ask(&mut screen, "hi", "Hello.");
    let process = Process(screen.pid());
    let (cpu, written) = (process.cpu(), screen.raw.len());
    let took = ask(&mut screen, "go", "DONE.").as_secs_f64();
    let share = process.cpu().saturating_sub(cpu).as_secs_f64() / took * 100.0;
    let written = kilobytes(screen.raw.len() - written);
    row("100 tokens/s: CPU", &format!("{share:.1} %"), "", "");
    row("100 tokens/s: to the terminal", &written, &format!("{} said", kilobytes(said)), "");
    ask(&mut screen, "go", "turn 3");
    let own = echo(&mut screen, 60);
    row("100 tokens/s: key to screen, median / 95 %", &own, "", "1.5 / 4 ms");
}

fn burst() {
    let mut bytes = Vec::new();
    for number in 0..20_000 {
        let content = format!(r#"{{"content":"word{number} {}"}}"#, end_of(number, 12));
        let Step::Send(event) = chunk(&content, None) else { unreachable!() };
        bytes.extend(event);
    }
    let end = chunk(r#"{"content":"DONE."}"#, Some("stop"));
    let long = vec![sse_head(), Step::Send(bytes), end, done()];
    let (world, server) = (World::new(), Server::start(vec![text("Hello."), long]));
    let mut screen = start(&world, &server);
    // The first turn makes the client.
    ask(&mut screen, "hi", "Hello.");
    let process = Process(screen.pid());
    let (cpu, written) = (process.cpu(), screen.raw.len());
    let took = ask(&mut screen, "go", "DONE.").as_secs_f64();
    screen.settle(Duration::from_millis(500));
    let cpu = process.cpu().saturating_sub(cpu).as_secs_f64();
    let written = kilobytes(screen.raw.len() - written);
    row("20,000 tokens at once: time", &format!("{took:.3} s"), "", "0.1 s");
    row("20,000 tokens at once: CPU", &format!("{cpu:.3} s"), "", "0.1 s");
    row("20,000 tokens at once: to the terminal", &written, "", "150 kB");
    let resident = format!("{:.1} MB", process.status("VmRSS"));
    row("20,000 tokens at once: resident afterwards", &resident, "", "20 MB");
}

fn long_history() {
    let lines = "a line of code\\n".repeat(20_000);
    let content = chunk(&format!(r#"{{"content":"```\n{lines}```\nDONE."}}"#), Some("stop"));
    let (world, server) = (World::new(), Server::start(vec![vec![sse_head(), content, done()]]));
    let mut screen = start(&world, &server);
    ask(&mut screen, "go", "DONE.");
    screen.settle(Duration::from_millis(500));
    let own = echo(&mut screen, 60);
    row("20,000 lines: key to screen, median / 95 %", &own, "", "1.5 / 4 ms");
}

/// Beside it, how long the same bytes take to be read.
fn resume() {
    let world = World::new();
    std::fs::create_dir_all(world.data()).unwrap();
    let sessions = world.data().join("limpid/sessions");
    let session = long_journal::write(&sessions, &world.project(), 100 << 20);
    let mut own = Vec::new();
    let mut reading = Vec::new();
    for _ in 0..5 {
        let began = Instant::now();
        std::hint::black_box(std::fs::read(session.join("journal.jsonl")).unwrap());
        reading.push(ms(began.elapsed()));
        let began = Instant::now();
        let mut screen = Screen::open(&world, &["resume"], COLUMNS, ROWS, &[]);
        screen.until("the end of the session", |text| text.contains("What I found"));
        own.push(ms(began.elapsed()));
    }
    let ms = |times| format!("{:.0} ms", median(times).0);
    row("resume 100 MiB: first screen", &ms(own), &ms(reading), "300 ms");
}

fn trivial_command() {
    const TIMES: usize = 9;
    let mut script = vec![calls(&["echo hi"]); TIMES];
    script.push(text("DONE."));
    let (world, server) = (World::new(), Server::start(script));
    let mut screen = start(&world, &server);
    ask(&mut screen, "go", "DONE.");
    let journal = world.sessions().pop().unwrap().join("journal.jsonl");
    let journal = std::fs::read_to_string(journal).unwrap();
    let times = |what: &str| -> Vec<f64> {
        let lines = journal.lines().filter(|line| line.contains(what));
        lines
            .map(|line| {
                serde_json::from_str::<serde_json::Value>(line).unwrap()["at"].as_f64().unwrap()
            })
            .collect()
    };
    let (proposed, finished) = (times("\"call_proposed\""), times("\"call_finished\""));
    assert_eq!((proposed.len(), finished.len()), (TIMES, TIMES));
    let own = finished.iter().zip(proposed).map(|(finished, proposed)| finished - proposed);
    let shell = || {
        let began = Instant::now();
        std::process::Command::new("sh").args(["-c", "echo hi"]).output().unwrap();
        ms(began.elapsed())
    };
    let shell = median((0..TIMES).map(|_| shell()).collect()).0;
    let own = median(own.collect()).0;
    row(
        "`echo hi`, proposed to result",
        &format!("{own:.0} ms"),
        &format!("{shell:.1} ms sh"),
        "20 ms",
    );
}

fn large_output() {
    const COMMAND: &str = "yes | head -c 50000000";
    let (world, server) = (World::new(), Server::start(vec![calls(&[COMMAND]), text("DONE.")]));
    let mut screen = start(&world, &server);
    let took = ask(&mut screen, "go", "DONE.").as_secs_f64();
    let peak = Process(screen.pid()).status("VmHWM");
    let began = Instant::now();
    let output = std::process::Command::new("sh").args(["-c", COMMAND]).output().unwrap();
    let piped = began.elapsed().as_secs_f64();
    assert_eq!(output.stdout.len(), 50_000_000);
    let piped = format!("{piped:.2} s pipe");
    row("50 MB of output: time", &format!("{took:.2} s"), &piped, "2 × pipe");
    row("50 MB of output: most memory", &format!("{peak:.1} MB"), "", "30 MB");
}

// -- what the system knows of a process --------------------------------------------------------

#[derive(Clone, Copy)]
struct Process(u32);

impl Process {
    fn read(self, file: &str) -> Option<String> {
        std::fs::read_to_string(format!("/proc/{}/{file}", self.0)).ok()
    }

    /// A figure of `status`, in MB.
    fn status(self, name: &str) -> f64 {
        figure(&self.read("status").unwrap(), name) / 1024.0
    }

    fn pss(self) -> Option<f64> {
        Some(figure(&self.read("smaps_rollup")?, "Pss") / 1024.0)
    }

    /// A file of each thread.
    fn threads(self, file: &str) -> Vec<String> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.0)).unwrap();
        tasks
            .filter_map(|task| std::fs::read_to_string(task.unwrap().path().join(file)).ok())
            .collect()
    }

    /// How often its threads slept and were woken.
    fn wakes(self) -> u64 {
        let wakes = |status: &String| figure(status, "voluntary_ctxt_switches") as u64;
        self.threads("status").iter().map(wakes).sum()
    }

    /// What its threads took so far.
    fn cpu(self) -> Duration {
        let nanoseconds = |stat: &String| -> u64 {
            stat.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or(0)
        };
        Duration::from_nanos(self.threads("schedstat").iter().map(nanoseconds).sum())
    }
}

/// The number behind a name and a colon.
fn figure(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(f64::NAN)
}
