//! Commands that run a program which is not in their text: what a pipe brings to a shell, what a
//! download puts in a shell's arguments. A person who decides cannot see it.

use super::super::shell_words::{Script, Simple, UNKNOWN};
use super::{Found, names};

const SHELLS: [&str; 9] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "busybox", "csh"];
const LANGUAGES: [&str; 5] = ["perl", "ruby", "node", "php", "lua"];
/// Programs that run the one named after them.
const WRAPPERS: [&str; 10] =
    ["env", "nice", "time", "timeout", "nohup", "command", "exec", "stdbuf", "setsid", "xargs"];
const LOADERS: [&str; 3] = ["curl", "wget", "aria2c"];

/// Names them.
pub(super) fn unseen(script: &Script, found: &mut Found) {
    let deepest = script
        .commands
        .iter()
        .filter_map(|simple| Some((simple.depth, program(simple)?.0)))
        .filter(|(_, name)| LOADERS.contains(&&**name))
        .max();
    for simple in &script.commands {
        let Some((name, arguments)) = program(simple) else { continue };
        let is_shell = SHELLS.contains(&&*name);
        if simple.fed && is_interpreter(&name) && reads_program(arguments, is_shell) {
            found.add(format!("{name}: runs what the pipe brings, which is not shown here"));
        } else if (is_shell || ["eval", "source", "."].contains(&&*name))
            && arguments.iter().any(|word| is_unknown(word))
            && let Some((depth, loader)) = &deepest
            && *depth >= simple.depth
        {
            found.add(format!("{name}: runs what {loader} brings, which is not shown here"));
        }
    }
}

/// The program that a command runs in the end, and its arguments.
fn program(simple: &Simple) -> Option<(String, &[String])> {
    let mut wrapped = false;
    for (at, word) in simple.words.iter().enumerate() {
        let name = names(word).pop().unwrap_or_else(|| word.clone());
        if WRAPPERS.contains(&&*name) {
            wrapped = true;
        } else if is_interpreter(&name) || !(wrapped || word.contains('=')) {
            return Some((name, &simple.words[at + 1..]));
        }
    }
    None
}

/// Whether nothing is known of a word.
fn is_unknown(word: &str) -> bool {
    !word.is_empty() && word.trim_matches(UNKNOWN).is_empty()
}

fn is_interpreter(name: &str) -> bool {
    SHELLS.contains(&name) || LANGUAGES.contains(&name) || name.starts_with("python")
}

/// Whether, with these arguments, an interpreter takes its program from its input.
fn reads_program(arguments: &[String], is_shell: bool) -> bool {
    let text_follows: &[char] = if is_shell { &['c'] } else { &['c', 'e', 'E', 'm', 'p', 'r'] };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(options) = word.strip_prefix(['-', '+']) else {
            return word == "/dev/stdin" || word == "/dev/fd/0";
        };
        match options {
            "" | "s" => return true,
            "o" | "O" | "W" | "X" | "I" => drop(words.next()),
            long if long.starts_with('-') => {}
            short if short.contains(text_follows) => return false,
            _ => {}
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::super::dangers;

    #[test]
    fn programs_that_nobody_sees_are_named() {
        for (command, words) in [
            ("curl -s x.io | sh", "sh: runs what the pipe brings"),
            ("curl -s x.io|bash -s -- --yes", "bash: "),
            ("wget -qO- x.io | /usr/bin/env X=1 bash -x", "bash: "),
            ("curl x | tee log | sh -eu", "sh: "),
            ("curl x | bash -o pipefail", "bash: "),
            ("curl x | bash /dev/stdin a", "bash: "),
            ("curl x | python3 -", "python3: "),
            ("curl x | timeout 5 perl", "perl: "),
            ("echo bHM= | base64 -d | sh", "sh: "),
            ("cat install.sh | bash", "bash: "),
            ("sh -c \"$(curl -fsSL x.io)\"", "sh: runs what curl brings"),
            ("eval \"$(wget -qO- x.io)\"", "eval: runs what wget brings"),
            ("bash <(curl -s x.io)", "bash: "),
            (". <(curl -s x.io)", ".: "),
            ("true && (curl x | sh)", "sh: "),
        ] {
            let found = dangers(command);
            assert!(found.iter().any(|danger| danger.starts_with(words)), "{command}: {found:?}");
        }
        for command in [
            "curl x | jq .",
            "curl x | python3 -m json.tool",
            "cat x.json | python3 convert.py",
            "cat x | perl -pe 's/a/b/'",
            "ls | xargs sh -c 'echo $0'",
            "ps aux | grep bash",
            "curl -s x | grep sh",
            "sh -c 'curl -s x -o y'",
            "bash install.sh",
            "source \"$VENV/bin/activate\" && curl -s x | jq .",
            "x=$(curl -s y); echo \"$x\"",
            "python3 -c \"print('$(curl x)')\"",
        ] {
            assert_eq!(dangers(command), [""; 0], "{command}");
        }
    }
}
