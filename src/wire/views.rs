//! Views of a turn as lines of text: the request as it was posted, the response as it came, and
//! what they cost. The inspector and `limpid inspect` show the same lines; how they look is theirs.

use std::sync::Arc;

use super::calls::cut_off;
use super::exchange::{Kept, KeptResponse, RawEvent};
use crate::conversation::{Exchange, Failure, Part, Repair, Response, Turn, Usage};
use crate::text::{self, Phrase, phrase, say, translated};

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Says what follows.
    Heading,
    /// Words of limpid's own.
    Plain,
    /// Bytes as they were sent or came; may hold newlines. Untrusted.
    Exact,
    /// Something that limpid adjusted.
    Repair,
    /// Something that went wrong.
    Failure,
}

/// One line, or a text of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What it is.
    pub kind: Kind,
    /// What stands before it, in a column of its own; mostly empty.
    pub lead: String,
    /// The text.
    pub text: String,
}

/// Columns that leads take.
pub const LEAD: u16 = 10;

fn line(kind: Kind, text: impl Into<String>) -> Line {
    Line { kind, lead: String::new(), text: text.into() }
}

/// The request: method, URL, headers, what was adjusted, body.
pub fn request(turn: &Turn, parts: &[Arc<Part>]) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut last = None;
    for exchange in &turn.exchanges {
        if last == Some(&exchange.head) {
            continue;
        }
        last = Some(&exchange.head);
        if turn.exchanges.len() > 1 {
            let alike = turn.exchanges.iter().all(|other| other.head == exchange.head);
            let which = if alike {
                say!("── posted {times} times, each time so ──", times = turn.exchanges.len())
            } else {
                say!("── from attempt {attempt} on ──", attempt = exchange.attempt)
            };
            lines.push(line(Kind::Heading, which));
        }
        match &exchange.head {
            Some(head) => {
                lines.push(line(Kind::Exact, format!("{} {}", head.method, head.url)));
                for (name, value) in &head.headers {
                    lines.push(line(Kind::Exact, format!("{name}: {value}")));
                }
            }
            None => lines.push(line(Kind::Plain, say!("URL and headers are not recorded."))),
        }
    }
    lines.extend(outcome(turn).filter(|(word, _)| *word == NOT_SENT).map(|(word, why)| {
        line(Kind::Failure, say!("{word}: {why}", word = word.text(), why = why))
    }));
    for repair in &turn.repairs {
        lines.push(line(Kind::Repair, repair_words(repair)));
    }
    let bytes = text::bytes(turn.request.bytes);
    lines.push(line(Kind::Plain, format!("sha256 {}", turn.request.sha256)));
    lines.push(line(Kind::Heading, say!("── body · {bytes} ──", bytes = bytes)));
    lines.push(line(Kind::Exact, parts.iter().map(|part| &*part.text).collect::<String>()));
    lines
}

/// The responses of all attempts, each with what is kept of it: status, headers, raw events with
/// their times, repairs under the event that caused them.
pub fn response(turn: &Turn, kept: &[(u32, Kept)]) -> Vec<Line> {
    let mut lines = Vec::new();
    if turn.exchanges.is_empty() {
        lines.push(line(Kind::Plain, say!("No response: the request was not posted.")));
    }
    for exchange in &turn.exchanges {
        lines.push(heading(turn, exchange));
        let repairs = &exchange.repairs;
        let kept = kept.iter().find(|(attempt, _)| *attempt == exchange.attempt);
        match kept.map(|(_, kept)| kept) {
            Some(Kept::Response(kept)) => {
                answer(&mut lines, kept, repairs, &place(turn, exchange));
            }
            other => {
                let answered = exchange.response.as_ref().filter(|answer| answer.status.is_some());
                lines.extend(answered.into_iter().flat_map(recorded_head));
                let why = match other {
                    Some(Kept::NotSaved) if answered.is_some() => {
                        say!("Raw events are not kept: the session is not saved.").to_owned()
                    }
                    Some(Kept::Unreadable(why)) => {
                        say!("The raw events cannot be read: {why}.", why = why)
                    }
                    None if exchange.response.is_none() => say!("reading …").to_owned(),
                    _ if answered.is_some() => say!("No body is kept of this answer.").to_owned(),
                    _ => say!("No answer came.").to_owned(),
                };
                lines.push(line(Kind::Plain, why));
                lines.extend(repairs.iter().map(repaired));
            }
        }
        lines.push(end(exchange));
    }
    lines
}

/// What each attempt cost: tokens, times, bytes.
pub fn usage(turn: &Turn) -> Vec<Line> {
    let mut lines = Vec::new();
    if turn.exchanges.is_empty() {
        lines.push(line(Kind::Plain, say!("The request was not posted: it cost nothing.")));
    }
    for exchange in &turn.exchanges {
        lines.push(heading(turn, exchange));
        let mut row = |name: &str, value: String| {
            lines.push(line(Kind::Plain, format!("{}{value}", text::padded(name, 16))));
        };
        let Some(response) = &exchange.response else {
            row(say!("status"), say!("under way").to_owned());
            continue;
        };
        let none = || say!("no answer").to_owned();
        let status = response.status.map_or_else(none, |code| format!("HTTP {code}"));
        row(say!("status"), status);
        let told = response.usage;
        let sum = told.and_then(Usage::read);
        row(say!("tokens in"), tokens(sum));
        let told = told.unwrap_or_default();
        let details = [
            (say!("  from cache"), told.cached_input.or(told.cache_read)),
            (say!("  into cache"), told.cache_write),
        ];
        for (name, count) in details.into_iter().filter(|(_, count)| count.is_some()) {
            row(name, tokens(count));
        }
        row(say!("tokens out"), tokens(told.output));
        if told.reasoning.is_some() {
            row(say!("  reasoning"), tokens(told.reasoning));
        }
        let never = || say!("never came").to_owned();
        let first = response.first_byte_ms.map_or_else(never, text::milliseconds);
        row(say!("first byte"), first);
        row(say!("end"), text::milliseconds(response.end_ms));
        let sent = if response.sent {
            text::bytes(turn.request.bytes)
        } else {
            say!("nothing").to_owned()
        };
        row(say!("bytes sent"), sent);
        row(say!("bytes received"), text::bytes(response.bytes));
        if let Some(reason) = &response.stop_reason {
            row(say!("stop reason"), reason.clone());
        }
        lines.push(end(exchange));
    }
    lines
}

