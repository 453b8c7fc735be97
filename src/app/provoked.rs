//! Panics that a test asks for, in debug builds only: so it can see what becomes of the terminal.

use std::io;

use crate::tui::Input;

/// Panics on the key that the test named, where it said.
#[expect(clippy::panic, reason = "it is what the test asks for")]
pub(super) fn panic_at(input: &Input) {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("provoked in a drop by LIMPID_PANIC_KEY");
        }
    }
    let Input::Key(key) = input else { return };
    if std::env::var("LIMPID_PANIC_KEY").is_ok_and(|name| key.code.to_string() == name) {
        let text = std::env::var("LIMPID_PANIC_TEXT").unwrap_or_default();
        match std::env::var("LIMPID_PANIC_IN").as_deref() {
            Ok("thread") => {
                std::thread::spawn(move || panic!("provoked by LIMPID_PANIC_KEY {text}"));
            }
            Ok("task") => {
                tokio::spawn(async move { panic!("provoked by LIMPID_PANIC_KEY {text}") });
            }
            Ok("drop") => {
                let _bomb = Bomb;
                panic!("provoked by LIMPID_PANIC_KEY {text}");
            }
            Ok("stderr") => {
                use std::io::Write as _;
                let _ = writeln!(io::stderr(), "{text}");
                let _ = writeln!(io::stdout(), "{text}");
            }
            _ => panic!("provoked by LIMPID_PANIC_KEY {text}"),
        }
    }
}
