//! A Markdown source → lines. Pure: what a line looks like depends on the source and the width alone.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd};

use super::code::{self, Block, Fence};
use super::inline::{Inline, Within};
use super::table::Table;
use crate::text::say;
use crate::tui::rows::Line;
use crate::tui::theme::Look;

/// The lines of a source from some place on, and how much of them is final.
#[derive(Debug, Default)]
pub(super) struct Rendered {
    pub(super) lines: Vec<Line>,
    /// What comes before it stays as it is, however the source grows.
    pub(super) cut: Cut,
}

/// A place between two blocks.
#[derive(Debug, Default)]
pub(super) struct Cut {
    /// Lines before it.
    pub(super) lines: usize,
    /// Where it is in the source.
    pub(super) source: usize,
    /// The code block that is open there.
    pub(super) fence: Option<Fence>,
}

/// Makes the lines of a source that is final up to `from`, a place between two blocks.
pub(super) fn render(source: &str, from: usize, look: Look, width: u16) -> Rendered {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut renderer = Renderer {
        source,
        whole_lines: source.rfind('\n').map_or(0, |at| at + 1),
        columns: width.into(),
        look,
        lines: Vec::new(),
        cut: Cut { source: from, ..Cut::default() },
        shown: from,
        depth: 0,
        leads: Vec::new(),
        inline: Inline::default(),
        within: Within::default(),
        line_from: from,
        heading: false,
        links: Vec::new(),
        block: None,
        code: String::new(),
        table: None,
        cell_end: from,
    };
    for (event, range) in Parser::new_ext(&source[from..], options).into_offset_iter() {
        renderer.event(event, from + range.start..from + range.end);
    }
    renderer.left_over(source.len());
    Rendered { lines: renderer.lines, cut: renderer.cut }
}

struct Renderer<'a> {
    source: &'a str,
    /// Up to here the source consists of whole lines.
    whole_lines: usize,
    columns: usize,
    look: Look,
    lines: Vec<Line>,
    cut: Cut,
    /// Up to here the source is shown.
    shown: usize,
    depth: usize,
    leads: Vec<Lead>,
    inline: Inline,
    within: Within,
    /// Where the line that is composed begins.
    line_from: usize,
    heading: bool,
    /// Targets of the links that are open, and where their texts begin.
    links: Vec<(String, usize)>,
    block: Option<Block>,
    /// What came of a line of a code block or of HTML.
    code: String,
    table: Option<(Table, Vec<Inline>)>,
    /// Where the last cell of the table ends.
    cell_end: usize,
}

/// What stands before the lines of a quote or a list item.
struct Lead {
    first: String,
    rest: String,
    used: bool,
}

