//! The process table: who descends from whom. Read from `/proc`, so Linux only; elsewhere reading
//! it is an error, and callers fall back to process groups.

use std::collections::HashSet;
use std::io;

use rustix::process::{Pid, getpid};

/// One line of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Process {
    /// Its id; never 0.
    pub(super) pid: Pid,
    /// Id of its parent.
    pub(super) parent: i32,
    /// Id of its process group; 0 if that began outside this PID namespace, in a container say.
    pub(super) group: i32,
    /// Id of its session; 0 as above.
    pub(super) session: i32,
    /// Whether it was stopped by a signal and waits to be continued.
    pub(super) stopped: bool,
}

/// Every process that still runs (those that ended and wait to be reaped are left out).
#[cfg(target_os = "linux")]
pub(super) fn running() -> io::Result<Vec<Process>> {
    let mut table = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        let Ok(entry) = entry else { continue };
        if entry.file_name().to_str().is_some_and(|name| name.parse::<u32>().is_ok()) {
            // A process may end between being listed and being read.
            let Ok(stat) = std::fs::read(entry.path().join("stat")) else { continue };
            table.extend(parse(&stat));
        }
    }
    Ok(table)
}

/// Every process that still runs.
#[cfg(not(target_os = "linux"))]
pub(super) fn running() -> io::Result<Vec<Process>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Whom this process has its terminal from: the shell with job control above it, and what stands
/// between them (`sh -c`, `cargo run` …), nearest first. Empty if there is no such shell: nobody could
/// continue this process after a stop then. (POSIX calls its process group orphaned.)
#[cfg(target_os = "linux")]
pub fn lenders() -> Vec<Pid> {
    let line = |pid| parse(&std::fs::read(format!("/proc/{pid}/stat")).ok()?);
    // Not by the system's calls: rustix takes the 0 that they return for a group or session of another
    // PID namespace for an id.
    let this = line(getpid().as_raw_pid());
    this.map(|this| up_to_the_shell(this, line)).unwrap_or_default()
}

/// Whom this process has its terminal from: the shell with job control that started it, if one did.
#[cfg(not(target_os = "linux"))]
pub fn lenders() -> Vec<Pid> {
    use rustix::process::{getpgid, getpgrp, getppid, getsid};
    let shell = getppid().filter(|parent| {
        getsid(Some(*parent)) == getsid(None)
            && getpgid(Some(*parent)).is_ok_and(|group| group != getpgrp())
    });
    shell.into_iter().collect()
}

/// The ancestors up to the first that is of the session, but not of the process group.
fn up_to_the_shell(this: Process, line: impl Fn(i32) -> Option<Process>) -> Vec<Pid> {
    let mut found = Vec::new();
    let mut child = this;
    while let Some(parent) = line(child.parent).filter(|parent| parent.session == this.session) {
        found.push(parent.pid);
        if parent.group != this.group {
            return found;
        }
        child = parent;
    }
    Vec::new()
}

/// Tells a process and all that descend from it that the terminal is not theirs any more (SIGHUP), also
/// those that are stopped. What ends of itself meanwhile is not missed.
pub fn hang_up(pid: u32) {
    use rustix::process::{Signal, kill_process};
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
    let below = running().map(|table| descendants(&table, pid)).unwrap_or_default();
    for pid in below.iter().map(|process| process.pid).chain([pid]) {
        let _ = kill_process(pid, Signal::HUP);
        let _ = kill_process(pid, Signal::CONT);
    }
}

/// The processes of the table that descend from this one, without itself.
pub(super) fn descendants(table: &[Process], ancestor: Pid) -> Vec<Process> {
    let mut family = HashSet::from([ancestor.as_raw_nonzero().get()]);
    let mut found = Vec::new();
    loop {
        let before = found.len();
        for process in table {
            let pid = process.pid.as_raw_nonzero().get();
            if family.contains(&process.parent) && family.insert(pid) {
                found.push(*process);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Reads `/proc/PID/stat`: `pid (name) state parent group session …`. The name may hold spaces and
/// parentheses, so the fields are counted from the last one.
fn parse(stat: &[u8]) -> Option<Process> {
    let pid = stat.split(|byte| *byte == b' ').next()?;
    let pid = Pid::from_raw(std::str::from_utf8(pid).ok()?.parse().ok()?)?;
    let end_of_name = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&stat[end_of_name + 1..]).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let mut number = || fields.next()?.parse::<i32>().ok();
    let (parent, group, session) = (number()?, number()?, number()?);
    let ended = matches!(state, "Z" | "X" | "x");
    (!ended).then_some(Process { pid, parent, group, session, stopped: state == "T" })
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32) -> Process {
        let pid = Pid::from_raw(pid).unwrap();
        Process { pid, parent, group: 1, session: 1, stopped: false }
    }

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let found = parse(b"7 (a) 1 2 (b) T 5 6 4 0 -1 4194304").unwrap();
        assert_eq!((found.parent, found.group, found.session), (5, 6, 4));
        assert!(found.stopped);
    }

    #[test]
    fn ended_processes_are_left_out() {
        assert_eq!(parse(b"7 (sh) Z 5 6 4 0"), None);
    }

    #[test]
    fn the_shell_is_the_first_above_that_is_of_the_session_but_not_of_the_group() {
        let lenders = |lines: &[(i32, i32, i32, i32)]| -> Vec<i32> {
            let line = |wanted| {
                let (pid, parent, group, session) = *lines.iter().find(|line| line.0 == wanted)?;
                Some(Process { group, session, ..process(pid, parent) })
            };
            up_to_the_shell(line(9).unwrap(), line).iter().map(|pid| pid.as_raw_pid()).collect()
        };
        assert_eq!(lenders(&[(9, 8, 9, 8), (8, 1, 8, 8)]), [8]);
        assert_eq!(
            lenders(&[(9, 7, 7, 6), (7, 6, 7, 6), (6, 1, 6, 6)]),
            [7, 6],
            "with sh -c between"
        );
        assert!(lenders(&[(9, 1, 9, 9), (1, 0, 1, 1)]).is_empty(), "another session's");
        assert!(lenders(&[(9, 8, 8, 8), (8, 1, 8, 8)]).is_empty(), "a script without job control");
        assert_eq!(lenders(&[(9, 1, 9, 0), (1, 0, 1, 0)]), [1], "a session of outside");
        assert!(lenders(&[(9, 1, 0, 0), (1, 0, 0, 0)]).is_empty(), "and a group of outside");
    }

    #[test]
    fn descendants_are_found_in_any_order_and_without_the_ancestor() {
        let table = [process(9, 8), process(8, 5), process(5, 1), process(6, 1)];
        let found = descendants(&table, Pid::from_raw(5).unwrap());
        let pids: Vec<i32> = found.iter().map(|p| p.pid.as_raw_nonzero().get()).collect();
        assert_eq!(pids, [8, 9]);
    }

    #[test]
    fn this_process_is_in_the_table() {
        let me = rustix::process::getpid();
        assert!(running().unwrap().iter().any(|process| process.pid == me));
    }
}
