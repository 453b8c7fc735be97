//! Which language limpid speaks, and that the model hears the same in each.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use support::limpid::{World, stderr, stdout};
use support::pty::Screen;
use support::server::{Server, calls, text};

/// Types this prompt, denies a command with a reason, allows one, runs one of one's own, stops
/// nothing; returns what the server was sent.
fn session(world: &World, lang: &str, words: [&str; 3]) -> Vec<Vec<u8>> {
    let [ask, queue, denied] = words;
    let script = vec![calls(&["touch canary"]), calls(&["echo two"]), text("Well."), text("End.")];
    let server = Server::start(script);
    let url = server.url();
    let arguments = ["--lang", lang, "--url", &url, "--model", "m"];
    let mut screen = Screen::open(world, &arguments, 100, 30, &[]);
    screen.shows(ask);
    screen.keys("go");
    screen.shows("go");
    screen.keys("\r");
    screen.shows("▸ y ");
    screen.keys("r");
    screen.hides("▸ y ");
    screen.keys("any no");
    screen.shows("any no");
    screen.keys("\r");
    screen.shows(denied);
    screen.shows("▸ y ");
    screen.keys("y");
    screen.shows("Well.");
    screen.keys("!echo own\r");
    screen.shows(queue);
    screen.keys("next");
    screen.shows("next");
    screen.keys("\r");
    screen.shows("End.");
    screen.keys("\x04");
    assert!(screen.end().success());
    server.requests().into_iter().map(|request| request.body).collect()
}

#[test]
fn the_model_is_told_the_same_whatever_the_screen_speaks() {
    let world = World::new();
    let english = ["Ask something", "told with the prompt that follows", "denied"];
    let chinese = ["请提问", "随下一条提示词告诉模型", "已拒绝"];
    let english = session(&world, "en", english);
    let chinese = session(&world, "zh", chinese);
    assert_eq!(english.len(), 4);
    assert!(english == chinese, "the bodies differ");
}

#[test]
fn argument_settings_and_locale_choose_in_this_order() {
    let world = World::new();
    let shows = |arguments: &[&str], variables: &[(&str, &str)], what: &str| {
        let mut all = vec!["--offline"];
        all.extend(arguments);
        let mut screen = Screen::open(&world, &all, 100, 30, variables);
        screen.shows(what);
        screen.keys("\x04");
        assert!(screen.end().success());
    };
    let (english, chinese) = ("Ask something", "请提问");
    shows(&[], &[], english);
    shows(&[], &[("LANG", "zh_CN.UTF-8")], chinese);
    shows(&[], &[("LANG", "zh_CN.UTF-8"), ("LC_ALL", "C.UTF-8")], english);
    shows(&["--lang", "en"], &[("LANG", "zh_CN.UTF-8")], english);
    assert!(world.run(&["config", "set", "lang", "zh"]).status.success());
    shows(&[], &[("LANG", "en_US.UTF-8")], chinese);
    shows(&["--lang", "en"], &[], english);
    let refused = world.run(&["config", "set", "lang", "de"]);
    assert!(!refused.status.success());
}

#[test]
fn what_stands_on_the_shell_is_in_the_language_too_and_what_programs_read_is_not() {
    let world = World::new();
    let told = |arguments: &[&str], lang: &str| {
        let output = world.limpid(arguments).env("LANG", lang).output().unwrap();
        (stdout(&output), stderr(&output))
    };
    let dead = ["--url", "http://127.0.0.1:9/v1", "--model", "m"];
    let with = |words: &[&'static str]| [words, &dead].concat();
    for (arguments, english, chinese) in [
        (vec!["config"], "built in", "内置"),
        (vec!["doctor"], "none is needed", "也不需要"),
        (vec!["inspect"], "no session has worked in", "工作过的会话"),
        (vec!["trust"], "it needs a terminal", "需要终端"),
        (vec!["--profile", "nope", "models"], "there is no profile \"nope\"", "没有配置档 “nope”"),
        (vec!["config", "set", "lang", "de"], "Nothing was written", "没有写入"),
        (with(&["models"]), "connection refused", "连接被拒绝"),
        (with(&["exec", "go"]), "Is the server running?", "服务器在运行吗？"),
    ] {
        let (out, err) = told(&arguments, "C.UTF-8");
        assert!([out, err].concat().contains(english), "{arguments:?}");
        let (out, err) = told(&arguments, "zh_CN.UTF-8");
        let both = [out, err].concat();
        assert!(both.contains(chinese) && !both.contains(english), "{arguments:?}: {both}");
    }
    let (events, _) = told(&with(&["exec", "--json", "go"]), "zh_CN.UTF-8");
    assert!(events.contains("connection refused") && !events.contains("连接"), "{events}");
    for session in world.sessions() {
        let journal = std::fs::read_to_string(session.join("journal.jsonl")).unwrap();
        assert!(journal.contains("connection refused") && !journal.contains("连接"), "{journal}");
    }
    assert!(world.run(&["config", "set", "lang", "zh"]).status.success());
    let (_, err) = told(&["inspect", "nope"], "en_US.UTF-8");
    assert!(err.contains("没有"), "{err}");
}
