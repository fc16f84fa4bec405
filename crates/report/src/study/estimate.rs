//! Stored figures in the words of `assay_kit::number`.

use assay_kit::number::{self, MIB};
use assay_model::{Estimate, Metric};

/// The unit in which a metric is shown, and what a stored value is divided by to get it.
pub fn shown_unit(metric: &Metric) -> (&'static str, f64) {
    if metric.unit == "bytes" { ("MiB", MIB) } else { (metric.unit, 1.0) }
}

/// An interval in the shown unit, without the unit: `157 [156, 158]`; without an interval it says so.
pub fn interval(value: &Estimate, divisor: f64) -> String {
    number::interval(
        value.estimate / divisor,
        value.ends().map(|(low, high)| (low / divisor, high / divisor)),
    )
}

/// A ratio in words' form: `1.45 times [1.43, 1.47]`.
pub fn times(ratio: &Estimate) -> String {
    number::times(ratio.estimate, ratio.ends())
}
