//! Bytes of an answer → progress and a reply, as far as it is the same in every format.
//!
//! What a body is follows from the status and the content type: an error body, a stream of events,
//! one JSON body (some servers answer so although a stream was asked for), or something foreign. A
//! stream counts as complete once the reason why the reply ended, or the end mark, was seen. What
//! an event or a body says is the matter of the format's [`Reader`], what an error means is
//! `errors`'s.

use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::ControlFlow;

use super::draft::{Draft, EndMarks, fault, malformed};
use super::{End, Format, ResponseHead, errors, sse};
use crate::conversation::{Failure, FailureKind, Place, Progress, Reply};

/// The longest body that is not a stream, in bytes. Of a longer error body the start is read.
const BODY_CAP: usize = sse::CAP;

/// The longest stream, in bytes, whatever it says: ten times what the longest replies take.
const STREAM_CAP: u64 = 512 * 1024 * 1024;

/// What one format makes of JSON.
pub(super) trait Reader: Debug + Send {
    /// Takes the data of an event.
    ///
    /// # Errors
    /// If it is not JSON of the format's shape.
    fn take_event(&mut self, json: &str, draft: &mut Draft) -> serde_json::Result<()>;

    /// Takes a reply that came as one body. `false`: the JSON is no reply.
    ///
    /// # Errors
    /// If it is not JSON of the format's shape.
    fn take_body(&mut self, json: &str, draft: &mut Draft) -> serde_json::Result<bool>;

    /// Whether an end mark that tells more may follow an error event.
    fn reads_on_after_error(&self) -> bool {
        false
    }

    /// What the format calls the end of a reply.
    fn end_marks(&self) -> EndMarks;
}

/// Turns the bytes of one response into progress, and at the end into a reply. The result does not
/// depend on how the bytes are split.
#[derive(Debug)]
pub struct Decoder {
    head: ResponseHead,
    /// In lower case, without parameters; empty if none was sent.
    content_type: String,
    body: Body,
    /// Bytes taken so far.
    taken: u64,
    /// Bytes before the stream of events: white space.
    before: u64,
    draft: Draft,
    reader: Box<dyn Reader>,
}

/// What the body is, and what of it is not decoded yet.
#[derive(Debug)]
enum Body {
    /// The first byte that is not white space decides.
    Undecided,
    Events(sse::Parser),
    Reply(Vec<u8>),
    Error(Vec<u8>),
    Foreign(Vec<u8>),
}

impl Decoder {
    /// A decoder for a response that began with `head`.
    pub fn new(format: Format, head: &ResponseHead) -> Self {
        let content_type = head.header("content-type").unwrap_or_default();
        let content_type = content_type.split(';').next().unwrap_or_default();
        let content_type = content_type.trim().to_ascii_lowercase();
        let body = match &*content_type {
            _ if head.status != 200 => Body::Error(Vec::new()),
            "text/html" => Body::Foreign(Vec::new()),
            json if json.ends_with("json") => Body::Reply(Vec::new()),
            _ => Body::Undecided,
        };
        Self {
            head: head.clone(),
            content_type,
            body,
            taken: 0,
            before: 0,
            draft: Draft::default(),
            reader: format.reader(),
        }
    }

    /// Takes the next bytes; returns what became visible by them, neighbours merged.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Progress> {
        let mut bytes = bytes;
        let all = bytes.len() as u64;
        let taken = self.taken;
        self.taken += all;
        if matches!(self.body, Body::Undecided) {
            bytes = bytes.trim_ascii_start();
            let Some(&first) = bytes.first() else { return Vec::new() };
            self.before = taken + all - bytes.len() as u64;
            self.draft.read = self.before + 1;
            self.body = self.decide(first);
        }
        if self.draft.is_done() {
            return Vec::new();
        }
        match &mut self.body {
            Body::Undecided => {}
            Body::Events(_) if self.taken > STREAM_CAP => {
                let what = "the stream is longer than 512 MiB. The rest was not read; no call in it is run.";
                self.draft.fail(fault(Place::Body, FailureKind::TooLong, what));
            }
            Body::Events(parser) => {
                let (reader, draft, before) = (&mut *self.reader, &mut self.draft, self.before);
                let fed = parser.feed(bytes, |event| {
                    draft.read = before + event.end;
                    take_event(event, true, reader, draft)
                });
                if fed.is_err() {
                    draft.fail(too_long("A line of the stream"));
                }
            }
            Body::Reply(body) => {
                body.extend_from_slice(bytes);
                if body.len() > BODY_CAP {
                    self.draft.fail(too_long("The reply"));
                }
            }
            Body::Error(body) | Body::Foreign(body) => {
                body.extend_from_slice(&bytes[..bytes.len().min(BODY_CAP - body.len())]);
                if body.len() == BODY_CAP {
                    let failure = what_it_is_not(&self.head, &self.content_type, &self.body);
                    self.draft.fail(failure);
                }
            }
        }
        self.draft.take_progress()
    }

    /// Whether the reply is complete (or has failed), so that nothing more need be read.
    pub fn is_done(&self) -> bool {
        // Where an end mark may follow an error, it is not worth a wait.
        self.draft.is_done() || self.draft.reply.failure.is_some()
    }

    /// The reply that all bytes add up to.
    pub fn finish(self, end: End) -> Reply {
        let Self { head, content_type, body, taken, mut draft, mut reader, .. } = self;
        draft.reply.stopped = end == End::Stopped;
        if !draft.is_done() {
            draft.read = taken;
        }
        match body {
            _ if draft.is_done() => {}
            // The status alone says more than the way in which the connection ended.
            Body::Error(_) => draft.fail(what_it_is_not(&head, &content_type, &body)),
            Body::Foreign(_) if end == End::Eof => {
                draft.fail(what_it_is_not(&head, &content_type, &body));
            }
            Body::Reply(body) => take_body(&body, &end, &mut *reader, &mut draft),
            Body::Events(parser) => {
                let fed = parser.finish(|event| take_event(event, false, &mut *reader, &mut draft));
                if fed.is_err() {
                    draft.fail(too_long("A line of the stream"));
                }
            }
            Body::Foreign(_) | Body::Undecided => {}
        }
        draft.finish(end, reader.end_marks())
    }

    /// What the body is, from its first byte: for streams, and where the content type says nothing.
    fn decide(&mut self, first: u8) -> Body {
        let is_stream = self.content_type == "text/event-stream";
        match first {
            b'{' | b'[' => {
                self.draft.repair(format!("JSON read in a reply of type '{}'", self.content_type));
                Body::Reply(Vec::new())
            }
            _ if is_stream => Body::Events(sse::Parser::default()),
            // The first letters of the fields, a comment, a byte order mark.
            b'd' | b'e' | b'i' | b'r' | b':' | 0xEF => {
                let repair = format!("events read in a reply of type '{}'", self.content_type);
                self.draft.repair(repair);
                Body::Events(sse::Parser::default())
            }
            _ => Body::Foreign(Vec::new()),
        }
    }
}

