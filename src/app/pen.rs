//! How cells become bytes: colours are changed, and the cursor is moved, only where it shows.

use std::io::{self, Write as _};

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use super::canvas::columns;

/// Blanks in a row that are shorter to erase than to write.
const BLANKS: usize = 9;
/// Cells that are shorter to write again than to pass over.
const BRIDGE: u16 = 4;

/// What of a blank shows besides what is behind it.
const ON_BLANKS: Modifier =
    Modifier::UNDERLINED.union(Modifier::REVERSED).union(Modifier::CROSSED_OUT);

/// How the terminal writes at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pen {
    fg: Color,
    bg: Color,
    modifier: Modifier,
}

const PLAIN: Pen = Pen { fg: Color::Reset, bg: Color::Reset, modifier: Modifier::empty() };

/// Takes what cannot be seen from a cell: two that look the same are then the same.
pub(super) fn settle(cell: &mut Cell) {
    if cell.symbol() == " " && !cell.modifier.intersects(ON_BLANKS) {
        cell.fg = Color::Reset;
        cell.modifier = Modifier::empty();
    }
}

fn is_blank(cell: &Cell) -> bool {
    cell.symbol() == " " && cell.fg == Color::Reset && cell.modifier.is_empty()
}

/// Writes cells of this buffer, from the top left to the bottom right.
pub(super) fn write(
    cells: &[(u16, u16, &Cell)],
    buffer: &Buffer,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let mut pen = PLAIN;
    // Where the terminal's cursor is.
    let mut at: Option<(u16, u16)> = None;
    let mut rest = cells;
    while let Some(&(x, y, cell)) = rest.first() {
        match at {
            Some(here) if here == (x, y) => {}
            Some((from, row)) if row == y && from < x => {
                let between = || (from..x).map(|x| &buffer[(x, y)]);
                let plain = |cell: &Cell| {
                    matches!(cell.symbol().as_bytes(), [b' '..=b'~']) && pen.for_cell(cell) == pen
                };
                if x - from <= BRIDGE && between().all(plain) {
                    out.extend(between().flat_map(|cell| cell.symbol().bytes()));
                } else {
                    write!(out, "\x1b[{}C", x - from)?;
                }
            }
            _ => write!(out, "\x1b[{};{}H", y + 1, x + 1)?,
        }
        let blanks = (0u16..)
            .zip(rest)
            .take_while(|(n, (column, row, cell))| {
                (*column, *row) == (x + n, y) && is_blank(cell) && cell.bg == Color::Reset
            })
            .count();
        pen.change(pen.for_cell(cell), out)?;
        if blanks >= BLANKS {
            write!(out, "\x1b[{blanks}X")?;
            at = Some((x, y));
            rest = &rest[blanks..];
            continue;
        }
        // Terminals do not agree how wide these are: their room is emptied first, and the next one is
        // placed anew.
        let sure = cell.symbol().chars().count() == 1;
        let columns = columns(cell);
        if !sure {
            write!(out, "\x1b[{columns}X")?;
        }
        out.extend_from_slice(cell.symbol().as_bytes());
        at = sure.then_some((x + u16::try_from(columns).unwrap_or(1), y));
        rest = &rest[1..];
    }
    pen.change(PLAIN, out)
}

impl Pen {
    /// This pen, changed as far as the cell needs it.
    fn for_cell(self, cell: &Cell) -> Self {
        if is_blank(cell) && !self.modifier.intersects(ON_BLANKS) {
            return Self { bg: cell.bg, ..self };
        }
        Self { fg: cell.fg, bg: cell.bg, modifier: cell.modifier }
    }

    fn change(&mut self, to: Self, out: &mut Vec<u8>) -> io::Result<()> {
        if *self == to {
            return Ok(());
        }
        let anew = [vec!["0".to_owned()], codes(PLAIN, to)].concat().join(";");
        let changed = codes(*self, to).join(";");
        *self = to;
        let shorter = if changed.len() < anew.len() { changed } else { anew };
        write!(out, "\x1b[{shorter}m")
    }
}

/// What leads from one pen to another.
fn codes(from: Pen, to: Pen) -> Vec<String> {
    let mut codes: Vec<String> = Vec::new();
    let mut kept = from.modifier;
    for (modifiers, off) in OFF {
        if (from.modifier - to.modifier).intersects(modifiers) {
            codes.push(off.to_owned());
            kept -= modifiers;
        }
    }
    // To some terminals these two are one setting, and the later one counts.
    let strength = Modifier::BOLD | Modifier::DIM;
    if from.modifier & strength != to.modifier & strength {
        kept -= strength;
    }
    let added = MODIFIERS.iter().filter(|(modifier, _)| (to.modifier - kept).contains(*modifier));
    codes.extend(added.map(|(_, on)| (*on).to_owned()));
    if to.fg != from.fg {
        codes.push(color(to.fg, 30));
    }
    if to.bg != from.bg {
        codes.push(color(to.bg, 40));
    }
    codes
}

const MODIFIERS: [(Modifier, &str); 9] = [
    (Modifier::BOLD, "1"),
    (Modifier::DIM, "2"),
    (Modifier::ITALIC, "3"),
    (Modifier::UNDERLINED, "4"),
    (Modifier::SLOW_BLINK, "5"),
    (Modifier::RAPID_BLINK, "6"),
    (Modifier::REVERSED, "7"),
    (Modifier::HIDDEN, "8"),
    (Modifier::CROSSED_OUT, "9"),
];

/// What switches them off.
const OFF: [(Modifier, &str); 7] = [
    (Modifier::BOLD.union(Modifier::DIM), "22"),
    (Modifier::ITALIC, "23"),
    (Modifier::UNDERLINED, "24"),
    (Modifier::SLOW_BLINK.union(Modifier::RAPID_BLINK), "25"),
    (Modifier::REVERSED, "27"),
    (Modifier::HIDDEN, "28"),
    (Modifier::CROSSED_OUT, "29"),
];

/// The code of a colour; `base` is 30 for the text, 40 for what is behind it.
fn color(color: Color, base: u8) -> String {
    let named = |n: u8| if n < 8 { (base + n).to_string() } else { (base + 52 + n).to_string() };
    match color {
        Color::Reset => (base + 9).to_string(),
        Color::Black => named(0),
        Color::Red => named(1),
        Color::Green => named(2),
        Color::Yellow => named(3),
        Color::Blue => named(4),
        Color::Magenta => named(5),
        Color::Cyan => named(6),
        Color::Gray => named(7),
        Color::DarkGray => named(8),
        Color::LightRed => named(9),
        Color::LightGreen => named(10),
        Color::LightYellow => named(11),
        Color::LightBlue => named(12),
        Color::LightMagenta => named(13),
        Color::LightCyan => named(14),
        Color::White => named(15),
        Color::Indexed(n) => format!("{};5;{n}", base + 8),
        Color::Rgb(r, g, b) => format!("{};2;{r};{g};{b}", base + 8),
    }
}
