//! From `[keys]` of `config.toml` to the screen's keys, and `limpid config keys`, which lists them.

use std::io::{self, Write as _};
use std::process::ExitCode;

use super::settings::Asking;
use super::{Connection, usage};
use crate::config::{Keys, Problem, Source, Sourced};
use crate::text::{self, Show};
use crate::tui::{KeySetting, Keymap};

/// The screen's keys.
///
/// # Errors
/// The line that is wrong, and what is wrong with it.
pub(super) fn keymap(keys: &Keys) -> Result<Keymap, Problem> {
    let settings: Vec<KeySetting<'_>> = keys
        .wishes
        .iter()
        .map(|Sourced { value: wish, .. }| KeySetting {
            place: wish.place.as_deref(),
            action: &wish.action,
            keys: &wish.keys,
        })
        .collect();
    let preset = keys.preset.as_ref();
    Keymap::new(preset.map(|preset| &*preset.value), &settings).map_err(|(index, what)| {
        let wish = index.and_then(|index| keys.wishes.get(index)).map(|wish| &wish.source);
        match wish.or(preset.map(|preset| &preset.source)) {
            Some(Source::File(path, line)) => Problem::at(path, *line, &what),
            // All keys come from the file.
            _ => Problem::at("config.toml".as_ref(), 1, &what),
        }
    })
}

/// Prints every key that can be set: place, action, keys, what they do.
pub(super) fn list(connection: &Connection) -> color_eyre::Result<ExitCode> {
    let keymap = match connection.load(Asking::Never) {
        Ok(loaded) => loaded.keymap,
        Err(error) => return usage(&error.to_string()),
    };
    let mut out = io::stdout().lock();
    let mut last = None;
    for row in keymap.rows() {
        if last != Some(row.place) {
            let start = if last.is_some() { "\n" } else { "" };
            let table = if row.place.is_empty() {
                "keys".to_owned()
            } else {
                format!("keys.{}", row.place)
            };
            writeln!(out, "{start}[{table}]")?;
            last = Some(row.place);
        }
        let line = format!("{:<22} {:<22} {}", row.action, row.keys, row.what);
        writeln!(out, "{}", text::visible(&line, Show::Prose))?;
    }
    Ok(ExitCode::SUCCESS)
}
