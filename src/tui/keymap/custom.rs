//! The keys in force: those of the tables, and what the user's settings put in their place.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::names::{self, ACTIONS, PLACES};
use super::tables::{ANYWHERE, tables};
use super::{Action, Binding, Context, Key, choices};

/// The keys in force.
#[derive(Debug, Clone, Default)]
pub struct Keymap {
    changes: Vec<Change>,
    /// Whether the prompt has the modes of vi.
    vi: bool,
}

/// Other keys for an action in a place.
#[derive(Debug, Clone)]
struct Change {
    /// None is everywhere, for what means the same in every place.
    place: Option<Context>,
    action: Action,
    keys: Vec<Key>,
    /// The first of them as it is named on the screen.
    label: String,
    /// Which setting made it; none if it was the preset.
    setting: Option<usize>,
}

/// A line of the user's settings.
#[derive(Debug, Clone, Copy)]
pub struct KeySetting<'a> {
    /// The place, if only one is meant.
    pub place: Option<&'a str>,
    /// The action's name.
    pub action: &'a str,
    /// The keys' names.
    pub keys: &'a [String],
}

/// A row of the list of all keys.
#[derive(Debug)]
pub struct KeyRow {
    /// The place's name in the settings.
    pub place: &'static str,
    /// The action's name in the settings.
    pub action: &'static str,
    /// The keys in force.
    pub keys: String,
    /// What they do.
    pub what: &'static str,
}

/// What the vi preset adds in the panes: everything else that vi has is there without it. What it
/// makes of the prompt is in `draft::vi`.
const VI: [(Action, &[Key]); 4] = [
    (Action::PageDown, &[ctrl('d'), ctrl('f')]),
    (Action::PageUp, &[ctrl('u'), ctrl('b')]),
    (Action::Palette, &[letter(':')]),
    (Action::Back, &[letter('i')]),
];

const fn ctrl(c: char) -> Key {
    Key(KeyCode::Char(c), KeyModifiers::CONTROL)
}

const fn letter(c: char) -> Key {
    Key(KeyCode::Char(c), KeyModifiers::NONE)
}

/// The places in which keys are typed as text.
fn is_typed_in(place: Option<Context>) -> bool {
    use Context::{Completion, List, Prompt, Search};
    matches!(place, None | Some(Prompt | Completion | List | Search))
}

fn is_text(key: Key) -> bool {
    matches!(key, Key(KeyCode::Char(_), KeyModifiers::NONE))
}

/// Whether a key can decide about a command. Enter, Space and keys of other places never can; the
/// panel's protection against early keys and bursts is the same for every key.
fn may_decide(key: Key) -> bool {
    matches!(key, Key(KeyCode::Char(c), KeyModifiers::NONE) if c.is_ascii_alphanumeric())
}

