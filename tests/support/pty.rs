//! limpid on a real pseudo-terminal, its screen read through a terminal emulator.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{Action, tcflow};

use super::limpid::{World, binary};

/// How long a test waits for something before it fails.
const PATIENCE: Duration = Duration::from_secs(15);

pub struct Screen {
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    received: Receiver<Vec<u8>>,
    parser: vt100::Parser,
    /// Everything that came from the program.
    pub raw: Vec<u8>,
    /// How the terminal was set before.
    before: String,
}

impl Screen {
    pub fn start(world: &World, arguments: &[&str], columns: u16, rows: u16) -> Self {
        Self::start_with(world, arguments, columns, rows, &[])
    }

    pub fn start_with(
        world: &World,
        arguments: &[&str],
        columns: u16,
        rows: u16,
        variables: &[(&str, &str)],
    ) -> Self {
        let mut screen = Self::open(world, arguments, columns, rows, variables);
        // What is typed before the terminal is in raw mode is not what a program receives.
        screen.shows("Ask something");
        screen
    }

    /// As [`Self::start_with`], without waiting for the screen.
    pub fn open(
        world: &World,
        arguments: &[&str],
        columns: u16,
        rows: u16,
        variables: &[(&str, &str)],
    ) -> Self {
        let mut command = CommandBuilder::new(binary());
        command.args(arguments);
        Self::run(world, command, columns, rows, variables)
    }

    /// A shell with job control, ready for a line.
    pub fn shell(world: &World, columns: u16, rows: u16) -> Self {
        let mut command = CommandBuilder::new("bash");
        command.args(["--norc", "--noprofile", "--noediting", "-i"]);
        let mut screen = Self::run(world, command, columns, rows, &[("PS1", "ready> ")]);
        screen.shows("ready> ");
        screen
    }

