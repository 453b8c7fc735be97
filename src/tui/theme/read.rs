//! A theme's TOML → the look of every role. A look is written in words, such as
//! `"#d7d7d7 on #005f87 bold"`. What is not understood is an error with its line; nothing is passed
//! over.

use std::ops::Range;

use ratatui::style::{Color, Modifier, Style};
use toml_edit::{Document, Item};

use super::colour::{self, named};
use super::{BUILT_IN, Look, Theme};

/// Ways to stress a text.
const EMPHASES: [(&str, Modifier); 6] = [
    ("bold", Modifier::BOLD),
    ("faint", Modifier::DIM),
    ("italic", Modifier::ITALIC),
    ("underlined", Modifier::UNDERLINED),
    ("reversed", Modifier::REVERSED),
    ("struck", Modifier::CROSSED_OUT),
];

/// Why a theme cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}: {what}")]
pub struct ThemeError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong and how it is put right.
    pub what: String,
}

/// Reads a theme; what it leaves open, the one named in `base` fills.
pub(super) fn read(name: &str, text: &str, exact: bool) -> Result<Theme, ThemeError> {
    let reader = Reader { text, exact };
    let document = Document::parse(text).map_err(|error| {
        let message = error.message().lines().next().unwrap_or_default().to_owned();
        reader.error(error.span(), &format!("this is not TOML: {message}"))
    })?;
    let table = document.as_table();
    let mut styles: [Option<Style>; Look::ALL.len()] = match table.get("base") {
        Some(item) => (*reader.base(item)?.styles).map(Some),
        None => [None; Look::ALL.len()],
    };
    let mut ground = styles[Look::Text.place()].as_mut().and_then(|style| style.bg.take());
    for (key, item) in table {
        let span = table.key(key).and_then(toml_edit::Key::span);
        let Some(words) = item.as_str() else {
            let what = format!("{key} must be a text in quotes, such as \"#d7d7d7 bold\"");
            return Err(reader.error(span, &what));
        };
        match (key, Look::ALL.iter().find(|(name, _)| *name == key)) {
            ("base", _) => {}
            ("ground", _) => ground = Some(reader.colour(words, item)?),
            (_, Some((_, look))) => styles[look.place()] = Some(reader.style(words, item)?),
            (_, None) => {
                let known: Vec<_> = Look::ALL.iter().map(|(name, _)| *name).collect();
                let known = known.join(", ");
                let what = format!("{key} is not a role. There are: base, ground, {known}");
                return Err(reader.error(span, &what));
            }
        }
    }
    let mut theme =
        Theme { name: name.to_owned(), styles: Box::new([Style::new(); Look::ALL.len()]) };
    for ((name, look), style) in Look::ALL.iter().zip(styles) {
        let Some(style) = style else {
            let what = format!(
                "the role {name} is missing. Name it, or start from another theme in the first \
                 line: base = \"dark\""
            );
            return Err(reader.error(None, &what));
        };
        theme.styles[look.place()] = style;
    }
    let text = &mut theme.styles[Look::Text.place()];
    text.bg = text.bg.or(ground);
    Ok(theme)
}

struct Reader<'a> {
    text: &'a str,
    exact: bool,
}

impl Reader<'_> {
    fn error(&self, span: Option<Range<usize>>, what: &str) -> ThemeError {
        let start = span.map_or(0, |span| span.start).min(self.text.len());
        let line = self.text.get(..start).unwrap_or_default().matches('\n').count() + 1;
        ThemeError { line, what: what.to_owned() }
    }

    fn base(&self, item: &Item) -> Result<Theme, ThemeError> {
        let known =
            item.as_str().and_then(|name| BUILT_IN.iter().find(|(known, _)| *known == name));
        match known {
            Some((name, text)) => read(name, text, self.exact),
            None => {
                let names = BUILT_IN.map(|(name, _)| name).join(", ");
                let what = format!("base must be the name of a built-in theme: {names}");
                Err(self.error(item.span(), &what))
            }
        }
    }

    fn colour(&self, word: &str, item: &Item) -> Result<Color, ThemeError> {
        named(word, self.exact).ok_or_else(|| {
            let names = colour::NAMES.map(|(name, _)| name).join(", ");
            let what = format!("\"{word}\" is not a colour. A colour is #rrggbb or one of {names}");
            self.error(item.span(), &what)
        })
    }

    /// Reads `[COLOUR] [on COLOUR] [EMPHASIS …]`.
    fn style(&self, words: &str, item: &Item) -> Result<Style, ThemeError> {
        let mut style = Style::new();
        let mut words = words.split_whitespace();
        while let Some(word) = words.next() {
            if let Some((_, modifier)) = EMPHASES.iter().find(|(name, _)| *name == word) {
                style = style.add_modifier(*modifier);
            } else if word == "on" {
                style.bg = Some(self.colour(words.next().unwrap_or_default(), item)?);
            } else if style.fg.is_none() {
                let colour = named(word, self.exact).ok_or_else(|| {
                    let emphases = EMPHASES.map(|(name, _)| name).join(", ");
                    let what = format!(
                        "\"{word}\" is neither a colour (such as #d7d7d7 or bright-blue) nor one of \
                         {emphases}, on"
                    );
                    self.error(item.span(), &what)
                })?;
                style.fg = Some(colour);
            } else {
                let what = format!(
                    "there are two colours for the text; the one behind it is written: on {word}"
                );
                return Err(self.error(item.span(), &what));
            }
        }
        if style.bg.is_some() && style.fg.is_none() {
            let what = "a colour behind the text needs one for the text as well, so that it can \
                        be read: \"COLOUR on COLOUR\"";
            return Err(self.error(item.span(), what));
        }
        Ok(style)
    }
}
