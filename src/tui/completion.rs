//! Completion in the prompt: `/word` from the table of words, `@file` from the names that the
//! program hands in. What is offered, which is selected, and what accepting inserts; how it looks
//! is `panes::completion`'s.
//!
//! A mention puts a path into the prompt, nothing else: the file itself is not sent.

use crate::text::say;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher};

use super::prompt_history::PromptHistory;
use super::slash::WORDS;
use crate::text::{Show, visible};

/// Rows kept of all that match.
const OFFERED: usize = 50;

/// The files of the directory, as far as they are known.
#[derive(Debug, Default)]
pub(super) struct Files {
    paths: Vec<PathBuf>,
    /// Whether there are more than are kept.
    more: bool,
    /// Whether they are being looked for.
    asked: bool,
    /// Counts the answers.
    version: u32,
}

impl Files {
    /// Takes over what was found.
    pub(super) fn found(&mut self, paths: Vec<PathBuf>, more: bool) {
        *self = Self { paths, more, asked: false, version: self.version + 1 };
    }

    /// Notes that they are looked for; says whether they were not already.
    fn ask(&mut self) -> bool {
        !std::mem::replace(&mut self.asked, true)
    }
}

/// What is being completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    /// What can follow a word.
    Argument,
    File,
    /// Earlier prompts that hold what stands in the draft.
    Earlier,
}

/// What accepting does to the draft.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Accepted {
    /// A text in place of so many bytes before the cursor.
    Before(usize, String),
    /// A text in place of everything.
    Whole(String),
}

/// One row that can be accepted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Safe to draw.
    pub(super) shown: String,
    /// What it does.
    pub(super) what: String,
    /// What stands in the prompt afterwards.
    inserted: String,
}

impl Candidate {
    /// A text that stands in the prompt afterwards.
    pub(super) fn new(text: &str, what: &str) -> Self {
        let shown = visible(text, Show::Prose).into_owned();
        Self { shown, what: visible(what, Show::Prose).into_owned(), inserted: text.to_owned() }
    }

    /// A text after which another is to follow.
    pub(super) fn going_on(text: &str, what: &str) -> Self {
        Self { inserted: format!("{text} "), ..Self::new(text, what) }
    }
}

/// What is offered at the cursor.
#[derive(Debug)]
pub(super) struct Completion {
    pub(super) kind: Kind,
    /// The piece before the cursor that would be replaced.
    token: String,
    pub(super) candidates: Vec<Candidate>,
    pub(super) selected: usize,
    /// Whether it was selected with a key.
    chosen: bool,
    /// The answer that the names are from.
    files: u32,
    /// A word about the list.
    pub(super) note: &'static str,
    /// Closed by the user: it stays away until another piece is written.
    closed: bool,
}

impl Completion {
    /// Whether it is to be seen, and has the keys that it knows.
    pub(super) fn is_open(&self) -> bool {
        !self.closed && !self.candidates.is_empty()
    }

    /// Moves the selection, around the ends.
    pub(super) fn select(&mut self, by: isize) {
        let count = isize::try_from(self.candidates.len()).unwrap_or(1).max(1);
        self.chosen = true;
        let at = isize::try_from(self.selected).unwrap_or(0);
        self.selected = usize::try_from((at + by).rem_euclid(count)).unwrap_or(0);
    }

    /// What accepting the selected row does.
    pub(super) fn accepted(&self) -> Option<Accepted> {
        let inserted = self.candidates.get(self.selected)?.inserted.clone();
        Some(match self.kind {
            Kind::Earlier => Accepted::Whole(inserted),
            Kind::Word | Kind::Argument | Kind::File => {
                Accepted::Before(self.token.len(), inserted)
            }
        })
    }

    /// Whether Enter submits what is written rather than taking the row: what follows a word may be
    /// any text, also one that another begins with.
    pub(super) fn leaves_enter(&self) -> bool {
        self.kind == Kind::Argument && !self.chosen
    }

    pub(super) fn close(&mut self) {
        self.closed = true;
    }
}

/// What is offered now. `before` is the cursor's line up to the cursor; `first` says whether that
/// is the draft's first line. Returns whether files have to be looked for.
pub(super) fn refresh(
    current: &mut Option<Completion>,
    files: &mut Files,
    before: &str,
    first: bool,
) -> bool {
    let Some((kind, token)) = token(before, first) else {
        *current = None;
        return false;
    };
    let begins = current.as_ref().is_none_or(|current| current.kind != kind);
    let ask = kind == Kind::File && begins && files.ask();
    let same = current.as_ref().filter(|current| current.kind == kind);
    let known = |current: &&Completion| current.token == token && current.files == files.version;
    if same.as_ref().is_some_and(known) {
        return ask;
    }
    let closed = same.is_some_and(|current| current.closed);
    let (candidates, note) = match kind {
        Kind::Word => (words(token), ""),
        Kind::File | Kind::Argument | Kind::Earlier => (matching(files, token), note(files)),
    };
    *current = Some(Completion {
        kind,
        token: token.to_owned(),
        candidates,
        selected: 0,
        chosen: false,
        files: files.version,
        note,
        closed,
    });
    ask
}