/// Takes an event. One that is not `whole` lacked its end: if it cannot be read, it was cut.
fn take_event(
    event: &sse::Event<'_>,
    whole: bool,
    reader: &mut dyn Reader,
    draft: &mut Draft,
) -> ControlFlow<()> {
    let text = readable(event.data, draft);
    let text = text.trim();
    if text == "[DONE]" {
        draft.terminate();
    } else if event.name == b"error" {
        let failure = errors::from_event(Place::Stream, text);
        let failure = failure
            .unwrap_or_else(|| fault(Place::Stream, FailureKind::Server, errors::excerpt(text)));
        if reader.reads_on_after_error() {
            draft.note_failure(failure);
        } else {
            draft.fail(failure);
        }
    } else if !text.is_empty()
        && let Err(error) = reader.take_event(text, draft)
    {
        if whole {
            let failure = errors::from_event(Place::Stream, text);
            draft.fail(failure.unwrap_or_else(|| malformed(&error, text)));
        } else {
            draft.repair("a last event that was cut off ignored");
        }
    }
    if draft.is_done() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Takes a reply that came as one JSON body.
fn take_body(body: &[u8], end: &End, reader: &mut dyn Reader, draft: &mut Draft) {
    let text = readable(body, draft);
    match reader.take_body(&text, draft) {
        Ok(true) => draft.terminate(),
        Ok(false) => draft.fail(errors::from_event(Place::Body, &text).unwrap_or_else(|| {
            let what = "Unexpected reply from the server: JSON, but not a completion: ";
            let text = format!("{what}{}", errors::excerpt(&text));
            fault(Place::Body, FailureKind::Malformed, text)
        })),
        // Cut off: how the connection ended says more.
        Err(error) if error.is_eof() && *end != End::Eof => {}
        Err(error) if error.is_eof() => {
            let what = "the connection ended before the reply was complete";
            draft.fail(fault(Place::Transport, FailureKind::Disconnected, what));
        }
        Err(error) => {
            let failure = errors::from_event(Place::Body, &text);
            draft.fail(failure.unwrap_or_else(|| malformed(&error, &text)));
        }
    }
}

fn readable<'a>(bytes: &'a [u8], draft: &mut Draft) -> Cow<'a, str> {
    // Far quicker than `from_utf8_lossy` where nothing is lost.
    if let Ok(text) = str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    draft.repair("invalid UTF-8 replaced by U+FFFD");
    String::from_utf8_lossy(bytes)
}

/// The failure that an error body, or a foreign one, stands for.
fn what_it_is_not(head: &ResponseHead, content_type: &str, body: &Body) -> Failure {
    match body {
        Body::Error(body) => errors::from_response(head, body),
        Body::Foreign(body) | Body::Reply(body) => foreign(content_type, body),
        Body::Events(_) | Body::Undecided => foreign(content_type, &[]),
    }
}

fn foreign(content_type: &str, body: &[u8]) -> Failure {
    let content_type = if content_type.is_empty() { "no content type" } else { content_type };
    let text = errors::excerpt(&String::from_utf8_lossy(body));
    let message = format!("Unexpected reply ({content_type}) from the server: {text}");
    fault(Place::Body, FailureKind::Malformed, message)
}

fn too_long(what: &str) -> Failure {
    let message = format!("{what} is longer than 10 MiB; the rest was not read");
    fault(Place::Body, FailureKind::Malformed, message)
}
