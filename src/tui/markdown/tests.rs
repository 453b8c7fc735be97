//! What Markdown looks like, and that it looks the same however it arrives.

use proptest::prelude::*;

use unicode_segmentation::UnicodeSegmentation as _;

use super::*;
use crate::text::{self, CORPUS};
use crate::tui::theme::Look;

const STYLE: Style = Style::Markdown(Look::Text);

fn shown(source: &str, width: u16) -> Vec<String> {
    let rows = rows(source, STYLE, width);
    rows.texts().iter().map(|row| row.trim_end().to_owned()).collect()
}

fn looks(source: &str) -> Vec<(String, Look)> {
    let rows = rows(source, STYLE, 80);
    rows.spanned().into_iter().map(|(text, look)| (text.to_owned(), look)).collect()
}

#[test]
fn marks_of_emphasis_vanish_and_code_keeps_its_backticks() {
    let source = "a *b* **c** ***d*** ~~e~~ `f  g` h\\*i &amp;";
    assert_eq!(shown(source, 80), ["a b c d e `f  g` h*i &"]);
    let expected = [
        ("b", Look::Emphasis),
        ("c", Look::Strong),
        ("d", Look::StrongEmphasis),
        ("e", Look::Struck),
        ("`f  g`", Look::Code),
    ];
    assert_eq!(looks(source), expected.map(|(text, look)| (text.to_owned(), look)));
}

#[test]
fn however_deep_emphasis_and_images_stand_in_one_another_the_text_is_shown() {
    let emphasised = format!("{}deep{}", "*_".repeat(300), "_*".repeat(300));
    assert!(shown(&emphasised, 80).concat().contains("deep"));
    let images = format!("{}deep{}", "![".repeat(300), "](u)".repeat(300));
    assert!(shown(&images, 80).concat().contains("deep"));
}

#[test]
fn blocks_keep_the_blank_lines_that_were_written() {
    let source = "# Head\ntext\n\n\n\nmore\n***\n> quote\n> **two**\n>\n> three\n\nend";
    let rule = "─".repeat(20);
    let expected =
        ["# Head", "text", "", "more", &rule, "│ quote", "│ two", "│", "│ three", "", "end"];
    assert_eq!(shown(source, 20), expected);
}

#[test]
fn html_with_the_line_ends_of_windows_has_no_blank_lines_between() {
    let source = "<div>\r\n<p>one\r\n\r\ntwo\r\n";
    assert_eq!(shown(source, 20), ["<div>", "<p>one", "", "two"]);
    let mut growing = Growing::default();
    for end in 1..=source.len() {
        growing.lay_out(&source[..end], STYLE, 20);
    }
    let rows = growing.rows().texts();
    let rows: Vec<&str> = rows.iter().map(|row| row.trim_end()).collect();
    assert_eq!(rows, ["<div>", "<p>one", "", "two"]);
}

#[test]
fn cells_without_a_heading_are_shown() {
    let source = "| a | b |\n|---|---|\n| 1 | 2 | three | *four* |\n| `x|y` | z |\n| 5 |\n";
    let text = shown(source, 60).join("\n");
    assert!(text.contains("1  │ 2  │ three | *four*"), "{text}");
    assert!(text.contains("`x │ y` │ z"), "{text}");
    // Also where the table does not fit.
    assert!(shown(source, 8).concat().replace(' ', "").contains("four"));
}

#[test]
fn lists_are_nested_numbered_as_written_and_ticked() {
    let source = "- one\n  - two\n    more\n\n  para\n- [x] done\n- [ ] open\n\n7. seven is long\n7. again\n-\n";
    let expected = [
        "• one",
        "  • two",
        "    more",
        "",
        "  para",
        "• [x] done",
        "• [ ] open",
        "",
        "7. seven is",
        "   long",
        "7. again",
        "•",
    ];
    assert_eq!(shown(source, 12), expected);
}

#[test]
fn a_code_block_names_its_language_and_keeps_every_space() {
    let source = "see\n```rust\nfn main() {\n    let  x;\n\n}\n```\nafter";
    let expected = ["see", "▎ rust", "▎ fn main() {", "▎     let  x;", "▎", "▎ }", "after"];
    assert_eq!(shown(source, 40), expected);
    assert!(looks(source).contains(&("fn".to_owned(), Look::Keyword)));
    assert_eq!(shown("```\nabcdefgh\n```", 8), ["▎ abcdef", "▎ gh"]);
    assert_eq!(shown("    in\n    dented", 20), ["▎ in", "▎ dented"]);
}

#[test]
fn a_table_stands_in_columns_where_it_fits() {
    let source = "| a | *b* |\n|---|---:|\n| 你好 | 1 |\n| x |";
    assert_eq!(shown(source, 20), ["a    │ b", "─────┼──", "你好 │ 1", "x    │"]);
    assert_eq!(shown(source, 7), ["a │ b", "你好 │", "1", "x │"]);
}

#[test]
fn cells_are_broken_where_a_table_does_not_fit() {
    let source = "| Name | Meaning |\n|---|---|\n| alpha | the *first letter* of the alphabet |\n| 贝塔 | x |";
    let expected = [
        "Name  │ Meaning",
        "──────┼───────────────",
        "alpha │ the first",
        "      │ letter of the",
        "      │ alphabet",
        "贝塔  │ x",
    ];
    assert_eq!(shown(source, 22), expected);
}

