//! What comes from outside can be long or hostile: nothing may cost more than in proportion.
//!
//! Compared is the CPU time of one thread for a text and for one eight times as long, so neither a
//! busy machine nor an unoptimised build matters.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod stage;

use std::time::Duration;

use cpu_time::ThreadTime;
use limpid::approval::analyse;
use limpid::text::wrap;
use stage::long;

/// The least CPU time of several tries.
fn cost(tries: usize, mut work: impl FnMut()) -> Duration {
    let one = |_| {
        let start = ThreadTime::now();
        work();
        start.elapsed()
    };
    (0..tries).map(one).min().unwrap()
}

/// Linear work makes it 8, quadratic work 64.
fn assert_linear(what: &str, work: impl Fn(usize)) {
    const SMALL: usize = 1 << 14;
    let small = cost(4, || work(SMALL));
    let large = cost(2, || work(8 * SMALL));
    assert!(large < small * 24, "{what}: {small:?}, of eight times as much {large:?}");
}

/// So many bytes of a text that is made piece by piece, each from its number.
fn text_of(bytes: usize, piece: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for number in 0.. {
        if text.len() >= bytes {
            break;
        }
        text.push_str(&piece(number));
    }
    text
}

#[test]
fn hostile_commands_are_judged_in_linear_time() {
    for piece in [
        "rm a; ",
        "'a b' ",
        "((",
        "$(",
        "\"'",
        "a ",
        "a|a|",
        "/dev/x ",
        "{a,",
        "*?",
        "x&x&",
        "`",
        "${x:-",
        "<<",
        "\\",
        "../",
        "rm /# ",
        "cp x /dev/sd#; ",
        "a#,",
        ">/dev/t# ",
        "a#(){ a#|a#& };",
        "'x #' ",
        "sudo# mkfs.# ",
        "sh <(curl #) ",
    ] {
        assert_linear(piece, |bytes| {
            analyse(&text_of(bytes, |number| piece.replace('#', &number.to_string())));
        });
    }
    assert_linear("hidden characters", |bytes| {
        let private = |number: usize| {
            char::from_u32(0xf_0000 + u32::try_from(number).unwrap()).unwrap().to_string()
        };
        analyse(&text_of(bytes, private));
    });
}

#[test]
fn a_long_line_wraps_in_linear_time() {
    for piece in ["word ", "a", "你好，", "e\u{301}", " "] {
        assert_linear(piece, |bytes| drop(wrap(&piece.repeat(bytes / piece.len()), 80)));
    }
}

/// What a frame with a new word of the answer costs after so many prompts.
fn frame_after(prompts: usize) -> Duration {
    let mut stage = long::conversation(prompts);
    cost(5, || {
        for _ in 0..10 {
            stage.text("word ");
            stage.frame();
        }
    })
}

#[test]
fn a_frame_costs_the_same_in_a_long_history() {
    let (short, long) = (frame_after(10), frame_after(1_000));
    assert!(long < short * 3, "after 10 prompts {short:?}, after 1000 {long:?}");
}

/// What the first frame in a new size costs after so many prompts: nothing is laid out yet, as when
/// a session is resumed.
fn frame_anew_after(prompts: usize) -> Duration {
    let mut stage = long::conversation(prompts);
    let mut columns = 140;
    cost(4, || {
        // So many that the pane is narrower each time.
        columns -= 8;
        stage.resize(columns, 40);
        stage.frame();
    })
}

#[test]
fn the_first_frame_costs_the_same_in_a_long_history() {
    let (short, long) = (frame_anew_after(20), frame_anew_after(2_000));
    assert!(long < short * 4, "after 20 prompts {short:?}, after 2000 {long:?}");
}
