//! The nearest right word to a misspelt one, for messages.

/// The known word that is nearest to `wrong`, if one is near enough to be meant.
pub(crate) fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|word| (strsim::damerau_levenshtein(wrong, word), word))
        .filter(|(distance, word)| *distance <= (word.chars().count().max(wrong.chars().count())).div_ceil(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// `; did you mean "word"?` or `; known: a, b, c`.
pub(crate) fn hint<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(wrong, known.clone()) {
        Some(word) => format!("; did you mean \"{word}\"?"),
        None => {
            let all: Vec<&str> = known.into_iter().collect();
            if all.is_empty() { "; none is known".to_owned() } else { format!("; known: {}", all.join(", ")) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word_and_a_strange_word_finds_none() {
        assert_eq!(nearest("wieght", ["name", "weight", "path"]), Some("weight"));
        assert_eq!(nearest("contain", ["contains", "name"]), Some("contains"));
        assert_eq!(nearest("zebra", ["contains", "name"]), None);
    }
}
