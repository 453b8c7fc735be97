//! A reply while it arrives, in any format: its pieces in order, what became visible by them, and
//! what is to be thought of it at the end. Which bytes mean what is the formats' `decode`.

use std::borrow::Cow;

use crate::conversation::{
    Call, CallId, CallState, Content, Failure, FailureKind, Opaque, Place, Progress, ProposedCall,
    Reasoning, Repair, Reply,
};

use super::End;
use super::calls::{CallPiece, Calls, Ending, Taken};
use super::errors;

/// Bytes of text, reasoning and arguments that a reply may hold: about a million tokens, which no
/// server offers.
const CAP: usize = 4 * 1024 * 1024;

/// What a piece of a reply counts beside its text, so that a flood of empty ones ends too.
const PIECE: usize = 64;

/// What a call counts beside its name and arguments: nobody decides on thousands.
const CALL: usize = 4096;

/// The reply as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) reply: Reply,
    /// How much of [`CAP`] is used up.
    taken: usize,
    calls: Calls,
    /// Calls that have their place in the reply's content.
    placed: usize,
    progress: Vec<Progress>,
    /// Nothing that follows can change the reply.
    done: bool,
    /// Bytes of the body that have been read: where a repair belongs.
    pub(super) read: u64,
}

impl Draft {
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// The end mark has come.
    pub(super) fn terminate(&mut self) {
        self.reply.terminator = true;
        self.done = true;
    }

    /// What became visible since this was asked last.
    pub(super) fn take_progress(&mut self) -> Vec<Progress> {
        std::mem::take(&mut self.progress)
    }

    pub(super) fn fail(&mut self, failure: Failure) {
        self.done = true;
        self.note_failure(failure);
    }

    /// Keeps a failure, but reads on: an end mark that tells more may follow.
    pub(super) fn note_failure(&mut self, failure: Failure) {
        self.reply.failure.get_or_insert(failure);
    }

    pub(super) fn repair(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.reply.repairs.iter().any(|repair| repair.what == what) {
            self.reply.repairs.push(Repair { what, at: Some(self.read) });
        }
    }

