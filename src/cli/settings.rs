//! From arguments, environment and files to settings. Whether the project's `.env` may be used is
//! asked here, once, before the screen opens.

use std::io::{self, BufRead as _, IsTerminal, Write as _};
use std::process::ExitCode;

use super::keys::keymap;
use super::{Connection, UsageError, usage};
use crate::config::{
    Arguments, DotEnv, File, Lang, Layer, Places, Purpose, Settings, Source, Sourced, Variables,
    Wanted, read_config, read_dot_env, read_trust, resolve, wanted, write_trust,
};
use crate::text::{self, Language, Show, say, translated};
use crate::tui::Keymap;

/// What holds, and what was found on the way.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) settings: Settings,
    pub(super) variables: Variables,
    pub(super) file: File,
    pub(super) keymap: Keymap,
    /// What became of the `.env`, in words, if there is one that names anything.
    pub(super) dot_env: Option<String>,
}

/// Whether there may be a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asking {
    /// If there is a terminal; without one a notice says what is not used.
    Allowed,
    /// Neither question nor notice: what became of the `.env` is part of the report.
    Never,
}

impl Connection {
    /// Speaks the language that is asked for, by the same order as every setting. Before anything
    /// else: what is wrong with the settings is said in it as well.
    pub(super) fn speak(&self) {
        let places = Places::of(|name| std::env::var_os(name));
        let file = || read_config(&places).ok()?.values.lang;
        let named = || Variables::new(std::env::vars_os()).language();
        let set = || file().or_else(named).map(|lang| lang.value);
        text::speak(match self.lang.map(Into::into).or_else(set) {
            Some(Lang::Zh) => Language::Chinese,
            Some(Lang::En) | None => Language::English,
        });
    }

    /// Reads the files and lays everything over one another.
    ///
    /// # Errors
    /// [`UsageError`]; nothing was started.
    pub(super) fn load(&self, asking: Asking) -> Result<Loaded, UsageError> {
        let places = Places::of(|name| std::env::var_os(name));
        self.load_with(read_config(&places)?, asking)
    }

    /// As [`Self::load`], with what `config.toml` said when it was read.
    ///
    /// # Errors
    /// [`UsageError`]; nothing was started.
    pub(super) fn load_with(&self, file: File, asking: Asking) -> Result<Loaded, UsageError> {
        let places = Places::of(|name| std::env::var_os(name));
        let arguments = self.arguments();
        let mut variables = Variables::new(std::env::vars_os());
        let wanted = wanted(&arguments, &file);
        let anew = match &self.profile {
            Some(profile) => format!("limpid trust --profile {profile}"),
            None => "limpid trust".to_owned(),
        };
        let dot_env = dot_env(asking, &anew, &places, &wanted, &mut variables)?;
        let settings = resolve(&arguments, &variables, &file)?;
        let keymap = keymap(&file.keys)?;
        Ok(Loaded { settings, variables, file, keymap, dot_env })
    }

    fn arguments(&self) -> Arguments {
        Arguments {
            offline: self.offline,
            profile: self.profile.clone(),
            values: Layer {
                url: said("--url", self.url.clone()),
                model: said("--model", self.model.clone()),
                key_env: said("--key-env", self.key_env.clone()),
                format: said("--format", self.format.map(Into::into)),
                temperature: said("--temperature", self.temperature),
                max_tokens: said("--max-tokens", self.max_tokens),
                effort: said("--effort", self.effort.clone()),
                thinking_budget: said("--thinking-budget", self.thinking_budget),
                lang: said("--lang", self.lang.map(Into::into)),
                theme: said("--theme", self.theme.clone()),
                max_turns: said("--max-turns", self.max_turns),
                command_timeout: said("--command-timeout", self.command_timeout),
                idle_timeout: said("--idle-timeout", self.idle_timeout),
                context: said("--no-context", self.no_context.then_some(false)),
                ..Layer::default()
            },
        }
    }
}

/// Uses the project's `.env` if the user has agreed or agrees now; returns what became of it. `anew`
/// is the command that asks again.
fn dot_env(
    asking: Asking,
    anew: &str,
    places: &Places,
    wanted: &[Wanted],
    variables: &mut Variables,
) -> Result<Option<String>, UsageError> {
    if wanted.is_empty() {
        return Ok(None);
    }
    let directory = std::env::current_dir().map_err(UsageError::NoDirectory)?;
    let dot_env = match read_dot_env(&directory) {
        Ok(None) => return Ok(None),
        Ok(Some(dot_env)) => dot_env,
        Err(why) => return Ok(Some(report(asking, why))),
    };
    let path = dot_env.path.display();
    if let Some(line) = dot_env.unreadable(wanted).next() {
        let (line, name) = (line.line, &line.name);
        return Ok(Some(report(
            asking,
            format!(
                "{path}:{line}: {name} cannot be read (are quotes missing?). Nothing of this file is used"
            ),
        )));
    }
    let (shadowed, new): (Vec<_>, Vec<_>) = dot_env
        .names(wanted)
        .into_iter()
        .partition(|wanted| variables.in_environment(&wanted.name));
    if new.is_empty() && shadowed.is_empty() {
        return Ok(None);
    }
    if new.is_empty() {
        let names = names(&shadowed);
        return Ok(Some(report(
            asking,
            format!("{path} sets {names}; not used: the environment sets it already"),
        )));
    }
    let mut trust = read_trust(places).map_err(UsageError::Trust)?;
    let answer = match trust.answer(&dot_env, &new) {
        Some(answer) => Some(answer),
        None if asking == Asking::Allowed && can_ask() => {
            let answer =
                ask(&dot_env, &new, has_key(wanted, variables)).map_err(UsageError::NoAnswer)?;
            trust.remember(&dot_env, &new, answer);
            if let Err(why) = write_trust(places, &trust) {
                tell(&format!("the answer holds for this time only: it cannot be kept ({why})"));
            }
            Some(answer)
        }
        None => None,
    };
    let names = names(&new);
    match answer {
        Some(true) => {
            variables.agree(&dot_env, &new);
            Ok(Some(format!("{path} is used for {names}")))
        }
        Some(false) => {
            Ok(Some(format!("{path} names {names}; not used, as you decided (anew: {anew})")))
        }
        None => Ok(Some(report(
            asking,
            format!("{path} names {names}; not used before you agree: {anew}"),
        ))),
    }
}

