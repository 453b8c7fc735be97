//! `limpid exec`: what a script sees on stdout, stderr and as exit code, also when servers fail.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::process::{Output, Stdio};

use support::limpid::{World, stderr, stdout};
use support::server::{Server, Step, calls, chunk, done, sse_head, status, text};

fn exec(world: &World, server: &Server, arguments: &[&str]) -> Output {
    let url = server.url();
    let mut all = vec!["exec", "--url", &url, "--model", "m"];
    all.extend(arguments);
    world.run(&all)
}

fn body(server: &Server, index: usize) -> serde_json::Value {
    serde_json::from_slice(&server.requests()[index].body).unwrap()
}

#[test]
fn the_answer_is_on_stdout_and_progress_on_stderr() {
    let world = World::new();
    let server = Server::start(vec![calls(&["echo one; touch made"]), text("It said one.")]);
    let output = exec(&world, &server, &["--yolo", "go"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stdout(&output), "It said one.\n");
    let progress = stderr(&output);
    for line in ["── turn 1 → 2 messages: system user", "$ echo one; touch made", "exit 0"] {
        assert!(progress.contains(line), "{progress}");
    }
    assert!(world.project().join("made").exists());
    let messages = &body(&server, 1)["messages"];
    assert_eq!(messages[3]["content"], "one\n[exit code 0]");
    assert_eq!(messages[3]["tool_call_id"], messages[2]["tool_calls"][0]["id"]);
}

#[test]
fn without_yolo_commands_are_denied_and_the_model_is_told() {
    let world = World::new();
    let server = Server::start(vec![calls(&["touch canary"]), text("I could not.")]);
    let output = exec(&world, &server, &["go"]);
    assert_eq!(output.status.code(), Some(5));
    assert_eq!(stdout(&output), "I could not.\n");
    assert!(stderr(&output).contains("limpid: 1 command was denied"), "{}", stderr(&output));
    assert!(!world.project().join("canary").exists());
    let told = body(&server, 1)["messages"][3]["content"].as_str().unwrap().to_owned();
    assert!(told.starts_with("Denied") && told.contains("not executed"), "{told}");
}

#[test]
fn dangerous_commands_are_refused_even_with_yolo() {
    let world = World::new();
    let server = Server::start(vec![calls(&["touch canary; sudo true"]), text("ok")]);
    let output = exec(&world, &server, &["--yolo", "go"]);
    assert_eq!(output.status.code(), Some(5));
    assert!(!world.project().join("canary").exists());
    let told = body(&server, 1)["messages"][3]["content"].as_str().unwrap().to_owned();
    assert!(told.contains("dangerous") && told.contains("sudo"), "{told}");
}

#[test]
fn the_key_goes_to_the_server_and_to_no_command() {
    let world = World::new();
    let server = Server::start(vec![
        calls(&["env; cat /proc/$PPID/environ; tr '\\0' '\\n' < /proc/self/environ"]),
        text("ok"),
    ]);
    let url = server.url();
    let output = world
        .limpid(&[
            "exec",
            "--url",
            &url,
            "--model",
            "m",
            "--key-env",
            "MY_MODEL",
            "--yolo",
            "go",
            "--json",
        ])
        .env("MY_MODEL", "canary-sk-1")
        .output()
        .unwrap();
    let requests = server.requests();
    assert!(requests[0].head.contains("authorization: Bearer canary-sk-1"), "{}", requests[0].head);
    for request in &requests {
        assert!(!String::from_utf8_lossy(&request.body).contains("canary-sk-1"));
    }
    assert!(!stdout(&output).contains("canary-sk-1"));
    assert!(!stderr(&output).contains("canary-sk-1"));
}

#[test]
fn json_prints_one_event_a_line_and_they_add_up_to_the_session() {
    let world = World::new();
    let server = Server::start(vec![calls(&["echo x"]), text("Done.")]);
    let output = exec(&world, &server, &["--yolo", "--json", "go"]);
    let mut session = limpid::conversation::Session::default();
    for line in stdout(&output).lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        if let Some(record) = event.get("record") {
            session.apply(&serde_json::from_value(record.clone()).unwrap());
        } else {
            assert!(event.get("progress").is_some(), "{line}");
        }
    }
    assert_eq!(session.branch().last().unwrap().text(), "Done.");
    assert_eq!(
        session.body(limpid::conversation::TurnNumber(2)).as_bytes(),
        server.requests()[1].body
    );
}

