//! Editing and drawing a draft, key by key.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use ratatui::layout::Rect;
use unicode_segmentation::UnicodeSegmentation as _;

use super::*;
use crate::text::CORPUS;

fn press(draft: &mut Draft, keys: &str) {
    for key in keys.split(' ') {
        assert!(draft.key(event(key)), "{key} was not taken");
    }
}

/// `C-a`, `A-b`, `Left`, `x`.
fn event(key: &str) -> KeyEvent {
    let (modifiers, name) = match key.split_once('-') {
        Some(("C", name)) => (KeyModifiers::CONTROL, name),
        Some(("A", name)) => (KeyModifiers::ALT, name),
        _ => (KeyModifiers::NONE, key),
    };
    let code = match name {
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "Backspace" => KeyCode::Backspace,
        "Delete" => KeyCode::Delete,
        "Enter" => KeyCode::Enter,
        "Tab" => KeyCode::Tab,
        "Esc" => KeyCode::Esc,
        "Space" => KeyCode::Char(' '),
        _ => KeyCode::Char(name.chars().next().unwrap()),
    };
    KeyEvent::new(code, modifiers)
}

/// The text after keys of vi, with the cursor as `|`; `+` where text is typed again.
fn after_vi(text: &str, keys: &str) -> String {
    let (before, behind) = text.split_once('|').unwrap();
    let mut draft = Draft::with_text(&format!("{before}{behind}"));
    draft.go(Place {
        line: before.matches('\n').count(),
        at: before.rsplit('\n').next().unwrap().len(),
    });
    let (mut half, mut came) = (vi::Half::default(), vi::Came::Nothing);
    for key in keys.chars() {
        came = draft.vi(&mut half, key);
    }
    assert!(!half.is_begun());
    let mut lines: Vec<String> = draft.text.lines().iter().map(|line| line.text.clone()).collect();
    let mark = if came == vi::Came::Insert { '+' } else { '|' };
    lines[draft.cursor.line].insert(draft.cursor.at, mark);
    lines.join("\n")
}

/// What is long enough to be folded when it is pasted.
#[test]
fn vi_puts_long_texts_back_as_lines() {
    let mut draft = Draft::folding();
    draft.paste(&"x".repeat(1001));
    draft.paste("\n1\n2\n3\n4\n5\n6\n7\n8\nend");
    let mut half = vi::Half::default();
    for keys in ["ggddpihi", "gg10yyGpA!", "ggyyPp", "Gddppdd", "gg99ddup"] {
        for key in keys.chars() {
            draft.vi(&mut half, key);
        }
        let line = &draft.text.lines()[draft.cursor.line].text;
        assert!(draft.cursor.at <= line.len(), "{keys}");
    }
}

/// `<` is Esc, `>` Enter; all others are keys.
#[test]
fn vi_takes_back_a_command_or_all_that_was_written_at_once() {
    for (keys, then) in [
        ("ione two three.<u", ""),
        ("ione two three.<0dwu", "one two three."),
        ("ione<yy3pu", "one"),
        ("ione<yy3puU", "one\none\none\none"),
        ("ione two<0cwsix seven<u", "one two"),
        ("ione two<0cwsix seven<uU", "six seven two"),
        ("ione<oa line>and more<u", "one"),
        ("ione<xxu", "on"),
        ("ione<xx2u", "one"),
        ("ione two<A and<A more<2u", "one two"),
        ("ione two<0iand <xuu", "one two"),
    ] {
        let (mut draft, mut half, mut writes) = (Draft::default(), vi::Half::default(), false);
        for key in keys.chars() {
            match key {
                '<' => {
                    draft.leave_insert();
                    writes = false;
                }
                '>' => draft.newline(),
                key if writes => {
                    draft.write();
                    draft.key(KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE));
                }
                key => writes = draft.vi(&mut half, key) == vi::Came::Insert,
            }
        }
        assert_eq!(draft.text(), then, "{keys}");
    }
}

