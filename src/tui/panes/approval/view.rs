//! Drawing the approval panel: a double border that nothing else has, the directory, what the
//! analysis found, the whole command with every hidden character spelled out, and the choices.

use crate::text::{say, translated};
use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::widgets::BorderType;
use unicode_segmentation::UnicodeSegmentation as _;

use super::{Approval, Drawn, Field};
use crate::text::{self, Show};
use crate::tui::View;
use crate::tui::keymap::{self, Action, Context, Keymap};
use crate::tui::model::Focus;
use crate::tui::paint::{self, Piece};
use crate::tui::rows::{Rows, broken};
use crate::tui::scroll::Measure;
use crate::tui::theme::Look;

/// Blank lines in a row, from which on they are counted instead of shown.
const BLANK_LINES: usize = 4;
/// Spaces in a row, from which on they are counted instead of shown.
const SPACES: usize = 16;
/// Columns inside the border, under which the command stands before what was found in it: a window so
/// small would show nothing else.
const NARROW: u16 = 56;
/// Columns of the panel that have room for a longer hint.
const WIDE: u16 = 76;
/// Columns inside the border that a decision needs.
const COLUMNS: u16 = 26;
/// Rows of a field.
const FIELD_ROWS: u16 = 5;
/// Rows that a field cannot do without: its label and a row of text.
const LEAST_FIELD: u16 = 2;

/// A row of findings or of the command: pieces of `text` with their looks.
type Row = Vec<(Range<usize>, Look)>;

/// The text of the panel, laid out.
#[derive(Debug, Default)]
pub(in crate::tui) struct Layout {
    of: Option<(u64, u16)>,
    text: String,
    rows: Vec<Row>,
    size: String,
}

impl Layout {
    /// Brings the layout up to date for a screen of this width.
    pub(in crate::tui) fn update(&mut self, approval: &Approval, columns: u16) {
        let width = columns.saturating_sub(4);
        if self.of == Some((approval.version, width)) {
            return;
        }
        *self = Self { of: Some((approval.version, width)), ..Self::default() };
        if width < NARROW {
            self.command(&approval.command, width);
            self.findings(approval, width);
        } else {
            self.findings(approval, width);
            self.command(&approval.command, width);
        }
    }

    fn findings(&mut self, approval: &Approval, width: u16) {
        for danger in &approval.analysis.dangers {
            self.finding(&say!("danger: {danger}", danger = translated(danger)), Look::Bad, width);
        }
        for remark in &approval.analysis.remarks {
            self.finding(&translated(remark), Look::Warning, width);
        }
        if approval.is_edited() {
            self.finding(say!("edited by you"), Look::Warning, width);
        }
    }

    fn command(&mut self, command: &str, width: u16) {
        // Within quotes and here-documents, blank lines are part of what is written.
        let folds = !command.contains("<<") && !command.contains(['\'', '"', '`']);
        let lines: Vec<&str> = command.split('\n').collect();
        let count = lines.len();
        let digits = if count > 1 { count.to_string().len() } else { 0 };
        let mut index = 0;
        while index < count {
            let blank = lines[index..].iter().take_while(|line| is_blank(line)).count();
            if folds && blank >= BLANK_LINES {
                self.finding(&say!("⋯ {blank} blank lines ⋯", blank = blank), Look::Hidden, width);
                index += blank;
            } else {
                self.command_line(lines[index], index + 1, digits, width);
                index += 1;
            }
        }
        self.size = size(command);
    }

    fn finding(&mut self, finding: &str, look: Look, width: u16) {
        let start = self.text.len();
        self.text.push_str(&text::visible(finding, Show::Exact));
        let ranges = text::wrap(&self.text[start..], width.max(1).into());
        let shifted = ranges.into_iter().map(|r| vec![(start + r.start..start + r.end, look)]);
        self.rows.extend(shifted);
    }

