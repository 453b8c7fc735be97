//! The complete output of a command on disk: raw bytes, up to a cap, readable by the user alone.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// Bytes that are kept at most.
const CAP: u64 = 8 * 1024 * 1024;

/// The file, made when the first byte comes. A failure to write ends the keeping, not the command.
#[derive(Debug)]
pub(super) struct OutputFile {
    path: PathBuf,
    state: State,
    /// Bytes that came after the cap.
    beyond: u64,
}

#[derive(Debug)]
enum State {
    Unopened,
    Open { file: File, room: u64 },
    Failed(io::Error),
}

/// What became of the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum KeptFile {
    /// Nothing was to be kept.
    None,
    /// It holds all output.
    Complete(String),
    /// It holds the output up to the cap.
    UpToCap(String),
    /// It could not be written: path, and why.
    Failed(String, String),
}

impl OutputFile {
    /// Nothing is created yet.
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, state: State::Unopened, beyond: 0 }
    }

    /// Takes more output.
    ///
    /// Written at once and by the reading task: 8 MiB into the page cache are a few milliseconds.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if matches!(self.state, State::Unopened) && !bytes.is_empty() {
            // A new file: never through a link, never over another call's output.
            let opened =
                OpenOptions::new().write(true).create_new(true).mode(0o600).open(&self.path);
            self.state = match opened {
                Ok(file) => State::Open { file, room: CAP },
                Err(error) => State::Failed(error),
            };
        }
        let State::Open { file, room } = &mut self.state else { return };
        let fits = usize::try_from(*room).unwrap_or(usize::MAX).min(bytes.len());
        *room -= fits as u64;
        self.beyond += (bytes.len() - fits) as u64;
        if let Err(error) = file.write_all(&bytes[..fits]) {
            self.state = State::Failed(error);
        }
    }

    /// Nothing more comes: marks the end if the cap was reached.
    pub(super) fn finish(mut self) -> KeptFile {
        let path = self.path.display().to_string();
        if let State::Open { file, .. } = &mut self.state
            && self.beyond > 0
            && let Err(error) =
                write!(file, "\n[limpid: {} more bytes of output were not kept]\n", self.beyond)
        {
            self.state = State::Failed(error);
        }
        match self.state {
            State::Unopened => KeptFile::None,
            State::Open { .. } if self.beyond == 0 => KeptFile::Complete(path),
            State::Open { .. } => KeptFile::UpToCap(path),
            State::Failed(error) => KeptFile::Failed(path, error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn it_is_made_with_the_first_byte_and_private() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("1.out");
        let mut file = OutputFile::new(path.clone());
        file.push(b"");
        assert!(!path.exists());
        file.push(b"a\xff\0");
        assert_eq!(file.finish(), KeptFile::Complete(path.display().to_string()));
        assert_eq!(std::fs::read(&path).unwrap(), b"a\xff\0");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn what_passes_the_cap_is_counted_at_its_end() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("1.out");
        let mut file = OutputFile::new(path.clone());
        for _ in 0..9 {
            file.push(&vec![b'x'; 1024 * 1024]);
        }
        assert_eq!(file.finish(), KeptFile::UpToCap(path.display().to_string()));
        let kept = std::fs::read(&path).unwrap();
        assert!(kept.ends_with(b"x\n[limpid: 1048576 more bytes of output were not kept]\n"));
    }

    #[test]
    fn a_link_in_its_place_is_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let (path, target) = (directory.path().join("1.out"), directory.path().join("target"));
        std::os::unix::fs::symlink(&target, &path).unwrap();
        let mut file = OutputFile::new(path.clone());
        file.push(b"x");
        assert!(matches!(file.finish(), KeptFile::Failed(..)));
        assert!(!target.exists());
    }
}
