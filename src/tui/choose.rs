//! What the keys of an open list do, and what choosing one of its rows leads to.

use crate::text::{Phrase, phrase, say, translated};
use std::time::Instant;

use crossterm::event::KeyEvent;

use super::exchanged::Effect;
use super::keymap::{Action, Context};
use super::layout::Shape;
use super::model::{Focus, Model};
use super::panes::conversation::in_words;
use super::panes::list::{List, Row};
use super::panes::prompt::Submitted;
use super::popup::{Choice, Kind, Listed, Popup, is_there};
use super::pressed::act_unpressed;
use super::search;
use super::sessions::{SessionRow, Sessions};
use super::submit::perform;
use crate::conversation::{Command, Destination, Parameter, Progress, TurnNumber};
use crate::text::{self, Show};
use crate::wire::Parameters;

/// How `/model` is written.
const MODEL: Phrase =
    phrase("/model alone lists; /model PROFILE, /model ID or /model PROFILE ID switches.");
/// How `/set` is written.
const SET: Phrase =
    phrase("/set alone lists; /set NAME VALUE sets; /set NAME unset leaves it to the server.");

/// Opens every command there is.
pub(super) fn open_palette(model: &mut Model, context: Context) {
    model.popup = Some(Popup::of(Kind::Palette(context)));
}

/// Opens the themes.
pub(super) fn open_themes(model: &mut Model, names: Vec<String>) {
    let present = names.iter().position(|name| *name == model.setup.theme.name);
    let list = List::at(present.unwrap_or_default());
    model.popup = Some(Popup { list, kind: Kind::Themes(names) });
}

/// Opens the sessions.
pub(super) fn open_sessions(model: &mut Model) -> Vec<Effect> {
    model.popup = Some(Popup::of(Kind::Sessions(Sessions::default())));
    vec![Effect::ListSessions]
}

/// Takes the sessions, if they are still wanted.
pub(super) fn take_sessions(model: &mut Model, found: Result<Vec<SessionRow>, String>) {
    if let Some(Popup { kind: Kind::Sessions(sessions), .. }) = &mut model.popup {
        sessions.found = Some(found);
    }
}

/// Opens the profiles.
pub(super) fn open_profiles(model: &mut Model) -> Vec<Effect> {
    model.popup = Some(Popup::of(Kind::Profiles(Vec::new())));
    vec![Effect::Send(Command::ListProfiles)]
}

/// Takes what answers a question of an open list; what came too late is no longer wanted.
pub(super) fn answered(model: &mut Model, progress: &Progress) {
    model.ways.told(progress);
    let kind = model.popup.as_mut().map(|popup| &mut popup.kind);
    match (progress, kind) {
        (Progress::Planned { profile, parameters }, _) => {
            let is_same = profile == model.profile();
            let what = if is_same { in_words(parameters) } else { profile.shown() };
            let what = text::visible(&what, Show::Prose).into_owned();
            model.note = Some(say!("From the first request on: {what}", what = what));
            model.setup.profile = profile.clone();
            model.setup.parameters.clone_from(parameters);
        }
        (Progress::Profiles(profiles), Some(Kind::Profiles(listed))) => listed.clone_from(profiles),
        (
            Progress::Models { profile, models, failure },
            Some(Kind::Models { profile: asked, listed }),
        ) if *profile == asked.name => {
            *listed = match failure {
                Some(why) => Listed::Failed(why.clone()),
                None => Listed::Models(models.clone()),
            };
        }
        _ => {}
    }
}

