//! Reading a journal back: what its records add up to, or all of them, to go on with it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use super::exchange::set_strays_aside;
use super::journal::{Header, Journal, VERSION, holder, lock};
use super::private::{open_own, open_own_to_append};
use super::unsent::read_unsent;
use crate::conversation::{Record, Session, Stamped, Unsent};

/// A journal read back.
#[derive(Debug)]
pub struct Loaded {
    /// Its first line.
    pub header: Header,
    /// What its records add up to.
    pub session: Session,
    /// Lines that could not be read, each with its number and why.
    pub notices: Vec<String>,
}

/// Why a journal cannot be read at all.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file cannot be opened or read.
    #[error("cannot read {path}: {source}. Nothing was changed; limpid inspect lists the sessions")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
    },
    /// It can be read, and what follows could not be saved.
    #[error(
        "{path} cannot be written to: {source}, so that nothing of what follows could be saved. \
         Nothing was started; limpid inspect {session} shows what was sent"
    )]
    ReadOnly {
        /// The file or directory.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
        /// The session's name.
        session: String,
    },
    /// The first line is not a header.
    #[error(
        "{path} is not a session journal: its first line is no header ({why}). Nothing was changed; \
         limpid inspect lists the sessions"
    )]
    NoHeader {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Another limpid writes into it.
    #[error(
        "{path} is open in another limpid ({who}); nothing was changed. Go on there, or end it first"
    )]
    InUse {
        /// The file.
        path: PathBuf,
        /// Which one, in words.
        who: String,
    },
    /// The model would be told something else than before.
    #[error(
        "{path} is damaged: entry {entry} of its history is lost, and going on would tell the \
         model something else than before. Nothing was started; limpid inspect shows what is left"
    )]
    Lost {
        /// The file.
        path: PathBuf,
        /// The entry.
        entry: u64,
    },
    /// Written by a newer limpid.
    #[error(
        "{path} has journal version {version}; this limpid reads up to {VERSION}. Nothing was \
         changed; a newer limpid can open it"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
}

/// Bytes that are read at a time.
const BUFFER: usize = 1 << 16;

/// Bytes of a header's line at most: what is longer is none.
const LONGEST_HEADER: u64 = 64 * 1024;

/// Reads the journal in a session's directory. Damaged lines are skipped and named.
///
/// # Errors
/// [`JournalError`] if there is nothing to read.
pub fn load(session: &Path) -> Result<Loaded, JournalError> {
    let path = session.join("journal.jsonl");
    let file = open_own(&path).map_err(|source| JournalError::Io { path: path.clone(), source })?;
    let (header, read) = read(&file, &path)?;
    Ok(Loaded { header, session: folded(&read.records), notices: read.notices })
}

fn folded(records: &[Arc<Stamped>]) -> Session {
    let mut session = Session::default();
    for stamped in records {
        session.apply(stamped);
    }
    session
}

/// A session to go on with.
#[derive(Debug)]
pub struct Reopened {
    /// Its first line.
    pub header: Header,
    /// Its records, in order.
    pub records: Vec<Arc<Stamped>>,
    /// What they add up to.
    pub session: Session,
    /// Lines that could not be read, each with its number and why.
    pub notices: Vec<String>,
    /// What the user had typed and not sent.
    pub unsent: Unsent,
    /// Writes what follows. Until it is dropped nobody else can.
    pub journal: Journal,
}

/// Reads the journal in a session's directory, to go on with it. Damaged lines stay as they are.
///
/// # Errors
/// [`JournalError`] if there is nothing to read, if another limpid writes into it, or if the history
/// is not whole.
pub fn reopen(session: &Path) -> Result<Reopened, JournalError> {
    let path = session.join("journal.jsonl");
    let io = |source| JournalError::Io { path: path.clone(), source };
    let read_only = |path: &Path, source| JournalError::ReadOnly {
        path: path.to_owned(),
        source,
        session: session.file_name().unwrap_or_default().display().to_string(),
    };
    let file = match (open_own_to_append(&path), open_own(&path)) {
        (Ok(file), _) => file,
        (Err(error), Ok(_)) => return Err(read_only(&path, error)),
        (Err(error), Err(_)) => return Err(io(error)),
    };
    lock(&file).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => JournalError::InUse { path: path.clone(), who: who(&file) },
        _ => io(error),
    })?;
    let (header, Read { records, mut notices, is_cut }) = read(&file, &path)?;
    let journal = Journal::go_on(session.to_owned(), file, is_cut);
    let folded = folded(&records);
    if let Some(entry) = folded.lost_entry() {
        return Err(JournalError::Lost { path, entry: entry.0 });
    }
    set_strays_aside(session, &folded)
        .map_err(|source| read_only(&session.join("exchanges"), source))?;
    let unsent = read_unsent(session, &records).unwrap_or_else(|why| {
        notices.push(why);
        Unsent::default()
    });
    Ok(Reopened { header, records, session: folded, notices, unsent, journal })
}

