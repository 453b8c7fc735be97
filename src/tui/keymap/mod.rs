//! Which key does what, where. The footer and the help are made from the same tables, so they
//! cannot lie; the user's settings put other keys in their place ([`Keymap`]). No key that terminals confuse with another (Ctrl-H, Ctrl-I, Ctrl-M), and nothing
//! that only an F-key does.

mod custom;
mod names;
mod tables;

use crate::text::{Phrase, phrase, say};
use crossterm::event::{KeyCode, KeyModifiers};

pub use custom::{KeyRow, KeySetting, Keymap};

use super::panes::inspector::View;
use tables::{ANYWHERE, CHOICES, tables};

/// What takes the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// The prompt editor.
    Prompt,
    /// The list of completions over the prompt: it has the keys that it names, the prompt the rest.
    Completion,
    /// The conversation.
    Conversation,
    /// The list of calls.
    Tools,
    /// One call, opened.
    Call,
    /// The list of a turn's messages.
    Inspector,
    /// Any other view of a turn than the list of its messages.
    Message,
    /// The approval panel, ready for a decision.
    Approval,
    /// The approval panel, before it is ready.
    ApprovalWaits,
    /// Editing the command of a call.
    CommandField,
    /// Writing the reason of a denial.
    ReasonField,
    /// Typing what is looked for.
    Search,
    /// Choosing lines to copy.
    Pick,
    /// The help.
    Help,
    /// A list that is open over the screen.
    List,
}

impl Context {
    /// Those in which something of the session is read.
    pub(super) const PANES: [Self; 5] =
        [Self::Conversation, Self::Tools, Self::Call, Self::Inspector, Self::Message];

    pub(super) fn is_pane(self) -> bool {
        Self::PANES.contains(&self)
    }

    /// Whether a field of the approval panel takes the keys.
    pub(super) fn is_field(self) -> bool {
        matches!(self, Self::CommandField | Self::ReasonField)
    }
}

/// What a key means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Sends the prompt, or hands over a field.
    Submit,
    /// Begins a new line.
    NewLine,
    /// Opens the folded paste beside the cursor; if there is none, the prompt in the user's editor.
    Unfold,
    /// Puts the selected completion into the prompt.
    Complete,
    /// Searches earlier prompts for what stands in the prompt.
    SearchPrompts,
    /// Sends the next queued prompt into the running turn.
    Steer,
    /// Ends the program if the prompt is empty.
    EndOfInput,
    /// Leaves the innermost thing; stops the prompt when there is none.
    Back,
    /// Stops; when idle clears the draft; twice quits.
    Interrupt,
    /// Stops the program until the shell continues it.
    Suspend,
    /// Gives the keys to the next pane.
    NextPane,
    /// Gives the keys to the pane before.
    PreviousPane,
    /// Shows or hides the help.
    Help,
    /// Lists every command.
    Palette,
    /// Lists the profiles and models.
    Models,
    /// Asks the server for its models.
    Ask,
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
    /// Lists the turns.
    Turns,
    /// Compares with the turn before the one compared with.
    EarlierBase,
    /// Compares with the turn after the one compared with.
    LaterBase,
    /// Another view of the same turn.
    Show(View),
    /// The view after this one.
    NextView,
    /// Sends the row's entries again as they were.
    SendAgain,
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
    /// Does what the offer over the prompt proposes.
    TakeOffer,
    /// All that a command wrote instead of what the model was told, and back.
    Output,
    /// Looks for a text in the pane.
    Find,
    /// To the next match.
    NextMatch,
    /// To the match before.
    PreviousMatch,
    /// Folds or unfolds the item at hand.
    Fold,
    /// Unfolds everything, or folds it.
    FoldAll,
    /// Messages as they were written instead of as Markdown, and back.
    AsWritten,
    /// To the landmark before.
    Before(Landmark),
    /// To the landmark after.
    After(Landmark),
    /// Copies the text at hand, or the chosen lines.
    Copy,
    /// Opens the text at hand to choose from.
    CopyPart,
    /// Begins or ends choosing several lines.
    Mark,
    /// Chooses the next code block, or another part.
    NextPart,
    /// Writes the chosen lines into a file.
    WriteCopy,
    /// Gives the pane all the room, or shows all panes again.
    Zoom,
    /// Fewer columns for the conversation.
    Narrower,
    /// More columns for the conversation.
    Wider,
    /// Fewer rows for the tools.
    Shorter,
    /// More rows for the tools.
    Taller,
    /// Takes the mouse from the terminal, or gives it back.
    Mouse,
}

