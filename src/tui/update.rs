//! Routes: which input reaches which pane, and what follows from what happened in the session. What
//! a key does is `pressed`'s, what a submitted text does `submit`'s.

use crate::text::{say, translated};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossterm::event::KeyEventKind;

use super::arguments::Begun;
use super::choose;
use super::completion;
use super::copy;
use super::exchanged::{Effect, Input};
use super::keymap::Context;
use super::layout::Shape;
use super::model::{Beginning, Focus, HELD, Model, TWICE};
use super::mouse;
use super::panes::approval::Approval;
use super::panes::offer::Offer;
use super::panes::prompt::{FOLDED, Submitted};
use super::pressed;
use super::search;
use crate::conversation::{
    CallId, CallStatus, Command, Event, Origin, Progress, Record, Role, Stamped, TransitionReason,
};

/// Takes an input. `now` never goes back.
pub fn update(model: &mut Model, input: Input, now: Instant) -> Vec<Effect> {
    let mut effects = Vec::new();
    match input {
        Input::Key(event) if event.kind == KeyEventKind::Release => {}
        Input::Key(event) => effects.extend(pressed::key(model, event, now)),
        Input::Mouse(event) => mouse::take(model, event, now),
        Input::Paste(text) => paste(model, &text, now),
        Input::Resize(columns, rows) => {
            model.size = (columns, rows);
            if Shape::of(model.size) == Shape::Small && model.focus != Focus::Approval {
                model.focus = Focus::Prompt;
            }
            if let Some(approval) = &mut model.approval {
                approval.conceal();
            }
        }
        Input::Event(event) => effects.extend(take_event(model, event, now)),
        Input::Output { call, read } => model.tools.take(&call, read),
        Input::Theme(Ok(theme)) => {
            model.note = Some(say!(
                "Theme: {name}. To keep it, in a shell: limpid config set theme {name}",
                name = theme.name
            ));
            model.setup.theme = theme;
        }
        Input::Theme(Err(why)) => {
            model.conversation.note(translated(&why).into_owned());
            model.split.show(Focus::Conversation);
        }
        Input::Themes(names) => choose::open_themes(model, names),
        Input::Exchanges { turn, kept } => model.inspector.take(turn, kept),
        Input::Copied { what, text, went } => {
            let size = copy::in_words(&text);
            model.note = Some(went.told(&say!("{what}: {size}", what = what, size = size)));
        }
        Input::Edited(Ok(text)) => model.prompt.replace(&text),
        Input::Edited(Err(why)) => model.say(&why),
        Input::Sessions(found) => choose::take_sessions(model, found),
        Input::Told(words) => model.note = Some(words),
        Input::Prompts(earlier) => model.prompt.recall(earlier),
        Input::Files { paths, more } => model.files.found(paths, more),
        // Only here, where no key is waiting, does time decide: a program that was held up cannot
        // take keys that came together for keys that came alone.
        Input::Tick => {
            let decided = model.approval.as_mut().and_then(|approval| approval.tick(now));
            effects.extend(decided.map(Effect::Send));
        }
    }
    if model.interrupted.is_some_and(|at| now >= at + TWICE) {
        model.interrupted = None;
    }
    if model.prompt.is_empty() {
        model.queue.let_go();
    }
    model.split.follow(model.focus);
    effects.extend(model.tools.wanted(&model.session));
    effects.extend(model.inspector.wanted(&model.session, now));
    effects.extend(complete(model));
    effects
}

/// Brings up to date what is offered at the cursor; what has to be asked for it.
fn complete(model: &mut Model) -> Option<Effect> {
    let (before, first) = model.prompt.before_cursor();
    if model.prompt.is_searching() {
        model.prompt.search(&mut model.completion);
        if model.completion.as_ref().is_none_or(|found| found.candidates.is_empty()) {
            model.note =
                Some(say!("No earlier prompt holds this. Esc ends the search.").to_owned());
        }
        return None;
    }
    if let Some(begun) = Begun::of(before).filter(|_| first) {
        let candidates = begun.candidates(model);
        let (token, wants) = (begun.token.to_owned(), begun.wants_profiles());
        let begins = completion::offer(&mut model.completion, &token, candidates);
        return (begins && wants).then_some(Effect::Send(Command::ListProfiles));
    }
    let Model { completion, files, prompt, .. } = model;
    let (before, first) = prompt.before_cursor();
    completion::refresh(completion, files, before, first).then_some(Effect::ListFiles)
}

/// Shows a session as its records tell it, up to where it goes on.
pub fn replay(model: &mut Model, records: &[Arc<Stamped>], now: Instant) {
    for record in records {
        if let Record::Entry(entry) = &record.record
            && (entry.role, entry.origin) == (Role::User, Origin::User)
        {
            model.prompt.remember(&entry.text());
        }
        // Nothing waits in the queue, so nothing follows from it.
        let _ = take_event(model, Event::Record(record.clone()), now);
    }
}

