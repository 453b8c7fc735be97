//! What completion offers, looked for in the background and within bounds: the names of the
//! directory's files, without what .gitignore leaves out, and the prompts of earlier sessions.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ignore::WalkBuilder;
use tokio::sync::mpsc;

use crate::session::{earlier_prompts, sessions_dir};
use crate::tui::Input;

/// Names at most.
const MOST: usize = 20_000;
/// Prompts at most.
const PROMPTS: usize = 400;
/// Directories below one another.
const DEPTH: usize = 24;
/// How long the search may take.
const TIME: Duration = Duration::from_secs(3);

/// Looks for them and answers with [`Input::Files`].
pub(super) fn list(directory: PathBuf, answers: mpsc::Sender<Input>) {
    // A thread of its own, which leaving does not wait for.
    std::thread::spawn(move || {
        let (paths, more) = find(&directory);
        // Whoever has left needs no answer.
        let _ = answers.blocking_send(Input::Files { paths, more });
    });
}

/// Looks for the prompts of earlier sessions and answers with [`Input::Prompts`].
pub(super) fn prompts(directory: PathBuf, answers: mpsc::Sender<Input>) {
    std::thread::spawn(move || {
        let sessions = sessions_dir(|name| std::env::var_os(name));
        // Where sessions cannot be listed there is nothing to search.
        let found = sessions.and_then(|all| earlier_prompts(&all, &directory, PROMPTS).ok());
        let _ = answers.blocking_send(Input::Prompts(found.unwrap_or_default()));
    });
}

/// The paths below a directory, those with the fewest steps first, and whether there are more.
fn find(directory: &Path) -> (Vec<PathBuf>, bool) {
    let until = Instant::now() + TIME;
    let walk = WalkBuilder::new(directory)
        .hidden(false)
        .require_git(false)
        .max_depth(Some(DEPTH))
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    let mut paths = Vec::new();
    let mut more = false;
    // A directory that cannot be read has no names to offer.
    for entry in walk.flatten() {
        if paths.len() == MOST || Instant::now() > until {
            more = true;
            break;
        }
        let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
        let Ok(path) = entry.path().strip_prefix(directory) else { continue };
        if !is_directory && !path.as_os_str().is_empty() {
            paths.push(path.to_owned());
        }
    }
    paths.sort_by_cached_key(|path| (path.components().count(), path.clone()));
    (paths, more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_files_are_left_out_and_near_ones_come_first() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [
            (".gitignore", "target/\n*.log\n"),
            ("src/deep/a.rs", ""),
            ("target/debug/x", ""),
            ("b.log", ""),
            ("z.md", ""),
            (".git/config", ""),
        ] {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let (paths, more) = find(dir.path());
        assert_eq!(paths, [".gitignore", "z.md", "src/deep/a.rs"].map(PathBuf::from));
        assert!(!more);
    }
}
