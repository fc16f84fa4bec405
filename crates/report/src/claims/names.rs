//! Names of a run in a text: its variants and metrics, and which of two variants is compared with which.

use super::grammar::is_comparing;
use super::tokens::{Token, Tokens};
use assay_model::{Metric, Summary};

/// What people call the metrics of servers, beside their titles.
const ALIASES: [(&str, &str); 14] = [
    ("garbage", "garbage_kib_per_request"),
    ("cpu per request", "cpu_ms_per_request"),
    ("cpu time", "cpu_ms_per_request"),
    ("cpu", "cpu_ms_per_request"),
    ("throughput", "throughput_per_s"),
    ("median response time", "response_p50_ms"),
    ("median", "response_p50_ms"),
    ("p50", "response_p50_ms"),
    ("p99", "response_p99_ms"),
    ("99th percentile", "response_p99_ms"),
    ("pauses", "gc_pause_ms_per_s"),
    ("pause time", "gc_pause_ms_per_s"),
    ("resident memory", "rss_bytes"),
    ("rss", "rss_bytes"),
];

/// A name in a sentence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mention<'s> {
    /// Where it begins, in bytes.
    pub at: usize,
    /// Its bytes.
    pub length: usize,
    /// The name.
    pub name: &'s str,
}

/// Places of a name in a sentence, whatever its case, where it is not part of a longer word.
fn places(sentence: &str, name: &str) -> Vec<usize> {
    if name.is_empty() || name.len() > sentence.len() {
        return Vec::new();
    }
    let joins = |c: char| c.is_alphanumeric() || matches!(c, '_' | '=' | '/');
    let is_whole = |at: usize| {
        let mut after = sentence[at + name.len()..].chars();
        let ends = match after.next() {
            Some('-' | '.') => after.next().is_none_or(|c| !joins(c)),
            other => other.is_none_or(|c| !joins(c)),
        };
        ends && sentence[..at].chars().next_back().is_none_or(|c| !joins(c) && !matches!(c, '-' | '.'))
    };
    let matches =
        |at: &usize| sentence.get(*at..at + name.len()).is_some_and(|part| part.eq_ignore_ascii_case(name));
    sentence.char_indices().map(|(at, _)| at).filter(matches).filter(|at| is_whole(*at)).collect()
}

/// Mentions of names, in the order of the sentence; a longer name hides the shorter ones in it.
fn mentions<'s>(sentence: &str, names: impl Iterator<Item = (&'s str, &'s str)>) -> Vec<Mention<'s>> {
    let mut all: Vec<Mention> = names
        .flat_map(|(written, name)| {
            places(sentence, written).into_iter().map(move |at| Mention { at, length: written.len(), name })
        })
        .collect();
    all.sort_by_key(|m| (std::cmp::Reverse(m.length), m.at));
    let mut kept: Vec<Mention> = Vec::new();
    for mention in all {
        let overlaps = |k: &Mention| mention.at < k.at + k.length && k.at < mention.at + mention.length;
        if !kept.iter().any(overlaps) {
            kept.push(mention);
        }
    }
    kept.sort_by_key(|m| m.at);
    kept
}

/// The variant that a claim is about and the one that it compares with; absent unless it names two.
pub fn compared<'s>(sentence: &str, tokens: &Tokens, summary: &'s Summary) -> Option<(&'s str, &'s str)> {
    let names = summary.variants.iter().map(|v| (v.name.as_str(), v.name.as_str()));
    let found = mentions(sentence, names);
    let first = found.first()?;
    let second = found.iter().find(|m| m.name != first.name)?;
    // "Compared with B, A is 30 % faster" and "from B to A" name the baseline first.
    if is_compared_with(tokens, first.at) && !is_compared_with_strictly(tokens, second.at) {
        Some((second.name, first.name))
    } else {
        Some((first.name, second.name))
    }
}

fn words_before<'t>(tokens: &Tokens<'t>, at: usize) -> Vec<&'t str> {
    let before = tokens.iter().take_while(|(place, _)| *place < at);
    let words: Vec<&str> =
        before.filter_map(|(_, t)| if let Token::Word(w) = t { Some(*w) } else { None }).collect();
    words.into_iter().rev().take(2).collect()
}

/// Whether a comparing word or two stand right before this place; "of A" and "with A" at the start tell nothing.
fn is_compared_with(tokens: &Tokens, at: usize) -> bool {
    let before = words_before(tokens, at);
    let last = before
        .first()
        .is_some_and(|w| is_comparing(w) && !matches!(w.to_lowercase().as_str(), "of" | "with" | "to"));
    let two = before.get(1).is_some_and(|w| matches!(w.to_lowercase().as_str(), "compared" | "relative"));
    last || two
}

/// The same without "from ... to": there the second is what is reached.
fn is_compared_with_strictly(tokens: &Tokens, at: usize) -> bool {
    is_compared_with(tokens, at)
        && !words_before(tokens, at).first().is_some_and(|w| w.eq_ignore_ascii_case("to"))
}

/// The metric that a sentence names, the nearest before `at` or else the first behind it: its identifier in the run.
pub fn metric<'s>(sentence: &str, at: usize, summary: &'s Summary) -> Option<&'s str> {
    let ids: Vec<&str> = ids(summary);
    let known: Vec<(Metric, &str)> = ids.iter().filter_map(|id| Some((Metric::by_id(id)?, *id))).collect();
    let titles = known.iter().map(|(metric, id)| (&*metric.title, *id));
    let aliases = ALIASES.iter().filter_map(|(alias, id)| Some((*alias, *ids.iter().find(|i| *i == id)?)));
    let spaced: Vec<(String, &str)> = ids.iter().map(|id| (id.replace('_', " "), *id)).collect();
    let spaced = spaced.iter().map(|(written, id)| (written.as_str(), *id));
    let plain = ids.iter().map(|id| (*id, *id));
    let found = nearest(sentence, at, plain.chain(titles).chain(aliases).chain(spaced));
    found.and_then(|id| ids.into_iter().find(|i| *i == id))
}

fn nearest(
    sentence: &str,
    at: usize,
    names: impl Iterator<Item = (impl AsRef<str>, impl AsRef<str>)>,
) -> Option<String> {
    let owned: Vec<(String, String)> =
        names.map(|(a, b)| (a.as_ref().to_owned(), b.as_ref().to_owned())).collect();
    let found = mentions(sentence, owned.iter().map(|(a, b)| (a.as_str(), b.as_str())));
    let before = found.iter().rev().find(|m| m.at < at);
    before.or_else(|| found.first()).map(|m| m.name.to_owned())
}

/// Identifiers of every metric that the run compared.
pub fn ids(summary: &Summary) -> Vec<&str> {
    let mut ids: Vec<&str> = summary.comparisons.iter().map(|c| c.metric.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}
