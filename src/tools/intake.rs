//! Reading a running command's output: into the capture, into the file, and as samples onto the
//! screen.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tokio::net::unix::pipe;
use tokio::sync::watch;
use tokio::time::Instant;

use super::Sample;
use super::capture::{Capture, NEWEST};
use super::output_file::{KeptFile, OutputFile};
use crate::text::{Redactor, Secrets};

/// Time between two samples.
const SAMPLE_EVERY: Duration = Duration::from_millis(33);

/// Bytes of one read.
const READ_BYTES: usize = 64 * 1024;

/// Reads without a pause after which other tasks get their turn.
const READS_IN_A_ROW: u32 = 4;

/// Takes the output of one command.
pub(super) struct Intake {
    pub(super) capture: Capture,
    redactor: Redactor,
    file: Option<OutputFile>,
    samples: watch::Sender<Sample>,
    /// When the next sample is due; `None` when the last one showed everything.
    pub(super) sample_at: Option<Instant>,
    sampled_at: Instant,
    buffer: Box<[u8]>,
    reads: u32,
    /// Whether more can come.
    pub(super) open: bool,
}

impl Intake {
    /// Nothing is read or created yet.
    pub(super) fn new(
        file: Option<PathBuf>,
        samples: watch::Sender<Sample>,
        secrets: Secrets,
    ) -> Self {
        Self {
            redactor: Redactor::new(secrets.clone()),
            capture: Capture::without(secrets),
            file: file.map(OutputFile::new),
            samples,
            sample_at: None,
            sampled_at: Instant::now(),
            buffer: vec![0; READ_BYTES].into(),
            reads: 0,
            open: true,
        }
    }

    /// Takes what is there, waiting for it if nothing is. May be dropped and called again.
    pub(super) async fn read(&mut self, output: &pipe::Receiver) {
        if output.readable().await.is_err() {
            self.open = false;
            return;
        }
        self.read_now(output, READ_BYTES);
        self.reads += 1;
        if self.reads.is_multiple_of(READS_IN_A_ROW) {
            tokio::task::yield_now().await;
        }
    }

    /// Takes what is in the pipe at this moment, and nothing that is written later: processes in
    /// the background may go on writing for ever.
    pub(super) fn drain(&mut self, output: &pipe::Receiver) {
        let there = rustix::io::ioctl_fionread(output).unwrap_or(0);
        let mut left = usize::try_from(there).unwrap_or(usize::MAX);
        while left > 0 {
            match self.read_now(output, left) {
                0 => break,
                length => left -= length,
            }
        }
    }

    fn read_now(&mut self, output: &pipe::Receiver, most: usize) -> usize {
        let most = most.min(READ_BYTES);
        match output.try_read(&mut self.buffer[..most]) {
            Ok(0) => self.open = false,
            Ok(length) => {
                self.capture.produced += length as u64;
                let bytes = self.redactor.push(&self.buffer[..length]);
                self.capture.push(&bytes);
                if let Some(file) = &mut self.file {
                    file.push(&bytes);
                }
                self.sample_at.get_or_insert(self.sampled_at + SAMPLE_EVERY);
                return length;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => self.open = false,
        }
        0
    }

    /// Shows what there is so far.
    pub(super) fn sample(&mut self) {
        self.sampled_at = Instant::now();
        self.sample_at = None;
        self.samples.send_replace(Sample {
            tail: self.capture.newest(NEWEST),
            produced: self.capture.produced,
        });
    }

    /// Nothing more is taken: the last sample, what was kept, and whether a key was in it.
    pub(super) fn finish(mut self) -> (Capture, KeptFile, bool) {
        let held = self.redactor.finish();
        self.capture.push(&held);
        if let Some(file) = &mut self.file {
            file.push(&held);
        }
        self.capture.finish();
        self.sample();
        let redacted = self.redactor.found > 0 || self.capture.is_redacted();
        (self.capture, self.file.map_or(KeptFile::None, OutputFile::finish), redacted)
    }
}
