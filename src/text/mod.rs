//! Text that a terminal can be trusted with: the sanitizer, widths, wrapping, short figures; keys
//! kept out of text; and the interface's own texts in two languages.
//!
//! Pure, and knows nothing of the rest of the crate. Everything that limpid did not write itself
//! (model text, commands, outputs, error bodies, file names) passes [`visible`] before it is drawn.

mod figures;
mod ink;
mod measure;
mod printed;
mod redact;
mod sanitize;
mod scripts;
mod words;

pub use figures::{age, bytes, duration, milliseconds};
pub use ink::{Colour, Emphasis, Ink};
pub use measure::{fit, is_simple, padded, width, wrap};
pub use printed::Printed;
pub use redact::{REDACTED, Redactor, Secrets};
pub use sanitize::{Show, hidden, spelled, visible};
pub use scripts::{mixed_script_words, runs_leftwards};
pub(crate) use words::say;
pub use words::{Language, Phrase, fill, phrase, speak, translated};

/// Texts that programs for terminals got wrong before.
#[cfg(test)]
pub(crate) const CORPUS: &[&str] = &[
    "",
    "plain ASCII, with words of several lengths",
    "  indented text and trailing spaces     ",
    "你好，世界。这是一个没有空格的长句子，用来测试换行。",
    "日本語のテキスト、カタカナ、ﾊﾝｶｸ ﾀﾞﾊﾟ ﾞﾟ",
    "한국어 문장 각 가 \u{1100}\u{1161}\u{11a8} \u{1161}",
    "family 👨‍👩‍👧‍👦 and 🏳️‍🌈 joined",
    "flags 🇨🇳🇩🇪🇫 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "skin 👍🏽👩🏿‍🚀 🏽",
    "selectors ❤️ ❤︎ 1️⃣ #️⃣ ☎️ \u{fe0f}",
    "combining e\u{301} a\u{308}\u{323} \u{301}start",
    "\u{301}\u{301}",
    "العربية لا لآ ه‍ه می‌خواهم",
    "ภาษาไทยไม่มีช่องว่างระหว่างคำ กำลัง",
    "हिन्दी क्षत्रिय क्‍ष ക്‍",
    "thin\u{202f}space no\u{a0}break wide\u{3000}space",
    "a\tb\tccccc\tdddd\te",
    "zero\u{200b}width\u{2060}joined\u{feff}",
    "\u{200d}",
    "lone \u{200d} joiner\u{200c}",
    "bidi \u{202e}txt.exe\u{202c} \u{2066}x\u{2069}\u{200f}",
    "\u{1b}[2K\u{1b}]0;title\u{7}red\u{9b}31m \u{7f}\u{85}",
    "one\r\ntwo\rthree\u{2028}four",
    "\u{605}\u{600}1 \u{115f}\u{3164}\u{ffa0}\u{2800}",
    "https://example.org/a/very/long/path/without/any/space?and=query&more=1234567890",
    "private \u{e0b0} unassigned \u{378} replaced \u{fffd}",
];
