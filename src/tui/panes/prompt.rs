//! The prompt editor, and what a submitted text means: a prompt, or one of limpid's own words.

use crate::text::{Phrase, phrase, say};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use crate::tui::View;
use crate::tui::completion::{self, Completion};
use crate::tui::draft::Draft;
use crate::tui::draft::vi::{Came, Half};
use crate::tui::paint;
use crate::tui::prompt_history::PromptHistory;
use crate::tui::slash;
use crate::tui::theme::Look;

/// The state of the pane.
#[derive(Debug)]
pub(in crate::tui) struct Prompt {
    draft: Draft,
    history: PromptHistory,
    /// The draft, while earlier prompts are searched and its place is the search's field.
    aside: Option<Draft>,
    /// Whether the prompts of other sessions were asked for.
    pub(in crate::tui) recalled: bool,
    /// In the normal mode of vi, the command that is typed in part.
    normal: Option<Half>,
}

impl Default for Prompt {
    fn default() -> Self {
        Self {
            draft: Draft::folding(),
            history: PromptHistory::default(),
            aside: None,
            recalled: false,
            normal: None,
        }
    }
}

/// What is said of a paste that is folded.
pub(in crate::tui) const FOLDED: Phrase =
    phrase("Folded: Ctrl-X shows all of it, Enter sends all of it.");

/// What a submitted text means.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::tui) enum Submitted {
    /// There is nothing in it.
    Nothing,
    /// For the model.
    Prompt(String),
    /// `!command`, or `!!command`, of which the model is not told.
    Own { command: String, told: bool },
    /// `!` without a command.
    NoCommand,
    /// `!` with a folded paste in it: nobody has seen what would run.
    Folded,
    /// `/continue`
    Continue,
    /// `/clear`
    Clear,
    /// `/allowed`
    Allowed,
    /// `/revoke`
    Revoke,
    /// `/restore`
    Restore,
    /// `/mouse`
    Mouse,
    /// `/copy`
    Copy,
    /// `/print`
    Print,
    /// `/turn` and the words after it
    Turn(Vec<String>),
    /// `/theme` and the words after it
    Theme(Vec<String>),
    /// `/resume`
    Resume,
    /// `/help`
    Help,
    /// `/model` and the words after it
    Model(Vec<String>),
    /// `/set` and the words after it
    Set(Vec<String>),
    /// `/quit`, `q` or `exit`
    Quit,
    /// Close to one of the words without being it.
    Near(&'static str),
    /// A single `/word` that limpid does not know.
    Unknown(String),
}

impl Submitted {
    /// Whether it can only be done while the loop waits for a prompt.
    pub(in crate::tui) fn is_between_prompts(&self) -> bool {
        matches!(self, Self::Continue | Self::Clear | Self::Revoke | Self::Restore | Self::Resume)
    }

    /// What a text means. Only a single word of small letters after the slash is a command, or one
    /// that takes further words on the same line, so that `/usr/bin/env …` is a prompt, as is all
    /// that begins with a space.
    pub(in crate::tui) fn of(text: String) -> Self {
        let word = text.trim_end();
        if word.trim_start().is_empty() {
            return Self::Nothing;
        }
        if word.starts_with(char::is_whitespace) {
            return Self::Prompt(text);
        }
        if let Some(word) = slash::near(word) {
            return Self::Near(word);
        }
        match word {
            "/continue" => return Self::Continue,
            "/clear" => return Self::Clear,
            "/allowed" => return Self::Allowed,
            "/revoke" => return Self::Revoke,
            "/restore" => return Self::Restore,
            "/mouse" => return Self::Mouse,
            "/copy" => return Self::Copy,
            "/print" => return Self::Print,
            "/resume" => return Self::Resume,
            "/help" => return Self::Help,
            "/quit" | "q" | "exit" => return Self::Quit,
            _ => {}
        }
        if let Some(command) = word.strip_prefix('!') {
            let (command, told) = match command.strip_prefix('!') {
                Some(command) => (command.trim(), false),
                None => (command.trim(), true),
            };
            if command.is_empty() {
                return Self::NoCommand;
            }
            return Self::Own { command: command.to_owned(), told };
        }
        let mut words = word.split(' ').filter(|word| !word.is_empty());
        let first = words.next().filter(|_| !word.contains('\n'));
        match first {
            Some("/model") => return Self::Model(words.map(str::to_owned).collect()),
            Some("/set") => return Self::Set(words.map(str::to_owned).collect()),
            Some("/turn") => return Self::Turn(words.map(str::to_owned).collect()),
            Some("/theme") => return Self::Theme(words.map(str::to_owned).collect()),
            _ => {}
        }
        match word.strip_prefix('/') {
            Some(name) if !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase()) => {
                Self::Unknown(word.to_owned())
            }
            _ => Self::Prompt(text),
        }
    }
}

