//! What reaches limpid from outside the terminal's bytes: signals, and the terminal's end.

use std::future::poll_fn;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal as Kind;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

use super::suspend::Lenders;
use super::{leave, stdio};

/// Something asked for from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// The terminal is gone, or SIGHUP says so, or the shell that lent it has ended.
    HungUp,
    /// To end, by this signal.
    End(Kind),
    /// To stop, as by Ctrl-Z.
    Stop,
    /// limpid was stopped by something that it could not hear, and goes on.
    WentOn,
}

/// What ends a program that does not listen: from a key, a user or a limit. (Not those
/// of a fault of its own: who has it cannot go on.)
const ENDS: [Kind; 9] = [
    Kind::INT,
    Kind::QUIT,
    Kind::TERM,
    Kind::USR1,
    Kind::USR2,
    Kind::ALARM,
    Kind::XCPU,
    Kind::VTALARM,
    Kind::PROF,
];

/// Those of them that the terminal's keys send.
pub(super) const OF_KEYS: [Kind; 2] = [Kind::INT, Kind::QUIT];

/// Listens for all of it.
pub(super) struct Signals {
    hang_up: Signal,
    ends: Vec<(Kind, Signal)>,
    stop: Signal,
    went_on: Signal,
    terminal: Arc<Terminal>,
    /// Of the end of a terminal that is not limpid's controlling one, and of who lent it, no signal
    /// tells.
    terminal_ended: Arc<Notify>,
}

impl Signals {
    /// # Errors
    /// What the system says.
    pub(super) fn listen() -> io::Result<Self> {
        let stdin = io::stdin().as_fd().try_clone_to_owned()?;
        let terminal = Arc::new(Terminal { stdin, lenders: Lenders::watch()? });
        Ok(Self {
            hang_up: signal(SignalKind::hangup())?,
            ends: ENDS
                .into_iter()
                .map(|kind| Ok((kind, heard(kind)?)))
                .collect::<io::Result<_>>()?,
            stop: heard(Kind::TSTP)?,
            went_on: heard(Kind::CONT)?,
            terminal_ended: watch(terminal.clone())?,
            terminal,
        })
    }

    /// The next thing asked for. May be dropped and called again.
    pub(super) async fn next(&mut self) -> Asked {
        tokio::select! {
            () = self.terminal_ended.notified() => Asked::HungUp,
            _ = self.hang_up.recv() => Asked::HungUp,
            kind = end(&mut self.ends) => Asked::End(kind),
            _ = self.stop.recv() => Asked::Stop,
            _ = self.went_on.recv() => {
                if self.terminal_is_gone() { Asked::HungUp } else { Asked::WentOn }
            }
        }
    }

    /// Takes the keys' signals that came while another program had the terminal: they went to all.
    pub(super) async fn forget_interrupts(&mut self) {
        for (_, signal) in self.ends.iter_mut().filter(|(kind, _)| OF_KEYS.contains(kind)) {
            let _ = tokio::time::timeout(Duration::ZERO, signal.recv()).await;
        }
    }

    /// Whether the terminal is gone, or limpid's no more, which may be the reason for a failure.
    pub(super) fn terminal_is_gone(&self) -> bool {
        self.terminal.has_ended(Some(&Timespec::default()))
    }

    /// The next request to end at once, while limpid is ending already.
    pub(super) async fn end_at_once(&mut self) {
        end(&mut self.ends).await;
    }

    /// Takes the signal with which limpid's own stop ended, and stops that came meanwhile.
    pub(super) async fn forget_stop(&mut self) {
        // It has come already: only the runtime has not looked yet.
        let _ = tokio::time::timeout(Duration::from_millis(100), self.went_on.recv()).await;
        let _ = tokio::time::timeout(Duration::ZERO, self.stop.recv()).await;
    }
}

fn heard(kind: Kind) -> io::Result<Signal> {
    signal(SignalKind::from_raw(kind.as_raw()))
}

/// The next of these signals. May be dropped and called again.
async fn end(ends: &mut [(Kind, Signal)]) -> Kind {
    poll_fn(|context| {
        let come = ends
            .iter_mut()
            .find_map(|(kind, signal)| signal.poll_recv(context).is_ready().then_some(*kind));
        come.map_or(Poll::Pending, Poll::Ready)
    })
    .await
}

/// Watches for the terminal's end, from a thread of its own: whoever asks crossterm for keys then may
/// not come back, because it reads on whether it gets nothing or an error. It is [released] here. Where
/// that is of no use (crossterm had not looked at stdin yet, and opened the terminal itself), limpid ends
/// from here: what ran ends with it, and what was said is in the journal.
///
/// [released]: stdio::terminal_is_gone
///
/// # Errors
/// If the system has no thread left.
fn watch(terminal: Arc<Terminal>) -> io::Result<Arc<Notify>> {
    let ended = Arc::new(Notify::new());
    let told = ended.clone();
    std::thread::Builder::new().name("terminal".to_owned()).spawn(move || {
        if terminal.has_ended(None) {
            stdio::terminal_is_gone();
            told.notify_one();
            std::thread::sleep(2 * leave::PATIENCE);
            std::process::exit(128 + Kind::HUP.as_raw());
        }
    })?;
    Ok(ended)
}

/// The terminal, and whom limpid has it from.
struct Terminal {
    stdin: OwnedFd,
    lenders: Lenders,
}

impl Terminal {
    /// Waits for the end of one of them, at most so long. `false` also if the system cannot tell.
    fn has_ended(&self, at_most: Option<&Timespec>) -> bool {
        let mut watched = vec![PollFd::new(&self.stdin, PollFlags::empty())];
        watched.extend(self.lenders.fds().iter().map(|fd| PollFd::new(fd, PollFlags::IN)));
        loop {
            match poll(&mut watched, at_most) {
                Ok(_) => {
                    let end = PollFlags::HUP | PollFlags::IN;
                    return watched.iter().any(|watched| watched.revents().intersects(end));
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return false,
            }
        }
    }
}
