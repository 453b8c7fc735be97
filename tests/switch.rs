//! Model and profile change in the middle of a session: what each server gets, which key goes where,
//! what is said when it cannot be, and what the journal knows of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod rules;
mod support;

use std::time::Instant;

use serde_json::Value;
use support::limpid::{World, stdout};
use support::pty::Screen;
use support::server::{Server, Step, chunk, done, sse_head, status, text};

/// An answer of Anthropic's Messages.
fn message(text: &str) -> Vec<Step> {
    let events = [
        r#"{"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{"input_tokens":1}}}"#.to_owned(),
        format!(r#"{{"type":"content_block_start","index":0,"content_block":{{"type":"text","text":"{text}"}}}}"#),
        r#"{"type":"content_block_stop","index":0}"#.to_owned(),
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}"#.to_owned(),
        r#"{"type":"message_stop"}"#.to_owned(),
    ];
    let body = events.map(|data| format!("data: {data}\n\n")).concat();
    vec![sse_head(), Step::Send(body.into_bytes())]
}

/// A thoughtful answer of Chat Completions.
fn thoughtful(text: &str) -> Vec<Step> {
    let delta = serde_json::json!({ "reasoning_content": "Hm.", "content": text }).to_string();
    vec![sse_head(), chunk(&delta, None), chunk("{}", Some("stop")), done()]
}

/// Two profiles of the user's own, and the variables that hold their keys.
fn world(one: &Server, two: &Server) -> World {
    let world = World::new();
    let directory = world.home().join(".config/limpid");
    std::fs::create_dir_all(&directory).unwrap();
    let config = format!(
        "[profiles.one]\nurl = \"{}\"\nmodel = \"m1\"\nkey_env = \"ONE_KEY\"\n\n\
         [profiles.two]\nurl = \"{}\"\nmodel = \"m2\"\nkey_env = \"TWO_KEY\"\nformat = \"anthropic\"\n\
         temperature = 0.7\n\n\
         [profiles.bad]\nurl = \"http://user:secret@127.0.0.1/v1\"\nmodel = \"m\"\n\n\
         [profiles.clear]\nurl = \"http://192.0.2.1/v1\"\nmodel = \"m\"\nkey_env = \"ONE_KEY\"\n\n\
         [profiles.keyless]\nurl = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\nkey_env = \"NO_KEY\"\n",
        one.url(),
        two.url()
    );
    std::fs::write(directory.join("config.toml"), config).unwrap();
    world
}

const KEYS: [(&str, &str); 2] = [("ONE_KEY", "sk-one-111"), ("TWO_KEY", "sk-two-222")];

fn start(world: &World) -> Screen {
    Screen::start_with(world, &["--profile", "one"], 120, 40, &KEYS)
}

fn body(server: &Server, index: usize) -> Value {
    serde_json::from_slice(&server.requests()[index].body).unwrap()
}

fn everything(server: &Server) -> String {
    let requests = server.requests();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    requests.iter().map(|request| request.head.clone() + &text(&request.body)).collect()
}

