//! Going on with a session that has ended, in good order or by `kill -9`: what the screen shows, what
//! the next request says, and that nothing runs twice.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use std::path::{Path, PathBuf};
use std::time::Duration;

use limpid::session::{load, reopen};
use limpid::wire::{Assembler, Dialect, Format, Parameters, Settings};
use rustix::process::Signal;
use serde_json::Value;
use support::limpid::{OFFLINE, World, binary, is_running, stderr, wait_until};
use support::pty::Screen;
use support::server::{Request, Server, Step, calls, chunk, sse_head, text};

fn on(server: &Server) -> Vec<String> {
    ["--url", &server.url(), "--model", "m"].map(str::to_owned).to_vec()
}

fn start(world: &World, server: &Server, more: &[&str]) -> Screen {
    let arguments = on(server);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).chain(more.to_vec()).collect();
    Screen::start(world, &arguments, 120, 40)
}

fn resume(world: &World, server: &Server, more: &[&str]) -> Screen {
    let arguments = on(server);
    let arguments = arguments.iter().map(String::as_str).chain(more.to_vec());
    let arguments: Vec<&str> = std::iter::once("resume").chain(arguments).collect();
    let mut screen = Screen::open(world, &arguments, 120, 40, &[]);
    screen.shows("resumed: every command asks again");
    screen.rests();
    screen
}

fn kill(mut screen: Screen) {
    screen.signal(Signal::KILL);
    screen.end();
}

fn quit(mut screen: Screen) -> String {
    screen.keys("\x04");
    assert!(screen.end().success());
    assert!(screen.is_restored());
    screen.said()
}

fn messages(request: &Request) -> Vec<Value> {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    body["messages"].as_array().unwrap().clone()
}

/// What a strict server demands: each call has its one result, right after it and in order.
fn is_strict(messages: &[Value]) -> bool {
    let mut open: Vec<&Value> = Vec::new();
    for message in messages {
        if message["role"] == "tool" {
            if open.is_empty() || *open.remove(0) != message["tool_call_id"] {
                return false;
            }
            continue;
        }
        if !open.is_empty() {
            return false;
        }
        let calls = message["tool_calls"].as_array().map_or(&[][..], Vec::as_slice);
        open = calls.iter().map(|call| &call["id"]).collect();
    }
    open.is_empty()
}

/// What the model is told of its calls.
fn results(messages: &[Value]) -> Vec<&str> {
    let results = messages.iter().filter(|message| message["role"] == "tool");
    results.map(|message| message["content"].as_str().unwrap()).collect()
}

/// What a program says that opens no screen.
fn refused(world: &World, arguments: &[&str]) -> String {
    let mut screen = Screen::open(world, arguments, 200, 30, &[]);
    assert_eq!(screen.end().exit_code(), 2);
    screen.text()
}

#[test]
fn a_session_goes_on_where_it_was_left() {
    let world = World::new();
    let server = Server::start(vec![
        calls(&["echo one >> ran; echo hi"]),
        text("The first answer."),
        text("The second answer."),
    ]);
    let mut screen = start(&world, &server, &["--yolo"]);
    screen.ask("the first prompt");
    screen.shows("The first answer.");
    screen.rests();
    let said = quit(screen);
    let name = world.sessions()[0].file_name().unwrap().to_str().unwrap().to_owned();
    assert!(said.contains(&format!("limpid resume {name}")), "{said}");

    let mut screen = resume(&world, &server, &[&name]);
    for shown in ["the first prompt", "The first answer.", "echo one >> ran", "exit 0"] {
        assert!(screen.text().contains(shown), "{shown}: {}", screen.text());
    }
    screen.ask("the second prompt");
    screen.shows("The second answer.");
    screen.shows("turn 3");
    let requests = server.requests();
    let (before, after) = (messages(&requests[1]), messages(&requests[2]));
    assert_eq!(after[..before.len()], before[..], "what was sent is sent again, as it was");
    assert_eq!(after.len(), before.len() + 2);
    assert!(screen.text().contains("prefix kept"), "{}", screen.text());
    screen.rests();
    quit(screen);
    assert_eq!(world.sessions().len(), 1, "it is the same session");
    let shown = world.run(&["inspect", "last"]);
    assert!(shown.status.success(), "{}", stderr(&shown));
    assert_eq!(std::fs::read_to_string(world.project().join("ran")).unwrap(), "one\n");
}

