//! Which `.env` files may be used: the user's answers, each for one path and one content.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::variables::DotEnv;

/// The answer for one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// SHA-256 of the content that the answer is about, in hex.
    pub sha256: String,
    /// Whether it may be used.
    pub used: bool,
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

    /// The answer for this file as it is now; `None` if it was never asked, or the file has changed.
    pub fn answer(&self, dot_env: &DotEnv) -> Option<bool> {
        let answer = self.0.get(&dot_env.path)?;
        (answer.sha256 == dot_env.sha256).then_some(answer.used)
    }

    /// Remembers an answer.
    pub fn remember(&mut self, dot_env: &DotEnv, used: bool) {
        let answer = Answer { sha256: dot_env.sha256.clone(), used };
        self.0.insert(dot_env.path.clone(), answer);
    }
}
