//! Which key does what, where. The footer and the help are made from the same tables, so they
//! cannot lie. No key that terminals confuse with another (Ctrl-H, Ctrl-I, Ctrl-M), and nothing
//! that only an F-key does.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What takes the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// The prompt editor.
    Prompt,
    /// The conversation.
    Conversation,
    /// The list of calls.
    Tools,
    /// One call, opened.
    Call,
    /// The list of a turn's messages.
    Inspector,
    /// One message, or the body, opened.
    Message,
    /// The approval panel, ready for a decision.
    Approval,
    /// The approval panel, before it is ready.
    ApprovalWaits,
    /// Editing the command of a call.
    CommandField,
    /// Writing the reason of a denial.
    ReasonField,
    /// The help.
    Help,
}

/// What a key means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Sends the prompt, or hands over a field.
    Submit,
    /// Begins a new line.
    NewLine,
    /// Ends the program if the prompt is empty.
    EndOfInput,
    /// Leaves the innermost thing; stops the prompt when there is none.
    Back,
    /// Stops; when idle clears the draft; twice quits.
    Interrupt,
    /// Gives the keys to the next pane.
    NextPane,
    /// Gives the keys to the pane before.
    PreviousPane,
    /// Shows or hides the help.
    Help,
    /// One row up.
    Up,
    /// One row down.
    Down,
    /// One screen up.
    PageUp,
    /// One screen down.
    PageDown,
    /// To the first row.
    Start,
    /// To the last row.
    End,
    /// Opens the selected row.
    Open,
    /// The turn before.
    PreviousTurn,
    /// The turn after.
    NextTurn,
    /// The exact body of the turn's request.
    Body,
    /// The exact text instead of the readable one, and back.
    Raw,
    /// Allows the command once.
    AllowOnce,
    /// Allows this exact command for the rest of the session.
    AllowSession,
    /// Edits the command.
    Edit,
    /// Denies the call.
    Deny,
    /// Denies the call and says why.
    DenyWithReason,
}

/// A key as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key(KeyCode, KeyModifiers);

/// Keys of one action in one place, with a word for the footer and a line for the help.
#[derive(Debug)]
pub(super) struct Binding {
    keys: &'static [Key],
    /// The keys as they are named on the screen.
    pub(super) label: &'static str,
    /// What they do, in a word or two; empty: not in the footer.
    pub(super) short: &'static str,
    /// What they do, in full.
    pub(super) long: &'static str,
    action: Action,
}

const fn key(code: KeyCode) -> Key {
    Key(code, KeyModifiers::NONE)
}

const fn letter(c: char) -> Key {
    Key(KeyCode::Char(c), KeyModifiers::NONE)
}

const fn ctrl(c: char) -> Key {
    Key(KeyCode::Char(c), KeyModifiers::CONTROL)
}

const fn bind(
    keys: &'static [Key],
    label: &'static str,
    short: &'static str,
    long: &'static str,
    action: Action,
) -> Binding {
    Binding { keys, label, short, long, action }
}

const UP: Binding = bind(&[key(KeyCode::Up), letter('k')], "↑", "", "one row up", Action::Up);
const DOWN: Binding =
    bind(&[key(KeyCode::Down), letter('j')], "↓", "", "one row down", Action::Down);
const PAGE_UP: Binding = bind(&[key(KeyCode::PageUp)], "PgUp", "", "one screen up", Action::PageUp);
const PAGE_DOWN: Binding =
    bind(&[key(KeyCode::PageDown)], "PgDn", "", "one screen down", Action::PageDown);
const START: Binding =
    bind(&[key(KeyCode::Home), letter('g')], "Home", "", "to the first row", Action::Start);
const END: Binding =
    bind(&[key(KeyCode::End), letter('G')], "End", "", "to the last row", Action::End);
const SHIFT_TAB: Key = Key(KeyCode::BackTab, KeyModifiers::NONE);
const NEXT: Binding = bind(
    &[key(KeyCode::Tab)],
    "Tab",
    "next pane",
    "gives the keys to the next pane",
    Action::NextPane,
);
const PREVIOUS: Binding =
    bind(&[SHIFT_TAB], "Shift-Tab", "", "gives the keys to the pane before", Action::PreviousPane);
const HELP_KEY: Binding =
    bind(&[key(KeyCode::F(1)), letter('?')], "?", "help", "shows these keys", Action::Help);
