//! A table: in columns, whose cells are broken where they do not fit; where there is no room for that,
//! one line a row with its cells one after the other.

use std::ops::Range;

use pulldown_cmark::Alignment;

use super::inline::Inline;
use crate::text;
use crate::tui::rows::Line;
use crate::tui::theme::Look;

const BETWEEN: &str = " │ ";
/// Columns that a cell is left with at least: in fewer, nothing can be read.
const LEAST: usize = 8;

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
        let fits = narrow(&mut widths, columns.saturating_sub(3 * count.saturating_sub(1)));
        let mut lines = Vec::new();
        for (index, (cells, source)) in self.rows.iter().enumerate() {
            let look = if index == 0 { Look::Strong } else { Look::Text };
            let after = source.end..source.end;
            let broken =
                if fits { self.broken(cells, &widths) } else { vec![self.row(cells, None)] };
            for (number, Inline { text, spans }) in broken.into_iter().enumerate() {
                let source = if number == 0 { source.clone() } else { after.clone() };
                lines.push(Line { text, spans, look, source, ..Line::default() });
            }
            if index == 0 && fits {
                let rule = widths.iter().map(|width| "─".repeat(*width)).collect::<Vec<_>>();
                let text = rule.join("─┼─");
                lines.push(Line { text, look: Look::Dim, source: after, ..Line::default() });
            }
        }
        lines
    }

    /// A row whose cells are broken to these widths.
    fn broken(&self, cells: &[Inline], widths: &[usize]) -> Vec<Inline> {
        let pieces: Vec<Vec<Inline>> =
            cells.iter().zip(widths).map(|(cell, width)| pieces(cell, *width)).collect();
        let height = pieces.iter().map(Vec::len).max().unwrap_or(1);
        (0..height)
            .map(|at| {
                let cells: Vec<Inline> =
                    pieces.iter().map(|cell| cell.get(at).cloned().unwrap_or_default()).collect();
                self.row(&cells, Some(widths))
            })
            .collect()
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

/// Makes the widest columns narrower until all take `room`. Whether that is possible.
fn narrow(widths: &mut [usize], room: usize) -> bool {
    let fits = widths.iter().sum::<usize>() <= room;
    if !fits && room < LEAST * widths.len() {
        return false;
    }
    for width in widths.iter_mut() {
        *width = (*width).min(room);
    }
    let mut over = widths.iter().sum::<usize>().saturating_sub(room);
    while over > 0
        && let Some(widest) = widths.iter_mut().max()
    {
        *widest -= 1;
        over -= 1;
    }
    true
}

/// A cell in rows of at most `columns`.
fn pieces(cell: &Inline, columns: usize) -> Vec<Inline> {
    let piece = |row: Range<usize>| {
        let within = |(range, look): &(Range<usize>, Look)| {
            let (from, to) = (range.start.max(row.start), range.end.min(row.end));
            (from < to).then(|| (from - row.start..to - row.start, *look))
        };
        Inline {
            text: cell.text[row.clone()].to_owned(),
            spans: cell.spans.iter().filter_map(within).collect(),
        }
    };
    text::wrap(&cell.text, columns).into_iter().map(piece).collect()
}
