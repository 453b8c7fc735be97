//! What reaches limpid from outside the terminal's bytes: signals, and the terminal's end.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

use super::stdio;
use super::suspend::Shell;

/// Something asked for from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// The terminal is gone, or SIGHUP says so, or the shell that lent it has ended.
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
    shell: Shell,
    terminal: File,
    /// Of a terminal that is not limpid's controlling one no signal tells the end.
    terminal_ended: Arc<Notify>,
}

impl Signals {
    /// # Errors
    /// What the system says.
    pub(super) fn listen() -> io::Result<Self> {
        let terminal = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        Ok(Self {
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            terminate: signal(SignalKind::terminate())?,
            stop: signal(SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw()))?,
            went_on: signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
            shell: Shell::watch()?,
            terminal_ended: watch(terminal.try_clone()?)?,
            terminal,
        })
    }

    /// The next thing asked for. May be dropped and called again.
    pub(super) async fn next(&mut self) -> Asked {
        tokio::select! {
            () = self.terminal_ended.notified() => Asked::HungUp,
            _ = self.hang_up.recv() => Asked::HungUp,
            _ = self.interrupt.recv() => Asked::End(2),
            _ = self.quit.recv() => Asked::End(3),
            _ = self.terminate.recv() => Asked::End(15),
            _ = self.stop.recv() => Asked::Stop,
            _ = self.went_on.recv() => {
                if self.shell.has_ended() { Asked::HungUp } else { Asked::WentOn }
            }
        }
    }

    /// Takes the keys' signals that came while another program had the terminal: they went to all.
    pub(super) async fn forget_interrupts(&mut self) {
        let _ = tokio::time::timeout(Duration::ZERO, self.interrupt.recv()).await;
        let _ = tokio::time::timeout(Duration::ZERO, self.quit.recv()).await;
    }

    /// Whether the terminal is gone, which may be the reason for a failure.
    pub(super) fn terminal_is_gone(&self) -> bool {
        has_ended(&self.terminal, Some(&Timespec::default()))
    }

    /// The next request to end at once, while limpid is ending already.
    pub(super) async fn end_at_once(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.quit.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    /// Whether the shell that started limpid has ended.
    pub(super) fn shell_has_ended(&self) -> bool {
        self.shell.has_ended()
    }

    /// Takes the signal with which limpid's own stop ended, and stops that came meanwhile.
    pub(super) async fn forget_stop(&mut self) {
        // It has come already: only the runtime has not looked yet.
        let _ = tokio::time::timeout(Duration::from_millis(100), self.went_on.recv()).await;
        let _ = tokio::time::timeout(Duration::ZERO, self.stop.recv()).await;
    }
}

/// Watches for the terminal's end, from a thread of its own: whoever asks crossterm for keys then may
/// not come back, because it reads on whether it gets nothing or an error. It is [released] here.
///
/// [released]: stdio::terminal_is_gone
///
/// # Errors
/// If the system has no thread left.
fn watch(terminal: File) -> io::Result<Arc<Notify>> {
    let ended = Arc::new(Notify::new());
    let told = ended.clone();
    std::thread::Builder::new().name("terminal".to_owned()).spawn(move || {
        if has_ended(&terminal, None) {
            stdio::terminal_is_gone();
            told.notify_one();
        }
    })?;
    Ok(ended)
}

/// Waits for a terminal's end, at most so long. `false` also if the system cannot tell of it.
fn has_ended(terminal: &File, at_most: Option<&Timespec>) -> bool {
    loop {
        let mut watched = [PollFd::new(terminal, PollFlags::empty())];
        match poll(&mut watched, at_most) {
            Ok(_) => return watched[0].revents().contains(PollFlags::HUP),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}
