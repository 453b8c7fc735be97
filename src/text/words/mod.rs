//! The interface's texts in the user's language. The code holds each in English; the table beside it
//! holds the same in the other language. A text that is not in the table does not compile.
//!
//! Only for what a person reads: what the model is told is never translated, and neither are names
//! that stand in files and requests (roles, origins, members of JSON, headers, settings), names of keys
//! (`Esc`, `Ctrl-P`) and of units (`B`, `kB`, `s`).

mod chinese;
mod translated;

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};

use chinese::TABLE;
pub use translated::translated;

/// A language of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// English.
    English,
    /// Simplified Chinese.
    Chinese,
}

/// Whether the program speaks Chinese. As with a locale, that is one thing for the whole program.
static IN_CHINESE: AtomicBool = AtomicBool::new(false);

/// Sets the language, once, at the start: what is laid out already is not said anew.
pub fn speak(language: Language) {
    IN_CHINESE.store(language == Language::Chinese, Ordering::Relaxed);
}

fn is_chinese() -> bool {
    IN_CHINESE.load(Ordering::Relaxed)
}

/// A text in both languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phrase {
    english: &'static str,
    chinese: &'static str,
}

impl Phrase {
    /// Nothing, in any language.
    pub const EMPTY: Self = Self { english: "", chinese: "" };

    /// The text in the language that is spoken.
    pub fn text(self) -> &'static str {
        if is_chinese() { self.chinese } else { self.english }
    }
}

/// Finds a text in the table; for constants.
///
/// # Panics
/// While it is compiled, if there is none.
#[expect(clippy::panic, reason = "it is how a constant fails to compile")]
pub const fn phrase(english: &'static str) -> Phrase {
    if english.is_empty() {
        return Phrase::EMPTY;
    }
    let mut part = 0;
    while part < TABLE.len() {
        let texts = TABLE[part];
        let mut at = 0;
        while at < texts.len() {
            if same(texts[at].0.as_bytes(), english.as_bytes()) {
                return Phrase { english, chinese: texts[at].1 };
            }
            at += 1;
        }
        part += 1;
    }
    panic!("this text is not in the table of translations (text/words/chinese/)")
}

const fn same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Puts values in the place of `{name}`. What they hold is not looked at again.
pub fn fill(text: &str, values: &[(&str, &dyn Display)]) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let value = after.split_once('}').and_then(|(name, after)| {
            let (_, value) = values.iter().find(|(known, _)| *known == name)?;
            Some((value, after))
        });
        match value {
            Some((value, after)) => {
                out.push_str(&value.to_string());
                rest = after;
            }
            None => {
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// A text in the language that is spoken, with values for its `{names}`.
macro_rules! say {
    ($english:literal) => {
        const { $crate::text::phrase($english) }.text()
    };
    ($english:literal, $($name:ident = $value:expr),+ $(,)?) => {
        $crate::text::fill(
            const { $crate::text::phrase($english) }.text(),
            &[$((stringify!($name), &$value)),+],
        )
    };
}

pub(crate) use say;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
