//! Arguments, and what they come to. One file per subcommand.

mod config;
mod connect;
mod doctor;
mod exec;
mod inspect;
mod keys;
mod log;
mod models;
mod pages;
mod piped;
mod resume;
mod sessions;
mod settings;
mod switch;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{
    Arg, Args, Command, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum,
};
use clap_complete::Shell;

pub use connect::{Pace, Start, UsageError};

use crate::config::Lang;
use crate::text;
use crate::wire::Format;

/// Exit code for wrong arguments, a missing key, or a terminal that cannot be used.
pub const USAGE: u8 = 2;

/// Which model `limpid` talks to.
const WHICH_MODEL: &str = "\
Which model: --offline, --url or --profile; else the profile of config.toml; else the one whose key \
variable is set; else the built-in offline model, which is scripted and needs no key.

limpid config shows every setting and where it comes from.";

/// A full-screen terminal client for AI agents that hides nothing
///
/// Without a subcommand it opens the screen.
#[derive(Debug, Parser)]
#[command(name = "limpid", version, max_term_width = 100, after_help = WHICH_MODEL)]
#[command(long_about = None)]
struct Arguments {
    #[command(flatten)]
    connection: Connection,
    #[arg(long, help = "Log what limpid does to this file; no texts, no key [also: LIMPID_LOG]")]
    #[arg(global = true, value_name = "FILE", help_heading = "Other")]
    log: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Subcommands>,
}

/// Which model, and how commands are treated.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Which model")]
pub struct Connection {
    /// Use the built-in scripted model; needs no key and no network
    #[arg(long, global = true, conflicts_with_all = ["url", "profile"])]
    offline: bool,
    /// Use this profile: a built-in one (deepseek, qwen, openai, ollama …) or one of config.toml
    #[arg(long, global = true, value_name = "NAME", conflicts_with = "url")]
    profile: Option<String>,
    /// Base URL of the server, up to and with /v1
    #[arg(long, global = true, value_name = "URL")]
    url: Option<String>,
    /// The model's id at that server; offline: offline or offline-lenient
    #[arg(long, global = true, value_name = "ID")]
    model: Option<String>,
    /// Name of the environment variable that holds the key
    #[arg(long, global = true, value_name = "NAME")]
    key_env: Option<String>,
    /// Wire format of the server; the offline model speaks all three [default: openai-chat]
    #[arg(long, global = true, value_name = "FORMAT")]
    format: Option<FormatName>,
    /// How freely the model chooses
    #[arg(long, global = true, help_heading = "What every request says", value_name = "NUMBER")]
    temperature: Option<f64>,
    /// Tokens that a reply may take
    #[arg(long, global = true, help_heading = "What every request says", value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..))]
    max_tokens: Option<u32>,
    /// How hard a reasoning model thinks, in the server's words (low, high …)
    #[arg(long, global = true, help_heading = "What every request says", value_name = "WORD")]
    effort: Option<String>,
    /// Tokens that a model may think
    #[arg(long, global = true, help_heading = "What every request says", value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..))]
    thinking_budget: Option<u32>,
    /// Run commands without asking; dangerous ones still ask
    #[arg(long, global = true, help_heading = "What may run")]
    yolo: bool,
    /// Language of the screen and of messages [default: that of the locale]
    #[arg(long, global = true, value_name = "LANG")]
    lang: Option<LangName>,
    /// How the screen looks: dark, light, high-contrast, ansi, none, or a theme of your own
    #[arg(long, global = true, value_name = "NAME")]
    theme: Option<String>,
    /// Turns that one prompt may take [default: 50]
    #[arg(long, global = true, help_heading = "What may run", value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..))]
    max_turns: Option<u32>,
    /// Seconds that one command may take [default: 120]
    #[arg(long, global = true, help_heading = "What may run", value_name = "S",
          value_parser = clap::value_parser!(u64).range(1..))]
    command_timeout: Option<u64>,
    /// Seconds without a byte from the server, then the request is given up [default: 120]
    ///
    /// A slow local model that says nothing while it reads a long history needs more.
    #[arg(long, global = true, value_name = "S",
          value_parser = clap::value_parser!(u64).range(1..))]
    idle_timeout: Option<u64>,
    /// Do not tell the model what AGENTS.md says, here and above
    #[arg(long, global = true)]
    no_context: bool,
    /// How fast the offline model speaks
    #[arg(long, global = true, value_name = "PACE", default_value = "human", hide = true)]
    offline_pace: Pace,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FormatName {
    OpenaiChat,
    Anthropic,
    OpenaiResponses,
}