    /// One line of the command, numbered if there are several, so that a line broken by the width is
    /// not taken for two. What is spelled out or counted looks unlike what is written.
    fn command_line(&mut self, line: &str, number: usize, digits: usize, width: u16) {
        let gutter = self.text.len();
        if digits > 0 {
            let number = number.to_string();
            self.text.extend(std::iter::repeat_n(' ', digits - number.len()));
            self.text.push_str(&number);
            self.text.push(' ');
        }
        let start = self.text.len();
        let blank = " ".repeat(start - gutter);
        let mut marks: Vec<Range<usize>> = Vec::new();
        let mut mark = |text: &mut String, content: &str| {
            let from = text.len();
            text.push_str(content);
            marks.push(from..text.len());
        };
        let mut rest = line;
        while let Some(grapheme) = rest.graphemes(true).next() {
            let spaces = rest.len() - rest.trim_start_matches(' ').len();
            if spaces >= SPACES {
                mark(&mut self.text, &format!("⋯{spaces} spaces⋯"));
                rest = &rest[spaces..];
                continue;
            }
            let shown = text::visible(grapheme, Show::Exact);
            if shown == grapheme {
                self.text.push_str(grapheme);
            } else {
                mark(&mut self.text, &shown);
            }
            rest = &rest[grapheme.len()..];
        }
        let end = self.text.len();
        self.text.push_str(&blank);
        let room = width.saturating_sub(u16::try_from(blank.len()).unwrap_or(0));
        for range in broken(&self.text[start..end], room) {
            let lead = if range.start == 0 { gutter..start } else { end..self.text.len() };
            let mut row = vec![(lead, Look::Dim)];
            row.extend(split(start + range.start..start + range.end, &marks));
            self.rows.push(row);
        }
    }
}

/// How long a command is, in words.
fn size(command: &str) -> String {
    let lines = match command.split('\n').count() {
        1 => say!("1 line").to_owned(),
        count => say!("{lines} lines", lines = count),
    };
    let characters = match command.chars().count() {
        1 => say!("1 character").to_owned(),
        count => say!("{count} characters", count = count),
    };
    format!("{lines} · {characters}")
}

/// What a shell skips. Other spaces are not: they would be a command.
fn is_blank(line: &str) -> bool {
    line.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
}

/// Cuts a row at the marks in it.
fn split(row: Range<usize>, marks: &[Range<usize>]) -> Row {
    let mut pieces = Vec::new();
    let mut at = row.start;
    let first = marks.partition_point(|mark| mark.end <= row.start);
    for mark in &marks[first..] {
        let (from, to) = (mark.start.max(row.start), mark.end.min(row.end));
        if from >= to {
            break;
        }
        pieces.push((at..from, Look::Strong));
        pieces.push((from..to, Look::Hidden));
        at = to;
    }
    pieces.push((at..row.end, Look::Strong));
    pieces
}

/// Rows that the panel would like to have.
pub(in crate::tui) fn height(
    approval: &Approval,
    layout: &Layout,
    keymap: &Keymap,
    columns: u16,
) -> u16 {
    let width = columns.saturating_sub(4);
    let rows = u16::try_from(layout.rows.len()).unwrap_or(u16::MAX);
    rows.saturating_add(3 + below(approval, keymap, width))
}

/// Rows under the command: the choices, or the field with its label.
fn below(approval: &Approval, keymap: &Keymap, width: u16) -> u16 {
    match &approval.field {
        Some(Field::Command(draft) | Field::Reason(draft)) => {
            1 + draft.rows(width).clamp(1, FIELD_ROWS)
        }
        None => {
            u16::try_from(choices(approval, keymap, width, true, true).len()).unwrap_or(u16::MAX)
        }
    }
}

