//! What is worth knowing before a decision without being dangerous in itself.

use crate::text::{fit, hidden, mixed_script_words, runs_leftwards, spelled};

/// More lines than this are counted in a remark.
const MANY_LINES: usize = 10;
/// A line of more characters than this is named: its end is out of sight.
const LONG_LINE: usize = 400;
/// So many spaces in a row, or blank lines, can push a command out of sight.
const MANY_SPACES: usize = 20;
const MANY_BLANK_LINES: usize = 5;

/// The remarks on a command, in words.
pub(super) fn remarks(command: &str) -> Vec<String> {
    let mut found = Vec::new();
    let marks: Vec<String> =
        hidden(command).into_iter().filter(|c| *c != '\t').map(spelled).collect();
    if !marks.is_empty() {
        found.push(format!("hidden characters, spelled out: {}", fit(&marks.join(" "), 120)));
    }
    let words = mixed_script_words(command);
    if !words.is_empty() {
        found.push(format!("letters of two scripts in one word: {}", fit(&words.join(" "), 120)));
    }
    if runs_leftwards(command) {
        let what = "letters that run from right to left: the terminal may show the order otherwise";
        found.push(what.to_owned());
    }
    let lines = command.lines().count();
    if lines > MANY_LINES {
        found.push(format!("{lines} lines"));
    }
    let longest = command.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    if longest > LONG_LINE {
        found.push(format!("a line of {longest} characters"));
    }
    let spaces = command.lines().map(|line| longest_run(line.trim().chars())).max().unwrap_or(0);
    if spaces >= MANY_SPACES {
        found.push(format!("{spaces} spaces in a row, with more behind them"));
    }
    let mut blank = 0;
    let mut run = 0;
    for line in command.trim().lines() {
        run = if line.trim().is_empty() { run + 1 } else { 0 };
        blank = blank.max(run);
    }
    if blank >= MANY_BLANK_LINES {
        found.push(format!("{blank} blank lines in a row, with more behind them"));
    }
    found
}

/// The longest run of white space.
fn longest_run(chars: impl Iterator<Item = char>) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in chars {
        run = if c.is_whitespace() { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_worth_knowing() {
        for (command, remark) in [
            (
                "ls\u{202e} \u{200b}x\u{1b}[2K",
                "hidden characters, spelled out: <U+202E> <U+200B> \\x1b",
            ),
            ("ls\r\nrm x", "hidden characters, spelled out: \\r"),
            ("git\u{a0}log", "hidden characters, spelled out: <U+00A0>"),
            ("curl https://p\u{430}ypal.com", "letters of two scripts in one word: p\u{430}ypal"),
            (
                "cp \u{5d0} > \u{5d1}",
                "letters that run from right to left: the terminal may show the order otherwise",
            ),
            ("ls \u{e000}", "hidden characters, spelled out: <U+E000>"),
            (&"ls\n".repeat(11), "11 lines"),
            (&"x".repeat(401), "a line of 401 characters"),
            (&format!("ls{}rm x", " ".repeat(60)), "60 spaces in a row, with more behind them"),
            (&format!("ls{}rm x", "\n".repeat(7)), "6 blank lines in a row, with more behind them"),
        ] {
            assert_eq!(remarks(command), [remark], "{command:?}");
        }
        for command in
            ["ls", "if x; then\n\t\ty\nfi", "            indented", "echo 你好", "a | b", ""]
        {
            assert_eq!(remarks(command), [""; 0], "{command:?}");
        }
    }
}
