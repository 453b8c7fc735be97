//! The lists that open over the screen: every command there is (palette), and the way to the model
//! (profiles, models, parameters). What stands in them, and what choosing a row means; how a list
//! looks is `panes::list`'s, what a command does `update`'s.

use crate::text::{say, translated};
use std::collections::HashSet;
use std::path::PathBuf;

use super::completion::first_line;
use super::keymap::{self, Action, Context};
use super::model::Model;
use super::panes::inspector::{View, went_wrong};
use super::panes::list::{List, Row};
use super::sessions::Sessions;
use super::slash::WORDS;
use super::theme::Look;
use crate::conversation::{
    KeyState, Origin, Parameter, Profile, ProfileRow, SCRIPTED, Session, Turn, TurnNumber,
};
use crate::text;
use crate::wire::{Format, Parameters};

/// A list that is open.
#[derive(Debug)]
pub(super) struct Popup {
    pub(super) list: List,
    pub(super) kind: Kind,
}

/// What a list is of.
#[derive(Debug)]
pub(super) enum Kind {
    /// Every command; where it was opened.
    Palette(Context),
    /// The profiles; none before the settings are read.
    Profiles(Vec<ProfileRow>),
    /// Models of a profile.
    Models { profile: ProfileRow, listed: Listed },
    /// The parameters of every request.
    Parameters,
    /// A value for one of them.
    Value(Parameter),
    /// The turns.
    Turns,
    /// The themes.
    Themes(Vec<String>),
    /// The sessions to go on with.
    Sessions(Sessions),
}

/// What is known of a server's models.
#[derive(Debug, Default)]
pub(super) enum Listed {
    #[default]
    NotAsked,
    Asked,
    Models(Vec<String>),
    Failed(String),
}

/// What choosing a row means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Choice {
    /// What this key does there.
    Act(Context, Action),
    /// As if the word had been submitted.
    Word(&'static str),
    /// Goes on to the profile's models.
    Profile(ProfileRow),
    /// Goes on to the parameters.
    Parameters,
    /// This model of the profile.
    Model(String),
    /// Goes on to the parameter's value.
    Parameter(Parameter),
    /// This value, or none.
    Value(Option<String>),
    /// This turn.
    Turn(TurnNumber),
    /// This theme.
    Theme(String),
    /// The session in this directory.
    Session(PathBuf),
}

impl Popup {
    pub(super) fn of(kind: Kind) -> Self {
        Self { list: List::default(), kind }
    }

    pub(super) fn title(&self) -> String {
        match &self.kind {
            Kind::Palette(_) => say!("Commands").to_owned(),
            Kind::Profiles(_) => say!("Model: first the profile").to_owned(),
            Kind::Models { profile, .. } => say!("Model at {name}", name = profile.name),
            Kind::Parameters => say!("Parameters of every request").to_owned(),
            Kind::Value(parameter) => parameter.name().to_owned(),
            Kind::Turns => say!("Turns").to_owned(),
            Kind::Themes(_) => say!("Theme").to_owned(),
            Kind::Sessions(_) => say!("Sessions").to_owned(),
        }
    }

