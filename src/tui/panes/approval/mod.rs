//! The acting gate's panel: one call, its whole command, and a person's decision.
//!
//! Keys decide only when the panel is *armed*: this very text has been on the screen, its end was
//! visited, and no key came for [`QUIET`] ms. A deciding key must come alone: another within
//! [`ALONE`] ms makes it a burst (a paste without marks, keys typed ahead), which decides nothing.
//! Enter, Space and pastes never allow.

mod view;

use crate::text::say;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent};

pub(in crate::tui) use view::{Layout, draw, height};

use crate::approval::{Analysis, analyse};
use crate::conversation::{Asker, CallId, Command, Decision, Scope, Session};
use crate::tui::draft::Draft;
use crate::tui::keymap::Action;
use crate::tui::scroll::{Measure, Scroll};

/// How long no key may have come before the panel takes one.
pub(in crate::tui) const QUIET: Duration = Duration::from_millis(500);

/// A tick that comes so much too late tells that the program was held up.
const LATE: Duration = Duration::from_millis(10);

/// How long a deciding key must stay alone.
pub(in crate::tui) const ALONE: Duration = Duration::from_millis(30);

/// The same key again, not sooner than this: a key held down, not a burst.
const REPEAT: Duration = Duration::from_millis(10);

/// A text field over the panel. Keys are text there, and nothing else.
#[derive(Debug)]
pub(in crate::tui) enum Field {
    /// The command, being edited.
    Command(Draft),
    /// The reason of a denial.
    Reason(Draft),
}

/// What was drawn of the panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tui) struct Drawn {
    version: u64,
    measure: Measure,
}

impl Drawn {
    /// Whether the text is longer than the panel.
    pub(in crate::tui) fn scrolls(self) -> bool {
        self.measure.scrolls()
    }
}

/// The state of the panel.
#[derive(Debug)]
pub(in crate::tui) struct Approval {
    pub(in crate::tui) call: CallId,
    /// Which of the reply's calls this is, and how many there are.
    position: (usize, usize),
    proposed: String,
    /// What would run: as proposed, or as edited.
    command: String,
    analysis: Analysis,
    pub(in crate::tui) field: Option<Field>,
    scroll: Scroll,
    /// Tells one text on the screen from another.
    version: u64,
    /// Since when this version is on the screen.
    shown: Option<Instant>,
    /// Rows from the first on that have been on the screen without a gap, of how many.
    seen: (usize, usize),
    /// Whether the last moment of decision was put off, as the program had been held up.
    was_late: bool,
    /// The moment of arming that a tick has confirmed.
    quiet: Option<Instant>,
    /// The last key that was not for the panel.
    disturbed: Option<Instant>,
    /// A key that decides if none follows at once.
    candidate: Option<(Action, KeyEvent, Instant)>,
    /// The last key of a burst.
    burst: Option<Instant>,
    /// Decided, and not yet recorded.
    sent: bool,
}

impl Approval {
    /// The panel for a call; `None` if the records know no command of it. `version` must be larger
    /// than that of any panel before.
    pub(in crate::tui) fn new(
        call: &CallId,
        session: &Session,
        last_input: Option<Instant>,
        version: u64,
    ) -> Option<Self> {
        let log = session.calls.get(call)?;
        let command = log.proposed.command.clone()?;
        let entry = match log.proposed.asker {
            Asker::Model { entry, .. } => session.entries.get(&entry),
            Asker::User { .. } => None,
        };
        let siblings: Vec<&CallId> =
            entry.map(|entry| entry.calls().map(|call| &call.id).collect()).unwrap_or_default();
        let place = siblings.iter().position(|id| *id == call).unwrap_or(0) + 1;
        Some(Self {
            call: call.clone(),
            position: (place, siblings.len().max(1)),
            analysis: analyse(&command),
            proposed: command.clone(),
            command,
            field: None,
            scroll: Scroll::from_top(),
            version,
            shown: None,
            seen: (0, usize::MAX),
            was_late: false,
            quiet: None,
            disturbed: last_input,
            candidate: None,
            burst: None,
            sent: false,
        })
    }

