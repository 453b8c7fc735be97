//! Journals that were cut at any place, damaged in any way, or lost their end: a session goes on from
//! what is left of its history, whole, or is refused; nothing runs twice.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use std::path::{Path, PathBuf};
use std::time::Duration;

use limpid::session::{load, reopen};
use limpid::wire::{Assembler, Dialect, Format, Parameters, Settings};
use serde_json::Value;
use support::limpid::{World, stderr, wait_until};
use support::resuming::{is_strict, kill, messages, on, quit, refused, results, resume, start};
use support::server::{Server, Step, calls, sse_head, text};

/// A journal that lost its end, as on a full disk, gives the numbers of turns once more.
#[test]
fn an_answer_of_a_lost_turn_is_not_taken_for_that_of_another() {
    let world = World::new();
    let stalls = vec![sse_head(), Step::Hold];
    let server = Server::start(vec![text("One."), text("LOST ANSWER."), stalls]);
    let mut screen = start(&world, &server, &[]);
    screen.ask("one");
    screen.shows("One.");
    screen.rests();
    let whole = world.journal();
    screen.ask("lost");
    screen.shows("LOST ANSWER.");
    screen.rests();
    quit(screen);
    let session = world.sessions()[0].clone();
    std::fs::write(session.join("journal.jsonl"), whole).unwrap();
    let mut screen = resume(&world, &server, &[]);
    screen.ask("two");
    wait_until("it is posted", || server.requests().len() == 3);
    kill(screen);
    let screen = resume(&world, &server, &[]);
    assert!(!screen.text().contains("LOST ANSWER"), "{}", screen.text());
    quit(screen);
    let files = std::fs::read_dir(session.join("exchanges")).unwrap().flatten();
    let names: Vec<String> = files.map(|file| file.file_name().into_string().unwrap()).collect();
    assert!(names.iter().any(|name| name.starts_with("0002-1.http.lost-")), "{names:?}");
}

/// Killed while its beginning was written: the model is told all of it.
#[test]
fn a_session_without_its_beginning_is_begun_anew() {
    let world = World::new();
    std::fs::write(world.project().join("AGENTS.md"), "Speak softly.").unwrap();
    let server = Server::start(vec![text("One.")]);
    let arguments = on(&server);
    let mut exec = vec!["exec", "one"];
    exec.extend(arguments.iter().map(String::as_str));
    assert!(world.run(&exec).status.success());
    let journal = world.sessions()[0].join("journal.jsonl");
    let whole = world.journal();
    for lines in 1..=3 {
        let seen = server.requests().len();
        let cut: String = whole.split_inclusive('\n').take(lines).collect();
        std::fs::write(&journal, cut).unwrap();
        let mut screen = resume(&world, &server, &[]);
        screen.ask("go on");
        wait_until("it is posted", || server.requests().len() > seen);
        let told = messages(&server.requests()[seen]);
        assert_eq!(told.len(), 3, "{lines}: {told:#?}");
        assert_eq!(told[0]["role"], "system");
        assert!(told[1]["content"].as_str().unwrap().contains("Speak softly."), "{told:#?}");
        screen.rests();
        quit(screen);
    }
}

