//! The help: every key of every place, from the keymap, and the words that the prompt knows.

use crate::text::{Phrase, phrase, say};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::tui::View;
use crate::tui::keymap::{self, Context};
use crate::tui::paint;
use crate::tui::rows::Rows;
use crate::tui::scroll::{Measure, Scroll};
use crate::tui::slash::WORDS;
use crate::tui::theme::Look;

/// What begins with a mark, and what it does.
const MARKS: [(&str, Phrase); 3] = [
    (
        "!command",
        phrase("runs it at once; the model is told command and output with your next prompt"),
    ),
    ("!!command", phrase("runs it at once; nothing of it is sent to the model")),
    (
        "@file",
        phrase("finds a file by some of its letters and inserts its path; only the path is sent"),
    ),
];

/// The keys of the editor, which takes them itself.
const EDITING: [(&str, Phrase); 8] = [
    ("Ctrl-A Ctrl-E", phrase("to the start, to the end of the line (also Home, End)")),
    ("Alt-B Alt-F", phrase("a word back, a word on (also Ctrl-Left, Ctrl-Right)")),
    ("Ctrl-W Alt-D", phrase("deletes the word before, the word after")),
    ("Ctrl-U Ctrl-K", phrase("deletes to the start, to the end of the line")),
    ("Ctrl-Y", phrase("puts back what was deleted last")),
    ("Ctrl-_ Alt-Z", phrase("undoes; Alt-Shift-Z does it again")),
    ("Up Down", phrase("on the first or last row of the prompt: earlier prompts")),
    ("Up, Ctrl-U", phrase("in an empty prompt: takes back the last queued one, removes it")),
];

/// With the keys of vi.
const VI: [(&str, Phrase); 4] = [
    ("Esc", phrase("ends the writing of text: keys are commands then; once more stops")),
    (
        "h j k l w b e",
        phrase("go, as do 0 ^ $ gg G and f F t T with a character; a number repeats"),
    ),
    (
        "i a I A o O",
        phrase("text again: here, after, at the start, at the end, on a line of its own"),
    ),
    (
        "d c y x s r p u",
        phrase("as in vi, with a motion, iw, aw or twice; D C S X P; U does it again"),
    ),
];

const DANGERS: Phrase = phrase(
    "Named as dangerous in the panel, never allowed for the session, asked for even under --yolo: acting as another user (sudo, su, doas, pkexec …), stopping the machine (shutdown, reboot, halt …), erasing disks and writing to devices (mkfs, dd of=/dev/…, > /dev/sda), deleting / or the home directory (rm -rf), fork bombs, and running a program that is not shown (curl … | sh). A text cannot tell everything that a command will do: read it before you allow it.",
);

/// Draws the help over the screen and returns what it came to.
pub(in crate::tui) fn draw(
    view: &View<'_>,
    scroll: &Scroll,
    context: Context,
    screen: Rect,
    buf: &mut Buffer,
) -> Measure {
    let width = screen.width.min(84);
    let area = Rect {
        x: screen.x + (screen.width - width) / 2,
        y: screen.y + 1.min(screen.height),
        width,
        height: screen.height.saturating_sub(2),
    };
    let inside = paint::pane(
        buf,
        area,
        true,
        &[(say!("Help"), Look::Focus), (" ", Look::Focus)],
        view.theme,
    );
    let mut rows = Rows::default();
    let mut last = "";
    for (section, place, binding) in keymap::actions(context) {
        heading(&mut rows, &mut last, section, inside.width);
        let label = view.model.setup.keymap.label(place, binding);
        entry(&mut rows, label, binding.long.text(), inside.width);
    }
    heading(&mut rows, &mut last, say!("Editing"), inside.width);
    for (keys, what) in EDITING {
        entry(&mut rows, keys, what.text(), inside.width);
    }
    if view.model.setup.keymap.is_vi() {
        heading(&mut rows, &mut last, say!("Editing as in vi"), inside.width);
        for (keys, what) in VI {
            entry(&mut rows, keys, what.text(), inside.width);
        }
    }
    heading(&mut rows, &mut last, say!("Words in the prompt"), inside.width);
    for (word, what) in WORDS.into_iter().chain(MARKS) {
        entry(&mut rows, word, what.text(), inside.width);
    }
    heading(&mut rows, &mut last, say!("Dangerous commands"), inside.width);
    rows.push(DANGERS.text(), Look::Text, 1, inside.width);
    let measure = scroll.measure(rows.len(), inside.height.into());
    rows.draw(measure.top, inside, buf, view.theme);
    if let Some(position) = measure.position(say!("rows")) {
        paint::foot(buf, area, &position, view.theme);
    }
    measure
}

fn heading<'a>(rows: &mut Rows, last: &mut &'a str, section: &'a str, width: u16) {
    if *last != section {
        if !last.is_empty() {
            rows.blank();
        }
        rows.push(section, Look::Strong, 0, width);
        *last = section;
    }
}

fn entry(rows: &mut Rows, key: &str, what: &str, width: u16) {
    rows.push_beside(&format!(" {key}"), what, if width < 40 { 11 } else { 15 }, width);
}
