//! What the screen exchanges with `app`: what reaches it, and what it wants done.

use std::path::PathBuf;

use crossterm::event::{KeyEvent, MouseEvent};

use super::copy::{Copied, CopyTo};
use super::sessions::SessionRow;
use super::theme::Theme;
use crate::conversation::{CallId, Command, Event, TurnNumber};
use crate::wire::exchange::Kept;

/// What reaches the screen.
#[derive(Debug, Clone)]
pub enum Input {
    /// A key.
    Key(KeyEvent),
    /// The mouse, after [`Effect::Mouse`] asked for it.
    Mouse(MouseEvent),
    /// A bracketed paste.
    Paste(String),
    /// The terminal has this many columns and rows.
    Resize(u16, u16),
    /// Something happened in the session.
    Event(Event),
    /// What [`Effect::ReadExchanges`] asked for.
    Exchanges {
        /// The turn.
        turn: TurnNumber,
        /// For each attempt what is kept of its response.
        kept: Vec<(u32, Kept)>,
    },
    /// What [`Effect::ReadOutput`] asked for, or why it could not be read.
    Output {
        /// The call.
        call: CallId,
        /// The bytes that it wrote.
        read: Result<Vec<u8>, String>,
    },
    /// Where the text of [`Effect::Copy`] went.
    Copied {
        /// What it is, in words.
        what: &'static str,
        /// The text.
        text: String,
        /// Where it went.
        went: Copied,
    },
    /// What [`Effect::Edit`] came to, or why the draft stays.
    Edited(Result<String, String>),
    /// The prompts that [`Effect::ListPrompts`] asked for, oldest first.
    Prompts(Vec<String>),
    /// The files that [`Effect::ListFiles`] asked for.
    Files {
        /// Paths relative to the directory.
        paths: Vec<PathBuf>,
        /// Whether there are more.
        more: bool,
    },
    /// What [`Effect::UseTheme`] asked for, or why it cannot be had.
    Theme(Result<Theme, String>),
    /// The names that [`Effect::ListThemes`] asked for.
    Themes(Vec<String>),
    /// The sessions that [`Effect::ListSessions`] asked for, the one used last first, without the present
    /// one; or why they cannot be listed.
    Sessions(Result<Vec<SessionRow>, String>),
    /// A word to the user, until the next key.
    Told(String),
    /// The moment that [`Model::next_wake`](super::Model::next_wake) named has come.
    Tick,
}

/// What the screen wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Hand this to the loop; if that fails, call [`Model::refused`](super::Model::refused).
    Send(Command),
    /// Read what the session's directory holds of these attempts' responses, and hand it over as
    /// [`Input::Exchanges`].
    ReadExchanges {
        /// The turn.
        turn: TurnNumber,
        /// Its attempts.
        attempts: Vec<u32>,
    },
    /// Read the file that holds a call's output, and hand it over as [`Input::Output`].
    ReadOutput {
        /// The call.
        call: CallId,
        /// Its receipt's file.
        file: String,
    },
    /// Take the mouse from the terminal, or give it back.
    Mouse(bool),
    /// Copy this text; [`Input::Copied`].
    Copy {
        /// What it is, in words.
        what: &'static str,
        /// The text.
        text: String,
        /// Where it is to go.
        to: CopyTo,
    },
    /// Open this draft in the user's editor; [`Input::Edited`].
    Edit(String),
    /// Print this text, which holds no escapes, on the normal screen and wait for Enter.
    Print(String),
    /// Look for the prompts of earlier sessions; [`Input::Prompts`].
    ListPrompts,
    /// Look for the files of the directory, without anybody waiting for it; [`Input::Files`].
    ListFiles,
    /// Read the theme of this name, and hand it over as [`Input::Theme`].
    UseTheme(String),
    /// Look which themes there are, and hand their names over as [`Input::Themes`].
    ListThemes,
    /// Look for the sessions, without anybody waiting for it; [`Input::Sessions`].
    ListSessions,
    /// End this session and go on with the one in this directory.
    GoOnWith(PathBuf),
    /// End the program.
    Quit,
    /// Stop the program until the shell continues it.
    Suspend,
}
