//! A key goes to its server and nowhere else: whatever repeats it, it is in no file, on no screen and
//! in no request, and the user is told that it was there.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use std::path::Path;

use support::limpid::{World, stderr, stdout};
use support::pty::Screen;
use support::server::{Server, Step, calls, chunk, done, sse_head, status, text};

const KEY: &str = "sk-live/4f9a\"c2+77e1";

/// Every file below a directory that holds the key, in any spelling.
fn holding(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        let Ok(entries) = std::fs::read_dir(&directory) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if shows_key(&String::from_utf8_lossy(&std::fs::read(&path).unwrap())) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

fn shows_key(text: &str) -> bool {
    // The middle of the key has no character that is spelled in two ways.
    text.contains("4f9a\"c2") || text.contains("4f9a\\\"c2") || text.contains("4f9a%22c2")
}

/// A server that asks for the command, then answers.
fn asks_for(command: &str) -> Server {
    Server::start(vec![calls(&[command]), text("done")])
}

/// A world in which a file that commands can read holds the key.
fn world() -> World {
    let world = World::new();
    std::fs::write(world.project().join("leaked.txt"), format!("one {KEY} two\n")).unwrap();
    let (front, back) = KEY.split_at(9);
    std::fs::write(world.project().join("front"), front).unwrap();
    std::fs::write(world.project().join("back"), back).unwrap();
    world
}

fn exec(world: &World, server: &Server) -> std::process::Output {
    let url = server.url();
    let arguments = ["exec", "--yolo", "--url", &url, "--model", "m", "--key-env", "MY_MODEL_PASS"];
    let mut command = world.limpid(&arguments);
    command.env("MY_MODEL_PASS", KEY).arg("go").output().unwrap()
}

#[test]
fn c06_a_key_in_a_commands_output_reaches_neither_file_nor_request_nor_terminal() {
    let commands = [
        ("cat leaked.txt", "one [redacted] two"),
        // In two reads, and with an escape in its midst, as grep colours a match.
        ("cat front; sleep 0.1; cat back", "[redacted]"),
        ("cat front; printf '\\033[1m'; cat back", "[redacted]"),
        ("yes \"$(cat leaked.txt)\" | head -c 300000", "one [redacted] two"),
    ];
    for (command, expected) in commands {
        let (world, server) = (world(), asks_for(command));
        let output = exec(&world, &server);
        assert!(output.status.success(), "{}", stderr(&output));
        let sent = String::from_utf8(server.requests()[1].body.clone()).unwrap();
        assert!(sent.contains(expected) && !shows_key(&sent), "{command}: {sent}");
        assert_eq!(sent.matches("[key redacted: ").count(), 1, "{command}");
        assert_eq!(holding(&world.data()), [""; 0], "{command}");
        assert!(!shows_key(&stdout(&output)) && !shows_key(&stderr(&output)), "{command}");
        assert!(server.requests()[1].head.contains(KEY), "to its own server it goes");
    }
}

#[test]
fn c06_no_environment_that_a_command_can_read_holds_the_key() {
    let command = "env; cat /proc/self/environ /proc/$PPID/environ; echo end";
    let (world, server) = (world(), asks_for(command));
    exec(&world, &server);
    let sent = String::from_utf8(server.requests()[1].body.clone()).unwrap();
    assert!(sent.contains("TERM=dumb") && sent.contains("end"), "{sent}");
    // It was not there at all.
    assert!(!sent.contains("MY_MODEL_PASS") && !sent.contains("[redacted]"), "{sent}");
}

/// A streamed text, a few characters a chunk.
fn slowly(text: &str) -> Vec<Step> {
    let mut steps = vec![sse_head()];
    for piece in text.as_bytes().chunks(3) {
        let piece = std::str::from_utf8(piece).unwrap();
        steps.push(chunk(&serde_json::json!({ "content": piece }).to_string(), None));
    }
    steps.extend([chunk("{}", Some("stop")), done()]);
    steps
}

#[test]
fn c06_a_key_that_the_model_writes_is_replaced_and_told() {
    let escaped =
        KEY.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect::<Vec<_>>().concat();
    let whole = vec![
        sse_head(),
        chunk(&format!(r#"{{"content":"Your key is {escaped}."}}"#), None),
        chunk("{}", Some("stop")),
        done(),
    ];
    let reply = format!("Your key is {KEY}.");
    let leaks = format!("echo '{KEY}'");
    for (script, answer) in [
        (slowly(&reply), "Your key is [redacted]."),
        (text(&reply), "Your key is [redacted]."),
        (whole, "Your key is [redacted]."),
        (calls(&[&leaks]), "again"),
    ] {
        let (world, server) = (world(), Server::start(vec![script, text("again")]));
        let output = exec(&world, &server);
        assert!(stdout(&output).contains(answer), "{}", stdout(&output));
        assert!(stderr(&output).contains("repair: key redacted"), "{}", stderr(&output));
        assert_eq!(holding(&world.data()), [""; 0]);
        let last = server.requests().pop().unwrap();
        assert!(!shows_key(&String::from_utf8_lossy(&last.body)));
    }
}

#[test]
fn c06_the_screen_never_shows_a_key() {
    let mut script = slowly(&format!("Your key is {KEY}."));
    script.truncate(script.len() - 2);
    script.extend([Step::Hold, chunk("{}", Some("stop")), done()]);
    let (world, server) =
        (world(), Server::start(vec![script, calls(&["cat leaked.txt; sleep 30"])]));
    let arguments =
        ["--url", &server.url(), "--model", "m", "--key-env", "MY_MODEL_PASS", "--yolo"];
    let mut screen = Screen::start_with(&world, &arguments, 120, 40, &[("MY_MODEL_PASS", KEY)]);
    screen.keys("go\r");
    screen.shows("Your key is [redacted].");
    server.release();
    screen.shows("answered");
    screen.keys("again\r");
    screen.shows("one [redacted] two");
    screen.keys("\x1b");
    screen.shows("Stopped.");
    assert!(!shows_key(&String::from_utf8_lossy(&screen.raw)), "{}", screen.text());
    assert_eq!(holding(&world.data()), [""; 0]);
}

#[test]
fn c06_c10_no_failure_of_a_server_tells_the_key() {
    let json = serde_json::json!({ "error": { "message": format!("bad key {KEY}"), "type": KEY, "code": KEY } });
    let json = json.to_string();
    let page = format!("<html>{KEY}</html>");
    let event = format!("data: {json}\n\n");
    let head = format!("HTTP/1.1 401 No\r\nx-echo: {KEY}\r\ncontent-length: 0\r\n\r\n");
    let away = format!(
        "HTTP/1.1 302 No\r\nlocation: http://evil.example/{KEY}\r\ncontent-length: 0\r\n\r\n"
    );
    let cut = vec![
        sse_head(),
        chunk(&serde_json::json!({ "content": KEY }).to_string(), None),
        Step::Close,
    ];
    let mut scripts: Vec<Vec<Step>> = [
        "400 Bad Request",
        "401 Unauthorized",
        "402 Payment",
        "403 Forbidden",
        "404 Not Found",
        "413 Too Large",
        "422 No",
        "501 No",
    ]
    .iter()
    .flat_map(|line| [status(line, "application/json", &json), status(line, "text/html", &page)])
    .collect();
    scripts.extend([
        status("200 OK", "text/html", &page),
        status("200 OK", "application/json", &json),
        status("200 OK", "text/plain", KEY),
        vec![sse_head(), Step::Send(event.into_bytes())],
        vec![sse_head(), Step::Send(format!("data: {{oops {KEY}\n\n").into_bytes())],
        vec![Step::Send(head.into_bytes())],
        vec![Step::Send(away.into_bytes())],
        vec![Step::Send(format!("{KEY}\r\n\r\n").into_bytes())],
        cut,
    ]);
    for script in scripts {
        let what = format!("{script:?}");
        let (world, server) = (world(), Server::start(vec![script]));
        let output = exec(&world, &server);
        let told = format!("{}{}", stderr(&output), stdout(&output));
        assert_ne!(output.status.code(), Some(0), "{what}");
        assert!(server.requests()[0].head.contains(KEY), "{what}");
        assert!(!shows_key(&told), "{what}: {told}");
        assert_eq!(holding(&world.data()), [""; 0], "{what}");
        for subcommand in ["models", "doctor"] {
            let url = server.url();
            let arguments =
                [subcommand, "--url", &url, "--model", "m", "--key-env", "MY_MODEL_PASS"];
            let output = world.limpid(&arguments).env("MY_MODEL_PASS", KEY).output().unwrap();
            let told = format!("{}{}", stderr(&output), stdout(&output));
            assert!(!shows_key(&told), "{subcommand} {what}: {told}");
        }
    }
}

#[cfg(debug_assertions)]
#[test]
fn c10_a_panic_tells_no_key() {
    let (world, server) = (world(), Server::start(vec![text("hello")]));
    let arguments = ["--url", &server.url(), "--model", "m", "--key-env", "MY_MODEL_PASS"];
    let variables =
        [("MY_MODEL_PASS", KEY), ("LIMPID_PANIC_KEY", "F9"), ("RUST_BACKTRACE", "full")];
    let mut screen = Screen::start_with(&world, &arguments, 120, 40, &variables);
    screen.keys("go\r");
    screen.shows("hello");
    screen.keys("\x1b[20~");
    assert!(!screen.end().success());
    let raw = String::from_utf8_lossy(&screen.raw);
    assert!(raw.contains("provoked by LIMPID_PANIC_KEY"), "{raw}");
    assert!(!shows_key(&raw), "{raw}");
    assert_eq!(holding(&world.data()), [""; 0]);
}
