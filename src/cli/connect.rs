//! From arguments and environment to everything that a session needs to start.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;

use super::Connection;
use super::settings::{Asking, Loaded};
use super::switch::{OFFLINE, Switchboard};
use crate::agent::{self, Config, Handle, HttpModel, Resumed};
use crate::approval::Mode;
use crate::config::instructions::{self, Instructions};
use crate::config::{
    Choice, ChoiceError, Notify, Places, Problem, Source, Sourced, built_in_key_variables,
};
use crate::conversation::{Parameter, ParameterValue, Profile, SCRIPTED, Stamped, Unsent};
use crate::net::{Client, Endpoint, Key, Limits};
use crate::offline;
use crate::session::{Reopened, sessions_dir};
use crate::text::Secrets;
use crate::tools::{self, Withheld, minder};
use crate::tui::Keymap;
use crate::wire::{Dialect, Format, Parameters, Settings};

/// How fast the offline model speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Pace {
    /// As a real model streams.
    Human,
    /// At once.
    Full,
}

/// Where requests go.
#[derive(Debug)]
enum Target {
    Offline(Pace),
    Server(Endpoint),
}

/// A way to a model, as the settings name it.
#[derive(Debug)]
pub(super) struct Way {
    /// As shown and recorded; the URL of the offline model is known once it runs.
    pub(super) profile: Profile,
    target: Target,
    format: Format,
    dialect: Dialect,
    parameters: Parameters,
    sources: Vec<(Parameter, String)>,
}

/// A session that can be started.
#[derive(Debug)]
pub struct Start {
    /// The way to the model, as shown and recorded.
    pub profile: Profile,
    /// How commands are treated.
    pub mode: Mode,
    /// How many turns a prompt may take.
    pub turn_limit: u32,
    /// The directory in which the session works.
    pub directory: PathBuf,
    /// How a user who looks elsewhere is called.
    pub notify: Notify,
    /// Whether the window's title is set.
    pub title: bool,
    /// The keys of the screen.
    pub keymap: Keymap,
    /// The theme that was asked for.
    pub theme: Option<String>,
    /// Where the user's own themes are.
    pub themes: Option<PathBuf>,
    way: Way,
    switchboard: Switchboard,
    command_limit: Duration,
    context: bool,
    pub(super) withheld: Withheld,
    /// What no file and no report may hold.
    pub secrets: Secrets,
    resumed: Option<Reopened>,
}

/// Why a session cannot be started as asked.
#[derive(Debug, thiserror::Error)]
pub enum UsageError {
    /// `config.toml` cannot be used.
    #[error(transparent)]
    Config(#[from] Problem),
    /// No profile can be chosen.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// The answers about `.env` files cannot be read.
    #[error("{0}")]
    Trust(String),
    /// The question about the `.env` file was not answered.
    #[error("the question about .env was not answered ({0}); nothing was started")]
    NoAnswer(std::io::Error),
    /// A server without a model.
    #[error("--url needs --model ID as well: the model's id at that server")]
    NoModel,
    /// A profile without a model.
    #[error(
        "the profile {0} has no model yet: give --model ID (limpid models --profile {0} lists \
         them), or for always: limpid config set profiles.{0}.model ID"
    )]
    NoProfileModel(String),
    /// A model that the offline server does not have.
    #[error(
        "the offline model is called offline or offline-lenient, not \"{0}\". For a model on a \
         server give --profile or --url as well"
    )]
    NotOffline(String),
    /// The named variable is unset.
    #[error(
        "the variable {name} ({source_shown}) is not set; nothing was sent. Set it: export {name}=…"
    )]
    NoKey {
        /// The variable.
        name: String,
        /// What named it.
        source_shown: String,
    },
    /// The named variable holds nothing usable.
    #[error("the variable {0} is {1}; nothing was sent. Set it to the key alone: export {0}=…")]
    BadKey(String, &'static str),
    /// A URL that cannot be posted to.
    #[error("{0} ({1})")]
    BadUrl(String, Source),
    /// A key would go over the network for all to read.
    #[error(
        "the URL ({0}) begins with http:// and is not this machine's: anybody on the way could read \
         the key. Nothing was sent. Use https://, or, in a network that you trust, a profile in \
         config.toml with allow_http = true"
    )]
    KeyInClear(Source),
    /// The working directory cannot be told.
    #[error("the working directory cannot be used: {0}. Change to one that exists")]
    NoDirectory(std::io::Error),
}

