//! The footer: the keys of what has the focus, from the keymap, as many as fit; before them a word
//! to the user when there is one.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

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
        pieces.push(("  ", Look::Text));
        used += text::width(note) + 2;
    }
    for binding in keymap::tables(context).iter().copied().flatten() {
        let short = word(view, context, binding);
        let columns = text::width(binding.label) + text::width(short) + 3;
        if short.is_empty() || used + columns > usize::from(area.width) + 2 {
            continue;
        }
        used += columns;
        pieces.extend([
            (binding.label, Look::Key),
            (" ", Look::Text),
            (short, Look::Dim),
            ("  ", Look::Text),
        ]);
    }
    paint::pieces(buf, (area.x, area.y), area.width, &pieces, view.theme);
}

/// Some keys are only good for something at times.
fn word<'a>(view: &View<'_>, context: Context, binding: &'a keymap::Binding) -> &'a str {
    let model = view.model;
    match (context, binding.label) {
        (Context::Prompt, "Enter") if model.running => "",
        (Context::Prompt, "Esc") if model.approval.is_some() => "deny",
        (Context::Prompt, "Esc") if !model.running => "",
        (Context::Prompt | Context::Conversation | Context::Tools | Context::Inspector, "Tab")
            if model.approval.is_some() && context == Context::Prompt =>
        {
            "decide"
        }
        _ => binding.short,
    }
}
