//! How the inspector is drawn: its title, the line of views, the list of a turn's rows, and the
//! text of every other view.

use crate::text::{say, translated};
use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Inspector, List, View, before, diff, tabs, went_wrong};
use crate::conversation::{Part, Session, Turn, TurnNumber};
use crate::text;
use crate::tui::View as Shown;
use crate::tui::model::Focus;
use crate::tui::paint;
use crate::tui::panes::readable::readable;
use crate::tui::rows::Rows;
use crate::tui::scroll::Measure;
use crate::tui::search::{self, Found, Listed, Matches};
use crate::tui::theme::Look;
use crate::wire::outline::{self, Change, Row, RowKind};
use crate::wire::views::{self, Kind};
use crate::wire::{rows_of_turn, to_send_again};

/// What is laid out already.
#[derive(Debug, Default)]
pub(in crate::tui) struct Layout {
    /// The turn, and whether it is known that it never left.
    turn: Option<(TurnNumber, bool)>,
    parts: Vec<Arc<Part>>,
    outline: Vec<Row>,
    head: [String; 4],
    /// What `rows` are of.
    opened: Option<Opened>,
    rows: Rows,
    matches: Matches,
    /// What is shown before anything was sent, and what it depends on.
    before: ((Vec<Arc<Part>>, u16), Rows),
    /// What a search found in the list.
    listed: Listed,
}

/// All that the text of a view depends on beside the turn's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Opened {
    view: View,
    base: TurnNumber,
    exact: bool,
    selected: usize,
    width: u16,
    attempts: usize,
    ended: bool,
    repairs: usize,
    reading: u64,
}

impl Layout {
    fn update(&mut self, turn: &Turn, session: &Session) {
        let of = Some((turn.number, turn.never_left()));
        if self.turn == of {
            return;
        }
        let previous = session.parts_sent_before(turn.number);
        self.parts = session.parts_of(turn.number);
        self.outline = rows_of_turn(turn, &self.parts, &previous, session);
        self.head = outline::head_words(turn, &self.parts, &previous);
        self.turn = of;
        self.opened = None;
    }
}

/// A row of the list that is no part of the body: what was adjusted, and how it went wrong.
struct Remark {
    mark: char,
    word: &'static str,
    what: String,
    look: Look,
}

impl Remark {
    fn line(&self) -> String {
        let what = translated(&self.what);
        let what = text::visible(&what, text::Show::Prose).replace('\n', " ");
        format!("{}  · {}{what}", self.mark, text::padded(self.word, 11))
    }
}

fn remarks(turn: &Turn) -> Vec<Remark> {
    let went = views::outcome(turn);
    let went =
        went.map(|(word, what)| Remark { mark: '✗', word: word.text(), what, look: Look::Bad });
    let repairs = turn.all_repairs().map(|repair| Remark {
        mark: '!',
        word: say!("repair"),
        what: repair.what.clone(),
        look: Look::Warning,
    });
    went.chain(repairs).collect()
}

/// The turn selector of the pane's title.
pub(in crate::tui) fn title(inspector: &Inspector, session: &Session) -> String {
    let Some(turn) = inspector.turn(session) else { return String::new() };
    let newest = u32::try_from(session.turns.len()).unwrap_or(u32::MAX);
    let shown = turn.number.0;
    let first = shown.saturating_sub(2).min(newest.saturating_sub(4)).max(1);
    let last = first.saturating_add(4).min(newest);
    let mut turns: Vec<String> = (first..=last)
        .map(|number| {
            let turn = session.turn(TurnNumber(number));
            let wrong = turn.and_then(|turn| went_wrong(turn, session)).unwrap_or_default();
            let mark = wrong.chars().next().map(String::from).unwrap_or_default();
            if number == shown { format!("[{number}{mark}]") } else { format!("{number}{mark}") }
        })
        .collect();
    if first > 1 {
        turns.insert(0, "…".to_owned());
    }
    if last < newest {
        turns.push("…".to_owned());
    }
    say!("turn ‹{turns}›", turns = turns.join(" ")) + " "
}

