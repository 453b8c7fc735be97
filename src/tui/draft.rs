//! Placeholder until the real editor lands.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use crate::text::{self, Show};

#[derive(Debug, Default)]
pub(super) struct Draft(String);

impl Draft {
    pub(super) fn with_text(text: &str) -> Self {
        Self(text.to_owned())
    }
    pub(super) fn text(&self) -> String {
        self.0.clone()
    }
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
    pub(super) fn set_text(&mut self, text: &str) {
        text.clone_into(&mut self.0);
    }
    pub(super) fn paste(&mut self, text: &str) {
        self.0.push_str(text);
    }
    pub(super) fn newline(&mut self) {
        self.0.push('\n');
    }
    pub(super) fn key(&mut self, key: KeyEvent) -> bool {
        match key.code {
            KeyCode::Char(c)
                if key.modifiers.difference(crossterm::event::KeyModifiers::SHIFT).is_empty() =>
            {
                self.0.push(c)
            }
            KeyCode::Backspace => drop(self.0.pop()),
            _ => return false,
        }
        true
    }
    pub(super) fn rows(&self, width: u16) -> u16 {
        let rows: usize = self
            .0
            .split('\n')
            .map(|l| text::wrap(&text::visible(l, Show::Prose), width.max(1).into()).len())
            .sum();
        u16::try_from(rows).unwrap_or(u16::MAX)
    }
    pub(super) fn draw(&self, area: Rect, buf: &mut Buffer, style: Style) -> Option<Position> {
        let mut rows = Vec::new();
        for line in self.0.split('\n') {
            let line = text::visible(line, Show::Prose).into_owned();
            for r in text::wrap(&line, area.width.max(1).into()) {
                rows.push(line[r].to_owned());
            }
        }
        let skip = rows.len().saturating_sub(area.height.into());
        let mut at = None;
        for (y, row) in (area.y..area.bottom()).zip(rows.iter().skip(skip)) {
            let (x, _) = buf.set_stringn(area.x, y, row, area.width.into(), style);
            at = Some(Position::new(x.min(area.right().saturating_sub(1)), y));
        }
        at
    }
}
