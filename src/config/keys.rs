//! The table `[keys]` of `config.toml`: which keys the user wants for what. Which actions, places and
//! keys there are is the screen's business.

use toml_edit::{Item, Key};

use super::Sourced;
use super::file::{Problem, Reader, entries};

/// What `[keys]` says, in the order of the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Keys {
    /// The set of keys that the settings change.
    pub preset: Option<Sourced<String>>,
    /// The settings.
    pub wishes: Vec<Sourced<Wish>>,
}

/// Keys for an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// The table `[keys.PLACE]` that it stands in, if it does.
    pub place: Option<String>,
    /// The action.
    pub action: String,
    /// The keys.
    pub keys: Vec<String>,
}

impl Reader<'_> {
    /// Reads the table.
    pub(super) fn keys(&self, key: &Key, item: &Item) -> Result<Keys, Problem> {
        let Some(table) = item.as_table_like() else {
            return Err(self.problem(key.span(), "keys must be a table: [keys]"));
        };
        let mut keys = Keys::default();
        for (key, item) in entries(table) {
            match (key.get(), item.as_table_like()) {
                ("preset", None) => {
                    let preset = self.value::<String>(key, item)?;
                    keys.preset = Some(Sourced::new(preset, self.source(key)));
                }
                (place, Some(table)) => {
                    for (key, item) in entries(table) {
                        keys.wishes.push(self.wish(Some(place), key, item)?);
                    }
                }
                (_, None) => keys.wishes.push(self.wish(None, key, item)?),
            }
        }
        Ok(keys)
    }

    fn wish(&self, place: Option<&str>, key: &Key, item: &Item) -> Result<Sourced<Wish>, Problem> {
        let keys = match (item.as_str(), item.as_array()) {
            (Some(one), _) => Some(vec![one.to_owned()]),
            (None, Some(several)) => {
                several.iter().map(|key| key.as_str().map(str::to_owned)).collect()
            }
            (None, None) => None,
        };
        let action = key.get().to_owned();
        let Some(keys) = keys else {
            let what =
                format!("{action} must be a key in quotes or a list of keys: [\"y\", \"ctrl-y\"]");
            return Err(self.problem(key.span(), &what));
        };
        let place = place.map(str::to_owned);
        Ok(Sourced::new(Wish { place, action, keys }, self.source(key)))
    }
}