const TO_PROMPT: Binding =
    bind(&[key(KeyCode::Esc)], "Esc", "prompt", "back to the prompt", Action::Back);
const CLOSE: Binding = bind(&[key(KeyCode::Esc)], "Esc", "close", "closes it", Action::Back);
const INTERRUPT: Binding = bind(
    &[ctrl('c')],
    "Ctrl-C",
    "",
    "stops; when idle clears the draft; twice quits",
    Action::Interrupt,
);
const NEW_LINE: Binding = bind(
    &[ctrl('j'), Key(KeyCode::Enter, KeyModifiers::ALT), Key(KeyCode::Enter, KeyModifiers::SHIFT)],
    "Ctrl-J",
    "new line",
    "begins a new line (also Alt-Enter, Shift-Enter)",
    Action::NewLine,
);

const PROMPT: &[Binding] = &[
    bind(&[key(KeyCode::Enter)], "Enter", "send", "sends the prompt", Action::Submit),
    NEW_LINE,
    NEXT,
    bind(
        &[key(KeyCode::Esc)],
        "Esc",
        "stop",
        "stops the model or the command; denies a call asked for",
        Action::Back,
    ),
    bind(
        &[key(KeyCode::F(1))],
        "F1",
        "help",
        "shows these keys; so does /help, and ? in the other panes",
        Action::Help,
    ),
    PREVIOUS,
    bind(&[key(KeyCode::PageUp)], "PgUp", "", "scrolls the conversation up", Action::PageUp),
    bind(&[key(KeyCode::PageDown)], "PgDn", "", "scrolls the conversation down", Action::PageDown),
    INTERRUPT,
    bind(&[ctrl('d')], "Ctrl-D", "", "on an empty prompt: quits", Action::EndOfInput),
];

const CONVERSATION: &[Binding] = &[
    bind(&[key(KeyCode::Up), letter('k')], "↑", "up", "one row up", Action::Up),
    bind(&[key(KeyCode::Down), letter('j')], "↓", "down", "one row down", Action::Down),
    bind(&[key(KeyCode::End), letter('G')], "End", "newest", "to the last row", Action::End),
    NEXT,
    TO_PROMPT,
    HELP_KEY,
    PAGE_UP,
    PAGE_DOWN,
    START,
    PREVIOUS,
    INTERRUPT,
];

const TOOLS: &[Binding] = &[
    bind(&[key(KeyCode::Up), letter('k')], "↑", "before", "selects the call before", Action::Up),
    bind(&[key(KeyCode::Down), letter('j')], "↓", "next", "selects the next call", Action::Down),
    bind(
        &[key(KeyCode::Enter)],
        "Enter",
        "open",
        "opens the call: command, decision, output, receipt",
        Action::Open,
    ),
    NEXT,
    TO_PROMPT,
    HELP_KEY,
    PAGE_UP,
    PAGE_DOWN,
    START,
    END,
    PREVIOUS,
    INTERRUPT,
];

const CALL: &[Binding] = &[
    CLOSE,
    bind(&[key(KeyCode::PageDown)], "PgDn", "down", "one screen down", Action::PageDown),
    bind(&[key(KeyCode::PageUp)], "PgUp", "up", "one screen up", Action::PageUp),
    NEXT,
    HELP_KEY,
    UP,
    DOWN,
    START,
    END,
    PREVIOUS,
    INTERRUPT,
];

const INSPECTOR: &[Binding] = &[
    bind(
        &[key(KeyCode::Left), letter('h')],
        "←",
        "turn before",
        "the turn before",
        Action::PreviousTurn,
    ),
    bind(
        &[key(KeyCode::Right), letter('l')],
        "→",
        "turn after",
        "the turn after",
        Action::NextTurn,
    ),
    bind(
        &[key(KeyCode::Enter)],
        "Enter",
        "open",
        "opens the message: readable, then exact with r",
        Action::Open,
    ),
    bind(&[letter('b')], "b", "body", "the exact body that was posted", Action::Body),
    NEXT,
    TO_PROMPT,
    HELP_KEY,
    bind(&[key(KeyCode::Up), letter('k')], "↑", "", "selects the row above", Action::Up),
    bind(&[key(KeyCode::Down), letter('j')], "↓", "", "selects the row below", Action::Down),
    PAGE_UP,
    PAGE_DOWN,
    START,
    END,
    PREVIOUS,
    INTERRUPT,
];

