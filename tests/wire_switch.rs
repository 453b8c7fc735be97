//! A history that was made in one format goes along to another, or to another server of the same
//! format: the exact bytes, what strict servers say of them, and the names of what was left behind.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod rules;

use limpid::conversation::{
    Block, CallResult, History, Origin, Overlays, Role, ToolDefinition, check,
};
use limpid::offline;
use limpid::wire::{
    Assembler, CallIds, Decoder, Dialect, End, Format, Parameters, ReasoningBack, Request,
    ResponseHead, Settings,
};
use serde_json::Value;

const FORMATS: [Format; 3] = [Format::OpenaiChat, Format::Anthropic, Format::OpenaiResponses];

/// An answer as each format streams it: thoughts, a block of the server's own, text, two calls.
fn stream(format: Format) -> String {
    let events: &[&str] = match format {
        Format::OpenaiChat => &[
            r#"{"choices":[{"index":0,"delta":{"reasoning_content":"Look first."}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"content":"I look."}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"bash:0","type":"function","function":{"name":"bash","arguments":"{\"command\": \"ls\"}"}}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"bash:1","type":"function","function":{"name":"bash","arguments":"{\"command\": \"pwd\"}"}}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
            "[DONE]",
        ],
        Format::Anthropic => &[
            r#"{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"model":"c","usage":{"input_tokens":1,"output_tokens":1}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Look first."}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"eHg="}}"#,
            r#"{"type":"content_block_stop","index":1}"#,
            r#"{"type":"content_block_start","index":2,"content_block":{"type":"compaction","content":"so far"}}"#,
            r#"{"type":"content_block_stop","index":2}"#,
            r#"{"type":"content_block_start","index":3,"content_block":{"type":"text","text":"I look."}}"#,
            r#"{"type":"content_block_stop","index":3}"#,
            r#"{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_01aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","name":"bash","input":{}}}"#,
            r#"{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"{\"command\": \"ls\"}"}}"#,
            r#"{"type":"content_block_stop","index":4}"#,
            r#"{"type":"content_block_start","index":5,"content_block":{"type":"tool_use","id":"toolu_02","name":"bash","input":{}}}"#,
            r#"{"type":"content_block_delta","index":5,"delta":{"type":"input_json_delta","partial_json":"{\"command\": \"pwd\"}"}}"#,
            r#"{"type":"content_block_stop","index":5}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}"#,
            r#"{"type":"message_stop"}"#,
        ],
        Format::OpenaiResponses => &[
            r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}"#,
            r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"item_id":"rs_1","summary_index":0,"delta":"Look first."}"#,
            r#"{"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","encrypted_content":"gAAA","summary":[{"type":"summary_text","text":"Look first."}]}}"#,
            r#"{"type":"response.output_item.added","output_index":1,"item":{"id":"ws_1","type":"web_search_call","status":"in_progress"}}"#,
            r#"{"type":"response.output_item.done","output_index":1,"item":{"id":"ws_1","type":"web_search_call","status":"completed"}}"#,
            r#"{"type":"response.output_item.added","output_index":2,"item":{"id":"msg_1","type":"message","role":"assistant","content":[]}}"#,
            r#"{"type":"response.output_text.delta","output_index":2,"item_id":"msg_1","content_index":0,"delta":"I look."}"#,
            r#"{"type":"response.output_item.done","output_index":2,"item":{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]}}"#,
            r#"{"type":"response.output_item.added","output_index":3,"item":{"id":"fc_1","type":"function_call","call_id":"call_1","name":"bash","arguments":""}}"#,
            r#"{"type":"response.output_item.done","output_index":3,"item":{"id":"fc_1","type":"function_call","call_id":"call_1","name":"bash","arguments":"{\"command\": \"ls\"}"}}"#,
            r#"{"type":"response.output_item.added","output_index":4,"item":{"id":"fc_2","type":"function_call","call_id":"call_2","name":"bash","arguments":""}}"#,
            r#"{"type":"response.output_item.done","output_index":4,"item":{"id":"fc_2","type":"function_call","call_id":"call_2","name":"bash","arguments":"{\"command\": \"pwd\"}"}}"#,
            r#"{"type":"response.completed","response":{"id":"r","status":"completed","output":[]}}"#,
        ],
    };
    events.iter().map(|data| format!("data: {data}\n\n")).collect::<Vec<_>>().concat()
}