    /// A program on a terminal of its own.
    pub fn run(
        world: &World,
        mut command: CommandBuilder,
        columns: u16,
        rows: u16,
        variables: &[(&str, &str)],
    ) -> Self {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let before = format!("{:?}", pair.master.get_termios());
        command.cwd(world.project());
        command.env_clear();
        for (name, value) in world.environment() {
            command.env(name, value);
        }
        for (name, value) in variables {
            command.env(name, value);
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().unwrap();
        let (sender, received) = sync_channel(1024);
        std::thread::spawn(move || {
            let mut buffer = vec![0; 65536];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            writer: pair.master.take_writer().unwrap(),
            master: pair.master,
            child,
            received,
            parser: vt100::Parser::new(rows, columns, 0),
            raw: Vec::new(),
            before,
        }
    }

    /// Types as a person does: the bytes of one key or text at once.
    pub fn keys(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Types a prompt and, once it stands there, Enter.
    pub fn ask(&mut self, prompt: &str) {
        self.keys(prompt);
        self.shows(prompt);
        self.keys("\r");
    }

    /// Sends the program a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.pid().try_into().unwrap()).unwrap(), signal).unwrap();
    }

    /// What is on the normal screen after the full screen was left.
    pub fn said(&self) -> String {
        let raw = String::from_utf8_lossy(&self.raw).into_owned();
        let at = raw.rfind("\x1b[?1049l").unwrap();
        raw[at..].replace("\x1b[?1049l", "").replace("\x1b[?25h", "")
    }

    /// Types any bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.writer.write_all(bytes).unwrap();
        self.writer.flush().unwrap();
    }

    pub fn resize(&mut self, columns: u16, rows: u16) {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        self.master.resize(size).unwrap();
        self.parser.screen_mut().set_size(rows, columns);
    }

    /// As [`Self::resize`], but nobody looks.
    pub fn resize_unseen(&mut self, columns: u16, rows: u16) {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        self.master.resize(size).unwrap();
    }

    /// Stops the terminal: it takes nothing until it goes on.
    pub fn stop(&self) {
        tcflow(self.slave(), Action::OOff).unwrap();
    }

    pub fn go_on(&self) {
        tcflow(self.slave(), Action::OOn).unwrap();
    }

    fn slave(&self) -> std::fs::File {
        let path = self.master.tty_name().unwrap();
        let flags = OFlags::NOCTTY.bits().cast_signed();
        OpenOptions::new().read(true).write(true).custom_flags(flags).open(path).unwrap()
    }

    /// Whether the full screen is on.
    pub fn is_full(&self) -> bool {
        self.parser.screen().alternate_screen()
    }

    /// How the terminal is set.
    pub fn termios(&self) -> String {
        format!("{:?}", self.master.get_termios())
    }

    pub fn text(&self) -> String {
        self.parser.screen().contents()
    }

    pub fn cursor(&self) -> (u16, u16) {
        self.parser.screen().cursor_position()
    }

    /// Reads until the screen satisfies the condition.
    pub fn until(&mut self, what: &str, condition: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !condition(&self.text()) {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(bytes) = self.received.recv_timeout(left) else {
                panic!("never on the screen: {what}\n{}", self.text());
            };
            self.feed(&bytes);
        }
    }

    pub fn shows(&mut self, text: &str) {
        self.until(text, |screen| screen.contains(text));
    }

    pub fn hides(&mut self, text: &str) {
        self.until(&format!("gone: {text}"), |screen| !screen.contains(text));
    }

    /// Reads what comes within this time.
    pub fn settle(&mut self, time: Duration) {
        let deadline = Instant::now() + time;
        while let Ok(bytes) =
            self.received.recv_timeout(deadline.saturating_duration_since(Instant::now()))
        {
            self.feed(&bytes);
        }
    }

    /// Reads until the program sleeps and all that it wrote is read: it has done all that it was to do.
    /// A clock on the screen may tick in between.
    pub fn rests(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        let mut looks = 0;
        while looks < 4 {
            assert!(Instant::now() < deadline, "the program does not rest\n{}", self.text());
            let drawn = self.raw.len();
            self.settle(Duration::from_millis(50));
            looks = if self.raw.len() == drawn && self.is_asleep() { looks + 1 } else { 0 };
        }
    }

    fn is_asleep(&self) -> bool {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.pid())).unwrap();
        tasks.flatten().all(|task| {
            let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
            stat.rsplit(") ").next().is_some_and(|state| state.starts_with('S'))
        })
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.raw.extend_from_slice(bytes);
        self.parser.process(bytes);
    }

    /// Waits for the program's end and reads the rest.
    pub fn end(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                self.settle(Duration::from_millis(200));
                return status;
            }
            assert!(Instant::now() < deadline, "the program does not end\n{}", self.text());
            self.settle(Duration::from_millis(20));
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// Whether every mode that was switched on was switched off again, once, in whole sequences, and
    /// the terminal is set as before.
    pub fn is_restored(&self) -> bool {
        let raw = String::from_utf8_lossy(&self.raw);
        let last = |on: &str, off: &str| match (raw.rfind(on), raw.rfind(off)) {
            (Some(on), Some(off)) => off > on,
            (None, _) => true,
            (Some(_), None) => false,
        };
        let count = |what: &str| raw.matches(what).count();
        let modes = ["1049", "2004", "1004", "1000", "1002", "1003", "1006", "2026"];
        modes.iter().all(|mode| last(&format!("\x1b[?{mode}h"), &format!("\x1b[?{mode}l")))
            && last("\x1b[?25l", "\x1b[?25h")
            && last("\x1b[>1u", "\x1b[<1u")
            && count("\x1b[?1049h") == count("\x1b[?1049l")
            && count("\x1b[22;0t") == count("\x1b[23;0t")
            && is_whole(&self.raw)
            && self.termios() == self.before
    }
}

/// Whether no escape sequence was cut off by another.
pub fn is_whole(raw: &[u8]) -> bool {
    let mut bytes = raw.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != 0x1b {
            continue;
        }
        match bytes.next() {
            Some(b'[') => loop {
                match bytes.next() {
                    Some(0x30..=0x3f) => {}
                    Some(0x40..=0x7e) => break,
                    _ => return false,
                }
            },
            Some(b']') => loop {
                match bytes.next() {
                    Some(7) => break,
                    Some(0x1b) | None => return false,
                    Some(_) => {}
                }
            },
            _ => return false,
        }
    }
    true
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}
