//! What is posted: a list of parts, each with one origin, whose texts add up to the body.

use std::fmt;
use std::sync::Arc;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize};

use super::{EntryId, Origin, TurnNumber};

/// Number of a part within its session; each part's bytes are journaled once, when first sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PartNumber(pub u32);

/// A run of bytes of a request body with one origin.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Part {
    /// Who put it there.
    pub origin: Origin,
    /// The entry it encodes, if it encodes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<EntryId>,
    /// What it is in the body's structure.
    pub slot: Slot,
    /// Its bytes: a fragment of JSON.
    #[serde(deserialize_with = "shared")]
    pub text: Arc<str>,
}

/// A shared text without a `String` on the way: half of a long journal are these.
fn shared<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<str>, D::Error> {
    struct Shared;
    impl Visitor<'_> for Shared {
        type Value = Arc<str>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a text")
        }

        fn visit_str<E>(self, text: &str) -> Result<Arc<str>, E> {
            Ok(text.into())
        }
    }
    deserializer.deserialize_str(Shared)
}

/// The place of a part in the body's structure, whatever the format.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slot {
    /// The model's name.
    Model,
    /// The tool definitions.
    Tools,
    /// A system text that stands outside the messages.
    System,
    /// The first part of a wire message; holds its role on the wire.
    MessageStart(String),
    /// A further part of the wire message before it.
    MessageRest,
    /// Brackets, commas, parameters, cache markers.
    Envelope,
}

/// A request as the journal keeps it: the difference to the request before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestRecord {
    /// The turn it belongs to.
    pub turn: TurnNumber,
    /// How many parts it shares with the start of the request before it in the journal.
    pub keep: u32,
    /// The parts that follow those.
    pub parts: Vec<PartNumber>,
    /// Length of the body in bytes.
    pub bytes: u64,
    /// SHA-256 of the body, in hex.
    pub sha256: String,
}

/// What went before the body of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestHead {
    /// `POST`.
    pub method: String,
    /// Where to, the key masked should it stand in it.
    pub url: String,
    /// Names in lower case and values in the order in which they were sent, the key masked.
    pub headers: Vec<(String, String)>,
}

/// What the model is told about a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolDefinition {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// JSON Schema of its arguments, as JSON text.
    pub parameters: &'static str,
}
