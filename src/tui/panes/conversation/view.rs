//! Drawing the conversation. A finished item is laid out once for a width; only the visible rows
//! reach the frame, found by their number.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::super::call;
use super::{Conversation, Item, Live, separator};
use crate::conversation::{Asker, Block, CallId, Entry, Failure, Session};
use crate::text;
use crate::tui::View;
use crate::tui::paint;
use crate::tui::rows::{Growing, Rows};
use crate::tui::scroll::Measure;
use crate::tui::theme::Look;
use crate::wire::{sent_of, sent_of_result};

/// What is laid out already.
#[derive(Debug, Default)]
pub(in crate::tui) struct Layout {
    width: u16,
    /// How many overlays it knows of.
    overlays: u64,
    items: Vec<Laid>,
    /// The row at which each item starts.
    starts: Vec<usize>,
    total: usize,
    live: LiveLaid,
}

#[derive(Debug)]
enum Laid {
    /// Rows that stay as they are.
    Rows(Rows),
    /// One row that is made anew each time.
    OneRow,
}

#[derive(Debug, Default)]
struct LiveLaid {
    number: u64,
    head: Rows,
    reasoning: Growing,
    text: Growing,
    calls: Rows,
}

impl Layout {
    /// Brings the layout up to date; returns the row to keep in sight if the width changed.
    fn update(
        &mut self,
        conversation: &Conversation,
        session: &Session,
        width: u16,
        top: usize,
    ) -> usize {
        let mut anchor = None;
        let overlays = conversation.overlays;
        if width != self.width || overlays != self.overlays {
            if !self.items.is_empty() {
                let item = self.starts.partition_point(|start| *start <= top).saturating_sub(1);
                anchor = Some((item, top - self.starts[item]));
            }
            *self = Self { width, overlays, ..Self::default() };
        }
        for item in &conversation.items[self.items.len().min(conversation.items.len())..] {
            let laid = lay_out(item, session, width, self.items.is_empty());
            self.starts.push(self.total);
            self.total += laid.len();
            self.items.push(laid);
        }
        self.live.update(conversation, width);
        match anchor {
            Some((item, row)) => {
                self.starts[item] + row.min(self.items[item].len().saturating_sub(1))
            }
            None => top,
        }
    }
}

impl Laid {
    fn len(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.len(),
            Self::OneRow => 1,
        }
    }
}

impl LiveLaid {
    fn update(&mut self, conversation: &Conversation, width: u16) {
        if self.number != conversation.live_number {
            *self = Self { number: conversation.live_number, ..Self::default() };
        }
        let Live { reasoning, text, calls } = &conversation.live;
        if !conversation.headed && conversation.is_streaming() && self.head.len() == 0 {
            self.head.push("model", Look::Model, 0, width);
        }
        self.reasoning.lay_out(reasoning, Look::Dim, width);
        self.text.lay_out(text, Look::Text, width);
        self.calls = Rows::default();
        for (name, bytes) in calls {
            let name = if name.is_empty() { "call" } else { name };
            let line = format!("… {name} · arriving, {}", text::bytes(*bytes as u64));
            self.calls.push(&line, Look::Dim, 1, width);
        }
    }

    fn segments(&self) -> [&Rows; 4] {
        [&self.head, self.reasoning.rows(), self.text.rows(), &self.calls]
    }

    fn len(&self) -> usize {
        self.segments().iter().map(|rows| rows.len()).sum()
    }
}

fn lay_out(item: &Item, session: &Session, width: u16, first: bool) -> Laid {
    let mut rows = Rows::default();
    match item {
        Item::Turn { .. } | Item::Call(_) => return Laid::OneRow,
        Item::Prompt(entry) => {
            if !first {
                rows.blank();
            }
            rows.push("you", Look::You, 0, width);
            rows.push(&entry.text(), Look::Text, 0, width);
            sent_line(&mut rows, session, entry, width);
            rows.blank();
        }
        Item::Reply { entry, head } => {
            reply(&mut rows, entry, *head, width);
            sent_line(&mut rows, session, entry, width);
        }
        Item::Output { text, told } => own_output(&mut rows, text, *told, width),
        Item::Note(note, look) => rows.push(note, *look, 0, width),
        Item::Failure(failure) => lay_out_failure(&mut rows, failure, width),
    }
    Laid::Rows(rows)
}

