//! From windows to the result: estimates over blocks, comparisons paired by block, and findings. Pure.

use crate::result::claims::check_claims;
use crate::result::measured::{ByBlock, Measured};
use crate::result::scaling::scalings;
use assay_model::{
    Check, ClaimCheck, Comparison, Estimate, Finding, LatencyPoint, Metric, Plan, Problem, Severity,
    StudyRule, Summary, Trial, Variant, VariantSummary, WarmUpEnd, Window, metric, schema,
};
use assay_stats::{Statistic, compare_paired, estimate};
use std::collections::BTreeMap;

/// A server that is stopped for collection for more than this share of the time does little else: its heap is too
/// small for its live set. Chosen where throughput has lost half of what the collector takes in a roomy heap.
const COLLAPSE_PAUSE_MS_PER_S: f64 = 300.0;

/// The result of a run. `curves` are the percentile curves of response time by variant, over the windows that count.
pub(crate) fn summarise(
    plan: &Plan,
    trials: &[Trial],
    mut curves: BTreeMap<String, Vec<LatencyPoint>>,
) -> Summary {
    let mut problems = Vec::new();
    let windows = trials.iter().flat_map(|t| &t.windows);
    let metrics = Metric::all_with(windows.flat_map(|w| w.metrics.keys().map(String::as_str)));
    let measured: Measured<'_> =
        plan.variants.iter().map(|v| (v.name.as_str(), values_by_block(&v.name, trials, &metrics))).collect();
    let variants: Vec<VariantSummary> = plan
        .variants
        .iter()
        .map(|variant| {
            let metrics = estimates(&measured[variant.name.as_str()], plan.seed);
            let curve = curves.remove(&variant.name).unwrap_or_default();
            summarise_variant(variant, trials, metrics, curve)
        })
        .collect();
    let comparisons = comparisons(plan, &metrics, &measured, &mut problems);
    let scalings = scalings(plan, &metrics, &measured);
    let findings = findings(&variants, trials);
    let mut summary = Summary {
        schema: schema::SUMMARY.to_owned(),
        provenance: plan.provenance.clone(),
        study: plan.study.clone(),
        variants,
        comparisons,
        scalings,
        findings,
        claims: ClaimCheck::default(),
        problems,
    };
    summary.claims = check_claims(plan, &summary);
    summary
}

/// The windows of a variant's trials that count. The disturbances of a window decide for which metrics it is used.
fn windows_of<'a>(
    variant: &'a str,
    trials: impl IntoIterator<Item = &'a Trial>,
) -> impl Iterator<Item = &'a Window> {
    trials.into_iter().filter(move |t| t.variant == variant && t.counts()).flat_map(|t| &t.windows)
}

/// Values by metric and block. Where a block has several windows (repeats, a resumed run), the last that counts is used.
pub(crate) fn values_by_block<'a, 'm>(
    variant: &'a str,
    trials: impl IntoIterator<Item = &'a Trial>,
    metrics: &'m [Metric],
) -> BTreeMap<&'m str, ByBlock> {
    let mut values: BTreeMap<&str, ByBlock> = BTreeMap::new();
    for window in windows_of(variant, trials) {
        for metric in metrics.iter().filter(|metric| window.counts_for(metric)) {
            if let Some(value) = window.metrics.get(&*metric.id) {
                values.entry(&*metric.id).or_default().insert(window.block, *value);
            }
        }
    }
    values
}

/// Mean over the blocks with its interval, by metric.
pub(crate) fn estimates(values: &BTreeMap<&str, ByBlock>, seed: u64) -> BTreeMap<String, Estimate> {
    values
        .iter()
        .filter_map(|(id, by_block)| {
            let values: Vec<f64> = by_block.values().copied().collect();
            // Fails only without values or for one that is not finite: then there is no estimate.
            let found = estimate(&values, Statistic::Mean, seed).ok()?;
            // No metric can be below nothing, and so no end of an interval.
            Some(((*id).to_owned(), Estimate { low: found.low.map(|low| low.max(0.0)), ..found }))
        })
        .collect()
}

fn summarise_variant(
    variant: &Variant,
    trials: &[Trial],
    metrics: BTreeMap<String, Estimate>,
    response_curve: Vec<LatencyPoint>,
) -> VariantSummary {
    let own: Vec<&Trial> = trials.iter().filter(|t| t.variant == variant.name).collect();
    let all_windows = own.iter().map(|t| t.windows.len()).sum::<usize>();
    let windows = windows_of(&variant.name, trials).filter(|w| w.counts()).count();
    VariantSummary {
        name: variant.name.clone(),
        levels: variant.levels.clone(),
        trials: own.len() as u32,
        windows: windows as u32,
        left_out: (all_windows - windows) as u32,
        mode_read: common_mode(&own),
        metrics,
        response_curve,
    }
}

/// The mode that every launch had; none when they differ or nothing was read.
fn common_mode(trials: &[&Trial]) -> Option<String> {
    let mut modes = trials.iter().filter_map(|t| t.mode.as_ref()).map(|read| {
        let compact = if read.compact_headers == Some(true) { "+compact" } else { "" };
        format!("{}{compact}", read.mode.name())
    });
    let first = modes.next()?;
    modes.all(|mode| mode == first).then_some(first)
}

