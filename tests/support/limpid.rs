//! limpid as a process, in a home and a working directory of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A home and a project directory that end with the test.
#[derive(Debug)]
pub struct World {
    dir: TempDir,
}

impl World {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for sub in ["home", "project"] {
            std::fs::create_dir(dir.path().join(sub)).unwrap();
        }
        Self { dir }
    }

    pub fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub fn project(&self) -> PathBuf {
        std::fs::canonicalize(self.dir.path().join("project")).unwrap()
    }

    pub fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// The variables that limpid runs with.
    pub fn environment(&self) -> Vec<(String, String)> {
        let path = std::env::var("PATH").unwrap_or_default();
        [
            ("PATH", path.as_str()),
            ("HOME", self.home().to_str().unwrap()),
            ("XDG_DATA_HOME", self.data().to_str().unwrap()),
            ("TERM", "xterm-256color"),
            ("LANG", "C.UTF-8"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
    }

    /// limpid with these arguments, ready to run.
    pub fn limpid(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command
            .args(arguments)
            .current_dir(self.project())
            .env_clear()
            .envs(self.environment())
            .stdin(std::process::Stdio::null());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.limpid(arguments).output().unwrap()
    }

    /// The journal of the first session.
    pub fn journal(&self) -> String {
        std::fs::read_to_string(self.sessions()[0].join("journal.jsonl")).unwrap()
    }

    /// The directories of all sessions, oldest first.
    pub fn sessions(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.data().join("limpid/sessions")) else {
            return Vec::new();
        };
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    }
}

pub fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_limpid"))
}

/// The built-in model, without pauses between its words.
pub const OFFLINE: &[&str] = &["--offline", "--offline-pace", "full"];

/// How long a busy machine may take for what is promised within two seconds.
pub const PATIENCE: Duration = Duration::from_secs(10);

pub fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a process with this command line lives.
pub fn is_running(command: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ").trim_end() == command
    })
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A process's state and its parent, as the system gives them.
fn stat(pid: i32) -> Option<(char, i32)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit(") ").next()?.split(' ');
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// Whether the process has not ended. (One that waits to be reaped has.)
pub fn lives(pid: i32) -> bool {
    stat(pid).is_some_and(|(state, _)| state != 'Z')
}

/// The one child of a process.
pub fn child_of(parent: i32) -> i32 {
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    let mut pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.find(|pid| stat(*pid).is_some_and(|(_, of)| of == parent)).unwrap()
}
