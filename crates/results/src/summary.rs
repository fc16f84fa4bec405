//! From windows to the result: estimates over blocks, comparisons paired by block, and findings. Pure.

use crate::claims::check_claims;
use crate::decisions::decisions;
use crate::duet;
use crate::findings::findings;
use crate::measured::{ByBlock, Measured, pairs};
use crate::scaling::scalings;
use assay_model::{
    ClaimCheck, Comparison, Design, Estimate, LatencyPoint, Metric, Plan, Problem, Summary, Trial, Variant,
    VariantSummary, Window, schema,
};
use assay_stats::sequential::{ERROR, Looks};
use assay_stats::{Statistic, compare_paired, estimate};
use std::collections::BTreeMap;

/// The result of a run. `curves` are the percentile curves of response time by variant, over the windows that count.
pub fn summarise(plan: &Plan, trials: &[Trial], mut curves: BTreeMap<String, Vec<LatencyPoint>>) -> Summary {
    let mut problems = Vec::new();
    let windows = trials.iter().flat_map(|t| &t.windows);
    let mut metrics = Metric::all_with(windows.flat_map(|w| w.metrics.keys().map(String::as_str)));
    metrics.retain(|metric| plan.measures(metric));
    if plan.guest.is_some() {
        curves.clear();
    }
    let measured = measured(plan, &trials, &metrics);
    let looks = Looks::up_to(if plan.budget.is_some() { plan.blocks as usize } else { 0 }, ERROR);
    let variants: Vec<VariantSummary> = plan
        .variants
        .iter()
        .map(|variant| {
            let metrics = estimates(&measured[variant.name.as_str()], plan.seed);
            let curve = curves.remove(&variant.name).unwrap_or_default();
            summarise_variant(variant, trials, metrics, curve)
        })
        .collect();
    let comparisons = comparisons(plan, &metrics, &measured, &looks, &mut problems);
    let decisions = decisions(plan, &metrics, &measured, &looks);
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
        decisions,
        problems,
    };
    summary.claims = check_claims(plan, &summary);
    summary
}

/// The values of each variant of a plan.
pub fn measured<'m, 't: 'm>(
    plan: &'m Plan,
    trials: &(impl IntoIterator<Item = &'t Trial> + Clone),
    metrics: &'m [Metric],
) -> Measured<'m> {
    let of = |variant: &'m Variant| {
        let trials = trials.clone().into_iter().map(|trial| -> &'m Trial { trial });
        (&*variant.name, values_by_block(plan.design, &variant.name, trials, metrics))
    };
    plan.variants.iter().map(of).collect()
}

/// The windows of a variant's trials that count. The disturbances of a window decide for which metrics it is used.
fn windows_of<'a>(
    variant: &'a str,
    trials: impl IntoIterator<Item = &'a Trial>,
) -> impl Iterator<Item = &'a Window> {
    trials.into_iter().filter(move |t| t.variant == variant && t.counts()).flat_map(|t| &t.windows)
}

/// Values by metric and block. Where a block has several windows (repeats, a resumed run), the last that counts is used; where none of them
/// counts, the last that will do; of a pair all that both sides have.
pub fn values_by_block<'a, 'm>(
    design: Design,
    variant: &'a str,
    trials: impl IntoIterator<Item = &'a Trial>,
    metrics: &'m [Metric],
) -> BTreeMap<&'m str, ByBlock> {
    if design == Design::Duet {
        return duet::values_by_pair(variant, trials, metrics);
    }
    let windows: Vec<&Window> = windows_of(variant, trials).collect();
    let values_of = |metric: &Metric| {
        let value = |window: &&Window| Some((window.block, *window.metrics.get(&*metric.id)?));
        let will_do = windows.iter().filter(|window| window.serves_for(metric.feels)).filter_map(value);
        let count = windows.iter().filter(|window| window.counts_for(metric.feels)).filter_map(value);
        will_do.chain(count).collect::<ByBlock>()
    };
    let values = metrics.iter().map(|metric| (&*metric.id, values_of(metric)));
    values.filter(|(_, by_block)| !by_block.is_empty()).collect()
}

/// Mean over the blocks with its interval, by metric.
pub fn estimates(values: &BTreeMap<&str, ByBlock>, seed: u64) -> BTreeMap<String, Estimate> {
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
    looks: &Looks,
    problems: &mut Vec<Problem>,
) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    for variant in &plan.variants {
        let Some(baseline) = variant.baseline.as_deref() else { continue };
        for metric in metrics.iter().filter(|metric| !plan.is_set_by_load(&metric.id)) {
            let of = |name: &str| measured.get(name).and_then(|metrics| metrics.get(&*metric.id));
            if of(&variant.name).is_none() || of(baseline).is_none() {
                continue;
            }
            let pairs = pairs(measured, &metric.id, &variant.name, baseline);
            let compared = match plan.is_asked(&metric.id) {
                true => looks.compare(&pairs),
                false => compare_paired(&pairs, plan.seed),
            };
            match compared {
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
                    metric.id.to_string(),
                    format!("{} of {} against {baseline}: {e}", metric.id, variant.name),
                )),
            }
        }
    }
    comparisons
}

#[cfg(test)]
mod tests;
