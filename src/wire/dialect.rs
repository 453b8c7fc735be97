//! What servers of one format want differently. Each switch is a member of a profile; none is
//! guessed at from a URL.

/// The switches of one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dialect {
    /// How reasoning goes back.
    pub reasoning_back: ReasoningBack,
    /// Name of the member that limits the reply's length.
    pub max_tokens: MaxTokens,
    /// Whether token counts are asked for with `stream_options`; a few servers refuse the member.
    pub stream_options: bool,
    /// Role of the system prompt, where it is a message.
    pub system_role: SystemRole,
    /// Whether the model may ask for several calls at once (`parallel_tool_calls`, on Anthropic
    /// `disable_parallel_tool_use`); `None` leaves it to the server.
    pub parallel_calls: Option<bool>,
}

impl Default for Dialect {
    /// What most servers of Chat Completions take.
    fn default() -> Self {
        Self {
            reasoning_back: ReasoningBack::Never,
            max_tokens: MaxTokens::MaxTokens,
            stream_options: true,
            system_role: SystemRole::System,
            parallel_calls: None,
        }
    }
}

/// How reasoning goes back to a Chat Completions server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReasoningBack {
    /// Not at all: most servers refuse or ignore it.
    Never,
    /// As `reasoning_content` on assistant messages with calls, also when empty. `DeepSeek` answers
    /// 400 without it.
    WithCalls,
}

/// Name of the member that limits the reply's length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MaxTokens {
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`: `OpenAI`'s reasoning models refuse the older name.
    MaxCompletionTokens,
}

/// Role of the system prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SystemRole {
    /// `system`.
    System,
    /// `developer`: the name `OpenAI` uses since its reasoning models.
    Developer,
}

impl SystemRole {
    /// The role on the wire.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
        }
    }
}

/// What the user sets for every request; `None` leaves the server's default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameters {
    /// How freely the model chooses; mostly 0 to 2.
    pub temperature: Option<f64>,
    /// Tokens that a reply may take.
    pub max_tokens: Option<u32>,
    /// How hard a reasoning model thinks, in the server's words (`low`, `high` …).
    pub effort: Option<String>,
    /// Tokens that a model may think (Anthropic).
    pub thinking_budget: Option<u32>,
}
