//! The text of `config.toml` → its values, each with its line. Nothing is guessed and nothing passed
//! over: what is not understood is a [`Problem`].

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml_edit::{Document, Item, Key, TableLike};

use super::keys::Keys;
use super::layer::{Layer, NAMES, Place};
use super::profiles::built_in;
use super::suggest::closest;
use super::value::{Value, looks_like_a_key};
use super::{Source, Sourced};

/// What `config.toml` says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct File {
    /// Where it is, or would be; `None` if no home directory is known.
    pub path: Option<PathBuf>,
    /// The profile used when no argument names one.
    pub profile: Option<Sourced<String>>,
    /// The values for every profile.
    pub values: Layer,
    /// The table `[keys]`.
    pub keys: Keys,
    /// The tables `[profiles.NAME]`.
    pub profiles: BTreeMap<String, Layer>,
}

/// Why the file cannot be used: nothing was started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}:{line}: {what}", path.display())]
pub struct Problem {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong and how it is put right. Quotes no value: it may be a key.
    pub what: String,
}

impl Problem {
    /// What is wrong in a line.
    pub fn at(path: &Path, line: usize, what: &str) -> Self {
        let what = format!("{what}. Correct the line, or take it out; nothing was started");
        Self { path: path.to_owned(), line, what }
    }
}

impl File {
    /// Reads the text of the file at `path`.
    ///
    /// # Errors
    /// The first [`Problem`].
    pub fn parse(path: &Path, text: &str) -> Result<Self, Problem> {
        let reader = Reader { path, text };
        let document = Document::parse(text).map_err(|error| {
            let message = error.message().lines().next().unwrap_or_default().to_owned();
            reader.problem(error.span(), &format!("this is not TOML: {message}"))
        })?;
        let mut file = Self { path: Some(path.to_owned()), ..Self::default() };
        for (key, item) in entries(document.as_table()) {
            match key.get() {
                "profile" => {
                    let value = reader.value::<String>(key, item)?;
                    reader.no_key(key, item)?;
                    file.profile = Some(Sourced::new(value, reader.source(key)));
                }
                "keys" => file.keys = reader.keys(key, item)?,
                "profiles" => file.profiles = reader.profiles(key, item)?,
                _ => reader.set(&mut file.values, Within::Top, key, item)?,
            }
        }
        Ok(file)
    }

    /// Names of all profiles of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.profiles.keys().map(String::as_str)
    }
}

/// The part of the file that is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Top,
    Profile,
}

