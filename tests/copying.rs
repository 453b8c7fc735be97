//! Copying without the mouse: what is copied, from where, and where it goes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod stage;
mod support;

use base64::Engine as _;
use std::os::unix::fs::PermissionsExt as _;

use crossterm::event::KeyCode;
use limpid::conversation::{CallStatus, Progress, Receipt, TransitionReason};
use limpid::tui::CopyTo;
use stage::Stage;
use support::limpid::World;
use support::pty::Screen;
use support::server::{Server, text};

const LONG: &str = "One line that is much longer than the pane is wide, so that it is wrapped there: \
    the copy must have it in one piece.";

fn answered(columns: u16, rows: u16, answer: &str) -> Stage {
    let mut stage = Stage::new(columns, rows);
    stage.prompt("Tell me");
    stage.request();
    stage.reply(answer, &[]);
    stage.ended(TransitionReason::Answered);
    stage.frame();
    stage
}

fn copied(stage: &mut Stage) -> String {
    stage.copied.take().expect("something is copied").0
}

#[test]
fn a_message_is_copied_as_it_was_written() {
    let source = format!("# Title\n\n{LONG}\n\n- *one*\n- two");
    let mut stage = answered(80, 24, &source);
    stage.press(KeyCode::Tab);
    stage.press(KeyCode::Char('y'));
    assert_eq!(stage.copied, Some((source.clone(), CopyTo::Clipboard)));
    let told = format!("Copied this reply: 6 lines, {} B.", source.len());
    assert!(stage.screen().contains(&told), "{}", stage.screen());
    stage.press(KeyCode::Char('p'));
    stage.press(KeyCode::Char('y'));
    assert_eq!(copied(&mut stage), "Tell me");
    assert!(stage.screen().contains("Copied this prompt: 1 line, 7 B."), "{}", stage.screen());
}

#[test]
fn the_footer_names_both_ways_to_copy_where_there_is_a_text() {
    for (columns, rows) in [(80, 24), (120, 40)] {
        let mut stage = answered(columns, rows, "The *answer*.");
        stage.press(KeyCode::Tab);
        for key in ['p', 'P'] {
            let footer = stage.footer();
            assert!(footer.contains("y copy  Y part  "), "{footer}");
            stage.press(KeyCode::Char(key));
        }
        stage.press(KeyCode::Char('T'));
        assert!(!stage.screen().contains("y copy"), "a separator has no text: {}", stage.screen());
    }
}

#[test]
fn a_reply_is_copied_while_it_arrives() {
    let mut stage = answered(80, 24, "Before.");
    stage.prompt("More");
    stage.request();
    stage.frame();
    stage.press(KeyCode::Tab);
    stage.progress(Progress::Reasoning("Let me think".to_owned()));
    stage.frame();
    stage.press(KeyCode::Char('y'));
    assert_eq!(copied(&mut stage), "Let me think");
    for piece in ["One *line* that is long enough, ", &"and more. ".repeat(300), "The end"] {
        stage.text(piece);
        stage.frame();
    }
    stage.press(KeyCode::Char('y'));
    let so_far = copied(&mut stage);
    assert!(so_far.starts_with("One *line*") && so_far.ends_with("The end"), "{so_far}");
    stage.press(KeyCode::Char('p'));
    stage.press(KeyCode::Char('y'));
    assert_eq!(copied(&mut stage), "More", "what was gone to is at hand");
    stage.press(KeyCode::Esc);
    stage.type_text("/copy");
    stage.press(KeyCode::Enter);
    assert_eq!(copied(&mut stage), so_far);
}