impl Connection {
    /// What everything that is set comes to. Asks about the project's `.env` if need be.
    ///
    /// # Errors
    /// [`UsageError`], before anything is sent.
    pub fn start(self) -> Result<Start, UsageError> {
        self.start_asking(Asking::Allowed).map(|(start, _)| start)
    }

    /// As [`Self::start`], and what became of the `.env`, in words.
    pub(super) fn start_asking(
        self,
        asking: Asking,
    ) -> Result<(Start, Option<String>), UsageError> {
        let loaded = self.load(asking)?;
        let way = loaded.way(self.offline_pace)?;
        let values = &loaded.settings.values;
        let secrets = loaded.secrets();
        let start = Start {
            profile: way.profile.clone(),
            mode: if self.yolo { Mode::Yolo } else { Mode::Ask },
            turn_limit: values.max_turns.as_ref().map_or(50, |limit| limit.value),
            directory: std::env::current_dir().map_err(UsageError::NoDirectory)?,
            command_limit: values
                .command_timeout
                .as_ref()
                .map_or(tools::TIME_LIMIT, |limit| Duration::from_secs(limit.value)),
            notify: values.notify.as_ref().map_or(Notify::Auto, |notify| notify.value),
            keymap: loaded.keymap.clone(),
            title: values.title.as_ref().is_none_or(|title| title.value),
            context: values.context.as_ref().is_none_or(|context| context.value),
            theme: values.theme.as_ref().map(|theme| theme.value.clone()),
            themes: Places::of(|name| std::env::var_os(name)).themes,
            withheld: loaded.withheld(),
            secrets: secrets.clone(),
            switchboard: Switchboard::new(self, &loaded, &way.profile, secrets),
            way,
            resumed: None,
        };
        Ok((start, loaded.dot_env))
    }
}

impl Loaded {
    /// The way to the model.
    ///
    /// # Errors
    /// [`UsageError`], before anything is sent.
    pub(super) fn way(&self, pace: Pace) -> Result<Way, UsageError> {
        let values = &self.settings.values;
        let format = self.format();
        let model = values.model.as_ref().map(|model| model.value.clone());
        let (target, name, url, model) = match self.server()? {
            Some((name, endpoint)) => {
                let model = model.ok_or_else(|| match &self.settings.choice.value {
                    Choice::Profile(name) => UsageError::NoProfileModel(name.clone()),
                    Choice::Offline | Choice::Url => UsageError::NoModel,
                })?;
                let url = endpoint.url.clone();
                (Target::Server(endpoint), name, url, model)
            }
            None => {
                let model = model.unwrap_or_else(|| "offline".to_owned());
                if !OFFLINE.contains(&model.as_str()) {
                    return Err(UsageError::NotOffline(model));
                }
                (Target::Offline(pace), SCRIPTED.to_owned(), String::new(), model)
            }
        };
        let rows = values.rows().into_iter();
        let sources = rows.filter(|row| row.value.is_some()).filter_map(|row| {
            let parameter = Parameter::ALL.into_iter().find(|one| one.name() == row.name)?;
            Some((parameter, row.source.to_string()))
        });
        Ok(Way {
            profile: Profile {
                name,
                format: format.name().to_owned(),
                url,
                model,
                key_env: values.key_env.as_ref().map(|name| name.value.clone()),
            },
            target,
            format,
            dialect: values.dialect(),
            parameters: values.parameters(),
            sources: sources.collect(),
        })
    }
}

impl Loaded {
    /// The wire format.
    pub(super) fn format(&self) -> Format {
        self.settings.values.format.as_ref().map_or(Format::OpenaiChat, |format| format.value)
    }

    /// The host that the settings name, with the port; `None` for the offline model, or if the URL
    /// cannot be used.
    pub(super) fn host(&self) -> Option<String> {
        let url = self.settings.values.url.as_ref()?.value.clone();
        self.endpoint(url, None).host().ok()
    }

    /// A way to this URL, without a key.
    fn endpoint(&self, url: String, named_by: Option<String>) -> Endpoint {
        let format = self.format();
        Endpoint { url, path: format.path(), auth: format.auth(), key: None, named_by }
    }