/// What the conversation can be gone through by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Landmark {
    Item,
    Prompt,
    Call,
    Error,
    Turn,
}

impl Landmark {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Item => say!("item"),
            Self::Prompt => say!("prompt"),
            Self::Call => say!("call"),
            Self::Error => say!("error"),
            Self::Turn => say!("turn"),
        }
    }
}

/// A key as it is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key(KeyCode, KeyModifiers);

/// Keys of one action in one place, with a word for the footer and a line for the help.
#[derive(Debug)]
pub(super) struct Binding {
    keys: &'static [Key],
    /// The keys as they are named on the screen, unless settings change them.
    label: &'static str,
    /// What they do, in a word or two; empty: not in the footer.
    pub(super) short: Phrase,
    /// What they do, in full.
    pub(super) long: Phrase,
    action: Action,
}

impl Binding {
    pub(super) fn action(&self) -> Action {
        self.action
    }
}

/// What the footer names: all but the choices, which stand in the panel.
pub(super) fn footer(context: Context) -> impl Iterator<Item = &'static Binding> {
    let context = if context == Context::Approval { Context::ApprovalWaits } else { context };
    tables(context).iter().copied().flatten()
}

/// The choices of the approval panel.
pub(super) fn choices() -> impl Iterator<Item = &'static Binding> {
    CHOICES.iter()
}

/// Every key with the place where it means something, if that is one place; those of `context` first.
pub(super) fn actions(
    context: Context,
) -> impl Iterator<Item = (&'static str, Option<Context>, &'static Binding)> {
    const ALL: [(Phrase, Context); 13] = [
        (phrase("Prompt"), Context::Prompt),
        (phrase("Completion"), Context::Completion),
        (phrase("Approval"), Context::Approval),
        (phrase("Editing a command"), Context::CommandField),
        (phrase("Giving a reason"), Context::ReasonField),
        (phrase("Conversation"), Context::Conversation),
        (phrase("Tools"), Context::Tools),
        (phrase("A call"), Context::Call),
        (phrase("Inspector"), Context::Inspector),
        (phrase("A message"), Context::Message),
        (phrase("A list"), Context::List),
        (phrase("Finding a text"), Context::Search),
        (phrase("Copying lines"), Context::Pick),
    ];
    let context = if context == Context::ApprovalWaits { Context::Approval } else { context };
    let first = ALL.into_iter().filter(move |(_, other)| *other == context);
    let rest = ALL.into_iter().filter(move |(_, other)| *other != context);
    first
        .chain(rest)
        .flat_map(|(name, context)| {
            let bindings = tables(context).iter().copied().flatten();
            bindings.map(move |binding| (name.text(), Some(context), binding))
        })
        .chain(ANYWHERE.iter().map(|binding| (say!("Anywhere"), None, binding)))
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyEvent;

    use super::tables::ctrl;
    use super::*;

    fn resolve(context: Context, event: KeyEvent) -> Option<Action> {
        Keymap::default().resolve(context, event)
    }

    const CONTEXTS: [Context; 15] = [
        Context::Prompt,
        Context::Completion,
        Context::Conversation,
        Context::Tools,
        Context::Call,
        Context::Inspector,
        Context::Message,
        Context::Approval,
        Context::ApprovalWaits,
        Context::CommandField,
        Context::ReasonField,
        Context::Search,
        Context::Pick,
        Context::Help,
        Context::List,
    ];

    #[test]
    fn no_key_means_two_things_in_one_place() {
        for context in CONTEXTS {
            let mut seen = Vec::new();
            for binding in tables(context).iter().copied().flatten().chain(ANYWHERE) {
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
