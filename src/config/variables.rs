//! The variables that name an endpoint, a key or a model: those of the environment, and those of the
//! project's `.env` that the user has agreed to. The process environment is never changed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::file::is_variable;
use super::profiles::{BUILT_IN, built_in};
use super::resolve::Arguments;
use super::{File, Lang, Source, Sourced};

/// What a variable is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Where requests go.
    Endpoint,
    /// The key that goes with them.
    Key,
    /// The model.
    Model,
}

/// A variable that may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Its name.
    pub name: String,
    /// What for.
    pub purpose: Purpose,
}

/// The variables that may be used with these arguments and this file. Of a `.env`, nothing else is
/// ever looked at.
pub fn wanted(arguments: &Arguments, file: &File) -> Vec<Wanted> {
    let mut wanted = Vec::new();
    let mut want = |name: Option<&str>, purpose| {
        let new = |name: &&str| wanted.iter().all(|other: &Wanted| other.name != *name);
        if let Some(name) = name.filter(new) {
            wanted.push(Wanted { name: name.to_owned(), purpose });
        }
    };
    let key_argument = arguments.values.key_env.as_ref().map(|name| name.value.as_str());
    let chosen = arguments.profile.as_ref().or(file.profile.as_ref().map(|name| &name.value));
    if arguments.offline {
    } else if arguments.values.url.is_some() {
        want(key_argument, Purpose::Key);
    } else if let Some(name) = chosen {
        let built_in = built_in(name);
        let named = file.profiles.get(name).and_then(|layer| layer.key_env.as_ref());
        let key = key_argument
            .or(named.map(|name| name.value.as_str()))
            .or(built_in.and_then(|profile| profile.key_env));
        want(built_in.and_then(|profile| profile.url_env), Purpose::Endpoint);
        want(key, Purpose::Key);
    } else {
        want(key_argument, Purpose::Key);
        for profile in BUILT_IN.iter().filter(|profile| profile.from_environment) {
            want(profile.url_env, Purpose::Endpoint);
            want(profile.key_env, Purpose::Key);
        }
        want(Some(MODEL), Purpose::Model);
    }
    wanted
}

/// Names the model of a profile that is made from the environment, and of no other.
pub(super) const MODEL: &str = "MODEL_ID";

/// Variables by name.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    environment: BTreeMap<String, String>,
    agreed: BTreeMap<String, String>,
}

impl Variables {
    /// Those of the environment. A value that is not text is kept with replacement characters, so
    /// that its use is refused and not its existence overlooked.
    pub fn new(environment: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let environment = environment.into_iter().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
        });
        Self { environment: environment.collect(), agreed: BTreeMap::new() }
    }

    /// Whether the environment itself sets it, to something.
    pub fn in_environment(&self, name: &str) -> bool {
        self.environment.get(name).is_some_and(|value| !value.trim().is_empty())
    }

    /// Takes these variables of a `.env`, to which the user has agreed.
    pub fn agree(&mut self, dot_env: &DotEnv, names: &[Wanted]) {
        for Wanted { name, .. } in names {
            if let Some(value) = dot_env.values.get(name) {
                self.agreed.insert(name.clone(), value.clone());
            }
        }
    }

    /// The value, if it is set to something: that of the environment, else that of the `.env`.
    pub fn get(&self, name: &str) -> Option<Sourced<&str>> {
        let some = |value: &&String| !value.trim().is_empty();
        if let Some(value) = self.environment.get(name).filter(some) {
            return Some(Sourced::new(value, Source::Environment(name.to_owned())));
        }
        let value = self.agreed.get(name).filter(some)?;
        Some(Sourced::new(value, Source::DotEnv(name.to_owned())))
    }

    /// The language of the locale that the environment names.
    pub fn language(&self) -> Option<Sourced<Lang>> {
        let named = |name: &&str| self.in_environment(name);
        let name = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find(named)?;
        let chinese = self.environment.get(name)?.starts_with("zh");
        let lang = if chinese { Lang::Zh } else { Lang::En };
        Some(Sourced::new(lang, Source::Environment(name.to_owned())))
    }

    /// Whether it is set, but to nothing.
    pub fn is_empty(&self, name: &str) -> bool {
        self.get(name).is_none() && self.environment.contains_key(name)
    }
}

