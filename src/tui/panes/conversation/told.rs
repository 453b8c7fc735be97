//! Which results the model was told: those that a request has held of which something left.

use std::collections::HashSet;

use crate::conversation::{CallId, Turn};

/// Whether a request has held a call's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tui) enum Told {
    /// One has.
    Once,
    /// The next one will.
    NotYet,
    /// None has, and none will.
    Never,
}

/// The results of all calls.
#[derive(Debug, Default)]
pub(super) struct Results {
    told: HashSet<CallId>,
    untold: Vec<CallId>,
    /// Those that the newest request was the first to hold.
    newest: Vec<CallId>,
}

impl Results {
    pub(super) fn of(&self, call: &CallId) -> Told {
        if self.told.contains(call) {
            Told::Once
        } else if self.untold.contains(call) {
            Told::NotYet
        } else {
            Told::Never
        }
    }

    /// The next request will hold this one.
    pub(super) fn add(&mut self, call: CallId) {
        self.untold.push(call);
    }

    /// A request holds what was not told yet.
    pub(super) fn posted(&mut self) {
        self.newest = std::mem::take(&mut self.untold);
        self.told.extend(self.newest.iter().cloned());
    }

    /// What the newest request holds counts as told, unless nothing of it left.
    pub(super) fn settle(&mut self, turn: Option<&Turn>) {
        let stayed = turn.is_some_and(Turn::never_left);
        for call in &self.newest {
            if stayed && self.told.remove(call) {
                self.untold.push(call.clone());
            } else if !stayed && self.told.insert(call.clone()) {
                self.untold.retain(|other| other != call);
            }
        }
    }

    /// No request will hold what none has held.
    pub(super) fn forget(&mut self) {
        self.untold.clear();
        self.newest.clear();
    }
}
