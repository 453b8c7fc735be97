//! Which `.env` files may be used: the user's answers, each for one path and one content.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::variables::{DotEnv, Wanted};

/// The answer for one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// SHA-256 of the content that the answer is about, in hex.
    pub sha256: String,
    /// Whether it may be used.
    pub used: bool,
    /// The names that were shown with the question.
    pub names: BTreeSet<String>,
}

/// All answers, by canonical path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Trust(BTreeMap<PathBuf, Answer>);

impl Trust {
    /// Reads what [`Trust::text`] wrote.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// The answers as a file.
    ///
    /// # Errors
    /// If a path is not text.
    pub fn text(&self) -> Result<String, String> {
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        Ok(text + "\n")
    }

    /// The answer for these variables of this file as it is now. `None` if it was never asked, if the
    /// file has changed, or if the user agreed but was not shown one of the names.
    pub fn answer(&self, dot_env: &DotEnv, names: &[Wanted]) -> Option<bool> {
        let answer = self.0.get(&dot_env.path)?;
        let shown = || names.iter().all(|wanted| answer.names.contains(&wanted.name));
        (answer.sha256 == dot_env.sha256 && (!answer.used || shown())).then_some(answer.used)
    }

    /// Remembers an answer to a question that showed these names.
    pub fn remember(&mut self, dot_env: &DotEnv, names: &[Wanted], used: bool) {
        let sha256 = dot_env.sha256.clone();
        let mut names: BTreeSet<String> = names.iter().map(|name| name.name.clone()).collect();
        if let Some(before) = self.0.remove(&dot_env.path)
            && before.used
            && before.sha256 == sha256
        {
            names.extend(before.names);
        }
        self.0.insert(dot_env.path.clone(), Answer { sha256, used, names });
    }
}
