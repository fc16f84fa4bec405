//! What a sentence claims: how much, up or down, from which number to which, about what.
//!
//! A small grammar, written by hand: it knows the words by which people tell changes, and leaves alone what it does not
//! understand.

use super::tokens::{Number, Quantity, Token, Tokens};

/// Words between a number and the change that it belongs to.
const NUMBER_REACH: usize = 8;
/// Words between a comparing word and its number: `from the baseline score 92,973`.
const COMPARED_REACH: usize = 6;
/// Words behind a quantity that tell its direction: `31 % higher`, `2.1 times as high`.
const TURN_REACH: usize = 2;
/// Claims of one sentence.
const CLAIMS_MAX: usize = 20;

/// Which way a change goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// To a higher value.
    Up,
    /// To a lower value.
    Down,
    /// To a better value, whichever that is.
    Better,
    /// To a worse one.
    Worse,
    /// To a higher rate or a shorter time.
    Faster,
    /// To a lower rate or a longer time.
    Slower,
    /// A factor without a word for it: `2.1 times B`.
    Factor,
}

/// A claim as it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Stated<'t> {
    /// How much.
    pub quantity: Quantity,
    /// Which way.
    pub turn: Turn,
    /// Whether words such as "about" or "more than" stand before it.
    pub is_rough: bool,
    /// The text's own numbers: old and new.
    pub numbers: Option<(f64, f64)>,
    /// What it is about, where a usual word says so.
    pub metric: Option<&'t str>,
    /// Where the quantity stands, in bytes.
    pub at: usize,
}

fn turn_of(word: &str) -> Option<Turn> {
    let turn = match word.to_lowercase().as_str() {
        "above" | "higher" | "more" | "greater" | "larger" | "bigger" | "longer" | "increase"
        | "increases" | "increased" | "increasing" | "rise" | "rises" | "rose" | "risen" | "grow"
        | "grows" | "grew" | "grown" | "growth" | "uplift" | "uplifts" | "uplifted" | "gain" | "gains"
        | "gained" | "up" | "exceeds" | "exceed" | "raises" | "raised" | "adds" | "extra" | "additional"
        | "boost" | "boosts" | "boosted" => Turn::Up,
        "below" | "lower" | "lowers" | "lowered" | "less" | "fewer" | "smaller" | "shorter" | "reduce"
        | "reduces" | "reduced" | "reducing" | "reduction" | "decrease" | "decreases" | "decreased"
        | "decreasing" | "drop" | "drops" | "dropped" | "fall" | "falls" | "fell" | "fallen" | "shrink"
        | "shrinks" | "shrank" | "cut" | "cuts" | "save" | "saves" | "saved" | "saving" | "savings"
        | "down" | "decline" | "declines" | "declined" => Turn::Down,
        "improve" | "improves" | "improved" | "improving" | "improvement" | "improvements" | "better"
        | "outperforms" | "beats" => Turn::Better,
        "worse" | "regresses" | "regressed" | "regression" | "degrades" | "degraded" | "degradation" => {
            Turn::Worse
        }
        "faster" | "quicker" | "speedup" | "speed-up" => Turn::Faster,
        "slower" | "slowdown" | "slow-down" => Turn::Slower,
        _ => return None,
    };
    Some(turn)
}

fn is_rough_word(word: &str) -> bool {
    let words = [
        "about",
        "almost",
        "nearly",
        "around",
        "roughly",
        "approximately",
        "over",
        "than",
        "to",
        "~",
        "least",
        "most",
    ];
    words.contains(&word.to_lowercase().as_str()) || word.ends_with('~')
}

/// Words that set what is compared with before what is compared.
pub fn is_comparing(word: &str) -> bool {
    let words = [
        "than",
        "over",
        "above",
        "below",
        "against",
        "versus",
        "vs",
        "from",
        "with",
        "of",
        "to",
        "relative",
        "compared",
        "beats",
        "outperforms",
        "exceeds",
    ];
    words.contains(&word.to_lowercase().as_str())
}

