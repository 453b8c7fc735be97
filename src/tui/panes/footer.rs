//! The footer: the keys of what has the focus, from the keymap, as many as fit; before them a word
//! to the user when there is one.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::inspector::View as Inspected;
use super::offer::Offer;
use crate::text;
use crate::tui::View;
use crate::tui::keymap::{self, Context};
use crate::tui::layout::{self, Shape};
use crate::tui::model::TWICE;
use crate::tui::paint::{self, Piece};
use crate::tui::search::Found;
use crate::tui::theme::Look;

/// Draws the line; returns the cell of the hardware cursor if it has a field that takes the keys.
pub(in crate::tui) fn draw(
    view: &View<'_>,
    context: Context,
    area: Rect,
    buf: &mut Buffer,
) -> Option<Position> {
    let searched = view.model.searched(view.model.focus).filter(|_| context != Context::Help);
    let Some(search) = searched else {
        keys(view, context, area, buf);
        return None;
    };
    let count = match search.found {
        _ if search.needle().is_empty() => String::new(),
        Found { total: 0, .. } => "none".to_owned(),
        Found { here, total, .. } => format!("{} of {total}", here + 1),
    };
    let place = (area.x, area.y);
    let used = paint::pieces(buf, place, area.width, &[(" /", Look::Key)], view.theme);
    let needle = u16::try_from(text::width(search.needle())).unwrap_or(u16::MAX);
    let room = needle.saturating_add(1).min(area.width / 2);
    let field = Rect { x: area.x + used, width: room.min(area.width - used), height: 1, ..area };
    let cursor = search.field.draw(field, buf, view.theme.style(Look::Strong));
    let mut x = field.right() + 1;
    x += paint::pieces(
        buf,
        (x, area.y),
        area.right().saturating_sub(x),
        &[(&count, Look::Warning)],
        view.theme,
    );
    keys(view, context, Rect { x, width: area.right().saturating_sub(x), ..area }, buf);
    cursor.filter(|_| context == Context::Search)
}

/// The keys, as many as fit.
fn keys(view: &View<'_>, context: Context, area: Rect, buf: &mut Buffer) {
    let mut pieces: Vec<Piece<'_>> = vec![(" ", Look::Text)];
    let again = view.model.interrupted.is_some_and(|at| view.now < at + TWICE);
    let note = match &view.model.note {
        _ if again => Some("Ctrl-C again quits"),
        Some(note) => Some(note.as_str()),
        None => None,
    };
    let mut used = 1;
    if let Some(note) = note {
        pieces.push((note, Look::Warning));
        used += text::width(note);
    }
    let mut bindings: Vec<&keymap::Binding> = keymap::footer(context).collect();
    bindings.sort_by_key(|binding| !is_urgent(view, context, binding));
    for binding in bindings {
        let short = word(view, context, binding);
        let gap = if pieces.len() > 1 { 2 } else { 0 };
        let columns = gap + text::width(binding.label) + 1 + text::width(short);
        if short.is_empty() || used + columns > usize::from(area.width) {
            continue;
        }
        used += columns;
        if gap > 0 {
            pieces.push(("  ", Look::Text));
        }
        pieces.extend([(binding.label, Look::Key), (" ", Look::Text), (short, Look::Dim)]);
    }
    paint::pieces(buf, (area.x, area.y), area.width, &pieces, view.theme);
}

/// What a person needs at this moment, before all else.
fn is_urgent(view: &View<'_>, context: Context, binding: &keymap::Binding) -> bool {
    let model = view.model;
    if model.searched(model.focus).is_some() {
        return matches!(binding.label, "n" | "N");
    }
    context == Context::Prompt
        && match binding.label {
            "Tab" => model.approval.is_some() && !model.panel_is_next(),
            "Ctrl-O" => model.offer.is_some(),
            "Esc" => model.running || model.offer.is_some(),
            "Ctrl-S" => model.running,
            _ => false,
        }
}

/// Some keys are only good for something at times.
fn word<'a>(view: &View<'_>, context: Context, binding: &'a keymap::Binding) -> &'a str {
    let model = view.model;
    match (context, binding.label) {
        (_, "n") if model.searched(model.focus).is_some() => "next",
        (_, "N") if model.searched(model.focus).is_some() => "before",
        (Context::Conversation | Context::Call | Context::Message, "Esc")
            if model.searched(model.focus).is_some() =>
        {
            "leave"
        }
        (Context::Prompt, "Enter") if model.running => "queue",
        (Context::Prompt, "Ctrl-S") if !model.running || model.queue.next().is_none() => "",
        (Context::List, "Tab") if !model.asks_for_models() => "",
        (Context::Prompt, "Esc") if model.approval.is_some() => "deny",
        (Context::Prompt, "Ctrl-O") => model.offer.as_ref().map_or("", Offer::word),
        (Context::Prompt, "Esc") if model.offer.is_some() && !model.running => "not now",
        (Context::Prompt, "Esc") if !model.running => "",
        (Context::Prompt, "Tab") if model.approval.is_some() && !model.panel_is_next() => "decide",
        (_, "f") if layout::shape(model, model.size) != Shape::of(model.size) => "all panes",
        (_, "f") if Shape::of(model.size) != Shape::Wide => "",
        (Context::Message, "r") if model.inspector.view != Inspected::Message => "",
        (Context::Message, "r") if model.inspector.exact => "readable",
        (Context::Conversation | Context::Tools | Context::Inspector, "Esc")
            if model.approval.is_some() =>
        {
            "decide"
        }
        _ => binding.short,
    }
}
