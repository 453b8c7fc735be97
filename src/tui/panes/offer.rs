//! The offer over the prompt: after a server refused what it would refuse for ever, what could be
//! left out or shortened so that it goes on. Nothing is done until the user takes it, with a key that
//! is no text and counts only after [`QUIET`] without any key, the offer being on the screen.

use crate::text::say;
use std::time::Instant;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::BorderType;

use super::approval::QUIET;
use crate::conversation::{EntryId, Overlay, Session};
use crate::text::{self, Show};
use crate::tui::View;
use crate::tui::keymap::Context;
use crate::tui::paint::{self, Piece};
use crate::tui::rows::Rows;
use crate::tui::theme::Look;
use crate::wire::{Refused, Remedy, Shorter};

/// Results that are listed one by one.
const LISTED: usize = 4;

/// The state of the panel.
#[derive(Debug)]
pub(in crate::tui) struct Offer {
    remedy: Remedy,
    /// Since when it is on the screen.
    shown: Option<Instant>,
}

impl Offer {
    /// What can be offered after the session's last failure.
    pub(in crate::tui) fn of(session: &Session) -> Option<Self> {
        Remedy::of(session).map(|remedy| Self { remedy, shown: None })
    }

    /// It is, or is not, on the screen now.
    pub(in crate::tui) fn frame_shown(&mut self, drawn: bool, now: Instant) {
        if drawn {
            self.shown.get_or_insert(now);
        } else {
            self.shown = None;
        }
    }

    /// When it begins, or began, to take its key, if no other comes.
    pub(in crate::tui) fn ready_from(&self, last_input: Option<Instant>) -> Option<Instant> {
        let shown = self.shown?;
        Some(last_input.map_or(shown, |input| input.max(shown)) + QUIET)
    }

    /// What taking it sets.
    pub(in crate::tui) fn overlays(&self, session: &Session) -> Vec<(EntryId, Overlay)> {
        self.remedy.overlays(session)
    }

    /// What its key does, in a word or two.
    pub(in crate::tui) fn word(&self) -> &'static str {
        match &self.remedy {
            Remedy::LeaveOut(_) => say!("leave it out"),
            Remedy::Shorten(shorter) if shorter.plan.left_out.is_empty() => say!("shorten"),
            Remedy::Shorten(shorter) if shorter.plan.cuts.is_empty() => say!("leave them out"),
            Remedy::Shorten(_) => say!("shorten and leave out"),
        }
    }

    fn title(&self) -> String {
        match &self.remedy {
            Remedy::LeaveOut(_) => format!(" {} ", say!("Leave this message out?")),
            Remedy::Shorten(Shorter { too_long: Some(figures), .. }) => {
                let (sent, limit) = (grouped(figures.sent), grouped(figures.limit));
                format!(" {} ", say!("Too long: {sent} over {limit}", sent = sent, limit = limit))
            }
            Remedy::Shorten(_) => format!(" {} ", say!("Too long for the model")),
        }
    }

    fn rows(&self, width: u16) -> Rows {
        let mut rows = Rows::default();
        match &self.remedy {
            Remedy::LeaveOut(refused) => refused_rows(&mut rows, refused, width),
            Remedy::Shorten(shorter) => shorter_rows(&mut rows, shorter, width),
        }
        rows
    }
}

fn refused_rows(rows: &mut Rows, refused: &Refused, width: u16) {
    let Refused { number, role, first_line, entries } = refused;
    let why = say!(
        "The server refused message {number} ({role}) twice. It will refuse every request that holds it.",
        number = number,
        role = role,
    );
    rows.push(&why, Look::Text, 0, width);
    let line = text::visible(first_line, Show::Prose);
    let line = text::fit(&line, usize::from(width.saturating_sub(2)));
    rows.push(&line, Look::Strong, 2, width);
    if entries.len() > 1 {
        let others = entries.len() - 1;
        let more = match others {
            1 => say!("1 more entry is in the same message.").to_owned(),
            _ => say!("{others} more entries are in the same message.", others = others),
        };
        rows.push(&more, Look::Dim, 2, width);
    }
}