    /// As much of a text as the reply has room for; where that is not all of it, the reply fails.
    fn admit<'a>(&mut self, text: &'a str) -> &'a str {
        let room = CAP.saturating_sub(self.taken);
        self.charge(text.len());
        &text[..text.floor_char_boundary(room)]
    }

    fn charge(&mut self, bytes: usize) {
        self.taken = self.taken.saturating_add(bytes);
        if self.taken > CAP {
            let what =
                "the reply is longer than 4 MiB. The rest was not read; no call in it is run.";
            self.fail(fault(Place::Body, FailureKind::TooLong, what));
        }
    }

    fn push(&mut self, piece: &Content) {
        let before = self.reply.content.len();
        self.reply.push(piece);
        self.charge(PIECE * (self.reply.content.len() - before));
    }

    pub(super) fn text(&mut self, text: &str) {
        let text = self.admit(text);
        self.push(&Content::Text(text.to_owned()));
        self.show_text(text);
    }

    pub(super) fn refusal(&mut self, text: &str) {
        let text = self.admit(text);
        self.push(&Content::Refusal(text.to_owned()));
        self.show_text(text);
    }

    /// A piece of reasoning that is not told apart from the piece before it.
    pub(super) fn reasoning(&mut self, text: &str) {
        let text = self.admit(text);
        self.push(&Content::Reasoning(Reasoning::of_text(text)));
        self.show_reasoning(text);
    }

    /// Opens a piece of reasoning of its own; returns its position in the content.
    pub(super) fn open_reasoning(&mut self) -> usize {
        self.place(Content::Reasoning(Reasoning::default()))
    }

    /// Appends to the reasoning at a position.
    pub(super) fn append_reasoning(&mut self, position: usize, text: &str) {
        let text = self.admit(text);
        if let Some(Content::Reasoning(reasoning)) = self.reply.content.get_mut(position) {
            reasoning.text.push_str(text);
            self.show_reasoning(text);
        }
    }

    /// The reasoning at a position.
    pub(super) fn reasoning_at(&mut self, position: usize) -> Option<&mut Reasoning> {
        match self.reply.content.get_mut(position) {
            Some(Content::Reasoning(reasoning)) => Some(reasoning),
            _ => None,
        }
    }

    /// Puts a piece that only the server understands; returns its position in the content.
    pub(super) fn place_opaque(&mut self, opaque: Opaque) -> usize {
        self.charge(opaque.json.len());
        self.place(Content::Opaque(opaque))
    }

    /// Sets what stands at the position of an opaque piece.
    pub(super) fn set_opaque(&mut self, position: usize, json: String) {
        self.charge(json.len());
        if let Some(Content::Opaque(opaque)) = self.reply.content.get_mut(position) {
            opaque.json = json;
        }
    }

    fn place(&mut self, content: Content) -> usize {
        self.charge(PIECE);
        self.reply.content.push(content);
        self.reply.content.len() - 1
    }

    /// Takes a piece of a call where the server's numbering tells which.
    pub(super) fn call_piece(&mut self, piece: &CallPiece<'_>) {
        if piece.index.is_none() {
            self.repair("call without index accepted");
        }
        let piece = &self.admit_arguments(piece);
        let index = match self.calls.take(piece) {
            Taken::At(index) => index,
            Taken::Split(index) => {
                self.repair("calls under one index told apart");
                index
            }
            Taken::Repeated => return self.repair("call sent twice kept once"),
        };
        self.place_calls();
        self.show_call(index, &piece.arguments);
    }

    /// Starts a call; returns its number within the reply.
    pub(super) fn start_call(&mut self, piece: &CallPiece<'_>) -> usize {
        let piece = &self.admit_arguments(piece);
        let number = self.calls.start(piece);
        self.place_calls();
        self.show_call(number, &piece.arguments);
        number
    }

    fn admit_arguments<'a>(&mut self, piece: &'a CallPiece<'_>) -> CallPiece<'a> {
        CallPiece {
            index: piece.index,
            id: Cow::Borrowed(&piece.id),
            name: Cow::Borrowed(&piece.name),
            arguments: Cow::Borrowed(self.admit(&piece.arguments)),
        }
    }

    /// Appends to the arguments of the call with this number.
    pub(super) fn append_arguments(&mut self, number: usize, text: &str) {
        let text = self.admit(text);
        if let Some(arguments) = self.calls.arguments(number) {
            arguments.push_str(text);
            self.show_call(number, text);
        }
    }

    /// Whether anything of a call's arguments has come.
    pub(super) fn has_arguments(&mut self, number: usize) -> bool {
        self.calls.arguments(number).is_some_and(|arguments| !arguments.is_empty())
    }

    /// Sets the arguments of the call with this number: the server's last word.
    pub(super) fn set_arguments(&mut self, number: usize, text: &str) {
        let Some(arguments) = self.calls.arguments(number) else { return };
        if arguments == text {
            return;
        }
        let differs = !arguments.is_empty();
        let grown = text.len().saturating_sub(arguments.len());
        text.clone_into(arguments);
        self.charge(grown);
        if differs {
            self.repair("arguments that differ from their pieces taken as sent last");
        } else {
            self.show_call(number, text);
        }
    }

    /// Each call has its place where its first piece came; what is in it is known at the end.
    fn place_calls(&mut self) {
        while self.placed < self.calls.len() {
            self.charge(CALL + self.calls.named(self.placed));
            self.placed += 1;
            let call =
                Call { id: CallId(String::new()), name: String::new(), arguments: String::new() };
            let state = CallState::Unusable(String::new());
            self.reply.content.push(Content::Call(ProposedCall { call, state }));
        }
    }

    fn show_text(&mut self, text: &str) {
        match self.progress.last_mut() {
            Some(Progress::Text(last)) => last.push_str(text),
            _ => self.progress.push(Progress::Text(text.to_owned())),
        }
    }

    fn show_reasoning(&mut self, text: &str) {
        match self.progress.last_mut() {
            Some(Progress::Reasoning(last)) => last.push_str(text),
            _ => self.progress.push(Progress::Reasoning(text.to_owned())),
        }
    }

    fn show_call(&mut self, index: usize, piece: &str) {
        let name = self.calls.name(index);
        match self.progress.last_mut() {
            Some(Progress::CallPiece { index: last, arguments, name: shown }) if *last == index => {
                arguments.push_str(piece);
                name.clone_into(shown);
            }
            _ => self.progress.push(Progress::CallPiece {
                index,
                name: name.to_owned(),
                arguments: piece.to_owned(),
            }),
        }
    }

    /// The reply, when all bytes have come. `marks` are the format's names of the reason why a reply
    /// ended, and of its end mark.
    pub(super) fn finish(mut self, end: End, marks: EndMarks) -> Reply {
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
                (None, _) => self.repair(format!("reply without {} accepted", marks.reason)),
                (Some(_), false) => self.repair(format!("reply without {} accepted", marks.end)),
                (Some(_), true) => {}
            }
        }
        let Self { mut reply, calls, read, .. } = self;
        let ending = match &reply.failure {
            _ if reply.stopped => Ending::Stopped,
            Some(failure) if failure.place == Place::Transport => Ending::Disconnected,
            Some(_) => Ending::Failed,
            None => Ending::Proper(reply.stop_reason.as_deref()),
        };
        let places = reply.content.iter_mut().filter_map(|content| match content {
            Content::Call(call) => Some(call),
            _ => None,
        });
        for (place, call) in places.zip(calls.finish(ending)) {
            *place = call;
        }
        if reply.calls().any(|proposed| proposed.call.id.0.is_empty()) {
            let what = "call without id accepted".to_owned();
            reply.repairs.push(Repair { what, at: Some(read) });
        }
        reply
    }
}

/// What a format calls the end of a reply.
#[derive(Debug, Clone, Copy)]
pub(super) struct EndMarks {
    /// The member that says why it ended.
    pub(super) reason: &'static str,
    /// What comes last in a stream.
    pub(super) end: &'static str,
}

/// A failure that showed within an answer with status 200.
pub(super) fn fault(place: Place, kind: FailureKind, message: impl Into<String>) -> Failure {
    Failure { status: Some(200), ..Failure::new(place, kind, message) }
}

/// JSON that cannot be read, or not as what it should be.
pub(super) fn malformed(error: &serde_json::Error, text: &str) -> Failure {
    let text = errors::excerpt(text);
    let message = format!("The server's reply cannot be read ({error}): {text}");
    fault(Place::Body, FailureKind::Malformed, message)
}