/// English or Simplified Chinese.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum LangName {
    En,
    Zh,
}

impl From<LangName> for Lang {
    fn from(name: LangName) -> Self {
        match name {
            LangName::En => Self::En,
            LangName::Zh => Self::Zh,
        }
    }
}

impl From<Format> for FormatName {
    fn from(format: Format) -> Self {
        match format {
            Format::OpenaiChat => Self::OpenaiChat,
            Format::Anthropic => Self::Anthropic,
            Format::OpenaiResponses => Self::OpenaiResponses,
        }
    }
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::OpenaiChat => Self::OpenaiChat,
            FormatName::Anthropic => Self::Anthropic,
            FormatName::OpenaiResponses => Self::OpenaiResponses,
        }
    }
}

#[derive(Debug, Subcommand)]
enum Subcommands {
    /// Answer one prompt without a screen: the answer on stdout, progress on stderr
    ///
    /// Commands are denied unless --yolo is given. Exit codes: 0 answered, 1 the model or the
    /// connection failed, 2 wrong usage, 3 turn limit reached, 4 empty reply, 5 a command was
    /// denied, 130 interrupted.
    Exec {
        /// The prompt; what is piped in goes after it, and is the prompt if it is left out or -
        prompt: Option<String>,
        /// Print every event as a line of JSON instead of the answer
        #[arg(long)]
        json: bool,
    },
    /// Go on with a session: the one last used in this directory, or the one of this name
    ///
    /// It goes on in its own directory and with its own model, unless an option names another.
    /// Nothing that had not ended is repeated: what was open is named, and every command asks again.
    Resume {
        /// Name of the session, its beginning, or last (limpid inspect lists them)
        session: Option<String>,
    },
    /// List the sessions of this directory, or show what was sent in each turn of one
    Inspect {
        /// Name of the session, its beginning, or last; with an option below: last if left out
        session: Option<String>,
        /// List the sessions of every directory
        #[arg(long, conflicts_with_all = ["session", "turn", "view"])]
        all: bool,
        /// Only this turn
        #[arg(long, value_name = "N")]
        turn: Option<u32>,
        /// Print the exact bytes of the turn's request body (of the newest turn without --turn)
        #[arg(long, group = "view")]
        body: bool,
        /// Print that turn's request for reading: URL, headers (the key masked), body
        #[arg(long, group = "view")]
        request: bool,
        /// Print that turn's response: status, headers, raw events with their times, repairs
        #[arg(long, group = "view")]
        response: bool,
        /// Print what that turn took: tokens, times, bytes
        #[arg(long, group = "view")]
        usage: bool,
    },
    /// Print every setting and where it comes from, or change one in config.toml
    Config {
        #[command(subcommand)]
        change: Option<Change>,
    },
    /// Ask the server of the chosen profile which models it has
    Models,
    /// Look for what keeps limpid from working: terminal, settings, key, network, directories
    ///
    /// Exit code 1 if something is wrong.
    Doctor,
    /// Decide anew whether the .env of this directory is used; needs a terminal
    Trust,
    /// Print a script that completes these arguments in a shell
    ///
    /// For bash: limpid completions bash > ~/.local/share/bash-completion/completions/limpid
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, of limpid or of a subcommand: limpid man | man -l -
    Man {
        /// The subcommand
        subcommand: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
enum Change {
    /// Print every key of the screen as config.toml names it, in [keys]
    Keys,
    /// Set one value; comments stay
    Set {
        #[arg(help = "max_turns, profile, profiles.deepseek.model …")]
        name: String,
        /// The value
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
}

/// Runs what the arguments ask for.
///
/// # Errors
/// What should be reported to the user at the edge.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> color_eyre::Result<ExitCode> {
    let Arguments { connection, log, command } = match parse(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            error.print()?;
            return Ok(ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USAGE)));
        }
    };
    connection.speak();
    let variable = std::env::var_os("LIMPID_LOG").filter(|name| !name.is_empty());
    if let Some(path) = log.or_else(|| variable.map(PathBuf::from))
        && let Err(error) = log::begin(&path)
    {
        return usage(&format!(
            "cannot log to {}: {error}. Nothing was started; name another file",
            path.display()
        ));
    }
    match command {
        Some(Subcommands::Inspect { session, all, turn, body, request, response, usage }) => {
            let view = match (body, request, response, usage) {
                (true, ..) => inspect::View::Body,
                (_, true, ..) => inspect::View::Request,
                (_, _, true, _) => inspect::View::Response,
                (.., true) => inspect::View::Usage,
                _ => inspect::View::Outline,
            };
            if session.is_none() && turn.is_none() && view == inspect::View::Outline {
                return sessions::list(all);
            }
            inspect::run(session.as_deref(), turn, view)
        }
        Some(Subcommands::Resume { session }) => resume::run(&connection, session.as_deref()),
        Some(Subcommands::Exec { prompt, json }) => match connection.start() {
            Ok(start) => exec::run(start, prompt, json),
            Err(error) => usage(&error.to_string()),
        },
        Some(Subcommands::Config { change: None }) => config::show(&connection),
        Some(Subcommands::Config { change: Some(Change::Set { name, value }) }) => {
            config::set(&name, &value)
        }
        Some(Subcommands::Config { change: Some(Change::Keys) }) => keys::list(&connection),
        Some(Subcommands::Models) => models::run(&connection),
        Some(Subcommands::Doctor) => doctor::run(&connection),
        Some(Subcommands::Trust) => settings::trust(&connection),
        Some(Subcommands::Completions { shell }) => pages::completions(shell, command_line()),
        Some(Subcommands::Man { subcommand }) => pages::man(subcommand.as_deref(), command_line()),
        None => {
            // Before anything is asked: whoever cannot see the screen cannot see the question.
            if let Some(why) = crate::app::unfit() {
                return usage(&why);
            }
            match connection.clone().start() {
                Ok(start) => resume::screens(&connection, start),
                Err(error) => usage(&error.to_string()),
            }
        }
    }
}