fn shorter_rows(rows: &mut Rows, shorter: &Shorter, width: u16) {
    let results = &shorter.results;
    if !results.is_empty() {
        let what = match results.len() {
            1 => say!("Shorten this result for the model, head and tail kept:"),
            _ => say!("Shorten these results for the model, head and tail kept:"),
        };
        rows.push(what, Look::Text, 0, width);
    }
    for (number, command, cut) in results.iter().take(LISTED) {
        let sizes = format!("{} → {}", text::bytes(cut.from as u64), text::bytes(cut.to as u64));
        let place = format!("{}  {sizes}  ", say!("message {number}", number = number));
        let command = command.lines().next().unwrap_or_default();
        let command = text::visible(command, Show::Prose);
        let room = usize::from(width).saturating_sub(2 + text::width(&place));
        rows.push(&format!("{place}{}", text::fit(&command, room)), Look::Strong, 2, width);
    }
    if let Some(rest) = results.get(LISTED..).filter(|rest| !rest.is_empty()) {
        let from: usize = rest.iter().map(|(_, _, cut)| cut.from).sum();
        let to: usize = rest.iter().map(|(_, _, cut)| cut.to).sum();
        let (from, to) = (text::bytes(from as u64), text::bytes(to as u64));
        rows.push(
            &say!("and {count} more  {from} → {to}", count = rest.len(), from = from, to = to),
            Look::Strong,
            2,
            width,
        );
    }
    let left_out = match (shorter.plan.prompts, results.is_empty()) {
        (0, _) => String::new(),
        (1, true) => say!("Leave out the oldest prompt, with its turns.").to_owned(),
        (1, false) => say!("Also leave out the oldest prompt, with its turns.").to_owned(),
        (count, true) => {
            say!("Leave out the {count} oldest prompts, with their turns.", count = count)
        }
        (count, false) => {
            say!("Also leave out the {count} oldest prompts, with their turns.", count = count)
        }
    };
    if !left_out.is_empty() {
        rows.push(&left_out, Look::Text, 0, width);
    }
    if !shorter.plan.suffices {
        rows.push(say!("This may not suffice; /clear starts anew."), Look::Warning, 0, width);
    }
}

/// A count with its thousands apart: `142,537`.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Rows that the panel would like to have.
pub(in crate::tui) fn height(offer: &Offer, columns: u16) -> u16 {
    let rows = offer.rows(columns.saturating_sub(4)).len();
    u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(3)
}

/// Draws the panel; returns whether it is to be seen, choices and all.
pub(in crate::tui) fn draw(
    view: &View<'_>,
    offer: &Offer,
    context: Context,
    area: Rect,
    buf: &mut Buffer,
) -> bool {
    let inside = paint::inside(area);
    paint::clear(buf, area, view.theme);
    if inside.height < 2 || inside.width < 20 {
        let hint = say!("Enlarge the window to {what}", what = offer.word());
        paint::line(buf, area, &hint, Look::Warning, view.theme);
        return false;
    }
    paint::border(buf, area, BorderType::Rounded, Look::Warning, view.theme);
    let title = offer.title();
    paint::pieces(buf, (area.x + 2, area.y), area.width - 4, &[(&title, Look::Strong)], view.theme);
    let list = Rect { height: inside.height - 1, ..inside };
    offer.rows(inside.width).draw(0, list, buf, view.theme);
    let foot = Rect { y: list.bottom(), height: 1, ..inside };
    let text = |text| (text, Look::Text);
    let ready = offer.ready_from(view.model.last_input).is_some_and(|from| from <= view.now);
    let mut choices: Vec<Piece<'_>> = vec![(if ready { "▸ " } else { "… " }, Look::Strong)];
    if context != Context::Prompt {
        choices.extend([("Esc", Look::Key), text(say!(" to the prompt, then "))]);
    }
    let key = if ready { Look::Key } else { Look::Dim };
    choices.extend([("Ctrl-O", key), text(" "), text(offer.word())]);
    if context == Context::Prompt {
        choices.extend([text("  "), ("Esc", Look::Key), text(" "), text(say!("not now"))]);
    }
    paint::pieces(buf, (foot.x, foot.y), foot.width, &choices, view.theme);
    true
}

#[cfg(test)]
mod tests {
    #[test]
    fn thousands_stand_apart() {
        for (count, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (142_537, "142,537"),
            (1_048_565, "1,048,565"),
        ] {
            assert_eq!(super::grouped(count), text);
        }
    }
}
