//! The status line: where, which model, whether commands are asked for, which turn, tokens.

use crate::text::say;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::call;
use crate::approval::Mode;
use crate::conversation::{TransitionReason, Turn, Usage};
use crate::text::{self, Show};
use crate::tui::View;
use crate::tui::paint::{self, Piece};
use crate::tui::theme::Look;

/// Milliseconds of silence after which the way to end it is named.
const LONG_WAIT: u64 = 5_000;

/// Draws the line. What does not fit is left out, the least important first.
pub(in crate::tui) fn draw(view: &View<'_>, area: Rect, buf: &mut Buffer) {
    let profile = view.model.profile();
    let model = text::visible(&profile.model, Show::Prose).into_owned();
    let server = text::visible(&profile.name, Show::Prose).into_owned();
    let (mode, mode_look) = match view.model.setup.mode {
        Mode::Ask => (say!("ask").to_owned(), Look::Text),
        Mode::Yolo => (" YOLO ".to_owned(), Look::Yolo),
    };
    let directory = text::visible(&view.model.setup.directory, Show::Prose).into_owned();
    let turn = turn(view);
    let short_turn = [turn.first(), turn.last()].into_iter().flatten().cloned();
    let short_turn = short_turn.collect::<Vec<_>>().join(" · ");
    // Each with its rank: the higher, the sooner it is left out.
    let mut parts: Vec<(u8, String, Look)> = vec![
        (4, "limpid".to_owned(), Look::Strong),
        (3, directory, Look::Text),
        (1, format!("{model} @ {server}"), Look::Text),
        (0, mode, mode_look),
        (2, turn.join(" · "), Look::Text),
        (5, tokens(view), Look::Dim),
    ];
    parts.retain(|(_, text, _)| !text.is_empty());
    let columns = |parts: &[(u8, String, Look)]| -> usize {
        1 + parts.iter().map(|(_, text, _)| text::width(text) + 3).sum::<usize>()
    };
    while columns(&parts) > usize::from(area.width) + 3 && parts.len() > 1 {
        let Some(last) = (0..parts.len()).max_by_key(|&index| parts[index].0) else { break };
        let turn_is_next = parts[last].0 == 2;
        let server = parts.iter().position(|(rank, text, _)| *rank == 1 && *text != model);
        // Details go before the turn does.
        match server {
            _ if turn_is_next && turn.len() > 2 && parts[last].1 != short_turn => {
                parts[last].1.clone_from(&short_turn);
            }
            Some(place) if turn_is_next => parts[place].1.clone_from(&model),
            _ => drop(parts.remove(last)),
        }
    }
    let mut pieces: Vec<Piece<'_>> = vec![(" ", Look::Text)];
    for (index, (_, text, look)) in parts.iter().enumerate() {
        if index > 0 {
            pieces.push((if index == 1 && parts[0].0 == 4 { "  " } else { "   " }, Look::Text));
        }
        pieces.push((text, *look));
    }
    paint::pieces(buf, (area.x, area.y), area.width, &pieces, view.theme);
}

