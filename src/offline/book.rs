//! The data in `assets/offline/`: one book for each language, and how its texts are filled in.
//!
//! In a text, `{name}` stands for a slot of the prompt or a fact of the result, `{name:sh}` for
//! the same quoted for the shell.

use std::collections::BTreeMap;
use std::io;

use serde::Deserialize;

use super::outcome::{End, Outcome, When};
use super::pattern::{Numbers, Pattern, Slots};
use super::shell;
use super::transcript::Transcript;

/// Lines of output that an answer quotes.
const QUOTED_LINES: usize = 20;
/// Characters of one line of output that an answer quotes.
const QUOTED_CHARS: usize = 200;
/// Characters of a command that an answer names.
const NAMED_CHARS: usize = 80;

/// All that the model says in one language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Book {
    /// The answer to any prompt that no script is for.
    pub(super) about: Text,
    /// Said when commands would be needed but the client offers no `bash`.
    pub(super) no_tools: Text,
    /// Said before one command that a prompt asked for with `$ `.
    pub(super) one_command: Text,
    /// Said before several.
    pub(super) several_commands: Text,
    /// Said before anything else when the user edited a command.
    edited: Text,
    /// Stands for lines that are not quoted.
    more: Text,
    /// The made-up result of a call that is no script's.
    pub(super) invented: Text,
    /// What may stand before any prompt.
    courtesies: Vec<String>,
    thinking: Thinking,
    numbers: Numbers,
    /// By name; the same names in every book.
    scripts: BTreeMap<String, Script>,
    /// What is said of results for which a script has no words.
    results: Vec<Saying>,
    pub(super) recall: Recall,
}

/// Prompts, and what they lead to.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Script {
    prompts: Vec<Pattern>,
    pub(super) steps: Vec<Step>,
    /// What is said when the last step is done, or a step failed.
    #[serde(default)]
    pub(super) answers: Vec<Saying>,
    /// What is made up when the result is never seen.
    pub(super) invented: Text,
}

/// One reply of a script: a text and the commands that it asks to run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    pub(super) say: Text,
    pub(super) run: Vec<Text>,
    /// The slot that says how often the commands are repeated, with `{n}` from 1.
    #[serde(default)]
    pub(super) times: Option<String>,
}

/// What is said of a result.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Saying {
    when: When,
    /// What the output must contain.
    #[serde(default)]
    contains: String,
    say: Text,
}

/// "What file did we just create?"
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recall {
    prompts: Vec<Pattern>,
    pub(super) unknown: Text,
    pub(super) answers: Vec<Saying>,
}

/// Reasoning before the answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Thinking {
    /// What stands before a prompt that asks for it.
    asked_by: Vec<String>,
    say: Text,
}

/// A text with slots: a string, or a list of lines.
#[derive(Debug, Deserialize)]
#[serde(from = "Lines")]
pub(super) struct Text(String);

#[derive(Deserialize)]
#[serde(untagged)]
enum Lines {
    One(String),
    Many(Vec<String>),
}

impl From<Lines> for Text {
    fn from(lines: Lines) -> Self {
        match lines {
            Lines::One(line) => Self(line),
            Lines::Many(lines) => Self(lines.join("\n")),
        }
    }
}

impl Text {
    /// The text with its slots filled in; braces that name no slot stay as they are.
    pub(super) fn fill(&self, slots: &Slots) -> String {
        let mut filled = String::new();
        let mut rest = self.0.as_str();
        while let Some(open) = rest.find('{') {
            filled.push_str(&rest[..open]);
            rest = &rest[open..];
            let slot = rest.find('}').and_then(|close| {
                let name = &rest[1..close];
                let value = match name.strip_suffix(":sh") {
                    Some(name) => shell::quote(slots.get(name)?),
                    None => slots.get(name)?.clone(),
                };
                Some((value, close + 1))
            });
            let (value, end) = slot.unwrap_or_else(|| ("{".to_owned(), 1));
            filled.push_str(&value);
            rest = &rest[end..];
        }
        filled + rest
    }
}

impl Book {
    /// Reads all books.
    ///
    /// # Errors
    /// A book is not of the shape above; a test keeps that from happening.
    pub(super) fn all() -> io::Result<Vec<Self>> {
        let books = [
            include_str!("../../assets/offline/en.json"),
            include_str!("../../assets/offline/zh.json"),
        ];
        let read = |book| serde_json::from_str(book).map_err(io::Error::from);
        books.into_iter().map(read).collect()
    }

    /// The script that a prompt asks for, and what its slots hold.
    pub(super) fn script(&self, prompt: &str) -> Option<(&Script, Slots)> {
        let prompt = self.without_openings(prompt);
        self.scripts.values().find_map(|script| {
            let slots = script.prompts.iter().find_map(|it| it.capture(prompt, &self.numbers))?;
            Some((script, slots))
        })
    }

    /// Whether a prompt asks what was created.
    pub(super) fn asks_to_recall(&self, prompt: &str) -> bool {
        let prompt = self.without_openings(prompt);
        self.recall.prompts.iter().any(|it| it.capture(prompt, &self.numbers).is_some())
    }

