//! What a frame comes to in bytes: from what the terminal shows to what it should show, with as few
//! as is simple. Rows that moved are moved by the terminal, blanks are erased, and what is as it was
//! is not written again.
//!
//! Pure: what is done with the bytes is `terminal`'s matter.

use std::io::{self, Write as _};

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect, Size};
use unicode_width::UnicodeWidthStr as _;

use super::moved::Moved;
use super::pen;

/// Bytes from which on it is worth looking whether rows have moved.
const MANY: usize = 300;
/// Bytes from which on a terminal is asked to show a frame at once (CSI ? 2026). Terminals that do
/// not know it pass over it; a key's echo is too small to be seen half done.
const AT_ONCE: usize = 512;

/// A drawing surface whose frames are bytes.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    /// What the terminal shows.
    shown: Buffer,
    /// What it should show; between two frames, of no use.
    wanted: Buffer,
    /// Where the terminal's cursor is; `None` if it is hidden.
    cursor: Option<Position>,
    /// Whether `shown` is known to be true.
    known: bool,
    /// The bytes of the newest frame.
    bytes: Vec<u8>,
}

impl Canvas {
    /// Nobody knows what the terminal shows: the next frame is written whole.
    pub(super) fn forget(&mut self) {
        self.known = false;
    }

    /// What leads a terminal of this size to the next frame. It is drawn on an empty buffer, and
    /// says where the cursor belongs.
    pub(super) fn frame(
        &mut self,
        size: Size,
        draw: impl FnOnce(&mut Buffer) -> Option<Position>,
    ) -> io::Result<&[u8]> {
        let area = Rect::from((Position::ORIGIN, size));
        if self.wanted.area == area {
            self.wanted.reset();
        } else {
            self.wanted = Buffer::empty(area);
        }
        let cursor = draw(&mut self.wanted);
        self.bytes.clear();
        if self.known && self.shown.area == area {
            self.change()?;
        } else {
            self.known = true;
            self.shown = Buffer::empty(area);
            self.cursor = None;
            self.bytes.extend_from_slice(b"\x1b[0m\x1b[?25l\x1b[2J");
            let rows = changed(&self.shown, &self.wanted);
            settle(&mut self.wanted, rows.iter().copied());
            paint(&self.shown, &self.wanted, &rows, &mut self.bytes)?;
            self.show(&rows);
        }
        self.place(cursor)?;
        if self.bytes.len() > AT_ONCE {
            self.bytes.splice(..0, *b"\x1b[?2026h");
            self.bytes.extend_from_slice(b"\x1b[?2026l");
        }
        Ok(&self.bytes)
    }

    /// Writes what differs, or moves rows first if that is shorter.
    fn change(&mut self) -> io::Result<()> {
        let mut rows = changed(&self.shown, &self.wanted);
        settle(&mut self.wanted, rows.iter().copied());
        paint(&self.shown, &self.wanted, &rows, &mut self.bytes)?;
        if self.bytes.len() > MANY {
            // Rows that did not change are compared with others as well.
            let others = (0..self.shown.area.height).filter(|y| rows.binary_search(y).is_err());
            settle(&mut self.wanted, others);
            if let Some(moved) = Moved::find(&self.shown, &self.wanted) {
                let mut bytes = Vec::new();
                moved.write(&mut bytes)?;
                moved.apply(&mut self.shown);
                rows = changed(&self.shown, &self.wanted);
                paint(&self.shown, &self.wanted, &rows, &mut bytes)?;
                if bytes.len() < self.bytes.len() {
                    self.bytes = bytes;
                }
            }
        }
        self.show(&rows);
        Ok(())
    }

    /// The terminal shows these rows as they are wanted.
    fn show(&mut self, rows: &[u16]) {
        let width = usize::from(self.shown.area.width);
        for y in rows.iter().copied().map(usize::from) {
            let row = y * width..(y + 1) * width;
            self.shown.content[row.clone()].swap_with_slice(&mut self.wanted.content[row]);
        }
    }