    /// The server that the settings name, and what it is called; `None` for the offline model.
    ///
    /// # Errors
    /// [`UsageError`], if nothing may be sent there.
    pub(super) fn server(&self) -> Result<Option<(String, Endpoint)>, UsageError> {
        let values = &self.settings.values;
        let Some(url) = values.url.as_ref() else { return Ok(None) };
        let mut endpoint = self.endpoint(url.value.clone(), named_by(&url.source));
        let bad = |why| UsageError::BadUrl(why, url.source.clone());
        let host = endpoint.host().map_err(bad)?;
        if let Some(name) = &values.key_env {
            endpoint.key = self.key(name, &url.source)?;
        }
        let may = values.allow_http.as_ref().is_some_and(|allowed| allowed.value);
        let in_clear = endpoint.is_in_clear().map_err(bad)?;
        if endpoint.key.is_some() && !may && in_clear {
            return Err(UsageError::KeyInClear(url.source.clone()));
        }
        // The profile's name says where requests go only as long as its URL is its own.
        let name = match (&self.settings.choice.value, &url.source) {
            (Choice::Profile(name), Source::Profile(_) | Source::File(..)) => name.clone(),
            _ => host,
        };
        Ok(Some((name, endpoint)))
    }

    /// The key that this variable holds; none if it is unset and need not be set: the environment
    /// has moved a built-in profile to another server, which may want no key.
    pub(super) fn key(
        &self,
        variable: &Sourced<String>,
        url: &Source,
    ) -> Result<Option<Key>, UsageError> {
        let name = &variable.value;
        if let Some(value) = self.variables.get(name) {
            return read_key(name, value.value).map(Some);
        }
        if self.variables.is_empty(name) {
            return Err(UsageError::BadKey(name.clone(), "empty"));
        }
        match (&variable.source, url) {
            (Source::Profile(_), Source::Environment(_) | Source::DotEnv(_)) => Ok(None),
            (source, _) => {
                Err(UsageError::NoKey { name: name.clone(), source_shown: source.to_string() })
            }
        }
    }

    /// What commands do not get.
    pub(super) fn withheld(&self) -> Withheld {
        let passed = self.settings.values.pass_to_commands.as_ref();
        let passed = passed.map_or_else(Vec::new, |names| names.value.0.clone());
        Withheld { keys: self.key_variables(), passed }
    }

    /// Every variable that the settings name as a key's.
    fn key_variables(&self) -> Vec<String> {
        let of_profiles = self.file.profiles.values().filter_map(|layer| layer.key_env.as_ref());
        let chosen = self.settings.values.key_env.as_ref();
        of_profiles.chain(chosen).map(|name| name.value.clone()).collect()
    }
}

impl Loaded {
    /// The keys that limpid knows of: each variable that a profile names as its key's.
    pub(super) fn secrets(&self) -> Secrets {
        let secrets = Secrets::default();
        self.tell_keys(&secrets);
        secrets
    }

    /// Makes these keys known.
    pub(super) fn tell_keys(&self, secrets: &Secrets) {
        let mut names = self.key_variables();
        names.extend(built_in_key_variables().map(str::to_owned));
        let found = names.iter().filter_map(|name| self.variables.get(name));
        secrets.learn(found.map(|found| found.value));
    }

    /// How long to wait for a server.
    pub(super) fn limits(&self) -> Limits {
        let idle = self.settings.values.idle_timeout.as_ref();
        idle.map_or_else(Limits::default, |limit| Limits {
            idle: Duration::from_secs(limit.value),
            ..Limits::default()
        })
    }
}

fn read_key(name: &str, value: &str) -> Result<Key, UsageError> {
    let value = value.trim();
    if value.chars().any(|c| c.is_control() || !c.is_ascii()) {
        let why = "not a key: it holds characters that no header can carry";
        return Err(UsageError::BadKey(name.to_owned(), why));
    }
    Ok(Key::new(value))
}

