//! A list over the screen: a field to type in, and below it the rows that hold what was typed. What
//! the rows are, and what choosing one does, is the business of whoever opens it.

use crate::text::say;
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::text::{self, Show};
use crate::tui::View;
use crate::tui::draft::Draft;
use crate::tui::keymap::Action;
use crate::tui::paint::{self, Piece};
use crate::tui::rows::Rows;
use crate::tui::theme::Look;

/// A row of columns.
#[derive(Debug, Clone, Default)]
pub(in crate::tui) struct Row {
    /// Texts, as they are; they are made safe when they are drawn.
    pub(in crate::tui) cells: Vec<(String, Look)>,
    /// Whether it stays whatever is typed.
    pub(in crate::tui) always: bool,
}

/// The state of a list.
#[derive(Debug, Default)]
pub(in crate::tui) struct List {
    field: Draft,
    /// Among the rows that are shown.
    selected: usize,
    /// Rows that fit, as drawn last.
    pub(in crate::tui) page: usize,
}

/// Columns that one cell may take, so that none pushes out the others.
const CELL: usize = 58;
/// Columns that the last cell has if it is as long: the others make room for it,
const LAST: usize = 12;
/// unless the widest of them were left with fewer than these.
const LEAST: usize = 30;

impl List {
    /// A list with this row selected.
    pub(in crate::tui) fn at(selected: usize) -> Self {
        Self { selected, ..Self::default() }
    }

    /// What was typed.
    pub(in crate::tui) fn typed(&self) -> String {
        self.field.text().trim().to_owned()
    }

    /// The rows that are shown, by their place among all.
    fn shown(&self, rows: &[Row]) -> Vec<usize> {
        let typed = self.typed().to_lowercase();
        let holds = |row: &Row| {
            let text: Vec<String> = row.cells.iter().map(|(text, _)| text.to_lowercase()).collect();
            let text = text.join(" ");
            typed.split_whitespace().all(|word| text.contains(word))
        };
        let shown = rows.iter().enumerate().filter(|(_, row)| row.always || holds(row));
        shown.map(|(place, _)| place).collect()
    }

    /// The place of the selected row among all.
    pub(in crate::tui) fn chosen(&self, rows: &[Row]) -> Option<usize> {
        let shown = self.shown(rows);
        shown.get(self.selected.min(shown.len().saturating_sub(1))).copied()
    }

    /// Takes a key that moves.
    pub(in crate::tui) fn act(&mut self, action: Action, rows: &[Row]) {
        let last = self.shown(rows).len().saturating_sub(1);
        let (selected, page) = (self.selected.min(last), self.page.max(1));
        self.selected = match action {
            Action::Up => selected.checked_sub(1).unwrap_or(last),
            Action::Down if selected == last => 0,
            Action::Down => selected + 1,
            Action::PageUp => selected.saturating_sub(page),
            Action::PageDown => (selected + page).min(last),
            _ => selected,
        };
    }

    /// Takes a key that is text.
    pub(in crate::tui) fn key(&mut self, key: KeyEvent) {
        let before = self.field.text();
        self.field.key(key);
        if self.field.text() != before {
            self.selected = 0;
        }
    }

    /// Takes a paste: the field has one line.
    pub(in crate::tui) fn paste(&mut self, text: &str) {
        self.field.paste(text.trim().lines().next().unwrap_or_default());
        self.selected = 0;
    }
}

/// Draws the list over the screen, with a remark below it. Returns how many rows fit, and where the
/// cursor is.
pub(in crate::tui) fn draw(
    view: &View<'_>,
    list: &List,
    title: &str,
    rows: &[Row],
    (remark, look): (&str, Look),
    screen: Rect,
    buf: &mut Buffer,
) -> (usize, Option<Position>) {
    let width = screen.width.min(100);
    let mut below = Rows::default();
    if let Some(whole) = cut(list, rows, width.saturating_sub(4)) {
        below.push(&whole, Look::Text, 0, width.saturating_sub(4));
    }
    if !remark.is_empty() {
        below.push(remark, look, 0, width.saturating_sub(4));
    }
    let wanted = rows.len().max(3) + below.len() + 3;
    let height = screen.height.saturating_sub(2).min(u16::try_from(wanted).unwrap_or(u16::MAX));
    let area = Rect {
        x: screen.x + (screen.width - width) / 2,
        y: screen.y + 1.min(screen.height),
        width,
        height,
    };
    let title = format!("{title} ");
    let inside = paint::pane(buf, area, true, &[(&title, Look::Focus)], view.theme);
    if inside.height < 2 || inside.width < 8 {
        return (0, None);
    }
    paint::pieces(buf, (inside.x, inside.y), inside.width, &[("› ", Look::Focus)], view.theme);
    let field = Rect { x: inside.x + 2, width: inside.width - 2, height: 1, ..inside };
    let cursor = list.field.draw(field, buf, view.theme.style(Look::Text));
    let remarks = u16::try_from(below.len()).unwrap_or(u16::MAX).min((inside.height - 1) / 2);
    let foot = Rect { y: inside.bottom() - remarks, height: remarks, ..inside };
    below.draw(0, foot, buf, view.theme);
    let body = Rect { y: inside.y + 1, height: inside.height - 1 - remarks, ..inside };
    let hidden = draw_rows(view, list, rows, body, buf);
    if hidden > 0 {
        paint::foot(buf, area, &say!("↓ {hidden} more", hidden = hidden), view.theme);
    }
    (body.height.into(), cursor)
}