/// Takes a key while a list is open.
pub(super) fn key(
    model: &mut Model,
    action: Option<Action>,
    key: KeyEvent,
    now: Instant,
) -> Vec<Effect> {
    let Some(popup) = &model.popup else { return Vec::new() };
    let (rows, choices): (Vec<Row>, Vec<Choice>) = popup.rows(model).into_iter().unzip();
    let Some(popup) = &mut model.popup else { return Vec::new() };
    match action {
        None => popup.list.key(key),
        Some(Action::Submit) => {
            let choice = popup.list.chosen(&rows).and_then(|place| choices.get(place));
            return choice.map_or_else(Vec::new, |choice| choose(model, choice.clone(), now));
        }
        Some(Action::Back) => return back(model),
        Some(Action::Ask) => match &mut popup.kind {
            Kind::Models { profile, listed } => {
                *listed = Listed::Asked;
                return vec![Effect::Send(Command::ListModels(profile.name.clone()))];
            }
            Kind::Sessions(sessions) => sessions.everywhere = !sessions.everywhere,
            _ => {}
        },
        Some(action) => popup.list.act(action, &rows),
    }
    Vec::new()
}

/// One list back.
fn back(model: &mut Model) -> Vec<Effect> {
    match model.popup.take().map(|popup| popup.kind) {
        Some(Kind::Models { .. }) => return open_profiles(model),
        Some(Kind::Value(_)) => model.popup = Some(Popup::of(Kind::Parameters)),
        _ => {}
    }
    Vec::new()
}

fn choose(model: &mut Model, choice: Choice, now: Instant) -> Vec<Effect> {
    let Some(Popup { list, kind }) = model.popup.take() else { return Vec::new() };
    match (choice, kind) {
        (Choice::Act(context, action), _) => act(model, context, action, now),
        (Choice::Word(word), _) => {
            perform(model, Submitted::of(word.to_owned())).unwrap_or_default()
        }
        (Choice::Profile(profile), _) => {
            let listed = Listed::default();
            model.popup = Some(Popup::of(Kind::Models { profile, listed }));
            Vec::new()
        }
        (Choice::Parameters, _) => {
            model.popup = Some(Popup::of(Kind::Parameters));
            Vec::new()
        }
        (Choice::Model(id), Kind::Models { profile, .. }) => {
            connect(model, Destination::Profile { name: profile.name, model: Some(id) })
        }
        (Choice::Parameter(parameter), _) => {
            model.popup = Some(Popup::of(Kind::Value(parameter)));
            Vec::new()
        }
        (Choice::Value(value), Kind::Value(parameter)) => {
            let effects = set(model, parameter, value);
            let kind = if effects.is_empty() { Kind::Value(parameter) } else { Kind::Parameters };
            model.popup = Some(Popup::of(kind));
            effects
        }
        // It stays open, so that one can try another.
        (Choice::Theme(name), kind) => {
            model.popup = Some(Popup { list, kind });
            vec![Effect::UseTheme(name)]
        }
        (Choice::Turn(turn), _) => {
            show_turn(model, turn);
            Vec::new()
        }
        (Choice::Session(path), _) => vec![Effect::GoOnWith(path)],
        (Choice::Model(_) | Choice::Value(_), _) => Vec::new(),
    }
}

/// Does what a key does in another place, if it is good for anything at this moment.
fn act(model: &mut Model, context: Context, action: Action, now: Instant) -> Vec<Effect> {
    let decides = matches!(context, Context::Approval | Context::ApprovalWaits)
        || context == Context::Prompt && action == Action::Back && model.approval.is_some();
    if decides {
        model.note =
            Some(say!("About a command only its own key decides, in the panel.").to_owned());
        return Vec::new();
    }
    if !is_there(model, context) {
        let what = match context {
            Context::Call => say!("No call is open."),
            Context::Message => say!("No message is open."),
            _ => say!("That key is good only in its own place."),
        };
        model.note = Some(what.to_owned());
        return Vec::new();
    }
    let in_pane = !matches!(context, Context::Prompt);
    if in_pane && Shape::of(model.size) == Shape::Small {
        model.note = Some(no_room());
        return Vec::new();
    }
    model.focus = match context {
        Context::Conversation => Focus::Conversation,
        Context::Tools | Context::Call => Focus::Tools,
        Context::Inspector | Context::Message => Focus::Inspector,
        _ => model.focus,
    };
    act_unpressed(model, context, action, now)
}

