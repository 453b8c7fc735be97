//! Drawing the conversation: only the visible rows reach the frame, found by their number.

use crate::text::say;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::call;
use super::item::{Item, separator};
use super::layout::Layout;
use super::matches::Matches;
use super::{At, Conversation};
use crate::conversation::{CallId, Turn};
use crate::text;
use crate::tui::View;
use crate::tui::model::Focus;
use crate::tui::paint;
use crate::tui::rows::Rows;
use crate::tui::scroll::Measure;
use crate::tui::search::Found;
use crate::tui::theme::Look;
use crate::wire::sent_of_result;

/// Columns that the command in a call's row has, else what is told of its output is left out,
const COMMAND: usize = 8;
/// or, with fewer than these, what was sent of it.
const LEAST: usize = 4;

/// What drawing found out.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::tui) struct Drawn {
    pub(in crate::tui) measure: Measure,
    /// Whether it stands there, and does not stay with the end.
    pub(super) stands: bool,
    /// What keys are about.
    pub(super) at_hand: At,
    pub(in crate::tui) found: Option<Found>,
    /// Rows that came or went in items that were there already.
    pub(super) shift: isize,
}

/// Draws the pane's inside and returns what it came to.
pub(in crate::tui) fn draw(
    view: &View<'_>,
    layout: &mut Layout,
    focused: bool,
    area: Rect,
    buf: &mut Buffer,
) -> Drawn {
    let conversation = &view.model.conversation;
    if conversation.items.is_empty() && !conversation.is_streaming() {
        welcome(view, area, buf);
        let measure = Measure { height: area.height.into(), ..Measure::default() };
        return Drawn { measure, ..Drawn::default() };
    }
    let session = &view.model.session;
    let search = view.model.searched(Focus::Conversation);
    // Matches are counted in everything.
    let everything = search.is_some_and(|search| !search.needle().is_empty());
    let size = (area.width, area.height);
    let mut measure = layout.update(conversation, session, size, everything);
    let mut stands = conversation.scroll.is_moved();
    stands |= conversation.wanted.is_some() && !measure.at_end();
    let (found, went_to) = Matches::update(layout, conversation, session, search, &mut measure);
    stands |= found.is_some_and(|found| found.moved && found.total > 0);
    let wanted = if stands { went_to.unwrap_or(conversation.at_hand) } else { At::Arriving };
    let mut at_hand = in_sight(conversation, layout, measure, wanted);
    for _ in 0..conversation.steps.unsigned_abs() {
        let on = conversation.steps > 0;
        (at_hand, measure.top) = step(conversation, layout, measure, at_hand, on);
        let is_newest = layout.after(conversation, at_hand).is_none();
        stands = !(is_newest && measure.at_end());
    }
    draw_rows(view, layout, measure.top, area, buf);
    if focused {
        mark_at_hand(view, layout, at_hand, measure, area, buf);
    }
    let news = conversation.scroll.news(measure.total.saturating_add_signed(-layout.shift));
    if !measure.at_end() && area.height > 0 {
        let mark = match news {
            0 => " ↓ End ".to_owned(),
            1 => say!(" ↓ 1 new row · End ").to_owned(),
            _ => say!(" ↓ {news} new rows · End ", news = news),
        };
        let columns = u16::try_from(text::width(&mark)).unwrap_or(u16::MAX).min(area.width);
        let place = (area.right() - columns, area.bottom() - 1);
        paint::pieces(buf, place, columns, &[(&mark, Look::Selected)], view.theme);
    }
    Drawn { measure, stands, at_hand, found, shift: layout.shift }
}

/// What keys are about: what they went to, or what is in sight next to it.
fn in_sight(conversation: &Conversation, layout: &Layout, measure: Measure, wanted: At) -> At {
    let Measure { top, height, .. } = measure;
    let first = layout.item_of(top);
    let last = layout.item_of((top + height).saturating_sub(1));
    let items = (first..=last).map(At::Item).chain([At::Arriving]);
    let in_sight: Vec<At> = items
        .filter(|at| {
            let body = layout.body(conversation, *at);
            body.start.max(top) < body.end.min(top + height)
        })
        .collect();
    let next = in_sight.iter().find(|at| **at >= wanted);
    next.or(in_sight.last()).copied().unwrap_or(wanted)
}