#[test]
fn vi_moves_and_changes_as_people_have_it_in_their_fingers() {
    for (text, keys, then) in [
        ("one |two three", "h", "one| two three"),
        ("one |two three", "w", "one two |three"),
        ("|one two three", "2w", "one two |three"),
        ("one |two\n  three", "w", "one two\n  |three"),
        ("one t|wo", "w", "one tw|o"),
        ("one two |three", "b", "one |two three"),
        ("one\n|two", "b", "|one\ntwo"),
        ("|one two", "e", "on|e two"),
        ("on|e two", "e", "one tw|o"),
        ("  one |two", "^", "  |one two"),
        ("  one |two", "0", "|  one two"),
        ("|one", "$", "on|e"),
        ("one\ntw|o", "gg", "|one\ntwo"),
        ("|one\ntwo", "G", "one\ntw|o"),
        ("|one two", "10l", "one tw|o"),
        ("|one two", "x", "|ne two"),
        ("o|ne", "5x", "|o"),
        ("on|e", "X", "o|e"),
        ("|one two three", "dw", "|two three"),
        ("|one two three", "d2w", "|three"),
        ("one |two\nthree", "dw", "one| \nthree"),
        ("|one two", "cw", "+ two"),
        ("one |two", "db", "|two"),
        ("one |two", "de", "one| "),
        ("one |two three", "d$", "one| "),
        ("one |two", "D", "one| "),
        ("one |two", "C", "one +"),
        ("one t|wo", "S", "+"),
        ("one\nt|wo\nthree", "dd", "one\n|three"),
        ("one\nt|wo", "dd", "|one"),
        ("o|ne", "dd", "|"),
        ("o|ne\ntwo\nthree", "2dd", "|three"),
        ("o|ne\ntwo", "ddp", "two\n|one"),
        ("o|ne\ntwo", "yyP", "|one\none\ntwo"),
        ("|one two", "dwP", "one| two"),
        ("|one two", "yep", "oon|ene two"),
        ("|ab", "xp", "b|a"),
        ("o|ne", "rX", "o|Xe"),
        ("o|ne", "2rX", "oX|X"),
        ("|one two", "dwu", "|one two"),
        ("|one two", "dwuU", "|two"),
        ("o|ne", "i", "o+ne"),
        ("o|ne", "a", "on+e"),
        ("  o|ne", "I", "  +one"),
        ("o|ne", "A", "one+"),
        ("o|ne\ntwo", "o", "one\n+\ntwo"),
        ("o|ne\ntwo", "O", "+\none\ntwo"),
        ("o|ne", "s", "o+e"),
        ("|你好 世界", "w", "你|好 世界"),
        ("你好 |世界", "x", "你好 |界"),
        ("|e\u{301}f", "x", "|f"),
        ("one |two", "dq", "one |two"),
        ("one t|wo three", "ciw", "one + three"),
        ("one t|wo three", "diw", "one | three"),
        ("one t|wo three", "daw", "one |three"),
        ("one t|wo", "daw", "on|e"),
        ("o|ne two", "ciqx", "o|e two"),
        ("|one two two", "ft", "one |two two"),
        ("|one two two", "2ft", "one two |two"),
        ("|one two", "tt", "one| two"),
        ("|one two", "dft", "|wo"),
        ("|one two", "dtt", "|two"),
        ("one tw|o", "Fo", "|one two"),
        ("one tw|o", "dFn", "o|o"),
        ("one tw|o", "dTn", "on|o"),
        ("a|b", "3rX", "a|b"),
        ("on|e two", "dig", "on|e two"),
        ("on|e\ntwo", "dgg", "|e\ntwo"),
        ("|one", "fq", "|one"),
        ("|one", "dfqx", "|ne"),
        ("one |two", "gx", "one |two"),
    ] {
        assert_eq!(after_vi(text, keys), then, "{keys} in {text:?}");
    }
}

/// What the screen shows, and the cursor's cell.
fn screen(draft: &Draft, width: u16, height: u16) -> (Vec<String>, (u16, u16)) {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    let cursor = draft.draw(area, &mut buffer, Style::new()).unwrap();
    let rows = (0..height)
        .map(|y| {
            let mut row = String::new();
            let mut x = 0;
            while x < width {
                let symbol = buffer[(x, y)].symbol();
                row.push_str(symbol);
                x += u16::try_from(crate::text::width(symbol)).unwrap().max(1);
            }
            row.trim_end().to_owned()
        })
        .collect();
    (rows, (cursor.x, cursor.y))
}

