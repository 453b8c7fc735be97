//! The tools pane: one row a call, with its state and time; a call opened shows its command in
//! full, who decided what, its output while it runs, and then what the model was told. Here: its
//! state; how it is drawn is `list`'s and `opened`'s.

mod list;
mod opened;

pub(in crate::tui) use list::draw_list;
pub(in crate::tui) use opened::{Layout, draw_call, title};

use crate::text::say;
use std::collections::HashMap;

use super::call;
use super::output::{self, Output};
use crate::conversation::{CallDecided, CallId, CallLog, Event, Progress, Record, Session};
use crate::tui::copy::Copyable;
use crate::tui::exchanged::Effect;
use crate::tui::keymap::Action;
use crate::tui::scroll::Scroll;

/// The state of the pane.
#[derive(Debug)]
pub(in crate::tui) struct Tools {
    /// The calls, oldest first.
    calls: Vec<CallId>,
    details: HashMap<CallId, Detail>,
    /// The selected row; `None` is the one at work, else the newest.
    selected: Option<usize>,
    /// The row of the call that runs, or is asked for.
    at_work: Option<usize>,
    pub(in crate::tui) opened: Option<CallId>,
    /// All that the opened call wrote, if that is asked for.
    output: Option<Output>,
    pub(in crate::tui) scroll: Scroll,
    /// Rows that fit into the list.
    pub(in crate::tui) page: usize,
    /// Counts what changed in calls, but for what running ones write.
    changes: u64,
}

/// What the pane knows of a call beside the records.
#[derive(Debug, Default)]
struct Detail {
    /// The newest lines of its output, while it runs.
    tail: String,
    /// The same in its colours.
    coloured: String,
    produced: u64,
    /// What the model was told.
    result: Option<std::sync::Arc<crate::conversation::Entry>>,
    /// What came of a command of the user's own.
    own: Option<String>,
    /// Counts the changes.
    version: u32,
}

impl Detail {
    /// What the model was told, or what there is before that.
    fn told(&self) -> &str {
        let result = self.result.as_ref().and_then(|entry| entry.result());
        let told = result.map(|result| result.text.as_str()).or(self.own.as_deref());
        told.unwrap_or(&self.tail)
    }
}

impl Default for Tools {
    fn default() -> Self {
        Self {
            calls: Vec::new(),
            details: HashMap::new(),
            selected: None,
            at_work: None,
            opened: None,
            output: None,
            scroll: Scroll::following(),
            page: 1,
            changes: 0,
        }
    }
}

impl Tools {
    /// How many calls there are.
    pub(in crate::tui) fn count(&self) -> usize {
        self.calls.len()
    }

    /// Whether a command runs.
    pub(in crate::tui) fn running(&self, session: &Session) -> bool {
        self.calls.iter().rev().take(16).any(|call| {
            session
                .calls
                .get(call)
                .is_some_and(|log| log.started_at.is_some() && log.finished.is_none())
        })
    }

    /// Takes an event; `session` has taken it already.
    pub(in crate::tui) fn event(&mut self, event: &Event) {
        match event {
            Event::Progress(Progress::Output { call, tail, produced }) => {
                let detail = self.details.entry(call.clone()).or_default();
                detail.tail = output::plain(tail.as_bytes());
                detail.coloured.clone_from(tail);
                detail.produced = *produced;
                detail.version += 1;
            }
            Event::Progress(Progress::Ask { call }) => self.at_work = self.row_of(call),
            Event::Record(stamped) => {
                self.changes += 1;
                self.record(&stamped.record);
            }
            Event::Progress(_) => {}
        }
    }

    fn row_of(&self, call: &CallId) -> Option<usize> {
        self.calls.iter().rposition(|id| id == call)
    }

    fn record(&mut self, record: &Record) {
        match record {
            Record::CallProposed(proposed) => {
                self.calls.push(proposed.call.clone());
                self.details.entry(proposed.call.clone()).or_default();
            }
            Record::CallDecided(CallDecided { call, .. }) => self.touch(call),
            Record::CallStarted { call } => {
                self.touch(call);
                self.at_work = self.row_of(call);
            }
            Record::CallFinished(finished) => {
                if self.at_work == self.row_of(&finished.call) {
                    self.at_work = None;
                }
                if let Some(detail) = self.details.get_mut(&finished.call) {
                    detail.own.clone_from(&finished.output);
                    detail.version += 1;
                }
            }
            Record::Entry(entry) => {
                if let Some(result) = entry.result()
                    && let Some(detail) = self.details.get_mut(&result.call)
                {
                    detail.result = Some(entry.clone());
                    detail.tail = String::new();
                    detail.coloured = String::new();
                    detail.version += 1;
                }
            }
            Record::Overlay { .. } => {
                self.details.values_mut().for_each(|detail| detail.version += 1);
            }
            _ => {}
        }
    }

