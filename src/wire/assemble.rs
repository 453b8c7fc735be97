//! A history becomes a request: a list of parts whose texts, one after the other, are the body.
//!
//! Each entry is encoded once; a turn costs what is new. What an entry becomes in a format is said
//! in the format's `encode`; how requests are compared and shown, in `outline`.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::sequel::{self, Sequel};
use super::{Dialect, Format, Parameters, anthropic, json, openai_chat, openai_responses};
use crate::conversation::{
    Block, CallId, Entry, EntryId, Origin, Overlay, Overlays, Part, PartNumber, RequestRecord,
    Role, Slot, Told, ToolDefinition, told,
};

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
    /// What had to be adjusted in entries that are sent for the first time so, in words.
    pub repairs: Vec<String>,
}

/// An entry as a wire message, or as a piece of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Encoded {
    /// The role on the wire.
    pub(super) role: &'static str,
    /// The JSON.
    pub(super) json: String,
    /// What had to be adjusted, in words.
    pub(super) repairs: Vec<String>,
}

/// An encoded entry, or a piece of one, as a numbered part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    /// The role on the wire.
    pub(super) role: &'static str,
    part: PartNumber,
}

/// What comes next in a body.
#[derive(Debug)]
pub(super) enum Step {
    /// An entry.
    Entry(Piece),
    /// What stands between entries, and around them.
    Frame(Part),
}

/// What was sent so far, so that nothing is encoded or journaled twice.
#[derive(Debug, Default)]
pub struct Assembler {
    numbers: HashMap<Arc<Part>, PartNumber>,
    parts: Vec<Arc<Part>>,
    /// What each entry became, for each way of encoding: a session may change its format.
    encoded: HashMap<(Format, Dialect), HashMap<EntryId, Known>>,
    previous: Vec<PartNumber>,
    /// What overlays made necessary in the request before.
    repaired: HashSet<String>,
}

/// What an entry became under an overlay, with what the model said right after it.
#[derive(Debug)]
struct Known {
    overlay: Overlay,
    sequel: sequel::Key,
    pieces: Vec<Piece>,
}

