//! The draft in the user's own editor: a private file, the editor on the terminal that limpid has
//! given back, and what is in the file afterwards.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use tokio::process::Command;

use super::borrower::Borrower;
use super::drafts;

/// An editor that runs.
pub(super) struct Editor {
    pub(super) program: Borrower,
    path: PathBuf,
    /// What was handed to it.
    draft: String,
}

impl Editor {
    /// Writes the draft into a file below `folder` and starts the editor on it.
    ///
    /// # Errors
    /// What could not be done, in words.
    pub(super) fn open(folder: &Path, draft: String) -> Result<Self, String> {
        let path = drafts::write(folder, &draft)
            .map_err(|error| format!("The draft could not be written for the editor: {error}."))?;
        let started = Borrower::start(
            Command::new("sh")
                .arg("-c")
                .arg(format!("{} \"$1\"", program()))
                .arg("limpid")
                .arg(&path),
        );
        match started {
            Ok(program) => Ok(Self { program, path, draft }),
            Err(error) => {
                // Nothing of the user's is in it that is not in the draft as well.
                let _ = fs::remove_file(&path);
                Err(format!("The editor could not be started: {error}."))
            }
        }
    }

    /// What the draft is when the editor has ended, or why it stays as it was.
    pub(super) fn close(self, ended: io::Result<ExitStatus>) -> Result<String, String> {
        let read = fs::read_to_string(&self.path);
        let _ = fs::remove_file(&self.path);
        let stays = |why: String| Err(format!("{why}. The prompt stays as it was."));
        match ended {
            Ok(status) if status.success() => match read {
                Ok(text) => Ok(without_added_newline(text, &self.draft)),
                Err(error) => stays(format!("What the editor wrote cannot be read ({error})")),
            },
            Ok(status) => stays(format!("The editor ({}) failed: {status}", program())),
            Err(error) => stays(format!("The editor cannot be waited for ({error})")),
        }
    }

    /// limpid ends before the editor does. Returns where the draft is kept, if there is anything in it.
    pub(super) fn leave(self) -> Option<PathBuf> {
        let path = self.path.clone();
        drop(self);
        drafts::keep(path)
    }
}

/// `$VISUAL`, else `$EDITOR`, else `vi`; as in a shell, with arguments if it has any.
fn program() -> String {
    let set = |name| std::env::var(name).ok().filter(|program| !program.trim().is_empty());
    set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".to_owned())
}

/// Editors end the last line; a draft need not.
fn without_added_newline(mut text: String, draft: &str) -> String {
    if text.ends_with('\n') && !draft.ends_with('\n') {
        text.pop();
    }
    text
}