#[test]
fn a_code_block_and_lines_are_chosen_with_the_keys_that_the_footer_names() {
    let source = "Run it:\n\n```sh\nls -l\npwd\n```\n\nand then\n\n```\nx\n```\n";
    let mut stage = answered(80, 24, source);
    stage.press(KeyCode::Tab);
    stage.press(KeyCode::Char('Y'));
    let screen = stage.screen();
    assert!(screen.contains("Copy ─ 2 lines, 9 B"), "{screen}");
    assert!(screen.contains("Enter copy") && screen.contains("c next block"), "{screen}");
    stage.press(KeyCode::Enter);
    assert_eq!(copied(&mut stage), "ls -l\npwd");
    assert!(stage.screen().contains("Copied a part of it: 2 lines, 9 B."), "{}", stage.screen());
    assert!(!stage.screen().contains("Copy ─"));
    stage.press(KeyCode::Char('Y'));
    stage.press(KeyCode::Char('c'));
    stage.press(KeyCode::Enter);
    assert_eq!(copied(&mut stage), "x");
    stage.press(KeyCode::Char('Y'));
    for code in [KeyCode::Home, KeyCode::Char(' '), KeyCode::End] {
        stage.press(code);
    }
    stage.press(KeyCode::Char('w'));
    let all = source.trim_end().to_owned();
    assert_eq!(stage.copied.take(), Some((all, CopyTo::File)));
    stage.press(KeyCode::Char('Y'));
    stage.press(KeyCode::Esc);
    assert_eq!(stage.copied, None);
}

#[test]
fn a_block_at_the_end_is_chosen_with_all_that_fits_before_it() {
    let lines: Vec<String> = (1..=12).map(|n| format!("line {n}")).collect();
    let mut stage = answered(80, 24, &format!("{}\n\n```\nls -l\n```\n", lines.join("\n")));
    stage.press(KeyCode::Tab);
    stage.press(KeyCode::Char('Y'));
    let screen = stage.screen();
    assert!(screen.contains(" line 1 ") && screen.contains("▌15 ls -l"), "{screen}");
}

#[test]
fn a_call_is_its_command_and_what_came_of_it() {
    let mut stage = Stage::new(120, 40);
    stage.prompt("Look");
    stage.request();
    stage.reply("", &["ls\npwd"]);
    stage.decided(1, Some("ls\npwd"), None);
    stage.started(1);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("0001-call.txt");
    std::fs::write(&file, "a\nb\n").unwrap();
    let receipt =
        Receipt { produced: 4, lines: 2, sent: 20, cut: 0, file: Some(file.display().to_string()) };
    stage.finished(1, CallStatus::Exited(0), 10, receipt, "a\nb\n[exit code 0]\n");
    stage.frame();
    stage.press(KeyCode::Tab);
    stage.press(KeyCode::Char('c'));
    stage.press(KeyCode::Char('Y'));
    stage.press(KeyCode::Enter);
    assert_eq!(copied(&mut stage), "ls\npwd");
    stage.press(KeyCode::Tab);
    stage.press(KeyCode::Char('y'));
    assert_eq!(copied(&mut stage), "ls\npwd\na\nb\n[exit code 0]");
    stage.press(KeyCode::Enter);
    stage.press(KeyCode::Char('Y'));
    stage.press(KeyCode::Char('c'));
    stage.press(KeyCode::Char('y'));
    assert_eq!(copied(&mut stage), "a\nb\n[exit code 0]");
    // Where the output is shown, it is what is copied.
    stage.press(KeyCode::Char('o'));
    stage.press(KeyCode::Char('y'));
    assert_eq!(copied(&mut stage), "a\nb");
}

#[test]
fn the_inspector_gives_rows_and_the_exact_body() {
    let mut stage = answered(120, 40, "Yes.");
    for _ in 0..3 {
        stage.press(KeyCode::Tab);
    }
    stage.press(KeyCode::Char('y'));
    assert!(copied(&mut stage).contains("You are an agent in a terminal."));
    assert!(stage.screen().contains("Copied this message: "), "{}", stage.screen());
    stage.press(KeyCode::Char('4'));
    stage.frame();
    stage.press(KeyCode::Char('Y'));
    stage.press(KeyCode::Char('c'));
    stage.press(KeyCode::Enter);
    let body = copied(&mut stage);
    let parsed: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(parsed["messages"][1]["content"], "Tell me");
}

#[test]
fn slash_copy_copies_the_last_answer_and_says_when_there_is_none() {
    let mut stage = Stage::new(80, 24);
    stage.type_text("/copy");
    stage.press(KeyCode::Enter);
    assert_eq!(stage.copied, None);
    assert!(stage.screen().contains("The model has said nothing yet."), "{}", stage.screen());
    let mut stage = answered(80, 24, "The *answer*.");
    stage.type_text("/copy");
    stage.press(KeyCode::Enter);
    assert_eq!(copied(&mut stage), "The *answer*.");
}

