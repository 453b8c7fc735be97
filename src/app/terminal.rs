//! The terminal: taking it over and giving it back, on every way out and around a stop (Ctrl-Z).
//!
//! Nothing is asked of the terminal (its reply could leak into the draft); the keyboard flags are
//! pushed blindly and popped. All that is written to it passes one lock, so that nothing comes
//! between the bytes of a frame, and nothing after those that give it back.
//!
//! Writing never waits: what a terminal does not take (it hangs, its line is slow, somebody stopped
//! it) is kept until it does, and meanwhile no frame is drawn. So limpid hears signals whatever the
//! terminal does, and ends.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Size};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::termios::{QueueSelector, tcflush};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::canvas::Canvas;
use super::stdio::Stdio;

/// Switches everything on. A limpid that was killed could switch nothing off: what it left is undone
/// first, and its keyboard flags are popped before ours are pushed, so that they never pile up.
/// The mouse is left to the terminal until the user says otherwise ([`mouse`]).
const ENTER: &str = concat!(
    "\x1b[?1049h\x1b[r\x1b[0m\x1b[?2026l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l",
    "\x1b[<1u\x1b[>1u\x1b[?2004h\x1b[?1004h",
);

/// Switches everything off.
const LEAVE: &str = "\x1b[?2026l\x1b[r\x1b[0m\x1b[?1006l\x1b[?1000l\x1b[?1004l\x1b[?2004l\x1b[<1u\x1b[?1049l\x1b[?25h";

/// How long a terminal may take to take what gives it back.
const PATIENCE: Duration = Duration::from_millis(500);

/// The terminal while it is ours.
static HELD: Mutex<Option<Held>> = Mutex::new(None);

/// Whether the terminal did not take what gave it back.
static DEAF: AtomicBool = AtomicBool::new(false);

struct Held {
    /// Opened so that writing to it never waits.
    tty: File,
    /// What it has not taken yet.
    pending: Vec<u8>,
    /// What to write before everything else is switched off.
    farewell: String,
    _stdio: Stdio,
}

fn held() -> MutexGuard<'static, Option<Held>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why the screen cannot be opened here, if it cannot.
pub(crate) fn unfit() -> Option<String> {
    let hint = "For use without a screen: limpid exec \"PROMPT\"";
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Some(format!("the screen needs a terminal on stdin and stdout. {hint}"));
    }
    let why = match std::env::var("TERM") {
        Ok(term) if term == "dumb" => "TERM=dumb says that this one cannot show it",
        Ok(term) if !term.is_empty() => return None,
        _ => "TERM is not set, so nobody knows which one this is (try TERM=xterm-256color)",
    };
    Some(format!("the screen needs a terminal, and {why}. {hint}"))
}

/// Takes the terminal over. `farewell` is written first when it is given back.
///
/// # Errors
/// What the terminal says; it is then as it was.
pub(super) fn take(farewell: &str) -> io::Result<()> {
    let mut held = held();
    let mut tty =
        unhurried().or_else(|_| io::stdout().as_fd().try_clone_to_owned().map(File::from))?;
    enable_raw_mode()?;
    DEAF.store(false, Ordering::Relaxed);
    let mut pending = ENTER.as_bytes().to_vec();
    let entered = pass_on(&mut tty, &mut pending).and_then(|()| Stdio::redirect());
    match entered {
        Ok(stdio) => {
            *held = Some(Held { tty, pending, farewell: farewell.to_owned(), _stdio: stdio });
            Ok(())
        }
        Err(error) => {
            let _ = tty.write_all(LEAVE.as_bytes());
            let _ = disable_raw_mode();
            Err(error)
        }
    }
}

/// The terminal, for writing what it takes. (Setting that for the descriptor we were given would set
/// it for the shell as well.)
fn unhurried() -> io::Result<File> {
    let path = if cfg!(target_os = "linux") { "/proc/self/fd/1" } else { "/dev/tty" };
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    OpenOptions::new().write(true).custom_flags(flags.bits().cast_signed()).open(path)
}

/// Gives the terminal back as it was. Does nothing the second time.
/// Failures cannot be helped: the terminal is gone then.
pub(super) fn restore() {
    let mut held = held();
    let Some(Held { mut tty, mut pending, farewell, _stdio }) = held.take() else { return };
    pending.extend_from_slice(farewell.as_bytes());
    pending.extend_from_slice(LEAVE.as_bytes());
    let mut given_back = pass_on_within(PATIENCE, &mut tty, &mut pending);
    if given_back.is_err() {
        // Nobody reads what is still on its way: that makes room for what matters. The sequence that
        // was cut off is cancelled first.
        let _ = tcflush(&tty, QueueSelector::OFlush);
        pending = format!("\x18{farewell}{LEAVE}").into_bytes();
        given_back = pass_on_within(Duration::ZERO, &mut tty, &mut pending);
    }
    DEAF.store(given_back.is_err(), Ordering::Relaxed);
    let _ = disable_raw_mode();
}

