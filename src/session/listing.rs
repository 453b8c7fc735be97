//! Which sessions there are, and where.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use super::journal::header;

/// Where sessions are kept: `$XDG_DATA_HOME/limpid/sessions`, else below `~/.local/share`.
/// `None` if neither variable names an absolute path.
pub fn sessions_dir(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_DATA_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/share")))
        .map(|data| data.join("limpid/sessions"))
}

/// The newest session that worked in `directory`, or `None`.
///
/// # Errors
/// If the sessions cannot be listed. A session without a readable header is passed over.
pub fn latest_of(sessions: &Path, directory: &Path) -> io::Result<Option<PathBuf>> {
    Ok(newest_first(sessions)?.into_iter().find(|path| {
        let journal = path.join("journal.jsonl");
        File::open(&journal).is_ok_and(|file| {
            header(&mut BufReader::new(file), &journal)
                .is_ok_and(|header| header.directory == directory)
        })
    }))
}

/// The session of this name, or whose name begins so if only one does.
///
/// # Errors
/// If the sessions cannot be listed.
pub fn find(sessions: &Path, name: &str) -> io::Result<Option<PathBuf>> {
    let mut found: Vec<_> = newest_first(sessions)?
        .into_iter()
        .filter(|path| {
            path.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.starts_with(name))
        })
        .collect();
    if let Some(exact) = found.iter().find(|path| path.ends_with(name)) {
        return Ok(Some(exact.clone()));
    }
    Ok(if found.len() == 1 { found.pop() } else { None })
}

pub(super) fn newest_first(sessions: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(sessions) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort_unstable_by(|a, b| b.cmp(a));
    Ok(paths)
}
