//! A project's instructions: the AGENTS.md of the working directory and of those above it, up to the
//! repository's root, or up to the home directory where there is no repository. They are read within
//! bounds and told as they are; nothing in them changes a setting. What another user has put there is
//! not told: anybody can write to `/tmp` and call it a repository.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The file's name.
const NAME: &str = "AGENTS.md";

/// Bytes of all of them that are told; the nearest comes first when they do not suffice.
pub const MOST: usize = 32 * 1024;

/// Directories above the working directory that are looked at.
const UPWARDS: usize = 32;

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Instructions {
    /// What the model is told; `None` if there is nothing to tell.
    pub text: Option<String>,
    /// What could not be read or was cut, in words.
    pub notices: Vec<String>,
}

/// One file, as much of it as is told.
struct Found {
    path: PathBuf,
    text: String,
    /// Bytes of the whole file.
    bytes: u64,
}

impl Found {
    fn is_cut(&self) -> bool {
        self.bytes > self.text.len() as u64
    }
}

/// Reads the instructions for work in a directory: those that belong to the user, to the superuser,
/// or to whom the directory itself belongs.
pub fn read(directory: &Path, home: Option<&Path>) -> Instructions {
    let mut owners = vec![rustix::process::geteuid().as_raw(), 0];
    owners.extend(fs::metadata(directory).map(|about| about.uid()));
    read_of(directory, home, &owners)
}

/// Reads the instructions that belong to one of these users.
fn read_of(directory: &Path, home: Option<&Path>, owners: &[u32]) -> Instructions {
    let mut notices = Vec::new();
    let mut found = Vec::new();
    let mut left = MOST;
    for directory in directories(directory, home) {
        let path = directory.join(NAME);
        match read_file(&path, left, owners) {
            Ok(None) => {}
            Ok(Some(file)) => {
                left -= file.text.len();
                if file.is_cut() {
                    notices.push(format!(
                        "{} is cut: of its {} bytes the first {} are told ({MOST} for all files).",
                        file.path.display(),
                        file.bytes,
                        file.text.len(),
                    ));
                }
                found.push(file);
            }
            Err(why) => notices.push(format!("{} is not told: {why}.", path.display())),
        }
    }
    found.retain(|file| !file.text.trim().is_empty());
    found.reverse();
    Instructions { text: told(&found), notices }
}

/// Where to look, the working directory first.
fn directories<'a>(directory: &'a Path, home: Option<&'a Path>) -> Vec<&'a Path> {
    let all: Vec<&Path> = directory.ancestors().take(UPWARDS).collect();
    let repository = all.iter().position(|above| above.join(".git").exists());
    let home = all.iter().position(|above| Some(*above) == home);
    let last = repository.or(home).unwrap_or(0);
    all.into_iter().take(last + 1).collect()
}

fn read_file(path: &Path, most: usize, owners: &[u32]) -> Result<Option<Found>, String> {
    let trusted = |about: &fs::Metadata| match about.uid() {
        owner if owners.contains(&owner) => Ok(()),
        owner => Err(format!("it belongs to another user ({owner}); copy it if you want it told")),
    };
    if let Ok(about) = fs::symlink_metadata(path) {
        trusted(&about)?;
        if about.is_symlink() && !is_own(path) {
            let why = "it is a link to something else than a .md file beside or below it";
            return Err(why.to_owned());
        }
    }
    let about = match fs::metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    // A pipe or a device in its place could hold up the start for ever.
    if !about.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    // Of the file that is read, whatever may have taken the place of the other since.
    let about = file.metadata().map_err(|error| error.to_string())?;
    trusted(&about)?;
    file.take(most as u64).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    let whole = bytes.len() as u64 >= about.len();
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            // Cut in the middle of a character, or no text at all.
            if whole || bytes.len() - valid > 3 {
                return Err("it is not UTF-8 text".to_owned());
            }
            bytes.truncate(valid);
            String::from_utf8_lossy(&bytes).into_owned()
        }
    };
    Ok(Some(Found { path: path.to_owned(), text, bytes: about.len() }))
}

/// Whether a link leads to a text of the same project. Else whoever makes a repository could have a
/// key, or anything else of the user's, told to the model.
fn is_own(link: &Path) -> bool {
    let target = |path: &Path| fs::canonicalize(path).ok();
    let (Some(file), Some(directory)) = (target(link), link.parent().and_then(target)) else {
        // It leads to nothing.
        return true;
    };
    file.starts_with(directory) && file.extension().is_some_and(|extension| extension == "md")
}

