//! Keeps what the user has typed and not sent beside the journal, so that it outlives limpid: a prompt
//! that is queued at once, everything else soon after a key, and all of it at the end.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{drafts, reports};
use crate::agent::now_ms;
use crate::conversation::Unsent;
use crate::session::keep_unsent;
use crate::text::say;
use crate::tui::Model;

/// How long after a key it may take. What was sent meanwhile is in the journal by then.
const SOON: Duration = Duration::from_secs(2);

/// What is on disk, and when that is looked at next.
#[derive(Debug, Default)]
pub(super) struct Keeper {
    kept: Unsent,
    due: Option<Instant>,
    /// Whether the user was told that it fails.
    failing: bool,
}

impl Keeper {
    /// `kept` is what was found on disk.
    pub(super) fn new(kept: Unsent) -> Self {
        Self { kept, ..Self::default() }
    }

    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Something was typed, or happened to the queue.
    pub(super) fn touched(&mut self, model: &Model, typed: bool, now: Instant) {
        let (queued, kept) = (model.queued(), self.kept.queued.len());
        if queued > kept && !self.failing {
            self.due = Some(now);
        } else if typed || queued != kept {
            self.due = self.due.or(Some(now + SOON));
        }
    }

    /// Keeps what is unsent now; there is no place for it before the session has begun. Returns, once,
    /// why it fails.
    pub(super) fn keep(&mut self, model: &Model, session: Option<&Path>) -> Option<String> {
        self.due = None;
        let unsent = model.unsent();
        let session = session.filter(|_| unsent != self.kept)?;
        match keep_unsent(session, unsent.clone(), now_ms()) {
            Ok(()) => (self.kept, self.failing) = (unsent, false),
            Err(error) if !std::mem::replace(&mut self.failing, true) => {
                return Some(say!(
                    "Not kept on disk, what is typed and not sent: {error}.",
                    error = error
                ));
            }
            Err(_) => {}
        }
        None
    }

    /// Whether all that is unsent is kept; `None` if there is nothing.
    pub(super) fn has_kept(&self, model: &Model) -> Option<bool> {
        let unsent = model.unsent();
        (!unsent.is_empty()).then(|| unsent == self.kept)
    }
}

/// Writes the draft into a file of its own, where there is no session that it could be kept with.
pub(super) fn set_aside(model: &Model) -> Option<PathBuf> {
    let draft = model.unsent().draft;
    if draft.trim().is_empty() {
        return None;
    }
    // Where nothing can be written, limpid ends all the same.
    reports::folder().and_then(|folder| drafts::write(&folder, &draft)).ok()
}
