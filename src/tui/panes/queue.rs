//! The queue: prompts submitted while the model works. They wait here, on the screen's side, where
//! they can be seen, edited and removed, until the loop has ended well; or one is sent into the
//! running turn.

use crate::text::{self, say};
use std::collections::VecDeque;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::tui::View;
use crate::tui::completion::first_line;
use crate::tui::model::Model;
use crate::tui::paint;
use crate::tui::theme::Look;

/// Prompts that may wait.
const MOST: usize = 20;

/// Rows of the list at most, its heading among them.
const ROWS: u16 = 5;

/// Screens under this many rows have room for the heading only.
const ROOMY: u16 = 16;

/// What waits, in order.
#[derive(Debug, Default)]
pub(in crate::tui) struct Queue {
    /// Sent into the running turn; the record of it has not come yet.
    steering: VecDeque<String>,
    waiting: VecDeque<String>,
    /// The prompt that was taken out to be edited, and where it stood.
    taken: Option<(usize, String)>,
}

impl Queue {
    pub(in crate::tui) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(in crate::tui) fn len(&self) -> usize {
        self.steering.len() + self.waiting.len()
    }

    /// All that waits, the next one first.
    pub(in crate::tui) fn all(&self) -> Vec<String> {
        self.steering.iter().chain(&self.waiting).cloned().collect()
    }

    /// What waited when limpid ended.
    pub(in crate::tui) fn restore(&mut self, queued: Vec<String>) {
        self.waiting = queued.into();
    }

    /// Whether there is room for one more.
    pub(in crate::tui) fn has_room(&self) -> bool {
        self.len() < MOST
    }

    /// Adds a prompt: where one was taken out, else at the end.
    pub(in crate::tui) fn push(&mut self, prompt: String) {
        let place = self.taken.take().map_or(usize::MAX, |(place, _)| place);
        self.waiting.insert(place.min(self.waiting.len()), prompt);
    }

    /// Takes the prompt out that was added last.
    pub(in crate::tui) fn take_last(&mut self) -> Option<String> {
        self.taken = None;
        self.waiting.pop_back()
    }

    /// What is written from here on is no edit of one that was taken out.
    pub(in crate::tui) fn let_go(&mut self) {
        self.taken = None;
    }

    /// Whether the draft is a prompt that was taken out, as it was.
    pub(in crate::tui) fn is_taken(&self, draft: &str) -> bool {
        self.taken.as_ref().is_some_and(|(_, taken)| taken == draft)
    }

    /// Takes a prompt out to be edited: the last one, or if one was taken out and is still as it
    /// was, that before it; the other goes back.
    pub(in crate::tui) fn take_to_edit(&mut self, draft: &str) -> Option<String> {
        let after = match self.taken.take().filter(|(_, taken)| taken == draft) {
            Some((place, taken)) => {
                let place = place.min(self.waiting.len());
                self.waiting.insert(place, taken);
                place
            }
            None => self.waiting.len(),
        };
        let place = after.saturating_sub(1);
        let prompt = self.waiting.remove(place)?;
        self.taken = Some((place, prompt.clone()));
        Some(prompt)
    }

    /// The prompt that comes next.
    pub(in crate::tui) fn next(&self) -> Option<&str> {
        self.waiting.front().map(String::as_str)
    }

    /// Takes out the prompt that comes next.
    pub(in crate::tui) fn take_next(&mut self) -> Option<String> {
        self.waiting.pop_front()
    }

    /// The next prompt goes into the running turn. It is listed until its record comes.
    pub(in crate::tui) fn steer(&mut self) -> Option<String> {
        let prompt = self.waiting.pop_front()?;
        self.steering.push_back(prompt.clone());
        Some(prompt)
    }

    /// The model is told this prompt.
    pub(in crate::tui) fn told(&mut self, prompt: &str) {
        if self.steering.front().is_some_and(|first| first == prompt) {
            self.steering.pop_front();
        }
    }

    /// No request follows: what came too late for the last one waits again, before the rest.
    pub(in crate::tui) fn settle(&mut self) {
        while let Some(prompt) = self.steering.pop_back() {
            self.waiting.push_front(prompt);
        }
    }

    /// A prompt could not be sent into the running turn.
    pub(in crate::tui) fn steer_refused(&mut self) {
        if let Some(prompt) = self.steering.pop_back() {
            self.waiting.push_front(prompt);
        }
    }
}

/// Rows that the list takes on this screen.
pub(in crate::tui) fn rows(model: &Model, screen: Rect) -> u16 {
    let count = u16::try_from(model.queue.len()).unwrap_or(u16::MAX);
    match screen.height {
        _ if count == 0 => 0,
        0..=4 => 0,
        5..ROOMY => 1,
        _ if model.approval.is_some() => 1,
        _ => count.saturating_add(1).min(ROWS),
    }
}

/// Draws the list.
pub(in crate::tui) fn draw(view: &View<'_>, area: Rect, buf: &mut Buffer) {
    let queue = &view.model.queue;
    let (Some(room), false) = (area.height.checked_sub(1), queue.is_empty()) else { return };
    let theme = view.theme;
    let count = queue.len();
    let head = format!(" {}", say!("{count} queued", count = count));
    let (state, keys) = if view.model.running {
        ("", say!("Ctrl-S sends the next into this turn · ↑ takes one out · Ctrl-U removes it"))
    } else {
        (say!(", held"), say!("Enter in an empty prompt sends the next · ↑ takes one out"))
    };
    let mut pieces = vec![(head.as_str(), Look::Strong), (state, Look::Warning)];
    let first = queue.waiting.front().map(|first| first_line(first)).unwrap_or_default();
    if room == 0 {
        pieces.extend([(say!(": "), Look::Text), (first.as_str(), Look::Text)]);
    } else {
        let mut used = text::width(&head) + text::width(state);
        for key in keys.split(" · ") {
            used += 3 + text::width(key);
            if used <= area.width.into() {
                pieces.extend([(" · ", Look::Dim), (key, Look::Dim)]);
            }
        }
    }
    paint::pieces(buf, (area.x, area.y), area.width, &pieces, theme);
    let steering = queue.steering.iter().map(|prompt| ("→", prompt));
    let waiting = queue.waiting.iter().map(|prompt| ("·", prompt));
    let shown = usize::from(room);
    for (y, (index, (mark, prompt))) in
        (area.y + 1..area.bottom()).zip(steering.chain(waiting).enumerate())
    {
        let left = count - index;
        if index + 1 == shown && left > 1 {
            let more = format!("   {}", say!("… {left} more", left = left));
            paint::pieces(buf, (area.x, y), area.width, &[(&more, Look::Dim)], theme);
            break;
        }
        let line = first_line(prompt);
        let told = if mark == "→" { say!("goes with the next request") } else { "" };
        let pieces = [
            ("   ", Look::Text),
            (mark, Look::Dim),
            (" ", Look::Text),
            (line.as_str(), Look::Text),
            ("  ", Look::Text),
            (told, Look::Dim),
        ];
        paint::pieces(buf, (area.x, y), area.width, &pieces, theme);
    }
}
