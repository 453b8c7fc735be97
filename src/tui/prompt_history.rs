//! The prompts sent before, to step through with Up and Down.
//!
//! Not here: keeping them on disk.

use crossterm::event::{KeyCode, KeyEvent};

use super::draft::Draft;
use super::search::holds;

/// Prompts kept; older ones are forgotten.
const KEPT: usize = 500;

/// The prompts of this and of earlier sessions, and where in them the user is.
#[derive(Debug, Clone, Default)]
pub(super) struct PromptHistory {
    prompts: Vec<String>,
    /// The prompt shown, while stepping.
    at: Option<usize>,
    /// What was in the editor before stepping began.
    unsent: String,
    /// Whether the last key asked for an older prompt than there is.
    wanted: bool,
}

impl PromptHistory {
    /// Remembers a prompt that was sent, and ends stepping. Empty ones and repetitions are not kept.
    pub(super) fn add(&mut self, prompt: &str) {
        self.at = None;
        self.unsent.clear();
        if prompt.trim().is_empty() || self.prompts.last().is_some_and(|last| last == prompt) {
            return;
        }
        if self.prompts.len() == KEPT {
            self.prompts.remove(0);
        }
        self.prompts.push(prompt.to_owned());
    }

    /// Puts the prompts of earlier sessions before those of this one. Returns whether the last key was
    /// for them.
    pub(super) fn recall(&mut self, mut earlier: Vec<String>) -> bool {
        let before = self.prompts.len();
        earlier.retain(|prompt| !self.prompts.contains(prompt));
        let room = KEPT.saturating_sub(self.prompts.len());
        let skip = earlier.len().saturating_sub(room);
        let mut prompts: Vec<String> = Vec::new();
        for prompt in earlier.into_iter().skip(skip).chain(std::mem::take(&mut self.prompts)) {
            if !prompt.trim().is_empty() && prompts.last() != Some(&prompt) {
                prompts.push(prompt);
            }
        }
        self.at = self.at.map(|at| at + prompts.len() - before);
        self.prompts = prompts;
        std::mem::take(&mut self.wanted)
    }

    /// The last key was for nothing here.
    pub(super) fn leave(&mut self) {
        self.wanted = false;
    }

    /// The prompts that hold a text, whatever the case of its letters: the newest first, each once.
    pub(super) fn matching(&self, text: &str, most: usize) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        for prompt in self.prompts.iter().rev() {
            if found.len() == most {
                break;
            }
            if (text.is_empty() || holds(prompt, text)) && !found.contains(&prompt.as_str()) {
                found.push(prompt);
            }
        }
        found
    }

    /// Takes Up on the first row of the draft and Down on its last, and puts another prompt in the
    /// draft. Returns whether the key was taken; Up and Down within the draft are taken too.
    pub(super) fn key(&mut self, key: KeyEvent, draft: &mut Draft) -> bool {
        self.wanted = false;
        if !key.modifiers.is_empty() || !matches!(key.code, KeyCode::Up | KeyCode::Down) {
            return false;
        }
        if draft.key(key) {
            return true;
        }
        let prompt = match key.code {
            KeyCode::Up => self.previous(&draft.text()).map(str::to_owned),
            _ => self.following().map(str::to_owned),
        };
        self.wanted = prompt.is_none() && key.code == KeyCode::Up;
        prompt.map(|prompt| draft.set_text(&prompt)).is_some()
    }

    /// The prompt before the one shown; `draft` is what the editor holds, and is kept for the way
    /// back. `None` at the oldest.
    fn previous(&mut self, draft: &str) -> Option<&str> {
        let at = match self.at {
            None => {
                let last = self.prompts.len().checked_sub(1)?;
                draft.clone_into(&mut self.unsent);
                last
            }
            Some(at) => at.checked_sub(1)?,
        };
        self.at = Some(at);
        self.prompts.get(at).map(String::as_str)
    }

    /// The prompt after the one shown, and after the newest the unsent draft. `None` when not
    /// stepping.
    fn following(&mut self) -> Option<&str> {
        let at = self.at? + 1;
        if at < self.prompts.len() {
            self.at = Some(at);
            self.prompts.get(at).map(String::as_str)
        } else {
            self.at = None;
            Some(&self.unsent)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stepping_back_and_forth_keeps_the_unsent_draft() {
        let mut history = PromptHistory::default();
        assert_eq!(history.previous("draft"), None);
        for prompt in ["one", "two", "two", "  "] {
            history.add(prompt);
        }
        assert_eq!(history.following(), None);
        assert_eq!(history.previous("draft"), Some("two"));
        assert_eq!(history.previous("two"), Some("one"));
        assert_eq!(history.previous("one"), None);
        assert_eq!(history.following(), Some("two"));
        assert_eq!(history.following(), Some("draft"));
        assert_eq!(history.following(), None);
        assert_eq!(history.previous("other"), Some("two"));
        history.add("three");
        assert_eq!(history.previous(""), Some("three"));
    }
    #[test]
    fn only_the_outer_rows_leave_the_draft() {
        let mut history = PromptHistory::default();
        history.add("sent\nbefore");
        let mut draft = Draft::with_text("a\nb");
        let (up, down) = (KeyEvent::from(KeyCode::Up), KeyEvent::from(KeyCode::Down));
        let mut texts = Vec::new();
        for key in [up, up, up, up, down, down] {
            history.key(key, &mut draft);
            texts.push(draft.text());
        }
        let sent = "sent\nbefore";
        assert_eq!(texts, ["a\nb", sent, sent, sent, sent, "a\nb"]);
        assert!(!history.key(KeyEvent::from(KeyCode::Left), &mut draft));
    }
}
