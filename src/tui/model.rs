//! What the screen is about: the fold of the records, and the state of each pane. Plain data; what
//! changes it is in `update`, what shows it in `panes`.

use crate::text::{Phrase, phrase, say, translated};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossterm::event::KeyEvent;

use super::RenderCache;
use super::arguments::Ways;
use super::completion::{Completion, Files};
use super::copy::Picker;
use super::keymap::{Context, Keymap};
use super::layout::{Shape, Split};
use super::mouse::Mouse;
use super::panes::approval::{Approval, Field};
use super::panes::conversation::Conversation;
use super::panes::inspector::{Inspector, View};
use super::panes::offer::Offer;
use super::panes::prompt::Prompt;
use super::panes::queue::Queue;
use super::panes::tools::Tools;
use super::popup::Popup;
use super::scroll::Scroll;
use super::search::Search;
use super::theme::Theme;
use crate::approval::Mode;
use crate::conversation::{Command, ParameterValue, Part, Profile, Session, Unsent};

/// What the screen has to be told once.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The working directory as it is shown, the home directory shortened to `~`.
    pub directory: String,
    /// The way to the model at the start.
    pub profile: Profile,
    /// The parameters that are set at the start.
    pub parameters: Vec<ParameterValue>,
    /// Whether commands are asked for.
    pub mode: Mode,
    /// How many turns a prompt may take.
    pub turn_limit: u32,
    /// The keys in force.
    pub keymap: Keymap,
    /// How it looks at the start.
    pub theme: Theme,
}

/// The pane that takes the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Focus {
    Prompt,
    Approval,
    Conversation,
    Tools,
    Inspector,
}

/// What the model is told before the first prompt.
#[derive(Debug)]
pub(super) struct Beginning {
    pub(super) system_prompt: String,
    pub(super) context: Option<String>,
    /// The first request's body, but for the prompt.
    pub(super) parts: Vec<Arc<Part>>,
}

/// All that the screen shows.
#[derive(Debug)]
pub struct Model {
    /// The fold of the records.
    pub session: Session,
    pub(super) setup: Setup,
    pub(super) size: (u16, u16),
    pub(super) focus: Focus,
    pub(super) split: Split,
    pub(super) mouse: Mouse,
    pub(super) conversation: Conversation,
    pub(super) tools: Tools,
    pub(super) inspector: Inspector,
    pub(super) prompt: Prompt,
    pub(super) queue: Queue,
    pub(super) files: Files,
    pub(super) ways: Ways,
    pub(super) beginning: Option<Beginning>,
    pub(super) completion: Option<Completion>,
    /// How many times a call was asked for.
    pub(super) panels: u64,
    /// The call that is asked for.
    pub(super) approval: Option<Approval>,
    /// What could be done after the last failure.
    pub(super) offer: Option<Offer>,
    /// What is looked for, and in which pane.
    pub(super) search: Option<Search>,
    /// The help, when it is open.
    pub(super) help: Option<Scroll>,
    /// The text that lines are chosen from, to be copied.
    pub(super) picker: Option<Picker>,
    /// The list that is open over the screen.
    pub(super) popup: Option<Popup>,
    /// A word to the user, until the next key.
    pub(super) note: Option<String>,
    /// Whether the loop works on a prompt.
    pub(super) running: bool,
    /// The attempt that is waited for, of how many, and when it begins in milliseconds since 1970.
    pub(super) retry: Option<(u32, u32, u64)>,
    /// Where the seconds begin of the clock that runs: a command's, a request's or a wait's.
    pub(super) clock: Option<Instant>,
    /// Whether nothing was posted since the history was cleared.
    pub(super) cleared: bool,
    /// Turns posted for the newest prompt.
    pub(super) turns_of_prompt: u32,
    /// The last key or paste.
    pub(super) last_input: Option<Instant>,
    pub(super) last_key: Option<KeyEvent>,
    /// When Esc was pressed last, if that stopped nothing and no other key came since.
    pub(super) left: Option<Instant>,
    /// When Ctrl-C was pressed without anything left to do but quitting.
    pub(super) interrupted: Option<Instant>,
    /// The draft that it cleared.
    pub(super) cut_draft: String,
}

/// Said where prompts wait that nothing sends by itself.
pub(super) const HELD: Phrase = phrase("Queue held: Enter in an empty prompt sends the next.");

/// How long a command's clock shows tenths.
const PRECISE: Duration = Duration::from_secs(10);

/// How long a second Ctrl-C quits.
pub(super) const TWICE: Duration = Duration::from_secs(2);

