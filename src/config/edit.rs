//! Changing one value in the text of `config.toml`; comments and order stay.

use std::path::Path;

use toml_edit::{DocumentMut, Item, Table, Value};

use super::file::File;

/// The text with `name` set to `value`. A profile's value is named `profiles.PROFILE.NAME`. What
/// could not be read back is refused, so that limpid never writes a file that it cannot use.
///
/// # Errors
/// Why nothing may be written. Does not quote the value: it may be a key.
pub fn set(path: &Path, text: &str, name: &str, value: &str) -> Result<String, String> {
    // A file that is broken already is named with its line, as at every start.
    File::parse(path, text).map_err(|problem| problem.to_string())?;
    // As a number, a truth or a list where it is one and fits, else as a text.
    let literal = value.parse::<Value>().ok().filter(|value| {
        matches!(value, Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Array(_))
    });
    if let Some(literal) = literal
        && let Ok(text) = with(path, text, name, literal)
    {
        return Ok(text);
    }
    with(path, text, name, Value::from(value))
}

fn with(path: &Path, text: &str, name: &str, value: Value) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|_| "it is not TOML".to_owned())?;
    let (table, key) = match name.strip_prefix("profiles.").map(|rest| rest.rsplit_once('.')) {
        None => (document.as_table_mut(), name),
        Some(Some((profile, key))) => {
            let profiles = document.entry("profiles").or_insert_with(implicit_table);
            let profile = profiles.as_table_mut().and_then(|profiles| {
                profiles.entry(profile).or_insert_with(toml_edit::table).as_table_mut()
            });
            let by_hand =
                "the profile is not written as a table [profiles.NAME]: change it by hand";
            (profile.ok_or_else(|| by_hand.to_owned())?, key)
        }
        Some(None) => return Err("a profile's value is named profiles.PROFILE.NAME".to_owned()),
    };
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        None => {
            table.insert(key, Item::Value(value));
        }
    }
    let changed = document.to_string();
    match File::parse(path, &changed) {
        Ok(_) => Ok(changed),
        Err(problem) => Err(problem.what.split(". ").next().unwrap_or_default().to_owned()),
    }
}

fn implicit_table() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}
