//! The event loop: keys, events of the agent, signals and timers go into the model; frames and
//! commands come out. What they mean is `tui`'s; how the terminal is held is in `terminal`.
//!
//! A key is drawn at once; what streams in waits for the next frame, at most 30 a second; an idle
//! program never wakes.

mod borrower;
mod burst;
mod canvas;
mod clipboard;
mod drafts;
mod editor;
mod keys;
mod leave;
mod lending;
mod lookup;
mod moved;
mod notify;
mod pen;
#[cfg(debug_assertions)]
mod provoked;
mod reports;
mod signals;
mod stdio;
mod stray;
mod suspend;
mod terminal;
mod themes;
mod unsent;

use std::collections::VecDeque;
use std::io;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crossterm::event::Event as TerminalEvent;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::mpsc::{self, error::TrySendError};

use crate::agent::{Handle, now_ms};
use crate::cli::{Start, runtime, usage};
use crate::conversation::{Event, Progress};
use crate::session::{Reopened, reopen};
use crate::text::{self, Show};
use crate::tui::{self, Effect, Input, Model, RenderCache, Setup, Theme};
use burst::Bursts;
use keys::{Keys, waiting};
use leave::{Left, Saved};
use lending::{Lend, take};
use notify::{Caller, Doing, Means};
use signals::{Asked, Signals};
use terminal::Screen;
pub(crate) use terminal::unfit;
use themes::Themes;
use unsent::Keeper;

/// Shortest time between a frame and the next one of what streams in. Twice as many would cost twice
/// as much, and be no easier to read.
const FRAME: Duration = Duration::from_millis(33);

/// Events of the terminal that are taken between two frames.
const BATCH: usize = 4096;

/// As many may be all that fits into one read: more may wait.
const MANY: usize = 64;

/// Makes ready to go on with a session, or says why that cannot be; all is as before then.
pub(crate) type GoOn = dyn Fn(Reopened) -> Result<Start, String>;

/// Opens the screen, on a terminal that is fit for it, and once more for each session that the user goes
/// on with from within it, until the user leaves.
///
/// # Errors
/// What the terminal or the runtime says; the terminal is given back before.
pub(crate) fn run(start: Start, go_on: &Rc<GoOn>) -> color_eyre::Result<ExitCode> {
    let runtime = runtime()?;
    let _within = runtime.enter();
    // First of all: from here on a signal ends limpid in good order.
    let mut signals = Signals::listen()?;
    // They stay: to drop crossterm's reader and make it anew is a race.
    let mut keys = None;
    let mut start = start;
    loop {
        let themes = Themes::new(start.themes.clone(), |name| std::env::var(name).ok());
        let theme = match themes.first(start.theme.as_deref()) {
            Ok(theme) => theme,
            Err(why) => return usage(&format!("{why}. Nothing was started")),
        };
        reports::install(start.secrets.clone());
        let app = App::open(&start, (themes, theme), go_on.clone());
        let lived = app
            .and_then(|app| runtime.block_on(Box::pin(live(app, start, &mut signals, &mut keys))));
        terminal::restore();
        let (left, mut saved) = match lived {
            Err(_) if signals.terminal_is_gone() => (Left::HungUp, Saved::default()),
            Ok((Left::Failed(_), saved)) if signals.terminal_is_gone() => (Left::HungUp, saved),
            lived => lived?,
        };
        left.tell(&saved);
        match saved.next.take() {
            Some(next) => start = *next,
            None => return Ok(left.code()),
        }
    }
}

