//! What overlays make of a request in each format: the exact bytes, the repairs, the rows, and that
//! servers take it whatever is left out or replaced.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod rules;

use std::sync::Arc;

use limpid::conversation::{
    Block, Call, CallId, CallResult, EntryId, History, Origin, Overlay, Overlays, Record,
    RequestRecord, Role, Session, Stamped, TurnNumber,
};
use limpid::wire::outline::{self, RowKind};
use limpid::wire::{
    Assembler, Dialect, Format, Parameters, Request, Settings, is_body_of, rows_of_turn,
};
use proptest::prelude::*;

const FORMATS: [Format; 3] = [Format::OpenaiChat, Format::Anthropic, Format::OpenaiResponses];

fn settings(format: Format) -> Settings {
    Settings {
        format,
        model: "m".to_owned(),
        tools: Vec::new(),
        dialect: Dialect::default(),
        parameters: Parameters::default(),
    }
}

fn body(request: &Request) -> String {
    request.parts.iter().map(|part| &*part.text).collect()
}

/// What stands between the brackets of the messages, without cache markers.
fn messages(request: &Request) -> String {
    let body = body(request).replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "");
    let list = if body.contains("\"input\":[") { "\"input\":[" } else { "\"messages\":[" };
    let (_, rest) = body.split_once(list).unwrap();
    rest.split_once("],\"stream\"").unwrap().0.to_owned()
}

fn take(format: Format, body: &str) {
    let json = serde_json::from_str(body).unwrap();
    match format {
        Format::OpenaiChat => rules::chat(&json),
        Format::Anthropic => rules::anthropic(&json),
        Format::OpenaiResponses => rules::responses(&json),
    }
}

fn text(text: &str) -> Vec<Block> {
    vec![Block::Text(text.to_owned())]
}

/// 1 system, 2 user, 3 two calls, 4 and 5 their results, 6 assistant, 7 user.
fn conversation() -> History {
    let mut history = History::default();
    let id = |name: &str| CallId(name.to_owned());
    let call = |name: &str| {
        Block::Call(Call { id: id(name), name: "bash".to_owned(), arguments: "{}".to_owned() })
    };
    let result = |name: &str, text: &str| {
        let text = text.to_owned();
        vec![Block::Result(CallResult { call: id(name), text, is_error: false })]
    };
    history.append(Role::System, Origin::System, text("s"));
    history.append(Role::User, Origin::User, text("one"));
    history.append(Role::Assistant, Origin::Model, vec![call("c1"), call("c2")]);
    history.append(Role::Tool, Origin::Tool, result("c1", "first"));
    history.append(Role::Tool, Origin::Tool, result("c2", "second"));
    history.append(Role::Assistant, Origin::Model, text("done"));
    history.append(Role::User, Origin::User, text("two"));
    history
}

fn left_out(entries: &[u64]) -> Overlays {
    let mut overlays = Overlays::default();
    for entry in entries {
        overlays.set(EntryId(*entry), Overlay::LeftOut { by: Origin::User });
    }
    overlays
}

fn sent(overlays: &Overlays, format: Format) -> (String, Vec<String>) {
    let request =
        Assembler::default().assemble(conversation().entries(), overlays, &settings(format));
    take(format, &body(&request));
    (messages(&request), request.repairs)
}