/// Draws the pane's inside; returns what the list and an opened text came to.
pub(in crate::tui) fn draw(
    view: &Shown<'_>,
    layout: &mut Layout,
    focused: bool,
    area: Rect,
    buf: &mut Buffer,
) -> (List, Measure, Option<Found>) {
    let session = &view.model.session;
    let inspector = &view.model.inspector;
    let search = view.model.searched(Focus::Inspector);
    let Some(turn) = inspector.turn(session) else {
        let beginning = view.model.beginning.as_ref();
        let parts = beginning.map_or_else(Vec::new, |beginning| beginning.parts.clone());
        let key = (parts, area.width);
        if layout.before.0 != key {
            layout.before = (key, before::lay_out(beginning, area.width));
            layout.matches = Matches::default();
        }
        let rows = &layout.before.1;
        let mut measure = inspector.scroll.measure(rows.len(), area.height.into());
        let shown = (rows, &mut layout.matches);
        let found = search::draw_rows(shown, search, &mut measure, area, buf, view.theme);
        return (List::default(), measure, found);
    };
    layout.update(turn, session);
    let tabs = tabs::line(inspector.view, inspector.exact, area.width);
    if area.height > 0 {
        paint::pieces(buf, (area.x, area.y), area.width, &tabs, view.theme);
    }
    let below = under(area);
    let remarks = remarks(turn);
    let rows = layout.outline.len() + remarks.len();
    let selected = inspector.selected.min(rows.saturating_sub(1));
    if inspector.view == View::Roles {
        let head = head(&layout.head, below.width);
        let look = if turn.never_left() { Look::Bad } else { Look::Dim };
        paint::line(buf, below, &head, look, view.theme);
        let below = under(below);
        let list = list(inspector, &layout.outline, rows, below.height.into());
        let (mut listed, of) = (std::mem::take(&mut layout.listed), u64::from(turn.number.0));
        let found = listed.update(
            search,
            ((of << 32) | remarks.len() as u64, rows),
            selected,
            |row, needle| message(layout, &remarks, row, u16::MAX, false).holds(needle),
        );
        let went_to = found.filter(|found| found.moved && found.total > 0).map(|found| found.row);
        let list = List { top: went_to.map_or(list.top, |row| list.with(row)), ..list };
        let again = can_send_again(layout, session, list.nearest(selected));
        let list = List { again, ..list };
        let chosen = focused.then_some(went_to.unwrap_or(list.nearest(selected)));
        let marked = |row| listed.look(row, found);
        draw_list(view, (&layout.outline, &remarks), (list.top, chosen), marked, below, buf);
        layout.listed = listed;
        let measure = Measure { top: list.top, total: list.rows, height: list.page };
        return (list, measure, found);
    }
    let opened = Opened {
        view: inspector.view,
        base: inspector.base_of(turn.number),
        exact: inspector.exact,
        selected,
        width: below.width,
        attempts: turn.exchanges.len(),
        ended: turn.response().is_some(),
        repairs: turn.all_repairs().count(),
        reading: inspector.read.version,
    };
    if layout.opened != Some(opened) {
        layout.opened = Some(opened);
        layout.rows = lay_out(layout, view, turn, &remarks, opened);
        layout.matches = Matches::default();
    }
    let mut measure = inspector.scroll.measure(layout.rows.len(), below.height.into());
    let shown = (&layout.rows, &mut layout.matches);
    let found = search::draw_rows(shown, search, &mut measure, below, buf, view.theme);
    let again = inspector.view == View::Message && can_send_again(layout, session, selected);
    (List { rows, page: below.height.into(), top: inspector.list.top, again }, measure, found)
}

/// What is left under a row.
fn under(area: Rect) -> Rect {
    let taken = 1.min(area.height);
    Rect { y: area.y + taken, height: area.height - taken, ..area }
}

/// The request in one line. What does not fit is left out, the hash first.
fn head(words: &[String; 4], width: u16) -> String {
    let [messages, bytes, sha, prefix] = words;
    let all: [&[&String]; 4] = [
        &[messages, bytes, sha, prefix],
        &[messages, bytes, prefix],
        &[messages, prefix],
        &[prefix],
    ];
    let lines =
        all.map(|words| words.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(" · "));
    let fits = lines.iter().find(|line| text::width(line) <= usize::from(width));
    fits.unwrap_or(prefix).clone()
}

fn draw_list(
    view: &Shown<'_>,
    (outline, remarks): (&[Row], &[Remark]),
    (top, selected): (usize, Option<usize>),
    marked: impl Fn(usize) -> Option<Look>,
    area: Rect,
    buf: &mut Buffer,
) {
    let total = outline.len() + remarks.len();
    for (y, index) in (area.y..area.bottom()).zip(top..total) {
        let (line, look) = match outline.get(index) {
            Some(row) => (outline::line_within(row, area.width.into()), row_look(row)),
            None => {
                let remark = remarks.get(index - outline.len());
                remark.map_or((String::new(), Look::Text), |remark| (remark.line(), remark.look))
            }
        };
        let line = text::visible(&line, text::Show::Prose);
        let place = Rect { y, height: 1, ..area };
        paint::line(buf, place, &line, look, view.theme);
        if let Some(look) = marked(index) {
            buf.set_style(place, view.theme.style(look));
        }
        if selected == Some(index) {
            paint::select(buf, place, view.theme);
        }
    }
}

