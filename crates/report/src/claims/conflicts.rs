//! Two claims of one text about the same thing that cannot both be right.
//!
//! Whether two sentences speak of the same thing is judged by their words: the same metric, a word of substance in common, and
//! not two different versions or variants. It can err, so the evidence names both places.

use super::reading::Reading;
use super::tokens::{Token, tokens};
use assay_model::{CheckedClaim, ClaimVerdict};
use std::collections::BTreeSet;

/// Claims beyond which pairs are not looked for: their number grows with the square.
const CLAIMS_MAX: usize = 500;

/// Words that stand in sentences about anything.
const COMMON: &[&str] = &[
    "the",
    "and",
    "with",
    "this",
    "that",
    "these",
    "those",
    "from",
    "for",
    "are",
    "was",
    "were",
    "our",
    "its",
    "which",
    "while",
    "though",
    "only",
    "even",
    "both",
    "due",
    "than",
    "over",
    "show",
    "see",
    "chart",
    "figure",
    "table",
    "left",
    "right",
    "best",
    "lowest",
    "highest",
    "one",
    "version",
    "baseline",
    "score",
    "performance",
    "result",
    "compar",
    "respectively",
    "much",
    "new",
    "newer",
    "almost",
    "about",
    "nearly",
    "bit",
    "has",
    "have",
    "had",
    "not",
    "does",
    "but",
    "into",
    "against",
    "when",
    "where",
    "openjdk",
    "jdk",
    "java",
    "jvm",
    "time",
    "test",
    "run",
    "run",
    "use",
    "us",
    "be",
    "is",
    "it",
    "we",
    "of",
    "to",
    "on",
    "by",
    "in",
    "as",
    "at",
    "an",
    "or",
    "between",
    "each",
    "all",
    "any",
    "default",
    "metric",
    "achiev",
    "change",
    "major",
];

/// What a claim is about, as far as words tell.
pub struct Subject {
    words: BTreeSet<String>,
    versions: BTreeSet<String>,
}

/// The words of substance in a sentence, and its versions; those of the sentence before it where it has none itself.
pub fn subject(sentence: &str, before: Option<&str>) -> Subject {
    let own = words(sentence);
    match before {
        Some(before) if own.words.is_empty() => {
            let mut inherited = words(before);
            inherited.versions.extend(own.versions);
            inherited
        }
        _ => own,
    }
}

fn words(sentence: &str) -> Subject {
    let mut subject = Subject { words: BTreeSet::new(), versions: BTreeSet::new() };
    for (_, token) in tokens(sentence) {
        let Token::Word(word) = token else { continue };
        let lower = word.to_lowercase();
        if lower.contains(|c: char| c.is_ascii_digit()) {
            subject.versions.insert(lower);
            continue;
        }
        let stem = stem(&lower);
        let is_common = COMMON.contains(&stem) || COMMON.contains(&lower.as_str());
        if stem.chars().count() >= 3 && !is_common && !super::grammar::is_change_or_metric(word) {
            subject.words.insert(stem.to_owned());
        }
    }
    subject
}

/// A word without its ending: "tuned" and "tuning" are one.
fn stem(word: &str) -> &str {
    for ending in ["ations", "ation", "ings", "ing", "ed", "es", "s"] {
        if let Some(stem) = word.strip_suffix(ending).filter(|s| s.chars().count() >= 3) {
            return stem;
        }
    }
    word
}

fn is_same(a: &Subject, b: &Subject) -> bool {
    let apart = !a.versions.is_empty() && !b.versions.is_empty() && a.versions.is_disjoint(&b.versions);
    !apart && !a.words.is_disjoint(&b.words)
}

fn names_others(a: &CheckedClaim, b: &CheckedClaim) -> bool {
    let numbers = a.from.is_some() && b.from.is_some() && (a.from, a.to) != (b.from, b.to);
    let variants =
        a.variant.is_some() && b.variant.is_some() && (&a.variant, &a.baseline) != (&b.variant, &b.baseline);
    numbers || variants
}

fn agree(a: &[Reading], b: &[Reading]) -> bool {
    let overlap = |x: &Reading, y: &Reading| x.wide.0 <= y.wide.1 && y.wide.0 <= x.wide.1;
    a.iter().any(|x| b.iter().any(|y| overlap(x, y)))
}

/// Marks claims that contradict another one. Where one of the two is wrong by its own numbers already the other is marked, else
/// the later.
pub fn mark(claims: &mut [CheckedClaim], details: &[(Subject, Vec<Reading>)]) {
    let count = claims.len().min(details.len()).min(CLAIMS_MAX);
    for later in 1..count {
        for earlier in 0..later {
            let (a, b) = (&claims[earlier], &claims[later]);
            let metric = |c: &CheckedClaim| c.metric.as_ref().map(|m| m.to_lowercase());
            let (of_a, of_b) = (&details[earlier], &details[later]);
            let comparable =
                metric(a).is_some() && metric(a) == metric(b) && !of_a.1.is_empty() && !of_b.1.is_empty();
            if !comparable || names_others(a, b) || !is_same(&of_a.0, &of_b.0) || agree(&of_a.1, &of_b.1) {
                continue;
            }
            let marked = if b.verdict.is_wrong() { earlier } else { later };
            let other = if marked == later { earlier } else { later };
            if claims[marked].verdict.is_wrong() {
                continue;
            }
            let (line, claim, computed) =
                (claims[other].line, claims[other].claim.clone(), claims[other].evidence.clone());
            let target = &mut claims[marked];
            target.verdict = ClaimVerdict::Conflicts;
            target.evidence = format!("line {line} says {claim} about it ({computed})");
        }
    }
}
