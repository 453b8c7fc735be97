//! The tables: for each place its keys, the most useful first.

use crate::text::{Phrase, phrase};
use crossterm::event::{KeyCode, KeyModifiers};

use super::{Action, Binding, Context, Key, Landmark};
use crate::tui::panes::inspector::View;

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
    Binding { keys, label, short: phrase(short), long: phrase(long), action }
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
const PALETTE: Binding =
    bind(&[ctrl('p')], "Ctrl-P", "commands", "lists every command and its key", Action::Palette);
const MODELS: Binding = bind(
    &[ctrl('t')],
    "Ctrl-T",
    "model",
    "another model or profile, and the parameters",
    Action::Models,
);
/// Everywhere but in the prompt the footer has more urgent keys to name.
const COMMANDS: &[Binding] =
    &[Binding { short: Phrase::EMPTY, ..PALETTE }, Binding { short: Phrase::EMPTY, ..MODELS }];
/// As [`COMMANDS`], while a call is asked for.
const COMMANDS_ONLY: &[Binding] = &[Binding { short: Phrase::EMPTY, ..PALETTE }];
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
    bind(
        &[key(KeyCode::Esc)],
        "Esc",
        "stop",
        "stops the model or the command; denies a call asked for",
        Action::Back,
    ),
    NEXT,
    bind(
        &[key(KeyCode::F(1))],
        "F1",
        "help",
        "shows these keys; so does /help, and ? in the other panes",
        Action::Help,
    ),
    PALETTE,
    NEW_LINE,
    MODELS,
    bind(
        &[ctrl('s')],
        "Ctrl-S",
        "send now",
        "sends the next queued prompt into the running turn, before its next request",
        Action::Steer,
    ),
    bind(
        &[ctrl('o')],
        "Ctrl-O",
        "take the offer",
        "takes what is offered over the prompt; Esc declines it",
        Action::TakeOffer,
    ),
    bind(
        &[ctrl('r')],
        "Ctrl-R",
        "",
        "searches earlier prompts, also of earlier sessions here, for what you type",
        Action::SearchPrompts,
    ),
    bind(
        &[ctrl('x')],
        "Ctrl-X",
        "",
        "opens the folded paste beside the cursor, folds it again; else the prompt in $VISUAL or $EDITOR",
        Action::Unfold,
    ),
    PREVIOUS,
    bind(&[key(KeyCode::PageUp)], "PgUp", "", "scrolls the conversation up", Action::PageUp),
    bind(&[key(KeyCode::PageDown)], "PgDn", "", "scrolls the conversation down", Action::PageDown),
    INTERRUPT,
    bind(&[ctrl('d')], "Ctrl-D", "", "on an empty prompt: quits", Action::EndOfInput),
];

const COMPLETION: &[Binding] = &[
    bind(
        &[key(KeyCode::Tab), key(KeyCode::Enter)],
        "Tab",
        "take it",
        "puts the selected row into the prompt (also Enter)",
        Action::Complete,
    ),
    bind(&[key(KeyCode::Up)], "↑", "before", "selects the row above", Action::Up),
    bind(&[key(KeyCode::Down), ctrl('r')], "↓", "next", "selects the row below", Action::Down),
    bind(&[key(KeyCode::Esc)], "Esc", "close", "closes the list", Action::Back),
];

