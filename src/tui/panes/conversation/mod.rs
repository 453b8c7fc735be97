//! The conversation: what the user and the model said, in order, with a separator for each turn and
//! a line for each call. Items are never changed once they are there, only folded and unfolded;
//! calls look up their state.

mod copied;
mod ended;
mod item;
mod jump;
mod layout;
mod matches;
mod told;
mod view;

use crate::text::{say, translated};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

pub(in crate::tui) use layout::Layout;
pub(in crate::tui) use told::Told;
pub(in crate::tui) use view::{Drawn, draw};

use self::item::{Item, Placed};
use self::told::Results;
use crate::conversation::{
    Block, CallFinished, CallId, Entry, Event, Origin, ParameterValue, Progress, Record, Role,
    Session, TransitionReason,
};
use crate::text;
use crate::tui::keymap::Action;
use crate::tui::scroll::Scroll;
use crate::tui::theme::Look;

/// Repairs of a turn that are named; the inspector has all.
const REPAIRS: usize = 3;

/// The reply that is arriving.
#[derive(Debug, Default)]
struct Live {
    reasoning: String,
    /// When its reasoning began, and its newest piece came.
    thought: Option<(Instant, Instant)>,
    text: String,
    /// Calls that are arriving: name and bytes of arguments.
    calls: Vec<(String, usize)>,
}

impl Live {
    fn is_empty(&self) -> bool {
        self.reasoning.is_empty() && self.text.is_empty() && self.calls.is_empty()
    }
}

/// What keys can be about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum At {
    Item(usize),
    /// The reply that arrives, below all items; where there is none, what is newest.
    #[default]
    Arriving,
}

/// The state of the pane.
#[derive(Debug)]
pub(in crate::tui) struct Conversation {
    items: Vec<Placed>,
    /// What the model was told of each call.
    results: HashMap<CallId, Arc<Entry>>,
    live: Live,
    /// Counts the replies, so that a drawing of one is not taken for that of the next.
    live_number: u64,
    /// Whether the model's name stands above what it said since the last prompt.
    headed: bool,
    /// What came of the user's own command that ran last: the entry that tells the model of it has
    /// the same words, and is not shown a second time.
    own: Option<String>,
    /// The way to the model, as it was told last.
    way: String,
    /// Why the attempt before had to be made again.
    waited_for: Option<String>,
    /// Which results the model was told.
    told: Results,
    /// Counts the overlays: what is laid out says which are not sent.
    overlays: u64,
    /// Whether messages are shown as they were written, not as Markdown.
    as_written: bool,
    /// Counts what changed in items that were there already.
    changes: u64,
    /// What keys are about: the newest as long as the pane stays with the end, else what they went
    /// to, or what is in sight of it.
    at_hand: At,
    /// An item that the next frame has to show.
    wanted: Option<usize>,
    /// How many steps on, or back, the next frame has to go.
    steps: isize,
    pub(in crate::tui) scroll: Scroll,
}

impl Default for Conversation {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            results: HashMap::new(),
            live: Live::default(),
            live_number: 0,
            headed: false,
            own: None,
            way: String::new(),
            waited_for: None,
            told: Results::default(),
            overlays: 0,
            as_written: false,
            changes: 0,
            at_hand: At::Arriving,
            wanted: None,
            steps: 0,
            scroll: Scroll::following(),
        }
    }
}

impl Conversation {
    /// Whether text of the model is arriving.
    pub(in crate::tui) fn is_streaming(&self) -> bool {
        !self.live.is_empty()
    }

    /// Whether the model was told a call's result.
    pub(in crate::tui) fn told(&self, call: &CallId) -> Told {
        self.told.of(call)
    }

    /// How much of a call's result was sent, in words. Before a request holds it, nothing was.
    pub(in crate::tui) fn sent(&self, call: &CallId, bytes: u64) -> String {
        match self.told(call) {
            Told::Once => say!("sent {bytes}", bytes = text::bytes(bytes)),
            Told::NotYet => say!("not sent yet").to_owned(),
            Told::Never => say!("not sent").to_owned(),
        }
    }