impl Prompt {
    pub(in crate::tui) fn is_empty(&self) -> bool {
        self.draft.is_empty()
    }

    /// Rows that the draft takes in this width.
    pub(in crate::tui) fn rows(&self, width: u16) -> u16 {
        self.draft.rows(width)
    }

    /// What Enter would submit. A command runs only if it stands there in full.
    pub(in crate::tui) fn submitted(&self) -> Submitted {
        match Submitted::of(self.draft.text()) {
            Submitted::Own { .. } if self.draft.is_folded() => Submitted::Folded,
            submitted => submitted,
        }
    }

    /// What Enter does, in a word; nothing where it only says why not. `running`: the model works.
    pub(in crate::tui) fn enter(&self, running: bool) -> &'static str {
        if self.is_searching() {
            return say!("end the search");
        }
        // Only what begins so is anything but a prompt: a long one is not read at every frame.
        let first = self.draft.first_line();
        if !first.starts_with(['/', '!']) && !matches!(first.trim_end(), "q" | "exit") {
            return if running { say!("queue") } else { say!("send") };
        }
        match self.submitted() {
            Submitted::Prompt(_) | Submitted::Own { .. } if running => say!("queue"),
            Submitted::Prompt(_) => say!("send"),
            Submitted::Own { told: true, .. } => say!("run"),
            Submitted::Own { told: false, .. } => say!("run, the model is not told"),
            Submitted::Nothing
            | Submitted::NoCommand
            | Submitted::Folded
            | Submitted::Near(_)
            | Submitted::Unknown(_) => "",
            submitted if running && submitted.is_between_prompts() => "",
            Submitted::Quit => say!("quit"),
            _ => say!("do it"),
        }
    }

    /// Empties the draft and returns what was in it, which can be fetched back with Up.
    pub(in crate::tui) fn take(&mut self) -> String {
        self.normal = None;
        let text = self.draft.text();
        self.history.add(&text);
        self.draft.clear();
        text
    }

    /// The text as it would be sent.
    pub(in crate::tui) fn text(&self) -> String {
        self.draft.text()
    }

    /// The draft, also while it is put aside.
    pub(in crate::tui) fn unsent(&self) -> String {
        self.aside.as_ref().unwrap_or(&self.draft).text()
    }

    /// Puts a text in place of the draft, which undo brings back.
    pub(in crate::tui) fn replace(&mut self, text: &str) {
        self.draft.replace_all(text);
    }

    /// The prompts of earlier sessions: Up that asked for them leads to the last one.
    pub(in crate::tui) fn recall(&mut self, earlier: Vec<String>) {
        if self.history.recall(earlier) {
            self.key(KeyEvent::new(KeyCode::Up, KeyModifiers::NONE));
        }
    }

    /// A prompt of this session.
    pub(in crate::tui) fn remember(&mut self, prompt: &str) {
        self.history.add(prompt);
    }

    /// Begins to search earlier prompts: the draft is put aside.
    pub(in crate::tui) fn begin_search(&mut self) {
        self.history.leave();
        if self.aside.is_none() {
            self.normal = None;
            self.aside = Some(std::mem::replace(&mut self.draft, Draft::folding()));
        }
    }

    /// Whether earlier prompts are searched.
    pub(in crate::tui) fn is_searching(&self) -> bool {
        self.aside.is_some()
    }

    /// Ends the search: the draft is there again. Whether there was a search.
    pub(in crate::tui) fn end_search(&mut self) -> bool {
        let aside = self.aside.take();
        aside.map(|draft| self.draft = draft).is_some()
    }

    /// Offers the earlier prompts that hold what is searched for.
    pub(in crate::tui) fn search(&self, completion: &mut Option<Completion>) {
        completion::search(completion, &self.history, &self.draft.text());
    }

    /// Puts a text in place of the draft.
    pub(in crate::tui) fn fill(&mut self, text: &str) {
        self.draft.set_text(text);
    }

    /// Puts a text back that could not be sent, before what was typed since.
    pub(in crate::tui) fn put_back(&mut self, text: &str) {
        self.end_search();
        let typed = self.draft.text();
        let joined = if typed.is_empty() { text.to_owned() } else { format!("{text}\n{typed}") };
        self.draft.set_text(&joined);
    }

    /// Keeps a text that was removed, so that Ctrl-Y brings it.
    pub(in crate::tui) fn forget(&mut self, text: &str) {
        self.draft.keep(text);
    }

    pub(in crate::tui) fn newline(&mut self) {
        self.draft.newline();
    }

    /// Whether it was folded into a mark.
    pub(in crate::tui) fn paste(&mut self, text: &str) -> bool {
        self.draft.paste(text)
    }

    /// The cursor's line up to the cursor, and whether it is the first.
    pub(in crate::tui) fn before_cursor(&self) -> (&str, bool) {
        self.draft.before_cursor()
    }

    /// Puts a text in place of so many bytes before the cursor.
    pub(in crate::tui) fn complete(&mut self, bytes: usize, with: &str) {
        self.draft.replace_before(bytes, with);
    }

    /// Opens the folded paste beside the cursor, or folds the opened one around it; a word to the user
    /// if there is one.
    pub(in crate::tui) fn unfold(&mut self) -> Option<&'static str> {
        if self.draft.unfold() {
            Some(say!("Opened: Ctrl-X folds it again."))
        } else if self.draft.fold() {
            Some(FOLDED.text())
        } else {
            None
        }
    }

    /// What [`Self::unfold`] would do, in a word.
    pub(in crate::tui) fn unfolds(&self) -> &'static str {
        if self.draft.can_unfold() {
            say!("open the paste")
        } else if self.draft.can_fold() {
            say!("fold the paste")
        } else {
            ""
        }
    }

    /// In which row the cursor is, of how many, in words; `None` where all of them fit.
    pub(in crate::tui) fn place(&self, height: u16) -> Option<String> {
        let (row, rows) = self.draft.place();
        let fits = rows <= usize::from(height);
        (!fits).then(|| say!("row {row} of {rows}", row = row, rows = rows))
    }

    /// Whether keys are commands of vi, not text.
    pub(in crate::tui) fn is_normal(&self) -> bool {
        self.normal.is_some()
    }

    /// Whether text is being typed, which Esc ends in vi.
    pub(in crate::tui) fn is_text(&self) -> bool {
        self.normal.is_none() && !self.draft.is_empty()
    }

    /// Takes a key as vi does: Esc ends the writing of text, and then keys are commands. Whether there
    /// was anything in it for vi; in an empty draft and where nothing is typed in part, Esc is not.
    pub(in crate::tui) fn vi(&mut self, key: KeyEvent) -> bool {
        let plain = (key.modifiers - KeyModifiers::SHIFT).is_empty();
        match (&mut self.normal, key.code) {
            (None, KeyCode::Esc) if plain && !self.draft.is_empty() => {
                self.draft.leave_insert();
                self.normal = Some(Half::default());
            }
            (Some(half), KeyCode::Esc) if plain && half.is_begun() => *half = Half::default(),
            (Some(half), KeyCode::Char(typed)) if plain => match self.draft.vi(half, typed) {
                Came::Nothing => {}
                Came::Insert => self.normal = None,
                Came::End => {
                    let code = if typed == 'k' { KeyCode::Up } else { KeyCode::Down };
                    self.key(KeyEvent::new(code, KeyModifiers::NONE));
                }
            },
            (None, _) => {
                self.draft.write();
                return false;
            }
            _ => return false,
        }
        true
    }

    /// A key that is text or moves the cursor; beyond the first and last row are earlier prompts.
    pub(in crate::tui) fn key(&mut self, key: KeyEvent) {
        if !self.history.key(key, &mut self.draft) {
            self.draft.key(key);
        }
    }
}

