//! The fold of all records: the state at any point is what the records up to it add up to.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::{
    Asker, CallDecided, CallFinished, CallId, CallProposed, DecidedBy, Entry, EntryId, History,
    LoopState, Overlay, Overlays, ParameterValue, Part, PartNumber, Profile, Record, Repair,
    RequestHead, RequestRecord, Response, Role, Stamped, TransitionReason, TurnNumber,
    awaits_reply,
};

/// Everything a reader of the records knows.
#[derive(Debug, Default)]
pub struct Session {
    /// The way to the model.
    pub profile: Option<Profile>,
    /// The parameters that are set.
    pub parameters: Vec<ParameterValue>,
    /// Every entry of every branch, by id.
    pub entries: HashMap<EntryId, Arc<Entry>>,
    /// Newest entry of the current branch.
    pub head: Option<EntryId>,
    /// What is sent in entries' places.
    pub overlays: Arc<Overlays>,
    /// The turn from which on each of these is sent.
    pub overlaid_since: HashMap<EntryId, TurnNumber>,
    /// Every part, by number.
    pub parts: HashMap<PartNumber, Arc<Part>>,
    /// The parts of the newest request, in order; `None` where the journal lacks one.
    newest_parts: Option<Vec<Arc<Part>>>,
    /// The turns, oldest first; turn N stands at N − 1.
    pub turns: Vec<Turn>,
    /// The exact commands that the user allowed for the rest of the session.
    pub allowed: BTreeSet<String>,
    /// Calls by id.
    pub calls: HashMap<CallId, CallLog>,
    /// Why the loop ended last; `None` while it runs.
    pub ended: Option<TransitionReason>,
    /// The newest reply in which a server paused: it waits to be asked to go on.
    paused: Option<EntryId>,
    /// From which entry on which server was talked to.
    servers: Vec<(EntryId, String)>,
}

/// One turn: what was posted and how it went.
#[derive(Debug, Clone)]
pub struct Turn {
    /// The turn's number.
    pub number: TurnNumber,
    /// What was posted.
    pub request: RequestRecord,
    /// Newest entry of the branch that it tells.
    pub head: Option<EntryId>,
    /// What was sent in entries' places.
    pub overlays: Arc<Overlays>,
    /// The attempts begun so far, the last one last.
    pub exchanges: Vec<Exchange>,
    /// What was adjusted in the request, and in the answers at no known place.
    pub repairs: Vec<Repair>,
    /// What the model called, in order.
    pub calls: Vec<CallId>,
}

/// One attempt and how it ended.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// Which attempt; counts from 1.
    pub attempt: u32,
    /// When it began, in milliseconds since 1970.
    pub posted_at: u64,
    /// What went before the body.
    pub head: Option<RequestHead>,
    /// How it ended; `None` while it runs.
    pub response: Option<Response>,
    /// What was adjusted in its answer, each with its place.
    pub repairs: Vec<Repair>,
}

impl Turn {
    /// When the last attempt began, in milliseconds since 1970.
    pub fn posted_at(&self) -> Option<u64> {
        self.exchanges.last().map(|exchange| exchange.posted_at)
    }

    /// All that was adjusted: in the request, and in the answer to each attempt.
    pub fn all_repairs(&self) -> impl Iterator<Item = &Repair> {
        let answers = self.exchanges.iter().flat_map(|exchange| &exchange.repairs);
        self.repairs.iter().chain(answers)
    }

    /// Whether all its attempts ended before a byte of the request had left.
    pub fn never_left(&self) -> bool {
        let stayed = |exchange: &Exchange| exchange.response.as_ref().is_some_and(|r| !r.sent);
        !self.exchanges.is_empty() && self.exchanges.iter().all(stayed)
    }

    /// How the last attempt ended.
    pub fn response(&self) -> Option<&Response> {
        self.exchanges.last().and_then(|exchange| exchange.response.as_ref())
    }
}

/// What the records say of one call.
#[derive(Debug, Clone)]
pub struct CallLog {
    /// As proposed.
    pub proposed: CallProposed,
    /// As decided.
    pub decided: Option<CallDecided>,
    /// When its command was started, in milliseconds since 1970.
    pub started_at: Option<u64>,
    /// How it ended.
    pub finished: Option<CallFinished>,
}