    /// What Tab does in it; nothing in most.
    pub(super) fn word_of_tab(&self) -> &'static str {
        match &self.kind {
            Kind::Models { .. } => say!("ask the server"),
            Kind::Sessions(sessions) if sessions.everywhere => say!("of this directory"),
            Kind::Sessions(_) => say!("of every directory"),
            _ => "",
        }
    }

    /// What stands below the list.
    pub(super) fn remark(&self, model: &Model) -> (String, Look) {
        let dim = |text: &str| (text.to_owned(), Look::Dim);
        match &self.kind {
            Kind::Palette(_) => dim(""),
            Kind::Profiles(profiles) if profiles.is_empty() => dim(say!("Reading the settings …")),
            Kind::Profiles(_) => dim(say!("What has been said goes along to the next model.")),
            Kind::Models { profile, listed } => match listed {
                Listed::NotAsked => {
                    dim(say!("Type an id, or ask the server for its models with Tab."))
                }
                Listed::Asked => (say!("Asking {host} …", host = profile.host), Look::Busy),
                Listed::Models(models) if models.is_empty() => {
                    dim(say!("The server names no model."))
                }
                Listed::Models(_) => dim(say!("What the server lists; another id can be typed.")),
                Listed::Failed(why) => (translated(why).into_owned(), Look::Warning),
            },
            Kind::Parameters => {
                let (format, parameters) = in_force(model);
                let remark = |parameter| parameters.remark(parameter, format?);
                let remarks = Parameter::ALL.into_iter().filter_map(remark);
                let remarks: Vec<String> =
                    remarks.map(|remark| translated(&remark).into_owned()).collect();
                if remarks.is_empty() {
                    dim(say!("They hold for the rest of the session."))
                } else {
                    (remarks.join("\n"), Look::Warning)
                }
            }
            Kind::Value(parameter) => {
                (format!("{}{}", translated(parameter.about()), say!(".")), Look::Dim)
            }
            Kind::Turns => dim(say!("Type a number, or words of the prompt.")),
            Kind::Sessions(sessions) => sessions.remark(),
            Kind::Themes(_) => {
                dim(say!("Enter shows it. To keep it, in a shell: limpid config set theme NAME"))
            }
        }
    }

    /// The rows, each with what choosing it means.
    pub(super) fn rows(&self, model: &Model) -> Vec<(Row, Choice)> {
        let typed = self.list.typed();
        match &self.kind {
            Kind::Palette(context) => {
                let mut rows = palette(model, *context);
                rows.sort_by_cached_key(|(row, _)| named(row, &typed));
                rows
            }
            Kind::Profiles(profiles) => chooser(profiles, model.profile()),
            Kind::Models { profile, listed } => models(profile, listed, &typed, model.profile()),
            Kind::Parameters => {
                Parameter::ALL.into_iter().map(|parameter| of_parameter(model, parameter)).collect()
            }
            Kind::Value(parameter) => values(*parameter, &typed),
            Kind::Turns => turns(&model.session, &typed),
            Kind::Sessions(sessions) => sessions.rows(),
            Kind::Themes(names) => themes(names, &model.setup.theme.name),
        }
    }
}

pub(super) fn row(cells: &[(&str, Look)]) -> Row {
    let cells = cells.iter().map(|(text, look)| ((*text).to_owned(), *look)).collect();
    Row { cells, always: false }
}

/// What is typed in the palette names a key or word first, then what begins so, then all else.
fn named(row: &Row, typed: &str) -> u8 {
    let typed = typed.trim().to_lowercase();
    let begins = |at: usize| {
        let cell = row.cells.get(at).map_or("", |(text, _)| text);
        cell.trim_start_matches('/').to_lowercase().starts_with(typed.trim_start_matches('/'))
    };
    (0..2).find(|at| begins((*at).into())).unwrap_or(2)
}

/// What is good for something now comes first: the keys of where it was opened, then the words, then
/// other places. What means the same in several places stands there once.
fn palette(model: &Model, context: Context) -> Vec<(Row, Choice)> {
    let mut rows: Vec<(u8, Row, Choice)> = Vec::new();
    let all: Vec<_> = keymap::actions(context)
        .map(|(section, place, binding)| {
            let label = model.setup.keymap.label(place, binding);
            let place = place.unwrap_or(context);
            (section, place, binding, (label, binding.long), is_there(model, place))
        })
        .collect();
    let mut known = Vec::new();
    for (section, place, binding, same, there) in &all {
        let (section, place, there) = (*section, *place, *there);
        // Where it is good for something comes before where it is not.
        let is_elsewhere = !there && all.iter().any(|(.., other, there)| other == same && *there);
        if is_elsewhere || known.contains(&same) {
            continue;
        }
        known.push(same);
        let (label, _) = *same;
        let look = if there { Look::Text } else { Look::Dim };
        let cells = [(label, Look::Key), (binding.long.text(), look), (section, Look::Dim)];
        let rank = match there {
            true if place == context => 0,
            true => 2,
            false => 3,
        };
        rows.push((rank, row(&cells), Choice::Act(place, binding.action())));
    }
    for (word, what) in WORDS {
        let cells = [
            (word, Look::Key),
            (what.text(), Look::Text),
            (say!("Words in the prompt"), Look::Dim),
        ];
        rows.push((1, row(&cells), Choice::Word(word)));
    }
    rows.sort_by_key(|(rank, ..)| *rank);
    rows.into_iter().map(|(_, row, choice)| (row, choice)).collect()
}