/// A project's `.env`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DotEnv {
    /// The canonical path of its directory, and `.env`.
    pub path: PathBuf,
    /// SHA-256 of its bytes, in hex.
    pub sha256: String,
    values: BTreeMap<String, String>,
    unreadable: Vec<Unreadable>,
}

/// A line of a `.env` that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The line, from 1.
    pub line: usize,
    /// The name that it would set.
    pub name: String,
}

/// Stands for `$` while the text is read: values are taken as they stand, since a reference could
/// carry a secret of the environment to wherever the file says. A noncharacter of Unicode.
const DOLLAR: &str = "\u{fdd0}";

impl DotEnv {
    /// Reads its text. Of a name set twice, the first counts, as in other programs.
    pub fn parse(path: PathBuf, text: &str) -> Self {
        let sha256 = Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
            use std::fmt::Write as _;
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        let safe = text.replace("\\$", DOLLAR).replace('$', DOLLAR);
        let mut values = BTreeMap::new();
        let mut unreadable = Vec::new();
        for item in dotenvy::from_read_iter(safe.trim_start_matches('\u{feff}').as_bytes()) {
            match item {
                Ok((name, value)) => {
                    values.entry(name).or_insert_with(|| value.replace(DOLLAR, "$"));
                }
                Err(dotenvy::Error::LineParse(rest, _)) => {
                    let at = safe.find(rest.trim_end()).unwrap_or(0);
                    let start = safe[..at].rfind('\n').map_or(0, |newline| newline + 1);
                    let line = safe[..start].matches('\n').count() + 1;
                    let name = safe[start..].split('=').next().unwrap_or_default().trim();
                    let name = name.strip_prefix("export").map_or(name, str::trim_start);
                    if is_variable(name) {
                        unreadable.push(Unreadable { line, name: name.to_owned() });
                    }
                }
                Err(_) => {}
            }
        }
        Self { path, sha256, values, unreadable }
    }

    /// Which of the wanted variables it sets.
    pub fn names(&self, wanted: &[Wanted]) -> Vec<Wanted> {
        wanted.iter().filter(|wanted| self.values.contains_key(&wanted.name)).cloned().collect()
    }

    /// Lines that would set a wanted variable but cannot be read.
    pub fn unreadable<'a>(&'a self, wanted: &'a [Wanted]) -> impl Iterator<Item = &'a Unreadable> {
        let is_wanted = |line: &&Unreadable| wanted.iter().any(|wanted| wanted.name == line.name);
        self.unreadable.iter().filter(is_wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_taken_as_they_stand_and_never_filled_from_the_environment() {
        let text = "\u{feff}# my project\nexport A=1 # one\nHOME_A=\"x${HOME}y\"\nB='$HOME'\nC=a\\$b\nA=2\n";
        let dot_env = DotEnv::parse("/p/.env".into(), text);
        let value = |name: &str| dot_env.values.get(name).map(String::as_str);
        assert_eq!(value("A"), Some("1"));
        assert_eq!(value("HOME_A"), Some("x${HOME}y"));
        assert_eq!(value("B"), Some("$HOME"));
        assert_eq!(value("C"), Some("a$b"));
    }

    #[test]
    fn a_line_that_cannot_be_read_is_found_by_its_name() {
        let text = "APP=My App\nDEEPSEEK_API_KEY=two words\nMODEL_ID=m\n";
        let dot_env = DotEnv::parse("/p/.env".into(), text);
        let wanted = [Wanted { name: "DEEPSEEK_API_KEY".to_owned(), purpose: Purpose::Key }];
        let lines: Vec<_> = dot_env.unreadable(&wanted).map(|line| line.line).collect();
        assert_eq!(lines, [2]);
        assert_eq!(dot_env.values.get("MODEL_ID").map(String::as_str), Some("m"));
    }
}
