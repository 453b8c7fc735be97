//! What limpid does most often, each beside a simple baseline over the same bytes in the same run:
//! the ratio says more than the time, for it is the same on a slow or a busy machine.
//!
//! `cargo bench --bench kernels`; a word behind `--` chooses (`-- wrap`).
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::naive_bytecount,
    missing_docs
)]

#[path = "../tests/stage/mod.rs"]
mod stage;

use std::cell::Cell;
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput};
use limpid::conversation::{
    Block, Call, CallId, CallResult, History, Origin, Overlays, Record, Role, Stamped,
    ToolDefinition,
};
use limpid::session::{Journal, load};
use limpid::text::wrap;
use limpid::wire::{
    Assembler, Decoder, Dialect, End, Format, Parameters, Request, ResponseHead, Settings,
};
use serde::de::IgnoredAny;
use sha2::{Digest as _, Sha256};
use stage::{Stage, long};

/// Work and its baseline, and how many times longer the work takes. `bytes` is what both go over.
fn compare<A, B>(
    criterion: &mut Criterion,
    name: &str,
    baseline_name: &str,
    bytes: usize,
    mut work: impl FnMut() -> A,
    mut baseline: impl FnMut() -> B,
) {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Bytes(bytes as u64));
    let mut least = |what: &str, run: &mut dyn FnMut()| {
        let least = Cell::new(f64::INFINITY);
        group.bench_function(what, |bencher| {
            bencher.iter_custom(|times| {
                let start = Instant::now();
                for _ in 0..times {
                    run();
                }
                let took = start.elapsed();
                least.set(least.get().min(took.as_secs_f64() / times as f64));
                took
            });
        });
        least.get()
    };
    let own = least("limpid", &mut || drop(black_box(work())));
    let simple = least(baseline_name, &mut || drop(black_box(baseline())));
    group.finish();
    if own.is_finite() && simple.is_finite() {
        println!("{name}: {:.1} × {baseline_name}\n", own / simple);
    }
}

fn lines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

/// A stream of Chat Completions with so many tokens.
fn stream(tokens: usize) -> String {
    let chunk = |number: usize| {
        let delta = format!(r#"{{"content":" word{number}"}}"#);
        format!(
            "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":null}}]}}\n\n"
        )
    };
    (0..tokens).map(chunk).collect()
}

fn decode(bytes: &[u8]) -> usize {
    let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
    let mut decoder = Decoder::new(Format::OpenaiChat, &ResponseHead { status: 200, headers });
    let pieces = bytes.chunks(16 * 1024).map(|chunk| decoder.feed(chunk).len()).sum();
    black_box(decoder.finish(End::Eof));
    pieces
}

fn decoding(criterion: &mut Criterion) {
    // Events without text: what remains is finding them in the bytes.
    let comments = ": keep-alive, and a line that is as long as usual lines of a stream are\n\n";
    let comments = comments.repeat(20_000);
    compare(
        criterion,
        "events of a stream",
        "counting its lines",
        comments.len(),
        || decode(comments.as_bytes()),
        || lines(comments.as_bytes()),
    );
    let stream = stream(20_000);
    compare(
        criterion,
        "a reply of 20,000 tokens",
        "serde_json on its events",
        stream.len(),
        || decode(stream.as_bytes()),
        || {
            let events = stream.lines().filter_map(|line| line.strip_prefix("data: "));
            events.filter(|json| serde_json::from_str::<IgnoredAny>(json).is_ok()).count()
        },
    );
}

fn wrapping(criterion: &mut Criterion) {
    let english = "The quick brown fox jumps over the lazy dog. ".repeat(2_000);
    let chinese = "你好，世界。这是一个没有空格的长句子。".repeat(1_000);
    for (name, text) in [("wrap ASCII", english), ("wrap Chinese", chinese)] {
        let simple = || text.char_indices().filter(|(_, c)| c.is_whitespace()).count();
        compare(criterion, name, "looking at each char", text.len(), || wrap(&text, 80), simple);
    }
}

const MARKDOWN: &str = "## A heading\n\nSome *emphasis*, `code` and a [link](https://example.org).\n\n\
    - one\n- two **strong**\n\n```rust\nfn main() { println!(\"hello\"); }\n```\n\n\
    | a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n\n";

/// A frame for each of 200 pieces of a reply that is arriving, after so much of it.
fn streaming_frames(before: usize) -> Duration {
    let mut stage = Stage::new(120, 40);
    stage.prompt("go");
    stage.request();
    stage.text(&MARKDOWN.repeat(before / MARKDOWN.len()));
    stage.frame();
    let start = Instant::now();
    for piece in MARKDOWN.as_bytes().chunks(4).cycle().take(200) {
        stage.text(&String::from_utf8_lossy(piece));
        stage.frame();
    }
    start.elapsed()
}

