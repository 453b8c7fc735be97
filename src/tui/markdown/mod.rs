//! Markdown as rows: what a model writes, readable. Marks of emphasis vanish; nothing else that was
//! written does: what Markdown would hide (HTML, link definitions, titles) is shown as it stands.
//!
//! `render` makes lines of a source, `code` those of a code block, `table` those of a table;
//! `growing` lays out a text that is still arriving at the price of its last block.

mod code;
mod growing;
mod inline;
mod render;
mod syntax;
mod table;

pub(super) use growing::{Growing, Style};

use super::rows::Rows;

/// The rows of a text that is complete.
pub(super) fn rows(source: &str, style: Style, width: u16) -> Rows {
    let mut growing = Growing::default();
    growing.lay_out(source.trim_end_matches('\n'), style, width);
    growing.into_rows()
}

#[cfg(test)]
mod tests;
