//! What limpid says of its own arguments, and the log.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use std::os::unix::fs::PermissionsExt;

use support::limpid::{World, stderr, stdout};
use support::server::{Server, calls, text};

#[test]
fn help_fits_a_terminal_of_80_columns() {
    let world = World::new();
    let subcommands = ["", "exec", "inspect", "config", "models", "doctor", "trust", "man"];
    for subcommand in subcommands {
        let arguments: Vec<&str> =
            [subcommand, "--help"].into_iter().filter(|a| !a.is_empty()).collect();
        let output = world.limpid(&arguments).env("COLUMNS", "80").output().unwrap();
        assert!(output.status.success());
        let help = stdout(&output);
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "{subcommand}: {line}");
        }
        let of_model = help.contains("--url") && help.contains("--yolo");
        let talks = !["inspect", "man"].contains(&subcommand);
        assert_eq!(of_model, talks, "{subcommand}: {help}");
    }
}

#[test]
fn an_option_that_would_mean_nothing_is_refused() {
    let world = World::new();
    let output = world.run(&["inspect", "--url", "http://127.0.0.1:1/v1"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--url means nothing to inspect"), "{}", stderr(&output));
    let output = world.run(&["--yolo", "completions", "bash"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
}

#[test]
fn bash_completes_subcommands_and_options() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = world.run(&["completions", shell]);
        assert!(output.status.success(), "{shell}");
        assert!(stdout(&output).contains("key-env"), "{shell}");
    }
    let script = world.project().join("completions");
    std::fs::write(&script, stdout(&world.run(&["completions", "bash"]))).unwrap();
    for (words, wanted) in [("limpid ins", "inspect"), ("limpid exec --js", "--json")] {
        let ask = format!(
            "source ./completions; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)); \
             _limpid limpid \"${{COMP_WORDS[-1]}}\" \"${{COMP_WORDS[-2]}}\"; echo \"${{COMPREPLY[@]}}\""
        );
        let output = std::process::Command::new("bash")
            .args(["--norc", "-c", &ask])
            .current_dir(world.project())
            .output()
            .unwrap();
        assert_eq!(stdout(&output).trim(), wanted, "{words}: {}", stderr(&output));
    }
}

#[test]
fn man_prints_a_page_for_limpid_and_each_subcommand() {
    let world = World::new();
    let page = stdout(&world.run(&["man"]));
    assert!(page.contains(".TH limpid 1") && page.contains("\\-\\-key\\-env"), "{page}");
    let page = stdout(&world.run(&["man", "inspect"]));
    assert!(page.contains("\\-\\-body") && !page.contains("\\-\\-key\\-env"), "{page}");
    let output = world.run(&["man", "nothing"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("no subcommand \"nothing\""));
}

#[test]
fn the_log_is_private_and_holds_no_texts_and_no_key() {
    let world = World::new();
    // The same for each run.
    let answers = vec![calls(&["echo the-command"]), text("the-answer")];
    let server = Server::start([answers.clone(), answers.clone(), answers].concat());
    let url = server.url();
    let exec =
        ["exec", "--url", &url, "--model", "m", "--key-env", "SOME_KEY", "--yolo", "the-prompt"];
    let log = world.project().join("log");
    std::fs::write(&log, "before\n").unwrap();
    let by_argument = [&["--log", "log"], &exec[..]].concat();
    for (arguments, variable) in [(&by_argument[..], ""), (&exec[..], "log"), (&exec[..], "")] {
        let before = std::fs::read_to_string(&log).unwrap();
        let mut command = world.limpid(arguments);
        let output = command.env("SOME_KEY", "sk-secret-123").env("LIMPID_LOG", variable);
        let output = output.output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        let text = std::fs::read_to_string(&log).unwrap();
        if arguments == exec && variable.is_empty() {
            assert_eq!(text, before, "off unless asked for");
            continue;
        }
        let new = text.strip_prefix(&before).expect("written after what was there");
        for span in ["turn{number=", "attempt{number=1}", "call{number=1}", "status=200"] {
            assert!(new.contains(span), "{span}: {new}");
        }
        for private in ["sk-secret", "the-command", "the-answer", "the-prompt", "\x1b"] {
            assert!(!new.contains(private), "{private}: {new}");
        }
        assert_eq!(std::fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let output = world.run(&["--log", "no/such/folder", "exec", "--offline", "x"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("cannot log to no/such/folder"), "{}", stderr(&output));
}