    fn place(&mut self, cursor: Option<Position>) -> io::Result<()> {
        match (self.cursor, cursor) {
            (Some(_), None) => self.bytes.extend_from_slice(b"\x1b[?25l"),
            (before, Some(at)) => {
                if !self.bytes.is_empty() || before != Some(at) {
                    write!(self.bytes, "\x1b[{};{}H", at.y + 1, at.x + 1)?;
                }
                if before.is_none() {
                    self.bytes.extend_from_slice(b"\x1b[?25h");
                }
            }
            (None, None) => {}
        }
        self.cursor = cursor;
        Ok(())
    }
}

/// The rows that look otherwise than what is shown.
fn changed(shown: &Buffer, wanted: &Buffer) -> Vec<u16> {
    let width = usize::from(wanted.area.width).max(1);
    let rows = shown.content.chunks(width).zip(wanted.content.chunks(width));
    let differs =
        |(was, is): (&[Cell], &[Cell])| was.iter().zip(is).any(|(was, is)| !pen::looks_as(is, was));
    (0u16..).zip(rows).filter_map(|(y, row)| differs(row).then_some(y)).collect()
}

/// Makes cells that look the same the same, in these rows.
fn settle(buffer: &mut Buffer, rows: impl IntoIterator<Item = u16>) {
    let width = usize::from(buffer.area.width);
    for y in rows.into_iter().map(usize::from) {
        settle_row(&mut buffer.content[y * width..(y + 1) * width]);
    }
}

/// Makes cells that look the same the same. Nothing stands behind the second half of a wide character.
fn settle_row(row: &mut [Cell]) {
    let mut hidden = 0;
    for cell in row {
        if hidden > 0 {
            hidden -= 1;
            cell.reset();
        } else {
            hidden = columns(cell) - 1;
            pen::settle(cell);
        }
    }
}

/// What makes the terminal show the second, if it shows the first and they differ in these rows.
fn paint(shown: &Buffer, wanted: &Buffer, rows: &[u16], out: &mut Vec<u8>) -> io::Result<()> {
    let width = usize::from(wanted.area.width);
    let mut writer = pen::Writer::new(wanted, out);
    let mut differences = Vec::new();
    for y in rows {
        let row = usize::from(*y) * width..(usize::from(*y) + 1) * width;
        differences.clear();
        compare(&shown.content[row.clone()], &wanted.content[row], &mut differences);
        writer.row(*y, &differences)?;
    }
    writer.end();
    Ok(())
}

/// The cells of a row that are to be written. Whoever overwrites a half of a wide character leaves
/// the other half to the terminal's taste, so that is written too (ratatui's own comparison leaves it
/// out); and so is what stands where a terminal may draw more than its room.
fn compare<'a>(was: &[Cell], is: &'a [Cell], differences: &mut Vec<(u16, &'a Cell)>) {
    // Up to here nobody knows what the row holds.
    let mut unknown = 0;
    let mut x = 0;
    while x < is.len() {
        if x >= unknown && pen::looks_as(&is[x], &was[x]) {
            x += 1;
            continue;
        }
        let width = columns(&is[x]);
        let covered = x..(x + width).min(is.len());
        let reach = covered.map(|place| place + columns(&was[place])).max();
        unknown = unknown.max(reach.unwrap_or(0)).max(x + pen::widest(&is[x]));
        differences.push((u16::try_from(x).unwrap_or(u16::MAX), &is[x]));
        x += width;
    }
}

