//! Writing, with limpid itself on a pseudo-terminal and a server that keeps what was posted.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use rustix::process::Signal;
use support::limpid::{World, is_running, wait_until};
use support::pty::Screen;
use support::server::{Server, calls, text};

fn start(world: &World, server: &Server, more: &[&str]) -> Screen {
    let url = server.url();
    let mut arguments = vec!["--url", &url, "--model", "m"];
    arguments.extend(more);
    Screen::start(world, &arguments, 100, 30)
}

fn submit(screen: &mut Screen, text: &str) {
    screen.keys(text);
    screen.shows(text);
    screen.keys("\r");
}

/// Roles and texts of the messages of the nth request, from 0.
fn messages(server: &Server, nth: usize) -> Vec<(String, String)> {
    let body: serde_json::Value = serde_json::from_slice(&server.requests()[nth].body).unwrap();
    let word = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let messages = body["messages"].as_array().unwrap().iter();
    messages.map(|message| (word(&message["role"]), word(&message["content"]))).collect()
}

#[test]
fn a_queued_prompt_is_sent_into_the_running_turn_and_another_after_it() {
    let world = World::new();
    let server = Server::start(vec![
        calls(&["until [ -e go ]; do sleep 0.05; done; echo gone"]),
        text("First answer."),
        text("Second answer."),
    ]);
    let mut screen = start(&world, &server, &["--yolo"]);
    submit(&mut screen, "begin");
    screen.shows("running");
    submit(&mut screen, "and also this");
    screen.shows("1 queued");
    submit(&mut screen, "afterwards that");
    screen.shows("2 queued");
    screen.keys("\x13");
    screen.shows("goes with the next request");
    std::fs::write(world.project().join("go"), "").unwrap();
    screen.shows("Second answer.");
    let second = messages(&server, 1);
    let roles: Vec<&str> = second.iter().map(|(role, _)| role.as_str()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "user"]);
    assert_eq!(second[4].1, "and also this");
    let third = messages(&server, 2);
    assert_eq!(third[6], ("user".to_owned(), "afterwards that".to_owned()));
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_stop_holds_the_queue_and_what_was_sent_into_the_turn_too_late_is_in_it() {
    let world = World::new();
    let server = Server::start(vec![calls(&["sleep 60"]), text("Now.")]);
    let mut screen = start(&world, &server, &["--yolo"]);
    submit(&mut screen, "begin");
    screen.shows("running");
    submit(&mut screen, "never told");
    screen.shows("1 queued");
    screen.keys("\x13");
    screen.shows("goes with the next request");
    screen.keys("\x1b");
    screen.shows("1 queued, held");
    assert_eq!(server.requests().len(), 1);
    screen.keys("\r");
    screen.shows("Now.");
    let told = messages(&server, 1);
    assert_eq!(told.iter().filter(|(_, text)| text == "never told").count(), 1);
}

/// Lines of the conversation as a screen shows them that has read nothing but the journal.
fn replayed(journal: &std::path::Path, columns: u16, rows: u16) -> String {
    use limpid::tui::{self, Input, Keymap, Model, RenderCache, Setup, Theme};
    let now = std::time::Instant::now();
    let text = std::fs::read_to_string(journal.join("journal.jsonl")).unwrap();
    let records: Vec<limpid::conversation::Stamped> =
        text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    let profile = records.iter().find_map(|stamped| match &stamped.record {
        limpid::conversation::Record::Profile(profile) => Some(profile.clone()),
        _ => None,
    });
    let mut model = Model::new(Setup {
        directory: "~".to_owned(),
        profile: profile.unwrap(),
        parameters: Vec::new(),
        mode: limpid::approval::Mode::Ask,
        turn_limit: 50,
        keymap: Keymap::default(),
        theme: Theme::read("none", tui::BUILT_IN_THEMES[4].1, false).unwrap(),
    });
    for stamped in records {
        let event = limpid::conversation::Event::Record(stamped.into());
        assert_eq!(tui::update(&mut model, Input::Event(event), now), []);
    }
    let backend = ratatui::backend::TestBackend::new(columns, rows);
    let mut terminal = ratatui::Terminal::new(backend).unwrap();
    let mut cache = RenderCache::default();
    let draw = |frame: &mut ratatui::Frame<'_>| {
        tui::draw(&model, &mut cache, frame.buffer_mut(), now, 0);
    };
    terminal.draw(draw).unwrap();
    terminal.backend().to_string()
}

