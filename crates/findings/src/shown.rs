//! How figures are shown to people.

use assay_kit::number::MIB;
use assay_model::Metric;

/// The unit in which a metric is shown, and what a stored value is divided by to get it.
pub fn shown_unit(metric: &Metric) -> (&'static str, f64) {
    if metric.unit == "bytes" { ("MiB", MIB) } else { (metric.unit, 1.0) }
}
