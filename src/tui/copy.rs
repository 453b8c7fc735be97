//! Copying without the mouse: what can be copied, whole or some of its lines, and the list in which
//! lines are chosen. Texts are those of the source, never wrapped. Where copies go is `app`'s.

use crate::text::{say, translated};
use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::exchanged::Effect;
use super::keymap::{Action, Context};
use super::model::Model;
use crate::text;

/// Where a copy is to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyTo {
    /// The clipboards that can be reached.
    Clipboard,
    /// A new file.
    File,
}

/// Where a copy went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Copied {
    /// A program took it for the clipboard.
    Clipboard,
    /// The terminal was handed it, and does not say what it did with it.
    Terminal,
    /// This file holds it.
    File(String),
    /// Nowhere; why.
    Nowhere(String),
}

impl Copied {
    /// What the user is told of `what`, a copy in words.
    pub(super) fn told(&self, what: &str) -> String {
        match self {
            Self::Clipboard => say!("Copied {what}.", what = what),
            Self::Terminal => say!("Copied {what}, by way of the terminal.", what = what),
            Self::File(path) => say!("Copied {what} to {path}", what = what, path = path),
            Self::Nowhere(why) => say!("Not copied: {why}", why = translated(why)),
        }
    }
}

/// A text that can be copied.
#[derive(Debug)]
pub(super) struct Copyable {
    /// What it is, in words.
    what: &'static str,
    text: String,
    /// What of it is worth choosing at once: code blocks, command and output.
    parts: Vec<Part>,
}

/// Lines of a text, and what copying them gives: a code block in a list loses its indent.
#[derive(Debug)]
struct Part {
    lines: Range<usize>,
    text: String,
}

impl Copyable {
    /// A text without parts.
    pub(super) fn plain(what: &'static str, text: String) -> Self {
        Self { what, text, parts: Vec::new() }
    }

    /// A Markdown source; its code blocks are parts.
    pub(super) fn markdown(what: &'static str, text: String) -> Self {
        let line_of = |place: usize| text[..place].matches('\n').count();
        let mut parts: Vec<Part> = Vec::new();
        let mut block: Option<(Range<usize>, String)> = None;
        for (event, range) in Parser::new_ext(&text, Options::ENABLE_TABLES).into_offset_iter() {
            match (event, &mut block) {
                (Event::Start(Tag::CodeBlock(_)), _) => block = Some((0..0, String::new())),
                (Event::Text(piece), Some((within, code))) => {
                    if code.is_empty() {
                        *within = range.clone();
                    }
                    within.end = range.end;
                    code.push_str(&piece);
                }
                (Event::End(TagEnd::CodeBlock), _) => {
                    if let Some((within, code)) = block.take().filter(|(_, code)| !code.is_empty())
                    {
                        let code = without_last_newline(&code).to_owned();
                        let first = line_of(within.start);
                        parts.push(Part {
                            lines: first..first + code.split('\n').count(),
                            text: code,
                        });
                    }
                }
                _ => {}
            }
        }
        Self { what, text, parts }
    }

    /// Texts one below the other, each of which is a part; empty ones are left out.
    pub(super) fn of_parts<'a>(
        what: &'static str,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let mut all = Self::plain(what, String::new());
        let mut line = 0;
        for text in texts.into_iter().map(without_last_newline).filter(|text| !text.is_empty()) {
            if line > 0 {
                all.text.push('\n');
            }
            all.text.push_str(text);
            let lines = line..line + text.split('\n').count();
            line = lines.end;
            all.parts.push(Part { lines, text: text.to_owned() });
        }
        all
    }

    fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }
}

/// Pasted into a shell, a newline at the end would run what is pasted.
fn without_last_newline(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}

/// The lines of a text, from which some are chosen.
#[derive(Debug)]
pub(super) struct Picker {
    of: Copyable,
    /// Where each line is in the text.
    lines: Vec<Range<usize>>,
    cursor: usize,
    /// Where the selection began; without one it is the line of the cursor.
    anchor: Option<usize>,
    /// Whether a key set it.
    marked: bool,
    top: usize,
    /// Lines that fit, as drawn last.
    pub(super) page: usize,
}

