//! The words that the prompt knows: one table for what they mean, for completion and for the help.

use crate::text::{Phrase, phrase};

/// Each word and what it does.
pub(super) const WORDS: [(&str, Phrase); 15] = [
    ("/help", phrase("shows these keys")),
    ("/continue", phrase("posts the history once more: after a failure, a stop or the turn limit")),
    ("/clear", phrase("starts anew: the model will remember nothing, every command asks again")),
    (
        "/resume",
        phrase("another session: lists those to go on with, and ends this one in good order"),
    ),
    ("/allowed", phrase("lists the commands that you allowed for the session")),
    ("/revoke", phrase("ends that: every command asks again")),
    (
        "/model",
        phrase(
            "another model or profile: alone it lists them; /model PROFILE, /model ID (at this server), /model PROFILE ID",
        ),
    ),
    (
        "/set",
        phrase("parameters: alone it lists them; /set temperature 0.2, /set temperature unset"),
    ),
    ("/turn", phrase("what was sent in a turn: /turn 3 shows it; alone it lists the turns")),
    ("/copy", phrase("copies what the model said last; in a pane, y and Y copy the text at hand")),
    ("/print", phrase("prints all of the conversation on the normal screen")),
    ("/mouse", phrase("takes the mouse for wheel and clicks, or gives it back to the terminal")),
    ("/theme", phrase("lists the themes; /theme NAME changes to another")),
    ("/restore", phrase("sends again what was left out or shortened")),
    ("/quit", phrase("ends limpid; so do q and exit alone")),
];

/// Words that take others after them.
const WITH_MORE: [&str; 4] = ["/model", "/set", "/turn", "/theme"];

/// The word that a text is close to without being it: otherwise written (`/Help`), or with
/// something after it that it does not take (`/clear now`).
pub(super) fn near(text: &str) -> Option<&'static str> {
    let text = text.trim_end();
    if text.contains('\n') {
        return None;
    }
    let first = text.split(char::is_whitespace).next()?;
    let word = WORDS.iter().map(|(word, _)| *word).find(|word| word.eq_ignore_ascii_case(first))?;
    let is_it = text == word || first == word && WITH_MORE.contains(&word);
    (!is_it).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_close_to_a_word() {
        for (text, word) in [
            ("/Help", Some("/help")),
            ("/CLEAR", Some("/clear")),
            ("/clear now", Some("/clear")),
            ("/Quit please\t", Some("/quit")),
            ("/Model qwen", Some("/model")),
            ("/model qwen", None),
            ("/set temperature 0.2", None),
            ("/help", None),
            ("/help ", None),
            ("/usr/bin/env", None),
            ("/tmp is full", None),
            ("/clear\nnow", None),
            (" /clear now", None),
            ("clear", None),
        ] {
            assert_eq!(near(text), word, "{text:?}");
        }
    }
}
