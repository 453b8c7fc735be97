//! "What file did we just create?", answered from the posted messages alone: a call that writes a
//! file counts only if its result says that it was run.

use std::collections::BTreeMap;

use super::book::Book;
use super::outcome::{Outcome, When};
use super::pattern::Slots;
use super::shell;
use super::transcript::{Reply, Transcript};

/// The answer. When the newest attempt did not succeed, the newest that did is named too.
pub(super) fn answer(book: &Book, transcript: &Transcript) -> String {
    let mut said = Vec::new();
    for (at, reply) in transcript.replies() {
        let found = attempts(book, transcript, at, reply);
        let succeeded = found.contains_key(&When::Ok);
        let newest = said.is_empty();
        let told = found.iter().filter(|(when, _)| newest || **when == When::Ok);
        said.extend(told.filter_map(|(when, facts)| book.recall.say(*when, facts)));
        if succeeded {
            break;
        }
    }
    if said.is_empty() {
        let facts = Slots::from([("messages".to_owned(), transcript.len().to_string())]);
        return book.recall.unknown.fill(&facts);
    }
    said.join("\n\n")
}

/// What became of the files that the calls of one reply were to write, by how the calls ended.
fn attempts(
    book: &Book,
    transcript: &Transcript,
    at: usize,
    reply: &Reply,
) -> BTreeMap<When, Slots> {
    let mut attempts = BTreeMap::<When, Slots>::new();
    for call in &reply.calls {
        let proposed = shell::files_written(&call.command);
        let outcome = transcript.result(at, call).map(Outcome::read);
        let (when, files) = match &outcome {
            None => (When::Missing, proposed),
            Some(outcome) => match outcome.executed.map(shell::files_written) {
                Some(written) if written.is_empty() => (When::Replaced, proposed),
                Some(written) => (kind(outcome), written),
                None => (kind(outcome), proposed),
            },
        };
        if files.is_empty() {
            continue;
        }
        let facts = attempts.entry(when).or_insert_with(|| {
            let mut facts = match &outcome {
                Some(outcome) => book.facts(&call.command, outcome),
                None => Slots::new(),
            };
            facts.insert("call_at".to_owned(), call.message.to_string());
            facts.insert("messages".to_owned(), transcript.len().to_string());
            facts
        });
        let names = facts.entry("files".to_owned()).or_default();
        for file in files {
            if !names.is_empty() {
                names.push_str(", ");
            }
            names.extend(["`", file.as_str(), "`"]);
        }
    }
    attempts
}

/// How a call ended, as far as it matters for a file.
fn kind(outcome: &Outcome) -> When {
    match outcome.when() {
        When::Empty => When::Ok,
        When::DeniedFor => When::Denied,
        when => when,
    }
}
