//! A request in short: one row a wire message, and rows for what stands around them, so that the
//! rows' bytes add up to the body. The inspector, `limpid inspect` and tests share this format.

use std::collections::HashMap;
use std::sync::Arc;

use crate::conversation::{CallId, Entry, EntryId, Origin, Part, Role, Session, Slot, Turn};
use crate::text::{self, Show, say};

/// One line of a request's outline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What the row stands for.
    pub kind: RowKind,
    /// Bytes of its parts.
    pub bytes: u64,
    /// Who put its parts there, without repeats.
    pub origins: Vec<Origin>,
    /// Calls in it: tool name and id.
    pub calls: Vec<(String, CallId)>,
    /// Ids of the calls that it answers, each with the number of the message that holds the call.
    pub answers: Vec<(CallId, Option<usize>)>,
    /// What differs between what happened and what is sent, in words; empty if nothing.
    pub note: String,
    /// Compared with the request that was sent before.
    pub change: Change,
    /// Its parts, as positions in the request.
    pub parts: Vec<usize>,
    /// The entries that it tells, or that are not told.
    pub entries: Vec<EntryId>,
}

/// What a row stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowKind {
    /// A wire message.
    Message {
        /// Position among the messages, from 1.
        number: usize,
        /// The role on the wire.
        role: String,
    },
    /// The model's name.
    Model,
    /// The tool definitions.
    Tools,
    /// A system text outside the messages.
    System,
    /// All brackets, commas and parameters together.
    Envelope,
    /// An entry that is not sent.
    NotSent(Role),
}

impl RowKind {
    /// The wire role, or the name of the member of the body.
    pub fn word(&self) -> &str {
        match self {
            Self::Message { role, .. } => role,
            Self::Model => "model",
            Self::Tools => "tools",
            Self::System | Self::NotSent(Role::System) => "system",
            Self::Envelope => "envelope",
            Self::NotSent(Role::User) => "user",
            Self::NotSent(Role::Assistant) => "assistant",
            Self::NotSent(Role::Tool) => "tool",
        }
    }
}

/// A row compared with the same place in the request that was sent before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Was not there.
    New,
    /// Was there, byte for byte.
    Same,
    /// Was there with other bytes.
    Altered,
    /// Is not sent.
    NotSent,
}

impl Change {
    /// The mark in front of the row.
    pub fn mark(self) -> char {
        match self {
            Self::New => '+',
            Self::Same => '=',
            Self::Altered => '~',
            Self::NotSent => '-',
        }
    }
}

/// The rows of a request: its messages in order, then what stands around them. `previous` is the
/// request that was sent before it, empty if there is none.
pub fn outline(parts: &[Arc<Part>], previous: &[Arc<Part>], session: &Session) -> Vec<Row> {
    let before = groups(previous);
    let groups = groups(parts);
    let mut holders: HashMap<&CallId, usize> = HashMap::new();
    let mut pieces: HashMap<EntryId, usize> = HashMap::new();
    for entry in parts.iter().filter_map(|part| part.entry) {
        *pieces.entry(entry).or_default() += 1;
    }
    let mut rows = Vec::with_capacity(groups.len());
    for (kind, members) in &groups {
        let entries = members
            .iter()
            .filter_map(|&index| Some((index, session.entries.get(&parts[index].entry?)?)));
        let mut row = Row {
            kind: kind.clone(),
            bytes: members.iter().map(|&index| parts[index].text.len() as u64).sum(),
            origins: Vec::new(),
            calls: Vec::new(),
            answers: Vec::new(),
            note: String::new(),
            change: change(kind, parts, members, previous, at_place(&before, kind)),
            parts: members.clone(),
            entries: members.iter().filter_map(|&index| parts[index].entry).collect(),
        };
        let told: Vec<usize> = told(parts, kind, members).collect();
        for &index in if told.is_empty() { members } else { &told } {
            if !row.origins.contains(&parts[index].origin) {
                row.origins.push(parts[index].origin);
            }
        }
        for (index, entry) in entries {
            if let Some(sent) = is_reasoning_sent(entry, parts) {
                let word = if sent {
                    say!("reasoning: sent back")
                } else {
                    say!("reasoning: not sent back")
                };
                row.add_note(word);
            }
            // An entry may have become several messages: each holds its own calls.
            let whole = pieces.get(&entry.id) == Some(&1);
            for call in entry.calls().filter(|call| whole || names(&parts[index].text, &call.id)) {
                if let RowKind::Message { number, .. } = kind {
                    holders.insert(&call.id, *number);
                }
                row.calls.push((call.name.clone(), call.id.clone()));
            }
            if let Some(result) = entry.result() {
                row.answers.push((result.call.clone(), holders.get(&result.call).copied()));
                row.add_note(&result_note(session, &result.call));
            }
        }
        rows.push(row);
    }
    rows
}