#[test]
fn nothing_that_was_written_is_hidden() {
    let source = "[text](http://a.b \"title\") <http://c.d> ![alt](pic.png)\n\n<b onclick=x>html</b>\n<!-- remark -->\n\n[ref]: http://e.f\n\nend";
    assert_eq!(
        shown(source, 80),
        [
            "text (http://a.b \"title\") http://c.d image: alt (pic.png)",
            "",
            "<b onclick=x>html</b>",
            "<!-- remark -->",
            "",
            "[ref]: http://e.f",
            "",
            "end",
        ]
    );
}

#[test]
fn as_written_is_as_written() {
    let source = "# *a*\n```\n  b\n```";
    let rows = rows(source, Style::Plain(Look::Text), 80);
    assert_eq!(rows.texts(), ["# *a*", "```", "  b", "```"]);
}

#[test]
fn no_control_of_a_hostile_text_is_left() {
    let hostile = "\u{1b}]0;t\u{7} **a\u{1b}[2Jb** `\u{9b}31m` [x](\u{1b}]8;;u) <i\u{1b}c>\n\n```\u{1b}[6n\nq\u{202e}z\u{90}\n```\n\n| \u{1b}P | a |\n|---|---|\n| \u{85} | \u{1b}_x |\n\n\u{1b}[x]: y\u{1b}\n";
    for width in [1, 7, 80] {
        for row in shown(hostile, width) {
            assert!(!row.contains(|c: char| c.is_control() || c == '\u{202e}'), "{row:?}");
        }
    }
    assert!(shown(hostile, 80)[0].contains("ab") || shown(hostile, 80)[0].contains("\\x1b[2J"));
}

#[test]
fn rows_tell_where_in_the_source_they_come_from() {
    let source = "# a\n\nsecond *line* that is long\n\n- item\n";
    let rows = rows(source, STYLE, 10);
    for at in 0..rows.len() {
        let place = rows.source_of(at).unwrap();
        assert!(rows.row_of_source(place) <= at);
    }
    let list = source.find("- item").unwrap();
    assert_eq!(rows.texts()[rows.row_of_source(list)], "• item");
}

/// The time it takes to lay out a source that arrives in pieces of 8 bytes, a frame for each.
fn time_to_stream(source: &str) -> std::time::Duration {
    let started = std::time::Instant::now();
    let mut growing = Growing::default();
    let mut end = 0;
    while end < source.len() {
        end = source.ceil_char_boundary((end + 8).min(source.len()));
        growing.lay_out(&source[..end], STYLE, 80);
    }
    started.elapsed()
}

#[test]
fn no_block_without_end_costs_the_square_of_its_length() {
    let cases = [
        ("list", "- an item of a list with **some** words\n"),
        ("nested", "  - an item of a list with **some** words\n"),
        ("code", "    let x = call(1, \"two\"); // three\n"),
        ("table", "| a | b |\n"),
        ("quote", "> some words of a quote\n"),
        ("line", "words without any end of line "),
        ("marks", "*[`<_"),
        ("html", "<b>\n"),
    ];
    for (name, piece) in cases {
        let head = match name {
            "nested" => "- a\n",
            "code" => "```rust\n",
            "table" => "| a | b |\n|---|---|\n",
            "html" => "<script>\n",
            _ => "",
        };
        let source = |bytes: usize| format!("{head}{}", piece.repeat(bytes / piece.len()));
        let once = time_to_stream(&source(20_000));
        let twice = time_to_stream(&source(80_000));
        assert!(
            twice < once * 9 + std::time::Duration::from_millis(300),
            "{name}: {once:?} {twice:?}"
        );
    }
}

fn piece() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "",
        "```",
        "```rust",
        "~~~",
        "    ",
        "short",
        "# head",
        "- item",
        "  - nested",
        "3. three",
        "> quote",
        "| a | b |",
        "|---|---|",
        "| 1 | 2 |",
        "***",
        "*em* **st**",
        "<div>",
        "===",
        "\t",
        "你好，世界。这是一个很长的句子，没有空格。",
        "`code`",
        "    indented",
        "- [ ] task",
        "-",
        "1.",
        "some words that are wrapped more than once, and a verylongwordthatisbrokeninside it",
        "--",
        "👨‍👩‍👧 e\u{301} \u{1b}[2K tab\there",
        "spaces          between  \r",
    ]);
    prop_oneof![
        4 => fixed.prop_map(str::to_owned),
        1 => prop::sample::select(CORPUS).prop_map(|text| text.replace('\n', " ")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_text_looks_the_same_however_it_arrives(
        lines in prop::collection::vec(piece(), 0..10),
        pieces in prop::collection::vec(1..40usize, 1..40),
        width in 1..60u16,
    ) {
        let text = lines.join("\n");
        let mut growing = Growing::default();
        let mut end = 0;
        for piece in pieces.iter().cycle() {
            end = text.ceil_char_boundary((end + piece).min(text.len()));
            growing.lay_out(&text[..end], STYLE, width);
            if end == text.len() {
                break;
            }
        }
        let mut whole = Growing::default();
        whole.lay_out(&text, STYLE, width);
        prop_assert_eq!(growing.rows().shown(), whole.rows().shown());
    }

    #[test]
    fn no_row_is_wider_than_the_pane(
        lines in prop::collection::vec(piece(), 0..12),
        width in 1..60u16,
    ) {
        let rows = rows(&lines.join("\n"), STYLE, width);
        for (columns, (_, row, _)) in rows.widths().into_iter().zip(rows.shown()) {
            let seen = row.graphemes(true).filter(|grapheme| text::width(grapheme) > 0).count();
            prop_assert!(columns <= width.into() || seen == 1, "{columns} in {width}: {row:?}");
        }
    }
}
