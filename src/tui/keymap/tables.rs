//! The tables: for each place its keys, the most useful first.

use crossterm::event::{KeyCode, KeyModifiers};

use super::{Action, Binding, Context, Key};

const fn key(code: KeyCode) -> Key {
    Key(code, KeyModifiers::NONE)
}

const fn letter(c: char) -> Key {
    Key(KeyCode::Char(c), KeyModifiers::NONE)
}

pub(super) const fn ctrl(c: char) -> Key {
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
    bind(
        &[key(KeyCode::Enter)],
        "Enter",
        "send",
        "sends the prompt; while the model works, queues it",
        Action::Submit,
    ),
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
    bind(
        &[ctrl('s')],
        "Ctrl-S",
        "send now",
        "sends the next queued prompt into the running turn, before its next request",
        Action::Steer,
    ),
    bind(&[ctrl('x')], "Ctrl-X", "", "opens the folded paste beside the cursor", Action::Unfold),
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

pub(super) const CHOICES: &[Binding] = &[
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
