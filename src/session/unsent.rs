//! What the user has typed and not sent, in a file of its own beside the journal: it changes, and the
//! journal is only added to.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::private::{open_own, own_file};
use crate::conversation::{Stamped, Unsent};

#[derive(Serialize, Deserialize)]
struct Kept {
    /// When it was so, in milliseconds since 1970-01-01 UTC.
    at: u64,
    #[serde(flatten)]
    unsent: Unsent,
}

fn path(session: &Path) -> PathBuf {
    session.join("unsent.json")
}

/// Keeps this in a session's directory in place of what was kept there. A kill leaves one or the other.
///
/// # Errors
/// What the file system says.
pub fn keep_unsent(session: &Path, unsent: Unsent, now_ms: u64) -> io::Result<()> {
    let path = path(session);
    if unsent.is_empty() {
        return match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
    }
    let kept = serde_json::to_vec(&Kept { at: now_ms, unsent })?;
    let new = session.join("unsent.json.new");
    // What a kill left, or a command put there: a pipe would be waited for.
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    own_file().write(true).create_new(true).open(&new)?.write_all(&kept)?;
    fs::rename(new, path)
}

/// What is kept, but for what the records say was sent since.
///
/// # Errors
/// Why what is there cannot be read.
pub(super) fn read_unsent(session: &Path, records: &[Arc<Stamped>]) -> Result<Unsent, String> {
    let path = path(session);
    let mut text = Vec::new();
    let read = open_own(&path).and_then(|mut file| file.read_to_end(&mut text));
    let kept: io::Result<Kept> = match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Unsent::default()),
        Err(error) => Err(error),
        Ok(_) => serde_json::from_slice(&text).map_err(Into::into),
    };
    let Kept { at, mut unsent } = kept.map_err(|error| {
        // What is typed from here on is not to take its place.
        let aside = session.join("unsent-unreadable.json");
        let path = if fs::rename(&path, &aside).is_ok() { aside } else { path };
        let path = path.display();
        format!("What you had typed and not sent cannot be read from {path}: {error}.")
    })?;
    for stamped in records.iter().filter(|stamped| stamped.at >= at) {
        unsent.sent(stamped);
    }
    Ok(unsent)
}
