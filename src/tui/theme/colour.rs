//! Colours as a theme writes them: sixteen names, which the terminal mixes as it likes, and
//! `#rrggbb`. Of these, the 256 that all terminals have are sent by their number.

use ratatui::style::Color;

/// The steps of red, green and blue in the cube of colours 16 to 231.
const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// Names of the sixteen, and the terminal's own.
pub(super) const NAMES: [(&str, Color); 17] = [
    ("default", Color::Reset),
    ("black", Color::Black),
    ("red", Color::Red),
    ("green", Color::Green),
    ("yellow", Color::Yellow),
    ("blue", Color::Blue),
    ("magenta", Color::Magenta),
    ("cyan", Color::Cyan),
    ("white", Color::Gray),
    ("bright-black", Color::DarkGray),
    ("bright-red", Color::LightRed),
    ("bright-green", Color::LightGreen),
    ("bright-yellow", Color::LightYellow),
    ("bright-blue", Color::LightBlue),
    ("bright-magenta", Color::LightMagenta),
    ("bright-cyan", Color::LightCyan),
    ("bright-white", Color::White),
];

/// The colour that a word names. What is not among the 256 is sent as it is if the terminal shows
/// mixtures exactly, else as the nearest.
pub(super) fn named(word: &str, exact: bool) -> Option<Color> {
    if let Some((_, colour)) = NAMES.iter().find(|(name, _)| *name == word) {
        return Some(*colour);
    }
    let digits = word.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let number = u32::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))?;
    let [_, red, green, blue] = number.to_be_bytes();
    let index = nearest([red, green, blue]);
    let same = mixture(index) == Some([red, green, blue]);
    Some(if same || !exact { Color::Indexed(index) } else { Color::Rgb(red, green, blue) })
}

/// Red, green and blue of a number from 16 up; those below, each terminal mixes as it likes.
pub(super) fn mixture(index: u8) -> Option<[u8; 3]> {
    match index {
        0..16 => None,
        16..232 => {
            let cube = index - 16;
            Some([cube / 36, cube / 6 % 6, cube % 6].map(|step| STEPS[usize::from(step)]))
        }
        232.. => Some([8 + 10 * (index - 232); 3]),
    }
}

/// Of the cube only the colour can be it whose every part is nearest, of the greys any.
fn nearest(colour: [u8; 3]) -> u8 {
    let step = |part: u8| (0u8..6).min_by_key(|step| STEPS[usize::from(*step)].abs_diff(part));
    let [red, green, blue] = colour.map(|part| step(part).unwrap_or(0));
    let distance = |index: &u8| -> u32 {
        let other = mixture(*index).unwrap_or_default();
        colour.iter().zip(other).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
    };
    let of_cube = 16 + 36 * red + 6 * green + blue;
    std::iter::once(of_cube).chain(232..=255).min_by_key(distance).unwrap_or(of_cube)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_other_colour_of_the_256_is_nearer() {
        let distance = |colour: [u8; 3], index: u8| -> u32 {
            let other = mixture(index).unwrap();
            colour.iter().zip(other).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
        };
        let parts = || (0..=255u8).step_by(17).chain([94, 96, 115, 116, 246]);
        for red in parts() {
            for green in parts() {
                for blue in parts() {
                    let colour = [red, green, blue];
                    let least = (16..=255).map(|index| distance(colour, index)).min();
                    assert_eq!(Some(distance(colour, nearest(colour))), least, "{colour:?}");
                }
            }
        }
    }
}
