//! What the model is told first when the user ran something else than it proposed.

use std::fmt::Write as _;

/// Characters of the proposed command that are told: the model has it in its own call.
const PROPOSED: usize = 1_000;
/// Characters of the executed command that are told.
const EXECUTED: usize = 8_000;

/// The note before a result. Commands of several lines are indented, and what they wrote begins
/// after a line of its own, so that no line of the one can be taken for the other.
pub(super) fn note(proposed: &str, executed: &str, has_run: bool) -> String {
    let word = if has_run { "Executed" } else { "Edited to" };
    let mut note = "The user edited the command.".to_owned();
    note.push(if proposed.contains('\n') { '\n' } else { ' ' });
    command(&mut note, "Proposed", proposed, PROPOSED);
    command(&mut note, word, executed, EXECUTED);
    if has_run && executed.contains('\n') {
        note.push_str("Output:\n");
    }
    note
}

fn command(note: &mut String, word: &str, command: &str, most: usize) {
    let cut = command.char_indices().nth(most).map_or(command.len(), |(at, _)| at);
    let (shown, rest) = command.split_at(cut);
    let _ = write!(note, "{word}:");
    if command.contains('\n') {
        note.push('\n');
        for line in shown.split('\n') {
            let _ = writeln!(note, "    {line}");
        }
    } else {
        let _ = writeln!(note, " {shown}");
    }
    if !rest.is_empty() {
        let _ = writeln!(note, "    [… {} more characters]", rest.chars().count());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_one_line_and_of_several() {
        let cases = [
            ("ls", "ls -l", true, "The user edited the command. Proposed: ls\nExecuted: ls -l\n"),
            ("ls", "ls -l", false, "The user edited the command. Proposed: ls\nEdited to: ls -l\n"),
            (
                "ls",
                "a\n\nb",
                true,
                "The user edited the command. Proposed: ls\nExecuted:\n    a\n    \n    b\nOutput:\n",
            ),
            (
                "a\nb",
                "ls",
                true,
                "The user edited the command.\nProposed:\n    a\n    b\nExecuted: ls\n",
            ),
        ];
        for (proposed, executed, has_run, expected) in cases {
            assert_eq!(note(proposed, executed, has_run), expected);
        }
    }

    #[test]
    fn a_long_command_is_cut_and_counted() {
        let note = note("x", &"é".repeat(9_000), true);
        assert!(note.ends_with("é\n    [… 1000 more characters]\n"));
        assert!(note.chars().count() < 8_200);
    }
}
