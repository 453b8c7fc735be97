//! Placeholder until the real one lands.

#[derive(Debug, Default)]
pub(super) struct PromptHistory(Vec<String>);

impl PromptHistory {
    pub(super) fn add(&mut self, text: &str) {
        self.0.push(text.to_owned());
    }
    pub(super) fn previous(&mut self, _draft: &str) -> Option<&str> {
        self.0.last().map(String::as_str)
    }
    pub(super) fn next(&mut self) -> Option<&str> {
        None
    }
}
