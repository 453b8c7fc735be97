//! Reading a long conversation: only what is near is laid out, and that shows nowhere.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod stage;

use std::collections::HashSet;

use crossterm::event::KeyCode;
use limpid::conversation::TransitionReason;
use limpid::tui::Input;
use stage::Stage;

const PROMPTS: usize = 30;

/// An answer whose words are all different, in short and in long lines, with one block of code.
fn answer(prompt: usize) -> String {
    let mut text = String::new();
    for word in 0..40 + 97 * prompt % 400 {
        text.push_str(&format!("a{prompt}w{word}"));
        text.push_str(match word % 60 {
            3 | 7 | 31 => "\n\n",
            33 => "\n\n```\n",
            40..=44 => "\n",
            45 => "\n```\n\n",
            _ => " ",
        });
    }
    if text.matches("```").count() % 2 == 1 {
        text.push_str("\n```");
    }
    text
}

/// A long conversation as it is when it was just resumed, or the window has a new size: nothing that
/// was laid out before is of use.
fn long_session() -> Stage {
    let mut stage = Stage::new(80, 24);
    for number in 1..=PROMPTS {
        stage.prompt(&format!("prompt{number}"));
        stage.request();
        stage.reply(&answer(number), &[]);
        stage.ended(TransitionReason::Answered);
    }
    stage.resize(70, 20);
    stage.frame();
    stage.press(KeyCode::Tab);
    stage
}

/// The words in each of the conversation's rows, without what the pane writes over them.
fn rows(stage: &mut Stage) -> Vec<Vec<String>> {
    let screen = stage.screen();
    let rows = screen.lines().filter(|line| line.starts_with('│'));
    let words = |line: &str| {
        let (line, is_marked) =
            line.split_once('↓').map_or((line, false), |(line, _)| (line, true));
        let words = line.split([' ', '│', '▌']).filter(|word| !word.is_empty());
        let mut words: Vec<String> = words.map(str::to_owned).collect();
        if is_marked && !line.ends_with("  ") {
            words.pop();
        }
        words
    };
    rows.map(words).collect()
}

/// Presses a key until it changes nothing any more; what the screen showed before each.
fn screens(stage: &mut Stage, key: KeyCode) -> Vec<Vec<Vec<String>>> {
    let mut screens = vec![rows(stage)];
    loop {
        stage.press(key);
        let now = rows(stage);
        if screens.last() == Some(&now) {
            return screens;
        }
        screens.push(now);
    }
}

/// All words from screens that follow each other, each with a row of the one before.
fn joined(screens: &[Vec<Vec<String>>]) -> Vec<String> {
    let mut seen = HashSet::new();
    let words = screens.iter().flatten().flatten();
    let words = words.filter(|word| word.starts_with('a') && word.contains('w'));
    words.filter(|word| seen.insert(*word)).cloned().collect()
}

fn all_words() -> Vec<String> {
    let words = |prompt| {
        let answer = answer(prompt).replace("```", "");
        answer.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    (1..=PROMPTS).flat_map(words).collect()
}

#[test]
fn scrolling_passes_every_row_once_whichever_way() {
    let mut stage = long_session();
    let mut up = screens(&mut stage, KeyCode::PageUp);
    up.reverse();
    let down = screens(&mut stage, KeyCode::PageDown);
    assert!(
        up.len() > PROMPTS && down.len().abs_diff(up.len()) <= 1,
        "{} {}",
        up.len(),
        down.len()
    );
    for pair in down.windows(2) {
        let last = pair[0].last().unwrap();
        let common = pair[1].iter().any(|row| row.starts_with(last));
        assert!(common, "{:#?}\n{:#?}", pair[0], pair[1]);
    }
    assert_eq!(joined(&up), all_words(), "upwards");
    assert_eq!(joined(&down), all_words(), "downwards");
    let mut stage = long_session();
    stage.press(KeyCode::Home);
    assert!(screens(&mut stage, KeyCode::PageDown) == down, "from the start, unread");
}

#[test]
fn keys_find_every_prompt_and_call_in_what_was_never_in_sight() {
    let mut stage = long_session();
    for number in (1..=PROMPTS).rev() {
        stage.press(KeyCode::Char('p'));
        let row = format!("prompt{number}");
        assert!(rows(&mut stage)[..3].concat().contains(&row), "{number}: {}", stage.screen());
    }
    stage.press(KeyCode::End);
    assert!(stage.screen().contains(answer(PROMPTS).split_whitespace().last().unwrap()));
}

#[test]
fn a_terminal_that_lags_behind_shows_the_same() {
    let (mut slow, mut quick) = (long_session(), long_session());
    for key in [KeyCode::PageUp; 30].into_iter().chain([KeyCode::Char('p'); 5]) {
        quick.press(key);
        slow.input(Input::Key(key.into()));
        slow.draw_unseen();
    }
    assert_eq!(slow.screen(), quick.screen());
}

#[test]
fn a_search_counts_what_was_never_in_sight() {
    let mut stage = long_session();
    for c in "/w39".chars() {
        stage.press(KeyCode::Char(c));
    }
    let matches = all_words().iter().filter(|word| word.contains("w39")).count();
    let footer = stage.screen().lines().nth(19).unwrap().to_owned();
    assert!(footer.contains(&format!("of {matches}")), "{footer}");
    stage.press(KeyCode::Enter);
    stage.press(KeyCode::Char('n'));
    assert!(stage.screen().contains("a1w39 "), "{}", stage.screen());
}

#[test]
fn what_is_read_stays_in_sight_in_every_size() {
    let mut stage = long_session();
    for _ in 0..10 {
        stage.press(KeyCode::Char('p'));
    }
    let prompt = format!("prompt{}", PROMPTS - 9);
    for (columns, rows) in [(50, 15), (120, 40), (41, 11), (200, 60), (70, 20)] {
        stage.resize(columns, rows);
        stage.frame();
        assert!(stage.screen().contains(&prompt), "{columns}×{rows}: {}", stage.screen());
        stage.press(KeyCode::Char('z'));
        assert!(stage.screen().contains(&prompt), "{columns}×{rows}: {}", stage.screen());
    }
}
