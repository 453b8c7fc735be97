//! Every colour and emphasis of the screen, by what it means.
//!
//! The terminal's own foreground and background are kept, so that it reads on dark and on light.
//! A meaning never hangs on colour alone: each has a mark, a word or a shape beside it.

use ratatui::style::{Color, Modifier, Style};

use crate::text::{Colour, Emphasis, Ink};

/// What a piece of text is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Look {
    /// Ordinary text.
    #[default]
    Text,
    /// Of less weight.
    Dim,
    /// Of more weight.
    Strong,
    /// The user's name above a prompt.
    You,
    /// The model's name above a reply.
    Model,
    /// Code in a text, or a code block in a language that is not known.
    Code,
    /// A heading.
    Heading,
    /// Words that the writer stressed.
    Emphasis,
    /// Words that the writer stressed twice over.
    StrongEmphasis,
    /// Words that the writer took back.
    Struck,
    /// The text of a link.
    Link,
    /// In code: a word of the language.
    Keyword,
    /// In code: a text.
    Literal,
    /// In code: a remark.
    Comment,
    /// In code: a number, or another constant.
    Number,
    /// In code: the name of something that is called.
    Function,
    /// In code: the name of a type.
    Type,
    /// Went well.
    Good,
    /// Is under way.
    Busy,
    /// Worth a look.
    Warning,
    /// Went wrong, or does harm.
    Bad,
    /// The mark of `--yolo`.
    Yolo,
    /// A character that cannot be seen, spelled out.
    Hidden,
    /// A pane's border.
    Border,
    /// The title of the pane that has the focus.
    Focus,
    /// The border of the approval panel; nothing else has it.
    Panel,
    /// A key in the footer and in the help.
    Key,
    /// Written by a command, with this ink.
    Printed(Ink),
    /// The selected row.
    Selected,
    /// What a search found.
    Found,
    /// The match that a search is at.
    FoundHere,
}

/// Turns looks into styles.
#[derive(Debug, Clone, Copy)]
pub(super) struct Theme {
    /// Whether colours may be used.
    pub(super) colour: bool,
}

impl Theme {
    pub(super) fn style(self, look: Look) -> Style {
        let plain = Style::new();
        let style = match look {
            Look::Text => plain,
            Look::Dim | Look::Border | Look::Comment => plain.add_modifier(Modifier::DIM),
            Look::Strong | Look::Focus => plain.add_modifier(Modifier::BOLD),
            Look::You | Look::Heading => plain.fg(Color::Blue).add_modifier(Modifier::BOLD),
            Look::Model => plain.fg(Color::Green).add_modifier(Modifier::BOLD),
            Look::Code | Look::Key | Look::Type => plain.fg(Color::Cyan),
            Look::Emphasis => plain.add_modifier(Modifier::ITALIC),
            Look::StrongEmphasis => {
                plain.add_modifier(Modifier::BOLD).add_modifier(Modifier::ITALIC)
            }
            Look::Struck => plain.add_modifier(Modifier::CROSSED_OUT),
            Look::Link => plain.fg(Color::Blue).add_modifier(Modifier::UNDERLINED),
            Look::Number => plain.fg(Color::Yellow),
            Look::Function => plain.fg(Color::Blue),
            Look::Good | Look::Literal => plain.fg(Color::Green),
            Look::Busy => plain.fg(Color::Cyan).add_modifier(Modifier::BOLD),
            Look::Warning | Look::Keyword => plain.fg(Color::Magenta),
            Look::Bad => plain.fg(Color::Red).add_modifier(Modifier::BOLD),
            Look::Yolo => {
                plain.fg(Color::Red).add_modifier(Modifier::BOLD).add_modifier(Modifier::REVERSED)
            }
            Look::Hidden => plain.fg(Color::Red).add_modifier(Modifier::REVERSED),
            Look::Panel => plain.fg(Color::Magenta).add_modifier(Modifier::BOLD),
            Look::Selected => plain.add_modifier(Modifier::REVERSED),
            Look::Printed(ink) => printed(ink),
            Look::Found => plain.fg(Color::Yellow).add_modifier(Modifier::UNDERLINED),
            Look::FoundHere => plain
                .fg(Color::Yellow)
                .add_modifier(Modifier::BOLD)
                .add_modifier(Modifier::REVERSED),
        };
        if self.colour { style } else { Style { fg: None, ..style } }
    }
}

/// What a command wrote. A ground is shown as the colour that is exchanged with the terminal's own
/// background, so that text stays readable on it.
fn printed(ink: Ink) -> Style {
    let colour = ink.ground().or(ink.colour()).map(|colour| match colour {
        Colour::Red => Color::Red,
        Colour::Green => Color::Green,
        Colour::Yellow => Color::Yellow,
        Colour::Blue => Color::Blue,
        Colour::Magenta => Color::Magenta,
        Colour::Cyan => Color::Cyan,
    });
    let mut style = Style { fg: colour, ..Style::new() };
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
