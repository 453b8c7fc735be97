//! The other ways to a model in the middle of a session: what the settings say of a profile, its key
//! and its `.env`, read anew each time. `config.toml` is that of the start, whose key variables are
//! kept from commands; nothing is asked, since the screen is open.

use std::future::Future;

use tokio::task::spawn_blocking;

use super::connect::Way;
use super::settings::{Asking, Loaded};
use super::{Connection, UsageError, models};
use crate::agent::{self, Connect, HttpModel};
use crate::config::{Choice, ChoiceError, File, profile_names};
use crate::conversation::{Destination, KeyState, Profile, ProfileRow};
use crate::net::{Client, Limits, Proxies};
use crate::offline;
use crate::text::Secrets;

/// The models of the offline server.
pub(super) const OFFLINE: [&str; 2] = ["offline", "offline-lenient"];

/// Knows every profile.
#[derive(Debug)]
pub(super) struct Switchboard {
    ways: Ways,
    /// The profile in force.
    present: String,
    limits: Limits,
    /// Made for the first connection: after the first frame.
    client: Option<Client>,
    /// The keys that are known by now; commands' outputs and servers' answers are looked through.
    secrets: Secrets,
    /// Keeps the offline model alive.
    server: Option<offline::Server>,
}

/// What profiles are made from.
#[derive(Debug, Clone)]
struct Ways {
    /// The arguments that limpid was started with.
    arguments: Connection,
    /// The profile that it was started with, and the model.
    started: (String, String),
    file: File,
}

impl Switchboard {
    /// The ways beside that which the program was started with.
    pub(super) fn new(
        arguments: Connection,
        loaded: &Loaded,
        profile: &Profile,
        secrets: Secrets,
    ) -> Self {
        let name = match &loaded.settings.choice.value {
            Choice::Profile(name) => name.clone(),
            Choice::Offline => "offline".to_owned(),
            Choice::Url => profile.name.clone(),
        };
        let started = (name.clone(), profile.model.clone());
        let ways = Ways { arguments, started, file: loaded.file.clone() };
        let limits = loaded.limits();
        Self { ways, present: name, limits, client: None, secrets, server: None }
    }

    /// Makes the connection.
    ///
    /// # Errors
    /// If the offline model cannot listen on a loopback port.
    pub(super) async fn open(&mut self, way: Way) -> std::io::Result<agent::Connection<HttpModel>> {
        let make = || Client::with(self.limits, Proxies::from_env());
        let client = self.client.get_or_insert_with(make);
        way.open(client, &self.secrets, &mut self.server).await
    }
}

impl Connect for Switchboard {
    type Model = HttpModel;

    async fn connect(&mut self, to: Destination) -> Result<agent::Connection<HttpModel>, String> {
        let (ways, present) = (self.ways.clone(), self.present.clone());
        let secrets = self.secrets.clone();
        let (name, way) = beside(move || {
            let (name, model) = ways.resolve(to, &present);
            let loaded = ways.load(&name, model)?;
            loaded.tell_keys(&secrets);
            let way = loaded.way(ways.arguments.offline_pace);
            let way = way.map_err(|error| told(&error, &name, loaded.dot_env.as_deref()))?;
            Ok((name, way))
        })
        .await?;
        let connection = self.open(way).await;
        let connection = connection
            .map_err(|error| format!("the offline model cannot be started ({error})."))?;
        self.present = name;
        Ok(connection)
    }

    fn profiles(&self) -> impl Future<Output = Result<Vec<ProfileRow>, String>> + Send + 'static {
        let ways = self.ways.clone();
        beside(move || Ok(ways.names().iter().map(|name| ways.row(name)).collect()))
    }

    fn models(
        &self,
        profile: String,
    ) -> impl Future<Output = Result<Vec<String>, String>> + Send + 'static {
        let ways = self.ways.clone();
        async move {
            let (loaded, endpoint) = beside(move || {
                let loaded = ways.load(&profile, None)?;
                let server = loaded.server();
                let server =
                    server.map_err(|error| told(&error, &profile, loaded.dot_env.as_deref()))?;
                Ok((loaded, server))
            })
            .await?;
            match endpoint {
                Some((_, endpoint)) => models::ask(&loaded, endpoint).await,
                None => Ok(OFFLINE.map(str::to_owned).into()),
            }
        }
    }
}