/// Who writes into a journal.
fn who(file: &File) -> String {
    holder(file)
        .map_or_else(|| "the system does not tell which".to_owned(), |pid| format!("process {pid}"))
}

/// What follows the header.
struct Read {
    records: Vec<Arc<Stamped>>,
    notices: Vec<String>,
    /// Whether the last line was not written to its end.
    is_cut: bool,
}

/// Lines, each as its record or why it is none; an empty one is nothing.
#[derive(Default)]
struct Lines {
    lines: Vec<Result<Option<Stamped>, String>>,
    is_cut: bool,
}

/// A journal that is longer is read by two threads.
const LONG: u64 = 4 << 20;

fn read(file: &File, path: &Path) -> Result<(Header, Read), JournalError> {
    let io = |source| JournalError::Io { path: path.to_owned(), source };
    let mut reader = BufReader::with_capacity(BUFFER, file);
    let header = header(&mut reader, path)?;
    let start = reader.stream_position().map_err(io)?;
    let middle = start + file.metadata().map_err(io)?.len().saturating_sub(start) / 2;
    let (first, second) = if middle < LONG / 2 {
        (lines(reader).map_err(io)?, Lines::default())
    } else {
        let mut second = BufReader::with_capacity(BUFFER, open_own(path).map_err(io)?);
        second.seek(SeekFrom::Start(middle)).map_err(io)?;
        let rest = second.read_until(b'\n', &mut Vec::new()).map_err(io)?;
        let first = reader.take(middle + rest as u64 - start);
        thread::scope(|scope| {
            let second = scope.spawn(|| lines(second));
            let first = lines(first)?;
            Ok((
                first,
                second
                    .join()
                    .map_err(|_| io::Error::other("a thread that read it broke down"))??,
            ))
        })
        .map_err(io)?
    };
    let mut read =
        Read { records: Vec::new(), notices: Vec::new(), is_cut: first.is_cut || second.is_cut };
    for (number, line) in (2..).zip(first.lines.into_iter().chain(second.lines)) {
        let why = match line {
            Ok(None) => continue,
            Ok(Some(stamped)) if !is_misnumbered(&stamped.record, number) => {
                read.records.push(Arc::new(stamped));
                continue;
            }
            Ok(_) => "it has a number that it cannot have".to_owned(),
            Err(why) => why,
        };
        read.notices.push(format!("line {number} of {} skipped: {why}", path.display()));
    }
    Ok((header, read))
}

fn lines(mut reader: impl BufRead) -> io::Result<Lines> {
    let mut found = Lines::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(found);
        }
        found.is_cut = !line.ends_with(b"\n");
        found.lines.push(match serde_json::from_slice(&line) {
            Ok(stamped) => Ok(Some(stamped)),
            Err(_) if line.trim_ascii().is_empty() => Ok(None),
            Err(_) if found.is_cut => Err("it was cut off when limpid ended".to_owned()),
            Err(error) => Err(error.to_string()),
        });
    }
}

/// Whether a record has a number that it cannot have: those of parts, entries and turns are given one
/// by one, so that none is higher than the lines so far, and an entry follows an earlier one. What
/// comes later counts on from them.
fn is_misnumbered(record: &Record, lines: u64) -> bool {
    match record {
        Record::Part { number, .. } => u64::from(number.0) > lines,
        Record::Request(request) => u64::from(request.turn.0) > lines,
        Record::Entry(entry) => {
            entry.id.0 > lines || entry.parent.is_some_and(|parent| parent >= entry.id)
        }
        _ => false,
    }
}

pub(super) fn header(reader: &mut impl BufRead, path: &Path) -> Result<Header, JournalError> {
    let mut line = Vec::new();
    reader
        .take(LONGEST_HEADER)
        .read_until(b'\n', &mut line)
        .map_err(|source| JournalError::Io { path: path.to_owned(), source })?;
    let header: Header = serde_json::from_slice(&line).map_err(|error| JournalError::NoHeader {
        path: path.to_owned(),
        why: error.to_string(),
    })?;
    if header.limpid_journal > VERSION {
        let version = header.limpid_journal;
        return Err(JournalError::Newer { path: path.to_owned(), version });
    }
    Ok(header)
}
