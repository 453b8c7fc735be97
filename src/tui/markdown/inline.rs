//! A line as it is composed: pieces of text, each in the look of what it stands in.

use std::ops::Range;

use crate::text::{Show, visible};
use crate::tui::theme::Look;

/// A text with the looks of its parts.
#[derive(Debug, Default, Clone)]
pub(super) struct Inline {
    pub(super) text: String,
    pub(super) spans: Vec<(Range<usize>, Look)>,
}

impl Inline {
    /// Adds a piece, made safe; newlines become spaces.
    pub(super) fn push(&mut self, raw: &str, look: Option<Look>) {
        let start = self.text.len();
        self.text.push_str(&visible(raw, Show::Prose).replace('\n', " "));
        let end = self.text.len();
        let Some(look) = look.filter(|_| end > start) else { return };
        match self.spans.last_mut() {
            Some((range, last)) if *last == look && range.end == start => range.end = end,
            _ => self.spans.push((start..end, look)),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

/// What a piece of text stands in.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Within {
    pub(super) emphasis: usize,
    pub(super) strong: usize,
    pub(super) struck: usize,
    pub(super) link: usize,
}

impl Within {
    /// How text in it looks; `None` as the line does.
    pub(super) fn look(self) -> Option<Look> {
        match self {
            Self { link: 1.., .. } => Some(Look::Link),
            Self { emphasis: 1.., strong: 1.., .. } => Some(Look::StrongEmphasis),
            Self { strong: 1.., .. } => Some(Look::Strong),
            Self { emphasis: 1.., .. } => Some(Look::Emphasis),
            Self { struck: 1.., .. } => Some(Look::Struck),
            _ => None,
        }
    }
}
