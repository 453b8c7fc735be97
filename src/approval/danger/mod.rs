//! The dangerous shapes: what in a command can end the machine, or act as somebody else.
//!
//! A name counts wherever it stands, also as an argument (`xargs sudo`, `env X=1 sudo`) or in quotes
//! (`sh -c 'sudo x'`), so `grep -r sudo . | xargs wc` is flagged though it is harmless: a finding only
//! asks. Exempt are commands made of nothing but programs that run no other program
//! (`echo "use sudo"`, `git commit -m "reboot the thing"`). Devices are judged by their paths
//! in any case (`paths`). The limits of reading a text stand in `shell_words`.

mod paths;
mod unseen;

use std::collections::HashSet;

use self::paths::{deletions, devices, names_root_or_home};
use self::unseen::unseen;
use super::shell_words::{Script, Simple, UNKNOWN, read};
use crate::text::{Show, fit, visible};

/// The dangerous shapes in a command, each in words, without repetition.
pub(super) fn dangers(command: &str) -> Vec<String> {
    let script = read(command);
    let mut found = Found::default();
    let names_count = !runs_nothing_else(&script);
    let elsewhere = script
        .commands
        .iter()
        .flat_map(|simple| &simple.words)
        .find(|word| names_root_or_home(word));
    for simple in &script.commands {
        let named = Named::new(simple);
        if names_count {
            names_of_power(&named, &mut found);
            deletions(&named, elsewhere.map(String::as_str), &mut found);
        }
        devices(&named, &mut found);
    }
    unseen(&script, &mut found);
    if is_fork_bomb(command) {
        found.add("fork bomb: starts processes without end".into());
    }
    if script.too_deep {
        found.add("commands within commands, too deep to be read".into());
    }
    found.dangers
}

#[derive(Default)]
struct Found {
    dangers: Vec<String>,
    known: HashSet<String>,
    /// A device is among them.
    device: bool,
}

impl Found {
    fn add(&mut self, danger: String) {
        if self.known.insert(danger.clone()) {
            self.device |= danger.contains("the device");
            self.dangers.push(danger);
        }
    }
}

/// Whether every command is a program that looks at its arguments and starts no other program.
fn runs_nothing_else(script: &Script) -> bool {
    const INERT: [&str; 21] = [
        "[", "cat", "cd", "cp", "echo", "egrep", "false", "fgrep", "grep", "head", "ls", "mkdir",
        "mv", "printf", "pwd", "tail", "test", "touch", "true", "wc", "which",
    ];
    const INERT_GIT: [&str; 6] = ["add", "branch", "commit", "diff", "log", "status"];
    script.plain
        && script.commands.iter().filter(|simple| simple.depth == 0).all(|simple| {
            match simple.words.first().map(String::as_str) {
                Some("git") => simple.words.get(1).is_some_and(|w| INERT_GIT.contains(&w.as_str())),
                Some(name) => INERT.contains(&name),
                None => true,
            }
        })
}

/// The program names that a word may stand for: `/usr/bin/sudo`, `x=sudo`, `{sudo,-k}`, `s${x}udo`.
fn names(word: &str) -> Vec<String> {
    let joined = word.contains(UNKNOWN).then(|| word.replace(UNKNOWN, ""));
    let (mut names, mut known) = (Vec::new(), HashSet::new());
    for text in joined.as_deref().into_iter().chain([word]) {
        for piece in text.split(|c: char| !c.is_alphanumeric() && !"_.+-/".contains(c)) {
            let name = piece.rsplit('/').next().unwrap_or_default().to_lowercase();
            let name = name.strip_suffix(".exe").or(name.strip_suffix(".target")).unwrap_or(&name);
            if !name.is_empty() && known.insert(name.to_owned()) {
                names.push(name.to_owned());
            }
        }
    }
    names
}

/// A command with the names that its words may stand for.
struct Named<'a> {
    simple: &'a Simple,
    names: Vec<Vec<String>>,
}

impl<'a> Named<'a> {
    fn new(simple: &'a Simple) -> Self {
        Self { simple, names: simple.words.iter().map(|word| names(word)).collect() }
    }

