//! What the conversation gives away as text: the item at hand, as much of the reply as has arrived, or
//! all of it.

use super::super::call;
use super::item::{self, Item};
use super::{At, Conversation, Drawn};
use crate::conversation::Session;
use crate::text::{self, Show, say, translated};
use crate::tui::copy::Copyable;

impl Conversation {
    /// The text that keys are about; of a call, the command and what the model was told.
    pub(in crate::tui) fn copyable(&self, session: &Session) -> Option<Copyable> {
        let Some(at) = self.item_at_hand() else { return self.arriving() };
        let item = &self.items.get(at)?.item;
        Some(match item {
            Item::Call(id) => {
                let command = session.calls.get(id).map_or("", |log| call::command(log));
                let told = self.results.get(id).and_then(|entry| entry.result());
                let told = told.map_or("", |told| &told.text);
                Copyable::of_parts(say!("this call"), [command, told])
            }
            Item::Prompt(_) => Copyable::markdown(say!("this prompt"), item.source().into_owned()),
            Item::Said { .. } => Copyable::markdown(say!("this reply"), item.source().into_owned()),
            Item::Failure(failure, _) => {
                let cause = translated(&failure.cause()).into_owned();
                Copyable::plain(say!("this failure"), format!("{cause}\n{}", failure.next_step()))
            }
            Item::Thought { .. } => {
                Copyable::plain(say!("this reasoning"), item.source().into_owned())
            }
            Item::Output { .. } => Copyable::plain(say!("this output"), item.source().into_owned()),
            Item::Turn { .. } | Item::Head | Item::Note(..) => {
                Copyable::plain(say!("this remark"), item.source().into_owned())
            }
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
        for arriving in [&self.live.reasoning, &self.live.text] {
            all.push_str(arriving);
            all.push_str("\n\n");
        }
        let shown = text::visible(all.trim(), Show::Prose);
        (!shown.is_empty()).then(|| format!("{shown}\n"))
    }

    /// Whether what keys are about in a frame has a text.
    pub(in crate::tui) fn can_copy(&self, drawn: Drawn) -> bool {
        match drawn.at_hand {
            At::Arriving => self.is_streaming(),
            At::Item(at) => {
                let item = self.items.get(at).map(|placed| &placed.item);
                item.is_some_and(|item| !matches!(item, Item::Turn { .. } | Item::Head))
            }
        }
    }

    /// What has arrived of a reply: its text, or before there is any what the model thinks.
    fn arriving(&self) -> Option<Copyable> {
        if !self.live.text.is_empty() {
            return Some(Copyable::markdown(say!("the reply so far"), self.live.text.clone()));
        }
        let reasoning = || self.live.reasoning.clone();
        self.is_streaming().then(|| Copyable::plain(say!("the reasoning so far"), reasoning()))
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