fn said<T>(argument: &'static str, value: Option<T>) -> Option<Sourced<T>> {
    value.map(|value| Sourced::new(value, Source::Argument(argument)))
}

/// Says what was not used, unless it is part of a report anyway.
fn report(asking: Asking, what: String) -> String {
    if asking == Asking::Allowed {
        tell(&what);
    }
    what
}

fn names(wanted: &[Wanted]) -> String {
    wanted.iter().map(|wanted| wanted.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// A line on stderr. Nobody is left to tell if it cannot be written.
fn tell(what: &str) {
    let _ = writeln!(io::stderr(), "limpid: {}", text::visible(&translated(what), Show::Prose));
}

fn has_key(wanted: &[Wanted], variables: &Variables) -> bool {
    let mut keys = wanted.iter().filter(|wanted| wanted.purpose == Purpose::Key);
    keys.any(|wanted| variables.in_environment(&wanted.name))
}

fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Shows what the file names, never its values, and asks. `has_key` says whether the environment
/// holds a key that could go where the file says.
fn ask(dot_env: &DotEnv, names: &[Wanted], has_key: bool) -> io::Result<bool> {
    let mut out = io::stderr().lock();
    let path = dot_env.path.display().to_string();
    let path = text::visible(&path, Show::Prose);
    writeln!(out, "limpid: {}", say!("{path} names what limpid could use:", path = path))?;
    for Wanted { name, purpose } in names {
        let purpose = match purpose {
            Purpose::Endpoint => say!("where requests go"),
            Purpose::Key => say!("the key that goes with them"),
            Purpose::Model => say!("the model"),
        };
        writeln!(out, "  {name:<20} {purpose}")?;
    }
    if names.iter().any(|wanted| wanted.purpose == Purpose::Endpoint) {
        let what = if has_key {
            say!(
                "What you type, and with it a key of your environment, would go to where this file says."
            )
        } else {
            say!("What you type would go to where this file says.")
        };
        writeln!(out, "{what}")?;
    }
    write!(out, "{}", say!("Use it, until it changes? [y/N] "))?;
    out.flush()?;
    let mut line = String::new();
    if io::stdin().lock().read_line(&mut line)? == 0 {
        return Err(io::Error::other("the terminal was closed"));
    }
    let yes = matches!(line.trim(), "y" | "Y" | "yes");
    let became = if yes {
        say!("It is used. To decide anew: limpid trust")
    } else {
        say!("It is not used. To decide anew: limpid trust")
    };
    writeln!(out, "{became}")?;
    Ok(yes)
}

/// `limpid trust`: asks about the `.env` of this directory, whatever was answered before.
pub(super) fn trust(connection: &Connection) -> color_eyre::Result<ExitCode> {
    if !can_ask() {
        return usage("limpid trust asks a question: it needs a terminal. Nothing was changed");
    }
    let places = Places::of(|name| std::env::var_os(name));
    let file = match read_config(&places) {
        Ok(file) => file,
        Err(problem) => return usage(&problem.to_string()),
    };
    let directory = std::env::current_dir()?;
    let dot_env = match read_dot_env(&directory) {
        Ok(Some(dot_env)) => dot_env,
        Ok(None) => return usage(&format!("there is no .env in {}", directory.display())),
        Err(why) => return usage(&why),
    };
    let wanted = wanted(&connection.arguments(), &file);
    let names = dot_env.names(&wanted);
    if names.is_empty() {
        return usage(&format!("{} names nothing that limpid uses", dot_env.path.display()));
    }
    let mut trust = match read_trust(&places) {
        Ok(trust) => trust,
        Err(why) => return usage(&why),
    };
    let variables = Variables::new(std::env::vars_os());
    let answer = ask(&dot_env, &names, has_key(&wanted, &variables))?;
    trust.remember(&dot_env, &names, answer);
    match write_trust(&places, &trust) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(why) => usage(&format!("the answer cannot be kept: {why}")),
    }
}
