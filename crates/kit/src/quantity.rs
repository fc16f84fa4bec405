//! Times, rates of bytes and shares near all, each in the unit that people say.

use crate::number::{significant, tick, time};
use assay_text::duration::spoken;

pub use assay_text::duration::about;

/// Milliseconds in the unit that people say: `350 µs`, `12.3 ms`, `4.56 s`.
pub fn ms(value: f64) -> String {
    if value.abs() < 1_000.0 { time(value * 1e6) } else { seconds(value / 1_000.0) }
}

/// A figure of a table; absent where it is not a number.
pub fn figure(value: Option<f64>) -> Option<String> {
    value.filter(|v| v.is_finite()).map(significant)
}

/// The same of a figure with this name: bytes in the unit that people say.
pub fn figure_of(metric: &str, value: Option<f64>) -> Option<String> {
    match value.filter(|v| v.is_finite() && metric.contains("bytes")) {
        Some(bytes) => Some(bytes_with_interval(bytes, (None, None), "")),
        None => figure(value),
    }
}

/// Length of an interval of time, which is a round figure.
pub fn window(ms: f64) -> String {
    match ms {
        ms if !ms.is_finite() => "-".to_owned(),
        ms if ms < 1_000.0 => format!("{} ms", tick(ms)),
        ms if ms < 60_000.0 => format!("{} s", tick(ms / 1_000.0)),
        ms => format!("{} min", tick(ms / 60_000.0)),
    }
}

/// Seconds in the unit that people say.
pub fn seconds(value: f64) -> String {
    if !value.is_finite() || value < 0.0 {
        return "an unknown time".to_owned();
    }
    let whole = value.min(1e15) as u64;
    match whole {
        0..120 => format!("{} s", significant(value)),
        _ => spoken(whole),
    }
}

/// A rate or size in bytes with its interval: `120 MiB/s (118 to 123)`.
pub fn bytes_with_interval(value: f64, (low, high): (Option<f64>, Option<f64>), per: &str) -> String {
    let largest = [Some(value), low, high].into_iter().flatten().fold(0.0, |a: f64, b| a.max(b.abs()));
    let (divisor, unit) = unit_of(largest);
    let of = |v: f64| significant(v / divisor);
    let interval = match (low, high) {
        (Some(low), Some(high)) => format!(" ({} to {})", of(low), of(high)),
        _ => String::new(),
    };
    format!("{} {unit}{per}{interval}", of(value))
}

fn unit_of(bytes: f64) -> (f64, &'static str) {
    match bytes.abs() {
        b if b < 1_024.0 => (1.0, "B"),
        b if b < 1_048_576.0 => (1_024.0, "KiB"),
        b if b < 1_073_741_824.0 => (1_048_576.0, "MiB"),
        _ => (1_073_741_824.0, "GiB"),
    }
}

/// A share in percent that keeps what lacks to 100: 99.9 and 99.99 are a world apart.
pub fn percent(value: f64) -> String {
    let lacks = 100.0 - value;
    let decimals = if !(0.0..=100.0).contains(&value) || lacks >= 10.0 || lacks == 0.0 {
        1
    } else {
        (1.0 - lacks.log10()).ceil().clamp(1.0, 5.0) as usize
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_near_all_keep_what_lacks() {
        assert_eq!(
            [50.0, 95.123, 99.5, 99.98765, 100.0].map(percent),
            ["50.0", "95.1", "99.50", "99.988", "100.0"]
        );
        assert_eq!(percent(-3.0), "-3.0");
    }

    #[test]
    fn times_are_told_in_the_unit_that_people_say() {
        assert_eq!([0.35, 999.0, 1_500.0, 130_000.0].map(ms), ["350 µs", "999 ms", "1.50 s", "2 min 10 s"]);
        assert_eq!([7_300.0, 200_000.0].map(seconds), ["2 h 1 min", "2 days 7 h"]);
        assert_eq!([f64::NAN, -1.0].map(seconds), ["an unknown time"; 2]);
    }
}