impl Row {
    pub(super) fn add_note(&mut self, note: &str) {
        if note.is_empty() || self.note == note {
            return;
        }
        if !self.note.is_empty() {
            self.note.push_str(", ");
        }
        self.note.push_str(note);
    }
}

/// One row as text: mark, number, wire role, size, origin, calls or what is answered, note, and at
/// the end the ids of calls.
pub fn line(row: &Row) -> String {
    line_within(row, usize::MAX)
}

/// The same for so many columns: where the size does not fit, it and what follows are left out.
pub fn line_within(row: &Row, columns: usize) -> String {
    let number = match row.kind {
        RowKind::Message { number, .. } => number.to_string(),
        _ => "·".to_owned(),
    };
    let head = format!("{} {number:>2} {:<10}", row.change.mark(), row.kind.word());
    let sized = format!("{head}{:>8}", text::bytes(row.bytes));
    // Tool names and call ids are the server's words, and so may roles be.
    let shown = |line: &str| text::visible(line.trim_end(), Show::Prose).replace('\n', "\\n");
    if text::width(&sized) > columns {
        return shown(&head);
    }
    let origins: Vec<_> = row.origins.iter().map(|origin| origin.word()).collect();
    let names = row.calls.iter().map(|(name, _)| name.clone());
    let answers = row.answers.iter().map(|(_, holder)| match holder {
        Some(number) => format!("↳{number}"),
        None => "↳".to_owned(),
    });
    let note = Some(row.note.clone()).filter(|note| !note.is_empty());
    let called = row.calls.iter().map(|(_, id)| id);
    let ids = called.chain(row.answers.iter().map(|(id, _)| id)).map(ToString::to_string);
    let rest: Vec<String> = names.chain(answers).chain(note).chain(ids).collect();
    shown(&format!("{sized}  {:<9}{}", origins.join("+"), rest.join("  ")))
}

/// A request in one line: messages, size, hash, and whether a server's prompt cache still fits, or
/// that it was not sent.
pub fn head(turn: &Turn, parts: &[Arc<Part>], previous: &[Arc<Part>]) -> String {
    head_words(turn, parts, previous).join(" · ")
}

/// The same in its four parts.
pub fn head_words(turn: &Turn, parts: &[Arc<Part>], previous: &[Arc<Part>]) -> [String; 4] {
    let prefix = match cache_break(parts, previous) {
        _ if turn.never_left() => say!("not sent").to_owned(),
        _ if previous.is_empty() => say!("first turn").to_owned(),
        None => say!("prefix kept").to_owned(),
        Some(place) => say!("prefix broken at {place}", place = place),
    };
    let sha = turn.request.sha256.get(..6).unwrap_or_default();
    let bytes = text::bytes(turn.request.bytes);
    let messages = match message_count(parts) {
        1 => say!("1 message").to_owned(),
        count => say!("{count} messages", count = count),
    };
    [messages, bytes, format!("sha {sha}"), prefix]
}

/// The roles of the wire messages in order, those in a row counted: `system user×2 assistant`.
pub fn roles(parts: &[Arc<Part>]) -> String {
    in_a_row(&role_runs(parts))
}

/// The roles of the wire messages in order, each with how often it stands in a row.
pub fn role_runs(parts: &[Arc<Part>]) -> Vec<(&str, usize)> {
    let mut runs: Vec<(&str, usize)> = Vec::new();
    for part in parts {
        if let Slot::MessageStart(role) = &part.slot {
            match runs.last_mut() {
                Some((last, count)) if last == role => *count += 1,
                _ => runs.push((role, 1)),
            }
        }
    }
    runs
}

/// Roles and their counts in words: `user×2 assistant`.
pub fn in_a_row(counted: &[(&str, usize)]) -> String {
    let mut words = String::new();
    for (role, count) in counted {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(role);
        if *count > 1 {
            words.push_str(&format!("×{count}"));
        }
    }
    words
}

