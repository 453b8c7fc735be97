//! Text that is pasted into a terminal that does not mark pastes arrives as keys, with Enter among
//! them. Nobody types like that: what comes in one burst, and what follows a paste at once, is taken
//! as one pasted text, and handed on when it is complete. So nothing in it is submitted, and no
//! control character in it does anything.

use std::time::{Duration, Instant};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::tui::Input;

/// Characters that may wait together because a person typed ahead.
const TYPED_AHEAD: usize = 16;
/// The longest line that something else than a person sends together with its Enter.
const LINE: usize = 1000;
/// How soon the next piece of a paste comes.
const REST: Duration = Duration::from_millis(30);
/// Longer than one piece is: what comes is cut anywhere, and on a busy machine it comes late.
const LONG: usize = 1024;
/// How soon the next piece of a long paste comes, be it one character.
const LONG_REST: Duration = Duration::from_millis(150);

/// Tells pasted keys from typed ones.
#[derive(Debug, Default)]
pub(super) struct Bursts {
    /// What was pasted so far.
    held: String,
    /// When its last piece came.
    pasted: Option<Instant>,
}

impl Bursts {
    /// What a batch of events that waited together means. A pasted text is held back.
    pub(super) fn sort(&mut self, batch: Vec<Event>, now: Instant) -> Vec<Input> {
        let characters: Vec<char> = batch.iter().filter_map(character).collect();
        let after_paste = self.pasted.is_some_and(|at| now < at + self.rest())
            && (characters.len() > 1 || self.is_long());
        let mut pasting = after_paste
            || characters.len() > TYPED_AHEAD && !is_line(&characters)
            || batch.iter().any(|event| matches!(event, Event::Paste(_)));
        let mut inputs = Vec::new();
        for event in batch {
            match (character(&event), event) {
                (_, Event::Paste(text)) => self.held.push_str(&text),
                (Some(character), _) if pasting => self.held.push(character),
                (_, event) => {
                    inputs.extend(self.release());
                    inputs.extend(input(&event));
                    continue;
                }
            }
            self.pasted = Some(now);
            pasting = true;
        }
        inputs
    }

    /// When what is held is complete.
    pub(super) fn due(&self) -> Option<Instant> {
        self.pasted.filter(|_| !self.held.is_empty()).map(|at| at + self.rest())
    }

    fn rest(&self) -> Duration {
        if self.is_long() { LONG_REST } else { REST }
    }

    fn is_long(&self) -> bool {
        self.held.len() > LONG
    }

    /// What was held, as one paste.
    pub(super) fn release(&mut self) -> Option<Input> {
        (!self.held.is_empty()).then(|| Input::Paste(std::mem::take(&mut self.held)))
    }
}

/// Whether this is one line with its Enter, as a script types it.
fn is_line(characters: &[char]) -> bool {
    characters.len() <= LINE
        && characters.last() == Some(&'\n')
        && characters.iter().filter(|c| c.is_control()).count() == 1
}

fn input(event: &Event) -> Option<Input> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => Some(Input::Key(*key)),
        Event::Mouse(mouse) => Some(Input::Mouse(*mouse)),
        Event::Resize(columns, rows) => Some(Input::Resize(*columns, *rows)),
        _ => None,
    }
}

