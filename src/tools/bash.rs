//! The `bash` tool: one command through the system's shell, without a terminal, within a time
//! limit.
//!
//! The command's end is the end of its shell. Processes that it leaves in the background go on
//! running, are named in the result, and end with this tool at the latest; what they write after
//! that goes nowhere (it is read and dropped, so that they neither block nor die of it).
//!
//! Not here: whether a command may run (`approval`), how its tree is ended (`minder`).

use std::path::PathBuf;
use std::pin::Pin;
use std::process::ExitStatus;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::environment::{Withheld, is_named_in};
use super::intake::Intake;
use super::minder::LONGEST_COMMAND;
use super::process::{Report, Running, Start};
use super::result::{self, Ending, Notes};
use super::{Job, Outcome, Tool};
use crate::clock::awake;
use crate::conversation::{CallStatus, ToolDefinition};
use crate::text::Secrets;

/// How long a command may run unless set otherwise.
pub const TIME_LIMIT: Duration = Duration::from_mins(2);

/// How long the end of a tree is waited for after a stop. The minder's KILL falls within; should a
/// process resist even that, the minder goes on alone and the result does not wait.
const END_WAIT: Duration = Duration::from_millis(180);

/// What commands run with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The directory in which commands run.
    pub directory: PathBuf,
    /// How long a command may run.
    pub time_limit: Duration,
    /// The variables that commands do not get.
    pub withheld: Withheld,
    /// Keys that are kept out of every output.
    pub secrets: Secrets,
    /// The program started as minder; see [`super::minder::executable`].
    pub minder: PathBuf,
}

/// The tool.
#[derive(Debug)]
pub struct Bash {
    settings: Settings,
    /// One task for each command that left processes in the background: it holds the link to their
    /// minder. Dropped with this tool, and the processes end.
    background: Mutex<JoinSet<()>>,
}

#[derive(Deserialize)]
struct Arguments {
    command: Value,
}

impl Bash {
    /// A tool with these settings. Starts nothing.
    pub fn new(settings: Settings) -> Self {
        Self { settings, background: Mutex::default() }
    }

    async fn execute(&self, job: Job) -> Outcome {
        let started = Instant::now();
        let not_run = |why: String| result::not_run(why, started.elapsed());
        if job.stop.is_cancelled() {
            return not_run("stopped by the user before it was started".to_owned());
        }
        if let Err(why) = check(&job.command) {
            return not_run(why);
        }
        let start = Start {
            minder: &self.settings.minder,
            directory: &self.settings.directory,
            withheld: &self.settings.withheld,
        };
        let mut running = match start.command(&job.command).await {
            Ok(running) => running,
            Err(why) => return not_run(why),
        };
        let mut intake = Intake::new(job.output_file, job.samples, self.settings.secrets.clone());
        let followed = tokio::select! {
            // An end that is already reported counts, also when a stop comes at the same moment.
            biased;
            report = follow(&mut running, &mut intake) => Followed::Report(report),
            () = job.stop.cancelled() => Followed::To(Ending::Stopped),
            () = awake(self.settings.time_limit) => {
                Followed::To(Ending::TimedOut(self.settings.time_limit))
            }
        };
        let mut unminded = 0;
        let ending = match followed {
            Followed::To(ending) => {
                running.end().await;
                let end = Instant::now() + END_WAIT;
                // Whatever is reported now is the work of the stop.
                let closed = timeout_at(end, follow_to_close(&mut running, &mut intake)).await;
                running.link.left.clear();
                if closed.is_ok() {
                    // None are left, unless the command had ended its minder.
                    unminded = running.sweep().await;
                }
                ending
            }
            Followed::Report(Report::Exited(code)) => Ending::Exited(code),
            Followed::Report(Report::Signaled(signal)) => Ending::Signaled(signal),
            Followed::Report(Report::Failed(why)) => return not_run(why),
            Followed::Report(Report::Closed) => match lost(&mut running).await {
                Ok(ending) => ending,
                Err(why) => return not_run(why),
            },
        };
        intake.drain(&running.output);
        let (capture, file, redacted) = intake.finish();
        let left = std::mem::take(&mut running.link.left);
        let notes = Notes { left: &left, unminded, redacted, taken: job.taken };
        let mut outcome = result::outcome(&ending, notes, &capture, file, started.elapsed());
        outcome.withheld = self.wanted(&job.command, &outcome);
        if !left.is_empty() {
            self.keep_in_background(running);
        }
        outcome
    }

