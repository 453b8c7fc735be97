//! A session that is played to the screen, record by record, as the loop would send it.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

pub mod approval;
pub mod long;

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use limpid::approval::Mode;
use limpid::conversation::{
    Asker, Block, Call, CallDecided, CallFinished, CallId, CallProposed, CallResult, CallState,
    CallStatus, Command, DecidedBy, Event, Failure, FailureKind, History, Origin, Overlays, Place,
    Profile, Progress, Receipt, Record, RequestHead, RequestRecord, Response, Role, Stamped,
    ToolDefinition, TransitionReason, TurnNumber, Usage,
};
use limpid::tui::{
    self, BUILT_IN_THEMES, Copied, CopyTo, Effect, Input, Keymap, Model, RenderCache, Setup, Theme,
};
use limpid::wire::exchange::Kept;
use limpid::wire::{Assembler, Dialect, Format, Parameters, Settings};
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::{Frame, Terminal};
use unicode_width::UnicodeWidthStr as _;

pub struct Stage {
    pub model: Model,
    pub now: Instant,
    pub unix_ms: u64,
    pub sent: Vec<Command>,
    pub quit: bool,
    /// What is kept of the attempts of any turn.
    pub kept: HashMap<u32, Kept>,
    pub edited: Option<String>,
    /// Whether the mouse is taken.
    pub mouse: bool,
    /// What was to be copied last.
    pub copied: Option<(String, CopyTo)>,
    pub asked_for_files: u32,
    pub asked_for_prompts: u32,
    pub asked_for_sessions: u32,
    /// The session that was to be gone on with.
    pub goes_on_with: Option<PathBuf>,
    cache: RenderCache,
    terminal: Terminal<TestBackend>,
    history: History,
    overlays: Overlays,
    assembler: Assembler,
    turn: u32,
    /// The attempt under way, and the length of its body.
    attempt: u32,
    bytes: u64,
    calls: Vec<(CallId, String)>,
}

fn theme(name: &str) -> Result<Theme, String> {
    let Some((name, text)) = BUILT_IN_THEMES.iter().find(|(known, _)| *known == name) else {
        return Err(format!("there is no theme \"{name}\""));
    };
    Ok(Theme::read(name, text, false).unwrap())
}

pub const SYSTEM: &str = "You are an agent in a terminal. Directory: /home/me/shop. Platform: linux. Shell: sh. \
Run commands with the bash tool. Say what you found in few words.";

/// A row of the screen, wide characters once.
fn row(buffer: &Buffer, y: u16) -> String {
    let mut row = String::new();
    let mut x = 0;
    while x < buffer.area.width {
        let symbol = buffer[(x, y)].symbol();
        row.push_str(symbol);
        x += u16::try_from(symbol.width().max(1)).unwrap();
    }
    row.trim_end().to_owned()
}

impl Stage {
    pub fn new(columns: u16, rows: u16) -> Self {
        Self::with_mode(columns, rows, Mode::Ask)
    }

    pub fn with_mode(columns: u16, rows: u16, mode: Mode) -> Self {
        Self::with(columns, rows, mode, theme("dark").unwrap())
    }

    pub fn with_keymap(columns: u16, rows: u16, keymap: Keymap) -> Self {
        Self::with_keys(columns, rows, Mode::Ask, theme("dark").unwrap(), keymap)
    }

    pub fn with_theme(columns: u16, rows: u16, name: &str) -> Self {
        Self::with(columns, rows, Mode::Ask, theme(name).unwrap())
    }

    fn with(columns: u16, rows: u16, mode: Mode, theme: Theme) -> Self {
        Self::with_keys(columns, rows, mode, theme, Keymap::default())
    }

