//! What the user has typed and not sent. It is no record: nothing happened yet.

use serde::{Deserialize, Serialize};

use super::{Asker, Origin, Record, Role, Stamped};

/// Texts of the user that the loop has not been handed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsent {
    /// Prompts that wait, the next one first.
    pub queued: Vec<String>,
    /// What stands in the prompt.
    pub draft: String,
}

impl Unsent {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.queued.is_empty() && self.draft.trim().is_empty()
    }

    /// Takes out what this record says was sent after all.
    pub fn sent(&mut self, stamped: &Stamped) {
        let is_it = |typed: &str| match &stamped.record {
            Record::Entry(entry) if (entry.role, entry.origin) == (Role::User, Origin::User) => {
                entry.text() == typed
            }
            Record::CallProposed(proposed) if matches!(proposed.asker, Asker::User { .. }) => {
                let command = typed.strip_prefix(&*proposed.name);
                command.map(str::trim) == proposed.command.as_deref()
            }
            _ => false,
        };
        if let Some(place) = self.queued.iter().position(|typed| is_it(typed)) {
            self.queued.remove(place);
        } else if is_it(&self.draft) {
            self.draft.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{Block, CallId, CallProposed, CallState, History};

    #[test]
    fn what_was_sent_is_not_unsent() {
        let prompt = |text: &str| {
            let blocks = vec![Block::Text(text.to_owned())];
            Record::Entry(History::default().append(Role::User, Origin::User, blocks))
        };
        let own = |mark: &str, command: &str| {
            Record::CallProposed(CallProposed {
                call: CallId("own_1".to_owned()),
                asker: Asker::User { told: mark == "!" },
                name: mark.to_owned(),
                command: Some(command.to_owned()),
                state: CallState::Complete,
            })
        };
        let queued = ["one", "! make ", "one", "!!ls"].map(str::to_owned).to_vec();
        let mut unsent = Unsent { queued, draft: "two".to_owned() };
        for record in [prompt("one"), own("!", "make"), own("!!", "pwd"), prompt("two")] {
            unsent.sent(&Stamped { at: 0, record });
        }
        assert_eq!(unsent.queued, ["one", "!!ls"]);
        assert_eq!(unsent.draft, "");
    }
}
