//! `limpid inspect`: what was sent in each turn, from the journal alone.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use super::usage;
use crate::conversation::{Session, Turn, TurnNumber};
use crate::session::{find, latest_of, load, sessions_dir};
use crate::text::{self, Show};
use crate::wire::outline;

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
        writeln!(io::stderr(), "limpid: {notice}")?;
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
    let written = print(&session, &turns, body);
    match written {
        // Whoever reads has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        written => {
            written?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn print(session: &Session, turns: &[&Turn], body: bool) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for turn in turns {
        if body {
            out.write_all(session.body(turn.number).as_bytes())?;
            continue;
        }
        let parts = session.parts_of(turn.number);
        let previous = session.parts_of(TurnNumber(turn.number.0.saturating_sub(1)));
        writeln!(out, "turn {}  {}", turn.number, outline::head(turn, &parts, &previous))?;
        if let Some(failure) = turn.response.as_ref().and_then(|response| response.failure.as_ref())
        {
            writeln!(out, "!    failed: {}", text::visible(&failure.cause(), Show::Prose))?;
        }
        for row in outline::outline(&parts, &previous, session) {
            writeln!(out, "{}", outline::line(&row))?;
        }
    }
    out.flush()
}
