//! The body of a request to Responses, read as far as any model needs it.

use serde_json::Value;

use crate::offline::posted::{Checked, Form, Model, Object, Posted, list};
use crate::offline::refusal::Refusal;
use crate::offline::transcript::{Call, Reply, Transcript, texts};

/// Reads a body.
///
/// # Errors
/// No input, or a switch that is not a boolean.
pub(in crate::offline) fn read(model: Model, body: &Object) -> Checked<Posted> {
    let transcript = match body.get("input") {
        Some(Value::String(text)) => {
            let mut transcript = Transcript::of(1);
            transcript.prompt_with(text.clone());
            transcript
        }
        Some(Value::Array(items)) => transcript(items),
        _ => {
            let what = "Missing required parameter: 'input', a string or a list.";
            return Err(Refusal::invalid("input", what));
        }
    };
    let effort = body.get("reasoning").map(|reasoning| &reasoning["effort"]);
    Ok(Posted {
        model,
        transcript,
        bash: list(body.get("tools")).iter().any(|tool| tool["name"] == "bash"),
        thinks: effort.is_some_and(Value::is_string),
        form: Form::read(body)?,
    })
}

/// Items of the model that follow each other are one reply; after a call, text and reasoning begin
/// another.
fn transcript(items: &[Value]) -> Transcript {
    let mut transcript = Transcript::of(items.len());
    let mut open: Option<Reply> = None;
    for (at, item) in items.iter().enumerate() {
        let of_model = match item["type"].as_str().unwrap_or("message") {
            "message" => item["role"] == "assistant",
            kind => kind != "function_call_output",
        };
        let calls = item["type"] == "function_call";
        let begins = !calls && open.as_ref().is_some_and(|reply| !reply.calls.is_empty());
        if (begins || !of_model)
            && let Some(reply) = open.take()
        {
            transcript.reply_with(reply);
        }
        if of_model {
            let reply = open.get_or_insert_default();
            if calls {
                let arguments = item["arguments"].as_str().unwrap_or_default().to_owned();
                reply.calls.push(Call::new(at, &item["call_id"], &item["name"], arguments));
            } else {
                reply.text += &texts(&item["content"]).concat();
            }
        } else if item["type"] == "function_call_output" {
            transcript.result_with(&item["call_id"], texts(&item["output"]).concat());
        } else if item["role"] == "user" {
            transcript.prompt_with(texts(&item["content"]).pop().unwrap_or_default());
        }
    }
    if let Some(reply) = open {
        transcript.reply_with(reply);
    }
    transcript
}