/// A session as it was when limpid was killed with so much of its journal written.
fn cut_to(world: &World, whole: &Path, journal: &[u8]) -> PathBuf {
    let session = world.sessions().pop().unwrap();
    std::fs::remove_dir_all(&session).unwrap();
    for sub in ["exchanges", "outputs"] {
        std::fs::create_dir_all(session.join(sub)).unwrap();
    }
    let text = String::from_utf8_lossy(journal).into_owned();
    for file in std::fs::read_dir(whole.join("exchanges")).unwrap().flatten() {
        let name = file.file_name().into_string().unwrap();
        let turn = name.trim_start_matches('0').split('-').next().unwrap();
        if text.contains(&format!(r#"{{"attempt":{{"turn":{turn},"#)) {
            std::fs::copy(file.path(), session.join("exchanges").join(name)).unwrap();
        }
    }
    std::fs::write(session.join("journal.jsonl"), journal).unwrap();
    session
}

/// G3: every moment between two records, and some within one, at which a kill may come.
#[test]
fn a_session_goes_on_from_wherever_it_was_cut() {
    let world = World::new();
    let server = Server::start(vec![
        calls(&["echo first >> ran", "echo second >> ran"]),
        text("The answer."),
        text("And on."),
    ]);
    let arguments = on(&server);
    let mut exec = vec!["exec", "--yolo", "go"];
    exec.extend(arguments.iter().map(String::as_str));
    let made = world.run(&exec);
    assert!(made.status.success(), "{}", stderr(&made));
    let whole = world.home().join("whole");
    let copied =
        std::process::Command::new("cp").arg("-a").arg(&world.sessions()[0]).arg(&whole).status();
    assert!(copied.unwrap().success());
    let journal = std::fs::read(whole.join("journal.jsonl")).unwrap();
    let ran = world.project().join("ran");
    assert_eq!(std::fs::read_to_string(&ran).unwrap(), "first\nsecond\n");

    let mut ends = Vec::new();
    for (at, byte) in journal.iter().enumerate() {
        if *byte == b'\n' {
            ends.push(at + 1);
            let within = (ends.len() % 3 == 0 && at + 9 < journal.len()).then_some(at + 9);
            ends.extend(within);
        }
    }
    for end in ends {
        let seen = server.requests().len();
        cut_to(&world, &whole, &journal[..end]);
        let mut screen = resume(&world, &server, &["--yolo"]);
        screen.ask("go on");
        screen.shows("And on.");
        screen.rests();
        let request = server.requests()[seen].clone();
        let told = messages(&request);
        assert!(is_strict(&told), "{end}: {told:#?}");
        assert_eq!(told.last().unwrap()["content"], "go on", "{end}");
        // Of both replies all bytes had arrived; they were not asked for in vain.
        let written = String::from_utf8_lossy(&journal[..end]).into_owned();
        let posted = |turn: u32| written.contains(&format!(r#"{{"attempt":{{"turn":{turn},"#));
        let has = |told: &str| request.body.windows(told.len()).any(|at| at == told.as_bytes());
        assert_eq!(posted(1), has("second >> ran"), "{end}: {told:#?}");
        assert_eq!(posted(2), has("The answer."), "{end}: {told:#?}");
        quit(screen);
        assert_eq!(std::fs::read_to_string(&ran).unwrap(), "first\nsecond\n", "{end}: run again");
        let turns = world.run(&["inspect", "last", "--body"]);
        assert_eq!(turns.stdout, request.body, "{end}: {}", stderr(&turns));
    }
}

#[test]
fn a_damaged_line_is_named_and_never_makes_another_history() {
    let world = World::new();
    let server = Server::start(vec![calls(&["echo hi"]), text("The answer."), text("And on.")]);
    let arguments = on(&server);
    let mut exec = vec!["exec", "--yolo", "go"];
    exec.extend(arguments.iter().map(String::as_str));
    assert!(world.run(&exec).status.success());
    let whole = world.home().join("whole");
    std::fs::rename(&world.sessions()[0], &whole).unwrap();
    std::fs::create_dir(world.data().join("limpid/sessions/2026-01-01-000000-1")).unwrap();
    let journal = std::fs::read_to_string(whole.join("journal.jsonl")).unwrap();
    let lines: Vec<&str> = journal.split_inclusive('\n').collect();
    let newest = lines.iter().rposition(|line| line.contains(ENTRY)).unwrap();
    let before = messages(&server.requests()[1]);
    let (mut went_on, mut refusals) = (0, 0);
    for damaged in 1..lines.len() {
        let mut copy = lines.clone();
        copy[damaged] = "{\"at\":1,damaged\n";
        cut_to(&world, &whole, copy.concat().as_bytes());
        if lines[damaged].contains(ENTRY) && damaged != newest {
            let said = refused(&world, &["resume"]);
            assert!(said.contains("of its history is lost"), "{damaged}: {said}");
            refusals += 1;
            continue;
        }
        let seen = server.requests().len();
        let mut screen = resume(&world, &server, &[]);
        screen.shows(&format!("line {} of", damaged + 1));
        screen.ask("go on");
        screen.shows("And on.");
        let told = messages(&server.requests()[seen]);
        assert_eq!(told[..before.len()], before[..], "{damaged}");
        assert!(is_strict(&told), "{damaged}: {told:#?}");
        quit(screen);
        went_on += 1;
    }
    assert!(went_on > 10 && refusals == 4, "{went_on} {refusals}");
}

/// Whoever edits a journal may leave empty lines; they are nothing, and count as lines.
#[test]
fn empty_lines_are_nothing_and_the_others_keep_their_numbers() {
    let world = World::new();
    let server = Server::start(vec![text("The answer.")]);
    let arguments = on(&server);
    let mut exec = vec!["exec", "go"];
    exec.extend(arguments.iter().map(String::as_str));
    assert!(world.run(&exec).status.success());
    let session = world.sessions()[0].clone();
    let spaced = world.journal().replace('\n', "\n\n \t\r\n");
    std::fs::write(session.join("journal.jsonl"), &spaced).unwrap();
    let loaded = load(&session).unwrap();
    assert_eq!(loaded.notices, Vec::<String>::new());
    assert_eq!(loaded.session.turns.len(), 1);
    let number = spaced.lines().count() + 1;
    std::fs::write(session.join("journal.jsonl"), format!("{spaced}damaged\n\n")).unwrap();
    let notices = reopen(&session).unwrap().notices;
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0].starts_with(&format!("line {number} of ")), "{notices:?}");
}

const ENTRY: &str = r#""record":{"entry":"#;

/// G3: `LIMPID_KILLS` says how many; a few in every run.
#[test]
fn killed_at_any_moment_it_goes_on_and_runs_nothing_twice() {
    let kills = std::env::var("LIMPID_KILLS").ok().and_then(|kills| kills.parse().ok());
    let mut random = 0x9e37_79b9_u64 ^ u64::from(std::process::id());
    for kill_number in 0..kills.unwrap_or(6) {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        let world = World::new();
        let pause = Step::Pause(Duration::from_millis(20));
        let mut asking = calls(&["echo first >> ran; sleep 0.1", "echo second >> ran"]);
        asking.insert(2, pause.clone());
        let mut answer = text("The answer.");
        answer.insert(1, pause);
        let server = Server::start(vec![asking, answer, text("And on.")]);
        let mut screen = start(&world, &server, &["--yolo"]);
        screen.ask("go");
        wait_until("it is saved", || !world.sessions().is_empty());
        // A moment of a prompt that takes some 250 ms.
        std::thread::sleep(Duration::from_micros((random >> 33) % 300_000));
        kill(screen);
        let seen = server.requests().len();
        let ran = || std::fs::read_to_string(world.project().join("ran")).unwrap_or_default();
        let before = ran();
        let mut screen = resume(&world, &server, &["--yolo"]);
        screen.ask("go on");
        wait_until("it is posted", || server.requests().len() > seen);
        let told = messages(&server.requests()[seen]);
        assert!(is_strict(&told), "{kill_number}: {told:#?}");
        assert_eq!(told[1]["content"], "go");
        assert!(before.lines().count() <= 2, "{kill_number}: {before}");
        if before.lines().count() == 2 && results(&told).len() == 2 {
            assert!(!results(&told)[1].starts_with("Not run"), "{kill_number}: {told:#?}");
        }
        kill(screen);
    }
}

/// Whatever has become of a journal's bytes: it is refused, or what is left of it can be sent.
#[test]
fn no_damage_breaks_anything_down() {
    let world = World::new();
    let server = Server::start(vec![calls(&["echo hi", "echo ho"]), text("The answer.")]);
    let arguments = on(&server);
    let mut exec = vec!["exec", "--yolo", "go"];
    exec.extend(arguments.iter().map(String::as_str));
    assert!(world.run(&exec).status.success());
    let session = world.sessions()[0].clone();
    let path = session.join("journal.jsonl");
    let whole = std::fs::read(&path).unwrap();
    let header = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let mut random = 1_u64;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(random >> 33).unwrap() % below
    };
    let (mut opened, mut refused) = (0, 0);
    for _ in 0..3_000 {
        let mut damaged = whole.clone();
        for _ in 0..=next(3) {
            let at = header + next(damaged.len() - header);
            match next(4) {
                0 => damaged[at] = b"0919{}\",\n\0"[next(10)],
                1 => drop(damaged.drain(at..(at + 1 + next(40)).min(damaged.len()))),
                2 => damaged.insert(at, b"999999\n\"{"[next(9)]),
                _ => {
                    // Lines in another order, and twice.
                    let piece = damaged[header + next(at - header + 1)..at].to_vec();
                    damaged.splice(at..at, piece);
                }
            }
        }
        std::fs::write(&path, &damaged).unwrap();
        let Ok(reopened) = reopen(&session) else {
            refused += 1;
            continue;
        };
        opened += 1;
        let state = reopened.session.state();
        let mut assembler = Assembler::default();
        assembler.take_up(&reopened.session);
        let request = assembler.assemble(state.messages.entries(), &state.overlays, &settings());
        let body: String = request.parts.iter().map(|part| &*part.text).collect();
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body["model"], "m");
    }
    assert!(opened > 500 && refused > 100, "{opened} {refused}");

    // Numbers that would make it count on from nowhere, or go round in a circle.
    let whole = String::from_utf8(whole).unwrap();
    for (number, other) in [
        (r#""id":2,"parent":1"#, r#""id":2,"parent":4"#),
        (r#""id":2,"parent":1"#, r#""id":18446744073709551615,"parent":1"#),
        (r#""part":{"number":1,"#, r#""part":{"number":4294967295,"#),
        (r#""request":{"turn":1,"#, r#""request":{"turn":4294967295,"#),
    ] {
        let damaged = whole.replacen(number, other, 1);
        assert_ne!(damaged, whole, "{number}");
        std::fs::write(&path, damaged).unwrap();
        let loaded = load(&session).unwrap();
        assert!(loaded.notices[0].contains("a number that it cannot have"), "{number}");
    }
}

fn settings() -> Settings {
    Settings {
        format: Format::OpenaiChat,
        model: "m".to_owned(),
        tools: Vec::new(),
        dialect: Dialect::default(),
        parameters: Parameters::default(),
    }
}
