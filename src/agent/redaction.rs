//! Keys kept out of what a server sends back: out of the bytes that are kept, out of what is shown
//! while it arrives, and out of the reply. A model writes a key in several pieces, which only
//! together are one, so that bytes alone do not tell.

use std::borrow::Cow;

use crate::conversation::{Content, Failure, Opaque, Progress, ProposedCall, Reply};
use crate::text::{Redactor, Secrets};
use crate::wire::ResponseHead;

/// Watches over one attempt.
#[derive(Debug)]
pub(super) struct Watch {
    secrets: Secrets,
    bytes: Redactor,
    shown: Redactor,
    /// What was shown last, without its text: what is held back belongs to it.
    last: Option<Progress>,
    found: bool,
}

impl Watch {
    /// Nothing has come yet.
    pub(super) fn new(secrets: &Secrets) -> Self {
        Self {
            secrets: secrets.clone(),
            bytes: Redactor::new(secrets.clone()),
            shown: Redactor::new(secrets.clone()),
            last: None,
            found: false,
        }
    }

    /// Whether a key was replaced anywhere.
    pub(super) fn has_found(&self) -> bool {
        self.found || self.bytes.found + self.shown.found > 0
    }

    /// The head of the response.
    pub(super) fn head(&mut self, head: &mut ResponseHead) {
        for (name, value) in &mut head.headers {
            self.redact(name);
            self.redact(value);
        }
    }

    /// The next bytes of the body.
    pub(super) fn bytes<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        self.bytes.push(bytes)
    }

    /// The body's last bytes, when nothing more comes.
    pub(super) fn last_bytes(&mut self) -> Vec<u8> {
        self.bytes.finish()
    }

    /// What may be shown of this now.
    pub(super) fn progress(&mut self, mut progress: Progress) -> Vec<Progress> {
        let Some(piece) = piece(&mut progress) else { return vec![progress] };
        let piece = std::mem::take(piece);
        let mut shown = Vec::new();
        if !self.last.as_ref().is_some_and(|last| continues(last, &progress)) {
            shown.extend(self.end());
        }
        self.last = Some(progress.clone());
        let clean = self.shown.push_text(&piece).into_owned();
        shown.extend(with_piece(progress, clean));
        shown
    }

    /// What was held back, when nothing more comes.
    pub(super) fn end(&mut self) -> Option<Progress> {
        let held = String::from_utf8_lossy(&self.shown.finish()).into_owned();
        with_piece(self.last.take()?, held)
    }

    /// The reply that it all adds up to.
    pub(super) fn reply(&mut self, reply: &mut Reply) {
        for content in &mut reply.content {
            match content {
                Content::Text(text) | Content::Refusal(text) => self.redact(text),
                Content::Reasoning(reasoning) => {
                    self.redact(&mut reasoning.text);
                    if let Some(Opaque { json, .. }) = &mut reasoning.opaque {
                        self.redact(json);
                    }
                }
                Content::Call(ProposedCall { call, .. }) => {
                    self.redact(&mut call.id.0);
                    self.redact(&mut call.name);
                    self.redact(&mut call.arguments);
                }
                Content::Opaque(opaque) => self.redact(&mut opaque.json),
            }
        }
        let repairs = reply.repairs.iter_mut().map(|repair| &mut repair.what);
        reply.stop_reason.iter_mut().chain(repairs).for_each(|text| self.redact(text));
        if let Some(Failure { message, provider_type, code, retry_after, retry_after_ms, .. }) =
            &mut reply.failure
        {
            self.redact(message);
            let others = [provider_type, code, retry_after, retry_after_ms];
            others.into_iter().flatten().for_each(|text| self.redact(text));
        }
    }

    fn redact(&mut self, text: &mut String) {
        if let Cow::Owned(clean) = self.secrets.redact(text) {
            *text = clean;
            self.found = true;
        }
    }
}

/// The text that a progress carries, if it is one that grows piece by piece.
fn piece(progress: &mut Progress) -> Option<&mut String> {
    match progress {
        Progress::Text(text) | Progress::Reasoning(text) => Some(text),
        Progress::CallPiece { arguments, .. } => Some(arguments),
        _ => None,
    }
}

/// Whether two pieces are of the same text.
fn continues(last: &Progress, next: &Progress) -> bool {
    match (last, next) {
        (Progress::Text(_), Progress::Text(_))
        | (Progress::Reasoning(_), Progress::Reasoning(_)) => true,
        (Progress::CallPiece { index: last, .. }, Progress::CallPiece { index, .. }) => {
            last == index
        }
        _ => false,
    }
}

/// The progress with this text; none if nothing would be told.
fn with_piece(mut progress: Progress, text: String) -> Option<Progress> {
    let is_call = matches!(progress, Progress::CallPiece { .. });
    if text.is_empty() && !is_call {
        return None;
    }
    *piece(&mut progress)? = text;
    Some(progress)
}
