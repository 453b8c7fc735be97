//! Every colour and emphasis of the screen, by what it means.
//!
//! The terminal's own foreground and background are kept, so that it reads on dark and on light.
//! A meaning never hangs on colour alone: each has a mark, a word or a shape beside it.

use ratatui::style::{Color, Modifier, Style};

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// Ordinary text.
    Text,
    /// Of less weight.
    Dim,
    /// Of more weight.
    Strong,
    /// The user's name above a prompt.
    You,
    /// The model's name above a reply.
    Model,
    /// A fenced code block.
    Code,
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
    /// The selected row.
    Selected,
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
            Look::Dim | Look::Border => plain.add_modifier(Modifier::DIM),
            Look::Strong | Look::Focus => plain.add_modifier(Modifier::BOLD),
            Look::You => plain.fg(Color::Blue).add_modifier(Modifier::BOLD),
            Look::Model => plain.fg(Color::Green).add_modifier(Modifier::BOLD),
            Look::Code | Look::Key => plain.fg(Color::Cyan),
            Look::Good => plain.fg(Color::Green),
            Look::Busy => plain.fg(Color::Cyan).add_modifier(Modifier::BOLD),
            Look::Warning => plain.fg(Color::Magenta),
            Look::Bad => plain.fg(Color::Red).add_modifier(Modifier::BOLD),
            Look::Yolo => {
                plain.fg(Color::Red).add_modifier(Modifier::BOLD).add_modifier(Modifier::REVERSED)
            }
            Look::Hidden => plain.fg(Color::Red).add_modifier(Modifier::REVERSED),
            Look::Panel => plain.fg(Color::Magenta).add_modifier(Modifier::BOLD),
            Look::Selected => plain.add_modifier(Modifier::REVERSED),
        };
        if self.colour { style } else { Style { fg: None, ..style } }
    }
}
