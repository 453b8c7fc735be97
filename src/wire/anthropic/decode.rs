//! Events and bodies of Anthropic's Messages → the pieces of a reply.
//!
//! Goes by `type` in the data, not by the event's name. Unknown events and deltas are ignored;
//! unknown blocks are kept.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::blocks::Block;
use crate::conversation::{FailureKind, Place, Usage};
use crate::wire::draft::{Draft, EndMarks, fault};
use crate::wire::{errors, response};

/// Reads events and bodies.
#[derive(Debug, Default)]
pub(in crate::wire) struct Reader {
    /// Id of the message that is being read.
    id: Option<String>,
    /// Blocks that have not ended, by their index.
    open: Vec<(i64, Block)>,
}

#[derive(Debug, Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(default)]
    index: i64,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content_block: Option<&'a RawValue>,
    #[serde(borrow, default)]
    delta: Option<&'a RawValue>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// A message, whole or as it begins; also what is told at its end.
#[derive(Debug, Deserialize)]
struct Message<'a> {
    #[serde(default)]
    id: Option<String>,
    #[serde(borrow, default)]
    content: Option<Vec<&'a RawValue>>,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
}

impl response::Reader for Reader {
    fn take_event(&mut self, json: &str, draft: &mut Draft) -> serde_json::Result<()> {
        let event: Event<'_> = serde_json::from_str(json)?;
        match (&*event.kind, event.message, event.content_block, event.delta) {
            ("message_start", Some(message), ..) => {
                self.begin(&serde_json::from_str(message.get())?, draft);
            }
            ("content_block_start", _, Some(block), _) => {
                self.end_block(event.index, draft);
                let block = Block::start(block.get(), false, draft)?;
                self.open.push((event.index, block));
            }
            ("content_block_delta", .., Some(delta)) => {
                self.add(event.index, delta.get(), draft)?;
            }
            ("content_block_stop", ..) => self.end_block(event.index, draft),
            ("message_delta", .., delta) => {
                if let Some(delta) = delta {
                    let end: Message<'_> = serde_json::from_str(delta.get())?;
                    take_stop_reason(end.stop_reason, draft);
                }
                take_usage(event.usage, draft);
            }
            ("message_stop", ..) => {
                for (_, block) in std::mem::take(&mut self.open) {
                    block.end(draft);
                }
                draft.terminate();
            }
            (kind, ..) => {
                if (event.error.is_some() || kind.is_empty() || kind.contains("error"))
                    && let Some(failure) = errors::from_event(Place::Stream, json)
                {
                    draft.fail(failure);
                }
            }
        }
        Ok(())
    }

    fn take_body(&mut self, json: &str, draft: &mut Draft) -> serde_json::Result<bool> {
        let message: Message<'_> = serde_json::from_str(json)?;
        let Some(content) = message.content else { return Ok(false) };
        take_usage(message.usage, draft);
        take_stop_reason(message.stop_reason, draft);
        for block in content {
            Block::start(block.get(), true, draft)?.end(draft);
        }
        Ok(true)
    }

    fn end_marks(&self) -> EndMarks {
        EndMarks { reason: "stop_reason", end: "message_stop" }
    }
}

impl Reader {
    /// A start that is repeated is harmless; the start of another message in the middle of one is
    /// two streams in one.
    fn begin(&mut self, message: &Message<'_>, draft: &mut Draft) {
        match (&self.id, &message.id) {
            (Some(known), Some(id)) if known != id => {
                let what = format!("another message ({id}) begins within the reply");
                draft.fail(fault(Place::Stream, FailureKind::Protocol, what));
                return;
            }
            (Some(_), _) => draft.repair("message_start sent twice taken once"),
            (None, id) => self.id = Some(id.clone().unwrap_or_default()),
        }
        take_usage(message.usage, draft);
    }

    fn add(&mut self, index: i64, json: &str, draft: &mut Draft) -> serde_json::Result<()> {
        match self.open.iter_mut().find(|(open, _)| *open == index) {
            Some((_, block)) => block.add(json, draft),
            None => {
                draft.repair("a piece without the start of its block is read as text");
                Block::Plain.add(json, draft)
            }
        }
    }

    fn end_block(&mut self, index: i64, draft: &mut Draft) {
        if let Some(position) = self.open.iter().position(|(open, _)| *open == index) {
            self.open.remove(position).1.end(draft);
        }
    }
}

fn take_stop_reason(reason: Option<String>, draft: &mut Draft) {
    if let Some(reason) = reason.filter(|reason| !reason.is_empty()) {
        draft.reply.stop_reason = Some(reason);
    }
}

/// Counts come at the start and again at the end: what was sent last is true.
fn take_usage(raw: Option<&RawValue>, draft: &mut Draft) {
    #[derive(Deserialize)]
    struct Counts {
        #[serde(rename = "input_tokens")]
        input: Option<u64>,
        #[serde(rename = "output_tokens")]
        output: Option<u64>,
        #[serde(rename = "cache_read_input_tokens")]
        cache_read: Option<u64>,
        #[serde(rename = "cache_creation_input_tokens")]
        cache_write: Option<u64>,
    }

    let Some(raw) = raw.filter(|raw| raw.get() != "null") else { return };
    let Ok(counts) = serde_json::from_str::<Counts>(raw.get()) else {
        return draft.repair("token counts of unknown shape ignored");
    };
    let known = draft.reply.usage.unwrap_or_default();
    draft.reply.usage = Some(Usage {
        input: counts.input.or(known.input),
        output: counts.output.or(known.output),
        cache_read: counts.cache_read.or(known.cache_read),
        cache_write: counts.cache_write.or(known.cache_write),
        ..known
    });
}
