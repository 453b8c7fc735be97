//! A code block: its fence, and its lines with a bar before them.

use std::ops::Range;

use super::syntax::Syntax;
use crate::text::{Show, visible};
use crate::tui::rows::Line;
use crate::tui::theme::Look;

/// Bytes of a block up to which its words are told apart.
const LONGEST_COLOURED: usize = 100_000;

/// An opening fence, and how far its block has been read.
#[derive(Debug, Clone)]
pub(super) struct Fence {
    mark: char,
    length: usize,
    indent: usize,
    block: Block,
}

/// The lines of a block.
#[derive(Debug, Clone)]
pub(super) struct Block {
    syntax: Option<Syntax>,
    bytes: usize,
}

impl Block {
    /// A block in the language that its fence names.
    pub(super) fn new(info: &str) -> Self {
        Self { syntax: Syntax::named(info), bytes: 0 }
    }

    /// The next line of it.
    pub(super) fn line(&mut self, raw: &str, source: Range<usize>) -> Line {
        let text = visible(raw.strip_suffix('\r').unwrap_or(raw), Show::Prose).into_owned();
        self.bytes += text.len();
        if self.bytes > LONGEST_COLOURED {
            self.syntax = None;
        }
        let (look, spans) = match &mut self.syntax {
            Some(syntax) => (Look::Text, syntax.line(&text)),
            None => (Look::Code, Vec::new()),
        };
        Line { text, spans, look, exact: true, source, ..bar() }
    }
}

impl Fence {
    /// The fence that a line opens.
    pub(super) fn opened(line: &str) -> Option<Self> {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let rest = &line[indent..];
        let mark = rest.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let info = rest.trim_start_matches(mark);
        let length = rest.len() - info.len();
        (length >= 3 && indent <= 3).then(|| Self {
            mark,
            length,
            indent,
            block: Block::new(info.trim()),
        })
    }

    /// Whether a line ends the block.
    pub(super) fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim_end_matches([' ', '\t', '\r']);
        let rest = line.trim_start_matches(' ');
        line.len() - rest.len() <= 3
            && rest.len() >= self.length
            && rest.chars().all(|c| c == self.mark)
    }

    /// Whether a line that is still arriving may become the end of the block.
    pub(super) fn may_be_closed_by(&self, line: &str) -> bool {
        let rest = line.trim_start_matches(' ');
        line.len() - rest.len() <= 3 && rest.trim_end().chars().all(|c| c == self.mark)
    }

    /// The next line of the block.
    pub(super) fn line(&mut self, raw: &str, source: Range<usize>) -> Line {
        let spaces = raw.bytes().take(self.indent).take_while(|byte| *byte == b' ').count();
        self.block.line(&raw[spaces..], source)
    }
}

/// The row above a block, which names its language; none if it has none.
pub(super) fn head(info: &str, source: Range<usize>) -> Option<Line> {
    let info = info.trim();
    let text = visible(info, Show::Prose).into_owned();
    (!info.is_empty()).then(|| Line { text, look: Look::Dim, source, ..bar() })
}

/// What stands before each line of a block.
fn bar() -> Line {
    let bar = "▎ ".to_owned();
    Line { lead: bar.clone(), rest: bar, lead_look: Look::Dim, ..Line::default() }
}
