//! The body of a request, read as far as both models need it. What the messages must look like is
//! not judged here (`validate`).

use serde_json::{Map, Value};

use super::refusal::Refusal;

/// The models that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Model {
    /// `offline`: refuses a malformed history.
    Strict,
    /// `offline-lenient`: accepts one.
    Lenient,
}

impl Model {
    /// All models.
    pub(super) const ALL: [Self; 2] = [Self::Strict, Self::Lenient];

    /// The name by which it is asked for.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Strict => "offline",
            Self::Lenient => "offline-lenient",
        }
    }
}

/// A request for a completion.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Posted {
    pub(super) model: Model,
    pub(super) messages: Vec<Value>,
    /// The definitions of the tools, as posted.
    pub(super) tools: Option<Value>,
    /// Whether server-sent events are wanted.
    pub(super) stream: bool,
    /// Whether the stream is to end with token counts.
    pub(super) include_usage: bool,
}

impl Posted {
    /// Reads a body.
    ///
    /// # Errors
    /// Not JSON, no such model, no list of messages, or a switch that is not a boolean.
    pub(super) fn read(body: &[u8]) -> Result<Self, Refusal> {
        let body: Value =
            serde_json::from_slice(body).map_err(|error| Refusal::not_json(&error))?;
        let Value::Object(mut body) = body else {
            return Err(Refusal::invalid("", "the body of the request is not a JSON object"));
        };
        let Some(name) = body.get("model").and_then(Value::as_str) else {
            return Err(Refusal::invalid("model", "`model` is missing or is not a string"));
        };
        let Some(model) = Model::ALL.into_iter().find(|model| model.name() == name) else {
            return Err(Refusal::no_such_model(name));
        };
        let Some(Value::Array(messages)) = body.remove("messages") else {
            return Err(Refusal::invalid("messages", "`messages` is missing or is not a list"));
        };
        let stream = switch(&body, "stream", "stream")?;
        let include_usage = match body.get("stream_options") {
            None | Some(Value::Null) => false,
            Some(Value::Object(_)) if !stream => {
                return Err(Refusal::invalid(
                    "stream_options",
                    "`stream_options` is allowed only when `stream` is true",
                ));
            }
            Some(Value::Object(options)) => {
                switch(options, "include_usage", "stream_options.include_usage")?
            }
            Some(_) => {
                return Err(Refusal::invalid(
                    "stream_options",
                    "`stream_options` is not an object",
                ));
            }
        };
        let tools = body.remove("tools").filter(|tools| !tools.is_null());
        Ok(Self { model, messages, tools, stream, include_usage })
    }

    /// Whether the client offers a tool of this name.
    pub(super) fn offers(&self, tool: &str) -> bool {
        let tools = self.tools.as_ref().and_then(Value::as_array);
        tools.is_some_and(|tools| tools.iter().any(|entry| entry["function"]["name"] == tool))
    }
}

fn switch(object: &Map<String, Value>, name: &str, param: &str) -> Result<bool, Refusal> {
    match object.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(on)) => Ok(*on),
        Some(_) => Err(Refusal::invalid(param, format!("`{param}` is not a boolean"))),
    }
}
