//! Routes: which input reaches which pane, and what is asked of the loop in turn.

use crate::text::{say, translated};
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::allowances;
use super::choose;
use super::completion::{self, Accepted};
use super::copy;
use super::keymap::{Action, Context};
use super::layout::Shape;
use super::model::{Beginning, Effect, Focus, Input, Model, TWICE};
use super::mouse;
use super::panes::approval::{ALONE, Approval};
use super::panes::offer::Offer;
use super::panes::prompt::Submitted;
use super::scroll::Scroll;
use super::search;
use crate::conversation::{
    CallId, CallStatus, Command, Event, Overlay, Progress, Record, Role, TransitionReason,
};

/// An Esc so soon after another is a key held down: it denies one call, not the next one too.
const HELD: Duration = Duration::from_millis(500);

/// Takes an input. `now` never goes back.
pub fn update(model: &mut Model, input: Input, now: Instant) -> Vec<Effect> {
    let mut effects = Vec::new();
    match input {
        Input::Key(event) if event.kind == KeyEventKind::Release => {}
        Input::Key(event) => effects.extend(key(model, event, now)),
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
                "Theme: {name}. For always: limpid config set theme {name}",
                name = theme.name
            ));
            model.setup.theme = theme;
        }
        Input::Theme(Err(why)) => model.conversation.note(translated(&why).into_owned()),
        Input::Themes(names) => choose::open_themes(model, names),
        Input::Exchanges { turn, kept } => model.inspector.take(turn, kept),
        Input::Copied { text, went } => model.note = Some(went.told(&copy::in_words(&text))),
        Input::Edited(Ok(text)) => model.prompt.replace(&text),
        Input::Edited(Err(why)) => model.say(&why),
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
    model.split.follow(model.focus);
    effects.extend(model.tools.wanted(&model.session));
    effects.extend(model.inspector.wanted(&model.session, now));
    let Model { completion, files, prompt, .. } = model;
    let (before, first) = prompt.before_cursor();
    if model.searching {
        prompt.search(completion);
        if completion.as_ref().is_none_or(|found| found.candidates.is_empty()) {
            model.note =
                Some(say!("No earlier prompt holds this. Esc ends the search.").to_owned());
        }
    } else if completion::refresh(completion, files, before, first) {
        effects.push(Effect::ListFiles);
    }
    effects
}