const CONVERSATION: &[Binding] = &[
    bind(
        &[key(KeyCode::Enter)],
        "Enter",
        "fold",
        "folds or unfolds the item with the bar beside it: reasoning, message, call",
        Action::Fold,
    ),
    TO_PROMPT,
    FIND,
    COPY,
    COPY_PART,
    bind(
        &[key(KeyCode::End), letter('G')],
        "End",
        "newest",
        "to the newest, and stays with it",
        Action::End,
    ),
    HELP_KEY,
    NEXT,
    ZOOM,
    bind(
        &[key(KeyCode::Up), letter('k')],
        "↑",
        "",
        "the item before; first the rows of a long one",
        Action::Up,
    ),
    bind(
        &[key(KeyCode::Down), letter('j')],
        "↓",
        "",
        "the next item; first the rows of a long one",
        Action::Down,
    ),
    bind(
        &[letter('z')],
        "z",
        "fold all",
        "unfolds everything; folds it; leaves it as at first",
        Action::FoldAll,
    ),
    bind(
        &[letter('m')],
        "m",
        "as written",
        "shows messages as they were written, and as Markdown again",
        Action::AsWritten,
    ),
    bind(&[letter('p')], "p", "prompts", "the prompt before", Action::Before(Landmark::Prompt)),
    bind(&[letter('P')], "P", "", "the prompt after", Action::After(Landmark::Prompt)),
    bind(&[letter('c')], "c", "calls", "the call before", Action::Before(Landmark::Call)),
    bind(&[letter('C')], "C", "", "the call after", Action::After(Landmark::Call)),
    bind(&[letter('e')], "e", "errors", "the error before", Action::Before(Landmark::Error)),
    bind(&[letter('E')], "E", "", "the error after", Action::After(Landmark::Error)),
    bind(&[letter('t')], "t", "turns", "the turn before", Action::Before(Landmark::Turn)),
    bind(&[letter('T')], "T", "", "the turn after", Action::After(Landmark::Turn)),
    bind(&[letter('{')], "{", "", "the item before", Action::Before(Landmark::Item)),
    bind(&[letter('}')], "}", "", "the item after", Action::After(Landmark::Item)),
    PAGE_UP,
    PAGE_DOWN,
    START,
    PREVIOUS,
    INTERRUPT,
];

const TOOLS: &[Binding] = &[
    bind(
        &[key(KeyCode::Enter)],
        "Enter",
        "open",
        "opens the call: command, decision, output, receipt",
        Action::Open,
    ),
    TO_PROMPT,
    FIND,
    bind(&[key(KeyCode::Up), letter('k')], "↑", "up", "selects the call before", Action::Up),
    bind(&[key(KeyCode::Down), letter('j')], "↓", "down", "selects the next call", Action::Down),
    HELP_KEY,
    NEXT,
    PAGE_UP,
    PAGE_DOWN,
    START,
    END,
    PREVIOUS,
    INTERRUPT,
];

const READ_DOWN: Binding =
    bind(&[key(KeyCode::PageDown)], "PgDn", "scroll", "one screen down", Action::PageDown);

const OUTPUT: Binding = bind(
    &[letter('o')],
    "o",
    "output",
    "all that the command wrote, with its colours; and what the model was told again",
    Action::Output,
);

const CALL: &[Binding] = &[
    CLOSE, OUTPUT, READ_DOWN, PAGE_UP, FIND, HELP_KEY, NEXT, UP, DOWN, START, END, PREVIOUS,
    INTERRUPT,
];

/// The views of a turn, wherever one of them is shown.
const VIEWS: &[Binding] = &[
    bind(&[letter('1')], "1", "", "the messages, one a row", Action::Show(View::Roles)),
    bind(&[letter('2')], "2", "", "the selected message, readable", Action::Show(View::Message)),
    bind(&[letter('3')], "3", "", "what differs from the turn before", Action::Show(View::Diff)),
    bind(
        &[letter('4')],
        "4",
        "",
        "the request: URL, headers, exact body",
        Action::Show(View::Request),
    ),
    bind(
        &[letter('5')],
        "5",
        "",
        "the response: raw events, times, repairs",
        Action::Show(View::Response),
    ),
    bind(&[letter('6')], "6", "", "tokens, times and bytes", Action::Show(View::Usage)),
    TURN_BEFORE,
    TURN_AFTER,
    bind(&[letter('t')], "t", "turn", "a turn by its number, from the list of all", Action::Turns),
];

const NEXT_VIEW: Binding =
    bind(&[letter('v')], "1–6 v", "views", "v: the next view; 1 to 6 choose one", Action::NextView);
