//! A reply as Anthropic's Messages sends it: one JSON object, or server-sent events.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::offline::reply::{self, Completion, pieces};
use crate::offline::seal;

/// A content block, and the deltas by which it is sent.
struct Block {
    whole: Value,
    /// As it stands at its start: empty.
    start: Value,
    deltas: Vec<Value>,
}

/// The reply as one object.
pub(in crate::offline) fn whole(reply: &Completion) -> Value {
    let content: Vec<Value> = blocks(reply).into_iter().map(|block| block.whole).collect();
    let mut message = message(reply);
    message["content"] = json!(content);
    message["stop_reason"] = json!(stop_reason(reply));
    message["usage"]["output_tokens"] = json!(reply.tokens_out());
    message
}

/// The reply as events.
pub(in crate::offline) fn events(reply: &Completion) -> Vec<Bytes> {
    let mut events =
        vec![json!({"type": "message_start", "message": message(reply)}), json!({"type": "ping"})];
    for (index, block) in blocks(reply).into_iter().enumerate() {
        events.push(json!({
            "type": "content_block_start", "index": index, "content_block": block.start,
        }));
        events.extend(
            block.deltas.into_iter().map(
                |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ),
        );
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason(reply), "stop_sequence": null},
        "usage": {"output_tokens": reply.tokens_out()},
    }));
    events.push(json!({"type": "message_stop"}));
    events.iter().map(|data| reply::event(data["type"].as_str(), data)).collect()
}

fn blocks(reply: &Completion) -> Vec<Block> {
    let answer = &reply.answer;
    let mut blocks = Vec::new();
    let mut led_by = None;
    if !answer.reasoning.is_empty() {
        let signature = seal::of(&answer.reasoning);
        let deltas = pieces(&answer.reasoning)
            .map(|piece| json!({"type": "thinking_delta", "thinking": piece}))
            .chain([json!({"type": "signature_delta", "signature": signature})]);
        blocks.push(Block {
            whole: json!({"type": "thinking", "thinking": answer.reasoning, "signature": signature}),
            start: json!({"type": "thinking", "thinking": "", "signature": ""}),
            deltas: deltas.collect(),
        });
        led_by = Some(signature);
    }
    if !answer.text.is_empty() {
        let deltas = pieces(&answer.text).map(|piece| json!({"type": "text_delta", "text": piece}));
        blocks.push(Block {
            whole: json!({"type": "text", "text": answer.text}),
            start: json!({"type": "text", "text": ""}),
            deltas: deltas.collect(),
        });
    }
    for (call, id) in answer.calls.iter().zip(reply.call_ids("toolu", led_by.as_deref())) {
        let delta = |piece: &str| json!({"type": "input_json_delta", "partial_json": piece});
        let deltas = [""].into_iter().chain(pieces(&call.arguments)).map(delta);
        let input: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
        blocks.push(Block {
            whole: json!({"type": "tool_use", "id": id, "name": call.name, "input": input}),
            start: json!({"type": "tool_use", "id": id, "name": call.name, "input": {}}),
            deltas: deltas.collect(),
        });
    }
    blocks
}

/// The message as it stands at its start: empty.
fn message(reply: &Completion) -> Value {
    json!({
        "id": format!("msg_offline_{}", reply.number),
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": {
            "input_tokens": reply.tokens_in,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 1,
        },
    })
}

fn stop_reason(reply: &Completion) -> &'static str {
    if reply.answer.calls.is_empty() { "end_turn" } else { "tool_use" }
}
