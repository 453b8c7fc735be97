//! The terminal: taking it over and giving it back, on every way out and around a stop (Ctrl-Z).
//!
//! Nothing is asked of the terminal (its reply could leak into the draft); the keyboard flags are
//! pushed blindly and popped. All that is written to it passes one lock, so that nothing comes
//! between the bytes of a frame, and nothing after those that give it back.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use ratatui::layout::Size;
use ratatui::{Frame, Terminal};

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

/// The terminal while it is ours.
static HELD: Mutex<Option<Held>> = Mutex::new(None);

struct Held {
    tty: File,
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
    let mut tty = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    enable_raw_mode()?;
    let entered = tty.write_all(ENTER.as_bytes()).and_then(|()| Stdio::redirect());
    match entered {
        Ok(stdio) => {
            *held = Some(Held { tty, farewell: farewell.to_owned(), _stdio: stdio });
            Ok(())
        }
        Err(error) => {
            let _ = tty.write_all(LEAVE.as_bytes());
            let _ = disable_raw_mode();
            Err(error)
        }
    }
}

/// Gives the terminal back as it was. Does nothing the second time.
/// Failures cannot be helped: the terminal is gone then.
pub(super) fn restore() {
    let mut held = held();
    let Some(Held { mut tty, farewell, _stdio }) = held.take() else { return };
    let _ = tty.write_all(format!("{farewell}{LEAVE}").as_bytes());
    let _ = disable_raw_mode();
}

/// Writes to the terminal.
///
/// # Errors
/// What the terminal says, or that it is not ours.
pub(super) fn write(bytes: &[u8]) -> io::Result<()> {
    match &mut *held() {
        Some(held) => held.tty.write_all(bytes),
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
pub(super) struct Screen(Terminal<Canvas>);

impl Screen {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self(Terminal::new(Canvas::new(size()))?))
    }

    /// Nobody knows what the terminal shows: the next frame is written whole.
    pub(super) fn forget(&mut self) {
        self.0.backend_mut().forget();
    }

    /// Draws a frame in the size that the terminal has now. Returns how many bytes it took.
    ///
    /// # Errors
    /// What the terminal says.
    pub(super) fn draw(&mut self, render: impl FnOnce(&mut Frame<'_>)) -> io::Result<usize> {
        self.0.backend_mut().set_size(size());
        self.0.draw(render)?;
        let bytes = self.0.backend().bytes.as_slice();
        if !bytes.is_empty() {
            write(bytes)?;
        }
        Ok(bytes.len())
    }
}