impl Model {
    /// The screen of a session without records.
    pub fn new(setup: Setup) -> Self {
        Self {
            session: Session::default(),
            setup,
            size: (80, 24),
            focus: Focus::Prompt,
            split: Split::default(),
            mouse: Mouse::default(),
            conversation: Conversation::default(),
            tools: Tools::default(),
            inspector: Inspector::default(),
            prompt: Prompt::default(),
            queue: Queue::default(),
            files: Files::default(),
            ways: Ways::default(),
            beginning: None,
            completion: None,
            panels: 0,
            approval: None,
            offer: None,
            search: None,
            help: None,
            picker: None,
            popup: None,
            note: None,
            running: false,
            retry: None,
            clock: None,
            cleared: false,
            turns_of_prompt: 0,
            last_input: None,
            last_key: None,
            left: None,
            interrupted: None,
            cut_draft: String::new(),
        }
    }

    /// What takes the keys at this moment.
    pub fn context(&self, now: Instant) -> Context {
        match (&self.help, &self.picker, &self.popup) {
            (Some(_), ..) => Context::Help,
            (None, Some(_), _) => Context::Pick,
            (None, None, Some(_)) => Context::List,
            (None, None, None) => self.behind_help(now),
        }
    }

    /// The completions that are to be seen: where the prompt has the keys, and never beside a call
    /// that waits for a decision.
    pub(super) fn open_completion(&self) -> Option<&Completion> {
        let fits = Shape::of(self.size) != Shape::Small;
        let free = self.focus == Focus::Prompt
            && self.approval.is_none()
            && self.offer.is_none()
            && self.popup.is_none()
            && self.picker.is_none()
            && self.help.is_none();
        self.completion.as_ref().filter(|completion| fits && free && completion.is_open())
    }

    /// What the help is about: the panel whose decision is next, else what takes the keys behind it.
    pub(super) fn helped(&self, now: Instant) -> Context {
        match self.behind_help(now) {
            Context::Prompt | Context::ApprovalWaits if self.panel_is_next() => Context::Approval,
            context => context,
        }
    }

    /// Whether something lies over the panes.
    pub(super) fn is_covered(&self) -> bool {
        self.help.is_some() || self.picker.is_some() || self.popup.is_some()
    }

    /// What takes the keys when the help is closed.
    fn behind_help(&self, now: Instant) -> Context {
        match self.approval.as_ref().and_then(|approval| approval.field.as_ref()) {
            Some(Field::Command(_)) => return Context::CommandField,
            Some(Field::Reason(_)) => return Context::ReasonField,
            None => {}
        }
        let ready = self.approval.as_ref().is_some_and(|approval| approval.is_armed(now));
        match self.focus {
            focus if self.searched(focus).is_some_and(|search| search.typing) => Context::Search,
            Focus::Prompt if ready && self.prompt.is_empty() => Context::Approval,
            Focus::Prompt => Context::Prompt,
            Focus::Approval if ready => Context::Approval,
            Focus::Approval => Context::ApprovalWaits,
            Focus::Conversation => Context::Conversation,
            Focus::Tools if self.tools.opened.is_some() => Context::Call,
            Focus::Tools => Context::Tools,
            Focus::Inspector if self.inspector.view == View::Roles => Context::Inspector,
            Focus::Inspector => Context::Message,
        }
    }

    /// The search in a pane, if the pane has the keys.
    pub(super) fn searched(&self, pane: Focus) -> Option<&Search> {
        self.search.as_ref().filter(|search| search.pane == pane && self.focus == pane)
    }

    /// The pane that takes the keys, or whose search does.
    pub(super) fn pane_with_keys(&self, context: Context) -> Option<Focus> {
        match context {
            Context::Conversation => Some(Focus::Conversation),
            Context::Tools | Context::Call => Some(Focus::Tools),
            Context::Inspector | Context::Message => Some(Focus::Inspector),
            Context::Search => Some(self.focus),
            _ => None,
        }
    }

    /// Whether a decision is taken by the panel without moving to it first.
    pub(super) fn panel_is_next(&self) -> bool {
        self.approval.is_some()
            && (self.focus == Focus::Approval
                || self.focus == Focus::Prompt && self.prompt.is_empty())
    }

    /// The moment at which the screen changes by itself; `None` if it does not.
    pub fn next_wake(&self, now: Instant) -> Option<Instant> {
        let clock = (self.running && self.approval.is_none()).then(|| self.clock_turns(now));
        let approval = self.approval.as_ref().and_then(|approval| approval.next_wake(now));
        let offer = self.offer.as_ref().and_then(|offer| offer.ready_from(self.last_input));
        let offer = offer.filter(|from| *from > now);
        let interrupted = self.interrupted.map(|at| at + TWICE).filter(|until| *until > now);
        [clock, approval, offer, interrupted].into_iter().flatten().min()
    }

    /// When the clock that runs shows another time: tenths of a command's first seconds, else seconds.
    fn clock_turns(&self, now: Instant) -> Instant {
        let since = self.clock.unwrap_or(now);
        let ran = now.saturating_duration_since(since);
        if self.tools.running(&self.session) && ran < PRECISE {
            return now + Duration::from_millis(100);
        }
        if since > now { since } else { since + Duration::from_secs(ran.as_secs() + 1) }
    }

