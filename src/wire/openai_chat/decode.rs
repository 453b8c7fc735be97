//! Bytes of a Chat Completions answer → progress and a reply.
//!
//! What a body is follows from the status and the content type: an error body, a stream of
//! chunks, one JSON completion (some servers answer so although a stream was asked for), or
//! something foreign. A stream counts as complete once a `finish_reason` or `[DONE]` was seen.
//! Which piece belongs to which call is `calls`'s, what an error means is `errors`'s.

use std::borrow::Cow;
use std::ops::ControlFlow;

use serde_json::value::RawValue;

use super::calls::{CallPiece, Calls, Ending, Taken};
use super::chunk::{self, Arguments, Choice, Chunk, Message, Piece, ToolCall};
use super::errors;
use crate::conversation::{Content, Failure, FailureKind, Place, Progress, Reasoning, Reply};
use crate::wire::{End, ResponseHead, sse};

/// The longest body that is not a stream, in bytes. Of a longer error body the start is read.
const BODY_CAP: usize = sse::CAP;

/// Decodes one response.
#[derive(Debug)]
pub struct Decoder {
    head: ResponseHead,
    /// In lower case, without parameters; empty if none was sent.
    content_type: String,
    body: Body,
    draft: Draft,
}

/// What the body is, and what of it is not decoded yet.
#[derive(Debug)]
enum Body {
    /// The first byte that is not white space decides.
    Undecided,
    Events(sse::Parser),
    Completion(Vec<u8>),
    Error(Vec<u8>),
    Foreign(Vec<u8>),
}

/// The reply as far as it has come.
#[derive(Debug, Default)]
struct Draft {
    reply: Reply,
    calls: Calls,
    progress: Vec<Progress>,
    /// Nothing that follows can change the reply.
    done: bool,
}

impl Decoder {
    /// A decoder for a response that began with `head`.
    pub fn new(head: &ResponseHead) -> Self {
        let content_type = head.header("content-type").unwrap_or_default();
        let content_type = content_type.split(';').next().unwrap_or_default();
        let content_type = content_type.trim().to_ascii_lowercase();
        let body = match &*content_type {
            _ if head.status != 200 => Body::Error(Vec::new()),
            "text/html" => Body::Foreign(Vec::new()),
            json if json.ends_with("json") => Body::Completion(Vec::new()),
            _ => Body::Undecided,
        };
        Self { head: head.clone(), content_type, body, draft: Draft::default() }
    }

    /// See [`crate::wire::Decoder::feed`].
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Progress> {
        let mut bytes = bytes;
        if matches!(self.body, Body::Undecided) {
            bytes = bytes.trim_ascii_start();
            let Some(&first) = bytes.first() else { return Vec::new() };
            self.body = self.decide(first);
        }
        if self.draft.done {
            return Vec::new();
        }
        match &mut self.body {
            Body::Undecided => {}
            Body::Events(parser) => {
                let draft = &mut self.draft;
                if parser.feed(bytes, |event| draft.take_event(event, true)).is_err() {
                    draft.fail(too_long("A line of the stream"));
                }
            }
            Body::Completion(body) => {
                body.extend_from_slice(bytes);
                if body.len() > BODY_CAP {
                    self.draft.fail(too_long("The reply"));
                }
            }
            Body::Error(body) | Body::Foreign(body) => {
                body.extend_from_slice(&bytes[..bytes.len().min(BODY_CAP - body.len())]);
                self.draft.done = body.len() == BODY_CAP;
            }
        }
        std::mem::take(&mut self.draft.progress)
    }

    /// See [`crate::wire::Decoder::is_done`].
    pub fn is_done(&self) -> bool {
        self.draft.done
    }

    /// See [`crate::wire::Decoder::finish`].
    pub fn finish(self, end: End) -> Reply {
        let Self { head, content_type, body, mut draft } = self;
        if end == End::Stopped {
            draft.reply.stopped = true;
        }
        match body {
            // The status alone says more than the way in which the connection ended.
            Body::Error(body) => {
                draft.fail(errors::from_response(&head, &body));
            }
            Body::Foreign(body) if end == End::Eof || draft.done => {
                draft.fail(foreign(&content_type, &body));
            }
            Body::Completion(body) if !draft.done => draft.take_completion(&body, &end),
            Body::Events(parser) if !draft.done => {
                let fed = parser.finish(|event| draft.take_event(event, false));
                if fed.is_err() {
                    draft.fail(too_long("A line of the stream"));
                }
            }
            _ => {}
        }
        draft.finish(end)
    }

