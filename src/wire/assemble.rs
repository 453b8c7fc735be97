//! A history becomes a request: a list of parts whose texts, one after the other, are the body.
//!
//! Each entry is encoded once; a turn costs what is new. What an entry becomes in a format is said
//! in the format's `encode`; how requests are compared and shown, in `outline`.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::{Dialect, Format, Parameters, openai_chat};
use crate::conversation::{Entry, EntryId, Origin, Part, PartNumber, Slot, ToolDefinition};

/// What a request says beside its messages.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The wire format.
    pub format: Format,
    /// The model's id.
    pub model: String,
    /// The tools that the model may ask for.
    pub tools: Vec<ToolDefinition>,
    /// What the server wants differently from others of its format.
    pub dialect: Dialect,
    /// What the user sets.
    pub parameters: Parameters,
}

/// What is posted.
#[derive(Debug, Clone)]
pub struct Request {
    /// The parts, in order. Their texts add up to the body.
    pub parts: Vec<Arc<Part>>,
    /// The same parts as numbers.
    pub numbers: Vec<PartNumber>,
    /// Parts that were never sent before in this session, with their numbers.
    pub new_parts: Vec<(PartNumber, Arc<Part>)>,
    /// How many parts it shares with the start of the request before it.
    pub keep: usize,
    /// Length of the body in bytes.
    pub bytes: u64,
    /// SHA-256 of the body, in hex.
    pub sha256: String,
    /// What had to be adjusted in entries that are sent for the first time, in words.
    pub repairs: Vec<String>,
}

/// An entry as a wire message, or as a piece of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encoded {
    /// The role on the wire.
    pub role: &'static str,
    /// The JSON.
    pub json: String,
    /// What had to be adjusted, in words.
    pub repairs: Vec<String>,
}

/// What was sent so far, so that nothing is encoded or journaled twice.
#[derive(Debug, Default)]
pub struct Assembler {
    numbers: HashMap<Arc<Part>, PartNumber>,
    parts: Vec<Arc<Part>>,
    /// `None`: the entry has nothing that the format can carry.
    encoded: HashMap<EntryId, Option<PartNumber>>,
    previous: Vec<PartNumber>,
}

impl Assembler {
    /// Makes the request that tells the model this history.
    pub fn assemble(&mut self, history: &[Arc<Entry>], settings: &Settings) -> Request {
        let known = self.parts.len();
        let mut repairs = Vec::new();
        let mut numbers = Vec::with_capacity(history.len() * 2 + 8);
        let frame = match settings.format {
            Format::OpenaiChat => openai_chat::frame(settings),
        };
        numbers.extend(frame.before.into_iter().map(|part| self.number(part)));
        let comma = self.number(envelope(","));
        let mut first = true;
        for entry in history {
            let Some(part) = self.message(entry, settings, &mut repairs) else { continue };
            if !first {
                numbers.push(comma);
            }
            numbers.push(part);
            first = false;
        }
        numbers.extend(frame.after.into_iter().map(|part| self.number(part)));

        let keep = numbers.iter().zip(&self.previous).take_while(|(new, old)| new == old).count();
        let parts: Vec<_> = numbers.iter().map(|n| self.parts[n.0 as usize].clone()).collect();
        let new_parts = (known..)
            .zip(&self.parts[known..])
            .map(|(index, part)| (part_number(index), part.clone()))
            .collect();
        self.previous.clone_from(&numbers);
        Request {
            bytes: parts.iter().map(|part| part.text.len() as u64).sum(),
            sha256: sha256(&parts),
            new_parts,
            keep,
            parts,
            numbers,
            repairs,
        }
    }

    fn message(
        &mut self,
        entry: &Entry,
        settings: &Settings,
        repairs: &mut Vec<String>,
    ) -> Option<PartNumber> {
        if let Some(known) = self.encoded.get(&entry.id) {
            return *known;
        }
        let encoded = match settings.format {
            Format::OpenaiChat => openai_chat::encode(entry, &settings.dialect),
        };
        let number = encoded.map(|encoded| {
            repairs.extend(encoded.repairs);
            self.number(Part {
                origin: entry.origin,
                entry: Some(entry.id),
                slot: Slot::MessageStart(encoded.role.to_owned()),
                text: encoded.json.into(),
            })
        });
        self.encoded.insert(entry.id, number);
        number
    }

    fn number(&mut self, part: Part) -> PartNumber {
        if let Some(number) = self.numbers.get(&part) {
            return *number;
        }
        let number = part_number(self.parts.len());
        let part = Arc::new(part);
        self.parts.push(part.clone());
        self.numbers.insert(part, number);
        number
    }
}

/// What stands around the messages.
#[derive(Debug)]
pub struct Frame {
    /// Up to and with the bracket that opens the messages.
    pub before: Vec<Part>,
    /// From the bracket that closes them.
    pub after: Vec<Part>,
}

/// A part of brackets, commas or parameters.
pub(super) fn envelope(text: impl Into<Arc<str>>) -> Part {
    Part { origin: Origin::Envelope, entry: None, slot: Slot::Envelope, text: text.into() }
}

/// Four thousand million parts are beyond any session; a journal of that length could not be held.
fn part_number(index: usize) -> PartNumber {
    PartNumber(u32::try_from(index).unwrap_or(u32::MAX))
}

fn sha256(parts: &[Arc<Part>]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.text.as_bytes());
    }
    hash.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