    /// Says something that is not part of the session.
    pub(in crate::tui) fn note(&mut self, note: String) {
        self.push(Item::Note(note, Look::Dim));
        self.follow();
    }

    /// Goes to the end; keys are about what is newest.
    pub(in crate::tui) fn follow(&mut self) {
        self.scroll.go_to_end();
        self.wanted = None;
        self.steps = 0;
    }

    /// Takes over what was drawn.
    pub(in crate::tui) fn drawn(&mut self, drawn: Drawn) {
        self.scroll.stands(drawn.measure, drawn.stands);
        self.scroll.shifted(drawn.shift);
        self.at_hand = drawn.at_hand;
        self.wanted = None;
        self.steps = 0;
    }

    /// Takes a key that means something here; returns a word to the user if it cannot be followed.
    pub(in crate::tui) fn act(&mut self, action: Action, session: &Session) -> Option<String> {
        match action {
            Action::Fold => return self.fold(),
            Action::FoldAll => return Some(self.fold_all().to_owned()),
            Action::AsWritten => {
                self.as_written = !self.as_written;
                self.changes += 1;
                let how = if self.as_written {
                    say!("Messages are shown as they were written.")
                } else {
                    say!("Messages are shown as Markdown.")
                };
                return Some(how.to_owned());
            }
            Action::Before(landmark) => return self.jump(landmark, jump::Way::Back, session),
            Action::After(landmark) => return self.jump(landmark, jump::Way::On, session),
            Action::Up => self.steps -= 1,
            Action::Down => self.steps += 1,
            Action::Start => self.go_to(0),
            Action::End => self.follow(),
            _ => self.scroll.act(action),
        }
        None
    }

    /// Folds or unfolds the item at hand.
    fn fold(&mut self) -> Option<String> {
        let Some(at) = self.item_at_hand().filter(|at| self.has_more(*at)) else {
            return Some(say!("There is nothing to fold here.").to_owned());
        };
        let placed = self.items.get_mut(at)?;
        placed.set_open(!placed.is_open());
        self.changes += 1;
        self.wanted = Some(at);
        None
    }

    /// The item that keys are about, if that is not what is arriving.
    fn item_at_hand(&self) -> Option<usize> {
        match self.at_hand {
            At::Item(at) => Some(at),
            At::Arriving => None,
        }
    }

    /// Whether the item at hand in a frame has more to show than when it is folded.
    pub(in crate::tui) fn can_fold(&self, drawn: Drawn) -> bool {
        matches!(drawn.at_hand, At::Item(at) if self.has_more(at))
    }

    /// Whether the item at hand in a frame is folded.
    pub(in crate::tui) fn is_folded(&self, drawn: Drawn) -> bool {
        let At::Item(at) = drawn.at_hand else { return false };
        self.items.get(at).is_some_and(|placed| !placed.is_open())
    }

    /// The next frame shows this item, and keys are about it.
    fn go_to(&mut self, at: usize) {
        self.at_hand = At::Item(at);
        self.wanted = Some(at);
        self.scroll.stand();
    }

