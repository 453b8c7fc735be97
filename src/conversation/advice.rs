//! A failure in words: what happened, and what to do next. One sentence each, for every reader.

use super::{Failure, FailureKind, Place};
use crate::text::{say, translated};

impl Failure {
    /// What happened, in the server's words or ours. Untrusted text.
    pub fn cause(&self) -> String {
        match (self.place, self.status) {
            (Place::Http, Some(status)) if !self.message.contains(&format!("HTTP {status}")) => {
                format!("HTTP {status}: {}", self.message.trim_end())
            }
            _ => self.message.trim_end().to_owned(),
        }
    }

    /// What to do about it.
    pub fn next_step(&self) -> String {
        // So say the templates of many models, whatever status their server makes of it.
        if self.message.contains("onversation roles must alternate") {
            return say!("Set join_user_messages = true for this profile in config.toml: this model takes one user message at a time.").to_owned();
        }
        match self.kind {
            FailureKind::Auth => {
                say!("Check the key in the variable that --key-env, or the profile's key_env, names, and that it belongs to this URL.")
            }
            FailureKind::RateLimit | FailureKind::Overloaded => {
                return match wait(self) {
                    Some(wait) => say!("Wait {wait}, then try again.", wait = wait),
                    None => say!("Wait a little, then try again.").to_owned(),
                };
            }
            FailureKind::Quota => {
                say!("Look at plan and balance at the provider; trying again does not help.")
            }
            FailureKind::ContextLength => {
                say!("The messages are longer than the model can read: /clear starts anew.")
            }
            FailureKind::NotFound => {
                say!(
                    "Check the model's name (--model, or the profile's model) and the URL (--url, or its url; most end with /v1)."
                )
            }
            FailureKind::InvalidRequest => {
                say!(
                    "The server refuses the request as it is: the inspector, or limpid inspect --body, shows its exact body."
                )
            }
            FailureKind::ToolUseFailed => say!("The model wrote an unusable call; nothing was run. Try again."),
            FailureKind::Server => say!("The fault is the server's: try again later."),
            FailureKind::Protocol | FailureKind::Malformed => {
                say!("Check that the URL (--url, or the profile's url) is that of the API, such as http://127.0.0.1:8080/v1.")
            }
            FailureKind::TooLong => {
                say!("Ask for less, or set a limit with --max-tokens; a server that never ends is at fault.")
            }
            FailureKind::Unreachable => say!("Then try again."),
            FailureKind::ProgramEnded => say!("/continue asks for the reply once more."),
            FailureKind::Disconnected => say!("Check that the server runs and can be reached, then try again."),
        }
        .to_owned()
    }

    /// Cause and next step, one sentence after the other. Untrusted text.
    pub fn in_words(&self) -> String {
        let cause = self.cause();
        let cause = translated(&cause);
        let stop = match cause.chars().last() {
            Some('.' | '!' | '?' | '…') => " ",
            Some('。' | '！' | '？') => "",
            _ => say!(". "),
        };
        format!("{cause}{stop}{}", self.next_step())
    }

    /// Whether posting the same messages once more may help. The key cannot: it is read at the start.
    pub fn may_pass(&self) -> bool {
        use FailureKind::{Auth, ContextLength, Quota};
        !matches!(self.kind, Auth | Quota | ContextLength)
    }

    /// Whether the model has said nothing at all.
    pub fn came_to_nothing(&self) -> bool {
        self.place == Place::Http || self.kind == FailureKind::Unreachable
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
    header.filter(is_date).map(|date| say!("until {date}", date = date))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(kind: FailureKind, seconds: Option<&str>, ms: Option<&str>) -> String {
        Failure {
            retry_after: seconds.map(str::to_owned),
            retry_after_ms: ms.map(str::to_owned),
            ..Failure::new(Place::Http, kind, "")
        }
        .next_step()
    }

    #[test]
    fn each_kind_has_a_next_step() {
        let cases = [
            (FailureKind::Auth, "--key-env"),
            (FailureKind::RateLimit, "try again"),
            (FailureKind::Quota, "does not help"),
            (FailureKind::Overloaded, "try again"),
            (FailureKind::ContextLength, "/clear"),
            (FailureKind::NotFound, "--model"),
            (FailureKind::InvalidRequest, "inspector"),
            (FailureKind::ToolUseFailed, "nothing was run"),
            (FailureKind::Server, "try again"),
            (FailureKind::Protocol, "--url"),
            (FailureKind::Malformed, "--url"),
            (FailureKind::TooLong, "--max-tokens"),
            (FailureKind::Disconnected, "try again"),
            (FailureKind::Unreachable, "try again"),
            (FailureKind::ProgramEnded, "/continue"),
        ];
        for (kind, words) in cases {
            let advice = after(kind, None, None);
            assert!(advice.contains(words) && advice.ends_with('.'), "{kind:?}: {advice}");
        }
    }

    #[test]
    fn a_template_that_wants_turns_taken_has_a_switch() {
        let message = "Conversation roles must alternate user/assistant/user/assistant/...";
        for kind in [FailureKind::InvalidRequest, FailureKind::Server] {
            let advice = Failure::new(Place::Http, kind, message).next_step();
            assert!(advice.starts_with("Set join_user_messages = true "), "{advice}");
        }
    }

    #[test]
    fn cause_and_next_step_are_two_sentences() {
        let failure = |message| Failure::new(Place::Http, FailureKind::Server, message).in_words();
        assert_eq!(failure("No luck"), "No luck. The fault is the server's: try again later.");
        assert_eq!(failure("No luck.\n"), "No luck. The fault is the server's: try again later.");
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