    /// Whether every row of this text has been on the screen.
    fn all_seen(&self) -> bool {
        self.seen.0 >= self.seen.1
    }

    /// Rows that have been seen, of how many, once these are on the screen.
    fn seen_with(&self, measure: Measure) -> (usize, usize) {
        let Measure { top, total, height } = measure;
        // Another width breaks the rows elsewhere: what was seen in part is seen anew.
        let seen = match self.seen {
            _ if self.all_seen() => total,
            (seen, of) if of == total => seen,
            _ => 0,
        };
        (if top <= seen { seen.max(top + height) } else { seen }, total)
    }

    fn is_edited(&self) -> bool {
        self.command != self.proposed
    }

    /// Why the command cannot be allowed for the session; `None` if it can.
    fn not_for_session(&self) -> Option<&'static str> {
        if self.is_edited() {
            Some(say!("not for an edited command"))
        } else if !self.analysis.dangers.is_empty() {
            Some(say!("not for a dangerous command"))
        } else {
            None
        }
    }

    /// When it begins, or began, to take keys, if nothing disturbs it.
    fn armed_from(&self) -> Option<Instant> {
        let shown = self.shown?;
        let since = self.disturbed.map_or(shown, |disturbed| disturbed.max(shown));
        (!self.sent && self.field.is_none()).then_some(since + QUIET)
    }

    /// Whether keys decide now.
    pub(in crate::tui) fn is_armed(&self, now: Instant) -> bool {
        self.armed_from().is_some_and(|from| from <= now && self.quiet == Some(from))
    }

    /// The moment at which the panel changes by itself.
    pub(in crate::tui) fn next_wake(&self, now: Instant) -> Option<Instant> {
        match self.candidate {
            Some((_, _, at)) => Some(at + ALONE),
            None => {
                self.armed_from().filter(|from| self.quiet != Some(*from)).map(|from| from.max(now))
            }
        }
    }

    /// Takes over what is on the screen.
    pub(in crate::tui) fn frame_shown(&mut self, drawn: Option<Drawn>, now: Instant) {
        match drawn.filter(|drawn| drawn.version == self.version) {
            Some(drawn) => {
                self.scroll.measured(drawn.measure);
                self.seen = self.seen_with(drawn.measure);
                self.shown.get_or_insert(now);
            }
            None => self.conceal(),
        }
    }

    /// The panel is not on the screen, or will look otherwise: it has to be shown anew.
    pub(in crate::tui) fn conceal(&mut self) {
        self.shown = None;
        self.candidate = None;
    }

    /// Whether the program was held up past a moment at which time would have decided. Keys that came
    /// meanwhile may still be on their way, so what was waited for is waited for again: once, since on
    /// a machine that is always late nothing would ever be decided.
    fn is_late(&mut self, due: Instant, now: Instant) -> bool {
        self.was_late = now > due + LATE && !self.was_late;
        self.was_late
    }

    /// No key is waiting: arms the panel if it was quiet long enough, and decides if a deciding key
    /// stayed alone long enough.
    pub(in crate::tui) fn tick(&mut self, now: Instant) -> Option<Command> {
        if let Some(due) = self.armed_from().filter(|due| *due <= now && self.quiet != Some(*due)) {
            if self.is_late(due, now) {
                self.disturbed = Some(now);
            } else {
                self.quiet = Some(due);
            }
        }
        let (action, key, at) = self.candidate?;
        if now < at + ALONE {
            return None;
        }
        if self.is_late(at + ALONE, now) {
            self.candidate = Some((action, key, now));
            return None;
        }
        self.candidate = None;
        match action {
            Action::AllowOnce => self.allow(Scope::Once),
            Action::AllowSession => self.allow(Scope::Session),
            Action::Edit => {
                self.field = Some(Field::Command(Draft::with_text(&self.command)));
                None
            }
            Action::DenyWithReason => {
                self.field = Some(Field::Reason(Draft::default()));
                None
            }
            _ => self.decide(Decision::Deny { reason: None }),
        }
    }

    fn allow(&mut self, scope: Scope) -> Option<Command> {
        if !self.all_seen() || scope == Scope::Session && self.not_for_session().is_some() {
            return None;
        }
        self.shown?;
        self.decide(Decision::Allow { command: self.command.clone(), scope })
    }

    fn decide(&mut self, decision: Decision) -> Option<Command> {
        if self.sent {
            return None;
        }
        self.sent = true;
        Some(Command::Decide { call: self.call.clone(), decision })
    }

    /// The decision did not reach the loop.
    pub(in crate::tui) fn decision_refused(&mut self) {
        self.sent = false;
    }

    /// A key or a paste that is not for the panel: it breaks off what was about to be decided.
    pub(in crate::tui) fn disturb(&mut self, now: Instant) {
        self.disturbed = Some(now);
        self.candidate = None;
    }

    /// Takes note of any key before it is used; says whether it belongs to a burst and means
    /// nothing.
    pub(in crate::tui) fn is_burst(&mut self, key: KeyEvent, now: Instant) -> bool {
        if self.burst.is_some_and(|last| now.duration_since(last) < ALONE) {
            self.burst = Some(now);
            self.disturbed = Some(now);
            return true;
        }
        self.burst = None;
        let Some((_, candidate, at)) = self.candidate else { return false };
        let held = candidate.code == key.code && now.duration_since(at) >= REPEAT;
        if !held {
            self.candidate = None;
            self.burst = Some(now);
            self.disturbed = Some(now);
        }
        true
    }

    /// A paste over the panel: it, and keys that come with it, mean nothing.
    pub(in crate::tui) fn paste_ignored(&mut self, now: Instant) {
        self.candidate = None;
        self.burst = Some(now);
        self.disturbed = Some(now);
    }

    /// A deciding key. `alone` says that no key came just before it. Returns a word to the user if
    /// the choice is not offered.
    pub(in crate::tui) fn choose(
        &mut self,
        action: Action,
        key: KeyEvent,
        alone: bool,
        now: Instant,
    ) -> Option<String> {
        let allows = matches!(action, Action::AllowOnce | Action::AllowSession);
        if !alone {
            self.burst = Some(now);
            self.disturbed = Some(now);
            return Some(say!("Keys that come in a burst decide nothing.").to_owned());
        }
        if allows && !self.all_seen() {
            return Some(say!("Scroll through the whole command to allow it (PgDn).").to_owned());
        }
        if action == Action::AllowSession
            && let Some(why) = self.not_for_session()
        {
            let pressed = match key.code {
                KeyCode::Char(c) => c.to_string(),
                _ => String::new(),
            };
            return Some(say!("\"{key}\" is not offered: {why}.", key = pressed, why = why));
        }
        self.candidate = Some((action, key, now));
        None
    }

    /// Moves through the command.
    pub(in crate::tui) fn scroll(&mut self, action: Action) {
        self.scroll.act(action);
    }

    /// Leaves the field as if it had not been opened.
    pub(in crate::tui) fn leave_field(&mut self, now: Instant) {
        self.field = None;
        self.conceal();
        self.disturbed = Some(now);
    }

    /// Hands over what stands in the field, if that is on the screen. An edited command is looked at
    /// and shown anew before anything can run; an empty one stays in the field.
    pub(in crate::tui) fn submit_field(&mut self, now: Instant) -> Option<Command> {
        self.shown?;
        match &self.field {
            Some(Field::Command(draft)) => {
                let text = draft.text();
                if text.trim().is_empty() {
                    return None;
                }
                self.analysis = analyse(&text);
                self.command = text;
                self.version += 1;
                self.scroll = Scroll::from_top();
                self.seen = (0, usize::MAX);
                self.leave_field(now);
                None
            }
            Some(Field::Reason(draft)) => {
                let reason = draft.text();
                let reason = Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty());
                self.field = None;
                self.decide(Decision::Deny { reason })
            }
            None => None,
        }
    }

    /// The draft of the open field.
    pub(in crate::tui) fn draft_mut(&mut self) -> Option<&mut Draft> {
        match &mut self.field {
            Some(Field::Command(draft) | Field::Reason(draft)) => Some(draft),
            None => None,
        }
    }
}