/// A session with one answer of this format, its results, and what follows.
fn made_in(format: Format) -> History {
    let head = ResponseHead {
        status: 200,
        headers: vec![("content-type".to_owned(), "text/event-stream".to_owned())],
    };
    let mut decoder = Decoder::new(format, &head);
    decoder.feed(stream(format).as_bytes());
    let reply = decoder.finish(End::Eof);
    assert_eq!(reply.failure, None);
    let mut history = begun();
    let entry = history.append(Role::Assistant, Origin::Model, reply.blocks());
    let calls: Vec<_> = entry.calls().map(|call| call.id.clone()).collect();
    assert_eq!(calls.len(), 2, "{entry:?}");
    for (call, text) in calls.into_iter().zip(["a.py", "/home"]) {
        let result = CallResult { call, text: text.to_owned(), is_error: false };
        history.append(Role::Tool, Origin::Tool, vec![Block::Result(result)]);
    }
    history.append(Role::User, Origin::User, vec![Block::Text("And now?".to_owned())]);
    assert_eq!(check(history.entries()), Ok(()));
    history
}

fn begun() -> History {
    let mut history = History::default();
    history.append(Role::System, Origin::System, vec![Block::Text("Be brief.".to_owned())]);
    history.append(Role::User, Origin::User, vec![Block::Text("Look.".to_owned())]);
    history
}

fn settings(format: Format, dialect: Dialect) -> Settings {
    Settings {
        format,
        model: "m".to_owned(),
        tools: vec![ToolDefinition {
            name: "bash",
            description: "runs",
            parameters: r#"{"type":"object"}"#,
        }],
        dialect,
        parameters: Parameters::default(),
    }
}

/// The first request to the next server, after one that the answer came from.
fn switched(from: Format, to: Format, dialect: Dialect) -> Request {
    let mut assembler = Assembler::default();
    assembler.reach("https://one.example/v1");
    assembler.assemble(
        begun().entries(),
        &Overlays::default(),
        &settings(from, Dialect::default()),
    );
    assembler.reach("https://two.example/v1");
    let history = made_in(from);
    let request =
        assembler.assemble(history.entries(), &Overlays::default(), &settings(to, dialect));
    let strict = match to {
        Format::OpenaiChat => offline::Format::Chat,
        Format::Anthropic => offline::Format::Anthropic,
        Format::OpenaiResponses => offline::Format::Responses,
    };
    let json = serde_json::from_str(&body(&request)).unwrap();
    assert_eq!(offline::check(strict, &json), Ok(()), "{json:#}");
    request
}

fn body(request: &Request) -> String {
    request.parts.iter().map(|part| &*part.text).collect()
}

/// The wire messages alone.
fn messages(request: &Request) -> String {
    let body = body(request);
    let json: Value = serde_json::from_str(&body).unwrap();
    if json.get("input").is_some() {
        rules::responses(&json);
    } else if json.get("max_tokens").is_some() {
        rules::anthropic(&json);
    } else {
        rules::chat(&json);
    }
    let (_, rest) = body.split_once("\"messages\":[").or(body.split_once("\"input\":[")).unwrap();
    rest.split_once("],\"stream\":true").unwrap().0.to_owned()
}

const LONG: &str = "toolu_01aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

const CHAT: &str = concat!(
    r#"{"role":"system","content":"Be brief."},{"role":"user","content":"Look."},"#,
    r#"{"role":"assistant","content":"I look.",REASONING"tool_calls":["#,
    r#"{"id":"ID1","type":"function","function":{"name":"bash","arguments":"{\"command\": \"ls\"}"}},"#,
    r#"{"id":"ID2","type":"function","function":{"name":"bash","arguments":"{\"command\": \"pwd\"}"}}]},"#,
    r#"{"role":"tool","tool_call_id":"ID1","content":"a.py"},"#,
    r#"{"role":"tool","tool_call_id":"ID2","content":"/home"},{"role":"user","content":"And now?"}"#,
);
const ANTHROPIC: &str = concat!(
    r#"{"role":"user","content":[{"type":"text","text":"Look.","cache_control":{"type":"ephemeral"}}]},"#,
    r#"{"role":"assistant","content":[REASONING{"type":"text","text":"I look."},"#,
    r#"{"type":"tool_use","id":"ID1","name":"bash","input":{"command": "ls"}},"#,
    r#"{"type":"tool_use","id":"ID2","name":"bash","input":{"command": "pwd"}}]},"#,
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"ID1","content":"a.py"},"#,
    r#"{"type":"tool_result","tool_use_id":"ID2","content":"/home"},"#,
    r#"{"type":"text","text":"And now?","cache_control":{"type":"ephemeral"}}]}"#,
);
const RESPONSES: &str = concat!(
    r#"{"role":"system","content":"Be brief."},{"role":"user","content":"Look."},REASONING"#,
    r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},"#,
    r#"{"type":"function_call","call_id":"ID1","name":"bash","arguments":"{\"command\": \"ls\"}"},"#,
    r#"{"type":"function_call","call_id":"ID2","name":"bash","arguments":"{\"command\": \"pwd\"}"},"#,
    r#"{"type":"function_call_output","call_id":"ID1","output":"a.py"},"#,
    r#"{"type":"function_call_output","call_id":"ID2","output":"/home"},"#,
    r#"{"role":"user","content":"And now?"}"#,
);

