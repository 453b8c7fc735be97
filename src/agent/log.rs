//! What the log says of a record: numbers, sizes and times, no text that came from a person, a model
//! or a command.

use tracing::{debug, info};

use crate::conversation::Record;

/// Logs a record, if anybody listens.
pub(super) fn record(record: &Record) {
    match record {
        Record::Profile(profile) => info!(format = %profile.format, "profile"),
        Record::Entry(entry) => debug!(id = ?entry.id, role = ?entry.role, "entry"),
        Record::Request(request) => debug!(parts = request.parts.len(), "request"),
        Record::Attempt { turn, attempt, .. } => debug!(%turn, attempt, "posted"),
        Record::Response(response) => info!(
            status = response.status,
            first_byte_ms = response.first_byte_ms,
            end_ms = response.end_ms,
            bytes = response.bytes,
            failed = response.failure.is_some(),
            stopped = response.stopped,
            "response"
        ),
        Record::CallDecided(decided) => {
            info!(by = ?decided.by, allowed = decided.executed.is_some(), "decided");
        }
        Record::CallStarted { .. } => debug!("started"),
        Record::CallFinished(finished) => info!(
            duration_ms = finished.duration_ms,
            produced = finished.receipt.produced,
            sent = finished.receipt.sent,
            "finished"
        ),
        Record::Ended(reason) => info!(reason = reason.word(), "ended"),
        Record::Head(_)
        | Record::Parameters(_)
        | Record::Revoked
        | Record::Resumed
        | Record::Overlay { .. }
        | Record::Part { .. }
        | Record::Repair { .. }
        | Record::CallProposed(_) => {}
    }
}
