//! What keys, actions and places are called in `config.toml`.

use crossterm::event::{KeyCode, KeyModifiers};

use super::{Action, Context, Key, Landmark};
use crate::tui::panes::inspector::View;

/// Places whose keys can be set.
pub(super) const PLACES: [(&str, Context); 12] = [
    ("prompt", Context::Prompt),
    ("completion", Context::Completion),
    ("conversation", Context::Conversation),
    ("tools", Context::Tools),
    ("call", Context::Call),
    ("inspector", Context::Inspector),
    ("message", Context::Message),
    ("list", Context::List),
    ("search", Context::Search),
    ("copying", Context::Pick),
    ("help", Context::Help),
    ("approval", Context::Approval),
];

/// Actions whose keys can be set. Ctrl-C is the same everywhere.
pub(super) const ACTIONS: [(&str, Action); 70] = [
    ("submit", Action::Submit),
    ("new-line", Action::NewLine),
    ("open-paste-or-editor", Action::Unfold),
    ("complete", Action::Complete),
    ("search-prompts", Action::SearchPrompts),
    ("send-now", Action::Steer),
    ("quit-if-empty", Action::EndOfInput),
    ("back", Action::Back),
    ("suspend", Action::Suspend),
    ("next-pane", Action::NextPane),
    ("previous-pane", Action::PreviousPane),
    ("help", Action::Help),
    ("palette", Action::Palette),
    ("models", Action::Models),
    ("ask-server", Action::Ask),
    ("up", Action::Up),
    ("down", Action::Down),
    ("page-up", Action::PageUp),
    ("page-down", Action::PageDown),
    ("start", Action::Start),
    ("end", Action::End),
    ("open", Action::Open),
    ("previous-turn", Action::PreviousTurn),
    ("next-turn", Action::NextTurn),
    ("turns", Action::Turns),
    ("compare-earlier", Action::EarlierBase),
    ("compare-later", Action::LaterBase),
    ("view-roles", Action::Show(View::Roles)),
    ("view-message", Action::Show(View::Message)),
    ("view-diff", Action::Show(View::Diff)),
    ("view-request", Action::Show(View::Request)),
    ("view-response", Action::Show(View::Response)),
    ("view-usage", Action::Show(View::Usage)),
    ("next-view", Action::NextView),
    ("exact", Action::Raw),
    ("send-again", Action::SendAgain),
    ("take-offer", Action::TakeOffer),
    ("output", Action::Output),
    ("find", Action::Find),
    ("next-match", Action::NextMatch),
    ("previous-match", Action::PreviousMatch),
    ("fold", Action::Fold),
    ("fold-all", Action::FoldAll),
    ("as-written", Action::AsWritten),
    ("prompt-before", Action::Before(Landmark::Prompt)),
    ("prompt-after", Action::After(Landmark::Prompt)),
    ("call-before", Action::Before(Landmark::Call)),
    ("call-after", Action::After(Landmark::Call)),
    ("error-before", Action::Before(Landmark::Error)),
    ("error-after", Action::After(Landmark::Error)),
    ("turn-before", Action::Before(Landmark::Turn)),
    ("turn-after", Action::After(Landmark::Turn)),
    ("item-before", Action::Before(Landmark::Item)),
    ("item-after", Action::After(Landmark::Item)),
    ("copy", Action::Copy),
    ("copy-part", Action::CopyPart),
    ("mark", Action::Mark),
    ("next-part", Action::NextPart),
    ("write-copy", Action::WriteCopy),
    ("zoom", Action::Zoom),
    ("narrower", Action::Narrower),
    ("wider", Action::Wider),
    ("shorter", Action::Shorter),
    ("taller", Action::Taller),
    ("mouse", Action::Mouse),
    ("allow-once", Action::AllowOnce),
    ("allow-session", Action::AllowSession),
    ("edit", Action::Edit),
    ("deny", Action::Deny),
    ("deny-with-reason", Action::DenyWithReason),
];

/// The name of an action, if its keys can be set.
pub(super) fn of_action(action: Action) -> Option<&'static str> {
    ACTIONS.iter().find(|(_, other)| *other == action).map(|(name, _)| *name)
}