impl Renderer<'_> {
    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag, &range),
            Event::Text(text) => self.text(&text, range),
            // As it is written, backticks included.
            Event::Code(_) => self.piece(range.clone(), Some(Look::Code)),
            Event::InlineHtml(_) => self.piece(range.clone(), self.within.look()),
            Event::Html(html) => self.block_text(&html, range),
            Event::SoftBreak | Event::HardBreak if self.table.is_some() => {
                self.inline.push(" ", None);
            }
            Event::SoftBreak | Event::HardBreak => {
                self.end_line(range.start);
                self.line_from = range.end;
            }
            Event::Rule => self.rule(range),
            Event::TaskListMarker(done) => {
                self.inline.push(if done { "[x] " } else { "[ ] " }, Some(Look::Strong));
            }
            Event::FootnoteReference(_) | Event::InlineMath(_) | Event::DisplayMath(_) => {
                self.piece(range, None);
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        let is_block = matches!(
            tag,
            Tag::Paragraph
                | Tag::Heading { .. }
                | Tag::BlockQuote(_)
                | Tag::CodeBlock(_)
                | Tag::HtmlBlock
                | Tag::List(_)
                | Tag::Item
                | Tag::Table(_)
        );
        if is_block {
            self.begin_block(range.start, matches!(tag, Tag::Item) && self.depth == 1);
        }
        self.depth += 1;
        match tag {
            Tag::Heading { level, .. } => {
                self.heading = true;
                let hashes = format!("{} ", "#".repeat(level as usize));
                self.inline.push(&hashes, None);
            }
            Tag::BlockQuote(_) => self.lead("│ ", "│ "),
            Tag::Item => {
                let written = self.source[range.start..].trim_start();
                let end = written.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
                let mark = match end {
                    0 => "• ".to_owned(),
                    _ => format!("{} ", &written[..=end]),
                };
                let rest = " ".repeat(mark.chars().count());
                self.lead(&mark, &rest);
            }
            Tag::CodeBlock(kind) => self.code_block(&kind, range),
            Tag::Table(alignments) => {
                self.table = Some((Table { alignments, rows: Vec::new() }, Vec::new()));
            }
            Tag::Emphasis => self.within.emphasis += 1,
            Tag::Strong => self.within.strong += 1,
            Tag::Strikethrough => self.within.struck += 1,
            Tag::Link { link_type, dest_url, title, .. } => {
                self.within.link += 1;
                let target = match link_type {
                    LinkType::Email => String::new(),
                    _ if title.is_empty() => dest_url.into_string(),
                    _ => format!("{dest_url} \"{title}\""),
                };
                self.links.push((target, self.inline.text.len()));
            }
            Tag::Image { dest_url, title, .. } => {
                self.inline.push(say!("image: "), Some(Look::Dim));
                self.within.link += 1;
                let title = if title.is_empty() { String::new() } else { format!(" \"{title}\"") };
                self.links.push((format!("{dest_url}{title}"), self.inline.text.len()));
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd, range: &Range<usize>) {
        self.depth -= 1;
        match tag {
            TagEnd::Paragraph => self.end_line(range.end),
            TagEnd::Heading(_) => {
                self.end_line(range.end);
                self.heading = false;
            }
            TagEnd::Item | TagEnd::BlockQuote(_) => {
                let shows_nothing = self.leads.last().is_some_and(|lead| !lead.used);
                if !self.inline.is_empty() || shows_nothing {
                    self.end_line(range.end);
                }
                self.leads.pop();
            }
            TagEnd::CodeBlock | TagEnd::HtmlBlock => {
                let code = std::mem::take(&mut self.code);
                if !code.is_empty() {
                    self.lines_of(&code, self.line_from..range.end);
                }
                self.block = None;
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                self.cell_end = range.end;
                if let Some((_, cells)) = &mut self.table {
                    cells.push(cell);
                }
            }
            TagEnd::TableHead | TagEnd::TableRow => {
                // Cells beyond the heading's columns, which Markdown leaves out.
                let rest = self.source.get(self.cell_end..range.end).unwrap_or_default();
                let rest = rest.trim_matches(|c: char| c.is_whitespace() || c == '|');
                if let Some((table, cells)) = &mut self.table {
                    if !rest.is_empty() {
                        let mut cell = Inline::default();
                        cell.push(rest, None);
                        cells.push(cell);
                    }
                    table.rows.push((std::mem::take(cells), range.clone()));
                }
            }
            TagEnd::Table => {
                let Some((table, _)) = self.table.take() else { return };
                let before: usize = self.leads.iter().map(|lead| lead.rest.chars().count()).sum();
                for line in table.lines(self.columns.saturating_sub(before)) {
                    self.push(line);
                }
            }
            TagEnd::Emphasis => self.within.emphasis -= 1,
            TagEnd::Strong => self.within.strong -= 1,
            TagEnd::Strikethrough => self.within.struck -= 1,
            TagEnd::Link | TagEnd::Image => {
                self.within.link -= 1;
                let Some((target, from)) = self.links.pop() else { return };
                let shown = crate::text::visible(&target, crate::text::Show::Prose);
                if !target.is_empty() && self.inline.text[from..] != *shown {
                    self.inline.push(&format!(" ({target})"), Some(Look::Dim));
                }
            }
            _ => {}
        }
        if self.depth == 0 {
            self.shown = self.shown.max(range.end);
        }
    }

    /// A block begins: what the source has between it and the last one.
    fn begin_block(&mut self, at: usize, item_of_top_list: bool) {
        if !self.inline.is_empty() {
            self.end_line(at);
        }
        self.line_from = at;
        if self.depth == 0 {
            self.left_over(at);
        }
        let line_start = self.source[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let may_cut = (self.depth == 0 || item_of_top_list) && at < self.whole_lines;
        if may_cut && line_start > self.cut.source {
            self.cut = Cut { lines: self.lines.len(), source: line_start, fence: None };
        }
        let pending = self.leads.last().is_some_and(|lead| !lead.used);
        if !pending && self.blank_before(line_start) {
            self.blank();
        }
    }

    /// Whether the source has an empty line before the one that begins at `line_start`, and
    /// something before that.
    fn blank_before(&self, line_start: usize) -> bool {
        let is_mark = |c: char| c.is_whitespace() || c == '>';
        let Some(before) = self.source[..line_start].strip_suffix('\n') else { return false };
        let last = before.rsplit('\n').next().unwrap_or_default();
        last.chars().all(is_mark) && !before.trim().is_empty()
    }

    fn blank(&mut self) {
        let last_is_blank =
            self.lines.last().is_some_and(|line| line.text.is_empty() && line.lead.is_empty());
        if last_is_blank {
            return;
        }
        let before = self.line_from.saturating_sub(1);
        let source = before..before;
        let rest: String = self.leads.iter().map(|lead| lead.rest.as_str()).collect();
        let lead = rest.trim_end().to_owned();
        self.lines.push(Line {
            rest: lead.clone(),
            lead,
            lead_look: Look::Dim,
            source,
            ..Line::default()
        });
    }

    /// What Markdown leaves out between two blocks (the targets of links) is shown as it stands.
    fn left_over(&mut self, until: usize) {
        let Some(text) = self.source.get(self.shown..until) else { return };
        if !text.trim().is_empty() {
            let from = self.shown;
            let start = self.source[..from].rfind('\n').map_or(0, |newline| newline + 1);
            if self.blank_before(start) {
                self.blank();
            }
            self.lines_of(text.trim_end(), from..until);
        }
        self.shown = until;
    }

    fn lead(&mut self, first: &str, rest: &str) {
        self.leads.push(Lead { first: first.to_owned(), rest: rest.to_owned(), used: false });
    }

    fn text(&mut self, text: &str, range: Range<usize>) {
        if self.block.is_some() {
            return self.block_text(text, range);
        }
        self.inline.push(text, self.within.look());
    }

    /// A piece of a code block or of HTML, which need not end where a line does.
    fn block_text(&mut self, text: &str, range: Range<usize>) {
        if self.code.is_empty() {
            self.line_from = range.start;
        }
        self.code.push_str(text);
        if let Some(end) = self.code.rfind('\n') {
            let rest = self.code.split_off(end + 1);
            let lines = std::mem::replace(&mut self.code, rest);
            self.lines_of(&lines, self.line_from..range.end);
            self.line_from = range.end - self.code.len();
        }
    }

    /// A piece of a line exactly as the source has it.
    fn piece(&mut self, range: Range<usize>, look: Option<Look>) {
        self.inline.push(&self.source[range], look);
    }

    /// Whole lines of a code block, of HTML, or of what is left over.
    fn lines_of(&mut self, text: &str, range: Range<usize>) {
        let mut from = range.start;
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            let source = from..from + line.len();
            from = source.end + 1;
            let line = match &mut self.block {
                Some(block) => block.line(line, source),
                None => {
                    let text = crate::text::visible(line, crate::text::Show::Prose).into_owned();
                    Line { text, look: self.look, source, ..Line::default() }
                }
            };
            self.push(line);
        }
    }

    fn rule(&mut self, range: Range<usize>) {
        self.begin_block(range.start, false);
        let before: usize = self.leads.iter().map(|lead| lead.rest.chars().count()).sum();
        let text = "─".repeat(self.columns.saturating_sub(before).max(1));
        if self.depth == 0 {
            self.shown = range.end;
        }
        self.push(Line { text, look: Look::Dim, exact: true, source: range, ..Line::default() });
    }

    fn code_block(&mut self, kind: &CodeBlockKind<'_>, range: Range<usize>) {
        let info = match kind {
            CodeBlockKind::Fenced(info) => info.as_ref(),
            CodeBlockKind::Indented => "",
        };
        if let Some(head) = code::head(info, range.start..range.start) {
            self.push(head);
        }
        self.block = Some(Block::new(info));
        // At the end of the source and still open: its lines are final one by one.
        let at_top = self.depth == 1 && self.cut.source <= range.start;
        let text = &self.source[range.clone()];
        if at_top
            && range.end == self.source.len()
            && let Some((first, rest)) = text.split_once('\n')
            && let Some(fence) = Fence::opened(first)
            && !rest.split('\n').any(|line| fence.is_closed_by(line))
        {
            let source = range.end - rest.len();
            self.cut = Cut { lines: self.lines.len(), source, fence: Some(fence) };
        }
    }

    fn end_line(&mut self, end: usize) {
        let Inline { text, spans } = std::mem::take(&mut self.inline);
        let look = if self.heading { Look::Heading } else { self.look };
        let source = self.line_from..end.max(self.line_from);
        self.push(Line { text, spans, look, source, ..Line::default() });
    }

    /// Adds a line behind what stands before it.
    fn push(&mut self, line: Line) {
        let mut first = String::new();
        let mut rest = String::new();
        for lead in &mut self.leads {
            first.push_str(if lead.used { &lead.rest } else { &lead.first });
            rest.push_str(&lead.rest);
            lead.used = true;
        }
        first.push_str(&line.lead);
        rest.push_str(&line.rest);
        self.lines.push(Line { lead: first, rest, lead_look: Look::Dim, ..line });
    }
}
