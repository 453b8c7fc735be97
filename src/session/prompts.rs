//! The prompts of earlier sessions of a directory, for searching them: the newest sessions only, and
//! of long journals the end.

use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use super::listing::newest_first;
use super::private::open_own;
use super::reading::header;
use crate::conversation::{Origin, Record, Role, Stamped};

/// Sessions that are read.
const SESSIONS: usize = 40;
/// Bytes of a journal that are read.
const BYTES: u64 = 8 << 20;

/// The newest prompts of earlier sessions of `directory`, oldest first, at most so many.
///
/// # Errors
/// If the sessions cannot be listed. One that cannot be read is passed over.
pub fn earlier_prompts(sessions: &Path, directory: &Path, most: usize) -> io::Result<Vec<String>> {
    let mut prompts = Vec::new();
    let mut read = 0;
    for session in newest_first(sessions)? {
        if prompts.len() >= most || read == SESSIONS {
            break;
        }
        let Ok(Some(found)) = of_session(&session.join("journal.jsonl"), directory) else {
            continue;
        };
        read += 1;
        prompts.extend(found.into_iter().rev());
    }
    prompts.truncate(most);
    prompts.reverse();
    Ok(prompts)
}

/// The prompts of one session, oldest first; `None` if it is another directory's.
fn of_session(journal: &Path, directory: &Path) -> io::Result<Option<Vec<String>>> {
    let mut reader = BufReader::new(open_own(journal)?);
    match header(&mut reader, journal) {
        Ok(header) if header.directory == directory => {}
        _ => return Ok(None),
    }
    let length = reader.get_ref().metadata()?.len();
    let mut line = Vec::new();
    if length > BYTES {
        reader.seek(SeekFrom::Start(length - BYTES))?;
        reader.read_until(b'\n', &mut line)?;
    }
    let mut prompts = Vec::new();
    let mut own = None;
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(Some(prompts));
        }
        // Most of a journal is neither; only what may be is read in full.
        if !holds(&line, b"\"origin\":\"user\"") && !holds(&line, b"\"output\":") {
            continue;
        }
        let Ok(stamped) = serde_json::from_slice::<Stamped>(&line) else { continue };
        match stamped.record {
            Record::CallFinished(finished) => own = finished.output.or(own),
            Record::Entry(entry) if (entry.role, entry.origin) == (Role::User, Origin::User) => {
                let text = entry.text();
                // What tells of a command of the user's own was not typed.
                if own.as_ref() != Some(&text) {
                    prompts.push(text);
                }
            }
            _ => {}
        }
    }
}

fn holds(line: &[u8], part: &[u8]) -> bool {
    line.windows(part.len()).any(|window| window == part)
}
