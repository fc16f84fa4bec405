//! How metrics grow with a factor whose levels are numbers: connections, heap sizes in MiB, users. Pure.

use crate::measured::{ByBlock, Measured};
use assay_model::{Metric, Plan, Scaling, Variant};
use assay_stats::{POINTS_MIN, Statistic, estimate, geometric_mean, power_law};
use std::collections::{BTreeMap, BTreeSet};

/// Every metric that the load does not set, with every factor whose levels are all positive numbers, the levels of the others unchanged.
///
/// Each block gives an exponent of its own, so that a difference between blocks widens the interval and shifts no level.
pub fn scalings(plan: &Plan, metrics: &[Metric], measured: &Measured<'_>) -> Vec<Scaling> {
    let numbered =
        plan.factors.iter().filter(|(_, levels)| levels.iter().all(|level| number(level).is_some()));
    numbered
        .flat_map(|(factor, _)| series(plan, factor))
        .flat_map(|series| {
            let free = metrics.iter().filter(|metric| !plan.is_set_by_load(&metric.id));
            free.filter_map(move |metric| series.scaling(metric, measured, plan.seed)).collect::<Vec<_>>()
        })
        .collect()
}

fn number(level: &str) -> Option<f64> {
    level.parse().ok().filter(|number: &f64| number.is_finite() && 0.0 < *number)
}

/// Variants that differ in one factor only.
struct Series<'p> {
    factor: &'p str,
    others: BTreeMap<String, String>,
    /// By level, ascending.
    variants: Vec<(f64, &'p str)>,
}

fn series<'p>(plan: &'p Plan, factor: &'p str) -> Vec<Series<'p>> {
    let others = |variant: &Variant| {
        let mut levels = variant.levels.clone();
        levels.remove(factor);
        levels
    };
    let mut found: Vec<Series<'p>> = Vec::new();
    for variant in &plan.variants {
        let Some(level) = variant.levels.get(factor).and_then(|level| number(level)) else { continue };
        let others = others(variant);
        let place = found.iter().position(|series| series.others == others).unwrap_or_else(|| {
            found.push(Series { factor, others, variants: Vec::new() });
            found.len() - 1
        });
        found[place].variants.push((level, &variant.name));
    }
    for series in &mut found {
        series.variants.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    found
}

impl Series<'_> {
    /// Levels at which the metric was not measured are left out; blocks that lack one of the others are, too.
    fn scaling(&self, metric: &Metric, measured: &Measured<'_>, seed: u64) -> Option<Scaling> {
        let of = |name: &str| measured.get(name)?.get(&*metric.id);
        let values: Vec<(f64, &ByBlock)> =
            self.variants.iter().filter_map(|(level, name)| Some((*level, of(name)?))).collect();
        if values.len() < POINTS_MIN {
            return None;
        }
        let blocks: BTreeSet<u32> =
            values.iter().flat_map(|(_, by_block)| by_block.keys().copied()).collect();
        let points = |block: &u32| -> Option<Vec<(f64, f64)>> {
            values.iter().map(|(level, by_block)| Some((*level, *by_block.get(block)?))).collect()
        };
        let whole: Vec<Vec<(f64, f64)>> = blocks.iter().filter_map(points).collect();
        // 0 has no logarithm, and dropping such blocks would drop the small values.
        let exponents: Option<Vec<f64>> =
            whole.iter().map(|points| power_law(points).map(|law| law.exponent)).collect();
        let exponents = exponents?;
        let means: Option<Vec<(f64, f64)>> = values
            .iter()
            .enumerate()
            .map(|(at, (level, _))| {
                let of_level: Vec<f64> = whole.iter().map(|points| points[at].1).collect();
                Some((*level, geometric_mean(&of_level)?))
            })
            .collect();
        Some(Scaling {
            metric: metric.id.to_string(),
            factor: self.factor.to_owned(),
            others: self.others.clone(),
            levels: values.iter().map(|(level, _)| *level).collect(),
            blocks: u32::try_from(exponents.len()).ok()?,
            exponent: estimate(&exponents, Statistic::Mean, seed).ok()?,
            max_residual_ratio: power_law(&means?)?.max_residual_ratio,
        })
    }
}
