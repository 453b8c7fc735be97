//! What lets a server without a memory recognise its own reasoning: a seal that belongs to a text,
//! and calls whose ids say which reasoning led to them. Real servers encrypt instead; here it is
//! enough that a changed text no longer fits, and that a missing one is missed.

/// The seal of a text.
pub(super) fn of(text: &str) -> String {
    let keyed = b"limpid offline ".iter().chain(text.as_bytes());
    let hash = keyed.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// The end of the id of a call that this reasoning led to; nothing if there was none.
pub(super) fn mark(seal: Option<&str>) -> String {
    seal.map_or_else(String::new, |seal| format!("_after_{seal}"))
}

/// The seal of the reasoning that led to the call with this id, if there was any.
pub(super) fn marked(call_id: &str) -> Option<&str> {
    call_id.rsplit_once("_after_").map(|(_, seal)| seal)
}