/// The word for a request of which nothing left.
pub const NOT_SENT: Phrase = phrase("not sent");
const FAILED: Phrase = phrase("failed");
const STOPPED: Phrase = phrase("stopped");
const CUT_OFF: Phrase = phrase("cut off");

/// What became of a turn's request, if it did not go well: a word, and why.
pub fn outcome(turn: &Turn) -> impl Iterator<Item = (Phrase, String)> {
    let response = turn.response();
    let told = match response {
        None => None,
        // What an earlier attempt sent was sent.
        Some(response) => match (&response.failure, !turn.never_left()) {
            (Some(failure), true) => Some((FAILED, cause(failure))),
            (Some(failure), false) => Some((NOT_SENT, cause(failure))),
            (None, false) if response.stopped => {
                Some((NOT_SENT, say!("stopped before it was posted").to_owned()))
            }
            (None, _) if response.stopped => Some((STOPPED, say!("by you").to_owned())),
            (None, _) => {
                let reason = response.stop_reason.as_deref();
                reason.and_then(cut_off).map(|why| (CUT_OFF, why.to_owned()))
            }
        },
    };
    told.into_iter()
}

/// What went wrong, in the language that is spoken.
fn cause(failure: &Failure) -> String {
    translated(&failure.cause()).into_owned()
}

fn place(turn: &Turn, exchange: &Exchange) -> String {
    format!("exchanges/{:04}-{}.http", turn.number.0, exchange.attempt)
}

fn heading(turn: &Turn, exchange: &Exchange) -> Line {
    let of = turn.exchanges.len();
    line(
        Kind::Heading,
        say!("── attempt {attempt} of {of} ──", attempt = exchange.attempt, of = of),
    )
}

fn recorded_head(response: &Response) -> Vec<Line> {
    let status = response.status.map(|status| line(Kind::Exact, format!("HTTP {status}")));
    let headers = response.headers.iter();
    let headers = headers.map(|(name, value)| line(Kind::Exact, format!("{name}: {value}")));
    status.into_iter().chain(headers).collect()
}

/// A response that was kept; `repairs` are those that were made in it.
fn answer(lines: &mut Vec<Line>, kept: &KeptResponse, repairs: &[Repair], file: &str) {
    lines.push(line(Kind::Exact, format!("HTTP {}", kept.head.status)));
    for (name, value) in &kept.head.headers {
        lines.push(line(Kind::Exact, format!("{name}: {value}")));
    }
    let mut repairs = repairs.iter().peekable();
    let mut show = |lines: &mut Vec<Line>, event: &RawEvent<'_>| {
        let bytes = String::from_utf8_lossy(event.bytes);
        lines.push(Line {
            kind: Kind::Exact,
            lead: event.ms.map(text::milliseconds).unwrap_or_default(),
            text: bytes.trim_end_matches(['\n', '\r']).to_owned(),
        });
        while let Some(repair) = repairs.next_if(|repair| repair.at <= Some(event.end())) {
            lines.push(repaired(repair));
        }
    };
    kept.first_events().iter().for_each(|event| show(lines, event));
    if kept.omitted > 0 {
        let (all, omitted) = (text::bytes(kept.bytes()), text::bytes(kept.omitted));
        let what = say!(
            "── {omitted} of {all} are left out here; {file} has them all ──",
            omitted = omitted,
            all = all,
            file = file,
        );
        lines.push(line(Kind::Heading, what));
    }
    kept.last_events().iter().for_each(|event| show(lines, event));
    for repair in repairs {
        lines.push(repaired(repair));
    }
}

/// How an attempt ended.
fn end(exchange: &Exchange) -> Line {
    let Some(response) = &exchange.response else {
        return line(Kind::Plain, say!("── under way ──"));
    };
    let after = text::milliseconds(response.end_ms);
    match &response.failure {
        Some(failure) if response.sent => line(
            Kind::Failure,
            say!("failed after {after}: {why}", after = after, why = cause(failure)),
        ),
        Some(failure) => {
            line(Kind::Failure, say!("{word}: {why}", word = NOT_SENT.text(), why = cause(failure)))
        }
        None if response.stopped => {
            line(Kind::Failure, say!("stopped by you after {after}", after = after))
        }
        None => line(Kind::Heading, say!("── ended after {after} ──", after = after)),
    }
}

/// A repair, marked in the column of the events' times.
fn repaired(repair: &Repair) -> Line {
    Line { kind: Kind::Repair, lead: "!".to_owned(), text: repair_words(repair) }
}

fn repair_words(repair: &Repair) -> String {
    say!("repair: {what}", what = translated(&repair.what))
}

fn tokens(count: Option<u64>) -> String {
    count.map_or_else(|| say!("not told").to_owned(), |count| count.to_string())
}