/// Whether the terminal took nothing when it was given back: what is written to it then waits for
/// ever.
pub(super) fn is_deaf() -> bool {
    DEAF.load(Ordering::Relaxed)
}

/// Writes to the terminal, what it does not take at once a little later ([`takes_more`]).
///
/// # Errors
/// What the terminal says, or that it is not ours.
pub(super) fn write(bytes: &[u8]) -> io::Result<()> {
    match &mut *held() {
        Some(held) => {
            held.pending.extend_from_slice(bytes);
            pass_on(&mut held.tty, &mut held.pending)
        }
        None => Err(io::Error::other("the terminal was given back")),
    }
}

/// Takes presses and the wheel of the mouse from the terminal, or gives them back.
///
/// # Errors
/// What the terminal says.
pub(super) fn mouse(on: bool) -> io::Result<()> {
    write(if on { b"\x1b[?1000h\x1b[?1006h" } else { b"\x1b[?1006l\x1b[?1000l" })
}

/// Whether the terminal has not taken all that was written.
pub(super) fn is_behind() -> bool {
    held().as_ref().is_some_and(|held| !held.pending.is_empty())
}

/// Waits until the terminal takes more. May be dropped and called again.
#[expect(deprecated, reason = "what replaces it is unsafe; a file keeps its descriptor open")]
pub(super) async fn takes_more() {
    let watched = held().as_ref().and_then(|held| {
        AsyncFd::with_interest(held.tty.try_clone().ok()?, Interest::WRITABLE).ok()
    });
    match watched {
        // Should the watch fail, so does the write that comes next.
        Some(watched) => drop(watched.writable().await),
        None => tokio::time::sleep(Duration::from_millis(10)).await,
    }
}

/// Gives a terminal as much as it takes now.
fn pass_on(tty: &mut File, pending: &mut Vec<u8>) -> io::Result<()> {
    let mut taken = 0;
    let result = loop {
        if taken == pending.len() {
            break Ok(());
        }
        match tty.write(&pending[taken..]) {
            Ok(0) => break Ok(()),
            Ok(count) => taken += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => break Ok(()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => break Err(error),
        }
    };
    pending.drain(..taken);
    result
}

/// Gives a terminal everything, unless that takes too long.
fn pass_on_within(time: Duration, tty: &mut File, pending: &mut Vec<u8>) -> io::Result<()> {
    let until = Instant::now() + time;
    loop {
        pass_on(tty, pending)?;
        if pending.is_empty() {
            return Ok(());
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        let wait = Timespec::try_from(left).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&*tty, PollFlags::OUT)], Some(&wait)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Makes crossterm look for input again. It waits for news of the terminal (an edge of epoll), but
/// does not always read all that one brought: the rest of a long text would wait for the next key.
/// Setting the terminal as it is set is such news. Should it fail, the rest waits.
pub(super) fn look_again() {
    use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
    let stdin = io::stdin();
    let _ =
        tcgetattr(&stdin).and_then(|as_it_is| tcsetattr(&stdin, OptionalActions::Now, &as_it_is));
}

/// Columns and rows. A terminal that does not know its size (a serial line) has the usual one.
pub(super) fn size() -> Size {
    let size = held().as_ref().and_then(|held| rustix::termios::tcgetwinsize(&held.tty).ok());
    match size {
        Some(size) if size.ws_col > 0 && size.ws_row > 0 => Size::new(size.ws_col, size.ws_row),
        _ => Size::new(80, 24),
    }
}

/// What frames are drawn on: one `write(2)` a frame.
#[derive(Default)]
pub(super) struct Screen(Canvas);

impl Screen {
    /// Nobody knows what the terminal shows: the next frame is written whole.
    pub(super) fn forget(&mut self) {
        self.0.forget();
    }

    /// Draws a frame in the size that the terminal has now.
    ///
    /// # Errors
    /// What the terminal says.
    pub(super) fn draw(
        &mut self,
        draw: impl FnOnce(&mut Buffer) -> Option<Position>,
    ) -> io::Result<()> {
        let bytes = self.0.frame(size(), draw)?;
        if bytes.is_empty() { Ok(()) } else { write(bytes) }
    }
}
