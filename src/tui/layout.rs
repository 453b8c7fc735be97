//! Where each pane stands. Side by side from 100×30 on; one at a time, as tabs, under that; under
//! 40×10 only what is needed to decide and to type.

use ratatui::layout::Rect;

use super::keymap::Action;
use super::model::{Focus, Model};
use super::panes::inspector::View;
use super::panes::queue;

/// How the screen is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Conversation left, tools and inspector right.
    Wide,
    /// One of the three at a time.
    Tabs,
    /// No panes.
    Small,
}

impl Shape {
    pub(super) fn of((columns, rows): (u16, u16)) -> Self {
        match (columns, rows) {
            (100.., 30..) => Self::Wide,
            (40.., 10..) => Self::Tabs,
            _ => Self::Small,
        }
    }
}

/// How a wide screen is divided, as the user left it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Split {
    /// The conversation's part of the columns, in percent.
    columns: u16,
    /// The tools' part of the rows, in percent.
    rows: u16,
    /// The pane that has all the room.
    full: Option<Focus>,
}

impl Default for Split {
    fn default() -> Self {
        Self { columns: 53, rows: 40, full: None }
    }
}

impl Split {
    /// Takes a key that is about the room of the pane that it was pressed in.
    pub(super) fn act(&mut self, action: Action, pane: Focus) {
        if action == Action::Zoom {
            self.full = if self.full.is_some() { None } else { Some(pane) };
            return;
        }
        self.full = None;
        match action {
            Action::Narrower => self.columns = (self.columns - 4).max(25),
            Action::Wider => self.columns = (self.columns + 4).min(77),
            Action::Shorter => self.rows = (self.rows - 5).max(15),
            Action::Taller => self.rows = (self.rows + 5).min(75),
            _ => {}
        }
    }

    /// Something comes in a pane that is not to be missed: another gives its room back.
    pub(super) fn show(&mut self, pane: Focus) {
        self.full = self.full.filter(|full| *full == pane);
    }

    /// A pane that gets the keys gets the room with them.
    pub(super) fn follow(&mut self, focus: Focus) {
        if self.full.is_some() && !matches!(focus, Focus::Prompt | Focus::Approval) {
            self.full = Some(focus);
        }
    }
}

/// How the panes are shown in a size: where one has all the room, they are tabs.
pub(super) fn shape(model: &Model, size: (u16, u16)) -> Shape {
    match Shape::of(size) {
        Shape::Wide if model.split.full.is_some() => Shape::Tabs,
        shape => shape,
    }
}

/// The place of everything; what is not shown has no area.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Areas {
    pub(super) status: Rect,
    pub(super) conversation: Rect,
    pub(super) tools: Rect,
    pub(super) inspector: Rect,
    /// Left over where there are no panes.
    pub(super) rest: Rect,
    /// The approval panel, or an offer.
    pub(super) approval: Rect,
    /// What waits to be sent.
    pub(super) queue: Rect,
    pub(super) prompt: Rect,
    /// Whether the prompt has a border.
    pub(super) framed: bool,
    pub(super) footer: Rect,
}

/// Rows from which on the prompt has a border.
const FRAMED: u16 = 16;

/// Divides the screen; `panel` is how many rows the approval panel, or an offer, would like to have.
pub(super) fn areas(area: Rect, model: &Model, panel: u16) -> Areas {
    let shape = Shape::of((area.width, area.height));
    let mut areas = Areas::default();
    let mut left = area;
    if shape != Shape::Small {
        areas.status = take_top(&mut left, 1);
    }
    if area.height > 2 {
        areas.footer = take_bottom(&mut left, 1);
    }
    areas.framed = shape != Shape::Small && area.height >= FRAMED;
    let border = if areas.framed { 2 } else { 0 };
    let inside = area.width.saturating_sub(if areas.framed { 4 } else { 2 });
    let most = if panel > 0 { 3 } else { (area.height / 4).clamp(1, 12) };
    let rows = model.prompt.rows(inside).clamp(1, most);
    areas.prompt = take_bottom(&mut left, rows + border);
    areas.queue = take_bottom(&mut left, queue::rows(model, area));
    if panel > 0 {
        let keep = match shape {
            Shape::Wide => 10,
            Shape::Tabs if areas.framed => 4,
            _ => 0,
        };
        let mut height = panel.min(left.height.saturating_sub(keep));
        if left.height - height < 3 {
            height = left.height;
        }
        areas.approval = take_bottom(&mut left, height);
    }
    match shape {
        Shape::Wide if model.split.full.is_none() => side_by_side(left, model, &mut areas),
        Shape::Tabs if left.height < 3 => areas.rest = left,
        Shape::Wide | Shape::Tabs => {
            match model.split.full.filter(|_| shape == Shape::Wide).unwrap_or(model.focus) {
                Focus::Prompt | Focus::Approval | Focus::Conversation => areas.conversation = left,
                Focus::Tools => areas.tools = left,
                Focus::Inspector => areas.inspector = left,
            }
        }
        Shape::Small => areas.rest = left,
    }
    areas
}

fn side_by_side(left: Rect, model: &Model, areas: &mut Areas) {
    let Split { columns, rows, .. } = model.split;
    let part = |of: u16, percent: u16| {
        u16::try_from(u32::from(of) * u32::from(percent) / 100).unwrap_or(of)
    };
    let columns = part(left.width, columns);
    areas.conversation = Rect { width: columns, ..left };
    let mut right = Rect { x: left.x + columns, width: left.width - columns, ..left };
    if model.focus == Focus::Tools && model.tools.opened.is_some() {
        areas.tools = right;
    } else if model.focus == Focus::Inspector && model.inspector.view != View::Roles {
        areas.inspector = right;
    } else {
        areas.tools = take_top(&mut right, part(left.height, rows).max(4));
        areas.inspector = right;
    }
}

fn take_top(left: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(left.height);
    let taken = Rect { height: rows, ..*left };
    left.y += rows;
    left.height -= rows;
    taken
}

fn take_bottom(left: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(left.height);
    left.height -= rows;
    Rect { y: left.y + left.height, height: rows, ..*left }
}
