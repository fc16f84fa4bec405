//! The values that a run measured, by variant, metric and block.

use std::collections::BTreeMap;

/// Value by block of one metric of one variant.
pub(crate) type ByBlock = BTreeMap<u32, f64>;

/// Values by variant and metric.
pub(crate) type Measured<'a> = BTreeMap<&'a str, BTreeMap<&'a str, ByBlock>>;
