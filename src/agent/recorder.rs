//! The one log: each record goes to the journal first, then to the subscriber.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::mpsc;

use super::log;
use crate::conversation::{CallId, Event, Progress, Record, Stamped, TurnNumber};
use crate::session::{Journal, output_name};
use crate::wire::ResponseHead;

/// Writes records and hands events on.
#[derive(Debug)]
pub struct Recorder {
    store: Store,
    subscriber: mpsc::Sender<Event>,
    saved_in: Arc<OnceLock<PathBuf>>,
    /// Whether the newest attempt to journal something failed. It is tried again with the next.
    failing: bool,
    /// Whether some of a response could not be kept. That is not tried again.
    lost: bool,
    /// Whether either is so.
    in_part: Arc<AtomicBool>,
    outputs: u32,
}

#[derive(Debug)]
enum Store {
    /// Nothing is kept.
    Off,
    /// The session is made with its first record, so that looking around leaves nothing behind.
    /// Records that could not be saved yet wait in order.
    Planned {
        sessions: PathBuf,
        directory: PathBuf,
        waiting: Vec<Arc<Stamped>>,
    },
    Open(Journal),
}

impl Recorder {
    /// `sessions` is where the session's directory will be made; `None` keeps nothing.
    pub fn new(
        sessions: Option<PathBuf>,
        directory: &Path,
        subscriber: mpsc::Sender<Event>,
    ) -> Self {
        let store = match sessions {
            Some(sessions) => {
                Store::Planned { sessions, directory: directory.to_owned(), waiting: Vec::new() }
            }
            None => Store::Off,
        };
        Self {
            store,
            subscriber,
            saved_in: Arc::default(),
            failing: false,
            lost: false,
            in_part: Arc::default(),
            outputs: 0,
        }
    }

    /// Goes on in a journal that is there; `calls` is how many calls it knows of.
    pub fn resumed(journal: Journal, calls: usize, subscriber: mpsc::Sender<Event>) -> Self {
        let saved_in = OnceLock::from(journal.path().to_owned());
        Self {
            store: Store::Open(journal),
            subscriber,
            saved_in: Arc::new(saved_in),
            failing: false,
            lost: false,
            in_part: Arc::default(),
            // No call has more than one file.
            outputs: u32::try_from(calls).unwrap_or(u32::MAX),
        }
    }

    /// What will hold the session's directory, once it was made.
    pub fn saved_in(&self) -> Arc<OnceLock<PathBuf>> {
        self.saved_in.clone()
    }

    /// What tells whether some of the session could not be saved.
    pub fn in_part(&self) -> Arc<AtomicBool> {
        self.in_part.clone()
    }

    /// Journals a record, then announces it.
    pub async fn record(&mut self, record: Record) {
        log::record(&record);
        let stamped = Arc::new(Stamped { at: now_ms(), record });
        let saved = self.save(&stamped);
        self.announce(Event::Record(stamped)).await;
        self.report(saved).await;
    }

    /// Announces something that is not journaled.
    pub async fn progress(&mut self, progress: Progress) {
        self.announce(Event::Progress(progress)).await;
    }

    /// Begins the file of one attempt's response.
    pub async fn begin_exchange(&mut self, turn: TurnNumber, attempt: u32, head: &ResponseHead) {
        if let Store::Open(journal) = &mut self.store {
            let begun = journal.begin_exchange(turn, attempt, head);
            self.report_response(begun).await;
        }
    }

    /// Keeps bytes of the response as they arrived, so many milliseconds after it was posted.
    pub async fn exchange_bytes(&mut self, bytes: &[u8], ms: u64) {
        if let Store::Open(journal) = &mut self.store {
            let kept = journal.exchange_bytes(bytes, ms);
            self.report_response(kept).await;
        }
    }

    /// A file for the complete output of a call, below the session's directory.
    pub fn output_file(&mut self, call: &CallId) -> Option<PathBuf> {
        let Store::Open(journal) = &self.store else { return None };
        self.outputs = self.outputs.saturating_add(1);
        Some(journal.path().join(output_name(self.outputs, call)))
    }

    /// Makes all records survive a power loss.
    pub async fn sync(&mut self) {
        let Store::Open(journal) = &self.store else { return };
        let synced = match journal.sync() {
            Ok(sync) => tokio::task::spawn_blocking(sync)
                .await
                .unwrap_or_else(|gone| Err(io::Error::other(gone))),
            Err(error) => Err(error),
        };
        if synced.is_err() {
            self.report(synced).await;
        }
    }

    fn save(&mut self, stamped: &Arc<Stamped>) -> io::Result<()> {
        match &mut self.store {
            Store::Off => Ok(()),
            Store::Open(journal) => journal.append(stamped),
            Store::Planned { sessions, directory, waiting } => {
                waiting.push(stamped.clone());
                let created = waiting.first().map_or(stamped.at, |first| first.at);
                let mut journal = Journal::create(sessions, directory, created)?;
                // One that fails stays with the journal and is written before the next.
                let mut saved = Ok(());
                for stamped in waiting.iter() {
                    saved = journal.append(stamped);
                }
                // There is one journal; it is set once.
                let _ = self.saved_in.set(journal.path().to_owned());
                self.store = Store::Open(journal);
                saved
            }
        }
    }

    /// Says once that saving fails, and once that it works again.
    async fn report(&mut self, saved: io::Result<()>) {
        let notice = match saved {
            Err(error) if !self.failing => {
                format!(
                    "Cannot save this session: {error}. It goes on in memory; what is not saved is tried again with each step."
                )
            }
            Ok(()) if self.failing => "The session is saved again.".to_owned(),
            _ => return,
        };
        self.failing = !self.failing;
        self.notice(notice).await;
    }

    /// Says once that responses are not kept.
    async fn report_response(&mut self, kept: io::Result<()>) {
        let Err(error) = kept else { return };
        if !self.lost {
            self.lost = true;
            self.notice(format!(
                "Cannot keep the response as it was sent: {error}. It goes on; the inspector's view of the response will lack the rest."
            ))
            .await;
        }
    }

    async fn notice(&mut self, notice: String) {
        self.in_part.store(self.failing || self.lost, Ordering::Relaxed);
        self.announce(Event::Progress(Progress::Notice(notice))).await;
    }

    async fn announce(&mut self, event: Event) {
        // A subscriber that has left needs no events; the journal has them.
        let _ = self.subscriber.send(event).await;
    }
}

/// Milliseconds since 1970-01-01 UTC.
pub fn now_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
