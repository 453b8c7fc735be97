//! The list of calls: one row a call, and under the selected one what its command writes.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::Detail;
use crate::conversation::{CallId, CallLog};
use crate::text::{self, say};
use crate::tui::View;
use crate::tui::model::Focus;
use crate::tui::paint;
use crate::tui::panes::call;
use crate::tui::rows::Rows;
use crate::tui::scroll::Measure;
use crate::tui::search::{self, Found, Listed};
use crate::tui::theme::Look;

/// Columns that the command in a row has at least, if it needs them.
const COMMAND: usize = 12;

/// Draws the list and returns which calls are shown, in words, if not all are, and where a search
/// stands.
pub(in crate::tui) fn draw_list(
    view: &View<'_>,
    listed: &mut Listed,
    focused: bool,
    area: Rect,
    buf: &mut Buffer,
) -> (Option<String>, Option<Found>) {
    let tools = &view.model.tools;
    let height = usize::from(area.height);
    let of = (tools.changes, tools.calls.len());
    let found =
        listed.update(view.model.searched(Focus::Tools), of, tools.selected(), |row, needle| {
            tools.calls.get(row).is_some_and(|id| search::holds(&looked_through(view, id), needle))
        });
    if tools.calls.is_empty() {
        let text = say!(
            "No calls yet. Commands that the model asks for are listed here; !ls in the prompt runs one of your own."
        );
        let mut rows = Rows::default();
        rows.push(text, Look::Dim, 0, area.width);
        rows.draw(0, area, buf, view.theme);
        return (None, found);
    }
    let went_to = found.filter(|found| found.moved && found.total > 0).map(|found| found.row);
    let selected = went_to.unwrap_or(tools.selected());
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
        if let Some(look) = listed.look(index, found) {
            buf.set_style(row, view.theme.style(look));
        }
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
    let Some(position) = shown.position(say!("calls")) else { return (None, found) };
    let runs = |id: &CallId| {
        let log = view.model.session.calls.get(id);
        log.is_some_and(|log| log.started_at.is_some() && log.finished.is_none())
    };
    let running = tools.calls[after..].iter().filter(|id| runs(id)).count();
    let position = match running {
        0 => position,
        _ => say!("{position} · {running} running ↓", position = position, running = running),
    };
    (Some(position), found)
}

/// What a search looks through for a call: its row, the whole command, and what came of it.
fn looked_through(view: &View<'_>, id: &CallId) -> String {
    let Some(log) = view.model.session.calls.get(id) else { return String::new() };
    let told = view.model.tools.details.get(id).map_or("", Detail::told);
    [&log.proposed.name, call::command(log), &call::state(log), told].join("\n")
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

/// What stands at the right of a call's row: as much as fits, nothing of it in part.
fn beside(log: &CallLog, unix_ms: u64, room: usize) -> String {
    let time = call::ran_ms(log, unix_ms).map(text::duration);
    let with_time = |state: &str| match &time {
        Some(time) => format!("{state} {time:>8}"),
        None => state.to_owned(),
    };
    let (state, outcome) = (call::state(log), call::outcome(log));
    let ways = [with_time(&state), with_time(&outcome), outcome];
    ways.into_iter().find(|way| text::width(way) <= room).unwrap_or_default()
}

fn draw_row(
    view: &View<'_>,
    log: &CallLog,
    (number, digits): (usize, usize),
    area: Rect,
    buf: &mut Buffer,
) {
    let (mark, look) = call::mark(log);
    let name = text::visible(&log.proposed.name, text::Show::Prose);
    let name = text::fit(&name, 16);
    let number = format!(" {number:>digits$} ");
    let command = call::first_line(log);
    let command_columns = text::width(&command).min(COMMAND);
    let left = 3 + text::width(&number) + text::width(&name) + command_columns;
    let right = beside(log, view.unix_ms, usize::from(area.width).saturating_sub(left + 2));
    let right_columns = u16::try_from(text::width(&right)).unwrap_or(0);
    let pieces = [
        (mark, look),
        (number.as_str(), Look::Dim),
        (&*name, Look::Text),
        ("  ", Look::Text),
        (command.as_str(), Look::Strong),
    ];
    let gap = if right.is_empty() { 0 } else { 2 };
    let room = area.width.saturating_sub(right_columns + gap);
    paint::pieces(buf, (area.x, area.y), room, &pieces, view.theme);
    let place = (area.right() - right_columns, area.y);
    let looks = if log.finished.is_some() && look == Look::Bad { Look::Bad } else { Look::Dim };
    paint::pieces(buf, place, right_columns, &[(&right, looks)], view.theme);
}
