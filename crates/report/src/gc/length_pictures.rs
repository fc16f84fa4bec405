//! How long pauses took: a histogram for each kind on one logarithmic axis, sums by cause, and the time without pauses.

use super::words;
use assay_kit::bar_rows::{self, Bar};
use assay_kit::histogram::{self, DurationsOfKind};
use assay_kit::number::count;
use assay_kit::share_curve::{self, Point};
use assay_model::{GcMmu, GcRow};

/// Kinds that are drawn; the table has all.
const KINDS_DRAWN: usize = 6;
const CAUSES_DRAWN: usize = 8;

/// A panel for each kind: its name and the drawing.
pub fn histograms(rows: &[GcRow]) -> Vec<(String, String)> {
    let lengths = |row: &GcRow| {
        let of = &row.durations;
        let part =
            |name: &str, v: Option<f64>| v.map_or_else(String::new, |v| format!(", {name} {}", words::ms(v)));
        let words = format!("{}{}{}", count(of.count), part("median", of.p50_ms), part("longest", of.max_ms));
        DurationsOfKind { name: row.name.clone(), numbers: row.histogram.clone(), words }
    };
    histogram::panels(rows.iter().map(lengths), KINDS_DRAWN)
}

/// Sums by cause as bars.
pub fn causes(rows: &[GcRow], width: f64, id: &str) -> Option<String> {
    let bar = |row: &GcRow| {
        let value = format!("{} in {}", words::ms(row.durations.total_ms), count(row.durations.count));
        Bar::whole(&row.name, value, row.durations.total_ms, "s0 bar")
    };
    let bars: Vec<Bar> = rows.iter().take(CAUSES_DRAWN).map(bar).collect();
    (!bars.is_empty()).then(|| bar_rows::bars(&bars, (None, None), width, (id, "Time in pauses by cause")))
}

/// The smallest share of any interval in which the application was not stopped for the collector, by the length of the interval.
pub fn mmu(points: &[GcMmu], width: f64, id: &str) -> Option<String> {
    let usable = |m: &&GcMmu| {
        m.window_ms.is_finite()
            && m.window_ms > 0.0
            && m.window_ms < 1e12
            && m.utilisation_percent.is_finite()
    };
    let point = |m: &GcMmu| Point {
        at: m.window_ms,
        percent: m.utilisation_percent,
        name: words::window(m.window_ms),
        text: words::percent(m.utilisation_percent),
    };
    let points: Vec<Point> = points.iter().filter(usable).map(point).collect();
    share_curve::draw(&points, width, (id, "Smallest share not stopped for the collector"))
}
