//! Claims of a text about changes, checked: does their arithmetic hold, and does a run show them?

mod conflicts;
mod grammar;
mod judge;
mod names;
mod reading;
mod terminal;
#[cfg(test)]
mod tests;
mod tokens;

pub use terminal::render_claims_terminal;

use assay_model::{Better, CheckedClaim, ClaimVerdict, Metric, Summary};
use conflicts::Subject;
use grammar::Stated;
use judge::Judged;
use reading::Reading;
use tokens::{Sentence, Token, Tokens};

/// Claims that are kept; a text with more is no text.
const CLAIMS_MAX: usize = 10_000;

/// Finds what a text claims about changes ("A is 31 % above B", "falls from 72 to 48 ms (-33 %)", "2.1 times") and checks it:
/// by the numbers that stand beside the claim, by what the text says elsewhere, and, with a run's summary, by the comparison of
/// the two variants and the metric that it names. Sentences with a percentage or a factor that are not understood are listed
/// as such; all others are left alone.
pub fn check_claims(text: &str, summary: Option<&Summary>) -> Vec<CheckedClaim> {
    let mut claims = Vec::new();
    let mut details: Vec<(Subject, Vec<Reading>)> = Vec::new();
    let mut before: Option<Sentence> = None;
    for sentence in tokens::sentences(text) {
        if claims.len() >= CLAIMS_MAX {
            break;
        }
        let previous = before.filter(|b| b.line == sentence.line).map(|b| b.text);
        before = Some(sentence);
        let found = tokens::tokens(sentence.text);
        if !found.iter().any(|(_, token)| matches!(token, Token::Quantity(_))) {
            continue;
        }
        let stated = grammar::claims(&found);
        if stated.is_empty() {
            claims.push(not_understood(sentence));
            details.push((conflicts::subject("", None), Vec::new()));
        }
        for stated in &stated {
            let (claim, readings) = check_one(sentence, &found, stated, summary);
            claims.push(claim);
            details.push((conflicts::subject(sentence.text, previous), readings));
        }
    }
    conflicts::mark(&mut claims, &details);
    claims
}

fn not_understood(sentence: Sentence) -> CheckedClaim {
    CheckedClaim {
        line: sentence.line,
        sentence: sentence.text.to_owned(),
        claim: String::new(),
        metric: None,
        variant: None,
        baseline: None,
        from: None,
        to: None,
        stated_ratios: Vec::new(),
        computed_ratio: None,
        verdict: ClaimVerdict::NotUnderstood,
        evidence: "no change was understood in it".to_owned(),
    }
}

fn check_one(
    sentence: Sentence,
    tokens: &Tokens,
    stated: &Stated,
    summary: Option<&Summary>,
) -> (CheckedClaim, Vec<Reading>) {
    let names = summary.and_then(|s| names::compared(sentence.text, tokens, s));
    let id = summary.and_then(|s| metric_of(sentence.text, stated, names, s));
    let better =
        id.and_then(Metric::by_id).map(|m| m.better).or_else(|| stated.metric.and_then(usual_better));
    let readings = reading::readings(stated, better);
    let judged = judge(&readings, stated, names, id, summary);
    let metric = id.or(stated.metric);
    let claim = CheckedClaim {
        line: sentence.line,
        sentence: sentence.text.to_owned(),
        claim: in_short(stated, metric),
        metric: metric.map(str::to_owned),
        variant: names.map(|(variant, _)| variant.to_owned()),
        baseline: names.map(|(_, baseline)| baseline.to_owned()),
        from: stated.numbers.map(|(old, _)| old),
        to: stated.numbers.map(|(_, new)| new),
        stated_ratios: readings.iter().map(|r| r.ratio).collect(),
        computed_ratio: judged.ratio,
        verdict: judged.verdict,
        evidence: judged.evidence,
    };
    (claim, readings)
}

/// The metric that the claim names; or the only one in which its variants were compared.
fn metric_of<'s>(
    sentence: &str,
    stated: &Stated,
    names: Option<(&str, &str)>,
    summary: &'s Summary,
) -> Option<&'s str> {
    let named = names::metric(sentence, stated.at, summary);
    named.or_else(|| {
        let (variant, baseline) = names?;
        let compared = |id: &&str| judge::ratio_of(summary, id, variant, baseline).is_some();
        let mut all = names::ids(summary).into_iter().filter(compared);
        all.next().filter(|_| all.next().is_none())
    })
}

/// The direction of what is measured, from its usual name.
fn usual_better(metric: &str) -> Option<Better> {
    let lower = metric.to_lowercase();
    if lower.ends_with("jops")
        || ["throughput", "score", "capacity", "rate", "max-rate", "critical-rate"].contains(&lower.as_str())
    {
        return Some(Better::Higher);
    }
    let is_percentile =
        lower.strip_prefix('p').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let costs = ["latency", "footprint", "garbage", "rss", "pause", "pauses"].contains(&lower.as_str());
    (is_percentile || costs).then_some(Better::Lower)
}

fn judge(
    readings: &[Reading],
    stated: &Stated,
    names: Option<(&str, &str)>,
    id: Option<&str>,
    summary: Option<&Summary>,
) -> Judged {
    let by_numbers = stated.numbers.map(|numbers| judge::by_numbers(readings, numbers));
    // What contradicts itself needs no run to be wrong.
    if let Some(judged) = by_numbers.as_ref().filter(|j| j.verdict.is_wrong()) {
        return Judged { evidence: judged.evidence.clone(), ..*judged };
    }
    let by_run = match (summary, names, id) {
        (None, ..) => Err("no two numbers stand beside it"),
        (_, None, _) => Err("it does not name two variants of the run"),
        (.., None) => Err("it does not name a metric in which the run compared them"),
        (Some(summary), Some((variant, baseline)), Some(id)) => {
            match judge::ratio_of(summary, id, variant, baseline) {
                Some((ratio, comparison)) => Ok(judge::by_run(readings, ratio, comparison)),
                None => Err("the run did not compare these two variants in this metric"),
            }
        }
    };
    match (by_run, by_numbers) {
        (Ok(judged), _) => judged,
        (Err(_), Some(judged)) => judged,
        (Err(why), None) => Judged::not_checked(why),
    }
}

/// A claim in a few words: `critical-jOPS +51 %`.
fn in_short(stated: &Stated, metric: Option<&str>) -> String {
    let quantity = stated.quantity;
    let decimals = (-quantity.step.log10()).round().clamp(0.0, 12.0) as usize;
    let value = format!("{:.decimals$}", quantity.value);
    let sign = match stated.turn {
        grammar::Turn::Up => "+",
        grammar::Turn::Down => "-",
        _ => "",
    };
    let way = match stated.turn {
        grammar::Turn::Better => " better",
        grammar::Turn::Worse => " worse",
        grammar::Turn::Faster => " faster",
        grammar::Turn::Slower => " slower",
        grammar::Turn::Down if quantity.is_factor => " less",
        _ => "",
    };
    let change =
        if quantity.is_factor { format!("{value} times{way}") } else { format!("{sign}{value} %{way}") };
    metric.map_or_else(|| change.clone(), |metric| format!("{metric} {change}"))
}
