//! A reply as Responses sends it: one JSON object, or server-sent events.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::offline::reply::{self, Completion, pieces};
use crate::offline::script::AskedCall;
use crate::offline::seal;

/// The reply as one object.
pub(in crate::offline) fn whole(reply: &Completion) -> Value {
    let mut events = Events::default();
    events.items(reply);
    response(reply, "completed", &events.output)
}

/// The reply as events.
pub(in crate::offline) fn events(reply: &Completion) -> Vec<Bytes> {
    let mut events = Events::default();
    for kind in ["response.created", "response.in_progress"] {
        let response = response(reply, "in_progress", &[]);
        events.push(json!({"type": kind, "response": response}));
    }
    events.items(reply);
    let response = response(reply, "completed", &events.output);
    events.push(json!({"type": "response.completed", "response": response}));
    events.sent.iter().map(|data| reply::event(data["type"].as_str(), data)).collect()
}

/// Events so far, and the items that are complete.
#[derive(Default)]
struct Events {
    sent: Vec<Value>,
    output: Vec<Value>,
}

impl Events {
    fn push(&mut self, mut event: Value) {
        event["sequence_number"] = json!(self.sent.len());
        self.sent.push(event);
    }

    /// Begins an item.
    fn add(&mut self, item: &Value) {
        let index = self.output.len();
        self.push(json!({
            "type": "response.output_item.added", "output_index": index, "item": item,
        }));
    }

    /// Something about a part of the item that is open.
    fn part(&mut self, kind: &str, item_id: &str, members: &Value) {
        let mut event = members.clone();
        event["type"] = json!(kind);
        event["item_id"] = json!(item_id);
        event["output_index"] = json!(self.output.len());
        self.push(event);
    }

    fn done(&mut self, item: Value) {
        let index = self.output.len();
        self.push(json!({
            "type": "response.output_item.done", "output_index": index, "item": item,
        }));
        self.output.push(item);
    }

    fn items(&mut self, reply: &Completion) {
        let answer = &reply.answer;
        let mut led_by = None;
        if !answer.reasoning.is_empty() {
            let id = format!("rs_offline_{}_{}", reply.created, reply.number);
            let sealed = seal::of(&id);
            self.reasoning(&id, &sealed, &answer.reasoning);
            led_by = Some(sealed);
        }
        if !answer.text.is_empty() {
            self.message(&format!("msg_offline_{}", reply.number), &answer.text);
        }
        for (call, id) in answer.calls.iter().zip(reply.call_ids("call", led_by.as_deref())) {
            self.call(call, &id);
        }
    }

    fn reasoning(&mut self, id: &str, sealed: &str, text: &str) {
        let item = |summary: Value| json!({"id": id, "type": "reasoning", "summary": summary, "encrypted_content": sealed});
        let part = |text: &str| json!({"type": "summary_text", "text": text});
        self.add(&item(json!([])));
        let at = json!({"summary_index": 0});
        let with = |name: &str, value: Value| {
            let mut members = at.clone();
            members[name] = value;
            members
        };
        self.part("response.reasoning_summary_part.added", id, &with("part", part("")));
        for piece in pieces(text) {
            self.part("response.reasoning_summary_text.delta", id, &with("delta", json!(piece)));
        }
        self.part("response.reasoning_summary_text.done", id, &with("text", json!(text)));
        self.part("response.reasoning_summary_part.done", id, &with("part", part(text)));
        self.done(item(json!([part(text)])));
    }

    fn message(&mut self, id: &str, text: &str) {
        let item = |status: &str, content: Value| json!({"id": id, "type": "message", "status": status, "role": "assistant", "content": content});
        let part = |text: &str| json!({"type": "output_text", "annotations": [], "text": text});
        self.add(&item("in_progress", json!([])));
        let with = |name: &str, value: Value| {
            let mut members = json!({"content_index": 0});
            members[name] = value;
            members
        };
        self.part("response.content_part.added", id, &with("part", part("")));
        for piece in pieces(text) {
            self.part("response.output_text.delta", id, &with("delta", json!(piece)));
        }
        self.part("response.output_text.done", id, &with("text", json!(text)));
        self.part("response.content_part.done", id, &with("part", part(text)));
        self.done(item("completed", json!([part(text)])));
    }

    fn call(&mut self, call: &AskedCall, call_id: &str) {
        let id = format!("fc_{call_id}");
        let item = |status: &str, arguments: &str| {
            json!({
                "id": id, "type": "function_call", "status": status, "call_id": call_id,
                "name": call.name, "arguments": arguments,
            })
        };
        self.add(&item("in_progress", ""));
        for piece in pieces(&call.arguments) {
            let delta = json!({"delta": piece});
            self.part("response.function_call_arguments.delta", &id, &delta);
        }
        let arguments = json!({"arguments": call.arguments});
        self.part("response.function_call_arguments.done", &id, &arguments);
        self.done(item("completed", &call.arguments));
    }
}

fn response(reply: &Completion, status: &str, output: &[Value]) -> Value {
    let usage = (status == "completed").then(|| usage(reply));
    json!({
        "id": format!("resp_offline_{}", reply.number),
        "object": "response",
        "created_at": reply.created,
        "status": status,
        "error": null,
        "incomplete_details": null,
        "model": reply.model,
        "output": output,
        "store": false,
        "usage": usage,
    })
}

fn usage(reply: &Completion) -> Value {
    let (input, output) = (reply.tokens_in, reply.tokens_out());
    json!({
        "input_tokens": input,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": reply.tokens_of_reasoning()},
        "total_tokens": input + output,
    })
}
