//! The ways out: what the program's end is called, and what is said of it on the normal screen.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use rustix::process::Signal;

use super::signals::Signals;
use super::terminal;
use crate::agent::Handle;
use crate::cli::Start;
use crate::text::{say, translated};
use crate::tools;

/// How long the end of what runs is waited for. It takes a fifth of a second; should it not come,
/// the journal has all that was said, and commands end with limpid anyway.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);

/// How the user left.
#[derive(Debug)]
pub(super) enum Left {
    Quit,
    /// The terminal is gone.
    HungUp,
    /// Asked to end by this signal.
    Signal(Signal),
    /// A panic, which has been told already.
    Broken,
    /// Something that limpid needs fails.
    Failed(io::Error),
}

/// What was saved of the session.
#[derive(Debug, Default)]
pub(super) struct Saved {
    /// Its directory, if there is anything in it.
    pub(super) session: Option<PathBuf>,
    /// Whether some of it could not be.
    pub(super) in_part: bool,
    /// Whether what was typed and not sent is kept with it; `None` if there is nothing.
    pub(super) unsent: Option<bool>,
    /// The draft that was open in an editor, or belongs to no session.
    pub(super) draft: Option<PathBuf>,
    /// The session that follows.
    pub(super) next: Option<Box<Start>>,
}

impl Left {
    pub(super) fn code(&self) -> ExitCode {
        match self {
            Self::Quit => ExitCode::SUCCESS,
            Self::HungUp => ExitCode::from(128 + 1),
            Self::Signal(signal) => {
                ExitCode::from(128 + u8::try_from(signal.as_raw()).unwrap_or(0))
            }
            Self::Broken => ExitCode::from(101),
            Self::Failed(_) => ExitCode::FAILURE,
        }
    }

    fn why(&self) -> Option<String> {
        match self {
            Self::Quit | Self::Broken => None,
            Self::HungUp => Some(say!("ended by SIGHUP: the terminal went away.").to_owned()),
            Self::Signal(signal) => {
                let name = tools::signal_name(*signal).unwrap_or("a signal");
                Some(say!("ended by {signal}.", signal = name))
            }
            Self::Failed(error) => Some(say!(
                "ended, because of this: {error}.",
                error = translated(&error.to_string())
            )),
        }
    }

    /// Says how it ended and where the session is. A terminal that is gone, or takes nothing, hears
    /// nothing.
    pub(super) fn tell(&self, saved: &Saved) {
        let mut text = String::new();
        if let Some(why) = self.why() {
            text = format!("limpid: {why}\n");
        }
        if let Some(path) = &saved.session {
            let name = path.file_name().unwrap_or(path.as_os_str()).display();
            let path = path.display();
            text.push_str(&if saved.in_part {
                say!("Not all of the session could be saved; what could is in {path}", path = path)
            } else {
                say!("The session is saved in {path}", path = path)
            });
            text.push('\n');
            text.push_str(&say!("See what was sent in it: limpid inspect {name}", name = name));
            text.push('\n');
            text.push_str(&say!("Go on with it: limpid resume {name}", name = name));
            text.push('\n');
        }
        if let Some(kept) = saved.unsent {
            text.push_str(if kept {
                say!("What you typed and did not send is kept with it.")
            } else {
                say!("What you typed and did not send could not be kept.")
            });
            text.push('\n');
        }
        if let Some(path) = &saved.draft {
            let path = path.display();
            text.push_str(&say!("The prompt that was not sent is kept in {path}", path = path));
            text.push('\n');
        }
        // stdout is the terminal; what is out of order belongs to stderr, wherever that goes.
        let why = self.why();
        if terminal::is_deaf() && (why.is_none() || io::stderr().is_terminal()) {
            return;
        }
        let told = match why {
            None => io::stdout().lock().write_all(text.as_bytes()),
            Some(_) => io::stderr().lock().write_all(text.as_bytes()),
        };
        drop(told);
    }
}

/// Ends the background task and waits until it has stopped what ran and saved what was said; a
/// second signal ends the wait.
pub(super) async fn stop(mut handle: Handle, signals: &mut Signals) {
    drop(handle.commands);
    let ended = async { while handle.events.recv().await.is_some() {} };
    tokio::select! {
        () = ended => {}
        () = signals.end_at_once() => {}
        () = tokio::time::sleep(PATIENCE) => {}
    }
}
