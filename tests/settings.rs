//! Settings: which source wins, where each value comes from, and what is said of a broken file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod support;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use limpid::config::{
    Arguments, Choice, ChoiceError, DotEnv, File, Layer, Settings, Source, Sourced, Variables,
    resolve, set, wanted,
};
use limpid::wire::{MaxTokens, ReasoningBack, SystemRole};
use support::limpid::{World, stderr, stdout};
use support::server::{Server, status, text};

fn variables(pairs: &[(&str, &str)]) -> Variables {
    Variables::new(pairs.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))))
}

fn file(text: &str) -> File {
    File::parse(Path::new("/c/config.toml"), text).unwrap()
}

fn arguments(model: Option<&str>, profile: Option<&str>) -> Arguments {
    let said = |value: &str| Sourced::new(value.to_owned(), Source::Argument("--model"));
    Arguments {
        profile: profile.map(str::to_owned),
        values: Layer { model: model.map(said), ..Layer::default() },
        ..Arguments::default()
    }
}

fn row(settings: &Settings, name: &str) -> (Option<String>, String) {
    let row = settings.values.rows().into_iter().find(|row| row.name == name).unwrap();
    (row.value, row.source.to_string())
}

fn write_config(world: &World, text: &str) -> PathBuf {
    let path = world.home().join(".config/limpid/config.toml");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

/// One source after the other is taken away; the next one wins.
#[test]
fn arguments_win_over_environment_over_dot_env_over_file_over_built_in() {
    let own = file("[profiles.openai]\nurl = \"https://file.example/v1\"\nmodel = \"of-file\"\n");
    let url = "OPENAI_BASE_URL";
    let agreed = |mut variables: Variables| {
        let dot_env = DotEnv::parse(
            "/p/.env".into(),
            "OPENAI_BASE_URL=https://dot.example/v1\nMODEL_ID=of-dot\n",
        );
        let wanted = wanted(&arguments(None, None), &File::default());
        variables.agree(&dot_env, &wanted);
        variables
    };
    let environment = variables(&[
        (url, "https://env.example/v1"),
        ("MODEL_ID", "of-env"),
        ("OPENAI_API_KEY", "k"),
    ]);
    let cases = [
        (agreed(environment), &own, "https://env.example/v1", "environment: OPENAI_BASE_URL"),
        (agreed(variables(&[])), &own, "https://dot.example/v1", ".env: OPENAI_BASE_URL"),
        (variables(&[]), &own, "https://file.example/v1", "/c/config.toml:2"),
        (variables(&[]), &File::default(), "https://api.openai.com/v1", "built-in profile openai"),
    ];
    for (variables, file, value, source) in cases {
        let settings = resolve(&arguments(None, Some("openai")), &variables, file).unwrap();
        assert_eq!(row(&settings, "url"), (Some(value.to_owned()), source.to_owned()));
    }
    let table = [
        (arguments(Some("of-argument"), None), true, Some("of-argument"), "--model"),
        (arguments(None, None), true, Some("of-env"), "environment: MODEL_ID"),
        (arguments(None, None), false, Some("of-file"), "/c/config.toml:3"),
    ];
    for (arguments, with_model, value, source) in table {
        let mut pairs = vec![("OPENAI_API_KEY", "k")];
        if with_model {
            pairs.push(("MODEL_ID", "of-env"));
        }
        let settings = resolve(&arguments, &variables(&pairs), &own).unwrap();
        assert_eq!(settings.choice.value, Choice::Profile("openai".to_owned()));
        assert_eq!(row(&settings, "model"), (value.map(str::to_owned), source.to_owned()));
    }
    let settings =
        resolve(&Arguments::default(), &variables(&[]), &file("max_turns = 7\ntemperature = 1\n"))
            .unwrap();
    assert_eq!(row(&settings, "max_turns"), (Some("7".to_owned()), "/c/config.toml:1".to_owned()));
    assert_eq!(row(&settings, "temperature").0.as_deref(), Some("1"));
    assert_eq!(row(&settings, "command_timeout"), (Some("120".to_owned()), "built in".to_owned()));
}

#[test]
fn the_environment_makes_a_profile_only_if_it_speaks_of_one() {
    let choose = |pairs: &[(&str, &str)], text: &str| {
        resolve(&Arguments::default(), &variables(pairs), &file(text))
            .map(|settings| (settings.choice.value, settings.choice.source.to_string()))
    };
    let profile =
        |name: &str, source: &str| Ok((Choice::Profile(name.to_owned()), source.to_owned()));
    let offline = Ok((Choice::Offline, "built in".to_owned()));
    assert_eq!(choose(&[], ""), offline);
    assert_eq!(choose(&[("MODEL_ID", "m"), ("OPENAI_API_KEY", "")], ""), offline);
    for (variable, name) in [
        ("DEEPSEEK_API_KEY", "deepseek"),
        ("DEEPSEEK_URL", "deepseek"),
        ("DASHSCOPE_API_KEY", "qwen"),
        ("OPENAI_API_KEY", "openai"),
        ("OPENAI_BASE_URL", "openai"),
        ("ANTHROPIC_API_KEY", "anthropic"),
    ] {
        let source = format!("environment: {variable}");
        assert_eq!(choose(&[(variable, "x")], ""), profile(name, &source));
    }
    let two = [("DEEPSEEK_API_KEY", "x"), ("OPENAI_API_KEY", "x")];
    let several = choose(&two, "").unwrap_err();
    assert!(matches!(several, ChoiceError::Several(_)));
    for word in ["deepseek", "DEEPSEEK_API_KEY", "openai", "--profile"] {
        assert!(several.to_string().contains(word), "{several}");
    }
    assert_eq!(choose(&two, "profile = \"groq\""), profile("groq", "/c/config.toml:1"));
    let settings =
        resolve(&arguments(None, Some("deepseek")), &variables(&[("MODEL_ID", "m")]), &file(""))
            .unwrap();
    assert_ne!(row(&settings, "model").0.as_deref(), Some("m"), "MODEL_ID is not this profile's");
}

#[test]
fn profiles_bring_their_dialect_and_the_file_changes_it() {
    let resolve = |name: &str, text: &str| {
        resolve(&arguments(None, Some(name)), &variables(&[]), &file(text))
    };
    let deepseek = resolve("deepseek", "").unwrap().values.dialect();
    assert_eq!(deepseek.reasoning_back, ReasoningBack::WithCalls);
    let openai = resolve("openai", "").unwrap().values.dialect();
    assert_eq!(openai.max_tokens, MaxTokens::MaxCompletionTokens);
    assert_eq!(openai.system_role, SystemRole::Developer);
    assert!(!resolve("mistral", "").unwrap().values.dialect().stream_options);
    let moved = variables(&[("ANTHROPIC_BASE_URL", "http://127.0.0.1:1/")]);
    let moved =
        limpid::config::resolve(&arguments(None, Some("anthropic")), &moved, &file("")).unwrap();
    assert_eq!(row(&moved, "url").0.as_deref(), Some("http://127.0.0.1:1/v1"));
    for name in [
        "anthropic",
        "openai-responses",
        "qwen",
        "qwen-intl",
        "openrouter",
        "groq",
        "ollama",
        "llama.cpp",
        "vllm",
    ] {
        let values = resolve(name, "").unwrap().values;
        assert!(values.url.unwrap().value.starts_with("http"), "{name}");
    }
    let text = "effort = \"low\"\n[profiles.mine]\nurl = \"http://127.0.0.1:1/v1\"\n\
        system_role = \"developer\"\nparallel_calls = false\njoin_user_messages = true\neffort = \"high\"\n";
    let mine = resolve("mine", text).unwrap().values;
    assert_eq!(mine.dialect().system_role, SystemRole::Developer);
    assert_eq!(mine.dialect().parallel_calls, Some(false));
    assert!(mine.dialect().join_user_messages);
    assert!(!resolve("llama.cpp", "").unwrap().values.dialect().join_user_messages);
    assert_eq!(mine.parameters().effort.as_deref(), Some("high"));
    let other = resolve("ollama", text).unwrap().values;
    assert_eq!(other.parameters().effort.as_deref(), Some("low"));
    let unknown = resolve("depseek", "").unwrap_err().to_string();
    assert!(
        unknown.contains("Did you mean deepseek?") && unknown.contains("llama.cpp"),
        "{unknown}"
    );
}

#[test]
fn a_broken_file_is_named_with_line_and_fix_and_nothing_starts() {
    let server = Server::start(vec![text("no")]);
    let cases = [
        ("max_turns = 3\nmax_turn = 4\n", ":2:", "did you mean max_turns?"),
        ("\n\nyolo = true\n", ":3:", "only ever an argument"),
        (
            "[profiles.x]\nurl = \"http://127.0.0.1:1\"\nyolo = true\n",
            ":3:",
            "only ever an argument",
        ),
        ("max_turns = \"many\"\n", ":1:", "a whole number"),
        ("max_turns = 0\n", ":1:", "from 1 up"),
        ("max_turns = \n", ":1:", "not TOML"),
        ("model = \"m\"\n", ":1:", "[profiles.NAME]"),
        ("[profiles.openai]\nmax_turns = 3\n", ":2:", "above the first"),
        ("[profiles.x]\nmodel = \"m\"\n", ":1:", "needs url"),
        ("[profiles.llama.cpp]\nmodel = \"m\"\n", ":1:", "in quotes"),
        ("[profiles.openai]\nformat = \"soap\"\n", ":2:", "openai-chat"),
        ("[profiles.openai]\nkey_env = \"sk-secret-1234567890\"\n", ":2:", "looks like a key"),
        ("[profiles.openai]\nkey_env = \"secret 1\"\n", ":2:", "name of the variable"),
        ("[profiles.openai]\nmodel = \"gsk_secret1234567890\"\n", ":2:", "looks like a key"),
        ("[profiles.openai]\napi_key = \"secret\"\n", ":2:", "never kept in this file"),
        ("pass_to_commands = \"GH_TOKEN\"\n", ":1:", "must be a list of names of variables"),
        ("pass_to_commands = [\"secret 1\"]\n", ":1:", "their values are never written"),
        ("pass_to_commands = [\"ghp_secret123456\"]\n", ":1:", "their values are never written"),
        ("[profiles.openai]\npass_to_commands = []\n", ":2:", "above the first"),
        ("profile = \"depseek\"\n", "config.toml:1", "Did you mean deepseek?"),
    ];
    for (text, place, words) in cases {
        let world = World::new();
        let path = write_config(&world, text);
        let output =
            world.limpid(&["exec", "hi"]).env("OPENAI_BASE_URL", server.url()).output().unwrap();
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{text}: {told}");
        let place = if place.starts_with(':') {
            format!("{}{place}", path.display())
        } else {
            place.to_owned()
        };
        for word in [place.as_str(), words] {
            assert!(told.contains(word), "{text}: {word} in {told}");
        }
        assert!(!told.contains("secret"), "{told}");
    }
    assert!(server.requests().is_empty());
}

#[test]
fn a_profile_of_the_file_is_used_with_its_key_and_parameters() {
    let world = World::new();
    let server = Server::start(vec![text("ok")]);
    write_config(
        &world,
        &format!(
            "profile = \"mine\"\ntemperature = 0.5\n[profiles.mine]\nurl = \"{}\"\nmodel = \"m-1\"\nkey_env = \"MINE\"\n",
            server.url()
        ),
    );
    let unset = world.run(&["exec", "hi"]);
    assert_eq!(unset.status.code(), Some(2));
    assert!(
        stderr(&unset).contains("MINE") && stderr(&unset).contains("config.toml:6"),
        "{}",
        stderr(&unset)
    );
    assert!(server.requests().is_empty());
    let output = world.limpid(&["exec", "hi"]).env("MINE", "canary-1").output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let request = &server.requests()[0];
    assert!(request.head.contains("authorization: Bearer canary-1"));
    let body: serde_json::Value = serde_json::from_slice(&request.body).unwrap();
    assert_eq!(body["model"], "m-1");
}

#[test]
fn several_profiles_in_the_environment_are_listed_and_none_is_used() {
    let world = World::new();
    let output = world
        .limpid(&["exec", "hi"])
        .envs([("OPENAI_API_KEY", "canary-1"), ("DEEPSEEK_API_KEY", "canary-2")])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = stderr(&output);
    for word in ["openai (environment: OPENAI_API_KEY)", "deepseek", "--profile NAME"] {
        assert!(told.contains(word), "{told}");
    }
    assert!(!told.contains("canary"), "{told}");
}

#[test]
fn config_prints_every_value_with_its_source_and_no_key() {
    let world = World::new();
    let path =
        write_config(&world, "max_turns = 9\npass_to_commands = [\"GH_TOKEN\", \"A_KEY\"]\n");
    let output = world
        .limpid(&["config", "--temperature", "0.3"])
        .envs([("DEEPSEEK_API_KEY", "canary-1"), ("MODEL_ID", "m-1")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let told = stdout(&output);
    let line = |name: &str| {
        let line = told.lines().find(|line| line.split_whitespace().next() == Some(name));
        line.unwrap_or_else(|| panic!("{name} in {told}"))
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(line("profile"), "profile deepseek environment: DEEPSEEK_API_KEY");
    assert_eq!(line("url"), "url https://api.deepseek.com built-in profile deepseek");
    assert_eq!(line("model"), "model m-1 environment: MODEL_ID");
    assert_eq!(line("key"), "key set in DEEPSEEK_API_KEY environment: DEEPSEEK_API_KEY");
    assert_eq!(line("temperature"), "temperature 0.3 --temperature");
    assert_eq!(line("max_turns"), format!("max_turns 9 {}:1", path.display()));
    assert_eq!(line("command_timeout"), "command_timeout 120 built in");
    let passed = format!("pass_to_commands GH_TOKEN A_KEY {}:2", path.display());
    assert_eq!(line("pass_to_commands"), passed);
    assert_eq!(line("effort"), "effort not set");
    assert_eq!(line("reasoning_back"), "reasoning_back with_calls built-in profile deepseek");
    assert!(!told.contains("canary"), "{told}");
}

#[test]
fn config_set_changes_one_value_and_keeps_comments() {
    let world = World::new();
    let path = write_config(&world, "# mine\nmax_turns = 9 # few\n");
    for (name, value) in [
        ("max_turns", "12"),
        ("profile", "deepseek"),
        ("pass_to_commands", "[\"GH_TOKEN\"]"),
        ("profiles.llama.cpp.model", "123"),
        ("profiles.openai.allow_http", "true"),
    ] {
        let output = world.run(&["config", "set", name, value]);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        text,
        "# mine\nmax_turns = 12 # few\nprofile = \"deepseek\"\npass_to_commands = [\"GH_TOKEN\"]\n\n[profiles.\"llama.cpp\"]\nmodel = \"123\"\n\n[profiles.openai]\nallow_http = true\n"
    );
    for (name, value, words) in [
        ("max_turn", "3", "did you mean max_turns?"),
        ("max_turns", "x", "a whole number"),
        ("yolo", "true", "only ever an argument"),
        ("profiles.openai.key_env", "sk-secret-1234567890", "looks like a key"),
        ("profiles.new.model", "m", "needs url"),
    ] {
        let output = world.run(&["config", "set", name, value]);
        assert_eq!(output.status.code(), Some(2));
        let told = stderr(&output);
        assert!(told.contains(words) && told.contains("Nothing was written"), "{told}");
        assert!(!told.contains("secret"), "{told}");
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    let fresh = set(Path::new("/c"), "", "profiles.mine.url", "http://127.0.0.1:1/v1").unwrap();
    assert_eq!(fresh, "[profiles.mine]\nurl = \"http://127.0.0.1:1/v1\"\n");
}

#[test]
fn models_asks_the_server_with_the_key_and_says_what_it_refuses() {
    let world = World::new();
    let list = "{\"object\":\"list\",\"data\":[{\"id\":\"m-1\"},{\"id\":\"m\\u001b[2J\"}]}";
    let server = Server::start(vec![
        status("200 OK", "application/json", list),
        status("401 Unauthorized", "application/json", "{\"error\":{\"message\":\"bad key\"}}"),
        status("200 OK", "text/html", "<html>"),
    ]);
    let url = server.url();
    let ask = || {
        world
            .limpid(&["models", "--url", &url, "--key-env", "MINE"])
            .env("MINE", "canary-1")
            .output()
            .unwrap()
    };
    let output = ask();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&output).lines().next(), Some("m-1"));
    assert!(!stdout(&output).contains('\u{1b}'));
    let request = &server.requests()[0];
    assert!(request.head.starts_with("GET /v1/models "), "{}", request.head);
    assert!(request.head.contains("authorization: Bearer canary-1"));
    for words in ["bad key", "not a list of models"] {
        let output = ask();
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
        assert!(!stderr(&output).contains("canary"));
    }
}

#[test]
fn a_url_that_nobody_typed_is_said_to_be_whose_it_is() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let world = World::new();
    let path = write_config(&world, &format!("[profiles.mine]\nurl = \"http://{free}/v1\"\n"));
    let asked = |arguments: &[&str], variable: Option<(&str, &str)>| {
        let output = world.limpid(arguments).envs(variable).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        stderr(&output)
    };
    let told = asked(&["models", "--profile", "mine"], None);
    assert!(told.contains(&format!("cannot connect to {free}")), "{told}");
    assert!(told.contains(&format!("The URL stands in {}:2.", path.display())), "{told}");
    let url = format!("http://{free}");
    let told = asked(&["models", "--profile", "deepseek"], Some(("DEEPSEEK_URL", url.as_str())));
    assert!(told.contains("The URL comes from the variable DEEPSEEK_URL."), "{told}");
    let told = asked(&["models", "--url", &url], None);
    assert!(!told.contains("The URL "), "whoever typed it knows: {told}");
    let told = asked(&["exec", "--profile", "mine", "--model", "m", "go"], None);
    assert!(told.contains("The URL stands in"), "a prompt says the same: {told}");
    // Nobody listens there, unless somebody does on this machine.
    if std::net::TcpListener::bind("127.0.0.1:11434").is_ok() {
        let told = asked(&["models", "--profile", "ollama"], None);
        assert!(
            told.contains(
                "The URL is that of the built-in profile ollama: --url names another, or url under \
                 [profiles.ollama] in config.toml."
            ),
            "{told}"
        );
    }
}

#[test]
fn doctor_finds_what_is_wrong_and_how_to_put_it_right() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    let healthy = world.run(&["doctor"]);
    assert!(healthy.status.success(), "{}", stdout(&healthy));
    assert!(stdout(&healthy).contains("offline model"), "{}", stdout(&healthy));

    let sessions = world.data().join("limpid/sessions");
    std::fs::create_dir_all(&sessions).unwrap();
    std::fs::set_permissions(&sessions, std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = world.run(&["doctor", "--url", "http://127.0.0.1:9/v1", "--model", "m"]);
    assert_eq!(output.status.code(), Some(1));
    let told = stdout(&output);
    for words in ["WRONG network", "refused", "WRONG sessions", "chmod go="] {
        assert!(told.contains(words), "{words} in {told}");
    }
    write_config(&world, "max_turns = x\n");
    let output = world.run(&["doctor"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("config.toml:1"), "{}", stdout(&output));
}

#[test]
fn doctor_names_what_commands_get_and_what_they_do_not() {
    let world = World::new();
    let path = write_config(&world, "pass_to_commands = [\"GH_TOKEN\", \"NOT_SET_KEY\"]\n");
    let variables = [("GH_TOKEN", "canary"), ("A_KEY", "canary"), ("B_SECRET", "canary")];
    let output = world.limpid(&["doctor"]).envs(variables).output().unwrap();
    let told = stdout(&output);
    let path = path.display();
    for line in [
        "ok    commands   A_KEY, B_SECRET: withheld. To pass one on: pass_to_commands in config.toml"
            .to_owned(),
        format!("ok    commands   GH_TOKEN: passed on ({path}:1)"),
        format!("note  commands   NOT_SET_KEY is to be passed on ({path}:1), but is not set"),
    ] {
        assert!(told.lines().any(|other| other == line), "{line} in {told}");
    }
    assert!(!told.contains("canary"), "{told}");
}

#[test]
fn doctor_does_not_vouch_for_a_key_that_was_only_shown() {
    let world = World::new();
    let list = status("200 OK", "application/json", r#"{"data":[{"id":"m"}]}"#);
    let refusal = status("400 Bad Request", "application/json", r#"{"error":{"message":"no"}}"#);
    let server = Server::start(vec![list, refusal]);
    let arguments = ["doctor", "--url", &server.url(), "--model", "m", "--key-env", "SOME_KEY"];
    let run = || world.limpid(&arguments).env("SOME_KEY", "sk-wrong-000000").output().unwrap();
    let told = stdout(&run());
    for words in ["ok    profile    none: the server is named by --url\n", "answers; 1 model\n"] {
        assert!(told.contains(words), "{words} in {told}");
    }
    assert!(told.contains("ok    key        set in SOME_KEY. Not proved"), "{told}");
    let told = stdout(&run());
    assert!(told.contains("HTTP 400: no. The server lists no models like this"), "{told}");
    assert!(!told.contains("inspector") && !told.contains("Not proved"), "{told}");
}
