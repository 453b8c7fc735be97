//! Start-up only.

use std::process::ExitCode;

fn main() -> color_eyre::Result<ExitCode> {
    if std::env::args_os()
        .nth(1)
        .is_some_and(|argument| argument == limpid::tools::minder::ARGUMENT)
    {
        return Ok(limpid::tools::minder::main());
    }
    color_eyre::install()?;
    limpid::cli::run(std::env::args_os())
}
