//! Which difference a run with a budget will probably be able to show, by the scatter of blocks that were measured. Pure.

use crate::gate::Gate;
use crate::measured::log_ratios;
use crate::summary::measured;
use assay_model::{Metric, Outlook, Plan, Trial};
use assay_stats::BLOCKS_FOR_INTERVAL;
use assay_stats::sequential::{deviation, smallest_difference};

/// For each metric that is asked for and each variant with a baseline, with so many blocks in all; none for what fewer than 3 blocks tell.
/// `trials` are those of this run so far, or of an earlier one of the same study.
pub fn outlooks<'a>(
    plan: &Plan,
    trials: &(impl IntoIterator<Item = &'a Trial> + Clone),
    blocks: u32,
) -> Vec<Outlook> {
    let Some(budget) = &plan.budget else { return Vec::new() };
    let windows = trials.clone().into_iter().flat_map(|trial| &trial.windows);
    let metrics = Metric::all_with(windows.flat_map(|window| window.metrics.keys().map(String::as_str)));
    let values = measured(plan, trials, &metrics);
    // What a condition finds must be shown by two sets of blocks.
    let in_two_sets = |metric: &str| {
        let mut gates = budget.conditions.iter().filter_map(|text| Gate::parse(text).ok());
        gates.any(|gate| gate.is_of_change() && gate.metric().id == metric)
    };
    let asked = metrics.iter().filter(|metric| budget.asks(&metric.id) && !plan.is_set_by_load(&metric.id));
    let of_metric = |metric: &Metric| {
        let blocks = if in_two_sets(&metric.id) { blocks / 2 } else { blocks };
        let of = |variant: &assay_model::Variant| {
            let baseline = variant.baseline.clone()?;
            let logs = log_ratios(&values, &metric.id, &variant.name, &baseline);
            let scatter = deviation(&logs).filter(|_| BLOCKS_FOR_INTERVAL <= logs.len())?;
            let difference_ratio = smallest_difference(scatter, blocks as usize);
            let (metric, variant) = (metric.id.to_string(), variant.name.clone());
            difference_ratio.is_finite().then_some(Outlook {
                metric,
                variant,
                baseline,
                blocks,
                difference_ratio,
            })
        };
        plan.variants.iter().filter_map(of).collect::<Vec<Outlook>>()
    };
    asked.flat_map(of_metric).collect()
}