/// Draws the panel. `Some` if the command can be decided upon as it is on the screen.
pub(in crate::tui) fn draw(
    view: &View<'_>,
    approval: &Approval,
    layout: &Layout,
    area: Rect,
    buf: &mut Buffer,
) -> (Option<Drawn>, Option<Position>) {
    let inside = paint::inside(area);
    let writes = approval.field.is_some();
    let mut below_rows = below(approval, &view.model.setup.keymap, inside.width);
    if writes {
        // A field gets along with a row; what it is about stays in sight if it can.
        below_rows = below_rows.min(inside.height.saturating_sub(2).max(LEAST_FIELD));
    }
    let least = if writes { LEAST_FIELD } else { 2 + below_rows };
    if inside.width < COLUMNS || inside.height < least {
        paint::clear(buf, area, view.theme);
        let mut rows = Rows::default();
        let what = if writes {
            say!("Enlarge the window to write")
        } else {
            say!("Enlarge the window to decide")
        };
        rows.push(what, Look::Panel, 0, area.width);
        rows.draw(0, area, buf, view.theme);
        return (None, None);
    }
    paint::clear(buf, area, view.theme);
    paint::border(buf, area, BorderType::Double, Look::Panel, view.theme);
    let (place, of) = approval.position;
    let danger = if approval.analysis.dangers.is_empty() { "" } else { say!("Danger! ") };
    let title = if of == 1 {
        format!(" {danger}{} ", say!("Allow this command?"))
    } else {
        let which = if area.width < NARROW {
            say!("{place} of {of}", place = place, of = of)
        } else {
            say!("call {place} of {of} in this reply", place = place, of = of)
        };
        format!(" {danger}{} {which} ", say!("Allow this command?"))
    };
    paint::pieces(buf, (area.x + 2, area.y), area.width - 4, &[(&title, Look::Panel)], view.theme);
    let directory = text::visible(&view.model.setup.directory, Show::Exact);
    let directory = say!("in {directory}", directory = directory);
    let top = (inside.height - below_rows).min(1);
    paint::line(buf, Rect { height: top, ..inside }, &directory, Look::Dim, view.theme);

    let list = Rect { y: inside.y + top, height: inside.height - top - below_rows, ..inside };
    let measure = approval.scroll.measure(layout.rows.len(), list.height.into());
    for (y, row) in (list.y..list.bottom()).zip(layout.rows.iter().skip(measure.top)) {
        let pieces: Vec<Piece<'_>> =
            row.iter().map(|(range, look)| (&layout.text[range.clone()], *look)).collect();
        paint::pieces(buf, (list.x, y), list.width, &pieces, view.theme);
    }
    let foot = Rect { y: list.bottom(), height: below_rows, ..inside };
    let (seen, of) = approval.seen_with(measure);
    let all_seen = seen >= of;
    let cursor = draw_below(view, approval, all_seen, foot, buf);
    draw_foot_title(view, approval, layout, (measure, all_seen), area, buf);
    (Some(Drawn { version: approval.version, measure }), cursor)
}

fn draw_below(
    view: &View<'_>,
    approval: &Approval,
    all_seen: bool,
    area: Rect,
    buf: &mut Buffer,
) -> Option<Position> {
    let (label, draft) = match &approval.field {
        Some(Field::Command(draft)) => (say!("Edit the command; nothing runs yet:"), draft),
        Some(Field::Reason(draft)) => (say!("Deny; the reason, told to the model:"), draft),
        None => {
            let (model, keymap) = (view.model, &view.model.setup.keymap);
            let armed = approval.is_armed(view.now) && model.panel_is_next() && !model.is_covered();
            let rows = choices(approval, keymap, area.width, armed, all_seen);
            for (y, row) in (area.y..area.bottom()).zip(rows) {
                let pieces: Vec<Piece<'_>> =
                    row.iter().map(|(text, look)| (text.as_str(), *look)).collect();
                paint::pieces(buf, (area.x, y), area.width, &pieces, view.theme);
            }
            return None;
        }
    };
    paint::line(buf, area, label, Look::Panel, view.theme);
    let field = Rect { y: area.y + 1, height: area.height - 1, ..area };
    draft.draw(field, buf, view.theme.style(Look::Text))
}

