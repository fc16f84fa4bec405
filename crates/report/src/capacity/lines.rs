//! The windows of a capacity as points and lines over the rate.

use super::words;
use assay_kit::number::tick;
use assay_kit::text::clean;
use assay_model::{CapacityReport, SearchStep, Window};

/// Windows of rates that differ by less than this share are one point of a line.
const SAME_RATE: f64 = 0.01;
/// How far beyond the server's capacity windows are drawn: the bracket of a search may go far beyond it.
const BEYOND_MAX: f64 = 1.5;
/// Room to the right of the highest rate.
const MARGIN: f64 = 1.03;
/// Looks of the two lines; limits have others.
const LIMITED_LOOK: usize = 1;
const MEDIAN_LOOK: usize = 0;

/// A window of load with what the search wanted of it.
pub type Step<'r> = (&'r Window, &'r SearchStep);
/// What a line shows of a window.
type Value = fn(Step) -> Option<f64>;

/// A line of the picture: one percentile.
pub struct Line {
    /// Its name: `p99`.
    pub name: String,
    /// Number of its colour, marker and dash.
    pub look: usize,
    /// Whether the limits hold for it.
    pub is_limited: bool,
    /// Its value in a window, ms.
    pub value: Value,
}

/// The window at the highest rate that was sustained, of those that count.
pub fn highest_sustained(report: &CapacityReport) -> Option<Step<'_>> {
    let sustained = counted(report).into_iter().filter(|(_, step)| step.is_sustained);
    sustained.max_by(|(_, one), (_, other)| one.offered_rate_per_s.total_cmp(&other.offered_rate_per_s))
}

/// The lines: the percentile that the limits hold for, which stands out, and the median. The table of windows has the others.
pub fn lines(report: &CapacityReport) -> Vec<Line> {
    let limited = Line {
        name: limited_name(report),
        look: LIMITED_LOOK,
        is_limited: true,
        value: |(_, s)| s.limited_ms,
    };
    let median = Line {
        name: "median".to_owned(),
        look: MEDIAN_LOOK,
        is_limited: false,
        value: |(w, _)| w.response_ms.p50,
    };
    let is_median = report.limited_operations.is_empty() && (report.percentile - 50.0).abs() < 1e-9;
    std::iter::once(limited).chain((!is_median).then_some(median)).collect()
}

fn limited_name(report: &CapacityReport) -> String {
    let of = match report.limited_operations.as_slice() {
        [] => String::new(),
        names => format!(" of {}", clean(&names.join(", "))),
    };
    format!("{}{of}", words::percentile(report))
}

/// The look of a limit by its place among them: the colour of its line, its band and its mark.
pub const fn look_of_limit(index: usize) -> usize {
    const LOOKS: [usize; 6] = [2, 3, 4, 7, 6, 5];
    LOOKS[index % LOOKS.len()]
}

/// Windows whose rate can be drawn.
fn usable(report: &CapacityReport) -> impl Iterator<Item = Step<'_>> {
    report.steps().filter(|(_, step)| step.offered_rate_per_s.is_finite() && step.offered_rate_per_s > 0.0)
}

/// Undisturbed windows: they count, whatever was asked for.
pub fn counted(report: &CapacityReport) -> Vec<Step<'_>> {
    usable(report).filter(|(window, _)| window.counts()).collect()
}

/// Disturbed ones, which count only where that was asked for.
pub fn left_out(report: &CapacityReport) -> Vec<Step<'_>> {
    usable(report).filter(|(window, _)| !window.counts()).collect()
}

/// Windows of one rate.
pub struct Group<'r> {
    /// The rate: the middle of those asked for, per second.
    pub rate_per_s: f64,
    /// The windows.
    pub windows: Vec<Step<'r>>,
}

impl Group<'_> {
    /// The median of a value over the windows.
    pub fn median(&self, value: impl Fn(Step) -> Option<f64>) -> Option<f64> {
        median(self.windows.iter().filter_map(|of| value(*of)).collect())
    }
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.retain(|v| v.is_finite());
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = *values.get(values.len().saturating_sub(1) / 2)?;
    Some(lower / 2.0 + upper / 2.0)
}

/// Windows grouped by rate, upwards.
pub fn groups<'r>(windows: &[Step<'r>]) -> Vec<Group<'r>> {
    let rate = |(_, step): Step| step.offered_rate_per_s;
    let mut sorted = windows.to_vec();
    sorted.sort_by(|a, b| rate(*a).total_cmp(&rate(*b)));
    let mut groups: Vec<Vec<Step>> = Vec::new();
    for window in sorted {
        match groups.last_mut() {
            Some(group) if rate(window) <= rate(group[0]) * (1.0 + SAME_RATE) => group.push(window),
            _ => groups.push(vec![window]),
        }
    }
    let group = |windows: Vec<Step<'r>>| {
        let rates = windows.iter().map(|of| rate(*of)).collect();
        Some(Group { rate_per_s: median(rates)?, windows })
    };
    groups.into_iter().filter_map(group).collect()
}

/// The highest rate that is drawn, per second: all that were tried, but not far more than the server bears.
pub fn rate_end(report: &CapacityReport) -> f64 {
    let highest = usable(report).map(|(_, step)| step.offered_rate_per_s).fold(1.0, f64::max);
    let rates = report.limits.iter().filter_map(|l| l.rate_per_s).chain(report.max_rate_per_s);
    let known = rates.map(|r| r.high.unwrap_or(r.estimate)).filter(|r| r.is_finite()).fold(0.0, f64::max);
    if known > 0.0 && highest > BEYOND_MAX * known { BEYOND_MAX * known } else { MARGIN * highest.max(known) }
}

/// Windows beyond what is drawn, in words; absent without any.
pub fn not_drawn(report: &CapacityReport) -> Option<String> {
    let end = rate_end(report);
    let beyond: Vec<f64> =
        usable(report).map(|(_, step)| step.offered_rate_per_s).filter(|r| *r > end * 1.0001).collect();
    let highest = beyond.iter().copied().fold(0.0, f64::max);
    let (windows, stand) = if beyond.len() == 1 { ("window", "stands") } else { ("windows", "stand") };
    (!beyond.is_empty()).then(|| {
        format!(
            "{} {windows} of higher rates, up to {}/s, {stand} in the table only.",
            beyond.len(),
            tick(highest)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_needs_values_and_takes_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, f64::NAN]), Some(2.0));
        assert_eq!(median(vec![5.0, 1.0, 3.0]), Some(3.0));
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![f64::MAX, f64::MAX]), Some(f64::MAX));
    }
}