    /// The first word that may stand for one of these.
    fn position(&self, wanted: &[&str]) -> Option<usize> {
        self.names.iter().position(|names| names.iter().any(|name| wanted.contains(&name.as_str())))
    }
}

const OTHER_USER: [&str; 8] =
    ["sudo", "doas", "su", "pkexec", "run0", "sudoedit", "sudo-rs", "su-rs"];
const POWER: [&str; 7] =
    ["shutdown", "reboot", "halt", "poweroff", "telinit", "kexec", "soft-reboot"];
const DISK: [&str; 5] = ["mkfs", "mke2fs", "mkswap", "wipefs", "blkdiscard"];

/// Letters in the longest of these names; a pattern of more cannot mean one.
const LONGEST_NAME: usize = 11;

fn names_of_power(Named { simple, names }: &Named, found: &mut Found) {
    for (at, word) in simple.words.iter().enumerate() {
        for name in &names[at] {
            if OTHER_USER.contains(&name.as_str()) {
                found.add(format!("{name}: runs as another user"));
            } else if POWER.contains(&name.as_str()) {
                found.add(format!("{name}: stops or restarts the machine"));
            } else if DISK.contains(&name.as_str()) || name.starts_with("mkfs.") {
                found.add(format!("{name}: erases a disk"));
            } else if name == "init"
                && simple.words.get(at + 1).is_some_and(|level| level == "0" || level == "6")
            {
                found.add("init: stops or restarts the machine".into());
            }
        }
        let pattern = pattern_of(word);
        for name in OTHER_USER.iter().chain(&POWER).chain(&DISK) {
            if pattern.as_ref().is_some_and(|pattern| matches(pattern, name.as_bytes())) {
                found.add(format!("{}: a pattern that can mean {name}", shown(word)));
                break;
            }
        }
    }
}

/// The end of a word after `/`, `=` or `:`, if it is a pattern and not only `*`; braces count as `*`, a bracket
/// as any one character.
fn pattern_of(word: &str) -> Option<Vec<u8>> {
    let mut pattern = Vec::new();
    let mut bytes = word.bytes();
    while let Some(b) = bytes.next() {
        let (end, sign) = match b {
            b'[' => (b']', b'?'),
            b'{' => (b'}', b'*'),
            _ => {
                pattern.push(b.to_ascii_lowercase());
                continue;
            }
        };
        bytes.by_ref().find(|b| *b == end);
        pattern.push(sign);
    }
    let start =
        pattern.iter().rposition(|b| matches!(b, b'/' | b'=' | b':')).map_or(0, |at| at + 1);
    pattern.drain(..start);
    pattern.dedup_by(|b, before| (*b, *before) == (b'*', b'*'));
    let is_pattern = pattern.iter().any(|b| matches!(b, b'*' | b'?'));
    let fixed = pattern.iter().filter(|b| **b != b'*').count();
    (is_pattern && (1..=LONGEST_NAME).contains(&fixed)).then_some(pattern)
}

fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            matches(rest, name)
                || name.split_first().is_some_and(|(_, tail)| matches(pattern, tail))
        }
        (Some((p, rest)), Some((n, tail))) => (*p == b'?' || p == n) && matches(rest, tail),
        _ => false,
    }
}

/// `:(){ :|:& };:` under any name, and a function that starts itself twice in the background.
fn is_fork_bomb(command: &str) -> bool {
    let text: String =
        command.chars().filter(|c| !c.is_whitespace() && !"'\"\\".contains(*c)).collect();
    let name_before = |at: usize| {
        let before = &text[..at];
        &before
            [before.trim_end_matches(|c: char| c.is_alphanumeric() || "_:.$-".contains(c)).len()..]
    };
    let functions: HashSet<&str> =
        text.match_indices("(){").map(|(at, _)| name_before(at)).collect();
    text.match_indices(['|', '&']).any(|(at, sign)| {
        let name = name_before(at);
        let again = text[at + 1..].strip_prefix(name).is_some_and(|rest| rest.starts_with('&'));
        !name.is_empty() && again && (sign == "|" || functions.contains(name))
    })
}

