//! Going on with a session that has ended, in good order or by `kill -9`: what the screen shows, and
//! what the next request says. What becomes of damaged journals is in `resuming_damage`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use std::os::unix::fs::PermissionsExt as _;

use support::limpid::{OFFLINE, World, binary, is_running, stderr, wait_until};
use support::pty::Screen;
use support::resuming::{is_strict, kill, messages, quit, refused, results, resume, start};
use support::server::{Server, Step, calls, chunk, sse_head, text};

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
    let note = "[The program ended during the reply above; it is incomplete.]";
    assert_eq!(told[3]["content"], note, "{told:#?}");
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
    let pid = first.pid();
    assert!(said.contains(&format!("is open in another limpid (process {pid})")), "{said}");
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

/// Runs limpid as a user whom the file system can refuse something: not even the superuser may then pass
/// over permissions.
fn refused_without_power(world: &World, arguments: &[&str]) -> String {
    let mut command = portable_pty::CommandBuilder::new("env");
    if rustix::process::geteuid().is_root() {
        command = portable_pty::CommandBuilder::new("setpriv");
        command.args(["--bounding-set=-all", "--inh-caps=-all"]);
    }
    command.arg(binary());
    command.args(arguments);
    let mut screen = Screen::run(world, command, 200, 30, &[]);
    assert!(matches!(screen.end().exit_code(), 1 | 2));
    screen.text().replace('\n', "")
}

#[test]
fn what_the_file_system_refuses_is_told_with_what_to_do() {
    let world = World::new();
    assert!(world.run(&["exec", "--offline", "--offline-pace", "full", "hello"]).status.success());
    let sessions = world.data().join("limpid/sessions");
    let session = world.sessions()[0].clone();
    let name = session.file_name().unwrap().to_str().unwrap().to_owned();
    let journal = session.join("journal.jsonl");
    let before = world.journal();
    let permit = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    permit(&journal, 0o400);
    let said = refused_without_power(&world, &["resume"]);
    let told = format!("{} cannot be written to: Permission denied", journal.display());
    assert!(said.contains(&told), "{said}");
    assert!(said.contains(&format!("limpid inspect {name} shows what was sent")), "{said}");
    permit(&journal, 0o000);
    for verb in ["resume", "inspect"] {
        let said = refused_without_power(&world, &[verb, &name]);
        let told = format!("cannot read {}: Permission denied", journal.display());
        assert!(said.contains(&told), "{said}");
        assert!(said.contains("limpid inspect lists the sessions"), "{said}");
    }
    permit(&journal, 0o600);
    // What the journal does not know cannot be set aside.
    std::fs::write(session.join("exchanges/0009-1.http"), "").unwrap();
    permit(&session.join("exchanges"), 0o500);
    let said = refused_without_power(&world, &["resume"]);
    let told = format!("{} cannot be written to", session.join("exchanges").display());
    assert!(said.contains(&told), "{said}");
    permit(&session.join("exchanges"), 0o700);
    permit(&sessions, 0o000);
    for arguments in [&["resume"][..], &["inspect"], &["inspect", "last"], &["resume", &name]] {
        let said = refused_without_power(&world, arguments);
        let told = format!("the sessions in {} cannot be listed: ", sessions.display());
        assert!(said.contains(&told) && said.contains("Nothing was started"), "{said}");
    }
    permit(&sessions, 0o700);
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
