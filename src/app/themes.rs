//! Which theme: what was asked for, and else what suits the terminal. Reads the user's own, which
//! come before built-in ones of the same name. How a theme is written is `tui`'s.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::tui::{BUILT_IN_THEMES, Theme};

/// The theme of a terminal that is to show no colours.
const NONE: &str = "none";

/// The themes there are, and what is known of the terminal without asking it.
#[derive(Debug)]
pub(super) struct Themes {
    directory: Option<PathBuf>,
    /// `NO_COLOR` is set.
    without_colour: bool,
    /// What suits the terminal.
    suited: &'static str,
    /// Whether it shows any mixture of colours.
    exact: bool,
}

impl Themes {
    /// Looks at `NO_COLOR`, `COLORFGBG`, `COLORTERM` and `TERM`.
    pub(super) fn new(
        directory: Option<PathBuf>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let set = |name| variable(name).filter(|value| !value.is_empty());
        let colours = set("COLORTERM");
        let few = colours.is_none() && set("TERM").is_none_or(|term| has_few_colours(&term));
        let suited = match set("COLORFGBG") {
            _ if few => "ansi",
            Some(colours) if is_light(&colours) => "light",
            _ => "dark",
        };
        Self {
            directory,
            without_colour: set("NO_COLOR").is_some(),
            suited,
            exact: colours.is_some_and(|colours| ["truecolor", "24bit"].contains(&&*colours)),
        }
    }

    /// The theme to begin with.
    ///
    /// # Errors
    /// Why the one that was asked for cannot be had.
    pub(super) fn first(&self, asked: Option<&str>) -> Result<Theme, String> {
        let name = if self.without_colour { NONE } else { asked.unwrap_or(self.suited) };
        self.read(name)
    }

    /// The theme of this name.
    ///
    /// # Errors
    /// Why it cannot be had, and what to do.
    pub(super) fn read(&self, name: &str) -> Result<Theme, String> {
        if self.without_colour && name != NONE {
            return Err(format!(
                "NO_COLOR is set, so the theme stays {NONE}. To have {name}, start limpid without \
                 that variable."
            ));
        }
        if let Some(path) = self.file(name) {
            match fs::read_to_string(&path) {
                Ok(text) => {
                    let theme = Theme::read(name, &text, self.exact);
                    return theme.map_err(|error| format!("{}:{error}", path.display()));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    return Err(format!(
                        "{} cannot be read: {error}. Make it readable, or choose another theme",
                        path.display()
                    ));
                }
            }
        }
        match BUILT_IN_THEMES.iter().find(|(known, _)| *known == name) {
            Some((name, text)) => {
                Theme::read(name, text, self.exact).map_err(|error| format!("{name}:{error}"))
            }
            None => {
                let place = match &self.directory {
                    Some(directory) => format!(", and none of your own in {}", directory.display()),
                    None => String::new(),
                };
                let names = self.names().join(", ");
                Err(format!("there is no theme \"{name}\"{place}. There are: {names}"))
            }
        }
    }

    /// Names of all: the built-in ones, then the user's own.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            BUILT_IN_THEMES.iter().map(|(name, _)| (*name).to_owned()).collect();
        let files = self.directory.as_ref().and_then(|directory| fs::read_dir(directory).ok());
        let mut own: Vec<String> = files
            .into_iter()
            .flatten()
            .filter_map(|file| {
                let name = file.ok()?.file_name().into_string().ok()?;
                Some(name.strip_suffix(".toml").filter(|name| is_name(name))?.to_owned())
            })
            .filter(|name| !names.contains(name))
            .collect();
        own.sort();
        names.extend(own);
        names
    }

    /// Where a theme of this name would be; no name leads out of the directory.
    fn file(&self, name: &str) -> Option<PathBuf> {
        let directory = self.directory.as_ref().filter(|_| is_name(name))?;
        Some(directory.join(format!("{name}.toml")))
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_')
}

/// Whether a terminal that says nothing else of its colours has eight or sixteen of them.
fn has_few_colours(term: &str) -> bool {
    const MANY: [&str; 11] = [
        "256color",
        "direct",
        "kitty",
        "alacritty",
        "foot",
        "wezterm",
        "ghostty",
        "iterm",
        "rio",
        "contour",
        "mlterm",
    ];
    !MANY.iter().any(|known| term.contains(known))
}

/// Whether `COLORFGBG` (text;background) names a light background.
fn is_light(colours: &str) -> bool {
    let background = colours.rsplit(';').next().and_then(|number| number.parse::<u8>().ok());
    background.is_some_and(|number| matches!(number, 7 | 9..=15))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn first(variables: &[(&str, &str)], asked: Option<&str>) -> String {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Themes::new(None, variable).first(asked).unwrap().name
    }

    #[test]
    fn the_terminal_suggests_a_theme_and_the_user_chooses() {
        let many = ("TERM", "xterm-256color");
        for (variables, asked, name) in [
            (&[many][..], None, "dark"),
            (&[many, ("COLORFGBG", "15;0")], None, "dark"),
            (&[many, ("COLORFGBG", "0;15")], None, "light"),
            (&[many, ("COLORFGBG", "0;default;7")], None, "light"),
            (&[many, ("COLORFGBG", "default;default")], None, "dark"),
            (&[many, ("COLORFGBG", "0;15")], Some("dark"), "dark"),
            (&[("TERM", "xterm")], None, "ansi"),
            (&[("TERM", "linux"), ("COLORFGBG", "0;15")], None, "ansi"),
            (&[("TERM", "screen")], Some("high-contrast"), "high-contrast"),
            (&[("TERM", "xterm"), ("COLORTERM", "truecolor")], None, "dark"),
            (&[("TERM", "xterm-kitty")], None, "dark"),
            (&[many, ("NO_COLOR", "1")], None, "none"),
            (&[many, ("NO_COLOR", "1")], Some("light"), "none"),
            (&[many, ("NO_COLOR", "")], None, "dark"),
        ] {
            assert_eq!(first(variables, asked), name, "{variables:?} {asked:?}");
        }
    }

    #[test]
    fn with_no_color_no_other_theme_can_be_had() {
        let variable = |name: &str| (name == "NO_COLOR").then(|| "1".to_owned());
        let why = Themes::new(None, variable).read("dark").unwrap_err();
        assert!(why.contains("NO_COLOR is set"), "{why}");
    }

    #[test]
    fn a_name_leads_to_no_other_directory() {
        let themes = Themes::new(Some(PathBuf::from("/there")), |_| None);
        assert_eq!(themes.file("own"), Some(PathBuf::from("/there/own.toml")));
        for name in ["../own", "a/b", "", ".", "own.toml"] {
            assert_eq!(themes.file(name), None, "{name}");
        }
    }
}
