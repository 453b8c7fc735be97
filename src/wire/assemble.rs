//! A history becomes a request: a list of parts whose texts, one after the other, are the body.
//!
//! Each entry is encoded once; a turn costs what is new. What an entry becomes in a format is said
//! in the format's `encode`; how requests are compared and shown, in `outline`.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::parameters::not_sent;
use super::sequel::{self, Sequel};
use super::{Dialect, Format, Parameters, anthropic, json, openai_chat, openai_responses};
use crate::conversation::{
    Block, CallId, Entry, EntryId, Opaque, Origin, Overlay, Overlays, Part, PartNumber,
    RequestRecord, Role, Session, Slot, Told, ToolDefinition, told,
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
    /// What had to be adjusted in entries that are sent for the first time so, or for the first time
    /// again after they went another way; and what cannot be said this way. In words, each once.
    pub repairs: Vec<String>,
}

/// An entry as a wire message, or as a piece of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Encoded {
    /// The role on the wire.
    pub(super) role: &'static str,
    /// The JSON.
    pub(super) json: String,
}

/// How one entry is encoded, and what had to be adjusted.
#[derive(Debug)]
pub(super) struct Encoding {
    format: Format,
    pub(super) dialect: Dialect,
    /// Whether the entry goes to the server that it came from: no other understands what is opaque.
    returns: bool,
    pub(super) repairs: Vec<String>,
}

impl Encoding {
    #[cfg(test)]
    pub(super) fn of(format: Format, dialect: Dialect) -> Self {
        Self { format, dialect, returns: true, repairs: Vec::new() }
    }

    /// What only its own server understands, if it goes back there.
    pub(super) fn own<'a>(&self, opaque: &'a Opaque) -> Option<&'a str> {
        (self.returns && opaque.format == self.format.name()).then_some(opaque.json.as_str())
    }

    /// Notes an adjustment.
    pub(super) fn repair(&mut self, what: &str) {
        self.repairs.push(what.to_owned());
    }
}

/// A way to a server; each has encodings of its own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Way {
    format: Format,
    dialect: Dialect,
    server: Arc<str>,
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
    /// What each entry became, for each way: a session may change its server and its format.
    encoded: HashMap<Way, HashMap<EntryId, Known>>,
    /// The server that the next request goes to.
    server: Arc<str>,
    /// Which server was talked to when an entry was made.
    made_at: HashMap<EntryId, Arc<str>>,
    /// How the last request went.
    last: Option<(Way, Parameters)>,
    previous: Vec<PartNumber>,
    /// What overlays made necessary in the request before.
    repaired: HashSet<String>,
}

/// What an entry became under an overlay, with what the model said right after it.
#[derive(Debug)]
struct Known {
    overlay: Overlay,
    sequel: sequel::Key,
    encoded: Pieces,
}

/// What an entry became, and what had to be adjusted.
#[derive(Debug, Clone)]
struct Pieces {
    pieces: Vec<Piece>,
    repairs: Vec<String>,
}

impl Assembler {
    /// Goes on with a session: a part that was sent before keeps its number, and no server is told
    /// what only another understands.
    pub fn take_up(&mut self, session: &Session) {
        let count = session.parts.keys().max().map_or(0, |highest| highest.0 + 1);
        // The number of a part that a damaged journal lacks is not given to another.
        let lost = Arc::new(envelope(""));
        let part = |number| session.parts.get(&PartNumber(number)).unwrap_or(&lost).clone();
        self.parts = (0..count).map(part).collect();
        // What is on another branch is not sent again.
        let branch: HashSet<EntryId> = session.branch().iter().map(|entry| entry.id).collect();
        let may_come = |part: &Part| part.entry.is_none_or(|entry| branch.contains(&entry));
        let numbers = session.parts.iter().filter(|(_, part)| may_come(part));
        self.numbers = numbers.map(|(number, part)| (part.clone(), *number)).collect();
        let servers = session.entries.keys().map(|id| (*id, Arc::from(session.server_at(*id))));
        self.made_at = servers.collect();
        let newest = session.turns.last().map(|turn| session.part_numbers_of(turn.number));
        self.previous = newest.unwrap_or_default();
    }

    /// From here on requests go to this server: what only another understands is not sent to it.
    pub fn reach(&mut self, server: &str) {
        self.server = server.into();
    }

