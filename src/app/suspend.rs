//! Ctrl-Z and `fg`: everything stops, commands too, and goes on where it was.

use std::io;

use rustix::process::{Signal, getpgrp, kill_process_group};

/// Stops limpid with its process group. Returns when somebody has continued it.
///
/// The whole group, because a shell that was started to run limpid and nothing else would wait for
/// ever; SIGSTOP, because SIGTSTP is listened for.
///
/// # Errors
/// What the system says; nothing has stopped then.
pub(super) fn stop() -> io::Result<()> {
    // Called from the main thread, it does not return before limpid goes on.
    Ok(kill_process_group(getpgrp(), Signal::STOP)?)
}
