//! Programs that have the terminal, which limpid has given back, until they end.

use std::io;
use std::process::Stdio;

use tokio::io::AsyncWriteExt as _;
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
        let lent = Lent::new()?;
        let mut child = Command::new("sh")
            .args(["-c", r#"cat; printf '\n%s ' "$1"; read -r _ </dev/tty"#, "limpid"])
            .arg(say!("Enter goes back to limpid."))
            .stdin(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // Whoever stops it with Ctrl-C has seen enough.
            tokio::spawn(async move { stdin.write_all(text.as_bytes()).await });
        }
        Ok(Self { child, _lent: lent })
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