/// Returns how many rows are below those that fit.
fn draw_rows(view: &View<'_>, list: &List, rows: &[Row], area: Rect, buf: &mut Buffer) -> usize {
    let shown = list.shown(rows);
    if shown.is_empty() {
        let nothing = if rows.is_empty() {
            ""
        } else {
            say!("Nothing holds what was typed. Backspace, or Esc.")
        };
        paint::line(buf, area, nothing, Look::Dim, view.theme);
        return 0;
    }
    let safe: Vec<Vec<(String, Look)>> = shown.iter().map(|&place| safe(&rows[place])).collect();
    let widths = widths(&safe, area.width.into());
    let selected = list.selected.min(shown.len() - 1);
    let first = (selected + 1).saturating_sub(area.height.into());
    for (y, (index, cells)) in (area.y..area.bottom()).zip(safe.iter().enumerate().skip(first)) {
        let mut texts: Vec<(String, Look)> = Vec::new();
        for ((text, look), columns) in cells.iter().zip(&widths) {
            let text = text::fit(text, *columns);
            let gap = " ".repeat(columns + 2 - text::width(&text).min(*columns));
            texts.extend([(text.into_owned(), *look), (gap, Look::Text)]);
        }
        // Behind the last one there is nothing to keep away from.
        texts.pop();
        let pieces: Vec<Piece<'_>> = texts.iter().map(|(text, look)| (&**text, *look)).collect();
        paint::pieces(buf, (area.x, y), area.width, &pieces, view.theme);
        if index == selected {
            let place = Rect { y, height: 1, ..area };
            paint::select(buf, place, view.theme);
        }
    }
    shown.len().saturating_sub(first + usize::from(area.height))
}

fn safe(row: &Row) -> Vec<(String, Look)> {
    let safe = |text: &str| text::visible(text, Show::Prose).replace('\n', " ");
    row.cells.iter().map(|(text, look)| (safe(text), *look)).collect()
}

/// The selected row in full, if it is cut where it stands.
fn cut(list: &List, rows: &[Row], width: u16) -> Option<String> {
    let safe: Vec<_> = list.shown(rows).into_iter().map(|place| safe(&rows[place])).collect();
    let cells = safe.get(list.selected.min(safe.len().saturating_sub(1)))?;
    let widths = widths(&safe, width.into());
    let is_cut = |((text, _), columns): (&(String, Look), &usize)| text::width(text) > *columns;
    let whole: usize = widths.iter().take(cells.len()).map(|columns| columns + 2).sum();
    let fits = whole <= usize::from(width) + 2 && !cells.iter().zip(&widths).any(is_cut);
    let texts = cells.iter().map(|(text, _)| text.trim()).filter(|text| !text.is_empty());
    (!fits).then(|| texts.collect::<Vec<_>>().join(" · "))
}

/// How wide each column is, of so many; the last takes what is left.
fn widths(rows: &[Vec<(String, Look)>], of: usize) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|cells| cells.get(column));
        let widest = cells.map(|(text, _)| text::width(text)).max().unwrap_or(0);
        if column + 1 == columns { widest } else { widest.min(CELL) }
    };
    let mut widths: Vec<usize> = (0..columns).map(width).collect();
    if let Some((last, others)) = widths.split_last_mut() {
        let wanted = others.iter().map(|columns| columns + 2).sum::<usize>() + (*last).min(LAST);
        let over = wanted.saturating_sub(of);
        if let Some(widest) = others.iter_mut().max().filter(|widest| **widest >= over + LEAST) {
            *widest -= over;
        }
    }
    widths
}
