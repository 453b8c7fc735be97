//! The journal on disk: every body can be rebuilt from it alone, nothing secret is in it, and only
//! the user can read it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use limpid::conversation::{Asker, CallStatus, TurnNumber};
use limpid::session;
use sha2::{Digest, Sha256};
use support::limpid::{World, stderr, stdout};
use support::server::{Server, calls, text};

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

fn three_turns() -> (World, Server) {
    let world = World::new();
    let server = Server::start(vec![
        calls(&["printf 'h\\303\\244 \"quoted\" \\\\ 中文'", "false"]),
        calls(&["seq 1 30000"]),
        text("Done: 你好 👩‍👩‍👧"),
    ]);
    let output = world
        .limpid(&[
            "exec",
            "--url",
            &server.url(),
            "--model",
            "m",
            "--key-env",
            "THE_KEY",
            "--yolo",
            "Grüße\n\t\"x\"",
        ])
        .env("THE_KEY", "sk-canary-4711")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&output), "Done: 你好 👩‍👩‍👧\n");
    (world, server)
}

#[test]
fn every_body_is_rebuilt_from_the_journal_alone() {
    let (world, server) = three_turns();
    let received = server.requests();
    let loaded = session::load(&world.sessions()[0]).unwrap();
    assert_eq!(loaded.notices, Vec::<String>::new());
    assert_eq!(loaded.session.turns.len(), 3);
    assert_eq!(received.len(), 3);
    for (turn, request) in loaded.session.turns.iter().zip(&received) {
        let body = loaded.session.body(turn.number);
        assert_eq!(body.as_bytes(), request.body, "turn {}", turn.number);
        assert_eq!(turn.request.sha256, hex(&request.body));
        assert_eq!(turn.request.bytes, request.body.len() as u64);
    }
    // Each part is journaled once: the second request keeps all of the first but its last part.
    assert!(loaded.session.turns[1].request.keep > 0);
}

#[test]
fn inspect_prints_the_very_bytes_and_the_outline() {
    let (world, server) = three_turns();
    let body = world.run(&["inspect", "--turn", "2", "--body"]);
    assert_eq!(body.stdout, server.requests()[1].body);
    let newest = world.run(&["inspect", "--body"]);
    assert_eq!(newest.stdout, server.requests()[2].body);
    let outline = stdout(&world.run(&["inspect", "last"]));
    let loaded = session::load(&world.sessions()[0]).unwrap().session;
    for turn in 1..=3 {
        let number = TurnNumber(turn);
        let rows = limpid::wire::outline::outline(
            &loaded.parts_of(number),
            &loaded.parts_of(TurnNumber(turn - 1)),
            &loaded,
        );
        let total: u64 = rows.iter().map(|row| row.bytes).sum();
        assert_eq!(total, server.requests()[turn as usize - 1].body.len() as u64, "rows add up");
        for row in &rows {
            assert!(outline.contains(&limpid::wire::outline::line(row)), "{outline}");
        }
    }
    assert!(outline.contains("tool  "), "{outline}");
    assert!(outline.contains("cut from "), "the long output was shortened: {outline}");
}