/// Lives until the user leaves; then everything that ran has ended.
async fn live(
    mut app: App,
    start: Start,
    signals: &mut Signals,
    keys: &mut Option<Keys>,
) -> io::Result<(Left, Saved)> {
    app.draw()?;
    drafts::look(app.answers.0.clone());
    let mut handle = start.spawn(true).await?;
    let (saved_in, in_part) = (handle.saved_in.clone(), handle.saved_in_part.clone());
    let lived = AssertUnwindSafe(app.events(&mut handle, signals, keys)).catch_unwind().await;
    terminal::restore();
    let left = match lived {
        _ if reports::is_broken() => Left::Broken,
        Ok(Ok(left)) => left,
        Ok(Err(error)) => Left::Failed(error),
        Err(_) => Left::Broken,
    };
    tracing::info!(?left, "leaving");
    let session = saved_in.get().cloned();
    // The farewell says what became of it.
    let _ = app.keeper.keep(&app.model, session.as_deref());
    let unsent = session.as_ref().and_then(|_| app.keeper.has_kept(&app.model));
    let aside = || if session.is_none() { unsent::set_aside(&app.model) } else { None };
    let draft = app.kept.take().or_else(aside);
    leave::stop(handle, signals).await;
    let in_part = in_part.load(Ordering::Relaxed);
    let next = app.next.take().filter(|_| matches!(left, Left::Quit));
    Ok((left, Saved { session, in_part, unsent, draft, next }))
}

struct App {
    screen: Screen,
    model: Model,
    themes: Themes,
    cache: RenderCache,
    bursts: Bursts,
    caller: Caller,
    /// When what streams in may be drawn.
    rested: Instant,
    /// Whether the terminal has not taken the last frame yet.
    unseen: bool,
    directory: PathBuf,
    /// What was asked for and is done in the background.
    answers: (mpsc::Sender<Input>, mpsc::Receiver<Input>),
    /// Whether the user gave limpid the mouse.
    mouse: bool,
    /// What the terminal is to be lent for.
    lend: Option<Lend>,
    /// The draft that an editor had open when limpid ended.
    kept: Option<PathBuf>,
    keeper: Keeper,
    /// The session that follows this one.
    next: Option<Box<Start>>,
    go_on: Rc<GoOn>,
}

impl App {
    /// Takes the terminal.
    fn open(start: &Start, (themes, theme): (Themes, Theme), go_on: Rc<GoOn>) -> io::Result<Self> {
        let directory = shown(&start.directory);
        let means = Means::new(start.notify, start.title, |name| std::env::var(name).ok());
        let safe = text::visible(&directory, Show::Prose).into_owned();
        let mut caller = Caller::new(means, safe);
        take(&mut caller)?;
        let asked = start.theme.as_ref().filter(|asked| **asked != theme.name);
        let other = asked.map(|asked| themes.read(asked));
        let mut model = Model::new(Setup {
            directory,
            profile: start.profile.clone(),
            parameters: start.parameters(),
            mode: start.mode,
            turn_limit: start.turn_limit,
            keymap: start.keymap.clone(),
            theme,
        });
        tui::replay(&mut model, start.records(), Instant::now());
        model.restore(start.unsent());
        if let Some(refused) = other {
            tui::update(&mut model, Input::Theme(refused), Instant::now());
        }
        Ok(Self {
            screen: Screen::default(),
            model,
            themes,
            cache: RenderCache::default(),
            bursts: Bursts::default(),
            caller,
            rested: Instant::now(),
            unseen: false,
            directory: start.directory.clone(),
            answers: mpsc::channel(4),
            mouse: false,
            lend: None,
            kept: None,
            keeper: Keeper::new(start.unsent()),
            next: None,
            go_on,
        })
    }

