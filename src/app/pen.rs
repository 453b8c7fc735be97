//! How cells become bytes: colours are changed, and the cursor is moved, only where it shows.

use std::io::{self, Write as _};

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthChar as _;

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

/// Whether a cell looks as a settled one. Nearly all are compared in every frame: most hold one byte.
pub(super) fn looks_as(cell: &Cell, settled: &Cell) -> bool {
    let text = settled.symbol();
    let same_text = match (cell.symbol().as_bytes(), text.as_bytes()) {
        ([a], [b]) => a == b,
        (a, b) => a == b,
    };
    let is_plain = || settled.fg == Color::Reset && settled.modifier.is_empty();
    same_text
        && cell.bg == settled.bg
        && (cell.fg == settled.fg && cell.modifier == settled.modifier
            || text == " " && is_plain() && !cell.modifier.intersects(ON_BLANKS))
}

fn is_blank(cell: &Cell) -> bool {
    cell.symbol() == " " && cell.fg == Color::Reset && cell.modifier.is_empty()
}

/// Whether terminals agree how wide it is. They do not where several characters are drawn as one
/// (emoji of several, flags, marks above and below letters), nor about symbols: those that are new, and
/// those that are also emoji.
pub(super) fn is_sure(cell: &Cell) -> bool {
    let mut chars = cell.symbol().chars();
    chars.next().is_some_and(is_agreed) && chars.next().is_none()
}

/// Letters, punctuation, what lines are drawn with, and what is written in East Asia.
pub(super) fn is_agreed(c: char) -> bool {
    let is_agreed = matches!(c,
        ' '..='~'
        | '\u{a1}'..='\u{10ff}'
        | '\u{1200}'..='\u{2bff}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff01}'..='\u{ffe6}'
        | '\u{20000}'..='\u{3fffd}');
    is_agreed && !matches!(c, '\u{2190}'..='\u{24ff}' | '\u{25a0}'..='\u{2bff}')
}

/// As many columns as a terminal may take for it.
pub(super) fn widest(cell: &Cell) -> usize {
    if is_sure(cell) {
        return columns(cell);
    }
    let most = |c: char| match c.width() {
        Some(0) | None => 1,
        Some(width) if is_agreed(c) => width,
        Some(_) => 2,
    };
    cell.symbol().chars().map(most).sum::<usize>().max(columns(cell))
}

/// Writes cells of one buffer, from the top left to the bottom right.
pub(super) struct Writer<'a> {
    buffer: &'a Buffer,
    out: &'a mut Vec<u8>,
    pen: Pen,
    /// Where the terminal's cursor is.
    at: Option<(u16, u16)>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(buffer: &'a Buffer, out: &'a mut Vec<u8>) -> Self {
        Self { buffer, out, pen: PLAIN, at: None }
    }

    /// Writes these cells of a row.
    pub(super) fn row(&mut self, y: u16, cells: &[(u16, &Cell)]) -> io::Result<()> {
        let mut rest = cells;
        while let Some(&(x, cell)) = rest.first() {
            self.go(x, y)?;
            let blanks = (x..)
                .zip(rest)
                .take_while(|(x, (column, cell))| {
                    column == x && is_blank(cell) && cell.bg == Color::Reset
                })
                .count();
            self.change(self.pen.for_cell(cell));
            if blanks >= BLANKS {
                write!(self.out, "\x1b[{blanks}X")?;
                self.at = Some((x, y));
                rest = &rest[blanks..];
                continue;
            }
            let columns = columns(cell);
            if is_sure(cell) {
                self.out.extend_from_slice(cell.symbol().as_bytes());
                self.at = Some((x + u16::try_from(columns).unwrap_or(1), y));
            } else {
                // Its room is emptied first, the next one is placed anew, and at the edge it goes no
                // further.
                let spills = usize::from(x) + widest(cell) > usize::from(self.buffer.area.width);
                let (stay, go) = if spills { ("\x1b[?7l", "\x1b[?7h") } else { ("", "") };
                write!(self.out, "\x1b[{columns}X{stay}{}{go}", cell.symbol())?;
                self.at = None;
            }
            rest = &rest[1..];
        }
        Ok(())
    }

    /// Leaves the terminal with the pen that it had.
    pub(super) fn end(mut self) {
        self.change(PLAIN);
    }

    fn go(&mut self, x: u16, y: u16) -> io::Result<()> {
        match self.at {
            Some(here) if here == (x, y) => {}
            Some((from, row)) if row == y && from < x => {
                let between = || (from..x).map(|x| &self.buffer[(x, y)]);
                let plain = |cell: &Cell| {
                    matches!(cell.symbol().as_bytes(), [b' '..=b'~'])
                        && self.pen.for_cell(cell) == self.pen
                };
                if x - from <= BRIDGE && between().all(plain) {
                    self.out.extend(between().flat_map(|cell| cell.symbol().bytes()));
                } else {
                    write!(self.out, "\x1b[{}C", x - from)?;
                }
            }
            _ => write!(self.out, "\x1b[{};{}H", y + 1, x + 1)?,
        }
        Ok(())
    }

    fn change(&mut self, to: Pen) {
        if self.pen == to {
            return;
        }
        let (mut changed, mut anew) = (String::new(), "0;".to_owned());
        codes(self.pen, to, &mut changed);
        codes(PLAIN, to, &mut anew);
        self.pen = to;
        let shorter = if changed.len() < anew.len() { changed } else { anew };
        self.out.extend_from_slice(b"\x1b[");
        self.out.extend_from_slice(shorter.trim_end_matches(';').as_bytes());
        self.out.push(b'm');
    }
}

