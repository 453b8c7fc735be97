//! limpid's side of a running command: starting it through a minder, what the minder reports, and
//! what is done when the minder itself was ended.
//!
//! Not here: the minder (`minder`), what is done with the output (`intake`).

use std::collections::BTreeSet;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};

use super::environment::Withheld;
use super::{minder, pause, table};

/// Room in the output pipe: fewer switches between command and limpid than with the usual 64 KiB.
const PIPE_BYTES: usize = 256 * 1024;

/// Time between two reads of output that nobody wants.
const DROP_PAUSE: Duration = Duration::from_millis(20);

/// How often a session without its minder is swept.
const SESSION_PASSES: u32 = 100;

/// How the system starts a command.
#[derive(Debug)]
pub(super) struct Start<'a> {
    /// The program that becomes the minder.
    pub(super) minder: &'a Path,
    /// The command's working directory.
    pub(super) directory: &'a Path,
    /// The variables that the command must not see.
    pub(super) withheld: &'a Withheld,
}

/// A command that was started.
#[derive(Debug)]
pub(super) struct Running {
    minder: Child,
    /// The link to the minder. Once it is dropped, the minder ends the command's whole tree.
    pub(super) link: Link,
    /// Both streams of the command, in order of arrival.
    pub(super) output: pipe::Receiver,
}

/// limpid's end of the link to a minder.
#[derive(Debug)]
pub(super) struct Link {
    stream: UnixStream,
    /// By this the minder can be told to stop its tree for a while.
    _known: Arc<std::os::unix::net::UnixStream>,
    unread: Vec<u8>,
    /// Processes that still ran when the shell ended; known when its end is reported.
    pub(super) left: Vec<u32>,
}

/// What a minder reports.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// The shell ended with this exit code.
    Exited(i32),
    /// The shell was ended by this signal.
    Signaled(i32),
    /// Nothing was started; why.
    Failed(String),
    /// The minder is gone.
    Closed,
}

impl Start<'_> {
    /// Starts a command.
    ///
    /// # Errors
    /// Why it was not started, in words.
    pub(super) async fn command(&self, command: &str) -> Result<Running, String> {
        check_directory(self.directory)?;
        let failed = |error| format!("the command could not be started: {error}");
        let mut running = self.minder().map_err(failed)?;
        running.link.send(command).await.map_err(failed)?;
        Ok(running)
    }

    fn minder(&self) -> io::Result<Running> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let known = pause::register(ours.try_clone()?);
        let (reader, writer) = io::pipe()?;
        // Only a matter of speed; the system may refuse.
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(&reader, PIPE_BYTES);
        let output = pipe::Receiver::from_owned_fd(OwnedFd::from(reader))?;
        let stream = UnixStream::from_std(ours)?;
        let minder = Command::new(self.minder)
            .arg0("limpid")
            .arg(minder::ARGUMENT)
            .current_dir(self.directory)
            .env_clear()
            .envs(self.withheld.for_commands(std::env::vars_os()))
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(writer.try_clone()?))
            .stderr(Stdio::from(writer))
            .spawn()?;
        let link = Link { stream, _known: known, unread: Vec::new(), left: Vec::new() };
        Ok(Running { minder, link, output })
    }
}

/// A directory that is missing must not look like a missing shell.
fn check_directory(directory: &Path) -> Result<(), String> {
    // The dot asks for more than being there: that it can be entered.
    let why = match std::fs::metadata(directory.join(".")) {
        Ok(_) => return Ok(()),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound => "no longer exists".to_owned(),
            io::ErrorKind::NotADirectory => "is no longer a directory".to_owned(),
            _ => format!("cannot be entered: {error}"),
        },
    };
    Err(format!("working directory {} {why}", directory.display()))
}