const TURN_BEFORE: Binding = bind(
    &[key(KeyCode::Left), letter('h')],
    "←",
    "older",
    "the turn before, in the same view",
    Action::PreviousTurn,
);
const TURN_AFTER: Binding = bind(
    &[key(KeyCode::Right), letter('l')],
    "→",
    "newer",
    "the turn after, in the same view",
    Action::NextTurn,
);

const SEND_AGAIN: Binding = bind(
    &[letter('s')],
    "s",
    "send again",
    "sends again what of this row is left out or shortened; says first what that is",
    Action::SendAgain,
);

const INSPECTOR: &[Binding] = &[
    bind(
        &[key(KeyCode::Enter)],
        "Enter",
        "open",
        "opens the row: readable, then exact with r",
        Action::Open,
    ),
    SEND_AGAIN,
    NEXT_VIEW,
    TO_PROMPT,
    FIND,
    HELP_KEY,
    bind(&[key(KeyCode::Up), letter('k')], "↑", "", "selects the row above", Action::Up),
    bind(&[key(KeyCode::Down), letter('j')], "↓", "", "selects the row below", Action::Down),
    PAGE_UP,
    PAGE_DOWN,
    START,
    END,
];

const MESSAGE: &[Binding] = &[
    bind(
        &[key(KeyCode::Esc)],
        "Esc",
        "back",
        "back to where it was opened: the message, the list",
        Action::Back,
    ),
    SEND_AGAIN,
    NEXT_VIEW,
    bind(
        &[letter('r')],
        "r",
        "exact",
        "the exact JSON, and back to the readable text",
        Action::Raw,
    ),
    bind(
        &[letter('[')],
        "[",
        "vs earlier",
        "in diff: compares with an earlier turn",
        Action::EarlierBase,
    ),
    bind(
        &[letter(']')],
        "]",
        "vs later",
        "in diff: compares with a later turn, up to the one before",
        Action::LaterBase,
    ),
    HELP_KEY,
    FIND,
    READ_DOWN,
    PAGE_UP,
    UP,
    DOWN,
    START,
    END,
];

const AROUND: &[Binding] = &[NEXT, PREVIOUS, INTERRUPT];

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

/// Keys that mean the same in every place.
pub(super) const ANYWHERE: &[Binding] = &[
    bind(
        &[ctrl('z')],
        "Ctrl-Z",
        "",
        "stops limpid and its commands; fg in the shell continues them",
        Action::Suspend,
    ),
    bind(
        &[Key(KeyCode::Char('m'), KeyModifiers::ALT)],
        "Alt-M",
        "",
        "the mouse: the wheel scrolls, a click gives a pane the keys; again: off, as at the start",
        Action::Mouse,
    ),
];

const LIST: &[Binding] = &[
    bind(&[key(KeyCode::Enter)], "Enter", "choose", "takes the selected row", Action::Submit),
    bind(&[key(KeyCode::Esc)], "Esc", "back", "one list back, or closes it", Action::Back),
    bind(
        &[key(KeyCode::Tab)],
        "Tab",
        "ask the server",
        "models: asks the server; sessions: those of every directory",
        Action::Ask,
    ),
    bind(&[key(KeyCode::Up)], "↑", "up", "the row above", Action::Up),
    bind(&[key(KeyCode::Down)], "↓", "down", "the row below", Action::Down),
    PAGE_UP,
    PAGE_DOWN,
    INTERRUPT,
];

const FIND: Binding =
    bind(&[letter('/')], "/", "find", "finds a text in this pane, as you type", Action::Find);

/// Where there is text to be searched.
const MATCHES: &[Binding] = &[
    bind(&[letter('n')], "n", "", "the next match", Action::NextMatch),
    bind(&[letter('N')], "N", "", "the match before", Action::PreviousMatch),
];

