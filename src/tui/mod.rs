//! The screen: a pure state machine and its drawing. No HTTP, no files, no processes, no clock.
//!
//! The way of a key: `keymap::resolve` names an action for it, [`update`] changes the
//! [`Model`] and returns [`Effect`]s. Records and progress come in by the same door. [`draw`] shows
//! a model, [`Model::frame_drawn`] tells it what came of that, and once the frame reached the terminal
//! [`Model::frame_shown`] tells it so.

mod allowances;
mod arguments;
mod choose;
mod completion;
mod copy;
mod draft;
mod exchanged;
mod keymap;
mod layout;
mod markdown;
mod model;
mod mouse;
mod paint;
mod panes;
mod popup;
mod pressed;
mod prompt_history;
mod rows;
mod scroll;
mod search;
mod sessions;
mod slash;
mod submit;
mod theme;
mod update;

use crate::text::say;
use std::time::Instant;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

pub use copy::{Copied, CopyTo};
pub use exchanged::{Effect, Input};
pub use keymap::{Context, KeyRow, KeySetting, Keymap};
pub use model::{Model, Setup};
pub use sessions::SessionRow;
pub use theme::{BUILT_IN as BUILT_IN_THEMES, Theme, ThemeError};
pub use update::{replay, update};

use layout::{Areas, Shape};
use model::Focus;
use panes::{
    approval, completion as completions, conversation, footer, help, inspector, list, offer,
    picker, prompt, queue, status, tools,
};
use scroll::Measure;
use search::Found;
use theme::Look;

/// What drawing keeps from one frame to the next.
#[derive(Debug, Default)]
pub struct RenderCache {
    conversation: conversation::Layout,
    call: tools::Layout,
    inspector: inspector::Layout,
    approval: approval::Layout,
    shown: Shown,
}

/// What the last frame showed; while one is drawn, what it shows so far. What is drawn from it goes
/// by this, not by what the model was told of the frame before.
#[derive(Debug, Default, Clone, Copy)]
struct Shown {
    /// Columns and rows of the screen.
    size: (u16, u16),
    areas: Areas,
    conversation: Option<conversation::Drawn>,
    call: Option<Measure>,
    message: Option<Measure>,
    found: Option<Found>,
    help: Option<Measure>,
    approval: Option<approval::Drawn>,
    offer: bool,
    popup_page: Option<usize>,
    picker_page: Option<usize>,
    tools_page: Option<usize>,
    inspector_list: Option<inspector::List>,
}

/// What panes draw from.
#[derive(Clone, Copy)]
struct View<'a> {
    model: &'a Model,
    theme: &'a Theme,
    now: Instant,
    unix_ms: u64,
}

/// Draws the whole screen on an empty buffer of its size, and returns where the cursor belongs. Only
/// what is visible is laid out anew; `now_unix_ms` is the wall clock that records are stamped with.
pub fn draw(
    model: &Model,
    cache: &mut RenderCache,
    buf: &mut Buffer,
    now: Instant,
    now_unix_ms: u64,
) -> Option<Position> {
    let theme = &model.setup.theme;
    let view = View { model, theme, now, unix_ms: now_unix_ms };
    let screen = buf.area;
    cache.shown = Shown { size: (screen.width, screen.height), ..Shown::default() };
    if screen.is_empty() {
        return None;
    }
    let panel = match (&model.approval, &model.offer) {
        (Some(approval), _) => {
            cache.approval.update(approval, screen.width);
            approval::height(approval, &cache.approval, &view.model.setup.keymap, screen.width)
        }
        (None, Some(offer)) => offer::height(offer, screen.width),
        (None, None) => 0,
    };
    let areas = layout::areas(screen, model, panel);
    cache.shown.areas = areas;
    let context = model.context(now);
    let style = theme.style(Look::Text);
    for cell in &mut buf.content {
        cell.set_style(style);
    }
    status::draw(&view, areas.status, buf);
    draw_panes(
        &view,
        cache,
        &areas,
        model.pane_with_keys(context),
        layout::shape(model, (screen.width, screen.height)),
        buf,
    );
    queue::draw(&view, areas.queue, buf);
    let typing = context == Context::Prompt;
    let mut cursor = prompt::draw(&view, typing, areas.prompt, areas.framed, buf);
    if let Some(approval) = &model.approval {
        let (drawn, at) = approval::draw(&view, approval, &cache.approval, areas.approval, buf);
        cache.shown.approval = drawn;
        cursor = cursor.or(at);
    } else if let Some(offer) = &model.offer {
        cache.shown.offer = offer::draw(&view, offer, context, areas.approval, buf);
    }
    completions::draw(&view, areas.prompt, buf);
    if areas.footer.height > 0 {
        let completing = typing && model.open_completion().is_some();
        let context = if completing { Context::Completion } else { context };
        cursor = footer::draw(&view, context, &cache.shown, areas.footer, buf).or(cursor);
    }
    if let Some(popup) = &model.popup {
        let rows: Vec<list::Row> = popup.rows(model).into_iter().map(|(row, _)| row).collect();
        let (remark, look) = popup.remark(model);
        let (title, remark) = (popup.title(), (&*remark, look));
        let (page, at) = list::draw(&view, &popup.list, &title, &rows, remark, screen, buf);
        cache.shown.popup_page = Some(page);
        // What lies under the list was not read.
        cache.shown.offer = false;
        cache.shown.approval = None;
        cursor = at;
    }
    if let Some(chosen) = &model.picker {
        cache.shown.picker_page = Some(picker::draw(&view, chosen, screen, buf));
        cache.shown.offer = false;
        cache.shown.approval = None;
        cursor = None;
    }
    if let Some(scroll) = &model.help {
        cache.shown.help = Some(help::draw(&view, scroll, model.helped(now), screen, buf));
        cache.shown.approval = None;
        cache.shown.offer = false;
        cursor = None;
    }
    cursor
}

