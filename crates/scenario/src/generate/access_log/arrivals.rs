//! When the requests of a log came: as offsets, as phases of a rate, as a file of arrivals.

use std::fmt::Write;

/// Phases of a rate that stands in the scenario itself.
const PHASES: usize = 60;
const NS_PER_S: i128 = 1_000_000_000;

/// From the first, ns. Requests of one second are spread evenly over it where the log has no parts of seconds.
pub(super) fn offsets(times: &[i128], has_parts: bool) -> Vec<i128> {
    let first = times.first().copied().unwrap_or(0);
    if has_parts {
        return times.iter().map(|time| time - first).collect();
    }
    let seconds = times.chunk_by(|a, b| a == b);
    let spread = |second: &[i128]| {
        let (start, count) = (second.first().copied().unwrap_or(0) - first, second.len() as i128);
        (0..count).map(move |number| start + (2 * number + 1) * NS_PER_S / (2 * count)).collect::<Vec<_>>()
    };
    seconds.flat_map(spread).collect()
}

/// The rate as phases of equal length, each constant.
pub(super) fn phases(offsets: &[i128]) -> String {
    let span_s = (offsets.last().copied().unwrap_or(0) / NS_PER_S + 1) as usize;
    let phase_s = span_s.div_ceil(PHASES).max(1);
    let mut counts = vec![0_u64; span_s.div_ceil(phase_s)];
    for offset in offsets {
        let at = (offset / NS_PER_S) as usize / phase_s;
        counts[at] += 1;
    }
    let phase =
        |count: u64| format!("{} for {phase_s}s", (count as f64 / phase_s as f64 * 1e3).round() / 1e3);
    counts.into_iter().map(phase).collect::<Vec<_>>().join(", ")
}

/// The file of arrivals.
pub(super) fn trace_text(offsets: &[i128], named: &str) -> String {
    let named: String = named.chars().filter(|c| !c.is_control()).collect();
    let mut text = format!("# Arrivals of {named}, seconds from the first.\n");
    for offset in offsets {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}.{:09}", offset / NS_PER_S, offset % NS_PER_S);
    }
    text
}
