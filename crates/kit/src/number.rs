//! Numbers for people: at most three significant digits, always with their unit.

pub use assay_text::percent::{change as percent_change, of as percent, share as percent_share};
pub use assay_text::size::option as xmx;

/// Bytes of a MiB.
pub const MIB: f64 = 1_048_576.0;

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

/// A value as it was read: a whole number as a count, all else as it is.
pub fn grouped(value: &str) -> String {
    value.parse().map_or_else(|_| value.to_owned(), count)
}

/// `1 pause`, `12 pauses`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// Bytes in MiB, the one unit in which the report shows memory.
pub fn mib(bytes: f64) -> String {
    format!("{} MiB", significant(bytes / MIB))
}

/// Bytes for lists in which sizes stand under each other: one decimal, in MiB from a tenth of one on. What no process
/// of today has (a target may claim anything) keeps its column by a larger unit.
pub fn bytes(value: u64) -> String {
    const KIB: f64 = 1024.0;
    let exact = value as f64;
    if value < 1024 {
        format!("{value} B")
    } else if exact < 0.1 * MIB {
        format!("{:.1} KiB", exact / KIB)
    } else if MIB * MIB <= exact {
        let (unit, size) =
            if exact < MIB * MIB * KIB { ("TiB", MIB * MIB) } else { ("EiB", MIB * MIB * MIB) };
        format!("{:.1} {unit}", exact / size)
    } else {
        format!("{} MiB", with_thousands(&format!("{:.1}", exact / MIB)))
    }
}

/// `a` minus `b`, clamped to the range of the result.
pub fn less(a: u64, b: u64) -> i64 {
    i64::try_from(i128::from(a) - i128::from(b)).unwrap_or(if a < b { i64::MIN } else { i64::MAX })
}

/// A change in bytes, with its sign.
pub fn signed_bytes(value: i64) -> String {
    let sign = if value < 0 { "-" } else { "+" };
    if value == 0 { "0 B".to_owned() } else { format!("{sign}{}", bytes(value.unsigned_abs())) }
}

/// Bytes of a heap or a part of it, which may be small: with one decimal in the unit that they fill, in GiB with two.
pub fn size(value: u64) -> String {
    const GIB: f64 = 1024.0 * MIB;
    let exact = value as f64;
    if (1024.0..MIB).contains(&exact) {
        format!("{} KiB", with_thousands(&format!("{:.1}", exact / 1024.0)))
    } else if (GIB..1024.0 * GIB).contains(&exact) {
        format!("{:.2} GiB", exact / GIB)
    } else {
        bytes(value)
    }
}

/// A change of such a size, with its sign.
pub fn signed_size(value: i64) -> String {
    let sign = if value < 0 { "-" } else { "+" };
    if value == 0 { "0 B".to_owned() } else { format!("{sign}{}", size(value.unsigned_abs())) }
}

/// Nanoseconds in the unit that fits.
pub fn duration(ns: u64) -> String {
    time(ns as f64)
}

/// The same of a mean or a figure per request, which may be less than one: `53.8 ns`, `66.7 µs`, `1.23 ms`, `45.6 s`.
pub fn time(ns: f64) -> String {
    match ns.abs() {
        0.0 => "0 ms".to_owned(),
        less if less < 1.0 => "<1 ns".to_owned(),
        less if less < 1e3 => format!("{} ns", significant(ns)),
        less if less < 1e6 => format!("{} µs", significant(ns / 1e3)),
        less if less < 1e9 => format!("{} ms", significant(ns / 1e6)),
        _ => format!("{} s", significant(ns / 1e9)),
    }
}

/// A value with its interval: `157 [156, 158]`; without an interval it says so.
pub fn interval(point: f64, ends: Option<(f64, f64)>) -> String {
    format!("{} {}", significant(point), bracketed_or_why(ends))
}

/// A ratio in words' form: `1.45 times [1.43, 1.47]`.
pub fn times(point: f64, ends: Option<(f64, f64)>) -> String {
    format!("{} times {}", significant(point), bracketed_or_why(ends))
}