fn shown(word: &str) -> String {
    let word = word.replace(UNKNOWN, "$…");
    fit(&visible(&word, Show::Exact), 60).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dangerous_commands_are_named() {
        for (command, words) in [
            ("sudo ls", "sudo: runs as another user"),
            ("/usr/bin/sudo ls", "sudo: "),
            ("su''do ls", "sudo: "),
            ("\\sudo ls", "sudo: "),
            ("\"sudo\" ls", "sudo: "),
            ("SUDO ls", "sudo: "),
            ("su$()do ls", "sudo: "),
            ("s${x}udo ls", "sudo: "),
            ("sudo${IFS}ls", "sudo: "),
            ("${x:-sudo} ls", "sudo: "),
            ("$'\\x73udo' ls", "sudo: "),
            ("su\\\ndo ls", "sudo: "),
            ("{sudo,ls}", "sudo: "),
            ("/usr/bin/s?do ls", "a pattern that can mean sudo"),
            ("/usr/bin/[s][u][d][o] ls", "a pattern that can mean sudo"),
            ("s{u,x}do ls", "a pattern that can mean sudo"),
            ("true; sudo ls", "sudo: "),
            ("true&&sudo ls", "sudo: "),
            ("true|sudo tee x", "sudo: "),
            ("true\nsudo ls", "sudo: "),
            ("(sudo ls)", "sudo: "),
            ("{ sudo ls; }", "sudo: "),
            ("if true; then sudo ls; fi", "sudo: "),
            ("echo $(sudo ls)", "sudo: "),
            ("echo \"`sudo ls`\"", "sudo: "),
            ("cat <(sudo ls)", "sudo: "),
            ("echo x > >(sudo tee y)", "sudo: "),
            ("echo ${x:=$(sudo ls)}", "sudo: "),
            ("echo $((a[$(sudo ls)]))", "sudo: "),
            ("cat <<E\n$(sudo ls)\nE", "sudo: "),
            ("cat <<E\n'\nE\necho ' # ' ; sudo ls", "sudo: "),
            ("echo $(case x in x) sudo ls;; esac)", "sudo: "),
            ("env X=1 sudo ls", "sudo: "),
            ("X=1 sudo ls", "sudo: "),
            ("x=sudo; $x ls", "sudo: "),
            ("alias x=sudo", "sudo: "),
            ("echo ls | xargs sudo", "sudo: "),
            ("timeout 5 nice sudo ls", "sudo: "),
            ("find . -exec sudo rm {} ;", "sudo: "),
            ("sh -c 'sudo ls'", "sudo: "),
            ("sh -c \"sh -c 'su\\\"\\\"do ls'\"", "sudo: "),
            ("echo 'sudo ls' | sh", "sudo: "),
            ("python3 -c \"import os; os.system('sudo ls')\"", "sudo: "),
            ("awk 'BEGIN{system(\"sudo ls\")}'", "sudo: "),
            ("doas ls", "doas: "),
            ("su -c ls", "su: "),
            ("pkexec ls", "pkexec: "),
            ("shutdown -h now", "shutdown: stops or restarts the machine"),
            ("reboot", "reboot: "),
            ("systemctl reboot", "reboot: "),
            ("systemctl isolate poweroff.target", "poweroff: "),
            ("halt", "halt: "),
            ("/sbin/init 0", "init: stops"),
            ("echo b > /proc/sysrq-trigger", "sysrq-trigger: "),
            ("mkfs.ext4 disk.img", "mkfs.ext4: erases a disk"),
            ("mkfs -t ext4 x", "mkfs: "),
            (":(){ :|:& };:", "fork bomb"),
            ("bomb() { bomb | bomb & }; bomb", "fork bomb"),
            ("f(){ f& f& };f", "fork bomb"),
        ] {
            let found = dangers(command);
            assert!(found.iter().any(|d| d.contains(words)), "{command:?}: {found:?}");
        }
    }

    fn single(text: &str) -> String {
        format!("'{}'", text.replace('\'', "'\\''"))
    }

    fn double(text: &str) -> String {
        let escaped: String = text
            .chars()
            .flat_map(|c| ['\\', c].into_iter().skip(usize::from(!"\\\"$`".contains(c))))
            .collect();
        format!("\"{escaped}\"")
    }

    fn wrapped(inner: &str, how: usize) -> String {
        match how {
            0 => format!("sh -c {}", single(inner)),
            1 => format!("sh -c {}", double(inner)),
            2 => format!("eval {}", double(inner)),
            3 => format!("echo $({inner}\n)"),
            4 => format!("echo \"$({inner}\n)\""),
            5 => format!("({inner}\n)"),
            6 => format!("{{ {inner}\n}}"),
            7 => format!("env A='#' sh -c {}", single(inner)),
            8 => format!("echo it\\'s '# \"'; {inner}"),
            9 => format!("true && {inner}"),
            10 => format!("if true; then {inner}\nfi # it's done"),
            11 => format!("cat <<'E'\n' # \"\nE\n{inner}"),
            12 => format!("sh <<'E{0}'\n{inner}\nE{0}", inner.len()),
            13 => format!("echo {} | sh", single(inner)),
            14 => format!("X={}; eval \"$X\"", single(inner)),
            15 => format!("case x in x) {inner}\n;; esac"),
            16 => format!("cat >/dev/null <<E\n$({inner}\n)\nE"),
            17 => format!("printf '%s\\n' {} | xargs -0 sh -c", single(inner)),
            _ => format!("f() {{ {inner}\n}}; f"),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// A shell decides what runs; whenever it does run `sudo`, the look at the text must have said so.
        #[test]
        fn what_a_shell_runs_is_seen(
            name in prop::sample::select(&["sudo", "su''do", "\\sudo", "\"su\"do", "s${x}udo", "s[t-v]do"][..]),
            layers in prop::collection::vec(0usize..19, 0..4),
        ) {
            use std::os::unix::fs::PermissionsExt as _;
            let directory = tempfile::tempdir().unwrap();
            let program = directory.path().join("sudo");
            std::fs::write(&program, "#!/bin/sh\n: > \"${0%/*}/ran\"\n").unwrap();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
            let command = layers.iter().fold(format!("{name} x"), |inner, how| wrapped(&inner, *how));
            let path = format!("{}:/usr/bin:/bin", directory.path().display());
            std::process::Command::new("/bin/sh")
                .args(["-c", &command])
                .current_dir(directory.path())
                .env("PATH", path)
                .stdin(std::process::Stdio::null())
                .output()
                .unwrap();
            let ran = directory.path().join("ran").exists();
            prop_assert!(!ran || !dangers(&command).is_empty(), "{}", command);
            prop_assert!(ran || layers.len() > 1, "the wrapper is at fault: {}", command);
        }
    }

    #[test]
    fn daily_work_is_not_flagged() {
        for command in [
            "ls -la",
            "rm -rf ./build",
            "rm -rf target node_modules",
            "rm -rf /tmp/work/x",
            "rm -rf \"$DIR\"",
            "rm -rf \"$DIR\"/build",
            "rm -rf ../sibling/build",
            "rm file",
            "rm -rf ~/shop/build",
            "echo hello > /dev/null",
            "make 2>&1 >/dev/null",
            "cargo test 2>/dev/stderr",
            "ls > /dev/tty",
            "head -c 10 /dev/urandom > x",
            "dd if=/dev/zero of=disk.img bs=1M",
            "cp /dev/urandom x",
            "git commit -m \"reboot the thing\"",
            "git commit -m 'never sudo rm -rf /'",
            "echo 'use sudo'",
            "grep -rn sudo src",
            "ls rm",
            "cat sudo.md",
            "echo rm -rf /",
            "for f in *.rs; do wc -l $f; done",
            "find . -name '*.pyc' -delete",
            "find . -type f | xargs wc -l",
            "chmod -R u+w build",
            "python3 -c 'print(1)'",
            "cargo build && ./target/debug/limpid --help",
            "git init",
            "npm run dev",
            "sed -i 's/a/b/' x # a summary",
            "curl -s https://example.org | head",
            "sleep 1 & sleep 1 & wait",
            "awk '{print $1}' x | sort | uniq -c",
            "a=$(date); echo \"$a\"",
            "cat > x <<'E'\nit's\nE",
            "echo 你好 > x",
            "",
            "   ",
            "''",
            "\"",
        ] {
            assert_eq!(dangers(command), [""; 0], "{command:?}");
        }
    }
}
