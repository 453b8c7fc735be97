//! `limpid inspect`: what was sent in each turn, from the journal alone.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use super::usage;
use crate::conversation::{Session, Turn, TurnNumber};
use crate::session::{find, latest_of, load, sessions_dir};
use crate::text::{self, Show};
use crate::wire::{is_body_of, outline, rows_of_turn};

/// Prints the outline of every turn, or of one, or one turn's exact body.
pub(super) fn run(
    name: Option<&str>,
    turn: Option<u32>,
    body: bool,
) -> color_eyre::Result<ExitCode> {
    let Some(sessions) = sessions_dir(|name| std::env::var_os(name)) else {
        return usage("no place for sessions: neither XDG_DATA_HOME nor HOME names a directory");
    };
    let path: PathBuf = match name {
        Some(name) => match find(&sessions, name)? {
            Some(path) => path,
            None => {
                return usage(&format!(
                    "no session (or more than one) begins with \"{name}\" in {}",
                    sessions.display()
                ));
            }
        },
        None => {
            let directory = std::env::current_dir()?;
            match latest_of(&sessions, &directory)? {
                Some(path) => path,
                None => {
                    return usage(&format!(
                        "no session has worked in {} yet. Name one of {}, or start one: limpid",
                        directory.display(),
                        sessions.display()
                    ));
                }
            }
        }
    };
    let loaded = load(&path)?;
    for notice in &loaded.notices {
        writeln!(io::stderr(), "limpid: {}", text::visible(notice, Show::Prose))?;
    }
    let session = loaded.session;
    let turns = match turn {
        None if body => session.turns.last().into_iter().collect(),
        None => session.turns.iter().collect(),
        Some(number) => session.turn(TurnNumber(number)).into_iter().collect::<Vec<_>>(),
    };
    if turns.is_empty() {
        let count = session.turns.len();
        return usage(&match turn {
            Some(number) => {
                format!("there is no turn {number}; session {} has {count}", loaded.header.session)
            }
            None => format!("session {} has no turns yet", loaded.header.session),
        });
    }
    match print(&session, &turns, body) {
        // Whoever reads has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error.into()),
        Ok(damaged) if damaged.is_empty() => Ok(ExitCode::SUCCESS),
        Ok(damaged) => {
            let turns: Vec<String> = damaged.iter().map(ToString::to_string).collect();
            writeln!(
                io::stderr(),
                "limpid: the journal is damaged: what was sent in turn {} cannot be rebuilt; it is not \
                 shown. The server's answers are still in {}",
                turns.join(", "),
                path.join("exchanges").display()
            )?;
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Prints the turns; returns those whose parts do not add up to what was posted.
fn print(session: &Session, turns: &[&Turn], body: bool) -> io::Result<Vec<TurnNumber>> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut damaged = Vec::new();
    for turn in turns {
        let parts = session.parts_of(turn.number);
        if !is_body_of(&parts, &turn.request) {
            damaged.push(turn.number);
            continue;
        }
        if body {
            let body = session.body(turn.number);
            // A terminal gets nothing that could drive it; a file or a pipe the very bytes.
            if io::stdout().is_terminal() {
                out.write_all(text::visible(&body, Show::Prose).as_bytes())?;
            } else {
                out.write_all(body.as_bytes())?;
            }
            continue;
        }
        let previous = session.parts_of(TurnNumber(turn.number.0.saturating_sub(1)));
        writeln!(out, "turn {}  {}", turn.number, outline::head(turn, &parts, &previous))?;
        for row in rows_of_turn(turn, &parts, &previous, session) {
            writeln!(out, "{}", outline::line(&row))?;
        }
        for repair in &turn.repairs {
            writeln!(out, "!  · repair    {}", text::visible(repair, Show::Prose))?;
        }
        if let Some(failure) = turn.response.as_ref().and_then(|response| response.failure.as_ref())
        {
            writeln!(out, "✗  · failed    {}", text::visible(&failure.cause(), Show::Prose))?;
        }
    }
    out.flush()?;
    Ok(damaged)
}