/// Lines of an own command's output that stand in the conversation.
const OUTPUT_LINES: usize = 12;

fn own_output(rows: &mut Rows, output: &str, told: bool, width: u16) {
    let head =
        if told { "told with your next prompt:" } else { "not sent, the model is not told:" };
    rows.push(head, Look::Strong, 3, width);
    let count = output.lines().count();
    let skipped = count.saturating_sub(OUTPUT_LINES);
    if skipped > 0 {
        let note = format!("… {skipped} lines before these; the tools pane has all");
        rows.push(&note, Look::Dim, 3, width);
    }
    for line in output.lines().skip(skipped) {
        rows.push(line, Look::Dim, 3, width);
    }
}

/// A line on an entry that is not sent as it is.
fn sent_line(rows: &mut Rows, session: &Session, entry: &Entry, width: u16) {
    if let Some(sent) = sent_of(session, entry.id) {
        rows.push(&format!("({sent})"), Look::Dim, 0, width);
    }
}

fn reply(rows: &mut Rows, entry: &Entry, head: bool, width: u16) {
    if head {
        rows.push("model", Look::Model, 0, width);
    }
    for block in &entry.blocks {
        match block {
            Block::Reasoning(reasoning) if reasoning.text.is_empty() => {
                rows.push("(the server keeps this reasoning to itself)", Look::Dim, 0, width);
            }
            Block::Reasoning(reasoning) => rows.push_markdown(&reasoning.text, Look::Dim, width),
            Block::Opaque(opaque) => rows.push(&opaque.json, Look::Dim, 0, width),
            Block::Text(text) => rows.push_markdown(text, Look::Text, width),
            Block::Call(_) | Block::Result(_) => {}
        }
    }
}

fn lay_out_failure(rows: &mut Rows, failure: &Failure, width: u16) {
    rows.blank();
    rows.push("✗ The model did not answer in full.", Look::Bad, 0, width);
    rows.push(&failure.cause(), Look::Bad, 2, width);
    rows.push(&failure.next_step(), Look::Text, 2, width);
    let kept = if failure.may_pass() {
        "Your prompt and all text so far are kept: /continue posts the same messages again."
    } else {
        "Your prompt and all text so far are kept."
    };
    rows.push(kept, Look::Text, 2, width);
}

/// Draws the pane's inside and returns what it came to.
pub(in crate::tui) fn draw(
    view: &View<'_>,
    layout: &mut Layout,
    area: Rect,
    buf: &mut Buffer,
) -> Measure {
    let conversation = &view.model.conversation;
    if conversation.items.is_empty() && !conversation.is_streaming() {
        welcome(view, area, buf);
        return Measure { height: area.height.into(), ..Measure::default() };
    }
    let height = usize::from(area.height);
    let known = layout.total + layout.live.len();
    let before = conversation.scroll.measure(known, height);
    let anchored = layout.update(conversation, &view.model.session, area.width, before.top);
    let total = layout.total + layout.live.len();
    let mut measure = conversation.scroll.measure(total, height);
    if conversation.scroll.is_moved() {
        measure.top = anchored.min(total.saturating_sub(height));
    }
    draw_rows(view, layout, measure.top, area, buf);
    let news = conversation.scroll.news(total);
    if !measure.at_end() && area.height > 0 {
        let mark = if news > 0 { format!(" ↓ {news} new ") } else { " ↓ ".to_owned() };
        let columns = u16::try_from(text::width(&mark)).unwrap_or(u16::MAX).min(area.width);
        let place = (area.right() - columns, area.bottom() - 1);
        paint::pieces(buf, place, columns, &[(&mark, Look::Selected)], view.theme);
    }
    measure
}