#[test]
fn r2_a_left_out_result_is_answered_in_each_format() {
    let (chat, repairs) = sent(&left_out(&[4]), Format::OpenaiChat);
    let calls = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"bash","arguments":"{}"}}]}"#;
    let expected = [
        r#"{"role":"system","content":"s"},{"role":"user","content":"one"},"#,
        calls,
        r#",{"role":"tool","tool_call_id":"c1","content":"[This result was left out.]"}"#,
        r#",{"role":"tool","tool_call_id":"c2","content":"second"}"#,
        r#",{"role":"assistant","content":"done"},{"role":"user","content":"two"}"#,
    ];
    assert_eq!(chat, expected.concat());
    assert_eq!(repairs, ["call c1: a short text stands for its left-out result"]);

    let (anthropic, _) = sent(&left_out(&[4]), Format::Anthropic);
    let expected = [
        r#"{"role":"user","content":[{"type":"text","text":"one"}]}"#,
        r#",{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"bash","input":{}},{"type":"tool_use","id":"c2","name":"bash","input":{}}]}"#,
        r#",{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"[This result was left out.]"}"#,
        r#",{"type":"tool_result","tool_use_id":"c2","content":"second"}]}"#,
        r#",{"role":"assistant","content":[{"type":"text","text":"done"}]}"#,
        r#",{"role":"user","content":[{"type":"text","text":"two"}]}"#,
    ];
    assert_eq!(anthropic, expected.concat());

    let (responses, _) = sent(&left_out(&[4]), Format::OpenaiResponses);
    let expected = r#"{"type":"function_call_output","call_id":"c1","output":"[This result was left out.]"},{"type":"function_call_output","call_id":"c2","output":"second"}"#;
    assert!(responses.contains(expected), "{responses}");
}

