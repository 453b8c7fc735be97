//! What the conversation gives away as text: the item at hand, as much of the reply as has arrived, or
//! all of it.

use super::super::call;
use super::Conversation;
use super::item::{self, Item};
use crate::conversation::Session;
use crate::text::{self, Show, say, translated};
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
            Item::Prompt(_) | Item::Said { .. } => Copyable::markdown(item.source()),
            Item::Failure(failure, _) => Copyable::plain(format!(
                "{}\n{}",
                translated(&failure.cause()),
                failure.next_step()
            )),
            _ => Copyable::plain(item.source()),
        })
    }

    /// All of it, unfolded and unwrapped, with nothing in it that is not for reading; `None` if there is
    /// nothing yet.
    pub(in crate::tui) fn transcript(&self, session: &Session) -> Option<String> {
        let mut all = String::new();
        let next = self.items.iter().skip(1).map(Some).chain([None]);
        for (placed, next) in self.items.iter().zip(next) {
            let text = match &placed.item {
                // What came of a command of the user's own begins with it.
                Item::Call(_)
                    if next.is_some_and(|next| matches!(next.item, Item::Output { .. })) =>
                {
                    continue;
                }
                Item::Head => format!("{}\n", say!("model")),
                Item::Prompt(entry) => format!("\n{}\n{}\n\n", say!("you"), entry.text()),
                Item::Turn { posted, .. } => format!("── {posted} ──\n"),
                Item::Thought { .. } => {
                    format!("{}\n{}\n\n", say!("thought"), placed.item.source())
                }
                Item::Call(id) => {
                    let command = session.calls.get(id).map_or("", |log| call::command(log));
                    let told = self.results.get(id).and_then(|entry| entry.result());
                    format!("$ {command}\n{}\n", told.map_or("", |told| &told.text))
                }
                Item::Failure(failure, _) => {
                    format!("{}\n{}\n\n", translated(&failure.cause()), failure.next_step())
                }
                Item::Output { text, told } => format!("{}\n{text}\n\n", item::output_head(*told)),
                Item::Said { .. } | Item::Note(..) => {
                    format!("{}\n\n", placed.item.source())
                }
            };
            all.push_str(&text);
        }
        all.push_str(&self.live.reasoning);
        all.push_str(&self.live.text);
        let shown = text::visible(all.trim(), Show::Prose);
        (!shown.is_empty()).then(|| format!("{shown}\n"))
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
        Some(said.item.source())
    }
}
