//! What the result of a bash call says, in the words that limpid tells a model: first whether the
//! user edited the command, then the output, at the end how it ended; or that it was denied.

use serde::Deserialize;

/// A result, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Outcome<'a> {
    /// The command that was run, if the user edited the proposed one.
    pub(super) executed: Option<&'a str>,
    /// What it printed; empty if nothing.
    pub(super) output: &'a str,
    pub(super) end: End<'a>,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End<'a> {
    /// With this exit code.
    Exit(i32),
    /// It was stopped before its end: how, in the client's words.
    CutOff(&'a str),
    /// It was not run; the reason, if one was given.
    Denied(Option<&'a str>),
    /// It was not started, nobody having denied it; why, in the client's words.
    NotRun(&'a str),
    /// The result does not say.
    Unclear,
}

/// The kinds of results for which there are different texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum When {
    /// Exit code 0, and something was printed.
    Ok,
    /// Exit code 0, and nothing was printed.
    Empty,
    /// Another exit code.
    Failed,
    /// Stopped before its end.
    CutOff,
    /// Denied without a reason.
    Denied,
    /// Denied with a reason.
    DeniedFor,
    /// Not started, and not denied either.
    NotRun,
    /// The result does not say how it ended.
    Unclear,
    /// There is no result.
    Missing,
    /// The user ran another command instead.
    Replaced,
}

impl<'a> Outcome<'a> {
    /// Reads the text of a result.
    pub(super) fn read(text: &'a str) -> Self {
        let (executed, rest) = edited(text);
        let rest = rest.trim_end();
        let (body, last) = rest.rsplit_once('\n').unwrap_or(("", rest));
        let (output, end) = match end_of(last) {
            Some(end) => (body, end),
            None if starts(rest, &["Denied by", "Denied:"]) => ("", End::Denied(reason(rest))),
            None if starts(rest, &["Error: not run", "Not started", "[not run"]) => {
                ("", End::NotRun(rest))
            }
            None => (rest, End::Unclear),
        };
        let output = if output.trim() == "(no output)" { "" } else { output.trim_end() };
        Self { executed, output, end }
    }

    /// Which text fits it.
    pub(super) fn when(&self) -> When {
        match self.end {
            End::Exit(0) if self.output.is_empty() => When::Empty,
            End::Exit(0) => When::Ok,
            End::Exit(_) => When::Failed,
            End::CutOff(_) => When::CutOff,
            End::Denied(None) => When::Denied,
            End::Denied(Some(_)) => When::DeniedFor,
            End::NotRun(_) => When::NotRun,
            End::Unclear => When::Unclear,
        }
    }
}

/// Takes the lines about editing off the front. A command of several lines is indented, and what it
/// wrote begins after a line of its own.
fn edited(text: &str) -> (Option<&str>, &str) {
    if !text.starts_with("The user edited the command.") {
        return (None, text);
    }
    let words = ["Executed:", "Edited to:"];
    let Some((_, after)) = words.iter().find_map(|word| text.split_once(word)) else {
        return (None, text);
    };
    if let Some(block) = after.strip_prefix('\n') {
        let is_of_command = |line: &&str| line.starts_with("    ");
        let lines = block.split_inclusive('\n').take_while(is_of_command);
        let (executed, rest) = block.split_at(lines.map(str::len).sum());
        return (Some(executed.trim()), rest.strip_prefix("Output:\n").unwrap_or(rest));
    }
    let (executed, rest) = after.split_once('\n').unwrap_or((after, ""));
    (Some(executed.trim()), rest)
}

fn end_of(line: &str) -> Option<End<'_>> {
    let note = line.strip_prefix('[')?.strip_suffix(']')?;
    if let Some(code) = note.strip_prefix("exit code ") {
        // Some codes are explained: `[exit code 127: command not found]`.
        let code = code.split_once(':').map_or(code, |(code, _)| code);
        return code.parse().ok().map(End::Exit);
    }
    starts(note, &["timed out", "stopped by", "ended by", "ended:"]).then_some(End::CutOff(note))
}

fn starts(text: &str, with: &[&str]) -> bool {
    with.iter().any(|start| text.starts_with(start))
}

fn reason(denial: &str) -> Option<&str> {
    let (_, reason) = denial.split_once("Reason:")?;
    Some(reason.trim()).filter(|reason| !reason.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_results_apart() {
        let cases = [
            ("a\nb\n[exit code 0]", None, "a\nb", End::Exit(0)),
            ("(no output)\n[exit code 0]", None, "", End::Exit(0)),
            ("[exit code 1]", None, "", End::Exit(1)),
            ("x\n[exit code -9]\n", None, "x", End::Exit(-9)),
            (
                "The user edited the command. Proposed: ls Executed: ls -l\nout\n[exit code 0]",
                Some("ls -l"),
                "out",
                End::Exit(0),
            ),
            (
                "The user edited the command.\nProposed: ls\nExecuted: ls -l\nout\n[exit code 2]",
                Some("ls -l"),
                "out",
                End::Exit(2),
            ),
            (
                "The user edited the command.\nProposed:\n    ls\n    ls\nExecuted:\n    pwd\n    \n    ls\n\
                Output:\nout\n[exit code 0]",
                Some("pwd\n    \n    ls"),
                "out",
                End::Exit(0),
            ),
            (
                "The user edited the command. Proposed: ls\nEdited to: x\n[not run: y]",
                Some("x"),
                "",
                End::NotRun("[not run: y]"),
            ),
            (
                "Denied by the user; not executed. Reason: use `ls`.",
                None,
                "",
                End::Denied(Some("use `ls`.")),
            ),
            ("Denied by the user; not executed.", None, "", End::Denied(None)),
            ("Denied by policy\n[exit code 1]", None, "Denied by policy", End::Exit(1)),
            (
                "1\n[timed out after 3 s, stopped]",
                None,
                "1",
                End::CutOff("timed out after 3 s, stopped"),
            ),
            (
                "(no output)\n[stopped by the user after 2 s]",
                None,
                "",
                End::CutOff("stopped by the user after 2 s"),
            ),
            ("x\n[exit code 127: command not found]", None, "x", End::Exit(127)),
            ("[ended by signal 9 (SIGKILL)]", None, "", End::CutOff("ended by signal 9 (SIGKILL)")),
            ("Denied: denied 3 times; not executed.", None, "", End::Denied(None)),
            ("Error: not run. x", None, "", End::NotRun("Error: not run. x")),
            ("[not run: x]", None, "", End::NotRun("[not run: x]")),
            ("[1, 2]", None, "[1, 2]", End::Unclear),
            ("", None, "", End::Unclear),
        ];
        for (text, executed, output, end) in cases {
            assert_eq!(Outcome::read(text), Outcome { executed, output, end }, "{text}");
        }
    }
}
