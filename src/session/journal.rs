//! The append-only file that a session is: writing it record by record. Reading it back is
//! `reading`'s.
//!
//! One `write(2)` a record, so that a killed program leaves whole lines; `fsync` only when the
//! loop ends. Order is kept against `kill -9`, not against power loss.

use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::macros::format_description;

use super::exchange::ExchangeWriter;
use super::private::{own_directory, own_file};
use crate::conversation::{Stamped, TurnNumber};
use crate::wire::ResponseHead;

/// Version of the journal's format, in its first line.
pub const VERSION: u32 = 1;

/// The first line of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Format version.
    pub limpid_journal: u32,
    /// Name of the session, which is also its directory's.
    pub session: String,
    /// Directory in which the session works.
    pub directory: PathBuf,
    /// Milliseconds since 1970-01-01 UTC.
    pub created: u64,
}

/// Writes one session.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    exchange: Option<ExchangeWriter>,
    /// Bytes that could not be written yet, in order.
    unsaved: Vec<u8>,
}

impl Journal {
    /// Makes a new session below `sessions` for work in `directory`.
    ///
    /// # Errors
    /// What the file system says; nothing is left half made but an empty directory.
    pub fn create(sessions: &Path, directory: &Path, now_ms: u64) -> io::Result<Self> {
        if let Some(data) = sessions.parent() {
            own_directory(data)?;
        }
        own_directory(sessions)?;
        let (session, path) = make_directory(sessions, now_ms)?;
        let header = Header {
            limpid_journal: VERSION,
            session,
            directory: directory.to_owned(),
            created: now_ms,
        };
        let begun = Self::begin(path.clone(), &header);
        if begun.is_err() {
            // Nothing is in it yet; if it cannot be removed either, the next name is free.
            let _ = std::fs::remove_dir_all(&path);
        }
        begun
    }

    fn begin(path: PathBuf, header: &Header) -> io::Result<Self> {
        for sub in ["exchanges", "outputs"] {
            DirBuilder::new().mode(0o700).create(path.join(sub))?;
        }
        let file = own_file().append(true).create_new(true).open(path.join("journal.jsonl"))?;
        // Nobody else can know of it yet; where a file system has no locks, it is done without.
        let _ = lock(&file);
        let mut journal = Self { path, file, exchange: None, unsaved: Vec::new() };
        journal.write_line(header)?;
        Ok(journal)
    }

    /// Goes on with the journal of the session at `path`, which `file` is, locked and open for
    /// writing at its end. `is_cut` says that its last line was not written to its end.
    pub(super) fn go_on(path: PathBuf, file: File, is_cut: bool) -> Self {
        let unsaved = if is_cut { b"\n".to_vec() } else { Vec::new() };
        Self { path, file, exchange: None, unsaved }
    }

    /// The session's directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends one record.
    ///
    /// # Errors
    /// What the file system says. The record is kept in memory and written, in order, before the
    /// next one.
    pub fn append(&mut self, stamped: &Stamped) -> io::Result<()> {
        self.write_line(stamped)
    }

    fn write_line<T: Serialize>(&mut self, value: &T) -> io::Result<()> {
        serde_json::to_writer(&mut self.unsaved, value)?;
        self.unsaved.push(b'\n');
        while !self.unsaved.is_empty() {
            match self.file.write(&self.unsaved) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => drop(self.unsaved.drain(..written)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Begins the file of one attempt with the response's status and headers.
    ///
    /// # Errors
    /// What the file system says; the bytes that follow are then not kept.
    pub fn begin_exchange(
        &mut self,
        turn: TurnNumber,
        attempt: u32,
        head: &ResponseHead,
    ) -> io::Result<()> {
        self.exchange = None;
        self.exchange = Some(ExchangeWriter::begin(&self.path, turn, attempt, head)?);
        Ok(())
    }

    /// Appends bytes of the response's body as they arrived, `ms` after it was posted.
    ///
    /// # Errors
    /// What the file system says; later bytes of this response are then not kept.
    pub fn exchange_bytes(&mut self, bytes: &[u8], ms: u64) -> io::Result<()> {
        let Some(exchange) = &mut self.exchange else { return Ok(()) };
        let written = exchange.append(bytes, ms);
        if written.is_err() {
            self.exchange = None;
        }
        written
    }

    /// What makes the records so far survive a power loss. It may take long: run it where nobody
    /// waits.
    ///
    /// # Errors
    /// What the file system says.
    pub fn sync(&self) -> io::Result<impl FnOnce() -> io::Result<()> + Send + use<>> {
        let file = self.file.try_clone()?;
        Ok(move || file.sync_data())
    }
}

/// Keeps others from writing into a journal until it is closed, also by a kill.
pub(super) fn lock(file: &File) -> io::Result<()> {
    Ok(flock(file, FlockOperation::NonBlockingLockExclusive)?)
}

/// The process that has locked a file, where the system tells.
pub(super) fn holder(file: &File) -> Option<u32> {
    let inode = format!(":{}", file.metadata().ok()?.ino());
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    locks.lines().find_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        (words.next()? == "FLOCK").then_some(())?;
        let (pid, place) = (words.nth(2)?, words.next()?);
        pid.parse().ok().filter(|pid| *pid > 0 && place.ends_with(&inode))
    })
}

/// Session directories are named by the time in UTC and the process id; a name that is taken gets
/// a further number.
fn make_directory(sessions: &Path, now_ms: u64) -> io::Result<(String, PathBuf)> {
    let time = OffsetDateTime::from_unix_timestamp(i64::try_from(now_ms / 1000).unwrap_or(0))
        .map_err(io::Error::other)?
        .format(format_description!("[year]-[month]-[day]-[hour][minute][second]"))
        .map_err(io::Error::other)?;
    let stem = format!("{time}-{:x}", std::process::id());
    let names = std::iter::once(stem.clone()).chain((2..100).map(|n| format!("{stem}-{n}")));
    for name in names {
        let path = sessions.join(&name);
        match DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| (name, path)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
