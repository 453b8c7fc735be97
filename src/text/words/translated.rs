//! Texts that limpid writes in English wherever they may be recorded, or read by a program (failures,
//! repairs, notices, errors), said in the language that is spoken where a person reads them. So a
//! journal is the same in every language, and an old one is read in that of today.

use std::borrow::Cow;
use std::fmt::Display;

use super::chinese::RECORDED;
use super::{fill, is_chinese};

/// Gaps that hold a text of limpid's own. What any other holds (names, a server's words) stays.
const OWN: [&str; 3] = ["what", "why", "where"];

/// Gaps that hold sentences of others: their stop is theirs.
const OF_OTHERS: [&str; 3] = ["message", "text", "error"];

/// The text in the language that is spoken: sentence by sentence if all are known, else as a whole.
/// What the table does not know stays as it is.
pub fn translated(text: &str) -> Cow<'_, str> {
    if is_chinese() { in_chinese(text) } else { Cow::Borrowed(text) }
}

fn in_chinese(text: &str) -> Cow<'_, str> {
    let parts = in_sentences(text);
    if let Some((all, true)) = parts {
        return Cow::Owned(all);
    }
    if let Some(whole) = sentence(text) {
        return Cow::Owned(whole);
    }
    // A host, or a place in a file, stays in front: `config.toml:3: …`.
    if let Some((place, what)) = text.split_once(": ")
        && (!place.contains(' ') || has_line(place))
        && let Cow::Owned(what) = in_chinese(what)
    {
        return Cow::Owned(format!("{place}: {what}"));
    }
    parts.map_or(Cow::Borrowed(text), |(some, _)| Cow::Owned(some))
}

/// The text with those of its sentences translated that the table knows, and whether it knows all.
fn in_sentences(text: &str) -> Option<(String, bool)> {
    let mut out = String::new();
    let (mut all, mut any) = (true, false);
    for piece in sentences(text) {
        let end = piece.trim_end_matches(' ');
        let Some(chinese) = sentence(end) else {
            all = false;
            out.push_str(piece);
            continue;
        };
        any = true;
        out.push_str(&chinese);
        if !chinese.ends_with(['。', '？', '！', '：']) {
            out.push_str(&piece[end.len()..]);
        }
    }
    any.then_some((out, all))
}

fn has_line(place: &str) -> bool {
    place.rsplit(':').next().is_some_and(|line| line.parse::<usize>().is_ok())
}

/// The sentences of a text, each with the space that follows it.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let ends = [". ", "? ", "! "].into_iter().filter_map(|end| rest.find(end)).min();
        let (sentence, after) = rest.split_at(ends.map_or(rest.len(), |at| at + 2));
        rest = after;
        (!sentence.is_empty()).then_some(sentence)
    })
}

/// A sentence of the table, translated, if it is one. The most exact of those that fit.
pub(super) fn sentence(text: &str) -> Option<String> {
    let fits = |&(english, chinese): &(&'static str, &'static str)| {
        let (english, chinese) = (english.trim_end_matches('.'), chinese.trim_end_matches('。'));
        // A stop after a gap belongs to what stands in it.
        let holds_it = |name| OWN.contains(&name) || OF_OTHERS.contains(&name);
        let gap_is_last = chinese.ends_with('}') && last_gap(english).is_some_and(holds_it);
        let (text, stop) = match text.strip_suffix('.').filter(|_| !gap_is_last) {
            Some(text) => (text, "。"),
            None => (text, ""),
        };
        let values = gaps(english, text)?;
        let held: usize = values.iter().map(|(_, value)| value.len()).sum();
        Some((held, chinese, values, stop))
    };
    let fitting = RECORDED.iter().copied().flatten().filter_map(fits);
    let (_, chinese, values, stop) = fitting.min_by_key(|(held, ..)| *held)?;
    let values: Vec<(&str, Cow<'_, str>)> = values
        .into_iter()
        .map(|(name, value)| {
            let is_own = OWN.contains(&name);
            (name, if is_own { in_chinese(value) } else { Cow::Borrowed(value) })
        })
        .collect();
    let shown: Vec<(&str, &dyn Display)> =
        values.iter().map(|(name, value)| (*name, value as &dyn Display)).collect();
    Some(fill(chinese, &shown) + stop)
}

/// The gap with which a pattern ends.
fn last_gap(pattern: &str) -> Option<&str> {
    pattern.strip_suffix('}')?.rsplit('{').next()
}

/// What stands in the gaps of a pattern, if the text is made like it.
fn gaps<'a>(pattern: &'static str, text: &'a str) -> Option<Vec<(&'static str, &'a str)>> {
    let (first, mut pattern) = pattern.split_once('{').unwrap_or((pattern, ""));
    let mut text = text.strip_prefix(first)?;
    let mut values = Vec::new();
    while let Some((name, after)) = pattern.split_once('}') {
        let (literal, next) = after.split_once('{').unwrap_or((after, ""));
        let at = if next.is_empty() {
            text.len().checked_sub(literal.len()).filter(|_| text.ends_with(literal))
        } else {
            text.find(literal)
        };
        let at = at?;
        values.push((name, &text[..at]));
        text = &text[at + literal.len()..];
        pattern = next;
    }
    text.is_empty().then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_found_where_they_are() {
        assert_eq!(gaps("a {x} c", "a b c"), Some(vec![("x", "b")]));
        assert_eq!(gaps("{x}: {y}", "a: b: c"), Some(vec![("x", "a"), ("y", "b: c")]));
        assert_eq!(gaps("{x} of {y}", "1 of 2 of 3"), Some(vec![("x", "1"), ("y", "2 of 3")]));
        for (pattern, text) in [("a {x} c", "a b d"), ("a", "ab"), ("{x}b", "ab c")] {
            assert_eq!(gaps(pattern, text), None, "{pattern} {text}");
        }
    }

    #[test]
    fn a_record_is_said_in_chinese_and_the_words_of_others_stay() {
        let cases = [
            (
                "cannot connect to h:1 (connection refused). Nothing was sent to the model. \
                 Is the server running? Check the port in the URL.",
                "无法连接 h:1（连接被拒绝）。未向模型发送任何内容。服务器在运行吗？请检查 URL 中的端口。",
            ),
            (
                "HTTP 401: key rejected by h: Nothing was sent.",
                "HTTP 401：h 拒绝了密钥：Nothing was sent.",
            ),
            (
                "lang must be one of \"en\". Nothing was written",
                "lang 必须是以下之一：\"en\"。没有写入",
            ),
            ("rm: deletes /, the whole file system", "rm：删除 /（整个文件系统）"),
            ("HTTP 500: Overloaded. Sorry.", "HTTP 500：Overloaded. Sorry."),
            ("The host is busy.", "The host is busy."),
        ];
        for (english, chinese) in cases {
            assert_eq!(in_chinese(english), chinese);
        }
    }
}
