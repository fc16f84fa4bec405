//! Figures in attributes. They are asked for at every tag: a call into another file would cost a fifth of the time.

use super::tag::Attributes;
use crate::decimal::Decimal;
use assay_model::GcRecord;

/// How long it took, with the step.
#[inline]
pub(super) fn put_duration(record: &mut GcRecord, duration: Option<(u64, u64)>) {
    record.duration_ns = duration.map(|(ns, _)| ns);
    record.duration_resolution_ns = duration.map(|(_, step_ns)| step_ns);
}

/// A whole number.
#[inline]
pub(super) fn number(attributes: &Attributes<'_>, name: &str) -> Option<u64> {
    attributes.get(name)?.parse().ok()
}

/// Milliseconds with decimals: nanoseconds and their smallest step.
#[inline]
pub(super) fn milliseconds(attributes: &Attributes<'_>, name: &str) -> Option<(u64, u64)> {
    Decimal::parse(attributes.get(name)?)?.scaled(6)
}
