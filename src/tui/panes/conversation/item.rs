//! One thing in the conversation: what it shows, folded and unfolded.

use crate::text::{say, translated};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use super::super::call;
use crate::conversation::{Block, CallId, Entry, Failure, FailureKind, Session, TurnNumber};
use crate::text;
use crate::tui::markdown::{self, Style};
use crate::tui::rows::{Line, Rows};
use crate::tui::search;
use crate::tui::theme::Look;
use crate::wire::{outline, sent_of};

/// One thing in the conversation.
#[derive(Debug)]
pub(super) enum Item {
    /// What the user submitted.
    Prompt(Arc<Entry>),
    /// A request was posted.
    Turn { number: TurnNumber, posted: String, roles: Roles, bytes: u64 },
    /// The model's name.
    Head,
    /// What the model thought before it answered: a block of its reply, and how long it took.
    Thought { entry: Arc<Entry>, block: usize, took: Option<Duration> },
    /// What the model said: a block of its reply.
    Said { entry: Arc<Entry>, block: usize },
    /// A call of the model; one row that shows how it goes.
    Call(CallId),
    /// What came of a command of the user's own.
    Output { text: String, told: bool },
    /// A remark of limpid's.
    Note(String, Look),
    /// The exchange failed; the variable that held its key, if one did.
    Failure(Failure, Option<String>),
}

/// An item and whether it is unfolded.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) item: Item,
    open: bool,
    /// Whether it is unfolded for what is looked for.
    matches: bool,
}

impl Placed {
    pub(super) fn new(item: Item) -> Self {
        let open = item.is_open_at_first();
        Self { item, open, matches: false }
    }

    pub(super) fn is_open(&self) -> bool {
        self.open || self.matches
    }

    pub(super) fn set_open(&mut self, open: bool) {
        self.open = open;
        self.matches = false;
    }

    /// Unfolds it while something is looked for that it holds; whether that changed anything.
    pub(super) fn match_against(
        &mut self,
        needle: &str,
        session: &Session,
        result: Option<&Entry>,
    ) -> bool {
        let holds = |text: &str| search::holds(text, needle);
        let log = self.item.call().and_then(|call| session.calls.get(call));
        let more = log.and_then(|log| call::command(log).split_once('\n'));
        let told = result.and_then(Entry::result);
        let matches = !self.open
            && self.item.can_fold()
            && (holds(&self.item.source())
                || more.is_some_and(|(_, more)| holds(more))
                || told.is_some_and(|told| holds(&told.text)));
        std::mem::replace(&mut self.matches, matches) != matches
    }
}

/// The separator of the newest turn.
pub(super) fn turn(number: TurnNumber, session: &Session) -> Item {
    let parts = session.newest_parts();
    let count = outline::message_count(parts);
    Item::Turn {
        number,
        posted: match count {
            1 => say!("turn {number} → 1 message", number = number),
            _ => say!("turn {number} → {count} messages", number = number, count = count),
        },
        roles: Roles::of(&outline::role_runs(parts)),
        bytes: session.turn(number).map_or(0, |turn| turn.request.bytes),
    }
}

impl Item {
    pub(super) fn is_call(&self, call: &CallId) -> bool {
        matches!(self, Self::Call(id) if id == call)
    }

    pub(super) fn call(&self) -> Option<&CallId> {
        match self {
            Self::Call(id) => Some(id),
            _ => None,
        }
    }

    /// Whether it is unfolded until a key folds it.
    pub(super) fn is_open_at_first(&self) -> bool {
        match self {
            Self::Prompt(entry) => entry.text().lines().count() <= PROMPT_LINES,
            Self::Thought { .. } | Self::Call(_) | Self::Output { .. } => false,
            _ => true,
        }
    }

    /// Whether it has a row that is made anew each time, above all others.
    pub(super) fn has_live_row(&self) -> bool {
        matches!(self, Self::Turn { .. } | Self::Call(_))
    }

    /// Whether it can be folded.
    pub(super) fn can_fold(&self) -> bool {
        match self {
            Self::Call(_) => true,
            Self::Prompt(_) | Self::Said { .. } => {
                let source = self.source();
                source.len() > SHORT || source.trim().contains('\n')
            }
            Self::Thought { .. } => !self.source().is_empty(),
            Self::Output { text, .. } => text.lines().count() > OUTPUT_LINES,
            Self::Turn { .. } | Self::Head | Self::Note(..) | Self::Failure(..) => false,
        }
    }

    /// Whether keys can be about it.
    pub(super) fn can_be_at_hand(&self) -> bool {
        !matches!(self, Self::Head)
    }

