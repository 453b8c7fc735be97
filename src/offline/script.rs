//! Transcript → answer: a pure function. Which prompts there are and what is said is data (`book`);
//! here is how a script is followed, and how a lenient server's model goes astray.

use serde_json::json;

use super::book::{Book, Saying, Script, Step};
use super::outcome::{End, Outcome};
use super::pattern::Slots;
use super::shell;
use super::transcript::{Call, Reply, Transcript};

/// What the model says and asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Answer {
    /// What it thought before; mostly nothing.
    pub(super) reasoning: String,
    pub(super) text: String,
    pub(super) calls: Vec<AskedCall>,
}

/// A call that the model asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AskedCall {
    pub(super) name: String,
    /// JSON text.
    pub(super) arguments: String,
}

/// What the answer depends on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) transcript: &'a Transcript,
    /// Whether the client offers a tool called `bash`.
    pub(super) bash: bool,
    /// Whether to think in any case, and not only where a prompt asks for it.
    pub(super) thinks: bool,
    /// Whether to go on when results are missing.
    pub(super) lenient: bool,
}

/// A script with its slots filled in.
struct Plan<'a> {
    steps: Vec<PlannedStep>,
    answers: &'a [Saying],
    invented: String,
    slots: Slots,
}

struct PlannedStep {
    say: String,
    commands: Vec<String>,
}

/// Answers the newest prompt, as far as the messages tell what came of it.
pub(super) fn answer(books: &[Book], question: Question) -> Answer {
    let transcript = question.transcript;
    let prompt = transcript.prompt().unwrap_or_default();
    let Some(book) = book_for(books, prompt) else { return Answer::default() };
    let mut answer = answer_from(book, prompt, &question);
    if question.thinks || book.asks_to_think(prompt) {
        answer.reasoning = book.thought(prompt, transcript);
    }
    answer
}

fn answer_from(book: &Book, prompt: &str, question: &Question) -> Answer {
    let transcript = question.transcript;
    let plan = commands(book, book.without_openings(prompt)).or_else(|| plan(book, prompt));
    if question.lenient
        && let Some(answer) = gone_astray(book, transcript, plan.as_ref())
    {
        return answer;
    }
    match plan {
        Some(plan) => follow(book, transcript, &plan, question.bash),
        None if book.asks_to_recall(prompt) => {
            Answer::says(super::recall::answer(book, transcript))
        }
        None => Answer::says(book.about.fill(&Slots::new())),
    }
}

impl Answer {
    fn says(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

/// The book in which the prompt stands, else the one in whose words it begins, else the one of its
/// writing system.
fn book_for<'a>(books: &'a [Book], prompt: &str) -> Option<&'a Book> {
    let knows = |book: &&Book| book.script(prompt).is_some() || book.asks_to_recall(prompt);
    let han = prompt.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
    let opens = |book: &&Book| book.asks_to_think(prompt);
    let by_words = books.iter().find(knows).or_else(|| books.iter().find(opens));
    by_words.or_else(|| if han { books.last() } else { books.first() })
}

/// The lines of a prompt that start with `$ `, as calls of one reply.
fn commands<'a>(book: &'a Book, prompt: &str) -> Option<Plan<'a>> {
    let lines = prompt.lines().filter_map(|line| line.strip_prefix("$ "));
    let commands: Vec<String> =
        lines.filter(|line| !line.trim().is_empty()).map(str::to_owned).collect();
    let say = match commands.len() {
        0 => return None,
        1 => book.one_command.fill(&Slots::new()),
        count => {
            let slots = Slots::from([("count".to_owned(), count.to_string())]);
            book.several_commands.fill(&slots)
        }
    };
    let invented = book.invented.fill(&Slots::new());
    let steps = vec![PlannedStep { say, commands }];
    Some(Plan { steps, answers: &[], invented, slots: Slots::new() })
}

/// The script that the prompt asks for.
fn plan<'a>(book: &'a Book, prompt: &str) -> Option<Plan<'a>> {
    let (script, mut slots) = book.script(prompt)?;
    if let Some(content) = content(&slots) {
        slots.insert("content".to_owned(), content);
    }
    let steps = planned(script, &slots);
    let invented = script.invented.fill(&slots);
    Some(Plan { steps, answers: &script.answers, invented, slots })
}