    /// Makes the request that tells the model this history, as the overlays want it told.
    pub fn assemble(
        &mut self,
        history: &[Arc<Entry>],
        overlays: &Overlays,
        settings: &Settings,
    ) -> Request {
        let Settings { format, dialect, .. } = *settings;
        let way = Way { format, dialect, server: self.server.clone() };
        let anew = self.last.as_ref().is_none_or(|(last, _)| *last != way);
        // What no request has known yet came since the last one, from where that went.
        let talked_to = self.last.as_ref().map_or(&way.server, |(last, _)| &last.server).clone();
        for entry in history {
            self.made_at.entry(entry.id).or_insert_with(|| talked_to.clone());
        }
        let known = self.parts.len();
        let told = told(history, overlays);
        let mut repairs = self.repairs_of(&told, overlays);
        if self.last.as_ref().is_none_or(|(_, last)| anew || *last != settings.parameters) {
            let unsent = settings.parameters.unsent(format);
            repairs.extend(unsent.map(|parameter| not_sent(parameter, format)));
        }
        let mut pieces: Vec<Piece> = Vec::with_capacity(told.len());
        let sent: Vec<&Entry> = told.iter().filter_map(Told::entry).collect();
        for (at, told) in told.iter().filter(|told| told.entry().is_some()).enumerate() {
            let after = Sequel::of(&sent[at..]);
            let (encoded, is_new) = match told {
                Told::Whole(entry) => self.pieces(entry, &Overlay::Sent, after, &way),
                Told::Altered(entry) => self.pieces(entry, overlays.of(entry.id), after, &way),
                Told::Placeholder(entry) => (self.encode(entry, None, after, &way), false),
                Told::NotSent(_) => continue,
            };
            pieces.extend(encoded.pieces);
            if is_new || anew {
                repairs.extend(encoded.repairs);
            }
        }
        self.last = Some((way, settings.parameters.clone()));
        let steps = match settings.format {
            Format::OpenaiChat if dialect.join_user_messages => {
                let is_new = |piece: &Piece| anew || piece.part.0 as usize >= known;
                repairs.extend(openai_chat::repairs(&pieces, is_new));
                openai_chat::joined(openai_chat::frame(settings), &pieces)
            }
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
            repairs: each_once(repairs),
        }
    }

    /// What an entry, or what is told in its place, becomes, and whether it is sent so for the first
    /// time.
    fn pieces(
        &mut self,
        entry: &Entry,
        overlay: &Overlay,
        after: Sequel<'_>,
        way: &Way,
    ) -> (Pieces, bool) {
        let sequel = after.key();
        let known = self.encoded.get(way).and_then(|known| known.get(&entry.id));
        if let Some(known) =
            known.filter(|known| known.overlay == *overlay && known.sequel == sequel)
        {
            return (known.encoded.clone(), false);
        }
        let encoded = self.encode(entry, Some(entry.id), after, way);
        let known = Known { overlay: overlay.clone(), sequel, encoded: encoded.clone() };
        self.encoded.entry(way.clone()).or_default().insert(entry.id, known);
        (encoded, true)
    }

    /// `of` is the entry that the parts are said to be of.
    fn encode(
        &mut self,
        entry: &Entry,
        of: Option<EntryId>,
        after: Sequel<'_>,
        way: &Way,
    ) -> Pieces {
        let returns = self.made_at.get(&entry.id).is_none_or(|maker| *maker == way.server);
        let Way { format, dialect, .. } = *way;
        let mut encoding = Encoding { format, dialect, returns, repairs: Vec::new() };
        let encoded = match format {
            Format::OpenaiChat => openai_chat::encode(entry, &mut encoding).into_iter().collect(),
            Format::Anthropic => {
                anthropic::encode(entry, after, &mut encoding).into_iter().collect()
            }
            Format::OpenaiResponses => openai_responses::encode(entry, &mut encoding),
        };
        let mut pieces = Vec::with_capacity(encoded.len());
        for Encoded { role, json } in encoded {
            let slot = match format {
                Format::OpenaiChat => openai_chat::slot(role, dialect),
                Format::OpenaiResponses => Slot::MessageStart(role.to_owned()),
                Format::Anthropic => anthropic::slot(role),
            };
            let part = Part { origin: entry.origin, entry: of, slot, text: json.into() };
            pieces.push(Piece { role, part: self.number(part) });
        }
        Pieces { pieces, repairs: encoding.repairs }
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

/// Each text once, with how often it occurs.
fn each_once(texts: Vec<String>) -> Vec<String> {
    let mut counted: Vec<(String, usize)> = Vec::new();
    for text in texts {
        match counted.iter_mut().find(|(known, _)| *known == text) {
            Some((_, times)) => *times += 1,
            None => counted.push((text, 1)),
        }
    }
    let told = |(text, times)| if times == 1 { text } else { format!("{text} ({times} times)") };
    counted.into_iter().map(told).collect()
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