const SEARCH: &[Binding] = &[
    bind(
        &[key(KeyCode::Enter)],
        "Enter",
        "keep",
        "keeps the matches marked; n and N go from one to the next",
        Action::Submit,
    ),
    bind(&[key(KeyCode::Down)], "↓", "next", "the next match", Action::NextMatch),
    bind(&[key(KeyCode::Up)], "↑", "before", "the match before", Action::PreviousMatch),
    bind(&[key(KeyCode::Esc)], "Esc", "leave", "ends the search", Action::Back),
    bind(&[key(KeyCode::PageUp)], "PgUp", "", "one screen up", Action::PageUp),
    bind(&[key(KeyCode::PageDown)], "PgDn", "", "one screen down", Action::PageDown),
    NEXT,
    PREVIOUS,
    INTERRUPT,
];

const ZOOM: Binding =
    bind(&[letter('f')], "f", "full", "all the room for this pane; again: all panes", Action::Zoom);

/// How the room is divided.
const SPLITS: &[Binding] = &[
    bind(&[letter('<')], "<", "", "a narrower conversation", Action::Narrower),
    bind(&[letter('>')], ">", "", "a wider conversation", Action::Wider),
    bind(&[letter('-')], "-", "", "fewer rows for the tools", Action::Shorter),
    bind(&[letter('+')], "+", "", "more rows for the tools", Action::Taller),
];

const COPY: Binding = bind(
    &[letter('y')],
    "y",
    "copy",
    "copies the text at hand: message, call, row, view; to the clipboard, as it was written",
    Action::Copy,
);
const COPY_PART: Binding = bind(
    &[letter('Y')],
    "Y",
    "part",
    "copies a part of it: a code block, the command, some lines",
    Action::CopyPart,
);

const PICK: &[Binding] = &[
    bind(
        &[key(KeyCode::Enter), letter('y')],
        "Enter",
        "copy",
        "copies the chosen lines (also y)",
        Action::Copy,
    ),
    bind(&[key(KeyCode::Esc), letter('q')], "Esc", "close", "copies nothing", Action::Back),
    bind(
        &[letter(' '), letter('v')],
        "Space",
        "several lines",
        "begins to choose several lines here, or goes back to one",
        Action::Mark,
    ),
    bind(
        &[letter('c')],
        "c",
        "next block",
        "chooses the next code block; of a call, the command or what came of it",
        Action::NextPart,
    ),
    bind(
        &[letter('w')],
        "w",
        "to a file",
        "writes them into a new private file",
        Action::WriteCopy,
    ),
    bind(&[key(KeyCode::Up), letter('k')], "↑", "", "the line above", Action::Up),
    bind(&[key(KeyCode::Down), letter('j')], "↓", "", "the line below", Action::Down),
    PAGE_UP,
    PAGE_DOWN,
    START,
    END,
    HELP_KEY,
    INTERRUPT,
];

/// The tables of a context, the most useful first.
pub(super) fn tables(context: Context) -> &'static [&'static [Binding]] {
    match context {
        Context::Prompt => &[PROMPT],
        Context::Completion => &[COMPLETION],
        Context::Conversation => &[CONVERSATION, SPLITS, MATCHES, COMMANDS],
        Context::Tools => &[TOOLS, &[COPY, COPY_PART, ZOOM], SPLITS, MATCHES, COMMANDS],
        Context::Call => &[CALL, &[COPY, COPY_PART, ZOOM], SPLITS, MATCHES, COMMANDS],
        Context::Inspector => {
            &[INSPECTOR, &[COPY, COPY_PART, ZOOM], SPLITS, MATCHES, VIEWS, AROUND, COMMANDS]
        }
        Context::Message => {
            &[MESSAGE, &[COPY, COPY_PART, ZOOM], SPLITS, MATCHES, VIEWS, AROUND, COMMANDS]
        }
        Context::Approval => &[CHOICES, APPROVAL, COMMANDS_ONLY],
        Context::ApprovalWaits => &[APPROVAL, COMMANDS_ONLY],
        Context::CommandField => &[COMMAND_FIELD],
        Context::ReasonField => &[REASON_FIELD],
        Context::Search => &[SEARCH],
        Context::Pick => &[PICK],
        Context::Help => &[HELP],
        Context::List => &[LIST],
    }
}
