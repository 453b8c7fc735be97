//! Messages that are longer than the model can read: by how much, and a plan that makes them fit.
//!
//! The largest results are shortened first, all to one length, so that none is cut more than it has
//! to be; only if that does not suffice are the oldest prompts left out with their turns. The newest
//! prompt always stays. A plan does nothing by itself; a person agrees to it.

use std::collections::HashMap;
use std::sync::Arc;

use super::{
    CallResult, Entry, EntryId, Failure, FailureKind, Origin, Overlay, Overlays, Role, Told, told,
};

/// No result is made shorter than this, in bytes.
const SHORTEST: usize = 1_000;

/// How long a request was, and how long it may be, as the server counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong {
    /// What was sent.
    pub sent: u64,
    /// What the model can read.
    pub limit: u64,
}

impl Failure {
    /// The figures that a server names when the messages are too long for the model.
    pub fn too_long(&self) -> Option<TooLong> {
        if self.kind != FailureKind::ContextLength {
            return None;
        }
        // `190000 + 21333 > 200000`: what was sent stands before the sign, in parts.
        if let Some((before, after)) = self.message.split_once('>') {
            let sum = before.rsplit('+').map_while(|part| figures(part).next_back()).sum();
            let limit = figures(after).next()?;
            return Some(TooLong { sent: sum, limit }).filter(|found| found.sent > found.limit);
        }
        let mut found = figures(&self.message);
        let first = found.next()?;
        let other = found.find(|figure| *figure != first)?;
        Some(TooLong { sent: first.max(other), limit: first.min(other) })
    }
}

/// The numbers in a text that can be lengths: of three digits or more, and no part of a name.
fn figures(text: &str) -> impl DoubleEndedIterator<Item = u64> + '_ {
    let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, ',' | '-' | '_' | '.')));
    words.filter_map(|word| {
        let digits: String = word.trim_end_matches([',', '.']).split(',').collect();
        digits.parse().ok().filter(|figure| *figure >= 100)
    })
}

/// How many bytes a body has to lose. The model's answer needs room too, and bytes are no tokens, so
/// a fifth of what fits is left free. Without figures, half of the body goes.
pub fn excess(body: u64, too_long: Option<TooLong>) -> u64 {
    match too_long {
        Some(TooLong { sent, limit }) if sent > 0 => {
            let fits = u128::from(body) * u128::from(limit) / u128::from(sent) * 4 / 5;
            body.saturating_sub(u64::try_from(fits).unwrap_or(u64::MAX))
        }
        _ => body / 2,
    }
}

/// A result to be shortened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The result.
    pub entry: EntryId,
    /// Bytes of it that are sent now.
    pub from: usize,
    /// Bytes of it that will be sent.
    pub to: usize,
}

/// What makes the messages shorter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Results to shorten, the largest first.
    pub cuts: Vec<Cut>,
    /// Entries to leave out, oldest first.
    pub left_out: Vec<EntryId>,
    /// How many prompts are among these.
    pub prompts: usize,
    /// Whether that is as much as has to go.
    pub suffices: bool,
}

impl Plan {
    /// Whether there is nothing that could be made shorter.
    pub fn is_empty(&self) -> bool {
        self.cuts.is_empty() && self.left_out.is_empty()
    }
}

/// A plan by which what is told of the history loses `excess` bytes.
pub fn plan(history: &[Arc<Entry>], overlays: &Overlays, excess: u64) -> Plan {
    let excess = usize::try_from(excess).unwrap_or(usize::MAX);
    let told = told(history, overlays);
    let mut cuts: Vec<Cut> = told
        .iter()
        .filter_map(|told| match told {
            Told::Whole(entry) => Some(&***entry),
            // What stands for a left-out result is as short as can be.
            Told::Altered(entry) if entry.origin != Origin::Repair => Some(entry),
            _ => None,
        })
        .filter_map(|entry| Some(Cut { entry: entry.id, from: entry.result()?.text.len(), to: 0 }))
        .collect();
    cuts.sort_by_key(|cut| std::cmp::Reverse(cut.from));
    let sizes: Vec<usize> = cuts.iter().map(|cut| cut.from).collect();
    let length = length(&sizes, excess);
    cuts.retain_mut(|cut| {
        cut.to = length;
        cut.from > length
    });
    let mut saved: usize = cuts.iter().map(|cut| cut.from - cut.to).sum();
    let mut plan = Plan { cuts, ..Plan::default() };
    let mut exchanges = exchanges(&told);
    exchanges.pop();
    for exchange in exchanges {
        if saved >= excess {
            break;
        }
        saved += plan.leave_out(&exchange);
    }
    plan.suffices = saved >= excess;
    plan
}

