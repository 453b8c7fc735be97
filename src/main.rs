//! Start-up only.

use std::io::Write as _;
use std::process::ExitCode;

use limpid::text::{self, Show};

fn main() -> ExitCode {
    if std::env::args_os()
        .nth(1)
        .is_some_and(|argument| argument == limpid::tools::minder::ARGUMENT)
    {
        return limpid::tools::minder::main();
    }
    keep_memory_private();
    let ended = color_eyre::install().and_then(|()| limpid::cli::run(std::env::args_os()));
    ended.unwrap_or_else(|report| {
        let backtrace = std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0");
        let told = if backtrace { format!("{report:?}") } else { format!("{report:#}") };
        // Where stderr is gone, nobody can be told.
        let _ = writeln!(std::io::stderr(), "limpid: {}", text::visible(&told, Show::Prose));
        ExitCode::FAILURE
    })
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
