//! That the table is whole: no English text of the interface stands in the sources without its
//! Chinese.

use std::collections::HashSet;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::chinese::TABLE;
use super::fill;
use super::translated::{sentence, sentences};

fn names(text: &str) -> Vec<&str> {
    let pieces = text.split('{').skip(1);
    let mut names: Vec<&str> =
        pieces.filter_map(|piece| piece.split_once('}').map(|(name, _)| name)).collect();
    names.sort_unstable();
    names
}

#[test]
fn both_languages_have_the_same_gaps_and_no_text_stands_there_twice() {
    let mut seen = HashSet::new();
    for (english, chinese) in TABLE.concat() {
        assert_eq!(names(english), names(chinese), "{english}");
        assert!(!chinese.is_empty() && seen.insert(english), "{english}");
    }
}

#[test]
fn values_are_put_in_as_they_are() {
    let values: [(&str, &dyn Display); 2] = [("count", &3), ("what", &"{count}")];
    assert_eq!(fill("{count} of {what} {else} {", &values), "3 of {count} {else} {");
}

/// Where English texts stand that are not the interface's.
const NOT_OF_THE_INTERFACE: &[&str] = &[
    "agent/edited.rs",          // told to the model
    "agent/gates.rs",           // told to the model
    "agent/looper.rs",          // told to the model
    "agent/resume.rs",          // told to the model
    "conversation/history.rs",  // for whoever makes limpid
    "conversation/overlays.rs", // told to the model
    "conversation/overlong.rs", // told to the model
    "offline/",                 // what the scripted model says, and what its server answers
    "text/mod.rs",              // for tests
    "tools/",                   // told to the model
    "wire/anthropic/layout.rs", // told to the model
];

/// Texts that are not the interface's beside others that are.
const NOT_TEXTS: &[&str] = &[
    // Told to the model.
    "Instructions of this project, from {}:",
    ", cut from {}",
    "I ran this command myself; it was no call of yours.\n$ ",
    // What the shell runs.
    r#"cat <&2; printf '\n%s ' "$1"; read -r _"#,
    // What servers and libraries say.
    "dns error",
    "tunnel error: proxy authorization required",
    "tunnel error: unsuccessful",
    "tunnel error: unexpected end of file",
    " at line 1 column ",
    " at column ",
    "invalid model name",
    "incorrect api key",
    "maximum context length",
    "max context length",
    "prompt is too long",
    "prompt too long",
    "available context size",
    "context window exceeded",
    "onversation roles must alternate",
    // Looked for in texts of limpid's own.
    "the device",
    "not used",
    // Commands and keys.
    "limpid trust --profile {profile}",
    "limpid trust",
    "Up Down",
    // Pieces of sentences that are in the table.
    "there is no profile \"{name}\".{meant} /model alone lists them.",
    "there is no profile \"{name}\" ({source_shown}).{} There are: {}",
    "{why} Nothing was sent.",
    "one of",
    // For whoever makes limpid, and of `--help`.
    "Which model: --offline, --url or --profile; else the profile of config.toml; else the one whose key variable is set; else the built-in offline model, which is scripted and needs no key.\n\nlimpid config shows every setting and where it comes from.",
    "--{option} means nothing to {name}: leave it out\n",
    "http client",
    "no message",
    "an object",
    "limpid {}\nthread: {}\npanic: {what}\n\n{}\n",
];

/// Macros whose texts are for whoever makes limpid, or looked up when they are compiled.
const MACROS: [&str; 12] = [
    "say",
    "panic",
    "unreachable",
    "assert",
    "debug_assert",
    "trace",
    "debug",
    "info",
    "warn",
    "error",
    "include_str",
    "env",
];
/// Functions of the same kind.
const FUNCTIONS: [&str; 2] = ["phrase", "expect"];

#[test]
fn no_english_text_of_the_interface_is_without_its_chinese() {
    let known: HashSet<String> =
        TABLE.concat().iter().map(|(english, _)| (*english).to_owned()).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut missing = Vec::new();
    for path in files(&root) {
        let place = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        if NOT_OF_THE_INTERFACE.iter().any(|exempt| place.starts_with(exempt)) {
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        let mut texts = Vec::new();
        literals(source.parse().unwrap(), &mut texts);
        let is_known = |text: &str| {
            known.contains(text) || sentence(text).is_some() || sentence(text.trim()).is_some()
        };
        for text in texts {
            if NOT_TEXTS.contains(&text.as_str()) || is_known(&text) {
                continue;
            }
            let unknown = sentences(&text).filter(|text| is_english(text) && !is_known(text));
            missing.extend(unknown.map(|text| format!("{place}: {text:?}")));
        }
    }
    assert!(missing.is_empty(), "{} texts:\n{}", missing.len(), missing.join("\n"));
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        match name.as_str() {
            "tests.rs" | "words" => {}
            _ if path.is_dir() => files.extend(self::files(&path)),
            _ if path.extension().is_some_and(|end| end == "rs") => files.push(path),
            _ => {}
        }
    }
    files.sort();
    files
}

/// Two plain words in a row: nothing but a text has them.
fn is_english(text: &str) -> bool {
    let is_word = |word: &str| {
        let word = word.trim_matches(|c: char| ",.;:!?()\"".contains(c));
        word.len() > 1
            && word.bytes().skip(1).all(|byte| byte.is_ascii_lowercase() || byte == b'\'')
            && word.as_bytes()[0].is_ascii_alphabetic()
    };
    let words: Vec<bool> = text.split_whitespace().map(is_word).collect();
    words.windows(2).any(|two| two == [true, true])
}

/// The string literals of a source, but for attributes (other than those that hold errors), tests
/// and what stands in [`MACROS`] and [`FUNCTIONS`].
fn literals(tokens: TokenStream, out: &mut Vec<String>) {
    let mut tokens = tokens.into_iter().peekable();
    let mut skip = false;
    let mut test = false;
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                tokens.next_if(|next| matches!(next, TokenTree::Punct(_)));
                if let Some(TokenTree::Group(group)) = tokens.next_if(|next| {
                    matches!(next, TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket)
                }) {
                    let inside = group.stream().to_string();
                    test |= inside.starts_with("cfg") && inside.contains("test");
                    if inside.starts_with("error") {
                        literals(group.stream().into_iter().skip(1).collect(), out);
                    }
                }
            }
            TokenTree::Ident(ident) => {
                let name = ident.to_string();
                let is_macro = tokens.next_if(
                    |next| matches!(next, TokenTree::Punct(punct) if punct.as_char() == '!'),
                );
                skip = match is_macro {
                    Some(_) => MACROS.contains(&name.as_str()),
                    None => FUNCTIONS.contains(&name.as_str()),
                };
            }
            TokenTree::Punct(punct) => {
                skip = false;
                test &= punct.as_char() != ';';
            }
            TokenTree::Group(group) => {
                let is_body = group.delimiter() == Delimiter::Brace;
                if !(test && is_body) {
                    let inside = group.stream().into_iter();
                    literals(inside.skip(usize::from(skip)).collect(), out);
                }
                test &= !is_body;
                skip = false;
            }
            TokenTree::Literal(literal) => {
                skip = false;
                let quoted = literal.to_string();
                let inside = quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
                out.extend(inside.map(unescaped));
            }
        }
    }
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('\n')) => while chars.next_if(|c| c.is_whitespace()).is_some() {},
            ('\\', Some('n')) => {
                chars.next();
                out.push('\n');
            }
            ('\\', Some(_)) => out.extend(chars.next()),
            (c, _) => out.push(c),
        }
    }
    out
}
