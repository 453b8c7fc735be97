//! The tools pane: one row a call, with its state and time; a call opened shows its command in
//! full, who decided what, its output while it runs, and then what the model was told.

use crate::text::{say, translated};
use std::collections::HashMap;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::call;
use super::output::Output;
use crate::conversation::{
    CallDecided, CallId, CallLog, CallState, CallStatus, DecidedBy, Event, Progress, Record,
    Session,
};
use crate::text;
use crate::tui::View;
use crate::tui::copy::Copyable;
use crate::tui::keymap::Action;
use crate::tui::model::{Effect, Focus};
use crate::tui::paint;
use crate::tui::rows::Rows;
use crate::tui::scroll::{Measure, Scroll};
use crate::tui::search::{self, Found, Matches};
use crate::tui::theme::Look;
use crate::wire::sent_of_result;

/// The state of the pane.
#[derive(Debug)]
pub(in crate::tui) struct Tools {
    /// The calls, oldest first.
    calls: Vec<CallId>,
    details: HashMap<CallId, Detail>,
    /// The selected row; `None` is the newest.
    selected: Option<usize>,
    pub(in crate::tui) opened: Option<CallId>,
    /// All that the opened call wrote, if that is asked for.
    output: Option<Output>,
    pub(in crate::tui) scroll: Scroll,
    /// Rows that fit into the list.
    pub(in crate::tui) page: usize,
}

/// What the pane knows of a call beside the records.
#[derive(Debug, Default)]
struct Detail {
    /// The newest lines of its output, while it runs.
    tail: String,
    produced: u64,
    /// What the model was told.
    result: Option<std::sync::Arc<crate::conversation::Entry>>,
    /// What came of a command of the user's own.
    own: Option<String>,
    /// Counts the changes.
    version: u32,
}

impl Default for Tools {
    fn default() -> Self {
        Self {
            calls: Vec::new(),
            details: HashMap::new(),
            selected: None,
            opened: None,
            output: None,
            scroll: Scroll::following(),
            page: 1,
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
                detail.tail.clone_from(tail);
                detail.produced = *produced;
                detail.version += 1;
            }
            Event::Record(stamped) => match &stamped.record {
                Record::CallProposed(proposed) => {
                    self.calls.push(proposed.call.clone());
                    self.details.entry(proposed.call.clone()).or_default();
                }
                Record::CallDecided(CallDecided { call, .. }) | Record::CallStarted { call } => {
                    self.touch(call);
                }
                Record::CallFinished(finished) => {
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
                        detail.version += 1;
                    }
                }
                Record::Overlay { .. } => {
                    self.details.values_mut().for_each(|detail| detail.version += 1);
                }
                _ => {}
            },
            Event::Progress(_) => {}
        }
    }

    fn touch(&mut self, call: &CallId) {
        if let Some(detail) = self.details.get_mut(call) {
            detail.version += 1;
        }
    }

    fn selected(&self) -> usize {
        let newest = self.calls.len().saturating_sub(1);
        self.selected.map_or(newest, |selected| selected.min(newest))
    }

    /// Takes a key that means something here.
    pub(in crate::tui) fn act(&mut self, action: Action) {
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
                    self.opened = Some(call.clone());
                    self.scroll = Scroll::following();
                }
                return;
            }
            _ => return,
        };
        self.selected = if to >= newest { None } else { Some(to) };
    }

    /// The selected or opened call: its command, and below it what is shown of what came of it.
    pub(in crate::tui) fn copyable(&self, session: &Session) -> Option<Copyable> {
        let id = self.opened.as_ref().or_else(|| self.calls.get(self.selected()))?;
        let command = call::command(session.calls.get(id)?);
        let written = self.output.as_ref().and_then(Output::text);
        let detail = self.details.get(id);
        let told = detail.map(|detail| {
            let result = detail.result.as_ref().and_then(|entry| entry.result());
            let told = result.map(|result| result.text.as_str()).or(detail.own.as_deref());
            told.unwrap_or(&detail.tail)
        });
        Some(Copyable::of_parts([command, written.as_deref().or(told).unwrap_or_default()]))
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

    /// Takes what was read of a call's output.
    pub(in crate::tui) fn take(&mut self, call: &CallId, read: Result<Vec<u8>, String>) {
        if self.opened.as_ref() == Some(call) && self.output.is_some() {
            self.output = Some(Output::Read(read));
            self.touch(call);
        }
    }
}

/// The opened call, laid out.
#[derive(Debug, Default)]
pub(in crate::tui) struct Layout {
    of: Option<(CallId, u32, u16)>,
    rows: Rows,
    matches: Matches,
}

