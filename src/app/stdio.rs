//! The standard descriptors while the screen is on.
//!
//! What anything in this process writes to stdout or stderr (a library, the allocator, a crash of the
//! runtime) goes to a file instead of over the screen. Stdin is opened anew so that reading it never
//! waits: crossterm reads on in the middle of an escape sequence, and would hold up everything until
//! the next key. (Setting that for the descriptor we were given would set it for the shell as well.)

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixDatagram;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::fs::OFlags;

use super::stray;

/// The terminal opened for reading without waiting: once, because crossterm goes on watching the
/// first that it saw.
static UNHURRIED: OnceLock<Option<File>> = OnceLock::new();

/// Whether the terminal is gone. Held while stdin is changed.
static GONE: Mutex<bool> = Mutex::new(false);

fn gone() -> MutexGuard<'static, bool> {
    GONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stdin that has nothing to read, now and for ever, and is no terminal: a socket without a name, to
/// which nobody can send.
fn silence_stdin() -> io::Result<()> {
    let silence = UnixDatagram::unbound()?;
    silence.set_nonblocking(true)?;
    Ok(rustix::stdio::dup2_stdin(&silence)?)
}

/// From here on there is nothing to read.
///
/// A read of a terminal that is gone returns at once with nothing or an error. crossterm reads on in
/// both cases and only rests where there is nothing to read *yet*.
pub(super) fn terminal_is_gone() {
    let mut gone = gone();
    *gone = silence_stdin().is_ok();
}

/// The terminal that another program reads from: while this lives, limpid reads nothing of it.
/// (crossterm's thread cannot be stopped without a race; so it finds nothing.)
pub(super) struct Lent(OwnedFd);

impl Lent {
    /// Lends stdin.
    ///
    /// # Errors
    /// If the system has no descriptor left; nothing is lent then.
    pub(super) fn new() -> io::Result<Self> {
        let lent = Self(io::stdin().as_fd().try_clone_to_owned()?);
        let _held = gone();
        silence_stdin()?;
        Ok(lent)
    }

    /// Stdin for that program.
    ///
    /// # Errors
    /// If the system has no descriptor left.
    pub(super) fn stdin(&self) -> io::Result<OwnedFd> {
        self.0.try_clone()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if !*gone() {
            // Nothing else can be done with a descriptor that cannot be put back.
            let _ = rustix::stdio::dup2_stdin(&self.0);
        }
    }
}

/// While it lives, the descriptors are so.
pub(super) struct Stdio {
    stdin: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
}

impl Stdio {
    /// Changes all three.
    ///
    /// # Errors
    /// If the system has no descriptor left; they are then as they were.
    pub(super) fn redirect() -> io::Result<Self> {
        let stdio = Self {
            stdin: io::stdin().as_fd().try_clone_to_owned()?,
            stdout: io::stdout().as_fd().try_clone_to_owned()?,
            stderr: io::stderr().as_fd().try_clone_to_owned()?,
        };
        let file = stray::file()?;
        rustix::stdio::dup2_stdout(&file)?;
        rustix::stdio::dup2_stderr(&file)?;
        // Where it cannot be opened, it stays as it is.
        let gone = gone();
        if let Some(terminal) = UNHURRIED.get_or_init(|| unhurried().ok())
            && !*gone
        {
            rustix::stdio::dup2_stdin(terminal)?;
        }
        Ok(stdio)
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        // Nothing else can be done with a descriptor that cannot be put back.
        if !*gone() {
            let _ = rustix::stdio::dup2_stdin(&self.stdin);
        }
        let _ = rustix::stdio::dup2_stdout(&self.stdout);
        let _ = rustix::stdio::dup2_stderr(&self.stderr);
    }
}

/// The terminal, for reading what is there.
fn unhurried() -> io::Result<File> {
    let path = if cfg!(target_os = "linux") { "/proc/self/fd/0" } else { "/dev/tty" };
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}