impl Picker {
    /// All lines of a text; its first part is chosen.
    fn new(of: Copyable) -> Self {
        let mut lines = Vec::new();
        let mut start = 0;
        for line in without_last_newline(&of.text).split('\n') {
            lines.push(start..start + line.len());
            start += line.len() + 1;
        }
        let mut picker =
            Self { of, lines, cursor: 0, anchor: None, marked: false, top: 0, page: 1 };
        picker.choose_part(0);
        picker
    }

    /// How many lines there are.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there is another part to choose.
    pub(super) fn has_parts(&self) -> bool {
        self.of.parts.len() > 1
    }

    /// A line, as it is.
    pub(super) fn line(&self, at: usize) -> &str {
        self.lines.get(at).map_or("", |line| &self.of.text[line.clone()])
    }

    /// The chosen lines.
    pub(super) fn chosen(&self) -> Range<usize> {
        let anchor = self.anchor.unwrap_or(self.cursor);
        anchor.min(self.cursor)..anchor.max(self.cursor) + 1
    }

    /// The first line shown where `height` lines fit.
    pub(super) fn top(&self, height: usize) -> usize {
        let last = self.lines.len().saturating_sub(height);
        self.top.min(last).clamp((self.cursor + 1).saturating_sub(height), self.cursor)
    }

    /// What would be copied, in words.
    fn what(&self) -> &'static str {
        if self.chosen() == (0..self.lines.len()) { self.of.what } else { say!("a part of it") }
    }

    /// What would be copied.
    pub(super) fn text(&self) -> &str {
        let chosen = self.chosen();
        if let Some(part) = self.of.parts.iter().find(|part| part.lines == chosen) {
            return &part.text;
        }
        match (self.lines.get(chosen.start), self.lines.get(chosen.end - 1)) {
            (Some(first), Some(last)) => &self.of.text[first.start..last.end],
            _ => "",
        }
    }

    fn choose_part(&mut self, at: usize) {
        if let Some(part) = self.of.parts.get(at) {
            self.anchor = Some(part.lines.start);
            self.marked = false;
            self.cursor = (part.lines.end - 1).min(self.lines.len() - 1);
            self.top = part.lines.start.saturating_sub(1);
        }
    }

    /// Chooses the part after the chosen one, and round.
    fn next_part(&mut self) {
        let from = self.chosen().start;
        let next = self.of.parts.iter().position(|part| part.lines.start > from);
        self.choose_part(next.unwrap_or(0));
    }

    fn act(&mut self, action: Action) {
        let last = self.lines.len() - 1;
        let page = self.page.max(1);
        self.top = self.top(page);
        self.cursor = match action {
            Action::Up => self.cursor.saturating_sub(1),
            Action::Down => self.cursor + 1,
            Action::PageUp => self.cursor.saturating_sub(page),
            Action::PageDown => self.cursor + page,
            Action::Start => 0,
            Action::End => last,
            _ => self.cursor,
        }
        .min(last);
        match action {
            Action::Mark => {
                self.marked = !self.marked;
                self.anchor = self.marked.then_some(self.cursor);
            }
            Action::NextPart => self.next_part(),
            _ => {}
        }
    }
}

/// A copy in words: how many lines and bytes.
pub(super) fn in_words(copy: &str) -> String {
    let bytes = text::bytes(copy.len() as u64);
    match copy.lines().count() {
        1 => say!("1 line, {bytes}", bytes = bytes),
        lines => say!("{lines} lines, {bytes}", lines = lines, bytes = bytes),
    }
}

