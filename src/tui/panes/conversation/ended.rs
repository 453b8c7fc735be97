//! How a prompt ended, where its answer does not say so, and what to do then.

use crate::conversation::{Asker, CallStatus, Session, TransitionReason};
use crate::text::say;

/// A note to the user; none after an answer. A failure is told as such, with advice.
pub(super) fn note(reason: &TransitionReason, session: &Session) -> Option<String> {
    let note = match reason {
        TransitionReason::Answered
        | TransitionReason::ToolResult
        | TransitionReason::Paused
        | TransitionReason::Failed(_) => return None,
        TransitionReason::EmptyReply => {
            say!("The model returned nothing. /continue asks it once more.")
        }
        TransitionReason::Stopped => say!("Stopped. What had arrived is kept. /continue goes on."),
        TransitionReason::TurnLimit(limit) => {
            return Some(say!(
                "Stopped after {limit} turns, the limit for one prompt. /continue goes on.",
                limit = limit,
            ));
        }
        TransitionReason::ProgramEnded if has_unknown(session) => {
            say!(
                "limpid ended here while a command ran: what it did is not known. Look first; /continue goes on."
            )
        }
        TransitionReason::ProgramEnded => {
            say!(
                "limpid ended here, before the prompt was answered. What had arrived is kept. /continue goes on."
            )
        }
        TransitionReason::RepeatedDenial => {
            say!(
                "Stopped: the model proposed the same command again after it had been denied twice. Tell it what to do instead."
            )
        }
    };
    Some(note.to_owned())
}

/// Whether of a call of the newest turn nobody knows the outcome.
fn has_unknown(session: &Session) -> bool {
    let newest = session.turns.last().map(|turn| turn.number);
    session.calls.values().any(|log| {
        let is_newest = match log.proposed.asker {
            Asker::Model { turn, .. } => Some(turn) == newest,
            Asker::User { .. } => false,
        };
        let status = log.finished.as_ref().map(|finished| &finished.status);
        is_newest && status == Some(&CallStatus::Unknown)
    })
}