/// Subcommands that talk to no model.
const WITHOUT_MODEL: [&str; 4] = ["inspect", "completions", "man", "help"];

/// The arguments, each shown only where it means something.
fn command_line() -> Command {
    let mut command = Arguments::command();
    command.build();
    for name in WITHOUT_MODEL {
        if let Some(subcommand) = command.find_subcommand_mut(name) {
            let taken = std::mem::take(subcommand);
            *subcommand = taken.mut_args(|arg| {
                let hidden = is_connection(&arg);
                if hidden { arg.hide(true) } else { arg }
            });
        }
    }
    command
}

fn is_connection(argument: &Arg) -> bool {
    argument.is_global_set() && argument.get_id() != "log" && argument.get_id() != "lang"
}

fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Arguments, clap::Error> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let mut command = Arguments::command();
    let matches = match command.try_get_matches_from_mut(&arguments) {
        Ok(matches) => matches,
        // Help, or what is wrong: only what is printed shows where each argument means something.
        Err(_) => command_line().try_get_matches_from(arguments)?,
    };
    if let Some((name, given)) = matches.subcommand()
        && WITHOUT_MODEL.contains(&name)
    {
        let of_connection = command.get_arguments().filter(|argument| is_connection(argument));
        let given = of_connection
            .map(|argument| argument.get_id().as_str())
            .find(|id| given.value_source(id) == Some(ValueSource::CommandLine));
        if let Some(id) = given {
            let option = id.replace('_', "-");
            let why = format!("--{option} means nothing to {name}: leave it out\n");
            return Err(clap::Error::raw(ErrorKind::ArgumentConflict, why));
        }
    }
    Arguments::from_arg_matches(&matches)
}

/// Says what is wrong with the call, on stderr.
///
/// # Errors
/// If stderr cannot be written.
pub fn usage(message: &str) -> color_eyre::Result<ExitCode> {
    tell(message)?;
    Ok(ExitCode::from(USAGE))
}

/// Says what went wrong, on stderr.
fn tell(message: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    let told = text::translated(message);
    writeln!(std::io::stderr(), "limpid: {}", text::visible(&told, text::Show::Prose))
}

/// One thread runs everything; what blocks has its own.
///
/// A file that may grow no further (`ulimit -f`) is an error that is told like a full disk: its signal
/// would end limpid on the spot.
pub(crate) fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    use tokio::signal::unix::{SignalKind, signal};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let within = runtime.enter();
    // Listened for once, it ends nothing any more.
    drop(signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?);
    drop(within);
    Ok(runtime)
}
