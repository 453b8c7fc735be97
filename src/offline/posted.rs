//! A request, read; and what all formats read of its body in the same way.

use serde_json::{Map, Value};

use super::refusal::Refusal;
use super::transcript::Transcript;

/// A JSON object.
pub(super) type Object = Map<String, Value>;
/// What a check comes to.
pub(super) type Checked<T = ()> = Result<T, Refusal>;

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

/// A request for a reply.
#[derive(Debug)]
pub(super) struct Posted {
    pub(super) model: Model,
    pub(super) transcript: Transcript,
    /// Whether the client offers a tool called `bash`.
    pub(super) bash: bool,
    /// Whether the parameters ask for reasoning.
    pub(super) thinks: bool,
    pub(super) form: Form,
}

/// In which form the reply is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As one object.
    Whole,
    /// As server-sent events.
    Events,
    /// As server-sent events that end with token counts; asked for only in Chat Completions.
    EventsAndCounts,
}

impl Form {
    /// What `stream` says.
    ///
    /// # Errors
    /// It is not a boolean.
    pub(super) fn read(body: &Object) -> Checked<Self> {
        Ok(if switch(body, "stream", "stream")? { Self::Events } else { Self::Whole })
    }
}

/// The body as an object.
///
/// # Errors
/// It is not JSON, or no object.
pub(super) fn object(body: &[u8]) -> Checked<Object> {
    let body: Value = serde_json::from_slice(body).map_err(|error| Refusal::not_json(&error))?;
    match body {
        Value::Object(body) => Ok(body),
        _ => Err(Refusal::invalid("", "the body of the request is not a JSON object")),
    }
}

/// The model that a body names.
///
/// # Errors
/// None is named, or there is no such model.
pub(super) fn model(body: &Object) -> Checked<Model> {
    let Some(name) = body.get("model").and_then(Value::as_str) else {
        return Err(Refusal::invalid("model", "`model` is missing or is not a string"));
    };
    let named = Model::ALL.into_iter().find(|model| model.name() == name);
    named.ok_or_else(|| Refusal::no_such_model(name))
}

/// A member that is a boolean; `false` if it is missing.
///
/// # Errors
/// It is anything else.
pub(super) fn switch(object: &Object, name: &str, param: &str) -> Checked<bool> {
    match object.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(on)) => Ok(*on),
        Some(_) => Err(Refusal::invalid(param, format!("`{param}` is not a boolean"))),
    }
}

/// The members of a list; none if it is no list.
pub(super) fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Whether a name is one that tools may have.
pub(super) fn is_name(name: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !name.is_empty() && name.len() <= 64 && name.chars().all(legal)
}