#[test]
fn a_prompt_can_be_piped_in() {
    let world = World::new();
    let server = Server::start(vec![text("ok")]);
    let url = server.url();
    let mut child = world
        .limpid(&["exec", "--url", &url, "--model", "m"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all("línea uno\nzwei".as_bytes()).unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    assert_eq!(body(&server, 0)["messages"][1]["content"], "línea uno\nzwei");
}

/// Runs it with this on stdin.
fn piped(world: &World, server: &Server, arguments: &[&str], bytes: &[u8]) -> Output {
    let url = server.url();
    let mut all = vec!["exec", "--url", &url, "--model", "m"];
    all.extend(arguments);
    let mut child = world
        .limpid(&all)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may have ended without reading.
    let _ = child.stdin.take().unwrap().write_all(bytes);
    child.wait_with_output().unwrap()
}

#[test]
fn what_is_piped_in_goes_after_the_prompt_and_that_is_said() {
    for (prompt, bytes, sent) in [
        ("Explain this:", "error: 你好\n", "Explain this:\n\nerror: 你好\n"),
        ("Just this.", "", "Just this."),
        ("Just this.", " \n", "Just this."),
        ("-", "only that", "only that"),
    ] {
        let world = World::new();
        let server = Server::start(vec![text("ok")]);
        let output = piped(&world, &server, &[prompt], bytes.as_bytes());
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(body(&server, 0)["messages"][1]["content"], sent);
        let said = stderr(&output).contains("from stdin go after the prompt");
        assert_eq!(said, sent.contains(prompt) && sent != prompt, "{}", stderr(&output));
    }
    let world = World::new();
    let server = Server::start(vec![]);
    let output = piped(&world, &server, &["Explain"], b"\xff\xfe");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("not UTF-8; nothing was sent"), "{}", stderr(&output));
}

#[test]
fn stdin_that_does_not_end_is_waited_for_and_that_is_said() {
    let world = World::new();
    let server = Server::start(vec![text("ok")]);
    let url = server.url();
    let mut child = world
        .limpid(&["exec", "--url", &url, "--model", "m", "Hello"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    said.read_line(&mut line).unwrap();
    assert!(line.contains("reading stdin to its end"), "{line}");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(body(&server, 0)["messages"][1]["content"], "Hello");
}

#[test]
fn a_failure_names_the_session() {
    let world = World::new();
    let server = Server::start(vec![status("500 Oops", "text/plain", "broken")]);
    let output = exec(&world, &server, &["hi"]);
    assert_eq!(output.status.code(), Some(1));
    let told = stderr(&output);
    let name = told.lines().last().unwrap().strip_prefix("What was sent: limpid inspect ").unwrap();
    let shown = stdout(&world.run(&["inspect", name]));
    assert!(shown.starts_with("turn 1"), "{shown}");
}

#[test]
fn the_first_request_is_small() {
    let world = World::new();
    let server = Server::start(vec![text("ok")]);
    exec(&world, &server, &["hi"]);
    let length = server.requests()[0].body.len();
    assert!(length < 3000, "{length}");
    let system = body(&server, 0)["messages"][0]["content"].as_str().unwrap().to_owned();
    for fact in [world.project().to_str().unwrap(), "linux", "sh -c"] {
        assert!(system.contains(fact), "{system}");
    }
}

/// Each fault: one clear message with cause and next step, exit code 1, what had arrived kept.
#[test]
fn each_fault_of_a_server_gives_one_clear_message() {
    let cut = vec![sse_head(), chunk("{\"content\":\"Half an ans\"}", None), Step::Close];
    let error_event = vec![
        sse_head(),
        chunk("{\"content\":\"Half\"}", None),
        Step::Send(b"data: {\"error\":{\"message\":\"the GPU caught fire\",\"type\":\"server_error\"}}\n\n".to_vec()),
        Step::Hold,
    ];
    let unauthorized =
        status("401 Unauthorized", "application/json", "{\"error\":{\"message\":\"bad key\"}}");
    let unknown =
        status("404 Not Found", "application/json", "{\"error\":{\"message\":\"no model m\"}}");
    let portal = status("200 OK", "text/html", "<html><title>Hotel login</title></html>");
    let table: Vec<(Vec<Step>, &str, &[&str])> = vec![
        (unauthorized, "", &["401", "bad key", "--key-env"]),
        (unknown, "", &["404", "no model m", "--model"]),
        (portal, "", &["text/html", "Hotel login"]),
        (cut, "Half an ans\n", &["ended before the end mark", "try again"]),
        (error_event, "Half\n", &["the GPU caught fire"]),
    ];
    for (script, answer, words) in table {
        let world = World::new();
        let server = Server::start(vec![script]);
        let output = exec(&world, &server, &["my prompt"]);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), answer);
        let errors: Vec<_> = stderr(&output)
            .lines()
            .filter(|line| line.starts_with("limpid: "))
            .map(str::to_owned)
            .collect();
        assert_eq!(errors.len(), 1, "{errors:?}");
        for word in words {
            assert!(errors[0].contains(word), "{word} in {}", errors[0]);
        }
        let loaded = limpid::session::load(&world.sessions()[0]).unwrap().session;
        assert_eq!(loaded.branch()[1].text(), "my prompt", "the prompt is kept");
    }
}

#[test]
fn an_unreachable_server_is_named() {
    let world = World::new();
    let output = world.run(&["exec", "--url", "http://127.0.0.1:9/v1", "--model", "m", "hi"]);
    assert_eq!(output.status.code(), Some(1));
    let told = stderr(&output);
    assert!(told.contains("127.0.0.1:9") && told.contains("refused"), "{told}");
}

#[test]
fn calls_that_cannot_be_used_are_answered_and_not_run() {
    let world = World::new();
    let delta = |arguments: &str| {
        serde_json::json!({ "tool_calls": [{ "index": 0, "id": "x", "type": "function",
            "function": { "name": "bash", "arguments": arguments } }] })
        .to_string()
    };
    let bad = vec![
        sse_head(),
        chunk(&delta("{\"command\":\"touch canary"), None),
        chunk("{}", Some("tool_calls")),
        done(),
    ];
    let cut = vec![
        sse_head(),
        chunk(&delta("{\"command\":\"touch canary\"}"), None),
        chunk("{}", Some("length")),
        done(),
    ];
    let unknown = {
        let delta = delta("{\"command\":\"touch canary\"}").replace("bash", "python");
        vec![sse_head(), chunk(&delta, None), chunk("{}", Some("tool_calls")), done()]
    };
    let server = Server::start(vec![bad, cut, unknown, text("I give up.")]);
    let output = exec(&world, &server, &["--yolo", "go"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!world.project().join("canary").exists());
    let body = body(&server, 3);
    let told: Vec<_> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| message["content"].as_str().unwrap())
        .collect();
    assert!(told[0].contains("not valid JSON"), "{told:?}");
    assert!(told[1].contains("output limit"), "{told:?}");
    assert!(told[2].contains("no tool \"python\""), "{told:?}");
    limpid::offline::check(limpid::offline::Format::Chat, &body).unwrap();
    let ids: std::collections::HashSet<_> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|message| message["tool_call_id"].as_str())
        .collect();
    assert_eq!(ids.len(), 3, "an id used three times is made unique");
}

