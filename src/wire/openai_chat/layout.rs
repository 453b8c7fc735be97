//! The messages of a request to Chat Completions, one after the other. Servers whose template of a
//! conversation wants user and model to take turns get user messages in a row as one message: each
//! entry's text is a part of its own, and what joins them another.

use crate::conversation::Slot;
use crate::wire::assemble::{Frame, Piece, Step, envelope, within};

use super::encode::USER;

/// What stands between two texts of the user in one message, as mistral-common joins them.
const BETWEEN: &str = "\\n\\n";

/// The body in order, user messages in a row as one. Their pieces are texts, not messages.
pub(in crate::wire) fn joined(Frame { before, after }: Frame, pieces: &[Piece]) -> Vec<Step> {
    let mut steps: Vec<Step> = before.into_iter().map(Step::Frame).collect();
    for (position, run) in runs(pieces).enumerate() {
        if position > 0 {
            steps.push(Step::Frame(envelope(",")));
        }
        let is_user = run.iter().all(|piece| piece.role == USER);
        if is_user {
            let start = Slot::MessageStart(USER.to_owned());
            let open = format!("{{\"role\":\"{USER}\",\"content\":\"");
            steps.push(Step::Frame(within(start, open)));
        }
        for (position, piece) in run.iter().enumerate() {
            if position > 0 {
                steps.push(Step::Frame(within(Slot::MessageRest, BETWEEN)));
            }
            steps.push(Step::Entry(*piece));
        }
        if is_user {
            steps.push(Step::Frame(within(Slot::MessageRest, "\"}")));
        }
    }
    steps.extend(after.into_iter().map(Step::Frame));
    steps
}

/// What joining changes, in words, for each message with something new in it.
pub(in crate::wire) fn repairs<'a>(
    pieces: &'a [Piece],
    is_new: impl Fn(&Piece) -> bool + 'a,
) -> impl Iterator<Item = String> + 'a {
    let joined = runs(pieces).filter(move |run| run.len() > 1 && run.iter().any(&is_new));
    joined.map(|run| format!("{} user messages in a row are sent as one", run.len()))
}

/// Messages of their own, and user messages in a row.
fn runs(pieces: &[Piece]) -> impl Iterator<Item = &[Piece]> {
    pieces.chunk_by(|one, next| one.role == USER && next.role == USER)
}