#[test]
fn backspace_and_motions_step_by_grapheme() {
    let mut draft = Draft::with_text("a👨‍👩‍👧‍👦e\u{301}🇨🇳");
    press(&mut draft, "Left Left Left");
    press(&mut draft, "x");
    assert_eq!(draft.text(), "ax👨‍👩‍👧‍👦e\u{301}🇨🇳");
    press(&mut draft, "Delete Right C-h");
    assert_eq!(draft.text(), "ax🇨🇳");
    press(&mut draft, "C-f Backspace C-b C-d");
    assert_eq!(draft.text(), "a");
}

#[test]
fn lines_join_and_part() {
    let mut draft = Draft::with_text("one\ntwo");
    press(&mut draft, "Home Backspace");
    assert_eq!(draft.text(), "onetwo");
    draft.newline();
    press(&mut draft, "Left Delete C-e !");
    assert_eq!(draft.text(), "onetwo!");
    press(&mut draft, "C-a Right C-k");
    assert_eq!(draft.text(), "o");
    press(&mut draft, "C-y C-a C-y");
    assert_eq!(draft.text(), "netwo!onetwo!");
    press(&mut draft, "C-e C-u");
    assert!(draft.is_empty());
}

#[test]
fn words_are_words_also_without_spaces() {
    let mut draft = Draft::with_text("say 你好，世界 (now)");
    press(&mut draft, "C-w");
    assert_eq!(draft.text(), "say 你好，世界 (");
    press(&mut draft, "A-Backspace");
    assert_eq!(draft.text(), "say 你好，世");
    press(&mut draft, "A-b A-b x");
    assert_eq!(draft.text(), "say 你好x，世");
    press(&mut draft, "C-Home A-f A-d");
    assert_eq!(draft.text(), "say好x，世");
}

#[test]
fn undo_takes_back_words_and_redo_brings_them_again() {
    let mut draft = Draft::default();
    press(&mut draft, "o n e Space t w o");
    draft.paste("\nthree");
    press(&mut draft, "C-w");
    assert_eq!(draft.text(), "one two\n");
    press(&mut draft, "C-7");
    assert_eq!(draft.text(), "one two\nthree");
    press(&mut draft, "A-z A-z");
    assert_eq!(draft.text(), "one ");
    press(&mut draft, "A-Z A-Z");
    assert_eq!(draft.text(), "one two\nthree");
    draft.clear();
    press(&mut draft, "C-_");
    assert_eq!(draft.text(), "one two\nthree");
}

#[test]
fn a_paste_is_sent_as_it_is_and_shown_with_marks() {
    let mut draft = Draft::default();
    draft.paste("a\u{1b}[2K\r\nb\rc\td\u{202e}");
    assert_eq!(draft.text(), "a\u{1b}[2K\nb\nc\td\u{202e}");
    let (rows, cursor) = screen(&draft, 20, 3);
    assert_eq!(rows, ["a\\x1b[2K", "b", "c   d<U+202E>"]);
    assert_eq!(cursor, (13, 2));
    press(&mut draft, "Left Left");
    assert_eq!(screen(&draft, 20, 3).1, (4, 2));
    press(&mut draft, "Backspace");
    assert_eq!(draft.text(), "a\u{1b}[2K\nb\ncd\u{202e}");
}

#[test]
fn the_cursor_stands_where_the_next_letter_will() {
    for (text, keys, cursor) in [
        ("", "C-y", (0, 0)),
        ("ab", "C-e", (2, 0)),
        ("ab  ", "C-e", (4, 0)),
        ("你好", "C-e", (4, 0)),
        ("你好", "Left", (2, 0)),
        ("one two three", "C-e", (5, 1)), // "one two " / "three"
        ("one two three", "C-a", (0, 0)),
        ("123456789", "C-e", (9, 0)),
        ("1234567890", "C-e", (1, 1)),
        ("1234567890", "Left", (0, 1)),
        ("12345678 ", "C-e", (9, 0)),
        ("123456789   ", "C-e", (9, 0)), // hanging spaces
        ("a\n", "C-e", (0, 1)),
    ] {
        let mut draft = Draft::with_text(text);
        press(&mut draft, keys);
        assert_eq!(screen(&draft, 10, 4).1, cursor, "{text:?} {keys}");
    }
}

