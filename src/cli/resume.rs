//! `limpid resume`: the screen once more, with a session that has ended, in its directory and with its
//! model.

use std::process::ExitCode;

use super::sessions::named;
use super::settings::Asking;
use super::switch::OFFLINE;
use super::{Connection, usage};
use crate::config::profile_names;
use crate::conversation::{Profile, Record, SCRIPTED};
use crate::session::{Reopened, reopen};
use crate::wire::Format;

/// Damaged lines that are named.
const NAMED: usize = 3;

/// Opens the screen with a session: the one of this name, or the one last used in this directory.
pub(super) fn run(connection: Connection, name: Option<&str>) -> color_eyre::Result<ExitCode> {
    if let Some(why) = crate::app::unfit() {
        return usage(&why);
    }
    let path = match named(name) {
        Ok(path) => path,
        Err(why) => return usage(&why),
    };
    let mut reopened = match reopen(&path) {
        Ok(reopened) => reopened,
        Err(error) => return usage(&error.to_string()),
    };
    let directory = &reopened.header.directory;
    // Everything that follows, the project's files too, is of that directory.
    if let Err(error) = std::env::set_current_dir(directory) {
        return usage(&format!(
            "the session's directory {} cannot be used: {error}. Nothing was started; limpid inspect {} shows what was sent",
            directory.display(),
            reopened.header.session
        ));
    }
    let skipped = reopened.notices.len().saturating_sub(NAMED);
    reopened.notices.truncate(NAMED);
    if skipped > 0 {
        reopened.notices.push(format!("{skipped} more lines of the journal were skipped."));
    }
    let connection = match connection.on_the_way_of(&reopened) {
        Ok(connection) => connection,
        Err(why) => return usage(&why),
    };
    match connection.start() {
        Ok(start) => crate::app::run(start.resuming(reopened)),
        Err(error) => usage(&error.to_string()),
    }
}

impl Connection {
    /// The same way to the model that the session went last, as far as no argument says otherwise.
    ///
    /// # Errors
    /// What to do where that way is known to the journal alone: no journal decides where what was
    /// said goes, or a key.
    fn on_the_way_of(self, session: &Reopened) -> Result<Self, String> {
        let mut records = session.records.iter().rev();
        let last = records.find_map(|stamped| match &stamped.record {
            Record::Profile(profile) => Some(profile),
            _ => None,
        });
        let Some(last) = last.filter(|_| !self.names_a_way()) else { return Ok(self) };
        let model = self.model.clone().or_else(|| Some(last.model.clone()));
        if is_offline(last) {
            let format = self.format.or_else(|| Format::named(&last.format).map(Into::into));
            return Ok(Self { offline: true, model, format, ..self });
        }
        // What cannot be loaded is told when it is started.
        let Ok(loaded) = self.load(Asking::Never) else { return Ok(self) };
        if profile_names(&loaded.file).contains(&last.name) {
            return Ok(Self { profile: Some(last.name.clone()), model, ..self });
        }
        if loaded.settings.values.url.as_ref().is_some_and(|url| url.value == last.url) {
            return Ok(Self { model, ..self });
        }
        let key = last.key_env.as_ref().map(|name| format!(" --key-env {name}"));
        Err(format!(
            "this session spoke with {}, which is no profile of yours. Nothing was started; name the way: --profile NAME, or, as before, --url {} --model {}{} --format {}",
            last.shown(),
            last.url,
            last.model,
            key.unwrap_or_default(),
            last.format
        ))
    }

    fn names_a_way(&self) -> bool {
        self.offline || self.profile.is_some() || self.url.is_some()
    }
}

fn is_offline(profile: &Profile) -> bool {
    profile.name == SCRIPTED && OFFLINE.contains(&profile.model.as_str())
}
