//! The list of sessions to go on with.

use std::path::PathBuf;

use super::completion::first_line;
use super::panes::list::Row;
use super::popup::{Choice, row};
use super::theme::Look;
use crate::text::{age, say, translated};

/// A session that can be gone on with. Its texts are untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// Its directory among the sessions.
    pub path: PathBuf,
    /// The directory in which it works, as it is shown.
    pub directory: String,
    /// Whether that is the one of the present session.
    pub here: bool,
    /// Seconds since it was written to last.
    pub age: u64,
    /// The first prompt.
    pub prompt: Option<String>,
    /// The number of its last turn, where it can be told.
    pub turns: Option<u32>,
    /// The way to the model that it went last, where it can be told.
    pub way: Option<String>,
}

/// The sessions, once they are read, and which of them are shown.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    pub(super) found: Option<Result<Vec<SessionRow>, String>>,
    /// Whether those of other directories are shown as well.
    pub(super) everywhere: bool,
}

impl Sessions {
    fn shown(&self) -> impl Iterator<Item = &SessionRow> {
        self.found.iter().flatten().flatten().filter(|session| session.here || self.everywhere)
    }

    /// What stands below the list.
    pub(super) fn remark(&self) -> (String, Look) {
        let words = match &self.found {
            None => say!("Reading the sessions …"),
            Some(Err(why)) => {
                return (say!("Not listed: {why}.", why = translated(why)), Look::Warning);
            }
            Some(Ok(_)) if self.shown().next().is_some() => {
                say!("Enter ends this session and goes on with that one.")
            }
            Some(Ok(found)) if !found.is_empty() => {
                say!("No other session has worked in this directory. Tab: of every directory.")
            }
            Some(Ok(_)) => say!("There is no other session yet."),
        };
        (words.to_owned(), Look::Dim)
    }

    /// The rows, the session used last first.
    pub(super) fn rows(&self) -> Vec<(Row, Choice)> {
        self.shown()
            .map(|session| (self.row(session), Choice::Session(session.path.clone())))
            .collect()
    }

    fn row(&self, session: &SessionRow) -> Row {
        let ago = say!("{age} ago", age = age(session.age));
        let turns = session.turns.map(|turns| match turns {
            1 => say!("1 turn").to_owned(),
            turns => say!("{turns} turns", turns = turns),
        });
        let prompt = session.prompt.as_deref().map(first_line);
        let mut cells = vec![
            (&*ago, Look::Dim),
            (prompt.as_deref().unwrap_or(say!("(nothing was sent)")), Look::Strong),
            (turns.as_deref().unwrap_or_default(), Look::Text),
            (session.way.as_deref().unwrap_or_default(), Look::Dim),
        ];
        if self.everywhere {
            cells.push((&session.directory, Look::Text));
        }
        row(&cells)
    }
}
