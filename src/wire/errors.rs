//! Error bodies and error events: what the server says, and what kind of fault it is.
//!
//! The shapes seen: `{"error":{"message","type","code"}}`, the same within a list (Gemini), the
//! flat `{"message","type","code"}`, `{"error":"text","code"}` (xAI), `{"detail":"text"}` (Mistral),
//! an event stream that holds one of these although the status is an error (`LiteLLM`), HTML, and
//! nothing. Codes are texts, numbers, or numbers as text.

use serde_json::Value;

use crate::conversation::{Failure, FailureKind, Place};
use crate::wire::ResponseHead;

/// How much of a body that is not understood is shown, in characters.
const EXCERPT: usize = 500;

/// What a server says went wrong.
#[derive(Debug, Default, PartialEq, Eq)]
struct Report {
    provider_type: Option<String>,
    code: Option<String>,
    message: Option<String>,
    /// An HTTP status that the report itself names (Groq's `status_code`).
    status: Option<u16>,
}

/// The failure that an answer with another status than 200 stands for.
pub(super) fn from_response(head: &ResponseHead, body: &[u8]) -> Failure {
    let body = String::from_utf8_lossy(body);
    let report = std::iter::once(&*body)
        .chain(body.lines().filter_map(|line| line.strip_prefix("data:")))
        .find_map(|json| report(&serde_json::from_str(json).ok()?))
        .unwrap_or_default();
    let kind = kind(Some(head.status), &report);
    let message = match report.message {
        Some(message) => message,
        None if body.trim().is_empty() => {
            format!("HTTP {} with an empty body", head.status)
        }
        None => excerpt(&body),
    };
    Failure {
        place: Place::Http,
        kind,
        status: Some(head.status),
        provider_type: report.provider_type,
        code: report.code,
        message,
        retry_after: head.header("retry-after").map(str::to_owned),
        retry_after_ms: head.header("retry-after-ms").map(str::to_owned),
    }
}

/// The failure that a JSON text within an answer with status 200 stands for, if it is one.
pub(super) fn from_event(place: Place, json: &str) -> Option<Failure> {
    let report = report(&serde_json::from_str(json).ok()?)?;
    Some(Failure {
        place,
        kind: kind(None, &report),
        status: Some(200),
        provider_type: report.provider_type,
        code: report.code,
        message: report.message.unwrap_or_else(|| excerpt(json)),
        retry_after: None,
        retry_after_ms: None,
    })
}

/// The start of a text that is not understood.
pub(super) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Reads any of the shapes; `None` if the JSON reports no error.
fn report(body: &Value) -> Option<Report> {
    let body = match body {
        Value::Array(list) => list.first()?,
        other => other,
    };
    match body.get("error") {
        None | Some(Value::Null) => {
            let message = body.get("message").or_else(|| body.get("detail"))?;
            Some(Report { message: Some(text(message)?), ..members(body) })
        }
        Some(Value::String(message)) => {
            Some(Report { message: Some(message.clone()), ..members(body) })
        }
        Some(error) => {
            Some(Report { message: error.get("message").and_then(text), ..members(error) })
        }
    }
}

fn members(error: &Value) -> Report {
    Report {
        provider_type: error.get("type").and_then(text),
        code: error.get("code").and_then(text),
        message: None,
        status: error
            .get("status_code")
            .and_then(Value::as_u64)
            .and_then(|status| u16::try_from(status).ok()),
    }
}

/// A string as it is, anything else as JSON; nothing for null and the empty string.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => (!text.is_empty()).then(|| text.clone()),
        other => Some(other.to_string()),
    }
}

