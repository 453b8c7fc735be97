//! What the conversation gives to copy: the item at hand, or as much of the reply as has arrived.

use super::super::call;
use super::Conversation;
use super::item::Item;
use crate::conversation::Session;
use crate::text::translated;
use crate::tui::copy::Copyable;

impl Conversation {
    /// The text that keys are about; of a call, the command and what the model was told.
    pub(in crate::tui) fn copyable(&self, session: &Session) -> Option<Copyable> {
        let Some(at) = self.at_hand else { return self.arriving() };
        let item = &self.items.get(at)?.item;
        Some(match item {
            Item::Call(id) => {
                let command = session.calls.get(id).map_or("", |log| call::command(log));
                let told = self.results.get(id).and_then(|entry| entry.result());
                Copyable::of_parts([command, told.map_or("", |told| &told.text)])
            }
            Item::Prompt(_) | Item::Said { .. } => Copyable::markdown(item.source().into_owned()),
            Item::Failure(failure, _) => Copyable::plain(format!(
                "{}\n{}",
                translated(&failure.cause()),
                failure.next_step()
            )),
            _ => Copyable::plain(item.source().into_owned()),
        })
    }

    /// What has arrived of a reply: its text, or before there is any what the model thinks.
    fn arriving(&self) -> Option<Copyable> {
        if !self.live.text.is_empty() {
            return Some(Copyable::markdown(self.live.text.clone()));
        }
        self.is_streaming().then(|| Copyable::plain(self.live.reasoning.clone()))
    }

    /// What the model said last, also while it still says it.
    pub(in crate::tui) fn last_said(&self) -> Option<String> {
        if !self.live.text.is_empty() {
            return Some(self.live.text.clone());
        }
        let mut items = self.items.iter().rev();
        let said = items.find(|placed| matches!(placed.item, Item::Said { .. }))?;
        Some(said.item.source().into_owned())
    }
}
