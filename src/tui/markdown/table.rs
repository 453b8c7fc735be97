//! A table: in columns where it fits, else one line a row with its cells one after the other.

use std::ops::Range;

use pulldown_cmark::Alignment;

use super::inline::Inline;
use crate::text;
use crate::tui::rows::Line;
use crate::tui::theme::Look;

const BETWEEN: &str = " │ ";

/// A table as it is read.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) alignments: Vec<Alignment>,
    /// The rows, the heading first, and where in the source they stand.
    pub(super) rows: Vec<(Vec<Inline>, Range<usize>)>,
}

impl Table {
    /// Its lines in at most `columns` columns.
    pub(super) fn lines(&self, columns: usize) -> Vec<Line> {
        let count = self.rows.iter().map(|(cells, _)| cells.len()).max().unwrap_or(0);
        let mut widths = vec![0; count];
        for (cells, _) in &self.rows {
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = text::width(&cell.text).max(*width);
            }
        }
        let needed = widths.iter().sum::<usize>() + 3 * count.saturating_sub(1);
        let fits = needed <= columns;
        let mut lines = Vec::new();
        for (index, (cells, source)) in self.rows.iter().enumerate() {
            let look = if index == 0 { Look::Strong } else { Look::Text };
            let padded = fits.then_some(widths.as_slice());
            let row = self.row(cells, padded);
            let Inline { text, spans } = row;
            lines.push(Line { text, spans, look, source: source.clone(), ..Line::default() });
            if index == 0 && fits {
                let rule = widths.iter().map(|width| "─".repeat(*width)).collect::<Vec<_>>();
                let text = rule.join("─┼─");
                let source = source.end..source.end;
                lines.push(Line { text, look: Look::Dim, source, ..Line::default() });
            }
        }
        lines
    }

    fn row(&self, cells: &[Inline], widths: Option<&[usize]>) -> Inline {
        let mut row = Inline::default();
        for (column, cell) in cells.iter().enumerate() {
            if column > 0 {
                row.push(BETWEEN, Some(Look::Dim));
            }
            let room = widths.map_or(0, |widths| widths[column] - text::width(&cell.text));
            let before = match self.alignments.get(column) {
                Some(Alignment::Right) => room,
                Some(Alignment::Center) => room / 2,
                _ => 0,
            };
            row.text.push_str(&" ".repeat(before));
            let start = row.text.len();
            row.text.push_str(&cell.text);
            let shifted = |(range, look): &(Range<usize>, Look)| {
                (start + range.start..start + range.end, *look)
            };
            row.spans.extend(cell.spans.iter().map(shifted));
            if column + 1 < cells.len() {
                row.text.push_str(&" ".repeat(room - before));
            }
        }
        row
    }
}
