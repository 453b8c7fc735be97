//! What a history becomes in each format: exact bodies, the rules that servers check, and rows that
//! add up to the body.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod rules;

use std::sync::Arc;

use limpid::conversation::{
    Block, Call, CallId, CallResult, Entry, History, Opaque, Origin, Overlays, Part, Reasoning,
    Record, Role, Session, Slot, Stamped, ToolDefinition, check,
};
use limpid::wire::outline::{Change, RowKind, cache_break, outline, roles};
use limpid::wire::{Assembler, Dialect, Format, Parameters, Request, Settings};
use proptest::prelude::*;

const FORMATS: [Format; 3] = [Format::OpenaiChat, Format::Anthropic, Format::OpenaiResponses];

fn settings(format: Format) -> Settings {
    let parameters = r#"{"type":"object"}"#;
    Settings {
        format,
        model: "m".to_owned(),
        tools: vec![ToolDefinition { name: "bash", description: "runs", parameters }],
        dialect: Dialect::default(),
        parameters: Parameters::default(),
    }
}

fn body(request: &Request) -> String {
    request.parts.iter().map(|part| &*part.text).collect()
}

fn call(id: &str, arguments: &str) -> Block {
    let (name, arguments) = ("bash".to_owned(), arguments.to_owned());
    Block::Call(Call { id: CallId(id.to_owned()), name, arguments })
}

fn result(id: &str, text: &str, is_error: bool) -> Block {
    Block::Result(CallResult { call: CallId(id.to_owned()), text: text.to_owned(), is_error })
}

fn text(text: &str) -> Block {
    Block::Text(text.to_owned())
}

fn thought(text: &str, format: Format, json: &str) -> Block {
    let opaque = Opaque { format: format.name().to_owned(), json: json.to_owned() };
    Block::Reasoning(Reasoning { text: text.to_owned(), opaque: Some(opaque) })
}

const SIGNED: &str = r#"{"type":"thinking","thinking":"Two.","signature":"c2ln"}"#;
const REDACTED: &str = r#"{"type":"redacted_thinking","data":"eHg="}"#;
const ENCRYPTED: &str =
    r#"{"id":"rs_1","type":"reasoning","encrypted_content":"gAAA","summary":[]}"#;

