//! Chunks and completions of Chat Completions → the pieces of a reply. Which piece belongs to
//! which call is `calls`'s.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::chunk::{self, Arguments, Choice, Chunk, Message, Piece, ToolCall};
use crate::conversation::Place;
use crate::wire::calls::CallPiece;
use crate::wire::draft::{Draft, EndMarks};
use crate::wire::{errors, response};

/// Reads chunks and completions.
#[derive(Debug)]
pub(in crate::wire) struct Reader;

impl response::Reader for Reader {
    fn take_event(&mut self, json: &str, draft: &mut Draft) -> serde_json::Result<()> {
        let chunk: Chunk<'_> = serde_json::from_str(json)?;
        take_usage(chunk.usage(), draft);
        for choice in chunk.choices.iter().flatten() {
            if let Some(delta) = first_choice(choice, draft).and(choice.delta.as_ref()) {
                take_pieces(delta, draft);
                for call in delta.tool_calls.iter().flatten() {
                    let arguments = arguments(call, draft);
                    draft.call_piece(&call_piece(call, arguments));
                }
            }
        }
        // Also beside choices (OpenRouter), or instead of them in any other shape.
        let is_other = chunk.choices.is_none() && chunk.usage().is_none();
        if (is_other || chunk.error.is_some())
            && let Some(failure) = errors::from_event(Place::Stream, json)
        {
            draft.fail(failure);
        }
        Ok(())
    }

    fn take_body(&mut self, json: &str, draft: &mut Draft) -> serde_json::Result<bool> {
        let chunk: Chunk<'_> = serde_json::from_str(json)?;
        let message = |choice: &Choice<'_>| choice.message.is_some();
        if chunk.error.is_some() || !chunk.choices.iter().flatten().any(message) {
            return Ok(false);
        }
        take_usage(chunk.usage(), draft);
        for choice in chunk.choices.iter().flatten() {
            if let Some(message) = first_choice(choice, draft).and(choice.message.as_ref()) {
                take_pieces(message, draft);
                for call in message.tool_calls.iter().flatten() {
                    let arguments = arguments(call, draft);
                    draft.start_call(&call_piece(call, arguments));
                }
            }
        }
        Ok(true)
    }

    fn end_marks(&self) -> EndMarks {
        EndMarks { reason: "finish_reason", end: "[DONE]" }
    }
}

/// Only the first choice of a reply with several is read: of it, the reason why it ended.
fn first_choice(choice: &Choice<'_>, draft: &mut Draft) -> Option<()> {
    if choice.index.unwrap_or(0) != 0 {
        draft.repair("choices other than the first ignored");
        return None;
    }
    if let Some(reason) = chunk::string(choice.finish_reason) {
        draft.reply.stop_reason = Some(reason.into_owned());
    }
    Some(())
}

fn take_pieces(message: &Message<'_>, draft: &mut Draft) {
    message.pieces(|piece| match piece {
        Piece::Text(text) => draft.text(&text),
        Piece::Refusal(text) => draft.refusal(&text),
        Piece::Reasoning(text) => draft.reasoning(&text),
    });
}

fn arguments<'a>(call: &ToolCall<'a>, draft: &mut Draft) -> Cow<'a, str> {
    match call.arguments() {
        Arguments::Text(text) => text,
        Arguments::Json(json) => {
            draft.repair("arguments sent as JSON instead of text accepted");
            Cow::Borrowed(json)
        }
    }
}

fn call_piece<'a>(call: &ToolCall<'a>, arguments: Cow<'a, str>) -> CallPiece<'a> {
    CallPiece { index: call.index, id: call.id(), name: call.name(), arguments }
}

fn take_usage(raw: Option<&RawValue>, draft: &mut Draft) {
    let Some(raw) = raw else { return };
    match chunk::usage(raw) {
        Some(usage) => draft.reply.usage = Some(usage),
        None => draft.repair("token counts of unknown shape ignored"),
    }
}
