//! Rates, times of a request and shares of an account of CPU time.

use assay_kit::number::{count, percent_share, significant, time};
use assay_model::{Estimate, TimeReport};

/// With fewer samples a share of one half is not known to 5 percent points.
pub const SAMPLES_MIN: u64 = 384;
const NS_PER_S: f64 = 1e9;
/// An interval of a share that is wider than this says nothing.
const SHARE_WIDTH_MAX: f64 = 0.4;

/// So many in each second of the report.
pub fn rate(number: u64, report: &TimeReport) -> String {
    let seconds = report.duration_ns as f64 / NS_PER_S;
    if seconds <= 0.0 { count(number) } else { format!("{}/s", significant(number as f64 / seconds)) }
}

/// Time per request; absent where that is not a number.
pub fn each(ns: u64, requests: f64) -> Option<String> {
    Some(ns as f64 / requests).filter(|ns| ns.is_finite()).map(time)
}

/// A share in the kernel with half of its interval: `18.2 % ±1.1`. One that may be nearly anything is absent.
pub fn share_with_error(share: Option<&Estimate>) -> Option<String> {
    let is_known = |share: &&Estimate| share.ends().is_none_or(|(low, high)| high - low <= SHARE_WIDTH_MAX);
    let share = share.filter(is_known)?;
    let ends = share.ends().map_or_else(String::new, |(low, high)| {
        // The larger side: near 0 and 100 % the interval is not even.
        let half = (share.estimate - low).max(high - share.estimate);
        format!(" ±{:.1}", 100.0 * half)
    });
    Some(format!("{}{ends}", percent_share(share.estimate)))
}