#[test]
fn inspect_says_what_is_missing() {
    let world = World::new();
    let none = world.run(&["inspect", "last"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(stderr(&none).contains("no session has worked in"), "{}", stderr(&none));
    let (world, _server) = three_turns();
    let turn = world.run(&["inspect", "--turn", "9"]);
    assert_eq!(turn.status.code(), Some(2));
    assert!(stderr(&turn).contains("there is no turn 9"), "{}", stderr(&turn));
    let name = world.run(&["inspect", "1999"]);
    assert!(stderr(&name).contains("begins with \"1999\""), "{}", stderr(&name));
}

#[test]
fn sessions_are_listed_with_their_first_prompts_the_newest_first() {
    let world = World::new();
    let none = world.run(&["inspect"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(stderr(&none).contains("no session has worked in"), "{}", stderr(&none));
    let other = world.home().join("other");
    std::fs::create_dir(&other).unwrap();
    for (prompt, directory) in
        [("One\nand more", world.project()), ("Two", other), ("Three", world.project())]
    {
        let mut command = world.limpid(&["exec", "--offline", "--offline-pace", "full", prompt]);
        assert!(command.current_dir(directory).output().unwrap().status.success());
    }
    let listed = stdout(&world.run(&["inspect"]));
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 2, "{listed}");
    assert!(lines[0].ends_with("  Three") && lines[1].ends_with("  One"), "{listed}");
    assert!(lines.iter().all(|line| line.contains(" s ago ") && line.contains(" kB ")), "{listed}");
    let (name, _) = lines[1].split_once(' ').unwrap();
    assert!(stdout(&world.run(&["inspect", name])).starts_with("turn 1"));
    let all = stdout(&world.run(&["inspect", "--all"]));
    assert_eq!(all.lines().count(), 3, "{all}");
    assert!(all.lines().nth(1).unwrap().ends_with("other  Two"), "{all}");
}

fn walk(path: &Path, visit: &mut impl FnMut(&Path)) {
    visit(path);
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            walk(&entry.unwrap().path(), visit);
        }
    }
}

#[test]
fn files_are_private_and_hold_no_key() {
    let (world, _server) = three_turns();
    let mut files = 0;
    walk(&world.data().join("limpid"), &mut |path| {
        let mode = std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
        if path.is_file() {
            files += 1;
            let bytes = std::fs::read(path).unwrap();
            let found = bytes.windows(14).any(|window| window == b"sk-canary-4711");
            assert!(!found, "the key is in {}", path.display());
        }
    });
    assert!(files >= 5, "journal, three exchanges, outputs: {files}");
}

#[test]
fn a_damaged_journal_loads_what_it_can_and_names_the_line() {
    let (world, server) = three_turns();
    let path = world.sessions()[0].join("journal.jsonl");
    let whole = std::fs::read(&path).unwrap();
    // Cut at every byte of the last lines: what came before is intact.
    for cut in (whole.len() - 400..whole.len()).step_by(7) {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let loaded = session::load(&world.sessions()[0]).unwrap();
        let body = loaded.session.body(TurnNumber(2));
        assert_eq!(body.as_bytes(), server.requests()[1].body);
    }
    let mut damaged: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let last = damaged.len() - 1;
    damaged.insert(last, b"\0\xff not json\n");
    std::fs::write(&path, damaged.concat()).unwrap();
    let output = world.run(&["inspect", "last"]);
    assert!(output.status.success());
    assert!(stderr(&output).contains(&format!("line {} of", last + 1)), "{}", stderr(&output));
    std::fs::write(
        &path,
        "{\"limpid_journal\":99,\"session\":\"s\",\"directory\":\"/\",\"created\":1}\n",
    )
    .unwrap();
    let newer = session::load(&world.sessions()[0]).unwrap_err().to_string();
    assert!(newer.contains("version 99"), "{newer}");
}

#[test]
fn a_session_that_cannot_be_made_is_told_once_and_the_answer_still_given() {
    let world = World::new();
    std::fs::create_dir_all(world.data()).unwrap();
    // A file where the directory should be: nothing can be saved.
    std::fs::write(world.data().join("limpid"), "in the way").unwrap();
    let server = Server::start(vec![text("Still here.")]);
    let output = world.run(&["exec", "--url", &server.url(), "--model", "m", "hi"]);
    assert_eq!(stdout(&output), "Still here.\n");
    assert!(output.status.success());
    let told = stderr(&output);
    assert_eq!(told.matches("Cannot save this session").count(), 1, "{told}");
}

#[test]
fn what_could_not_be_saved_at_first_is_saved_in_order_later() {
    let world = World::new();
    std::fs::create_dir_all(world.data()).unwrap();
    let in_the_way = world.data().join("limpid");
    std::fs::write(&in_the_way, "in the way").unwrap();
    let clear = format!("rm {}", in_the_way.display());
    let server = Server::start(vec![calls(&[&clear]), text("Cleared.")]);
    let output =
        world.run(&["exec", "--url", &server.url(), "--model", "m", "--yolo", "clear the way"]);
    let told = stderr(&output);
    assert!(told.contains("Cannot save") && told.contains("saved again"), "{told}");
    let sessions = world.sessions();
    assert_eq!(sessions.len(), 1, "no half-made session is left: {sessions:?}");
    let loaded = session::load(&sessions[0]).unwrap().session;
    assert_eq!(loaded.branch()[1].text(), "clear the way");
    for (number, request) in (1..).zip(server.requests()) {
        assert_eq!(loaded.body(TurnNumber(number)).as_bytes(), request.body, "turn {number}");
    }
}

#[test]
fn a_damaged_line_never_yields_another_body() {
    let (world, server) = three_turns();
    let path = world.sessions()[0].join("journal.jsonl");
    let whole = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let mut refused = 0;
    for damaged in 1..lines.len() {
        let mut copy = lines.clone();
        copy[damaged] = "{\"at\":1,damaged\n";
        std::fs::write(&path, copy.concat()).unwrap();
        for turn in 1..=3 {
            let output = world.run(&["inspect", "--turn", &turn.to_string(), "--body"]);
            if output.status.success() {
                assert_eq!(output.stdout, server.requests()[turn - 1].body, "line {damaged}");
            } else {
                assert_eq!(output.stdout, b"", "line {damaged}");
                refused += 1;
            }
        }
    }
    assert!(refused >= 10, "parts and requests were damaged: {refused}");
}

#[test]
fn names_from_a_server_cannot_drive_the_terminal() {
    let world = World::new();
    let delta = serde_json::json!({ "tool_calls": [{ "index": 0, "id": "i\u{1b}[31m\nd",
        "type": "function", "function": { "name": "ba\u{1b}]0;P\u{7}sh", "arguments": "{}" } }] });
    let asks = vec![
        support::server::sse_head(),
        support::server::chunk(&delta.to_string(), None),
        support::server::chunk("{}", Some("tool_calls")),
        support::server::done(),
    ];
    let server = Server::start(vec![asks, text("ok")]);
    world.run(&["exec", "--url", &server.url(), "--model", "m", "--yolo", "go"]);
    let shown = world.run(&["inspect", "last"]);
    assert!(shown.status.success());
    assert!(!shown.stdout.contains(&0x1b) && !shown.stdout.contains(&7), "{}", stdout(&shown));
    assert!(stdout(&shown).contains("sh"), "{}", stdout(&shown));
}

/// G10
#[test]
fn a_link_in_place_of_its_own_directories_is_not_followed() {
    for planted in ["limpid", "limpid/sessions"] {
        let world = World::new();
        let elsewhere = world.home().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        let link = world.data().join(planted);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
        let output = world.run(&["exec", "--offline", "--offline-pace", "full", "hello"]);
        assert!(output.status.success(), "it goes on without saving");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains("is a link; nothing is written there"), "{told}");
        assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0, "{planted}");
    }
}