/// Each part is journaled once, also where the program that knew its number has ended.
#[test]
fn a_part_that_was_sent_before_keeps_its_number() {
    let world = World::new();
    let server = Server::start(vec![text("The answer.")]);
    let mut screen = start(&world, &server, &[]);
    screen.ask("a prompt of its own");
    screen.shows("The answer.");
    screen.rests();
    quit(screen);
    let mut screen = resume(&world, &server, &[]);
    screen.ask("another");
    screen.shows("turn 2");
    screen.rests();
    quit(screen);
    let journal = world.journal();
    let parts = journal.lines().filter(|line| line.contains(r#""record":{"part""#));
    let of_prompt = parts.filter(|line| line.contains("a prompt of its own")).count();
    assert_eq!(of_prompt, 1, "{journal}");
}

#[test]
fn what_was_allowed_for_the_session_asks_again() {
    let world = World::new();
    let server = Server::start(vec![calls(&["echo hi"]), text("Done."), calls(&["echo hi"])]);
    let mut screen = start(&world, &server, &[]);
    screen.ask("go");
    screen.shows("▸ y once");
    screen.keys("a");
    screen.shows("Done.");
    screen.rests();
    quit(screen);
    let mut screen = resume(&world, &server, &[]);
    screen.ask("again");
    screen.shows("this exact command for the session");
    kill(screen);
}

/// A21
#[test]
fn a_call_that_waited_was_not_run_and_must_be_decided_again() {
    let world = World::new();
    let server = Server::start(vec![calls(&["touch ran"]), text("I see.")]);
    let mut screen = start(&world, &server, &[]);
    screen.ask("go");
    screen.shows("y once");
    kill(screen);
    let mut screen = resume(&world, &server, &[]);
    assert!(screen.text().contains("not run"), "{}", screen.text());
    assert!(!screen.text().contains("y once"), "{}", screen.text());
    assert!(screen.text().contains("/continue goes on"), "{}", screen.text());
    screen.keys("y");
    screen.rests();
    assert!(!world.project().join("ran").exists());
    screen.keys("\x7f");
    screen.ask("/continue");
    screen.shows("I see.");
    let told = messages(&server.requests()[1]);
    assert!(is_strict(&told), "{told:#?}");
    assert_eq!(results(&told), ["Not run: the program ended before this command was started."]);
    quit(screen);
}

#[test]
fn of_a_command_that_had_begun_nobody_knows_the_outcome() {
    let world = World::new();
    let server = Server::start(vec![
        calls(&["echo once >> ran; echo begun; sleep 4242", "echo second >> ran"]),
        text("I see."),
    ]);
    let mut screen = start(&world, &server, &["--yolo"]);
    screen.ask("go");
    // Of two calls the one that runs shows what it writes.
    screen.shows("│ begun");
    wait_until("the command runs", || is_running("sleep 4242"));
    kill(screen);
    wait_until("it ends with limpid", || !is_running("sleep 4242"));
    let mut screen = resume(&world, &server, &["--yolo"]);
    assert!(screen.text().contains("outcome unknown"), "{}", screen.text());
    assert!(screen.text().contains("known. Look first; /continue goes on."), "{}", screen.text());
    let receipt = world.journal();
    let receipt = receipt.lines().find(|line| line.contains(r#""status":"unknown""#)).unwrap();
    assert!(receipt.contains(r#""produced":6,"#) && receipt.contains("outputs/"), "{receipt}");
    screen.ask("what now?");
    screen.shows("I see.");
    let told = messages(&server.requests()[1]);
    assert!(is_strict(&told), "{told:#?}");
    let results = results(&told);
    assert!(results[0].contains("its outcome is unknown. Check"), "{told:#?}");
    assert!(results[1].starts_with("Not run: "), "{told:#?}");
    assert_eq!(std::fs::read_to_string(world.project().join("ran")).unwrap(), "once\n");
    quit(screen);
}

#[test]
fn what_had_arrived_of_a_reply_is_kept() {
    let world = World::new();
    let cut = vec![sse_head(), chunk(r#"{"content":"The first half"}"#, None), Step::Hold];
    let server = Server::start(vec![cut, text("The whole.")]);
    let mut screen = start(&world, &server, &[]);
    screen.ask("go");
    screen.shows("The first half");
    kill(screen);
    let mut screen = resume(&world, &server, &[]);
    assert!(screen.text().contains("The first half"), "{}", screen.text());
    screen.ask("/continue");
    screen.shows("The whole.");
    let told = messages(&server.requests()[1]);
    assert_eq!(told[2]["content"], "The first half");
    assert!(told[3]["content"].as_str().unwrap().contains("it is incomplete"), "{told:#?}");
    quit(screen);
    let usage = world.run(&["inspect", "last", "--turn", "1", "--usage"]);
    let usage = String::from_utf8(usage.stdout).unwrap();
    assert!(usage.contains("limpid ended before the reply did"), "{usage}");
}

#[test]
fn of_a_command_of_the_users_own_the_model_is_told_as_much() {
    let world = World::new();
    let server = Server::start(vec![text("The answer.")]);
    let mut screen = start(&world, &server, &[]);
    screen.ask("go");
    screen.shows("The answer.");
    screen.ask("!sleep 4243");
    wait_until("the command runs", || is_running("sleep 4243"));
    kill(screen);
    let mut screen = resume(&world, &server, &[]);
    assert!(screen.text().contains("outcome unknown"), "{}", screen.text());
    screen.ask("more");
    wait_until("it is posted", || server.requests().len() == 2);
    let told = messages(&server.requests()[1]);
    assert_eq!(told.len(), 5, "{told:#?}");
    let own = told[3]["content"].as_str().unwrap();
    assert!(own.contains("$ sleep 4243\nStarted, but the program ended"), "{own}");
    screen.rests();
    quit(screen);
}

#[test]
fn a_session_that_is_open_is_not_opened_twice() {
    let world = World::new();
    let mut first = Screen::start(&world, OFFLINE, 120, 40);
    first.ask("hello");
    first.shows("answered");
    let said = refused(&world, &["resume"]);
    assert!(said.contains("is open in another limpid"), "{said}");
    quit(first);
    let mut third = Screen::open(&world, &["resume"], 120, 40, &[]);
    third.shows("resumed: every command asks again");
    quit(third);
}

#[test]
fn it_goes_on_in_its_own_directory_with_its_own_model_and_parameters() {
    let world = World::new();
    let mut screen = Screen::start(&world, &["--offline", "--model", "offline-lenient"], 120, 40);
    screen.ask("/set temperature 0.25");
    screen.ask("hello");
    screen.shows("answered");
    screen.rests();
    quit(screen);
    let elsewhere = world.home().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let name = world.sessions()[0].file_name().unwrap().to_str().unwrap().to_owned();
    let resume = format!("cd {}; exec {} resume {name}", elsewhere.display(), binary().display());
    let mut shell = portable_pty::CommandBuilder::new("sh");
    shell.args(["-c", &resume]);
    // A key alone would make another profile the usual one.
    let key = [("DEEPSEEK_API_KEY", "k")];
    let mut screen = Screen::run(&world, shell, 120, 40, &key);
    screen.shows("resumed: every command asks again");
    screen.rests();
    screen.shows("offline-lenient @ scripted");
    assert!(!screen.text().contains("from here on"), "{}", screen.text());
    screen.ask("!pwd > where");
    wait_until("it ran", || world.project().join("where").exists());
    screen.ask("/set");
    screen.shows("0.25");
    screen.keys("\x1b");
    screen.hides("left to the server");
    quit(screen);
}

#[test]
fn no_journal_decides_where_what_was_said_goes() {
    let world = World::new();
    let server = Server::start(vec![text("The answer.")]);
    let mut screen = Screen::start_with(
        &world,
        &["--url", &server.url(), "--model", "m", "--key-env", "A_KEY"],
        120,
        40,
        &[("A_KEY", "secret-of-mine")],
    );
    screen.ask("go");
    screen.shows("The answer.");
    screen.rests();
    quit(screen);
    let said = refused(&world, &["resume"]);
    let way = format!("--url {} --model m --key-env A_KEY", server.url());
    assert!(said.replace('\n', "").contains(&way), "{said}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn what_cannot_be_resumed_says_why() {
    let world = World::new();
    assert!(refused(&world, &["resume"]).contains("no session has worked in"));
    assert!(refused(&world, &["resume", "2031"]).contains("begins with \"2031\""));
    let no_terminal = world.run(&["resume"]);
    assert_eq!(no_terminal.status.code(), Some(2));
    assert!(stderr(&no_terminal).contains("limpid exec"), "{}", stderr(&no_terminal));
    let project = world.project().join("gone");
    std::fs::create_dir(&project).unwrap();
    let made = world.limpid(&["exec", "--offline", "hello"]).current_dir(&project).output();
    assert!(made.unwrap().status.success());
    std::fs::remove_dir(&project).unwrap();
    let name = world.sessions()[0].file_name().unwrap().to_str().unwrap().to_owned();
    let before = world.journal();
    assert!(refused(&world, &["resume", &name]).contains("cannot be used"));
    assert_eq!(world.journal(), before);
}

/// What the offline model sealed goes back to it, though it listens at another port.
#[test]
fn reasoning_goes_back_to_the_offline_model() {
    for format in ["anthropic", "openai-responses"] {
        let world = World::new();
        let mut screen = Screen::start(&world, &[OFFLINE, &["--format", format]].concat(), 120, 40);
        screen.ask(r#"Think first: create a file called a.py that prints "hi""#);
        screen.shows("▸ y once");
        screen.keys("y");
        screen.shows("answered");
        screen.rests();
        quit(screen);
        let mut screen = Screen::open(&world, &["resume"], 120, 40, &[]);
        screen.shows("resumed: every command asks again");
        screen.rests();
        screen.ask("hello");
        screen.shows("turn 3 · answered");
        assert!(!screen.text().contains("sealed by another"), "{}", screen.text());
        quit(screen);
    }
}

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

#[test]
fn names_in_a_journal_cannot_drive_the_terminal() {
    let world = World::new();
    assert!(world.run(&["exec", "--offline", "hello"]).status.success());
    let journal = world.sessions()[0].join("journal.jsonl");
    let hostile = world.journal().replacen(
        world.project().to_str().unwrap(),
        r"/gone\u001b]0;pwned\u0007\u001b[31m",
        1,
    );
    std::fs::write(journal, hostile).unwrap();
    let name = world.sessions()[0].file_name().unwrap().to_str().unwrap().to_owned();
    for session in [name.as_str(), "\x1b]0;pwned\x07"] {
        let mut screen = Screen::open(&world, &["resume", session], 120, 40, &[]);
        assert_eq!(screen.end().exit_code(), 2);
        assert!(!String::from_utf8_lossy(&screen.raw).contains('\x1b'), "{:?}", screen.text());
    }
}

/// The one that was used last, not the one that was made last.
#[test]
fn without_a_name_the_session_that_was_used_last_goes_on() {
    let world = World::new();
    for prompt in ["the older one", "the newer one"] {
        let made = world.run(&["exec", "--offline", "--offline-pace", "full", prompt]);
        assert!(made.status.success());
    }
    let older = world.sessions()[0].file_name().unwrap().to_str().unwrap().to_owned();
    let mut screen = Screen::open(&world, &["resume", &older], 120, 40, &[]);
    screen.shows("the older one");
    screen.rests();
    quit(screen);
    let mut screen = Screen::open(&world, &["resume"], 120, 40, &[]);
    screen.shows("the older one");
    screen.rests();
    let again = screen.text();
    assert_eq!(again.matches("resumed: every command asks again").count(), 1, "{again}");
    quit(screen);
    let listed = world.run(&["inspect"]);
    assert!(String::from_utf8(listed.stdout).unwrap().starts_with(&older));
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
