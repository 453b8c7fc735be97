//! The list of completions over the prompt.

use crate::text::say;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::text;
use crate::tui::View;
use crate::tui::completion::Kind;
use crate::tui::paint;
use crate::tui::theme::Look;

/// Rows of the list at most.
const ROWS: usize = 8;

/// Draws the list above the prompt, over whatever stands there.
pub(in crate::tui) fn draw(view: &View<'_>, prompt: Rect, buf: &mut Buffer) {
    let Some(completion) = view.model.open_completion() else { return };
    let above = usize::from(prompt.y).saturating_sub(3);
    let count = completion.candidates.len();
    let rows = count.min(ROWS).min(above);
    if rows == 0 {
        return;
    }
    let height = u16::try_from(rows + 2).unwrap_or(u16::MAX);
    let area = Rect { x: prompt.x, y: prompt.y - height, width: prompt.width.min(90), height };
    let name = match completion.kind {
        Kind::Word => format!("{} ", say!("Words")),
        Kind::Argument => format!("{} ", say!("What can follow")),
        Kind::Earlier => format!("{} ", say!("Earlier prompts")),
        Kind::File => say!("Files: {note}only the path is sent", note = completion.note) + " ",
    };
    let count =
        format!("· {} ", say!("{here} of {count}", here = completion.selected + 1, count = count));
    let title = [(name.as_str(), Look::Focus), (count.as_str(), Look::Dim)];
    let inside = paint::pane(buf, area, true, &title, view.theme);
    let first = (completion.selected + 1).saturating_sub(rows);
    let widest = completion.candidates.iter().map(|row| text::width(&row.shown)).max().unwrap_or(0);
    for (y, (index, row)) in
        (inside.y..inside.bottom()).zip(completion.candidates.iter().enumerate().skip(first))
    {
        let gap = " ".repeat((widest - text::width(&row.shown)).min(40) + 2);
        let pieces =
            [(row.shown.as_str(), Look::Text), (gap.as_str(), Look::Text), (&row.what, Look::Dim)];
        paint::pieces(buf, (inside.x, y), inside.width, &pieces, view.theme);
        if index == completion.selected {
            let row = Rect { y, height: 1, ..inside };
            paint::select(buf, row, view.theme);
        }
    }
}
