//! Published values and claims, judged against a run and against each other. Pure.
//!
//! Against the run: `verdict` defines what an interval says to a statement.
//!
//! Against each other: two statements of one source about the same thing contradict each other when their ranges are apart, and so do
//! a stated change and the two values that it goes between.

mod verdict;

use assay_model::{
    Claim, ClaimCheck, ClaimSubject, ClaimVerdict, Comparison, Contradiction, Estimate, JudgedClaim, Metric,
    Plan, Published, Reading, Statement, Summary, Variant,
};
use std::collections::BTreeMap;
use verdict::{Range, Stated};

/// Number of statements that are compared with each other: the number of pairs grows with the square.
const STATEMENTS_MAX: usize = 500;

/// What a value or a ratio says to a claim that is no study's; none if nothing is stated.
pub fn claim_verdict(claim: &Claim, measured: Estimate) -> Option<ClaimVerdict> {
    Stated::of(claim).map(|stated| stated.verdict(Some(measured)))
}

/// Judges all that a plan has of published values and claims.
pub fn check_claims(plan: &Plan, summary: &Summary) -> ClaimCheck {
    let mut judged = Vec::new();
    for published in &plan.published {
        judge_published(plan, summary, published, &mut judged);
        for claim in values_alone(published) {
            judge_claim(plan, summary, &claim, &mut judged);
        }
    }
    for claim in &plan.claims {
        judge_claim(plan, summary, claim, &mut judged);
    }
    ClaimCheck { judged, contradictions: contradictions(plan) }
}

fn level<'a>(plan: &Plan, variant: &'a Variant) -> &'a str {
    level_of(plan.factors.first().map(|(factor, _)| factor.as_str()), variant)
}

fn level_of<'a>(factor: Option<&str>, variant: &'a Variant) -> &'a str {
    factor.and_then(|factor| variant.levels.get(factor)).map_or(variant.name.as_str(), String::as_str)
}

fn holds_at(variant: &Variant, at: &BTreeMap<String, String>) -> bool {
    at.iter().all(|(factor, level)| variant.levels.get(factor) == Some(level))
}

/// Published ratios are judged to each variant's own baseline: a source that is relative to 32-bit also gives
/// 64-bit / compressed.
fn judge_published(plan: &Plan, summary: &Summary, published: &Published, judged: &mut Vec<JudgedClaim>) {
    for variant in plan.variants.iter().filter(|v| holds_at(v, &published.at)) {
        let baseline = variant.baseline.as_deref();
        let Some(base) = baseline.and_then(|name| plan.variants.iter().find(|v| v.name == name)) else {
            continue;
        };
        let value = |v: &Variant| published.relative.get(level(plan, v)).copied().map(Range::relative);
        let allowed = published.within_percent.unwrap_or(0.0) / 100.0;
        let Some(range) = value(variant).zip(value(base)).and_then(|(own, base)| own.by(base)) else {
            continue;
        };
        let stated = Stated::Ratio(range.at_least(allowed));
        let measured = ratio(summary, &published.metric, &variant.name, &base.name);
        judged.push(JudgedClaim {
            about: ClaimSubject {
                source: published.source.clone(),
                place: None,
                quotation: None,
                metric: published.metric.clone(),
                variant: variant.name.clone(),
                baseline: Some(base.name.clone()),
            },
            is_ratio: true,
            stated: range.stated,
            reading: Reading::default(),
            direction: None,
            measured,
            verdict: verdict_of(plan, &published.metric, stated, measured),
        });
    }
}

/// Values of a source that gives no ratios. Ratios can be compared across machines, so where there are some the values are not judged.
fn values_alone(published: &Published) -> Vec<Claim> {
    let is_alone = published.relative.is_empty();
    let values = published.absolute.iter().filter(|_| is_alone);
    let claim = |(level, value): (&String, &f64)| Claim {
        about: ClaimSubject {
            source: published.source.clone(),
            place: None,
            quotation: None,
            metric: published.metric.clone(),
            variant: level.clone(),
            baseline: None,
        },
        change_percent: None,
        reading: Reading::default(),
        direction: None,
        value: Some(*value),
        within_percent: published.within_percent,
        at: published.at.clone(),
    };
    values.map(claim).collect()
}

fn judge_claim(plan: &Plan, summary: &Summary, claim: &Claim, judged: &mut Vec<JudgedClaim>) {
    let Some(stated) = Stated::of(claim) else { return };
    let about = &claim.about;
    let mut push = |variant: &str, baseline: Option<&str>, measured: Option<Estimate>| {
        judged.push(JudgedClaim {
            about: ClaimSubject {
                variant: variant.to_owned(),
                baseline: baseline.map(str::to_owned),
                ..about.clone()
            },
            is_ratio: stated.is_ratio(),
            stated: stated.figure(),
            reading: claim.reading,
            direction: claim.direction,
            measured,
            verdict: verdict_of(plan, &about.metric, stated, measured),
        });
    };
    let mut any = false;
    let factor = factor_of(plan, &about.variant);
    let is_about = |v: &&Variant| level_of(factor, v) == about.variant && holds_at(v, &claim.at);
    for variant in plan.variants.iter().filter(is_about) {
        any = true;
        if !stated.is_ratio() {
            let value = summary.variants.iter().find(|v| v.name == variant.name);
            push(&variant.name, None, value.and_then(|v| v.metrics.get(&about.metric).copied()));
            continue;
        }
        let beside = |v: &&Variant| {
            Some(level_of(factor, v)) == about.baseline.as_deref()
                && differ_in_alone(factor, plan, v, variant)
        };
        let base = plan.variants.iter().find(beside).map(|v| v.name.as_str());
        let measured = base.and_then(|base| ratio(summary, &about.metric, &variant.name, base));
        push(&variant.name, base.or(about.baseline.as_deref()), measured);
    }
    if !any {
        push(&about.variant, about.baseline.as_deref(), None);
    }
}

