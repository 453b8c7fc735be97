//! Placeholder until the real one lands.
use super::draft::Draft;
use crossterm::event::KeyEvent;

#[derive(Debug, Default)]
pub(super) struct PromptHistory(Vec<String>);

impl PromptHistory {
    pub(super) fn add(&mut self, text: &str) {
        self.0.push(text.to_owned());
    }
    pub(super) fn key(&mut self, _key: KeyEvent, _draft: &mut Draft) -> bool {
        false
    }
}
