//! Rows that stand elsewhere than in the frame before: the terminal can move them itself.

use std::hash::{Hash as _, Hasher};
use std::io::{self, Write as _};

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
        let (was, is) = (numbers(shown), numbers(wanted));
        let width = usize::from(wanted.area.width);
        let row = |y: u16| usize::from(y) * width..(usize::from(y) + 1) * width;
        let blank = vec![number(&Cell::EMPTY); width];
        let rows = 0..wanted.area.height;
        let in_place: Vec<i64> = rows.clone().map(|y| bytes(&was[row(y)], &is[row(y)])).collect();
        let anew: Vec<i64> = rows.clone().map(|y| bytes(&blank, &is[row(y)])).collect();
        let mut best: Option<(i64, Self)> = None;
        for by in 1..=FARTHEST.min(rows.end.saturating_sub(1)) {
            for up in [true, false] {
                // What each row would gain; the run of rows that gains most is the region.
                let (mut start, mut sum) = (0, 0);
                for y in 0..rows.end - by {
                    let (from, to) = if up { (y + by, y) } else { (y, y + by) };
                    let gain = in_place[usize::from(to)] - bytes(&was[row(from)], &is[row(to)]);
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
fn bytes(was: &[u64], is: &[u64]) -> i64 {
    let (mut bytes, mut same) = (0, true);
    for (was, is) in was.iter().zip(is) {
        let differs = was != is;
        if differs {
            bytes += i64::from((is & LENGTH) as u8) + if same { JUMP } else { 0 };
        }
        same = !differs;
    }
    bytes
}

/// Where a cell's number holds how many bytes its text takes.
const LENGTH: u64 = 0xff;

/// Each cell as a number: every row is compared with many others.
fn numbers(buffer: &Buffer) -> Vec<u64> {
    buffer.content.iter().map(number).collect()
}

/// Cells that are the same have the same, others hardly ever.
fn number(cell: &Cell) -> u64 {
    let mut mixed = Mixed(0);
    cell.hash(&mut mixed);
    mixed.0 & !LENGTH | (cell.symbol().len() as u64).min(LENGTH)
}

/// Mixes a few small numbers quickly.
struct Mixed(u64);

impl Mixed {
    fn mix(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for Mixed {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.mix(u64::from(*byte));
        }
    }

    fn write_u8(&mut self, number: u8) {
        self.mix(u64::from(number));
    }

    fn write_u16(&mut self, number: u16) {
        self.mix(u64::from(number));
    }

    /// Which one of an enum's a value is.
    fn write_isize(&mut self, number: isize) {
        self.mix(number.cast_unsigned() as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
