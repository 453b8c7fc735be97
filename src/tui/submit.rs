//! What is asked of the loop: what a submitted text means done, a queued prompt sent at once, an
//! offer taken.

use crate::text::{self, Show, say, visible};
use std::time::Instant;

use super::allowances;
use super::choose;
use super::copy;
use super::exchanged::Effect;
use super::model::{Focus, Model};
use super::mouse;
use super::panes::prompt::Submitted;
use super::scroll::Scroll;
use crate::conversation::{Command, Overlay};

/// Sends what stands in the prompt, or does what it says; an empty one sends what is queued.
pub(super) fn submit(model: &mut Model) -> Vec<Effect> {
    let submitted = match model.prompt.submitted() {
        Submitted::Nothing if !model.running => match model.queue.take_next() {
            Some(next) => Submitted::of(next),
            None => return Vec::new(),
        },
        submitted => submitted,
    };
    if model.running && matches!(submitted, Submitted::Prompt(_) | Submitted::Own { .. }) {
        if model.queue.has_room() {
            let text = model.prompt.take();
            model.queue.push(text);
        } else {
            model.note = Some(say!("The queue is full. Your text stays.").to_owned());
        }
        return Vec::new();
    }
    let effects = perform(model, submitted);
    if effects.is_some() {
        model.prompt.take();
    }
    effects.unwrap_or_default()
}

/// Does what a submitted text means; `None`, with a note, if that cannot be now.
pub(super) fn perform(model: &mut Model, submitted: Submitted) -> Option<Vec<Effect>> {
    if model.running && submitted.is_between_prompts() {
        model.note = Some(say!("Still running: Esc stops it. Your text stays.").to_owned());
        return None;
    }
    let command = match submitted {
        Submitted::Nothing => return None,
        Submitted::Model(words) => return choose::model_words(model, &words),
        Submitted::Set(words) => return choose::set_words(model, &words),
        Submitted::Turn(words) => return choose::turn_words(model, &words),
        Submitted::Theme(words) => return choose::theme_words(model, &words),
        Submitted::Unknown(word) => {
            let word = visible(&word, Show::Prose).into_owned();
            model.note = Some(say!(
                "No such command: {word}. Nothing was sent. /help lists them.",
                word = word
            ));
            return None;
        }
        Submitted::Near(word) => {
            let note = say!(
                "Nothing was sent. Did you mean {word}? A space in front sends it as text.",
                word = word
            );
            model.note = Some(note);
            return None;
        }
        Submitted::Quit => return Some(vec![Effect::Quit]),
        Submitted::Resume => return Some(choose::open_sessions(model)),
        Submitted::Mouse => return Some(mouse::toggle(model)),
        Submitted::Copy => return copy::last_said(model),
        Submitted::Print => {
            let Some(text) = model.conversation.transcript(&model.session) else {
                model.note = Some(say!("Nothing is said yet.").to_owned());
                return None;
            };
            return Some(vec![Effect::Print(text)]);
        }
        Submitted::Help => {
            model.help = Some(Scroll::from_top());
            return Some(Vec::new());
        }
        Submitted::Allowed => {
            model.conversation.note(allowances::told(&model.session));
            model.split.show(Focus::Conversation);
            return Some(Vec::new());
        }
        Submitted::Continue if !model.session.awaits_reply() => {
            let why =
                say!("There is nothing to continue: nothing waits for an answer of the model.");
            model.note = Some(why.to_owned());
            return None;
        }
        Submitted::NoCommand => {
            model.note = Some(say!("Write a command after the !, such as !ls.").to_owned());
            return None;
        }
        Submitted::Folded => {
            let why = say!(
                "Not run: a paste in it is folded. Ctrl-X opens it; a space in front sends it as text."
            );
            model.note = Some(why.to_owned());
            return None;
        }
        Submitted::Own { command, told } => Command::Run { command, told },
        Submitted::Restore => {
            let sent = |entry| (entry, Overlay::Sent);
            let all: Vec<_> = model.session.overlays.entries().map(sent).collect();
            if all.is_empty() {
                model.note = Some(say!("Nothing is left out or shortened.").to_owned());
                return None;
            }
            model.note = Some(say!("From the next turn on, all is sent as it was.").to_owned());
            return Some(vec![Effect::Send(Command::Overlay { overlays: all, goes_on: false })]);
        }
        Submitted::Prompt(text) => Command::Prompt(text),
        Submitted::Continue => Command::Continue,
        Submitted::Clear => Command::Clear,
        Submitted::Revoke if model.session.allowed.is_empty() => {
            model.note = Some(allowances::NONE.text().to_owned());
            return Some(Vec::new());
        }
        Submitted::Revoke => Command::Revoke,
    };
    show_what_comes(model);
    if !matches!(command, Command::Clear | Command::Revoke) {
        begin(model);
    }
    Some(vec![Effect::Send(command)])
}