impl Keymap {
    /// The keys that a preset and settings make.
    ///
    /// # Errors
    /// Which setting is wrong (none: the preset), and what is wrong with it.
    pub fn new(
        preset: Option<&str>,
        settings: &[KeySetting<'_>],
    ) -> Result<Self, (Option<usize>, String)> {
        let mut keymap = Self::default();
        match preset {
            None | Some("emacs") => {}
            Some("vi") => keymap.add_vi(),
            Some(other) => {
                return Err((None, format!("{other} is no preset: there are emacs and vi")));
            }
        }
        for (index, setting) in settings.iter().enumerate() {
            keymap.set(index, setting).map_err(|what| (Some(index), what))?;
        }
        keymap.no_key_twice()?;
        Ok(keymap)
    }

    /// Whether the prompt has the modes of vi.
    pub(in crate::tui) fn is_vi(&self) -> bool {
        self.vi
    }

    fn add_vi(&mut self) {
        self.vi = true;
        for place in Context::PANES {
            for (action, more) in VI {
                // Esc closes what is open there; only from the lists it leads to the prompt.
                let leads = !matches!(place, Context::Call | Context::Message);
                let binding = bindings(place).find(|binding| binding.action == action);
                if let Some(binding) = binding.filter(|_| action != Action::Back || leads) {
                    let keys = [binding.keys, more].concat();
                    let label = binding.label.to_owned();
                    let change = Change { place: Some(place), action, keys, label, setting: None };
                    self.changes.push(change);
                }
            }
        }
    }

    fn set(&mut self, index: usize, setting: &KeySetting<'_>) -> Result<(), String> {
        let action = action(setting.action)?;
        let places: Vec<Option<Context>> = match setting.place {
            None if ANYWHERE.iter().any(|binding| binding.action == action) => vec![None],
            None => {
                PLACES.iter().map(|(_, place)| Some(*place)).filter(|p| has(*p, action)).collect()
            }
            Some(name) => {
                let place = PLACES.iter().find(|(known, _)| *known == name);
                let Some((_, place)) = place else {
                    let known: Vec<&str> = PLACES.iter().map(|(name, _)| *name).collect();
                    return Err(format!("{name} is no place. There are: {}", known.join(", ")));
                };
                if !has(Some(*place), action) {
                    return Err(format!("there is no {} in {name}", setting.action));
                }
                vec![Some(*place)]
            }
        };
        if setting.keys.is_empty() {
            return Err(format!("{} needs a key", setting.action));
        }
        let keys =
            setting.keys.iter().map(|name| names::key(name)).collect::<Result<Vec<_>, _>>()?;
        if places.contains(&Some(Context::Approval))
            && let Some(key) = keys.iter().find(|key| !may_decide(**key))
        {
            return Err(format!(
                "{} cannot decide about a command: only letters (a to z, A to Z) and digits can",
                names::shown(*key)
            ));
        }
        let mut set = false;
        for place in places {
            let typed = is_typed_in(place);
            let keys: Vec<Key> =
                keys.iter().copied().filter(|key| !(typed && is_text(*key))).collect();
            let Some(first) = keys.first() else { continue };
            let label = names::shown(*first);
            self.changes.retain(|change| (change.place, change.action) != (place, action));
            self.changes.push(Change { place, action, keys, label, setting: Some(index) });
            set = true;
        }
        if set {
            return Ok(());
        }
        Err(format!(
            "where {} means something, letters are typed: take ctrl- or alt-",
            setting.action
        ))
    }

    /// Refuses two meanings of a key in one place.
    fn no_key_twice(&self) -> Result<(), (Option<usize>, String)> {
        for (name, place) in PLACES {
            let mut seen: Vec<(Key, Action, Option<usize>)> = Vec::new();
            for (at, binding) in with_anywhere(place) {
                let change = self.change(at, binding.action);
                let setting = change.and_then(|change| change.setting);
                for key in self.keys(at, binding) {
                    let other = seen.iter().find(|(other, ..)| other == key);
                    let Some((_, action, of_other)) = other else {
                        seen.push((*key, binding.action, setting));
                        continue;
                    };
                    let word = |action| names::of_action(action).unwrap_or("another key");
                    let (mine, theirs) = if setting >= *of_other {
                        (binding.action, *action)
                    } else {
                        (*action, binding.action)
                    };
                    let what = format!(
                        "{} cannot be {} in {name}: it is {} there. Give that another key, too",
                        names::shown(*key),
                        word(mine),
                        word(theirs),
                    );
                    return Err((setting.max(*of_other), what));
                }
            }
        }
        Ok(())
    }

    fn change(&self, place: Option<Context>, action: Action) -> Option<&Change> {
        self.changes.iter().find(|change| change.place == place && change.action == action)
    }

    fn keys(&self, place: Option<Context>, binding: &'static Binding) -> &[Key] {
        self.change(place, binding.action).map_or(binding.keys, |change| &change.keys)
    }

    /// The keys of a binding as they are named on the screen.
    pub(in crate::tui) fn label(&self, place: Option<Context>, binding: &'static Binding) -> &str {
        self.change(place, binding.action).map_or(binding.label, |change| &change.label)
    }

    /// What a key means in a place; `None` if it is text or nothing.
    pub(in crate::tui) fn resolve(&self, place: Context, event: KeyEvent) -> Option<Action> {
        let mut modifiers =
            event.modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT);
        if matches!(event.code, KeyCode::Char(_) | KeyCode::BackTab) {
            modifiers -= KeyModifiers::SHIFT;
        }
        let pressed = Key(event.code, modifiers);
        with_anywhere(place)
            .find(|(place, binding)| self.keys(*place, binding).contains(&pressed))
            .map(|(_, binding)| binding.action)
    }

    /// Every key that can be set, in the order of the places.
    pub fn rows(&self) -> Vec<KeyRow> {
        let anywhere = ANYWHERE.iter().map(|binding| ("", None, binding));
        let placed = PLACES.iter().flat_map(|(name, place)| {
            settable(*place).map(move |binding| (*name, Some(*place), binding))
        });
        let row = |(name, place, binding): (&'static str, Option<Context>, &'static Binding)| {
            let keys: Vec<String> =
                self.keys(place, binding).iter().map(|key| names::shown(*key)).collect();
            let action = names::of_action(binding.action)?;
            Some(KeyRow { place: name, action, keys: keys.join(" "), what: binding.long.text() })
        };
        placed.chain(anywhere).filter_map(row).collect()
    }
}

fn bindings(place: Context) -> impl Iterator<Item = &'static Binding> {
    tables(place).iter().copied().flatten()
}

/// The bindings of a place whose keys can be set: of the approval panel, those that decide.
fn settable(place: Context) -> impl Iterator<Item = &'static Binding> {
    let decides = move |binding: &&Binding| {
        place != Context::Approval || choices().any(|choice| choice.action == binding.action)
    };
    bindings(place).filter(decides)
}

/// The bindings that hold in a place.
fn with_anywhere(place: Context) -> impl Iterator<Item = (Option<Context>, &'static Binding)> {
    let own = bindings(place).map(move |binding| (Some(place), binding));
    own.chain(ANYWHERE.iter().map(|binding| (None, binding)))
}

fn has(place: Option<Context>, action: Action) -> bool {
    place.is_some_and(|place| settable(place).any(|binding| binding.action == action))
}

