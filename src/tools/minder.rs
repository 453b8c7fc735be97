//! The minder: limpid re-executed as `limpid __minder`, between limpid and each command, so that
//! nothing a command starts outlives a stop, a time-out or limpid itself, however limpid ended.
//!
//! Its input is one end of a socket pair. limpid writes the command (four bytes of length, little
//! endian, then the bytes) and keeps its end open. When that end closes, for whatever reason, the
//! minder ends the whole tree: TERM, then KILL until nothing is left. Being a sub-reaper, it also
//! inherits what left its group or session (`setsid`, `nohup`, double forks). Before that, a byte stops
//! the tree for a while, and another lets it go on (`pause`). Back come lines:
//!
//! | line | meaning |
//! |---|---|
//! | `failed TEXT` | the shell was not started; nothing ran |
//! | `left PID PID …` | these still ran when the shell ended; comes before `exit` or `signal` |
//! | `exit N` / `signal N` | how the shell ended |
//!
//! Output does not pass through here: the shell writes to the pipe that limpid reads.
//! Not here: time limits and stopping (`bash`), what the command's environment is (`environment`).
//!
//! Not reset, because safe code cannot: signals that limpid's own parent had set to be ignored.
//! limpid never changes its umask, so the command has the user's.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, getpid, kill_process,
    kill_process_group, setsid, wait, waitid,
};

use super::pause::{PAUSE, RESUME};
use super::table::{self, Process};

/// The argument that makes limpid a minder.
pub const ARGUMENT: &str = "__minder";

/// The longest command in bytes: Linux refuses a longer single argument (`MAX_ARG_STRLEN`, with
/// its end mark).
pub(super) const LONGEST_COMMAND: usize = 131_071;

/// How long a tree may take to end by itself after TERM, before KILL.
const GRACE: Duration = Duration::from_millis(150);

/// How often the table is read again for processes that were forked while others were stopped.
const PAUSE_PASSES: u32 = 5;

/// The shell, by its full path: a `PATH` cannot put another one in its place.
pub(super) const SHELL: &str = "/bin/sh";

/// The program that can be started as a minder: this one, also if its file was replaced meanwhile.
pub fn executable() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() }
}

/// Runs as a minder, to the end of the last process that the command left.
pub fn main() -> ExitCode {
    match mind() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody is left to tell if this fails too.
            let _ = writeln!(io::stderr(), "limpid {ARGUMENT}: started by limpid only: {error}");
            ExitCode::from(2)
        }
    }
}

fn mind() -> io::Result<()> {
    let link = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let command = read_command(&link)?;
    // What limpid's own parent left open is nothing for commands.
    close_fds::set_fds_cloexec(3, &[]);
    become_a_root()?;
    let nowhere = std::fs::File::options().write(true).open("/dev/null")?;
    let tree = Arc::new(Tree { shell: Mutex::new(None) });
    let (watched_link, watched_tree) = (link.try_clone()?, tree.clone());
    thread::Builder::new().spawn(move || end_when_closed(&watched_link, &watched_tree))?;
    // From here on nothing may leave this function before the tree has ended.
    let shell = match tree.start(&command) {
        Ok(shell) => shell,
        Err(error) => return writeln!(&link, "failed {SHELL} could not be started: {error}"),
    };
    // Only the command holds the output pipe from here on; were it held, nothing would be lost.
    let _ = rustix::stdio::dup2_stdout(&nowhere);
    let _ = rustix::stdio::dup2_stderr(&nowhere);
    while let Some(status) = tree.reap_next(shell) {
        // limpid may be gone; the tree is then being ended, and reaping goes on.
        let _ = report(&link, status, &tree.left());
    }
    Ok(())
}

fn read_command(mut link: &UnixStream) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    link.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST_COMMAND {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut command = vec![0; length];
    link.read_exact(&mut command)?;
    Ok(command)
}

/// A new session (no terminal can be opened from it), and whatever loses its parent comes here.
fn become_a_root() -> io::Result<()> {
    setsid()?;
    #[cfg(target_os = "linux")]
    {
        rustix::process::set_child_subreaper(Some(getpid()))?;
        // A command can stop who minds it; when limpid ends, it goes on.
        rustix::process::set_parent_process_death_signal(Some(Signal::CONT))?;
    }
    Ok(())
}

