//! From arguments and environment to everything that a session needs to start.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;

use super::{Connection, FormatName};
use crate::agent::{self, Config, Handle, HttpModel};
use crate::approval::Mode;
use crate::conversation::Profile;
use crate::net::{Client, Endpoint, Key};
use crate::offline;
use crate::session::sessions_dir;
use crate::tools::{self, minder};
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
    target: Target,
    format: Format,
    command_limit: Duration,
}

/// Why a session cannot be started as asked.
#[derive(Debug, thiserror::Error)]
pub enum UsageError {
    /// A server without a model.
    #[error("--url needs --model ID as well: the model's id at that server")]
    NoModel,
    /// A model that the offline server does not have.
    #[error(
        "the offline model is called offline or offline-lenient, not \"{0}\". For a model on a server give --url as well"
    )]
    NotOffline(String),
    /// The offline server speaks one format only.
    #[error("the offline model speaks openai-chat only: --format {0} needs --url as well")]
    OfflineFormat(&'static str),
    /// The named variable is unset.
    #[error("the variable {0} (--key-env) is not set; nothing was sent. Set it: export {0}=…")]
    NoKey(String),
    /// The named variable holds nothing usable.
    #[error(
        "the variable {0} (--key-env) is {1}; nothing was sent. Set it to the key alone: export {0}=…"
    )]
    BadKey(String, &'static str),
    /// A URL that cannot be posted to.
    #[error("--url: {0}")]
    BadUrl(String),
    /// The working directory cannot be told.
    #[error("the working directory cannot be used: {0}. Change to one that exists")]
    NoDirectory(std::io::Error),
}

impl Connection {
    /// What the arguments and the environment come to.
    ///
    /// # Errors
    /// [`UsageError`], before anything is sent.
    pub fn resolve(self) -> Result<Start, UsageError> {
        let format = match self.format {
            FormatName::OpenaiChat => Format::OpenaiChat,
            FormatName::Anthropic => Format::Anthropic,
            FormatName::OpenaiResponses => Format::OpenaiResponses,
        };
        let (target, name, url, model) = match self.url {
            Some(url) => {
                let model = self.model.ok_or(UsageError::NoModel)?;
                let key = self.key_env.as_deref().map(read_key).transpose()?;
                let endpoint =
                    Endpoint { url: url.clone(), path: format.path(), auth: format.auth(), key };
                let host = endpoint.host().map_err(UsageError::BadUrl)?;
                (Target::Server(endpoint), host, url, model)
            }
            None if format != Format::OpenaiChat => {
                return Err(UsageError::OfflineFormat(format.name()));
            }
            None => {
                let model = self.model.unwrap_or_else(|| "offline".to_owned());
                if !["offline", "offline-lenient"].contains(&model.as_str()) {
                    return Err(UsageError::NotOffline(model));
                }
                let name = "scripted".to_owned();
                (Target::Offline(self.offline_pace), name, String::new(), model)
            }
        };
        Ok(Start {
            profile: Profile {
                name,
                format: format.name().to_owned(),
                url,
                model,
                key_env: self.key_env,
            },
            mode: if self.yolo { Mode::Yolo } else { Mode::Ask },
            turn_limit: self.max_turns,
            directory: std::env::current_dir().map_err(UsageError::NoDirectory)?,
            target,
            format,
            command_limit: Duration::from_secs(self.command_timeout),
        })
    }
}

fn read_key(name: &str) -> Result<Key, UsageError> {
    let bad = |why| UsageError::BadKey(name.to_owned(), why);
    let value = std::env::var_os(name).ok_or_else(|| UsageError::NoKey(name.to_owned()))?;
    let value = value.into_string().map_err(|_| bad("not text"))?;
    let value = value.trim();
    if value.is_empty() {
        return Err(bad("empty"));
    }
    if value.chars().any(|c| c.is_control() || !c.is_ascii()) {
        return Err(bad("not a key: it holds characters that no header can carry"));
    }
    Ok(Key::new(value))
}

impl Start {
    /// Starts the background task, and the offline model if that is what answers.
    ///
    /// `attended` says whether there is a person to ask. The second value keeps the offline model
    /// alive.
    ///
    /// # Errors
    /// If the offline model cannot listen on a loopback port.
    pub async fn spawn(self, attended: bool) -> std::io::Result<(Handle, Option<offline::Server>)> {
        let mut profile = self.profile;
        let (endpoint, server) = match self.target {
            Target::Server(endpoint) => (endpoint, None),
            Target::Offline(pace) => {
                let server = offline::start(match pace {
                    Pace::Human => offline::Pace::Human,
                    Pace::Full => offline::Pace::Full,
                })
                .await?;
                (
                    Endpoint {
                        url: server.url(),
                        path: self.format.path(),
                        auth: self.format.auth(),
                        key: None,
                    },
                    Some(server),
                )
            }
        };
        profile.url.clone_from(&endpoint.url);
        let tools = tools::registered(tools::Settings {
            directory: self.directory.clone(),
            time_limit: self.command_limit,
            withheld: profile.key_env.iter().cloned().collect(),
            minder: minder::executable()?,
        });
        let config = Config {
            settings: Settings {
                format: self.format,
                model: profile.model.clone(),
                tools: tools.iter().map(|tool| tool.definition()).collect(),
                dialect: Dialect::default(),
                parameters: Parameters::default(),
            },
            profile,
            system_prompt: agent::system_prompt(&self.directory, self.command_limit),
            tools,
            mode: self.mode,
            attended,
            turn_limit: self.turn_limit,
            sessions: sessions_dir(|name| std::env::var_os(name)),
            directory: self.directory,
        };
        let model = HttpModel::new(Client::new(), endpoint, self.format);
        Ok((agent::spawn(config, model), server))
    }
}