#[test]
fn a_command_of_ones_own_runs_at_once_and_is_told_with_the_next_prompt() {
    let world = World::new();
    let server = Server::start(vec![text("I see."), text("Yes.")]);
    let mut screen = start(&world, &server, &[]);
    submit(&mut screen, "!echo one; echo two >&2; exit 3");
    screen.shows("told with the prompt that follows");
    screen.shows("exit 3 · 2 lines · not sent yet");
    screen.shows("[exit code 3]");
    assert_eq!(server.requests().len(), 0);
    submit(&mut screen, "!!echo hid''den from the model");
    screen.shows("not sent");
    screen.shows("hidden from the model");
    submit(&mut screen, "what happened?");
    screen.shows("I see.");
    screen.hides("not sent yet");
    let told = messages(&server, 0);
    let note = "I ran this command myself; it was no call of yours.\n\
                $ echo one; echo two >&2; exit 3\none\ntwo\n[exit code 3]";
    assert_eq!(told[1], ("user".to_owned(), note.to_owned()));
    assert_eq!(told[2], ("user".to_owned(), "what happened?".to_owned()));
    submit(&mut screen, "and now?");
    screen.shows("Yes.");
    for request in server.requests() {
        let body = String::from_utf8(request.body).unwrap();
        assert!(!body.contains("den from") && !body.contains("!!"), "{body}");
    }
    screen.shows("answered");
    screen.rests();
    let shown = screen.text();
    screen.keys("\x04");
    assert!(screen.end().success());
    // Whoever reads the journal sees the same.
    let sessions = world.sessions();
    let journal = std::fs::read_to_string(sessions[0].join("journal.jsonl")).unwrap();
    assert!(journal.contains("\"by\":\"own_command\""), "{journal}");
    let replayed = replayed(&sessions[0], 100, 30);
    for line in screen_lines(&shown) {
        assert!(replayed.contains(&line), "not replayed: {line}\n{replayed}");
    }
}

/// What stands in the conversation pane, row by row.
fn screen_lines(screen: &str) -> Vec<String> {
    let rows = screen.lines().skip(2).take_while(|row| !row.starts_with('╰'));
    let inside = rows.map(|row| row.chars().skip(2).take(48).collect::<String>());
    inside.map(|row| row.trim_end().to_owned()).filter(|row| !row.is_empty()).collect()
}

#[test]
fn esc_stops_a_command_of_ones_own_and_a_dangerous_one_asks_once() {
    let world = World::new();
    let server = Server::start(vec![text("I see.")]);
    let mut screen = start(&world, &server, &[]);
    // Only what it writes holds the word, not the command as it is typed.
    submit(&mut screen, "!echo be''gun; sleep 60");
    screen.shows("begun");
    submit(&mut screen, "then this");
    screen.shows("1 queued");
    screen.keys("\x1b");
    screen.shows("1 queued, held");
    screen.shows("stopped by the user");
    assert_eq!(server.requests().len(), 0);
    screen.keys("\x15");
    screen.hides("queued,");
    submit(&mut screen, "!sudo touch canary");
    screen.shows("Allow this command?");
    screen.shows("▸ y once");
    screen.keys("n");
    screen.shows("denied");
    assert!(!world.project().join("canary").exists());
    submit(&mut screen, "go");
    screen.shows("I see.");
    let told = messages(&server, 0);
    assert_eq!(told.len(), 3, "a denied command is not told: {told:?}");
    assert!(told[1].1.contains("begun\n[stopped by the user"), "{told:?}");
}

#[test]
fn a_megabyte_is_pasted_folded_and_sent_exactly() {
    let world = World::new();
    let server = Server::start(vec![text("I see.")]);
    let mut screen = start(&world, &server, &[]);
    let pasted = "some words, 你好 and\ttabs \u{7f}\r\n".repeat(40_000);
    assert!(pasted.len() > 1 << 20);
    screen.keys("look: ");
    let before = std::time::Instant::now();
    screen.keys(&format!("\x1b[200~{pasted}\x1b[201~"));
    screen.shows("look: [pasted 40000 lines, 1.");
    // An unoptimised build on a busy machine, the pty included; a release build takes a tenth.
    assert!(before.elapsed() < std::time::Duration::from_secs(5), "{:?}", before.elapsed());
    assert_eq!(server.requests().len(), 0, "nothing is submitted");
    screen.keys("\r");
    screen.shows("I see.");
    assert_eq!(messages(&server, 0)[1].1, format!("look: {}", pasted.replace("\r\n", "\n")));
}

#[test]
fn a_mentioned_file_is_found_and_only_its_path_is_sent() {
    let world = World::new();
    let project = world.project();
    std::fs::create_dir(project.join("src")).unwrap();
    std::fs::write(project.join(".gitignore"), "target\n").unwrap();
    std::fs::create_dir(project.join("target")).unwrap();
    for name in ["src/checkout.rs", "src/two words.rs", "target/checkout.o"] {
        std::fs::write(project.join(name), "unspoken").unwrap();
    }
    let server = Server::start(vec![text("I see.")]);
    let mut screen = start(&world, &server, &[]);
    screen.keys("look at @chk");
    screen.shows("only the path is sent · 1 of 1");
    screen.keys("\t");
    screen.shows("look at src/checkout.rs");
    screen.keys("and @words");
    screen.shows("1 of 1");
    screen.keys("\r");
    screen.shows("and \"src/two words.rs\"");
    assert_eq!(server.requests().len(), 0);
    screen.keys("\r");
    screen.shows("I see.");
    assert_eq!(messages(&server, 0)[1].1, "look at src/checkout.rs and \"src/two words.rs\" ");
}