    /// Its text as it was written.
    pub(super) fn source(&self) -> Cow<'_, str> {
        Cow::Borrowed(match self {
            Self::Prompt(entry) => return Cow::Owned(entry.text()),
            Self::Thought { entry, block, .. } | Self::Said { entry, block } => {
                match entry.blocks.get(*block) {
                    Some(Block::Text(text)) => text,
                    Some(Block::Reasoning(reasoning)) => &reasoning.text,
                    Some(Block::Opaque(opaque)) => &opaque.json,
                    _ => "",
                }
            }
            Self::Note(note, _) => note,
            Self::Output { text, .. } => text,
            Self::Turn { .. } | Self::Head | Self::Call(_) | Self::Failure(..) => "",
        })
    }
}

/// Bytes of a line that is about as short as its folded form.
const SHORT: usize = 80;

/// Lines of a prompt that are shown until a key folds it: a longer one was pasted.
const PROMPT_LINES: usize = 40;

/// How items are to be laid out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    pub(super) width: u16,
    /// Whether it stands above all others.
    pub(super) first: bool,
    pub(super) open: bool,
    pub(super) as_written: bool,
}

/// The rows of an item, but for one that is made anew each time.
pub(super) fn rows(item: &Item, manner: Manner, session: &Session, result: Option<&Entry>) -> Rows {
    let Manner { width, first, open, as_written } = manner;
    let mut rows = Rows::default();
    match item {
        Item::Call(id) if open => opened_call(&mut rows, id, session, result, width),
        Item::Turn { .. } | Item::Call(_) => {}
        Item::Head => rows.push(say!("model"), Look::Model, 0, width),
        Item::Prompt(entry) => {
            if !first {
                rows.blank();
            }
            rows.push(say!("you"), Look::You, 0, width);
            if open {
                rows.push(&entry.text(), Look::Text, 0, width);
            } else {
                folded(&mut rows, &entry.text(), width);
            }
            sent_line(&mut rows, session, entry, width);
            rows.blank();
        }
        Item::Thought { took, .. } => thought(&mut rows, &item.source(), *took, manner),
        Item::Said { .. } if !open => folded(&mut rows, &item.source(), width),
        Item::Said { .. } => {
            let style = message_style(as_written);
            rows = markdown::rows(&item.source(), style, width);
        }
        Item::Output { text, told } => own_output(&mut rows, text, *told, open, width),
        Item::Note(note, look) => rows.push(note, *look, 0, width),
        Item::Failure(failure, key) => lay_out_failure(&mut rows, failure, key.as_deref(), width),
    }
    if let Item::Thought { entry, block, .. } | Item::Said { entry, block } = item {
        let mut after = entry.blocks.iter().skip(block + 1);
        if after.all(|block| matches!(block, Block::Call(_))) {
            sent_line(&mut rows, session, entry, width);
        }
    }
    rows
}

/// A line on an entry that is not sent as it is.
fn sent_line(rows: &mut Rows, session: &Session, entry: &Entry, width: u16) {
    if let Some(sent) = sent_of(session, entry.id) {
        rows.push(&format!("({sent})"), Look::Dim, 0, width);
    }
}

/// Lines of an own command's output that are shown when it is folded.
const OUTPUT_LINES: usize = 12;

/// Whether the model is told of an own command.
pub(super) fn output_head(told: bool) -> &'static str {
    if told {
        say!("told with the prompt that follows:")
    } else {
        say!("not sent, the model is not told:")
    }
}

fn own_output(rows: &mut Rows, output: &str, told: bool, open: bool, width: u16) {
    rows.push(output_head(told), Look::Strong, 3, width);
    let count = output.lines().count();
    let skipped = if open { 0 } else { count.saturating_sub(OUTPUT_LINES) };
    if skipped > 0 {
        let note = say!("▸ {skipped} lines before these", skipped = skipped);
        rows.push(&note, Look::Dim, 3, width);
    }
    for line in output.lines().skip(skipped) {
        rows.push(line, Look::Dim, 3, width);
    }
}

/// How the model's text is read.
pub(super) fn message_style(as_written: bool) -> Style {
    if as_written { Style::Plain(Look::Text) } else { Style::Markdown(Look::Text) }
}

/// One row for a message: how it begins, and how much there is.
fn folded(rows: &mut Rows, source: &str, width: u16) {
    let size = format!(" … {}", text::bytes(source.len() as u64));
    let source = source.trim();
    let first = source.lines().next().unwrap_or_default();
    let first = text::visible(first, text::Show::Prose);
    if first.len() == source.len() && text::width(&first) <= width.into() {
        rows.push(&first, Look::Text, 0, width);
        return;
    }
    let room = usize::from(width).saturating_sub(2 + text::width(&size));
    let line = format!("▸ {}{size}", text::fit(&first, room));
    rows.push(&line, Look::Dim, 0, width);
}

