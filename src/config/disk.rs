//! The files: where they are, reading them, and writing them whole or not at all.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::file::{File, Problem};
use super::trust::Trust;
use super::variables::DotEnv;

/// Where the files are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The user's settings; `None` if no home directory is known.
    pub config: Option<PathBuf>,
    /// The user's own themes; `None` if no home directory is known.
    pub themes: Option<PathBuf>,
    /// The answers about `.env` files; `None` if no home directory is known.
    pub trust: Option<PathBuf>,
}

impl Places {
    /// `$XDG_CONFIG_HOME/limpid/config.toml`, else below `~/.config`; `$XDG_DATA_HOME/limpid/trust.json`,
    /// else below `~/.local/share`. Only absolute paths count, so that no project can lie in between.
    pub fn of(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let below = |name, fallback| {
            absolute(name).or_else(|| absolute("HOME").map(|home| home.join(fallback)))
        };
        Self {
            config: below("XDG_CONFIG_HOME", ".config").map(|path| path.join("limpid/config.toml")),
            themes: below("XDG_CONFIG_HOME", ".config").map(|path| path.join("limpid/themes")),
            trust: below("XDG_DATA_HOME", ".local/share")
                .map(|path| path.join("limpid/trust.json")),
        }
    }
}

/// The user's settings; empty if there is no file.
///
/// # Errors
/// If there is one and it cannot be used.
pub fn read_config(places: &Places) -> Result<File, Problem> {
    let Some(path) = &places.config else { return Ok(File::default()) };
    match fs::read_to_string(path) {
        Ok(text) => File::parse(path, &text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Ok(File { path: Some(path.clone()), ..File::default() })
        }
        Err(error) => Err(Problem {
            path: path.clone(),
            line: 1,
            what: format!(
                "the file cannot be read ({error}). Make it readable, or move it away; nothing was started"
            ),
        }),
    }
}

/// A `.env` of more bytes is not read.
const LONGEST_DOT_ENV: u64 = 1 << 20;

/// The `.env` of a directory.
///
/// # Errors
/// Why there is one that cannot be used.
pub fn read_dot_env(directory: &Path) -> Result<Option<DotEnv>, String> {
    let path = directory.join(".env");
    let unusable = |why: &str| format!("{} is not used: {why}", path.display());
    let about = match fs::metadata(&path) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unusable(&error.to_string())),
    };
    // A pipe or a device in its place could hold up the start for ever. (A directory of this name
    // is somebody's Python environment.)
    if about.is_dir() {
        return Ok(None);
    }
    if !about.is_file() {
        return Err(unusable("it is not a regular file"));
    }
    if about.len() > LONGEST_DOT_ENV {
        return Err(unusable("it is larger than 1 MiB"));
    }
    let text = fs::read_to_string(&path).map_err(|error| unusable(&error.to_string()))?;
    // The directory itself, whatever link leads to it; a link in the file's place is still this
    // project's word, and not that of the project it leads to.
    let directory = fs::canonicalize(directory).map_err(|error| unusable(&error.to_string()))?;
    Ok(Some(DotEnv::parse(directory.join(".env"), &text)))
}

/// The answers given so far.
///
/// # Errors
/// If there is a file and it cannot be used.
pub fn read_trust(places: &Places) -> Result<Trust, String> {
    let Some(path) = &places.trust else { return Ok(Trust::default()) };
    let broken = |why: String| {
        format!(
            "{} cannot be read ({why}). It holds your answers about .env files: delete it to be \
             asked anew. Nothing was started",
            path.display()
        )
    };
    match fs::read_to_string(path) {
        Ok(text) => Trust::parse(&text).map_err(broken),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Trust::default()),
        Err(error) => Err(broken(error.to_string())),
    }
}

/// Keeps the answers, readable for the user alone.
///
/// # Errors
/// What could not be written.
pub fn write_trust(places: &Places, trust: &Trust) -> Result<(), String> {
    let Some(path) = &places.trust else {
        return Err("neither XDG_DATA_HOME nor HOME names a directory".to_owned());
    };
    let text = trust.text()?;
    replace(path, &text, 0o600).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes the user's settings. A link stays a link, and a mode stays.
///
/// # Errors
/// What the file system says; the old text is then still there.
pub fn write_config(path: &Path, text: &str) -> io::Result<()> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mode = fs::metadata(&path).map_or(0o600, |about| about.permissions().mode() & 0o777);
    replace(&path, text, mode)
}

/// Puts a new file in the place of an old one. The new one is made under a name that nobody can have
/// planted a link at.
fn replace(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    let temporary = path.with_extension(format!("new-{}", std::process::id()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&temporary)?;
    let written = file
        .set_permissions(fs::Permissions::from_mode(mode))
        .and_then(|()| file.write_all(text.as_bytes()))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}
