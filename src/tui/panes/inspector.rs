//! The inspector: what the model was told in each turn. A turn's messages in rows whose bytes add
//! up to the body; each row readable or as the exact JSON; the exact body.

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::readable::readable;
use crate::conversation::{Part, Session, Turn, TurnNumber};
use crate::text;
use crate::tui::View as Shown;
use crate::tui::keymap::Action;
use crate::tui::paint;
use crate::tui::rows::Rows;
use crate::tui::scroll::{Measure, Scroll};
use crate::tui::theme::Look;
use crate::wire::outline::{self, Row, RowKind};

/// What is shown of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tui) enum View {
    /// A row for each message.
    Roles,
    /// The selected row's content, readable.
    Readable,
    /// The selected row's content, exact.
    Raw,
    /// The whole body, exact.
    Body,
}

impl View {
    fn word(self) -> &'static str {
        match self {
            Self::Roles => "roles",
            Self::Readable => "message, readable",
            Self::Raw => "message, exact",
            Self::Body => "body, exact",
        }
    }
}

/// The state of the pane.
#[derive(Debug)]
pub(in crate::tui) struct Inspector {
    /// The turn shown; `None` is the newest.
    turn: Option<TurnNumber>,
    /// Whether closing what is open goes back to the newest turn.
    was_newest: bool,
    selected: usize,
    pub(in crate::tui) view: View,
    pub(in crate::tui) scroll: Scroll,
    /// The list as it was drawn last.
    pub(in crate::tui) list: List,
}

/// How many rows a list has, and how many fit.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::tui) struct List {
    rows: usize,
    page: usize,
}

impl Default for Inspector {
    fn default() -> Self {
        Self {
            turn: None,
            was_newest: false,
            selected: 0,
            view: View::Roles,
            scroll: Scroll::from_top(),
            list: List::default(),
        }
    }
}

impl Inspector {
    /// The turn shown.
    fn turn<'a>(&self, session: &'a Session) -> Option<&'a Turn> {
        match self.turn {
            Some(number) => session.turn(number),
            None => session.turns.last(),
        }
    }

    /// Takes a key that means something here.
    pub(in crate::tui) fn act(&mut self, action: Action, session: &Session) {
        match action {
            Action::PreviousTurn => return self.turn_by(-1, session),
            Action::NextTurn => return self.turn_by(1, session),
            Action::Body if self.view == View::Body => return self.close(),
            Action::Body => return self.open(View::Body, session),
            Action::Open if self.view == View::Roles && self.list.rows > 0 => {
                return self.open(View::Readable, session);
            }
            _ => {}
        }
        match self.view {
            View::Roles => self.select(action),
            view => match action {
                Action::Back => self.close(),
                Action::Raw if view == View::Raw => self.show(View::Readable),
                Action::Raw if view == View::Readable => self.show(View::Raw),
                _ => self.scroll.act(action),
            },
        }
    }

    fn show(&mut self, view: View) {
        self.view = view;
        self.scroll = Scroll::from_top();
    }

    /// Opens a view. What is being read stays, also when the next turn comes.
    fn open(&mut self, view: View, session: &Session) {
        if self.view == View::Roles {
            self.was_newest = self.turn.is_none();
            self.turn = self.turn(session).map(|turn| turn.number);
        }
        self.show(view);
    }

    fn close(&mut self) {
        if std::mem::take(&mut self.was_newest) {
            self.turn = None;
        }
        self.show(View::Roles);
    }

    /// Shows the newest turn again, unless something is open: that is being read.
    pub(in crate::tui) fn follow(&mut self) {
        if self.view == View::Roles {
            self.turn = None;
        } else {
            self.was_newest = true;
        }
    }

    fn turn_by(&mut self, by: i64, session: &Session) {
        let Some(newest) = session.turns.last().map(|turn| turn.number.0) else { return };
        let shown = self.turn.map_or(newest, |turn| turn.0);
        let to = (i64::from(shown) + by).clamp(1, i64::from(newest));
        let to = u32::try_from(to).unwrap_or(newest);
        let follows = to == newest && self.view == View::Roles;
        self.was_newest = to == newest && self.view != View::Roles;
        self.turn = if follows { None } else { Some(TurnNumber(to)) };
        self.scroll = Scroll::from_top();
    }

    fn select(&mut self, action: Action) {
        let last = self.list.rows.saturating_sub(1);
        let selected = self.selected.min(last);
        let page = self.list.page.max(1);
        self.selected = match action {
            Action::Up => selected.saturating_sub(1),
            Action::Down => (selected + 1).min(last),
            Action::PageUp => selected.saturating_sub(page),
            Action::PageDown => (selected + page).min(last),
            Action::Start => 0,
            Action::End => last,
            _ => selected,
        };
    }
}

/// What is laid out already.
#[derive(Debug, Default)]
pub(in crate::tui) struct Layout {
    turn: Option<TurnNumber>,
    parts: Vec<Arc<Part>>,
    outline: Vec<Row>,
    head: String,
    /// The view, row and width that `rows` are of.
    opened: Option<(View, usize, u16)>,
    rows: Rows,
}

impl Layout {
    fn update(&mut self, turn: &Turn, session: &Session) {
        if self.turn == Some(turn.number) {
            return;
        }
        let previous = session.parts_of(TurnNumber(turn.number.0.saturating_sub(1)));
        self.parts = session.parts_of(turn.number);
        self.outline = outline::outline(&self.parts, &previous, session);
        self.head = outline::head(turn, &self.parts, &previous);
        self.turn = Some(turn.number);
        self.opened = None;
    }
}

