//! Damaged answers in all formats: cut, overwritten, shuffled. Nothing panics, and no call becomes
//! runnable that the bytes do not justify.
//!
//! Each property is tried on 1,500 cases, or on as many as `LIMPID_DAMAGE_CASES` says:
//! `LIMPID_DAMAGE_CASES=100000 cargo test --profile quick --test wire_damage`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod wire;

use limpid::conversation::{CallState, Failure, FailureKind, Place, Reply};
use limpid::wire::End;
use proptest::prelude::*;
use serde_json::Value;
use wire::{Fixture, fixtures, own_root, shared_root};

fn all() -> Vec<Fixture> {
    let mut all = fixtures(&own_root());
    all.extend(fixtures(&shared_root()));
    all.retain(|fixture| fixture.head.is_some());
    all
}

fn cases() -> u32 {
    std::env::var("LIMPID_DAMAGE_CASES").map_or(1500, |cases| cases.parse().unwrap())
}

fn ends() -> impl Strategy<Value = End> {
    let lost = Failure::new(Place::Transport, FailureKind::Disconnected, "reset");
    prop_oneof![3 => Just(End::Eof), 1 => Just(End::Broken(lost)), 1 => Just(End::Stopped)]
}

fn pieces<'a>(body: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
    at.sort_unstable();
    let mut start = 0;
    let mut pieces: Vec<&[u8]> = Vec::new();
    for end in at {
        pieces.push(&body[start..end]);
        start = end;
    }
    pieces.push(&body[start..]);
    pieces
}

/// What holds for every reply, whatever the bytes were.
fn assert_sane(name: &str, reply: &Reply, end: &End) {
    let ended = reply.terminator || reply.stop_reason.is_some();
    assert!(ended || reply.failure.is_some() || reply.stopped, "{name}: {reply:?}");
    assert_eq!(reply.stopped, *end == End::Stopped, "{name}");
    for proposed in reply.calls() {
        match &proposed.state {
            CallState::Complete => {
                assert!(ended && reply.failure.is_none() && !reply.stopped, "{name}: {reply:?}");
                assert!(!proposed.call.name.trim().is_empty(), "{name}: {reply:?}");
                let arguments = proposed.call.arguments.trim();
                let object = serde_json::from_str::<Value>(arguments).is_ok_and(|v| v.is_object());
                assert!(object || arguments.is_empty(), "{name}: {reply:?}");
            }
            CallState::Unusable(why) => assert!(!why.is_empty(), "{name}: {why}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_cut_answer_is_a_failure_or_a_prefix(
        which: prop::sample::Index,
        cut: prop::sample::Index,
        cuts: Vec<prop::sample::Index>,
        end in ends(),
    ) {
        let all = all_once();
        let fixture = &all[which.index(all.len())];
        let body = &fixture.body[..cut.index(fixture.body.len() + 1)];
        let reply = fixture.decode(pieces(body, &cuts), end.clone());
        assert_sane(&fixture.name, &reply, &end);
        let whole = fixture.decode([&*fixture.body], End::Eof);
        let text = fixture.expected["text"].as_str().unwrap();
        prop_assert!(text.starts_with(&reply.text()), "{}", fixture.name);
        prop_assert!(whole.reasoning().starts_with(&reply.reasoning()), "{}", fixture.name);
        for (position, proposed) in reply.calls().enumerate() {
            if proposed.state == CallState::Complete {
                // The cut came after the reply's end, so nothing of the call can be missing.
                prop_assert_eq!(Some(proposed), whole.calls().nth(position), "{}", &fixture.name);
                let text = String::from_utf8_lossy(body);
                let whole = body.len() >= fixture.body.trim_ascii_end().len();
                prop_assert!(whole || has_end(&text), "{}: {:?}", fixture.name, reply);
            }
        }
    }

    #[test]
    fn an_overwritten_answer_is_a_failure_or_a_sane_reply(
        which: prop::sample::Index,
        damages: Vec<(prop::sample::Index, prop::sample::Index, Vec<u8>)>,
        cuts: Vec<prop::sample::Index>,
        end in ends(),
    ) {
        let all = all_once();
        let fixture = &all[which.index(all.len())];
        let mut body = fixture.body.clone();
        for (from, to, bytes) in damages {
            let (from, to) = (from.index(body.len() + 1), to.index(body.len() + 1));
            let from = from.min(to);
            let to = to.min(from + 40);
            body.splice(from..to, bytes);
        }
        let reply = fixture.decode(pieces(&body, &cuts), end.clone());
        assert_sane(&fixture.name, &reply, &end);
        prop_assert_eq!(reply, fixture.decode(body.chunks(1), end), "{}", fixture.name);
    }

    #[test]
    fn shuffled_events_are_a_failure_or_a_sane_reply(
        which: prop::sample::Index,
        moves: Vec<(prop::sample::Index, prop::sample::Index, Move)>,
        cuts: Vec<prop::sample::Index>,
        end in ends(),
    ) {
        let all = all_once();
        let fixture = &all[which.index(all.len())];
        let text = String::from_utf8_lossy(&fixture.body).replace("\r\n", "\n");
        let mut events: Vec<&str> = text.split_inclusive("\n\n").collect();
        for (from, to, how) in moves {
            if events.is_empty() {
                break;
            }
            let (from, to) = (from.index(events.len()), to.index(events.len()));
            match how {
                Move::Drop => drop(events.remove(from)),
                Move::Double => events.insert(to, events[from]),
                Move::Swap => events.swap(from, to),
            }
        }
        let body = events.concat();
        let reply = fixture.decode(pieces(body.as_bytes(), &cuts), end.clone());
        assert_sane(&fixture.name, &reply, &end);
        prop_assert_eq!(reply, fixture.decode([body.as_bytes()], end), "{}", fixture.name);
    }
}

/// What happens to an event.
#[derive(Debug, Clone, Copy)]
enum Move {
    Drop,
    Double,
    Swap,
}

impl Arbitrary for Move {
    type Parameters = ();
    type Strategy = BoxedStrategy<Self>;

    fn arbitrary_with((): ()) -> Self::Strategy {
        prop_oneof![Just(Self::Drop), Just(Self::Double), Just(Self::Swap)].boxed()
    }
}

/// Whether a text holds what ends a reply: a whole reason that is not null, or an end mark.
fn has_end(text: &str) -> bool {
    let whole = |name: &str| {
        let rest = text.split(name).skip(1).map(str::trim_start);
        rest.filter_map(|rest| rest.strip_prefix('"'))
            .any(|word| word.contains('"') && !word.starts_with('"'))
    };
    whole("\"finish_reason\":")
        || whole("\"stop_reason\":")
        || ["[DONE]", "message_stop", "response.completed", "response.incomplete"]
            .iter()
            .any(|mark| text.contains(mark))
}

fn all_once() -> &'static [Fixture] {
    static ALL: std::sync::OnceLock<Vec<Fixture>> = std::sync::OnceLock::new();
    ALL.get_or_init(all)
}
