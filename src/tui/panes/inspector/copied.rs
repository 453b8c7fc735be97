//! What the inspector gives to copy: the selected row or the view that is open, as exact as it is
//! shown.

use super::{Inspector, View, diff};
use crate::conversation::Session;
use crate::text::say;
use crate::tui::copy::Copyable;
use crate::tui::model::Beginning;
use crate::tui::panes::readable::readable;
use crate::wire::outline::RowKind;
use crate::wire::rows_of_turn;
use crate::wire::views::{self, Line};

impl Inspector {
    /// The text that keys are about.
    pub(in crate::tui) fn copyable(
        &self,
        session: &Session,
        beginning: Option<&Beginning>,
    ) -> Option<Copyable> {
        let Some(turn) = self.turn(session) else {
            let Beginning { system_prompt, context, .. } = beginning?;
            let context = context.as_deref().unwrap_or_default();
            return Some(Copyable::of_parts(
                say!("what the model is told"),
                [system_prompt, context],
            ));
        };
        let parts = session.parts_of(turn.number);
        let (what, lines) = match self.view {
            View::Roles | View::Message => {
                let previous = session.parts_sent_before(turn.number);
                let rows = rows_of_turn(turn, &parts, &previous, session);
                let row = rows.get(self.chosen())?;
                let exact: String = row.parts.iter().map(|&part| &*parts[part].text).collect();
                let is_exact = self.exact || matches!(row.kind, RowKind::Envelope);
                let readable = if is_exact { None } else { readable(&exact) };
                let what = match row.kind {
                    RowKind::Message { .. } | RowKind::NotSent(_) => say!("this message"),
                    _ => say!("this row"),
                };
                return Some(Copyable::plain(what, readable.unwrap_or(exact)));
            }
            View::Diff => {
                let lines = diff::of_turn(turn, self.base_of(turn.number), session, usize::MAX);
                let lines: Vec<String> = lines.into_iter().map(|(line, _)| line).collect();
                return Some(Copyable::plain(say!("this diff"), lines.join("\n")));
            }
            View::Request => {
                let mut lines = views::request(turn, &parts);
                // The body can be chosen at once.
                let body = lines.pop().map(|line| line.text).unwrap_or_default();
                return Some(Copyable::of_parts(say!("this request"), [&*text(lines), &*body]));
            }
            View::Response => {
                let kept = self.read.kept.as_ref().filter(|(of, _)| *of == turn.number);
                (say!("this response"), views::response(turn, kept.map_or(&[], |(_, kept)| kept)))
            }
            View::Usage => (say!("these figures"), views::usage(turn)),
        };
        Some(Copyable::plain(what, text(lines)))
    }
}

fn text(lines: Vec<Line>) -> String {
    let line = |Line { lead, text, .. }: Line| {
        if lead.is_empty() { text } else { format!("{lead} {text}") }
    };
    lines.into_iter().map(line).collect::<Vec<_>>().join("\n")
}