#[test]
fn r2_results_are_left_out_with_their_calls_in_each_format() {
    // The answer after the results follows the prompt; nothing has to stand between.
    let (chat, repairs) = sent(&left_out(&[3]), Format::OpenaiChat);
    let rest = r#"{"role":"user","content":"one"},{"role":"assistant","content":"done"},{"role":"user","content":"two"}"#;
    assert_eq!(chat, [r#"{"role":"system","content":"s"},"#, rest].concat());
    assert_eq!(
        repairs,
        [
            "call c1: its result is left out with the call",
            "call c2: its result is left out with the call",
        ]
    );
    let (anthropic, _) = sent(&left_out(&[3]), Format::Anthropic);
    assert_eq!(anthropic.matches("\"role\"").count(), 3, "{anthropic}");
    assert!(!anthropic.contains("tool_"), "{anthropic}");
    let (responses, _) = sent(&left_out(&[3]), Format::OpenaiResponses);
    assert!(!responses.contains("function_call"), "{responses}");
}

#[test]
fn r2_speakers_alternate_after_something_was_left_out_in_each_format() {
    let (chat, repairs) = sent(&left_out(&[2, 6]), Format::OpenaiChat);
    let user = r#"{"role":"user","content":"[A message was left out here.]"}"#;
    let reply = r#"{"role":"assistant","content":"[A reply was left out here.]"}"#;
    assert!(chat.starts_with(&format!(r#"{{"role":"system","content":"s"}},{user},"#)), "{chat}");
    assert!(chat.ends_with(&format!(r#",{reply},{{"role":"user","content":"two"}}"#)), "{chat}");
    assert_eq!(
        repairs,
        [
            "a short text of the user stands for what is left out from entry 2 on",
            "a short text of the model stands for what is left out from entry 6 on",
        ]
    );
    let (anthropic, _) = sent(&left_out(&[2, 6]), Format::Anthropic);
    let user =
        r#"{"role":"user","content":[{"type":"text","text":"[A message was left out here.]"}]}"#;
    let reply =
        r#"{"role":"assistant","content":[{"type":"text","text":"[A reply was left out here.]"}]}"#;
    assert!(anthropic.starts_with(user) && anthropic.contains(reply), "{anthropic}");
    let (responses, _) = sent(&left_out(&[2, 6]), Format::OpenaiResponses);
    assert!(responses.contains(r#"{"role":"user","content":"[A message was left out here.]"}"#));
    let reply = r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"[A reply was left out here.]"}]}"#;
    assert!(responses.contains(reply), "{responses}");
}

#[test]
fn a_replaced_text_is_the_one_that_is_sent_and_undoing_brings_the_very_bytes_back() {
    for format in FORMATS {
        let history = conversation();
        let mut assembler = Assembler::default();
        let mut overlays = Overlays::default();
        let before = assembler.assemble(history.entries(), &overlays, &settings(format));
        let replaced = |text: &str| {
            let text = text.to_owned();
            Overlay::Replaced { text, by: Origin::User }
        };
        overlays.set(EntryId(2), replaced("eins"));
        overlays.set(EntryId(5), replaced("short \"é\""));
        overlays.set(EntryId(6), replaced("fertig"));
        let changed = assembler.assemble(history.entries(), &overlays, &settings(format));
        let expected = body(&before)
            .replace("\"one\"", "\"eins\"")
            .replace("\"second\"", "\"short \\\"é\\\"\"")
            .replace("\"done\"", "\"fertig\"");
        assert_eq!(body(&changed), expected);
        let by_user = |part: &limpid::conversation::Part| part.origin == Origin::User;
        assert_eq!(changed.new_parts.iter().filter(|(_, part)| by_user(part)).count(), 3);
        assert!(changed.repairs.is_empty(), "{:?}", changed.repairs);
        let again = assembler.assemble(history.entries(), &overlays, &settings(format));
        assert!(again.new_parts.is_empty() && again.keep == again.parts.len());
        for entry in [2, 5, 6] {
            overlays.set(EntryId(entry), Overlay::Sent);
        }
        let undone = assembler.assemble(history.entries(), &overlays, &settings(format));
        assert_eq!((body(&undone), undone.new_parts.len()), (body(&before), 0));
    }
}

#[test]
fn a_repair_is_said_once() {
    let history = conversation();
    let mut assembler = Assembler::default();
    let mut repairs = |overlays: &Overlays| {
        let settings = settings(Format::OpenaiChat);
        assembler.assemble(history.entries(), overlays, &settings).repairs.len()
    };
    assert_eq!(repairs(&left_out(&[4])), 1);
    assert_eq!(repairs(&left_out(&[4])), 0);
    assert_eq!(repairs(&left_out(&[4, 5])), 1);
    assert_eq!(repairs(&left_out(&[])), 0);
    assert_eq!(repairs(&left_out(&[4])), 1);
}

fn apply(session: &mut Session, record: Record) {
    session.apply(&Stamped { at: 0, record });
}

fn post(session: &mut Session, turn: u32, request: &Request) {
    for (number, part) in &request.new_parts {
        apply(session, Record::Part { number: *number, part: (**part).clone() });
    }
    let record = RequestRecord {
        turn: TurnNumber(turn),
        keep: u32::try_from(request.keep).unwrap(),
        parts: request.numbers[request.keep..].to_vec(),
        bytes: request.bytes,
        sha256: request.sha256.clone(),
    };
    apply(session, Record::Request(record));
}

#[test]
fn rows_name_what_is_altered_and_what_is_not_sent() {
    for format in FORMATS {
        let history = conversation();
        let mut session = Session::default();
        for entry in history.entries() {
            apply(&mut session, Record::Entry(entry.clone()));
        }
        let mut assembler = Assembler::default();
        let whole = Overlays::default();
        post(&mut session, 1, &assembler.assemble(history.entries(), &whole, &settings(format)));
        let mut overlays = left_out(&[2, 6]);
        let text = "1st".to_owned();
        overlays.set(EntryId(4), Overlay::Replaced { text, by: Origin::User });
        for entry in overlays.entries() {
            apply(&mut session, Record::Overlay { entry, overlay: overlays.of(entry).clone() });
        }
        let request = assembler.assemble(history.entries(), &overlays, &settings(format));
        post(&mut session, 2, &request);
        assert_eq!(session.body(TurnNumber(2)), body(&request));

        let rows = |number| {
            let turn = session.turn(TurnNumber(number)).unwrap();
            let parts = session.parts_of(turn.number);
            assert!(is_body_of(&parts, &turn.request));
            let rows = rows_of_turn(turn, &parts, &[], &session);
            assert_eq!(rows.iter().map(|row| row.bytes).sum::<u64>(), turn.request.bytes);
            rows
        };
        let lines: Vec<String> = rows(2).iter().map(outline::line).collect();
        let all = lines.join("\n");
        let unsent: Vec<&String> = lines.iter().filter(|line| line.starts_with('-')).collect();
        assert!(unsent[0].contains("user") && unsent[0].ends_with("not sent: 3 B"), "{all}");
        assert!(unsent[1].contains("assistant") && unsent[1].ends_with("not sent: 4 B"), "{all}");
        assert_eq!(unsent.len(), 2, "{all}");
        let altered = lines.iter().find(|line| line.contains("altered")).unwrap();
        assert!(altered.contains("altered from 5 B"), "{all}");
        // In its place: after the results, before the newest prompt.
        let at = lines.iter().position(|line| line == unsent[1]).unwrap();
        assert!(lines[at - 1].contains("↳"), "{all}");
        // The turn before was told everything, and its rows still say so.
        let is_plain = |row: &outline::Row| {
            !matches!(row.kind, RowKind::NotSent(_)) && !row.note.contains("altered")
        };
        assert!(rows(1).iter().all(is_plain));
    }
}

/// Prompts and replies in any order, calls answered, overlays on any of them.
fn histories() -> impl Strategy<Value = (History, Overlays)> {
    let step = prop_oneof![Just('u'), Just('a'), Just('c')];
    let overlay = prop_oneof![
        3 => Just(Overlay::Sent),
        2 => Just(Overlay::LeftOut { by: Origin::User }),
        1 => Just(Overlay::Replaced { text: "r".to_owned(), by: Origin::User }),
        1 => Just(Overlay::Replaced { text: " ".to_owned(), by: Origin::Harness }),
    ];
    let steps = prop::collection::vec(step, 1..10);
    (steps, prop::collection::vec(overlay, 40)).prop_map(|(steps, overlays)| {
        let mut history = History::default();
        history.append(Role::System, Origin::System, text("s"));
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                'u' => drop(history.append(Role::User, Origin::User, text("u"))),
                'a' => drop(history.append(Role::Assistant, Origin::Model, text("a"))),
                _ => {
                    let ids: Vec<CallId> =
                        (0..=number % 2).map(|n| CallId(format!("c{number}_{n}"))).collect();
                    let call = |id: &CallId| {
                        let (name, arguments) = ("bash".to_owned(), String::new());
                        Block::Call(Call { id: id.clone(), name, arguments })
                    };
                    let calls = ids.iter().map(call).collect();
                    history.append(Role::Assistant, Origin::Model, calls);
                    for call in ids {
                        let result = CallResult { call, text: "t".to_owned(), is_error: false };
                        history.append(Role::Tool, Origin::Tool, vec![Block::Result(result)]);
                    }
                }
            }
        }
        history.append(Role::User, Origin::User, text("last"));
        let mut set = Overlays::default();
        // The last prompt is told: otherwise nothing is posted. A system text is expected.
        let covered = history.entries().split_last().unwrap().1;
        for (entry, overlay) in covered.iter().skip(1).zip(overlays) {
            set.set(entry.id, overlay);
        }
        (history, set)
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 600,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn r2_whatever_is_left_out_or_replaced_servers_take_the_rest((history, overlays) in histories()) {
        let mut session = Session::default();
        for entry in history.entries() {
            apply(&mut session, Record::Entry(entry.clone()));
        }
        for entry in overlays.entries() {
            apply(&mut session, Record::Overlay { entry, overlay: overlays.of(entry).clone() });
        }
        let mut assembler = Assembler::default();
        for (number, format) in (1..).zip(FORMATS) {
            let request = assembler.assemble(history.entries(), &overlays, &settings(format));
            let body = body(&request);
            take(format, &body);
            post(&mut session, number, &request);
            let turn = session.turn(TurnNumber(number)).unwrap();
            let parts: Vec<Arc<_>> = session.parts_of(turn.number);
            prop_assert!(is_body_of(&parts, &turn.request));
            prop_assert_eq!(session.body(turn.number), body);
            let rows = rows_of_turn(turn, &parts, &[], &session);
            prop_assert_eq!(rows.iter().map(|row| row.bytes).sum::<u64>(), request.bytes);
        }
    }
}