/// The number and the state of an opened call, for the pane's title.
pub(in crate::tui) fn title(view: &View<'_>, id: &CallId) -> String {
    let number = view.model.tools.calls.iter().position(|call| call == id);
    let Some((number, log)) = number.zip(view.model.session.calls.get(id)) else {
        return String::new();
    };
    let time = call::ran_ms(log, view.unix_ms).map(text::duration);
    let time = time.map(|time| format!(" · {time}")).unwrap_or_default();
    let (mark, _) = call::mark(log);
    format!("{} {} {mark} {}{time} ", say!("call"), number + 1, call::state(log))
}

/// Draws the list and returns which calls are shown, in words, if not all are.
pub(in crate::tui) fn draw_list(
    view: &View<'_>,
    focused: bool,
    area: Rect,
    buf: &mut Buffer,
) -> Option<String> {
    let tools = &view.model.tools;
    let height = usize::from(area.height);
    if tools.calls.is_empty() {
        let text = say!(
            "No calls yet. Commands that the model asks for are listed here; !ls in the prompt runs one of your own."
        );
        let mut rows = Rows::default();
        rows.push(text, Look::Dim, 0, area.width);
        rows.draw(0, area, buf, view.theme);
        return None;
    }
    let selected = tools.selected();
    let tail = tail_rows(view, selected, height);
    let first = (selected + 1 + tail.len()).saturating_sub(height).min(selected);
    let digits = tools.calls.len().to_string().len();
    let mut y = area.y;
    let mut after = first;
    for (index, id) in tools.calls.iter().enumerate().skip(first) {
        if y >= area.bottom() {
            break;
        }
        after = index + 1;
        let Some(log) = view.model.session.calls.get(id) else { continue };
        let row = Rect { y, height: 1, ..area };
        draw_row(view, log, (index + 1, digits), row, buf);
        if focused && index == selected {
            paint::select(buf, row, view.theme);
        }
        y += 1;
        if index == selected {
            for line in &tail {
                if y >= area.bottom() {
                    break;
                }
                let pieces = [(" │ ", Look::Dim), (line.as_str(), Look::Dim)];
                paint::pieces(buf, (area.x, y), area.width, &pieces, view.theme);
                y += 1;
            }
        }
    }
    let shown = Measure { top: first, total: tools.calls.len(), height: after - first };
    let position = shown.position(say!("calls"))?;
    let runs = |id: &CallId| {
        let log = view.model.session.calls.get(id);
        log.is_some_and(|log| log.started_at.is_some() && log.finished.is_none())
    };
    let running = tools.calls[after..].iter().filter(|id| runs(id)).count();
    Some(match running {
        0 => position,
        _ => say!("{position} · {running} running ↓", position = position, running = running),
    })
}

/// The newest lines of output under the selected row, if its command runs.
fn tail_rows(view: &View<'_>, selected: usize, height: usize) -> Vec<String> {
    let tools = &view.model.tools;
    let Some(id) = tools.calls.get(selected) else { return Vec::new() };
    let (Some(detail), Some(log)) = (tools.details.get(id), view.model.session.calls.get(id))
    else {
        return Vec::new();
    };
    if log.started_at.is_none() || log.finished.is_some() {
        return Vec::new();
    }
    let room = height.saturating_sub(1).min(4);
    let mut lines: Vec<String> = detail
        .tail
        .trim_end_matches('\n')
        .rsplit('\n')
        .take(room)
        .map(|line| text::visible(line, text::Show::Prose).into_owned())
        .collect();
    lines.reverse();
    lines.retain(|line| !line.trim().is_empty());
    lines
}

fn draw_row(
    view: &View<'_>,
    log: &CallLog,
    (number, digits): (usize, usize),
    area: Rect,
    buf: &mut Buffer,
) {
    let (mark, look) = call::mark(log);
    let time = call::ran_ms(log, view.unix_ms).map(text::duration).unwrap_or_default();
    let state = call::state(log);
    let right = if time.is_empty() { state } else { format!("{state} {time:>8}") };
    let right_columns = u16::try_from(text::width(&right)).unwrap_or(0).min(area.width / 2);
    let name = text::visible(&log.proposed.name, text::Show::Prose);
    let name = text::fit(&name, 16);
    let number = format!(" {number:>digits$} ");
    let command = call::first_line(log);
    let pieces = [
        (mark, look),
        (number.as_str(), Look::Dim),
        (&*name, Look::Text),
        ("  ", Look::Text),
        (command.as_str(), Look::Strong),
    ];
    let room = area.width.saturating_sub(right_columns + 2);
    paint::pieces(buf, (area.x, area.y), room, &pieces, view.theme);
    let place = (area.right() - right_columns, area.y);
    let looks = if log.finished.is_some() && look == Look::Bad { Look::Bad } else { Look::Dim };
    paint::pieces(buf, place, right_columns, &[(&right, looks)], view.theme);
}

