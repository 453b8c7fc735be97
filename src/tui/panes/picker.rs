//! The lines of a text over the screen, the chosen ones marked. A line is cut at the edge: what is
//! copied is whole.

use crate::text::say;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::text::{self, Show};
use crate::tui::View;
use crate::tui::copy::{Picker, in_words};
use crate::tui::paint;
use crate::tui::theme::Look;

/// Draws it and returns how many lines fit.
pub(in crate::tui) fn draw(
    view: &View<'_>,
    picker: &Picker,
    screen: Rect,
    buf: &mut Buffer,
) -> usize {
    let area = Rect {
        y: screen.y + 1.min(screen.height),
        height: screen.height.saturating_sub(2),
        ..screen
    };
    let chosen = picker.chosen();
    let detail = format!("─ {} ", in_words(picker.text()));
    let title = [(say!("Copy"), Look::Focus), (" ", Look::Focus), (detail.as_str(), Look::Dim)];
    let inside = paint::pane(buf, area, true, &title, view.theme);
    let height = usize::from(inside.height);
    let top = picker.top(height.max(1));
    let digits = picker.len().to_string().len();
    for (y, at) in (inside.y..inside.bottom()).zip(top..picker.len()) {
        let is_chosen = chosen.contains(&at);
        let raw: String =
            picker.line(at).chars().take(usize::from(inside.width).saturating_mul(4)).collect();
        let line = text::visible(&raw, Show::Prose);
        let number = format!("{:>digits$} ", at + 1);
        let mark = if is_chosen { "▌" } else { " " };
        let row = Rect { y, height: 1, ..inside };
        let pieces = [(mark, Look::Focus), (number.as_str(), Look::Dim), (&*line, Look::Text)];
        paint::pieces(buf, (row.x, y), row.width, &pieces, view.theme);
        if is_chosen {
            buf.set_style(row, view.theme.style(Look::Selected));
        }
    }
    if picker.len() > height {
        let place = say!("line {line} of {total}", line = chosen.end, total = picker.len());
        paint::foot(buf, area, &place, view.theme);
    }
    height
}