/// How many wire messages the parts hold.
pub fn message_count(parts: &[Arc<Part>]) -> usize {
    parts.iter().filter(|part| matches!(part.slot, Slot::MessageStart(_))).count()
}

/// Where a server's prompt cache stops matching the request before: the first of model, tools,
/// system and messages that differs; `None` if all that was sent before is sent again unchanged.
/// Parameters are ignored.
pub fn cache_break(parts: &[Arc<Part>], previous: &[Arc<Part>]) -> Option<String> {
    let now = groups(parts);
    let mut before = groups(previous);
    before.retain(|(kind, _)| *kind != RowKind::Envelope);
    before.sort_by_key(|(kind, _)| match kind {
        RowKind::Model => 0,
        RowKind::Tools => 1,
        RowKind::System => 2,
        RowKind::Message { .. } | RowKind::Envelope | RowKind::NotSent(_) => 3,
    });
    before.into_iter().find_map(|(kind, members)| {
        let same = at_place(&now, &kind).is_some_and(|(_, mine)| {
            let mine: Vec<usize> = told(parts, &kind, mine).collect();
            let theirs: Vec<usize> = told(previous, &kind, &members).collect();
            // More may have been added to the end of a message.
            let is_message = matches!(kind, RowKind::Message { .. });
            (is_message || mine.len() == theirs.len()) && begins(parts, &mine, previous, &theirs)
        });
        match kind {
            _ if same => None,
            RowKind::Message { number, .. } => Some(say!("message {number}", number = number)),
            other => Some(other.word().to_owned()),
        }
    })
}

type Group = (RowKind, Vec<usize>);

/// Messages in order, then the other members of the body, each with the positions of its parts.
fn groups(parts: &[Arc<Part>]) -> Vec<Group> {
    let mut messages: Vec<Group> = Vec::new();
    let mut others: Vec<Group> = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let kind = match &part.slot {
            Slot::MessageStart(role) => {
                let number = messages.len() + 1;
                messages.push((RowKind::Message { number, role: role.clone() }, vec![index]));
                continue;
            }
            Slot::MessageRest => {
                if let Some((_, members)) = messages.last_mut() {
                    members.push(index);
                }
                continue;
            }
            Slot::Model => RowKind::Model,
            Slot::Tools => RowKind::Tools,
            Slot::System => RowKind::System,
            Slot::Envelope => RowKind::Envelope,
        };
        match others.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, members)) => members.push(index),
            None => others.push((kind, vec![index])),
        }
    }
    messages.extend(others);
    messages
}

/// The group at the same place. Messages come first and in order, so none is searched for.
fn at_place<'a>(groups: &'a [Group], kind: &RowKind) -> Option<&'a Group> {
    match kind {
        RowKind::Message { number, .. } => {
            groups.get(number - 1).filter(|(other, _)| matches!(other, RowKind::Message { .. }))
        }
        _ => groups.iter().rev().find(|(other, _)| other == kind),
    }
}

fn change(
    kind: &RowKind,
    parts: &[Arc<Part>],
    members: &[usize],
    previous: &[Arc<Part>],
    before: Option<&Group>,
) -> Change {
    let Some((_, old)) = before else { return Change::New };
    let new: Vec<usize> = told(parts, kind, members).collect();
    let old: Vec<usize> = told(previous, kind, old).collect();
    let same = new.len() == old.len() && begins(parts, &new, previous, &old);
    if same { Change::Same } else { Change::Altered }
}

/// Those of a row's parts that tell the model something: within a message, the system text and the
/// tools neither brackets nor cache markers.
fn told<'a>(
    parts: &'a [Arc<Part>],
    kind: &'a RowKind,
    members: &'a [usize],
) -> impl Iterator<Item = usize> + 'a {
    let all = matches!(kind, RowKind::Model | RowKind::Envelope);
    let members = members.iter().copied();
    members.filter(move |&index| all || parts[index].origin != Origin::Envelope)
}

/// Whether the new parts begin with the old ones.
fn begins(parts: &[Arc<Part>], new: &[usize], previous: &[Arc<Part>], old: &[usize]) -> bool {
    old.len() <= new.len()
        && new.iter().zip(old).all(|(&new, &old)| {
            Arc::ptr_eq(&parts[new], &previous[old]) || parts[new].text == previous[old].text
        })
}

