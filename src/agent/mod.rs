//! The background task that runs the loop, and the handle with which a screen or a script speaks to
//! it: commands go in, events come out. The loop itself is in `looper`.

mod edited;
mod gates;
mod http_model;
mod log;
mod looper;
mod recorder;
mod redaction;
mod resume;
mod route;
mod system_prompt;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub use gates::{Acting, Outgoing};
pub use http_model::HttpModel;
pub use looper::{Loop, Model};
pub use recorder::{Recorder, now_ms};
pub use route::{Connect, Connection};
pub use system_prompt::system_prompt;

use crate::approval::Mode;
use crate::conversation::{
    CallId, Command, Decision, Event, LoopState, Parameter, Profile, Progress, Record, Session,
    TransitionReason,
};
use crate::session::Journal;
use crate::tools::Tool;
use crate::wire::Settings;
use route::{Questions, Route};

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
    /// Who set the parameters among them, in words.
    pub sources: Vec<(Parameter, String)>,
    /// What the model is told first.
    pub system_prompt: String,
    /// What the project's files tell it after that.
    pub context: Option<String>,
    /// What the user should know of those files.
    pub notices: Vec<String>,
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
    /// The session to go on with; a new one if there is none.
    pub resumed: Option<Resumed>,
}

/// A session that was read back.
#[derive(Debug)]
pub struct Resumed {
    /// What its records add up to.
    pub session: Session,
    /// Where what follows is written.
    pub journal: Journal,
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
    /// Whether some of the session could not be saved.
    pub saved_in_part: Arc<AtomicBool>,
    /// Ends after the loop has stopped and saved.
    pub task: JoinHandle<()>,
}

/// Starts the background task. `connect` knows the other ways to a model.
pub fn spawn<C: Connect>(mut config: Config, model: C::Model, connect: C) -> Handle {
    let (commands, received) = mpsc::channel(COMMANDS);
    let (subscriber, events) = mpsc::channel(EVENTS);
    let (resumed, recorder) = match config.resumed.take() {
        Some(Resumed { session, journal }) => {
            let calls = session.calls.len();
            (Some(session), Recorder::resumed(journal, calls, subscriber.clone()))
        }
        None => {
            let sessions = config.sessions.clone();
            (None, Recorder::new(sessions, &config.directory, subscriber.clone()))
        }
    };
    let (saved_in, saved_in_part) = (recorder.saved_in(), recorder.in_part());
    let task = tokio::spawn(serve(config, resumed, model, connect, received, recorder, subscriber));
    Handle { commands, events, saved_in, saved_in_part, task }
}

