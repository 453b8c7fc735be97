//! The body of a request to Anthropic's Messages, read as far as any model needs it.

use serde_json::Value;

use crate::offline::posted::{Checked, Form, Model, Object, Posted, list};
use crate::offline::refusal::Refusal;
use crate::offline::transcript::{Call, Reply, Transcript, texts};

/// Reads a body.
///
/// # Errors
/// No list of messages, no limit of the reply, or a switch that is not a boolean.
pub(in crate::offline) fn read(model: Model, body: &Object) -> Checked<Posted> {
    let Some(Value::Array(messages)) = body.get("messages") else {
        return Err(Refusal::invalid("messages", "messages: Field required, a list"));
    };
    if body.get("max_tokens").and_then(Value::as_u64).is_none_or(|most| most == 0) {
        return Err(Refusal::invalid("max_tokens", "max_tokens: Field required, a whole number"));
    }
    let thinking = body.get("thinking");
    Ok(Posted {
        model,
        transcript: transcript(messages),
        bash: list(body.get("tools")).iter().any(|tool| tool["name"] == "bash"),
        thinks: thinking.is_some_and(|thinking| thinking["type"] == "enabled"),
        form: Form::read(body)?,
    })
}

fn transcript(messages: &[Value]) -> Transcript {
    let mut transcript = Transcript::of(messages.len());
    for (at, message) in messages.iter().enumerate() {
        let content = &message["content"];
        let blocks = list(Some(content));
        if message["role"] == "assistant" {
            let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
            let call = |block: &Value| {
                Call::new(at, &block["id"], &block["name"], block["input"].to_string())
            };
            let calls = calls.map(call).collect();
            transcript.reply_with(Reply { text: texts(content).concat(), calls });
            continue;
        }
        for block in blocks.iter().filter(|block| block["type"] == "tool_result") {
            transcript.result_with(&block["tool_use_id"], texts(&block["content"]).concat());
        }
        for text in texts(content) {
            transcript.prompt_with(text);
        }
    }
    transcript
}