/// Whether there is anything at this moment for which the keys of a context are good.
pub(super) fn is_there(model: &Model, context: Context) -> bool {
    match context {
        Context::Prompt | Context::Conversation | Context::Tools | Context::Inspector => true,
        Context::Call => model.tools.opened.is_some(),
        Context::Message => model.inspector.view != View::Roles,
        // Nothing but its own key decides about a command.
        Context::Approval
        | Context::ApprovalWaits
        | Context::CommandField
        | Context::ReasonField
        | Context::Search
        | Context::Pick
        | Context::Help
        | Context::Completion
        | Context::List => false,
    }
}

fn chooser(profiles: &[ProfileRow], present: &Profile) -> Vec<(Row, Choice)> {
    let mut rows: Vec<(Row, Choice)> = profiles
        .iter()
        .map(|profile| {
            let here = profile.name == present.name
                || profile.name == "offline" && present.name == SCRIPTED;
            let mark = if here { "✓" } else { " " };
            let (key, look) = key_in_words(&profile.key);
            let cells = [
                (mark, Look::Good),
                (&*profile.name, Look::Strong),
                (profile.model.as_deref().unwrap_or(say!("(name a model)")), Look::Text),
                (&key, look),
                (&profile.format, Look::Dim),
                (&profile.host, Look::Dim),
            ];
            (row(&cells), Choice::Profile(profile.clone()))
        })
        .collect();
    if !profiles.is_empty() {
        let cells = [(" ", Look::Text), (say!("parameters …"), Look::Key), ("/set", Look::Dim)];
        rows.push((row(&cells), Choice::Parameters));
    }
    rows
}

/// Whether a key is there, and how that looks.
pub(super) fn key_in_words(key: &KeyState) -> (String, Look) {
    match key {
        KeyState::NotNeeded => (say!("no key").to_owned(), Look::Dim),
        KeyState::Found(name) => (format!("✓ {name}"), Look::Good),
        KeyState::Missing(name) => (say!("✗ no {name}", name = name), Look::Warning),
    }
}

fn models(
    profile: &ProfileRow,
    listed: &Listed,
    typed: &str,
    present: &Profile,
) -> Vec<(Row, Choice)> {
    let mut known: Vec<(&str, &str)> = Vec::new();
    if let Some(own) = &profile.model {
        known.push((own, say!("the profile's own")));
    }
    if profile.name == present.name && known.iter().all(|(id, _)| *id != present.model) {
        known.push((&present.model, say!("in use")));
    }
    if let Listed::Models(ids) = listed {
        let mut named: HashSet<&str> = known.iter().map(|(id, _)| *id).collect();
        let others = ids.iter().filter(|id| named.insert(id));
        known.extend(others.map(|id| (&**id, say!("listed by the server"))));
    }
    let is_new = !typed.is_empty() && known.iter().all(|(id, _)| *id != typed);
    // An id of which another holds a part comes after the one that it stands for.
    known.sort_by_key(|(id, _)| *id != typed);
    let mut rows: Vec<(Row, Choice)> = known
        .into_iter()
        .map(|(id, about)| {
            (row(&[(id, Look::Strong), (about, Look::Dim)]), Choice::Model(id.to_owned()))
        })
        .collect();
    if is_new {
        let typed_row = row(&[(typed, Look::Strong), (say!("as typed"), Look::Dim)]);
        let typed_row = (Row { always: true, ..typed_row }, Choice::Model(typed.to_owned()));
        // Where the server's own list is there, typing looks for something in it.
        let place = if matches!(listed, Listed::Models(_)) { rows.len() } else { 0 };
        rows.insert(place, typed_row);
    }
    rows
}

