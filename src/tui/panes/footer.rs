//! The footer: the keys of what has the focus, from the keymap, as many as fit; before them a word
//! to the user when there is one.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::inspector::View as Inspected;
use super::offer::Offer;
use crate::text;
use crate::tui::View;
use crate::tui::keymap::{self, Context};
use crate::tui::model::TWICE;
use crate::tui::paint::{self, Piece};
use crate::tui::theme::Look;

/// Draws the line.
pub(in crate::tui) fn draw(view: &View<'_>, context: Context, area: Rect, buf: &mut Buffer) {
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
        (Context::Prompt, "Enter") if model.running => "queue",
        (Context::Prompt, "Ctrl-S") if !model.running || model.queue.next().is_none() => "",
        (Context::List, "Tab") if !model.asks_for_models() => "",
        (Context::Prompt, "Esc") if model.approval.is_some() => "deny",
        (Context::Prompt, "Ctrl-O") => model.offer.as_ref().map_or("", Offer::word),
        (Context::Prompt, "Esc") if model.offer.is_some() && !model.running => "not now",
        (Context::Prompt, "Esc") if !model.running => "",
        (Context::Prompt, "Tab") if model.approval.is_some() && !model.panel_is_next() => "decide",
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