    async fn events(
        &mut self,
        handle: &mut Handle,
        signals: &mut Signals,
        keys: &mut Option<Keys>,
    ) -> io::Result<Left> {
        if signals.terminal_is_gone() {
            return Ok(Left::HungUp);
        }
        let keys = match keys {
            Some(keys) => keys,
            None => keys.insert(keys::keys()?),
        };
        let mut arrived = Vec::new();
        let mut stale = false;
        loop {
            let now = Instant::now();
            let behind = terminal::is_behind();
            if self.unseen && !behind {
                // What changed meanwhile waits for its own frame.
                if !stale {
                    self.seen()?;
                }
                self.unseen = false;
            }
            let frame = match (behind, stale) {
                (true, _) => None,
                (false, true) => Some(self.rested),
                (false, false) => self.model.next_wake(now),
            };
            let wake = [frame, self.bursts.due()].into_iter().flatten().min();
            let keep = self.keeper.due();
            let inputs: Vec<Input> = tokio::select! {
                biased;
                () = reports::broke() => return Ok(Left::Broken),
                asked = signals.next() => match asked {
                    Asked::HungUp => return Ok(Left::HungUp),
                    Asked::End(signal) => return Ok(Left::Signal(signal)),
                    Asked::Stop => match self.stop(signals).await? {
                        Ok(inputs) => inputs,
                        Err(left) => return Ok(left),
                    },
                    Asked::WentOn => self.come_back()?,
                },
                event = keys.next() => match self.batch(event, keys).await? {
                    None => return Ok(Left::HungUp),
                    Some(inputs) => inputs,
                },
                Some(answer) = self.answers.1.recv() => vec![answer],
                () = terminal::takes_more(), if behind => {
                    terminal::write(&[])?;
                    Vec::new()
                }
                () = sleep_until(keep) => {
                    let session = handle.saved_in.get().map(PathBuf::as_path);
                    let failed = self.keeper.keep(&self.model, session);
                    failed.map(Input::Told).into_iter().collect()
                }
                () = sleep_until(wake) => {
                    let complete = self.bursts.due().is_some_and(|due| due <= Instant::now());
                    let pasted = if complete { self.bursts.release() } else { None };
                    vec![pasted.unwrap_or(Input::Tick)]
                }
                count = handle.events.recv_many(&mut arrived, 256) => {
                    if count == 0 {
                        return Err(io::Error::other("the background task ended"));
                    }
                    stale = true;
                    for event in arrived.drain(..) {
                        if let Some(left) = self.update(Input::Event(event), handle, signals).await? {
                            return Ok(left);
                        }
                    }
                    // Nothing more streams in that could be drawn with it.
                    if !self.model.is_running() {
                        self.rested = Instant::now();
                    }
                    Vec::new()
                }
            };
            if !inputs.is_empty() {
                for input in inputs {
                    #[cfg(debug_assertions)]
                    provoked::panic_at(&input);
                    if let Some(left) = self.update(input, handle, signals).await? {
                        return Ok(left);
                    }
                    // What was typed after that follows what comes of it.
                    let left = match self.lend.take() {
                        Some(Lend::Editor(draft)) => self.edit(draft, handle, signals).await?,
                        Some(Lend::Print(text)) => self.print(text, handle, signals).await?,
                        None => None,
                    };
                    if let Some(left) = left {
                        return Ok(left);
                    }
                }
                stale = terminal::is_behind();
                if !stale {
                    self.draw()?;
                }
            }
        }
    }

    /// What the terminal has sent so far means; `None` if it has ended.
    async fn batch(
        &mut self,
        first: Option<io::Result<TerminalEvent>>,
        keys: &mut Keys,
    ) -> io::Result<Option<Vec<Input>>> {
        let mut batch = Vec::new();
        let mut next = Some(first);
        while let Some(event) = next {
            match event.transpose()? {
                None => return Ok(None),
                Some(TerminalEvent::FocusGained) => self.caller.focus(true),
                Some(TerminalEvent::FocusLost) => self.caller.focus(false),
                Some(event) => batch.push(event),
            }
            next = if batch.len() < BATCH { waiting(keys).await } else { None };
        }
        if batch.len() >= MANY {
            terminal::look_again();
        }
        Ok(Some(self.bursts.sort(batch, Instant::now())))
    }

