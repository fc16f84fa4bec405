//! The smallest value of a numeric option whose metric is near the best: values side by side in blocks, then those between.

use assay_model::{Better, FitValue, FittedOption, Metric, StoredRun};
use assay_results::summary::values_by_block;
use assay_stats::compare_paired;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// The factor whose levels are the values.
pub(super) const FACTOR: &str = "value";
/// Most values that are compared at once.
const VALUES_MAX: usize = 8;
/// From so many blocks on a ratio has an interval.
pub(super) const BLOCKS_MIN: u32 = 3;

/// A numeric option.
#[derive(Debug, Clone)]
pub struct FitOption {
    /// A JVM option with `{}` in place of its value, or `{size}`, which then stands in the command.
    pub option: String,
    /// Its values.
    pub between: RangeInclusive<u64>,
    /// The metric that decides.
    pub metric: String,
    /// How far from the best it may be, percent.
    pub within_percent: f64,
}

/// The values of the first comparison: all, or ever the double.
pub(super) fn first_values(between: &RangeInclusive<u64>) -> Vec<u64> {
    let (from, to) = (*between.start(), *between.end());
    if to.saturating_sub(from) < VALUES_MAX as u64 {
        return between.clone().collect();
    }
    let factor = (to as f64 / from.max(1) as f64).powf(1.0 / (VALUES_MAX - 1) as f64).max(1.0);
    let mut values: Vec<u64> =
        (0..VALUES_MAX).map(|at| (from.max(1) as f64 * factor.powi(at as i32)).round() as u64).collect();
    values[0] = from;
    values[VALUES_MAX - 1] = to;
    values.dedup();
    values
}

/// The values of the next comparison: those between the smallest that is near enough and the next smaller one, beside the best. None where
/// nothing lies between.
pub(super) fn next_values(fitted: &FittedOption) -> Option<Vec<u64>> {
    let (value, best) = (fitted.value?, fitted.best?);
    let below = fitted.values.iter().map(|of| of.value).filter(|of| *of < value).max()?;
    let between = value - below - 1;
    if between == 0 {
        return None;
    }
    let room = (VALUES_MAX - 2) as u64;
    let step = between.div_ceil(room).max(1);
    let mut values: Vec<u64> = (below + step..value).step_by(step as usize).chain([value, best]).collect();
    values.sort_unstable();
    values.dedup();
    Some(values)
}

/// What runs with values as their levels say, each run by itself: later ones replace what earlier ones say of a value.
pub(super) fn fitted(option: &FitOption, metric: &Metric, runs: &[StoredRun]) -> FittedOption {
    let mut values: BTreeMap<u64, FitValue> = BTreeMap::new();
    let mut best = None;
    for run in runs {
        let of_run = by_value(run, metric);
        let mean = |blocks: &BTreeMap<u32, f64>| {
            let sum: f64 = blocks.values().sum();
            sum / blocks.len() as f64
        };
        let cost = |value: f64| if metric.better == Better::Lower { value } else { -value };
        let least = of_run.iter().filter(|(_, blocks)| !blocks.is_empty());
        let least =
            least.min_by(|(_, a), (_, b)| cost(mean(a)).total_cmp(&cost(mean(b)))).map(|(value, _)| *value);
        best = least.or(best);
        let best_blocks = least.and_then(|value| of_run.get(&value)).cloned().unwrap_or_default();
        for (value, blocks) in of_run {
            values.insert(
                value,
                of_value(value, &blocks, &best_blocks, Some(value) == least, metric, run.plan.seed),
            );
        }
    }
    let most = 1.0 + option.within_percent / 100.0;
    let is_near = |of: &&FitValue| {
        Some(of.value) == best
            || of.ratio.is_some_and(|ratio| ratio.ends().is_some_and(|(_, high)| high <= most))
    };
    FittedOption {
        option: option.option.clone(),
        metric: metric.id.to_string(),
        within_percent: option.within_percent,
        value: values.values().find(is_near).map(|of| of.value),
        best,
        values: values.into_values().collect(),
    }
}

fn of_value(
    value: u64,
    blocks: &BTreeMap<u32, f64>,
    best: &BTreeMap<u32, f64>,
    is_best: bool,
    metric: &Metric,
    seed: u64,
) -> FitValue {
    let own: Vec<f64> = blocks.values().copied().collect();
    // Above 1 is worse, whichever way the metric is better.
    let pairs: Vec<(f64, f64)> = blocks
        .iter()
        .filter_map(|(block, own)| {
            let best = *best.get(block)?;
            Some(if metric.better == Better::Lower { (*own, best) } else { (best, *own) })
        })
        .collect();
    let estimate = assay_stats::estimate(&own, assay_stats::Statistic::Mean, seed).ok();
    let ratio = compare_paired(&pairs, seed).ok().filter(|_| !is_best);
    FitValue {
        value,
        metric: estimate,
        ratio: ratio.map(|of| of.ratio),
        blocks: ratio.map_or(own.len() as u32, |of| of.blocks),
    }
}

/// The metric of each value in each block.
fn by_value(run: &StoredRun, metric: &Metric) -> BTreeMap<u64, BTreeMap<u32, f64>> {
    let of_variant = |variant: &assay_model::Variant| {
        let value: u64 = variant.levels.get(FACTOR)?.parse().ok()?;
        let trials = run.trials.iter().map(|stored| &stored.trial);
        let mut found = values_by_block(run.plan.design, &variant.name, trials, std::slice::from_ref(metric));
        Some((value, found.remove(&*metric.id).unwrap_or_default().into_iter().collect()))
    };
    run.plan.variants.iter().filter_map(of_variant).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::Estimate;

    fn value(value: u64, ratio: Option<(f64, f64, f64)>) -> FitValue {
        let ratio =
            ratio.map(|(low, estimate, high)| Estimate { estimate, low: Some(low), high: Some(high) });
        FitValue { value, metric: None, ratio, blocks: 5 }
    }

    #[test]
    fn few_values_are_all_compared_and_many_ever_the_same_factor_apart() {
        assert_eq!(first_values(&(1..=4)), [1, 2, 3, 4]);
        assert_eq!(first_values(&(1..=128)), [1, 2, 4, 8, 16, 32, 64, 128]);
        let values = first_values(&(10..=1000));
        assert!(values.len() == 8 && values[0] == 10 && values[7] == 1000, "{values:?}");
        assert!(values.windows(2).all(|of| of[0] < of[1]));
    }

    #[test]
    fn between_the_smallest_near_value_and_the_next_smaller_one_is_looked_further() {
        let fitted = FittedOption {
            option: "-XX:ParallelGCThreads={}".to_owned(),
            metric: "cpu_ms_per_request".to_owned(),
            within_percent: 3.0,
            value: Some(16),
            best: Some(64),
            values: vec![
                value(8, Some((1.2, 1.3, 1.4))),
                value(16, Some((0.99, 1.0, 1.02))),
                value(64, None),
            ],
        };
        assert_eq!(next_values(&fitted), Some(vec![10, 12, 14, 16, 64]));
        let narrow =
            FittedOption { value: Some(9), values: vec![value(8, None), value(9, None)], ..fitted.clone() };
        assert_eq!(next_values(&narrow), None);
        let first = FittedOption { value: Some(8), ..fitted };
        assert_eq!(next_values(&first), None, "nothing is smaller");
    }
}
