//! `--log FILE`: what limpid does, a line each, in a file and nowhere else. Numbers, sizes and times;
//! no text of a conversation, no command, no key. Without it nothing is written and nothing is
//! worked out.

use std::fs::{OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::Mutex;

use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;

/// Begins to write to this file, after what is in it.
///
/// # Errors
/// If it cannot be opened, or made readable by its owner only.
pub(super) fn begin(path: &Path) -> io::Result<()> {
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    if file.metadata()?.is_file() {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(Mutex::new(file));
    // Only what limpid itself says: what libraries log is not known to hold no key.
    let ours = Targets::new().with_target("limpid", Level::DEBUG);
    let subscriber = tracing_subscriber::registry().with(lines).with(ours);
    tracing::subscriber::set_global_default(subscriber).map_err(io::Error::other)
}
