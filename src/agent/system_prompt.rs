//! The built-in system prompt: what every session begins with.

use std::path::Path;
use std::time::Duration;

/// The prompt for work in `directory`, with commands limited to `limit`.
pub fn system_prompt(directory: &Path, limit: Duration) -> String {
    include_str!("../../assets/system_prompt.txt")
        .trim_end()
        .replace("{directory}", &directory.to_string_lossy())
        .replace("{platform}", &format!("{}, {}", std::env::consts::OS, std::env::consts::ARCH))
        .replace("{shell}", SHELL)
        .replace("{limit}", &limit.as_secs().to_string())
}

const SHELL: &str = if cfg!(windows) { "cmd.exe" } else { "sh -c" };
