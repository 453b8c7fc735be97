//! Keys that must not be shown, kept or sent: found in text wherever they stand, also where it comes
//! in pieces, and replaced by [`REDACTED`].
//!
//! Which texts are looked at is the matter of those who take them in: a command's output (`tools`),
//! a server's response (`agent`). What the user types is the user's.

use std::borrow::Cow;
use std::sync::{Arc, PoisonError, RwLock};

use aho_corasick::{AhoCorasick, Input, MatchKind};

/// What stands in a key's place.
pub const REDACTED: &str = "[redacted]";

/// A shorter text is too common to be told from a key.
const SHORTEST: usize = 8;

/// Known keys. They cannot be printed. Clones share what they know: what one learns, all look for.
#[derive(Clone, Default)]
pub struct Secrets(Arc<RwLock<Option<Arc<Patterns>>>>);

struct Patterns {
    /// The keys, and how JSON and URLs spell them.
    spelled: Vec<String>,
    finder: AhoCorasick,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secrets(***)")
    }
}

impl Secrets {
    /// These keys; those shorter than 8 characters, and those that no header could carry, are not
    /// looked for.
    pub fn new<'a>(keys: impl IntoIterator<Item = &'a str>) -> Self {
        let secrets = Self::default();
        secrets.learn(keys);
        secrets
    }

    /// These keys are looked for as well, from here on.
    pub fn learn<'a>(&self, keys: impl IntoIterator<Item = &'a str>) {
        let keys = keys.into_iter().map(str::trim);
        let is_key =
            |key: &&str| key.len() >= SHORTEST && key.bytes().all(|b| (0x20..0x7f).contains(&b));
        let mut spelled: Vec<String> = keys.filter(is_key).flat_map(spellings).collect();
        spelled.extend(self.patterns().iter().flat_map(|known| known.spelled.iter().cloned()));
        spelled.sort();
        spelled.dedup();
        if spelled.is_empty() {
            return;
        }
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&spelled);
        // It can fail only for more keys than a machine holds.
        if let Ok(finder) = finder {
            let patterns = Some(Arc::new(Patterns { spelled, finder }));
            *self.0.write().unwrap_or_else(PoisonError::into_inner) = patterns;
        }
    }

    /// What the other knows is looked for as well, from here on.
    pub fn learn_from(&self, other: &Self) {
        if let Some(known) = other.patterns() {
            self.learn(known.spelled.iter().map(String::as_str));
        }
    }

    fn patterns(&self) -> Option<Arc<Patterns>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The text with its keys replaced.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.patterns() {
            Some(patterns) if patterns.finder.is_match(text) => {
                let replacements = vec![REDACTED; patterns.spelled.len()];
                Cow::Owned(patterns.finder.replace_all(text, &replacements))
            }
            _ => Cow::Borrowed(text),
        }
    }
}

/// A key as it is, as it may stand in JSON, and as it may stand in a URL.
fn spellings(key: &str) -> [String; 5] {
    let json = key.replace('\\', "\\\\").replace('"', "\\\"");
    let slashes = json.replace('/', "\\/");
    let percent = |hex: fn(u8) -> String| -> String {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        key.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { hex(b) }).collect()
    };
    let upper = percent(|byte| format!("%{byte:02X}"));
    let lower = percent(|byte| format!("%{byte:02x}"));
    [key.to_owned(), json, slashes, upper, lower]
}

/// Replaces keys in bytes that come in pieces. What comes out does not depend on how they are cut:
/// an end that could be the start of a key is held back until more comes.
#[derive(Default)]
pub struct Redactor {
    secrets: Secrets,
    held: Vec<u8>,
    /// How many keys were replaced.
    pub found: u64,
}

/// What is held back is a part of a key.
impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").field("found", &self.found).finish_non_exhaustive()
    }
}

impl Redactor {
    /// Looks for these keys.
    pub fn new(secrets: Secrets) -> Self {
        Self { secrets, held: Vec::new(), found: 0 }
    }

    /// Takes the next bytes; returns what is known to be free of keys.
    pub fn push<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let Some(patterns) = self.secrets.patterns() else { return Cow::Borrowed(bytes) };
        let bytes = if self.held.is_empty() {
            Cow::Borrowed(bytes)
        } else {
            self.held.extend_from_slice(bytes);
            Cow::Owned(std::mem::take(&mut self.held))
        };
        let mut out = Vec::new();
        let mut at = 0;
        loop {
            let found = patterns.finder.find(Input::new(&*bytes).range(at..));
            let begun = patterns.begun(&bytes, at);
            match found {
                Some(found) if found.start() < begun => {
                    out.extend_from_slice(&bytes[at..found.start()]);
                    out.extend_from_slice(REDACTED.as_bytes());
                    self.found += 1;
                    at = found.end();
                }
                _ => {
                    self.held.extend_from_slice(&bytes[begun..]);
                    if at > 0 {
                        out.extend_from_slice(&bytes[at..begun]);
                        return Cow::Owned(out);
                    }
                    return match bytes {
                        Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[..begun]),
                        Cow::Owned(mut bytes) => {
                            bytes.truncate(begun);
                            Cow::Owned(bytes)
                        }
                    };
                }
            }
        }
    }

    /// Takes the next piece of a text. Keys are ASCII, so that no character is cut.
    pub fn push_text<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        match self.push(text.as_bytes()) {
            Cow::Borrowed(bytes) => Cow::Borrowed(&text[..bytes.len()]),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// Nothing more comes: what was held back.
    pub fn finish(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        let Some(patterns) = self.secrets.patterns() else { return held };
        // The start of a longer key may be a shorter one.
        let count = patterns.finder.find_iter(&held).count() as u64;
        self.found += count;
        if count == 0 {
            return held;
        }
        patterns.finder.replace_all_bytes(&held, &vec![REDACTED; patterns.spelled.len()])
    }
}

