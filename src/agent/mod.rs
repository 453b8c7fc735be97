//! The background task that runs the loop, and the handle with which a screen or a script speaks to
//! it: commands go in, events come out. The loop itself is in `looper`.

mod edited;
mod gates;
mod http_model;
mod log;
mod looper;
mod recorder;
mod redaction;
mod system_prompt;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::{Arc, OnceLock};

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use gates::{Acting, Outgoing};
pub use http_model::HttpModel;
pub use looper::{Loop, Model};
pub use recorder::{Recorder, now_ms};
pub use system_prompt::system_prompt;

use crate::approval::Mode;
use crate::conversation::{
    CallId, Command, Decision, Event, LoopState, Profile, Progress, Record, TransitionReason,
};
use crate::tools::Tool;
use crate::wire::Settings;

/// Commands that may wait for the loop. The screen never waits: a full channel means "busy".
const COMMANDS: usize = 32;
/// Commands that may wait for the end of the running prompt; more are refused.
const WAITING: usize = 32;
/// Events that may wait for the subscriber; then the loop waits, and with it the socket.
const EVENTS: usize = 256;

/// What a session is made of.
pub struct Config {
    /// The way to the model, as recorded.
    pub profile: Profile,
    /// What requests say beside their messages.
    pub settings: Settings,
    /// What the model is told first.
    pub system_prompt: String,
    /// What the model may ask for.
    pub tools: Vec<Arc<dyn Tool>>,
    /// How commands are treated.
    pub mode: Mode,
    /// Whether there is a person to ask.
    pub attended: bool,
    /// How many turns a prompt may take.
    pub turn_limit: u32,
    /// The directory in which the session works.
    pub directory: PathBuf,
    /// Where sessions are kept; `None` keeps nothing.
    pub sessions: Option<PathBuf>,
}

/// The other end of the background task. Dropping `commands` ends it.
#[derive(Debug)]
pub struct Handle {
    /// To the loop.
    pub commands: mpsc::Sender<Command>,
    /// From the loop.
    pub events: mpsc::Receiver<Event>,
    /// The session's directory, once it was made.
    pub saved_in: Arc<OnceLock<PathBuf>>,
    /// Ends after the loop has stopped and saved.
    pub task: JoinHandle<()>,
}

/// Starts the background task.
pub fn spawn<M: Model + Send + 'static>(config: Config, model: M) -> Handle {
    let (commands, received) = mpsc::channel(COMMANDS);
    let (subscriber, events) = mpsc::channel(EVENTS);
    let recorder = Recorder::new(config.sessions.clone(), &config.directory, subscriber.clone());
    let saved_in = recorder.saved_in();
    let task = tokio::spawn(serve(config, model, received, recorder, subscriber));
    Handle { commands, events, saved_in, task }
}

