//! Which sessions there are: the one that is meant, and a list, the one last used first.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use super::{UsageError, usage};
use crate::session::{Listed, find, latest_of, list as listed, sessions_dir};
use crate::text::{self, Show, say};

const NO_PLACE: &str = "no place for sessions: neither XDG_DATA_HOME nor HOME names a directory";

/// The session of this name, or whose name begins so; the one last used in this directory if it is called
/// `last` or not at all.
///
/// # Errors
/// Why there is none, and what to do.
pub(super) fn named(name: Option<&str>) -> Result<PathBuf, String> {
    let sessions = sessions_dir(|name| std::env::var_os(name)).ok_or(NO_PLACE)?;
    let unlisted = |error| unlisted(&sessions, &error);
    if let Some(name) = name.filter(|name| *name != "last") {
        return find(&sessions, name).map_err(unlisted)?.ok_or_else(|| {
            let place = sessions.display();
            format!(
                "no session (or more than one) begins with \"{name}\" in {place}. limpid inspect --all lists them"
            )
        });
    }
    let directory = here()?;
    latest_of(&sessions, &directory).map_err(unlisted)?.ok_or_else(|| {
        format!(
            "no session has worked in {} yet. Name one of {}, or start one: limpid",
            directory.display(),
            sessions.display()
        )
    })
}

fn here() -> Result<PathBuf, String> {
    std::env::current_dir().map_err(|error| UsageError::NoDirectory(error).to_string())
}

fn unlisted(sessions: &Path, error: &io::Error) -> String {
    let place = sessions.display();
    format!(
        "the sessions in {place} cannot be listed: {error}. Nothing was started; see that you may read that directory"
    )
}

/// Lists the sessions of this directory, or all of them.
pub(super) fn list(all: bool) -> color_eyre::Result<ExitCode> {
    let Some(sessions) = sessions_dir(|name| std::env::var_os(name)) else {
        return usage(NO_PLACE);
    };
    let directory = match here() {
        Ok(directory) => directory,
        Err(why) => return usage(&why),
    };
    let found = match listed(&sessions, Some(&*directory).filter(|_| !all)) {
        Ok(found) => found,
        Err(error) => return usage(&unlisted(&sessions, &error)),
    };
    if found.is_empty() {
        let place = text::visible(&directory.display().to_string(), Show::Prose).into_owned();
        return usage(&if all {
            say!(
                "there is no session in {place} yet. Start one: limpid",
                place = sessions.display()
            )
        } else {
            say!(
                "no session has worked in {place} yet. Start one: limpid; or see those of other directories: limpid inspect --all",
                place = place
            )
        });
    }
    let width = io::stdout().is_terminal().then(crossterm::terminal::size).and_then(Result::ok);
    let mut out = io::stdout().lock();
    for session in &found {
        let line = line(session, all, SystemTime::now());
        let line = match width {
            Some((columns, _)) => text::fit(&line, columns.into()).into_owned(),
            None => line,
        };
        match writeln!(out, "{line}") {
            // Whoever reads has read enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
            written => written?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn line(session: &Listed, all: bool, now: SystemTime) -> String {
    let Listed { header, prompt, changed, bytes, .. } = session;
    let ago = now.duration_since(*changed).unwrap_or_default().as_secs();
    let prompt = prompt.as_deref().unwrap_or(say!("(nothing was sent)"));
    let prompt = text::visible(prompt, Show::Prose);
    let first = prompt.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let directory = header.directory.display().to_string();
    let directory = if all { text::visible(&directory, Show::Prose) + "  " } else { "".into() };
    let name = text::visible(&header.session, Show::Prose);
    let ago = say!("{age} ago", age = text::age(ago));
    format!("{name}  {}  {:>8}  {directory}{first}", text::padded(&ago, 12), text::bytes(*bytes))
}
