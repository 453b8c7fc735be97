//! The way to the model as a person sees and changes it: profiles to choose from, and the parameters
//! of every request. How a profile is reached, and which member a parameter becomes, is not here.

use serde::{Deserialize, Serialize};

/// Where the next request is to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// A profile, with this model or its own.
    Profile {
        /// The profile's name.
        name: String,
        /// Model id.
        model: Option<String>,
    },
    /// The profile of this name; if there is none, the model of this id at the present server.
    Named(String),
}

/// A profile that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProfileRow {
    /// Its name.
    pub name: String,
    /// Name of the wire format.
    pub format: String,
    /// Where requests go; empty if the URL cannot be used.
    pub host: String,
    /// Its own model, if it has one.
    pub model: Option<String>,
    /// Whether its key is there.
    pub key: KeyState,
}

/// Whether a profile's key is there. Never the key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyState {
    /// It wants none.
    NotNeeded,
    /// This variable holds it.
    Found(String),
    /// This variable ought to hold it and does not.
    Missing(String),
}

/// What a request can say beside its messages, as far as users set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parameter {
    /// How freely the model chooses.
    Temperature,
    /// Tokens that a reply may take.
    MaxTokens,
    /// How hard a reasoning model thinks, in the server's words.
    Effort,
    /// Tokens that a model may think.
    ThinkingBudget,
}

impl Parameter {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::Temperature, Self::MaxTokens, Self::Effort, Self::ThinkingBudget];

    /// Its name, as in `config.toml`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Temperature => "temperature",
            Self::MaxTokens => "max_tokens",
            Self::Effort => "effort",
            Self::ThinkingBudget => "thinking_budget",
        }
    }

    /// What it means, in a few words.
    pub fn about(self) -> &'static str {
        match self {
            Self::Temperature => "how freely the model chooses, mostly 0 to 2",
            Self::MaxTokens => "tokens that a reply may take",
            Self::Effort => "how hard a reasoning model thinks: low, high …",
            Self::ThinkingBudget => "tokens that a model may think",
        }
    }

    /// The parameter of this name; a hyphen is as good as an underscore.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.replace('-', "_");
        Self::ALL.into_iter().find(|parameter| parameter.name() == name)
    }
}

/// A parameter that is set, and by whom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParameterValue {
    /// Which.
    pub parameter: Parameter,
    /// The value in words.
    pub value: String,
    /// Who set it, in words.
    pub source: String,
}
