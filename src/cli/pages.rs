//! `limpid completions` and `limpid man`: the arguments as the shell and as `man` want them.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Command;
use clap_complete::Shell;

use super::usage;

/// Prints a script that completes limpid's arguments.
pub(super) fn completions(shell: Shell, mut command: Command) -> color_eyre::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "limpid", &mut script);
    print(&script)
}

/// Prints the manual page of limpid or of one of its subcommands.
pub(super) fn man(subcommand: Option<&str>, command: Command) -> color_eyre::Result<ExitCode> {
    let command = match subcommand {
        None => command,
        Some(name) => {
            let found = command.get_subcommands().find(|subcommand| subcommand.get_name() == name);
            match found.cloned() {
                Some(subcommand) => subcommand.display_name(format!("limpid-{name}")),
                None => {
                    return usage(&format!("there is no subcommand \"{name}\" (limpid --help)"));
                }
            }
        }
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    print(&page)
}

fn print(text: &[u8]) -> color_eyre::Result<ExitCode> {
    match io::stdout().lock().write_all(text) {
        // Whoever reads has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error.into()),
        Ok(()) => Ok(ExitCode::SUCCESS),
    }
}
