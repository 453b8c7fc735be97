//! Ctrl-Z and `fg`: everything stops, commands too, and goes on where it was. And the end of the shell
//! that could say `fg`.

use std::io;

use rustix::process::{Pid, Signal, getppid, kill_current_process_group};

use crate::tools;

/// Stops limpid with its process group. Returns when somebody has continued it, or at once if nobody
/// could.
///
/// The whole group, because a shell that was started to run limpid and nothing else would wait for
/// ever. SIGTTIN, because SIGSTOP also stops those whom nobody can continue: the shell may be killed
/// at this moment. (SIGTSTP would do as well, but is listened for.)
///
/// # Errors
/// What the system says; nothing has stopped then.
pub(super) fn stop() -> io::Result<()> {
    // Called from the main thread, it does not return before limpid goes on.
    Ok(kill_current_process_group(Signal::TTIN)?)
}

/// The shell with job control that started limpid, if one did.
#[derive(Debug)]
pub(super) struct Shell(Option<Pid>);

impl Shell {
    /// Finds it. From here on its end continues limpid. The system does so itself for those that have
    /// stopped already, and stops none that has lost its shell already, but between the two is a moment.
    ///
    /// Called from the main thread: it must be one that lives as long as limpid.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn watch() -> io::Result<Self> {
        let parent = tools::shell_with_job_control();
        #[cfg(target_os = "linux")]
        rustix::process::set_parent_process_death_signal(parent.map(|_| Signal::CONT))?;
        Ok(Self(parent))
    }

    /// Whether there was one and it has ended. Whoever took the terminal after it knows nothing of
    /// limpid: no key reaches it any more.
    pub(super) fn has_ended(&self) -> bool {
        self.0.is_some() && getppid() != self.0
    }
}
