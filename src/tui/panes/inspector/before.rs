//! What the inspector shows before anything was sent: what the model will be told with the first
//! prompt, in full.

use crate::conversation::Session;
use crate::text::say;
use crate::tui::model::Beginning;
use crate::tui::rows::Rows;
use crate::tui::theme::Look;
use crate::wire::outline::{self, RowKind};

/// Lays it out.
pub(super) fn lay_out(beginning: Option<&Beginning>, width: u16) -> Rows {
    let mut rows = Rows::default();
    let intro = say!(
        "No request yet. For each turn, the messages that were posted are listed here, byte for byte. A prompt is all it takes."
    );
    rows.push(intro, Look::Dim, 0, width);
    let Some(Beginning { system_prompt, context, parts }) = beginning else { return rows };
    let told = [("system", Some(system_prompt)), ("context", context.as_ref())];
    rows.blank();
    rows.push(say!("Not sent yet. With your first prompt the model is told:"), Look::Dim, 0, width);
    let all = outline::outline(parts, &[], &Session::default());
    for row in all.iter().filter(|row| row.kind != RowKind::Envelope) {
        rows.push(&outline::line_within(row, width.into()), Look::Text, 0, width);
    }
    for (origin, text) in told {
        let Some(text) = text else { continue };
        rows.blank();
        rows.push(&format!("── {origin} ──"), Look::Strong, 0, width);
        rows.push(text, Look::Text, 0, width);
    }
    rows
}
