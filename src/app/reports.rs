//! A panic anywhere ends limpid in good order: the terminal is given back first, a report is saved,
//! and the event loop is told. Not here: what becomes of the session (`leave`).

use std::backtrace::Backtrace;
use std::io::{self, IsTerminal as _, Write as _};
use std::panic::PanicHookInfo;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::terminal;
use crate::agent::now_ms;
use crate::session::{own_directory, own_file, sessions_dir};
use crate::text::{self, Secrets, Show, say};

/// Whether anything panicked; locked while it is told.
static BROKEN: Mutex<bool> = Mutex::new(false);
static BROKE: Notify = Notify::const_new();
/// What no report may hold.
static SECRETS: Mutex<Option<Secrets>> = Mutex::new(None);

/// Installs the panic hook. No report will hold one of the secrets.
pub(super) fn install(secrets: Secrets) {
    *SECRETS.lock().unwrap_or_else(PoisonError::into_inner) = Some(secrets);
    std::panic::set_hook(Box::new(|info| {
        let mut broken = broken();
        terminal::restore();
        if !*broken {
            tell(info);
        }
        *broken = true;
        BROKE.notify_one();
    }));
}

/// Whether anything panicked. If so, it has been told.
pub(super) fn is_broken() -> bool {
    *broken()
}

fn broken() -> MutexGuard<'static, bool> {
    BROKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a panic.
pub(super) async fn broke() {
    BROKE.notified().await;
}

/// limpid's own folder in the user's data.
///
/// # Errors
/// Why there is none.
pub(super) fn folder() -> io::Result<PathBuf> {
    let sessions = sessions_dir(|name| std::env::var_os(name));
    let Some(folder) = sessions.as_deref().and_then(Path::parent) else {
        return Err(io::Error::other("neither XDG_DATA_HOME nor HOME names a directory"));
    };
    own_directory(folder)?;
    Ok(folder.to_owned())
}

/// Saves the report and says so on the terminal. A terminal that is gone, or takes nothing,
/// is told nothing.
fn tell(info: &PanicHookInfo<'_>) {
    let what = what(info);
    let what = without_secrets(&what);
    let shown = text::visible(&what, Show::Prose);
    let saved = save(&what);
    if terminal::is_deaf() && io::stderr().is_terminal() {
        return;
    }
    let mut stderr = io::stderr().lock();
    let _ = writeln!(stderr, "{}", say!("limpid: a part of it broke down: {what}", what = shown));
    let _ = match saved {
        Ok(path) => writeln!(
            stderr,
            "{}",
            say!(
                "A report is in {path} (no key is in it). Please send it to whoever makes limpid.",
                path = path.display(),
            )
        ),
        Err(error) => {
            writeln!(stderr, "{}", say!("No report could be saved: {error}", error = error))
        }
    };
}

fn what(info: &PanicHookInfo<'_>) -> String {
    let message = info.payload_as_str().unwrap_or("no message");
    let place = info.location().map(|place| format!(" ({}:{})", place.file(), place.line()));
    format!("{message}{}", place.unwrap_or_default())
}

fn save(what: &str) -> io::Result<PathBuf> {
    let path = folder()?.join(format!("panic-{}-{:x}.txt", now_ms(), std::process::id()));
    let thread = std::thread::current();
    let report = format!(
        "limpid {}\nthread: {}\npanic: {what}\n\n{}\n",
        env!("CARGO_PKG_VERSION"),
        thread.name().unwrap_or("without a name"),
        Backtrace::force_capture()
    );
    let mut file = own_file().write(true).create_new(true).open(&path)?;
    file.write_all(without_secrets(&report).as_bytes())?;
    Ok(path)
}

fn without_secrets(text: &str) -> String {
    let secrets = SECRETS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    secrets.map_or(text.to_owned(), |secrets| secrets.redact(text).into_owned())
}