fn told(world: &World, answer: &str, variables: &[(&str, &str)]) -> Screen {
    let server = Server::start(vec![text(answer)]);
    let url = server.url();
    let arguments = ["--url", &url, "--model", "m"];
    let mut screen = Screen::start_with(world, &arguments, 80, 24, variables);
    screen.keys("go");
    screen.shows("go");
    screen.keys("\r");
    screen.shows("in one piece.");
    screen.keys("/copy");
    screen.shows("/copy");
    screen.keys("\r");
    screen
}

#[test]
fn a_program_gets_the_unwrapped_text_and_so_does_the_terminal() {
    let world = World::new();
    let bin = world.home().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let program = bin.join("wl-copy");
    std::fs::write(&program, "#!/bin/sh\ncat > \"$HOME/clipboard\"\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let variables = [("PATH", path.as_str()), ("WAYLAND_DISPLAY", "wayland-0")];
    let mut screen = told(&world, LONG, &variables);
    screen.shows(&format!("Copied the last reply: 1 line, {} B.", LONG.len()));
    assert_eq!(std::fs::read_to_string(world.home().join("clipboard")).unwrap(), LONG);
    let raw = String::from_utf8_lossy(&screen.raw).into_owned();
    let (_, rest) = raw.split_once("\x1b]52;c;").unwrap();
    let (sent, _) = rest.split_once('\x07').unwrap();
    let sent = base64::engine::general_purpose::STANDARD.decode(sent).unwrap();
    assert_eq!(String::from_utf8(sent).unwrap(), LONG);
}

#[test]
fn a_program_that_hangs_holds_nobody_up() {
    let world = World::new();
    let bin = world.home().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let program = bin.join("xclip");
    std::fs::write(&program, "#!/bin/sh\nexec sleep 600\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut screen = told(&world, LONG, &[("PATH", path.as_str()), ("DISPLAY", ":99")]);
    screen.keys("typed meanwhile");
    screen.shows("typed meanwhile");
    screen.shows("by way of the terminal.");
}

#[test]
fn what_is_too_long_for_the_terminal_is_written_to_a_private_file() {
    let world = World::new();
    let answer = format!("{}\n\nin one piece.", "0123456789 ".repeat(9_000));
    let mut screen = told(&world, &answer, &[]);
    screen.shows(" to /");
    assert!(!String::from_utf8_lossy(&screen.raw).contains("\x1b]52;"));
    let folder = world.data().join("limpid/copies");
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap();
    assert_eq!(std::fs::read_to_string(file.path()).unwrap(), answer);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn the_conversation_is_printed_on_the_normal_screen_until_enter() {
    let world = World::new();
    let answer = format!("{LONG}\n\n```\nlet x = 1;\n```\n\u{1b}]0;evil\u{7} after it");
    let server = Server::start(vec![text(&answer)]);
    let url = server.url();
    let mut screen = Screen::start(&world, &["--url", &url, "--model", "m"], 80, 24);
    screen.ask("/print");
    screen.shows("Nothing is said yet.");
    screen.keys("\x15");
    screen.hides("/print");
    screen.ask("Tell me");
    screen.shows("after it");
    screen.ask("/print");
    screen.shows("Enter goes back to limpid.");
    assert!(!screen.is_full());
    let printed = String::from_utf8_lossy(&screen.raw).replace("\r\n", "\n");
    let printed = printed.rsplit("\x1b[?25h").next().unwrap();
    assert!(printed.starts_with("you\nTell me\n\n── turn 1"), "{printed:?}");
    assert!(printed.contains(&format!("\nmodel\n{LONG}\n\n```\nlet x = 1;\n```\n")), "unwrapped");
    assert!(printed.contains("after it") && !printed.contains('\x1b'), "{printed:?}");
    screen.keys("\r");
    screen.until("the full screen", |text| text.contains("Inspector"));
    assert!(screen.is_full());
    screen.ask("/print");
    screen.until("both", |text| text.matches("Enter goes back").count() == 2);
    screen.keys("\x03");
    screen.until("the full screen", |text| text.contains("Inspector"));
    screen.keys("still here");
    screen.shows("still here");
}