/// The ends of an interval: `[1.43, 1.47]`.
pub fn bracketed((low, high): (f64, f64)) -> String {
    format!("[{}, {}]", significant(low), significant(high))
}

fn bracketed_or_why(ends: Option<(f64, f64)>) -> String {
    ends.map_or_else(|| "(no interval: too few blocks)".to_owned(), bracketed)
}

/// Half the width of the interval in percent of the value; absent without an interval, or for a value of zero.
pub fn half_width_percent(point: f64, ends: Option<(f64, f64)>) -> Option<String> {
    let (low, high) = ends?;
    let half = (high - low) / 2.0 / point.abs() * 100.0;
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
    fn a_whole_number_among_values_is_a_count_and_all_else_stays() {
        let values = ["18693", "50 %", "on", "", "-1", "1.5"];
        assert_eq!(values.map(grouped), ["18,693", "50 %", "on", "", "-1", "1.5"]);
    }

    #[test]
    fn three_digits_count_and_no_more() {
        let shown: Vec<String> =
            [1.1, 156.62, 2354.0, 0.012_345, 9.996, 99.96, 0.0, -1234.5, 1e-7].map(significant).to_vec();
        assert_eq!(shown, ["1.10", "157", "2,350", "0.0123", "10.0", "100", "0", "-1,230", "1.00e-7"]);
    }

    #[test]
    fn bytes_keep_one_decimal_and_small_ones_their_unit() {
        let shown = [0, 1023, 1024, 104_857, 104_858, 1 << 30, u64::MAX].map(bytes);
        let wanted = ["0 B", "1023 B", "1.0 KiB", "102.4 KiB", "0.1 MiB", "1,024.0 MiB", "16.0 EiB"];
        assert_eq!(shown.to_vec(), wanted);
        assert_eq!([-2048, 0, 3 << 20].map(signed_bytes).to_vec(), ["-2.0 KiB", "0 B", "+3.0 MiB"]);
        assert_eq!(
            [(1, 3), (1, 500), (1, 1 << 40), (0, 5), (1, 0)].map(|(p, w)| percent(p, w)).to_vec(),
            ["33.3 %", "0.20 %", "<0.01 %", "0.0 %", "-"]
        );
    }

    #[test]
    fn sizes_of_heaps_are_told_in_gib_and_as_options() {
        assert_eq!(
            [512, 900 << 10, 3 << 20, 34 << 30, 1 << 40].map(size).to_vec(),
            ["512 B", "900.0 KiB", "3.0 MiB", "34.00 GiB", "1.0 TiB"]
        );
        assert_eq!([-(3 << 30), 0].map(signed_size).to_vec(), ["-3.00 GiB", "0 B"]);
        assert_eq!(
            [0, 30 << 30, 30_721 << 20, 3 << 10, 17].map(xmx).to_vec(),
            ["0", "30g", "30721m", "3k", "17"]
        );
        assert_eq!(percent_change(3, 2).as_deref(), Some("+50.0 %"));
        assert_eq!((percent_change(1, 3).as_deref(), percent_change(1, 0)), (Some("-66.7 %"), None));
    }

    #[test]
    fn a_time_has_the_unit_that_fits() {
        assert_eq!(
            [0.0, 0.3, 53.8, 66_700.0, 230_000.0, 1_234_000.0, 45.6e9].map(time).to_vec(),
            ["0 ms", "<1 ns", "53.8 ns", "66.7 µs", "230 µs", "1.23 ms", "45.6 s"]
        );
        assert_eq!(duration(999), "999 ns");
    }

    #[test]
    fn ticks_drop_trailing_zeros_but_keep_whole_numbers() {
        assert_eq!([0.5, 1.0, 20.0, 1000.0].map(tick).to_vec(), ["0.5", "1", "20", "1,000"]);
    }

    #[test]
    fn a_value_without_interval_says_so() {
        assert_eq!(times(1.5, None), "1.50 times (no interval: too few blocks)");
        assert_eq!(interval(1.5, Some((1.0, 2.0))), "1.50 [1.00, 2.00]");
        assert_eq!(half_width_percent(1.5, None), None);
    }
}