#[test]
fn wrong_usage_is_said_before_anything_is_sent() {
    let world = World::new();
    let server = Server::start(vec![text("no")]);
    let url = server.url();
    let table: &[(&[&str], &[&str])] = &[
        (
            &["exec", "--url", &url, "--model", "m", "--key-env", "NO_SUCH", "hi"],
            &["NO_SUCH", "not set", "nothing was sent"],
        ),
        (&["exec", "--url", &url, "hi"], &["--model"]),
        (&["exec", "--offline", "--model", "gpt", "hi"], &["offline-lenient"]),
        (&["exec", "--url", "ftp://x", "--model", "m", "hi"], &["http://"]),
        (
            &["exec", "--url", "http://user:secret@127.0.0.1/v1", "--model", "m", "hi"],
            &["--key-env"],
        ),
        (&["exec", "--offline", "--url", &url, "hi"], &["cannot be used with"]),
        (&["exec", "--offline", " "], &["empty"]),
        (&["--offline"], &["needs a terminal", "limpid exec"]),
    ];
    for (arguments, words) in table {
        let output = world.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        for word in *words {
            assert!(stderr(&output).contains(word), "{word}: {}", stderr(&output));
        }
        assert!(!stderr(&output).contains("secret"), "{}", stderr(&output));
    }
    assert!(server.requests().is_empty());
    assert!(world.sessions().is_empty());
}