fn filled(template: &str, [first, second]: [&str; 2], reasoning: &str) -> String {
    template.replace("ID1", first).replace("ID2", second).replace("REASONING", reasoning)
}

const IDS: [(Format, [&str; 2]); 3] = [
    (Format::OpenaiChat, ["bash:0", "bash:1"]),
    (Format::Anthropic, [LONG, "toolu_02"]),
    (Format::OpenaiResponses, ["call_1", "call_2"]),
];

const LEFT_OUT: &str = "what only another server understands is left out";
const SEALED: &str = "reasoning sealed by another server is not sent back";

#[test]
fn a_history_of_each_format_goes_to_another_server_of_each_format() {
    for (from, ids) in IDS {
        let opaque = (from != Format::OpenaiChat).then_some(LEFT_OUT);
        let times = if from == Format::Anthropic { " (2 times)" } else { "" };

        let request = switched(from, Format::OpenaiChat, Dialect::default());
        assert_eq!(messages(&request), filled(CHAT, ids, ""), "{from:?}");
        let mut expected = vec![format!("reasoning is not sent back{times}")];
        expected.extend(opaque.map(str::to_owned));
        assert_eq!(request.repairs, expected);

        let request = switched(from, Format::OpenaiResponses, Dialect::default());
        assert_eq!(messages(&request), filled(RESPONSES, ids, ""), "{from:?}");
        let reasoning = match from {
            Format::OpenaiChat => "reasoning that is not encrypted is not sent back".to_owned(),
            _ => format!("{SEALED}{times}"),
        };
        let mut expected = vec![reasoning];
        expected.extend(opaque.map(str::to_owned));
        assert_eq!(request.repairs, expected);

        let request = switched(from, Format::Anthropic, Dialect::default());
        let (taken, reasoning) = match from {
            Format::OpenaiChat => (
                ["bash_x3a_0", "bash_x3a_1"],
                "reasoning without a signature is not sent back".to_owned(),
            ),
            _ => (ids, format!("{SEALED}{times}")),
        };
        assert_eq!(messages(&request), filled(ANTHROPIC, taken, ""), "{from:?}");
        let mut expected = vec![reasoning];
        expected.extend(opaque.map(str::to_owned));
        if from == Format::OpenaiChat {
            for (id, sent) in ids.iter().zip(taken) {
                expected.push(format!("call {id}: its id is sent as \"{sent}\""));
            }
        }
        assert_eq!(request.repairs, expected);
    }
}

#[test]
fn a_server_that_wants_reasoning_gets_that_of_others_as_text() {
    let dialect = Dialect { reasoning_back: ReasoningBack::WithCalls, ..Dialect::default() };
    for (from, ids) in IDS {
        let request = switched(from, Format::OpenaiChat, dialect);
        let reasoning = r#""reasoning_content":"Look first.","#;
        assert_eq!(messages(&request), filled(CHAT, ids, reasoning), "{from:?}");
        let as_text = "reasoning goes back as text, without its seal";
        let expected: &[&str] = match from {
            Format::OpenaiChat => &[],
            Format::Anthropic => &[as_text, "sealed reasoning is left out", LEFT_OUT],
            Format::OpenaiResponses => &[as_text, LEFT_OUT],
        };
        assert_eq!(request.repairs, expected);
    }
}

