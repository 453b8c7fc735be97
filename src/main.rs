//! Start-up only.

use std::process::ExitCode;

fn main() -> color_eyre::Result<ExitCode> {
    if std::env::args_os()
        .nth(1)
        .is_some_and(|argument| argument == limpid::tools::minder::ARGUMENT)
    {
        return Ok(limpid::tools::minder::main());
    }
    keep_memory_private();
    color_eyre::install()?;
    limpid::cli::run(std::env::args_os())
}

/// The environment may hold a key: commands, which run as the same user, cannot read it from this
/// process (`/proc/PID/environ`, `ptrace`), and a crash leaves no image of it. The superuser still
/// can. What it starts is not bound by this.
fn keep_memory_private() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // The kernel refuses only values that it does not know.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}
