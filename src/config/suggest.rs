//! The known name that a mistyped one is most like.

/// The most similar of `known`, if one is similar enough to be meant.
pub(super) fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_ascii_lowercase().replace('-', "_");
    known
        .into_iter()
        .map(|other| (distance(&name, &other.replace('-', "_")), other))
        .filter(|(distance, other)| *distance <= other.len().min(name.len()) / 3 + 1)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, other)| other)
}

/// How many letters have to be put in, taken out or changed to make one word of the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let changed = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_another_word_none() {
        let known = ["max_turns", "model", "deepseek"];
        assert_eq!(closest("max-turn", known), Some("max_turns"));
        assert_eq!(closest("modle", known), Some("model"));
        assert_eq!(closest("DeepSek", known), Some("deepseek"));
        assert_eq!(closest("colour", known), None);
    }
}
