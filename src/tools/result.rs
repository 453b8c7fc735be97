//! What the model reads of an execution: output, notes, and how it ended as the last line.

use std::fmt::Write;
use std::time::Duration;

use rustix::process::Signal;

use super::capture::{Capture, Excerpt};
use super::output_file::KeptFile;
use super::{CallStatus, Outcome, Receipt};
use crate::text;

/// Characters of a result at most.
const MOST_CHARS: usize = 50_000;

/// Characters that the mark of a cut takes at most, without the file's name.
const MARK_CHARS: usize = 160;

/// How a command that was started ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ending {
    /// By itself, with this exit code.
    Exited(i32),
    /// By this signal from elsewhere.
    Signaled(i32),
    /// By its time limit.
    TimedOut(Duration),
    /// By the user.
    Stopped,
    /// Somebody else ended its minder with this signal; so many processes were ended then.
    LostMinder { signal: i32, ended: usize },
}

/// What the user and the model should know beside the output.
#[derive(Debug, Clone, Copy)]
pub(super) struct Notes<'a> {
    /// Processes that still run.
    pub(super) left: &'a [u32],
    /// Processes that nobody minded any more, and that were ended.
    pub(super) unminded: usize,
    /// Whether a key was replaced in the output.
    pub(super) redacted: bool,
    /// Characters of the result that something else takes.
    pub(super) taken: usize,
}

/// The outcome of a command that was started.
pub(super) fn outcome(
    ending: &Ending,
    Notes { left, unminded, redacted, taken }: Notes<'_>,
    capture: &Capture,
    file: KeptFile,
    took: Duration,
) -> Outcome {
    let duration_ms = millis(took);
    let mut notes = String::new();
    note_bytes(&mut notes, capture);
    if let KeptFile::Failed(path, why) = &file {
        let _ = writeln!(notes, "[the complete output could not be kept in {path}: {why}]");
    }
    if redacted {
        notes.push_str("[key redacted: the output held a key of the user's]\n");
    }
    if unminded > 0 {
        let swept = swept(unminded);
        let _ = writeln!(notes, "[the process that minds the command had been ended; {swept}]");
    }
    if !left.is_empty() {
        let pids: Vec<String> = left.iter().map(u32::to_string).collect();
        let _ = writeln!(notes, "[background processes still running: {}]", pids.join(" "));
    }
    let last_line = last_line(ending, duration_ms);

    let path_chars = match &file {
        KeptFile::Complete(path) | KeptFile::UpToCap(path) => path.chars().count(),
        KeptFile::None | KeptFile::Failed(..) => 0,
    };
    let taken = taken + notes.chars().count() + last_line.chars().count() + path_chars + MARK_CHARS;
    let (mut text, cut) = match capture.excerpt(MOST_CHARS.saturating_sub(taken)) {
        Excerpt::Whole(text) if text.is_empty() => ("(no output)".to_owned(), 0),
        Excerpt::Whole(text) => (text, 0),
        Excerpt::Cut { head, tail, bytes, lines } => {
            (format!("{}{}\n{tail}", ended(head), mark(bytes, lines, &file)), bytes)
        }
    };
    text = ended(text);
    text.push_str(&notes);
    text.push_str(&last_line);
    let receipt = Receipt {
        produced: capture.produced,
        lines: capture.lines(),
        sent: text.len() as u64,
        cut,
        file: match file {
            KeptFile::Complete(path) | KeptFile::UpToCap(path) => Some(path),
            KeptFile::None | KeptFile::Failed(..) => None,
        },
    };
    Outcome { status: status(ending), text, receipt, duration_ms, withheld: Vec::new() }
}

/// The outcome of a command that was not started.
pub(super) fn not_run(why: String, took: Duration) -> Outcome {
    let text = format!("[not run: {why}]");
    let receipt = Receipt { sent: text.len() as u64, ..Receipt::default() };
    let status = CallStatus::NotRun(why);
    Outcome { status, text, receipt, duration_ms: millis(took), withheld: Vec::new() }
}

