//! The mouse, once the user has given it to limpid: the wheel moves what is under the pointer, a click
//! gives it the keys. It decides about no command.

use crate::text::say;
use std::time::Instant;

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use super::choose;
use super::exchanged::Effect;
use super::keymap::{Action, Context};
use super::layout::Areas;
use super::model::{Focus, Model};
use super::panes::inspector::View;
use super::pressed::{NO_KEY, act_unpressed};
use super::search;

/// Rows that one step of the wheel moves a text.
const STEP: usize = 3;

/// Whose the mouse is, and what it can point at.
#[derive(Debug, Default)]
pub(super) struct Mouse {
    /// Whether it is taken from the terminal.
    taken: bool,
    /// Where everything was drawn last.
    pub(super) areas: Areas,
}

/// Takes the mouse from the terminal, or gives it back.
pub(super) fn toggle(model: &mut Model) -> Vec<Effect> {
    model.mouse.taken = !model.mouse.taken;
    let note = if model.mouse.taken {
        say!("Mouse on. With Shift held, most terminals still select text.")
    } else {
        say!("The mouse is the terminal's again.")
    };
    model.note = Some(note.to_owned());
    vec![Effect::Mouse(model.mouse.taken)]
}

/// Takes what the mouse did.
pub(super) fn take(model: &mut Model, event: MouseEvent, now: Instant) {
    let pointer = Position { x: event.column, y: event.row };
    match event.kind {
        MouseEventKind::ScrollUp => wheel(model, pointer, Action::Up, now),
        MouseEventKind::ScrollDown => wheel(model, pointer, Action::Down, now),
        MouseEventKind::Down(MouseButton::Left) => click(model, pointer, now),
        _ => {}
    }
}

/// What is under the pointer.
fn under(model: &Model, pointer: Position) -> Option<Focus> {
    let areas = &model.mouse.areas;
    let places = [
        (areas.conversation, Focus::Conversation),
        (areas.tools, Focus::Tools),
        (areas.inspector, Focus::Inspector),
        (areas.prompt, Focus::Prompt),
    ];
    let panel = model.approval.as_ref().map(|_| (areas.approval, Focus::Approval));
    let mut all = places.into_iter().chain(panel);
    all.find(|(area, _)| area.contains(pointer)).map(|(_, focus)| focus)
}

fn wheel(model: &mut Model, pointer: Position, action: Action, now: Instant) {
    let context = match model.context(now) {
        over @ (Context::Help | Context::Pick | Context::List) => over,
        _ => match under(model, pointer) {
            Some(Focus::Conversation) => Context::Conversation,
            Some(Focus::Tools) if model.tools.opened.is_some() => Context::Call,
            Some(Focus::Tools) => Context::Tools,
            Some(Focus::Inspector) if model.inspector.view == View::Roles => Context::Inspector,
            Some(Focus::Inspector) => Context::Message,
            Some(Focus::Approval) => Context::ApprovalWaits,
            Some(Focus::Prompt) | None => return,
        },
    };
    // A list goes from row to row.
    let steps = if matches!(context, Context::Tools | Context::Inspector) { 1 } else { STEP };
    for _ in 0..steps {
        match context {
            Context::List => drop(choose::key(model, Some(action), NO_KEY, now)),
            Context::Conversation => model.conversation.scroll.act(action),
            _ => drop(act_unpressed(model, context, action, now)),
        }
    }
}

fn click(model: &mut Model, pointer: Position, now: Instant) {
    use Context::{CommandField, Help, List, Pick, ReasonField};
    if matches!(model.context(now), Help | Pick | List | CommandField | ReasonField) {
        return;
    }
    let Some(focus) = under(model, pointer) else { return };
    if let Some(approval) = &mut model.approval {
        approval.disturb(now);
    }
    if model.focus != focus {
        model.focus = focus;
        model.prompt.end_search();
        search::end(model);
    }
}
