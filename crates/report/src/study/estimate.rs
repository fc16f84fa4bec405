//! Stored figures in the words of `assay_kit::number`.

pub use assay_findings::shown_unit;

use assay_kit::number;
use assay_kit::text::clean;
use assay_model::{Estimate, Metric};

/// A metric's title; of one that this version does not know, its identifier.
pub fn metric_title(id: &str) -> String {
    Metric::by_id(id).map_or_else(|| clean(id), |metric| metric.title.into_owned())
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