/// The kind of fault: by the provider's own names first, because a status has many meanings, then
/// by the status, then by wording.
fn kind(status: Option<u16>, report: &Report) -> FailureKind {
    let provider_type = report.provider_type.as_deref().unwrap_or_default();
    let code = report.code.as_deref().unwrap_or_default();
    let message = report.message.as_deref().unwrap_or_default().to_ascii_lowercase();
    let named = |name: &str| provider_type == name || code == name;
    let says = |words: &str| message.contains(words);
    let number = || code.parse().ok().filter(|code| (400..600).contains(code));
    let status = status.or(report.status).or_else(number);

    if named("tool_use_failed") {
        return FailureKind::ToolUseFailed;
    }
    let may_be_length = status.is_none_or(|status| matches!(status, 400 | 413 | 422));
    if named("context_length_exceeded")
        || named("exceed_context_size_error")
        || status == Some(413)
        || (may_be_length && TOO_LONG.iter().any(|words| says(words)))
    {
        return FailureKind::ContextLength;
    }
    if named("insufficient_quota") || status == Some(402) {
        return FailureKind::Quota;
    }
    if named("overloaded_error") || named("overloaded") || status == Some(529) {
        return FailureKind::Overloaded;
    }
    match status {
        Some(401 | 403) => FailureKind::Auth,
        Some(404) => FailureKind::NotFound,
        Some(429) => FailureKind::RateLimit,
        Some(408 | 500..) => FailureKind::Server,
        Some(400..) => {
            if named("model_not_found") || says("invalid model name") {
                FailureKind::NotFound
            } else if named("invalid_api_key") || says("incorrect api key") {
                // xAI answers a wrong key with 400.
                FailureKind::Auth
            } else {
                FailureKind::InvalidRequest
            }
        }
        Some(_) => FailureKind::Protocol,
        None => match provider_type {
            "invalid_request_error" => FailureKind::InvalidRequest,
            "authentication_error" | "permission_error" => FailureKind::Auth,
            "rate_limit_error" => FailureKind::RateLimit,
            "not_found_error" => FailureKind::NotFound,
            _ => FailureKind::Server,
        },
    }
}

/// How servers say, in lower case, that a request is longer than the model can read.
const TOO_LONG: [&str; 6] = [
    "maximum context length",
    "max context length",
    "prompt is too long",
    "prompt too long",
    "available context size",
    "context window exceeded",
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Status, body; kind, type, code, message.
    type Case<'a> = (u16, &'a str, FailureKind, Option<&'a str>, Option<&'a str>, &'a str);

    fn http(status: u16, body: &str) -> Failure {
        from_response(&ResponseHead { status, headers: Vec::new() }, body.as_bytes())
    }

    #[test]
    fn every_shape_of_an_error_body_is_read() {
        let cases: &[Case<'_>] = &[
            (
                500,
                r#"{"error":{"message":"m","type":"t","code":7}}"#,
                FailureKind::Server,
                Some("t"),
                Some("7"),
                "m",
            ),
            (
                400,
                r#"{"code":"c","error":"Incorrect API key provided"}"#,
                FailureKind::Auth,
                None,
                Some("c"),
                "Incorrect API key provided",
            ),
            (401, r#"{"detail":"m"}"#, FailureKind::Auth, None, None, "m"),
            (
                500,
                "event: error\ndata: {\"error\":{\"message\":\"m\",\"code\":\"500\"}}\n\ndata: [DONE]\n\n",
                FailureKind::Server,
                None,
                Some("500"),
                "m",
            ),
            (
                422,
                r#"{"detail":[{"msg":"m"}]}"#,
                FailureKind::InvalidRequest,
                None,
                None,
                r#"[{"msg":"m"}]"#,
            ),
            (
                429,
                r#"[{"error":{"message":"m","code":429}}]"#,
                FailureKind::RateLimit,
                None,
                Some("429"),
                "m",
            ),
            (
                500,
                r#"{"code":500,"message":"m","type":"server_error"}"#,
                FailureKind::Server,
                Some("server_error"),
                Some("500"),
                "m",
            ),
            (404, "", FailureKind::NotFound, None, None, "HTTP 404 with an empty body"),
            (403, "<p>no</p>", FailureKind::Auth, None, None, "<p>no</p>"),
            (413, "<p>too large</p>", FailureKind::ContextLength, None, None, "<p>too large</p>"),
            (
                402,
                r#"{"error":{"message":"Insufficient Balance"}}"#,
                FailureKind::Quota,
                None,
                None,
                "Insufficient Balance",
            ),
            (
                529,
                r#"{"error":{"type":"overloaded_error","message":"m"}}"#,
                FailureKind::Overloaded,
                Some("overloaded_error"),
                None,
                "m",
            ),
        ];
        for (status, body, kind, provider_type, code, message) in cases {
            let failure = http(*status, body);
            assert_eq!(failure.kind, *kind, "{body}");
            assert_eq!(failure.status, Some(*status), "{body}");
            assert_eq!(failure.provider_type.as_deref(), *provider_type, "{body}");
            assert_eq!(failure.code.as_deref(), *code, "{body}");
            assert_eq!(failure.message, *message, "{body}");
        }
    }

    #[test]
    fn a_long_body_is_quoted_in_part() {
        let failure = http(503, &"ä".repeat(5_000_000));
        assert_eq!(failure.message.chars().count(), EXCERPT + 1);
    }

    #[test]
    fn what_reports_no_error_is_none() {
        for json in [r#"{"type":"ping"}"#, r#"{"choices":[]}"#, "[]", "7", r#"{"error":null}"#] {
            assert_eq!(from_event(Place::Stream, json), None, "{json}");
        }
    }
}
