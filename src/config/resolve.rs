//! Which profile, and what holds for it: the sources laid over one another.

use super::file::File;
use super::layer::Layer;
use super::profiles::{BUILT_IN, BuiltIn, built_in};
use super::suggest::closest;
use super::variables::{MODEL, Variables};
use super::{Source, Sourced};

/// What the arguments say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Arguments {
    /// `--offline`.
    pub offline: bool,
    /// `--profile`.
    pub profile: Option<String>,
    /// The others. A URL among them stands alone: no profile's key goes there.
    pub values: Layer,
}

/// Which way to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// The offline model.
    Offline,
    /// The URL of an argument.
    Url,
    /// A profile.
    Profile(String),
}

/// Everything that is set, and by whom.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Which way to a model, and who chose it.
    pub choice: Sourced<Choice>,
    /// The values.
    pub values: Layer,
}

/// Why no profile can be chosen. Nothing was started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    /// There is no such profile.
    #[error(
        "there is no profile \"{name}\" ({source_shown}).{} There are: {}",
        suggestion.as_ref().map(|name| format!(" Did you mean {name}?")).unwrap_or_default(),
        known.join(", ")
    )]
    Unknown {
        /// The name given.
        name: String,
        /// Who gave it.
        source_shown: String,
        /// A similar name.
        suggestion: Option<String>,
        /// All names.
        known: Vec<String>,
    },
    /// The environment speaks of several.
    #[error(
        "several profiles can be made from the environment: {}. Choose one with --profile NAME, or \
         for always: limpid config set profile NAME",
        .0.iter().map(|(name, by)| format!("{name} ({by})")).collect::<Vec<_>>().join(", ")
    )]
    Several(Vec<(&'static str, Source)>),
}

/// Lays the sources over one another.
///
/// # Errors
/// If no profile can be chosen.
pub fn resolve(
    arguments: &Arguments,
    variables: &Variables,
    file: &File,
) -> Result<Settings, ChoiceError> {
    let (choice, from_environment) = choose(arguments, variables, file)?;
    let name = match &choice.value {
        Choice::Profile(name) => Some(name.as_str()),
        Choice::Offline | Choice::Url => None,
    };
    let built_in = name.and_then(built_in);
    let mut from_variables = Layer::default();
    if let Some(profile) = built_in
        && let Some(url) = profile.url_env.and_then(|name| variables.get(name))
    {
        from_variables.url = Some(Sourced::new(profile.base(url.value), url.source));
    }
    if from_environment {
        from_variables.model = variables.get(MODEL).map(owned);
    }
    let profile_of_file = name.and_then(|name| file.profiles.get(name));
    let values = arguments
        .values
        .clone()
        .over(from_variables)
        .over(profile_of_file.cloned().unwrap_or_default())
        .over(file.values.clone())
        // A locale is set nearly always, mostly by nobody in particular: a setting comes before it.
        .over(Layer { lang: variables.language(), ..Layer::default() })
        .over(built_in.map(BuiltIn::layer).unwrap_or_default())
        .over(Layer::built_in());
    Ok(Settings { choice, values })
}

fn owned(sourced: Sourced<&str>) -> Sourced<String> {
    Sourced::new(sourced.value.trim().to_owned(), sourced.source)
}

/// The choice, and whether the environment made it.
fn choose(
    arguments: &Arguments,
    variables: &Variables,
    file: &File,
) -> Result<(Sourced<Choice>, bool), ChoiceError> {
    if arguments.offline {
        return Ok((Sourced::new(Choice::Offline, Source::Argument("--offline")), false));
    }
    if arguments.values.url.is_some() {
        return Ok((Sourced::new(Choice::Url, Source::Argument("--url")), false));
    }
    if let Some(name) = &arguments.profile {
        return Ok((named(name, Source::Argument("--profile"), file)?, false));
    }
    if let Some(profile) = &file.profile {
        return Ok((named(&profile.value, profile.source.clone(), file)?, false));
    }
    let mut found = found(variables);
    match (found.pop(), found.is_empty()) {
        (None, _) => Ok((Sourced::new(Choice::Offline, Source::BuiltIn), false)),
        (Some((name, source)), true) => {
            Ok((Sourced::new(Choice::Profile(name.to_owned()), source), true))
        }
        (Some(last), false) => {
            found.push(last);
            Err(ChoiceError::Several(found))
        }
    }
}

/// The profiles of which the environment speaks, and the variable that does.
fn found(variables: &Variables) -> Vec<(&'static str, Source)> {
    BUILT_IN
        .iter()
        .filter(|profile| profile.from_environment)
        .filter_map(|profile| {
            let names = [profile.key_env, profile.url_env];
            let set = names.into_iter().flatten().find_map(|name| variables.get(name))?;
            Some((profile.name, set.source))
        })
        .collect()
}

/// Every profile that can be named: the user's own, those built in, and the offline model.
pub fn profile_names(file: &File) -> Vec<String> {
    let own = file.names().filter(|name| built_in(name).is_none());
    let built_in = BUILT_IN.iter().map(|profile| profile.name);
    own.chain(built_in).chain(["offline"]).map(str::to_owned).collect()
}

fn named(name: &str, source: Source, file: &File) -> Result<Sourced<Choice>, ChoiceError> {
    if name == "offline" {
        return Ok(Sourced::new(Choice::Offline, source));
    }
    if built_in(name).is_some() || file.profiles.contains_key(name) {
        return Ok(Sourced::new(Choice::Profile(name.to_owned()), source));
    }
    let known = profile_names(file);
    Err(ChoiceError::Unknown {
        name: name.to_owned(),
        source_shown: source.to_string(),
        suggestion: closest(name, known.iter().map(String::as_str)).map(str::to_owned),
        known,
    })
}