impl Assembler {
    /// Makes the request that tells the model this history, as the overlays want it told.
    pub fn assemble(
        &mut self,
        history: &[Arc<Entry>],
        overlays: &Overlays,
        settings: &Settings,
    ) -> Request {
        let known = self.parts.len();
        let told = told(history, overlays);
        let mut repairs = self.repairs_of(&told, overlays);
        let mut pieces: Vec<Piece> = Vec::with_capacity(told.len());
        let sent: Vec<&Entry> = told.iter().filter_map(Told::entry).collect();
        for (at, told) in told.iter().filter(|told| told.entry().is_some()).enumerate() {
            let after = Sequel::of(&sent[at..]);
            match told {
                Told::Whole(entry) => {
                    let overlay = &Overlay::Sent;
                    pieces.extend(self.pieces(entry, overlay, after, settings, &mut repairs));
                }
                Told::Altered(entry) => {
                    let overlay = overlays.of(entry.id);
                    pieces.extend(self.pieces(entry, overlay, after, settings, &mut repairs));
                }
                Told::Placeholder(entry) => {
                    pieces.extend(self.encode(entry, None, after, settings, &mut repairs));
                }
                Told::NotSent(_) => {}
            }
        }
        let steps = match settings.format {
            Format::OpenaiChat => in_a_list(openai_chat::frame(settings), pieces),
            Format::OpenaiResponses => in_a_list(openai_responses::frame(settings), pieces),
            Format::Anthropic => anthropic::lay_out(settings, &pieces),
        };
        let numbers: Vec<PartNumber> = steps
            .into_iter()
            .map(|step| match step {
                Step::Entry(piece) => piece.part,
                Step::Frame(part) => self.number(part),
            })
            .collect();

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

    /// What an entry, or what is told in its place, becomes.
    fn pieces(
        &mut self,
        entry: &Entry,
        overlay: &Overlay,
        after: Sequel<'_>,
        settings: &Settings,
        repairs: &mut Vec<String>,
    ) -> Vec<Piece> {
        let way = (settings.format, settings.dialect);
        let known = self.encoded.get(&way).and_then(|known| known.get(&entry.id));
        if let Some(known) =
            known.filter(|known| known.overlay == *overlay && known.sequel == after.key())
        {
            return known.pieces.clone();
        }
        let pieces = self.encode(entry, Some(entry.id), after, settings, repairs);
        let known = Known { overlay: overlay.clone(), sequel: after.key(), pieces: pieces.clone() };
        self.encoded.entry(way).or_default().insert(entry.id, known);
        pieces
    }

    /// `of` is the entry that the parts are said to be of.
    fn encode(
        &mut self,
        entry: &Entry,
        of: Option<EntryId>,
        after: Sequel<'_>,
        settings: &Settings,
        repairs: &mut Vec<String>,
    ) -> Vec<Piece> {
        let Settings { format, dialect, .. } = *settings;
        let encoded = match format {
            Format::OpenaiChat => openai_chat::encode(entry, dialect).into_iter().collect(),
            Format::Anthropic => anthropic::encode(entry, after).into_iter().collect(),
            Format::OpenaiResponses => openai_responses::encode(entry, dialect),
        };
        let mut pieces = Vec::with_capacity(encoded.len());
        for Encoded { role, json, repairs: made } in encoded {
            repairs.extend(made);
            let slot = match format {
                Format::OpenaiChat | Format::OpenaiResponses => Slot::MessageStart(role.to_owned()),
                Format::Anthropic => anthropic::slot(role),
            };
            let part = Part { origin: entry.origin, entry: of, slot, text: json.into() };
            pieces.push(Piece { role, part: self.number(part) });
        }
        pieces
    }

    /// What overlays make necessary, so far as the request before did not have it.
    fn repairs_of(&mut self, told: &[Told<'_>], overlays: &Overlays) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for told in told {
            match told {
                Told::Altered(Entry { origin: Origin::Repair, blocks, .. }) => {
                    all.extend(blocks.iter().filter_map(call_of).map(|call| {
                        format!("call {call}: a short text stands for its left-out result")
                    }));
                }
                Told::NotSent(entry) if *overlays.of(entry.id) == Overlay::Sent => {
                    all.extend(
                        entry.blocks.iter().filter_map(call_of).map(|call| {
                            format!("call {call}: its result is left out with the call")
                        }),
                    );
                }
                Told::Placeholder(entry) => {
                    let who = if entry.role == Role::User { "user" } else { "model" };
                    let id = entry.id.0;
                    all.push(format!(
                        "a short text of the {who} stands for what is left out from entry {id} on"
                    ));
                }
                Told::Whole(_) | Told::Altered(_) | Told::NotSent(_) => {}
            }
        }
        let before = std::mem::replace(&mut self.repaired, all.iter().cloned().collect());
        all.retain(|repair| !before.contains(repair));
        all
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

/// The call that a block answers.
fn call_of(block: &Block) -> Option<&CallId> {
    match block {
        Block::Result(result) => Some(&result.call),
        _ => None,
    }
}

/// What stands around the messages.
#[derive(Debug)]
pub(super) struct Frame {
    /// Up to and with the bracket that opens the messages.
    pub(super) before: Vec<Part>,
    /// From the bracket that closes them.
    pub(super) after: Vec<Part>,
}

/// Messages one after the other, each a part.
fn in_a_list(frame: Frame, pieces: Vec<Piece>) -> Vec<Step> {
    let mut steps: Vec<Step> = frame.before.into_iter().map(Step::Frame).collect();
    for (position, piece) in pieces.into_iter().enumerate() {
        if position > 0 {
            steps.push(Step::Frame(envelope(",")));
        }
        steps.push(Step::Entry(piece));
    }
    steps.extend(frame.after.into_iter().map(Step::Frame));
    steps
}

/// A part of brackets, commas or parameters.
pub(super) fn envelope(text: impl Into<Arc<str>>) -> Part {
    within(Slot::Envelope, text)
}

/// A part of brackets, commas or cache markers within a message, the system text or the tools.
pub(super) fn within(slot: Slot, text: impl Into<Arc<str>>) -> Part {
    Part { origin: Origin::Envelope, entry: None, slot, text: text.into() }
}

/// The model's name.
pub(super) fn model(settings: &Settings) -> Part {
    within(Slot::Model, json(&settings.model))
}

/// Four thousand million parts are beyond any session; a journal of that length could not be held.
fn part_number(index: usize) -> PartNumber {
    PartNumber(u32::try_from(index).unwrap_or(u32::MAX))
}

/// Whether these parts are the very body that a request record stands for.
pub fn is_body_of(parts: &[Arc<Part>], request: &RequestRecord) -> bool {
    sha256(parts) == request.sha256
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