/// Two calls at once after thinking in both formats, their results, an interrupted reply, and a
/// new prompt.
fn conversation() -> History {
    let mut history = History::default();
    history.append(Role::System, Origin::System, vec![text("Be brief.")]);
    history.append(Role::User, Origin::User, vec![text("Look \"here\".")]);
    history.append(
        Role::Assistant,
        Origin::Model,
        vec![
            thought("Two.", Format::Anthropic, SIGNED),
            thought("", Format::Anthropic, REDACTED),
            thought("Zwei.", Format::OpenaiResponses, ENCRYPTED),
            text("I look."),
            call("c1", r#"{"command": "ls", "n": 1.50}"#),
            call("c2", ""),
        ],
    );
    history.append(Role::Tool, Origin::Tool, vec![result("c1", "a.py", false)]);
    history.append(Role::Tool, Origin::Tool, vec![result("c2", "no command", true)]);
    let cut = vec![text("There is"), Block::Reasoning(Reasoning::of_text("hm"))];
    history.append(Role::Assistant, Origin::Model, cut);
    history.append(Role::User, Origin::Harness, vec![text("[interrupted]")]);
    history.append(Role::User, Origin::User, vec![text("Go on.")]);
    history
}

#[test]
fn an_anthropic_body_to_the_byte() {
    let request = Assembler::default().assemble(
        conversation().entries(),
        &Overlays::default(),
        &settings(Format::Anthropic),
    );
    let expected = [
        r#"{"model":"m","system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}]"#,
        r#","tools":[{"name":"bash","description":"runs","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}]"#,
        r#","messages":[{"role":"user","content":[{"type":"text","text":"Look \"here\"."}]}"#,
        r#",{"role":"assistant","content":["#,
        SIGNED,
        ",",
        REDACTED,
        r#",{"type":"text","text":"I look."}"#,
        r#",{"type":"tool_use","id":"c1","name":"bash","input":{"command": "ls", "n": 1.50}}"#,
        r#",{"type":"tool_use","id":"c2","name":"bash","input":{}}]}"#,
        r#",{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"a.py"}"#,
        r#",{"type":"tool_result","tool_use_id":"c2","content":"no command","is_error":true,"cache_control":{"type":"ephemeral"}}]}"#,
        r#",{"role":"assistant","content":[{"type":"text","text":"There is"}]}"#,
        r#",{"role":"user","content":[{"type":"text","text":"[interrupted]"}"#,
        r#",{"type":"text","text":"Go on.","cache_control":{"type":"ephemeral"}}]}"#,
        r#"],"stream":true,"max_tokens":8192}"#,
    ];
    assert_eq!(body(&request), expected.concat());
    assert_eq!(
        request.repairs,
        [
            "reasoning sealed by another server is not sent back",
            "reasoning without a signature is not sent back",
        ]
    );
    assert_eq!(roles(&request.parts), "user assistant user assistant user");
}

#[test]
fn a_responses_body_to_the_byte() {
    let request = Assembler::default().assemble(
        conversation().entries(),
        &Overlays::default(),
        &settings(Format::OpenaiResponses),
    );
    let expected = [
        r#"{"model":"m","tools":[{"type":"function","name":"bash","description":"runs","parameters":{"type":"object"},"strict":false}]"#,
        r#","input":[{"role":"system","content":"Be brief."}"#,
        r#",{"role":"user","content":"Look \"here\"."},"#,
        ENCRYPTED,
        r#",{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]}"#,
        r#",{"type":"function_call","call_id":"c1","name":"bash","arguments":"{\"command\": \"ls\", \"n\": 1.50}"}"#,
        r#",{"type":"function_call","call_id":"c2","name":"bash","arguments":"{}"}"#,
        r#",{"type":"function_call_output","call_id":"c1","output":"a.py"}"#,
        r#",{"type":"function_call_output","call_id":"c2","output":"no command"}"#,
        r#",{"type":"message","role":"assistant","content":[{"type":"output_text","text":"There is"}]}"#,
        r#",{"role":"user","content":"[interrupted]"},{"role":"user","content":"Go on."}"#,
        r#"],"stream":true,"store":false,"include":["reasoning.encrypted_content"]}"#,
    ];
    assert_eq!(body(&request), expected.concat());
    assert_eq!(
        request.repairs,
        [
            "reasoning sealed by another server is not sent back (2 times)",
            "reasoning that is not encrypted is not sent back",
        ]
    );
}

#[test]
fn a_chat_body_to_the_byte() {
    let request = Assembler::default().assemble(
        conversation().entries(),
        &Overlays::default(),
        &settings(Format::OpenaiChat),
    );
    let expected = [
        r#"{"model":"m","tools":[{"type":"function","function":{"name":"bash","description":"runs","parameters":{"type":"object"}}}]"#,
        r#","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Look \"here\"."}"#,
        r#",{"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"command\": \"ls\", \"n\": 1.50}"}}"#,
        r#",{"id":"c2","type":"function","function":{"name":"bash","arguments":"{}"}}]}"#,
        r#",{"role":"tool","tool_call_id":"c1","content":"a.py"},{"role":"tool","tool_call_id":"c2","content":"no command"}"#,
        r#",{"role":"assistant","content":"There is"},{"role":"user","content":"[interrupted]"},{"role":"user","content":"Go on."}"#,
        r#"],"stream":true,"stream_options":{"include_usage":true}}"#,
    ];
    assert_eq!(body(&request), expected.concat());
}

/// As the templates of some models want it: the user and the model take turns.
#[test]
fn user_messages_in_a_row_are_joined_where_the_profile_says_so() {
    let mut joining = settings(Format::OpenaiChat);
    joining.tools.clear();
    joining.dialect.join_user_messages = true;
    let mut history = History::default();
    let mut say = |role, origin, words: &str| {
        history.append(role, origin, vec![text(words)]);
        history.clone()
    };
    say(Role::System, Origin::System, "Be brief.");
    say(Role::User, Origin::Context, "Rules of \"x\":\n1");
    let first = say(Role::User, Origin::User, "Hello.");
    say(Role::Assistant, Origin::Model, "Hi.");
    say(Role::User, Origin::User, "$ ls");
    let second = say(Role::User, Origin::User, "Go \\on.");
    let mut assembler = Assembler::default();
    let mut sent = |history: &History, settings: &Settings| {
        let request = assembler.assemble(history.entries(), &Overlays::default(), settings);
        (body(&request), request)
    };
    let begin = concat!(
        r#"{"model":"m","messages":[{"role":"system","content":"Be brief."}"#,
        r#",{"role":"user","content":"Rules of \"x\":\n1\n\nHello."}"#,
    );
    let end = r#"],"stream":true,"stream_options":{"include_usage":true}}"#;
    let (bytes, request) = sent(&first, &joining);
    assert_eq!(bytes, format!("{begin}{end}"));
    assert_eq!(request.repairs, ["2 user messages in a row are sent as one"]);
    assert_eq!(roles(&request.parts), "system user");
    let before = request.parts;

    let (bytes, request) = sent(&second, &joining);
    let more = concat!(
        r#",{"role":"assistant","content":"Hi."}"#,
        r#",{"role":"user","content":"$ ls\n\nGo \\on."}"#,
    );
    assert_eq!(bytes, format!("{begin}{more}{end}"));
    // Said of what is new; what was sent before stays what it was.
    assert_eq!(request.repairs, ["2 user messages in a row are sent as one"]);
    assert_eq!(cache_break(&request.parts, &before), None);
    let session = session(second.entries());
    let rows = outline(&request.parts, &before, &session);
    assert_eq!(rows[1].origins, [Origin::Context, Origin::User]);
    assert_eq!(rows[1].change, Change::Same);
    let (_, request) = sent(&second, &joining);
    assert!(request.repairs.is_empty(), "{:?}", request.repairs);

    // Without the switch each is a message, as ever.
    joining.dialect.join_user_messages = false;
    let (bytes, request) = sent(&second, &joining);
    assert!(bytes.contains(r#"\n1"},{"role":"user","content":"Hello."}"#), "{bytes}");
    assert_eq!(roles(&request.parts), "system user×2 assistant user×2");
}

#[test]
fn parameters_and_switches_have_their_names_in_each_format() {
    let history = conversation();
    let tail = |format, thinking_budget| {
        let mut settings = settings(format);
        settings.dialect.parallel_calls = Some(false);
        settings.parameters = Parameters {
            temperature: Some(0.5),
            max_tokens: None,
            effort: Some("low".to_owned()),
            thinking_budget,
        };
        let body = body(&Assembler::default().assemble(
            history.entries(),
            &Overlays::default(),
            &settings,
        ));
        body.split_once("],\"stream\":true").unwrap().1.to_owned()
    };
    assert_eq!(
        tail(Format::Anthropic, Some(1024)),
        r#","max_tokens":9216,"temperature":0.5,"thinking":{"type":"enabled","budget_tokens":1024},"output_config":{"effort":"low"},"tool_choice":{"type":"auto","disable_parallel_tool_use":true}}"#
    );
    assert_eq!(
        tail(Format::OpenaiResponses, None),
        r#","store":false,"include":["reasoning.encrypted_content"],"temperature":0.5,"reasoning":{"effort":"low"},"parallel_tool_calls":false}"#
    );
}

#[test]
fn the_format_can_change_in_mid_session() {
    let mut assembler = Assembler::default();
    let history = conversation();
    let mut fresh =
        |format| assembler.assemble(history.entries(), &Overlays::default(), &settings(format));
    let bodies: Vec<String> = FORMATS.map(|format| body(&fresh(format))).into();
    let again: Vec<Request> = FORMATS.map(&mut fresh).into();
    for (before, after) in bodies.iter().zip(&again) {
        assert_eq!(*before, body(after));
        assert!(after.new_parts.is_empty(), "{after:?}");
        assert!(!after.repairs.is_empty(), "what was adjusted is told again: {after:?}");
    }
}

#[test]
fn a_server_block_goes_back_with_its_result_only() {
    let opaque = |json: &str| {
        let format = Format::Anthropic.name().to_owned();
        Block::Opaque(Opaque { format, json: json.to_owned() })
    };
    let asked = r#"{"type":"server_tool_use","id":"s1","name":"web_search","input":{"q":1.0}}"#;
    let found = r#"{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}"#;
    let mut whole = History::default();
    whole.append(Role::User, Origin::User, vec![text("q")]);
    let mut cut = whole.clone();
    whole.append(Role::Assistant, Origin::Model, vec![opaque(asked), opaque(found), text("a")]);
    cut.append(Role::Assistant, Origin::Model, vec![text("a"), opaque(asked)]);
    let mut paused = cut.clone();
    cut.append(Role::User, Origin::User, vec![text("go on")]);
    let sent = |history: &History, format| {
        Assembler::default().assemble(history.entries(), &Overlays::default(), &settings(format))
    };
    let request = sent(&whole, Format::Anthropic);
    assert!(body(&request).contains(&format!("[{asked},{found},{{")), "{}", body(&request));
    let request = sent(&cut, Format::Anthropic);
    assert!(!body(&request).contains("server_tool_use"));
    assert_eq!(request.repairs, ["a server's call without its result is left out"]);

    // A server that paused in the middle of it gets it back as it was, and then its end.
    let request = sent(&paused, Format::Anthropic);
    assert!(body(&request).contains(&format!(",{asked}]}}]")), "{}", body(&request));
    paused.append(Role::Assistant, Origin::Model, vec![opaque(found), text("b")]);
    let request = sent(&paused, Format::Anthropic);
    assert!(body(&request).contains(&format!(",{asked},{found},{{")), "{}", body(&request));
    assert!(request.repairs.is_empty(), "{:?}", request.repairs);
    let request = sent(&whole, Format::OpenaiResponses);
    assert!(!body(&request).contains("web_search"));
    assert_eq!(request.repairs, ["what only another server understands is left out (2 times)"]);
}

#[test]
fn ids_and_names_of_other_formats_are_sent_as_anthropic_takes_them() {
    let mut history = History::default();
    history.append(Role::User, Origin::User, vec![text("q")]);
    let odd =
        Call { id: CallId("llm:0".to_owned()), name: "a.b".to_owned(), arguments: "[".to_owned() };
    history.append(Role::Assistant, Origin::Model, vec![Block::Call(odd)]);
    history.append(Role::Tool, Origin::Tool, vec![result("llm:0", "no", true)]);
    let request = Assembler::default().assemble(
        history.entries(),
        &Overlays::default(),
        &settings(Format::Anthropic),
    );
    let body = body(&request);
    assert!(body.contains(r#""id":"llm_x3a_0","name":"a_b","input":{}"#), "{body}");
    assert!(body.contains(r#""tool_use_id":"llm_x3a_0""#), "{body}");
    assert_eq!(request.repairs.len(), 3, "{:?}", request.repairs);
}

/// What the records of a session with these entries add up to.
fn session(entries: &[Arc<Entry>]) -> Session {
    let mut session = Session::default();
    for entry in entries {
        session.apply(&Stamped { at: 0, record: Record::Entry(entry.clone()) });
    }
    session
}

#[test]
fn rows_are_the_wire_messages() {
    let history = conversation();
    let session = session(history.entries());
    let rows = |format| {
        let request = Assembler::default().assemble(
            history.entries(),
            &Overlays::default(),
            &settings(format),
        );
        outline(&request.parts, &[], &session)
    };
    let rows_of = rows(Format::Anthropic);
    let RowKind::Message { number: 3, role } = &rows_of[2].kind else { panic!("{rows_of:?}") };
    assert_eq!((&**role, &*rows_of[2].origins), ("user", &[Origin::Tool][..]));
    let answers: Vec<_> = rows_of[2].answers.iter().map(|(id, holder)| (&*id.0, *holder)).collect();
    assert_eq!(answers, [("c1", Some(2)), ("c2", Some(2))]);
    assert_eq!(rows_of[4].origins, [Origin::Harness, Origin::User]);

    let rows_of = rows(Format::OpenaiResponses);
    let shown: Vec<_> =
        rows_of.iter().map(|row| (row.kind.word(), row.calls.len(), row.answers.len())).collect();
    let expected = [
        ("system", 0, 0),
        ("user", 0, 0),
        ("reasoning", 0, 0),
        ("assistant", 0, 0),
        ("function_call", 1, 0),
        ("function_call", 1, 0),
        ("function_call_output", 0, 1),
        ("function_call_output", 0, 1),
    ];
    assert_eq!(shown[..8], expected);
    assert_eq!(rows_of[7].answers[0].1, Some(6));
}

#[test]
fn moving_markers_change_no_entry_and_break_no_cache() {
    let mut assembler = Assembler::default();
    let settings = settings(Format::Anthropic);
    let mut history = conversation();
    let before = assembler.assemble(history.entries(), &Overlays::default(), &settings);
    history.append(Role::Assistant, Origin::Model, vec![text("Yes.")]);
    history.append(Role::User, Origin::User, vec![text("More.")]);
    let after = assembler.assemble(history.entries(), &Overlays::default(), &settings);
    assert!(
        after.new_parts.iter().all(|(_, part)| part.origin == Origin::Envelope
            || part.entry.is_some_and(|entry| entry.0 > 8))
    );
    assert_eq!(cache_break(&after.parts, &before.parts), None);
    let rows = outline(&after.parts, &before.parts, &session(history.entries()));
    let changes: Vec<Change> = rows.iter().take(7).map(|row| row.change).collect();
    assert_eq!(changes[..5], [Change::Same; 5]);
    assert_eq!(changes[5..], [Change::New; 2]);
    assert_eq!(body(&after).matches("cache_control").count(), 4);
}

fn block(number: usize) -> impl Strategy<Value = Block> {
    let words = prop_oneof![Just("a".to_owned()), "[ -~é🎉\n]{1,12}"];
    let words = words.prop_filter("visible", |text: &String| !text.trim().is_empty());
    let own = prop_oneof![
        Just(("anthropic", SIGNED)),
        Just(("anthropic", REDACTED)),
        Just(("openai-responses", ENCRYPTED)),
    ];
    let opaque = prop_oneof![
        Just(r#"{"type":"server_tool_use","id":"s","name":"n","input":{}}"#),
        Just(r#"{"type":"web_search_tool_result","tool_use_id":"s","content":[]}"#),
        Just(r#"{"type":"compaction","content":"x"}"#),
    ];
    let arguments = prop_oneof![Just(r#"{"a":1}"#), Just(""), Just("{\"a"), Just("[1]")];
    let odd = prop_oneof![Just(""), Just(":0"), Just(" é")];
    let name = prop_oneof![Just("bash"), Just(""), Just("a b.c")];
    prop_oneof![
        3 => words.clone().prop_map(Block::Text),
        2 => words.prop_map(|text| Block::Reasoning(Reasoning::of_text(text))),
        2 => own.prop_map(|(format, json)| Block::Reasoning(Reasoning {
            text: String::new(),
            opaque: Some(Opaque { format: format.to_owned(), json: json.to_owned() }),
        })),
        1 => opaque.prop_map(|json| Block::Opaque(Opaque {
            format: "anthropic".to_owned(),
            json: json.to_owned(),
        })),
        3 => (arguments, odd, name).prop_map(move |(arguments, odd, name)| Block::Call(Call {
            id: CallId(format!("c{number}{odd}")),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        })),
    ]
}

/// Any order of prompts and replies; each call is answered.
fn histories() -> impl Strategy<Value = History> {
    let entry = prop_oneof![
        Just(None),
        prop::collection::vec(any::<u8>(), 1..5).prop_flat_map(|sizes| {
            let blocks: Vec<_> = sizes.iter().enumerate().map(|(at, _)| block(at)).collect();
            blocks.prop_map(Some)
        }),
    ];
    prop::collection::vec(entry, 1..8).prop_map(|entries| {
        let mut history = History::default();
        history.append(Role::System, Origin::System, vec![text("s")]);
        for (position, blocks) in entries.into_iter().enumerate() {
            let Some(mut blocks) = blocks else {
                history.append(Role::User, Origin::User, vec![text("u")]);
                continue;
            };
            let mut ids = Vec::new();
            for block in &mut blocks {
                if let Block::Call(call) = block {
                    call.id.0 = format!("t{position}{}", call.id);
                    ids.push(call.id.clone());
                }
            }
            history.append(Role::Assistant, Origin::Model, blocks);
            for id in ids {
                history.append(Role::Tool, Origin::Tool, vec![result(&id.0, "r", false)]);
            }
        }
        history.append(Role::User, Origin::User, vec![text("last")]);
        history
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 600,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_sound_history_becomes_a_body_that_servers_take(history in histories()) {
        prop_assert_eq!(check(history.entries()), Ok(()));
        let session = session(history.entries());
        let mut assembler = Assembler::default();
        let mut previous: Vec<Arc<Part>> = Vec::new();
        for format in FORMATS {
            let request = assembler.assemble(history.entries(), &Overlays::default(), &settings(format));
            let body = body(&request);
            prop_assert_eq!(request.bytes, body.len() as u64);
            let json = serde_json::from_str(&body).unwrap();
            match format {
                Format::OpenaiChat => rules::chat(&json),
                Format::Anthropic => rules::anthropic(&json),
                Format::OpenaiResponses => rules::responses(&json),
            }
            let rows = outline(&request.parts, &previous, &session);
            let sum: u64 = rows.iter().map(|row| row.bytes).sum();
            prop_assert_eq!(sum, request.bytes);
            let messages = rows.iter().filter(|r| matches!(r.kind, RowKind::Message { .. }));
            for row in messages {
                let text: String =
                    row.parts.iter().map(|&part| &*request.parts[part].text).collect();
                prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", text);
            }
            let listed = if format == Format::OpenaiResponses { "input" } else { "messages" };
            let count = request.parts.iter().filter(|p| matches!(p.slot, Slot::MessageStart(_)));
            prop_assert_eq!(count.count(), json[listed].as_array().unwrap().len());
            previous = request.parts;
        }
    }
}
