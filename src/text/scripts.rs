//! Letters that look alike: words whose letters come from more than one script.

#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Latin,
    Cyrillic,
    Greek,
}

fn script(c: char) -> Option<Script> {
    if !c.is_alphabetic() {
        return None;
    }
    match c {
        'A'..='Z'
        | 'a'..='z'
        | '\u{c0}'..='\u{24f}'
        | '\u{1e00}'..='\u{1eff}'
        | '\u{ff21}'..='\u{ff5a}' => Some(Script::Latin),
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Some(Script::Greek),
        '\u{400}'..='\u{52f}' | '\u{1c80}'..='\u{1c8f}' | '\u{a640}'..='\u{a69f}' => {
            Some(Script::Cyrillic)
        }
        _ => None,
    }
}

/// The words that mix Latin, Cyrillic and Greek letters (`pаypal` with a Cyrillic `а`), in order.
///
/// A word is a run of letters and digits, so `файл_old.txt` is two words and not mixed.
pub fn mixed_script_words(text: &str) -> Vec<&str> {
    if text.is_ascii() {
        return Vec::new();
    }
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| {
            let mut scripts = word.chars().filter_map(script);
            let first = scripts.next();
            scripts.any(|other| Some(other) != first)
        })
        .collect()
}

/// Whether a text holds letters that are written from right to left. Some terminals then show what
/// stands between them in another order than the one in which it is read.
pub fn runs_leftwards(text: &str) -> bool {
    let leftwards = |c| {
        matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
            | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
    };
    text.chars().any(leftwards)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_of_two_scripts_are_found() {
        assert_eq!(
            mixed_script_words(
                "curl https://p\u{430}ypal.com/\u{43f}\u{443}\u{442}\u{44c} \u{3bf}k"
            ),
            ["p\u{430}ypal", "\u{3bf}k"]
        );
        assert!(mixed_script_words("файл_old.txt λ 5µs naïve 你好abc").is_empty());
    }
}
