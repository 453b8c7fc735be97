//! One response on disk: status, headers and raw bytes in one file, and beside it, one line for
//! each portion that arrived, where it begins in the body and how many milliseconds after posting
//! it came. Writing them as they arrive, and reading the two ends of them back.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::private::open_own;
use super::private::own_file;
use crate::conversation::{Session, TurnNumber};
use crate::wire::ResponseHead;
use crate::wire::exchange::{Arrival, Kept, KeptResponse};

/// Bytes of a body that are read from its start, and as many from its end.
const PART: u64 = 64 * 1024;
/// Lines of times that are read at most, from the start and from the end, in bytes.
const TIMES: u64 = 256 * 1024;

/// The two files of the response that arrives.
#[derive(Debug)]
pub(super) struct ExchangeWriter {
    bytes: File,
    times: File,
    /// Bytes of the body so far.
    length: u64,
}

fn path(session: &Path, turn: TurnNumber, attempt: u32, ending: &str) -> PathBuf {
    session.join(format!("exchanges/{:04}-{attempt}.{ending}", turn.0))
}

impl ExchangeWriter {
    pub(super) fn begin(
        session: &Path,
        turn: TurnNumber,
        attempt: u32,
        head: &ResponseHead,
    ) -> io::Result<Self> {
        let mut text = format!("HTTP/1.1 {}\r\n", head.status);
        for (name, value) in &head.headers {
            let _ = write!(text, "{name}: {value}\r\n");
        }
        text.push_str("\r\n");
        let open = |ending| {
            own_file().append(true).create_new(true).open(path(session, turn, attempt, ending))
        };
        let mut bytes = open("http")?;
        bytes.write_all(text.as_bytes())?;
        Ok(Self { bytes, times: open("times")?, length: 0 })
    }

    pub(super) fn append(&mut self, bytes: &[u8], ms: u64) -> io::Result<()> {
        self.bytes.write_all(bytes)?;
        self.times.write_all(format!("{} {ms}\n", self.length).as_bytes())?;
        self.length += bytes.len() as u64;
        Ok(())
    }
}

/// Sets responses aside that the journal does not know: it lost its end, and their numbers are given
/// anew. They stay beside the others, under another name.
///
/// # Errors
/// What the file system says.
pub(super) fn set_strays_aside(path: &Path, session: &Session) -> io::Result<()> {
    let files = match fs::read_dir(path.join("exchanges")) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for file in files {
        let file = file?;
        let name = file.file_name();
        let Some((turn, attempt)) = name.to_str().and_then(numbers) else { continue };
        let known = session
            .turn(turn)
            .is_some_and(|turn| turn.exchanges.iter().any(|exchange| exchange.attempt == attempt));
        if !known {
            let mut aside = file.path().into_os_string();
            aside.push(format!(".lost-{}", std::process::id()));
            fs::rename(file.path(), aside)?;
        }
    }
    Ok(())
}

/// The turn and the attempt that a file is of.
fn numbers(name: &str) -> Option<(TurnNumber, u32)> {
    let stem = name.strip_suffix(".http").or_else(|| name.strip_suffix(".times"))?;
    let (turn, attempt) = stem.split_once('-')?;
    Some((TurnNumber(turn.parse().ok()?), attempt.parse().ok()?))
}

/// What a session's directory holds of an attempt's response. Of a long one the first and the last
/// part.
pub fn read_exchange(session: &Path, turn: TurnNumber, attempt: u32) -> Kept {
    match read(session, turn, attempt) {
        Ok(kept) => Kept::Response(kept),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Kept::NoAnswer,
        Err(error) => Kept::Unreadable(error.to_string()),
    }
}

fn read(session: &Path, turn: TurnNumber, attempt: u32) -> io::Result<KeptResponse> {
    let mut file = open_own(&path(session, turn, attempt, "http"))?;
    let (mut first, omitted, last) = both_ends(&mut file, 2 * PART, PART)?;
    let mark = first.windows(4).position(|window| window == b"\r\n\r\n");
    let body = mark.map_or(first.len(), |at| at + 4);
    let rest = first.split_off(body);
    let times = match open_own(&path(session, turn, attempt, "times")) {
        Ok(mut file) => both_ends(&mut file, TIMES, TIMES)?,
        // Written by an older limpid.
        Err(error) if error.kind() == io::ErrorKind::NotFound => (Vec::new(), 0, Vec::new()),
        Err(error) => return Err(error),
    };
    let mut arrivals = arrivals(&times.0);
    arrivals.extend(self::arrivals(&times.2));
    Ok(KeptResponse { head: head(&first), first: rest, omitted, last, arrivals })
}

/// All of a kept response's body, from its first byte.
///
/// # Errors
/// What the file system says.
pub fn whole_body(
    session: &Path,
    turn: TurnNumber,
    attempt: u32,
    kept: &KeptResponse,
) -> io::Result<impl Read + use<>> {
    let mut file = open_own(&path(session, turn, attempt, "http"))?;
    let head = file.metadata()?.len().saturating_sub(kept.bytes());
    file.seek(SeekFrom::Start(head))?;
    Ok(file)
}

/// The first bytes of a file, how many are left out, and the last ones.
fn both_ends(file: &mut File, first: u64, last: u64) -> io::Result<(Vec<u8>, u64, Vec<u8>)> {
    let length = file.metadata()?.len();
    let (mut start, mut end) = (Vec::new(), Vec::new());
    if length <= first + last {
        file.take(first + last).read_to_end(&mut start)?;
        return Ok((start, 0, end));
    }
    Read::by_ref(file).take(first).read_to_end(&mut start)?;
    file.seek(SeekFrom::Start(length - last))?;
    file.take(last).read_to_end(&mut end)?;
    Ok((start, length - first - last, end))
}

fn head(bytes: &[u8]) -> ResponseHead {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.split("\r\n");
    let status = lines.next().and_then(|line| line.strip_prefix("HTTP/1.1 "));
    let pair =
        |line: &str| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
    ResponseHead {
        status: status.and_then(|status| status.parse().ok()).unwrap_or(0),
        headers: lines.filter_map(pair).collect(),
    }
}

/// Lines that are cut are left out.
fn arrivals(lines: &[u8]) -> Vec<Arrival> {
    let line = |line: &[u8]| {
        let (offset, ms) = std::str::from_utf8(line).ok()?.split_once(' ')?;
        let ms = ms.strip_suffix('\n')?;
        Some(Arrival { offset: offset.parse().ok()?, ms: ms.parse().ok()? })
    };
    lines.split_inclusive(|&byte| byte == b'\n').filter_map(line).collect()
}