#[test]
fn the_turn_limit_has_its_exit_code() {
    let world = World::new();
    let server = Server::start(vec![calls(&["true"])]);
    let output = exec(&world, &server, &["--yolo", "--max-turns", "3", "go"]);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(server.requests().len(), 3);
    assert!(stderr(&output).contains("3 turns"), "{}", stderr(&output));
}

#[test]
fn an_empty_reply_has_its_exit_code_and_leaves_no_message() {
    let world = World::new();
    let server =
        Server::start(vec![vec![sse_head(), chunk("{\"content\":\"\"}", Some("stop")), done()]]);
    let output = exec(&world, &server, &["go"]);
    assert_eq!(output.status.code(), Some(4));
    assert_eq!(stdout(&output), "");
}

#[test]
fn what_was_said_before_a_call_is_not_the_answer() {
    let world = World::new();
    let mut asks = calls(&["true"]);
    asks.insert(1, chunk("{\"content\":\"I will look.\"}", None));
    let refused = status("404 Not Found", "application/json", "{\"error\":{\"message\":\"gone\"}}");
    let server = Server::start(vec![asks, refused]);
    let output = exec(&world, &server, &["--yolo", "go"]);
    assert_eq!((output.status.code(), &*stdout(&output)), (Some(1), ""));
    assert_eq!(stderr(&output).matches("I will look.").count(), 1, "{}", stderr(&output));
}

#[test]
fn a_session_that_has_no_place_is_told() {
    let world = World::new();
    let server = Server::start(vec![text("ok")]);
    let url = server.url();
    let mut command = world.limpid(&["exec", "--url", &url, "--model", "m", "hi"]);
    let output = command.env_remove("HOME").env_remove("XDG_DATA_HOME").output().unwrap();
    assert_eq!((output.status.code(), &*stdout(&output)), (Some(0), "ok\n"));
    assert!(stderr(&output).contains("This session is not saved"), "{}", stderr(&output));
}

#[test]
fn a_reader_that_leaves_ends_it_quietly() {
    let world = World::new();
    let server = Server::start(vec![calls(&["echo x"]), text("long")]);
    let url = server.url();
    let mut child = world
        .limpid(&["exec", "--url", &url, "--model", "m", "--yolo", "--json", "go"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(!output.status.success());
    assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
}

#[test]
fn that_the_model_is_told_the_projects_instructions_is_said() {
    let world = World::new();
    let file = world.project().join("AGENTS.md");
    std::fs::write(&file, "Use tabs.\n").unwrap();
    let arguments = ["exec", "--offline", "--offline-pace", "full", "hello"];
    let output = world.run(&arguments);
    let told = format!(
        "context, to the model: Instructions of this project, from {} (10 bytes)\n",
        file.display()
    );
    assert!(stderr(&output).contains(&told), "{}", stderr(&output));
    let output = world.run(&[&arguments[..], &["--no-context"]].concat());
    assert!(!stderr(&output).contains("context"), "{}", stderr(&output));
}
