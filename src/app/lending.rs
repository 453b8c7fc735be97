//! Lending the terminal: to an editor, to the conversation as a text, and to the shell while limpid is
//! stopped.

use std::io;
use std::process::ExitStatus;

use super::borrower::Borrower;
use super::editor::Editor;
use super::leave::Left;
use super::notify::Caller;
use super::signals::{self, Asked, Signals};
use super::{App, reports, suspend, terminal};
use crate::agent::Handle;
use crate::tools;
use crate::tui::Input;

/// What the terminal is lent for.
pub(super) enum Lend {
    /// To edit this draft.
    Editor(String),
    /// To print this text.
    Print(String),
}

impl App {
    /// Gives the terminal to an editor until it ends. What happens meanwhile is taken, not shown.
    pub(super) async fn edit(
        &mut self,
        draft: String,
        handle: &mut Handle,
        signals: &mut Signals,
    ) -> io::Result<Option<Left>> {
        let folder = match reports::folder() {
            Ok(folder) => folder,
            Err(why) => {
                self.model.say(&format!("No editor: {why}."));
                return Ok(None);
            }
        };
        terminal::restore();
        let opened = Editor::open(&folder, draft);
        let edited = match opened {
            Err(why) => Err(why),
            Ok(mut editor) => match self.wait_for(&mut editor.program, handle, signals).await {
                Ok(ended) => {
                    signals.forget_interrupts().await;
                    editor.close(ended)
                }
                Err(left) => {
                    self.kept = editor.leave();
                    return left.map(Some);
                }
            },
        };
        let mut inputs = self.come_back()?;
        inputs.push(Input::Edited(edited));
        for input in inputs {
            if let Some(left) = self.update(input, handle, signals).await? {
                return Ok(Some(left));
            }
        }
        Ok(None)
    }

    /// Gives the terminal to the conversation as a text, until Enter. What happens meanwhile is taken.
    pub(super) async fn print(
        &mut self,
        text: String,
        handle: &mut Handle,
        signals: &mut Signals,
    ) -> io::Result<Option<Left>> {
        terminal::restore();
        match Borrower::print(text) {
            Ok(mut printing) => match self.wait_for(&mut printing, handle, signals).await {
                Ok(_) => signals.forget_interrupts().await,
                Err(left) => return left.map(Some),
            },
            Err(error) => self.model.say(&format!("Not printed: {error}.")),
        }
        for input in self.come_back()? {
            if let Some(left) = self.update(input, handle, signals).await? {
                return Ok(Some(left));
            }
        }
        Ok(None)
    }

    /// Waits for the program's end; what happens meanwhile is taken. `Err` if limpid ends first.
    async fn wait_for(
        &mut self,
        program: &mut Borrower,
        handle: &mut Handle,
        signals: &mut Signals,
    ) -> Result<io::Result<ExitStatus>, io::Result<Left>> {
        let mut arrived = Vec::new();
        loop {
            tokio::select! {
                ended = program.child.wait() => return Ok(ended),
                asked = signals.next() => match asked {
                    Asked::HungUp => return Err(Ok(Left::HungUp)),
                    // The program's own: it is sent to all that have the terminal.
                    Asked::End(signal) if signals::OF_KEYS.contains(&signal) => {}
                    Asked::End(signal) => return Err(Ok(Left::Signal(signal))),
                    Asked::WentOn => {}
                    Asked::Stop if tools::lenders().is_empty() => {}
                    Asked::Stop => suspend::stop().map_err(Err)?,
                },
                count = handle.events.recv_many(&mut arrived, 256) => {
                    if count == 0 {
                        return Err(Err(io::Error::other("the background task ended")));
                    }
                    for event in arrived.drain(..) {
                        let left = self.update(Input::Event(event), handle, signals).await;
                        if let Some(left) = left.map_err(Err)? {
                            return Err(Ok(left));
                        }
                    }
                }
            }
        }
    }

    /// Stops, commands too, until somebody continues limpid. If the shell that could do it has
    /// ended, so does limpid.
    pub(super) async fn stop(
        &mut self,
        signals: &mut Signals,
    ) -> io::Result<Result<Vec<Input>, Left>> {
        if tools::lenders().is_empty() {
            self.model.say("Not stopped: there is no shell here that could continue limpid.");
            return Ok(Ok(vec![Input::Tick]));
        }
        terminal::restore();
        tools::pause_commands();
        let stopped = suspend::stop();
        signals.forget_stop().await;
        if signals.terminal_is_gone() {
            return Ok(Err(Left::HungUp));
        }
        // Continued in the background, it stops once more here until it has the terminal.
        let inputs = self.come_back();
        tools::resume_commands();
        stopped?;
        inputs.map(Ok)
    }

    /// Takes the terminal anew. What it shows is unknown, and so is its size.
    pub(super) fn come_back(&mut self) -> io::Result<Vec<Input>> {
        terminal::restore();
        take(&mut self.caller)?;
        if self.mouse {
            terminal::mouse(true)?;
        }
        // News that came while somebody else had the terminal were missed.
        terminal::look_again();
        self.screen.forget();
        let size = terminal::size();
        Ok(vec![Input::Resize(size.width, size.height)])
    }
}

/// Takes the terminal, and calls from there.
///
/// # Errors
/// What the terminal says.
pub(super) fn take(caller: &mut Caller) -> io::Result<()> {
    terminal::take(caller.farewell())?;
    terminal::write(caller.greeting().as_bytes())
}
