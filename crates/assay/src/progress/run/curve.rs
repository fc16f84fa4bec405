//! The curve of a search for capacity while it is found: a row for each rate that was tried, below the bar.

use assay_model::RunEventKind;

/// Rows at most, the highest rates: that is where a search goes on.
const ROWS_MAX: usize = 12;
/// Columns of the longest bar.
const COLUMNS: usize = 30;

#[derive(Debug, Clone, Copy)]
struct Point {
    rate_per_s: f64,
    limited_ms: f64,
    is_sustained: bool,
}

/// Points by rate.
#[derive(Debug, Default)]
pub struct Curve(Vec<Point>);

impl Curve {
    /// Takes what an event adds; another launch begins another curve.
    pub fn add(&mut self, kind: &RunEventKind) {
        match kind {
            RunEventKind::TrialStarted { .. } => self.0.clear(),
            RunEventKind::CapacityWindowEnded {
                offered_rate_per_s,
                limited_ms: Some(limited_ms),
                is_sustained,
                left_out,
                ..
            } if left_out.is_empty() => {
                let point = Point {
                    rate_per_s: *offered_rate_per_s,
                    limited_ms: *limited_ms,
                    is_sustained: *is_sustained,
                };
                let at = self.0.partition_point(|other| other.rate_per_s <= point.rate_per_s);
                self.0.insert(at, point);
            }
            _ => {}
        }
    }

    /// A line for each rate with this percentile of its response times, the lowest first; none before there are two.
    pub fn lines(&self, percentile: &str) -> String {
        if self.0.len() < 2 {
            return String::new();
        }
        let shown = &self.0[self.0.len().saturating_sub(ROWS_MAX)..];
        let log = |point: &Point| point.limited_ms.max(0.001).ln();
        let low = shown.iter().map(log).fold(f64::INFINITY, f64::min);
        let high = shown.iter().map(log).fold(f64::NEG_INFINITY, f64::max);
        // The lowest has a bar, too.
        let share =
            |point: &Point| if low < high { 0.1 + 0.9 * (log(point) - low) / (high - low) } else { 1.0 };
        let rate = |point: &Point| format!("{:.1}/s", point.rate_per_s);
        let width = shown.iter().map(|point| rate(point).len()).max().unwrap_or(0);
        let row = |point: &Point| {
            let late = if point.is_sustained { "" } else { ", did not keep up" };
            let ms = point.limited_ms;
            format!(
                "\n  {:>width$}  {} {ms:.1} ms{late}",
                rate(point),
                "█".repeat((share(point) * COLUMNS as f64).round() as usize)
            )
        };
        let rows: String = shown.iter().map(row).collect();
        format!("\n  {percentile} by rate, logarithmic{rows}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::CapacityStep;

    fn ended(rate_per_s: f64, ms: f64, left_out: &[&str]) -> RunEventKind {
        RunEventKind::CapacityWindowEnded {
            number: 1,
            step: CapacityStep::Bracket,
            offered_rate_per_s: rate_per_s,
            achieved_rate_per_s: rate_per_s,
            limited_ms: Some(ms),
            is_sustained: ms < 500.0,
            left_out: left_out.iter().map(|why| (*why).to_owned()).collect(),
        }
    }

    #[test]
    fn rates_stand_in_order_with_bars_on_a_logarithmic_scale() {
        let mut curve = Curve::default();
        curve.add(&ended(200.0, 1.0, &[]));
        assert_eq!(curve.lines("p99"), "", "a curve takes two points");
        curve.add(&ended(1_600.0, 1_000.0, &[]));
        curve.add(&ended(800.0, 31.6, &[]));
        curve.add(&ended(400.0, 5.0, &["steal"]));
        let want = [
            "",
            "  p99 by rate, logarithmic",
            "   200.0/s  ███ 1.0 ms",
            "   800.0/s  ████████████████ 31.6 ms",
            "  1600.0/s  ██████████████████████████████ 1000.0 ms, did not keep up",
        ];
        assert_eq!(curve.lines("p99").lines().collect::<Vec<_>>(), want);
        let started = RunEventKind::TrialStarted { number: 2, variant: "a".to_owned(), block: 1, attempt: 1 };
        curve.add(&started);
        assert_eq!(curve.lines("p99"), "");
    }

    #[test]
    fn only_the_highest_rates_are_shown_when_there_are_many() {
        let mut curve = Curve::default();
        for rate in 1..=30 {
            curve.add(&ended(f64::from(rate), 2.0, &[]));
        }
        let lines = curve.lines("p99");
        assert_eq!(lines.trim_start().lines().count(), ROWS_MAX + 1);
        assert!(
            lines.contains("  19.0/s") && lines.contains("  30.0/s") && !lines.contains("18.0/s"),
            "{lines}"
        );
    }
}
