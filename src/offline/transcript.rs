//! The posted messages, read as a conversation: prompts, replies with their calls, results.
//!
//! Reads whatever it can and never refuses: a malformed history is a history too. What is wrong
//! with one is said by `validate`.

use serde_json::Value;

/// All messages, in order; positions are kept, so that an answer can name them.
pub(super) struct Transcript<'a>(Vec<Message<'a>>);

/// One message.
pub(super) enum Message<'a> {
    /// From the user.
    Prompt(String),
    /// From the model.
    Reply(Reply<'a>),
    /// The result of the call with that id.
    Result { id: &'a str, text: String },
    /// Anything else, such as the system text or a note of the client.
    Other,
}

/// What the model said and asked for.
pub(super) struct Reply<'a> {
    pub(super) text: String,
    pub(super) calls: Vec<Call<'a>>,
}

/// A call as it stands in the history.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call<'a> {
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) arguments: &'a str,
    /// The command in the arguments; empty if there is none.
    pub(super) command: String,
}

impl<'a> Transcript<'a> {
    /// Reads the messages of a request.
    pub(super) fn read(messages: &'a [Value]) -> Self {
        Self(messages.iter().map(message).collect())
    }

    /// How many messages there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The newest prompt.
    pub(super) fn prompt(&self) -> Option<&str> {
        self.0.iter().rev().find_map(|message| match message {
            Message::Prompt(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// The replies with their positions, newest first.
    pub(super) fn replies(&self) -> impl Iterator<Item = (usize, &Reply<'a>)> {
        self.0.iter().enumerate().rev().filter_map(|(at, message)| match message {
            Message::Reply(reply) => Some((at, reply)),
            _ => None,
        })
    }

    /// The replies since the newest prompt whose calls all have results, newest first.
    pub(super) fn steps(&self) -> impl Iterator<Item = (usize, &Reply<'a>)> {
        let prompt = self.0.iter().rposition(|message| matches!(message, Message::Prompt(_)));
        self.replies()
            .take_while(move |(at, _)| prompt.is_none_or(|prompt| *at > prompt))
            .filter(|(_, reply)| !reply.calls.is_empty())
            .filter(|(at, reply)| reply.calls.iter().all(|call| self.result(*at, call).is_some()))
    }

    /// The result of a call in the reply at that position.
    pub(super) fn result(&self, reply_at: usize, call: &Call) -> Option<&str> {
        self.0[reply_at..].iter().find_map(|message| match message {
            Message::Result { id, text } if *id == call.id => Some(text.as_str()),
            _ => None,
        })
    }
}

fn message(message: &Value) -> Message<'_> {
    match message["role"].as_str() {
        Some("user") => match texts(&message["content"]).pop().unwrap_or_default() {
            note if is_note(&note) => Message::Other,
            prompt => Message::Prompt(prompt),
        },
        Some("assistant") => {
            let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
            Message::Reply(Reply {
                text: texts(&message["content"]).concat(),
                calls: calls.iter().map(call).collect(),
            })
        }
        Some("tool") => Message::Result {
            id: message["tool_call_id"].as_str().unwrap_or_default(),
            text: texts(&message["content"]).concat(),
        },
        _ => Message::Other,
    }
}

/// Whether a text in the user's place is a note of the client, such as `[The reply above was
/// interrupted by the user; it is incomplete.]`: it is not what the user asks for.
fn is_note(text: &str) -> bool {
    text.starts_with("[The ") && text.ends_with(']') && !text.contains('\n')
}

fn call(call: &Value) -> Call<'_> {
    let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
    let read: Value = serde_json::from_str(arguments).unwrap_or_default();
    Call {
        id: call["id"].as_str().unwrap_or_default(),
        name: call["function"]["name"].as_str().unwrap_or_default(),
        arguments,
        command: read["command"].as_str().unwrap_or_default().to_owned(),
    }
}

/// The texts of a content: one string, or the parts of a list.
fn texts(content: &Value) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}