/// The text that is told. Its first line names the files.
fn told(found: &[Found]) -> Option<String> {
    if found.is_empty() {
        return None;
    }
    let names: Vec<String> = found
        .iter()
        .map(|file| {
            let cut =
                if file.is_cut() { format!(", cut from {}", file.bytes) } else { String::new() };
            format!("{} ({} bytes{cut})", file.path.display(), file.text.len())
        })
        .collect();
    let mut text = format!("Instructions of this project, from {}:", names.join(", "));
    for file in found {
        text.push_str("\n\n");
        if found.len() > 1 {
            text.push_str(&format!("From {}:\n\n", file.path.display()));
        }
        text.push_str(file.text.trim_end());
        if file.is_cut() {
            text.push_str("\n[cut here]");
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: impl AsRef<[u8]>) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn from_the_repository_down_and_the_nearest_last() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path();
        write(&top.join("AGENTS.md"), "above the repository\n");
        write(&top.join("repo/.git/config"), "");
        write(&top.join("repo/AGENTS.md"), "of the repository\n");
        write(&top.join("repo/a/b/AGENTS.md"), "nearest\n");
        let Instructions { text, notices } = read(&top.join("repo/a/b"), Some(top));
        let text = text.unwrap();
        let (head, rest) = text.split_once("\n\n").unwrap();
        assert!(head.contains("repo/AGENTS.md (18 bytes), "), "{head}");
        assert!(!text.contains("above") && rest.ends_with("nearest"), "{text}");
        assert!(rest.find("of the repository") < rest.find("nearest"));
        assert_eq!(notices, [""; 0]);
    }

    #[test]
    fn without_a_repository_up_to_the_home_directory_or_only_here() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path();
        write(&top.join("home/AGENTS.md"), "of home");
        write(&top.join("AGENTS.md"), "planted");
        write(&top.join("home/x/note"), "");
        let at = top.join("home/x");
        let text = read(&at, Some(&top.join("home"))).text.unwrap();
        assert!(text.ends_with("\n\nof home") && !text.contains("planted"), "{text}");
        assert_eq!(read(&at, None), Instructions::default());
        assert_eq!(read(&at, Some(Path::new("/elsewhere"))), Instructions::default());
    }

    #[test]
    fn a_link_is_followed_to_a_text_of_the_project_only() {
        let dir = tempfile::tempdir().unwrap();
        let (outside, inside) = (dir.path().join("outside.md"), dir.path().join("project"));
        write(&outside, "a secret");
        write(&inside.join(".env"), "KEY=secret");
        write(&inside.join("docs/agents.md"), "shared");
        let link = inside.join(NAME);
        for (target, text) in [
            ("docs/agents.md", Some("shared")),
            ("../outside.md", None),
            (outside.to_str().unwrap(), None),
            (".env", None),
        ] {
            std::os::unix::fs::symlink(target, &link).unwrap();
            let found = read(&inside, None);
            let told = found.text.as_deref().and_then(|told| told.rsplit("\n\n").next());
            assert_eq!(told, text, "{target}");
            let says =
                found.notices.iter().any(|notice| notice.contains("is not told: it is a link"));
            assert_eq!(says, text.is_none(), "{target}: {:?}", found.notices);
            fs::remove_file(&link).unwrap();
        }
        std::os::unix::fs::symlink("nothing.md", &link).unwrap();
        assert_eq!(read(&inside, None), Instructions::default());
    }

    #[test]
    fn what_belongs_to_another_user_is_not_told_and_that_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path();
        write(&top.join(".git"), "");
        write(&top.join(NAME), "planted");
        write(&top.join("mine/AGENTS.md"), "mine");
        let me = fs::metadata(top).unwrap().uid();
        let other = me + 1;
        let Instructions { text, notices } = read_of(&top.join("mine"), None, &[other]);
        assert_eq!(text, None);
        let why = format!("is not told: it belongs to another user ({me})");
        assert!(notices.len() == 2 && notices.iter().all(|n| n.contains(&why)), "{notices:?}");
        // Only the superuser can give files away: then it is the real thing.
        if me != 0 {
            return;
        }
        std::os::unix::fs::chown(top.join(NAME), Some(65534), None).unwrap();
        let Instructions { text, notices } = read(&top.join("mine"), None);
        assert!(text.unwrap().ends_with("\n\nmine"));
        let path = top.join(NAME);
        assert_eq!(
            notices,
            [format!(
                "{} is not told: it belongs to another user (65534); copy it if you want it told.",
                path.display()
            )]
        );
        // A link of theirs to a text of the user's own neither.
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("mine/AGENTS.md", &path).unwrap();
        std::os::unix::fs::lchown(&path, Some(65534), None).unwrap();
        assert_eq!(read(&top.join("mine"), None).notices.len(), 1);
        // But all of it, in a directory of theirs: there one works by one's own choice.
        std::os::unix::fs::chown(top.join("mine"), Some(65534), None).unwrap();
        assert_eq!(read(&top.join("mine"), None).notices, [""; 0]);
    }

    #[test]
    fn a_file_of_5_mib_is_cut_and_what_is_no_text_is_not_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(NAME);
        write(&path, "你好\n".repeat(5 << 20 >> 3));
        let Instructions { text, notices } = read(dir.path(), None);
        let text = text.unwrap();
        assert!(text.len() < MOST + 400 && text.ends_with("\n[cut here]"));
        assert!(notices[0].contains("is cut: of its 4587520 bytes the first 32767"), "{notices:?}");
        for bytes in [&b"\xff\xfe\x00"[..], b"ok\xff"] {
            write(&path, bytes);
            let Instructions { text, notices } = read(dir.path(), None);
            assert_eq!(text, None);
            assert!(notices[0].contains("not UTF-8"), "{notices:?}");
        }
        write(&path, " \n");
        assert_eq!(read(dir.path(), None), Instructions::default());
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(read(dir.path(), None).notices[0].contains("not a regular file"));
    }
}
