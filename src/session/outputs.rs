//! The files with what commands wrote: how they are named, and finding the one of a call.

use std::fs;
use std::path::Path;

use crate::conversation::CallId;

/// The file for the output of a session's call with this number, below the session's directory.
pub fn output_name(number: u32, call: &CallId) -> String {
    format!("outputs/{number:04}-{}.txt", short(call))
}

fn short(call: &CallId) -> String {
    call.0.chars().filter(char::is_ascii_alphanumeric).take(40).collect()
}

/// The file that holds what a call had written when limpid ended, below the session's directory, and
/// its bytes.
pub fn kept_output(session: &Path, call: &CallId) -> Option<(String, u64)> {
    let ending = format!("-{}.txt", short(call));
    let files = fs::read_dir(session.join("outputs")).ok()?.flatten();
    let mut named = files.filter_map(|file| {
        let name = file.file_name().into_string().ok()?;
        let data = file.metadata().ok()?;
        (name.ends_with(&ending) && data.is_file()).then(|| (format!("outputs/{name}"), data.len()))
    });
    named.next()
}
