//! `limpid resume`: the screen once more, with a session that has ended, in its directory and with its
//! model.

use std::cell::RefCell;
use std::process::ExitCode;
use std::rc::Rc;

use super::sessions::named;
use super::settings::Asking;
use super::switch::OFFLINE;
use super::{Connection, Start, usage};
use crate::app::GoOn;
use crate::config::profile_names;
use crate::conversation::{Profile, SCRIPTED};
use crate::session::{Reopened, reopen};
use crate::text::Secrets;
use crate::wire::Format;

/// Damaged lines that are named.
const NAMED: usize = 3;

/// Opens the screen with a session: the one of this name, or the one last used in this directory.
pub(super) fn run(connection: &Connection, name: Option<&str>) -> color_eyre::Result<ExitCode> {
    if let Some(why) = crate::app::unfit() {
        return usage(&why);
    }
    let path = match named(name) {
        Ok(path) => path,
        Err(why) => return usage(&why),
    };
    let start = match reopen(&path) {
        Ok(reopened) => connection.clone().resume(reopened, Asking::Allowed),
        Err(error) => Err(error.to_string()),
    };
    match start {
        Ok(start) => screens(connection, start),
        Err(why) => usage(&why),
    }
}

/// Opens the screen, also for each session that the user goes on with from within it.
pub(super) fn screens(connection: &Connection, mut start: Start) -> color_eyre::Result<ExitCode> {
    let connection = connection.clone();
    let kept_secret = RefCell::new(KeptSecret::default());
    kept_secret.borrow_mut().cover(&mut start);
    let go_on: Rc<GoOn> = Rc::new(move |session: Reopened| {
        let here = std::env::current_dir();
        // No question: the screen is on.
        let mut next = connection.clone().for_another(&session).resume(session, Asking::Never);
        if let Ok(next) = &mut next {
            kept_secret.borrow_mut().cover(next);
        }
        if next.is_err()
            && let Ok(here) = here
        {
            // Commands are started in their directory by its name, whatever becomes of this.
            let _ = std::env::set_current_dir(here);
        }
        next
    });
    crate::app::run(start, &go_on)
}

/// What is kept from commands and outputs as long as the process lives, whatever session goes on in it:
/// its environment holds the keys of all.
#[derive(Debug, Default)]
struct KeptSecret {
    secrets: Secrets,
    variables: Vec<String>,
}

impl KeptSecret {
    /// Keeps it from a session that begins, too; what that keeps itself is added.
    fn cover(&mut self, start: &mut Start) {
        start.secrets.learn_from(&self.secrets);
        self.secrets = start.secrets.clone();
        self.variables.append(&mut start.withheld.keys);
        start.withheld.keys.clone_from(&self.variables);
    }
}

impl Connection {
    /// Takes up a session in its directory.
    ///
    /// # Errors
    /// Why it cannot be, and what to do.
    fn resume(self, mut session: Reopened, asking: Asking) -> Result<Start, String> {
        let directory = &session.header.directory;
        // Everything that follows, the project's files too, is of that directory.
        if let Err(error) = std::env::set_current_dir(directory) {
            return Err(format!(
                "the session's directory {} cannot be used: {error}. Nothing was started; limpid inspect {} shows what was sent",
                directory.display(),
                session.header.session
            ));
        }
        let skipped = session.notices.len().saturating_sub(NAMED);
        session.notices.truncate(NAMED);
        if skipped > 0 {
            session.notices.push(format!("{skipped} more lines of the journal were skipped."));
        }
        let (start, dot_env) = self
            .on_the_way_of(&session)?
            .start_asking(asking)
            .map_err(|error| error.to_string())?;
        if asking == Asking::Never {
            session.notices.extend(dot_env);
        }
        Ok(start.resuming(session))
    }

    /// The arguments for a session that they were not given for: what names a server holds only if it is
    /// that session's as well.
    fn for_another(self, session: &Reopened) -> Self {
        let last = session.session.profile.as_ref();
        match last.filter(|last| self.url.as_ref() == Some(&last.url)) {
            Some(last) => Self { model: Some(last.model.clone()), ..self },
            None => Self {
                offline: false,
                profile: None,
                url: None,
                model: None,
                key_env: None,
                format: None,
                ..self
            },
        }
    }

    /// The same way to the model that the session went last, as far as no argument says otherwise.
    ///
    /// # Errors
    /// What to do where that way is known to the journal alone: no journal decides where what was
    /// said goes, or a key.
    fn on_the_way_of(self, session: &Reopened) -> Result<Self, String> {
        let Some(last) = session.session.profile.as_ref().filter(|_| !self.names_a_way()) else {
            return Ok(self);
        };
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
