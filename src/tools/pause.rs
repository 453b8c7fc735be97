//! Stopping all running commands together with limpid, and letting them go on.
//!
//! limpid's own stop (Ctrl-Z) does not reach them: each is in a session of its own. So their minders
//! are told, in one byte each, and need limpid for nothing while it stands still.

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Tells a minder to stop its tree.
pub(super) const PAUSE: u8 = b's';
/// Tells a minder to let its tree go on.
pub(super) const RESUME: u8 = b'c';

/// The links of all minders that live.
static LINKS: Mutex<Vec<Weak<UnixStream>>> = Mutex::new(Vec::new());

/// Makes a minder known, for as long as what comes back is kept.
pub(super) fn register(link: UnixStream) -> Arc<UnixStream> {
    let link = Arc::new(link);
    let mut links = LINKS.lock().unwrap_or_else(PoisonError::into_inner);
    links.retain(|link| link.strong_count() > 0);
    links.push(Arc::downgrade(&link));
    link
}

/// Stops every command that runs.
pub fn pause_commands() {
    tell(PAUSE);
}

/// Lets every command go on.
pub fn resume_commands() {
    tell(RESUME);
}

fn tell(word: u8) {
    for link in LINKS.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        if let Some(link) = link.upgrade() {
            // A minder that is gone has nothing to stop.
            let _ = (&*link).write(&[word]);
        }
    }
}
