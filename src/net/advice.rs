//! What to do after a failure: one short sentence for each kind.

use crate::conversation::{Failure, FailureKind};

/// The next step after a failure, as one short sentence.
pub fn advice(failure: &Failure) -> String {
    match failure.kind {
        FailureKind::Auth => {
            "Check the key in the variable that --key-env names, and that it belongs to this URL."
                .to_owned()
        }
        FailureKind::RateLimit | FailureKind::Overloaded => match wait(failure) {
            Some(wait) => format!("Wait {wait}, then /continue posts the same messages again."),
            None => "Wait a little, then /continue posts the same messages again.".to_owned(),
        },
        FailureKind::Quota => {
            "Look at plan and balance at the provider; trying again does not help.".to_owned()
        }
        FailureKind::ContextLength => {
            "The messages are longer than the model can read: /clear starts anew.".to_owned()
        }
        FailureKind::NotFound => "Check the model's name (--model) and the URL (--url).".to_owned(),
        FailureKind::InvalidRequest => {
            "The server refuses these messages: look at them in the inspector; /clear starts anew."
                .to_owned()
        }
        FailureKind::ToolUseFailed => {
            "The model wrote an unusable call: /continue lets it try again.".to_owned()
        }
        FailureKind::Server => {
            "The fault is the server's: /continue posts the same messages again.".to_owned()
        }
        FailureKind::Protocol | FailureKind::Malformed => {
            "Check that the URL (--url) is that of the API, such as http://127.0.0.1:8080/v1."
                .to_owned()
        }
        FailureKind::Disconnected => "/continue posts the same messages again.".to_owned(),
    }
}

/// How long the server asks to wait: the longer of its two headers.
fn wait(failure: &Failure) -> Option<String> {
    let header = failure.retry_after.as_deref().map(str::trim);
    let seconds = header.and_then(|text| text.parse::<f64>().ok());
    let ms = failure.retry_after_ms.as_deref().and_then(|text| text.trim().parse::<f64>().ok());
    let longest = [seconds, ms.map(|ms| ms / 1000.0)].into_iter().flatten().fold(0.0, f64::max);
    if longest > 0.0 && longest.is_finite() {
        return Some(format!("{} s", longest.ceil()));
    }
    // An HTTP date ("Sun, 06 Nov 1994 08:49:37 GMT") is told as it is.
    let is_date = |text: &&str| text.len() == 29 && text.is_ascii() && text.ends_with("GMT");
    header.filter(is_date).map(|date| format!("until {date}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Place;

    fn after(kind: FailureKind, seconds: Option<&str>, ms: Option<&str>) -> String {
        advice(&Failure {
            retry_after: seconds.map(str::to_owned),
            retry_after_ms: ms.map(str::to_owned),
            ..Failure::new(Place::Http, kind, "")
        })
    }

    #[test]
    fn each_kind_has_a_next_step() {
        let cases = [
            (FailureKind::Auth, "--key-env"),
            (FailureKind::RateLimit, "/continue"),
            (FailureKind::Quota, "does not help"),
            (FailureKind::Overloaded, "/continue"),
            (FailureKind::ContextLength, "/clear"),
            (FailureKind::NotFound, "--model"),
            (FailureKind::InvalidRequest, "inspector"),
            (FailureKind::ToolUseFailed, "/continue"),
            (FailureKind::Server, "/continue"),
            (FailureKind::Protocol, "--url"),
            (FailureKind::Malformed, "--url"),
            (FailureKind::Disconnected, "/continue"),
        ];
        for (kind, words) in cases {
            let advice = after(kind, None, None);
            assert!(advice.contains(words) && advice.ends_with('.'), "{kind:?}: {advice}");
        }
    }

    #[test]
    fn the_server_says_how_long_to_wait() {
        let date = "Wed, 21 Oct 2026 07:28:00 GMT";
        let cases = [
            (Some("2"), None, "Wait 2 s,"),
            (Some("2"), Some("1840"), "Wait 2 s,"),
            (Some("1"), Some("0"), "Wait 1 s,"),
            (None, Some("1840"), "Wait 2 s,"),
            (Some(date), None, "Wait until Wed, 21 Oct 2026 07:28:00 GMT,"),
            (Some("soon"), None, "Wait a little,"),
            (Some("0"), None, "Wait a little,"),
            (Some("inf"), None, "Wait a little,"),
            (None, None, "Wait a little,"),
        ];
        for (seconds, ms, words) in cases {
            let advice = after(FailureKind::RateLimit, seconds, ms);
            assert!(advice.starts_with(words), "{seconds:?} {ms:?}: {advice}");
        }
    }
}
