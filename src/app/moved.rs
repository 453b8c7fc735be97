//! Rows that stand elsewhere than in the frame before: the terminal can move them itself.

use std::io::{self, Write as _};
use std::ops::Range;

use ratatui::buffer::{Buffer, Cell};

/// How far rows are looked for.
const FARTHEST: u16 = 6;
/// About what it takes to get to cells that are not side by side.
const JUMP: i64 = 5;

/// Rows that stand elsewhere than before.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Moved {
    /// The first row of the region and the one after its last.
    rows: (u16, u16),
    by: u16,
    up: bool,
}

impl Moved {
    /// The move that seems to save most, if one does. An estimate: who draws finds out.
    pub(super) fn find(shown: &Buffer, wanted: &Buffer) -> Option<Self> {
        let blank = Cell::default();
        let height = wanted.area.height;
        let width = usize::from(wanted.area.width);
        let row = |buffer: &'_ Buffer, y: u16| usize::from(y) * usize::from(buffer.area.width);
        // What row `y` would cost, were `from` there (a blank row if `None`).
        let cost = |from: Option<u16>, y: u16| -> i64 {
            let is = &wanted.content[row(wanted, y)..][..width];
            match from {
                Some(from) => bytes(shown.content[row(shown, from)..][..width].iter().zip(is)),
                None => bytes(std::iter::repeat(&blank).zip(is)),
            }
        };
        let in_place: Vec<i64> = (0..height).map(|y| cost(Some(y), y)).collect();
        let anew: Vec<i64> = (0..height).map(|y| cost(None, y)).collect();
        let mut best: Option<(i64, Self)> = None;
        for by in 1..=FARTHEST.min(height.saturating_sub(1)) {
            for up in [true, false] {
                // What each row would gain; the run of rows that gains most is the region.
                let (mut start, mut sum) = (0, 0);
                for y in 0..height - by {
                    let (from, to) = if up { (y + by, y) } else { (y, y + by) };
                    let gain = in_place[usize::from(to)] - cost(Some(from), to);
                    if sum <= 0 {
                        (start, sum) = (y, 0);
                    }
                    sum += gain;
                    let rows = (start, y + by + 1);
                    // These become blank.
                    let emptied = if up { y + 1..y + by + 1 } else { start..start + by };
                    let lost: i64 = emptied.map(usize::from).map(|y| anew[y] - in_place[y]).sum();
                    let gain = sum - lost;
                    if gain > best.as_ref().map_or(0, |(most, _)| *most) {
                        best = Some((gain, Self { rows, by, up }));
                    }
                }
            }
        }
        best.map(|(_, moved)| moved)
    }

    /// The rows of the region.
    pub(super) fn rows(&self) -> Range<usize> {
        self.rows.0.into()..self.rows.1.into()
    }

    pub(super) fn apply(&self, buffer: &mut Buffer) {
        let width = usize::from(buffer.area.width);
        let (first, end) = (usize::from(self.rows.0) * width, usize::from(self.rows.1) * width);
        let by = usize::from(self.by) * width;
        let region = &mut buffer.content[first..end];
        let room = region.len();
        if self.up {
            region.rotate_left(by);
            region[room - by..].fill(Cell::default());
        } else {
            region.rotate_right(by);
            region[..by].fill(Cell::default());
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> io::Result<()> {
        let (first, last) = (self.rows.0 + 1, self.rows.1);
        let way = if self.up { 'M' } else { 'L' };
        write!(out, "\x1b[0m\x1b[{first};{last}r\x1b[{first}H\x1b[{}{way}\x1b[r", self.by)
    }
}

/// About what a row costs in which each first cell is to become the second.
fn bytes<'a>(cells: impl Iterator<Item = (&'a Cell, &'a Cell)>) -> i64 {
    let (mut bytes, mut same) = (0, true);
    for (was, is) in cells {
        if was == is {
            same = true;
            continue;
        }
        bytes += i64::try_from(is.symbol().len()).unwrap_or(i64::MAX);
        if same {
            bytes += JUMP;
        }
        same = false;
    }
    bytes
}
