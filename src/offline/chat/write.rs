//! A reply as Chat Completions sends it: one JSON object, or server-sent events.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::offline::reply::{Completion, event, pieces};

/// The reply as one object.
pub(in crate::offline) fn whole(reply: &Completion) -> Value {
    let answer = &reply.answer;
    let mut message = json!({"role": "assistant", "content": null});
    if !answer.reasoning.is_empty() {
        message["reasoning_content"] = json!(answer.reasoning);
    }
    if !answer.text.is_empty() {
        message["content"] = json!(answer.text);
    }
    let calls: Vec<Value> = answer
        .calls
        .iter()
        .zip(reply.call_ids("call", None))
        .map(|(call, id)| {
            let function = json!({"name": call.name, "arguments": call.arguments});
            json!({"id": id, "type": "function", "function": function})
        })
        .collect();
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    json!({
        "id": id(reply),
        "object": "chat.completion",
        "created": reply.created,
        "model": reply.model,
        "choices": [{
            "index": 0,
            "message": message,
            "logprobs": null,
            "finish_reason": finish_reason(reply),
        }],
        "usage": usage(reply),
    })
}

/// The reply as events.
pub(in crate::offline) fn events(reply: &Completion, counts: bool) -> Vec<Bytes> {
    let answer = &reply.answer;
    let mut deltas = vec![json!({"role": "assistant", "content": ""})];
    deltas.extend(pieces(&answer.reasoning).map(|piece| json!({"reasoning_content": piece})));
    deltas.extend(pieces(&answer.text).map(|piece| json!({"content": piece})));
    for (index, (call, id)) in answer.calls.iter().zip(reply.call_ids("call", None)).enumerate() {
        deltas.push(json!({"tool_calls": [{
            "index": index,
            "id": id,
            "type": "function",
            "function": {"name": call.name, "arguments": ""},
        }]}));
        deltas.extend(pieces(&call.arguments).map(
            |piece| json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}),
        ));
    }
    let choice = |delta: Value, finish_reason: Option<&str>| json!([{"index": 0, "delta": delta, "finish_reason": finish_reason}]);
    let choices = deltas.into_iter().map(|delta| choice(delta, None));
    let last = choice(json!({}), Some(finish_reason(reply)));
    let mut chunks: Vec<Value> =
        choices.chain([last]).map(|choices| chunk(reply, &choices)).collect();
    if counts {
        for chunk in &mut chunks {
            chunk["usage"] = Value::Null;
        }
        let mut chunk = chunk(reply, &json!([]));
        chunk["usage"] = usage(reply);
        chunks.push(chunk);
    }
    let end = Bytes::from_static(b"data: [DONE]\n\n");
    chunks.iter().map(|chunk| event(None, chunk)).chain([end]).collect()
}

fn chunk(reply: &Completion, choices: &Value) -> Value {
    json!({
        "id": id(reply),
        "object": "chat.completion.chunk",
        "created": reply.created,
        "model": reply.model,
        "choices": choices,
    })
}

fn id(reply: &Completion) -> String {
    format!("chatcmpl-offline-{}", reply.number)
}

fn finish_reason(reply: &Completion) -> &'static str {
    if reply.answer.calls.is_empty() { "stop" } else { "tool_calls" }
}

fn usage(reply: &Completion) -> Value {
    let (prompt, completion) = (reply.tokens_in, reply.tokens_out());
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "completion_tokens_details": {"reasoning_tokens": reply.tokens_of_reasoning()},
    })
}