impl Session {
    /// Takes one more record into account.
    pub fn apply(&mut self, stamped: &Stamped) {
        match &stamped.record {
            Record::Profile(profile) => self.profile = Some(profile.clone()),
            Record::Parameters(parameters) => self.parameters.clone_from(parameters),
            Record::Entry(entry) => self.add(entry),
            Record::Head(head) => {
                self.head = *head;
                if head.is_none() {
                    self.allowed.clear();
                }
            }
            Record::Revoked | Record::Resumed => self.allowed.clear(),
            Record::Overlay { entry, overlay } => {
                Arc::make_mut(&mut self.overlays).set(*entry, overlay.clone());
                let newest = self.turns.last().map_or(0, |turn| turn.number.0);
                self.overlaid_since.insert(*entry, TurnNumber(newest + 1));
            }
            Record::Part { number, part } => {
                self.parts.insert(*number, Arc::new(part.clone()));
            }
            Record::Request(request) => {
                self.ended = None;
                self.newest_parts = self.parts_after_the_newest(request);
                self.turns.push(Turn {
                    number: request.turn,
                    request: request.clone(),
                    head: self.head,
                    overlays: self.overlays.clone(),
                    exchanges: Vec::new(),
                    repairs: Vec::new(),
                    calls: Vec::new(),
                });
            }
            Record::Attempt { turn, attempt, head } => {
                if let Some(turn) = self.turn_mut(*turn) {
                    turn.exchanges.push(Exchange {
                        attempt: *attempt,
                        posted_at: stamped.at,
                        head: head.clone(),
                        response: None,
                        repairs: Vec::new(),
                    });
                }
            }
            Record::Response(response) => {
                if let Some(turn) = self.turn_mut(response.turn)
                    && let Some(exchange) = turn
                        .exchanges
                        .iter_mut()
                        .find(|exchange| exchange.attempt == response.attempt)
                {
                    exchange.response = Some(response.clone());
                }
            }
            Record::Repair { turn, repair } => {
                if let Some(turn) = self.turn_mut(*turn) {
                    let answer = turn.exchanges.last_mut().filter(|_| repair.at.is_some());
                    answer.map_or(&mut turn.repairs, |last| &mut last.repairs).push(repair.clone());
                }
            }
            Record::CallProposed(proposed) => {
                if let Asker::Model { turn, .. } = proposed.asker
                    && let Some(turn) = self.turn_mut(turn)
                {
                    turn.calls.push(proposed.call.clone());
                }
                self.calls.insert(
                    proposed.call.clone(),
                    CallLog {
                        proposed: proposed.clone(),
                        decided: None,
                        started_at: None,
                        finished: None,
                    },
                );
            }
            Record::CallDecided(decided) => {
                if decided.by == DecidedBy::UserForSession {
                    self.allowed.extend(decided.executed.clone());
                }
                if let Some(log) = self.calls.get_mut(&decided.call) {
                    log.decided = Some(decided.clone());
                }
            }
            Record::CallStarted { call } => {
                if let Some(log) = self.calls.get_mut(call) {
                    log.started_at = Some(stamped.at);
                }
            }
            Record::CallFinished(finished) => {
                if let Some(log) = self.calls.get_mut(&finished.call) {
                    log.finished = Some(finished.clone());
                }
            }
            Record::Ended(reason) => self.ended = Some(reason.clone()),
        }
    }

    fn add(&mut self, entry: &Arc<Entry>) {
        self.ended = None;
        self.head = Some(entry.id);
        let answer = self.turns.last().and_then(Turn::response);
        if entry.role == Role::Assistant && answer.is_some_and(Response::is_paused) {
            self.paused = Some(entry.id);
        }
        let server = self.profile.as_ref().map_or("", Profile::server);
        if self.servers.last().is_none_or(|(_, last)| last != server) {
            self.servers.push((entry.id, server.to_owned()));
        }
        self.entries.insert(entry.id, entry.clone());
    }

    /// What is kept of the request before, and what follows: nothing is looked up twice.
    fn parts_after_the_newest(&mut self, request: &RequestRecord) -> Option<Vec<Arc<Part>>> {
        let keep = request.keep as usize;
        let newest = self.turns.last().map_or(0, |turn| turn.number.0);
        let before = self.newest_parts.take().filter(|_| request.turn.0 == newest + 1);
        let mut parts = before.unwrap_or_default();
        if keep > parts.len() {
            return None;
        }
        parts.truncate(keep);
        for number in &request.parts {
            parts.push(self.parts.get(number)?.clone());
        }
        Some(parts)
    }

    /// The parts of the newest request, in order. Empty if there is none, or if the journal lacks one.
    pub fn newest_parts(&self) -> &[Arc<Part>] {
        self.newest_parts.as_deref().unwrap_or_default()
    }

    /// The turn with this number.
    pub fn turn(&self, number: TurnNumber) -> Option<&Turn> {
        self.index_of(number).and_then(|index| self.turns.get(index))
    }

    fn turn_mut(&mut self, number: TurnNumber) -> Option<&mut Turn> {
        self.index_of(number).and_then(|index| self.turns.get_mut(index))
    }