fn action(name: &str) -> Result<Action, String> {
    if let Some((_, action)) = ACTIONS.iter().find(|(known, _)| *known == name) {
        return Ok(*action);
    }
    let hint = "limpid config keys lists all";
    match name {
        "interrupt" => Err("Ctrl-C always stops, and twice quits".to_owned()),
        _ => Err(format!("{name} is no action: {hint}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting<'a>(place: Option<&'a str>, action: &'a str, keys: &'a [String]) -> KeySetting<'a> {
        KeySetting { place, action, keys }
    }

    fn press(
        keymap: &Keymap,
        place: Context,
        code: KeyCode,
        modifiers: KeyModifiers,
    ) -> Option<Action> {
        keymap.resolve(place, KeyEvent::new(code, modifiers))
    }

    #[test]
    fn every_action_that_has_a_key_has_one_name() {
        for (index, (name, action)) in ACTIONS.iter().enumerate() {
            let others = &ACTIONS[..index];
            assert!(others.iter().all(|(n, a)| n != name && a != action), "{name}");
        }
        for (_, place) in PLACES {
            for (_, binding) in with_anywhere(place) {
                let named = names::of_action(binding.action).is_some();
                assert!(named || binding.action == Action::Interrupt, "{binding:?}");
            }
            let actions: Vec<_> = bindings(place).map(|binding| binding.action).collect();
            for (index, action) in actions.iter().enumerate() {
                assert!(!actions[..index].contains(action), "{place:?}: {action:?} twice");
            }
        }
    }

    #[test]
    fn a_setting_takes_the_place_of_the_tables_keys() {
        let keys = ["ctrl-k".to_owned(), "K".to_owned()];
        let keymap = Keymap::new(None, &[setting(None, "palette", &keys)]).unwrap();
        let none = KeyModifiers::NONE;
        let ctrl = KeyModifiers::CONTROL;
        for place in [Context::Prompt, Context::Conversation, Context::Message] {
            assert_eq!(press(&keymap, place, KeyCode::Char('k'), ctrl), Some(Action::Palette));
            assert_eq!(press(&keymap, place, KeyCode::Char('p'), ctrl), None);
        }
        assert_eq!(press(&keymap, Context::Tools, KeyCode::Char('K'), none), Some(Action::Palette));
        assert_eq!(press(&keymap, Context::Prompt, KeyCode::Char('K'), none), None);
        let rows = keymap.rows();
        let row = rows.iter().find(|row| row.place == "tools" && row.action == "palette").unwrap();
        assert_eq!(row.keys, "Ctrl-K K");
    }

    #[test]
    fn vi_moves_in_panes_and_leaves_the_prompt_alone() {
        let keymap = Keymap::new(Some("vi"), &[]).unwrap();
        let ctrl = KeyModifiers::CONTROL;
        assert_eq!(
            press(&keymap, Context::Conversation, KeyCode::Char('d'), ctrl),
            Some(Action::PageDown)
        );
        assert_eq!(
            press(&keymap, Context::Prompt, KeyCode::Char('d'), ctrl),
            Some(Action::EndOfInput)
        );
        for (code, action) in [('j', Action::Down), ('g', Action::Start), ('i', Action::Back)] {
            let pressed = press(&keymap, Context::Tools, KeyCode::Char(code), KeyModifiers::NONE);
            assert_eq!(pressed, Some(action), "{code}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (place, action, key, expected) in [
            (None, "pallete", "ctrl-k", "pallete is no action"),
            (None, "palette", "ctrl-enter-x", "is no key"),
            (None, "palette", "ctrl-i", "the same for ctrl-i and Tab"),
            (None, "palette", "ctrl-c", "Ctrl-C always stops"),
            (None, "palette", "ctrl-1", "few terminals"),
            (None, "palette", "shift-a", "as it is typed: A"),
            (None, "palette", "ctrl-t", "Ctrl-T cannot be palette in prompt: it is models there"),
            (None, "send-now", "s", "letters are typed"),
            (Some("kitchen"), "copy", "c", "kitchen is no place"),
            (Some("tools"), "fold", "x", "there is no fold in tools"),
            (Some("prompt"), "palette", "x", "letters are typed"),
            (
                Some("conversation"),
                "copy",
                "p",
                "p cannot be copy in conversation: it is prompt-before",
            ),
            (None, "interrupt", "x", "Ctrl-C always stops"),
            (None, "allow-once", "enter", "Enter cannot decide about a command"),
            (None, "allow-session", "space", "Space cannot decide"),
            (Some("approval"), "edit", "ctrl-e", "Ctrl-E cannot decide"),
            (None, "deny", "?", "? cannot decide"),
            (Some("approval"), "deny", "y", "y cannot be deny in approval: it is allow-once there"),
            (Some("approval"), "page-down", "x", "there is no page-down in approval"),
        ] {
            let keys = [key.to_owned()];
            let made = Keymap::new(None, &[setting(place, action, &keys)]);
            let (index, what) = made.expect_err(expected);
            assert_eq!(index, Some(0));
            assert!(what.contains(expected), "{what}");
        }
        let (index, _) = Keymap::new(Some("nano"), &[]).unwrap_err();
        assert_eq!(index, None);
    }
}
