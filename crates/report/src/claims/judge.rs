//! Claims held against the text's own numbers, and against a run.

use super::reading::{Reading, holds};
use assay_kit::number::significant;
use assay_kit::text::clean;
use assay_model::{ClaimVerdict, Comparison, Estimate, Summary};

/// A judgement with what it rests on.
pub struct Judged {
    /// The judgement.
    pub verdict: ClaimVerdict,
    /// What it rests on.
    pub evidence: String,
    /// New by old, recomputed.
    pub ratio: Option<Estimate>,
}

impl Judged {
    /// Nothing to recompute it from.
    pub fn not_checked(why: impl Into<String>) -> Self {
        Judged { verdict: ClaimVerdict::NotChecked, evidence: why.into(), ratio: None }
    }
}

/// A ratio as a change: `+51.2 %`, `2.10 times`.
pub fn change(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    if ratio >= 3.0 { format!("{} times", significant(ratio)) } else { format!("{percent:+.1} %") }
}

/// A number in full: claims about 72,171 must not be told as 72,200.
pub fn figure(value: f64) -> String {
    if value.abs() >= 1000.0 && value.fract() == 0.0 && value.abs() < 1e15 {
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}{}", assay_kit::number::count(value.abs() as u64));
    }
    format!("{value}")
}

fn any(readings: &[Reading], ratio: f64, range: impl Fn(&Reading) -> (f64, f64)) -> bool {
    readings.iter().any(|r| holds(range(r), ratio))
}

/// Holds a claim against the two numbers beside it.
pub fn by_numbers(readings: &[Reading], (old, new): (f64, f64)) -> Judged {
    let ratio = new / old;
    if !(ratio.is_finite() && ratio > 0.0) {
        return Judged::not_checked(format!(
            "no change can be computed from {} to {}",
            figure(old),
            figure(new)
        ));
    }
    let backwards = 1.0 / ratio;
    let verdict = if any(readings, ratio, |r| r.exact) {
        ClaimVerdict::Right
    } else if any(readings, ratio, |r| r.wide) {
        ClaimVerdict::WithinRounding
    } else if any(readings, backwards, |r| r.wide) {
        ClaimVerdict::WrongDirection
    } else {
        ClaimVerdict::WrongArithmetic
    };
    let mut evidence = format!("from {} to {} is {}", figure(old), figure(new), change(ratio));
    if verdict == ClaimVerdict::WrongDirection {
        evidence += &format!("; from {} to {} it would be {}", figure(new), figure(old), change(backwards));
    }
    Judged { verdict, evidence, ratio: Some(Estimate { estimate: ratio, low: None, high: None }) }
}

/// The comparison of two variants in a metric, turned so that it is `variant` by `baseline`.
pub fn ratio_of<'s>(
    summary: &'s Summary,
    metric: &str,
    variant: &str,
    baseline: &str,
) -> Option<(Estimate, &'s Comparison)> {
    let is = |c: &&Comparison, a: &str, b: &str| c.metric == metric && c.variant == a && c.baseline == b;
    if let Some(found) = summary.comparisons.iter().find(|c| is(c, variant, baseline)) {
        return Some((found.ratio, found));
    }
    let found = summary.comparisons.iter().find(|c| is(c, baseline, variant))?;
    let turned = Estimate {
        estimate: 1.0 / found.ratio.estimate,
        low: found.ratio.high.map(|high| 1.0 / high),
        high: found.ratio.low.map(|low| 1.0 / low),
    };
    Some((turned, found))
}

/// Holds a claim against what the run measured.
pub fn by_run(readings: &[Reading], ratio: Estimate, comparison: &Comparison) -> Judged {
    let of = format!("{} in {} blocks of the run", clean(&comparison.metric), comparison.blocks);
    let (Some(low), Some(high)) = (ratio.low, ratio.high) else {
        let why = format!("{of}: {}, too few for an interval", change(ratio.estimate));
        return Judged { ratio: Some(ratio), ..Judged::not_checked(why) };
    };
    let usable = [ratio.estimate, low, high].iter().all(|v| v.is_finite() && *v > 0.0);
    if !usable {
        return Judged { ratio: Some(ratio), ..Judged::not_checked(format!("{of}: no usable ratio")) };
    }
    let is_change = !any(readings, 1.0, |r| r.exact);
    let overlaps = |r: &Reading| r.exact.0 <= high && low <= r.exact.1;
    let verdict = if is_change && holds((low, high), 1.0) {
        ClaimVerdict::NotShown
    } else if any(readings, ratio.estimate, |r| r.exact) {
        ClaimVerdict::Right
    } else if any(readings, ratio.estimate, |r| r.wide) {
        ClaimVerdict::WithinRounding
    } else if readings.iter().any(overlaps) {
        ClaimVerdict::WithinInterval
    } else {
        ClaimVerdict::OutsideInterval
    };
    let interval = format!("{} to {}", change(low), change(high));
    let evidence = format!("{of}: {} (95 % interval {interval})", change(ratio.estimate));
    Judged { verdict, evidence, ratio: Some(ratio) }
}