fn report(mut link: &UnixStream, status: WaitStatus, left: &[Pid]) -> io::Result<()> {
    let pids: Vec<String> = left.iter().map(|pid| pid.as_raw_nonzero().to_string()).collect();
    let left = if left.is_empty() { String::new() } else { format!("left {}\n", pids.join(" ")) };
    let end = match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => format!("exit {code}\n"),
        (None, signal) => format!("signal {}\n", signal.unwrap_or_default()),
    };
    link.write_all(format!("{left}{end}").as_bytes())
}

/// Waits until limpid's end of the link closes, then ends the tree. Returns never: the process
/// ends when the last child was reaped.
fn end_when_closed(mut link: &UnixStream, tree: &Tree) {
    let mut words = [0; 64];
    loop {
        match link.read(&mut words) {
            Ok(count @ 1..) => match words[count - 1] {
                PAUSE => tree.pause(),
                RESUME => tree.resume(),
                _ => {}
            },
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => break,
        }
    }
    tree.signal(Signal::TERM);
    thread::sleep(GRACE);
    loop {
        tree.signal(Signal::KILL);
        thread::sleep(Duration::from_millis(5));
    }
}

/// Everything that descends from the minder.
struct Tree {
    /// The shell, until it was reaped. Held while reaping and while signalling, so that no child's
    /// id can be given to a stranger between being looked up and being signalled.
    shell: Mutex<Option<Pid>>,
}

impl Tree {
    /// Starts the shell in a process group of its own, so that `kill 0` in a script spares the
    /// minder.
    fn start(&self, command: &[u8]) -> io::Result<Pid> {
        let mut unreaped = self.lock();
        let shell = Command::new(SHELL)
            .args(["-c", "--"])
            .arg(OsStr::from_bytes(command))
            .stdin(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(*unreaped.insert(Pid::from_child(&shell)))
    }

    /// Reaps until the shell ended (its status) or no child is left (`None`).
    fn reap_next(&self, shell: Pid) -> Option<WaitStatus> {
        loop {
            match waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Err(_) => return None,
            }
            let mut unreaped = self.lock();
            if let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG)
                && pid == shell
            {
                *unreaped = None;
                return Some(status);
            }
        }
    }

    /// The processes that still run. Those that have ended are reaped first; when none is left,
    /// the table need not be read.
    fn left(&self) -> Vec<Pid> {
        let _unreaped = self.lock();
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return Vec::new(),
            }
        }
        members().into_iter().map(|process| process.pid).collect()
    }

    /// Sends a signal to every process of the tree.
    ///
    /// KILL goes to the groups of the minder's session first: a group is hit as one, so its members
    /// cannot fork away from it. Who has ended meanwhile is no error.
    fn signal(&self, signal: Signal) {
        let unreaped = self.lock();
        let members = members();
        let own = getpid().as_raw_nonzero().get();
        if signal == Signal::KILL {
            let groups: BTreeSet<i32> = members
                .iter()
                .filter(|process| process.session == own && process.group != own)
                .map(|process| process.group)
                .collect();
            for group in groups.into_iter().filter(|group| *group > 1).filter_map(Pid::from_raw) {
                let _ = kill_process_group(group, signal);
            }
        }
        for process in &members {
            let _ = kill_process(process.pid, signal);
            if process.stopped {
                let _ = kill_process(process.pid, Signal::CONT);
            }
        }
        // Where there is no table, the shell's group is all that can be reached.
        if members.is_empty()
            && let Some(shell) = *unreaped
        {
            let _ = kill_process_group(shell, signal);
        }
    }

    /// Stops every process of the tree; those that were just forked as well.
    fn pause(&self) {
        let unreaped = self.lock();
        for _ in 0..PAUSE_PASSES {
            let moving: Vec<Process> = members().into_iter().filter(|one| !one.stopped).collect();
            for process in &moving {
                let _ = kill_process(process.pid, Signal::STOP);
            }
            if moving.is_empty() {
                break;
            }
        }
        if let Some(shell) = *unreaped {
            let _ = kill_process_group(shell, Signal::STOP);
        }
    }

    /// Lets every process of the tree go on.
    fn resume(&self) {
        let unreaped = self.lock();
        for process in &members() {
            let _ = kill_process(process.pid, Signal::CONT);
        }
        if let Some(shell) = *unreaped {
            let _ = kill_process_group(shell, Signal::CONT);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Pid>> {
        self.shell.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What descends from the minder; nothing where there is no process table.
fn members() -> Vec<Process> {
    table::running().map(|table| table::descendants(&table, getpid())).unwrap_or_default()
}
