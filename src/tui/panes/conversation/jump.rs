//! From landmark to landmark: the prompt, call, error or turn before and after.

use super::Conversation;
use super::item::Item;
use crate::conversation::{CallStatus, Session};
use crate::text::say;
use crate::tui::keymap::Landmark;
use crate::tui::theme::Look;

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Back,
    On,
}

impl Conversation {
    /// Goes to the next landmark that way; returns a word to the user if there is none.
    pub(super) fn jump(
        &mut self,
        landmark: Landmark,
        way: Way,
        session: &Session,
    ) -> Option<String> {
        let is_one = |at: &usize| is_landmark(&self.items[*at].item, landmark, session);
        let at = self.item_at_hand().unwrap_or(self.items.len());
        let found = match way {
            Way::Back => (0..at.min(self.items.len())).rev().find(is_one),
            Way::On => (at + 1..self.items.len()).find(is_one),
        };
        match found {
            Some(found) => {
                self.go_to(found);
                None
            }
            // Below all items is the reply that arrives.
            None if (landmark, way) == (Landmark::Item, Way::On) && self.is_streaming() => {
                self.follow();
                None
            }
            None => Some(match way {
                Way::Back => say!("No {what} before this one.", what = landmark.word()),
                Way::On => say!("No {what} after this one.", what = landmark.word()),
            }),
        }
    }
}

fn is_landmark(item: &Item, landmark: Landmark, session: &Session) -> bool {
    match landmark {
        Landmark::Item => item.can_be_at_hand(),
        Landmark::Prompt => matches!(item, Item::Prompt(_)),
        Landmark::Turn => matches!(item, Item::Turn { .. }),
        Landmark::Call => matches!(item, Item::Call(_)),
        Landmark::Error => match item {
            Item::Failure(..) | Item::Note(_, Look::Warning) => true,
            Item::Call(id) => session.calls.get(id).is_some_and(|log| {
                let status = log.finished.as_ref().map(|finished| &finished.status);
                status.is_some_and(|status| *status != CallStatus::Exited(0))
            }),
            _ => false,
        },
    }
}