/// G10
#[test]
fn directories_that_others_could_look_into_are_closed() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    let sessions = world.data().join("limpid/sessions");
    std::fs::create_dir_all(&sessions).unwrap();
    let own = [world.data().join("limpid"), sessions];
    for path in &own {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
    }
    world.run(&["exec", "--offline", "--offline-pace", "full", "hello"]);
    for path in &own {
        assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o700);
    }
    assert_eq!(world.sessions().len(), 1);
}

/// Written by limpid as it first was, before attempts had heads, responses headers, and commands
/// a user of their own.
#[test]
fn a_journal_of_an_older_limpid_is_read_in_full() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/old_journals/first");
    let loaded = session::load(&path).unwrap();
    assert_eq!(loaded.notices, [""; 0]);
    let old = loaded.session;
    assert_eq!(old.turns.len(), 2);
    for turn in &old.turns {
        assert_eq!(turn.request.sha256, hex(old.body(turn.number).as_bytes()));
    }
    assert_eq!(old.turns[1].repairs[0].what, "reasoning is not sent back");
    let call = old.calls.values().next().unwrap();
    let turn = TurnNumber(1);
    assert!(matches!(call.proposed.asker, Asker::Model { turn: asked, .. } if asked == turn));
    assert_eq!(call.finished.as_ref().unwrap().status, CallStatus::Exited(0));
    assert_eq!(old.branch().len(), 4);
    assert!(old.awaits_reply());

    let world = World::new();
    let session = world.data().join("limpid/sessions/2026-11-30-075834-39d1");
    std::fs::create_dir_all(&session).unwrap();
    std::fs::copy(path.join("journal.jsonl"), session.join("journal.jsonl")).unwrap();
    for view in ["--body", "--request", "--response", "--usage"] {
        let shown = world.run(&["inspect", "2026", "--turn", "1", view]);
        assert!(shown.status.success() && !shown.stdout.is_empty(), "{view}: {}", stderr(&shown));
        assert_eq!(stderr(&shown), "");
    }
    assert!(stdout(&world.run(&["inspect", "2026"])).contains("failed    HTTP 404: No such model"));
}

