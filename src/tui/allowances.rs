//! What the user allowed for the session, in words.

use crate::conversation::Session;
use crate::text::{Phrase, phrase, say};

/// There is nothing.
pub(super) const NONE: Phrase = phrase("Nothing is allowed for the session: every command asks.");

/// The list, and what ends it.
pub(super) fn told(session: &Session) -> String {
    if session.allowed.is_empty() {
        return NONE.text().to_owned();
    }
    let list: String = session.allowed.iter().flat_map(|command| ["\n  ", command]).collect();
    say!(
        "Allowed for this session, unasked:{list}\n/revoke ends this; so does /clear.",
        list = list
    )
}