fn status(ending: &Ending) -> CallStatus {
    match ending {
        Ending::Exited(code) => CallStatus::Exited(*code),
        Ending::Signaled(signal) | Ending::LostMinder { signal, .. } => {
            CallStatus::Signaled(*signal)
        }
        Ending::TimedOut(limit) => CallStatus::TimedOut(limit.as_secs()),
        Ending::Stopped => CallStatus::Stopped,
    }
}

fn last_line(ending: &Ending, duration_ms: u64) -> String {
    match ending {
        Ending::Exited(126) => "[exit code 126: found, but cannot be executed]".to_owned(),
        Ending::Exited(127) => "[exit code 127: command not found]".to_owned(),
        // A shell adds 128 to the signal that ended its last command; a program may do so too.
        Ending::Exited(code @ 129..=192) => {
            match Signal::from_named_raw(code - 128).and_then(signal_name) {
                Some(name) => format!("[exit code {code}: 128 + signal {} ({name})]", code - 128),
                None => format!("[exit code {code}]"),
            }
        }
        Ending::Exited(code) => format!("[exit code {code}]"),
        Ending::Signaled(signal) => format!("[ended by {}]", signal_words(*signal)),
        Ending::TimedOut(limit) => format!("[timed out after {} s, stopped]", limit.as_secs_f64()),
        Ending::Stopped => {
            format!("[stopped by the user after {}]", text::duration(duration_ms))
        }
        Ending::LostMinder { signal, ended } => format!(
            "[ended: the process that minds the command was ended by {}; {}]",
            signal_words(*signal),
            swept(*ended)
        ),
    }
}

/// What became of processes that nobody minded.
fn swept(ended: usize) -> String {
    let processes = if ended == 1 { "process" } else { "processes" };
    format!("{ended} {processes} that it left were ended, others may still run")
}

fn signal_words(signal: i32) -> String {
    match Signal::from_named_raw(signal).and_then(signal_name) {
        Some(name) => format!("signal {signal} ({name})"),
        None => format!("signal {signal}"),
    }
}

/// What the shell calls a signal; only those that end a program.
pub fn signal_name(signal: Signal) -> Option<&'static str> {
    let name = match signal {
        Signal::HUP => "SIGHUP",
        Signal::INT => "SIGINT",
        Signal::QUIT => "SIGQUIT",
        Signal::ILL => "SIGILL",
        Signal::TRAP => "SIGTRAP",
        Signal::ABORT => "SIGABRT",
        Signal::BUS => "SIGBUS",
        Signal::FPE => "SIGFPE",
        Signal::KILL => "SIGKILL",
        Signal::USR1 => "SIGUSR1",
        Signal::SEGV => "SIGSEGV",
        Signal::USR2 => "SIGUSR2",
        Signal::PIPE => "SIGPIPE",
        Signal::ALARM => "SIGALRM",
        Signal::TERM => "SIGTERM",
        Signal::XCPU => "SIGXCPU",
        Signal::VTALARM => "SIGVTALRM",
        Signal::PROF => "SIGPROF",
        Signal::XFSZ => "SIGXFSZ",
        Signal::SYS => "SIGSYS",
        _ => return None,
    };
    Some(name)
}

fn note_bytes(notes: &mut String, capture: &Capture) {
    let (invalid, nuls) = (capture.invalid(), capture.nuls());
    let _ = match (invalid, nuls) {
        (0, 0) => Ok(()),
        (_, 0) => writeln!(notes, "[output was not UTF-8: {invalid} bytes shown as \u{fffd}]"),
        (0, _) => writeln!(notes, "[output was not text: {nuls} NUL characters shown as ␀]"),
        _ => writeln!(
            notes,
            "[output was not UTF-8: {invalid} bytes shown as \u{fffd}, {nuls} NUL characters as ␀]"
        ),
    };
}

fn mark(bytes: u64, lines: u64, file: &KeptFile) -> String {
    let place = match file {
        KeptFile::None | KeptFile::Failed(..) => String::new(),
        KeptFile::Complete(path) => format!("; full output in {path}"),
        KeptFile::UpToCap(path) => format!("; its first 8.4 MB in {path}"),
    };
    let lines = if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") };
    format!("[… {} omitted, {lines}{place}]", text::bytes(bytes))
}

/// A text that ends with a newline.
fn ended(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