/// What comes of it is in sight, whatever had all the room.
fn show_what_comes(model: &mut Model) {
    model.conversation.follow();
    model.inspector.follow();
    model.split.show(Focus::Conversation);
}

/// The loop is about to work.
fn begin(model: &mut Model) {
    model.running = true;
    model.turns_of_prompt = 0;
}

/// The next queued prompt does not wait for the end of the running one.
pub(super) fn steer(model: &mut Model) -> Vec<Effect> {
    if !model.running {
        let waits = model.queue.next().is_some();
        let note = if waits {
            say!("Nothing runs: Enter in an empty prompt sends it.")
        } else {
            say!("Nothing is queued.")
        };
        model.note = Some(note.to_owned());
        return Vec::new();
    }
    if model.queue.next().is_some_and(|next| next.trim_start().starts_with('!')) {
        model.note = Some(say!("A command cannot go into the running turn: it waits.").to_owned());
        return Vec::new();
    }
    match model.queue.steer() {
        Some(prompt) => vec![Effect::Send(Command::Steer(prompt))],
        None => {
            model.note = Some(say!("Nothing is queued: Enter queues what you typed.").to_owned());
            Vec::new()
        }
    }
}

/// Sends a row of the inspector again as it was; first says what that means.
pub(super) fn send_again(model: &mut Model) -> Vec<Effect> {
    let entries = model.inspector.to_send_again(&model.session);
    let asked = model.inspector.asked.take();
    if entries.is_empty() {
        model.note = Some(say!("Nothing of this row is left out or shortened.").to_owned());
        return Vec::new();
    }
    if model.running {
        model.note = Some(say!("Still running: Esc stops it.").to_owned());
        return Vec::new();
    }
    if asked.as_ref() != Some(&entries) {
        let whole = entries.iter().filter_map(|entry| model.session.entries.get(entry));
        let bytes = text::bytes(whole.map(|entry| entry.told_bytes()).sum());
        model.note = Some(say!(
            "From the next request on, {bytes} would be sent again. The same key once more: do it.",
            bytes = bytes
        ));
        model.inspector.asked = Some(entries);
        return Vec::new();
    }
    model.note = Some(say!("From the next request on, this is sent as it was.").to_owned());
    let overlays = entries.into_iter().map(|entry| (entry, Overlay::Sent)).collect();
    vec![Effect::Send(Command::Overlay { overlays, goes_on: false })]
}

/// Does what is offered, and posts again if the model still has something to answer.
pub(super) fn take_offer(
    model: &mut Model,
    last_input: Option<Instant>,
    now: Instant,
) -> Vec<Effect> {
    let Some(offer) = model.offer.as_ref().filter(|_| !model.running) else { return Vec::new() };
    if offer.ready_from(last_input).is_none_or(|from| now < from) {
        model.note =
            Some(say!("Read it first: the key counts after a moment of quiet.").to_owned());
        return Vec::new();
    }
    let overlays = offer.overlays(&model.session);
    model.offer = None;
    show_what_comes(model);
    let goes_on = model.session.would_await_reply(&overlays);
    if goes_on {
        begin(model);
    } else {
        model.note = Some(say!("Left out. The next prompt goes without it.").to_owned());
    }
    vec![Effect::Send(Command::Overlay { overlays, goes_on })]
}