#[test]
fn instructions_are_seen_before_they_are_sent_and_told_after_the_system_prompt() {
    let world = World::new();
    let project = world.project();
    std::fs::create_dir(project.join(".git")).unwrap();
    std::fs::write(project.join("AGENTS.md"), "Use tabs.\u{202e}\u{1b}[2K Always.\n").unwrap();
    let server = Server::start(vec![text("I see.")]);
    let mut screen = start(&world, &server, &[]);
    screen.shows("With your first prompt the model is told");
    screen.shows("It holds hidden characters.");
    // Shift-Tab leads to the inspector, where it can be read in full.
    screen.keys("\x1b[Z");
    screen.keys("G");
    screen.shows("Use tabs.<U+202E>\\x1b[2K Always.");
    assert!(!screen.raw.windows(3).any(|bytes| bytes == "\u{202e}".as_bytes()));
    screen.keys("\x1b");
    screen.shows("▸Prompt");
    submit(&mut screen, "/continue");
    screen.shows("nothing to continue");
    screen.keys("\x15");
    submit(&mut screen, "go");
    screen.shows("I see.");
    screen.shows("context, to the model: Instructions of this");
    let told = messages(&server, 0);
    assert_eq!(told.len(), 3);
    assert!(told[1].1.ends_with("\n\nUse tabs.\u{202e}\u{1b}[2K Always."), "{told:?}");
    assert_eq!(told[2].1, "go");
    let server = Server::start(vec![text("I see.")]);
    let mut screen = start(&world, &server, &["--no-context"]);
    submit(&mut screen, "go");
    screen.shows("I see.");
    assert_eq!(messages(&server, 0).len(), 2);
}

#[test]
fn prompts_of_earlier_sessions_here_are_found() {
    let world = World::new();
    let server = Server::start(vec![text("I see.")]);
    let mut screen = start(&world, &server, &[]);
    submit(&mut screen, "!echo no prompt");
    screen.shows("[exit code 0]");
    submit(&mut screen, "paint the shed green");
    screen.shows("I see.");
    screen.keys("\x04");
    assert!(screen.end().success());
    let mut screen = start(&world, &server, &[]);
    screen.keys("\x12");
    screen.shows("Earlier prompts · 1 of 1");
    screen.keys("shed");
    screen.shows("paint the shed green");
    screen.keys("\t");
    screen.hides("Earlier prompts");
    screen.shows("│ paint the shed green");
}

#[test]
fn the_draft_is_written_in_the_users_editor() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    let server = Server::start(vec![text("I see.")]);
    let script = world.home().join("editor");
    // It asks on the terminal, so it has it: for what to append, or `fail`.
    std::fs::write(
        &script,
        "#!/bin/sh\n[ -e mode ] && word=again\nls -l \"$2\" > mode\n\
         printf '%s editor %s: ' \"$word\" \"$1\"\nread word\n\
         [ \"$word\" = fail ] && exit 3\nprintf '%s\\n' \"$word\" >> \"$2\"\n",
    )
    .unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).unwrap();
    let editor = format!("{} --wait", script.display());
    let url = server.url();
    let arguments = ["--url", &url, "--model", "m"];
    let variables = [("EDITOR", editor.as_str())];
    let mut screen = Screen::start_with(&world, &arguments, 100, 30, &variables);
    screen.keys("first 你好 ");
    screen.shows("first 你好");
    screen.keys("\x18");
    screen.shows("editor --wait: ");
    screen.keys("fail\r");
    screen.shows("The prompt stays as it was");
    screen.keys("\x18");
    screen.shows("again editor --wait: ");
    screen.keys("then this\r");
    screen.shows("│ first 你好 then this");
    screen.keys("\r");
    screen.shows("I see.");
    assert_eq!(messages(&server, 0)[1].1, "first 你好 then this");
    let mode = std::fs::read_to_string(world.project().join("mode")).unwrap();
    assert!(mode.starts_with("-rw------- "), "{mode}");
    let drafts = world.data().join("limpid/drafts");
    assert_eq!(std::fs::read_dir(drafts).unwrap().count(), 0, "nothing is left behind");
}