fn draw_panes(
    view: &View<'_>,
    cache: &mut RenderCache,
    areas: &Areas,
    with_keys: Option<Focus>,
    shape: Shape,
    buf: &mut Buffer,
) {
    let theme = view.theme;
    let model = view.model;
    if !areas.conversation.is_empty() {
        let focused = with_keys == Some(Focus::Conversation);
        let title = title(view, shape, Focus::Conversation, focused, areas.conversation.width);
        let inside = pane(buf, areas.conversation, focused, &title, theme);
        let drawn = conversation::draw(view, &mut cache.conversation, focused, inside, buf);
        cache.shown.conversation = Some(drawn);
        cache.shown.found = drawn.found;
    }
    if !areas.tools.is_empty() {
        let focused = with_keys == Some(Focus::Tools);
        let title = title(view, shape, Focus::Tools, focused, areas.tools.width);
        let inside = pane(buf, areas.tools, focused, &title, theme);
        let position = match &model.tools.opened {
            Some(call) => {
                let (measure, found) = tools::draw_call(view, call, &mut cache.call, inside, buf);
                cache.shown.call = Some(measure);
                cache.shown.found = cache.shown.found.or(found);
                measure.position(say!("rows"))
            }
            None => {
                cache.shown.tools_page = Some(inside.height.into());
                let (position, found) =
                    tools::draw_list(view, &mut cache.call.listed, focused, inside, buf);
                cache.shown.found = cache.shown.found.or(found);
                position
            }
        };
        if let Some(position) = position {
            paint::foot(buf, areas.tools, &position, theme);
        }
    }
    if !areas.inspector.is_empty() {
        let focused = with_keys == Some(Focus::Inspector);
        let title = title(view, shape, Focus::Inspector, focused, areas.inspector.width);
        let inside = pane(buf, areas.inspector, focused, &title, theme);
        let (list, measure, found) =
            inspector::draw(view, &mut cache.inspector, focused, inside, buf);
        cache.shown.found = cache.shown.found.or(found);
        cache.shown.inspector_list = Some(list);
        if !model.inspector.lists(&model.session) {
            cache.shown.message = Some(measure);
        }
        if let Some(position) = measure.position(say!("rows")) {
            paint::foot(buf, areas.inspector, &position, theme);
        }
    }
    if shape == Shape::Small && areas.rest.height > 0 && model.approval.is_none() {
        let hint = say!("Enlarge the window to see more: 40×10 or larger.");
        paint::line(buf, areas.rest, hint, Look::Dim, theme);
    }
}

fn pane(
    buf: &mut Buffer,
    area: Rect,
    focused: bool,
    title: &[(String, Look)],
    theme: &Theme,
) -> Rect {
    let pieces: Vec<paint::Piece<'_>> =
        title.iter().map(|(text, look)| (text.as_str(), *look)).collect();
    paint::frame(buf, area, focused, &pieces, theme)
}

/// The title of a pane; where the panes are tabs, the names of all. What is opened in it comes
/// first: where it does not fit beside the other names, those are left out.
fn title(
    view: &View<'_>,
    shape: Shape,
    of: Focus,
    focused: bool,
    width: u16,
) -> Vec<(String, Look)> {
    let model = view.model;
    let look = if focused { Look::Focus } else { Look::Text };
    let name = |pane: Focus| match pane {
        Focus::Tools if model.tools.count() > 0 => {
            format!("{} {}", say!("Tools"), model.tools.count())
        }
        Focus::Tools => say!("Tools").to_owned(),
        Focus::Inspector => say!("Inspector").to_owned(),
        _ => say!("Conversation").to_owned(),
    };
    let own = match shape {
        Shape::Wide => format!("{} ", name(of)),
        _ => format!("[{}] ", name(of)),
    };
    let mut names = Vec::new();
    for pane in [Focus::Conversation, Focus::Tools, Focus::Inspector] {
        if pane == of {
            names.push((own.clone(), look));
        } else if shape != Shape::Wide {
            names.push((format!("{} ", name(pane)), Look::Dim));
        }
    }
    let (detail, opened) = match (of, &model.tools.opened) {
        (Focus::Inspector, _) => {
            let turns = inspector::title(&model.inspector, &model.session);
            (turns, model.inspector.is_opened())
        }
        (Focus::Tools, Some(call)) => (tools::title(view, call), true),
        _ => (String::new(), false),
    };
    if detail.is_empty() {
        return names;
    }
    let detail = (format!("─ {detail}"), Look::Dim);
    // The border's corners and the mark of the focus.
    let room = usize::from(width.saturating_sub(3));
    let columns = |pieces: &[(String, Look)]| -> usize {
        pieces.iter().map(|(text, _)| crate::text::width(text)).sum()
    };
    let mut whole = names.clone();
    whole.push(detail.clone());
    match opened {
        _ if columns(&whole) <= room => whole,
        true => vec![(own, look), detail],
        false => names,
    }
}
