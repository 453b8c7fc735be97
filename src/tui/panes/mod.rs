//! The panes, each with its state, what changes it, and how it is drawn.

pub(super) mod approval;
mod call;
pub(super) mod completion;
pub(super) mod conversation;
pub(super) mod footer;
pub(super) mod help;
pub(super) mod inspector;
pub(super) mod list;
pub(super) mod offer;
mod output;
pub(super) mod picker;
pub(super) mod prompt;
pub(super) mod queue;
mod readable;
pub(super) mod status;
pub(super) mod tools;
