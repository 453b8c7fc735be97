//! Which sessions there are, and where.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::de::DeserializeOwned;

use super::journal::Header;
use super::private::open_own;
use super::reading::header;
use crate::conversation::{Origin, Profile, Record, Role, Stamped};

/// Where sessions are kept: `$XDG_DATA_HOME/limpid/sessions`, else below `~/.local/share`.
/// `None` if neither variable names an absolute path.
pub fn sessions_dir(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_DATA_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/share")))
        .map(|data| data.join("limpid/sessions"))
}

/// A session in a list.
#[derive(Debug)]
pub struct Listed {
    /// Its directory.
    pub path: PathBuf,
    /// How its journal begins.
    pub header: Header,
    /// The first prompt; none if nothing was sent.
    pub prompt: Option<String>,
    /// When it was written to last.
    pub changed: SystemTime,
    /// Bytes of all its files.
    pub bytes: u64,
    /// The number of its last turn, where its end tells.
    pub turns: Option<u32>,
    /// The way to the model that it went last, as it is shown.
    pub way: Option<String>,
}

/// Bytes of a journal in which the first prompt is looked for.
const BEGINNING: u64 = 4 << 20;

/// The sessions, that which was written to last first: those that worked in `directory`, or all.
///
/// # Errors
/// If the sessions cannot be listed. One that cannot be read is passed over.
pub fn list(sessions: &Path, directory: Option<&Path>) -> io::Result<Vec<Listed>> {
    let listed = last_used_first(sessions)?.into_iter().filter_map(|path| of(&path).ok());
    let is_meant = |listed: &Listed| directory.is_none_or(|own| listed.header.directory == own);
    Ok(listed.filter(is_meant).collect())
}

fn of(session: &Path) -> io::Result<Listed> {
    let journal = session.join("journal.jsonl");
    let mut file = open_own(&journal)?;
    let changed = file.metadata()?.modified()?;
    let mut reader = BufReader::new(Read::by_ref(&mut file).take(BEGINNING));
    let header = header(&mut reader, &journal).map_err(io::Error::other)?;
    let (mut prompt, mut first) = (None, None);
    for line in reader.lines().map_while(Result::ok) {
        match serde_json::from_str(&line).map(|Stamped { record, .. }| record) {
            Ok(Record::Entry(entry))
                if (entry.role, entry.origin) == (Role::User, Origin::User) =>
            {
                prompt = Some(entry.text());
                break;
            }
            Ok(Record::Profile(profile)) => first = Some(profile),
            _ => {}
        }
    }
    let end = end_of(&mut file)?;
    let turns = newest(&end, b"\"record\":{\"request\":{\"turn\":");
    let last = newest(&end, b"\"record\":{\"profile\":").or(first);
    Ok(Listed {
        path: session.to_owned(),
        header,
        prompt,
        changed,
        bytes: bytes_in(session),
        turns,
        way: last.map(|way: Profile| way.shown()),
    })
}

/// Bytes of a journal's end in which its last turn is looked for.
const END: u64 = 256 << 10;

fn end_of(file: &mut File) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(END)))?;
    let mut end = Vec::new();
    file.take(END).read_to_end(&mut end)?;
    Ok(end)
}

/// What follows the last place where this stands. No text that a record holds can say so: there, quotes
/// are escaped.
fn newest<T: DeserializeOwned>(journal: &[u8], before: &[u8]) -> Option<T> {
    let at = journal.windows(before.len()).rposition(|window| window == before)?;
    serde_json::Deserializer::from_slice(&journal[at + before.len()..]).into_iter().next()?.ok()
}

/// Bytes of the files in a session's directory. What cannot be looked at counts as nothing.
fn bytes_in(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(data) if data.is_dir() => bytes_in(&entry.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

/// The session that worked in `directory` and was written to last, or `None`.
///
/// # Errors
/// If the sessions cannot be listed. A session without a readable header is passed over.
pub fn latest_of(sessions: &Path, directory: &Path) -> io::Result<Option<PathBuf>> {
    Ok(last_used_first(sessions)?.into_iter().find(|path| {
        let journal = path.join("journal.jsonl");
        open_own(&journal).is_ok_and(|file| {
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

/// The sessions that have a journal, that which was written to last first.
fn last_used_first(sessions: &Path) -> io::Result<Vec<PathBuf>> {
    let changed = |path: PathBuf| {
        let journal = fs::symlink_metadata(path.join("journal.jsonl")).ok()?;
        Some((journal.modified().ok()?, path))
    };
    let mut paths: Vec<_> = newest_first(sessions)?.into_iter().filter_map(changed).collect();
    paths.sort_by_key(|(changed, _)| std::cmp::Reverse(*changed));
    Ok(paths.into_iter().map(|(_, path)| path).collect())
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
