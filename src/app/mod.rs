//! The event loop: keys, events of the agent, signals and timers go into the model; frames and
//! commands come out. What they mean is `tui`'s; how the terminal is held is in `terminal`.
//!
//! A key is drawn at once; what streams in waits for the next frame, at most 60 a second; an idle
//! program never wakes.

mod terminal;

use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crossterm::event::{Event as TerminalEvent, EventStream, KeyEventKind};
use futures_util::StreamExt;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::error::TrySendError;

use crate::agent::{Handle, now_ms};
use crate::cli::{Start, runtime};
use crate::session::read_exchange;
use crate::tui::{self, Effect, Input, Model, RenderCache, Setup};
use crate::wire::exchange::Kept;
use terminal::Screen;
pub(crate) use terminal::unfit;

/// Shortest time between two frames of what streams in.
const FRAME: Duration = Duration::from_millis(16);

/// Opens the screen, on a terminal that is fit for it, and stays until the user leaves.
///
/// # Errors
/// What the terminal or the runtime says; the terminal is given back before.
pub fn run(start: Start) -> color_eyre::Result<ExitCode> {
    let model = Model::new(Setup {
        directory: shown(&start.directory),
        profile: start.profile.clone(),
        parameters: start.parameters(),
        mode: start.mode,
        turn_limit: start.turn_limit,
        colour: std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty()),
    });
    let runtime = runtime()?;
    let left = runtime.block_on(async {
        // First of all: from here on a signal ends limpid in good order.
        let mut signals = Signals::listen()?;
        let mut app = App {
            screen: terminal::take()?,
            model,
            cache: RenderCache::default(),
            drawn: Instant::now(),
        };
        let left = app.live(start, &mut signals).await;
        terminal::restore();
        if matches!(left, Ok(Left::HungUp)) {
            // Dropping it would print to a terminal that is gone.
            std::mem::forget(app.screen);
        }
        left
    });
    Ok(match left? {
        Left::Quit => ExitCode::SUCCESS,
        Left::HungUp => ExitCode::from(128 + 1),
        Left::Signal(number) => ExitCode::from(128 + number),
    })
}

/// How the user left.
enum Left {
    Quit,
    /// The terminal is gone.
    HungUp,
    /// Asked to end by this signal.
    Signal(u8),
}

struct App {
    screen: Screen,
    model: Model,
    cache: RenderCache,
    /// When the last frame was drawn.
    drawn: Instant,
}

impl App {
    async fn live(&mut self, start: Start, signals: &mut Signals) -> io::Result<Left> {
        self.draw()?;
        let mut handle = start.spawn(true).await?;
        let left = self.events(&mut handle, signals).await;
        terminal::restore();
        leave(handle).await;
        left
    }

    async fn events(&mut self, handle: &mut Handle, signals: &mut Signals) -> io::Result<Left> {
        let mut keys = EventStream::new();
        let mut arrived = Vec::new();
        let mut stale = false;
        loop {
            let now = Instant::now();
            let wake = if stale { Some(self.drawn + FRAME) } else { self.model.next_wake(now) };
            let inputs: Vec<Input> = tokio::select! {
                biased;
                left = signals.next() => return Ok(left),
                key = keys.next() => match key {
                    None => return Ok(Left::HungUp),
                    Some(event) => input(event?).into_iter().collect(),
                },
                () = sleep_until(wake) => {
                    vec![Input::Tick]
                }
                count = handle.events.recv_many(&mut arrived, 256) => {
                    if count == 0 {
                        return Err(io::Error::other("the background task ended; the session up to here is saved"));
                    }
                    stale = true;
                    for event in arrived.drain(..) {
                        if let Some(left) = self.update(Input::Event(event), handle) {
                            return Ok(left);
                        }
                    }
                    Vec::new()
                }
            };
            if !inputs.is_empty() {
                for input in inputs {
                    #[cfg(debug_assertions)]
                    provoke_panic(&input);
                    if let Some(left) = self.update(input, handle) {
                        return Ok(left);
                    }
                }
                stale = false;
                self.draw()?;
            }
        }
    }

    /// Routes one input; `Some` if the user leaves.
    fn update(&mut self, input: Input, handle: &Handle) -> Option<Left> {
        for effect in tui::update(&mut self.model, input, Instant::now()) {
            match effect {
                Effect::Quit => return Some(Left::Quit),
                Effect::Send(command) => match handle.commands.try_send(command) {
                    Ok(()) => {}
                    Err(TrySendError::Full(command) | TrySendError::Closed(command)) => {
                        self.model.refused(command);
                    }
                },
                Effect::ReadExchanges { turn, attempts } => {
                    let read = |attempt| match handle.saved_in.get() {
                        Some(session) => read_exchange(session, turn, attempt),
                        None => Kept::NotSaved,
                    };
                    let kept = attempts.into_iter().map(|attempt| (attempt, read(attempt)));
                    let kept = Input::Exchanges { turn, kept: kept.collect() };
                    if let Some(left) = self.update(kept, handle) {
                        return Some(left);
                    }
                }
            }
        }
        None
    }

    fn draw(&mut self) -> io::Result<()> {
        if !terminal::is_taken() {
            return Err(io::Error::other(
                "a part of limpid broke down, as reported above; the session up to there is saved",
            ));
        }
        let (model, cache) = (&self.model, &mut self.cache);
        let now = Instant::now();
        self.screen.draw(|frame| tui::draw(model, cache, frame, now, now_ms()))?;
        self.drawn = Instant::now();
        self.model.frame_shown(&self.cache, self.drawn);
        Ok(())
    }
}

/// Debug builds panic on the key that a test names, so that it can see what becomes of the terminal.
#[cfg(debug_assertions)]
#[expect(clippy::panic, reason = "it is what the test asks for")]
fn provoke_panic(input: &Input) {
    if let Input::Key(key) = input
        && std::env::var("LIMPID_PANIC_KEY").is_ok_and(|name| key.code.to_string() == name)
    {
        panic!("provoked by LIMPID_PANIC_KEY");
    }
}

/// Ends the background task and waits until it has stopped what ran and saved what was said.
async fn leave(mut handle: Handle) {
    drop(handle.commands);
    while handle.events.recv().await.is_some() {}
}

fn input(event: TerminalEvent) -> Option<Input> {
    match event {
        TerminalEvent::Key(key) if key.kind != KeyEventKind::Release => Some(Input::Key(key)),
        TerminalEvent::Paste(text) => Some(Input::Paste(text)),
        TerminalEvent::Resize(columns, rows) => Some(Input::Resize(columns, rows)),
        _ => None,
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

struct Signals {
    hang_up: Signal,
    interrupt: Signal,
    quit: Signal,
    terminate: Signal,
}

impl Signals {
    fn listen() -> io::Result<Self> {
        Ok(Self {
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) -> Left {
        tokio::select! {
            _ = self.hang_up.recv() => Left::HungUp,
            _ = self.interrupt.recv() => Left::Signal(2),
            _ = self.quit.recv() => Left::Signal(3),
            _ = self.terminate.recv() => Left::Signal(15),
        }
    }
}