/// The first factor that has a level of this name.
fn factor_of<'a>(plan: &'a Plan, level: &str) -> Option<&'a str> {
    let has_it = |(_, levels): &&(String, Vec<String>)| levels.iter().any(|l| l == level);
    plan.factors.iter().find(has_it).or(plan.factors.first()).map(|(factor, _)| factor.as_str())
}

fn differ_in_alone(factor: Option<&str>, plan: &Plan, one: &Variant, other: &Variant) -> bool {
    let others = plan.factors.iter().map(|(name, _)| name).filter(|name| Some(name.as_str()) != factor);
    others.into_iter().all(|factor| one.levels.get(factor) == other.levels.get(factor))
}

/// The paired comparison of two variants, turned so that it is `variant` by `baseline`.
fn ratio(summary: &Summary, metric: &str, variant: &str, baseline: &str) -> Option<Estimate> {
    let find = |a: &str, b: &str| {
        let is = |c: &&Comparison| c.metric == metric && c.variant == a && c.baseline == b;
        summary.comparisons.iter().find(is).map(|c| c.ratio)
    };
    find(variant, baseline).or_else(|| {
        let turned = find(baseline, variant)?;
        Some(Estimate {
            estimate: 1.0 / turned.estimate,
            low: turned.high.map(|high| 1.0 / high),
            high: turned.low.map(|low| 1.0 / low),
        })
    })
}

/// What our interval says, if it says so for all values that another start of the same variants may have.
fn verdict_of(plan: &Plan, metric: &str, stated: Stated, measured: Option<Estimate>) -> ClaimVerdict {
    let over_starts = Metric::by_id(metric)
        .map_or(measured, |metric| measured.map(|ours| plan.over_starts(&metric, &ours)));
    stated.verdict_over_starts(measured, over_starts)
}

/// A statement as far as contradictions go.
struct StatedOnce<'a> {
    source: &'a str,
    metric: &'a str,
    at: &'a BTreeMap<String, String>,
    variant: &'a str,
    /// Absent for a value.
    baseline: Option<&'a str>,
    place: &'a str,
    range: Range,
}

fn stated(plan: &Plan) -> Vec<StatedOnce<'_>> {
    let mut all = Vec::new();
    for p in &plan.published {
        let (source, metric, at) = (p.source.as_str(), p.metric.as_str(), &p.at);
        let base = p.relative.iter().find(|(_, v)| **v == 1.0).map(|(level, _)| level.as_str());
        let mut push = |variant, baseline, place, range| {
            all.push(StatedOnce { source, metric, at, variant, baseline, place, range });
        };
        for (level, value) in
            p.relative.iter().filter(|(level, _)| Some(level.as_str()) != base && base.is_some())
        {
            push(level, base, "relative", Range::relative(*value));
        }
        p.absolute.iter().for_each(|(level, value)| push(level, None, "absolute", Range::written(*value)));
    }
    for c in &plan.claims {
        // Words and directions leave open by how much.
        let (is_ratio, range) = match Stated::of(c) {
            Some(Stated::Ratio(range)) => (true, range),
            Some(Stated::Value(range)) => (false, range),
            Some(Stated::Words(_) | Stated::Towards(_)) | None => continue,
        };
        let ClaimSubject { source, place, metric, variant, baseline, .. } = &c.about;
        let (baseline, place) =
            (baseline.as_deref().filter(|_| is_ratio), place.as_deref().unwrap_or("claim"));
        all.push(StatedOnce { source, metric, at: &c.at, variant, baseline, place, range });
    }
    all.truncate(STATEMENTS_MAX);
    all
}

/// Statements of a plan that cannot both be true for any measurement.
pub fn contradictions(plan: &Plan) -> Vec<Contradiction> {
    let all = stated(plan);
    let mut found = Vec::new();
    for (index, one) in all.iter().enumerate() {
        let same = |s: &&StatedOnce| s.source == one.source && s.metric == one.metric && s.at == one.at;
        // Two changes between the same levels, whichever way round, or two values of one level.
        for other in all[index + 1..].iter().filter(same) {
            let range = if (one.variant, one.baseline) == (other.variant, other.baseline) {
                Some(other.range)
            } else if one.baseline == Some(other.variant) && other.baseline == Some(one.variant) {
                Range::around(1.0, 0.0).by(other.range)
            } else {
                None
            };
            compare(one, other.place, range, &mut found);
        }
        // A change and the values that it goes between.
        let Some(baseline) = one.baseline else { continue };
        let value =
            |level: &str| all.iter().filter(same).find(|s| s.baseline.is_none() && s.variant == level);
        if let Some((own, base)) = value(one.variant).zip(value(baseline)) {
            let place = if own.place == base.place {
                own.place.to_owned()
            } else {
                format!("{}, {}", own.place, base.place)
            };
            compare(one, &format!("values: {place}"), own.range.by(base.range), &mut found);
        }
    }
    found
}

fn compare(one: &StatedOnce, place: &str, other: Option<Range>, found: &mut Vec<Contradiction>) {
    if let Some(other) = other.filter(|other| !one.range.meets(other.low, other.high)) {
        found.push(Contradiction {
            about: ClaimSubject {
                source: one.source.to_owned(),
                place: None,
                quotation: None,
                metric: one.metric.to_owned(),
                variant: one.variant.to_owned(),
                baseline: one.baseline.map(str::to_owned),
            },
            one: Statement { place: one.place.to_owned(), stated: one.range.stated },
            other: Statement { place: place.to_owned(), stated: other.stated },
        });
    }
}

#[cfg(test)]
mod tests;
