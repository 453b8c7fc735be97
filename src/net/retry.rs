//! Whether a request that failed is posted once more, and when. Pure: time and chance are given.
//!
//! Nothing is posted again once any of the answer was shown: it would double text or calls. (A call
//! runs only after the answer has ended, so none can have run.) Of the rest, what may pass by
//! itself is: too many requests, a server with too much to do, a server that broke, a connection
//! that ended before the answer began. A request that the server refuses as it is, a wrong key, an
//! unknown name, an exhausted quota and an answer that is no HTTP never are.
//!
//! How long to wait is said by the server in `retry-after` (seconds or an HTTP date, RFC 9110,
//! 10.2.3) or `retry-after-ms` (`OpenAI`, Azure); whether to try at all in `x-should-retry` (`OpenAI`,
//! Anthropic). What cannot be read is as if it had not been sent.

use std::time::{Duration, SystemTime};

use crate::conversation::{Failure, FailureKind, Place};

/// Attempts at one turn, the first included.
pub const ATTEMPTS: u32 = 5;
/// The longest wait that a server is given; a longer one is the user's to decide.
pub const LONGEST: Duration = Duration::from_mins(1);
/// The wait after the first attempt; it doubles with each.
const FIRST: Duration = Duration::from_millis(500);

/// An attempt that failed.
#[derive(Debug, Clone, Copy)]
pub struct Attempt<'a> {
    /// Counts from 1.
    pub number: u32,
    /// How it failed.
    pub failure: &'a Failure,
    /// Whether text, reasoning or a piece of a call was shown.
    pub shown: bool,
    /// Whether it may have gone over a connection that was kept from an earlier answer: servers
    /// close those when they like.
    pub kept_alive: bool,
    /// The `x-should-retry` header, as sent.
    pub should_retry: Option<&'a str>,
}

/// What to do after an attempt that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Post once more after this time.
    Retry(Duration),
    /// Do not; why.
    Stop(Stop),
}

/// Why a request is not posted once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Some of the answer was shown.
    Shown,
    /// It would fail again.
    Lasting,
    /// The server says that it would fail again.
    ServerSaysNo,
    /// It was tried [`ATTEMPTS`] times.
    TooOften,
    /// The server asks for a wait longer than [`LONGEST`].
    TooLong(Duration),
}

/// What to do after this attempt.
///
/// `chance` is from 0 up to 1 and spreads the waits of many clients; `now` is what dates count
/// from.
pub fn judge(attempt: Attempt<'_>, chance: f64, now: SystemTime) -> Verdict {
    let failure = attempt.failure;
    if attempt.shown {
        return Verdict::Stop(Stop::Shown);
    }
    if !may_pass_by_itself(failure) {
        return Verdict::Stop(Stop::Lasting);
    }
    if attempt.should_retry.is_some_and(|value| value.trim().eq_ignore_ascii_case("false")) {
        return Verdict::Stop(Stop::ServerSaysNo);
    }
    let asked = asked_wait(failure, now);
    if asked > LONGEST {
        return Verdict::Stop(Stop::TooLong(asked));
    }
    if attempt.number >= ATTEMPTS {
        return Verdict::Stop(Stop::TooOften);
    }
    if attempt.number == 1 && attempt.kept_alive && is_lost(failure) {
        return Verdict::Retry(Duration::ZERO);
    }
    let backoff = FIRST * 2_u32.saturating_pow(attempt.number.saturating_sub(1));
    let spread = backoff.mul_f64(0.5 + chance / 2.0);
    Verdict::Retry(spread.max(asked))
}

/// Whether the connection failed before the answer's head came.
fn is_lost(failure: &Failure) -> bool {
    failure.kind == FailureKind::Disconnected && failure.status.is_none()
}