/// The keys that have names, and how they are shown.
const NAMED: [(&str, KeyCode, &str); 19] = [
    ("enter", KeyCode::Enter, "Enter"),
    ("esc", KeyCode::Esc, "Esc"),
    ("escape", KeyCode::Esc, "Esc"),
    ("tab", KeyCode::Tab, "Tab"),
    ("space", KeyCode::Char(' '), "Space"),
    ("backspace", KeyCode::Backspace, "Backspace"),
    ("delete", KeyCode::Delete, "Delete"),
    ("insert", KeyCode::Insert, "Insert"),
    ("up", KeyCode::Up, "↑"),
    ("down", KeyCode::Down, "↓"),
    ("left", KeyCode::Left, "←"),
    ("right", KeyCode::Right, "→"),
    ("home", KeyCode::Home, "Home"),
    ("end", KeyCode::End, "End"),
    ("pageup", KeyCode::PageUp, "PgUp"),
    ("pgup", KeyCode::PageUp, "PgUp"),
    ("pagedown", KeyCode::PageDown, "PgDn"),
    ("pgdn", KeyCode::PageDown, "PgDn"),
    ("minus", KeyCode::Char('-'), "-"),
];

/// Reads the name of a key, such as `ctrl-p`, `alt-enter`, `f1`, `G`.
///
/// # Errors
/// What is wrong with it.
pub(super) fn key(name: &str) -> Result<Key, String> {
    let (modifier, rest) = match name.split_once('-') {
        Some((modifier, rest)) if !modifier.is_empty() && !rest.is_empty() => (modifier, rest),
        _ => ("", name),
    };
    let modifiers = match modifier.to_ascii_lowercase().as_str() {
        "" => KeyModifiers::NONE,
        "ctrl" => KeyModifiers::CONTROL,
        "alt" => KeyModifiers::ALT,
        "shift" => KeyModifiers::SHIFT,
        _ => return Err(unknown(name)),
    };
    let lower = rest.to_ascii_lowercase();
    let mut chars = rest.chars();
    let code = match (chars.next(), chars.next()) {
        (Some(c), None) => KeyCode::Char(c),
        _ => {
            let named = NAMED.iter().find(|(known, ..)| *known == lower).map(|(_, code, _)| *code);
            let function = lower.strip_prefix('f').and_then(|number| number.parse::<u8>().ok());
            let function = function.filter(|number| (1..=12).contains(number)).map(KeyCode::F);
            named.or(function).ok_or_else(|| unknown(name))?
        }
    };
    match (modifiers, code) {
        (KeyModifiers::CONTROL, KeyCode::Char(c)) => match c.to_ascii_lowercase() {
            'h' => confused(name, "Backspace"),
            'i' => confused(name, "Tab"),
            'm' => confused(name, "Enter"),
            'c' => Err("Ctrl-C always stops, and twice quits".to_owned()),
            c @ ('a'..='z' | ' ') => Ok(Key(KeyCode::Char(c), modifiers)),
            _ => Err(format!(
                "few terminals can send {name}: of letters and signs, only ctrl-a to ctrl-z"
            )),
        },
        (KeyModifiers::SHIFT, KeyCode::Tab) => Ok(Key(KeyCode::BackTab, KeyModifiers::NONE)),
        (KeyModifiers::SHIFT, KeyCode::Char(c)) => {
            Err(format!("write the letter as it is typed: {}", c.to_uppercase()))
        }
        (
            KeyModifiers::CONTROL,
            KeyCode::Enter | KeyCode::Tab | KeyCode::Esc | KeyCode::Backspace,
        ) => Err(format!("most terminals send {rest} for {name}")),
        (_, code) => Ok(Key(code, modifiers)),
    }
}

fn confused(name: &str, with: &str) -> Result<Key, String> {
    Err(format!("a terminal sends the same for {name} and {with}"))
}

fn unknown(name: &str) -> String {
    format!(
        "{name} is no key. Keys are written as a, G, ctrl-p, alt-enter, shift-tab, f1, space, enter, \
         esc, tab, up, down, left, right, home, end, pageup, pagedown, backspace, delete"
    )
}

/// How a key is shown.
pub(super) fn shown(key: Key) -> String {
    let Key(code, modifiers) = key;
    let modifier = match modifiers {
        KeyModifiers::CONTROL => "Ctrl-",
        KeyModifiers::ALT => "Alt-",
        KeyModifiers::SHIFT => "Shift-",
        _ => "",
    };
    let named = NAMED.iter().find(|(_, other, _)| *other == code).map(|(.., shown)| *shown);
    match (code, named) {
        (KeyCode::BackTab, _) => "Shift-Tab".to_owned(),
        (_, Some(shown)) => format!("{modifier}{shown}"),
        (KeyCode::Char(c), None) if modifiers != KeyModifiers::NONE => {
            format!("{modifier}{}", c.to_uppercase())
        }
        (KeyCode::Char(c), None) => c.to_string(),
        (KeyCode::F(number), None) => format!("{modifier}F{number}"),
        (other, None) => format!("{modifier}{other}"),
    }
}