/// These need not the whole machinery: it is the ratio that says something.
fn frames() {
    let best = |work: &mut dyn FnMut() -> Duration| (0..5).map(|_| work()).min().unwrap();
    let report = |what: &str, long: Duration, short: Duration, than: &str| {
        let ratio = long.as_secs_f64() / short.as_secs_f64();
        println!("{what}: {long:.1?} for 200 frames, {ratio:.2} × {than} ({short:.1?})\n");
    };
    let short = best(&mut || streaming_frames(1_000));
    let long = best(&mut || streaming_frames(200_000));
    report("Markdown that arrives after 200 kB", long, short, "after 1 kB");
    let scroll = |prompts: usize| {
        let mut stage = long::conversation(prompts);
        best(&mut || {
            let start = Instant::now();
            for number in 0..200 {
                stage.press(if number % 20 < 10 { PAGE_UP } else { PAGE_DOWN });
            }
            start.elapsed()
        })
    };
    let (short, long) = (scroll(20), scroll(1_000));
    report("scrolling through 20,000 lines", long, short, "through 400");
    let sizes = |prompts: usize| {
        let mut stage = long::conversation(prompts);
        best(&mut || {
            let start = Instant::now();
            for number in 0..200 {
                stage.resize(100 + number % 20, 40);
                stage.frame();
            }
            start.elapsed()
        })
    };
    let (short, long) = (sizes(20), sizes(1_000));
    report("20,000 lines in a new size", long, short, "400");
}

const PAGE_UP: crossterm::event::KeyCode = crossterm::event::KeyCode::PageUp;
const PAGE_DOWN: crossterm::event::KeyCode = crossterm::event::KeyCode::PageDown;

/// A history of so many turns, each with a call and its result.
fn history(turns: usize) -> History {
    let mut history = History::default();
    history.append(Role::System, Origin::System, vec![Block::Text(stage::SYSTEM.to_owned())]);
    history.append(Role::User, Origin::User, vec![Block::Text("List the files.".to_owned())]);
    for turn in 0..turns {
        let id = CallId(format!("call_{turn}"));
        let arguments = r#"{"command":"ls -la *.py"}"#.to_owned();
        let call = Call { id: id.clone(), name: "bash".to_owned(), arguments };
        let said = Block::Text("I'll look at the next of them.".to_owned());
        history.append(Role::Assistant, Origin::Model, vec![said, Block::Call(call)]);
        let text = "-rw-r--r-- 1 me me 4096 app.py\n".repeat(60);
        let result = CallResult { call: id, text, is_error: false };
        history.append(Role::Tool, Origin::Tool, vec![Block::Result(result)]);
    }
    history
}

fn assemble(assembler: &mut Assembler, history: &History) -> Request {
    let settings = Settings {
        format: Format::OpenaiChat,
        model: "m".to_owned(),
        tools: vec![ToolDefinition {
            name: "bash",
            description: "Runs a command.",
            parameters: r#"{"type":"object","properties":{"command":{"type":"string"}}}"#,
        }],
        dialect: Dialect::default(),
        parameters: Parameters::default(),
    };
    assembler.assemble(history.entries(), &Overlays::default(), &settings)
}

fn requests(criterion: &mut Criterion) {
    let history = history(200);
    let mut assembler = Assembler::default();
    let request = assemble(&mut assembler, &history);
    let body: String = request.parts.iter().map(|part| &*part.text).collect();
    compare(
        criterion,
        "request of 200 turns, all but the first time",
        "SHA-256 of its body",
        body.len(),
        || assemble(&mut assembler, &history).sha256,
        || Sha256::digest(body.as_bytes()),
    );
    compare(
        criterion,
        "request of 200 turns, the first time",
        "SHA-256 of its body",
        body.len(),
        || assemble(&mut Assembler::default(), &history).sha256,
        || Sha256::digest(body.as_bytes()),
    );
}

fn journal(criterion: &mut Criterion) {
    let records: Vec<Stamped> = history(200)
        .entries()
        .iter()
        .map(|entry| Stamped { at: 1_800_000_000_000, record: Record::Entry(entry.clone()) })
        .collect();
    let lines: Vec<String> =
        records.iter().map(|record| serde_json::to_string(record).unwrap() + "\n").collect();
    let bytes = lines.iter().map(String::len).sum();
    let directory = tempfile::tempdir().unwrap();
    let sessions = directory.path().join("limpid/sessions");
    let mut written = Journal::create(&sessions, directory.path(), 1_800_000_000_000).unwrap();
    for record in &records {
        written.append(record).unwrap();
    }
    let path = written.path().to_owned();
    let mut now = 1_800_000_000_000;
    compare(
        criterion,
        "journal, 402 records written",
        "a write each",
        bytes,
        || {
            now += 1_000;
            let mut journal = Journal::create(&sessions, directory.path(), now).unwrap();
            for record in &records {
                journal.append(record).unwrap();
            }
            std::fs::remove_dir_all(journal.path()).unwrap();
        },
        || {
            use std::io::Write as _;
            let mut file = tempfile::tempfile_in(directory.path()).unwrap();
            for line in &lines {
                file.write_all(line.as_bytes()).unwrap();
            }
        },
    );
    compare(
        criterion,
        "journal, 402 records read",
        "serde_json on its lines",
        bytes,
        || load(&path).unwrap(),
        || {
            let text = std::fs::read_to_string(path.join("journal.jsonl")).unwrap();
            text.lines().filter(|line| serde_json::from_str::<IgnoredAny>(line).is_ok()).count()
        },
    );
}

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(500))
        .without_plots()
        .configure_from_args();
    decoding(&mut criterion);
    wrapping(&mut criterion);
    requests(&mut criterion);
    journal(&mut criterion);
    frames();
    criterion.final_summary();
}