async fn serve<C: Connect>(
    config: Config,
    resumed: Option<Session>,
    model: C::Model,
    mut connect: C,
    mut commands: mpsc::Receiver<Command>,
    recorder: Recorder,
    subscriber: mpsc::Sender<Event>,
) {
    let is_saved = config.sessions.is_some();
    let (decide, decisions) = mpsc::channel(COMMANDS);
    let (tell, inbox) = mpsc::channel(COMMANDS);
    let Settings { format, ref parameters, .. } = config.settings;
    let mut route = Route::new(config.profile, format, parameters.clone(), config.sources);
    let mut agent = Loop {
        state: LoopState::default(),
        inbox,
        outgoing: Outgoing::new(config.settings),
        acting: Acting::new(config.tools, config.mode, config.attended, decisions),
        model,
        recorder,
        turn_limit: config.turn_limit,
    };
    agent.outgoing.reach(route.profile.server());
    let told = (config.system_prompt.as_str(), config.context.as_deref());
    let mut begun = resumed.is_some();
    if let Some(session) = resumed {
        agent.resume(&session, (&config.system_prompt, config.context.as_deref())).await;
        resume::follow(&mut agent, &mut route, &session).await;
    } else if config.attended {
        foretell(&mut agent, told).await;
    }
    for notice in config.notices {
        agent.recorder.progress(Progress::Notice(notice)).await;
    }
    let mut questions = Questions::new(subscriber.clone());
    let mut waiting = VecDeque::new();
    loop {
        let next = match waiting.pop_front() {
            Some(command) => Some(command),
            None => commands.recv().await,
        };
        let Some(command) = next else { return };
        let Some(command) = questions.take(&connect, command) else { continue };
        let command = match command {
            Command::Connect(to) => {
                let told = (!begun).then_some(told);
                change(&mut agent, &mut route, told, connect.connect(to).await).await;
                continue;
            }
            Command::Set { parameter, value } => {
                let told = (!begun).then_some(told);
                set(&mut agent, &mut route, told, parameter, value).await;
                continue;
            }
            // There is nothing to clear, cover or revoke: a session begins with its first prompt.
            Command::Clear | Command::Overlay { .. } | Command::Revoke if !begun => continue,
            command => command,
        };
        if !begun {
            begun = true;
            begin(&mut agent, &route, is_saved, told).await;
        }
        let Some(work) = settle(&mut agent, told, command).await else { continue };
        let stop = CancellationToken::new();
        let mut answer = |command| questions.take(&connect, command);
        let listen = Listen {
            commands: &mut commands,
            answer: &mut answer,
            decide: &decide,
            tell: &tell,
            subscriber: &subscriber,
            stop: &stop,
        };
        let screen = match work {
            Work::Own { command, told } => {
                listen.until(agent.run_own(command, told, &stop), &mut waiting).await
            }
            // The inbox is empty between two prompts.
            Work::Prompt(text) => {
                let _ = tell.try_send(text);
                listen.until(agent.run(&stop), &mut waiting).await
            }
            Work::Continue => listen.until(agent.run(&stop), &mut waiting).await,
        };
        if screen == Screen::Gone {
            return;
        }
        // What came too late for the last request was not told, and is not told later unasked.
        while agent.inbox.try_recv().is_ok() {}
    }
}

/// Begins the session, with its first prompt.
async fn begin<M: Model>(
    agent: &mut Loop<M>,
    route: &Route,
    is_saved: bool,
    (system_prompt, context): Beginning<'_>,
) {
    if !is_saved {
        let why = "This session is not saved: neither XDG_DATA_HOME nor HOME names a directory.";
        agent.recorder.progress(Progress::Notice(why.to_owned())).await;
    }
    agent.recorder.record(Record::Profile(route.profile.clone())).await;
    let parameters = route.values();
    if !parameters.is_empty() {
        agent.recorder.record(Record::Parameters(parameters)).await;
    }
    agent.begin(system_prompt, context).await;
}

/// What a branch begins with: the built-in prompt, and what the project's files say.
type Beginning<'a> = (&'a str, Option<&'a str>);

/// Tells what the first request would be.
async fn foretell<M: Model>(agent: &mut Loop<M>, (system_prompt, context): Beginning<'_>) {
    let parts = agent.outgoing.beginning(system_prompt, context);
    let (system_prompt, context) = (system_prompt.to_owned(), context.map(str::to_owned));
    agent.recorder.progress(Progress::Begins { system_prompt, context, parts }).await;
}

/// Takes another way, or says why not. `told` is there before the first prompt.
async fn change<M: Model>(
    agent: &mut Loop<M>,
    route: &mut Route,
    told: Option<Beginning<'_>>,
    connection: Result<Connection<M>, String>,
) {
    let connection = match connection {
        Ok(connection) => connection,
        Err(why) => {
            let Profile { name, model, .. } = &route.profile;
            let notice = format!("Not switched: {why} It stays with {model} @ {name}.");
            return agent.recorder.progress(Progress::Notice(notice)).await;
        }
    };
    let before = route.values();
    let (model, dialect) = route.change(connection);
    agent.model = model;
    agent.outgoing.reach(route.profile.server());
    let settings = agent.outgoing.settings_mut();
    settings.format = route.format();
    settings.model.clone_from(&route.profile.model);
    settings.dialect = dialect;
    settings.parameters = route.parameters();
    if let Some(told) = told {
        plan(agent, route, told).await;
    } else {
        agent.recorder.record(Record::Profile(route.profile.clone())).await;
        if before != route.values() {
            agent.recorder.record(Record::Parameters(route.values())).await;
        }
    }
    for parameter in Parameter::ALL {
        remark(agent, route, parameter).await;
    }
}