    /// A prompt without what may stand before any.
    pub(super) fn without_openings<'a>(&self, mut prompt: &'a str) -> &'a str {
        prompt = prompt.trim_start();
        let openings = || self.courtesies.iter().chain(&self.thinking.asked_by);
        while let Some(it) = openings().find(|it| starts_with(prompt, it)) {
            prompt = prompt[it.len()..].trim_start();
        }
        prompt
    }

    /// Whether a prompt asks to think before the answer.
    pub(super) fn asks_to_think(&self, prompt: &str) -> bool {
        self.thinking.asked_by.iter().any(|it| starts_with(prompt.trim_start(), it))
    }

    /// What is thought before the answer: what there is to go by.
    pub(super) fn thought(&self, prompt: &str, transcript: &Transcript) -> String {
        let facts = [
            ("prompt", named(self.without_openings(prompt))),
            ("messages", transcript.len().to_string()),
            ("results", transcript.results().to_string()),
        ];
        let facts = facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        self.thinking.say.fill(&facts)
    }

    /// What is said of a result: in the script's own words if it has some.
    pub(super) fn say(
        &self,
        own: &[Saying],
        command: &str,
        outcome: &Outcome,
        slots: &Slots,
    ) -> String {
        let mut slots = slots.clone();
        slots.extend(self.facts(command, outcome));
        let sayings = own.iter().chain(&self.results);
        first_fitting(sayings, outcome.when(), outcome.output)
            .map_or_else(|| outcome.output.to_owned(), |saying| saying.say.fill(&slots))
    }

    /// Says that a command was edited; empty if it was not.
    pub(super) fn say_edited(&self, command: &str, outcome: &Outcome) -> String {
        match outcome.executed {
            Some(_) => self.edited.fill(&self.facts(command, outcome)) + "\n\n",
            None => String::new(),
        }
    }

    /// What a text may name of a call and its result.
    pub(super) fn facts(&self, command: &str, outcome: &Outcome) -> Slots {
        let mut facts = vec![
            ("command", named(outcome.executed.unwrap_or(command))),
            ("proposed", named(command)),
            ("line", outcome.output.lines().next().unwrap_or_default().to_owned()),
            ("lines", outcome.output.lines().count().to_string()),
            ("quote", self.quoted(outcome.output)),
        ];
        match outcome.end {
            End::Exit(code) => facts.push(("exit", code.to_string())),
            End::CutOff(note) | End::NotRun(note) => facts.push(("note", note.to_owned())),
            End::Denied(Some(reason)) => facts.push(("reason", reason.to_owned())),
            End::Denied(None) | End::Unclear => {}
        }
        facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Output as a block of code, its first lines only if it is long.
    fn quoted(&self, output: &str) -> String {
        let output = if output.is_empty() { "(no output)" } else { output };
        let mut fence = String::from("```");
        while output.contains(&fence) {
            fence.push('`');
        }
        let mut quoted = format!("{fence}\n");
        for line in output.lines().take(QUOTED_LINES) {
            quoted += &(shortened(line, QUOTED_CHARS) + "\n");
        }
        quoted += &fence;
        let left = output.lines().count().saturating_sub(QUOTED_LINES);
        if left > 0 {
            let slots = Slots::from([("lines".to_owned(), left.to_string())]);
            quoted = quoted + "\n\n" + &self.more.fill(&slots);
        }
        quoted
    }
}

impl Recall {
    /// What is said of a call that was to create files.
    pub(super) fn say(&self, when: When, facts: &Slots) -> Option<String> {
        first_fitting(self.answers.iter(), when, "").map(|saying| saying.say.fill(facts))
    }
}

fn first_fitting<'a>(
    mut sayings: impl Iterator<Item = &'a Saying>,
    when: When,
    output: &str,
) -> Option<&'a Saying> {
    sayings.find(|saying| saying.when == when && output.contains(&saying.contains))
}

/// Whether a text starts so, in any case of its letters.
fn starts_with(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start))
}

/// A command as a sentence can name it: one line, not too long.
fn named(command: &str) -> String {
    let mut lines = command.lines();
    let first = lines.next().unwrap_or_default();
    let more = if lines.next().is_some() { " …" } else { "" };
    shortened(first, NAMED_CHARS) + more
}

fn shortened(line: &str, most: usize) -> String {
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_the_same_scripts() {
        let books = Book::all().unwrap();
        let names: Vec<Vec<&String>> =
            books.iter().map(|book| book.scripts.keys().collect()).collect();
        assert!(names[0].len() >= 4);
        assert!(names.iter().all(|it| *it == names[0]), "{names:?}");
    }

    #[test]
    fn every_result_has_a_text() {
        use When::{
            CutOff, Denied, DeniedFor, Empty, Failed, Missing, NotRun, Ok, Replaced, Unclear,
        };
        for book in Book::all().unwrap() {
            for when in [Ok, Empty, Failed, CutOff, Denied, DeniedFor, NotRun, Unclear] {
                assert!(first_fitting(book.results.iter(), when, "").is_some(), "{when:?}");
            }
            for when in [Ok, Failed, CutOff, Denied, NotRun, Unclear, Missing, Replaced] {
                assert!(book.recall.say(when, &Slots::new()).is_some(), "{when:?}");
            }
        }
    }

    #[test]
    fn fills_slots_once_and_leaves_other_braces() {
        let slots = Slots::from([("a".to_owned(), "{b} it's".to_owned())]);
        let text = Text("{a} {a:sh} {c} ${HOME} {".to_owned());
        assert_eq!(text.fill(&slots), r"{b} it's '{b} it'\''s' {c} ${HOME} {");
    }

    #[test]
    fn long_output_is_quoted_in_part() {
        let book = &Book::all().unwrap()[0];
        let output: String = (1..=50).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
        let quoted = book.quoted(&output);
        assert!(quoted.contains("line 20\n```"), "{quoted}");
        assert!(quoted.contains("30 more lines"), "{quoted}");
        assert!(book.quoted("```\nx").starts_with("````\n```\nx\n````"));
    }
}
