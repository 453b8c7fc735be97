//! One item of the history, its content and where it came from.

use serde::{Deserialize, Serialize};

/// Identity of an entry within its session; counts from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryId(pub u64);

/// Identity of a call within its session: the id that goes over the wire, made unique when the
/// server's was empty or used before.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub String);

impl std::fmt::Display for CallId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who speaks in an entry. What a format calls it on the wire may differ (`Slot::MessageStart`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The built-in prompt, or any other text above the conversation.
    System,
    /// A prompt, or a harness note told in the user's place.
    User,
    /// A reply of the model.
    Assistant,
    /// The result of one call.
    Tool,
}

/// Who put something into a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Typed by the user.
    User,
    /// Written by the model.
    Model,
    /// The output of a tool.
    Tool,
    /// The built-in system prompt.
    System,
    /// The definitions of the tools.
    Tools,
    /// Read from project files (AGENTS.md …).
    Context,
    /// A note of the harness: an interruption, a reminder.
    Harness,
    /// A summary that stands for older entries.
    Compaction,
    /// Put in or changed so that a server accepts the request.
    Repair,
    /// Brackets, commas, parameters, cache markers.
    Envelope,
}

impl Origin {
    /// The word shown in the inspector.
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Model => "model",
            Self::Tool => "tool",
            Self::System => "system",
            Self::Tools => "tools",
            Self::Context => "context",
            Self::Harness => "harness",
            Self::Compaction => "compaction",
            Self::Repair => "repair",
            Self::Envelope => "envelope",
        }
    }
}

/// What the model is told before a command that the user ran, and before its output.
pub const OWN_COMMAND: &str = "I ran this command myself; it was no call of yours.\n$ ";

/// One item of the history. Entries are never changed or removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Identity within the session.
    pub id: EntryId,
    /// The entry before it on its branch; `None` starts a branch (the session's start, `/clear`).
    pub parent: Option<EntryId>,
    /// Who speaks.
    pub role: Role,
    /// Who put it there.
    pub origin: Origin,
    /// Its content, in order.
    pub blocks: Vec<Block>,
}

impl Entry {
    /// Whether the user submitted it as a prompt: not a command of their own that the model is told.
    pub fn is_prompt(&self) -> bool {
        self.is_of_the_user() && !self.is_own_command()
    }

    /// Whether it tells the model a command that the user ran (`!`).
    pub fn is_own_command(&self) -> bool {
        let starts =
            |block: &Block| matches!(block, Block::Text(text) if text.starts_with(OWN_COMMAND));
        self.is_of_the_user() && self.blocks.first().is_some_and(starts)
    }

    fn is_of_the_user(&self) -> bool {
        self.role == Role::User && self.origin == Origin::User
    }

    /// All text blocks, joined.
    pub fn text(&self) -> String {
        self.blocks
            .iter()
            .filter_map(|block| match block {
                Block::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// Bytes of its texts, results and arguments.
    pub fn told_bytes(&self) -> u64 {
        let bytes = |block: &Block| match block {
            Block::Text(text) => text.len(),
            Block::Call(call) => call.arguments.len(),
            Block::Result(result) => result.text.len(),
            Block::Reasoning(_) | Block::Opaque(_) => 0,
        };
        self.blocks.iter().map(bytes).sum::<usize>() as u64
    }

    /// Whether a history that ends with it has something that the model has not answered.
    pub fn awaits_reply(&self) -> bool {
        matches!(self.role, Role::User | Role::Tool) && self.origin != Origin::Context
    }

    /// The calls in it, in order.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            _ => None,
        })
    }

    /// What the model thought, in order.
    pub fn reasoning(&self) -> impl Iterator<Item = &Reasoning> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Reasoning(reasoning) => Some(reasoning),
            _ => None,
        })
    }

    /// The result in it, if it holds one.
    pub fn result(&self) -> Option<&CallResult> {
        self.blocks.iter().find_map(|block| match block {
            Block::Result(result) => Some(result),
            _ => None,
        })
    }
}

/// A piece of an entry's content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Block {
    /// Plain text.
    Text(String),
    /// What the model thought before it answered.
    Reasoning(Reasoning),
    /// The model asks for a tool to be run.
    Call(Call),
    /// The one result that answers a call.
    Result(CallResult),
    /// Something that only the server understands: kept, shown, sent back to it, never run.
    Opaque(Opaque),
}

/// What the model thought.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reasoning {
    /// As text; empty if the server keeps it secret.
    pub text: String,
    /// What the server wants back unchanged with it (a signature, an encrypted text).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Opaque>,
}

impl Reasoning {
    /// Reasoning that is only a text.
    pub fn of_text(text: impl Into<String>) -> Self {
        Self { text: text.into(), opaque: None }
    }
}

/// A piece of a reply in the words of one format, to be sent back unchanged in that format only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opaque {
    /// Name of the format, as in `--format`.
    pub format: String,
    /// The JSON as it arrived.
    pub json: String,
}

/// The model's tool call, as it arrived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Unique within the session.
    pub id: CallId,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments as the model wrote them: JSON text, possibly cut off or broken.
    pub arguments: String,
}

/// The answer to one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallResult {
    /// The call that it answers.
    pub call: CallId,
    /// What the model reads.
    pub text: String,
    /// Whether the call was not run or failed.
    pub is_error: bool,
}

/// What is sent in an entry's place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Overlay {
    /// The entry itself.
    Sent,
    /// Nothing; who left it out.
    LeftOut {
        /// Who decided so.
        by: Origin,
    },
    /// Another text.
    Replaced {
        /// The text sent instead.
        text: String,
        /// Who decided so.
        by: Origin,
    },
}