#[test]
fn ids_that_a_server_refuses_are_sent_as_it_takes_them() {
    let short = Dialect { call_ids: CallIds::Short, ..Dialect::default() };
    let nine = Dialect { call_ids: CallIds::Nine, ..Dialect::default() };
    let (a, b) = ("call_wBdfBJ1H4dha4pEVgOGqxrtN1vHIccTs", "toolu_02");
    let cases = [
        (Format::OpenaiChat, short, CHAT, [a, b], 1),
        (Format::OpenaiResponses, short, RESPONSES, [a, b], 1),
        (Format::OpenaiChat, nine, CHAT, ["wBdfBJ1H4", "6CYQDMOEv"], 2),
    ];
    for (to, dialect, template, ids, changed) in cases {
        let request = switched(Format::Anthropic, to, dialect);
        assert_eq!(messages(&request), filled(template, ids, ""));
        let told = |id: &str, sent: &str| format!("call {id}: its id is sent as \"{sent}\"");
        let told = [told(LONG, ids[0]), told("toolu_02", ids[1])];
        for (position, told) in told.iter().enumerate() {
            assert_eq!(request.repairs.contains(told), position < changed, "{:?}", request.repairs);
        }
    }
    let kept = switched(Format::OpenaiResponses, Format::OpenaiChat, short);
    assert!(messages(&kept).contains(r#""id":"call_1""#));
}

#[test]
fn back_at_its_server_a_history_is_what_it_was() {
    let history = made_in(Format::Anthropic);
    let mut assembler = Assembler::default();
    let mut at = |server: &str, format, entries| {
        assembler.reach(server);
        assembler.assemble(entries, &Overlays::default(), &settings(format, Dialect::default()))
    };
    let begun = begun();
    at("https://one.example/v1", Format::Anthropic, begun.entries());
    let before = at("https://one.example/v1", Format::Anthropic, history.entries());
    let sealed = concat!(
        r#"{"type":"thinking","thinking":"Look first.","signature":"c2ln"},"#,
        r#"{"type":"redacted_thinking","data":"eHg="},{"type":"compaction","content":"so far"},"#,
    );
    assert_eq!(messages(&before), filled(ANTHROPIC, [LONG, "toolu_02"], sealed));
    assert!(before.repairs.is_empty());
    for server in ["https://two.example/v1", "https://two.example/v1"] {
        let away = at(server, Format::Anthropic, history.entries());
        assert!(!messages(&away).contains("thinking"));
    }
    let again = at("https://one.example/v1", Format::Anthropic, history.entries());
    assert_eq!(body(&again), body(&before));
    assert!(again.new_parts.is_empty() && again.repairs.is_empty(), "{again:?}");
}

#[test]
fn repairs_are_told_once_for_each_time_that_the_way_changes() {
    let mut assembler = Assembler::default();
    let history = made_in(Format::OpenaiChat);
    let mut told = |server: &str| {
        assembler.reach(server);
        let settings = settings(Format::OpenaiChat, Dialect::default());
        assembler.assemble(history.entries(), &Overlays::default(), &settings).repairs.len()
    };
    assert_eq!([told("a"), told("a"), told("b"), told("b"), told("a")], [1, 0, 1, 0, 1]);
}

#[test]
fn a_reply_of_which_nothing_is_left_is_named() {
    for format in FORMATS {
        let mut history = begun();
        let thought = limpid::conversation::Reasoning::of_text("hm");
        history.append(Role::Assistant, Origin::Model, vec![Block::Reasoning(thought)]);
        history.append(Role::User, Origin::User, vec![Block::Text("Well?".to_owned())]);
        let request = Assembler::default().assemble(
            history.entries(),
            &Overlays::default(),
            &settings(format, Dialect::default()),
        );
        messages(&request);
        let left_out = "a reply of which nothing can be sent is left out";
        assert!(request.repairs.iter().any(|what| what == left_out), "{:?}", request.repairs);
    }
}

#[test]
fn text_after_a_call_changes_its_place_where_the_format_has_one_place() {
    let mut history = begun();
    let call = limpid::conversation::Call {
        id: limpid::conversation::CallId("c".to_owned()),
        name: "bash".to_owned(),
        arguments: "{}".to_owned(),
    };
    let result = CallResult { call: call.id.clone(), text: "r".to_owned(), is_error: false };
    let blocks = vec![Block::Call(call), Block::Text("Afterwards.".to_owned())];
    history.append(Role::Assistant, Origin::Model, blocks);
    history.append(Role::Tool, Origin::Tool, vec![Block::Result(result)]);
    let repairs = FORMATS.map(|format| {
        Assembler::default()
            .assemble(
                history.entries(),
                &Overlays::default(),
                &settings(format, Dialect::default()),
            )
            .repairs
    });
    assert_eq!(repairs, [vec!["text after a call is sent before it".to_owned()], vec![], vec![]]);
}

#[test]
fn a_parameter_that_the_format_has_no_member_for_is_named() {
    let mut assembler = Assembler::default();
    let mut told = |format, budget| {
        let mut settings = settings(format, Dialect::default());
        settings.parameters.thinking_budget = budget;
        assembler.assemble(begun().entries(), &Overlays::default(), &settings).repairs
    };
    let expected = "thinking_budget is not sent: openai-chat has no member for it";
    assert_eq!(told(Format::OpenaiChat, None), Vec::<String>::new());
    assert_eq!(told(Format::OpenaiChat, Some(2048)), [expected]);
    assert_eq!(told(Format::OpenaiChat, Some(2048)), Vec::<String>::new());
    assert_eq!(told(Format::Anthropic, Some(2048)), Vec::<String>::new());
    assert_eq!(told(Format::OpenaiChat, Some(2048)), [expected]);
}