fn planned(script: &Script, slots: &Slots) -> Vec<PlannedStep> {
    let step = |step: &Step| {
        let times = step.times.as_ref().and_then(|slot| slots.get(slot)?.parse().ok());
        let mut commands = Vec::new();
        for n in 1..=times.unwrap_or(1_u8) {
            let mut slots = slots.clone();
            slots.insert("n".to_owned(), n.to_string());
            commands.extend(step.run.iter().map(|command| command.fill(&slots)));
        }
        PlannedStep { say: step.say.fill(slots), commands }
    };
    script.steps.iter().map(step).collect()
}

/// What is written into a file: the text itself, or a line of program that prints it.
fn content(slots: &Slots) -> Option<String> {
    let Some(prints) = slots.get("prints") else { return slots.get("text").cloned() };
    let extension = slots.get("file").and_then(|file| file.rsplit_once('.')).map(|(_, it)| it);
    // A string of JSON is one of Python and of JavaScript too.
    let literal = json!(prints).to_string();
    Some(match extension.unwrap_or_default() {
        "py" => format!("print({literal})"),
        "js" | "mjs" => format!("console.log({literal});"),
        "sh" => format!("printf '%s\\n' {}", shell::quote(prints)),
        _ => prints.clone(),
    })
}

/// The next step of the plan, or what is said when it is over.
fn follow(book: &Book, transcript: &Transcript, plan: &Plan, bash: bool) -> Answer {
    let done = transcript.steps().count();
    let mut before = String::new();
    if let Some((at, reply)) = transcript.steps().next() {
        let results = results(transcript, at, reply);
        for (call, outcome) in &results {
            before += &book.say_edited(&call.command, outcome);
        }
        let went_well = results.iter().all(|(_, outcome)| outcome.end == End::Exit(0));
        if done >= plan.steps.len() || !went_well {
            // A script's own words are about its one call; several are named one by one.
            let own = if results.len() == 1 { plan.answers } else { &[] };
            let said: Vec<String> = results
                .iter()
                .map(|(call, outcome)| book.say(own, &call.command, outcome, &plan.slots))
                .collect();
            return Answer::says(before + &said.join("\n\n"));
        }
    }
    match plan.steps.get(done) {
        Some(step) if bash => Answer {
            text: before + &step.say,
            calls: step.commands.iter().map(|command| AskedCall::bash(command)).collect(),
            ..Answer::default()
        },
        _ => Answer::says(before + &book.no_tools.fill(&plan.slots)),
    }
}

impl AskedCall {
    fn bash(command: &str) -> Self {
        Self { name: "bash".to_owned(), arguments: json!({ "command": command }).to_string() }
    }
}

/// The calls of a reply with their results.
fn results<'a>(
    transcript: &'a Transcript,
    at: usize,
    reply: &'a Reply,
) -> Vec<(&'a Call, Outcome<'a>)> {
    let with_result = |call| Some((call, Outcome::read(transcript.result(at, call)?)));
    reply.calls.iter().filter_map(with_result).collect()
}

/// What models do when the newest call stands without a result: they ask for it again, as if for
/// the first time; when it stands there twice, they make a result up.
///
/// A reply without calls closes the matter: what was asked before it is not asked again.
fn gone_astray(book: &Book, transcript: &Transcript, plan: Option<&Plan>) -> Option<Answer> {
    let mut unanswered: Vec<&Call> = Vec::new();
    let mut newest: Option<(&Reply, Vec<&Call>)> = None;
    for (at, reply) in transcript.replies().take_while(|(_, reply)| !reply.calls.is_empty()) {
        let open = reply.calls.iter().filter(|call| transcript.result(at, call).is_none());
        let open: Vec<&Call> = open.collect();
        unanswered.extend(&open);
        newest.get_or_insert((reply, open));
    }
    let (reply, open) = newest.filter(|(_, open)| !open.is_empty())?;
    let same =
        |call: &Call, other: &Call| call.name == other.name && call.arguments == other.arguments;
    let times = |call: &Call| unanswered.iter().filter(|other| same(call, other)).count();
    if open.iter().any(|call| times(call) >= 2) {
        let invented = plan.map(|plan| plan.invented.clone());
        return Some(Answer::says(invented.unwrap_or_else(|| book.invented.fill(&Slots::new()))));
    }
    let again =
        |call: &&Call| AskedCall { name: call.name.clone(), arguments: call.arguments.clone() };
    let calls = open.iter().map(again).collect();
    Some(Answer { text: reply.text.clone(), calls, ..Answer::default() })
}