/// Offers what can follow a word: of all that can, what begins as the piece before the cursor does,
/// or else holds it; nothing once it stands there in full. Whether this only begins.
pub(super) fn offer(
    current: &mut Option<Completion>,
    token: &str,
    mut all: Vec<Candidate>,
) -> bool {
    let same = current.as_ref().filter(|current| current.kind == Kind::Argument);
    let begins = same.is_none();
    let closed = same.is_some_and(|same| same.closed);
    let same = same.filter(|same| same.token == token);
    let (selected, chosen) = same.map_or((0, false), |same| (same.selected, same.chosen));
    let lower = token.to_lowercase();
    let begins_so = |candidate: &Candidate| candidate.shown.to_lowercase().starts_with(&lower);
    if all.iter().any(|candidate| candidate.shown == token) {
        all.clear();
    } else if all.iter().any(begins_so) {
        all.retain(begins_so);
    } else {
        all.retain(|candidate| candidate.shown.to_lowercase().contains(&lower));
    }
    *current = Some(Completion {
        kind: Kind::Argument,
        token: token.to_owned(),
        selected: selected.min(all.len().saturating_sub(1)),
        candidates: all,
        chosen,
        files: 0,
        note: "",
        closed,
    });
    begins
}

fn note(files: &Files) -> &'static str {
    if files.more { say!("not all of them; ") } else { "" }
}

/// What is offered while earlier prompts are searched for what stands in the draft.
pub(super) fn search(current: &mut Option<Completion>, history: &PromptHistory, draft: &str) {
    let same = |current: &&Completion| current.kind == Kind::Earlier && current.token == draft;
    let selected = current.as_ref().filter(same).map_or(0, |current| current.selected);
    let found = history.matching(draft, OFFERED);
    let candidates: Vec<Candidate> = found
        .into_iter()
        .map(|prompt| Candidate {
            shown: first_line(prompt),
            what: String::new(),
            inserted: prompt.to_owned(),
        })
        .collect();
    *current = Some(Completion {
        kind: Kind::Earlier,
        token: draft.to_owned(),
        selected: selected.min(candidates.len().saturating_sub(1)),
        candidates,
        chosen: false,
        files: 0,
        note: "",
        closed: false,
    });
}

/// The first line of a prompt that says something, safe to draw; `⏎` says that there is more.
pub(super) fn first_line(prompt: &str) -> String {
    let mut lines = prompt.lines().filter(|line| !line.trim().is_empty());
    let mut line = visible(lines.next().unwrap_or_default(), Show::Prose).into_owned();
    if lines.next().is_some() {
        line.push_str(" ⏎");
    }
    line
}

/// The piece before the cursor that can be completed.
fn token(before: &str, first: bool) -> Option<(Kind, &str)> {
    let is_word = |word: &str| word.bytes().all(|b| b.is_ascii_alphabetic());
    if first && before.strip_prefix('/').is_some_and(is_word) {
        return Some((Kind::Word, before));
    }
    let start = before
        .rfind(char::is_whitespace)
        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    let token = &before[start..];
    token.starts_with('@').then_some((Kind::File, token))
}

fn words(token: &str) -> Vec<Candidate> {
    if WORDS.iter().any(|(word, _)| *word == token) {
        return Vec::new();
    }
    let token = token.to_ascii_lowercase();
    let fits = WORDS.iter().filter(|(word, _)| word.starts_with(&token));
    fits.map(|(word, what)| Candidate {
        shown: (*word).to_owned(),
        what: what.text().to_owned(),
        inserted: (*word).to_owned(),
    })
    .collect()
}

fn matching(files: &Files, token: &str) -> Vec<Candidate> {
    let needle = token.strip_prefix('@').unwrap_or(token);
    let names: Vec<Named<'_>> = files.paths.iter().map(|path| Named::of(path)).collect();
    if names.iter().any(|named| named.name == needle) {
        return Vec::new();
    }
    let found: Vec<Named<'_>> = if needle.is_empty() {
        names.into_iter().take(OFFERED).collect()
    } else {
        let pattern =
            Pattern::new(needle, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy);
        let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
        let found = pattern.match_list(names, &mut matcher);
        found.into_iter().take(OFFERED).map(|(named, _)| named).collect()
    };
    found.into_iter().map(Named::candidate).collect()
}

