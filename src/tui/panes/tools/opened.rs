//! An opened call, in full.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::conversation::{CallDecided, CallId, CallState, CallStatus, DecidedBy};
use crate::text::{self, say, translated};
use crate::tui::View;
use crate::tui::model::Focus;
use crate::tui::panes::conversation::Told;
use crate::tui::panes::{call, output};
use crate::tui::rows::Rows;
use crate::tui::scroll::Measure;
use crate::tui::search::{self, Found, Listed, Matches};
use crate::tui::theme::Look;
use crate::wire::sent_of_result;

/// The opened call, laid out, and what a search found in the pane.
#[derive(Debug, Default)]
pub(in crate::tui) struct Layout {
    of: Option<(CallId, u32, Told, u16)>,
    rows: Rows,
    matches: Matches,
    /// What a search found in the list of calls.
    pub(in crate::tui) listed: Listed,
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
    let told = view.model.conversation.told(id);
    let key = Some((id.clone(), version, told, area.width));
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
    let is_unknown = log.finished.as_ref().is_some_and(|call| call.status == CallStatus::Unknown);
    if let CallState::Unusable(why) = &log.proposed.state {
        rows.push(&say!("unusable, not run: {why}", why = translated(why)), Look::Bad, 0, width);
    } else if let Some(CallStatus::NotRun(why)) = log.finished.as_ref().map(|call| &call.status) {
        rows.push(&say!("not run: {why}", why = translated(why)), Look::Warning, 0, width);
    } else if is_unknown {
        let what = say!("limpid ended while it ran: what it did is not known");
        rows.push(what, Look::Warning, 0, width);
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
            let head = match view.model.conversation.told(id) {
                Told::Once => say!("── what the model was told ──"),
                Told::NotYet => say!("── what the model will be told, not sent yet ──"),
                Told::Never => say!("── result: not sent, the model is not told ──"),
            };
            rows.push(head, Look::Dim, 0, width);
            rows.push(entry.result().map_or("", |result| &result.text), Look::Text, 0, width);
        }
        None if detail.own.is_some() => {
            let head = match view.model.conversation.told(id) {
                Told::Once => say!("── what the model was told ──"),
                Told::NotYet => say!("── what the model is told with the prompt that follows ──"),
                Told::Never => say!("── output: not sent, the model is not told ──"),
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
            output::lay_out(&mut rows, detail.coloured.as_bytes(), width);
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