impl Running {
    /// Asks the minder to end the command's tree. What is still written and reported can be read on.
    pub(super) async fn end(&mut self) {
        // A command may have stopped its minder, which then would hear nothing.
        if let Some(pid) = self.minder.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
            let _ = kill_process(pid, Signal::CONT);
        }
        // A minder that is gone already needs no asking.
        let _ = self.link.stream.shutdown().await;
    }

    /// Reads what background processes write to nowhere, until all of them have ended.
    ///
    /// Unhurried, so that one that writes without end takes no share of the machine worth noticing;
    /// it waits for room in the pipe instead.
    pub(super) async fn drop_output(mut self) {
        let mut nowhere = vec![0; PIPE_BYTES];
        let mut open = true;
        loop {
            tokio::select! {
                report = self.link.report() => if report == Report::Closed {
                    // What minded them may have been ended before them.
                    self.sweep().await;
                    return;
                },
                ready = self.output.readable(), if open => {
                    let read = ready.and_then(|()| self.output.try_read(&mut nowhere));
                    open = match read {
                        Ok(length) => length > 0,
                        Err(error) => error.kind() == io::ErrorKind::WouldBlock,
                    };
                    tokio::time::sleep(DROP_PAUSE).await;
                }
            }
        }
    }

    /// How a minder ended, whose end of the link is closed. Unless it did so after the last process
    /// of the command, somebody else ended it, or it is no minder.
    pub(super) async fn minder_status(&mut self) -> io::Result<ExitStatus> {
        self.minder.wait().await
    }

    /// Ends what a minder that is gone left of its command, and says how many processes that were.
    /// What had left both its session and its parents is out of reach.
    pub(super) async fn sweep(&mut self) -> usize {
        // Its id stays the session's as long as it was not waited for.
        let Some(session) = self.minder.id() else { return 0 };
        let mut ended = BTreeSet::new();
        // Again for what was forked meanwhile; not for ever for what cannot be killed.
        for _ in 0..SESSION_PASSES {
            let left = kill_session(session);
            if left.is_empty() {
                break;
            }
            ended.extend(left);
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        ended.len()
    }
}

/// Sends KILL to every process of a session, and to what descends from them; to which.
fn kill_session(session: u32) -> Vec<i32> {
    let table = table::running().unwrap_or_default();
    let members: Vec<_> = table
        .iter()
        .filter(|process| u32::try_from(process.session) == Ok(session))
        // The minder itself may be ending only now.
        .filter(|process| process.pid.as_raw_nonzero().get() != process.session)
        .flat_map(|member| [vec![*member], table::descendants(&table, member.pid)].concat())
        .collect();
    for process in &members {
        // It may end by itself in between.
        let _ = kill_process(process.pid, Signal::KILL);
    }
    members.iter().map(|process| process.pid.as_raw_nonzero().get()).collect()
}

impl Link {
    async fn send(&mut self, command: &str) -> io::Result<()> {
        let length = u32::try_from(command.len()).map_err(io::Error::other)?;
        let mut bytes = length.to_le_bytes().to_vec();
        bytes.extend_from_slice(command.as_bytes());
        match self.stream.write_all(&bytes).await {
            // A minder that is gone is reported as such.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            sent => sent,
        }
    }

    /// Waits for the end of the command, or of the minder. May be dropped and called again.
    pub(super) async fn report(&mut self) -> Report {
        loop {
            while let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                if let Some(report) = self.line(String::from_utf8_lossy(&line).trim_end()) {
                    return report;
                }
            }
            let mut bytes = [0; 1024];
            let read = match self.stream.readable().await {
                Ok(()) => self.stream.try_read(&mut bytes),
                Err(error) => Err(error),
            };
            match read {
                Ok(length @ 1..) => self.unread.extend_from_slice(&bytes[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Ok(0) | Err(_) => return Report::Closed,
            }
        }
    }

    fn line(&mut self, line: &str) -> Option<Report> {
        let (word, rest) = line.split_once(' ')?;
        match word {
            "left" => {
                self.left = rest.split(' ').filter_map(|pid| pid.parse().ok()).collect();
                None
            }
            "exit" => rest.parse().ok().map(Report::Exited),
            "signal" => rest.parse().ok().map(Report::Signaled),
            "failed" => Some(Report::Failed(rest.to_owned())),
            _ => None,
        }
    }
}
