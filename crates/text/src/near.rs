//! The right word to a misspelt one, for messages.

/// Two long names are alike from this on (Jaro-Winkler, 1 = equal).
const LIKENESS_MIN: f64 = 0.8;

/// The known word that is nearest to `wrong`, if one is near enough to be meant: a third of its letters may be wrong.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|word| (strsim::damerau_levenshtein(wrong, word), word))
        .filter(|(distance, word)| *distance <= word.chars().count().max(wrong.chars().count()).div_ceil(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// A number and its unit in small letters, as they may be meant: `1,5 MB` is `1.5` and `mb`. None without a unit.
pub(crate) fn number_and_unit(text: &str) -> Option<(String, String)> {
    let text = text.trim().to_ascii_lowercase().replace(',', ".");
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.')?);
    Some((number.to_owned(), unit.trim().to_owned()))
}

/// Known words that a message lists; of more it names the nearest.
const LISTED_MAX: usize = 40;
const NEAREST_MAX: usize = 5;

/// For the end of a message: ``; did you mean `word`?`` or `; known: a, b, c`, of many `; the nearest of 97: a, b, c`.
pub fn hint<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(wrong, known.iter().copied()) {
        Some(word) => format!("; did you mean `{word}`?"),
        None if known.is_empty() => "; none is known here".to_owned(),
        None if LISTED_MAX < known.len() => {
            format!("; the nearest of {}: {}", known.len(), nearest_of_many(wrong, &known).join(", "))
        }
        None => format!("; known: {}", known.join(", ")),
    }
}

/// Names of several parts: those that share most parts with the wrong one, and of these the likest.
fn nearest_of_many<'a>(wrong: &str, known: &[&'a str]) -> Vec<&'a str> {
    let parts: Vec<&str> = wrong.split('_').filter(|part| !part.is_empty()).collect();
    let shared = |word: &str| parts.iter().filter(|part| word.contains(**part)).count();
    let mut near = known.to_vec();
    near.sort_by(|a, b| {
        let likeness = |word: &str| strsim::jaro_winkler(word, wrong);
        shared(b).cmp(&shared(a)).then_with(|| likeness(b).total_cmp(&likeness(a)))
    });
    near.truncate(NEAREST_MAX);
    near
}

/// Of many long names those that are like `wanted`, the likest first, each once, at most `most`. Names may also be alike in
/// what `short` leaves of them: a forgotten package is the commonest mistake, and a wrong letter the next.
pub fn alike<'a>(
    wanted: &str,
    names: impl Iterator<Item = &'a str>,
    short: impl Fn(&str) -> &str,
    most: usize,
) -> Vec<&'a str> {
    let likeness = |name: &str| {
        let in_short = strsim::jaro_winkler(short(name), short(wanted));
        strsim::jaro_winkler(name, wanted).max(in_short * 0.9)
    };
    let mut near: Vec<(f64, &str)> = names.map(|name| (likeness(name), name)).collect();
    near.retain(|(likeness, _)| LIKENESS_MIN <= *likeness);
    near.sort_by(|(a, a_name), (b, b_name)| b.total_cmp(a).then_with(|| a_name.cmp(b_name)));
    near.dedup_by(|(_, a), (_, b)| a == b);
    near.into_iter().take(most).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word_and_a_strange_word_finds_none() {
        assert_eq!(nearest("wieght", ["name", "weight", "path"]), Some("weight"));
        assert_eq!(nearest("contain", ["contains", "name"]), Some("contains"));
        assert_eq!(nearest("zebra", ["contains", "name"]), None);
        assert_eq!(hint("prot", ["port"]), "; did you mean `port`?");
        assert_eq!(hint("zebra", ["port", "name"]), "; known: port, name");
        assert_eq!(hint("zebra", []), "; none is known here");
        let many: Vec<String> = (0..60).map(|n| format!("figure_{n}")).collect();
        let many = many.iter().map(String::as_str).chain(["all_cpu_ms", "cpu_ms_per_request"]);
        let said = hint("cpu", many);
        assert!(said.starts_with("; the nearest of 62: cpu_ms_per_request, all_cpu_ms, "), "{said}");
        assert_eq!(said.split(", ").count(), 5, "{said}");
    }

    #[test]
    fn names_are_alike_with_or_without_their_package() {
        let names = ["java.util.HashMap", "java.util.HashMap$Node", "a.Node", "byte[]"];
        fn simple(name: &str) -> &str {
            name.rsplit_once('.').map_or(name, |(_, simple)| simple)
        }
        assert_eq!(alike("java.util.HashMap$Nod", names.into_iter(), simple, 1), ["java.util.HashMap$Node"]);
        assert_eq!(alike("Node", names.into_iter(), simple, 3)[0], "a.Node");
        assert!(alike("zzz", names.into_iter(), simple, 3).is_empty());
    }
}
