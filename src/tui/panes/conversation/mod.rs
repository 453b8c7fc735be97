//! The conversation: what the user and the model said, in order, with a separator for each turn and
//! a line for each call. Items are never changed once they are there; calls look up their state.

mod view;

use std::sync::Arc;

pub(in crate::tui) use view::{Layout, draw};

use crate::conversation::{
    Block, CallFinished, CallId, Entry, Event, Failure, Origin, ParameterValue, Progress, Record,
    Role, Session, TransitionReason, TurnNumber,
};
use crate::text;
use crate::tui::scroll::Scroll;
use crate::tui::theme::Look;
use crate::wire::outline;

/// One thing in the conversation.
#[derive(Debug)]
enum Item {
    /// What the user submitted.
    Prompt(Arc<Entry>),
    /// A request was posted.
    Turn { number: TurnNumber, posted: String, roles: String, bytes: u64 },
    /// What the model answered; `head` puts its name above.
    Reply { entry: Arc<Entry>, head: bool },
    /// A call of the model; one row that shows how it goes.
    Call(CallId),
    /// What came of a command of the user's own.
    Output { text: String, told: bool },
    /// A remark of limpid's.
    Note(String, Look),
    /// The exchange failed.
    Failure(Failure),
}

/// Repairs of a turn that are named; the inspector has all.
const REPAIRS: usize = 3;

/// The reply that is arriving.
#[derive(Debug, Default)]
struct Live {
    reasoning: String,
    text: String,
    /// Calls that are arriving: name and bytes of arguments.
    calls: Vec<(String, usize)>,
}

impl Live {
    fn is_empty(&self) -> bool {
        self.reasoning.is_empty() && self.text.is_empty() && self.calls.is_empty()
    }
}

/// The state of the pane.
#[derive(Debug)]
pub(in crate::tui) struct Conversation {
    items: Vec<Item>,
    live: Live,
    /// Counts the replies, so that a drawing of one is not taken for that of the next.
    live_number: u64,
    /// Whether the model's name stands above what it said since the last prompt.
    headed: bool,
    /// What came of the user's own command that ran last: the entry that tells the model of it has
    /// the same words, and is not shown a second time.
    own: Option<String>,
    /// Counts the overlays: what is laid out says which are not sent.
    overlays: u64,
    pub(in crate::tui) scroll: Scroll,
}

impl Default for Conversation {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            live: Live::default(),
            live_number: 0,
            headed: false,
            own: None,
            overlays: 0,
            scroll: Scroll::following(),
        }
    }
}

impl Conversation {
    /// Whether text of the model is arriving.
    pub(in crate::tui) fn is_streaming(&self) -> bool {
        !self.live.is_empty()
    }

    /// Says something that is not part of the session.
    pub(in crate::tui) fn note(&mut self, note: String) {
        self.items.push(Item::Note(note, Look::Dim));
        self.scroll.go_to_end();
    }

    /// Takes an event; `session` has taken it already.
    pub(in crate::tui) fn event(&mut self, event: &Event, session: &Session) {
        match event {
            Event::Record(stamped) => self.record(&stamped.record, session),
            Event::Progress(Progress::Text(piece)) => self.live.text.push_str(piece),
            Event::Progress(Progress::Reasoning(piece)) => self.live.reasoning.push_str(piece),
            Event::Progress(Progress::CallPiece { index, name, arguments }) => {
                if self.live.calls.len() <= *index {
                    self.live.calls.resize(*index + 1, (String::new(), 0));
                }
                let call = &mut self.live.calls[*index];
                call.0.clone_from(name);
                call.1 += arguments.len();
            }
            Event::Progress(Progress::Notice(notice)) => {
                self.items.push(Item::Note(notice.clone(), Look::Warning));
            }
            Event::Progress(Progress::Waiting { attempt, of, ms, why, .. }) => {
                self.end_live();
                let wait = text::duration(*ms);
                let note = format!("{why} Attempt {attempt} of {of} follows in {wait}.");
                self.items.push(Item::Note(note, Look::Warning));
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
                self.items.push(Item::Note(
                    "── history cleared: the model remembers nothing of the above ──".to_owned(),
                    Look::Dim,
                ));
                self.headed = false;
            }
            Record::Revoked => {
                let note = "── from here on every command asks again ──";
                self.items.push(Item::Note(note.to_owned(), Look::Dim));
            }
            Record::Request(request) => self.items.push(turn(request.turn, session)),
            Record::Repair { turn, repair } => {
                let count = session.turn(*turn).map_or(0, |turn| turn.repairs.len());
                let note = match count {
                    0..=REPAIRS => format!("! repair: {}", repair.what),
                    _ if count == REPAIRS + 1 => "! more repairs: see the inspector".to_owned(),
                    _ => return,
                };
                self.items.push(Item::Note(note, Look::Warning));
            }
            // The first one is where the session begins.
            Record::Profile(profile) if !session.turns.is_empty() => {
                let note = format!("── from here on: {} · {} ──", profile.shown(), profile.format);
                self.items.push(Item::Note(note, Look::Dim));
            }
            Record::Parameters(parameters) if !session.turns.is_empty() => {
                let note = format!("── from here on: {} ──", in_words(parameters));
                self.items.push(Item::Note(note, Look::Dim));
            }
            Record::Attempt { .. } => self.end_live(),
            Record::CallProposed(proposed) => {
                self.items.push(Item::Call(proposed.call.clone()));
            }
            Record::CallFinished(CallFinished { output: Some(text), receipt, .. }) => {
                let told = receipt.sent > 0;
                self.items.push(Item::Output { text: text.clone(), told });
                self.own = told.then(|| text.clone());
                self.headed = false;
            }
            Record::Overlay { .. } => self.overlays += 1,
            Record::Ended(reason) => self.ended(reason),
            _ => {}
        }
    }

