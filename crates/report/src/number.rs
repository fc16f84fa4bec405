//! Numbers for people: at most three significant digits, always with their unit.

use assay_model::{Estimate, Metric};

const MIB: f64 = 1_048_576.0;

/// `value` with three significant digits, thousands apart by commas: `1.10`, `157`, `2,350`, `0.0123`.
pub fn significant(value: f64) -> String {
    if !value.is_finite() {
        return "not a number".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor();
    if !(-4.0..9.0).contains(&magnitude) {
        return format!("{value:.2e}");
    }
    // Rounding first may lift the magnitude: 9.996 is 10.0, not 10.00.
    let step = 10f64.powf(magnitude - 2.0);
    let rounded = (value / step).round() * step;
    let magnitude = (rounded.abs().log10() + 1e-9).floor();
    let decimals = (2.0 - magnitude).clamp(0.0, 6.0) as usize;
    with_thousands(&format!("{rounded:.decimals$}"))
}

/// A tick of an axis: no trailing zeros.
pub fn tick(value: f64) -> String {
    let text = significant(value);
    if text.contains('.') && !text.contains('e') {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text
}

/// A count, thousands apart by commas.
pub fn count(value: u64) -> String {
    with_thousands(&value.to_string())
}

/// Bytes in MiB, the one unit in which the report shows memory.
pub fn mib(bytes: f64) -> String {
    format!("{} MiB", significant(bytes / MIB))
}

/// The unit in which a metric is shown, and what a stored value is divided by to get it.
pub fn shown_unit(metric: &Metric) -> (&'static str, f64) {
    if metric.unit == "bytes" { ("MiB", MIB) } else { (metric.unit, 1.0) }
}

/// An interval in the shown unit, without the unit: `157 [156, 158]`; without an interval it says so.
pub fn interval(value: &Estimate, divisor: f64) -> String {
    let point = significant(value.estimate / divisor);
    match (value.low, value.high) {
        (Some(low), Some(high)) => {
            format!("{point} [{}, {}]", significant(low / divisor), significant(high / divisor))
        }
        _ => format!("{point} (no interval: too few blocks)"),
    }
}

/// A ratio in words' form: `1.45 times [1.43, 1.47]`.
pub fn times(ratio: &Estimate) -> String {
    let point = significant(ratio.estimate);
    match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => format!("{point} times [{}, {}]", significant(low), significant(high)),
        _ => format!("{point} times (no interval: too few blocks)"),
    }
}

/// Half the width of the interval in percent of the value; absent without an interval, or for a value of zero.
pub fn half_width_percent(value: &Estimate) -> Option<String> {
    let half = (value.high? - value.low?) / 2.0 / value.estimate.abs() * 100.0;
    // Two digits are more than an interval from a few blocks can bear already.
    half.is_finite().then(|| tick(two_digits(half)))
}

fn two_digits(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let step = 10f64.powf(value.abs().log10().floor() - 1.0);
    (value / step).round() * step
}

fn with_thousands(text: &str) -> String {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, fraction) = rest.find('.').map_or((rest, ""), |dot| rest.split_at(dot));
    let mut grouped = String::with_capacity(text.len() + whole.len() / 3);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_count_and_no_more() {
        let shown: Vec<String> =
            [1.1, 156.62, 2354.0, 0.012_345, 9.996, 99.96, 0.0, -1234.5, 1e-7].map(significant).to_vec();
        assert_eq!(shown, ["1.10", "157", "2,350", "0.0123", "10.0", "100", "0", "-1,230", "1.00e-7"]);
    }

    #[test]
    fn ticks_drop_trailing_zeros_but_keep_whole_numbers() {
        assert_eq!([0.5, 1.0, 20.0, 1000.0].map(tick).to_vec(), ["0.5", "1", "20", "1,000"]);
    }

    #[test]
    fn a_value_without_interval_says_so() {
        let alone = Estimate { estimate: 1.5, low: None, high: None };
        assert_eq!(times(&alone), "1.50 times (no interval: too few blocks)");
        assert_eq!(half_width_percent(&alone), None);
    }
}