/// What stands in the place of a journal may never end, or lead elsewhere.
#[test]
fn what_is_no_journal_holds_nobody_up_and_is_told_in_a_sentence() {
    let world = World::new();
    assert!(world.run(&["exec", "--offline", "--offline-pace", "full", "hello"]).status.success());
    let sessions = world.data().join("limpid/sessions");
    let planted = |name: &str| {
        let path = sessions.join(name);
        std::fs::create_dir(&path).unwrap();
        path.join("journal.jsonl")
    };
    let pipe = planted("2026-01-01-000001-aaaa");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::os::unix::fs::symlink("/dev/zero", planted("2026-01-01-000002-bbbb")).unwrap();
    std::fs::create_dir(planted("2026-01-01-000003-cccc")).unwrap();
    let sparse = std::fs::File::create(planted("2026-01-01-000004-dddd")).unwrap();
    sparse.set_len(3 << 30).unwrap();
    std::fs::write(planted("2026-01-01-000005-eeee"), "{\"a\":[[[[[").unwrap();
    let listed = world.run(&["inspect"]);
    assert_eq!(stdout(&listed).lines().count(), 1, "{}", stdout(&listed));
    assert!(world.run(&["inspect", "last"]).status.success());
    for name in ["aaaa", "bbbb", "cccc", "dddd", "eeee"] {
        let number = u32::from(name.as_bytes()[0] - b'a') + 1;
        let output = world.run(&["inspect", &format!("2026-01-01-00000{number}-{name}")]);
        assert_eq!(output.status.code(), Some(1));
        let told = stderr(&output);
        assert!(told.starts_with("limpid: ") && told.lines().count() == 1, "{told}");
        assert!(told.contains("journal.jsonl") && !told.contains('\x1b'), "{told}");
    }
    let mut screen = support::pty::Screen::start(&world, support::limpid::OFFLINE, 100, 30);
    screen.keys("\x12");
    screen.shows("hello");
}

#[test]
fn the_last_session_is_the_one_that_was_written_to_last() {
    let sessions = tempfile::tempdir().unwrap();
    let work = Path::new("/work");
    // Names tell when a session was begun, and the number of a process.
    for (name, used, directory) in [
        ("2026-01-01-000001-fff", 1_767_225_901_900_u64, "/work"),
        ("2026-01-01-000002-7ffe", 1_767_225_602_100, "/work"),
        ("2026-01-01-000002-12", 1_767_225_602_800, "/work"),
        ("2026-01-01-000003-9", 1_767_226_602_900, "/elsewhere"),
    ] {
        let path = sessions.path().join(name);
        std::fs::create_dir(&path).unwrap();
        let header = format!(
            "{{\"limpid_journal\":1,\"session\":\"{name}\",\"directory\":\"{directory}\",\"created\":1}}\n"
        );
        let journal = path.join("journal.jsonl");
        std::fs::write(&journal, header).unwrap();
        let journal = std::fs::File::options().append(true).open(journal).unwrap();
        journal.set_modified(std::time::UNIX_EPOCH + Duration::from_millis(used)).unwrap();
    }
    let last = session::latest_of(sessions.path(), work).unwrap().unwrap();
    assert!(last.ends_with("2026-01-01-000001-fff"), "{}", last.display());
}
