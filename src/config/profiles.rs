//! The built-in profiles: one line each, with the facts of each provider's own documentation.

use super::layer::Layer;
use super::{Source, Sourced};
use crate::wire::{CallIds, Format, MaxTokens, ReasoningBack, SystemRole};

/// A profile that every user has. The model is one that the provider keeps under a lasting name;
/// `None` where the user has to choose (local servers: what is installed).
#[derive(Debug, Clone, Copy)]
pub(super) struct BuiltIn {
    pub(super) name: &'static str,
    pub(super) url: &'static str,
    pub(super) key_env: Option<&'static str>,
    pub(super) model: Option<&'static str>,
    /// The variable that, by custom, moves this profile to another URL.
    pub(super) url_env: Option<&'static str>,
    /// Whether these variables make this the profile when nothing else chooses one.
    pub(super) from_environment: bool,
    format: Format,
    quirk: Quirk,
}

/// The variables that hold the keys of built-in profiles.
pub fn key_variables() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().filter_map(|profile| profile.key_env)
}

/// How a provider's dialect departs from the usual one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quirk {
    None,
    /// 400 when `reasoning_content` is missing from an assistant message with calls.
    DeepSeek,
    /// Reasoning models refuse `max_tokens`; the system prompt is called `developer`; ids of calls
    /// are short.
    OpenAi,
    /// Sends token counts unasked and refuses members that it does not know, and other ids of calls
    /// than its own kind.
    Mistral,
}

/// Written so that a profile is one line: name, URL, key, model; then whether and by which further
/// variable the environment makes it; format and dialect.
macro_rules! profiles {
    ($($name:literal $url:literal $key:expr, $model:expr, $url_env:expr, $from:expr, $format:ident, $quirk:ident;)+) => {
        pub(super) const BUILT_IN: &[BuiltIn] = &[$(BuiltIn {
            name: $name, url: $url, key_env: $key, model: $model, url_env: $url_env,
            from_environment: $from, format: Format::$format, quirk: Quirk::$quirk,
        },)+];
    };
}

#[rustfmt::skip]
profiles! {
    // name      URL                                                       key variable                 model                        URL variable             environment  format  dialect
    "deepseek"   "https://api.deepseek.com"                                Some("DEEPSEEK_API_KEY"),   Some("deepseek-flash"),      Some("DEEPSEEK_URL"),    true,  OpenaiChat, DeepSeek;
    "qwen"       "https://dashscope.aliyuncs.com/compatible-mode/v1"       Some("DASHSCOPE_API_KEY"),  Some("qwen-plus"),           None,                    true,  OpenaiChat, None;
    "qwen-intl"  "https://dashscope-intl.aliyuncs.com/compatible-mode/v1"  Some("DASHSCOPE_API_KEY"),  Some("qwen-plus"),           None,                    false, OpenaiChat, None;
    "openai"     "https://api.openai.com/v1"                               Some("OPENAI_API_KEY"),     Some("gpt-5"),               Some("OPENAI_BASE_URL"), true,  OpenaiChat, OpenAi;
    "openai-responses" "https://api.openai.com/v1"                         Some("OPENAI_API_KEY"),     Some("gpt-5"),               Some("OPENAI_BASE_URL"), false, OpenaiResponses, OpenAi;
    "anthropic"  "https://api.anthropic.com/v1"                            Some("ANTHROPIC_API_KEY"),  Some("claude-sonnet-4-6"),   Some("ANTHROPIC_BASE_URL"), true, Anthropic, None;
    "openrouter" "https://openrouter.ai/api/v1"                            Some("OPENROUTER_API_KEY"), Some("openrouter/auto"),     None,                    false, OpenaiChat, None;
    "groq"       "https://api.groq.com/openai/v1"                          Some("GROQ_API_KEY"),       None,                        None,                    false, OpenaiChat, None;
    "mistral"    "https://api.mistral.ai/v1"                               Some("MISTRAL_API_KEY"),    Some("mistral-small-latest"), None,                   false, OpenaiChat, Mistral;
    "ollama"     "http://127.0.0.1:11434/v1"                               None,                       None,                        None,                    false, OpenaiChat, None;
    // It serves the model that it was started with, whatever the request calls it.
    "llama.cpp"  "http://127.0.0.1:8080/v1"                                None,                       Some("default"),             None,                    false, OpenaiChat, None;
    "vllm"       "http://127.0.0.1:8000/v1"                                None,                       None,                        None,                    false, OpenaiChat, None;
}

/// The built-in profile of this name.
pub(super) fn built_in(name: &str) -> Option<&'static BuiltIn> {
    BUILT_IN.iter().find(|profile| profile.name == name)
}

impl BuiltIn {
    /// The base URL that its variable means. By custom `ANTHROPIC_BASE_URL` stops before `/v1`.
    pub(super) fn base(&self, url: &str) -> String {
        let url = url.trim().trim_end_matches('/');
        match self.format {
            Format::Anthropic if !url.ends_with("/v1") => format!("{url}/v1"),
            _ => url.to_owned(),
        }
    }

    /// Its values.
    pub(super) fn layer(&self) -> Layer {
        let mut layer = Layer {
            url: self.set(self.url.to_owned()),
            model: self.model.and_then(|model| self.set(model.to_owned())),
            key_env: self.key_env.and_then(|name| self.set(name.to_owned())),
            format: self.set(self.format),
            ..Layer::default()
        };
        match self.quirk {
            Quirk::None => {}
            Quirk::DeepSeek => layer.reasoning_back = self.set(ReasoningBack::WithCalls),
            Quirk::OpenAi => {
                layer.max_tokens_name = self.set(MaxTokens::MaxCompletionTokens);
                layer.system_role = self.set(SystemRole::Developer);
                layer.call_ids = self.set(CallIds::Short);
            }
            Quirk::Mistral => {
                layer.stream_options = self.set(false);
                layer.call_ids = self.set(CallIds::Nine);
            }
        }
        layer
    }

    #[expect(clippy::unnecessary_wraps, reason = "it fills the members of a layer")]
    fn set<T>(&self, value: T) -> Option<Sourced<T>> {
        Some(Sourced::new(value, Source::Profile(self.name)))
    }
}