/// Whether a part names a call.
fn names(text: &str, call: &CallId) -> bool {
    serde_json::to_string(call).is_ok_and(|id| text.contains(&id))
}

/// Whether all reasoning of an entry stands in the parts that encode it; `None` if it has none.
fn is_reasoning_sent(entry: &Entry, parts: &[Arc<Part>]) -> Option<bool> {
    let mut reasoning = entry.reasoning().peekable();
    reasoning.peek()?;
    let own = || parts.iter().filter(|part| part.entry == Some(entry.id)).map(|part| &part.text);
    Some(reasoning.all(|reasoning| match &reasoning.opaque {
        Some(opaque) if own().any(|part| part.contains(&opaque.json)) => true,
        // Within a text, the quotes of this name would be escaped.
        _ => own().any(|part| {
            let text = serde_json::to_string(&reasoning.text).unwrap_or_default();
            part.contains("\"reasoning_content\":\"")
                && part.contains(text.trim_start_matches('"').trim_end_matches('"'))
        }),
    }))
}

fn result_note(session: &Session, call: &CallId) -> String {
    let receipt = session
        .calls
        .get(call)
        .and_then(|log| log.finished.as_ref())
        .map(|finished| &finished.receipt);
    match receipt {
        Some(receipt) if receipt.cut > 0 => {
            say!("cut from {bytes}", bytes = text::bytes(receipt.produced))
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{
        Block, Call, CallResult, History, Opaque, Overlays, Reasoning, Role, ToolDefinition,
    };
    use crate::wire::{Assembler, Dialect, Format, Parameters, ReasoningBack, Settings};

    /// The notes on the rows of a request whose second message thought before it called.
    fn notes(format: Format, reasoning_back: ReasoningBack, opaque: Option<&str>) -> Vec<String> {
        let (mut history, mut session) = (History::default(), Session::default());
        let id = CallId("c1".to_owned());
        let arguments = r#"{"command":"ls"}"#.to_owned();
        let opaque =
            opaque.map(|json| Opaque { format: format.name().to_owned(), json: json.to_owned() });
        let thought = Reasoning { text: "I \"think\"\n".to_owned(), opaque };
        let result = CallResult { call: id.clone(), text: "a".to_owned(), is_error: false };
        let blocks = [
            (Role::User, vec![Block::Text("go".to_owned())]),
            (
                Role::Assistant,
                vec![
                    Block::Reasoning(thought),
                    Block::Call(Call { id, name: "bash".to_owned(), arguments }),
                ],
            ),
            (Role::Tool, vec![Block::Result(result)]),
        ];
        for (role, blocks) in blocks {
            let entry = history.append(role, Origin::User, blocks);
            session.entries.insert(entry.id, entry);
        }
        let settings = Settings {
            format,
            model: "m".to_owned(),
            tools: Vec::<ToolDefinition>::new(),
            dialect: Dialect { reasoning_back, ..Dialect::default() },
            parameters: Parameters::default(),
        };
        let request =
            Assembler::default().assemble(history.entries(), &Overlays::default(), &settings);
        let rows = outline(&request.parts, &[], &session);
        rows.into_iter().map(|row| row.note).filter(|note| !note.is_empty()).collect()
    }

    #[test]
    fn reasoning_says_whether_it_goes_back_in_every_format() {
        let (back, not) = ("reasoning: sent back", "reasoning: not sent back");
        let (never, with_calls) = (ReasoningBack::Never, ReasoningBack::WithCalls);
        assert_eq!(notes(Format::OpenaiChat, never, None), [not]);
        assert_eq!(notes(Format::OpenaiChat, with_calls, None), [back]);
        let signed = r#"{"type":"thinking","thinking":"I","signature":"s"}"#;
        assert_eq!(notes(Format::Anthropic, never, Some(signed)), [back]);
        assert_eq!(notes(Format::Anthropic, never, None), [not]);
        let item = r#"{"type":"reasoning","encrypted_content":"x","summary":[]}"#;
        assert_eq!(notes(Format::OpenaiResponses, never, Some(item)), [back, back]);
        assert_eq!(notes(Format::OpenaiResponses, never, None), [not]);
    }
}
