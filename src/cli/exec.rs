//! `limpid exec`: one prompt without a screen. The answer goes to stdout, progress to stderr.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{Start, piped, runtime, usage};
use crate::agent::Handle;
use crate::conversation::{
    CallStatus, Command, Cut, DecidedBy, Entry, Event, Origin, Progress, Record, Role, Session,
    TransitionReason,
};
use crate::text::{self, Show, say, translated};
use crate::wire::{Remedy, Shorter, outline};

/// Sends the prompt and prints what comes of it.
pub(super) fn run(
    start: Start,
    prompt: Option<String>,
    json: bool,
) -> color_eyre::Result<ExitCode> {
    let prompt = match piped::whole(prompt)? {
        Ok(prompt) => prompt,
        Err(why) => return usage(why),
    };
    let runtime = runtime()?;
    let code = runtime.block_on(async {
        let handle = start.spawn(false).await?;
        converse(handle, prompt, json).await
    });
    match code {
        // Whoever read our output has gone: there is nobody left to tell.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::FAILURE),
        code => Ok(ExitCode::from(code?)),
    }
}

async fn converse(mut handle: Handle, prompt: String, json: bool) -> io::Result<u8> {
    let mut interrupts = [
        signal(SignalKind::interrupt())?,
        signal(SignalKind::terminate())?,
        signal(SignalKind::hangup())?,
    ];
    let gone = |_| io::Error::other("the loop ended by itself");
    handle.commands.send(Command::Prompt(prompt)).await.map_err(gone)?;
    let mut report = Report { json, session: Session::default(), reply: Vec::new(), denied: 0 };
    let mut interrupted = false;
    let reason = loop {
        tokio::select! {
            () = any(&mut interrupts) => {
                if interrupted {
                    return Ok(130);
                }
                interrupted = true;
                handle.commands.send(Command::Stop).await.map_err(gone)?;
            }
            event = handle.events.recv() => {
                let Some(event) = event else { return Err(io::Error::other("the loop ended by itself")) };
                if let Err(error) = report.event(&event) {
                    // Nobody reads any more: stop what runs, so that nothing is left behind.
                    drop(handle.commands);
                    while handle.events.recv().await.is_some() {}
                    return Err(error);
                }
                if let Some(reason) = &report.session.ended {
                    break reason.clone();
                }
            }
        }
    };
    report.end(&reason)?;
    let code = code(&reason, report.denied);
    if let Some(session) = handle.saved_in.get().filter(|_| code != 0) {
        tell_session(session)?;
    }
    drop(handle.commands);
    while handle.events.recv().await.is_some() {}
    Ok(code)
}

fn tell_session(session: &Path) -> io::Result<()> {
    let name = session.file_name().unwrap_or(session.as_os_str()).display();
    writeln!(io::stderr(), "{}", say!("What was sent: limpid inspect {name}", name = name))
}

async fn any([interrupt, terminate, hang_up]: &mut [Signal; 3]) {
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hang_up.recv() => {}
    }
}

/// The exit code that `--help` documents.
fn code(reason: &TransitionReason, denied: usize) -> u8 {
    match reason {
        TransitionReason::Answered if denied > 0 => 5,
        TransitionReason::Answered => 0,
        TransitionReason::Failed(_)
        | TransitionReason::ToolResult
        | TransitionReason::Paused
        | TransitionReason::ProgramEnded => 1,
        TransitionReason::TurnLimit(_) => 3,
        TransitionReason::EmptyReply => 4,
        TransitionReason::RepeatedDenial => 5,
        TransitionReason::Stopped => 130,
    }
}

struct Report {
    json: bool,
    session: Session,
    /// What the newest turn was answered with; several entries if the server paused in it.
    reply: Vec<Arc<Entry>>,
    /// Calls that were not allowed.
    denied: usize,
}