/// Usual names of what is measured on servers.
fn is_metric(word: &str) -> bool {
    let lower = word.to_lowercase();
    let words = [
        "throughput",
        "latency",
        "score",
        "memory",
        "footprint",
        "garbage",
        "heap",
        "rss",
        "cpu",
        "pause",
        "pauses",
        "rate",
        "capacity",
        "median",
        "critical-rate",
        "max-rate",
        "time",
        "size",
    ];
    let is_percentile = lower.strip_prefix('p').is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_digit()) && rest.chars().all(|c| c.is_ascii_digit() || c == '.')
    });
    lower.ends_with("jops") || is_percentile || words.contains(&lower.as_str())
}

fn word<'t>(tokens: &Tokens<'t>, at: usize) -> Option<&'t str> {
    match tokens.get(at)?.1 {
        Token::Word(word) => Some(word),
        _ => None,
    }
}

fn is_word(tokens: &Tokens, at: usize, wanted: &[&str]) -> bool {
    word(tokens, at).is_some_and(|w| wanted.iter().any(|x| w.eq_ignore_ascii_case(x)))
}

/// Every claim of a sentence.
pub fn claims<'t>(tokens: &Tokens<'t>) -> Vec<Stated<'t>> {
    let quantities: Vec<(usize, Quantity)> = tokens
        .iter()
        .enumerate()
        .filter_map(|(i, (_, token))| match token {
            Token::Quantity(quantity) if !is_in_range(tokens, i) => Some((i, *quantity)),
            _ => None,
        })
        .take(CLAIMS_MAX)
        .collect();
    let pairs = pairs(tokens);
    let metrics = metrics(tokens, &quantities);
    let mut out = Vec::new();
    for (n, (index, quantity)) in quantities.iter().enumerate() {
        let numbers = match pairs.len() {
            0 => numbers_around(tokens, *index),
            count if count == quantities.len() => pairs.get(n).copied(),
            1 if quantities.len() == 1 => pairs.first().copied(),
            _ => None,
        };
        let Some(turn) = turn(tokens, *index, *quantity) else { continue };
        let rough = index.checked_sub(1).and_then(|before| word(tokens, before)).is_some_and(is_rough_word);
        let is_rough = rough && !is_word(tokens, index.wrapping_sub(1), &["to"])
            || is_word(tokens, index.wrapping_sub(2), &["up"])
                && is_word(tokens, index.wrapping_sub(1), &["to"]);
        let metric = metrics.get(n).copied().flatten();
        out.push(Stated { quantity: *quantity, turn, is_rough, numbers, metric, at: tokens[*index].0 });
    }
    out
}

/// Whether a quantity is an end of a range, as in `30 to 40 %`: not one figure that could be checked.
fn is_in_range(tokens: &Tokens, index: usize) -> bool {
    let joins = |at: usize| is_word(tokens, at, &["to", "–", "-", "−"]);
    let is_figure = |at: usize| matches!(tokens.get(at), Some((_, Token::Number(..) | Token::Quantity(_))));
    let before = index >= 2 && joins(index - 1) && is_figure(index - 2);
    before || joins(index + 1) && matches!(tokens.get(index + 2), Some((_, Token::Quantity(_))))
}

/// Which way the quantity goes: by what stands right behind it, by its sign, by the last such word before it. A word that is
/// denied gives none.
fn turn(tokens: &Tokens, index: usize, quantity: Quantity) -> Option<Turn> {
    let behind = (index + 1..=index + TURN_REACH)
        .take_while(|i| word(tokens, *i).is_some())
        .find_map(|i| word(tokens, i).and_then(turn_of));
    let signed = quantity.sign.map(|sign| if sign == '+' { Turn::Up } else { Turn::Down });
    if behind.is_some() {
        return behind;
    }
    if signed.is_some() {
        return signed;
    }
    let before = (0..index).rev().find_map(|i| {
        let turn = word(tokens, i).and_then(turn_of)?;
        // In "more than 30 %" it belongs to the figure, and in "up to" too.
        let is_hedge = is_word(tokens, i + 1, &["than", "to"]) && i + 2 == index;
        (!is_hedge).then_some((i, turn))
    });
    if let Some((at, turn)) = before {
        let is_denied = (at.saturating_sub(3)..at)
            .any(|i| is_word(tokens, i, &["not", "never", "no", "doesn't", "don't", "cannot"]));
        return (!is_denied).then_some(turn);
    }
    let is_compared = quantity.is_factor && is_word(tokens, index + 1, &["as", "that", "the", "those"])
        || quantity.is_factor
            && index > 0
            && is_word(tokens, index - 1, &["is", "are", "was", "were", "by", "about", "takes"]);
    is_compared.then_some(Turn::Factor)
}