impl Patterns {
    /// Where, from `at` on, the last bytes could be the start of a key that goes on.
    fn begun(&self, bytes: &[u8], at: usize) -> usize {
        let longest = self.spelled.iter().map(String::len).max().unwrap_or(0);
        let from = at.max(bytes.len().saturating_sub(longest.saturating_sub(1)));
        let could_go_on = |start: &usize| {
            let tail = &bytes[*start..];
            self.spelled
                .iter()
                .any(|key| key.len() > tail.len() && key.as_bytes().starts_with(tail))
        };
        (from..bytes.len()).find(could_go_on).unwrap_or(bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEYS: [&str; 4] = ["sk-abcdabcd", "sk-abcdabcd-longer", "p/q+\"r\"=st", "short"];

    fn in_pieces(text: &[u8], pieces: &[usize]) -> (String, u64) {
        let mut redactor = Redactor::new(Secrets::new(KEYS));
        let mut out = Vec::new();
        let mut rest = text;
        for piece in pieces.iter().cycle() {
            let (now, later) = rest.split_at((*piece).min(rest.len()));
            out.extend_from_slice(&redactor.push(now));
            assert!(redactor.held.len() < 40);
            rest = later;
            if rest.is_empty() {
                break;
            }
        }
        out.extend(redactor.finish());
        (String::from_utf8(out).unwrap(), redactor.found)
    }

    #[test]
    fn every_spelling_is_found_and_nothing_else() {
        let cases = [
            ("key=sk-abcdabcd.", "key=[redacted]."),
            ("sk-abcdabcd-longer", "[redacted]"),
            ("sk-abcdabcd-long", "[redacted]-long"),
            ("sk-sk-abcdabcdsk-abcdabcd", "sk-[redacted][redacted]"),
            (r#"{"k":"p/q+\"r\"=st"}"#, r#"{"k":"[redacted]"}"#),
            (r#"{"k":"p\/q+\"r\"=st"}"#, r#"{"k":"[redacted]"}"#),
            ("?k=p%2Fq%2B%22r%22%3Dst&p%2fq%2b%22r%22%3dst", "?k=[redacted]&[redacted]"),
            ("short, and sk-abcdabc", "short, and sk-abcdabc"),
            ("ends with s", "ends with s"),
        ];
        for (text, expected) in cases {
            assert_eq!(Secrets::new(KEYS).redact(text), expected);
            for piece in 1..=text.len() {
                assert_eq!(
                    in_pieces(text.as_bytes(), &[piece]).0,
                    expected,
                    "in pieces of {piece}"
                );
            }
        }
        assert_eq!(in_pieces(b"sk-abcdabcd sk-abcdabcd", &[5]).1, 2);
    }

    #[test]
    fn without_keys_nothing_is_copied_or_held() {
        for secrets in [
            Secrets::default(),
            Secrets::new(["", "  ", "short", "\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}"]),
        ] {
            let mut redactor = Redactor::new(secrets);
            assert!(matches!(redactor.push(b"sk-"), Cow::Borrowed(b"sk-")));
            assert!(redactor.finish().is_empty());
        }
    }

    #[test]
    fn no_key_can_be_printed() {
        let mut redactor = Redactor::new(Secrets::new(["sk-abcdabcd"]));
        redactor.push(b"sk-abcd");
        assert!(!format!("{redactor:?}").contains("abcd"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn what_comes_out_does_not_depend_on_how_it_is_cut(
            words in prop::collection::vec(prop::sample::select(vec![
                "sk-", "abcd", "-longer", "sk-abcdabcd", "p/q+\"r\"=st", "é", "s", " ",
            ]), 0..12),
            pieces in prop::collection::vec(1..9usize, 1..20),
        ) {
            let text = words.concat();
            let whole = Secrets::new(KEYS).redact(&text).into_owned();
            let (cut, found) = in_pieces(text.as_bytes(), &pieces);
            prop_assert_eq!(&cut, &whole);
            prop_assert_eq!(found, whole.matches(REDACTED).count() as u64);
            prop_assert!(!cut.contains("sk-abcdabcd"));
        }
    }
}