    fn with_keys(columns: u16, rows: u16, mode: Mode, theme: Theme, keymap: Keymap) -> Self {
        let profile = Profile {
            name: "dashscope".to_owned(),
            format: "openai-chat".to_owned(),
            url: "https://dashscope.example/v1".to_owned(),
            model: "qwen-plus".to_owned(),
            key_env: Some("DASHSCOPE_API_KEY".to_owned()),
        };
        let setup = Setup {
            directory: "~/shop".to_owned(),
            profile: profile.clone(),
            parameters: Vec::new(),
            mode,
            turn_limit: 50,
            keymap,
            theme,
        };
        let mut stage = Self {
            model: Model::new(setup),
            now: Instant::now(),
            unix_ms: 1_800_000_000_000,
            sent: Vec::new(),
            quit: false,
            kept: HashMap::new(),
            edited: None,
            mouse: false,
            copied: None,
            asked_for_files: 0,
            asked_for_prompts: 0,
            asked_for_sessions: 0,
            goes_on_with: None,
            cache: RenderCache::default(),
            terminal: Terminal::new(TestBackend::new(columns, rows)).unwrap(),
            history: History::default(),
            overlays: Overlays::default(),
            assembler: Assembler::default(),
            turn: 0,
            attempt: 0,
            bytes: 0,
            calls: Vec::new(),
        };
        stage.input(Input::Resize(columns, rows));
        stage.record(Record::Profile(profile));
        let system = vec![Block::Text(SYSTEM.to_owned())];
        stage.entry(Role::System, Origin::System, system);
        stage
    }

    pub fn input(&mut self, input: Input) {
        for effect in tui::update(&mut self.model, input, self.now) {
            match effect {
                Effect::Send(command) => self.sent.push(command),
                Effect::Quit => self.quit = true,
                // On a real terminal: tests/copying.rs.
                Effect::Suspend | Effect::Print(_) => {}
                Effect::ReadOutput { call, file } => {
                    let read = std::fs::read(file).map_err(|error| error.to_string());
                    self.input(Input::Output { call, read });
                }
                Effect::UseTheme(name) => self.input(Input::Theme(theme(&name))),
                Effect::ListThemes => {
                    let names = BUILT_IN_THEMES.map(|(name, _)| name.to_owned());
                    self.input(Input::Themes(names.to_vec()));
                }
                Effect::ReadExchanges { turn, attempts } => {
                    let kept = |attempt| self.kept.get(&attempt).cloned().unwrap_or(Kept::NotSaved);
                    let kept =
                        attempts.into_iter().map(|attempt| (attempt, kept(attempt))).collect();
                    self.input(Input::Exchanges { turn, kept });
                }
                Effect::Mouse(on) => self.mouse = on,
                Effect::Copy { what, text, to } => {
                    self.copied = Some((text.clone(), to));
                    self.input(Input::Copied { what, text, went: Copied::Clipboard });
                }
                Effect::Edit(draft) => self.edited = Some(draft),
                Effect::ListFiles => self.asked_for_files += 1,
                Effect::ListPrompts => self.asked_for_prompts += 1,
                Effect::ListSessions => self.asked_for_sessions += 1,
                Effect::GoOnWith(session) => self.goes_on_with = Some(session),
            }
        }
    }

    pub fn record(&mut self, record: Record) {
        let stamped = Stamped { at: self.unix_ms, record };
        self.input(Input::Event(Event::Record(stamped.into())));
    }

    pub fn progress(&mut self, progress: Progress) {
        self.input(Input::Event(Event::Progress(progress)));
    }

    pub fn entry(&mut self, role: Role, origin: Origin, blocks: Vec<Block>) {
        let entry = self.history.append(role, origin, blocks);
        self.record(Record::Entry(entry));
    }

    /// Lets time pass; the program would be woken where the model asks for it.
    pub fn wait(&mut self, ms: u64) {
        let until = self.now + Duration::from_millis(ms);
        while let Some(wake) = self.model.next_wake(self.now).filter(|wake| *wake <= until) {
            let step = wake.duration_since(self.now).max(Duration::from_millis(1));
            self.pass(step);
            self.input(Input::Tick);
            self.frame();
        }
        let rest = until.saturating_duration_since(self.now);
        self.pass(rest);
    }

    /// The program is held up: time passes and it is not woken.
    pub fn stall(&mut self, ms: u64) {
        self.pass(Duration::from_millis(ms));
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
        self.unix_ms += u64::try_from(time.as_millis()).unwrap();
    }