/// The format of the profile in force, and what is set for it.
pub(super) fn in_force(model: &Model) -> (Option<Format>, Parameters) {
    let formats = Format::ALL;
    let format = formats.into_iter().find(|format| format.name() == model.profile().format);
    let mut parameters = Parameters::default();
    for set in model.parameters() {
        // Records hold what was read before.
        let _ = parameters.set(set.parameter, Some(&set.value));
    }
    (format, parameters)
}

fn of_parameter(model: &Model, parameter: Parameter) -> (Row, Choice) {
    let (format, parameters) = in_force(model);
    let set = model.parameters().iter().find(|set| set.parameter == parameter);
    let is_doubtful = format.is_some_and(|format| parameters.remark(parameter, format).is_some());
    let unset =
        || format.map_or(say!("left to the server"), |format| parameters.unset(parameter, format));
    let source;
    let cells = match set {
        None => {
            let unset = translated(unset());
            return (
                row(&[(parameter.name(), Look::Strong), (&unset, Look::Dim)]),
                Choice::Parameter(parameter),
            );
        }
        Some(set) => {
            source = translated(&set.source);
            let mut cells = vec![(parameter.name(), Look::Strong), (&*set.value, Look::Text)];
            cells.push((&source, Look::Dim));
            cells.extend(is_doubtful.then_some((say!("! see below"), Look::Warning)));
            cells
        }
    };
    (row(&cells), Choice::Parameter(parameter))
}

/// The newest first, but before all the one whose number is typed.
fn turns(session: &Session, typed: &str) -> Vec<(Row, Choice)> {
    let mut turns: Vec<&Turn> = session.turns.iter().rev().collect();
    turns.sort_by_key(|turn| turn.number.to_string() != typed);
    let of_turn = |turn: &Turn| {
        let mut entry = turn.head.and_then(|head| session.entries.get(&head));
        while let Some(other) = entry.filter(|entry| entry.origin != Origin::User) {
            entry = other.parent.and_then(|parent| session.entries.get(&parent));
        }
        let prompt = entry.map(|entry| first_line(&entry.text())).unwrap_or_default();
        let went = went_wrong(turn, session).unwrap_or_default();
        let cells = [
            (&*turn.number.to_string(), Look::Strong),
            (&*text::bytes(turn.request.bytes), Look::Text),
            (&*went, Look::Bad),
            (&*prompt, Look::Dim),
        ];
        (row(&cells), Choice::Turn(turn.number))
    };
    turns.into_iter().map(of_turn).collect()
}

fn themes(names: &[String], present: &str) -> Vec<(Row, Choice)> {
    let of_theme = |name: &String| {
        let mark = if name == present { "✓" } else { " " };
        (row(&[(mark, Look::Good), (name, Look::Strong)]), Choice::Theme(name.clone()))
    };
    names.iter().map(of_theme).collect()
}

fn values(parameter: Parameter, typed: &str) -> Vec<(Row, Choice)> {
    let mut rows = Vec::new();
    let mut push = |cells: &[(&str, Look)], value: Option<String>| {
        let row = Row { always: true, ..row(cells) };
        rows.push((row, Choice::Value(value)));
    };
    if !typed.is_empty() {
        let read = Parameters::default().set(parameter, Some(typed));
        let (about, look) = match &read {
            Ok(()) => (say!("from the next request on"), Look::Dim),
            Err(why) => (&*translated(why), Look::Warning),
        };
        push(&[(typed, Look::Strong), (about, look)], Some(typed.to_owned()));
    }
    push(&[("unset", Look::Strong), (say!("leaves it to the server"), Look::Dim)], None);
    rows
}
