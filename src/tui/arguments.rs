//! What can follow a word of the prompt: the parameters with their values, the profiles and the
//! models that are known, the themes. What is offered of it as one types is `completion`'s.

use crate::text::say;
use std::collections::HashMap;

use super::completion::Candidate;
use super::model::Model;
use super::popup::{in_force, key_in_words};
use super::theme::BUILT_IN;
use crate::conversation::{Parameter, ParameterValue, ProfileRow, Progress};
use crate::text::{Show, visible};

/// Where a model can be reached, as far as it was told.
#[derive(Debug, Default)]
pub(super) struct Ways {
    profiles: Vec<ProfileRow>,
    /// The models of a profile's server.
    models: HashMap<String, Vec<String>>,
}

impl Ways {
    /// Takes over what answers a question, whoever asked it.
    pub(super) fn told(&mut self, progress: &Progress) {
        match progress {
            Progress::Profiles(profiles) => self.profiles.clone_from(profiles),
            Progress::Models { profile, models, failure: None } => {
                self.models.insert(profile.clone(), models.clone());
            }
            _ => {}
        }
    }

    /// The models known of a profile, its own first.
    fn models_of(&self, profile: &str) -> Vec<&str> {
        let row = self.profiles.iter().find(|row| row.name == profile);
        let own = row.and_then(|row| row.model.as_deref());
        let listed = self.models.get(profile).into_iter().flatten().map(String::as_str);
        own.into_iter().chain(listed.filter(|id| Some(*id) != own)).collect()
    }
}

/// A line of the prompt, up to the cursor, that begins with a word that takes others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Begun<'a> {
    /// What was given already.
    given: Given<'a>,
    /// The piece before the cursor.
    pub(super) token: &'a str,
}

/// A word, and what was given to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Given<'a> {
    Set,
    SetParameter(Parameter),
    Model,
    ModelOf(&'a str),
    Theme,
}

impl<'a> Begun<'a> {
    /// Reads the line.
    pub(super) fn of(before: &'a str) -> Option<Self> {
        let (start, token) = before.rsplit_once(' ')?;
        if !start.starts_with('/') {
            return None;
        }
        let words: Vec<&str> = start.split(' ').filter(|word| !word.is_empty()).collect();
        let given = match words[..] {
            ["/set"] => Given::Set,
            ["/set", name] => Given::SetParameter(Parameter::named(name)?),
            ["/model"] => Given::Model,
            ["/model", profile] => Given::ModelOf(profile),
            ["/theme"] => Given::Theme,
            _ => return None,
        };
        Some(Self { given, token })
    }

    /// Whether the profiles are offered, which have to be asked for.
    pub(super) fn wants_profiles(self) -> bool {
        self.given == Given::Model
    }

    /// All that can follow.
    pub(super) fn candidates(self, model: &Model) -> Vec<Candidate> {
        match self.given {
            Given::Set => Parameter::ALL
                .into_iter()
                .map(|parameter| Candidate::going_on(parameter.name(), &value(model, parameter)))
                .collect(),
            Given::SetParameter(parameter) => {
                let set = set(model, parameter);
                let set = set.map(|set| Candidate::new(&set.value, say!("in use")));
                let unset = Candidate::new("unset", say!("leaves it to the server"));
                set.into_iter().chain([unset]).collect()
            }
            Given::Model => {
                let present = &model.profile().name;
                let profiles = model.ways.profiles.iter().map(|row| {
                    let what = [row.model.as_deref().unwrap_or(""), &key_in_words(&row.key).0];
                    Candidate::new(&row.name, what.join(" · ").trim_start_matches(" · "))
                });
                let ids = model.ways.models_of(present).into_iter();
                let here = |id| Candidate::new(id, say!("a model at this server"));
                profiles.chain(ids.map(here)).collect()
            }
            Given::ModelOf(profile) => {
                let ids = model.ways.models_of(profile).into_iter();
                ids.map(|id| Candidate::new(id, "")).collect()
            }
            Given::Theme => BUILT_IN.iter().map(|(name, _)| Candidate::new(name, "")).collect(),
        }
    }
}

fn set(model: &Model, parameter: Parameter) -> Option<&ParameterValue> {
    model.parameters().iter().find(|set| set.parameter == parameter)
}

/// The value of a parameter, or who sets it, in words.
fn value(model: &Model, parameter: Parameter) -> String {
    let (format, parameters) = in_force(model);
    match (set(model, parameter), format) {
        (Some(set), _) => visible(&set.value, Show::Prose).into_owned(),
        (None, Some(format)) => parameters.unset(parameter, format).to_owned(),
        (None, None) => say!("left to the server").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_words_that_take_others_are_begun() {
        for (before, token) in [
            ("/set ", Some("")),
            ("/set tem", Some("tem")),
            ("/set  temperature 0", Some("0")),
            ("/model qwen ", Some("")),
            ("/theme da", Some("da")),
            ("/set", None),
            ("/set what 1", None),
            ("/set temperature 1 ", None),
            (" /set ", None),
            ("/help ", None),
            ("see /set ", None),
        ] {
            assert_eq!(Begun::of(before).map(|begun| begun.token), token, "{before:?}");
        }
    }
}