/// Draws the opened call and returns what it came to.
pub(in crate::tui) fn draw_call(
    view: &View<'_>,
    id: &CallId,
    layout: &mut Layout,
    area: Rect,
    buf: &mut Buffer,
) -> (Measure, Option<Found>) {
    let tools = &view.model.tools;
    let version = tools.details.get(id).map_or(0, |detail| detail.version);
    let key = Some((id.clone(), version, area.width));
    if layout.of != key {
        layout.of = key;
        layout.rows = lay_out(view, id, area.width);
        layout.matches = Matches::default();
    }
    let mut measure = tools.scroll.measure(layout.rows.len(), area.height.into());
    let search = view.model.searched(Focus::Tools);
    let rows = (&layout.rows, &mut layout.matches);
    let found = search::draw_rows(rows, search, &mut measure, area, buf, view.theme);
    (measure, found)
}

fn lay_out(view: &View<'_>, id: &CallId, width: u16) -> Rows {
    let mut rows = Rows::default();
    let Some(log) = view.model.session.calls.get(id) else { return rows };
    let command = call::command(log);
    if command.is_empty() {
        rows.push(say!("No command could be read from this call."), Look::Dim, 0, width);
    } else {
        rows.push(command, Look::Strong, 0, width);
    }
    if let Some(decided) = &log.decided {
        decision(&mut rows, decided, width);
    }
    if let CallState::Unusable(why) = &log.proposed.state {
        rows.push(&say!("unusable, not run: {why}", why = translated(why)), Look::Bad, 0, width);
    } else if let Some(CallStatus::NotRun(why)) = log.finished.as_ref().map(|call| &call.status) {
        rows.push(&say!("not run: {why}", why = translated(why)), Look::Warning, 0, width);
    }
    let Some(detail) = view.model.tools.details.get(id) else { return rows };
    match &detail.result {
        _ if view.model.tools.output.is_some() => {
            let head = say!("── all that the command wrote; o: what the model was told ──");
            rows.push(head, Look::Dim, 0, width);
            if let Some(output) = &view.model.tools.output {
                output.lay_out(&mut rows, width);
            }
        }
        Some(entry) => {
            rows.push(say!("── what the model was told ──"), Look::Dim, 0, width);
            rows.push(entry.result().map_or("", |result| &result.text), Look::Text, 0, width);
        }
        None if detail.own.is_some() => {
            let sent = log.finished.as_ref().is_some_and(|finished| finished.receipt.sent > 0);
            let head = if sent {
                say!("── what the model is told with the prompt that follows ──")
            } else {
                say!("── output: not sent, the model is not told ──")
            };
            rows.push(head, Look::Dim, 0, width);
            rows.push(detail.own.as_deref().unwrap_or_default(), Look::Text, 0, width);
        }
        None if log.started_at.is_some() => {
            let bytes = text::bytes(detail.produced);
            rows.push(
                &say!("── output so far, {bytes}; newest lines ──", bytes = bytes),
                Look::Dim,
                0,
                width,
            );
            rows.push(&detail.tail, Look::Text, 0, width);
        }
        None => {}
    }
    if let Some(finished) = &log.finished {
        let receipt = &finished.receipt;
        let mut line = vec![
            say!("── produced {bytes}", bytes = text::bytes(receipt.produced)),
            view.model.conversation.sent(id, receipt.sent),
        ];
        if receipt.cut > 0 {
            line.push(say!("cut {bytes}", bytes = text::bytes(receipt.cut)));
        }
        line.extend(receipt.file.as_ref().map(|file| say!("full output: {file}", file = file)));
        rows.push(&line.join(" · "), Look::Dim, 0, width);
        if let Some(sent) = sent_of_result(&view.model.session, id) {
            rows.push(&say!("── now {sent} ──", sent = sent), Look::Warning, 0, width);
        }
    }
    rows
}

fn decision(rows: &mut Rows, decided: &CallDecided, width: u16) {
    let by = match decided.by {
        DecidedBy::User => say!("you"),
        DecidedBy::OwnCommand => say!("you, by typing it after !"),
        DecidedBy::UserForSession => {
            say!("you, from then on for this exact command in this session")
        }
        DecidedBy::SessionRule => say!("you, for this exact command in this session"),
        DecidedBy::Yolo => "--yolo",
        DecidedBy::Harness => "limpid",
    };
    match &decided.executed {
        None => {
            rows.push(&say!("denied by {by}", by = by), Look::Warning, 0, width);
            if let Some(reason) = &decided.reason {
                // A person's own words stay as they were said.
                match decided.by {
                    DecidedBy::Harness => rows.push(&translated(reason), Look::Text, 2, width),
                    _ => rows.push(reason, Look::Text, 2, width),
                }
            }
        }
        Some(executed) if *executed != decided.proposed => {
            rows.push(say!("edited by you; the model had proposed:"), Look::Warning, 0, width);
            rows.push(&decided.proposed, Look::Text, 2, width);
        }
        Some(_) => rows.push(&say!("allowed by {by}", by = by), Look::Dim, 0, width),
    }
}
