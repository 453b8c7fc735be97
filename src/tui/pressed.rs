//! What a key does: in the list, field or pane that has the keys, or in all of them.

use crate::text::say;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::choose;
use super::completion::{Accepted, Completion};
use super::copy;
use super::exchanged::Effect;
use super::keymap::{Action, Context};
use super::layout::Shape;
use super::model::{Focus, Model, TWICE};
use super::mouse;
use super::panes::approval::{ALONE, QUIET};
use super::scroll::Scroll;
use super::search;
use super::submit::{send_again, steer, submit, take_offer};
use crate::conversation::Command;

/// An Esc so soon after another is a key held down: it denies one call, not the next one too.
const HELD: Duration = Duration::from_millis(500);

/// Takes a key.
pub(super) fn key(model: &mut Model, key: KeyEvent, now: Instant) -> Vec<Effect> {
    let effects = take(model, key, now);
    let stops = effects.contains(&Effect::Send(Command::Stop));
    model.left = (key.code == KeyCode::Esc && !stops).then_some(now);
    effects
}

fn take(model: &mut Model, key: KeyEvent, now: Instant) -> Vec<Effect> {
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
    if action != Some(Action::SendAgain) {
        model.inspector.asked = None;
    }
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
        && !(action == Action::Complete && submits(model, key))
    {
        complete(model, action);
        return Vec::new();
    }
    let ends = context != Context::Prompt || !matches!(action, None | Some(Action::SearchPrompts));
    if ends && model.prompt.end_search() && matches!(action, Some(Action::Back | Action::Submit)) {
        return Vec::new();
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
        let earlier = context == Context::Prompt && key.code == KeyCode::Up;
        return if earlier { list_prompts(model) } else { Vec::new() };
    };
    let held = last_key.is_some_and(|last| last.code == KeyCode::Esc)
        && since.is_some_and(|since| since < HELD);
    let alone = since.is_none_or(|since| since >= ALONE);
    act(model, context, action, Pressed { key, alone, held, before }, now)
}

/// Whether a key that takes a completion sends what is written instead.
fn submits(model: &Model, key: KeyEvent) -> bool {
    model.setup.keymap.resolve(Context::Prompt, key) == Some(Action::Submit)
        && model.open_completion().is_some_and(Completion::leaves_enter)
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
        Action::Turns => choose::open_turns(model),
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
        Action::SendAgain => return send_again(model),
        Action::SearchPrompts => {
            model.prompt.begin_search();
            return list_prompts(model);
        }
        Action::Unfold => {
            let told = model.prompt.unfold();
            let Some(told) = told else { return vec![Effect::Edit(model.prompt.text())] };
            model.note = Some(told.to_owned());
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

/// A key of the list of completions.
fn complete(model: &mut Model, action: Action) {
    let Some(completion) = &mut model.completion else { return };
    match action {
        Action::Up => completion.select(-1),
        Action::Down => completion.select(1),
        Action::Complete => match completion.accepted() {
            Some(Accepted::Before(bytes, with)) => model.prompt.complete(bytes, &with),
            Some(Accepted::Whole(text)) => {
                model.prompt.end_search();
                model.prompt.replace(&text);
            }
            None => {}
        },
        _ => {
            completion.close();
            model.prompt.end_search();
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
        Context::Tools | Context::Call => model.tools.act(action, &model.session),
        Context::Inspector | Context::Message => model.inspector.act(action, &model.session),
        Context::Conversation => {
            model.note = model.conversation.act(action, &model.session);
        }
        Context::Search => match model.focus {
            Focus::Tools => model.tools.act(action, &model.session),
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
        Context::Prompt if takes_back(model, key) => {}
        Context::Prompt if key.code == KeyCode::End && model.prompt.is_empty() => {
            model.conversation.follow();
        }
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
        Context::ApprovalWaits => {
            model.note =
                Some(say!("Not yet: the panel takes keys after a quiet moment.").to_owned());
        }
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

/// In an empty prompt, Up takes the last queued one back, once more the one before it, and Ctrl-U
/// removes the last.
fn takes_back(model: &mut Model, key: KeyEvent) -> bool {
    let edits = key.code == KeyCode::Up && key.modifiers.is_empty();
    let removes = key.code == KeyCode::Char('u') && key.modifiers == KeyModifiers::CONTROL;
    if !edits && !removes {
        return false;
    }
    let draft = model.prompt.text();
    if edits && (draft.is_empty() || model.queue.is_taken(&draft)) {
        let Some(prompt) = model.queue.take_to_edit(&draft) else { return false };
        model.prompt.fill(&prompt);
    } else if removes && draft.is_empty() {
        let Some(prompt) = model.queue.take_last() else { return false };
        model.prompt.forget(&prompt);
        model.note = Some(
            say!("Removed from the queue, not sent. Ctrl-Y puts it in the prompt.").to_owned(),
        );
    } else {
        return false;
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
        Context::Call => model.tools.act(Action::Back, &model.session),
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
            } else if model.left.is_some_and(|left| now < left + QUIET) {
                // It was meant for what the one before has closed.
                if model.running {
                    let note = say!("Not stopped: Esc once more stops.");
                    model.note = Some(note.to_owned());
                }
            } else if model.running {
                model.note = Some(say!("Stopping …").to_owned());
                return vec![Effect::Send(Command::Stop)];
            } else if model.offer.take().is_none() {
                model.conversation.follow();
            }
        }
    }
    Vec::new()
}

/// Asks once for the prompts of earlier sessions.
fn list_prompts(model: &mut Model) -> Vec<Effect> {
    let known = std::mem::replace(&mut model.prompt.recalled, true);
    if known { Vec::new() } else { vec![Effect::ListPrompts] }
}

/// Ctrl-C: stops; when idle clears the draft; twice quits.
fn interrupt(model: &mut Model, now: Instant) -> Vec<Effect> {
    if model.interrupted.is_some_and(|at| now < at + TWICE) {
        // Who meant to quit did not mean to lose it.
        if model.prompt.is_empty() && !model.session.turns.is_empty() {
            model.prompt.fill(&std::mem::take(&mut model.cut_draft));
        }
        return vec![Effect::Quit];
    }
    model.cut_draft.clear();
    model.interrupted = Some(now);
    model.help = None;
    model.popup = None;
    model.picker = None;
    model.prompt.end_search();
    if let Some(approval) = &mut model.approval {
        approval.leave_field(now);
    }
    if model.running {
        return vec![Effect::Send(Command::Stop)];
    }
    model.cut_draft = model.prompt.take();
    Vec::new()
}