    /// The withheld variables that a command names, or, if it failed, its output does.
    fn wanted(&self, command: &str, outcome: &Outcome) -> Vec<String> {
        let failed = outcome.status != CallStatus::Exited(0);
        let is_wanted = |name: &String| {
            is_named_in(command, name) || (failed && is_named_in(&outcome.text, name))
        };
        self.settings.withheld.of(std::env::vars_os()).into_iter().filter(is_wanted).collect()
    }

    fn keep_in_background(&self, running: Running) {
        let mut background = self.background.lock().unwrap_or_else(PoisonError::into_inner);
        while background.try_join_next().is_some() {}
        background.spawn(running.drop_output());
    }
}

enum Followed {
    To(Ending),
    Report(Report),
}

/// Takes output until the command's end is reported.
async fn follow(running: &mut Running, intake: &mut Intake) -> Report {
    loop {
        let sample_at = intake.sample_at;
        let sample_due = sleep_until(sample_at.unwrap_or_else(Instant::now));
        tokio::select! {
            biased;
            report = running.link.report() => return report,
            () = sample_due, if sample_at.is_some() => intake.sample(),
            () = intake.read(&running.output), if intake.open => {}
        }
    }
}

/// Takes output until the minder has ended, and with it the last process of the tree.
async fn follow_to_close(running: &mut Running, intake: &mut Intake) {
    while follow(running, intake).await != Report::Closed {}
}

/// What it means that a minder ended without a report.
async fn lost(running: &mut Running) -> Result<Ending, String> {
    use std::os::unix::process::ExitStatusExt;
    let ended = running.sweep().await;
    let status = running.minder_status().await;
    if let Some(signal) = status.as_ref().ok().and_then(ExitStatus::signal) {
        return Ok(Ending::LostMinder { signal, ended });
    }
    let how = status.map_or_else(|error| error.to_string(), |status| status.to_string());
    Err(format!("the process that minds it failed ({how})"))
}

/// Whether a text can be handed to the shell at all.
fn check(command: &str) -> Result<(), String> {
    if command.trim().is_empty() {
        return Err("`command` is empty".to_owned());
    }
    if command.contains('\0') {
        return Err("the command contains a NUL character".to_owned());
    }
    if command.len() > LONGEST_COMMAND {
        return Err(format!(
            "the command is too long ({} bytes, at most {LONGEST_COMMAND}); write it to a file in \
             steps and run that",
            command.len()
        ));
    }
    Ok(())
}

impl Tool for Bash {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition {
            name: "bash",
            description: "Run a command with `sh -c` in the working directory. No terminal, no \
                          input, a time limit. Returns stdout and stderr together, cut in the \
                          middle above 50,000 characters, and the exit code.",
            parameters: r#"{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}"#,
        }
    }

    fn command(&self, arguments: &str) -> Result<String, String> {
        let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
        if !arguments.trim_start().starts_with('{') {
            return Err("the arguments are not a JSON object".to_owned());
        }
        let Arguments { command } = serde_json::from_str(arguments)
            .map_err(|error| format!("the arguments cannot be used: {error}"))?;
        let Value::String(command) = command else {
            return Err("`command` must be a string".to_owned());
        };
        check(&command)?;
        Ok(command)
    }

    fn run(&self, job: Job) -> Pin<Box<dyn Future<Output = Outcome> + Send + '_>> {
        Box::pin(self.execute(job))
    }
}
