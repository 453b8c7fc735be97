//! Strokes that all panes draw with: a pane's border with its title, a row of differently looking
//! pieces, text that is cut to its room.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{BorderType, Clear, Widget as _};

use super::theme::{Look, Theme};
use crate::text;

/// A piece of a row.
pub(super) type Piece<'a> = (&'a str, Look);

/// Draws pieces one after the other, cut at `columns`; returns the columns used. The texts are safe
/// already.
pub(super) fn pieces(
    buf: &mut Buffer,
    (x, y): (u16, u16),
    columns: u16,
    pieces: &[Piece<'_>],
    theme: &Theme,
) -> u16 {
    let mut used: u16 = 0;
    for (piece, look) in pieces {
        let room = columns.saturating_sub(used);
        if room == 0 {
            break;
        }
        let cut = text::fit(piece, room.into());
        used += words(buf, (x + used, y), room, &cut, theme.style(*look));
        if cut.len() != piece.len() {
            break;
        }
    }
    used
}

/// Draws as much of a text as there is room for; returns the columns used. The text is safe already.
pub(super) fn words(
    buf: &mut Buffer,
    (x, y): (u16, u16),
    columns: u16,
    words: &str,
    style: Style,
) -> u16 {
    let columns = columns.min(buf.area.right().saturating_sub(x));
    if columns == 0 {
        return 0;
    }
    if !words.chars().all(text::is_simple) {
        return buf.set_stringn(x, y, words, columns.into(), style).0 - x;
    }
    let start = buf.index_of(x, y);
    let mut used = 0;
    for (cell, c) in buf.content[start..].iter_mut().zip(words.chars()).take(columns.into()) {
        cell.set_char(c).set_style(style);
        used += 1;
    }
    used
}

/// Draws one text, cut to the area's width, in its first row.
pub(super) fn line(buf: &mut Buffer, area: Rect, content: &str, look: Look, theme: &Theme) {
    if area.height > 0 {
        pieces(buf, (area.x, area.y), area.width, &[(content, look)], theme);
    }
}

/// Writes a word into the bottom border of a pane, at its right; nothing if it does not fit.
pub(super) fn foot(buf: &mut Buffer, area: Rect, word: &str, theme: &Theme) {
    let word = format!(" {word} ");
    let columns = u16::try_from(text::width(&word)).unwrap_or(u16::MAX);
    if columns <= area.width.saturating_sub(4) && area.height > 1 {
        let place = (area.right() - 2 - columns, area.bottom() - 1);
        pieces(buf, place, columns, &[(&word, Look::Dim)], theme);
    }
}

/// Empties an area. A wide character that reaches into it goes with its other half.
pub(super) fn clear(buf: &mut Buffer, area: Rect, theme: &Theme) {
    if let Some(x) = area.x.checked_sub(1) {
        for y in area.y..area.bottom().min(buf.area.bottom()) {
            if let Some(cell) = buf.cell_mut((x, y)).filter(|cell| text::width(cell.symbol()) > 1) {
                cell.set_symbol(" ");
            }
        }
    }
    Clear.render(area, buf);
    buf.set_style(area, theme.style(Look::Text));
}

/// Marks a row of a pane as the selected one, with a sign in the air before it.
pub(super) fn select(buf: &mut Buffer, row: Rect, theme: &Theme) {
    let whole = Rect { x: row.x.saturating_sub(1), width: row.width + 1, ..row };
    pieces(buf, (whole.x, row.y), 1, &[("▸", Look::Selected)], theme);
    buf.set_style(whole, theme.style(Look::Selected));
}

/// Empties an area and draws a pane's border around it; returns what is inside, one column of air
/// at each side.
pub(super) fn pane(
    buf: &mut Buffer,
    area: Rect,
    focused: bool,
    title: &[Piece<'_>],
    theme: &Theme,
) -> Rect {
    clear(buf, area, theme);
    frame(buf, area, focused, title, theme)
}

/// Draws a pane's border around an area that is empty.
pub(super) fn frame(
    buf: &mut Buffer,
    area: Rect,
    focused: bool,
    title: &[Piece<'_>],
    theme: &Theme,
) -> Rect {
    let look = if focused { Look::Text } else { Look::Border };
    border(buf, area, BorderType::Rounded, look, theme);
    if area.width > 4 && area.height > 0 {
        let mark = if focused { ("▸", Look::Focus) } else { (" ", Look::Border) };
        let mut all = vec![mark];
        all.extend_from_slice(title);
        pieces(buf, (area.x + 1, area.y), area.width - 2, &all, theme);
    }
    inside(area)
}

/// Draws a border of this kind.
pub(super) fn border(buf: &mut Buffer, area: Rect, kind: BorderType, look: Look, theme: &Theme) {
    let area = area.intersection(buf.area);
    if area.is_empty() {
        return;
    }
    let lines = kind.to_border_set();
    let (left, right) = (area.x, area.right() - 1);
    let (top, bottom) = (area.y, area.bottom() - 1);
    let style = theme.style(look);
    let mut put = |x, y, line| {
        buf[(x, y)].set_symbol(line).set_style(style);
    };
    for x in left..=right {
        put(x, top, lines.horizontal_top);
        put(x, bottom, lines.horizontal_bottom);
    }
    for y in top..=bottom {
        put(left, y, lines.vertical_left);
        put(right, y, lines.vertical_right);
    }
    put(right, bottom, lines.bottom_right);
    put(right, top, lines.top_right);
    put(left, bottom, lines.bottom_left);
    put(left, top, lines.top_left);
}

/// What a border leaves, less one column of air at each side.
pub(super) fn inside(area: Rect) -> Rect {
    Rect {
        x: area.x + 2.min(area.width),
        y: area.y + 1.min(area.height),
        width: area.width.saturating_sub(4),
        height: area.height.saturating_sub(2),
    }
}