    /// What the body is, from its first byte: for streams, and where the content type says nothing.
    fn decide(&mut self, first: u8) -> Body {
        let is_stream = self.content_type == "text/event-stream";
        match first {
            b'{' | b'[' => {
                self.draft.repair(format!("JSON read in a reply of type '{}'", self.content_type));
                Body::Completion(Vec::new())
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

impl Draft {
    /// Takes an event. One that is not `whole` lacked its end: if it cannot be read, it was cut.
    fn take_event(&mut self, event: &sse::Event<'_>, whole: bool) -> ControlFlow<()> {
        let text = String::from_utf8_lossy(event.data);
        if matches!(text, Cow::Owned(_)) {
            self.repair("invalid UTF-8 replaced by U+FFFD");
        }
        let text = text.trim();
        if text == "[DONE]" {
            self.reply.terminator = true;
            self.done = true;
        } else if event.name == b"error" {
            let failure = errors::from_event(Place::Stream, text);
            self.fail(failure.unwrap_or_else(|| {
                fault(Place::Stream, FailureKind::Server, errors::excerpt(text))
            }));
        } else if !text.is_empty() {
            match serde_json::from_str(text) {
                Ok(chunk) => self.take_chunk(&chunk, text),
                Err(_) if !whole => self.repair("a last event that was cut off ignored"),
                Err(error) => {
                    let failure = errors::from_event(Place::Stream, text);
                    self.fail(failure.unwrap_or_else(|| malformed(&error, text)));
                }
            }
        }
        if self.done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn take_chunk(&mut self, chunk: &Chunk<'_>, text: &str) {
        self.take_usage(chunk.usage());
        for choice in chunk.choices.iter().flatten() {
            if let Some(delta) = self.first_choice(choice).and(choice.delta.as_ref()) {
                self.take_pieces(delta);
                for call in delta.tool_calls.iter().flatten() {
                    self.take_call_piece(call);
                }
            }
        }
        // Also beside choices (OpenRouter), or instead of them in any other shape.
        let is_other = chunk.choices.is_none() && chunk.usage().is_none();
        if (is_other || chunk.error.is_some())
            && let Some(failure) = errors::from_event(Place::Stream, text)
        {
            self.fail(failure);
        }
    }

    /// Takes a reply that came as one JSON body.
    fn take_completion(&mut self, body: &[u8], end: &End) {
        let text = String::from_utf8_lossy(body);
        if matches!(text, Cow::Owned(_)) {
            self.repair("invalid UTF-8 replaced by U+FFFD");
        }
        match serde_json::from_str::<Chunk<'_>>(&text) {
            Ok(chunk) => {
                let message = |choice: &Choice<'_>| choice.message.is_some();
                if chunk.error.is_some() || !chunk.choices.iter().flatten().any(message) {
                    self.fail(errors::from_event(Place::Body, &text).unwrap_or_else(|| {
                        let what = "Unexpected reply from the server: JSON, but not a completion: ";
                        let text = format!("{what}{}", errors::excerpt(&text));
                        fault(Place::Body, FailureKind::Malformed, text)
                    }));
                    return;
                }
                self.reply.terminator = true;
                self.take_usage(chunk.usage());
                for choice in chunk.choices.iter().flatten() {
                    if let Some(message) = self.first_choice(choice).and(choice.message.as_ref()) {
                        self.take_pieces(message);
                        for call in message.tool_calls.iter().flatten() {
                            let arguments = self.arguments(call);
                            self.calls.start(&call_piece(call, arguments));
                        }
                    }
                }
            }
            // Cut off: how the connection ended says more.
            Err(error) if error.is_eof() && *end != End::Eof => {}
            Err(error) if error.is_eof() => {
                let what = "the connection ended before the reply was complete";
                self.fail(fault(Place::Transport, FailureKind::Disconnected, what));
            }
            Err(error) => {
                let failure = errors::from_event(Place::Body, &text);
                self.fail(failure.unwrap_or_else(|| malformed(&error, &text)));
            }
        }
    }

    /// Only the first choice of a reply with several is read: of it, the reason why it ended.
    fn first_choice(&mut self, choice: &Choice<'_>) -> Option<()> {
        if choice.index.unwrap_or(0) != 0 {
            self.repair("choices other than the first ignored");
            return None;
        }
        if let Some(reason) = chunk::string(choice.finish_reason) {
            self.reply.stop_reason = Some(reason.into_owned());
        }
        Some(())
    }

    fn take_pieces(&mut self, message: &Message<'_>) {
        message.pieces(|piece| match piece {
            Piece::Text(text) => {
                self.reply.push(&Content::Text(text.to_string()));
                show_text(&mut self.progress, text);
            }
            Piece::Refusal(text) => {
                self.reply.push(&Content::Refusal(text.to_string()));
                show_text(&mut self.progress, text);
            }
            Piece::Reasoning(text) => {
                let reasoning = Reasoning::of_text(text.as_ref());
                self.reply.push(&Content::Reasoning(reasoning));
                match self.progress.last_mut() {
                    Some(Progress::Reasoning(last)) => last.push_str(&text),
                    _ => self.progress.push(Progress::Reasoning(text.into_owned())),
                }
            }
        });
    }

    fn take_call_piece(&mut self, call: &ToolCall<'_>) {
        let arguments = self.arguments(call);
        let piece = call_piece(call, arguments);
        if piece.index.is_none() {
            self.repair("call without index accepted");
        }
        let index = match self.calls.take(&piece) {
            Taken::At(index) => index,
            Taken::Split(index) => {
                self.repair("calls under one index told apart");
                index
            }
            Taken::Repeated => return self.repair("call sent twice kept once"),
        };
        let name = self.calls.name(index);
        match self.progress.last_mut() {
            Some(Progress::CallPiece { index: last, arguments, name: shown }) if *last == index => {
                arguments.push_str(&piece.arguments);
                name.clone_into(shown);
            }
            _ => self.progress.push(Progress::CallPiece {
                index,
                name: name.to_owned(),
                arguments: piece.arguments.into_owned(),
            }),
        }
    }

    fn arguments<'a>(&mut self, call: &ToolCall<'a>) -> Cow<'a, str> {
        match call.arguments() {
            Arguments::Text(text) => text,
            Arguments::Json(json) => {
                self.repair("arguments sent as JSON instead of text accepted");
                Cow::Borrowed(json)
            }
        }
    }

    fn take_usage(&mut self, raw: Option<&RawValue>) {
        let Some(raw) = raw else { return };
        match chunk::usage(raw) {
            Some(usage) => self.reply.usage = Some(usage),
            None => self.repair("token counts of unknown shape ignored"),
        }
    }

    fn fail(&mut self, failure: Failure) {
        self.done = true;
        self.reply.failure.get_or_insert(failure);
    }

    fn repair(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.reply.repairs.contains(&what) {
            self.reply.repairs.push(what);
        }
    }

    fn finish(mut self, end: End) -> Reply {
        let ended = self.reply.terminator || self.reply.stop_reason.is_some();
        match end {
            End::Broken(failure) if !self.done && !self.reply.terminator => self.fail(failure),
            End::Eof if !ended && self.reply.failure.is_none() => {
                let what = "the connection ended before the end mark";
                self.fail(fault(Place::Transport, FailureKind::Disconnected, what));
            }
            _ => {}
        }
        if self.reply.failure.is_none() && !self.reply.stopped {
            match (&self.reply.stop_reason, self.reply.terminator) {
                (None, _) => self.repair("reply without finish_reason accepted"),
                (Some(_), false) => self.repair("reply without [DONE] accepted"),
                (Some(_), true) => {}
            }
        }
        let Self { mut reply, calls, .. } = self;
        let ending = match &reply.failure {
            _ if reply.stopped => Ending::Stopped,
            Some(failure) if failure.place == Place::Transport => Ending::Disconnected,
            Some(_) => Ending::Failed,
            None => Ending::Proper(reply.stop_reason.as_deref()),
        };
        reply.content.extend(calls.finish(ending).into_iter().map(Content::Call));
        if reply.calls().any(|proposed| proposed.call.id.0.is_empty()) {
            reply.repairs.push("call without id accepted".to_owned());
        }
        reply
    }
}

fn call_piece<'a>(call: &ToolCall<'a>, arguments: Cow<'a, str>) -> CallPiece<'a> {
    CallPiece { index: call.index, id: call.id(), name: call.name(), arguments }
}

fn show_text(progress: &mut Vec<Progress>, text: Cow<'_, str>) {
    match progress.last_mut() {
        Some(Progress::Text(last)) => last.push_str(&text),
        _ => progress.push(Progress::Text(text.into_owned())),
    }
}

/// A failure that showed within an answer with status 200.
fn fault(place: Place, kind: FailureKind, message: impl Into<String>) -> Failure {
    Failure { status: Some(200), ..Failure::new(place, kind, message) }
}

fn malformed(error: &serde_json::Error, text: &str) -> Failure {
    let text = errors::excerpt(text);
    let message = format!("The server's reply cannot be read ({error}): {text}");
    fault(Place::Body, FailureKind::Malformed, message)
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