/// Who named a URL that was no argument, and how it is changed.
fn named_by(source: &Source) -> Option<String> {
    Some(match source {
        Source::Profile(name) => {
            let table = if name.contains('.') { format!("\"{name}\"") } else { (*name).to_owned() };
            format!(
                "The URL is that of the built-in profile {name}: --url names another, or url under \
                 [profiles.{table}] in config.toml."
            )
        }
        Source::File(path, line) => format!("The URL stands in {}:{line}.", path.display()),
        Source::Environment(name) => format!("The URL comes from the variable {name}."),
        Source::DotEnv(name) => {
            format!("The URL comes from the variable {name} in the project's .env.")
        }
        Source::Argument(_) | Source::BuiltIn => return None,
    })
}

impl Way {
    /// Makes the connection. `server` keeps the offline model alive, once that is asked for.
    ///
    /// # Errors
    /// If the offline model cannot listen on a loopback port.
    pub(super) async fn open(
        self,
        client: &Client,
        secrets: &Secrets,
        server: &mut Option<offline::Server>,
    ) -> std::io::Result<agent::Connection<HttpModel>> {
        let Self { mut profile, target, format, dialect, parameters, sources } = self;
        let endpoint = match target {
            Target::Server(endpoint) => endpoint,
            Target::Offline(pace) => {
                let running = match server.take() {
                    Some(running) => running,
                    None => {
                        offline::start(match pace {
                            Pace::Human => offline::Pace::Human,
                            Pace::Full => offline::Pace::Full,
                        })
                        .await?
                    }
                };
                let url = server.insert(running).url();
                Endpoint {
                    url,
                    path: format.path(),
                    auth: format.auth(),
                    key: None,
                    named_by: None,
                }
            }
        };
        profile.url.clone_from(&endpoint.url);
        let model = HttpModel::new(client.clone(), endpoint, format).without(secrets.clone());
        Ok(agent::Connection { model, profile, format, dialect, parameters, sources })
    }
}

impl Start {
    /// The same, going on with a session.
    pub(super) fn resuming(self, session: Reopened) -> Self {
        Self { resumed: Some(session), ..self }
    }

    /// The records of the session that is gone on with.
    pub fn records(&self) -> &[Arc<Stamped>] {
        self.resumed.as_ref().map_or(&[], |reopened| &reopened.records)
    }

    /// What the user had typed in it and not sent.
    pub fn unsent(&self) -> Unsent {
        self.resumed.as_ref().map(|reopened| reopened.unsent.clone()).unwrap_or_default()
    }

    /// The parameters that are set, as shown and recorded.
    pub fn parameters(&self) -> Vec<ParameterValue> {
        let Way { parameters, sources, .. } = &self.way;
        let value = |(parameter, source): &(Parameter, String)| {
            let (parameter, source) = (*parameter, source.clone());
            Some(ParameterValue { parameter, value: parameters.get(parameter)?, source })
        };
        sources.iter().filter_map(value).collect()
    }

    /// Starts the background task, and the offline model if that is what answers.
    ///
    /// `attended` says whether there is a person to ask.
    ///
    /// # Errors
    /// If the offline model cannot listen on a loopback port.
    pub async fn spawn(self, attended: bool) -> std::io::Result<Handle> {
        let mut switchboard = self.switchboard;
        let connection = switchboard.open(self.way).await?;
        let tools = tools::registered(tools::Settings {
            directory: self.directory.clone(),
            time_limit: self.command_limit,
            withheld: self.withheld,
            secrets: self.secrets,
            minder: minder::executable()?,
        });
        let Instructions { text: context, mut notices } = if self.context {
            let home = std::env::var_os("HOME").map(PathBuf::from);
            instructions::read(&self.directory, home.as_deref())
        } else {
            Instructions::default()
        };
        let resumed =
            self.resumed.map(|Reopened { notices: of_journal, session, journal, .. }| {
                notices.extend(of_journal);
                Resumed { session, journal }
            });
        let config = Config {
            context,
            resumed,
            notices,
            settings: Settings {
                format: connection.format,
                model: connection.profile.model.clone(),
                tools: tools.iter().map(|tool| tool.definition()).collect(),
                dialect: connection.dialect,
                parameters: connection.parameters,
            },
            sources: connection.sources,
            profile: connection.profile,
            system_prompt: agent::system_prompt(&self.directory, self.command_limit),
            tools,
            mode: self.mode,
            attended,
            turn_limit: self.turn_limit,
            sessions: sessions_dir(|name| std::env::var_os(name)),
            directory: self.directory,
        };
        Ok(agent::spawn(config, connection.model, switchboard))
    }
}