const MESSAGE: &[Binding] = &[
    CLOSE,
    bind(&[letter('r')], "r", "raw", "the exact JSON, and back to the readable text", Action::Raw),
    bind(&[letter('b')], "b", "body", "the exact body that was posted", Action::Body),
    bind(&[key(KeyCode::PageDown)], "PgDn", "down", "one screen down", Action::PageDown),
    bind(&[key(KeyCode::PageUp)], "PgUp", "up", "one screen up", Action::PageUp),
    NEXT,
    HELP_KEY,
    bind(&[key(KeyCode::Left), letter('h')], "←", "", "the turn before", Action::PreviousTurn),
    bind(&[key(KeyCode::Right), letter('l')], "→", "", "the turn after", Action::NextTurn),
    UP,
    DOWN,
    START,
    END,
    PREVIOUS,
    INTERRUPT,
];

const CHOICES: &[Binding] = &[
    bind(&[letter('y')], "y", "once", "runs the command that is shown, once", Action::AllowOnce),
    bind(
        &[letter('a')],
        "a",
        "this exact command for the session",
        "runs it, and from now on this exact command unasked",
        Action::AllowSession,
    ),
    bind(
        &[letter('e')],
        "e",
        "edit",
        "edits the command; it is shown again before it runs",
        Action::Edit,
    ),
    bind(&[letter('n')], "n", "deny", "does not run it; the model is told so", Action::Deny),
    bind(
        &[letter('r')],
        "r",
        "deny with reason",
        "does not run it; the model is told why",
        Action::DenyWithReason,
    ),
];

const APPROVAL: &[Binding] = &[
    bind(&[key(KeyCode::Esc)], "Esc", "deny", "denies this call", Action::Back),
    bind(&[key(KeyCode::PageDown)], "PgDn", "scroll", "one screen down", Action::PageDown),
    PAGE_UP,
    bind(&[key(KeyCode::Up)], "↑", "", "one row up", Action::Up),
    bind(&[key(KeyCode::Down)], "↓", "", "one row down", Action::Down),
    bind(&[key(KeyCode::Home)], "Home", "", "to the first row", Action::Start),
    bind(&[key(KeyCode::End)], "End", "", "to the last row", Action::End),
    bind(
        &[key(KeyCode::Tab)],
        "Tab",
        "other panes",
        "gives the keys to the next pane",
        Action::NextPane,
    ),
    bind(&[ctrl('c')], "Ctrl-C", "stop", "stops the prompt; twice quits", Action::Interrupt),
    bind(&[key(KeyCode::F(1)), letter('?')], "?", "help", "shows these keys", Action::Help),
    PREVIOUS,
];

const COMMAND_FIELD: &[Binding] = &[
    bind(
        &[key(KeyCode::Enter)],
        "Enter",
        "show the edited command",
        "back to the panel with the edited text; nothing runs yet",
        Action::Submit,
    ),
    bind(&[key(KeyCode::Esc)], "Esc", "leave as it was", "leaves the field", Action::Back),
    NEW_LINE,
    bind(&[ctrl('c')], "Ctrl-C", "stop", "stops the prompt; twice quits", Action::Interrupt),
];

const REASON_FIELD: &[Binding] = &[
    bind(
        &[key(KeyCode::Enter)],
        "Enter",
        "deny",
        "denies the call and tells the model the reason",
        Action::Submit,
    ),
    bind(&[key(KeyCode::Esc)], "Esc", "back", "leaves the field; nothing is decided", Action::Back),
    NEW_LINE,
    bind(&[ctrl('c')], "Ctrl-C", "stop", "stops the prompt; twice quits", Action::Interrupt),
];

const HELP: &[Binding] = &[
    bind(
        &[key(KeyCode::Esc), key(KeyCode::F(1)), letter('q'), letter('?')],
        "Esc",
        "close",
        "closes the help",
        Action::Back,
    ),
    bind(
        &[key(KeyCode::PageDown), letter(' ')],
        "PgDn",
        "down",
        "one screen down",
        Action::PageDown,
    ),
    bind(&[key(KeyCode::PageUp)], "PgUp", "up", "one screen up", Action::PageUp),
    UP,
    DOWN,
    START,
    END,
    INTERRUPT,
];

