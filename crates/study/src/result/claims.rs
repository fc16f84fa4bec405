//! Published values and claims, judged against a run and against each other. Pure.
//!
//! A stated figure is a range: half a unit of its last written digit to each side, or what the claim itself allows.
//!
//! Against the run: a statement **does not hold** when its range and the measured 95 % interval are apart. Where they
//! meet it **holds** only if the interval could have shown otherwise: it must exclude both no change and twice the
//! stated change; for a stated change of nothing it must lie within the range. Otherwise the interval is **too wide**.
//!
//! A stated direction holds when the whole interval is on that side of no change, and does not when it is on the other.
//!
//! Against each other: two statements of one source about the same thing contradict each other when their ranges are apart, and so do
//! a stated change and the two values that it goes between.

use assay_model::{
    Claim, ClaimCheck, ClaimSubject, ClaimVerdict, Comparison, Contradiction, Direction, Estimate,
    JudgedClaim, Metric, Plan, Published, Statement, Summary, Variant,
};
use std::collections::BTreeMap;

/// Number of statements that are compared with each other: the number of pairs grows with the square.
const STATEMENTS_MAX: usize = 500;

/// A stated figure with what its digits leave open.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Range {
    low: f64,
    stated: f64,
    high: f64,
}

impl Range {
    fn around(stated: f64, half: f64) -> Self {
        Range { low: stated - half, stated, high: stated + half }
    }

    /// As precise as it is written.
    fn written(stated: f64) -> Self {
        Range::around(stated, half_unit(stated))
    }

    /// A ratio relative to a source's own baseline; the baseline itself is 1 by definition.
    fn relative(stated: f64) -> Self {
        if stated == 1.0 { Range::around(1.0, 0.0) } else { Range::written(stated) }
    }

    /// This by that, both positive.
    fn by(self, that: Range) -> Option<Self> {
        let ends = Range {
            low: self.low / that.high,
            stated: self.stated / that.stated,
            high: self.high / that.low,
        };
        (self.low > 0.0 && that.low > 0.0).then_some(ends)
    }

    fn meets(self, low: f64, high: f64) -> bool {
        // Figures such as 1.59 are not exact in binary.
        let slack = 1e-9 * self.stated.abs();
        self.low - slack <= high && low <= self.high + slack
    }
}

/// Half a unit of the last digit that a number is written with.
fn half_unit(value: f64) -> f64 {
    let text = format!("{value}");
    let decimals = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    0.5 * 10f64.powi(-i32::try_from(decimals).unwrap_or(0))
}

/// The range of a claim: of its ratio or of its value.
fn range_of(claim: &Claim) -> Option<(bool, Range)> {
    let allowed = claim.within_percent.map(|percent| percent / 100.0);
    if let Some(percent) = claim.change_percent {
        let half = allowed.unwrap_or_else(|| half_unit(percent) / 100.0);
        return Some((true, Range::around((100.0 + percent) / 100.0, half)));
    }
    let value = claim.value?;
    let half = allowed.map_or_else(|| half_unit(value), |share| share * value.abs());
    Some((false, Range::around(value, half)))
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
    let first = plan.factors.first().and_then(|(factor, _)| variant.levels.get(factor));
    first.map_or(variant.name.as_str(), String::as_str)
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
        let Some(range) = value(variant).zip(value(base)).and_then(|(own, base)| own.by(base)) else {
            continue;
        };
        let measured = ratio(summary, &published.metric, &variant.name, &base.name);
        judged.push(JudgedClaim {
            about: ClaimSubject {
                source: published.source.clone(),
                place: None,
                metric: published.metric.clone(),
                variant: variant.name.clone(),
                baseline: Some(base.name.clone()),
            },
            is_ratio: true,
            stated: range.stated,
            direction: None,
            measured,
            verdict: verdict_over_starts(plan, &published.metric, measured, |ours| verdict(range, 1.0, ours)),
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
            metric: published.metric.clone(),
            variant: level.clone(),
            baseline: None,
        },
        change_percent: None,
        direction: None,
        value: Some(*value),
        within_percent: None,
        at: published.at.clone(),
    };
    values.map(claim).collect()
}

fn judge_claim(plan: &Plan, summary: &Summary, claim: &Claim, judged: &mut Vec<JudgedClaim>) {
    let of_direction = claim.direction.map(|_| (true, Range::around(1.0, 0.0)));
    let Some((is_ratio, range)) = range_of(claim).or(of_direction) else { return };
    let about = &claim.about;
    let mut push = |variant: &str, baseline: Option<&str>, measured: Option<Estimate>| {
        judged.push(JudgedClaim {
            about: ClaimSubject {
                variant: variant.to_owned(),
                baseline: baseline.map(str::to_owned),
                ..about.clone()
            },
            is_ratio,
            stated: range.stated,
            direction: claim.direction,
            measured,
            verdict: verdict_over_starts(plan, &about.metric, measured, |ours| match claim.direction {
                Some(direction) => verdict_of_direction(direction, ours),
                None => verdict(range, if is_ratio { 1.0 } else { 0.0 }, ours),
            }),
        });
    };
    let mut any = false;
    let is_about = |v: &&Variant| level(plan, v) == about.variant && holds_at(v, &claim.at);
    for variant in plan.variants.iter().filter(is_about) {
        any = true;
        if !is_ratio {
            let value = summary.variants.iter().find(|v| v.name == variant.name);
            push(&variant.name, None, value.and_then(|v| v.metrics.get(&about.metric).copied()));
            continue;
        }
        let beside = |v: &&Variant| {
            Some(level(plan, v)) == about.baseline.as_deref() && differ_in_first_alone(plan, v, variant)
        };
        let base = plan.variants.iter().find(beside).map(|v| v.name.as_str());
        let measured = base.and_then(|base| ratio(summary, &about.metric, &variant.name, base));
        push(&variant.name, base.or(about.baseline.as_deref()), measured);
    }
    if !any {
        push(&about.variant, about.baseline.as_deref(), None);
    }
}