/// Reads files on a thread of its own: the screen never waits for a disk.
async fn beside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    spawn_blocking(work).await.unwrap_or_else(|error| Err(error.to_string()))
}

impl Ways {
    /// Every profile; the way that limpid was started with first.
    fn names(&self) -> Vec<String> {
        let started = &self.started.0;
        let others = profile_names(&self.file).into_iter().filter(|name| name != started);
        std::iter::once(started.clone()).chain(others).collect()
    }

    /// Which profile is meant, and which model if not its own.
    fn resolve(&self, to: Destination, present: &str) -> (String, Option<String>) {
        match to {
            Destination::Profile { name, model } => (name, model),
            Destination::Named(name) if self.names().contains(&name) => (name, None),
            Destination::Named(model) => (present.to_owned(), Some(model)),
        }
    }

    /// The arguments that lead to a profile. Those about the way that limpid was started with hold
    /// for that way alone: no key goes anywhere else.
    fn arguments(&self, name: &str, model: Option<String>) -> Connection {
        let (started, its_model) = &self.started;
        if name == started {
            let is_named = self.arguments.url.is_none() && !self.arguments.offline;
            return Connection {
                profile: (is_named && name != "offline").then(|| name.to_owned()),
                offline: name == "offline",
                model: Some(model.unwrap_or_else(|| its_model.clone())),
                ..self.arguments.clone()
            };
        }
        Connection {
            offline: name == "offline",
            profile: (name != "offline").then(|| name.to_owned()),
            url: None,
            model,
            key_env: None,
            format: None,
            ..self.arguments.clone()
        }
    }

    fn load(&self, name: &str, model: Option<String>) -> Result<Loaded, String> {
        let loaded = self.arguments(name, model).load_with(self.file.clone(), Asking::Never);
        loaded.map_err(|error| told(&error, name, None))
    }

    fn row(&self, name: &str) -> ProfileRow {
        let nothing = |key| ProfileRow {
            name: name.to_owned(),
            format: String::new(),
            host: String::new(),
            model: None,
            key,
        };
        let Ok(loaded) = self.load(name, None) else { return nothing(KeyState::NotNeeded) };
        let values = &loaded.settings.values;
        let is_offline = loaded.settings.choice.value == Choice::Offline;
        let own = values.model.as_ref().map(|model| model.value.clone());
        let key = match (&values.key_env, &values.url) {
            (Some(name), Some(url)) => match loaded.key(name, &url.source) {
                Ok(Some(_)) => KeyState::Found(name.value.clone()),
                Ok(None) => KeyState::NotNeeded,
                Err(_) => KeyState::Missing(name.value.clone()),
            },
            _ => KeyState::NotNeeded,
        };
        ProfileRow {
            format: loaded.format().name().to_owned(),
            host: loaded.host().unwrap_or_default(),
            model: own.or_else(|| is_offline.then(|| OFFLINE[0].to_owned())),
            ..nothing(key)
        }
    }
}

/// Why a profile cannot be used, for somebody whose session goes on.
fn told(error: &UsageError, profile: &str, dot_env: Option<&str>) -> String {
    match error {
        UsageError::Choice(ChoiceError::Unknown { name, suggestion, .. }) => {
            let meant = suggestion.as_ref().map(|name| format!(" Did you mean {name}?"));
            let meant = meant.unwrap_or_default();
            format!("there is no profile \"{name}\".{meant} /model alone lists them.")
        }
        UsageError::NoProfileModel(name) => {
            format!("the profile {name} has no model of its own: /model {name} ID names one.")
        }
        UsageError::NotOffline(model) => {
            let [strict, lenient] = OFFLINE;
            format!("the offline model is called {strict} or {lenient}, not \"{model}\".")
        }
        UsageError::NoKey { name, .. } => match dot_env.filter(|what| what.contains("not used")) {
            Some(dot_env) => format!("the variable {name} is not set. {dot_env}."),
            None => format!(
                "the variable {name} is not set. Set it (export {name}=…) and start limpid again: \
                 limpid --profile {profile}."
            ),
        },
        other => format!("{other}."),
    }
}
