//! The values that a run measured, by variant, metric and block.

use std::collections::BTreeMap;

/// Value by block of one metric of one variant.
pub type ByBlock = BTreeMap<u32, f64>;

/// Values by variant and metric.
pub type Measured<'a> = BTreeMap<&'a str, BTreeMap<&'a str, ByBlock>>;

/// The values of a metric of a variant, in the order of the blocks.
pub fn values(measured: &Measured<'_>, metric: &str, variant: &str) -> Vec<f64> {
    let by_block = measured.get(variant).and_then(|metrics| metrics.get(metric));
    by_block.map_or_else(Vec::new, |by_block| by_block.values().copied().collect())
}

/// `(variant, baseline)` of the blocks in which both have a value of a metric, in order.
pub fn pairs(measured: &Measured<'_>, metric: &str, variant: &str, baseline: &str) -> Vec<(f64, f64)> {
    let of = |name: &str| measured.get(name).and_then(|metrics| metrics.get(metric));
    let (Some(own), Some(base)) = (of(variant), of(baseline)) else { return Vec::new() };
    own.iter().filter_map(|(block, value)| Some((*value, *base.get(block)?))).collect()
}

/// The logarithms of their ratios; none where one of them has no ratio.
pub fn log_ratios(measured: &Measured<'_>, metric: &str, variant: &str, baseline: &str) -> Vec<f64> {
    assay_stats::log_ratios(&pairs(measured, metric, variant, baseline)).unwrap_or_default()
}