/// One step on or back: to a row of what keys are about that is not in sight, else to what comes next.
/// Returns what they are about then, and the first row in sight.
fn step(
    conversation: &Conversation,
    layout: &Layout,
    measure: Measure,
    at_hand: At,
    on: bool,
) -> (At, usize) {
    let Measure { top, total, height } = measure;
    let body = layout.body(conversation, at_hand);
    let last = total.saturating_sub(height);
    if on && body.end > top + height {
        return (at_hand, (top + 1).min(last));
    }
    if !on && body.start < top {
        return (at_hand, top - 1);
    }
    let next =
        if on { layout.after(conversation, at_hand) } else { layout.before(conversation, at_hand) };
    let Some(next) = next else { return (at_hand, if on { last } else { 0 }) };
    let body = layout.body(conversation, next);
    let top =
        if on { top.max((body.start + 1).saturating_sub(height)) } else { top.min(body.end - 1) };
    (next, top)
}

/// A bar in the air beside what keys are about.
fn mark_at_hand(
    view: &View<'_>,
    layout: &Layout,
    at_hand: At,
    measure: Measure,
    area: Rect,
    buf: &mut Buffer,
) {
    let rows = layout.body(&view.model.conversation, at_hand);
    for row in 0..area.height {
        if rows.contains(&(measure.top + usize::from(row))) && area.x > 0 {
            let place = (area.x - 1, area.y + row);
            paint::pieces(buf, place, 1, &[("▌", Look::Focus)], view.theme);
        }
    }
}

fn draw_rows(view: &View<'_>, layout: &Layout, top: usize, area: Rect, buf: &mut Buffer) {
    let mut left = area;
    let first = layout.item_of(top);
    let mut skip = top - layout.starts.get(first).copied().unwrap_or(0);
    let items = view.model.conversation.items.get(first..).unwrap_or_default();
    for ((at, laid), placed) in layout.items.iter().enumerate().skip(first).zip(items) {
        if left.height == 0 {
            return;
        }
        if laid.live_row && skip == 0 {
            live_row(view, &placed.item, left, buf);
            if let Some(here) = layout.matches.in_live_row(at) {
                let look = if here { Look::FoundHere } else { Look::Found };
                buf.set_style(Rect { height: 1, ..left }, view.theme.style(look));
            }
            left.y += 1;
            left.height -= 1;
        }
        let (found, here) = layout.matches.in_item(at);
        let top = skip.saturating_sub(laid.live_row.into());
        let drawn = laid.rows.draw_found(top, found, here, left, buf, view.theme);
        skip = skip.saturating_sub(laid.len());
        left.y += drawn;
        left.height -= drawn;
    }
    for (at, rows) in layout.live.segments().into_iter().enumerate() {
        let (found, here) = layout.matches.in_live(at);
        let drawn = rows.draw_found(skip, found, here, left, buf, view.theme);
        skip = skip.saturating_sub(rows.len());
        left.y += drawn;
        left.height -= drawn;
    }
}

/// A row that is made anew each time.
fn live_row(view: &View<'_>, item: &Item, area: Rect, buf: &mut Buffer) {
    match item {
        Item::Turn { number, posted, roles, bytes } => {
            let turn = view.model.session.turn(*number);
            let repairs = turn.map_or(0, |turn| turn.all_repairs().count());
            let went = turn.and_then(went_wrong);
            let posted = match went {
                Some(went) => say!("{posted}, {went}", posted = posted, went = went),
                None => posted.clone(),
            };
            let line = separator(&posted, roles, *bytes, repairs, area.width.into());
            let look = if went.is_some() { Look::Warning } else { Look::Dim };
            paint::line(buf, area, &line, look, view.theme);
        }
        Item::Call(id) => call_row(view, id, area, buf),
        _ => {}
    }
}