    /// A damaged journal may lack turns, so a turn's place is not its number.
    fn index_of(&self, number: TurnNumber) -> Option<usize> {
        self.turns.binary_search_by_key(&number, |turn| turn.number).ok()
    }

    /// The parts of a turn's request, in order. Empty if there is no such turn, or if the journal
    /// lacks a part or a request that it builds on.
    ///
    /// A request keeps a number of parts of the one before it, so this walks back from the turn
    /// until the start of its list is found.
    pub fn parts_of(&self, number: TurnNumber) -> Vec<Arc<Part>> {
        let numbers = self.part_numbers_of(number);
        let parts: Option<Vec<_>> =
            numbers.iter().map(|number| self.parts.get(number).cloned()).collect();
        parts.unwrap_or_default()
    }

    /// The numbers of those parts.
    pub fn part_numbers_of(&self, number: TurnNumber) -> Vec<PartNumber> {
        let Some(end) = self.index_of(number) else {
            return Vec::new();
        };
        let request = &self.turns[end].request;
        let mut need = request.keep as usize + request.parts.len();
        let mut tails: Vec<&[PartNumber]> = Vec::new();
        for (turn, expected) in self.turns[..=end].iter().rev().zip((1..=number.0).rev()) {
            if turn.number.0 != expected {
                return Vec::new();
            }
            let keep = turn.request.keep as usize;
            if keep < need {
                tails.push(&turn.request.parts[..(need - keep).min(turn.request.parts.len())]);
                need = keep;
            }
            if need == 0 {
                break;
            }
        }
        if need > 0 {
            return Vec::new();
        }
        tails.into_iter().rev().flatten().copied().collect()
    }

    /// The parts of what was sent last before a turn; empty if nothing was.
    pub fn parts_sent_before(&self, number: TurnNumber) -> Vec<Arc<Part>> {
        let before = self.turns.iter().rev().filter(|turn| turn.number < number);
        let sent = before.into_iter().find(|turn| !turn.never_left());
        sent.map_or_else(Vec::new, |turn| self.parts_of(turn.number))
    }

    /// The body of a turn's request, rebuilt from its parts.
    pub fn body(&self, number: TurnNumber) -> String {
        self.parts_of(number).iter().map(|part| &*part.text).collect()
    }

    /// Whether the model is told something that it has not answered.
    pub fn awaits_reply(&self) -> bool {
        awaits_reply(&self.branch(), &self.overlays, self.paused)
    }

    /// The same, once these overlays are set.
    pub fn would_await_reply(&self, overlays: &[(EntryId, Overlay)]) -> bool {
        let mut set = Overlays::clone(&self.overlays);
        for (entry, overlay) in overlays {
            set.set(*entry, overlay.clone());
        }
        awaits_reply(&self.branch(), &set, self.paused)
    }

    /// What the loop knows, as it knew it when the newest record was made.
    pub fn state(&self) -> LoopState {
        let asked_for = self.entries.values().flat_map(|entry| entry.calls());
        let call_ids = asked_for.map(|call| &call.id).chain(self.calls.keys());
        LoopState {
            messages: History::of(
                self.branch(),
                call_ids.cloned().collect(),
                self.entries.keys().max().map_or(0, |id| id.0),
            ),
            overlays: Overlays::clone(&self.overlays),
            paused: self.paused,
            turn_count: 0,
            transition_reason: self.ended.clone(),
        }
    }

    /// The server that was talked to when an entry was made.
    pub fn server_at(&self, entry: EntryId) -> &str {
        let after = self.servers.partition_point(|(first, _)| *first <= entry);
        after.checked_sub(1).map_or("", |at| self.servers[at].1.as_str())
    }

    /// The entry of the current branch that a damaged journal lacks. What is before it is lost.
    pub fn lost_entry(&self) -> Option<EntryId> {
        let mut next = self.head;
        while let Some(id) = next {
            let Some(entry) = self.entries.get(&id) else { return Some(id) };
            next = entry.parent;
        }
        let sent = self.turns.last().map_or_else(Vec::new, |turn| self.parts_of(turn.number));
        let mut told = sent.iter().filter_map(|part| part.entry);
        told.find(|entry| !self.entries.contains_key(entry))
    }

    /// The entries of the current branch, oldest first.
    pub fn branch(&self) -> Vec<Arc<Entry>> {
        self.branch_to(self.head)
    }

    /// The entries up to this one on its branch, oldest first.
    pub fn branch_to(&self, head: Option<EntryId>) -> Vec<Arc<Entry>> {
        let mut branch = Vec::new();
        let mut next = head;
        while let Some(entry) = next.and_then(|id| self.entries.get(&id)) {
            branch.push(entry.clone());
            next = entry.parent;
        }
        branch.reverse();
        branch
    }
}