/// The tables of a context, the most useful first.
pub(super) fn tables(context: Context) -> &'static [&'static [Binding]] {
    match context {
        Context::Prompt => &[PROMPT],
        Context::Conversation => &[CONVERSATION],
        Context::Tools => &[TOOLS],
        Context::Call => &[CALL],
        Context::Inspector => &[INSPECTOR],
        Context::Message => &[MESSAGE],
        Context::Approval => &[CHOICES, APPROVAL],
        Context::ApprovalWaits => &[APPROVAL],
        Context::CommandField => &[COMMAND_FIELD],
        Context::ReasonField => &[REASON_FIELD],
        Context::Help => &[HELP],
    }
}

/// What the footer names: all but the choices, which stand in the panel.
pub(super) fn footer(context: Context) -> impl Iterator<Item = &'static Binding> {
    let context = if context == Context::Approval { Context::ApprovalWaits } else { context };
    tables(context).iter().copied().flatten()
}

/// The choices of the approval panel.
pub(super) fn choices() -> impl Iterator<Item = (&'static Binding, Action)> {
    CHOICES.iter().map(|binding| (binding, binding.action))
}

/// The sections of the help, the one for `context` first.
pub(super) fn sections(context: Context) -> impl Iterator<Item = (&'static str, &'static Binding)> {
    const ALL: [(&str, Context); 9] = [
        ("Prompt", Context::Prompt),
        ("Approval", Context::Approval),
        ("Editing a command", Context::CommandField),
        ("Giving a reason", Context::ReasonField),
        ("Conversation", Context::Conversation),
        ("Tools", Context::Tools),
        ("A call", Context::Call),
        ("Inspector", Context::Inspector),
        ("A message", Context::Message),
    ];
    let context = if context == Context::ApprovalWaits { Context::Approval } else { context };
    let first = ALL.into_iter().filter(move |(_, other)| *other == context);
    let rest = ALL.into_iter().filter(move |(_, other)| *other != context);
    first.chain(rest).flat_map(|(name, context)| {
        tables(context).iter().copied().flatten().map(move |binding| (name, binding))
    })
}

/// What a key means in a context; `None` if it is text or nothing.
pub(super) fn resolve(context: Context, event: KeyEvent) -> Option<Action> {
    let mut modifiers =
        event.modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT);
    if matches!(event.code, KeyCode::Char(_) | KeyCode::BackTab) {
        modifiers -= KeyModifiers::SHIFT;
    }
    let pressed = Key(event.code, modifiers);
    tables(context)
        .iter()
        .copied()
        .flatten()
        .find(|binding| binding.keys.contains(&pressed))
        .map(|binding| binding.action)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXTS: [Context; 11] = [
        Context::Prompt,
        Context::Conversation,
        Context::Tools,
        Context::Call,
        Context::Inspector,
        Context::Message,
        Context::Approval,
        Context::ApprovalWaits,
        Context::CommandField,
        Context::ReasonField,
        Context::Help,
    ];

    #[test]
    fn no_key_means_two_things_in_one_place() {
        for context in CONTEXTS {
            let mut seen = Vec::new();
            for binding in tables(context).iter().copied().flatten() {
                for key in binding.keys {
                    assert!(!seen.contains(key), "{context:?}: {key:?}");
                    seen.push(*key);
                }
            }
        }
    }

    #[test]
    fn no_key_that_terminals_confuse_is_bound() {
        for context in CONTEXTS {
            for binding in tables(context).iter().copied().flatten() {
                for confused in [ctrl('h'), ctrl('i'), ctrl('m')] {
                    assert!(!binding.keys.contains(&confused), "{context:?}: {binding:?}");
                }
            }
        }
    }

    #[test]
    fn only_named_keys_allow_and_only_in_the_ready_panel() {
        let allows = |action| matches!(action, Some(Action::AllowOnce | Action::AllowSession));
        for context in CONTEXTS {
            for code in [KeyCode::Enter, KeyCode::Char(' '), KeyCode::Tab, KeyCode::Esc] {
                assert!(!allows(resolve(context, KeyEvent::new(code, KeyModifiers::NONE))));
            }
            let y = resolve(context, KeyEvent::new(KeyCode::Char('y'), KeyModifiers::NONE));
            assert_eq!(allows(y), context == Context::Approval, "{context:?}");
        }
    }
}