fn thought(rows: &mut Rows, source: &str, took: Option<Duration>, manner: Manner) {
    if source.is_empty() {
        let secret = say!("(the server keeps this reasoning to itself)");
        rows.push(secret, Look::Dim, 0, manner.width);
        return;
    }
    let mark = if manner.open { '▾' } else { '▸' };
    let size = text::bytes(source.len() as u64);
    let thought = match took {
        Some(took) => say!("thought for {took}", took = seconds(took)),
        None => say!("thought").to_owned(),
    };
    rows.push(&format!("{mark} {thought} · {size}"), Look::Dim, 0, manner.width);
    if manner.open {
        rows.push(source.trim_end_matches('\n'), Look::Dim, 2, manner.width);
    }
}

fn seconds(took: Duration) -> String {
    text::duration(u64::try_from(took.as_millis()).unwrap_or(u64::MAX))
}

/// Below a call's row: the command if its row cannot show all of it, and what the model was told.
fn opened_call(
    rows: &mut Rows,
    id: &CallId,
    session: &Session,
    result: Option<&Entry>,
    width: u16,
) {
    let mut beside = |text: &str, look: Look| {
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            let text = text::visible(line.strip_suffix('\r').unwrap_or(line), text::Show::Prose);
            let lead = "   │ ".to_owned();
            rows.push_line(
                &Line {
                    text: text.into_owned(),
                    look,
                    rest: lead.clone(),
                    lead,
                    lead_look: Look::Dim,
                    ..Line::default()
                },
                width,
            );
        }
    };
    if let Some(log) = session.calls.get(id) {
        beside(call::command(log), Look::Strong);
    }
    match result.and_then(Entry::result) {
        Some(result) => beside(&result.text, Look::Text),
        None => beside(say!("The model was told nothing yet."), Look::Dim),
    }
}

fn lay_out_failure(rows: &mut Rows, failure: &Failure, key: Option<&str>, width: u16) {
    rows.blank();
    let head = if failure.came_to_nothing() {
        say!("✗ The model did not answer.")
    } else {
        say!("✗ The model did not answer in full.")
    };
    rows.push(head, Look::Bad, 0, width);
    rows.push(&translated(&failure.cause()), Look::Bad, 2, width);
    rows.push(&failure.next_step(), Look::Text, 2, width);
    let kept = if failure.may_pass() {
        say!("Your prompt and all text so far are kept: /continue posts the same messages again.")
    } else {
        say!("Your prompt and all text so far are kept.")
    };
    rows.push(kept, Look::Text, 2, width);
    if failure.kind == FailureKind::Auth {
        let way = match key {
            Some(name) => say!(
                "limpid read {name} when it started: put the right key there and start it again. Or choose another profile with /model, then /continue.",
                name = name
            ),
            None => say!("Or choose another profile with /model, then /continue.").to_owned(),
        };
        rows.push(&way, Look::Text, 2, width);
    }
}

/// The roles of a request, as its separator names them.
#[derive(Debug)]
pub(super) struct Roles {
    pub(super) in_order: String,
    counted: String,
}

impl Roles {
    /// Bytes of a list in order that can still fit into a row. A long session has thousands of
    /// roles in each turn: they are neither kept nor measured again in each frame.
    const MOST: usize = 400;

    fn of(runs: &[(&str, usize)]) -> Self {
        let counted = outline::in_a_row(&counts(runs));
        let in_order =
            if runs.len() > Self::MOST { String::new() } else { outline::in_a_row(runs) };
        let fits = (1..=Self::MOST).contains(&in_order.len());
        Self { in_order: if fits { in_order } else { counted.clone() }, counted }
    }
}

/// The separator of a turn, as much of it as there is room for.
pub(super) fn separator(
    posted: &str,
    Roles { in_order, counted }: &Roles,
    bytes: u64,
    repairs: usize,
    columns: usize,
) -> String {
    let bytes = text::bytes(bytes);
    let repaired = match repairs {
        0 => String::new(),
        1 => say!(" · 1 repair").to_owned(),
        _ => say!(" · {repairs} repairs", repairs = repairs),
    };
    let colon = say!(": ");
    let forms = [
        format!("── {posted}{colon}{in_order} · {bytes}{repaired} ──"),
        format!("── {posted}{colon}{in_order}{repaired} ──"),
        format!("── {posted}{colon}{counted} · {bytes}{repaired} ──"),
        format!("── {posted}{colon}{counted}{repaired} ──"),
        // Which repairs there are stands below in any case.
        format!("── {posted}{colon}{counted} ──"),
        format!("── {posted} · {bytes}{repaired} ──"),
    ];
    let fits = forms.iter().find(|form| text::width(form) <= columns);
    fits.cloned().unwrap_or_else(|| text::fit(&forms[5], columns).into_owned())
}

/// How often each role occurs, in order of appearance: `system user assistant×3 tool×3`.
fn counts<'a>(runs: &[(&'a str, usize)]) -> Vec<(&'a str, usize)> {
    let mut counted: Vec<(&str, usize)> = Vec::new();
    for (role, times) in runs {
        match counted.iter_mut().find(|(known, _)| known == role) {
            Some((_, count)) => *count += times,
            None => counted.push((role, *times)),
        }
    }
    counted
}
