//! What was posted, read as a conversation in no format's words: prompts, replies with their calls,
//! results. Each format's `read` makes one of whatever it can and never refuses: a malformed
//! history is a history too. What is wrong with one is said by the format's `check`.

use serde_json::Value;

/// All that was said, in order.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    said: Vec<Said>,
    /// How many messages were posted: one of them may hold several things that were said.
    messages: usize,
}

/// One thing that was said.
#[derive(Debug)]
pub(super) enum Said {
    /// By the user.
    Prompt(String),
    /// By the model.
    Reply(Reply),
    /// The result of the call with that id.
    Result { id: String, text: String },
}

/// What the model said and asked for.
#[derive(Debug, Default)]
pub(super) struct Reply {
    pub(super) text: String,
    pub(super) calls: Vec<Call>,
}

/// A call as it stands in the history.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
    /// The command in the arguments; empty if there is none.
    pub(super) command: String,
    /// Number of the message that holds it, from 1, so that an answer can name it.
    pub(super) message: usize,
}

impl Call {
    /// The call in the message at this position, from 0.
    pub(super) fn new(at: usize, id: &Value, name: &Value, arguments: String) -> Self {
        let read: Value = serde_json::from_str(&arguments).unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (id, name, command) = (text(id), text(name), text(&read["command"]));
        Self { id, name, arguments, command, message: at + 1 }
    }
}

impl Transcript {
    /// Nothing yet, of so many messages.
    pub(super) fn of(messages: usize) -> Self {
        Self { said: Vec::new(), messages }
    }

    /// Adds a text in the user's place. A note of the client, such as `[The reply above was
    /// interrupted by the user; it is incomplete.]`, is not what the user asks for.
    pub(super) fn prompt_with(&mut self, text: String) {
        let note = text.starts_with("[The ") && text.ends_with(']') && !text.contains('\n');
        if !note {
            self.said.push(Said::Prompt(text));
        }
    }

    /// Adds a reply.
    pub(super) fn reply_with(&mut self, reply: Reply) {
        self.said.push(Said::Reply(reply));
    }

    /// Adds a result.
    pub(super) fn result_with(&mut self, id: &Value, text: String) {
        let id = id.as_str().unwrap_or_default().to_owned();
        self.said.push(Said::Result { id, text });
    }

    /// How many messages there are.
    pub(super) fn len(&self) -> usize {
        self.messages
    }

    /// The newest prompt.
    pub(super) fn prompt(&self) -> Option<&str> {
        self.said.iter().rev().find_map(|said| match said {
            Said::Prompt(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// The replies with their places, newest first.
    pub(super) fn replies(&self) -> impl Iterator<Item = (usize, &Reply)> {
        self.said.iter().enumerate().rev().filter_map(|(at, said)| match said {
            Said::Reply(reply) => Some((at, reply)),
            _ => None,
        })
    }

    /// The replies since the newest prompt whose calls all have results, newest first.
    pub(super) fn steps(&self) -> impl Iterator<Item = (usize, &Reply)> {
        let prompt = self.said.iter().rposition(|said| matches!(said, Said::Prompt(_)));
        self.replies()
            .take_while(move |(at, _)| prompt.is_none_or(|prompt| *at > prompt))
            .filter(|(_, reply)| !reply.calls.is_empty())
            .filter(|(at, reply)| reply.calls.iter().all(|call| self.result(*at, call).is_some()))
    }

    /// The result of a call in the reply at that place.
    pub(super) fn result(&self, reply_at: usize, call: &Call) -> Option<&str> {
        self.said[reply_at..].iter().find_map(|said| match said {
            Said::Result { id, text } if *id == call.id => Some(text.as_str()),
            _ => None,
        })
    }

    /// How many results came since the newest prompt.
    pub(super) fn results(&self) -> usize {
        let newest = self.said.iter().rev().take_while(|said| !matches!(said, Said::Prompt(_)));
        newest.filter(|said| matches!(said, Said::Result { .. })).count()
    }
}

/// The texts of a content: one string, or the `text` of each member of a list.
pub(super) fn texts(content: &Value) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}
