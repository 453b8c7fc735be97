//! `limpid doctor`: what keeps limpid from working, each finding with what to do about it.

use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::settings::{Asking, Loaded};
use super::{Connection, models, runtime};
use crate::config::{Choice, Places};
use crate::session::sessions_dir;
use crate::text::{self, Phrase, Show, padded, phrase, say, translated};

/// How a finding is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Good,
    Note,
    Wrong,
}

#[derive(Debug)]
struct Finding {
    about: Phrase,
    verdict: Verdict,
    what: String,
}

fn finding(about: Phrase, verdict: Verdict, what: impl Into<String>) -> Finding {
    Finding { about, verdict, what: what.into() }
}

const SETTINGS: Phrase = phrase("settings");
const TERMINAL: Phrase = phrase("terminal");
const PROFILE: Phrase = phrase("profile");
const KEY: Phrase = phrase("key");
const NETWORK: Phrase = phrase("network");
const MODEL: Phrase = phrase("model");
const SESSIONS: Phrase = phrase("sessions");
const TRUST: Phrase = phrase("trust");
const COMMANDS: Phrase = phrase("commands");
const CONFIG: Phrase = phrase("config");
const DOT_ENV: Phrase = phrase(".env");

/// Prints all findings; the exit code is 1 if one is wrong.
pub(super) fn run(connection: &Connection) -> color_eyre::Result<ExitCode> {
    let mut findings = vec![terminal()];
    match connection.load(Asking::Never) {
        Err(error) => findings.push(finding(SETTINGS, Verdict::Wrong, error.to_string())),
        Ok(loaded) => {
            findings.extend(settings(&loaded));
            findings.extend(profile(&loaded)?);
            findings.extend(commands(&loaded));
        }
    }
    findings.extend(directories());
    let mut out = io::stdout().lock();
    for Finding { about, verdict, what } in &findings {
        let mark = match verdict {
            Verdict::Good => say!("ok"),
            Verdict::Note => say!("note"),
            Verdict::Wrong => say!("WRONG"),
        };
        let (mark, about) = (padded(mark, 5), padded(about.text(), 10));
        writeln!(out, "{mark} {about} {}", text::visible(&translated(what), Show::Prose))?;
    }
    let wrong = findings.iter().any(|finding| finding.verdict == Verdict::Wrong);
    Ok(if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn terminal() -> Finding {
    let here = io::stdin().is_terminal() && io::stdout().is_terminal();
    match crate::app::unfit() {
        None => {
            let term = std::env::var("TERM").unwrap_or_default();
            finding(TERMINAL, Verdict::Good, format!("can show the screen (TERM {term})"))
        }
        Some(why) if here => {
            finding(TERMINAL, Verdict::Wrong, format!("{why}. Set TERM, such as xterm-256color"))
        }
        Some(_) => finding(
            TERMINAL,
            Verdict::Note,
            "not looked at: stdin and stdout are not a terminal here. Run limpid doctor by itself",
        ),
    }
}

fn settings(loaded: &Loaded) -> Vec<Finding> {
    let file = match &loaded.file.path {
        Some(path) if path.exists() => {
            finding(SETTINGS, Verdict::Good, format!("{} can be read", path.display()))
        }
        Some(path) => finding(
            SETTINGS,
            Verdict::Good,
            format!("{} is not there; none is needed", path.display()),
        ),
        None => finding(
            SETTINGS,
            Verdict::Wrong,
            "neither XDG_CONFIG_HOME nor HOME names a directory: set HOME",
        ),
    };
    let dot_env = loaded.dot_env.as_ref().map(|what| finding(DOT_ENV, Verdict::Note, what.clone()));
    [file].into_iter().chain(dot_env).collect()
}

fn profile(loaded: &Loaded) -> io::Result<Vec<Finding>> {
    let choice = &loaded.settings.choice;
    let name = match &choice.value {
        Choice::Offline => {
            return Ok(vec![finding(
                PROFILE,
                Verdict::Good,
                format!(
                    "the offline model, scripted ({}). For a real one: --profile NAME, or set its \
                     key's variable",
                    choice.source
                ),
            )]);
        }
        Choice::Url => format!("none: the server is named by {}", choice.source),
        Choice::Profile(name) => format!("{name} ({})", choice.source),
    };
    let mut findings = vec![finding(PROFILE, Verdict::Good, name)];
    let (host, endpoint) = match loaded.server() {
        Ok(Some(server)) => server,
        Ok(None) => return Ok(findings),
        Err(error) => {
            findings.push(finding(PROFILE, Verdict::Wrong, error.to_string()));
            return Ok(findings);
        }
    };
    let values = &loaded.settings.values;
    let has_key = endpoint.key.is_some();
    let asked = runtime()?.block_on(models::ask(loaded, endpoint));
    findings.push(match &values.key_env {
        Some(name) if has_key && asked.is_ok() => finding(
            KEY,
            Verdict::Good,
            format!(
                "set in {}. Not proved: some servers list their models whatever the key",
                name.value
            ),
        ),
        Some(name) if has_key => finding(KEY, Verdict::Good, format!("set in {}", name.value)),
        _ => finding(KEY, Verdict::Good, "none is sent"),
    });
    let model = values.model.as_ref().map(|model| &model.value);
    match asked {
        Err(why) => findings.push(finding(NETWORK, Verdict::Wrong, why)),
        Ok(models) => {
            let many = match models.len() {
                1 => "1 model".to_owned(),
                many => format!("{many} models"),
            };
            findings.push(finding(NETWORK, Verdict::Good, format!("{host} answers; {many}")));
            findings.push(match model {
                None => finding(
                    MODEL,
                    Verdict::Wrong,
                    "none is chosen: --model ID; limpid models lists them",
                ),
                Some(model) if models.contains(model) => finding(MODEL, Verdict::Good, model),
                Some(model) => finding(
                    MODEL,
                    Verdict::Note,
                    format!("{model} is not in the server's list (limpid models); it may be known all the same"),
                ),
            });
        }
    }
    Ok(findings)
}

/// Which variables commands get, and which not.
fn commands(loaded: &Loaded) -> Vec<Finding> {
    let rule = loaded.withheld();
    let withheld = rule.of(std::env::vars_os());
    let withheld = if withheld.is_empty() {
        "no variable that is set is withheld".to_owned()
    } else {
        let names = withheld.join(", ");
        format!("{names}: withheld. To pass one on: pass_to_commands in config.toml")
    };
    let mut findings = vec![finding(COMMANDS, Verdict::Good, withheld)];
    if let Some(names) = &loaded.settings.values.pass_to_commands {
        for name in &names.value.0 {
            let source = &names.source;
            findings.push(if std::env::var_os(name).is_some() {
                finding(COMMANDS, Verdict::Good, format!("{name}: passed on ({source})"))
            } else {
                let what = format!("{name} is to be passed on ({source}), but is not set");
                finding(COMMANDS, Verdict::Note, what)
            });
        }
    }
    findings
}

/// What limpid keeps, and whether others can read it.
fn directories() -> Vec<Finding> {
    let places = Places::of(|name| std::env::var_os(name));
    let sessions = sessions_dir(|name| std::env::var_os(name));
    let Some(sessions) = sessions else {
        let what =
            "no place for sessions: neither XDG_DATA_HOME nor HOME names a directory. Set HOME";
        return vec![finding(SESSIONS, Verdict::Wrong, what)];
    };
    let mut findings = vec![private(SESSIONS, &sessions)];
    findings.extend(places.trust.filter(|path| path.exists()).map(|path| private(TRUST, &path)));
    findings.extend(places.config.filter(|path| path.exists()).map(|path| own(CONFIG, &path)));
    findings
}

fn mode(path: &Path) -> io::Result<u32> {
    Ok(fs::metadata(path)?.permissions().mode())
}

/// Nobody else may read it.
fn private(about: Phrase, path: &Path) -> Finding {
    let shown = path.display();
    match mode(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => writable(about, path),
        Err(error) => finding(about, Verdict::Wrong, format!("{shown} cannot be read: {error}")),
        Ok(mode) if mode & 0o077 != 0 => finding(
            about,
            Verdict::Wrong,
            format!("{shown} can be read by others (mode {:o}): chmod go= {shown}", mode & 0o777),
        ),
        Ok(_) => writable(about, path),
    }
}

/// Nobody else may change it.
fn own(about: Phrase, path: &Path) -> Finding {
    let shown = path.display();
    match mode(path) {
        Ok(mode) if mode & 0o022 != 0 => finding(
            about,
            Verdict::Wrong,
            format!(
                "{shown} can be changed by others (mode {:o}): chmod go-w {shown}",
                mode & 0o777
            ),
        ),
        Ok(_) => finding(about, Verdict::Good, shown.to_string()),
        Err(error) => finding(about, Verdict::Wrong, format!("{shown} cannot be read: {error}")),
    }
}

/// It, or the nearest directory above it that exists, can be written to.
fn writable(about: Phrase, path: &Path) -> Finding {
    let nearest: Option<PathBuf> =
        path.ancestors().find(|above| above.exists()).map(Path::to_path_buf);
    let access =
        nearest.as_ref().map(|path| rustix::fs::access(path, rustix::fs::Access::WRITE_OK));
    match (nearest, access) {
        (Some(_), Some(Ok(()))) => finding(about, Verdict::Good, path.display().to_string()),
        (Some(nearest), Some(Err(error))) => finding(
            about,
            Verdict::Wrong,
            format!("{} cannot be written to ({error}): chmod u+w it", nearest.display()),
        ),
        _ => finding(about, Verdict::Wrong, format!("{} cannot be made", path.display())),
    }
}