impl Report {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        if let Event::Record(stamped) = event {
            self.session.apply(stamped);
            match &stamped.record {
                Record::Request(_) => {
                    let before = self.session.turns.iter().rev().nth(1);
                    let response = before.and_then(|turn| turn.response());
                    let word = response.and_then(|response| response.stop_reason.as_deref());
                    if TransitionReason::to_go_on(word) != TransitionReason::Paused {
                        self.reply.clear();
                    }
                }
                Record::Entry(entry) if entry.role == Role::Assistant => {
                    self.reply.push(entry.clone());
                }
                Record::CallDecided(decided) if decided.executed.is_none() => self.denied += 1,
                _ => {}
            }
        }
        if self.json {
            let mut out = io::stdout().lock();
            serde_json::to_writer(&mut out, event)?;
            out.write_all(b"\n")?;
            return out.flush();
        }
        let line = match event {
            Event::Progress(Progress::Notice(notice)) => translated(notice).into_owned(),
            Event::Progress(Progress::Waiting { attempt, of, ms, why, .. }) => {
                say!(
                    "retry {attempt} of {of} in {wait}: {why}",
                    attempt = attempt,
                    of = of,
                    wait = text::duration(*ms),
                    why = translated(why)
                )
            }
            Event::Progress(_) => return Ok(()),
            Event::Record(stamped) => match self.line(&stamped.record) {
                Some(line) => line,
                None => return Ok(()),
            },
        };
        writeln!(io::stderr(), "{}", text::visible(&line, Show::Prose))
    }

    fn line(&self, record: &Record) -> Option<String> {
        match record {
            Record::Request(request) => {
                let parts = self.session.parts_of(request.turn);
                let (count, roles) = (outline::message_count(&parts), outline::roles(&parts));
                let bytes = text::bytes(request.bytes);
                let posted = if count == 1 {
                    say!("turn {number} → 1 message", number = request.turn)
                } else {
                    say!("turn {number} → {count} messages", number = request.turn, count = count)
                };
                Some(format!("── {posted}{}{roles} · {bytes} ──", say!(": ")))
            }
            Record::Repair { repair, .. } => {
                Some(say!("repair: {what}", what = translated(&repair.what)))
            }
            Record::Entry(entry) if entry.origin == Origin::Context => {
                let names = entry.text().lines().next().unwrap_or_default().to_owned();
                Some(say!("context, to the model: {names}", names = names.trim_end_matches(':')))
            }
            // The last text is the answer and goes to stdout.
            Record::Entry(entry) if entry.role == Role::Assistant => {
                Some(entry.text()).filter(|text| !text.is_empty() && entry.calls().next().is_some())
            }
            Record::CallDecided(decided) => {
                let command = decided.executed.as_ref().unwrap_or(&decided.proposed);
                let by = match (decided.by, &decided.executed, &decided.reason) {
                    (DecidedBy::Yolo, ..) => say!("allowed by --yolo"),
                    (_, Some(_), _) => say!("allowed"),
                    (_, None, Some(reason)) => &translated(reason),
                    (_, None, None) => say!("denied"),
                };
                Some(format!("$ {command}\n  {by}"))
            }
            Record::CallFinished(finished) => {
                let time = text::duration(finished.duration_ms);
                match &finished.status {
                    CallStatus::Denied => None,
                    CallStatus::NotRun(why) => {
                        Some(format!("  {}", say!("not run: {why}", why = translated(why))))
                    }
                    CallStatus::Exited(code) => {
                        Some(format!("  {} · {time}", say!("exit {code}", code = code)))
                    }
                    CallStatus::Signaled(signal) => Some(format!(
                        "  {} · {time}",
                        say!("ended by signal {signal}", signal = signal)
                    )),
                    CallStatus::TimedOut(limit) => {
                        Some(format!("  {}", say!("timed out after {seconds} s", seconds = limit)))
                    }
                    CallStatus::Unknown => Some(format!("  {}", say!("outcome unknown"))),
                    CallStatus::Stopped => {
                        Some(format!("  {}", say!("stopped after {time}", time = time)))
                    }
                }
            }
            _ => None,
        }
    }

    /// Where the messages are too long: what makes them so, and what to do without a screen.
    fn largest_results(&self) -> Option<String> {
        let Remedy::Shorten(Shorter { results, .. }) = Remedy::of(&self.session)? else {
            return None;
        };
        let result = |(_, command, cut): &(usize, String, Cut)| {
            let command = command.lines().next().unwrap_or_default();
            let (bytes, command) = (text::bytes(cut.from as u64), text::fit(command, 60));
            say!("{bytes} of `{command}`", bytes = bytes, command = command)
        };
        let results: Vec<String> = results.iter().take(3).map(result).collect();
        (!results.is_empty()).then(|| {
            say!(
                " Largest results: {results}. Ask anew for less of them (head, tail, grep); on the screen limpid offers to shorten them.",
                results = results.join(", "),
            )
        })
    }

    fn end(&self, reason: &TransitionReason) -> io::Result<()> {
        if self.json {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        // What was said before a call is not the answer, unless it was cut off there.
        let cut = matches!(reason, TransitionReason::Failed(_) | TransitionReason::Stopped);
        let answer = self.reply.iter().filter(|entry| cut || entry.calls().next().is_none());
        let answer: String = answer.map(|entry| entry.text()).collect();
        if !answer.is_empty() {
            let answer =
                if out.is_terminal() { text::visible(&answer, Show::Prose) } else { answer.into() };
            writeln!(out, "{answer}")?;
            out.flush()?;
        }
        let said = match reason {
            TransitionReason::Answered if self.denied > 0 => {
                let denied = match self.denied {
                    1 => say!("1 command was denied").to_owned(),
                    count => say!("{count} commands were denied", count = count),
                };
                say!(
                    "{denied}: the work may be undone (--yolo runs all but dangerous ones)",
                    denied = denied
                )
            }
            TransitionReason::Answered
            | TransitionReason::ToolResult
            | TransitionReason::Paused
            | TransitionReason::ProgramEnded => return Ok(()),
            TransitionReason::EmptyReply => say!("the model returned nothing").to_owned(),
            TransitionReason::Stopped => say!("interrupted").to_owned(),
            TransitionReason::TurnLimit(limit) => {
                say!(
                    "stopped after {limit} turns (--max-turns); the work may be unfinished",
                    limit = limit,
                )
            }
            TransitionReason::RepeatedDenial => {
                say!("stopped: the model proposed a denied command for the third time").to_owned()
            }
            TransitionReason::Failed(failure) => {
                let largest = self.largest_results().unwrap_or_default();
                failure.in_words() + &largest
            }
        };
        writeln!(io::stderr(), "limpid: {}", text::visible(&said, Show::Prose))
    }
}
