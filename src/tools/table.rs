//! The process table: who descends from whom. Read from `/proc`, so Linux only; elsewhere reading
//! it is an error, and callers fall back to process groups.

use std::collections::HashSet;
use std::io;

use rustix::process::{Pid, getppid};

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

/// Whether a shell with job control could continue this process group after a stop: one of the
/// group has its parent in the same session, but in another group. (POSIX calls a group without one
/// orphaned.)
pub fn can_be_continued() -> bool {
    let (Ok(table), Some(this)) = (running(), this()) else {
        return shell_with_job_control().is_some();
    };
    table.iter().filter(|process| process.group == this.group).any(|process| {
        table.iter().any(|parent| {
            parent.pid.as_raw_nonzero().get() == process.parent && parent.continues(process)
        })
    })
}

/// The shell with job control that started this process, if one did.
#[cfg(target_os = "linux")]
pub fn shell_with_job_control() -> Option<Pid> {
    let this = this()?;
    let parent = parse(&std::fs::read(format!("/proc/{}/stat", this.parent)).ok()?)?;
    getppid().filter(|_| parent.continues(&this))
}

/// The shell with job control that started this process, if one did.
#[cfg(not(target_os = "linux"))]
pub fn shell_with_job_control() -> Option<Pid> {
    use rustix::process::{getpgid, getpgrp, getsid};
    getppid().filter(|parent| {
        getsid(Some(*parent)) == getsid(None)
            && getpgid(Some(*parent)).is_ok_and(|group| group != getpgrp())
    })
}

impl Process {
    /// Whether this is a shell with job control to the other.
    fn continues(&self, child: &Self) -> bool {
        self.session == child.session && self.group != child.group
    }
}

/// This process's own line. (Not by the system's calls: rustix takes the 0 that they return for a
/// group or session of another namespace for an id.)
fn this() -> Option<Process> {
    parse(&std::fs::read("/proc/self/stat").ok()?)
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
    fn a_shell_in_the_session_but_not_in_the_group_continues() {
        let of = |group, session| Process { group, session, ..process(7, 5) };
        assert!(of(5, 5).continues(&of(7, 5)));
        assert!(!of(7, 5).continues(&of(7, 5)), "a script's own command");
        assert!(!of(4, 4).continues(&of(7, 5)), "another terminal's");
        assert!(of(1, 0).continues(&of(7, 0)), "the session began outside the container");
        assert!(!of(0, 0).continues(&of(0, 0)), "and so did the group");
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