    /// Takes over what drawing found out: where things are. To be called after each frame.
    pub fn frame_drawn(&mut self, cache: &RenderCache) {
        let shown = cache.shown;
        self.size = shown.size;
        self.mouse.areas = shown.areas;
        if let Some((search, found)) = self.search.as_mut().zip(shown.found) {
            search.drawn(found);
            if found.moved && found.total > 0 {
                match search.pane {
                    Focus::Tools if self.tools.opened.is_none() => self.tools.select(found.row),
                    Focus::Tools => self.tools.scroll.stand(),
                    Focus::Inspector if self.inspector.lists(&self.session) => {
                        self.inspector.select(found.row);
                    }
                    Focus::Inspector => self.inspector.scroll.stand(),
                    Focus::Conversation | Focus::Prompt | Focus::Approval => {}
                }
            }
        }
        if let Some(drawn) = shown.conversation {
            self.conversation.drawn(drawn);
        }
        if let Some(measure) = shown.call {
            self.tools.scroll.measured(measure);
        }
        if let Some(measure) = shown.message {
            self.inspector.scroll.measured(measure);
        }
        if let (Some(help), Some(measure)) = (&mut self.help, shown.help) {
            help.measured(measure);
        }
        if let (Some(popup), Some(page)) = (&mut self.popup, shown.popup_page) {
            popup.list.page = page;
        }
        if let (Some(picker), Some(page)) = (&mut self.picker, shown.picker_page) {
            picker.page = page;
        }
        if let Some(page) = shown.tools_page {
            self.tools.page = page;
        }
        if let Some(list) = shown.inspector_list {
            self.inspector.list = list;
        }
    }

    /// Tells the model that the frame drawn last is now on the screen: a command can be allowed only
    /// once it was displayed.
    pub fn frame_shown(&mut self, cache: &RenderCache, now: Instant) {
        let shown = cache.shown;
        if let Some(offer) = &mut self.offer {
            offer.frame_shown(shown.offer, now);
        }
        if let Some(approval) = &mut self.approval {
            approval.frame_shown(shown.approval, now);
        }
    }

    /// The loop could not take a command: nothing is lost.
    pub fn refused(&mut self, command: Command) {
        let mut prompt = None;
        match command {
            Command::Prompt(text) => {
                prompt = Some(text);
                self.running = false;
            }
            Command::Run { command, told } => {
                let mark = if told { "!" } else { "!!" };
                self.prompt.put_back(&format!("{mark}{command}"));
                self.running = false;
            }
            Command::Steer(_) => self.queue.steer_refused(),
            Command::Continue => self.running = false,
            // What was offered is offered again.
            Command::Overlay { .. } => {
                self.running = false;
                self.offer = Offer::of(&self.session);
            }
            Command::Decide { call, .. } => {
                if let Some(approval) = self.approval.as_mut().filter(|a| a.call == call) {
                    approval.decision_refused();
                }
            }
            Command::Clear
            | Command::Revoke
            | Command::Stop
            | Command::Connect(_)
            | Command::Set { .. }
            | Command::ListProfiles
            | Command::ListModels(_) => {}
        }
        self.busy(prompt.as_deref());
    }

    /// Something was not taken; a prompt goes back into the draft.
    pub(super) fn busy(&mut self, prompt: Option<&str>) {
        if let Some(text) = prompt {
            self.prompt.put_back(text);
        }
        self.note = Some(say!("Busy: that was not taken. Try again.").to_owned());
    }

    /// What is typed and not sent.
    pub fn unsent(&self) -> Unsent {
        Unsent { queued: self.queue.all(), draft: self.prompt.unsent() }
    }

    /// How many prompts wait.
    pub fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Takes up what was typed before limpid ended. Nothing runs since then, so that what waits is not
    /// sent unasked, however the loop says that the prompt before it ended.
    pub fn restore(&mut self, unsent: Unsent) {
        self.running = false;
        if !unsent.queued.is_empty() {
            self.note = Some(HELD.text().to_owned());
        }
        self.queue.restore(unsent.queued);
        self.prompt.fill(&unsent.draft);
    }

    /// A word to the user, until the next key.
    pub fn say(&mut self, words: &str) {
        self.note = Some(translated(words).into_owned());
    }

    /// Whether a decision is waited for.
    pub fn asks(&self) -> bool {
        self.approval.is_some()
    }

    /// Whether the loop works on a prompt.
    pub fn is_running(&self) -> bool {
        self.running
    }

    /// The parameters in force.
    pub(super) fn parameters(&self) -> &[ParameterValue] {
        match self.session.profile {
            Some(_) => &self.session.parameters,
            None => &self.setup.parameters,
        }
    }

    /// The profile in force.
    pub(super) fn profile(&self) -> &Profile {
        self.session.profile.as_ref().unwrap_or(&self.setup.profile)
    }
}