/// `/model` with these words.
pub(super) fn model_words(model: &mut Model, words: &[String]) -> Option<Vec<Effect>> {
    let to = match words {
        [] => return Some(open_profiles(model)),
        [name] => Destination::Named(name.clone()),
        [name, id] => Destination::Profile { name: name.clone(), model: Some(id.clone()) },
        _ => {
            model.note = Some(MODEL.text().to_owned());
            return None;
        }
    };
    Some(connect(model, to))
}

/// `/set` with these words.
pub(super) fn set_words(model: &mut Model, words: &[String]) -> Option<Vec<Effect>> {
    let (name, value) = match words {
        [] => {
            model.popup = Some(Popup::of(Kind::Parameters));
            return Some(Vec::new());
        }
        [name, value] => (name, (value != "unset").then(|| value.clone())),
        _ => {
            model.note = Some(SET.text().to_owned());
            return None;
        }
    };
    let Some(parameter) = Parameter::named(name) else {
        let names = Parameter::ALL.map(Parameter::name).join(", ");
        model.note = Some(say!("No such parameter. There are: {names}.", names = names));
        return None;
    };
    Some(set(model, parameter, value)).filter(|effects| !effects.is_empty())
}

/// `/turn` with these words.
pub(super) fn turn_words(model: &mut Model, words: &[String]) -> Option<Vec<Effect>> {
    match words {
        [] => {
            open_turns(model);
            model.popup.is_some().then(Vec::new)
        }
        [number] => {
            let number = number.parse().ok().map(TurnNumber);
            let turn = number.filter(|number| model.session.turn(*number).is_some());
            if turn.is_none() {
                let last = model.session.turns.last().map(|turn| turn.number);
                model.note = Some(match last {
                    Some(last) => say!("No such turn: the last one is {last}.", last = last),
                    None => no_turns(),
                });
            }
            turn.filter(|turn| show_turn(model, *turn)).map(|_| Vec::new())
        }
        _ => {
            model.note = Some(say!("/turn alone lists; /turn NUMBER shows one.").to_owned());
            None
        }
    }
}

/// Opens the turns.
pub(super) fn open_turns(model: &mut Model) {
    if model.session.turns.is_empty() {
        model.note = Some(no_turns());
    } else {
        model.popup = Some(Popup::of(Kind::Turns));
    }
}

fn no_turns() -> String {
    say!("Nothing was sent yet.").to_owned()
}

/// Shows a turn in the inspector, if there is room for it.
fn show_turn(model: &mut Model, turn: TurnNumber) -> bool {
    if Shape::of(model.size) == Shape::Small {
        model.note = Some(no_room());
        return false;
    }
    search::end(model);
    model.focus = Focus::Inspector;
    model.inspector.go_to(turn, &model.session);
    true
}

fn no_room() -> String {
    say!("The window has no room for that pane. Enlarge it.").to_owned()
}

/// `/theme` with these words.
pub(super) fn theme_words(model: &mut Model, words: &[String]) -> Option<Vec<Effect>> {
    match words {
        [] => Some(vec![Effect::ListThemes]),
        [name] => Some(vec![Effect::UseTheme(name.clone())]),
        _ => {
            model.note = Some(say!("/theme alone lists; /theme NAME changes.").to_owned());
            None
        }
    }
}

fn connect(model: &mut Model, to: Destination) -> Vec<Effect> {
    after_this_prompt(
        model,
        say!("The model is switched when this prompt has ended. Esc stops it."),
    );
    vec![Effect::Send(Command::Connect(to))]
}

/// Sets a value, if it can be one.
fn set(model: &mut Model, parameter: Parameter, value: Option<String>) -> Vec<Effect> {
    if let Err(why) = Parameters::default().set(parameter, value.as_deref()) {
        model.note =
            Some(say!("Not set: {name} {why}.", name = parameter.name(), why = translated(&why)));
        return Vec::new();
    }
    after_this_prompt(model, say!("It is set when this prompt has ended. Esc stops it."));
    vec![Effect::Send(Command::Set { parameter, value })]
}

fn after_this_prompt(model: &mut Model, what: &str) {
    if model.running {
        model.note = Some(what.to_owned());
    }
}