    /// Routes one input; `Some` if the user leaves.
    async fn update(
        &mut self,
        input: Input,
        handle: &Handle,
        signals: &mut Signals,
    ) -> io::Result<Option<Left>> {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            let typed = matches!(input, Input::Key(_) | Input::Paste(_) | Input::Edited(_));
            for effect in tui::update(&mut self.model, input, Instant::now()) {
                match effect {
                    Effect::Quit => return Ok(Some(Left::Quit)),
                    Effect::Mouse(on) => {
                        self.mouse = on;
                        terminal::mouse(on)?;
                    }
                    Effect::Copy { what, text, to } => {
                        clipboard::copy(what, text, to, self.answers.0.clone())?;
                    }
                    Effect::Edit(draft) => self.lend = Some(Lend::Editor(draft)),
                    Effect::Print(text) => self.lend = Some(Lend::Print(text)),
                    Effect::ListPrompts => {
                        lookup::prompts(self.directory.clone(), self.answers.0.clone());
                    }
                    Effect::ListSessions => {
                        let present = handle.saved_in.get().cloned();
                        let here = self.directory.clone();
                        lookup::sessions(here, present, self.answers.0.clone());
                    }
                    Effect::GoOnWith(session) => {
                        let reopened = reopen(&session).map_err(|error| error.to_string());
                        match reopened.and_then(|session| (self.go_on)(session)) {
                            Ok(start) => {
                                self.next = Some(Box::new(start));
                                return Ok(Some(Left::Quit));
                            }
                            Err(why) => {
                                let why = Progress::Notice(why);
                                inputs.push_back(Input::Event(Event::Progress(why)));
                            }
                        }
                    }
                    Effect::ListFiles => {
                        lookup::list(self.directory.clone(), self.answers.0.clone());
                    }
                    Effect::Suspend => match self.stop(signals).await? {
                        Ok(news) => inputs.extend(news),
                        Err(left) => return Ok(Some(left)),
                    },
                    Effect::Send(command) => match handle.commands.try_send(command) {
                        Ok(()) => {}
                        Err(TrySendError::Full(command) | TrySendError::Closed(command)) => {
                            self.model.refused(command);
                        }
                    },
                    Effect::ReadOutput { call, file } => {
                        lookup::output(call, file, self.answers.0.clone());
                    }
                    Effect::UseTheme(name) => {
                        inputs.push_back(Input::Theme(self.themes.read(&name)));
                    }
                    Effect::ListThemes => inputs.push_back(Input::Themes(self.themes.names())),
                    Effect::ReadExchanges { turn, attempts } => {
                        let session = handle.saved_in.get().cloned();
                        lookup::exchanges(session, turn, attempts, self.answers.0.clone());
                    }
                }
            }
            self.keeper.touched(&self.model, typed, Instant::now());
        }
        Ok(None)
    }

    fn draw(&mut self) -> io::Result<()> {
        let (model, cache) = (&self.model, &mut self.cache);
        let now = Instant::now();
        self.screen.draw(|buf| tui::draw(model, cache, buf, now, now_ms()))?;
        self.model.frame_drawn(&self.cache);
        self.rested = Instant::now() + FRAME;
        self.unseen = true;
        if terminal::is_behind() { Ok(()) } else { self.seen() }
    }

    /// The terminal has the frame that was drawn last.
    fn seen(&mut self) -> io::Result<()> {
        let now = Instant::now();
        self.unseen = false;
        self.model.frame_shown(&self.cache, now);
        let doing = match (self.model.asks(), self.model.is_running()) {
            (true, _) => Doing::Asking,
            (false, true) => Doing::Working,
            (false, false) => Doing::Nothing,
        };
        let call = self.caller.see(doing, now);
        if call.is_empty() { Ok(()) } else { terminal::write(call.as_bytes()) }
    }
}

async fn sleep_until(wake: Option<Instant>) {
    match wake {
        Some(wake) => tokio::time::sleep_until(wake.into()).await,
        None => std::future::pending().await,
    }
}

/// A directory with the home directory shortened to `~`.
fn shown(directory: &std::path::Path) -> String {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    match home.and_then(|home| directory.strip_prefix(home).ok().map(std::path::Path::to_owned)) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => directory.display().to_string(),
    }
}