async fn serve<M: Model>(
    config: Config,
    model: M,
    mut commands: mpsc::Receiver<Command>,
    recorder: Recorder,
    subscriber: mpsc::Sender<Event>,
) {
    let is_saved = config.sessions.is_some();
    let (decide, decisions) = mpsc::channel(COMMANDS);
    let (tell, inbox) = mpsc::channel(COMMANDS);
    let mut agent = Loop {
        state: LoopState::default(),
        inbox,
        outgoing: Outgoing::new(config.settings),
        acting: Acting::new(config.tools, config.mode, config.attended, decisions),
        model,
        recorder,
        turn_limit: config.turn_limit,
    };
    let mut profile = Some(config.profile);
    let mut waiting = VecDeque::new();
    loop {
        let next = match waiting.pop_front() {
            Some(command) => Some(command),
            None => commands.recv().await,
        };
        let Some(command) = next else { return };
        if matches!(command, Command::Clear | Command::Overlay(_) | Command::Revoke)
            && profile.is_some()
        {
            // There is nothing to clear, cover or revoke, and a session begins with its first prompt.
            continue;
        }
        if let Some(profile) = profile.take() {
            if !is_saved {
                let why =
                    "This session is not saved: neither XDG_DATA_HOME nor HOME names a directory.";
                agent.recorder.progress(Progress::Notice(why.to_owned())).await;
            }
            agent.recorder.record(Record::Profile(profile)).await;
            agent.begin(&config.system_prompt).await;
        }
        let stop = CancellationToken::new();
        let listen = Listen {
            commands: &mut commands,
            decide: &decide,
            tell: &tell,
            subscriber: &subscriber,
            stop: &stop,
        };
        let screen = match command {
            Command::Run { command, told } => {
                listen.until(agent.run_own(command, told, &stop), &mut waiting).await
            }
            // The inbox is empty between two prompts.
            Command::Prompt(text) => {
                let _ = tell.try_send(text);
                listen.until(agent.run(&stop), &mut waiting).await
            }
            Command::Continue if agent.state.awaits_reply() => {
                listen.until(agent.run(&stop), &mut waiting).await
            }
            // The screen does not ask where nothing waits for an answer; should it be late, it
            // learns so.
            Command::Continue => {
                let reason = agent.state.transition_reason.clone();
                let reason = reason.unwrap_or(TransitionReason::Answered);
                agent.recorder.record(Record::Ended(reason)).await;
                continue;
            }
            Command::Revoke => {
                agent.acting.revoke();
                agent.recorder.record(Record::Revoked).await;
                continue;
            }
            Command::Clear => {
                agent.acting.revoke();
                agent.recorder.record(Record::Head(None)).await;
                agent.begin(&config.system_prompt).await;
                continue;
            }
            Command::Overlay(overlays) => {
                agent.overlay(overlays).await;
                continue;
            }
            // Nothing runs that could be stopped or steered, and nothing is asked.
            Command::Stop | Command::Steer(_) | Command::Decide { .. } => continue,
        };
        if screen == Screen::Gone {
            return;
        }
        // What came too late for the last request was not told, and is not told later unasked.
        while agent.inbox.try_recv().is_ok() {}
    }
}

#[derive(PartialEq, Eq)]
enum Screen {
    There,
    Gone,
}

/// What is heard while something runs.
struct Listen<'a> {
    commands: &'a mut mpsc::Receiver<Command>,
    decide: &'a mpsc::Sender<(CallId, Decision)>,
    tell: &'a mpsc::Sender<String>,
    subscriber: &'a mpsc::Sender<Event>,
    stop: &'a CancellationToken,
}

impl Listen<'_> {
    /// Runs something to its end while listening for commands, so that a stop works in every
    /// state. What can only be done afterwards waits in order.
    async fn until(
        self,
        running: impl Future<Output = ()>,
        waiting: &mut VecDeque<Command>,
    ) -> Screen {
        let mut running = pin!(running);
        loop {
            let command = tokio::select! {
                biased;
                command = self.commands.recv() => command,
                () = &mut running => return Screen::There,
            };
            match command {
                Some(Command::Stop) => self.stop.cancel(),
                // A full channel means that nobody asked for that many decisions; none is lost
                // that anyone waits for.
                Some(Command::Decide { call, decision }) => {
                    drop(self.decide.try_send((call, decision)));
                }
                // Whoever steers sees that it was not told when the inbox is full.
                Some(Command::Steer(text)) => drop(self.tell.try_send(text)),
                Some(command) if waiting.len() < WAITING => waiting.push_back(command),
                Some(command) => {
                    let prompt = match command {
                        Command::Prompt(text) => Some(text),
                        _ => None,
                    };
                    // A subscriber that has left needs no word.
                    let busy = Event::Progress(Progress::Busy { prompt });
                    let mut refusing = pin!(self.subscriber.send(busy));
                    tokio::select! {
                        biased;
                        _ = &mut refusing => {}
                        () = &mut running => {
                            let _ = refusing.await;
                            return Screen::There;
                        }
                    }
                }
                None => {
                    self.stop.cancel();
                    running.await;
                    return Screen::Gone;
                }
            }
        }
    }
}