    fn entry(&mut self, entry: &Arc<Entry>) {
        match (entry.role, entry.origin) {
            (Role::User, Origin::User)
                if self.own.take().is_some_and(|own| own == entry.text()) => {}
            (Role::User, Origin::User) => {
                self.items.push(Item::Prompt(entry.clone()));
                self.headed = false;
            }
            (Role::Assistant, _) => {
                self.end_live();
                let speaks = entry.blocks.iter().any(|block| !matches!(block, Block::Call(_)));
                if speaks || !self.headed {
                    let head = !self.headed;
                    self.headed = true;
                    self.items.push(Item::Reply { entry: entry.clone(), head });
                }
            }
            (Role::User, Origin::Context) => {
                let text = entry.text();
                let names = text.lines().next().unwrap_or_default().trim_end_matches(':');
                self.items.push(Item::Note(format!("context, to the model: {names}"), Look::Dim));
            }
            (Role::User, origin) => {
                let note = format!("{}, to the model: {}", origin.word(), entry.text());
                self.items.push(Item::Note(note, Look::Dim));
            }
            (Role::System | Role::Tool, _) => {}
        }
    }

    fn ended(&mut self, reason: &TransitionReason) {
        self.end_live();
        let note = match reason {
            TransitionReason::Answered
            | TransitionReason::ToolResult
            | TransitionReason::Paused => {
                return;
            }
            TransitionReason::Failed(failure) => {
                self.items.push(Item::Failure(failure.clone()));
                return;
            }
            TransitionReason::EmptyReply => {
                "The model returned nothing. /continue asks it once more.".to_owned()
            }
            TransitionReason::Stopped => {
                "Stopped. What had arrived is kept. /continue goes on.".to_owned()
            }
            TransitionReason::TurnLimit(limit) => {
                format!("Stopped after {limit} turns, the limit for one prompt. /continue goes on.")
            }
            TransitionReason::RepeatedDenial => {
                "Stopped: the model proposed the same command again after it had been denied \
                 twice. Tell it what to do instead."
                    .to_owned()
            }
        };
        self.items.push(Item::Note(note, Look::Warning));
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
        [] => "no parameters".to_owned(),
        _ => parameters.iter().map(word).collect::<Vec<_>>().join(", "),
    }
}

fn turn(number: TurnNumber, session: &Session) -> Item {
    let parts = session.parts_of(number);
    let count = outline::message_count(&parts);
    let messages = if count == 1 { "message" } else { "messages" };
    Item::Turn {
        number,
        posted: format!("turn {number} → {count} {messages}"),
        roles: outline::roles(&parts),
        bytes: session.turn(number).map_or(0, |turn| turn.request.bytes),
    }
}

/// The separator of a turn, as much of it as there is room for.
fn separator(posted: &str, roles: &str, bytes: u64, repairs: usize, columns: usize) -> String {
    let bytes = text::bytes(bytes);
    let counted = counts(roles);
    let repaired = match repairs {
        0 => String::new(),
        1 => " · 1 repair".to_owned(),
        _ => format!(" · {repairs} repairs"),
    };
    let forms = [
        format!("── {posted}: {roles} · {bytes}{repaired} ──"),
        format!("── {posted}: {roles}{repaired} ──"),
        format!("── {posted}: {counted} · {bytes}{repaired} ──"),
        format!("── {posted}: {counted}{repaired} ──"),
        // Which repairs there are stands below in any case.
        format!("── {posted}: {counted} ──"),
        format!("── {posted} · {bytes}{repaired} ──"),
    ];
    let fits = forms.iter().find(|form| text::width(form) <= columns);
    fits.cloned().unwrap_or_else(|| text::fit(&forms[5], columns).into_owned())
}

/// How often each role occurs, in order of appearance: `system user assistant×3 tool×3`.
fn counts(roles: &str) -> String {
    let mut counted: Vec<(&str, usize)> = Vec::new();
    for word in roles.split(' ') {
        let (role, times) = word.split_once('×').unwrap_or((word, "1"));
        let times = times.parse().unwrap_or(1);
        match counted.iter_mut().find(|(known, _)| *known == role) {
            Some((_, count)) => *count += times,
            None => counted.push((role, times)),
        }
    }
    let word = |(role, count): (&str, usize)| match count {
        1 => role.to_owned(),
        _ => format!("{role}×{count}"),
    };
    counted.into_iter().map(word).collect::<Vec<_>>().join(" ")
}