fn take_event(model: &mut Model, event: Event, now: Instant) -> Option<Effect> {
    if let Event::Record(stamped) = &event {
        model.session.apply(stamped);
    }
    model.conversation.event(&event, &model.session, now);
    model.tools.event(&event);
    match event {
        Event::Progress(Progress::Begins { system_prompt, context }) => {
            model.beginning = Some(Beginning { system_prompt, context });
        }
        Event::Progress(Progress::Ask { call }) => ask(model, &call),
        Event::Progress(Progress::Waiting { attempt, of, until, .. }) => {
            model.retry = Some((attempt, of, until));
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
            Record::Attempt { .. } => model.retry = None,
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
                model.running = false;
                model.retry = None;
                model.note = None;
                model.offer = Offer::of(&model.session);
                withdraw(model, None);
                model.queue.settle();
                return go_on(model, *reason == TransitionReason::Answered);
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
        model.note = Some(say!("Queue held: Enter in an empty prompt sends the next.").to_owned());
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
        model.note =
            Some(say!("Folded: Ctrl-X shows all of it, Enter sends all of it.").to_owned());
    }
}

fn key(model: &mut Model, key: KeyEvent, now: Instant) -> Vec<Effect> {
    let before = model.last_input.replace(now);
    let last_key = model.last_key.replace(key);
    let since = before.map(|at| now.saturating_duration_since(at));
    let context = model.context(now);
    let action = model.setup.keymap.resolve(context, key);
    if action == Some(Action::Interrupt) {
        return interrupt(model, now);
    }
    if action == Some(Action::Suspend) {
        return vec![Effect::Suspend];
    }
    model.interrupted = None;
    model.note = None;
    if let Some(approval) = &mut model.approval {
        if approval.is_burst(key, now) {
            model.note = Some(say!("Keys that come in a burst decide nothing.").to_owned());
            return Vec::new();
        }
        if context != Context::Approval {
            approval.disturb(now);
        }
    }
    if context == Context::List {
        return choose::key(model, action, key, now);
    }
    if context == Context::Prompt
        && model.open_completion().is_some()
        && let Some(action) = model.setup.keymap.resolve(Context::Completion, key)
    {
        complete(model, action);
        return Vec::new();
    }
    if model.searching && (context != Context::Prompt || action.is_some()) {
        model.searching = false;
        if matches!(action, Some(Action::Back | Action::Submit)) {
            return Vec::new();
        }
    }
    if context == Context::Prompt && model.setup.keymap.is_vi() {
        if model.prompt.is_normal() && key.code == KeyCode::Char(':') {
            return act_unpressed(model, context, Action::Palette, now);
        }
        if model.prompt.vi(key) {
            return Vec::new();
        }
    }
    let Some(action) = action else {
        text(model, context, key, now);
        return Vec::new();
    };
    let held = last_key.is_some_and(|last| last.code == KeyCode::Esc)
        && since.is_some_and(|since| since < HELD);
    let alone = since.is_none_or(|since| since >= ALONE);
    act(model, context, action, Pressed { key, alone, held, before }, now)
}

/// Stands for a key where none was pressed.
pub(super) const NO_KEY: KeyEvent = KeyEvent::new(KeyCode::Null, KeyModifiers::NONE);

/// A key as it was pressed.
#[derive(Clone, Copy)]
struct Pressed {
    key: KeyEvent,
    /// Whether it came alone so far.
    alone: bool,
    /// Whether it is an Esc that is held down.
    held: bool,
    /// When the key before it was pressed.
    before: Option<Instant>,
}

/// Does what a key does, without a key: chosen from a list, it decides about no command.
pub(super) fn act_unpressed(
    model: &mut Model,
    context: Context,
    action: Action,
    now: Instant,
) -> Vec<Effect> {
    act(
        model,
        context,
        action,
        Pressed { key: NO_KEY, alone: false, held: true, before: Some(now) },
        now,
    )
}

fn act(
    model: &mut Model,
    context: Context,
    action: Action,
    Pressed { key, alone, held, before }: Pressed,
    now: Instant,
) -> Vec<Effect> {
    if context != Context::Help
        && let Some(effects) = copy::act(model, context, action)
    {
        return effects;
    }
    if search::act(model, context, action) {
        return Vec::new();
    }
    match action {
        Action::NextPane => move_focus(model, 1),
        Action::PreviousPane => move_focus(model, -1),
        Action::Help => model.help = Some(Scroll::from_top()),
        Action::Palette => choose::open_palette(model, context),
        Action::Models => return choose::open_profiles(model),
        Action::Zoom | Action::Narrower | Action::Wider | Action::Shorter | Action::Taller => {
            room(model, context, action);
        }
        Action::Mouse => return mouse::toggle(model),
        Action::Interrupt => return interrupt(model, now),
        Action::Suspend => return vec![Effect::Suspend],
        Action::Back => {
            return back(model, context, key, alone && !held, now);
        }
        Action::EndOfInput if model.prompt.is_empty() => return vec![Effect::Quit],
        Action::EndOfInput => {
            let before = model.prompt.text();
            model.prompt.key(key);
            if model.prompt.text() == before {
                model.note = Some(say!("Ctrl-D quits when the prompt is empty.").to_owned());
            }
        }
        Action::AllowOnce
        | Action::AllowSession
        | Action::Edit
        | Action::Deny
        | Action::DenyWithReason => {
            if let Some(approval) = &mut model.approval
                && key.kind == KeyEventKind::Press
            {
                model.note = approval.choose(action, key, alone, now);
            }
        }
        Action::TakeOffer => return take_offer(model, before, now),
        Action::Submit if context == Context::Prompt => return submit(model),
        Action::Submit => {
            let command = model.approval.as_mut().and_then(|a| a.submit_field(now));
            return command.map(Effect::Send).into_iter().collect();
        }
        Action::NewLine => match model.approval.as_mut().and_then(|a| a.draft_mut()) {
            Some(draft) => draft.newline(),
            None => model.prompt.newline(),
        },
        Action::Steer => return steer(model),
        Action::Search => {
            model.searching = true;
            if !std::mem::replace(&mut model.prompt.recalled, true) {
                return vec![Effect::ListPrompts];
            }
        }
        Action::Unfold => {
            if !model.prompt.unfold() {
                return vec![Effect::Edit(model.prompt.text())];
            }
        }
        _ => in_pane(model, context, action),
    }
    Vec::new()
}

/// A key that is about the room of panes.
fn room(model: &mut Model, context: Context, action: Action) {
    if Shape::of(model.size) != Shape::Wide {
        model.note = Some(say!("One pane at a time here: Tab.").to_owned());
        return;
    }
    model.split.act(action, model.pane_with_keys(context).unwrap_or(Focus::Conversation));
}

/// The next queued prompt does not wait for the end of the running one.
fn steer(model: &mut Model) -> Vec<Effect> {
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

/// A key of the list of completions.
fn complete(model: &mut Model, action: Action) {
    let Some(completion) = &mut model.completion else { return };
    match action {
        Action::Up => completion.select(-1),
        Action::Down => completion.select(1),
        Action::Complete => {
            match completion.accepted() {
                Some(Accepted::Before(bytes, with)) => model.prompt.complete(bytes, &with),
                Some(Accepted::Whole(text)) => model.prompt.fill(&text),
                None => {}
            }
            model.searching = false;
        }
        _ => {
            completion.close();
            model.searching = false;
        }
    }
}

/// A key that only the pane in question knows.
fn in_pane(model: &mut Model, context: Context, action: Action) {
    match context {
        Context::Help => {
            if let Some(help) = &mut model.help {
                help.act(action);
            }
        }
        Context::List | Context::Pick => {}
        Context::Tools | Context::Call => model.tools.act(action),
        Context::Inspector | Context::Message => model.inspector.act(action, &model.session),
        Context::Conversation => {
            model.note = model.conversation.act(action, &model.session);
        }
        Context::Search => match model.focus {
            Focus::Tools => model.tools.act(action),
            Focus::Inspector => model.inspector.act(action, &model.session),
            _ => model.conversation.scroll.act(action),
        },
        Context::Prompt
        | Context::Completion
        | Context::Approval
        | Context::ApprovalWaits
        | Context::CommandField
        | Context::ReasonField => match &mut model.approval {
            Some(approval) => approval.scroll(action),
            None => model.conversation.scroll.act(action),
        },
    }
}

/// A key that no table names: text for the field that has the keys.
fn text(model: &mut Model, context: Context, key: KeyEvent, now: Instant) {
    match context {
        Context::Search => search::typed(model, key),
        Context::Prompt if model.prompt.is_empty() && takes_back(model, key) => {}
        Context::Prompt => {
            let was_empty = model.prompt.is_empty();
            model.prompt.key(key);
            if was_empty && !model.prompt.is_empty() && model.approval.is_some() {
                model.note = Some(say!("Typed into the draft. Tab: decide.").to_owned());
            }
        }
        Context::CommandField | Context::ReasonField => {
            if let Some(draft) = model.approval.as_mut().and_then(|a| a.draft_mut()) {
                draft.key(key);
            }
        }
        Context::Approval => {
            let typed = matches!(key.code, KeyCode::Char(c) if c != ' ')
                && !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
            if let Some(approval) = &mut model.approval {
                approval.disturb(now);
            }
            if typed && model.focus == Focus::Prompt {
                model.prompt.key(key);
            } else {
                model.note = Some(say!("That key decides nothing.").to_owned());
            }
        }
        Context::Help | Context::Pick => {}
        _ if matches!(key.code, KeyCode::Char(_)) => {
            let note = if model.approval.is_some() {
                say!("That key does nothing here: Esc, then decide.")
            } else {
                say!("That key does nothing here: Esc, then write.")
            };
            model.note = Some(note.to_owned());
        }
        _ => {}
    }
}

/// In an empty prompt, Up takes the last queued one back and Ctrl-U removes it.
fn takes_back(model: &mut Model, key: KeyEvent) -> bool {
    let edits = key.code == KeyCode::Up && key.modifiers.is_empty();
    let removes = key.code == KeyCode::Char('u') && key.modifiers == KeyModifiers::CONTROL;
    if !edits && !removes {
        return false;
    }
    let Some(prompt) = model.queue.take_last() else { return false };
    if edits {
        model.prompt.fill(&prompt);
    } else {
        model.prompt.forget(&prompt);
        model.note = Some(
            say!("Removed from the queue, not sent. Ctrl-Y puts it in the prompt.").to_owned(),
        );
    }
    true
}

fn move_focus(model: &mut Model, by: isize) {
    let mut order = vec![Focus::Prompt];
    if model.approval.is_some() {
        order.push(Focus::Approval);
    }
    if Shape::of(model.size) != Shape::Small {
        order.extend([Focus::Conversation, Focus::Tools, Focus::Inspector]);
    }
    let current = if model.panel_is_next() { Focus::Approval } else { model.focus };
    let at = order.iter().position(|focus| *focus == current).unwrap_or(0);
    let count = isize::try_from(order.len()).unwrap_or(1);
    let to = (isize::try_from(at).unwrap_or(0) + by).rem_euclid(count);
    model.focus = order[usize::try_from(to).unwrap_or(0)];
    search::end(model);
}

/// Esc, innermost first.
fn back(
    model: &mut Model,
    context: Context,
    key: KeyEvent,
    alone: bool,
    now: Instant,
) -> Vec<Effect> {
    match context {
        Context::Help => model.help = None,
        Context::List => model.popup = None,
        Context::Pick => model.picker = None,
        Context::Search => search::end(model),
        Context::CommandField | Context::ReasonField => {
            if let Some(approval) = &mut model.approval {
                approval.leave_field(now);
            }
        }
        Context::Call => model.tools.act(Action::Back),
        Context::Message => model.inspector.act(Action::Back, &model.session),
        Context::Conversation | Context::Tools | Context::Inspector => {
            let asked = model.approval.is_some();
            model.focus = if asked { Focus::Approval } else { Focus::Prompt };
        }
        Context::Prompt | Context::Completion | Context::Approval | Context::ApprovalWaits => {
            if let Some(approval) = &mut model.approval {
                if alone && key.kind == KeyEventKind::Press {
                    approval.choose(Action::Deny, key, true, now);
                }
            } else if model.running {
                model.note = Some(say!("Stopping …").to_owned());
                return vec![Effect::Send(Command::Stop)];
            } else if model.offer.take().is_none() {
                model.conversation.scroll.go_to_end();
            }
        }
    }
    Vec::new()
}

/// Ctrl-C: stops; when idle clears the draft; twice quits.
fn interrupt(model: &mut Model, now: Instant) -> Vec<Effect> {
    if model.interrupted.is_some_and(|at| now < at + TWICE) {
        return vec![Effect::Quit];
    }
    model.interrupted = Some(now);
    model.help = None;
    model.popup = None;
    model.picker = None;
    model.searching = false;
    if let Some(approval) = &mut model.approval {
        approval.leave_field(now);
    }
    if model.running {
        return vec![Effect::Send(Command::Stop)];
    }
    model.prompt.take();
    Vec::new()
}

/// Does what is offered, and posts again if the model still has something to answer.
fn take_offer(model: &mut Model, last_input: Option<Instant>, now: Instant) -> Vec<Effect> {
    let Some(offer) = model.offer.as_ref().filter(|_| !model.running) else { return Vec::new() };
    if offer.ready_from(last_input).is_none_or(|from| now < from) {
        model.note =
            Some(say!("Read it first: the key counts after a moment of quiet.").to_owned());
        return Vec::new();
    }
    let overlays = offer.overlays(&model.session);
    model.offer = None;
    model.conversation.scroll.go_to_end();
    model.inspector.follow();
    let goes_on = model.session.would_await_reply(&overlays);
    if goes_on {
        begin(model);
    } else {
        model.note = Some(say!("Left out. The next prompt goes without it.").to_owned());
    }
    vec![Effect::Send(Command::Overlay { overlays, goes_on })]
}

/// The loop is about to work.
fn begin(model: &mut Model) {
    model.running = true;
    model.turns_of_prompt = 0;
}

fn submit(model: &mut Model) -> Vec<Effect> {
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
        Submitted::Theme(words) => return choose::theme_words(model, &words),
        Submitted::Unknown(word) => {
            let word = crate::text::visible(&word, crate::text::Show::Prose).into_owned();
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
        Submitted::Mouse => return Some(mouse::toggle(model)),
        Submitted::Copy => return copy::last_said(model),
        Submitted::Help => {
            model.help = Some(Scroll::from_top());
            return Some(Vec::new());
        }
        Submitted::Allowed => {
            model.conversation.note(allowances::told(&model.session));
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
    model.conversation.scroll.go_to_end();
    model.inspector.follow();
    if !matches!(command, Command::Clear | Command::Revoke) {
        begin(model);
    }
    Some(vec![Effect::Send(command)])
}