fn draw_rows(view: &View<'_>, layout: &Layout, top: usize, area: Rect, buf: &mut Buffer) {
    let mut left = area;
    let mut skip = top;
    let first = layout.starts.partition_point(|start| *start <= top).saturating_sub(1);
    if let Some(start) = layout.starts.get(first) {
        skip -= start;
    }
    for (laid, item) in layout.items.iter().zip(&view.model.conversation.items).skip(first) {
        if left.height == 0 {
            return;
        }
        let drawn = match laid {
            Laid::Rows(rows) => rows.draw(skip, left, buf, view.theme),
            Laid::OneRow if skip == 0 => one_row(view, item, left, buf),
            Laid::OneRow => 0,
        };
        skip = skip.saturating_sub(laid.len());
        left.y += drawn;
        left.height -= drawn;
    }
    for rows in layout.live.segments() {
        let drawn = rows.draw(skip, left, buf, view.theme);
        skip = skip.saturating_sub(rows.len());
        left.y += drawn;
        left.height -= drawn;
    }
}

fn one_row(view: &View<'_>, item: &Item, area: Rect, buf: &mut Buffer) -> u16 {
    match item {
        Item::Turn { number, posted, roles, bytes } => {
            let repairs = view.model.session.turn(*number).map_or(0, |turn| turn.repairs.len());
            let line = separator(posted, roles, *bytes, repairs, area.width.into());
            paint::line(buf, area, &line, Look::Dim, view.theme);
        }
        Item::Call(id) => call_row(view, id, area, buf),
        _ => {}
    }
    1
}

fn call_row(view: &View<'_>, id: &CallId, area: Rect, buf: &mut Buffer) {
    let Some(log) = view.model.session.calls.get(id) else { return };
    let (mark, look) = call::mark(log);
    let mut tail = vec![String::new(), call::state(log)];
    if let Some(finished) = &log.finished {
        let overlaid = sent_of_result(&view.model.session, id);
        if log.started_at.is_some() && overlaid.is_none() {
            tail.push(match finished.receipt.lines {
                0 => "no output".to_owned(),
                1 => "1 line".to_owned(),
                lines => format!("{lines} lines"),
            });
        }
        let sent = finished.receipt.sent;
        tail.push(match (overlaid, log.proposed.asker) {
            (Some(overlaid), _) => overlaid,
            (None, Asker::User { .. }) if sent == 0 => "not sent".to_owned(),
            (None, Asker::User { .. }) => text::bytes(sent),
            (None, Asker::Model { .. }) => format!("sent {}", text::bytes(sent)),
        });
    } else if let Some(ms) = call::ran_ms(log, view.unix_ms) {
        tail[1] = format!("{} {}", tail[1], call::seconds(ms));
    }
    let tail = tail.join(" · ");
    let name = text::visible(&log.proposed.name, text::Show::Prose);
    let name = text::fit(&name, 24);
    let room = usize::from(area.width).saturating_sub(4 + text::width(&name) + text::width(&tail));
    let command = call::first_line(log);
    let command = text::fit(&command, room.max(8));
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
    let mut rows = Rows::default();
    rows.push("limpid shows both sides of a conversation with a model:", Look::Dim, 0, area.width);
    rows.push(
        "what is said here, and in the inspector what the model is really told.",
        Look::Dim,
        0,
        area.width,
    );
    let beginning = view.model.beginning.as_ref();
    if let Some(context) = beginning.and_then(|beginning| beginning.context.as_ref()) {
        let names = context.lines().next().unwrap_or_default().trim_end_matches(':');
        rows.blank();
        let line = format!("With your first prompt the model is told: {names}.");
        rows.push(&line, Look::Text, 0, area.width);
        let hidden = text::hidden(context).into_iter().filter(|c| !"\n\t".contains(*c)).count();
        if hidden > 0 {
            rows.push("It holds hidden characters.", Look::Bad, 0, area.width);
        }
        let hint = "The inspector has it in full; --no-context leaves it out.";
        rows.push(hint, Look::Dim, 0, area.width);
    }
    rows.draw(0, area, buf, view.theme);
}
