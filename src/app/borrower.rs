//! Programs that have the terminal, which limpid has given back, until they end.

use std::io::{self, Write as _};

use tokio::process::{Child, Command};

use super::stdio::Lent;
use crate::text::say;
use crate::tools;

/// A program that has the terminal.
pub(super) struct Borrower {
    pub(super) child: Child,
    _lent: Lent,
}

impl Borrower {
    /// Starts a program that reads from the terminal.
    ///
    /// # Errors
    /// What the system says; nothing was started then.
    pub(super) fn start(command: &mut Command) -> io::Result<Self> {
        let lent = Lent::new()?;
        let child = command.stdin(lent.stdin()?).spawn()?;
        Ok(Self { child, _lent: lent })
    }

    /// Prints a text and waits for Enter. A terminal that takes nothing holds up the program, not
    /// limpid.
    ///
    /// # Errors
    /// What the system says; nothing was started then.
    pub(super) fn print(text: String) -> io::Result<Self> {
        let (theirs, mut ours) = io::pipe()?;
        // It needs no key.
        let path = std::env::var_os("PATH").unwrap_or_default();
        let started = Self::start(
            Command::new("sh")
                // The text comes by the third descriptor: the first is the terminal.
                .args(["-c", r#"cat <&2; printf '\n%s ' "$1"; read -r _"#, "limpid"])
                .arg(say!("Enter goes back to limpid."))
                .env_clear()
                .env("PATH", path)
                .stderr(theirs),
        )?;
        std::thread::spawn(move || {
            // Whoever stops it with Ctrl-C has seen enough.
            let _ = ours.write_all(text.as_bytes());
        });
        Ok(started)
    }
}

/// A program that limpid does not outlive would go on with a terminal that the shell reads, too.
impl Drop for Borrower {
    fn drop(&mut self) {
        // There is none once it was waited for.
        if let Some(pid) = self.child.id() {
            tools::hang_up(pid);
        }
    }
}
