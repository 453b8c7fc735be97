//! The inspector: what the model was told in each turn, and what it answered. Six views of a turn:
//! its messages in rows whose bytes add up to the body, one message, the difference to the turn
//! before, the request and the response as they went over the wire, and what they cost. Here: which
//! turn and view is shown, and what has to be read for it. How it is drawn is `view`'s.

mod before;
mod copied;
mod diff;
mod tabs;
mod view;
mod wrong;

use std::time::{Duration, Instant};

pub(in crate::tui) use view::{Layout, draw, title};
pub(in crate::tui) use wrong::went_wrong;

use crate::conversation::{EntryId, Session, Turn, TurnNumber};
use crate::tui::exchanged::Effect;
use crate::tui::keymap::Action;
use crate::tui::scroll::Scroll;
use crate::wire::exchange::Kept;
use crate::wire::{rows_of_turn, to_send_again};

/// How often a response that still arrives is read again.
const AGAIN: Duration = Duration::from_millis(250);

/// What is shown of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tui) enum View {
    /// A row for each message.
    Roles,
    /// The selected row's content.
    Message,
    /// What differs from the turn before.
    Diff,
    /// URL, headers, body.
    Request,
    /// Status, headers, raw events.
    Response,
    /// Tokens, times, bytes.
    Usage,
}

impl View {
    /// All, in the order of their keys.
    pub(in crate::tui) const ALL: [Self; 6] =
        [Self::Roles, Self::Message, Self::Diff, Self::Request, Self::Response, Self::Usage];
}

/// The state of the pane.
#[derive(Debug)]
pub(in crate::tui) struct Inspector {
    /// The turn shown; `None` is the newest.
    turn: Option<TurnNumber>,
    /// The turn that it is compared with; `None` is the one before.
    base: Option<TurnNumber>,
    /// Whether closing what is open goes back to the newest turn.
    was_newest: bool,
    selected: usize,
    /// The first row of the list that is shown; `None`: as many of the newest messages as fit.
    top: Option<usize>,
    pub(in crate::tui) view: View,
    /// Whether a message is shown as its exact JSON.
    pub(in crate::tui) exact: bool,
    /// Whether Esc leads back to the message, from where another view was opened.
    from_message: bool,
    pub(in crate::tui) scroll: Scroll,
    /// The list as it was drawn last.
    pub(in crate::tui) list: List,
    read: Read,
    /// What the user was told would be sent again.
    pub(in crate::tui) asked: Option<Vec<EntryId>>,
}

/// What was read of the responses.
#[derive(Debug, Default)]
struct Read {
    /// What the session's directory holds of the responses of a turn, once it was read.
    kept: Option<(TurnNumber, Vec<(u32, Kept)>)>,
    /// Counts the readings.
    version: u64,
    /// What was asked for last, and when.
    asked: Option<(Reading, Instant)>,
    /// Whether the answer has not come yet. Nothing else is asked for before, so that no answer
    /// overtakes another.
    awaits: bool,
}

/// What a reading was for: the turn, its attempts, and whether the last one had ended.
type Reading = (TurnNumber, usize, bool);

/// How many rows a list has, how many fit, and the first that is shown.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::tui) struct List {
    rows: usize,
    page: usize,
    top: usize,
    /// Whether something of the chosen row can be sent again.
    again: bool,
}

impl List {
    /// Whether something of the row that keys are about is not sent as it was.
    pub(in crate::tui) fn sends_again(self) -> bool {
        self.again
    }

    /// A row that is in sight: this one, or the nearest to it.
    fn nearest(self, row: usize) -> usize {
        let last = (self.top + self.page.max(1)).min(self.rows).saturating_sub(1);
        row.clamp(self.top.min(last), last)
    }

    /// The first row to show, moved as little as it takes to have a row in sight.
    fn with(self, row: usize) -> usize {
        self.top.clamp((row + 1).saturating_sub(self.page.max(1)), row)
    }
}

impl Default for Inspector {
    fn default() -> Self {
        Self {
            turn: None,
            base: None,
            was_newest: false,
            selected: 0,
            top: None,
            view: View::Roles,
            exact: false,
            from_message: false,
            scroll: Scroll::from_top(),
            list: List::default(),
            read: Read::default(),
            asked: None,
        }
    }
}

