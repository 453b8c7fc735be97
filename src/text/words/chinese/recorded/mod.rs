//! What limpid writes in English wherever it may be recorded, or read by a program; see
//! [`translated`](crate::text::translated). What stands in the gaps `{what}`, `{why}` and `{where}` is
//! limpid's own text and translated as well; what stands in any other stays as it is.

mod commands;
mod connection;
mod settings;

/// All parts.
pub(in crate::text::words) const RECORDED: [&[(&str, &str)]; 3] =
    [commands::TEXTS, connection::TEXTS, settings::TEXTS];