/// The lower border: how much there is, and what is to be done before a key decides.
fn draw_foot_title(
    view: &View<'_>,
    approval: &Approval,
    layout: &Layout,
    (measure, all_seen): (Measure, bool),
    area: Rect,
    buf: &mut Buffer,
) {
    let y = area.bottom() - 1;
    let (from, to) = (measure.top + 1, (measure.top + measure.height).min(measure.total));
    let mut left = if let Some(Field::Command(draft)) = &approval.field {
        format!(" {} ", size(&draft.text()))
    } else if measure.total > measure.height {
        say!(
            " {size} · rows {from}–{to} of {total} ",
            size = layout.size,
            from = from,
            to = to,
            total = measure.total,
        )
    } else {
        format!(" {} ", layout.size)
    };
    let hint = if approval.field.is_some() {
        ""
    } else if approval.sent {
        say!(" decided ")
    } else if !view.model.panel_is_next() {
        if view.model.focus == Focus::Prompt && area.width < WIDE {
            say!(" Tab: decide ")
        } else if view.model.focus == Focus::Prompt {
            say!(" your keys go to the draft · Tab: decide ")
        } else {
            say!(" Esc: decide ")
        }
    } else if !all_seen {
        if area.width < NARROW {
            say!(" PgDn: more ")
        } else {
            say!(" PgDn: scroll through it to allow ")
        }
    } else {
        ""
    };
    let hint_columns = u16::try_from(text::width(hint)).unwrap_or(0).min(area.width - 4);
    let room = area.width - 4 - hint_columns;
    if usize::from(room) < text::width(&left) {
        left = say!(" row {to} of {total} ", to = to, total = measure.total);
        if usize::from(room) < text::width(&left) {
            left = format!(" {to}/{} ", measure.total);
        }
    }
    paint::pieces(buf, (area.x + 2, y), room, &[(&left, Look::Dim)], view.theme);
    let place = (area.right() - 2 - hint_columns, y);
    paint::pieces(buf, place, hint_columns, &[(hint, Look::Strong)], view.theme);
}

/// The choices in rows of at most `width` columns. What is not possible now is dim.
fn choices(
    approval: &Approval,
    keymap: &Keymap,
    width: u16,
    armed: bool,
    all_seen: bool,
) -> Vec<Vec<(String, Look)>> {
    let mark = if armed { "▸ " } else { "… " };
    let mut rows = vec![vec![(mark.to_owned(), Look::Panel)]];
    let mut used = 2;
    for binding in keymap::choices() {
        let (action, label) = (binding.action(), keymap.label(Some(Context::Approval), binding));
        let allows = matches!(action, Action::AllowOnce | Action::AllowSession);
        let possible = armed && (!allows || all_seen);
        let what = match (action, approval.not_for_session()) {
            (Action::AllowSession, Some(why)) => {
                let text = if width < NARROW {
                    say!("(no {key})", key = label)
                } else {
                    say!("({key}: {why})", key = label, why = why)
                };
                push(&mut rows, &mut used, vec![(text, Look::Dim)], width);
                continue;
            }
            (Action::AllowSession, None) if width < 70 => say!("for the session"),
            _ => binding.short.text(),
        };
        let (key, word) = if possible { (Look::Key, Look::Text) } else { (Look::Dim, Look::Dim) };
        let pieces = vec![(label.to_owned(), key), (format!(" {what}"), word)];
        push(&mut rows, &mut used, pieces, width);
    }
    rows
}

fn push(
    rows: &mut Vec<Vec<(String, Look)>>,
    used: &mut usize,
    pieces: Vec<(String, Look)>,
    width: u16,
) {
    let columns: usize = pieces.iter().map(|(text, _)| text::width(text)).sum();
    let gap = if *used > 2 { 2 } else { 0 };
    if *used > 2 && *used + gap + columns > usize::from(width) {
        rows.push(vec![("  ".to_owned(), Look::Text)]);
        *used = 2;
    } else if gap > 0
        && let Some(row) = rows.last_mut()
    {
        row.push(("  ".to_owned(), Look::Text));
        *used += gap;
    }
    if let Some(row) = rows.last_mut() {
        row.extend(pieces);
    }
    *used += columns;
}
