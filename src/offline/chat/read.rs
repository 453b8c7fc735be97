//! The body of a request to Chat Completions, read as far as any model needs it.

use serde_json::Value;

use crate::offline::posted::{Checked, Form, Model, Object, Posted, list, switch};
use crate::offline::refusal::Refusal;
use crate::offline::transcript::{Call, Reply, Transcript, texts};

/// Reads a body.
///
/// # Errors
/// No list of messages, or a switch that is not a boolean.
pub(in crate::offline) fn read(model: Model, body: &Object) -> Checked<Posted> {
    let Some(Value::Array(messages)) = body.get("messages") else {
        return Err(Refusal::invalid("messages", "`messages` is missing or is not a list"));
    };
    Ok(Posted {
        model,
        transcript: transcript(messages),
        bash: list(body.get("tools")).iter().any(|tool| tool["function"]["name"] == "bash"),
        thinks: body.get("reasoning_effort").is_some_and(Value::is_string),
        form: form(body)?,
    })
}

/// Token counts are sent only where they are asked for.
fn form(body: &Object) -> Checked<Form> {
    let refused = |why| Err(Refusal::invalid("stream_options", why));
    let form = Form::read(body)?;
    match body.get("stream_options") {
        None | Some(Value::Null) => Ok(form),
        Some(Value::Object(_)) if form == Form::Whole => {
            refused("`stream_options` is allowed only when `stream` is true")
        }
        Some(Value::Object(options)) => {
            let usage = switch(options, "include_usage", "stream_options.include_usage")?;
            Ok(if usage { Form::EventsAndCounts } else { form })
        }
        Some(_) => refused("`stream_options` is not an object"),
    }
}

fn transcript(messages: &[Value]) -> Transcript {
    let mut transcript = Transcript::of(messages.len());
    for (at, message) in messages.iter().enumerate() {
        let content = &message["content"];
        match message["role"].as_str() {
            Some("user") => {
                transcript.prompt_with(texts(content).pop().unwrap_or_default());
            }
            Some("assistant") => {
                let call = |call: &Value| {
                    let function = &call["function"];
                    let arguments = function["arguments"].as_str().unwrap_or_default().to_owned();
                    Call::new(at, &call["id"], &function["name"], arguments)
                };
                let calls = list(message.get("tool_calls")).iter().map(call).collect();
                transcript.reply_with(Reply { text: texts(content).concat(), calls });
            }
            Some("tool") => {
                transcript.result_with(&message["tool_call_id"], texts(content).concat());
            }
            _ => {}
        }
    }
    transcript
}