/// The pane's title: turn selector and view.
pub(in crate::tui) fn title(inspector: &Inspector, session: &Session) -> String {
    let Some(turn) = inspector.turn(session) else { return String::new() };
    let newest = u32::try_from(session.turns.len()).unwrap_or(u32::MAX);
    let shown = turn.number.0;
    let first = shown.saturating_sub(2).min(newest.saturating_sub(4)).max(1);
    let last = first.saturating_add(4).min(newest);
    let mut turns: Vec<String> = (first..=last)
        .map(|number| if number == shown { format!("[{number}]") } else { number.to_string() })
        .collect();
    if first > 1 {
        turns.insert(0, "…".to_owned());
    }
    if last < newest {
        turns.push("…".to_owned());
    }
    let turns = turns.join(" ");
    format!("── turn ‹{turns}› ─ {} ", inspector.view.word())
}

/// Draws the pane's inside; returns what the list and an opened text came to.
pub(in crate::tui) fn draw(
    view: &Shown<'_>,
    layout: &mut Layout,
    focused: bool,
    area: Rect,
    buf: &mut Buffer,
) -> (List, Option<Measure>) {
    let session = &view.model.session;
    let inspector = &view.model.inspector;
    let Some(turn) = inspector.turn(session) else {
        let mut rows = Rows::default();
        let text = "No request yet. For each turn, the messages that were posted are listed here, \
                    byte for byte.";
        rows.push(text, Look::Dim, 0, area.width);
        rows.draw(0, area, buf, view.theme);
        return (List::default(), None);
    };
    layout.update(turn, session);
    let head = match area.width {
        0..48 => format!("turn {} · {}", turn.number, layout.head),
        _ => layout.head.clone(),
    };
    paint::line(buf, area, &head, Look::Dim, view.theme);
    let below =
        Rect { y: area.y + 1.min(area.height), height: area.height.saturating_sub(1), ..area };
    let list = List { rows: layout.outline.len(), page: below.height.into() };
    let selected = inspector.selected.min(layout.outline.len().saturating_sub(1));
    if inspector.view == View::Roles {
        draw_outline(view, layout, turn, focused.then_some(selected), below, buf);
        return (list, None);
    }
    let key = Some((inspector.view, selected, below.width));
    if layout.opened != key {
        layout.opened = key;
        layout.rows = lay_out(layout, inspector.view, selected, below.width);
    }
    let measure = inspector.scroll.measure(layout.rows.len(), below.height.into());
    layout.rows.draw(measure.top, below, buf, view.theme);
    (list, Some(measure))
}

fn draw_outline(
    view: &Shown<'_>,
    layout: &Layout,
    turn: &Turn,
    selected: Option<usize>,
    area: Rect,
    buf: &mut Buffer,
) {
    let height = usize::from(area.height);
    let rows = layout.outline.len();
    let first = match selected {
        Some(selected) => (selected + 1).saturating_sub(height),
        None => newest_in_sight(&layout.outline, height),
    };
    for (y, (index, row)) in
        (area.y..area.bottom()).zip(layout.outline.iter().enumerate().skip(first))
    {
        let line = outline::line(row);
        let line = text::visible(&line, text::Show::Prose);
        let look = match (&row.kind, row.change) {
            (RowKind::Message { .. }, outline::Change::New) => Look::Text,
            (RowKind::Message { .. }, outline::Change::Altered) => Look::Bad,
            _ => Look::Dim,
        };
        let place = Rect { y, height: 1, ..area };
        paint::line(buf, place, &line, look, view.theme);
        if selected == Some(index) {
            buf.set_style(place, view.theme.style(Look::Selected));
        }
    }
    let drawn = u16::try_from(rows.saturating_sub(first)).unwrap_or(u16::MAX);
    for (y, what) in (area.y.saturating_add(drawn)..area.bottom()).zip(&turn.repairs) {
        let repair = format!("!  · repair     {}", text::visible(&what.what, text::Show::Prose));
        let place = Rect { y, height: 1, ..area };
        paint::line(buf, place, &repair, Look::Warning, view.theme);
    }
    let hidden = rows.saturating_sub(first + height);
    if hidden > 0 && height > 0 {
        let mark = format!(" ↓ {hidden} more ");
        let columns = u16::try_from(text::width(&mark)).unwrap_or(0).min(area.width);
        let place = (area.right() - columns, area.bottom() - 1);
        paint::pieces(buf, place, columns, &[(&mark, Look::Dim)], view.theme);
    }
}

/// Without a selection, the newest messages are what people want to see.
fn newest_in_sight(rows: &[Row], height: usize) -> usize {
    let messages = rows.iter().filter(|row| matches!(row.kind, RowKind::Message { .. })).count();
    if rows.len() <= height { 0 } else { messages.saturating_sub(height) }
}

fn lay_out(layout: &Layout, view: View, selected: usize, width: u16) -> Rows {
    let mut rows = Rows::default();
    if view == View::Body {
        let body: String = layout.parts.iter().map(|part| &*part.text).collect();
        rows.push_exact(&body, Look::Text, width);
        return rows;
    }
    let Some(row) = layout.outline.get(selected) else { return rows };
    rows.push(&outline::line(row), Look::Strong, 0, width);
    let texts = row.parts.iter().map(|&index| &*layout.parts[index].text);
    if matches!(row.kind, RowKind::Envelope) {
        for text in texts {
            rows.push_exact(text, Look::Text, width);
        }
        return rows;
    }
    let exact: String = texts.collect();
    match readable(&exact) {
        Some(readable) if view == View::Readable => rows.push(&readable, Look::Text, 0, width),
        _ => rows.push_exact(&exact, Look::Text, width),
    }
    rows
}
