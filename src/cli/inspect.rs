//! `limpid inspect`: what was sent in each turn, from the journal alone.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use super::sessions::named;
use super::{tell, usage};
use crate::conversation::{Session, Turn, TurnNumber};
use crate::session::{load, read_exchange};
use crate::text::{self, Show, padded, say, translated};
use crate::wire::{is_body_of, outline, rows_of_turn, views};

/// What is printed of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    /// A row a message; of every turn if none is named.
    Outline,
    /// The exact bytes.
    Body,
    Request,
    Response,
    Usage,
}

/// Prints the outline of every turn, or of one, or another view of one turn.
pub(super) fn run(
    name: Option<&str>,
    turn: Option<u32>,
    view: View,
) -> color_eyre::Result<ExitCode> {
    let path = match named(name) {
        Ok(path) => path,
        Err(why) => return usage(&why),
    };
    let loaded = match load(&path) {
        Ok(loaded) => loaded,
        Err(error) => {
            tell(&error.to_string())?;
            return Ok(ExitCode::FAILURE);
        }
    };
    for notice in &loaded.notices {
        writeln!(io::stderr(), "limpid: {}", text::visible(&translated(notice), Show::Prose))?;
    }
    let session = loaded.session;
    let turns = match turn {
        None if view != View::Outline => session.turns.last().into_iter().collect(),
        None => session.turns.iter().collect(),
        Some(number) => session.turn(TurnNumber(number)).into_iter().collect::<Vec<_>>(),
    };
    if turns.is_empty() {
        let count = session.turns.len();
        return usage(&match turn {
            Some(number) => {
                format!(
                    "there is no turn {number}; session {} has {count}. Leave --turn out for all of them",
                    loaded.header.session
                )
            }
            None => format!("session {} has no turns yet", loaded.header.session),
        });
    }
    match print(&session, &turns, view, &path) {
        // Whoever reads has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error.into()),
        Ok(damaged) if damaged.is_empty() => Ok(ExitCode::SUCCESS),
        Ok(damaged) => {
            let turns: Vec<String> = damaged.iter().map(ToString::to_string).collect();
            writeln!(
                io::stderr(),
                "limpid: {}",
                say!(
                    "the journal is damaged: what was sent in turn {turns} cannot be rebuilt; it is not shown. The server's answers are still in {path}",
                    turns = turns.join(", "),
                    path = path.join("exchanges").display(),
                )
            )?;
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Prints the turns; returns those whose parts do not add up to what was posted.
fn print(
    session: &Session,
    turns: &[&Turn],
    view: View,
    path: &Path,
) -> io::Result<Vec<TurnNumber>> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut damaged = Vec::new();
    for turn in turns {
        let parts = session.parts_of(turn.number);
        if !is_body_of(&parts, &turn.request) {
            damaged.push(turn.number);
            continue;
        }
        let lines = match view {
            View::Outline | View::Body => None,
            View::Request => Some(views::request(turn, &parts)),
            View::Usage => Some(views::usage(turn)),
            View::Response => {
                let attempts = turn.exchanges.iter().map(|exchange| exchange.attempt);
                let kept: Vec<_> = attempts
                    .map(|attempt| (attempt, read_exchange(path, turn.number, attempt)))
                    .collect();
                Some(views::response(turn, &kept))
            }
        };
        if let Some(lines) = lines {
            for line in lines {
                write_line(&mut out, &line)?;
            }
            continue;
        }
        if view == View::Body {
            let body = session.body(turn.number);
            // A terminal gets nothing that could drive it; a file or a pipe the very bytes.
            if io::stdout().is_terminal() {
                out.write_all(text::visible(&body, Show::Prose).as_bytes())?;
            } else {
                out.write_all(body.as_bytes())?;
            }
            continue;
        }
        let previous = session.parts_sent_before(turn.number);
        let number = say!("turn {number}", number = turn.number);
        writeln!(out, "{number}  {}", outline::head(turn, &parts, &previous))?;
        for row in rows_of_turn(turn, &parts, &previous, session) {
            writeln!(out, "{}", outline::line(&row))?;
        }
        for repair in turn.all_repairs() {
            let what = translated(&repair.what);
            let word = padded(say!("repair"), 8);
            writeln!(out, "!  · {word}  {}", text::visible(&what, Show::Prose))?;
        }
        for (word, why) in views::outcome(turn) {
            let word = padded(word.text(), 8);
            writeln!(out, "✗  · {word}  {}", text::visible(&why, Show::Prose))?;
        }
    }
    out.flush()?;
    Ok(damaged)
}

/// A line of a view; the lines of a text stay in their column.
fn write_line(out: &mut impl Write, line: &views::Line) -> io::Result<()> {
    let is_event = !line.lead.is_empty();
    let column = if is_event { usize::from(views::LEAD) } else { 0 };
    let shown = text::visible(&line.text, Show::Prose);
    let mut lead = line.lead.as_str();
    for text in shown.split('\n') {
        writeln!(out, "{lead:>column$}{}{text}", if is_event { "  " } else { "" })?;
        lead = "";
    }
    Ok(())
}