/// `from 72,171 to 47,729`, `72,171 → 47,729`: old and new.
fn pairs(tokens: &Tokens) -> Vec<(f64, f64)> {
    let pair = |i: usize| {
        let (old, new) = (number(tokens, i)?, number(tokens, i + 2)?);
        let is_from = is_word(tokens, i + 1, &["to"]) && i > 0 && is_word(tokens, i - 1, &["from"]);
        let is_arrow = is_word(tokens, i + 1, &["→", "->"]);
        if is_from || is_arrow { in_one_unit(old, new) } else { None }
    };
    (0..tokens.len()).filter_map(pair).collect()
}

fn number(tokens: &Tokens, at: usize) -> Option<Number> {
    match tokens.get(at)? {
        (_, Token::Number(number)) => Some(*number),
        _ => None,
    }
}

/// Two numbers in the unit of the second; absent where they measure different things. "From 10 to 12 ms" names the unit once.
fn in_one_unit(old: Number, new: Number) -> Option<(f64, f64)> {
    match (old.measures, new.measures) {
        (None, _) => Some((old.value, new.value)),
        (a, b) if a == b => Some((old.value * (old.size / new.size), new.value)),
        _ => None,
    }
}

/// `is 122,074, an almost 31 % uplift from the baseline score 92,973`: new before the quantity, old behind a comparing word.
fn numbers_around(tokens: &Tokens, index: usize) -> Option<(f64, f64)> {
    let new = (index.saturating_sub(NUMBER_REACH)..index).rev().find_map(|i| number(tokens, i))?;
    let words = ["from", "over", "than", "above", "below", "against", "versus", "vs"];
    let comparing = (index + 1..=index + 4).find(|i| is_word(tokens, *i, &words))?;
    let old = (comparing + 1..=comparing + COMPARED_REACH).find_map(|i| number(tokens, i))?;
    in_one_unit(old, new)
}

/// What each quantity is about: one each where the sentence says "respectively", else the nearest before it, else the first
/// behind it.
fn metrics<'t>(tokens: &Tokens<'t>, quantities: &[(usize, Quantity)]) -> Vec<Option<&'t str>> {
    let names: Vec<(usize, &str)> =
        (0..tokens.len()).filter_map(|i| word(tokens, i).filter(|w| is_metric(w)).map(|w| (i, w))).collect();
    let first = quantities.first().map_or(0, |(i, _)| *i);
    if (0..tokens.len()).any(|i| is_word(tokens, i, &["respectively"])) {
        let before: Vec<&str> = names.iter().filter(|(i, _)| *i < first).map(|(_, name)| *name).collect();
        if let Some(skip) = before.len().checked_sub(quantities.len()) {
            return before.into_iter().skip(skip).map(Some).collect();
        }
    }
    let of = |index: usize| {
        let before = names.iter().rev().find(|(i, _)| *i < index);
        before.or_else(|| names.iter().find(|(i, _)| *i > index)).map(|(_, name)| *name)
    };
    quantities.iter().map(|(index, _)| of(*index)).collect()
}

/// Whether a word tells a change or what is measured, and so nothing of what was done.
pub fn is_change_or_metric(word: &str) -> bool {
    turn_of(word).is_some() || is_metric(word)
}