impl Inspector {
    /// The turn shown.
    fn turn<'a>(&self, session: &'a Session) -> Option<&'a Turn> {
        match self.turn {
            Some(number) => session.turn(number),
            None => session.turns.last(),
        }
    }

    /// Takes a key that means something here.
    pub(in crate::tui) fn act(&mut self, action: Action, session: &Session) {
        match action {
            Action::PreviousTurn => return self.turn_by(-1, session),
            Action::NextTurn => return self.turn_by(1, session),
            Action::EarlierBase if self.view == View::Diff => return self.base_by(-1, session),
            Action::LaterBase if self.view == View::Diff => return self.base_by(1, session),
            Action::Show(view) => return self.open(view, session),
            Action::NextView => {
                let at = View::ALL.iter().position(|view| *view == self.view).unwrap_or(0);
                return self.open(View::ALL[(at + 1) % View::ALL.len()], session);
            }
            _ => {}
        }
        match self.view {
            View::Roles if session.turns.is_empty() => self.scroll.act(action),
            View::Roles if action == Action::Open => self.open(View::Message, session),
            View::Roles => self.move_selection(action),
            view => match action {
                Action::Back if self.from_message && view != View::Message => {
                    self.open(View::Message, session);
                }
                Action::Back => self.open(View::Roles, session),
                Action::Raw if view == View::Message => {
                    self.exact = !self.exact;
                    self.scroll = Scroll::from_top();
                }
                _ => self.scroll.act(action),
            },
        }
    }

    /// Opens a view of the same turn. What is being read stays, also when the next turn comes.
    fn open(&mut self, view: View, session: &Session) {
        if view == self.view || view == View::Message && self.list.rows == 0 {
            return;
        }
        self.selected = self.chosen();
        match (self.view, view) {
            (_, View::Roles) if std::mem::take(&mut self.was_newest) => self.turn = None,
            (View::Roles, _) => {
                self.was_newest = self.turn.is_none();
                self.turn = self.turn(session).map(|turn| turn.number);
            }
            _ => {}
        }
        match (self.view, view) {
            (_, View::Roles | View::Message) => self.from_message = false,
            (View::Message, _) => self.from_message = true,
            _ => {}
        }
        if view == View::Roles {
            self.exact = false;
            self.base = None;
        }
        self.view = view;
        self.start(session);
    }

    /// Where reading begins: at the top, but with the end of what still arrives.
    fn start(&mut self, session: &Session) {
        let arrives = self
            .turn(session)
            .is_some_and(|turn| !turn.exchanges.is_empty() && turn.response().is_none());
        self.scroll = match self.view {
            View::Response if arrives => Scroll::following(),
            _ => Scroll::from_top(),
        };
    }

    /// Shows the newest turn again, unless something is open: that is being read.
    pub(in crate::tui) fn follow(&mut self) {
        self.top = None;
        if self.view == View::Roles {
            self.turn = None;
        } else {
            self.was_newest = true;
        }
    }

    fn turn_by(&mut self, by: i64, session: &Session) {
        let Some(newest) = session.turns.last().map(|turn| turn.number.0) else { return };
        let shown = self.turn.map_or(newest, |turn| turn.0);
        let to = (i64::from(shown) + by).clamp(1, i64::from(newest));
        self.go_to(TurnNumber(u32::try_from(to).unwrap_or(newest)), session);
    }

    /// Shows a turn, in the same view.
    pub(in crate::tui) fn go_to(&mut self, turn: TurnNumber, session: &Session) {
        let is_newest = session.turns.last().is_some_and(|newest| newest.number == turn);
        let follows = is_newest && self.view == View::Roles;
        self.was_newest = is_newest && self.view != View::Roles;
        self.turn = if follows { None } else { Some(turn) };
        self.start(session);
    }

    /// The turn that this one is compared with. The one marked is an earlier one, or does not count.
    fn base_of(&self, turn: TurnNumber) -> TurnNumber {
        let before = TurnNumber(turn.0.saturating_sub(1));
        self.base.map_or(before, |base| base.min(before))
    }

    /// Whether there is another turn to compare with, for a key that chooses one.
    pub(in crate::tui) fn compares(&self, action: Action, session: &Session) -> bool {
        let turn = self.turn(session).filter(|_| self.view == View::Diff);
        turn.map(|turn| turn.number).is_some_and(|turn| match action {
            Action::EarlierBase => self.base_of(turn).0 > 1,
            _ => self.base_of(turn).0 + 1 < turn.0,
        })
    }

    fn base_by(&mut self, by: i32, session: &Session) {
        let Some(turn) = self.turn(session).map(|turn| turn.number) else { return };
        let before = turn.0.saturating_sub(1);
        let to = self.base_of(turn).0.saturating_add_signed(by).clamp(1.min(before), before);
        self.base = (to < before).then_some(TurnNumber(to));
        self.start(session);
    }

    /// Whether a list of rows is shown, not a text.
    pub(in crate::tui) fn lists(&self, session: &Session) -> bool {
        self.view == View::Roles && !session.turns.is_empty()
    }

    /// Whether it shows anything but the newest turn's list.
    pub(in crate::tui) fn is_opened(&self) -> bool {
        self.turn.is_some() || self.view != View::Roles
    }

    /// Selects a row of the list, and brings it in sight.
    pub(in crate::tui) fn select(&mut self, row: usize) {
        self.selected = row;
        self.top = Some(self.list.with(row));
    }

    /// The row that keys are about. In the list that is one in sight.
    fn chosen(&self) -> usize {
        match self.view {
            View::Roles => self.list.nearest(self.selected),
            _ => self.selected.min(self.list.rows.saturating_sub(1)),
        }
    }

    /// What of the row that keys are about has to be sent again for it to be what it was.
    pub(in crate::tui) fn to_send_again(&self, session: &Session) -> Vec<EntryId> {
        let shows_row = matches!(self.view, View::Roles | View::Message);
        let Some(turn) = self.turn(session).filter(|_| shows_row) else { return Vec::new() };
        let parts = session.parts_of(turn.number);
        let rows = rows_of_turn(turn, &parts, &session.parts_sent_before(turn.number), session);
        rows.get(self.chosen()).map_or_else(Vec::new, |row| to_send_again(row, session))
    }

    fn move_selection(&mut self, action: Action) {
        let last = self.list.rows.saturating_sub(1);
        let (chosen, page) = (self.chosen(), self.list.page.max(1));
        self.select(match action {
            Action::Up => chosen.saturating_sub(1),
            Action::Down => (chosen + 1).min(last),
            Action::PageUp => chosen.saturating_sub(page),
            Action::PageDown => (chosen + page).min(last),
            Action::Start => 0,
            Action::End => last,
            _ => return,
        });
    }

    /// What has to be read for what is shown.
    pub(in crate::tui) fn wanted(&mut self, session: &Session, now: Instant) -> Option<Effect> {
        let turn = self.turn(session).filter(|_| self.view == View::Response);
        let Some(turn) = turn.filter(|turn| !turn.exchanges.is_empty()) else {
            (self.read.kept, self.read.asked) = (None, None);
            return None;
        };
        let ended = turn.response().is_some();
        let reading: Reading = (turn.number, turn.exchanges.len(), ended);
        let fresh =
            |(asked, at): &(Reading, Instant)| *asked == reading && (ended || now < *at + AGAIN);
        if self.read.awaits || self.read.asked.as_ref().is_some_and(fresh) {
            return None;
        }
        self.read.asked = Some((reading, now));
        self.read.awaits = true;
        let attempts = turn.exchanges.iter().map(|exchange| exchange.attempt).collect();
        Some(Effect::ReadExchanges { turn: turn.number, attempts })
    }

    /// Takes what was read.
    pub(in crate::tui) fn take(&mut self, turn: TurnNumber, kept: Vec<(u32, Kept)>) {
        self.read.kept = Some((turn, kept));
        self.read.version += 1;
        self.read.awaits = false;
    }
}