    pub fn press(&mut self, code: KeyCode) {
        self.press_with(code, KeyModifiers::NONE);
    }

    /// Presses a key; so many milliseconds pass after it.
    pub fn press_for(&mut self, code: KeyCode, ms: u64) {
        self.press(code);
        self.wait(ms);
    }

    /// As [`Self::press_for`], with a letter.
    pub fn key(&mut self, letter: char, ms: u64) {
        self.press_for(KeyCode::Char(letter), ms);
    }

    pub fn press_with(&mut self, code: KeyCode, modifiers: KeyModifiers) {
        self.input(Input::Key(KeyEvent::new(code, modifiers)));
        self.frame();
    }

    /// Types as a person does, a key each 80 ms.
    pub fn type_text(&mut self, text: &str) {
        for c in text.chars() {
            self.press(KeyCode::Char(c));
            self.wait(80);
        }
    }

    /// The footer.
    pub fn footer(&mut self) -> String {
        self.screen().lines().rev().nth(1).unwrap().to_owned()
    }

    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.terminal.backend_mut().resize(columns, rows);
        self.input(Input::Resize(columns, rows));
    }

    /// Draws a frame and tells the model so. Nothing on it may wait for the next one: a program that
    /// rests draws none.
    pub fn frame(&mut self) {
        self.draw();
        let first = self.terminal.backend().buffer().clone();
        self.draw();
        let second = self.terminal.backend().buffer();
        let late: Vec<String> = (0..first.area.height)
            .filter(|y| (0..first.area.width).any(|x| first[(x, *y)] != second[(x, *y)]))
            .map(|y| format!("{}\n{}\n", row(&first, y), row(second, y)))
            .collect();
        assert!(late.is_empty(), "drawn one frame late:\n{}", late.concat());
    }

    fn draw(&mut self) {
        self.draw_unseen();
        self.model.frame_shown(&self.cache, self.now);
    }

    /// Draws a frame for a terminal that has not taken it yet.
    pub fn draw_unseen(&mut self) {
        let Self { model, cache, terminal, now, unix_ms, .. } = self;
        let draw = |frame: &mut Frame<'_>| {
            if let Some(at) = tui::draw(model, cache, frame.buffer_mut(), *now, *unix_ms) {
                frame.set_cursor_position(at);
            }
        };
        terminal.draw(draw).unwrap();
        model.frame_drawn(cache);
    }

    /// The screen as text: one line a row, wide characters once, and where the cursor is.
    /// How each column of the screen looks, a letter for each style, and what the letters mean.
    pub fn styles(&mut self) -> String {
        self.frame();
        let buffer = self.terminal.backend().buffer();
        let mut known: Vec<String> = Vec::new();
        let mut out = String::new();
        for y in 0..buffer.area.height {
            for x in 0..buffer.area.width {
                let cell = &buffer[(x, y)];
                let style = format!("{} on {} {:?}", cell.fg, cell.bg, cell.modifier);
                let index = known.iter().position(|other| *other == style);
                let index = index.unwrap_or_else(|| {
                    known.push(style);
                    known.len() - 1
                });
                out.push(char::from(b"abcdefghijklmnopqrstuvwxyz"[index]));
            }
            out.push('\n');
        }
        for (letter, style) in ('a'..).zip(known) {
            out += &format!("{letter} {style}\n");
        }
        out
    }

    pub fn screen(&mut self) -> String {
        self.frame();
        let buffer = self.terminal.backend().buffer();
        let area = buffer.area;
        let mut out = String::new();
        for y in 0..area.height {
            out.push_str(&row(buffer, y));
            out.push('\n');
        }
        let cursor = self.terminal.backend().cursor_position();
        if self.terminal.backend().cursor_visible() {
            let (column, row) = (cursor.x, cursor.y);
            out += "cursor at column ";
            out += &column.to_string();
            out += ", row ";
            out += &row.to_string();
            out += "\n";
        } else {
            out.push_str("no cursor\n");
        }
        out
    }

    pub fn prompt(&mut self, text: &str) {
        self.entry(Role::User, Origin::User, vec![Block::Text(text.to_owned())]);
    }

    pub fn request(&mut self) {
        self.turn += 1;
        let settings = Settings {
            format: Format::OpenaiChat,
            model: "qwen-plus".to_owned(),
            tools: vec![ToolDefinition {
                name: "bash",
                description: "Runs a command in the session's directory.",
                parameters: r#"{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}"#,
            }],
            dialect: Dialect::default(),
            parameters: Parameters::default(),
        };
        let request = self.assembler.assemble(self.history.entries(), &self.overlays, &settings);
        for (number, part) in &request.new_parts {
            self.record(Record::Part { number: *number, part: (**part).clone() });
        }
        self.record(Record::Request(RequestRecord {
            turn: TurnNumber(self.turn),
            keep: u32::try_from(request.keep).unwrap(),
            parts: request.numbers[request.keep..].to_vec(),
            bytes: request.bytes,
            sha256: request.sha256.clone(),
        }));
        (self.attempt, self.bytes) = (1, request.bytes);
        self.attempt();
    }

    /// The history begins anew, with another system prompt.
    pub fn clear(&mut self) {
        self.record(Record::Head(None));
        self.history.clear();
        self.entry(Role::System, Origin::System, vec![Block::Text(SYSTEM.to_owned())]);
    }

    /// The attempt under way is refused, and the next one begins.
    pub fn refused_once(&mut self) {
        let failure = Failure {
            status: Some(429),
            ..Failure::new(Place::Http, FailureKind::RateLimit, "Too many requests")
        };
        self.failed(Some(429), true, failure);
        self.attempt += 1;
        self.attempt();
    }

    /// The attempt under way fails; `sent` says whether any of it left.
    pub fn failed(&mut self, status: Option<u16>, sent: bool, failure: Failure) {
        self.record(Record::Response(Response {
            turn: TurnNumber(self.turn),
            attempt: self.attempt,
            sent,
            status,
            headers: Vec::new(),
            first_byte_ms: status.map(|_| 12),
            end_ms: 14,
            bytes: 40,
            stop_reason: None,
            usage: None,
            failure: Some(failure),
            stopped: false,
        }));
    }

    fn attempt(&mut self) {
        let head = RequestHead {
            method: "POST".to_owned(),
            url: "https://dashscope.example/v1/chat/completions".to_owned(),
            headers: [
                ("host", "dashscope.example"),
                ("user-agent", "limpid/0.1.0"),
                ("accept", "text/event-stream"),
                ("authorization", "Bearer ***"),
                ("content-type", "application/json"),
                ("content-length", &self.bytes.to_string()),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
        };
        let (turn, attempt) = (TurnNumber(self.turn), self.attempt);
        self.record(Record::Attempt { turn, attempt, head: Some(head) });
    }

    pub fn text(&mut self, piece: &str) {
        self.progress(Progress::Text(piece.to_owned()));
    }

    /// The reply ends before it is whole, for this reason.
    pub fn cut_off(&mut self, text: &str, reason: &str) {
        self.answered(reason);
        self.entry(Role::Assistant, Origin::Model, vec![Block::Text(text.to_owned())]);
    }

    fn answered(&mut self, stop_reason: &str) {
        self.record(Record::Response(Response {
            turn: TurnNumber(self.turn),
            attempt: self.attempt,
            sent: true,
            status: Some(200),
            headers: vec![("content-type".to_owned(), "text/event-stream".to_owned())],
            first_byte_ms: Some(200),
            end_ms: 900,
            bytes: 2_000,
            stop_reason: Some(stop_reason.to_owned()),
            usage: Some(Usage { input: Some(3_910), output: Some(212), ..Usage::default() }),
            failure: None,
            stopped: false,
        }));
    }

    /// The reply is complete: text and bash commands.
    pub fn reply(&mut self, text: &str, commands: &[&str]) {
        self.answered("stop");
        let mut blocks = Vec::new();
        if !text.is_empty() {
            blocks.push(Block::Text(text.to_owned()));
        }
        self.calls.clear();
        for (index, command) in commands.iter().enumerate() {
            let id = CallId(format!("call_{}_{}", self.turn, index + 1));
            let arguments = serde_json::json!({ "command": command }).to_string();
            blocks.push(Block::Call(Call { id: id.clone(), name: "bash".to_owned(), arguments }));
            self.calls.push((id, (*command).to_owned()));
        }
        self.entry(Role::Assistant, Origin::Model, blocks);
        let entry = self.history.head().unwrap();
        for (call, command) in self.calls.clone() {
            self.record(Record::CallProposed(CallProposed {
                call,
                asker: Asker::Model { entry, turn: TurnNumber(self.turn) },
                name: "bash".to_owned(),
                command: Some(command),
                state: CallState::Complete,
            }));
        }
    }

    /// Id of the nth call of the last reply, from 1.
    pub fn call(&self, nth: usize) -> CallId {
        self.calls[nth - 1].0.clone()
    }

    pub fn ask(&mut self, nth: usize) {
        let call = self.call(nth);
        self.progress(Progress::Ask { call });
    }

    pub fn decided(&mut self, nth: usize, executed: Option<&str>, reason: Option<&str>) {
        let (call, proposed) = self.calls[nth - 1].clone();
        self.record(Record::CallDecided(CallDecided {
            call,
            proposed,
            executed: executed.map(str::to_owned),
            reason: reason.map(str::to_owned),
            by: DecidedBy::User,
        }));
    }

    /// Allowed as proposed.
    pub fn decided_by(&mut self, nth: usize, by: DecidedBy) {
        let (call, command) = self.calls[nth - 1].clone();
        let executed = Some(command.clone());
        let decided = CallDecided { call, proposed: command, executed, reason: None, by };
        self.record(Record::CallDecided(decided));
    }

    pub fn started(&mut self, nth: usize) {
        let call = self.call(nth);
        self.record(Record::CallStarted { call });
    }

    pub fn finished(
        &mut self,
        nth: usize,
        status: CallStatus,
        ms: u64,
        receipt: Receipt,
        result: &str,
    ) {
        let call = self.call(nth);
        let is_error = !matches!(status, CallStatus::Exited(_));
        self.record(Record::CallFinished(CallFinished {
            call: call.clone(),
            status,
            duration_ms: ms,
            receipt,
            output: None,
        }));
        let result = CallResult { call, text: result.to_owned(), is_error };
        self.entry(Role::Tool, Origin::Tool, vec![Block::Result(result)]);
    }

    /// Decided by the user, run, ended well.
    pub fn ran(&mut self, nth: usize, result: &str) {
        let command = self.calls[nth - 1].1.clone();
        self.decided(nth, Some(&command), None);
        self.started(nth);
        let bytes = result.len() as u64;
        let lines = result.lines().count() as u64;
        let receipt = Receipt { produced: bytes, lines, sent: bytes, cut: 0, file: None };
        self.finished(nth, CallStatus::Exited(0), 20, receipt, result);
    }

    /// The turn's only attempt fails, and with it the prompt.
    pub fn refused(&mut self, failure: Failure) {
        self.failed(failure.status, true, failure.clone());
        self.ended(TransitionReason::Failed(failure));
    }

    /// Does with the overlays that were sent last what the loop would do.
    pub fn overlaid(&mut self) {
        let sent = self.sent.iter().rev().find_map(|command| match command {
            Command::Overlay { overlays, .. } => Some(overlays.clone()),
            _ => None,
        });
        for (entry, overlay) in sent.unwrap() {
            self.overlays.set(entry, overlay.clone());
            self.record(Record::Overlay { entry, overlay });
        }
    }

    pub fn ended(&mut self, reason: TransitionReason) {
        self.record(Record::Ended(reason));
    }

    /// The first two turns of a session that is used in several pictures.
    pub fn two_turns(&mut self) {
        self.prompt("List the Python files and run the tests.");
        self.request();
        self.reply("I'll look first.", &["ls *.py"]);
        self.ran(1, "app.py\ntest_app.py\n(exit code 0)\n");
        self.request();
        self.reply("Two files. Running the tests.", &["pytest -q"]);
    }
}
