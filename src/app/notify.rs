//! A word to a user who looks elsewhere: the window's title, and a bell or a notification when an
//! approval waits or a long prompt has ended.
//!
//! Pure; the bytes are written by whoever asks.

use std::time::{Duration, Instant};

use crate::config::Notify;
use crate::text::say;

/// A prompt that took longer is worth a call back.
const LONG: Duration = Duration::from_secs(10);

/// What the terminal understands, from the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Means {
    pub(super) notify: Notify,
    pub(super) title: bool,
}

impl Means {
    /// What was set, where the terminal can do it. A multiplexer (tmux, screen) shows a bell of its
    /// own and lets no notification through; the Linux console would print a title.
    pub(super) fn new(
        notify: Notify,
        title: bool,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let set = |name| variable(name).is_some_and(|value| !value.is_empty());
        let term = variable("TERM").unwrap_or_default();
        let multiplexed = set("TMUX") || set("STY") || term.starts_with("screen");
        let console = term == "linux";
        let notify = match notify {
            Notify::Off => Notify::Off,
            Notify::Bell => Notify::Bell,
            _ if multiplexed || console => Notify::Bell,
            Notify::Auto if set("VTE_VERSION") || term.starts_with("rxvt") => Notify::Osc777,
            Notify::Auto => Notify::Osc9,
            other => other,
        };
        Self { notify, title: title && !console }
    }
}

/// What limpid does, as far as somebody who looks elsewhere wants to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    Nothing,
    Working,
    Asking,
}

/// Follows what limpid does.
#[derive(Debug)]
pub(super) struct Caller {
    means: Means,
    directory: String,
    focused: bool,
    doing: Doing,
    since: Option<Instant>,
    title: String,
}

impl Caller {
    /// `directory` is safe to show.
    pub(super) fn new(means: Means, directory: String) -> Self {
        Self {
            means,
            directory,
            focused: true,
            doing: Doing::Nothing,
            since: None,
            title: String::new(),
        }
    }

    /// The title as it was before is put back with this.
    pub(super) fn farewell(&self) -> &'static str {
        if self.means.title { "\x1b[23;0t" } else { "" }
    }

    /// Keeps the title as it is, to be put back; ours is set with the next [`Self::see`].
    pub(super) fn greeting(&mut self) -> &'static str {
        self.title.clear();
        if self.means.title { "\x1b[22;0t" } else { "" }
    }

    pub(super) fn focus(&mut self, focused: bool) {
        self.focused = focused;
    }

    /// Takes notice; returns what to write.
    pub(super) fn see(&mut self, doing: Doing, now: Instant) -> String {
        let mut out = String::new();
        if doing != self.doing {
            let was_long = self.since.is_some_and(|since| now > since + LONG);
            match doing {
                Doing::Asking => out.push_str(&self.call(say!("limpid asks to run a command"))),
                Doing::Nothing if was_long => out.push_str(&self.call(say!("limpid is done"))),
                Doing::Nothing | Doing::Working => {}
            }
            self.since = match doing {
                Doing::Nothing => None,
                Doing::Working | Doing::Asking => self.since.or(Some(now)),
            };
            self.doing = doing;
        }
        let title = match doing {
            Doing::Nothing => format!("limpid · {}", self.directory),
            Doing::Working => format!("… limpid · {}", self.directory),
            Doing::Asking => format!("? limpid · {}", self.directory),
        };
        if self.means.title && title != self.title {
            out.push_str(&format!("\x1b]2;{title}\x07"));
            self.title = title;
        }
        out
    }

    fn call(&self, words: &str) -> String {
        match self.means.notify {
            _ if self.focused => String::new(),
            Notify::Off => String::new(),
            Notify::Bell | Notify::Auto => "\x07".to_owned(),
            Notify::Osc9 => format!("\x07\x1b]9;{words}\x07"),
            Notify::Osc777 => format!("\x07\x1b]777;notify;limpid;{words}\x07"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means(notify: Notify, variables: &[(&str, &str)]) -> Means {
        Means::new(notify, true, |name| {
            let found = variables.iter().find(|(other, _)| *other == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn only_what_the_terminal_understands_is_used() {
        let xterm = ("TERM", "xterm-256color");
        assert_eq!(means(Notify::Auto, &[xterm]).notify, Notify::Osc9);
        assert_eq!(means(Notify::Auto, &[xterm, ("VTE_VERSION", "7000")]).notify, Notify::Osc777);
        assert_eq!(means(Notify::Osc9, &[xterm, ("TMUX", "/tmp/x")]).notify, Notify::Bell);
        assert_eq!(means(Notify::Off, &[xterm, ("TMUX", "/tmp/x")]).notify, Notify::Off);
        assert!(!means(Notify::Auto, &[("TERM", "linux")]).title);
    }

    #[test]
    fn who_looks_elsewhere_is_called_and_nobody_else() {
        let start = Instant::now();
        let mut caller = Caller::new(means(Notify::Bell, &[("TERM", "xterm")]), "~/x".to_owned());
        assert_eq!(caller.see(Doing::Nothing, start), "\x1b]2;limpid · ~/x\x07");
        assert_eq!(caller.see(Doing::Nothing, start), "");
        assert_eq!(caller.see(Doing::Asking, start), "\x1b]2;? limpid · ~/x\x07");
        caller.see(Doing::Nothing, start);
        caller.focus(false);
        assert!(caller.see(Doing::Asking, start).starts_with('\x07'));
        assert!(!caller.see(Doing::Working, start).starts_with('\x07'));
        assert!(!caller.see(Doing::Nothing, start + LONG / 2).starts_with('\x07'), "not long");
        caller.see(Doing::Working, start);
        assert!(caller.see(Doing::Nothing, start + LONG * 2).starts_with('\x07'));
    }
}
