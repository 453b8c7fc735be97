//! The files that drafts are in while an editor has them, and where one goes that belongs to no session
//! when limpid is ended. One that limpid ended before is kept, and is named when limpid ends and whenever
//! it starts, until it is removed: by the user, or after a month.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::process::{Pid, test_kill_process};
use tokio::sync::mpsc;

use super::reports;
use crate::session::own_new_file;
use crate::text::{self, Show, say};
use crate::tui::Input;

/// How long a draft is kept that nobody came back for.
const KEPT: Duration = Duration::from_hours(30 * 24);

fn folder(of: &Path) -> PathBuf {
    of.join("drafts")
}

/// Writes a draft into a file of its own below limpid's folder.
///
/// # Errors
/// What the file system says, or why the folder is not used.
pub(super) fn write(limpids: &Path, draft: &str) -> io::Result<PathBuf> {
    own_new_file(&folder(limpids), "draft", "md", draft)
}

/// A draft of at most so many bytes may be empty: it is looked into.
const SHORT: u64 = 4096;

/// Keeps a draft if there is anything in it. What is no file is none.
pub(super) fn keep(path: PathBuf) -> Option<PathBuf> {
    let found = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
    let is_empty = || fs::read(&path).is_ok_and(|draft| draft.trim_ascii().is_empty());
    if found.len() <= SHORT && is_empty() {
        let _ = fs::remove_file(&path);
        return None;
    }
    Some(path)
}

/// Looks, beside everything else, for drafts that are kept, and answers with a word to the user.
pub(super) fn look(answers: mpsc::Sender<Input>) {
    std::thread::spawn(move || {
        let Ok(limpids) = reports::folder() else { return };
        if let Some(told) = in_words(&kept(&folder(&limpids), SystemTime::now())) {
            // Whoever has left needs no answer.
            let _ = answers.blocking_send(Input::Told(told));
        }
    });
}

fn in_words(kept: &[PathBuf]) -> Option<String> {
    let newest = kept.last()?.display().to_string();
    let newest = text::visible(&newest, Show::Prose);
    Some(match kept.len() {
        1 => say!("A prompt that was not sent is kept in {path}", path = newest),
        count => say!(
            "{count} prompts that were not sent are kept, the newest in {path}",
            count = count,
            path = newest
        ),
    })
}

/// The drafts that nobody has open, newest last. What is too old, or empty, is removed.
fn kept(folder: &Path, now: SystemTime) -> Vec<PathBuf> {
    // No folder, no drafts; a link leads to what is not limpid's; what cannot be listed cannot be told.
    let is_own = fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir());
    let Some(files) = is_own.then(|| fs::read_dir(folder).ok()).flatten() else {
        return Vec::new();
    };
    let mut kept: Vec<(SystemTime, PathBuf)> = files
        .flatten()
        .filter_map(|file| {
            let path = file.path();
            if is_open(file.file_name().as_os_str())? {
                return None;
            }
            let found = file.metadata().ok().filter(fs::Metadata::is_file)?;
            let written = found.modified().ok()?;
            if now.duration_since(written).is_ok_and(|age| age > KEPT) {
                let _ = fs::remove_file(&path);
                return None;
            }
            Some((written, keep(path)?))
        })
        .collect();
    kept.sort();
    kept.into_iter().map(|(_, path)| path).collect()
}

/// Whether the limpid that wrote the draft lives; `None` if this is no draft's name.
fn is_open(name: &OsStr) -> Option<bool> {
    let name = name.to_str()?.strip_prefix("draft-")?.strip_suffix(".md")?;
    let pid: i32 = name.split_once('-')?.0.parse().ok()?;
    let lives = |pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH);
    Some(Pid::from_raw(pid).is_some_and(lives))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drafts_are_kept_for_a_month_and_those_that_are_open_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        // No process has this number: it is above the highest.
        let gone = i32::MAX;
        let own = std::process::id();
        let files = [
            format!("draft-{gone}-1.md"),
            format!("draft-{gone}-2.md"),
            format!("draft-{own}-1.md"),
            "notes.md".to_owned(),
        ];
        for name in &files {
            fs::write(dir.path().join(name), if name.ends_with("2.md") { " \n" } else { "text" })
                .unwrap();
        }
        let there = |name: &String| dir.path().join(name).exists();
        let now = SystemTime::now();
        assert_eq!(kept(dir.path(), now), [dir.path().join(&files[0])]);
        assert_eq!(files.each_ref().map(there), [true, false, true, true]);
        let through = dir.path().join("through");
        std::os::unix::fs::symlink(dir.path(), &through).unwrap();
        let later = now + KEPT + Duration::from_hours(1);
        assert_eq!(kept(&through, later), [] as [PathBuf; 0]);
        assert_eq!(files.each_ref().map(there), [true, false, true, true], "not through a link");
        let pipe = dir.path().join(format!("draft-{gone}-3.md"));
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .unwrap();
        assert_eq!(kept(dir.path(), now), [dir.path().join(&files[0])], "a pipe holds nobody up");
        assert_eq!(kept(dir.path(), later), [] as [PathBuf; 0]);
        assert_eq!(files.each_ref().map(there), [false, false, true, true]);
    }
}