/// Takes a key that is about copying; `None` if it is not.
pub(super) fn act(model: &mut Model, context: Context, action: Action) -> Option<Vec<Effect>> {
    let copy = |what, text: &str, to| vec![Effect::Copy { what, text: text.to_owned(), to }];
    match (action, &mut model.picker) {
        (Action::Copy, Some(picker)) => {
            let effects = copy(picker.what(), picker.text(), CopyTo::Clipboard);
            model.picker = None;
            Some(effects)
        }
        (Action::WriteCopy, Some(picker)) => {
            let effects = copy(picker.what(), picker.text(), CopyTo::File);
            model.picker = None;
            Some(effects)
        }
        (Action::Back, Some(_)) => {
            model.picker = None;
            Some(Vec::new())
        }
        (Action::Mark | Action::NextPart, Some(picker)) => {
            picker.act(action);
            Some(Vec::new())
        }
        (_, Some(picker)) if context == Context::Pick && is_move(action) => {
            picker.act(action);
            Some(Vec::new())
        }
        (Action::Copy, None) => Some(match at_hand(model, context) {
            Some(of) => copy(of.what, without_last_newline(&of.text), CopyTo::Clipboard),
            None => Vec::new(),
        }),
        (Action::CopyPart, None) => {
            model.picker = at_hand(model, context).map(Picker::new);
            Some(Vec::new())
        }
        _ => None,
    }
}

fn is_move(action: Action) -> bool {
    use Action::{Down, End, PageDown, PageUp, Start, Up};
    matches!(action, Up | Down | PageUp | PageDown | Start | End)
}

/// What the keys of a pane are about; says so if that is nothing.
fn at_hand(model: &mut Model, context: Context) -> Option<Copyable> {
    let session = &model.session;
    let found = match context {
        Context::Tools | Context::Call => model.tools.copyable(session),
        Context::Inspector | Context::Message => {
            model.inspector.copyable(session, model.beginning.as_ref())
        }
        _ => model.conversation.copyable(session),
    };
    let found = found.filter(|found| !found.is_empty());
    if found.is_none() {
        model.note = Some(say!("There is no text to copy here.").to_owned());
    }
    found
}

/// Copies what the model said last, as `/copy` does.
pub(super) fn last_said(model: &mut Model) -> Option<Vec<Effect>> {
    match model.conversation.last_said() {
        Some(text) => {
            Some(vec![Effect::Copy { what: say!("the last reply"), text, to: CopyTo::Clipboard }])
        }
        None => {
            model.note = Some(say!("The model has said nothing yet.").to_owned());
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_blocks_are_chosen_one_after_the_other_without_their_indent() {
        let source =
            "Do this:\n\n- first\n\n  ```sh\n  ls -l\n\n  pwd\n  ```\n\nThen\n\n```\nx\n```\n";
        let mut picker = Picker::new(Copyable::markdown("it", source.to_owned()));
        assert_eq!(picker.text(), "ls -l\n\npwd");
        picker.act(Action::NextPart);
        assert_eq!(picker.text(), "x");
        picker.act(Action::NextPart);
        assert_eq!(picker.text(), "ls -l\n\npwd");
        // Lines are marked from where the cursor is, whatever part was chosen.
        picker.act(Action::Start);
        picker.act(Action::Mark);
        assert_eq!(picker.text(), "Do this:");
        picker.act(Action::Down);
        picker.act(Action::Down);
        assert_eq!(picker.text(), "Do this:\n\n- first");
        picker.act(Action::End);
        assert_eq!(picker.text(), without_last_newline(source));
    }

    #[test]
    fn texts_below_one_another_are_parts() {
        let mut picker = Picker::new(Copyable::of_parts("it", ["ls\n", "", "a\nb\n"]));
        assert_eq!(picker.text(), "ls");
        picker.act(Action::NextPart);
        assert_eq!(picker.text(), "a\nb");
        assert_eq!(picker.chosen(), 1..3);
    }

    #[test]
    fn the_cursor_stays_in_sight() {
        let lines: Vec<String> = (0..50).map(|n| n.to_string()).collect();
        let mut picker = Picker::new(Copyable::plain("it", lines.join("\n")));
        picker.page = 10;
        for _ in 0..12 {
            picker.act(Action::Down);
        }
        assert_eq!(picker.top(10), 3);
        picker.act(Action::Up);
        assert_eq!(picker.top(10), 3);
        picker.act(Action::Start);
        assert_eq!(picker.top(10), 0);
    }
}
