//! The prompt of `limpid exec`: the argument, what comes on stdin, or both, one after the other.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use rustix::fs::{FileType, fstat};

use crate::text::{self, say};

/// How long stdin is waited for before that is said: whoever left it open by mistake waits for ever.
const SILENCE: Duration = Duration::from_secs(2);

/// The whole prompt, or what is wrong with it.
///
/// # Errors
/// If stdin cannot be read.
pub(super) fn whole(argument: Option<String>) -> io::Result<Result<String, &'static str>> {
    let argument = argument.filter(|prompt| prompt != "-");
    if argument.is_none() && io::stdin().is_terminal() {
        return Ok(Err("no prompt: limpid exec \"PROMPT\", or pipe it in"));
    }
    let bytes = if argument.is_none() || holds_something()? { read()? } else { Vec::new() };
    let Ok(piped) = String::from_utf8(bytes) else {
        return Ok(Err(say!("what comes on stdin is not UTF-8; nothing was sent")));
    };
    let prompt = match argument {
        None => piped,
        Some(prompt) if piped.trim().is_empty() => prompt,
        Some(prompt) => {
            let size = text::bytes(piped.len() as u64);
            let told = say!("limpid: {size} from stdin go after the prompt", size = size);
            writeln!(io::stderr(), "{told}")?;
            format!("{prompt}\n\n{piped}")
        }
    };
    Ok(if prompt.trim().is_empty() {
        Err("the prompt is empty; nothing was sent")
    } else {
        Ok(prompt)
    })
}

/// Whether stdin is a pipe or a file. What a program leaves open for no purpose (a terminal, a device)
/// is not looked at.
fn holds_something() -> io::Result<bool> {
    let stdin = io::stdin();
    let kind = FileType::from_raw_mode(fstat(stdin.as_fd())?.st_mode);
    Ok(matches!(kind, FileType::Fifo | FileType::RegularFile | FileType::Socket))
}

/// All of stdin. Should it take long, that is said.
fn read() -> io::Result<Vec<u8>> {
    let mut stdin = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let (send, receive) = sync_channel(1);
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdin.read_to_end(&mut bytes).map(|_| bytes);
        // Nobody waits any more only when limpid ends.
        let _ = send.send(read);
    });
    match receive.recv_timeout(SILENCE) {
        Ok(read) => read,
        Err(RecvTimeoutError::Timeout) => {
            let told = say!("limpid: reading stdin to its end (< /dev/null: without)");
            writeln!(io::stderr(), "{told}")?;
            receive.recv().map_err(io::Error::other)?
        }
        Err(error) => Err(io::Error::other(error)),
    }
}
