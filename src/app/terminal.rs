//! The terminal: taking it over and giving it back, on every way out.
//!
//! Nothing is asked of the terminal (its reply could leak into the draft); the keyboard flags are
//! pushed blindly and popped.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::Show;
use crossterm::event::{
    DisableBracketedPaste, EnableBracketedPaste, KeyboardEnhancementFlags,
    PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

/// What frames are drawn to: one `write(2)` a frame.
pub(super) type Screen = Terminal<CrosstermBackend<BufWriter<File>>>;

static TAKEN: AtomicBool = AtomicBool::new(false);

/// Why the screen cannot be opened here, if it cannot.
pub(crate) fn unfit() -> Option<String> {
    let hint = "For use without a screen: limpid exec \"PROMPT\"";
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Some(format!("the screen needs a terminal on stdin and stdout. {hint}"));
    }
    match std::env::var("TERM") {
        Ok(term) if term != "dumb" && !term.is_empty() => None,
        _ => Some(format!("this terminal (TERM) cannot show a full screen. {hint}")),
    }
}

/// Takes the terminal over.
///
/// # Errors
/// What the terminal says; it is then as it was.
pub(super) fn take() -> io::Result<Screen> {
    install_panic_hook();
    TAKEN.store(true, Ordering::SeqCst);
    let taken = enter();
    if taken.is_err() {
        restore();
    }
    taken
}

fn enter() -> io::Result<Screen> {
    enable_raw_mode()?;
    let mut out = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    execute!(
        out,
        EnterAlternateScreen,
        EnableBracketedPaste,
        PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES)
    )?;
    Terminal::new(CrosstermBackend::new(BufWriter::with_capacity(1 << 16, out)))
}

/// Whether the terminal is ours: a panic in the background gives it back.
pub(super) fn is_taken() -> bool {
    TAKEN.load(Ordering::SeqCst)
}

/// Gives the terminal back as it was. Does nothing the second time. Failures cannot be helped: the
/// terminal is gone then.
pub(super) fn restore() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout().lock();
    let _ =
        queue!(out, PopKeyboardEnhancementFlags, DisableBracketedPaste, LeaveAlternateScreen, Show);
    let _ = out.flush();
    let _ = disable_raw_mode();
}

/// A panic anywhere gives the terminal back before its report is printed.
fn install_panic_hook() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        restore();
        report(info);
    }));
}