impl Plan {
    /// Leaves out one prompt with all that followed; returns the bytes that this saves.
    fn leave_out(&mut self, exchange: &[&Entry]) -> usize {
        let to: HashMap<EntryId, usize> = self.cuts.iter().map(|cut| (cut.entry, cut.to)).collect();
        self.cuts.retain(|cut| exchange.iter().all(|entry| entry.id != cut.entry));
        // Results go with the replies that asked for them.
        let alone = exchange.iter().filter(|entry| entry.role != Role::Tool);
        self.left_out.extend(alone.map(|entry| entry.id));
        self.prompts += 1;
        exchange.iter().map(|entry| to.get(&entry.id).copied().unwrap_or_else(|| size(entry))).sum()
    }
}

/// Each prompt that is told, with the user's own commands that are told with it, and all that is told
/// up to the next.
fn exchanges<'a>(told: &'a [Told<'a>]) -> Vec<Vec<&'a Entry>> {
    let mut exchanges: Vec<Vec<&Entry>> = Vec::new();
    for told in told {
        let entry = match told {
            Told::Whole(entry) => &***entry,
            Told::Altered(entry) => entry,
            Told::NotSent(_) | Told::Placeholder(_) => continue,
        };
        if entry.role == Role::System {
            continue;
        }
        let begins = entry.is_prompt() || entry.is_own_command();
        match exchanges.last_mut() {
            Some(last) if !begins || waits_for_a_prompt(last) => last.push(entry),
            _ => exchanges.push(vec![entry]),
        }
    }
    // Own commands after the newest prompt wait for another one; that prompt stays the newest.
    if exchanges.len() > 1
        && let Some(waiting) = exchanges.pop_if(|last| waits_for_a_prompt(last))
        && let Some(newest) = exchanges.last_mut()
    {
        newest.extend(waiting);
    }
    exchanges
}

/// Whether these are only commands of the user's own, which are told with the prompt that follows.
fn waits_for_a_prompt(exchange: &[&Entry]) -> bool {
    exchange.iter().all(|entry| entry.is_own_command())
}

fn size(entry: &Entry) -> usize {
    usize::try_from(entry.told_bytes()).unwrap_or(usize::MAX)
}

/// The greatest length to which the sizes (in falling order) can be cut to lose as much.
fn length(sizes: &[usize], excess: usize) -> usize {
    let mut sum: usize = 0;
    for (position, size) in sizes.iter().enumerate() {
        sum += size;
        let next = sizes.get(position + 1).copied().unwrap_or(0);
        let length = sum.saturating_sub(excess) / (position + 1);
        if length >= next {
            return length.max(SHORTEST);
        }
    }
    SHORTEST
}

/// Head and tail of a text in at most `to` bytes, with the cut marked and counted.
fn shortened(text: &str, to: usize) -> String {
    if text.len() <= to {
        return text.to_owned();
    }
    let mark = |cut: usize| {
        let total = text.len();
        format!("\n[{cut} of {total} bytes left out here: the messages were too long]\n")
    };
    let room = to.saturating_sub(mark(text.len()).len());
    let head = text.floor_char_boundary(room / 2);
    let tail = text.ceil_char_boundary(text.len() - (room - room / 2));
    format!("{}{}{}", &text[..head], mark(tail - head), &text[tail..])
}

/// The overlays that carry a plan out, for entries of this history.
pub fn overlays_of(plan: &Plan, history: &[Arc<Entry>]) -> Vec<(EntryId, Overlay)> {
    let result = |cut: &Cut| -> Option<&CallResult> {
        history.iter().find(|entry| entry.id == cut.entry)?.result()
    };
    let cut = plan.cuts.iter().filter_map(|cut| {
        let text = shortened(&result(cut)?.text, cut.to);
        // The user agrees, but did not write it.
        Some((cut.entry, Overlay::Replaced { text, by: Origin::Harness }))
    });
    let by = Origin::User;
    let left_out = plan.left_out.iter().map(|entry| (*entry, Overlay::LeftOut { by }));
    cut.chain(left_out).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{Block, Call, CallId, History, OWN_COMMAND, Place, check};

    #[test]
    fn f17_figures_are_read_as_servers_write_them() {
        let cases = [
            ("prompt is too long: 3333404 tokens > 200000 maximum", Some((3_333_404, 200_000))),
            (
                "This model's maximum context length is 1048565 tokens. However, you requested 1250025 \
                 tokens (1250025 in the messages, 0 in the completion).",
                Some((1_250_025, 1_048_565)),
            ),
            (
                "maximum context length is 128000 tokens. However, your messages resulted in 142,537.",
                Some((142_537, 128_000)),
            ),
            (
                "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000, decrease",
                Some((211_333, 200_000)),
            ),
            (
                "the request (5000 tokens) exceeds the available context size (4096 tokens), try",
                Some((5000, 4096)),
            ),
            ("exceeded max context length by 1119046 tokens (ref: 96164522-08b2)", None),
            ("gpt-4-0125 and qwen2.5-7b-4096 say: prompt too long", None),
            ("Your input exceeds the context window of this model.", None),
            ("2 > 1", None),
            ("", None),
        ];
        for (message, figures) in cases {
            let failure = Failure::new(Place::Http, FailureKind::ContextLength, message);
            let found = failure.too_long().map(|found| (found.sent, found.limit));
            assert_eq!(found, figures, "{message}");
        }
        let other = Failure::new(Place::Http, FailureKind::Auth, "200000 > 100000");
        assert_eq!(other.too_long(), None);
    }

    #[test]
    fn f17_what_has_to_go() {
        let figures = |sent, limit| Some(TooLong { sent, limit });
        for (body, too_long, bytes) in [
            (10_000, figures(2_000, 1_000), 6_000),
            (10_000, figures(1_001, 1_000), 2_008),
            (10_000, None, 5_000),
            (10_000, figures(0, 0), 5_000),
            (0, figures(2_000, 1_000), 0),
        ] {
            assert_eq!(excess(body, too_long), bytes, "{body} {too_long:?}");
        }
    }

    #[test]
    fn f17_the_largest_are_cut_to_one_length() {
        for (sizes, excess, cut_to) in [
            (&[48_000, 3_000, 200][..], 40_000, 8_000),
            (&[48_000, 40_000, 200], 40_000, 24_000),
            (&[48_000, 40_000, 30_000], 9_000, 39_500),
            (&[48_000, 40_000, 30_000], 10_000_000, SHORTEST),
            (&[900, 800], 500, SHORTEST),
            (&[], 500, SHORTEST),
        ] {
            assert_eq!(length(sizes, excess), cut_to, "{sizes:?} {excess}");
        }
    }

    #[test]
    fn f17_a_shortened_text_keeps_head_and_tail_and_counts_the_cut() {
        let text = format!("START{}END", "é".repeat(5_000));
        let short = shortened(&text, 1_000);
        assert!(short.starts_with("START") && short.ends_with("END"), "{short}");
        assert!(short.len() <= 1_000 && short.len() > 950, "{}", short.len());
        let (_, rest) = short.split_once("\n[").unwrap();
        let (count, rest) = rest.split_once(' ').unwrap();
        assert!(rest.starts_with("of 10008 bytes left out here"), "{rest}");
        let (head, tail) = (short.find("\n[").unwrap(), short.rsplit_once("]\n").unwrap().1.len());
        assert_eq!(count.parse(), Ok(text.len() - head - tail));
        assert_eq!(shortened("short", 1_000), "short");
    }

    /// Prompts, each with a call, a result of this size, and an answer.
    fn history(results: &[usize]) -> History {
        let mut history = History::default();
        history.append(Role::System, Origin::System, vec![Block::Text("s".to_owned())]);
        for (number, size) in results.iter().enumerate() {
            let text = |text: &str| vec![Block::Text(text.repeat(500))];
            history.append(Role::User, Origin::User, text("u"));
            let id = CallId(format!("c{number}"));
            let call = Call { id: id.clone(), name: "bash".to_owned(), arguments: String::new() };
            history.append(Role::Assistant, Origin::Model, vec![Block::Call(call)]);
            let result = CallResult { call: id, text: "x".repeat(*size), is_error: false };
            history.append(Role::Tool, Origin::Tool, vec![Block::Result(result)]);
            history.append(Role::Assistant, Origin::Model, text("a"));
        }
        history
    }

    #[test]
    fn f17_a_plan_cuts_first_and_leaves_out_only_what_it_must() {
        // Results, excess; results cut to, entries left out, prompts, whether it suffices.
        type Case<'a> = (&'a [usize], u64, &'a [(u64, usize)], &'a [u64], usize, bool);
        let cases: &[Case<'_>] = &[
            (&[50_000, 2_000], 40_000, &[(4, 10_000)], &[], 0, true),
            (&[50_000, 48_000], 78_000, &[(4, 10_000), (8, 10_000)], &[], 0, true),
            (&[3_000, 3_000, 3_000], 7_000, &[(8, 1_000), (12, 1_000)], &[2, 3, 5], 1, true),
            (&[900, 900], 1_000, &[], &[2, 3, 5], 1, true),
            (&[900, 900], 5_000, &[], &[2, 3, 5], 1, false),
            (&[900], 5_000, &[], &[], 0, false),
            (&[50_000], 0, &[], &[], 0, true),
        ];
        for (results, excess, cuts, left_out, prompts, suffices) in cases {
            let history = history(results);
            let made = plan(history.entries(), &Overlays::default(), *excess);
            let short: Vec<_> = made.cuts.iter().map(|cut| (cut.entry.0, cut.to)).collect();
            let gone: Vec<_> = made.left_out.iter().map(|entry| entry.0).collect();
            let found = (&short[..], &gone[..], made.prompts, made.suffices);
            assert_eq!(found, (*cuts, *left_out, *prompts, *suffices), "{results:?} {excess}");

            let mut overlays = Overlays::default();
            for (entry, overlay) in overlays_of(&made, history.entries()) {
                overlays.set(entry, overlay);
            }
            let told = told(history.entries(), &overlays);
            let sent: Vec<_> = told.iter().filter_map(Told::entry).cloned().map(Arc::new).collect();
            assert_eq!(check(&sent), Ok(()));
            let before: usize = history.entries().iter().map(|entry| size(entry)).sum();
            let after: usize = sent.iter().map(|entry| size(entry)).sum();
            assert!(!suffices || before - after >= usize::try_from(*excess).unwrap());
        }
    }

    #[test]
    fn f17_own_commands_go_with_the_prompt_that_they_are_told_with() {
        let mut history = History::default();
        let mut say = |role, origin, text: &str| {
            let text = text.to_owned() + &"x".repeat(1_000);
            history.append(role, origin, vec![Block::Text(text)]);
        };
        // One own command before the first prompt, two before the second, one after the third.
        for notes in [1, 2, 0] {
            (0..notes).for_each(|_| say(Role::User, Origin::User, OWN_COMMAND));
            say(Role::User, Origin::User, "prompt");
            say(Role::Assistant, Origin::Model, "answer");
        }
        say(Role::User, Origin::User, OWN_COMMAND);
        for (excess, left_out, prompts) in
            [(500, &[1, 2, 3][..], 1), (3_500, &[1, 2, 3, 4, 5, 6, 7], 2)]
        {
            let made = plan(history.entries(), &Overlays::default(), excess);
            let gone: Vec<_> = made.left_out.iter().map(|entry| entry.0).collect();
            assert_eq!((&gone[..], made.prompts, made.suffices), (left_out, prompts, true));
        }
        let made = plan(history.entries(), &Overlays::default(), 10_000_000);
        assert_eq!((made.left_out.len(), made.prompts, made.suffices), (7, 2, false));
    }

    #[test]
    fn f17_what_was_shortened_is_shortened_further_from_the_original() {
        let history = history(&[50_000]);
        let mut overlays = Overlays::default();
        for (excess, length) in [(40_000, 10_000), (5_000, 5_000), (5_000, 1_000)] {
            let made = plan(history.entries(), &overlays, excess);
            assert_eq!(made.cuts[0].to, length);
            for (entry, overlay) in overlays_of(&made, history.entries()) {
                let Overlay::Replaced { text, .. } = &overlay else { panic!("{overlay:?}") };
                assert!(text.len() <= length && text.contains("of 50000 bytes left out"));
                overlays.set(entry, overlay);
            }
        }
        assert!(plan(history.entries(), &overlays, 5_000).is_empty());
    }
}