#[test]
fn up_and_down_keep_the_column_and_leave_the_edges_to_the_caller() {
    let mut draft = Draft::with_text("one two three\n\n你好世界啊");
    assert_eq!(screen(&draft, 10, 9).0[..5], ["one two", "three", "", "你好世界", "啊"]);
    assert_eq!(draft.rows(10), 5);
    assert!(!draft.key(event("Down")));
    press(&mut draft, "Up");
    assert_eq!(screen(&draft, 10, 9).1, (2, 3));
    press(&mut draft, "Right Up Up");
    assert_eq!(screen(&draft, 10, 9).1, (4, 1));
    press(&mut draft, "Up");
    assert_eq!(screen(&draft, 10, 9).1, (4, 0));
    assert!(!draft.key(event("Up")));
    press(&mut draft, "Down Down Down");
    assert_eq!(screen(&draft, 10, 9).1, (4, 3));
    assert_eq!(draft.text(), "one two three\n\n你好世界啊");
}

#[test]
fn down_does_not_stick_at_the_end_of_a_full_row() {
    let mut draft = Draft::with_text("1234567890123456789012");
    screen(&draft, 10, 3);
    press(&mut draft, "C-a Left");
    for _ in 0..8 {
        press(&mut draft, "Right");
    }
    for row in 0..2 {
        assert_eq!(screen(&draft, 10, 3).1, (8, row));
        press(&mut draft, "Down");
    }
    assert_eq!(screen(&draft, 10, 3).1, (4, 2));
}

#[test]
fn the_view_follows_the_cursor() {
    let mut draft = Draft::with_text("1\n2\n3\n4\n5");
    assert_eq!(screen(&draft, 10, 2), (vec!["4".into(), "5".into()], (1, 1)));
    press(&mut draft, "Up");
    assert_eq!(screen(&draft, 10, 2), (vec!["4".into(), "5".into()], (1, 0)));
    press(&mut draft, "Up Up");
    assert_eq!(screen(&draft, 10, 2), (vec!["2".into(), "3".into()], (1, 0)));
    press(&mut draft, "C-End");
    draft.clear();
    assert_eq!(screen(&draft, 10, 2), (vec![String::new(), String::new()], (0, 0)));
}

#[test]
fn keys_without_a_use_are_left_to_the_caller() {
    let mut draft = Draft::default();
    for key in ["Enter", "Tab", "Esc", "C-c", "C-d", "C-p", "C-g", "C-j", "A-x", "Up", "Down"] {
        assert!(!draft.key(event(key)), "{key}");
    }
    let release = KeyEvent { kind: KeyEventKind::Release, ..event("a") };
    assert!(!draft.key(release));
    assert!(draft.is_empty());
}

#[test]
fn a_megabyte_stays_editable() {
    let lines = "some words and 你好 in a line of usual length\n".repeat(21_000);
    let one_line = "word ".repeat(200_000);
    for text in [lines, one_line] {
        let mut draft = Draft::default();
        draft.paste(&text);
        screen(&draft, 80, 10);
        let started = Instant::now();
        press(&mut draft, "x Left Backspace Up C-w C-_");
        screen(&draft, 80, 10);
        // Generous for an unoptimised build on a busy machine.
        assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    }
}

const KEYS: &[&str] = &[
    "Left",
    "Right",
    "Up",
    "Down",
    "Home",
    "End",
    "C-Home",
    "C-End",
    "A-b",
    "A-f",
    "Backspace",
    "Delete",
    "C-w",
    "A-d",
    "C-u",
    "C-k",
    "C-y",
    "a",
    "Space",
    "\u{301}",
    "\u{200d}",
    "🇨",
    "👩",
];

proptest! {
    #[test]
    fn any_keys_of_vi_leave_the_cursor_at_a_grapheme(
        text in "[a你e\u{301} \n.]{0,12}",
        keys in "[hljkweb0^$gGxXsDCSpPuUdcyrioaIAO23ZftFT你]{0,24}",
    ) {
        let mut draft = Draft::with_text(&text);
        let mut half = vi::Half::default();
        for key in keys.chars() {
            draft.vi(&mut half, key);
            let line = &draft.text.lines()[draft.cursor.line].text;
            let ends = line.grapheme_indices(true).map(|(at, _)| at).chain([line.len()]);
            prop_assert!(ends.into_iter().any(|at| at == draft.cursor.at), "{keys} in {text:?}");
        }
    }

    #[test]
    fn any_editing_stays_on_graphemes_and_can_be_undone(
        start in prop::collection::vec(prop::sample::select(CORPUS), 0..4),
        keys in prop::collection::vec(prop::sample::select(KEYS), 0..60),
        paste in prop::sample::select(CORPUS),
        width in 0u16..40,
        height in 0u16..6,
    ) {
        let start = newlines(&start.join("\n"));
        let mut draft = Draft::with_text(&start);
        let area = Rect::new(0, 0, width, height);
        for (nth, key) in keys.iter().enumerate() {
            draft.key(event(key));
            if nth == 30 {
                draft.paste(paste);
            }
            let mut buffer = Buffer::empty(area);
            let cursor = draft.draw(area, &mut buffer, Style::new());
            prop_assert_eq!(cursor.is_some(), !area.is_empty());
            if let Some(cursor) = cursor {
                prop_assert!(area.contains(cursor));
            }
            let line = &draft.text.lines()[draft.cursor.line].text;
            let at = draft.cursor.at;
            prop_assert!(at == line.len() || line.grapheme_indices(true).any(|(start, _)| start == at));
        }
        for _ in 0..100 {
            draft.key(event("C-_"));
        }
        prop_assert_eq!(draft.text(), start);
    }
}