/// Every variant against its baseline, for every metric that both have, blocks in which both count.
fn comparisons(
    plan: &Plan,
    metrics: &[Metric],
    measured: &Measured<'_>,
    problems: &mut Vec<Problem>,
) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    for variant in &plan.variants {
        let Some(baseline) = variant.baseline.as_deref() else { continue };
        let Some(base) = measured.get(baseline) else { continue };
        for metric in metrics.iter().filter(|metric| !plan.is_set_by_load(&metric.id)) {
            let (Some(own), Some(base)) =
                (measured[variant.name.as_str()].get(&*metric.id), base.get(&*metric.id))
            else {
                continue;
            };
            let pairs: Vec<(f64, f64)> =
                own.iter().filter_map(|(block, value)| Some((*value, *base.get(block)?))).collect();
            match compare_paired(&pairs, plan.seed) {
                Ok(paired) => {
                    let verdict = plan.verdict(metric, &paired.ratio, paired.verdict);
                    comparisons.push(Comparison {
                        metric: metric.id.to_string(),
                        variant: variant.name.clone(),
                        baseline: baseline.to_owned(),
                        blocks: paired.blocks,
                        ratio: paired.ratio,
                        shown: verdict.is_shown(),
                        verdict,
                    });
                }
                Err(e) => problems.push(Problem::new(
                    "comparison",
                    format!("{} of {} against {baseline}: {e}", metric.id, variant.name),
                )),
            }
        }
    }
    comparisons
}

fn findings(variants: &[VariantSummary], trials: &[Trial]) -> Vec<Finding<StudyRule>> {
    let mut findings = Vec::new();
    findings.extend(variants.iter().filter_map(collapse));
    findings.extend(unsteady(trials));
    findings.extend(all_disturbed(trials));
    Finding::sort(&mut findings);
    findings
}

/// All windows are excluded from times and rates: the disturbances, and the keys that accept such windows.
fn all_disturbed(trials: &[Trial]) -> Option<Finding<StudyRule>> {
    let windows: Vec<&Window> = trials.iter().flat_map(|t| &t.windows).collect();
    if windows.is_empty() || windows.iter().any(|w| w.counts()) {
        return None;
    }
    let mut kinds: BTreeMap<Check, (usize, &str)> = BTreeMap::new();
    for disturbance in windows.iter().flat_map(|w| &w.disturbances) {
        let (count, evidence) = kinds.entry(disturbance.kind).or_default();
        (*count, *evidence) = (*count + 1, disturbance.evidence.as_str());
    }
    let evidence: Vec<String> = kinds
        .iter()
        .map(|(kind, (count, evidence))| format!("{kind} in {count} (the last: {evidence})"))
        .collect();
    let mut most: Vec<(Check, usize)> = kinds.iter().map(|(kind, (count, _))| (*kind, *count)).collect();
    most.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let remedies: Vec<(&str, &str)> = most.iter().filter_map(|(kind, _)| remedy(*kind)).collect();
    let claim = format!(
        "none of the {} measured windows counts for times and rates: all were disturbed",
        windows.len()
    );
    let found = Finding::measured(StudyRule::AllDisturbed, Severity::Error, claim, evidence.join("; "));
    let Some(((step, _), others)) = remedies.split_first() else { return Some(found) };
    let found = others.iter().fold(found.to_do(*step), |found, (other, _)| found.or(*other));
    let accepted = |(_, key): &(&str, &str)| format!("Let such windows count: raise {key} in [limits]");
    Some(remedies.iter().map(accepted).fold(found, Finding::or))
}

/// The remedy of a disturbance, and the key of `[limits]` that sets how much of it is accepted.
fn remedy(kind: Check) -> Option<(&'static str, &'static str)> {
    match kind {
        Check::CpuPressure => Some(("Repeat it on a machine where nothing else runs", "foreign_cpu_share")),
        Check::Steal => Some(("Repeat it on a machine with processors of its own", "steal_share")),
        Check::Throttled => Some(("Raise the CPU limit of the server", "throttled_share")),
        Check::Errors => Some(("Find out from the server's log why answers were wrong", "error_share")),
        _ => None,
    }
}

/// A heap so small that collection takes most of the time.
fn collapse(variant: &VariantSummary) -> Option<Finding<StudyRule>> {
    let pauses = variant.metrics.get(metric::GC_PAUSE_MS_PER_S)?;
    // The lower end must be beyond the limit: a single bad block is no collapse.
    let sure = pauses.low.unwrap_or(pauses.estimate);
    (sure > COLLAPSE_PAUSE_MS_PER_S).then(|| Finding::measured(StudyRule::HeapTooSmall, Severity::Warning, format!(
            "{} spends {:.0} % of its time stopped for collection: the heap is too small for what lives in it",
            variant.name,
            pauses.estimate / 10.0
        ), format!("{} ms of pauses a second, from the GC log", with_interval(pauses))))
}

/// Warm-up that was cut off: the windows may still have been drifting.
fn unsteady(trials: &[Trial]) -> Option<Finding<StudyRule>> {
    let ended_by_cap = |t: &&Trial| t.warm_up.as_ref().is_some_and(|w| w.ended_by == WarmUpEnd::Cap);
    let mut capped: Vec<&str> = trials.iter().filter(ended_by_cap).map(|t| t.variant.as_str()).collect();
    let count = capped.len();
    capped.sort_unstable();
    capped.dedup();
    (count > 0).then(|| Finding::measured(StudyRule::WarmUpCapped, Severity::Warning, format!("not shown to be steady before being measured: {}", capped.join(", ")), format!(
            "{count} of {} warm-ups ended by their cap; blocks compare all variants at like age, but the level may \
             still fall",
            trials.iter().filter(|t| t.warm_up.is_some()).count()
        )))
}

fn with_interval(value: &Estimate) -> String {
    match (value.low, value.high) {
        (Some(low), Some(high)) => format!("{:.0} [{low:.0}, {high:.0}]", value.estimate),
        _ => format!("{:.0}", value.estimate),
    }
}

#[cfg(test)]
mod tests;
