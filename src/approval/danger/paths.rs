//! Dangerous paths: deleting what a machine or a person lives on, and writing to devices.

use super::super::shell_words::UNKNOWN;
use super::{Found, Named, shown};

/// Whether a word means the whole file system or a home directory.
pub(super) fn names_root_or_home(word: &str) -> bool {
    paths(word).any(|path| matches!(target(path), Some(Target::Root | Target::Home)))
}

/// What a path points to, when losing it is a catastrophe.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Root,
    Home,
    Parent,
    System,
}

impl Target {
    fn words(self) -> &'static str {
        match self {
            Target::Root => "the whole file system",
            Target::Home => "a home directory",
            Target::Parent => "the directory above",
            Target::System => "a system directory",
        }
    }
}

/// A word, and what stands between `,`, `=` and braces in it (`{/etc,/usr}`, `--target=/`).
fn paths(word: &str) -> impl Iterator<Item = &str> {
    std::iter::once(word).chain(word.split([',', '=', '{', '}']).filter(move |part| *part != word))
}

/// The components after `.`, `..` and repeated slashes are worked out; a path that climbs out keeps its
/// leading `..`.
fn components(path: &str) -> Vec<&str> {
    let mut out: Vec<&str> = Vec::new();
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." if out.last().is_some_and(|last| *last != "..") => {
                out.pop();
            }
            ".." if path.starts_with('/') => {}
            component => out.push(component),
        }
    }
    out
}

fn is_glob(component: &str) -> bool {
    component.contains(['*', '?']) && component.chars().all(|c| "*?.".contains(c))
}

fn target(path: &str) -> Option<Target> {
    // `$X/*` deletes everything when X is empty; a mere `$X` says nothing.
    let known: String = path.chars().filter(|c| *c != UNKNOWN).collect();
    let starts_unknown = path.starts_with(UNKNOWN);
    let mut rest = components(&known);
    while rest.last().is_some_and(|last| is_glob(last)) {
        rest.pop();
    }
    if known.starts_with('/') {
        match rest.as_slice() {
            [] => Some(Target::Root),
            _ if starts_unknown => None,
            ["tmp"] => None,
            ["home" | "Users", _] | ["root"] => Some(Target::Home),
            [_] | ["usr", _] | ["var", "lib"] => Some(Target::System),
            _ => None,
        }
    } else if known.starts_with('~') {
        (rest.len() <= 1).then_some(Target::Home)
    } else if rest.first() == Some(&"..") {
        rest.iter().all(|component| *component == "..").then_some(Target::Parent)
    } else {
        None
    }
}

