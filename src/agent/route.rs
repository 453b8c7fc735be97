//! The way to the model, and how it is changed in the middle of a session: to another profile or
//! model, or with other parameters. What a profile is, and where its key comes from, only the
//! [`Connect`] knows that the session was given.

use std::future::Future;

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::looper::Model;
use crate::conversation::{
    Command, Destination, Event, Parameter, ParameterValue, Profile, ProfileRow, Progress,
};
use crate::wire::{Dialect, Format, Parameters};

/// A way to a model, ready to be used.
#[derive(Debug)]
pub struct Connection<M> {
    /// Who answers.
    pub model: M,
    /// The way, as recorded.
    pub profile: Profile,
    /// The wire format.
    pub format: Format,
    /// What the server wants differently.
    pub dialect: Dialect,
    /// The parameters that are set for it.
    pub parameters: Parameters,
    /// Who set them, in words.
    pub sources: Vec<(Parameter, String)>,
}

/// Knows the ways to models.
pub trait Connect: Send + Sync + 'static {
    /// Who answers there.
    type Model: Model + Send + 'static;

    /// Makes a connection. Sends nothing.
    ///
    /// # Errors
    /// Why there is none and what to do, in words.
    fn connect(
        &mut self,
        to: Destination,
    ) -> impl Future<Output = Result<Connection<Self::Model>, String>> + Send;

    /// Every profile that can be chosen.
    ///
    /// # Errors
    /// Why they cannot be told, in words.
    fn profiles(&self) -> impl Future<Output = Result<Vec<ProfileRow>, String>> + Send + 'static;

    /// Asks the server of a profile which models it has.
    ///
    /// # Errors
    /// What happened and what to do, in words; may hold the server's text.
    fn models(
        &self,
        profile: String,
    ) -> impl Future<Output = Result<Vec<String>, String>> + Send + 'static;
}

/// The source of what the user set in the session.
pub(super) const SET_HERE: &str = "/set";

/// The way in force: what its settings say, and over that what was set in the session.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) profile: Profile,
    format: Format,
    parameters: Parameters,
    sources: Vec<(Parameter, String)>,
    /// What the user set in this session; `None` leaves it to the server.
    own: Vec<(Parameter, Option<String>)>,
}

impl Route {
    pub(super) fn new(
        profile: Profile,
        format: Format,
        parameters: Parameters,
        sources: Vec<(Parameter, String)>,
    ) -> Self {
        Self { profile, format, parameters, sources, own: Vec::new() }
    }

    /// Another way; what was set in the session still holds.
    pub(super) fn change<M>(&mut self, connection: Connection<M>) -> (M, Dialect) {
        self.profile = connection.profile;
        self.format = connection.format;
        self.parameters = connection.parameters;
        self.sources = connection.sources;
        (connection.model, connection.dialect)
    }

    /// Sets a parameter for the rest of the session.
    pub(super) fn set(
        &mut self,
        parameter: Parameter,
        value: Option<String>,
    ) -> Result<(), String> {
        Parameters::default().set(parameter, value.as_deref())?;
        self.own.retain(|(other, _)| *other != parameter);
        self.own.push((parameter, value));
        Ok(())
    }

    pub(super) fn format(&self) -> Format {
        self.format
    }

    /// What every request says beside its messages.
    pub(super) fn parameters(&self) -> Parameters {
        let mut parameters = self.parameters.clone();
        for (parameter, value) in &self.own {
            // `set` has read it before.
            let _ = parameters.set(*parameter, value.as_deref());
        }
        parameters
    }

    /// The parameters that are set, as recorded.
    pub(super) fn values(&self) -> Vec<ParameterValue> {
        let parameters = self.parameters();
        let value = |parameter| {
            let value = parameters.get(parameter)?;
            let here = self.own.iter().any(|(other, _)| *other == parameter);
            let set = self.sources.iter().find(|(other, _)| *other == parameter);
            let source = match set {
                _ if here => SET_HERE,
                Some((_, source)) => source,
                None => "",
            };
            Some(ParameterValue { parameter, value, source: source.to_owned() })
        };
        Parameter::ALL.into_iter().filter_map(value).collect()
    }
}

/// Questions about ways that are answered beside the loop, whatever it does. Their tasks end with it.
#[derive(Debug)]
pub(super) struct Questions {
    tasks: JoinSet<()>,
    subscriber: mpsc::Sender<Event>,
}

impl Questions {
    pub(super) fn new(subscriber: mpsc::Sender<Event>) -> Self {
        Self { tasks: JoinSet::new(), subscriber }
    }

    /// Begins to answer a question; hands back what is none.
    pub(super) fn take<C: Connect>(&mut self, connect: &C, command: Command) -> Option<Command> {
        while self.tasks.try_join_next().is_some() {}
        let subscriber = self.subscriber.clone();
        match command {
            Command::ListProfiles => {
                let profiles = connect.profiles();
                self.tasks.spawn(async move {
                    let progress = match profiles.await {
                        Ok(profiles) => Progress::Profiles(profiles),
                        Err(why) => Progress::Notice(why),
                    };
                    // A subscriber that has left needs no answer.
                    let _ = subscriber.send(Event::Progress(progress)).await;
                });
            }
            Command::ListModels(profile) => {
                let models = connect.models(profile.clone());
                self.tasks.spawn(async move {
                    let (models, failure) = match models.await {
                        Ok(models) => (models, None),
                        Err(why) => (Vec::new(), Some(why)),
                    };
                    let progress = Progress::Models { profile, models, failure };
                    let _ = subscriber.send(Event::Progress(progress)).await;
                });
            }
            command => return Some(command),
        }
        None
    }
}
