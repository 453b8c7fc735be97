//! The environment of commands: the user's, without secrets, and set so that nothing waits for a
//! person or starts an editor or a pager.

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

/// Whether a variable of this name is kept from commands.
pub(super) fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_NAMES.contains(&name.as_str())
        || name
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|word| SECRET_ENDINGS.iter().any(|ending| word.ends_with(ending)))
}

/// What a command gets of an environment; `withheld` names further variables to leave out.
pub(super) fn for_commands(
    inherited: impl Iterator<Item = (OsString, OsString)>,
    withheld: &[String],
) -> Vec<(OsString, OsString)> {
    let keep = |(name, _): &(OsString, OsString)| {
        let name = name.to_string_lossy();
        !is_secret(&name)
            && !withheld.iter().any(|other| *other == name)
            && !FIXED.iter().any(|(fixed, _)| *fixed == name)
    };
    let fixed = FIXED.iter().map(|(name, value)| (name.into(), value.into()));
    inherited.filter(keep).chain(fixed).collect()
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

    #[test]
    fn named_variables_are_withheld_and_ours_win() {
        let inherited = [("MY_MODEL_PASS", "x"), ("TERM", "xterm"), ("HOME", "/h")];
        let inherited = inherited.map(|(name, value)| (name.into(), value.into()));
        let given = for_commands(inherited.into_iter(), &["MY_MODEL_PASS".into()]);
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
}
