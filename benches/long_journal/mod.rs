//! The journal of a long session, as the loop would have written it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use limpid::conversation::{
    Asker, Block, Call, CallDecided, CallFinished, CallId, CallProposed, CallResult, CallState,
    CallStatus, DecidedBy, Entry, History, Origin, Overlays, Part, Profile, Receipt, Record,
    RequestRecord, Response, Role, Stamped, TransitionReason, TurnNumber,
};
use limpid::session::Journal;
use limpid::wire::{Assembler, Dialect, Format, Parameters, Settings};

/// Bytes of a command's output.
const OUTPUT: usize = 20_000;
/// Turns of a prompt, the last one its answer.
const TURNS: u32 = 5;
/// Bytes of a request, after which the history is cleared: a model reads no more.
const REQUEST: u64 = 1_000_000;

struct Writer {
    journal: Journal,
    at: u64,
    bytes: usize,
    history: History,
    assembler: Assembler,
    settings: Settings,
    turn: u32,
    /// Bytes of the newest request.
    told: u64,
}

/// Writes a session of about so many bytes and returns its directory.
pub(crate) fn write(sessions: &Path, directory: &Path, bytes: usize) -> PathBuf {
    let at = 1_800_000_000_000;
    let mut writer = Writer {
        journal: Journal::create(sessions, directory, at).unwrap(),
        at,
        bytes: 0,
        history: History::default(),
        assembler: Assembler::default(),
        settings: Settings {
            format: Format::OpenaiChat,
            model: "offline".to_owned(),
            tools: Vec::new(),
            dialect: Dialect::default(),
            parameters: Parameters::default(),
        },
        turn: 0,
        told: 0,
    };
    writer.record(Record::Profile(Profile {
        name: "scripted".to_owned(),
        format: Format::OpenaiChat.name().to_owned(),
        url: "http://127.0.0.1:9".to_owned(),
        model: "offline".to_owned(),
        key_env: None,
    }));
    writer.begin();
    while writer.bytes < bytes {
        if writer.told > REQUEST {
            writer.record(Record::Head(None));
            writer.history.clear();
            writer.begin();
        }
        let prompt = format!("Look at the next files, from {} on.", writer.turn);
        writer.entry(Role::User, Origin::User, Block::Text(prompt));
        for _ in 1..TURNS {
            writer.post();
            writer.call();
        }
        writer.post();
        let answer = "# What I found\n\n- **all** is `well`\n- nothing is missing\n\n".repeat(4);
        writer.entry(Role::Assistant, Origin::Model, Block::Text(answer));
        writer.record(Record::Ended(TransitionReason::Answered));
    }
    writer.journal.path().to_owned()
}

impl Writer {
    fn record(&mut self, record: Record) {
        self.at += 10;
        let stamped = Stamped { at: self.at, record };
        self.bytes += serde_json::to_string(&stamped).unwrap().len();
        self.journal.append(&stamped).unwrap();
    }

    fn entry(&mut self, role: Role, origin: Origin, block: Block) -> std::sync::Arc<Entry> {
        let entry = self.history.append(role, origin, vec![block]);
        self.record(Record::Entry(entry.clone()));
        entry
    }

    fn begin(&mut self) {
        self.entry(Role::System, Origin::System, Block::Text("You are of use.".to_owned()));
    }

    fn post(&mut self) {
        self.turn += 1;
        let turn = TurnNumber(self.turn);
        let history = self.history.entries();
        let request = self.assembler.assemble(history, &Overlays::default(), &self.settings);
        self.told = request.bytes;
        for (number, part) in &request.new_parts {
            self.record(Record::Part { number: *number, part: Part::clone(part) });
        }
        self.record(Record::Request(RequestRecord {
            turn,
            keep: u32::try_from(request.keep).unwrap(),
            parts: request.numbers[request.keep..].to_vec(),
            bytes: request.bytes,
            sha256: request.sha256.clone(),
        }));
        self.record(Record::Attempt { turn, attempt: 1, head: None });
        self.record(Record::Response(Response {
            turn,
            attempt: 1,
            sent: true,
            status: Some(200),
            headers: vec![("content-type".to_owned(), "text/event-stream".to_owned())],
            first_byte_ms: Some(200),
            end_ms: 900,
            bytes: 4000,
            stop_reason: Some("stop".to_owned()),
            usage: None,
            failure: None,
            stopped: false,
        }));
    }

    fn call(&mut self) {
        let (turn, number) = (TurnNumber(self.turn), self.turn);
        let command = format!("cat src/module_{number}.rs");
        let id = CallId(format!("call_{number}"));
        let call = Call {
            id: id.clone(),
            name: "bash".to_owned(),
            arguments: format!(r#"{{"command":"{command}"}}"#),
        };
        let asking = self.entry(Role::Assistant, Origin::Model, Block::Call(call)).id;
        self.record(Record::CallProposed(CallProposed {
            call: id.clone(),
            asker: Asker::Model { entry: asking, turn },
            name: "bash".to_owned(),
            command: Some(command.clone()),
            state: CallState::Complete,
        }));
        self.record(Record::CallDecided(CallDecided {
            call: id.clone(),
            proposed: command.clone(),
            executed: Some(command),
            reason: None,
            by: DecidedBy::User,
        }));
        self.record(Record::CallStarted { call: id.clone() });
        let mut text = String::new();
        let mut line = 0;
        while text.len() < OUTPUT {
            line += 1;
            let _ = writeln!(text, "    let value_{number}_{line} = \"a text\".to_owned();");
        }
        text.push_str("[exit code 0]");
        self.record(Record::CallFinished(CallFinished {
            call: id.clone(),
            status: CallStatus::Exited(0),
            duration_ms: 12,
            receipt: Receipt {
                produced: text.len() as u64,
                lines: line,
                sent: text.len() as u64,
                ..Receipt::default()
            },
            output: None,
        }));
        let result = CallResult { call: id, text, is_error: false };
        self.entry(Role::Tool, Origin::Tool, Block::Result(result));
    }
}