#[test]
fn a_long_paste_is_one_step_and_exactly_what_was_pasted() {
    let long = "line with\u{1b}[2K escapes, 你好\tand tabs\r\n".repeat(214);
    let exact = long.replace("\r\n", "\n");
    let mut draft = Draft::folding();
    press(&mut draft, "a");
    draft.paste(&long);
    press(&mut draft, "z");
    assert_eq!(draft.text(), format!("a{exact}z"));
    let label = format!("a[pasted 214 lines, {}]z", crate::text::bytes(exact.len() as u64));
    assert_eq!(screen(&draft, 60, 2), (vec![label.clone(), String::new()], (28, 0)));
    press(&mut draft, "Left Left");
    assert_eq!(screen(&draft, 60, 2).1, (1, 0));
    press(&mut draft, "Delete");
    assert_eq!(draft.text(), "az");
    press(&mut draft, "C-_");
    assert_eq!(draft.text(), format!("a{exact}z"));
    assert_eq!(screen(&draft, 60, 2).0[0], label);
    // What was deleted comes back folded.
    press(&mut draft, "C-End Left C-w");
    assert_eq!(draft.text(), "az");
    press(&mut draft, "C-y");
    assert_eq!(draft.text(), format!("a{exact}z"));
    assert_eq!(screen(&draft, 60, 2).0[0], label);
}

#[test]
fn a_folded_paste_can_be_opened() {
    let long = "twelve\n".repeat(12);
    let mut draft = Draft::folding();
    draft.paste(&long);
    assert_eq!(draft.rows(40), 1);
    assert!(draft.unfold());
    assert_eq!((draft.text(), draft.rows(40)), (long.clone(), 13));
    assert!(!draft.unfold());
    press(&mut draft, "C-_");
    assert_eq!((draft.text(), draft.rows(40)), (long.clone(), 1));
    // Also from before it; short pastes and other fields are not folded at all.
    press(&mut draft, "C-a");
    assert!(draft.unfold());
    assert_eq!(draft.rows(40), 13);
    for mut draft in [Draft::folding(), Draft::default()] {
        draft.paste("ten lines\n".repeat(9).trim_end());
        assert_eq!(draft.rows(40), 9);
    }
    let mut field = Draft::default();
    field.paste(&long);
    assert_eq!(field.rows(40), 13);
}

#[test]
fn a_text_that_holds_a_mark_is_still_exact() {
    let nasty = "a\u{100000}\u{10fffd}b";
    let mut draft = Draft::folding();
    draft.paste(&"x".repeat(2_000));
    draft.paste(nasty);
    press(&mut draft, "\u{100001}");
    let exact = format!("{}{nasty}\u{100001}", "x".repeat(2_000));
    assert_eq!(draft.text(), exact);
    assert!(!draft.unfold(), "it stays folded");
    assert_eq!(Draft::with_text(&exact).text(), exact);
}

#[test]
fn a_megabyte_is_pasted_drawn_and_sent_in_no_time() {
    let lines = "\u{1b}[201~ some words\r\n".repeat(100_000);
    let started = Instant::now();
    let mut draft = Draft::folding();
    draft.paste(&lines);
    screen(&draft, 80, 10);
    let sent = draft.text();
    // Generous for an unoptimised build on a busy machine.
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    assert_eq!(sent, lines.replace("\r\n", "\n"));
}
