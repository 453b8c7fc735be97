//! What a program wrote its text with: colours and emphasis that ESC[m selects, reduced to what is
//! safe to show. Nothing can be written so that it is not seen: concealed text is shown, and black,
//! white and greys are left to the terminal's own colours.

/// Colour and emphasis of a piece of text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ink {
    colour: Option<Colour>,
    ground: Option<Colour>,
    emphasis: u8,
}

/// A colour that can be told from the terminal's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Colour {
    Red,
    Green,
    Yellow,
    Blue,
    Magenta,
    Cyan,
}

/// Ways to stress a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emphasis {
    /// Bold.
    Bold = 1,
    /// Faint.
    Faint = 2,
    /// Italic.
    Italic = 4,
    /// Underlined.
    Underlined = 8,
    /// Foreground and background exchanged.
    Reversed = 16,
}

impl Ink {
    /// The text's colour.
    pub fn colour(self) -> Option<Colour> {
        self.colour
    }

    /// The colour of what is behind it.
    pub fn ground(self) -> Option<Colour> {
        self.ground
    }

    /// Whether the text is stressed so.
    pub fn has(self, emphasis: Emphasis) -> bool {
        self.emphasis & emphasis as u8 != 0
    }

    /// Writes the ESC[m that selects it, whatever was selected before.
    pub fn select_by(self, out: &mut String) {
        out.push_str("\x1b[0");
        let all = [(1, 1), (2, 2), (4, 3), (8, 4), (16, 7)];
        for (_, number) in all.into_iter().filter(|(bit, _)| self.emphasis & bit != 0) {
            out.push_str(&format!(";{number}"));
        }
        let colours = [(self.colour, 31), (self.ground, 41)];
        for (colour, first) in colours {
            if let Some(colour) = colour {
                out.push_str(&format!(";{}", first + colour as u8));
            }
        }
        out.push('m');
    }

    /// Takes the parameters of an ESC[m.
    pub fn select(&mut self, parameters: &str) {
        if parameters.starts_with(['<', '=', '>', '?']) {
            return;
        }
        let mut numbers = parameters.split([';', ':']).map(|number| number.parse().unwrap_or(0));
        while let Some(number) = numbers.next() {
            match number {
                0 => *self = Self::default(),
                1 => self.emphasis |= Emphasis::Bold as u8,
                2 => self.emphasis |= Emphasis::Faint as u8,
                3 => self.emphasis |= Emphasis::Italic as u8,
                4 | 21 => self.emphasis |= Emphasis::Underlined as u8,
                7 => self.emphasis |= Emphasis::Reversed as u8,
                22 => self.emphasis &= !(Emphasis::Bold as u8 | Emphasis::Faint as u8),
                23 => self.emphasis &= !(Emphasis::Italic as u8),
                24 => self.emphasis &= !(Emphasis::Underlined as u8),
                27 => self.emphasis &= !(Emphasis::Reversed as u8),
                30..=37 | 90..=97 => self.colour = basic(number % 10),
                40..=47 | 100..=107 => self.ground = basic(number % 10),
                38 => self.colour = extended(&mut numbers),
                48 => self.ground = extended(&mut numbers),
                39 => self.colour = None,
                49 => self.ground = None,
                _ => {}
            }
        }
    }
}

/// One of eight colours, if it can be told from the terminal's own.
fn basic(number: u16) -> Option<Colour> {
    match number {
        1 => Some(Colour::Red),
        2 => Some(Colour::Green),
        3 => Some(Colour::Yellow),
        4 => Some(Colour::Blue),
        5 => Some(Colour::Magenta),
        6 => Some(Colour::Cyan),
        _ => None,
    }
}

/// A colour of 256, or of red, green and blue.
fn extended(numbers: &mut impl Iterator<Item = u16>) -> Option<Colour> {
    match numbers.next()? {
        5 => match numbers.next()? {
            number @ 0..16 => basic(number % 8),
            number @ 16..232 => {
                let cube = number - 16;
                let level = |step: u16| if step == 0 { 0 } else { 55 + 40 * step };
                nearest(level(cube / 36), level(cube / 6 % 6), level(cube % 6))
            }
            _ => None,
        },
        2 => nearest(numbers.next()?, numbers.next()?, numbers.next()?),
        _ => None,
    }
}

/// The basic colour that a mixture looks most like; none for a grey.
fn nearest(red: u16, green: u16, blue: u16) -> Option<Colour> {
    let (most, least) = (red.max(green).max(blue), red.min(green).min(blue));
    if most.saturating_sub(least) < 40 {
        return None;
    }
    let middle = least + (most - least) / 2;
    let bit = |part: u16, bit: u16| if part > middle { bit } else { 0 };
    basic(bit(red, 1) + bit(green, 2) + bit(blue, 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ink(parameters: &str) -> Ink {
        let mut ink = Ink::default();
        ink.select(parameters);
        ink
    }

    #[test]
    fn colours_are_reduced_to_six() {
        for (parameters, colour) in [
            ("31", Some(Colour::Red)),
            ("1;96", Some(Colour::Cyan)),
            ("38;5;9", Some(Colour::Red)),
            ("38;5;208", Some(Colour::Yellow)),
            ("38:2:10:200:30", Some(Colour::Green)),
            ("38;2;128;128;120", None),
            ("30", None),
            ("97", None),
            ("31;39", None),
            ("31;0", None),
            ("?31", None),
        ] {
            assert_eq!(ink(parameters).colour, colour, "{parameters}");
        }
    }

    #[test]
    fn emphasis_comes_and_goes() {
        assert!(ink("1;3").has(Emphasis::Bold) && ink("1;3").has(Emphasis::Italic));
        assert!(!ink("1;2;22").has(Emphasis::Bold) && !ink("7;27").has(Emphasis::Reversed));
        assert_eq!(ink("8"), Ink::default());
        assert_eq!(ink("99999999999;;"), Ink::default());
        assert_eq!(ink("41").ground, Some(Colour::Red));
    }
}