    /// Unfolds everything; if all is unfolded, folds it; if all is folded, leaves it as it was at
    /// first. Returns what it did and what the key does next.
    fn fold_all(&mut self) -> &'static str {
        let can: Vec<usize> = (0..self.items.len()).filter(|at| self.has_more(*at)).collect();
        let unfolded = can.iter().filter(|at| self.items[**at].is_open()).count();
        let mixed_at_first = can.iter().any(|at| self.items[*at].item.is_open_at_first());
        let (open, told) = if unfolded == can.len() {
            (Some(false), say!("All is folded. z: as at first."))
        } else if unfolded == 0 && mixed_at_first {
            (None, say!("Folded as at first. z: unfold all."))
        } else {
            (Some(true), say!("All is unfolded. z: fold all."))
        };
        for at in can {
            let placed = &mut self.items[at];
            placed.set_open(open.unwrap_or_else(|| placed.item.is_open_at_first()));
        }
        self.changes += 1;
        self.wanted = self.item_at_hand();
        told
    }

    /// Unfolds items while they hold what is looked for. The one at hand stays unfolded afterwards.
    pub(in crate::tui) fn unfold_matches(&mut self, needle: &str, session: &Session) {
        if let Some(placed) = self.item_at_hand().and_then(|at| self.items.get_mut(at))
            && needle.is_empty()
            && placed.is_open()
        {
            placed.set_open(true);
        }
        for placed in &mut self.items {
            let result = placed.item.call().and_then(|call| self.results.get(call));
            if placed.match_against(needle, session, result.map(|entry| &**entry)) {
                self.changes += 1;
            }
        }
    }

    /// Whether an item has more to show than when it is folded.
    fn has_more(&self, at: usize) -> bool {
        self.items.get(at).is_some_and(|placed| placed.item.can_fold())
    }

    fn push(&mut self, item: Item) {
        self.items.push(Placed::new(item));
    }

    /// Takes an event; `session` has taken it already.
    pub(in crate::tui) fn event(&mut self, event: &Event, session: &Session, now: Instant) {
        match event {
            Event::Record(stamped) => self.record(&stamped.record, session),
            Event::Progress(Progress::Text(piece)) => self.live.text.push_str(piece),
            Event::Progress(Progress::Reasoning(piece)) => {
                self.live.reasoning.push_str(piece);
                self.live.thought.get_or_insert((now, now)).1 = now;
            }
            Event::Progress(Progress::CallPiece { index, name, arguments }) => {
                if self.live.calls.len() <= *index {
                    self.live.calls.resize(*index + 1, (String::new(), 0));
                }
                let call = &mut self.live.calls[*index];
                call.0.clone_from(name);
                call.1 += arguments.len();
            }
            Event::Progress(Progress::Notice(notice)) => {
                self.push(Item::Note(translated(notice).into_owned(), Look::Warning));
            }
            Event::Progress(Progress::Waiting { attempt, of, ms, why, .. }) => {
                self.end_live();
                let wait = text::duration(*ms);
                let again = self.waited_for.replace(why.clone()).as_ref() == Some(why);
                let why = if again { say!("The same again.").into() } else { translated(why) };
                let note = say!(
                    "{why} Attempt {attempt} of {of} follows in {wait}.",
                    why = why,
                    attempt = attempt,
                    of = of,
                    wait = wait,
                );
                self.push(Item::Note(note, Look::Warning));
            }
            Event::Progress(
                Progress::Begins { .. }
                | Progress::Output { .. }
                | Progress::Ask { .. }
                | Progress::Busy { .. }
                | Progress::Planned { .. }
                | Progress::Profiles(_)
                | Progress::Models { .. },
            ) => {}
        }
    }

    fn record(&mut self, record: &Record, session: &Session) {
        match record {
            Record::Entry(entry) => self.entry(entry),
            Record::Head(None) => {
                self.push(Item::Note(
                    say!("── history cleared: the model remembers nothing of the above ──")
                        .to_owned(),
                    Look::Dim,
                ));
                self.headed = false;
                self.told.forget();
            }
            Record::Revoked => {
                let note = say!("── from here on every command asks again ──");
                self.push(Item::Note(note.to_owned(), Look::Dim));
            }
            Record::CallFinished(CallFinished { output: Some(text), receipt, call, .. }) => {
                let told = receipt.sent > 0;
                if told {
                    self.told.add(call.clone());
                }
                self.push(Item::Output { text: text.clone(), told });
                self.own = told.then(|| text.clone());
                self.headed = false;
            }
            Record::Request(request) => {
                self.told.posted();
                self.waited_for = None;
                self.push(item::turn(request.turn, session));
            }
            Record::Repair { turn, repair } => {
                let count = session.turn(*turn).map_or(0, |turn| turn.all_repairs().count());
                let note = match count {
                    0..=REPAIRS => say!("! repair: {what}", what = translated(&repair.what)),
                    _ if count == REPAIRS + 1 => {
                        say!("! more repairs: see the inspector").to_owned()
                    }
                    _ => return,
                };
                self.push(Item::Note(note, Look::Warning));
            }
            Record::Profile(profile) => {
                let what = format!("{} · {}", profile.shown(), profile.format);
                // The first one is where the session begins; an offline model begun anew, at
                // another port, is the same.
                if !session.turns.is_empty() && what != self.way {
                    let note = say!("── from here on: {what} ──", what = what);
                    self.push(Item::Note(note, Look::Dim));
                }
                self.way = what;
            }
            Record::Parameters(parameters) if !session.turns.is_empty() => {
                let note = say!("── from here on: {what} ──", what = in_words(parameters));
                self.push(Item::Note(note, Look::Dim));
            }
            Record::Resumed => {
                self.end_live();
                let note = say!("── resumed: every command asks again ──");
                let last = self.items.last().map(|placed| &placed.item);
                // One that was only looked at in between says nothing new.
                if !matches!(last, Some(Item::Note(said, _)) if said == note) {
                    self.push(Item::Note(note.to_owned(), Look::Dim));
                }
            }
            Record::Overlay { .. } => self.overlays += 1,
            Record::Attempt { turn, .. } => {
                self.end_live();
                self.told.settle(session.turn(*turn));
            }
            Record::Response(response) => self.told.settle(session.turn(response.turn)),
            Record::CallProposed(proposed) => self.push(Item::Call(proposed.call.clone())),
            Record::Ended(reason) => self.ended(reason, session),
            _ => {}
        }
    }

    fn entry(&mut self, entry: &Arc<Entry>) {
        match (entry.role, entry.origin) {
            (Role::User, Origin::User)
                if self.own.take().is_some_and(|own| own == entry.text()) => {}
            (Role::User, Origin::User) => {
                self.push(Item::Prompt(entry.clone()));
                self.headed = false;
            }
            (Role::Assistant, _) => self.reply(entry),
            (Role::User, Origin::Context) => {
                let text = entry.text();
                let names = text.lines().next().unwrap_or_default().trim_end_matches(':');
                self.push(Item::Note(
                    say!("context, to the model: {names}", names = names),
                    Look::Dim,
                ));
            }
            (Role::User, origin) => {
                let note = say!(
                    "{origin}, to the model: {text}",
                    origin = origin.word(),
                    text = entry.text()
                );
                self.push(Item::Note(note, Look::Dim));
            }
            (Role::Tool, _) => {
                let Some(result) = entry.result() else { return };
                self.results.insert(result.call.clone(), entry.clone());
                self.told.add(result.call.clone());
                let mut calls = self.items.iter().rev();
                let shown = calls.find(|placed| placed.item.is_call(&result.call));
                if shown.is_some_and(Placed::is_open) {
                    self.changes += 1;
                }
            }
            (Role::System, _) => {}
        }
    }

    fn reply(&mut self, entry: &Arc<Entry>) {
        let thought = self.live.thought.map(|(from, to)| to.saturating_duration_since(from));
        self.end_live();
        if !self.headed {
            self.push(Item::Head);
            self.headed = true;
        }
        for (block, content) in entry.blocks.iter().enumerate() {
            match content {
                Block::Reasoning(_) | Block::Opaque(_) => {
                    self.push(Item::Thought { entry: entry.clone(), block, took: thought });
                }
                Block::Text(_) => self.push(Item::Said { entry: entry.clone(), block }),
                Block::Call(_) | Block::Result(_) => {}
            }
        }
        if self.at_hand == At::Arriving {
            self.at_hand = At::Item(self.items.len().saturating_sub(1));
        }
    }

    fn ended(&mut self, reason: &TransitionReason, session: &Session) {
        self.end_live();
        if let TransitionReason::Failed(failure) = reason {
            let key = session.profile.as_ref().and_then(|profile| profile.key_env.clone());
            self.push(Item::Failure(failure.clone(), key));
        } else if let Some(note) = ended::note(reason, session) {
            self.push(Item::Note(note, Look::Warning));
        }
    }

    fn end_live(&mut self) {
        self.live = Live::default();
        self.live_number += 1;
    }
}

/// The parameters that are set.
pub(in crate::tui) fn in_words(parameters: &[ParameterValue]) -> String {
    let word = |set: &ParameterValue| format!("{} {}", set.parameter.name(), set.value);
    match parameters {
        [] => say!("no parameters").to_owned(),
        _ => parameters.iter().map(word).collect::<Vec<_>>().join(", "),
    }
}
