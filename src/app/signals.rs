//! What reaches limpid from outside the terminal's bytes: signals, and the terminal's end.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Something asked for from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// The terminal is gone, or SIGHUP says so.
    HungUp,
    /// To end, by this signal.
    End(u8),
    /// To stop, as by Ctrl-Z.
    Stop,
    /// limpid was stopped by something that it could not hear, and goes on.
    WentOn,
}

/// Listens for all of it.
pub(super) struct Signals {
    hang_up: Signal,
    interrupt: Signal,
    quit: Signal,
    terminate: Signal,
    stop: Signal,
    went_on: Signal,
    /// Of a terminal that is not limpid's controlling one no signal tells the end. `None` where it
    /// cannot be watched.
    terminal: Option<AsyncFd<File>>,
}

impl Signals {
    /// # Errors
    /// What the system says.
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            terminate: signal(SignalKind::terminate())?,
            stop: signal(SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw()))?,
            went_on: signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
            terminal: watched(),
        })
    }

    /// The next thing asked for. May be dropped and called again.
    pub(super) async fn next(&mut self) -> Asked {
        tokio::select! {
            () = ended(self.terminal.as_ref()) => Asked::HungUp,
            _ = self.hang_up.recv() => Asked::HungUp,
            _ = self.interrupt.recv() => Asked::End(2),
            _ = self.quit.recv() => Asked::End(3),
            _ = self.terminate.recv() => Asked::End(15),
            _ = self.stop.recv() => Asked::Stop,
            _ = self.went_on.recv() => Asked::WentOn,
        }
    }

    /// The next request to end at once, while limpid is ending already.
    pub(super) async fn end_at_once(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.quit.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    /// Takes the signal with which limpid's own stop ended, and stops that came meanwhile.
    pub(super) async fn forget_stop(&mut self) {
        // It has come already: only the runtime has not looked yet.
        let _ = tokio::time::timeout(Duration::from_millis(100), self.went_on.recv()).await;
        let _ = tokio::time::timeout(Duration::ZERO, self.stop.recv()).await;
    }
}

/// The terminal, for its end only: crossterm's reader does not notice it and spins.
#[expect(deprecated, reason = "what replaces it is unsafe; a file keeps its descriptor open")]
fn watched() -> Option<AsyncFd<File>> {
    let terminal = File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
    AsyncFd::with_interest(terminal, Interest::PRIORITY).ok()
}

async fn ended(terminal: Option<&AsyncFd<File>>) {
    let Some(terminal) = terminal else { return std::future::pending().await };
    if terminal.ready(Interest::PRIORITY).await.is_err() {
        std::future::pending::<()>().await;
    }
}