fn may_pass_by_itself(failure: &Failure) -> bool {
    match failure.kind {
        FailureKind::RateLimit | FailureKind::Overloaded | FailureKind::Disconnected => true,
        FailureKind::Server => {
            failure.place == Place::Http
                && matches!(failure.status, Some(408 | 500 | 502 | 503 | 504))
        }
        FailureKind::Auth
        | FailureKind::Quota
        | FailureKind::ContextLength
        | FailureKind::NotFound
        | FailureKind::InvalidRequest
        | FailureKind::ToolUseFailed
        | FailureKind::Protocol
        | FailureKind::Malformed
        | FailureKind::TooLong
        | FailureKind::Unreachable
        | FailureKind::ProgramEnded => false,
    }
}

/// How long the server asks to wait: the longer of its headers; zero if it says nothing usable.
fn asked_wait(failure: &Failure, now: SystemTime) -> Duration {
    let seconds = |text: &str| {
        let seconds = text.parse::<f64>().ok().filter(|seconds| seconds.is_finite());
        Duration::try_from_secs_f64(seconds?).ok()
    };
    let header = failure.retry_after.as_deref().map(str::trim).and_then(|text| {
        seconds(text).or_else(|| {
            let date = httpdate::parse_http_date(text).ok()?;
            Some(date.duration_since(now).unwrap_or_default())
        })
    });
    let ms = failure.retry_after_ms.as_deref().map(str::trim).and_then(seconds);
    header.unwrap_or_default().max(ms.unwrap_or_default() / 1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use FailureKind as Kind;

    fn http(kind: Kind, status: u16) -> Failure {
        Failure { status: Some(status), ..Failure::new(Place::Http, kind, "") }
    }

    fn lost() -> Failure {
        Failure::new(Place::Transport, Kind::Disconnected, "")
    }

    fn first(failure: &Failure) -> Attempt<'_> {
        Attempt { number: 1, failure, shown: false, kept_alive: false, should_retry: None }
    }

    fn verdict(attempt: Attempt<'_>) -> Verdict {
        judge(attempt, 1.0, SystemTime::UNIX_EPOCH)
    }

    fn ms(ms: u64) -> Verdict {
        Verdict::Retry(Duration::from_millis(ms))
    }

    #[test]
    fn f05_f06_what_is_tried_again() {
        let stream = |kind| Failure::new(Place::Stream, kind, "");
        let again = [
            http(Kind::RateLimit, 429),
            http(Kind::Server, 500),
            http(Kind::Server, 502),
            http(Kind::Server, 503),
            http(Kind::Overloaded, 529),
            stream(Kind::Overloaded),
            lost(),
        ];
        for failure in again {
            assert_eq!(verdict(first(&failure)), ms(500), "{failure:?}");
        }
        let never = [
            http(Kind::InvalidRequest, 400),
            http(Kind::Auth, 401),
            http(Kind::Quota, 402),
            http(Kind::Auth, 403),
            http(Kind::NotFound, 404),
            http(Kind::ContextLength, 413),
            http(Kind::InvalidRequest, 422),
            http(Kind::Quota, 429),
            http(Kind::Server, 501),
            http(Kind::Malformed, 200),
            http(Kind::TooLong, 200),
            stream(Kind::Server),
            Failure::new(Place::Transport, Kind::Unreachable, ""),
        ];
        for failure in never {
            assert_eq!(verdict(first(&failure)), Verdict::Stop(Stop::Lasting), "{failure:?}");
            let told = Attempt { should_retry: Some("true"), ..first(&failure) };
            assert_eq!(verdict(told), Verdict::Stop(Stop::Lasting), "{failure:?}");
        }
    }

    #[test]
    fn f04_nothing_is_tried_again_once_something_was_shown() {
        for failure in [http(Kind::Overloaded, 529), lost()] {
            let attempt = Attempt { shown: true, kept_alive: true, ..first(&failure) };
            assert_eq!(verdict(attempt), Verdict::Stop(Stop::Shown));
        }
    }

    #[test]
    fn f05_waits_double_are_spread_and_end() {
        let failure = http(Kind::Server, 500);
        let waits = [500, 1000, 2000, 4000];
        for (number, wait) in (1..).zip(waits) {
            let attempt = Attempt { number, ..first(&failure) };
            assert_eq!(judge(attempt, 1.0, SystemTime::UNIX_EPOCH), ms(wait));
            assert_eq!(judge(attempt, 0.0, SystemTime::UNIX_EPOCH), ms(wait / 2));
        }
        for number in [5, 6, u32::MAX] {
            let attempt = Attempt { number, ..first(&failure) };
            assert_eq!(verdict(attempt), Verdict::Stop(Stop::TooOften));
        }
    }

    #[test]
    fn f05_the_server_says_how_long_to_wait_at_least() {
        let date = "Thu, 01 Jan 1970 00:00:07 GMT";
        let long = "Thu, 01 Jan 1970 03:00:00 GMT";
        let seconds = |seconds| Verdict::Stop(Stop::TooLong(Duration::from_secs(seconds)));
        let cases = [
            (None, None, ms(500)),
            (Some("2"), None, ms(2000)),
            (Some(" 2 "), None, ms(2000)),
            (Some("0.1"), None, ms(500)),
            (Some("0"), None, ms(500)),
            (None, Some("1840"), ms(1840)),
            (Some("1"), Some("1840"), ms(1840)),
            (Some("2"), Some("1840"), ms(2000)),
            (Some(date), None, ms(7000)),
            (Some("60"), None, ms(60_000)),
            (Some("61"), None, seconds(61)),
            (Some("10800"), None, seconds(10_800)),
            (Some(long), None, seconds(10_800)),
            (Some("soon"), None, ms(500)),
            (Some("-5"), None, ms(500)),
            (Some("inf"), Some("NaN"), ms(500)),
            (Some("1e300"), None, ms(500)),
            (Some(""), Some(""), ms(500)),
        ];
        for (after, after_ms, expected) in cases {
            let failure = Failure {
                retry_after: after.map(str::to_owned),
                retry_after_ms: after_ms.map(str::to_owned),
                ..http(Kind::RateLimit, 429)
            };
            assert_eq!(verdict(first(&failure)), expected, "{after:?} {after_ms:?}");
        }
        // A date that has passed asks for no wait.
        let failure = Failure { retry_after: Some(date.to_owned()), ..http(Kind::RateLimit, 429) };
        let later = SystemTime::UNIX_EPOCH + Duration::from_hours(1);
        assert_eq!(judge(first(&failure), 1.0, later), ms(500));
    }

    #[test]
    fn f05_the_server_may_say_not_to_try_again() {
        let failure = http(Kind::Server, 503);
        let cases = [
            (Some("false"), Verdict::Stop(Stop::ServerSaysNo)),
            (Some(" False "), Verdict::Stop(Stop::ServerSaysNo)),
            (Some("true"), ms(500)),
            (Some("perhaps"), ms(500)),
        ];
        for (should_retry, expected) in cases {
            assert_eq!(verdict(Attempt { should_retry, ..first(&failure) }), expected);
        }
    }

    #[test]
    fn f14_a_kept_connection_that_was_closed_is_made_anew_once_without_a_wait() {
        let failure = lost();
        let attempt = Attempt { kept_alive: true, ..first(&failure) };
        assert_eq!(verdict(attempt), ms(0));
        assert_eq!(verdict(Attempt { number: 2, ..attempt }), ms(1000));
        assert_eq!(verdict(Attempt { kept_alive: false, ..attempt }), ms(500));
        let begun = Failure { status: Some(200), ..lost() };
        assert_eq!(verdict(Attempt { failure: &begun, ..attempt }), ms(500));
        let broken = http(Kind::Server, 500);
        assert_eq!(verdict(Attempt { failure: &broken, ..attempt }), ms(500));
    }
}