/// A path and its name as text.
struct Named<'a> {
    path: &'a Path,
    name: Cow<'a, str>,
}

impl AsRef<str> for Named<'_> {
    fn as_ref(&self) -> &str {
        &self.name
    }
}

impl<'a> Named<'a> {
    fn of(path: &'a Path) -> Self {
        Self { path, name: path.to_string_lossy() }
    }

    fn candidate(self) -> Candidate {
        Candidate {
            shown: visible(&self.name.replace('\n', "\\n"), Show::Prose).into_owned(),
            what: String::new(),
            inserted: format!("{} ", written(self.path)),
        }
    }
}

/// A path as it is written in a prompt: quoted where it would not be plain text in one piece.
fn written(path: &Path) -> String {
    let Some(name) = path.to_str() else {
        return format!("\"{}\"", path.as_os_str().as_encoded_bytes().escape_ascii());
    };
    let odd = |c: char| c.is_whitespace() || c.is_control() || "\"'\\`$".contains(c);
    if name.contains(odd) || visible(name, Show::Prose) != name {
        format!("{name:?}")
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    fn offered(files: &mut Files, before: &str) -> Vec<String> {
        let mut completion = None;
        refresh(&mut completion, files, before, true);
        let candidates = completion.map(|completion| completion.candidates).unwrap_or_default();
        candidates.into_iter().map(|candidate| candidate.inserted).collect()
    }

    #[test]
    fn words_are_offered_at_the_start_only() {
        let mut files = Files::default();
        assert_eq!(offered(&mut files, "/c"), ["/continue", "/clear", "/copy"]);
        assert_eq!(offered(&mut files, "/CL"), ["/clear"]);
        assert_eq!(offered(&mut files, "/"), WORDS.map(|(word, _)| word));
        for before in ["/clear", "see /c", "/usr/bin", "/clear now", "c", ""] {
            assert_eq!(offered(&mut files, before), [""; 0], "{before:?}");
        }
    }

    #[test]
    fn files_are_found_by_some_of_their_letters() {
        let mut files = Files::default();
        let names = ["Cargo.toml", "src/main.rs", "src/tui/mod.rs", "docs/读我.md"];
        files.found(names.map(PathBuf::from).to_vec(), false);
        assert_eq!(offered(&mut files, "look at @tuimod"), ["src/tui/mod.rs "]);
        assert_eq!(offered(&mut files, "@cargo"), ["Cargo.toml "]);
        assert_eq!(offered(&mut files, "看 @读我"), ["docs/读我.md "]);
        assert_eq!(offered(&mut files, "@").len(), 4);
        for before in ["me@example", "@src/main.rs", "@src/main.rs and", "@zzz"] {
            assert_eq!(offered(&mut files, before), [""; 0], "{before:?}");
        }
    }

    #[test]
    fn odd_names_are_shown_safely_and_inserted_in_quotes() {
        for (name, inserted) in [
            (&b"two words.txt"[..], r#""two words.txt" "#),
            (b"new\nline", r#""new\nline" "#),
            (b"esc\x1b]0;x\x07", r#""esc\u{1b}]0;x\u{7}" "#),
            ("bidi\u{202e}txt".as_bytes(), r#""bidi\u{202e}txt" "#),
            (b"quote\"s", r#""quote\"s" "#),
            (b"bytes\xff\xfe", r#""bytes\xff\xfe" "#),
        ] {
            let mut files = Files::default();
            files.found(vec![PathBuf::from(OsStr::from_bytes(name))], false);
            let mut completion = None;
            refresh(&mut completion, &mut files, "@", true);
            let candidate = completion.unwrap().candidates.remove(0);
            assert_eq!(candidate.inserted, inserted);
            assert!(!candidate.shown.contains(char::is_control), "{:?}", candidate.shown);
        }
    }

    #[test]
    fn it_is_asked_for_files_once_for_each_mention() {
        let mut files = Files::default();
        let mut completion = None;
        let mut ask = |files: &mut Files, before| refresh(&mut completion, files, before, true);
        assert!(!ask(&mut files, "a "));
        assert!(ask(&mut files, "a @"));
        assert!(!ask(&mut files, "a @b"));
        files.found(vec!["b".into()], false);
        assert!(!ask(&mut files, "a @b"));
        assert!(!ask(&mut files, "a @b "));
        assert!(ask(&mut files, "a @b @"));
    }
}
