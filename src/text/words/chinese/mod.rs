//! The table: every text of the interface in English, and in Simplified Chinese. A file is a part of
//! the table, by where its texts stand.

mod command_line;
mod failures;
mod keys;
mod notes;
mod recorded;
mod screen;

pub(super) use recorded::RECORDED;

/// All parts of the table. No text stands in two of them.
pub(super) const TABLE: [&[(&str, &str)]; 8] = [
    keys::TEXTS,
    notes::TEXTS,
    screen::TEXTS,
    command_line::TEXTS,
    failures::TEXTS,
    RECORDED[0],
    RECORDED[1],
    RECORDED[2],
];
