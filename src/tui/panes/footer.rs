//! The footer: the keys of what has the focus, from the keymap, as many as fit; before them a word
//! to the user when there is one.

use crate::text::say;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::approval::Drawn;
use super::inspector::{List, View as Inspected};
use super::offer::Offer;
use crate::text;
use crate::tui::copy::Picker;
use crate::tui::keymap::{self, Action, Context};
use crate::tui::layout::{self, Shape};
use crate::tui::model::{Focus, TWICE};
use crate::tui::paint::{self, Piece};
use crate::tui::popup::Popup;
use crate::tui::scroll::Measure;
use crate::tui::search::Found;
use crate::tui::theme::Look;
use crate::tui::{Shown, View};

/// Draws the line, for what else this frame has `shown`: nothing that hands over a field for which it
/// had no room. Returns the cell of the hardware cursor if it has a field that takes the keys.
pub(in crate::tui) fn draw(
    view: &View<'_>,
    context: Context,
    shown: &Shown,
    area: Rect,
    buf: &mut Buffer,
) -> Option<Position> {
    let searched = view.model.searched(view.model.focus).filter(|_| context != Context::Help);
    let Some(search) = searched else {
        keys(view, context, shown, area, buf);
        return None;
    };
    let count = match shown.found.unwrap_or_default() {
        _ if search.needle().is_empty() => String::new(),
        Found { total: 0, .. }
            if view.model.focus == Focus::Tools
                && view.model.tools.hides_output(&view.model.session) =>
        {
            format!("{} ", say!("none; a part is not shown (Esc, then o: all of it)"))
        }
        Found { total: 0, .. } => format!("{} ", say!("none")),
        Found { here, total, .. } => {
            say!("{here} of {total}", here = here + 1, total = total) + " "
        }
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
    let left = Rect { x, width: area.right().saturating_sub(x), ..area };
    keys(view, context, shown, left, buf);
    cursor.filter(|_| context == Context::Search)
}

/// The keys, as many as fit.
fn keys(view: &View<'_>, context: Context, shown: &Shown, area: Rect, buf: &mut Buffer) {
    let mut pieces: Vec<Piece<'_>> = vec![(" ", Look::Text)];
    let again = view.model.interrupted.is_some_and(|at| view.now < at + TWICE);
    let note = match &view.model.note {
        _ if again => Some(say!("Ctrl-C again quits")),
        Some(note) => Some(note.as_str()),
        None => None,
    };
    // Where the prompt has no border to say it.
    let place = view.model.prompt.place(shown.areas.prompt.height);
    let place = place.filter(|_| context == Context::Prompt && !shown.areas.framed);
    let note = note.map(|note| text::visible(note, text::Show::Prose));
    let mut used = 1;
    for (told, look) in [(place.as_deref(), Look::Dim), (note.as_deref(), Look::Warning)] {
        let Some(told) = told else { continue };
        let gap = if used > 1 { "  " } else { "" };
        pieces.extend([(gap, Look::Text), (told, look)]);
        used += gap.len() + text::width(told);
    }
    let mut bindings: Vec<&keymap::Binding> = keymap::footer(context).collect();
    if context.is_field() && shown.approval.is_none() {
        bindings.retain(|binding| binding.action() != Action::Submit);
    }
    if !shown.inspector_list.is_some_and(List::sends_again) {
        bindings.retain(|binding| binding.action() != Action::SendAgain);
    }
    bindings.sort_by_key(|binding| !is_urgent(view, context, shown, binding));
    for binding in bindings {
        let short = word(view, context, shown, binding);
        let gap = if pieces.len() > 1 { 2 } else { 0 };
        let label = view.model.setup.keymap.label(Some(context), binding);
        let columns = gap + text::width(label) + 1 + text::width(short);
        if short.is_empty() || used + columns > usize::from(area.width) {
            continue;
        }
        used += columns;
        if gap > 0 {
            pieces.push(("  ", Look::Text));
        }
        pieces.extend([(label, Look::Key), (" ", Look::Text), (short, Look::Dim)]);
    }
    paint::pieces(buf, (area.x, area.y), area.width, &pieces, view.theme);
}

/// What a person needs at this moment, before all else.
fn is_urgent(view: &View<'_>, context: Context, shown: &Shown, binding: &keymap::Binding) -> bool {
    let model = view.model;
    if model.searched(model.focus).is_some() {
        return matches!(binding.action(), Action::NextMatch | Action::PreviousMatch);
    }
    if binding.action() == Action::Zoom {
        return layout::shape(model, shown.size) != Shape::of(shown.size);
    }
    context == Context::Prompt
        && match binding.action() {
            Action::NextPane => model.approval.is_some() && !model.panel_is_next(),
            Action::TakeOffer => model.offer.is_some(),
            Action::Back => model.running || model.offer.is_some(),
            Action::Steer => model.running,
            Action::Unfold => !model.prompt.unfolds().is_empty(),
            _ => false,
        }
}

/// Some keys are only good for something at times.
fn word(
    view: &View<'_>,
    context: Context,
    shown: &Shown,
    binding: &keymap::Binding,
) -> &'static str {
    let model = view.model;
    match (context, binding.action()) {
        (_, Action::NextMatch) if model.searched(model.focus).is_some() => say!("next"),
        (_, Action::PreviousMatch) if model.searched(model.focus).is_some() => say!("before"),
        (context, Action::Back) if context.is_pane() && model.searched(model.focus).is_some() => {
            say!("leave")
        }
        (Context::Prompt, Action::Submit)
            if model.prompt.is_empty() && !model.running && model.queue.next().is_some() =>
        {
            say!("send the next")
        }
        (Context::Prompt, Action::Submit) => model.prompt.enter(model.running),
        (Context::Conversation, Action::Fold)
            if !shown.conversation.is_some_and(|drawn| model.conversation.can_fold(drawn)) =>
        {
            ""
        }
        (Context::Conversation, Action::Fold)
            if shown.conversation.is_some_and(|drawn| model.conversation.is_folded(drawn)) =>
        {
            say!("unfold")
        }
        (Context::Conversation, Action::Copy | Action::CopyPart)
            if !shown.conversation.is_some_and(|drawn| model.conversation.can_copy(drawn)) =>
        {
            ""
        }
        (Context::Prompt, Action::Unfold) => model.prompt.unfolds(),
        (Context::Call, Action::PageDown) if !shown.call.is_some_and(Measure::scrolls) => "",
        (Context::Message, Action::PageDown) if !shown.message.is_some_and(Measure::scrolls) => "",
        (Context::Approval | Context::ApprovalWaits, Action::PageDown)
            if !shown.approval.is_some_and(Drawn::scrolls) =>
        {
            ""
        }
        (Context::Call, Action::Output) if model.tools.shows_output() => say!("as told"),
        (Context::Prompt, Action::Steer) if !model.running || model.queue.next().is_none() => "",
        (Context::Pick, Action::NextPart)
            if !model.picker.as_ref().is_some_and(Picker::has_parts) =>
        {
            ""
        }
        (Context::List, Action::Ask) => model.popup.as_ref().map_or("", Popup::word_of_tab),
        (Context::Prompt, Action::Back) if model.setup.keymap.is_vi() && model.prompt.is_text() => {
            say!("normal mode")
        }
        (Context::Prompt, Action::Back) if model.approval.is_some() => say!("deny"),
        (Context::Prompt, Action::TakeOffer) => model.offer.as_ref().map_or("", Offer::word),
        (Context::Prompt, Action::Back) if model.offer.is_some() && !model.running => {
            say!("not now")
        }
        (Context::Prompt, Action::Back) if !model.running => "",
        (Context::Prompt, Action::NextPane)
            if model.approval.is_some() && !model.panel_is_next() =>
        {
            say!("decide")
        }
        (_, Action::Zoom) if layout::shape(model, shown.size) != Shape::of(shown.size) => {
            say!("all panes")
        }
        (_, Action::Zoom) if Shape::of(shown.size) != Shape::Wide => "",
        (Context::Message, Action::Raw) if model.inspector.view != Inspected::Message => "",
        (_, Action::EarlierBase | Action::LaterBase)
            if !model.inspector.compares(binding.action(), &model.session) =>
        {
            ""
        }
        (Context::Message, Action::Raw) if model.inspector.exact => say!("readable"),
        (Context::Conversation | Context::Tools | Context::Inspector, Action::Back)
            if model.approval.is_some() =>
        {
            say!("decide")
        }
        _ => binding.short.text(),
    }
}
