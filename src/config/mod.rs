//! What is set, and by whom: arguments, environment, the project's `.env` (once trusted), the
//! user's `config.toml`, and what is built in.
//!
//! Every source becomes a [`Layer`]; `resolve` lays them over one another in the order of their
//! precedence, and each value remembers its [`Source`]. All of it is pure but `disk` and
//! `instructions`, which read and write the files. Not here: asking the user (`cli`), and what the values are used for.
//!
//! A project's files can set nothing but what its `.env` names, after the user has agreed; and a
//! `.env` can name only an endpoint, a key and a model (`variables`).

mod disk;
mod edit;
mod file;
pub mod instructions;
mod keys;
mod layer;
mod profiles;
mod resolve;
mod suggest;
mod trust;
mod value;
mod variables;

pub use disk::{Places, read_config, read_dot_env, read_trust, write_config, write_trust};
pub use edit::set;
pub use file::{File, Problem};
pub use keys::{Keys, Wish};
pub use layer::{Layer, Row};
pub use profiles::key_variables as built_in_key_variables;
pub use resolve::{Arguments, Choice, ChoiceError, Settings, profile_names, resolve};
pub use trust::{Answer, Trust};
pub use value::{Lang, Notify, Value};
pub use variables::{DotEnv, Purpose, Unreadable, Variables, Wanted, wanted};

use std::fmt;
use std::path::PathBuf;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// This argument.
    Argument(&'static str),
    /// This variable of the environment.
    Environment(String),
    /// This variable of the project's `.env`.
    DotEnv(String),
    /// The user's `config.toml`, in this line (from 1).
    File(PathBuf, usize),
    /// A built-in profile of this name.
    Profile(&'static str),
    /// Nobody set it.
    BuiltIn,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument(name) => write!(f, "{name}"),
            Self::Environment(name) => write!(f, "environment: {name}"),
            Self::DotEnv(name) => write!(f, ".env: {name}"),
            Self::File(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Profile(name) => write!(f, "built-in profile {name}"),
            Self::BuiltIn => write!(f, "built in"),
        }
    }
}

/// A value and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub source: Source,
}

impl<T> Sourced<T> {
    /// A value of this source.
    pub fn new(value: T, source: Source) -> Self {
        Self { value, source }
    }
}