/// The turn, why the loop is there, and what it does, in that order.
fn turn(view: &View<'_>) -> Vec<String> {
    let model = view.model;
    let Some(turn) = model.session.turns.last().filter(|_| !model.cleared) else {
        return Vec::new();
    };
    let mut parts = vec![say!("turn {number}", number = turn.number)];
    if let Some(ended) = model.session.ended.as_ref().filter(|_| !model.running) {
        parts.push(in_words(ended).to_owned());
    } else if model.turns_of_prompt > 1 {
        let before = model.session.turns.iter().rev().nth(1).and_then(|turn| turn.response());
        let stop_reason = before.and_then(|response| response.stop_reason.as_deref());
        parts.push(in_words(&TransitionReason::to_go_on(stop_reason)).to_owned());
    }
    let limit = model.setup.turn_limit;
    if model.turns_of_prompt > 1 && model.turns_of_prompt + 5 > limit {
        parts.push(say!("{turn} of at most {limit}", turn = model.turns_of_prompt, limit = limit));
    }
    if model.running {
        let since = |at: Option<u64>| at.map(|at| call::seconds(view.unix_ms.saturating_sub(at)));
        if model.approval.is_some() {
            parts.push(say!("asks").to_owned());
        } else if let Some((attempt, of, until)) = model.retry {
            let seconds = until.saturating_sub(view.unix_ms).div_ceil(1000);
            parts.push(say!(
                "retry {attempt} of {of} in {seconds} s, Esc stops",
                attempt = attempt,
                of = of,
                seconds = seconds,
            ));
        } else if turn.response().is_none() {
            let streams = model.conversation.is_streaming();
            let word = if streams { say!("streaming") } else { say!("waiting") };
            parts.extend(since(turn.posted_at()).map(|time| format!("{word} {time}")));
            let waits = turn.posted_at().is_some_and(|at| view.unix_ms >= at + LONG_WAIT);
            if let Some(told) = parts.last_mut().filter(|_| waits && !streams) {
                told.push_str(say!(", Esc stops"));
            }
        } else if model.tools.running(&model.session) {
            parts.push(say!("running").to_owned());
        }
    }
    parts
}

/// Why the loop goes on, or ended.
fn in_words(reason: &TransitionReason) -> &'static str {
    match reason {
        TransitionReason::ToolResult => say!("results sent"),
        TransitionReason::Paused => say!("paused"),
        TransitionReason::Answered => say!("answered"),
        TransitionReason::EmptyReply => say!("empty reply"),
        TransitionReason::Stopped => say!("stopped"),
        TransitionReason::TurnLimit(_) => say!("turn limit"),
        TransitionReason::RepeatedDenial => say!("denied again"),
        TransitionReason::Failed(_) => say!("failed"),
        TransitionReason::ProgramEnded => say!("limpid ended"),
    }
}

/// Tokens of the newest turn: how long the conversation is now, what of it was read and what was
/// written. Until the server has told them, how long its request is about.
fn tokens(view: &View<'_>) -> String {
    let mut sent = view.model.session.turns.iter().rev().filter(|turn| !turn.never_left());
    let Some(newest) = sent.next().filter(|_| !view.model.cleared) else { return String::new() };
    let told = |turn: &Turn| turn.response().and_then(|response| response.usage);
    let usage = told(newest);
    let read = usage.and_then(Usage::read);
    let output = usage.and_then(|usage| usage.output);
    let context = match read {
        Some(read) => format!("ctx {}", count(read.saturating_add(output.unwrap_or(0)))),
        None => {
            let known = sent.take(8).find_map(|turn| Some((told(turn)?.read()?, turn)));
            let known = known.map(|(tokens, turn)| (tokens, turn.request.bytes));
            format!("ctx ~{}", count(estimate(newest.request.bytes, known)))
        }
    };
    let input = read.map(|tokens| format!("↑{}", count(tokens)));
    let output = output.map(|tokens| format!("↓{}", count(tokens)));
    [Some(context), input, output].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// About how many tokens a body has, by those of another that was told, or by what is usual.
fn estimate(bytes: u64, known: Option<(u64, u64)>) -> u64 {
    let (tokens, of) = known.filter(|(_, of)| *of > 0).unwrap_or((10, 36));
    u64::try_from(u128::from(bytes) * u128::from(tokens) / u128::from(of)).unwrap_or(u64::MAX)
}

/// A count, short: `212`, `3.9k`, `1.2M`.
fn count(n: u64) -> String {
    let tenths = |unit: u64| format!("{}.{}", n / unit, n % unit * 10 / unit);
    match n {
        0..1_000 => n.to_string(),
        1_000..1_000_000 => format!("{}k", tenths(1_000)),
        _ => format!("{}M", tenths(1_000_000)),
    }
}
