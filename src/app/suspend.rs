//! Ctrl-Z and `fg`: everything stops, commands too, and goes on where it was. And the end of the shell
//! that could say `fg`.

use std::io;
use std::os::fd::OwnedFd;

use rustix::process::{Signal, kill_current_process_group};

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

/// Whom limpid has its terminal from (as [`tools::lenders`] says): when one of them ends, whoever takes
/// the terminal then knows nothing of limpid, and no key reaches it any more.
#[derive(Debug)]
pub(super) struct Lenders(Vec<OwnedFd>);

impl Lenders {
    /// Finds them. From here on their end continues limpid. The system does so itself for those that
    /// have stopped already, and stops none that has lost its shell already, but between the two is a
    /// moment.
    ///
    /// Called from the main thread: it must be one that lives as long as limpid.
    ///
    /// # Errors
    /// What the system says.
    #[cfg(target_os = "linux")]
    pub(super) fn watch() -> io::Result<Self> {
        use rustix::process::{PidfdFlags, pidfd_open, set_parent_process_death_signal};
        let lenders = tools::lenders();
        let wakes = (!lenders.is_empty()).then_some(Signal::CONT);
        set_parent_process_death_signal(wakes)?;
        // A system without them (Linux before 5.3) tells of no end.
        let open = |pid| pidfd_open(pid, PidfdFlags::empty()).ok();
        Ok(Self(lenders.into_iter().filter_map(open).collect()))
    }

    /// Elsewhere nobody tells of their end.
    ///
    /// # Errors
    /// None.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn watch() -> io::Result<Self> {
        Ok(Self(Vec::new()))
    }

    /// Each is readable from its end on.
    pub(super) fn fds(&self) -> &[OwnedFd] {
        &self.0
    }
}