fn row_look(row: &Row) -> Look {
    match (&row.kind, row.change) {
        (RowKind::Message { .. }, Change::New) => Look::Text,
        (RowKind::Message { .. }, Change::Altered) => Look::Bad,
        _ => Look::Dim,
    }
}

/// Where the list stands: where keys put it, whatever has the keys now.
fn list(inspector: &Inspector, outline: &[Row], rows: usize, page: usize) -> List {
    let newest = || newest_in_sight(outline, rows, page);
    let top = inspector.top.unwrap_or_else(newest).min(rows.saturating_sub(page));
    List { rows, page, top, again: false }
}

fn can_send_again(layout: &Layout, session: &Session, row: usize) -> bool {
    layout.outline.get(row).is_some_and(|row| !to_send_again(row, session).is_empty())
}

/// Until a key moves it, the newest messages are what people want to see.
fn newest_in_sight(rows: &[Row], total: usize, height: usize) -> usize {
    let is_message = |row: &Row| matches!(row.kind, RowKind::Message { .. } | RowKind::NotSent(_));
    // What is no message stands at the end.
    let messages = rows.iter().rposition(is_message).map_or(0, |last| last + 1);
    if total <= height { 0 } else { messages.saturating_sub(height) }
}

fn lay_out(
    layout: &Layout,
    view: &Shown<'_>,
    turn: &Turn,
    remarks: &[Remark],
    opened: Opened,
) -> Rows {
    let inspector = &view.model.inspector;
    let lines = match opened.view {
        View::Roles | View::Message => {
            return message(layout, remarks, opened.selected, opened.width, opened.exact);
        }
        View::Diff => {
            let mut rows = Rows::default();
            for (line, look) in
                diff::of_turn(turn, opened.base, &view.model.session, opened.width.into())
            {
                rows.push_exact(&line, look, opened.width);
            }
            return rows;
        }
        View::Request => views::request(turn, &layout.parts),
        View::Usage => views::usage(turn),
        View::Response => {
            let kept = inspector.read.kept.as_ref().filter(|(of, _)| *of == turn.number);
            views::response(turn, kept.map_or(&[], |(_, kept)| kept))
        }
    };
    let mut rows = Rows::default();
    for line in lines {
        let look = match line.kind {
            Kind::Heading => Look::Dim,
            Kind::Plain | Kind::Exact => Look::Text,
            Kind::Repair => Look::Warning,
            Kind::Failure => Look::Bad,
        };
        match line.kind {
            _ if !line.lead.is_empty() => {
                rows.push_exact_beside(&line.lead, &line.text, look, views::LEAD, opened.width);
            }
            Kind::Exact => rows.push_exact(&line.text, look, opened.width),
            _ => rows.push(&line.text, look, 0, opened.width),
        }
    }
    rows
}

/// A row's content.
fn message(
    layout: &Layout,
    remarks: &[Remark],
    selected: usize,
    width: u16,
    is_exact: bool,
) -> Rows {
    let mut rows = Rows::default();
    let Some(row) = layout.outline.get(selected) else {
        if let Some(remark) = remarks.get(selected.saturating_sub(layout.outline.len())) {
            rows.push(&format!("{} {}", remark.mark, remark.word), Look::Strong, 0, width);
            rows.push(&translated(&remark.what), remark.look, 0, width);
        }
        return rows;
    };
    rows.push(&outline::line(row), Look::Strong, 0, width);
    if matches!(row.kind, RowKind::NotSent(_)) {
        let kept = say!(
            "Not sent in this turn. It is kept in the session; s sends it again, /restore all."
        );
        rows.push(kept, Look::Dim, 0, width);
        return rows;
    }
    let texts = row.parts.iter().map(|&index| &*layout.parts[index].text);
    if matches!(row.kind, RowKind::Envelope) {
        for text in texts {
            rows.push_exact(text, Look::Text, width);
        }
        return rows;
    }
    let exact: String = texts.collect();
    match readable(&exact) {
        Some(readable) if !is_exact => rows.push(&readable, Look::Text, 0, width),
        _ => rows.push_exact(&exact, Look::Text, width),
    }
    rows
}
