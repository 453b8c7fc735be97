//! An error, and its body in the form that each format's clients expect: `{"error":{"message",
//! "type","param","code"}}` at `OpenAI`, `{"type":"error","error":{"type","message"}}` at Anthropic.

use hyper::StatusCode;
use serde_json::{Value, json};

use super::format::Format;

/// Why a request gets no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) message: String,
    /// The member of the body that is at fault, such as `messages[2].content`.
    pub(super) param: Option<String>,
    pub(super) code: Option<&'static str>,
}

impl Refusal {
    /// The request is not one that the format allows.
    pub(super) fn invalid(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            message: message.into(),
            param: Some(param.into()),
            code: Some("invalid_value"),
        }
    }

    /// The body is not JSON.
    pub(super) fn not_json(error: &serde_json::Error) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            message: format!("the body of the request is not JSON: {error}"),
            param: None,
            code: Some("invalid_json"),
        }
    }

    /// The body did not arrive whole.
    pub(super) fn cut_off(error: &hyper::Error) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            message: format!("the body of the request did not arrive whole: {error}"),
            param: None,
            code: None,
        }
    }

    /// There is no such model.
    pub(super) fn no_such_model(name: &str) -> Self {
        Self {
            status: StatusCode::NOT_FOUND,
            message: format!(
                "the model `{name}` does not exist; this server has `offline` and `offline-lenient`"
            ),
            param: None,
            code: Some("model_not_found"),
        }
    }

    /// There is nothing at that URL.
    pub(super) fn no_such_route(method: &str, path: &str) -> Self {
        Self {
            status: StatusCode::NOT_FOUND,
            message: format!(
                "nothing answers {method} {path}; this server has POST /v1/chat/completions, \
                 POST /v1/messages, POST /v1/responses and GET /v1/models"
            ),
            param: None,
            code: Some("unknown_url"),
        }
    }

    /// The body of the response.
    pub(super) fn body(&self, format: Format) -> Value {
        match format {
            Format::Chat | Format::Responses => json!({"error": {
                "message": self.message,
                "type": "invalid_request_error",
                "param": self.param,
                "code": self.code,
            }}),
            Format::Anthropic => {
                let kind = if self.status == StatusCode::NOT_FOUND {
                    "not_found_error"
                } else {
                    "invalid_request_error"
                };
                json!({
                    "type": "error",
                    "error": {"type": kind, "message": self.message},
                    "request_id": "req_offline",
                })
            }
        }
    }
}