/// `elsewhere` is a word anywhere in the text that means a root or a home: `echo / | xargs rm -rf`,
/// `cd / && rm -rf *`, `D=/; rm -rf "$D"`.
pub(super) fn deletions(named: &Named, elsewhere: Option<&str>, found: &mut Found) {
    let simple = named.simple;
    let recursive = simple.words.iter().flat_map(|word| paths(word)).any(|word| {
        word.starts_with("--r")
            || (word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R']))
    });
    let targets = |from: usize| {
        simple.words[from..]
            .iter()
            .flat_map(|word| paths(word))
            .filter_map(|path| target(path).map(|target| (path, target)))
    };
    for name in ["rm", "unlink", "rmdir", "shred"] {
        let Some(at) = named.position(&[name]) else { continue };
        for (path, target) in targets(at) {
            found.add(format!("{name}: deletes {}, {}", shown(path), target.words()));
        }
        if let Some(word) = elsewhere.filter(|_| recursive && targets(at).next().is_none()) {
            let word = shown(word);
            found.add(format!("{name}: deletes recursively, and {word} is named beside it"));
        }
    }
    let deletes = simple.words.iter().any(|word| word == "-delete")
        || named.position(&["rm", "unlink", "shred"]).is_some();
    if let Some(at) = named.position(&["find"]).filter(|_| deletes) {
        for (path, target) in targets(at) {
            found.add(format!("find: deletes under {}, {}", shown(path), target.words()));
        }
    }
    for name in ["chmod", "chown", "chgrp"] {
        let Some(at) = named.position(&[name]).filter(|_| recursive) else { continue };
        for (path, target) in targets(at) {
            found.add(format!("{name}: changes all of {}, {}", shown(path), target.words()));
        }
    }
}

/// The part of a path below `/dev`, if it leads there. A path that climbs may lead there too.
fn below_dev(path: &str) -> Option<String> {
    let components = components(path);
    let from = components.iter().position(|component| *component != "..")?;
    let reaches = path.starts_with('/') || from > 0;
    (reaches && components[from] == "dev").then(|| components[from + 1..].join("/"))
}

fn takes_anything(device: &str) -> bool {
    matches!(device, "null" | "zero" | "stdout" | "stderr" | "tty")
        || device.starts_with("fd/")
        || device.starts_with("shm/") // files in memory
}

pub(super) fn devices(named: &Named, found: &mut Found) {
    const WRITERS: [&str; 11] =
        ["cp", "dd", "install", "ln", "mv", "pv", "rsync", "shred", "sponge", "tee", "truncate"];
    const DISKS: [&str; 17] = [
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper", "md", "dm-", "loop",
        "nbd", "pmem", "mem", "kmem", "port",
    ];
    let simple = named.simple;
    for output in &simple.outputs {
        if below_dev(output).is_some_and(|device| !takes_anything(&device)) {
            found.add(format!("writes to the device {}", shown(output)));
        }
        if components(output) == ["proc", "sysrq-trigger"] {
            found.add("sysrq-trigger: stops or restarts the machine".into());
        }
    }
    let writes = named.position(&WRITERS).is_some();
    let moves = named.position(&["cd", "pushd"]).is_some();
    for word in &simple.words {
        let writes = (writes && !word.starts_with("if=")) || word.starts_with("of=");
        for path in paths(word) {
            let Some(device) = below_dev(path) else { continue };
            let source = matches!(device.as_str(), "random" | "urandom" | "stdin");
            if writes && !source && !takes_anything(&device) {
                found.add(format!("writes to the device {}", shown(path)));
            } else if moves && device.is_empty() {
                found.add("works among the devices in /dev".into());
            }
        }
        if writes && paths(word).any(|path| components(path) == ["proc", "sysrq-trigger"]) {
            found.add("sysrq-trigger: stops or restarts the machine".into());
        }
    }
    if found.device {
        return;
    }
    for word in &simple.words {
        let disk = word.split("/dev/").skip(1).any(|device| {
            DISKS.iter().any(|disk| device.trim_start_matches('/').starts_with(disk))
        });
        if disk {
            found.add(format!("names the device {}", shown(word)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::dangers;

    #[test]
    fn deleting_what_matters_is_named() {
        for command in [
            "rm -rf /",
            "rm -fr /",
            "rm -r -f /",
            "rm -R /",
            "rm --recursive --force /",
            "rm --rec /",
            "rm -rf --no-preserve-root /",
            "rm -rf -- /",
            "rm -rf //",
            "rm -rf /.",
            "rm -rf /*",
            "rm -rf '/'",
            "r\\m -rf /",
            "/bin/rm -rf /",
            "busybox rm -rf /",
            "rm -rf /tmp/..",
            "rm -rf /tmp/../*",
            "rm -rf x /",
            "rm -rf ~",
            "rm -rf ~/",
            "rm -rf ~/*",
            "rm -rf ~root",
            "rm -rf $HOME",
            "rm -rf \"$HOME\"",
            "rm -rf ${HOME}/*",
            "rm -rf \"${HOME:?}\"/*",
            "rm -rf $HOME/.",
            "rm -rf ..",
            "rm -rf ../..",
            "rm -rf ../../../../*",
            "rm -rf x/../..",
            "rm -rf /etc",
            "rm -rf /usr/",
            "rm -rf /usr/lib",
            "rm -rf /var",
            "rm -rf /b*",
            "rm -rf /home/*",
            "rm -rf /home/ann",
            "rm -rf /home/$USER",
            "rm -rf {/etc,x}",
            "rm -rf $EMPTY/*",
            "rm -rf \"$X/\"",
            "D=/; rm -rf $D",
            "cd / && rm -rf *",
            "echo / | xargs rm -rf",
            "sh -c 'rm -rf /'",
            "echo $(rm -rf /)",
            "perl -e 'system(\"rm\",\"-rf\",\"/\")'",
            "find / -delete",
            "find / -exec rm {} +",
            "find ~ -type f -exec rm -f {} \\;",
            "chmod -R 777 /",
            "chown -R me /etc",
        ] {
            let found = dangers(command);
            assert!(
                found.iter().any(|d| d.contains("deletes") || d.contains("changes")),
                "{command:?}: {found:?}"
            );
        }
        assert_eq!(dangers("rm -rf /"), ["rm: deletes /, the whole file system"]);
        assert_eq!(dangers("rm -rf \"$HOME\""), ["rm: deletes ~, a home directory"]);
    }

    #[test]
    fn writing_to_devices_is_named() {
        for command in [
            "dd if=x of=/dev/sda",
            "dd of=/dev/../dev/sda",
            "echo x > /dev/sda",
            "echo x >/dev/sda1",
            "echo x >> /dev/nvme0n1",
            "echo x >| /dev/sda",
            "cat x &> /dev/sda",
            "exec 3<>/dev/sda",
            "echo x > //dev//sda",
            "echo x > ../../dev/sda",
            "echo x | tee /dev/sda",
            "cp x /dev/sdb",
            "echo x > \"/dev/$D\"",
            "D=/dev/sda; echo x > $D",
            "python3 -c \"open('/dev/sda','wb')\"",
            "echo x > /dev/tcp/1.2.3.4/80",
            "cat x >/dev/ttyS0",
            "cd /dev; echo x > sda",
            "echo x > /dev/shm/../sda",
            "sh -c 'echo x > /dev/sda'",
            "echo $(echo x > /dev/ttyS0)",
        ] {
            let found = dangers(command);
            assert!(found.iter().any(|d| d.contains("device")), "{command:?}: {found:?}");
        }
        assert_eq!(dangers("dd if=x of=/dev/sda"), ["writes to the device /dev/sda"]);
    }
}