/// Whoever reads keys for limpid must not read them for the editor, and be there again afterwards.
#[test]
fn an_editor_that_ends_at_once_loses_no_key_before_or_after() {
    let world = World::new();
    let variables = [("EDITOR", "true")];
    let mut screen = Screen::start_with(&world, &["--offline"], 100, 30, &variables);
    for n in 0..20 {
        screen.keys(&format!("word{n} "));
        screen.shows(&format!("│ word{n} "));
        screen.keys("\x18");
        screen.keys(&format!("and{n}"));
        screen.shows(&format!("│ word{n} and{n} "));
        screen.keys("\x03");
        screen.hides(&format!("word{n}"));
    }
}

/// Ctrl-C goes to all that have the terminal.
#[test]
fn ctrl_c_ends_the_editor_and_not_limpid() {
    let world = World::new();
    let script = world.home().join("editor");
    std::fs::write(&script, "#!/bin/sh\nexec sleep 988\n").unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let variables = [("EDITOR", script.to_str().unwrap())];
    let mut screen = Screen::start_with(&world, &["--offline"], 100, 30, &variables);
    screen.keys("a draft");
    screen.shows("│ a draft");
    for _ in 0..10 {
        screen.keys("\x18");
        wait_until("the editor has the terminal", || is_running("sleep 988"));
        screen.keys("\x03");
        screen.shows("The prompt stays as it was");
        screen.keys("\x1b[C");
        screen.hides("The prompt stays as it was");
        screen.shows("│ a draft");
    }
}

/// An editor that limpid does not outlive would share the terminal with the shell.
#[test]
fn a_signal_that_ends_limpid_ends_its_editor_too() {
    for signal in [Signal::TERM, Signal::HUP] {
        let world = World::new();
        let editor = "sleep 987; true # ";
        let arguments = ["--offline"];
        let mut screen = Screen::start_with(&world, &arguments, 100, 30, &[("EDITOR", editor)]);
        screen.keys("\x18");
        wait_until("the editor has the terminal", || is_running("sleep 987"));
        screen.signal(signal);
        screen.end();
        wait_until("the editor is gone", || !is_running("sleep 987"));
    }
}

#[test]
fn a_prompt_whose_editor_outlives_limpid_is_kept_and_named() {
    let world = World::new();
    let editor = "echo 'half a thought' >>";
    let variables = [("EDITOR", format!("{editor} \"$1\"; sleep 988; true # "))];
    let variables = variables.each_ref().map(|(name, value)| (*name, &**value));
    let mut screen = Screen::start_with(&world, &["--offline"], 100, 30, &variables);
    screen.keys("\x18");
    wait_until("the editor has the terminal", || is_running("sleep 988"));
    screen.signal(Signal::TERM);
    screen.end();
    let drafts = world.data().join("limpid/drafts");
    let kept = std::fs::read_dir(&drafts).unwrap().next().unwrap().unwrap().path();
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "half a thought\n");
    let said = screen.said();
    assert!(said.contains(&format!("kept in {}", kept.display())), "{said}");
    // And once more at the next start, until it is gone.
    let mut screen = Screen::start_with(&world, &["--offline"], 140, 30, &[]);
    screen.shows("A prompt that was not sent is kept in ");
    screen.shows(kept.to_str().unwrap());
    screen.keys("\x04");
    screen.end();
    std::fs::write(&kept, "").unwrap();
    let mut screen = Screen::start_with(&world, &["--offline"], 140, 30, &[]);
    wait_until("an empty one is removed", || !kept.exists());
    screen.rests();
    assert!(!screen.text().contains("is kept in"), "{}", screen.text());
}

#[test]
fn a_command_with_a_folded_paste_runs_only_once_it_stands_there_in_full() {
    let world = World::new();
    let server = Server::start(vec![text("Read.")]);
    let mut screen = start(&world, &server, &[]);
    let pasted = format!("!touch canary\n{}", "echo line\n".repeat(20));
    screen.keys(&format!("\x1b[200~{pasted}\x1b[201~"));
    screen.shows("[pasted 21 lines");
    screen.keys("\r");
    screen.shows("Not run: a paste in it is folded.");
    assert!(!world.project().join("canary").exists());
    // As text it goes to the model.
    screen.keys("\x1b[H ");
    screen.shows(" [pasted 21 lines");
    screen.keys("\r");
    screen.shows("Read.");
    assert!(!world.project().join("canary").exists());
    assert_eq!(messages(&server, 0)[1].1, format!(" {pasted}"));
    // Opened, it is a command like any other.
    screen.keys(&format!("\x1b[200~{pasted}\x1b[201~"));
    screen.shows("[pasted 21 lines");
    screen.keys("\x18");
    screen.hides("[pasted 21 lines");
    screen.keys("\r");
    screen.shows("exit 0");
    assert!(world.project().join("canary").exists());
}