pub(super) struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Reader<'_> {
    fn line(&self, span: Option<Range<usize>>) -> usize {
        let start = span.map_or(0, |span| span.start).min(self.text.len());
        self.text.get(..start).unwrap_or_default().matches('\n').count() + 1
    }

    pub(super) fn source(&self, key: &Key) -> Source {
        Source::File(self.path.to_owned(), self.line(key.span()))
    }

    pub(super) fn problem(&self, span: Option<Range<usize>>, what: &str) -> Problem {
        Problem::at(self.path, self.line(span), what)
    }

    pub(super) fn value<T: Value>(&self, key: &Key, item: &Item) -> Result<T, Problem> {
        let expected = match item.as_value().map(T::read) {
            Some(Ok(value)) => return Ok(value),
            Some(Err(expected)) => expected,
            None => "a value, not a table".to_owned(),
        };
        Err(self.problem(key.span(), &format!("{} must be {expected}", key.get())))
    }

    fn profiles(&self, key: &Key, item: &Item) -> Result<BTreeMap<String, Layer>, Problem> {
        let Some(table) = item.as_table_like() else {
            let what = "profiles must be tables: [profiles.NAME]";
            return Err(self.problem(key.span(), what));
        };
        let mut profiles = BTreeMap::new();
        for (key, item) in entries(table) {
            let name = key.get();
            let Some(table) = item.as_table_like() else {
                let what = format!("a profile must be a table: [profiles.{name}]");
                return Err(self.problem(key.span(), &what));
            };
            if name == "offline" {
                let what = "the offline model has no settings; give the profile another name";
                return Err(self.problem(key.span(), what));
            }
            let mut layer = Layer::default();
            for (key, item) in entries(table) {
                self.set(&mut layer, Within::Profile, key, item)?;
            }
            if layer.url.is_none() && built_in(name).is_none() {
                let what = format!("[profiles.{name}] needs url = \"…\", the server's base URL");
                return Err(self.problem(key.span(), &what));
            }
            profiles.insert(name.to_owned(), layer);
        }
        Ok(profiles)
    }

    fn set(
        &self,
        layer: &mut Layer,
        within: Within,
        key: &Key,
        item: &Item,
    ) -> Result<(), Problem> {
        let name = key.get();
        let Some((_, place)) = NAMES.iter().find(|(known, _)| *known == name) else {
            if within == Within::Profile && item.is_table_like() {
                let what = format!(
                    "{name} cannot be a table; a profile's name with a dot in it is written in \
                     quotes: [profiles.\"NAME.{name}\"]"
                );
                return Err(self.problem(key.span(), &what));
            }
            return Err(self.problem(key.span(), &unknown(name, within)));
        };
        let misplaced = match (within, place) {
            (Within::Top, Place::Profile) => Some(format!(
                "{name} belongs to one server: it must stand in a table [profiles.NAME]"
            )),
            (Within::Profile, Place::Top) => Some(format!(
                "{name} holds for all profiles: it must stand above the first [profiles.NAME]"
            )),
            _ => None,
        };
        if let Some(what) = misplaced {
            return Err(self.problem(key.span(), &what));
        }
        self.no_key(key, item)?;
        if name == "key_env" && !item.as_str().is_some_and(is_variable) {
            let what = "key_env must be the name of the variable that holds the key, such as \
                        \"MY_API_KEY\"; the key itself is never written here";
            return Err(self.problem(key.span(), what));
        }
        let Some(value) = item.as_value() else {
            let what = format!("{name} must be a value, not a table");
            return Err(self.problem(key.span(), &what));
        };
        layer
            .set(name, value, self.source(key))
            .map_err(|expected| self.problem(key.span(), &format!("{name} must be {expected}")))
    }

    /// Refuses a value that is a secret by its looks.
    fn no_key(&self, key: &Key, item: &Item) -> Result<(), Problem> {
        if !item.as_str().is_some_and(looks_like_a_key) {
            return Ok(());
        }
        let what = format!(
            "the value of {} looks like a key. Keys are never kept in this file: put it into a \
             variable, name that with key_env, and change the key if others could read this file",
            key.get()
        );
        Err(self.problem(key.span(), &what))
    }
}

/// What to say of a name that is not known.
fn unknown(name: &str, within: Within) -> String {
    match name {
        "yolo" => return "yolo is only ever an argument (--yolo), given anew each time".to_owned(),
        "key" | "api_key" | "apikey" | "token" => {
            return format!(
                "{name} is not a setting: keys are never kept in this file. Put the key into a \
                 variable and name that with key_env"
            );
        }
        _ => {}
    }
    if name == "keys" || name.starts_with("keys.") {
        return format!(
            "{name} is written into the file by hand, below [keys]: limpid config keys lists places and actions"
        );
    }
    let here = NAMES.iter().filter(|(_, place)| match within {
        Within::Top => *place != Place::Profile,
        Within::Profile => *place != Place::Top,
    });
    let mut known: Vec<_> = here.map(|(name, _)| *name).collect();
    if within == Within::Top {
        known.extend(["profile", "profiles", "keys"]);
    }
    match closest(name, known.iter().copied()) {
        Some(meant) => format!("{name} is not a setting; did you mean {meant}?"),
        None => format!("{name} is not a setting here. There are: {}", known.join(", ")),
    }
}

/// Whether a text can be the name of a variable.
pub(super) fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The members of a table with their keys, which know their place in the text.
pub(super) fn entries(table: &dyn TableLike) -> impl Iterator<Item = (&Key, &Item)> {
    table.iter().filter_map(|(name, _)| table.get_key_value(name))
}