    /// Selects a row of the list.
    pub(in crate::tui) fn select(&mut self, row: usize) {
        let newest = self.calls.len().saturating_sub(1);
        let row = row.min(newest);
        self.selected = (row != self.at_work.unwrap_or(newest)).then_some(row);
    }

    fn touch(&mut self, call: &CallId) {
        if let Some(detail) = self.details.get_mut(call) {
            detail.version += 1;
        }
    }

    fn selected(&self) -> usize {
        let newest = self.calls.len().saturating_sub(1);
        self.selected.or(self.at_work).map_or(newest, |selected| selected.min(newest))
    }

    /// Takes a key that means something here.
    pub(in crate::tui) fn act(&mut self, action: Action, session: &Session) {
        if let Some(opened) = self.opened.clone() {
            match action {
                Action::Back => {
                    self.opened = None;
                    self.output = None;
                }
                Action::Output => {
                    self.output = self.output.is_none().then_some(Output::Wanted);
                    self.scroll = Scroll::from_top();
                    self.touch(&opened);
                }
                _ => self.scroll.act(action),
            }
            return;
        }
        let newest = self.calls.len().saturating_sub(1);
        let selected = self.selected();
        let page = self.page.max(1);
        let to = match action {
            Action::Up => selected.saturating_sub(1),
            Action::Down => selected + 1,
            Action::PageUp => selected.saturating_sub(page),
            Action::PageDown => selected + page,
            Action::Start => 0,
            Action::End => newest,
            Action::Open => {
                if let Some(call) = self.calls.get(selected) {
                    // Of what still comes, the end is read; else the beginning.
                    let ended = |log: &CallLog| log.finished.is_some();
                    let ended = session.calls.get(call).is_some_and(ended);
                    self.scroll = if ended { Scroll::from_top() } else { Scroll::following() };
                    self.opened = Some(call.clone());
                }
                return;
            }
            _ => return,
        };
        self.select(to);
    }

    /// The selected or opened call: its command, and below it what the model was told; of one whose
    /// output is shown, that alone.
    pub(in crate::tui) fn copyable(&self, session: &Session) -> Option<Copyable> {
        let id = self.opened.as_ref().or_else(|| self.calls.get(self.selected()))?;
        let command = call::command(session.calls.get(id)?);
        if let Some(written) = self.output.as_ref().and_then(Output::text) {
            return Some(Copyable::plain(say!("this output"), written));
        }
        let told = self.details.get(id).map(Detail::told);
        Some(Copyable::of_parts(say!("this call"), [command, told.unwrap_or_default()]))
    }

    /// Asks for the opened call's output if it is to be shown and was not read yet.
    pub(in crate::tui) fn wanted(&mut self, session: &Session) -> Option<Effect> {
        if !matches!(self.output, Some(Output::Wanted)) {
            return None;
        }
        let call = self.opened.clone()?;
        let finished = session.calls.get(&call).and_then(|log| log.finished.as_ref());
        let Some(finished) = finished else {
            self.output = None;
            return None;
        };
        let Some(file) = finished.receipt.file.clone() else {
            let why =
                say!("No output of this call was kept: what the model was told is all there is.");
            self.take(&call, Err(why.to_owned()));
            return None;
        };
        self.output = Some(Output::Asked);
        Some(Effect::ReadOutput { call, file })
    }

    /// Whether all that the opened call wrote is shown, not what the model was told.
    pub(in crate::tui) fn shows_output(&self) -> bool {
        self.output.is_some()
    }

    /// Whether the opened call wrote more than the model was told, and that is not shown.
    pub(in crate::tui) fn hides_output(&self, session: &Session) -> bool {
        let log = self.opened.as_ref().and_then(|call| session.calls.get(call));
        let finished = log.and_then(|log| log.finished.as_ref());
        self.output.is_none() && finished.is_some_and(|finished| finished.receipt.cut > 0)
    }

    /// Takes what was read of a call's output.
    pub(in crate::tui) fn take(&mut self, call: &CallId, read: Result<Vec<u8>, String>) {
        if self.opened.as_ref() == Some(call) && self.output.is_some() {
            self.output = Some(Output::Read(read));
            self.touch(call);
        }
    }
}