fn differ_in_first_alone(plan: &Plan, one: &Variant, other: &Variant) -> bool {
    let others = plan.factors.iter().skip(1).map(|(factor, _)| factor);
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

/// The verdict of `judge` on our interval, if it is the same for all values that another start of the same variants may have.
fn verdict_over_starts(
    plan: &Plan,
    metric: &str,
    measured: Option<Estimate>,
    judge: impl Fn(Option<Estimate>) -> ClaimVerdict,
) -> ClaimVerdict {
    let verdict = judge(measured);
    let over_starts = Metric::by_id(metric)
        .map_or(measured, |metric| measured.map(|ours| plan.over_starts(&metric, &ours)));
    let is_decided = matches!(verdict, ClaimVerdict::Holds | ClaimVerdict::DoesNotHold);
    if is_decided && judge(over_starts) != verdict { ClaimVerdict::OneServerEach } else { verdict }
}

/// `nothing` is what no change is: 1 of a ratio, 0 of a value.
fn verdict(range: Range, nothing: f64, measured: Option<Estimate>) -> ClaimVerdict {
    let ends = measured.and_then(|m| m.ends()).filter(|(low, high)| low.is_finite() && high.is_finite());
    let Some((low, high)) = ends else { return ClaimVerdict::NotMeasured };
    if !range.meets(low, high) {
        return ClaimVerdict::DoesNotHold;
    }
    let has_room_for = |value: f64| (low..=high).contains(&value);
    let states_no_change = range.meets(nothing, nothing);
    let tells = if states_no_change {
        range.low <= low && high <= range.high
    } else {
        // Twice as much of a ratio is its square: 1.5 and 2.25.
        let twice = if nothing == 1.0 { range.stated * range.stated } else { 2.0 * range.stated };
        !has_room_for(nothing) && !has_room_for(twice)
    };
    if tells { ClaimVerdict::Holds } else { ClaimVerdict::IntervalTooWide }
}

fn verdict_of_direction(direction: Direction, measured: Option<Estimate>) -> ClaimVerdict {
    let ends = measured.and_then(|m| m.ends()).filter(|(low, high)| low.is_finite() && high.is_finite());
    let Some((low, high)) = ends else { return ClaimVerdict::NotMeasured };
    match (direction, low > 1.0, high < 1.0) {
        (_, false, false) => ClaimVerdict::IntervalTooWide,
        (Direction::Rises, true, _) | (Direction::Falls, _, true) => ClaimVerdict::Holds,
        _ => ClaimVerdict::DoesNotHold,
    }
}

/// A statement as far as contradictions go.
struct Stated<'a> {
    source: &'a str,
    metric: &'a str,
    at: &'a BTreeMap<String, String>,
    variant: &'a str,
    /// Absent for a value.
    baseline: Option<&'a str>,
    place: &'a str,
    range: Range,
}

fn stated(plan: &Plan) -> Vec<Stated<'_>> {
    let mut all = Vec::new();
    for p in &plan.published {
        let (source, metric, at) = (p.source.as_str(), p.metric.as_str(), &p.at);
        let base = p.relative.iter().find(|(_, v)| **v == 1.0).map(|(level, _)| level.as_str());
        let mut push = |variant, baseline, place, range| {
            all.push(Stated { source, metric, at, variant, baseline, place, range });
        };
        for (level, value) in
            p.relative.iter().filter(|(level, _)| Some(level.as_str()) != base && base.is_some())
        {
            push(level, base, "relative", Range::relative(*value));
        }
        p.absolute.iter().for_each(|(level, value)| push(level, None, "absolute", Range::written(*value)));
    }
    for c in &plan.claims {
        let Some((is_ratio, range)) = range_of(c) else { continue };
        let ClaimSubject { source, place, metric, variant, baseline } = &c.about;
        let (baseline, place) =
            (baseline.as_deref().filter(|_| is_ratio), place.as_deref().unwrap_or("claim"));
        all.push(Stated { source, metric, at: &c.at, variant, baseline, place, range });
    }
    all.truncate(STATEMENTS_MAX);
    all
}

/// Statements of a plan that cannot both be true for any measurement.
pub fn contradictions(plan: &Plan) -> Vec<Contradiction> {
    let all = stated(plan);
    let mut found = Vec::new();
    for (index, one) in all.iter().enumerate() {
        let same = |s: &&Stated| s.source == one.source && s.metric == one.metric && s.at == one.at;
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

fn compare(one: &Stated, place: &str, other: Option<Range>, found: &mut Vec<Contradiction>) {
    if let Some(other) = other.filter(|other| !one.range.meets(other.low, other.high)) {
        found.push(Contradiction {
            about: ClaimSubject {
                source: one.source.to_owned(),
                place: None,
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
