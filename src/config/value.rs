//! How each kind of value is read from `config.toml` and shown.

use toml_edit::Value as Toml;

use super::file::is_variable;
use crate::wire::{CallIds, Format, MaxTokens, ReasoningBack, SystemRole};

/// A value that can be set.
pub trait Value: Sized {
    /// The value as it is written.
    ///
    /// # Errors
    /// What should stand there instead.
    fn read(toml: &Toml) -> Result<Self, String>;

    /// The value in words.
    fn show(&self) -> String;
}

impl Value for String {
    fn read(toml: &Toml) -> Result<Self, String> {
        match toml.as_str().map(str::trim) {
            Some(text) if !text.is_empty() => Ok(text.to_owned()),
            _ => Err("a text in quotes".to_owned()),
        }
    }

    fn show(&self) -> String {
        self.clone()
    }
}

/// Names of variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names(pub Vec<String>);

impl Value for Names {
    fn read(toml: &Toml) -> Result<Self, String> {
        let name = |item: &Toml| {
            let name = item.as_str().filter(|name| is_variable(name) && !looks_like_a_key(name));
            name.map(str::to_owned)
        };
        let names = toml.as_array().and_then(|items| items.iter().map(name).collect());
        names.map(Self).ok_or_else(|| {
            "a list of names of variables, such as [\"GH_TOKEN\"]; their values are never written \
             here"
                .to_owned()
        })
    }

    fn show(&self) -> String {
        if self.0.is_empty() { "none".to_owned() } else { self.0.join(" ") }
    }
}

impl Value for bool {
    fn read(toml: &Toml) -> Result<Self, String> {
        toml.as_bool().ok_or_else(|| "true or false".to_owned())
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Value for f64 {
    fn read(toml: &Toml) -> Result<Self, String> {
        // A whole number is meant as well; it is read from its own text, so that no digit is lost.
        let number =
            toml.as_float().or_else(|| toml.as_integer().and_then(|n| n.to_string().parse().ok()));
        number
            .filter(|number| number.is_finite() && *number >= 0.0)
            .ok_or_else(|| "a number from 0 up".to_owned())
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

fn whole<T: TryFrom<i64>>(toml: &Toml) -> Result<T, String> {
    let number = toml.as_integer().filter(|number| *number >= 1);
    number
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| "a whole number from 1 up".to_owned())
}

impl Value for u32 {
    fn read(toml: &Toml) -> Result<Self, String> {
        whole(toml)
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Value for u64 {
    fn read(toml: &Toml) -> Result<Self, String> {
        whole(toml)
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

/// Reads and shows a value that is one of a few words.
macro_rules! words {
    ($type:ty: $($word:literal => $value:path),+ $(,)?) => {
        impl Value for $type {
            fn read(toml: &Toml) -> Result<Self, String> {
                match toml.as_str() {
                    $(Some($word) => Ok($value),)+
                    _ => Err(["one of", $(concat!(" \"", $word, "\"")),+].concat()),
                }
            }

            fn show(&self) -> String {
                match self {
                    $($value => $word,)+
                }
                .to_owned()
            }
        }
    };
}

words!(Format:
    "openai-chat" => Format::OpenaiChat,
    "anthropic" => Format::Anthropic,
    "openai-responses" => Format::OpenaiResponses,
);
words!(ReasoningBack:
    "never" => ReasoningBack::Never,
    "with_calls" => ReasoningBack::WithCalls,
);
words!(MaxTokens:
    "max_tokens" => MaxTokens::MaxTokens,
    "max_completion_tokens" => MaxTokens::MaxCompletionTokens,
);
words!(CallIds: "any" => CallIds::Any, "short" => CallIds::Short, "nine" => CallIds::Nine);
words!(SystemRole: "system" => SystemRole::System, "developer" => SystemRole::Developer);

/// How a user who looks elsewhere is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notify {
    /// As the terminal seems to understand it.
    Auto,
    /// By the bell only.
    Bell,
    /// By the bell and OSC 9.
    Osc9,
    /// By the bell and OSC 777.
    Osc777,
    /// Not at all.
    Off,
}

words!(Notify:
    "auto" => Notify::Auto,
    "bell" => Notify::Bell,
    "osc9" => Notify::Osc9,
    "osc777" => Notify::Osc777,
    "off" => Notify::Off,
);

/// What the screen speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lang {
    /// English.
    En,
    /// Simplified Chinese.
    Zh,
}

words!(Lang: "en" => Lang::En, "zh" => Lang::Zh);

/// Whether a text is a secret by its looks: keys are named in files, never written into them.
pub(super) fn looks_like_a_key(text: &str) -> bool {
    const BEGINNINGS: [&str; 9] =
        ["sk-", "sk_", "gsk_", "xai-", "AIza", "hf_", "ghp_", "Bearer ", "eyJ"];
    let text = text.trim();
    text.len() >= 12 && BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
}