/// How many columns a cell's text takes.
pub(super) fn columns(cell: &Cell) -> usize {
    match cell.symbol() {
        short if short.len() == 1 => 1,
        text => text.width().max(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ratatui::style::{Color, Modifier, Style};
    use unicode_width::UnicodeWidthChar as _;

    const SIZE: Size = Size { width: 40, height: 12 };

    /// What a terminal shows that gets the frames one after the other.
    struct Shown {
        canvas: Canvas,
        emulator: vt100::Parser,
    }

    impl Shown {
        fn new() -> Self {
            Self {
                canvas: Canvas::default(),
                emulator: vt100::Parser::new(SIZE.height, SIZE.width, 0),
            }
        }

        /// Returns how many bytes the frame took.
        fn frame(&mut self, rows: &[(String, Style)]) -> usize {
            let draw = |buffer: &mut Buffer| {
                for (y, (row, style)) in (0u16..).zip(rows).take(SIZE.height.into()) {
                    buffer.set_string(1, y, row, *style);
                }
                None
            };
            let bytes = self.canvas.frame(SIZE, draw).unwrap();
            self.emulator.process(bytes);
            bytes.len()
        }

        fn cells(&self) -> Vec<String> {
            let screen = self.emulator.screen();
            let cell = |y, x| {
                let cell = screen.cell(y, x).unwrap();
                // Of a blank only what is behind it shows.
                let (bg, lined) = (cell.bgcolor(), (cell.inverse(), cell.underline()));
                let written = (cell.fgcolor(), cell.bold(), cell.dim(), cell.italic());
                match cell.contents().trim() {
                    _ if cell.is_wide_continuation() => "half".to_owned(),
                    "" => format!("{bg:?} {lined:?}"),
                    text => format!("{text} {bg:?} {lined:?} {written:?}"),
                }
            };
            (0..SIZE.height).flat_map(|y| (0..SIZE.width).map(move |x| cell(y, x))).collect()
        }
    }

    fn row() -> impl Strategy<Value = (String, Style)> {
        let text = prop_oneof![
            3 => "[a-z ]{0,38}",
            1 => "[a中 ]{0,19}",
            1 => Just(String::new()),
            1 => Just("│          │        x         │".to_owned()),
        ];
        let style = prop_oneof![
            Just(Style::new()),
            Just(Style::new().fg(Color::LightCyan)),
            Just(Style::new().bg(Color::Indexed(52)).add_modifier(Modifier::BOLD)),
            Just(Style::new().fg(Color::LightCyan).add_modifier(Modifier::DIM)),
            Just(Style::new().add_modifier(Modifier::BOLD | Modifier::DIM)),
            Just(Style::new().add_modifier(Modifier::ITALIC | Modifier::UNDERLINED)),
            Just(Style::new().fg(Color::Rgb(1, 2, 3)).add_modifier(Modifier::REVERSED)),
        ];
        (text, style)
    }

    fn rows() -> impl Strategy<Value = Vec<(String, Style)>> {
        proptest::collection::vec(row(), 12)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Whatever came before, a frame leaves what it would leave on an empty screen.
        #[test]
        fn a_frame_shows_the_same_whatever_was_shown(
            all in proptest::collection::vec((rows(), -3i32..=3), 1..6),
        ) {
            let mut shown = Shown::new();
            let mut last: Vec<(String, Style)> = Vec::new();
            for (rows, moved) in all {
                // Now and then the same rows, elsewhere.
                let rows = match usize::try_from(moved) {
                    Ok(by @ 1..) if last.len() > by => [&last[by..], &rows[..by]].concat(),
                    Err(_) if last.len() > 3 => [&rows[..2], &last[..10]].concat(),
                    _ => rows,
                };
                shown.frame(&rows);
                last = rows;
                let mut anew = Shown::new();
                anew.frame(&last);
                let (is, wanted) = (shown.cells(), anew.cells());
                let differs = (0..is.len()).find(|at| is[*at] != wanted[*at]);
                let at = differs.map(|at| (at / 40, at % 40, &is[at], &wanted[at]));
                prop_assert_eq!(at, None);
            }
        }
    }

    /// What a terminal makes of a character about which they do not agree.
    type Taste = fn(char) -> &'static str;

    /// Each character by itself: in the least room, and in the most, marks too.
    const TASTES: [Taste; 2] = [
        |c| if c.width() == Some(0) { "" } else { "?" },
        |c| if c.width() == Some(0) { "?" } else { "宽" },
    ];

    fn drawn(bytes: &[u8], taste: Taste) -> String {
        let drawn = |c: char| match pen::is_agreed(c) && c.width() != Some(0) {
            true => c.to_string(),
            false if c.is_control() => c.to_string(),
            false => taste(c).to_owned(),
        };
        std::str::from_utf8(bytes).unwrap().chars().map(drawn).collect()
    }

    fn contested() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            4 => prop::sample::select(vec![
                "👨\u{200d}👩\u{200d}👧", "🇩🇪", "☁\u{fe0f}", "❤\u{fe0e}", "नि", "क्षि", "กำ", "ที่", "e\u{301}", "👍🏽",
                "✓", "▶", "\u{1fae9}", "سلام", "1\u{fe0f}\u{20e3}",
            ])
            .prop_map(str::to_owned),
            3 => "[a-z ]{1,6}",
            1 => Just("中".to_owned()),
            1 => Just("│".to_owned()),
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// However wide a terminal draws what is drawn as one, all else stands in its column.
        #[test]
        fn nothing_drifts_beside_what_terminals_disagree_about(
            all in prop::collection::vec(prop::collection::vec(contested(), 12), 1..4),
        ) {
            let mut canvas = Canvas::default();
            let emulator = || vt100::Parser::new(SIZE.height, SIZE.width, 0);
            let (mut own, mut others) = (emulator(), TASTES.map(|taste| (taste, emulator())));
            for rows in all {
                let draw = |buffer: &mut Buffer| {
                    for (y, row) in (0u16..).zip(&rows) {
                        buffer.set_stringn(0, y, row, 40, Style::new());
                    }
                    None
                };
                let bytes = canvas.frame(SIZE, draw).unwrap();
                own.process(bytes);
                for (taste, other) in &mut others {
                    other.process(drawn(bytes, *taste).as_bytes());
                }
                let wanted = &canvas.shown;
                let mut taken = 0;
                for (at, cell) in wanted.content.iter().enumerate() {
                    let (y, x) = (u16::try_from(at / 40).unwrap(), u16::try_from(at % 40).unwrap());
                    let symbol = cell.symbol();
                    let columns = columns(cell);
                    if at < taken || !pen::is_sure(cell) {
                        taken = taken.max(at + columns);
                        continue;
                    }
                    taken = at + columns;
                    for screen in others.iter().map(|(_, other)| other).chain([&own]) {
                        let shown = screen.screen().cell(y, x).unwrap().contents();
                        prop_assert_eq!(shown.trim(), symbol.trim(), "{}, {} of {:?}", x, y, rows);
                    }
                }
            }
        }
    }

    #[test]
    fn at_the_edge_nothing_is_drawn_into_the_next_row() {
        let mut shown = Shown::new();
        shown.frame(&[(format!("{}👨\u{200d}👩\u{200d}👧", " ".repeat(37)), Style::new())]);
        let bytes = String::from_utf8(shown.canvas.bytes.clone()).unwrap();
        assert!(bytes.contains("\x1b[?7l👨\u{200d}👩\u{200d}👧\x1b[?7h"), "{bytes:?}");
    }

    #[test]
    fn what_did_not_change_costs_nothing_and_a_letter_a_few_bytes() {
        let mut shown = Shown::new();
        let mut rows = vec![("some words".to_owned(), Style::new()); 12];
        shown.frame(&rows);
        assert_eq!(shown.frame(&rows), 0);
        rows[3].0.push('x');
        assert!(shown.frame(&rows) < 20);
    }

    #[test]
    fn a_short_gap_is_written_and_a_blank_has_no_colour() {
        let mut shown = Shown::new();
        let plain = Style::new();
        let row = |text: &str, style| (0..12).map(|_| (text.to_owned(), style)).collect::<Vec<_>>();
        shown.frame(&row("aaa bbb ccc", plain));
        shown.frame(&row("xxx yyy zzz", plain));
        assert!(!shown.canvas.bytes.contains(&b'C'), "no jump over one blank");
        let mut coloured = Shown::new();
        coloured.frame(&row("x", plain.fg(Color::Cyan)));
        assert_eq!(coloured.frame(&row("x   ", plain.fg(Color::Cyan))), 0);
    }

    #[test]
    fn rows_that_move_are_not_written_again() {
        let mut shown = Shown::new();
        let line = |n: usize| (format!("{n} {}", "word ".repeat(7)), Style::new());
        shown.frame(&(0..12).map(line).collect::<Vec<_>>());
        let bytes = shown.frame(&(1..13).map(line).collect::<Vec<_>>());
        assert!(bytes < 160, "{bytes}");
        assert!(shown.emulator.screen().contents().contains("12 word"));
    }
}
