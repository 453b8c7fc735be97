//! The table: every text of the interface in English, and in Simplified Chinese. A file is a part of
//! the table, by where its texts stand.

mod failures;
mod keys;
mod notes;
mod screen;

/// All parts of the table. No text stands in two of them.
pub(super) const TABLE: [&[(&str, &str)]; 4] =
    [keys::TEXTS, notes::TEXTS, screen::TEXTS, failures::TEXTS];