/// Sets a parameter, or says why not.
async fn set<M: Model>(
    agent: &mut Loop<M>,
    route: &mut Route,
    told: Option<Beginning<'_>>,
    parameter: Parameter,
    value: Option<String>,
) {
    if let Err(why) = route.set(parameter, value) {
        let notice = format!("Not set: {} {why}.", parameter.name());
        return agent.recorder.progress(Progress::Notice(notice)).await;
    }
    agent.outgoing.settings_mut().parameters = route.parameters();
    match told {
        Some(told) => plan(agent, route, told).await,
        None => agent.recorder.record(Record::Parameters(route.values())).await,
    }
    remark(agent, route, parameter).await;
}

/// Tells the way to the model before the session has begun.
async fn plan<M: Model>(agent: &mut Loop<M>, route: &Route, told: Beginning<'_>) {
    let (profile, parameters) = (route.profile.clone(), route.values());
    agent.recorder.progress(Progress::Planned { profile, parameters }).await;
    foretell(agent, told).await;
}

/// Says of a parameter that it is not sent, or that the server will refuse it.
async fn remark<M: Model>(agent: &mut Loop<M>, route: &Route, parameter: Parameter) {
    if let Some(remark) = route.parameters().remark(parameter, route.format()) {
        agent.recorder.progress(Progress::Notice(format!("{remark}."))).await;
    }
}

/// What takes a while, and during which commands are listened to.
enum Work {
    Own { command: String, told: bool },
    Prompt(String),
    Continue,
}

/// Goes on with the history as it is. The screen does not ask where nothing waits for an answer;
/// should it be late, it learns so.
async fn go_on<M: Model>(agent: &mut Loop<M>) -> Option<Work> {
    if agent.state.awaits_reply() {
        return Some(Work::Continue);
    }
    let reason = agent.state.transition_reason.clone().unwrap_or(TransitionReason::Answered);
    agent.recorder.record(Record::Ended(reason)).await;
    None
}

/// Does what is done at once; returns what takes a while. `told` is what a branch begins with.
async fn settle<M: Model>(
    agent: &mut Loop<M>,
    told: Beginning<'_>,
    command: Command,
) -> Option<Work> {
    match command {
        Command::Run { command, told } => return Some(Work::Own { command, told }),
        Command::Prompt(text) => return Some(Work::Prompt(text)),
        Command::Continue => return go_on(agent).await,
        Command::Revoke => {
            agent.acting.revoke();
            agent.recorder.record(Record::Revoked).await;
        }
        Command::Clear => {
            agent.acting.revoke();
            agent.recorder.record(Record::Head(None)).await;
            agent.begin(told.0, told.1).await;
        }
        Command::Overlay { overlays, goes_on } => {
            agent.overlay(overlays).await;
            if goes_on {
                return go_on(agent).await;
            }
        }
        // Nothing runs that could be stopped or steered, and nothing is asked; the rest was done
        // before.
        Command::Stop
        | Command::Steer(_)
        | Command::Decide { .. }
        | Command::Connect(_)
        | Command::Set { .. }
        | Command::ListProfiles
        | Command::ListModels(_) => {}
    }
    None
}

#[derive(PartialEq, Eq)]
enum Screen {
    There,
    Gone,
}

/// What is heard while something runs.
struct Listen<'a> {
    commands: &'a mut mpsc::Receiver<Command>,
    /// Takes questions, which are answered at once; hands back what is none.
    answer: &'a mut (dyn FnMut(Command) -> Option<Command> + Send),
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
                Some(command) => {
                    let Some(command) = (self.answer)(command) else { continue };
                    if waiting.len() < WAITING {
                        waiting.push_back(command);
                        continue;
                    }
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
