//! The environment of commands: the user's, without secrets, and set so that nothing waits for a
//! person or starts an editor or a pager. Which variables those are, and whether a text names one.

use std::ffi::OsString;

/// Set for every command. (No `CI=1`: it changes what builds do.)
const FIXED: [(&str, &str); 10] = [
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_EDITOR", "true"),
    ("EDITOR", "true"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("NO_COLOR", "1"),
];

/// What a word of a secret's name ends with (`OPENAI_API_KEY`, `GH_TOKEN`, `PGPASSWORD`,
/// `SECRET_BASE64`). Plural `TOKENS` is not among them: it counts, as in `MAX_TOKENS`.
const SECRET_ENDINGS: [&str; 10] = [
    "KEY",
    "KEYS",
    "TOKEN",
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "CREDENTIALS",
];

/// Names of secrets that no ending shows. (`PWD` and `OLDPWD` are directories.)
const SECRET_NAMES: [&str; 3] = ["MYSQL_PWD", "SSHPASS", "GH_PAT"];

/// Whether a name is a secret's by its looks.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_NAMES.contains(&name.as_str())
        || name
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|word| SECRET_ENDINGS.iter().any(|ending| word.ends_with(ending)))
}

/// Which variables are kept from commands: those whose names show a secret, and more.
#[derive(Debug, Clone, Default)]
pub struct Withheld {
    /// The variables of keys, whatever their names show.
    pub keys: Vec<String>,
    /// What the user wants commands to have all the same.
    pub passed: Vec<String>,
}

impl Withheld {
    /// Whether a variable of this name is kept from commands.
    pub fn has(&self, name: &str) -> bool {
        let among = |names: &[String]| names.iter().any(|other| other == name);
        (is_secret(name) || among(&self.keys)) && !among(&self.passed)
    }

    /// The names of those that are set to something.
    pub fn of(&self, variables: impl Iterator<Item = (OsString, OsString)>) -> Vec<String> {
        let set = variables.filter(|(_, value)| !value.is_empty());
        let names = set.map(|(name, _)| name.to_string_lossy().into_owned());
        let mut withheld: Vec<String> = names.filter(|name| self.has(name)).collect();
        withheld.sort();
        withheld
    }

    /// What a command gets of an environment.
    pub(super) fn for_commands(
        &self,
        inherited: impl Iterator<Item = (OsString, OsString)>,
    ) -> Vec<(OsString, OsString)> {
        let keep = |(name, _): &(OsString, OsString)| {
            let name = name.to_string_lossy();
            !self.has(&name) && !FIXED.iter().any(|(fixed, _)| *fixed == name)
        };
        let fixed = FIXED.iter().map(|(name, value)| (name.into(), value.into()));
        inherited.filter(keep).chain(fixed).collect()
    }
}

/// Whether a text names a variable: not as a piece of a longer name.
pub(super) fn is_named_in(text: &str, name: &str) -> bool {
    let of_a_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        !before.ends_with(of_a_name) && !after.starts_with(of_a_name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_name() {
        for name in [
            "OPENAI_API_KEY",
            "DEEPSEEK_API_KEY",
            "OPENAIKEY",
            "API_KEY_2",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "GITHUB_TOKEN",
            "npm_config_authToken",
            "CLIENT_SECRET_BASE64",
            "PGPASSWORD",
            "DB_PASSWORD",
            "MYSQL_PWD",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "GPG_PASSPHRASE",
        ] {
            assert!(is_secret(name), "{name} is given to commands");
        }
    }

    #[test]
    fn toolchains_keep_what_they_need() {
        for name in [
            "PATH",
            "HOME",
            "PWD",
            "OLDPWD",
            "SSH_AUTH_SOCK",
            "SSH_ASKPASS",
            "KEYBOARD_LAYOUT",
            "GNOME_KEYRING_CONTROL",
            "TOKENIZERS_PARALLELISM",
            "MAX_TOKENS",
            "CARGO_HOME",
            "JAVA_HOME",
            "LD_LIBRARY_PATH",
            "XAUTHORITY",
            "DBUS_SESSION_BUS_ADDRESS",
        ] {
            assert!(!is_secret(name), "{name} is kept from commands");
        }
    }

    fn pairs<const N: usize>(
        pairs: [(&str, &str); N],
    ) -> impl Iterator<Item = (OsString, OsString)> {
        pairs.map(|(name, value)| (name.into(), value.into())).into_iter()
    }

    #[test]
    fn named_variables_are_withheld_and_ours_win() {
        let withheld = Withheld { keys: vec!["MY_MODEL_PASS".into()], passed: Vec::new() };
        let inherited = pairs([("MY_MODEL_PASS", "x"), ("TERM", "xterm"), ("HOME", "/h")]);
        let given = withheld.for_commands(inherited);
        let value = |name: &str| {
            let found: Vec<_> = given.iter().filter(|(other, _)| other == name).collect();
            assert!(found.len() < 2, "{name} is given twice");
            found.first().map(|(_, value)| value.to_string_lossy().into_owned())
        };
        assert_eq!(value("MY_MODEL_PASS"), None);
        assert_eq!(value("TERM").as_deref(), Some("dumb"));
        assert_eq!(value("HOME").as_deref(), Some("/h"));
        assert_eq!(value("GIT_TERMINAL_PROMPT").as_deref(), Some("0"));
    }

    #[test]
    fn what_the_user_passes_on_is_given_and_nothing_like_it() {
        let passed = vec!["GH_TOKEN".into(), "TERM".into()];
        let withheld = Withheld { keys: vec!["GH_TOKEN".into()], passed };
        let all = || {
            pairs([("GH_TOKEN", "a"), ("GH_TOKEN_2", "b"), ("gh_token", "c"), ("EMPTY_KEY", "")])
        };
        let given = withheld.for_commands(all().chain(pairs([("TERM", "xterm")])));
        let names: Vec<_> = given.iter().map(|(name, _)| name.to_string_lossy()).collect();
        assert_eq!(names.iter().filter(|name| name.to_lowercase().contains("gh_")).count(), 1);
        assert!(given.contains(&("GH_TOKEN".into(), "a".into())));
        assert!(given.contains(&("TERM".into(), "dumb".into())), "a command has no terminal");
        assert_eq!(withheld.of(all()), ["GH_TOKEN_2", "gh_token"]);
    }

    #[test]
    fn a_name_is_found_as_a_word() {
        for text in ["$GH_TOKEN", "${GH_TOKEN}", "KeyError: 'GH_TOKEN'", "set GH_TOKEN."] {
            assert!(is_named_in(text, "GH_TOKEN"), "{text}");
        }
        for text in ["MY_GH_TOKEN", "GH_TOKEN_2", "gh_token", ""] {
            assert!(!is_named_in(text, "GH_TOKEN"), "{text}");
        }
        assert!(is_named_in("GH_TOKENS, or GH_TOKEN", "GH_TOKEN"));
    }
}
