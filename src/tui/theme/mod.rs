//! Every colour and emphasis of the screen, by what it means: the roles, and the theme that says how
//! each looks. How a theme is written is `read`'s; which one is in force is `app`'s.
//!
//! A meaning never hangs on colour alone: each has a mark, a word or a shape beside it.

mod colour;
mod read;
#[cfg(test)]
mod tests;

use ratatui::style::{Modifier, Style};

use crate::text::{Colour, Emphasis, Ink};

pub use read::ThemeError;

/// The themes that need no file, the default first.
pub const BUILT_IN: [(&str, &str); 5] = [
    ("dark", include_str!("../../../assets/themes/dark.toml")),
    ("light", include_str!("../../../assets/themes/light.toml")),
    ("high-contrast", include_str!("../../../assets/themes/high-contrast.toml")),
    ("ansi", include_str!("../../../assets/themes/ansi.toml")),
    ("none", include_str!("../../../assets/themes/none.toml")),
];

/// Writes the roles from one list, so that no theme can leave one out.
macro_rules! roles {
    ($($(#[$doc:meta])* $look:ident = $name:literal,)+) => {
        /// What a piece of text is.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub(super) enum Look {
            $($(#[$doc])* $look,)+
            /// Written by a command, with this ink.
            Printed(Ink),
        }

        impl Look {
            /// All, as they are called in a theme.
            const ALL: &[(&str, Self)] = &[$(($name, Self::$look),)+];

            /// Its place in a theme; that of ordinary text for what a theme cannot name.
            fn place(self) -> usize {
                enum Place {
                    $($look,)+
                }
                match self {
                    $(Self::$look => Place::$look as usize,)+
                    Self::Printed(_) => Place::Text as usize,
                }
            }
        }
    };
}

roles! {
    /// Ordinary text.
    #[default]
    Text = "text",
    /// Of less weight.
    Dim = "dim",
    /// Of more weight.
    Strong = "strong",
    /// The user's name above a prompt.
    You = "you",
    /// The model's name above a reply.
    Model = "model",
    /// Code in a text, or a code block in a language that is not known.
    Code = "code",
    /// A heading.
    Heading = "heading",
    /// Words that the writer stressed.
    Emphasis = "emphasis",
    /// Words that the writer stressed twice over.
    StrongEmphasis = "strong-emphasis",
    /// Words that the writer took back.
    Struck = "struck",
    /// The text of a link.
    Link = "link",
    /// In code: a word of the language.
    Keyword = "keyword",
    /// In code: a text.
    Literal = "literal",
    /// In code: a remark.
    Comment = "comment",
    /// In code: a number, or another constant.
    Number = "number",
    /// In code: the name of something that is called.
    Function = "function",
    /// In code: the name of a type.
    Type = "type",
    /// Went well.
    Good = "good",
    /// Is under way.
    Busy = "busy",
    /// Worth a look.
    Warning = "warning",
    /// Went wrong, or does harm.
    Bad = "bad",
    /// The mark of `--yolo`.
    Yolo = "yolo",
    /// A character that cannot be seen, spelled out.
    Hidden = "hidden",
    /// A pane's border.
    Border = "border",
    /// The title of the pane that has the focus.
    Focus = "focus",
    /// The border of the approval panel; nothing else has it.
    Panel = "panel",
    /// A key in the footer and in the help.
    Key = "key",
    /// The selected row.
    Selected = "selected",
    /// What a search found.
    Found = "found",
    /// The match that a search is at.
    FoundHere = "found-here",
    /// Written by a command in this colour; so are the next five.
    Red = "red",
    Green = "green",
    Yellow = "yellow",
    Blue = "blue",
    Magenta = "magenta",
    Cyan = "cyan",
}

/// How each role looks.
#[derive(Debug, Clone, PartialEq)]
pub struct Theme {
    /// What it is called.
    pub name: String,
    styles: Box<[Style; Look::ALL.len()]>,
}

impl Theme {
    /// Reads a theme that is written in TOML. `exact` says whether the terminal shows any mixture of
    /// colours, or only the 256 that all know.
    ///
    /// # Errors
    /// The first line that is not understood, and how it is put right.
    pub fn read(name: &str, text: &str, exact: bool) -> Result<Self, ThemeError> {
        read::read(name, text, exact)
    }

    pub(super) fn style(&self, look: Look) -> Style {
        match look {
            Look::Printed(ink) => self.printed(ink),
            named => self.styles[named.place()],
        }
    }

    /// What a command wrote. A ground is shown as the colour that is exchanged with the background,
    /// so that text stays readable on it.
    fn printed(&self, ink: Ink) -> Style {
        let look = ink.ground().or(ink.colour()).map(|colour| match colour {
            Colour::Red => Look::Red,
            Colour::Green => Look::Green,
            Colour::Yellow => Look::Yellow,
            Colour::Blue => Look::Blue,
            Colour::Magenta => Look::Magenta,
            Colour::Cyan => Look::Cyan,
        });
        let mut style = look.map_or_else(Style::new, |look| self.style(look));
        for (emphasis, modifier) in [
            (Emphasis::Bold, Modifier::BOLD),
            (Emphasis::Faint, Modifier::DIM),
            (Emphasis::Italic, Modifier::ITALIC),
            (Emphasis::Underlined, Modifier::UNDERLINED),
            (Emphasis::Reversed, Modifier::REVERSED),
        ] {
            if ink.has(emphasis) {
                style = style.add_modifier(modifier);
            }
        }
        if ink.ground().is_some() { style.add_modifier(Modifier::REVERSED) } else { style }
    }
}