fn take_event(model: &mut Model, event: Event, now: Instant) -> Option<Effect> {
    if let Event::Record(stamped) = &event {
        model.session.apply(stamped);
    }
    model.conversation.event(&event, &model.session, now);
    model.tools.event(&event);
    match event {
        Event::Progress(Progress::Begins { system_prompt, context, parts }) => {
            model.beginning = Some(Beginning { system_prompt, context, parts });
        }
        Event::Progress(Progress::Ask { call }) => ask(model, &call),
        Event::Progress(Progress::Waiting { attempt, of, until, ms, .. }) => {
            model.retry = Some((attempt, of, until));
            // What is left is counted in whole seconds.
            model.clock = Some(now + Duration::from_millis(ms % 1000));
        }
        Event::Progress(Progress::Busy { prompt }) => model.busy(prompt.as_deref()),
        Event::Progress(progress) => choose::answered(model, &progress),
        Event::Record(stamped) => match &stamped.record {
            Record::Request(_) => {
                model.running = true;
                model.cleared = false;
                model.turns_of_prompt += 1;
                model.offer = None;
            }
            Record::Head(None) => {
                model.cleared = true;
                model.offer = None;
            }
            Record::Resumed => model.running = false,
            Record::Attempt { .. } => {
                model.retry = None;
                model.clock = Some(now);
            }
            Record::CallStarted { .. } => model.clock = Some(now),
            Record::CallDecided(decided) => withdraw(model, Some(&decided.call)),
            Record::CallFinished(finished) => {
                withdraw(model, Some(&finished.call));
                if finished.output.is_some() {
                    model.running = false;
                    model.note = None;
                    model.queue.settle();
                    return go_on(model, matches!(finished.status, CallStatus::Exited(_)));
                }
            }
            Record::Entry(entry) if entry.role == Role::User => model.queue.told(&entry.text()),
            Record::Ended(reason) => {
                let ran = std::mem::take(&mut model.running);
                model.retry = None;
                model.note = None;
                model.offer = Offer::of(&model.session);
                withdraw(model, None);
                model.queue.settle();
                return go_on(model, ran && *reason == TransitionReason::Answered);
            }
            _ => {}
        },
    }
    None
}

/// What was queued follows what ended well; otherwise it is held until the user says so.
fn go_on(model: &mut Model, well: bool) -> Option<Effect> {
    if model.queue.is_empty() {
        return None;
    }
    if !well {
        model.note = Some(HELD.text().to_owned());
        return None;
    }
    let command = match Submitted::of(model.queue.take_next()?) {
        Submitted::Own { command, told } => Command::Run { command, told },
        Submitted::Prompt(text) => Command::Prompt(text),
        // Nothing else is ever queued.
        _ => return None,
    };
    model.running = true;
    model.turns_of_prompt = 0;
    Some(Effect::Send(command))
}

fn ask(model: &mut Model, call: &CallId) {
    withdraw(model, None);
    model.panels += 1;
    // Each panel numbers its texts in a range of its own.
    let version = model.panels << 32;
    model.approval = Approval::new(call, &model.session, model.last_input, version);
    if model.approval.is_none() {
        model.note =
            Some(say!("Asked about a call without a command: nothing runs. Esc stops.").to_owned());
    }
}

/// Takes the panel away: the one for this call, or any.
fn withdraw(model: &mut Model, call: Option<&CallId>) {
    if model.approval.as_ref().is_none_or(|a| call.is_some_and(|call| a.call != *call)) {
        return;
    }
    model.approval = None;
    if model.focus == Focus::Approval {
        model.focus = Focus::Prompt;
    }
}

fn paste(model: &mut Model, text: &str, now: Instant) {
    let context = model.context(now);
    model.last_input = Some(now);
    model.last_key = None;
    model.note = None;
    if context == Context::Search {
        return search::pasted(model, text);
    }
    if let Some(popup) = model.popup.as_mut().filter(|_| context == Context::List) {
        popup.list.paste(text);
        return;
    }
    let Some(approval) = &mut model.approval else {
        // A paste means the prompt, whatever has the keys.
        if context != Context::Help {
            model.focus = Focus::Prompt;
            paste_into_prompt(model, text);
        }
        return;
    };
    match context {
        Context::CommandField | Context::ReasonField => {
            if let Some(draft) = approval.draft_mut() {
                draft.paste(text);
            }
        }
        Context::Approval | Context::ApprovalWaits => {
            approval.paste_ignored(now);
            model.note = Some(say!("Paste ignored: it decides nothing.").to_owned());
        }
        _ => {
            approval.disturb(now);
            if context == Context::Prompt {
                paste_into_prompt(model, text);
            } else {
                model.note = Some(say!("Paste ignored: Tab leads to the prompt.").to_owned());
            }
        }
    }
}

fn paste_into_prompt(model: &mut Model, text: &str) {
    if model.prompt.paste(text) {
        model.note = Some(FOLDED.text().to_owned());
    }
}