/// The character that a terminal sent for this key, if it sent one.
fn character(event: &Event) -> Option<char> {
    let Event::Key(KeyEvent { code, modifiers, kind: KeyEventKind::Press, .. }) = event else {
        return None;
    };
    match (code, *modifiers - KeyModifiers::SHIFT) {
        (KeyCode::Char(c), KeyModifiers::NONE) => Some(*c),
        (KeyCode::Char('j'), KeyModifiers::CONTROL) | (KeyCode::Enter, KeyModifiers::NONE) => {
            Some('\n')
        }
        (KeyCode::Char(c @ 'a'..='z'), KeyModifiers::CONTROL) => {
            char::from_u32(u32::from(*c) - u32::from('a') + 1)
        }
        (KeyCode::Tab, KeyModifiers::NONE) => Some('\t'),
        (KeyCode::Esc, KeyModifiers::NONE) => Some('\x1b'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<Event> {
        let key = |c| match c {
            '\n' => KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE),
            '\x03' => KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL),
            c => KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE),
        };
        text.chars().map(|c| Event::Key(key(c))).collect()
    }

    /// The inputs, each pasted text in brackets.
    fn shown(inputs: &[Input]) -> String {
        let one = |input: &Input| match input {
            Input::Paste(text) => format!("[{text}]"),
            Input::Key(KeyEvent { code: KeyCode::Char(c), .. }) => c.to_string(),
            Input::Key(KeyEvent { code: KeyCode::Enter, .. }) => "⏎".to_owned(),
            other => format!("{other:?}"),
        };
        inputs.iter().map(one).collect()
    }

    /// All that comes of these keys.
    fn all(bursts: &mut Bursts, batch: Vec<Event>, now: Instant) -> String {
        let mut inputs = bursts.sort(batch, now);
        inputs.extend(bursts.release());
        shown(&inputs)
    }

    #[test]
    fn a_long_paste_is_one_text_though_a_piece_is_one_key_and_late() {
        let now = Instant::now();
        let mut bursts = Bursts::default();
        let long = "line\n".repeat(300);
        assert!(bursts.sort(keys(&long), now).is_empty());
        assert!(bursts.sort(keys("\n"), now + REST * 2).is_empty());
        assert!(bursts.sort(keys("end"), now + REST * 4).is_empty());
        assert_eq!(all(&mut bursts, vec![], now + REST * 4), format!("[{long}\nend]"));
        assert_eq!(all(&mut bursts, keys("\n"), now + REST * 9 + LONG_REST), "⏎");
    }

    #[test]
    fn what_is_typed_ahead_stays_keys() {
        let now = Instant::now();
        assert_eq!(all(&mut Bursts::default(), keys("/quit\n"), now), "/quit⏎");
        let typed = "a prompt that a script types\n";
        assert_eq!(all(&mut Bursts::default(), keys(typed), now), typed.replace('\n', "⏎"));
    }

    #[test]
    fn a_burst_is_one_text_whatever_is_in_it_and_however_it_is_cut() {
        let now = Instant::now();
        let mut bursts = Bursts::default();
        assert!(bursts.sort(keys("one long line\nand \x03 another\n"), now).is_empty());
        assert!(bursts.sort(keys("q\nq\n"), now + REST / 2).is_empty());
        assert_eq!(bursts.due(), Some(now + REST / 2 + REST));
        let text = "[one long line\nand \x03 another\nq\nq\n]";
        assert_eq!(shown(&bursts.release().into_iter().collect::<Vec<_>>()), text);
        assert_eq!(bursts.due(), None);
    }

    #[test]
    fn what_follows_a_paste_at_once_belongs_to_it() {
        let now = Instant::now();
        let mut bursts = Bursts::default();
        let batch = [vec![Event::Paste("a".to_owned())], keys("\n")].concat();
        assert_eq!(all(&mut bursts, batch, now), "[a\n]");
        assert_eq!(all(&mut bursts, keys("c\n"), now + REST / 2), "[c\n]");
        assert_eq!(all(&mut bursts, keys("c\n"), now + REST * 2), "c⏎");
    }

    #[test]
    fn a_key_after_a_paste_comes_after_it() {
        let now = Instant::now();
        let mut bursts = Bursts::default();
        assert!(bursts.sort(vec![Event::Paste("a".to_owned())], now).is_empty());
        assert_eq!(all(&mut bursts, keys("\n"), now + REST / 2), "[a]⏎");
    }

    #[test]
    fn keys_that_are_held_down_stay_keys() {
        let now = Instant::now();
        let down = Event::Key(KeyEvent::new(KeyCode::Down, KeyModifiers::NONE));
        assert_eq!(Bursts::default().sort(vec![down; 40], now).len(), 40);
    }
}
