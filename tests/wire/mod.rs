//! Recorded answers, read from files.

use std::path::{Path, PathBuf};

use limpid::conversation::Reply;
use limpid::wire::{Decoder, End, Format, ResponseHead};
use serde_json::Value;

/// One recorded answer and what it says.
pub(crate) struct Fixture {
    /// Directory and name.
    pub(crate) name: String,
    /// The format it is in.
    pub(crate) format: Format,
    /// Status and headers; `None` if the connection was closed before any header.
    pub(crate) head: Option<ResponseHead>,
    /// The body as a client reads it.
    pub(crate) body: Vec<u8>,
    /// What it says.
    pub(crate) expected: Value,
}

impl Fixture {
    /// The reply that the body adds up to when it arrives in these pieces.
    pub(crate) fn decode<'a>(&self, pieces: impl IntoIterator<Item = &'a [u8]>, end: End) -> Reply {
        let mut decoder = Decoder::new(self.format, self.head.as_ref().unwrap());
        for piece in pieces {
            decoder.feed(piece);
        }
        decoder.finish(end)
    }
}

/// The captures in the repository.
pub(crate) fn own_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/wire")
}

/// The collection of recordings that is not part of the repository.
pub(crate) fn shared_root() -> PathBuf {
    std::env::var_os("LIMPID_FIXTURES").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/fixtures/wire"),
        PathBuf::from,
    )
}

/// All fixtures under a directory, by name; none if it does not exist.
pub(crate) fn fixtures(root: &Path) -> Vec<Fixture> {
    let mut paths = Vec::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        let Ok(entries) = std::fs::read_dir(&directory) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.to_string_lossy().ends_with(".expected.json") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    paths.iter().map(|path| read(root, path)).collect()
}

fn read(root: &Path, path: &Path) -> Fixture {
    let expected: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let format = match expected["protocol"].as_str() {
        Some("chat") => Format::OpenaiChat,
        Some("messages") => Format::Anthropic,
        Some("responses") => Format::OpenaiResponses,
        other => panic!("{}: unknown protocol {other:?}", path.display()),
    };
    let stem = path.to_str().unwrap().strip_suffix(".expected.json").unwrap();
    let name = Path::new(stem).strip_prefix(root).unwrap().display().to_string();
    let bytes = std::fs::read(format!("{stem}.response.http")).unwrap();
    let (head, body) = if bytes.is_empty() {
        (None, Vec::new())
    } else {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
        let head = head(std::str::from_utf8(&bytes[..end]).unwrap());
        let body = &bytes[end + 4..];
        let body = if name.contains("rawchunked") { dechunked(body) } else { body.to_vec() };
        (Some(head), body)
    };
    Fixture { name, format, head, body, expected }
}

fn head(text: &str) -> ResponseHead {
    let mut lines = text.split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers = lines
        .map(|line| line.split_once(':').unwrap())
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    ResponseHead { status, headers }
}

fn dechunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    loop {
        let end = body.windows(2).position(|window| window == b"\r\n").unwrap();
        let size = usize::from_str_radix(std::str::from_utf8(&body[..end]).unwrap(), 16).unwrap();
        if size == 0 {
            return whole;
        }
        let start = end + 2;
        whole.extend_from_slice(&body[start..start + size]);
        body = &body[start + size + 2..];
    }
}
