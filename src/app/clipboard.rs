//! Where copies go: to the programs that have a clipboard, to the terminal (OSC 52, which reaches
//! the machine that a person sits at also over ssh), and into a private file where there is neither.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::sync::mpsc;

use super::{reports, terminal};
use crate::session::own_new_file;
use crate::tui::{Copied, CopyTo, Input};

/// Bytes at most that the terminal is handed: many drop what is more than 100,000 in base64.
const MOST: usize = 74_994;

/// How long a program may take.
const TIME: Duration = Duration::from_secs(2);

/// Programs that have a clipboard, and the variable that says so.
const PROGRAMS: [(&str, &str, &[&str]); 4] = [
    ("TMUX", "tmux", &["load-buffer", "-w", "-"]),
    ("WAYLAND_DISPLAY", "wl-copy", &[]),
    ("DISPLAY", "xclip", &["-selection", "clipboard", "-in"]),
    ("DISPLAY", "xsel", &["--clipboard", "--input"]),
];

/// Copies a text and answers with [`Input::Copied`].
///
/// # Errors
/// What the terminal says.
pub(super) fn copy(
    what: &'static str,
    text: String,
    to: CopyTo,
    answers: mpsc::Sender<Input>,
) -> io::Result<()> {
    let handed = to == CopyTo::Clipboard && text.len() <= MOST;
    if handed {
        terminal::write(sequence(&text, Between::here()).as_bytes())?;
    }
    tokio::spawn(async move {
        let went = match to {
            CopyTo::Clipboard if taken(&text).await => Copied::Clipboard,
            CopyTo::Clipboard if handed => Copied::Terminal,
            CopyTo::Clipboard | CopyTo::File => write(&text),
        };
        // Whoever has left needs no answer.
        let _ = answers.send(Input::Copied { what, text, went }).await;
    });
    Ok(())
}

/// What runs between limpid and the terminal.
#[derive(Debug, Clone, Copy)]
enum Between {
    Nothing,
    Tmux,
    /// GNU screen.
    Screen,
}

impl Between {
    fn here() -> Self {
        match (is_set("TMUX"), is_set("STY")) {
            (true, _) => Self::Tmux,
            (false, true) => Self::Screen,
            (false, false) => Self::Nothing,
        }
    }
}

/// Bytes that GNU screen passes on at once: 768 since 4.2.1, 256 before.
const SCREEN: usize = 250;

/// What the terminal is told; what runs between is told to pass it on.
fn sequence(text: &str, between: Between) -> String {
    let told = format!("\x1b]52;c;{}\x07", STANDARD.encode(text));
    match between {
        Between::Nothing => told,
        Between::Tmux => format!("{told}\x1bPtmux;\x1b{told}\x1b\\"),
        // It knows no OSC 52, and swallows what it does not know.
        Between::Screen => {
            let chunks = told.as_bytes().chunks(SCREEN).map(String::from_utf8_lossy);
            chunks.flat_map(|chunk| ["\x1bP".into(), chunk, "\x1b\\".into()]).collect()
        }
    }
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|set| !set.is_empty())
}

/// Whether a program took the text. tmux has a buffer of its own: with it, one more is looked for.
async fn taken(text: &str) -> bool {
    if cfg!(target_os = "macos") && run("pbcopy", &[], text).await.is_some() {
        return true;
    }
    let mut taken = false;
    for (variable, program, arguments) in PROGRAMS {
        if is_set(variable) && run(program, arguments, text).await.is_some() {
            taken = true;
            if program != "tmux" {
                break;
            }
        }
    }
    taken
}

/// Hands the text to a program; `None` if it is not there, fails, or does not end in time.
async fn run(program: &str, arguments: &[&str], text: &str) -> Option<()> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Such programs stay to serve the clipboard; the terminal's end is not theirs.
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take()?;
    let handed = async {
        stdin.write_all(text.as_bytes()).await.ok()?;
        drop(stdin);
        child.wait().await.ok().filter(std::process::ExitStatus::success).map(|_| ())
    };
    tokio::time::timeout(TIME, handed).await.ok()?
}

/// Writes the text into a file.
fn write(text: &str) -> Copied {
    let folder = match reports::folder() {
        Ok(folder) => folder,
        Err(error) => {
            return Copied::Nowhere(format!("no clipboard, and no folder for a file: {error}."));
        }
    };
    match own_new_file(&folder.join("copies"), "copy", "txt", text) {
        Ok(path) => Copied::File(path.display().to_string()),
        Err(error) => Copied::Nowhere(format!("{error}.")),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn tmux_and_screen_are_told_to_pass_it_on() {
        assert_eq!(sequence("hi\n", Between::Nothing), "\x1b]52;c;aGkK\x07");
        let both = "\x1b]52;c;aGkK\x07\x1bPtmux;\x1b\x1b]52;c;aGkK\x07\x1b\\";
        assert_eq!(sequence("hi\n", Between::Tmux), both);
        assert_eq!(sequence("hi\n", Between::Screen), "\x1bP\x1b]52;c;aGkK\x07\x1b\\");
        let long = "limpid ".repeat(1000);
        let passed = sequence(&long, Between::Screen);
        let chunks: Vec<&str> =
            passed.split("\x1b\\").map(|chunk| chunk.trim_start_matches("\x1bP")).collect();
        assert!(chunks.iter().all(|chunk| chunk.len() <= 250) && chunks.len() > 30);
        assert_eq!(chunks.concat(), sequence(&long, Between::Nothing));
    }

    #[test]
    fn a_copy_is_a_new_private_file_beside_a_planted_link() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("copies");
        std::fs::create_dir(&folder).unwrap();
        let theirs = dir.path().join("theirs");
        std::fs::write(&theirs, "as it was").unwrap();
        symlink(&theirs, folder.join(format!("copy-{}-1.txt", std::process::id()))).unwrap();
        let path = own_new_file(&folder, "copy", "txt", "mine").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
        assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "as it was");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}
