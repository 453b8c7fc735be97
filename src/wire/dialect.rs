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
    /// Which ids of calls it takes.
    pub call_ids: CallIds,
    /// Whether user messages in a row go as one message of Chat Completions: the templates of some
    /// models (Mistral, Gemma, Llama 2) want user and model to take turns, and llama.cpp and vLLM
    /// refuse anything else then.
    pub join_user_messages: bool,
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
            call_ids: CallIds::Any,
            join_user_messages: false,
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

/// Which ids of calls a server takes: those that another server gave may look otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallIds {
    /// Whatever the format takes.
    Any,
    /// At most 40 characters (`OpenAI`).
    Short,
    /// Nine letters and digits (Mistral).
    Nine,
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