/// Draws the pane; returns where the cursor belongs if the pane has the keys.
pub(in crate::tui) fn draw(
    view: &View<'_>,
    focused: bool,
    area: Rect,
    framed: bool,
    buf: &mut Buffer,
) -> Option<Position> {
    let inside = if framed {
        paint::frame(
            buf,
            area,
            focused,
            &[
                (say!("Prompt"), title(focused)),
                (if view.model.prompt.is_normal() { say!(" · normal") } else { "" }, Look::Dim),
                (" ", title(focused)),
            ],
            view.theme,
        )
    } else {
        let mark = if focused { ("› ", Look::Focus) } else { ("  ", Look::Dim) };
        paint::pieces(buf, (area.x, area.y), area.width, &[mark], view.theme);
        let indent = 2.min(area.width);
        Rect { x: area.x + indent, width: area.width - indent, ..area }
    };
    if inside.is_empty() {
        return None;
    }
    let draft = &view.model.prompt.draft;
    if draft.is_empty() {
        let waits = view.model.approval.is_some();
        let hint = match (waits, view.model.running, view.model.session.turns.is_empty()) {
            _ if view.model.prompt.is_searching() => {
                say!("Type a part of an earlier prompt. Esc ends the search.")
            }
            (true, _, _) => say!("The model waits for your decision above."),
            (_, true, _) => say!("Enter queues what you type. Esc stops."),
            (_, _, true) => say!("Ask something, e.g. List all Python files in this directory"),
            _ => "",
        };
        paint::line(buf, inside, hint, Look::Dim, view.theme);
    }
    let cursor = draft.draw(inside, buf, view.theme.style(Look::Text));
    if let Some(place) = view.model.prompt.place(inside.height).filter(|_| framed) {
        paint::foot(buf, area, &place, view.theme);
    }
    cursor.filter(|_| focused)
}

fn title(focused: bool) -> Look {
    if focused { Look::Focus } else { Look::Dim }
}