/// That nothing of a request left, or that nothing came of it.
fn went_wrong(turn: &Turn) -> Option<&'static str> {
    let response = turn.response()?;
    match &response.failure {
        _ if turn.never_left() => Some(say!("not sent")),
        Some(failure) if failure.came_to_nothing() => Some(say!("not answered")),
        _ => None,
    }
}

fn call_row(view: &View<'_>, id: &CallId, area: Rect, buf: &mut Buffer) {
    let Some(log) = view.model.session.calls.get(id) else { return };
    let (mark, look) = call::mark(log);
    let mut tail = vec![String::new(), call::state(log)];
    if let Some(finished) = &log.finished {
        let overlaid = sent_of_result(&view.model.session, id);
        if call::ran_ms(log, view.unix_ms).is_some() && overlaid.is_none() {
            tail.push(match finished.receipt.lines {
                0 => say!("no output").to_owned(),
                1 => say!("1 line").to_owned(),
                lines => say!("{lines} lines", lines = lines),
            });
        }
        let sent = || view.model.conversation.sent(id, finished.receipt.sent);
        tail.push(overlaid.unwrap_or_else(sent));
    } else if let Some(ms) = call::ran_ms(log, view.unix_ms) {
        tail[1] = format!("{} {}", tail[1], call::seconds(ms));
    }
    let name = text::visible(&log.proposed.name, text::Show::Prose);
    let name = text::fit(&name, 24);
    let left = usize::from(area.width).saturating_sub(4 + text::width(&name));
    // The lines are left out before a number is cut short.
    if tail.len() > 3 && text::width(&tail.join(" · ")) + COMMAND > left {
        tail.remove(2);
    }
    // Nor is that cut short.
    if text::width(&tail.join(" · ")) + LEAST > left {
        tail.truncate(2);
    }
    let tail = tail.join(" · ");
    let room = left.saturating_sub(text::width(&tail));
    let command = call::first_line(log);
    let command = text::fit(&command, room.max(LEAST));
    let pieces = [
        (" ", Look::Text),
        (mark, look),
        (" ", Look::Text),
        (&*name, Look::Text),
        (" ", Look::Text),
        (&*command, Look::Strong),
        (&*tail, Look::Dim),
    ];
    paint::pieces(buf, (area.x, area.y), area.width, &pieces, view.theme);
}

fn welcome(view: &View<'_>, area: Rect, buf: &mut Buffer) {
    let rows = welcome_rows(view, area.width, true);
    let fits = rows.len() <= area.height.into();
    let rows = if fits { rows } else { welcome_rows(view, area.width, false) };
    rows.draw(0, area, buf, view.theme);
}

/// What stands there before the first prompt; with blank rows if there is room for them.
fn welcome_rows(view: &View<'_>, width: u16, with_blanks: bool) -> Rows {
    let mut rows = Rows::default();
    let blank = |rows: &mut Rows| {
        if with_blanks {
            rows.blank();
        }
    };
    let intro = say!(
        "limpid shows both sides of a conversation with a model: what is said here, and in the inspector what the model is really told."
    );
    rows.push(intro, Look::Dim, 0, width);
    blank(&mut rows);
    let next = say!("Write below and press Enter. /help lists the keys, /model the models.");
    rows.push(next, Look::Text, 0, width);
    let beginning = view.model.beginning.as_ref();
    if let Some(context) = beginning.and_then(|beginning| beginning.context.as_ref()) {
        let names = context.lines().next().unwrap_or_default().trim_end_matches(':');
        blank(&mut rows);
        let line = say!("With your first prompt the model is told: {names}.", names = names);
        rows.push(&line, Look::Text, 0, width);
        let hidden = text::hidden(context).into_iter().filter(|c| !"\n\t".contains(*c)).count();
        if hidden > 0 {
            rows.push(say!("It holds hidden characters."), Look::Bad, 0, width);
        }
        let hint = say!("The inspector has it in full; --no-context leaves it out.");
        rows.push(hint, Look::Dim, 0, width);
    }
    rows
}
