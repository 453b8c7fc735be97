//! `stray.log`: where goes what is written to stdout or stderr while the screen is on. It is
//! shortened to its newest lines when it has grown long.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use super::reports;
use crate::session::own_file;

/// Bytes above which the file is shortened, when it is opened.
const LONGEST: u64 = 1024 * 1024;
/// Bytes of its newest lines that stay then.
const KEPT: u64 = 256 * 1024;

/// The file, for appending; where it cannot be had, nowhere.
///
/// # Errors
/// If there is not even a nowhere.
pub(super) fn file() -> io::Result<File> {
    let kept = reports::folder().and_then(|folder| {
        let path = folder.join("stray.log");
        shorten(&path)?;
        own_file().append(true).create(true).open(path)
    });
    kept.or_else(|_| OpenOptions::new().write(true).open("/dev/null"))
}

/// Leaves the newest lines of a file that has grown long.
fn shorten(path: &Path) -> io::Result<()> {
    let mut file = match own_file().read(true).write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        file => file?,
    };
    let length = file.metadata()?.len();
    if length <= LONGEST {
        return Ok(());
    }
    file.seek(SeekFrom::Start(length - KEPT))?;
    let mut newest = Vec::new();
    file.read_to_end(&mut newest)?;
    let line = newest.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(&newest[line..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_file_the_newest_lines_stay() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("stray.log");
        assert!(shorten(&path).is_ok() && !path.exists());
        let lines = |count: usize| {
            (0..count).fold(String::new(), |text, n| text + &format!("line {n:06}\n"))
        };
        std::fs::write(&path, lines(80_000)).unwrap();
        shorten(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), lines(80_000), "not yet long");
        std::fs::write(&path, lines(100_000)).unwrap();
        shorten(&path).unwrap();
        let kept = std::fs::read_to_string(&path).unwrap();
        assert!(kept.len() as u64 <= KEPT && kept.len() as u64 > KEPT - 20, "{}", kept.len());
        assert!(kept.starts_with("line ") && kept.ends_with("line 099999\n"));
        // What is not ours to write is left alone.
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(shorten(&link).is_err());
    }
}
