//! `limpid config`: every value with its source; and changing one in the user's file.

use std::fs;
use std::io::{self, Write as _};
use std::process::ExitCode;

use super::settings::{Asking, Loaded};
use super::{Connection, usage};
use crate::config::{self, Choice, Places, Wish, write_config};
use crate::text::{self, Show, padded, translated};

/// Columns that names take.
const NAME: usize = 18;

/// Prints every value. Keys are told by their variable only.
pub(super) fn show(connection: &Connection) -> color_eyre::Result<ExitCode> {
    let loaded = match connection.load(Asking::Never) {
        Ok(loaded) => loaded,
        Err(error) => return usage(&error.to_string()),
    };
    let mut rows = Vec::new();
    let choice = &loaded.settings.choice;
    let name = match &choice.value {
        Choice::Offline => "offline",
        Choice::Url => "(none: --url)",
        Choice::Profile(name) => name,
    };
    rows.push(("profile", name.to_owned(), choice.source.to_string()));
    for row in loaded.settings.values.rows() {
        let source = if row.value.is_some() { row.source.to_string() } else { String::new() };
        let value = match (row.name, row.value) {
            ("url", Some(url)) if url.contains('@') => "(holds a user name or password)".to_owned(),
            (_, Some(value)) => value,
            ("model", None) if choice.value == Choice::Offline => "offline".to_owned(),
            (_, None) => "not set".to_owned(),
        };
        rows.push((row.name, value, source));
        if row.name == "key_env" {
            let (value, source) = key(&loaded);
            rows.push(("key", value, source));
        }
    }
    let mode = if connection.yolo { ("yolo", "--yolo") } else { ("ask", "built in") };
    rows.push(("mode", mode.0.to_owned(), mode.1.to_owned()));
    let keys = &loaded.file.keys;
    if let Some(preset) = &keys.preset {
        rows.push(("keys.preset", preset.value.clone(), preset.source.to_string()));
    }
    for wish in &keys.wishes {
        let Wish { place, action, keys } = &wish.value;
        let place = place.as_ref().map_or(String::new(), |place| format!("{place}."));
        let value = format!("{place}{action} = {}", keys.join(" "));
        rows.push(("keys", value, wish.source.to_string()));
    }
    let rows = rows.into_iter().map(|(name, value, source)| {
        (name, translated(&value).into_owned(), translated(&source).into_owned())
    });
    let rows: Vec<(&str, String, String)> = rows.collect();
    let width = rows.iter().map(|(_, value, _)| text::width(value)).max().unwrap_or(0).min(60);
    let mut out = io::stdout().lock();
    for (name, value, source) in rows {
        let line = format!("{name:<NAME$} {}  {source}", padded(&value, width));
        writeln!(out, "{}", text::visible(line.trim_end(), Show::Prose))?;
    }
    writeln!(out)?;
    let file = match &loaded.file.path {
        Some(path) if path.exists() => path.display().to_string(),
        Some(path) => format!("{} (does not exist)", path.display()),
        None => "neither XDG_CONFIG_HOME nor HOME names a directory".to_owned(),
    };
    let file = translated(&file);
    writeln!(out, "{:<NAME$} {}", "config.toml", text::visible(&file, Show::Prose))?;
    if let Some(dot_env) = &loaded.dot_env {
        let dot_env = translated(dot_env);
        writeln!(out, "{:<NAME$} {}", ".env", text::visible(&dot_env, Show::Prose))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The key in words, and where it comes from.
fn key(loaded: &Loaded) -> (String, String) {
    match &loaded.settings.values.key_env {
        None => ("none is sent".to_owned(), String::new()),
        Some(name) => match loaded.variables.get(&name.value) {
            Some(found) => (format!("set in {}", name.value), found.source.to_string()),
            None => (format!("{} is not set", name.value), String::new()),
        },
    }
}

/// Sets one value in the user's file; its comments stay.
pub(super) fn set(name: &str, value: &str) -> color_eyre::Result<ExitCode> {
    let Some(path) = Places::of(|name| std::env::var_os(name)).config else {
        return usage("no place for settings: neither XDG_CONFIG_HOME nor HOME names a directory");
    };
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return usage(&format!("{} cannot be read: {error}", path.display())),
    };
    let changed = match config::set(&path, &text, name, value) {
        Ok(changed) => changed,
        Err(why) => return usage(&format!("{why}. Nothing was written")),
    };
    match write_config(&path, &changed) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => usage(&format!("{} cannot be written: {error}", path.display())),
    }
}