#[test]
fn the_history_goes_along_to_another_profile_and_each_key_to_its_own() {
    let one = Server::start(vec![thoughtful("I am one."), text("One again.")]);
    let two = Server::start(vec![message("I am two.")]);
    let world = world(&one, &two);
    let mut screen = start(&world);
    screen.ask("who is there?");
    screen.shows("I am one.");
    screen.shows("answered");
    screen.ask("/model two");
    screen.shows("m2 @ two   ask");
    screen.shows("── from here on: m2 @ two · anthropic ──");
    screen.shows("── from here on: temperature 0.7 ──");
    screen.ask("and now?");
    screen.shows("I am two.");
    screen.shows("1 repair ──");
    screen.shows("! repair: reasoning without a signature is not sent back");
    let sent = body(&two, 0);
    rules::anthropic(&sent);
    let said: Vec<_> = sent["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["content"][0]["text"].as_str().unwrap())
        .collect();
    assert_eq!(said, ["who is there?", "I am one.", "and now?"]);
    assert_eq!((&sent["model"], &sent["temperature"]), (&"m2".into(), &0.7.into()));
    screen.ask("/model one m9");
    screen.shows("m9 @ one   ask");
    screen.ask("and then?");
    screen.shows("One again.");
    screen.ask("/model m10");
    screen.shows("m10 @ one   ask");
    assert_eq!(body(&one, 1)["model"], "m9");
    assert_eq!(body(&one, 1).get("temperature"), None, "that was for the other");

    assert!(two.requests()[0].head.contains("\r\nx-api-key: sk-two-222\r\n"));
    assert!(one.requests()[1].head.contains("\r\nauthorization: Bearer sk-one-111\r\n"));
    assert!(!everything(&two).contains("sk-one-111") && !everything(&one).contains("sk-two-222"));
    screen.keys("/quit\r");
    assert!(screen.end().success());
    let outline = stdout(&world.run(&["inspect", "--turn", "2"]));
    assert!(outline.contains("repair    reasoning without a signature"), "{outline}");
    let journal = std::fs::read_to_string(world.sessions()[0].join("journal.jsonl")).unwrap();
    let profiles: Vec<Value> = journal
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter_map(|line| line["record"].get("profile").cloned())
        .collect();
    let models: Vec<_> = profiles.iter().map(|p| p["model"].as_str().unwrap()).collect();
    assert_eq!(models, ["m1", "m2", "m9", "m10"]);
    assert!(!journal.contains("sk-one-111") && !journal.contains("sk-two-222"));
}

/// C1, C2, C9 in the middle of a session.
#[test]
fn what_cannot_be_reached_is_said_and_the_old_connection_stays() {
    let one = Server::start(vec![text("Still one.")]);
    let evil = Server::start(vec![text("gotcha")]);
    let world = world(&one, &evil);
    let planted = format!("DEEPSEEK_URL={}\nDEEPSEEK_API_KEY=sk-planted\n", evil.url());
    std::fs::write(world.project().join(".env"), planted).unwrap();
    let mut screen = start(&world);
    let told_so_far = |screen: &str| {
        let left = screen.lines().map(|line| line.chars().take(63).collect::<String>());
        left.map(|line| line.trim_matches(['│', ' ']).to_owned()).collect::<Vec<_>>().join(" ")
    };
    let cases = [
        ("/model onee x", "there is no profile \"onee\". Did you mean one?"),
        ("/model keyless", "the variable NO_KEY is not set."),
        ("/model bad", "the URL holds a user name or a password"),
        ("/model clear", "anybody on the way could read"),
        ("/model groq", "is not set"),
        ("/model vllm", "the profile vllm has no model of its own: /model vllm ID"),
        ("/model deepseek", "limpid trust --profile deepseek"),
        ("/model offline gpt-9", "the offline model is called offline or offline-lenient"),
    ];
    for (position, (words, told)) in cases.into_iter().enumerate() {
        screen.ask(words);
        screen.until(told, |screen| {
            let text = told_so_far(screen);
            text.contains(told) && text.matches("It stays with m1 @ one.").count() == position + 1
        });
        assert!(!screen.text().contains("secret"));
    }
    screen.ask("who is there?");
    screen.shows("Still one.");
    assert!(evil.requests().is_empty());
    assert_eq!(body(&one, 0)["model"], "m1");
    screen.keys("/quit\r");
    assert!(screen.end().success());
}

#[test]
fn while_a_prompt_runs_it_is_switched_afterwards() {
    let mut held = thoughtful("I am one.");
    held.insert(2, Step::Hold);
    let one = Server::start(vec![held]);
    let two = Server::start(vec![message("I am two.")]);
    let world = world(&one, &two);
    let mut screen = start(&world);
    screen.ask("who is there?");
    screen.shows("I am one.");
    screen.ask("/model two");
    screen.shows("when this prompt has ended");
    screen.ask("/set temperature 0.1");
    screen.shows("It is set when this prompt has ended");
    assert!(screen.text().contains("m1 @ one   ask"));
    one.release();
    screen.shows("m2 @ two   ask");
    screen.shows("── from here on: temperature 0.1 ──");
    screen.ask("and now?");
    screen.shows("I am two.");
    assert_eq!(body(&two, 0)["temperature"], 0.1);
}

#[test]
fn before_the_first_prompt_a_switch_leaves_nothing_behind() {
    let one = Server::start(vec![text("I am one.")]);
    let two = Server::start(vec![message("I am two.")]);
    let world = world(&one, &two);
    let mut screen = start(&world);
    screen.ask("/model two");
    screen.shows("m2 @ two   ask");
    screen.shows("From the first request on: m2 @ two");
    screen.ask("/set effort low");
    screen.hides("/set");
    assert!(world.sessions().is_empty());
    screen.ask("who is there?");
    screen.shows("I am two.");
    assert!(one.requests().is_empty());
    assert_eq!(body(&two, 0)["output_config"]["effort"], "low");
}

#[test]
fn the_chooser_knows_the_keys_and_asks_the_server_without_holding_up_the_screen() {
    let list = r#"{"object":"list","data":[{"id":"m-big"},{"id":"m-\u001b[2Jsmall"}]}"#;
    let mut answer = status("200 OK", "application/json", list);
    answer.insert(0, Step::Hold);
    let one = Server::start(vec![answer, text("I am big.")]);
    let two = Server::start(vec![message("I am two.")]);
    let world = world(&one, &two);
    let mut screen = start(&world);
    screen.keys("\x14");
    screen.shows("✓ ONE_KEY");
    screen.shows("✗ no NO_KEY");
    screen.shows("parameters …");
    assert!(!screen.text().contains("sk-one-111"));
    screen.keys("one");
    screen.hides("two");
    screen.keys("\r");
    screen.shows("Model at one");
    screen.keys("\t");
    screen.shows("Asking 127.0.0.1");
    screen.keys("big");
    screen.shows("as typed");
    one.release();
    screen.shows("listed by the server");
    screen.keys("\x7f\x7f\x7f");
    screen.shows("m-\\x1b[2Jsmall");
    screen.keys("m-big");
    screen.hides("small");
    screen.keys("\r");
    screen.shows("m-big @ one   ask");
    screen.ask("who is there?");
    screen.shows("I am big.");
    let requests = one.requests();
    assert!(requests[0].head.starts_with("GET /v1/models "), "{}", requests[0].head);
    assert!(requests[0].head.contains("\r\nauthorization: Bearer sk-one-111\r\n"));
    assert_eq!(body(&one, 1)["model"], "m-big");
    assert!(two.requests().is_empty());
}

#[test]
fn a_server_that_does_not_answer_holds_up_no_end() {
    let one = Server::start(vec![vec![Step::Hold]]);
    let world = world(&one, &one);
    let mut screen = start(&world);
    screen.keys("\x14");
    screen.shows("✓ ONE_KEY");
    screen.keys("\r\t");
    screen.shows("Asking 127.0.0.1");
    screen.keys("\x1b");
    screen.shows("first the profile");
    screen.keys("\x1b");
    screen.hides("first the profile");
    let asked = Instant::now();
    screen.keys("/quit\r");
    assert!(screen.end().success());
    assert!(asked.elapsed().as_secs() < 5);
}

#[test]
fn parameters_are_set_and_listed_and_what_is_not_sent_is_said() {
    let one = Server::start(vec![text("I am one.")]);
    let world = world(&one, &one);
    let mut screen =
        Screen::start_with(&world, &["--profile", "one", "--max-tokens", "500"], 120, 40, &KEYS);
    for words in ["/set temperature 0.2", "/set thinking-budget 2048"] {
        screen.ask(words);
        screen.hides(words);
    }
    screen.shows("thinking_budget is not sent: openai-chat has no member for");
    screen
        .shows("From the first request on: temperature 0.2, max_tokens 500, thinking_budget 2048");
    screen.ask("/set temperature warm");
    screen.shows("Not set: temperature must be a number from 0 up.");
    screen.keys("\x15");
    screen.ask("/set");
    screen.shows("Parameters of every request");
    for row in [
        "temperature      0.2",
        "max_tokens       500",
        "--max-tokens",
        "effort           left to the server",
    ] {
        screen.shows(row);
    }
    screen.keys("max\r");
    screen.shows("tokens that a reply may take.");
    screen.keys("600\r");
    screen.shows("max_tokens       600");
    screen.keys("\x1b");
    screen.hides("Parameters of every request");
    screen.ask("who is there?");
    screen.shows("I am one.");
    screen.shows("! repair: thinking_budget is not sent");
    let sent = body(&one, 0);
    assert_eq!((&sent["temperature"], &sent["max_tokens"]), (&0.2.into(), &600.into()));
    assert!(sent.get("thinking_budget").is_none() && sent.get("thinking").is_none());
    let journal = std::fs::read_to_string(world.sessions()[0].join("journal.jsonl")).unwrap();
    let values = r#"{"parameters":[{"parameter":"temperature","value":"0.2","source":"/set"},"#;
    assert!(journal.contains(values), "{journal}");
    screen.ask("/set temperature unset");
    screen.shows("── from here on: max_tokens 600, thinking_budget 2048 ──");
}
