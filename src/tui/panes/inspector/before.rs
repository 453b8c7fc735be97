//! What the inspector shows before anything was sent: what the model will be told with the first
//! prompt, in full.

use crate::text;
use crate::text::say;
use crate::tui::model::Beginning;
use crate::tui::rows::Rows;
use crate::tui::theme::Look;

/// Lays it out.
pub(super) fn lay_out(beginning: Option<&Beginning>, width: u16) -> Rows {
    let mut rows = Rows::default();
    let intro = say!(
        "No request yet. For each turn, the messages that were posted are listed here, byte for byte. A prompt is all it takes."
    );
    rows.push(intro, Look::Dim, 0, width);
    let Some(Beginning { system_prompt, context }) = beginning else { return rows };
    let told = [("system", Some(system_prompt)), ("context", context.as_ref())];
    rows.blank();
    rows.push(say!("Before your first prompt the model is told:"), Look::Dim, 0, width);
    for (origin, text) in told {
        let Some(text) = text else { continue };
        let size = text::bytes(text.len() as u64);
        rows.push(&format!("+ {origin:<8} {size:>8}"), Look::Text, 0, width);
    }
    for (origin, text) in told {
        let Some(text) = text else { continue };
        rows.blank();
        rows.push(&format!("── {origin} ──"), Look::Strong, 0, width);
        rows.push(text, Look::Text, 0, width);
    }
    rows
}
