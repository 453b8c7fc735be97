//! What the screen wants to know of files, read in the background and within bounds: the names of
//! the directory's files, without what .gitignore leaves out, the prompts of earlier sessions, what
//! a command wrote, and what is kept of a turn's responses.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use ignore::WalkBuilder;
use tokio::sync::mpsc;

use super::shown;
use crate::conversation::{CallId, TurnNumber};
use crate::session::{earlier_prompts, list as listed, read_exchange, sessions_dir};
use crate::tui::{Input, SessionRow};
use crate::wire::exchange::Kept;

/// Names at most.
const MOST: usize = 20_000;
/// Prompts at most.
const PROMPTS: usize = 400;
/// Directories below one another.
const DEPTH: usize = 24;
/// How long the search may take.
const TIME: Duration = Duration::from_secs(3);
/// Bytes of an output: more than limpid keeps. A file that somebody else made longer is not read to
/// its end.
const LONGEST_OUTPUT: u64 = 16 * 1024 * 1024;

/// Does it on a thread of its own, which leaving does not wait for.
fn beside(answers: mpsc::Sender<Input>, work: impl FnOnce() -> Input + Send + 'static) {
    std::thread::spawn(move || {
        // Whoever has left needs no answer.
        let _ = answers.blocking_send(work());
    });
}

/// Looks for the directory's files and answers with [`Input::Files`].
pub(super) fn list(directory: PathBuf, answers: mpsc::Sender<Input>) {
    beside(answers, move || {
        let (paths, more) = find(&directory);
        Input::Files { paths, more }
    });
}

/// Looks for the prompts of earlier sessions and answers with [`Input::Prompts`].
pub(super) fn prompts(directory: PathBuf, answers: mpsc::Sender<Input>) {
    beside(answers, move || {
        let sessions = sessions_dir(|name| std::env::var_os(name));
        // Where sessions cannot be listed there is nothing to search.
        let found = sessions.and_then(|all| earlier_prompts(&all, &directory, PROMPTS).ok());
        Input::Prompts(found.unwrap_or_default())
    });
}

/// Looks for the sessions to go on with, without the present one, and answers with [`Input::Sessions`].
pub(super) fn sessions(here: PathBuf, present: Option<PathBuf>, answers: mpsc::Sender<Input>) {
    beside(answers, move || {
        let Some(sessions) = sessions_dir(|name| std::env::var_os(name)) else {
            return Input::Sessions(Err(
                "neither XDG_DATA_HOME nor HOME names a directory".to_owned()
            ));
        };
        let found = match listed(&sessions, None) {
            Ok(found) => found,
            Err(error) => return Input::Sessions(Err(error.to_string())),
        };
        let now = SystemTime::now();
        let rows = found.into_iter().map(|session| SessionRow {
            path: session.path,
            directory: shown(&session.header.directory),
            here: session.header.directory == here,
            age: now.duration_since(session.changed).unwrap_or_default().as_secs(),
            prompt: session.prompt,
            turns: session.turns,
            way: session.way,
        });
        Input::Sessions(Ok(rows.filter(|row| Some(&row.path) != present.as_ref()).collect()))
    });
}

/// Reads what a command wrote and answers with [`Input::Output`].
pub(super) fn output(call: CallId, file: String, answers: mpsc::Sender<Input>) {
    beside(answers, move || {
        let mut bytes = Vec::new();
        let read = File::open(&file)
            .and_then(|opened| opened.take(LONGEST_OUTPUT).read_to_end(&mut bytes))
            .map_err(|error| format!("The output could not be read from {file}: {error}"));
        Input::Output { call, read: read.map(|_| bytes) }
    });
}

/// Reads what a session keeps of the responses to a turn and answers with [`Input::Exchanges`].
pub(super) fn exchanges(
    session: Option<PathBuf>,
    turn: TurnNumber,
    attempts: Vec<u32>,
    answers: mpsc::Sender<Input>,
) {
    beside(answers, move || {
        let read = |attempt| match &session {
            Some(session) => read_exchange(session, turn, attempt),
            None => Kept::NotSaved,
        };
        let kept = attempts.into_iter().map(|attempt| (attempt, read(attempt))).collect();
        Input::Exchanges { turn, kept }
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
