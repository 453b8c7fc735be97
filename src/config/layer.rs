//! One source's values. What a source leaves open, the layer below it fills.

use super::value::{Lang, Names, Notify, Value};
use super::{Source, Sourced};
use crate::wire::{CallIds, Dialect, Format, MaxTokens, Parameters, ReasoningBack, SystemRole};

/// A value as `limpid config` prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its name, as in `config.toml`.
    pub name: &'static str,
    /// The value in words; `None` if nothing sets it.
    pub value: Option<String>,
    /// Where it comes from.
    pub source: Source,
}

/// Writes the struct from one list, so that no value can be forgotten in one of its uses.
macro_rules! layer {
    ($($(#[$doc:meta])* $place:ident $name:ident: $type:ty,)+) => {
        /// The values of one source, or of several laid over one another.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct Layer {
            $($(#[$doc])* pub $name: Option<Sourced<$type>>,)+
        }

        impl Layer {
            /// These values, and those of `lower` where there are none.
            #[must_use]
            pub fn over(self, lower: Self) -> Self {
                Self { $($name: self.$name.or(lower.$name),)+ }
            }

            /// Sets the value of this name from `config.toml`.
            ///
            /// # Errors
            /// What should stand there instead.
            pub(super) fn set(
                &mut self,
                name: &str,
                toml: &toml_edit::Value,
                source: Source,
            ) -> Result<(), String> {
                match name {
                    $(stringify!($name) => {
                        self.$name = Some(Sourced::new(<$type>::read(toml)?, source));
                    })+
                    _ => {}
                }
                Ok(())
            }

            /// All values, in a fixed order.
            pub fn rows(&self) -> Vec<Row> {
                vec![$(match &self.$name {
                    Some(sourced) => Row {
                        name: stringify!($name),
                        value: Some(sourced.value.show()),
                        source: sourced.source.clone(),
                    },
                    None => Row { name: stringify!($name), value: None, source: Source::BuiltIn },
                },)+]
            }
        }

        /// Every name and where in `config.toml` it may stand.
        pub(super) const NAMES: &[(&str, Place)] = &[$((stringify!($name), Place::$place),)+];
    };
}

/// Where in `config.toml` a value may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In a profile: it belongs to one server.
    Profile,
    /// In a profile, or above all for every profile.
    Both,
    /// Above all: it has nothing to do with a server.
    Top,
}

layer! {
    /// Base URL of the server.
    Profile url: String,
    /// Model id.
    Profile model: String,
    /// Name of the variable that holds the key.
    Profile key_env: String,
    /// Wire format.
    Profile format: Format,
    /// Whether a key may go over unencrypted HTTP to another machine.
    Profile allow_http: bool,
    /// How reasoning goes back.
    Profile reasoning_back: ReasoningBack,
    /// Name of the member that limits the reply's length.
    Profile max_tokens_name: MaxTokens,
    /// Whether token counts are asked for.
    Profile stream_options: bool,
    /// Role of the system prompt.
    Profile system_role: SystemRole,
    /// Whether the model may ask for several calls at once; unset leaves it to the server.
    Profile parallel_calls: bool,
    /// Which ids of calls the server takes.
    Profile call_ids: CallIds,
    /// Whether user messages in a row go as one.
    Profile join_user_messages: bool,
    /// How freely the model chooses.
    Both temperature: f64,
    /// Tokens that a reply may take.
    Both max_tokens: u32,
    /// How hard a reasoning model thinks, in the server's words.
    Both effort: String,
    /// Tokens that a model may think.
    Both thinking_budget: u32,
    /// Language of the screen.
    Top lang: Lang,
    /// Theme of the screen.
    Top theme: String,
    /// Turns that one prompt may take.
    Top max_turns: u32,
    /// Seconds that one command may take.
    Top command_timeout: u64,
    /// Variables that commands get although they hold secrets.
    Top pass_to_commands: Names,
    /// Seconds without a byte from the server after which a request is given up.
    Top idle_timeout: u64,
    /// How a user who looks elsewhere is called.
    Top notify: Notify,
    /// Whether the window's title is set.
    Top title: bool,
    /// Whether the model is told the project's AGENTS.md.
    Top context: bool,
}

impl Layer {
    /// What holds when nobody sets anything.
    pub fn built_in() -> Self {
        let Dialect {
            reasoning_back,
            max_tokens,
            stream_options,
            system_role,
            parallel_calls,
            call_ids,
            join_user_messages,
        } = Dialect::default();
        Self {
            format: built_in(Format::OpenaiChat),
            allow_http: built_in(false),
            reasoning_back: built_in(reasoning_back),
            max_tokens_name: built_in(max_tokens),
            stream_options: built_in(stream_options),
            system_role: built_in(system_role),
            parallel_calls: parallel_calls.and_then(built_in),
            call_ids: built_in(call_ids),
            join_user_messages: built_in(join_user_messages),
            max_turns: built_in(50),
            command_timeout: built_in(120),
            pass_to_commands: built_in(Names(Vec::new())),
            idle_timeout: built_in(120),
            notify: built_in(Notify::Auto),
            title: built_in(true),
            context: built_in(true),
            ..Self::default()
        }
    }

    /// The switches for the server.
    pub fn dialect(&self) -> Dialect {
        let mut dialect =
            Dialect { parallel_calls: value(self.parallel_calls.as_ref()), ..Dialect::default() };
        put(&mut dialect.reasoning_back, self.reasoning_back.as_ref());
        put(&mut dialect.max_tokens, self.max_tokens_name.as_ref());
        put(&mut dialect.stream_options, self.stream_options.as_ref());
        put(&mut dialect.system_role, self.system_role.as_ref());
        put(&mut dialect.call_ids, self.call_ids.as_ref());
        put(&mut dialect.join_user_messages, self.join_user_messages.as_ref());
        dialect
    }

    /// What every request says beside its messages.
    pub fn parameters(&self) -> Parameters {
        Parameters {
            temperature: value(self.temperature.as_ref()),
            max_tokens: value(self.max_tokens.as_ref()),
            effort: value(self.effort.as_ref()),
            thinking_budget: value(self.thinking_budget.as_ref()),
        }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it fills the members of a layer")]
fn built_in<T>(value: T) -> Option<Sourced<T>> {
    Some(Sourced::new(value, Source::BuiltIn))
}

fn value<T: Clone>(sourced: Option<&Sourced<T>>) -> Option<T> {
    sourced.map(|sourced| sourced.value.clone())
}

fn put<T: Copy>(place: &mut T, sourced: Option<&Sourced<T>>) {
    if let Some(sourced) = sourced {
        *place = sourced.value;
    }
}