impl Pen {
    /// This pen, changed as far as the cell needs it.
    fn for_cell(self, cell: &Cell) -> Self {
        if is_blank(cell) && !self.modifier.intersects(ON_BLANKS) {
            return Self { bg: cell.bg, ..self };
        }
        Self { fg: cell.fg, bg: cell.bg, modifier: cell.modifier }
    }
}

/// What leads from one pen to another, each code with a semicolon behind it.
fn codes(from: Pen, to: Pen, out: &mut String) {
    let mut kept = from.modifier;
    for (modifiers, off) in OFF {
        if (from.modifier - to.modifier).intersects(modifiers) {
            out.push_str(off);
            kept -= modifiers;
        }
    }
    // To some terminals these two are one setting, and the later one counts.
    let strength = Modifier::BOLD | Modifier::DIM;
    if from.modifier & strength != to.modifier & strength {
        kept -= strength;
    }
    let added = MODIFIERS.iter().filter(|(modifier, _)| (to.modifier - kept).contains(*modifier));
    out.extend(added.map(|(_, on)| *on));
    if to.fg != from.fg {
        color(to.fg, 30, out);
    }
    if to.bg != from.bg {
        color(to.bg, 40, out);
    }
}

const MODIFIERS: [(Modifier, &str); 9] = [
    (Modifier::BOLD, "1;"),
    (Modifier::DIM, "2;"),
    (Modifier::ITALIC, "3;"),
    (Modifier::UNDERLINED, "4;"),
    (Modifier::SLOW_BLINK, "5;"),
    (Modifier::RAPID_BLINK, "6;"),
    (Modifier::REVERSED, "7;"),
    (Modifier::HIDDEN, "8;"),
    (Modifier::CROSSED_OUT, "9;"),
];

/// What switches them off.
const OFF: [(Modifier, &str); 7] = [
    (Modifier::BOLD.union(Modifier::DIM), "22;"),
    (Modifier::ITALIC, "23;"),
    (Modifier::UNDERLINED, "24;"),
    (Modifier::SLOW_BLINK.union(Modifier::RAPID_BLINK), "25;"),
    (Modifier::REVERSED, "27;"),
    (Modifier::HIDDEN, "28;"),
    (Modifier::CROSSED_OUT, "29;"),
];

/// The code of a colour; `base` is 30 for the text, 40 for what is behind it.
fn color(color: Color, base: u8, out: &mut String) {
    let named = |n: u8| if n < 8 { base + n } else { base + 52 + n };
    let code = match color {
        Color::Reset => base + 9,
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
        Color::Indexed(n) => return *out += &format!("{};5;{n};", base + 8),
        Color::Rgb(r, g, b) => return *out += &format!("{};2;{r};{g};{b};", base + 8),
    };
    *out += &format!("{code};");
}
