//! How long things took, and tables of that: bounded, whatever the log's length.

use crate::timeline::Span;
use assay_model::{GcDurations, GcRecord, GcRow, GcScope};
use hdrhistogram::Histogram;

/// Significant decimal digits of a percentile.
const DIGITS: u8 = 3;
/// Longer is counted as this in histograms (a day); sums and the longest stay exact.
const HISTOGRAM_NS_MAX: u64 = 86_400_000_000_000;
/// Rows of a table; further names are counted together. A row takes at most 150 kB, nearly always below 80.
const ROWS_MAX: usize = 32;
/// Name of the row of those.
const OTHERS: &str = "others";
/// Edges of the histogram of a row, by decade.
const EDGES: [f64; 6] = [1.0, 1.5, 2.0, 3.0, 5.0, 7.0];

/// Lengths of one kind of thing.
#[derive(Debug, Clone, Default)]
pub(super) struct Lengths {
    pub count: u64,
    without_length: u64,
    pub total_ns: u128,
    resolution_ns: Option<u64>,
    /// Σ ln(length / 1 ns) of those above zero, and how many they are.
    log_sum: (f64, u64),
    histogram: Option<Histogram<u32>>,
    max: Option<(u64, (usize, u64))>,
}

impl Lengths {
    /// Takes the length of a record.
    pub fn add(&mut self, record: &GcRecord) {
        self.add_length(record.duration_ns, record.duration_resolution_ns, (record.source, record.line));
    }

    /// Takes a length.
    pub fn add_length(&mut self, length_ns: Option<u64>, resolution_ns: Option<u64>, at: (usize, u64)) {
        self.count += 1;
        let Some(ns) = length_ns else {
            self.without_length += 1;
            return;
        };
        self.total_ns += u128::from(ns);
        self.resolution_ns = self.resolution_ns.max(resolution_ns);
        if ns > 0 {
            self.log_sum = (self.log_sum.0 + (ns as f64).ln(), self.log_sum.1 + 1);
        }
        if self.max.is_none_or(|(max, _)| max < ns) {
            self.max = Some((ns, at));
        }
        if self.histogram.is_none() {
            self.histogram = Histogram::new(DIGITS).ok().map(|mut histogram: Histogram<u32>| {
                histogram.auto(true);
                histogram
            });
        }
        if let Some(histogram) = &mut self.histogram {
            // It grows as it must: a histogram that only saturates would take all that is long for a few microseconds.
            histogram.record(ns.min(HISTOGRAM_NS_MAX)).unwrap_or_else(|_| histogram.saturating_record(ns));
        }
    }

    /// Sum, milliseconds.
    pub fn total_ms(&self) -> f64 {
        self.total_ns as f64 / 1e6
    }

    /// The stored form.
    pub fn durations(&self) -> GcDurations {
        let max_ns = self.max.map(|(ns, _)| ns);
        let at = |share: f64| self.percentile_ns(share).map(|ns| ns as f64 / 1e6);
        GcDurations {
            count: self.count,
            without_length: self.without_length,
            total_ms: self.total_ms(),
            resolution_ms: self.resolution_ns.map(|ns| ns as f64 / 1e6),
            geometric_mean_ms: (self.log_sum.1 > 0)
                .then(|| (self.log_sum.0 / self.log_sum.1 as f64).exp() / 1e6),
            p50_ms: at(0.5),
            p90_ms: at(0.9),
            p95_ms: at(0.95),
            p99_ms: at(0.99),
            p999_ms: at(0.999),
            max_ms: max_ns.map(|ns| ns as f64 / 1e6),
            max_at: self.max.map(|(_, at)| at),
        }
    }

    /// The smallest length that at least this share does not exceed, to three digits, and to the log's resolution where that is
    /// coarser.
    fn percentile_ns(&self, share: f64) -> Option<u64> {
        let (max_ns, _) = self.max?;
        let histogram = self.histogram.as_ref()?;
        let ns = histogram.median_equivalent(histogram.value_at_quantile(share));
        let step = self.resolution_ns.unwrap_or(1).max(1);
        Some((ns.saturating_add(step / 2) / step * step).min(max_ns))
    }

    /// Upper edges in milliseconds, and how many lie at or below each and above the one before.
    fn histogram(&self) -> Vec<(f64, u64)> {
        let mut bars: Vec<(f64, u64)> = Vec::new();
        for step in self.histogram.iter().flat_map(|histogram| histogram.iter_recorded()) {
            let middle = step.value_iterated_to() as f64 / 1e6;
            let edge = edge_above(middle);
            match bars.last_mut() {
                Some((last, count)) if *last == edge => *count += step.count_since_last_iteration(),
                _ => bars.push((edge, step.count_since_last_iteration())),
            }
        }
        bars
    }
}

/// The smallest edge that is not below the value, milliseconds.
fn edge_above(ms: f64) -> f64 {
    let mut decade = -6; // 1 ns
    while decade < 8 {
        // 10^-6 as a division is the nearest number, a product of tenths would not be.
        let unit = if decade < 0 { 1.0 / 10_f64.powi(-decade) } else { 10_f64.powi(decade) };
        if let Some(edge) = EDGES.iter().map(|edge| edge * unit).find(|edge| ms <= *edge) {
            return edge;
        }
        decade += 1;
    }
    10_f64.powi(8)
}

#[derive(Debug, Clone)]
struct Row {
    name: String,
    /// What is collected; `None` within when rows differ.
    scope: Option<GcScope>,
    lengths: Lengths,
    last_ns: Option<u64>,
}

/// Lengths by name.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    rows: Vec<Row>,
    /// Where the last one was found: names repeat.
    last: usize,
}

impl Table {
    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Takes the length of a record under a name.
    pub fn add(&mut self, name: &str, record: &GcRecord, at: Option<Span>) {
        let row = self.row(name, record.scope);
        row.lengths.add(record);
        row.last_ns = row.last_ns.max(at.map(|at| at.end_ns));
    }

    fn row(&mut self, name: &str, scope: Option<GcScope>) -> &mut Row {
        let is_last = self.rows.get(self.last).is_some_and(|row| row.name == name);
        if !is_last {
            let found = self.rows.iter().position(|row| row.name == name);
            self.last = found.unwrap_or_else(|| self.push(name, scope));
        }
        let row = &mut self.rows[self.last];
        if row.scope != scope {
            row.scope = None;
        }
        row
    }

    /// Index of a new row, or of that of all others when there are many.
    fn push(&mut self, name: &str, scope: Option<GcScope>) -> usize {
        if self.rows.len() > ROWS_MAX {
            return ROWS_MAX;
        }
        let name = if self.rows.len() == ROWS_MAX { OTHERS } else { name };
        self.rows.push(Row { name: name.to_owned(), scope, lengths: Lengths::default(), last_ns: None });
        self.rows.len() - 1
    }

    /// The rows, the largest sum first, then the largest count, then by name.
    pub fn rows(&self) -> Vec<GcRow> {
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        rows.sort_by(|a, b| {
            let by_size = (b.lengths.total_ns, b.lengths.count).cmp(&(a.lengths.total_ns, a.lengths.count));
            by_size.then_with(|| a.name.cmp(&b.name))
        });
        rows.into_iter()
            .map(|row| GcRow {
                name: row.name.clone(),
                scope: row.scope,
                durations: row.lengths.durations(),
                last_s: row.last_ns.map(|ns| ns as f64 / 1e9),
                histogram: row.lengths.histogram(),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::GcRecordKind;
    use proptest::prelude::*;

    fn lengths(all_ns: &[u64], step_ns: u64) -> Lengths {
        let mut lengths = Lengths::default();
        for (line, ns) in (1..).zip(all_ns) {
            lengths.add_length(Some(*ns), Some(step_ns), (0, line));
        }
        lengths
    }

    proptest! {
        #[test]
        fn percentiles_are_those_of_the_sorted_lengths_to_three_digits(
            logs in prop::collection::vec(0.0f64..30.0, 1..300), step in prop::sample::select(vec![1u64, 1_000, 100_000]),
        ) {
            let mut all_ns: Vec<u64> = logs.iter().map(|log| log.exp() as u64 / step * step).collect();
            let got = lengths(&all_ns, step).durations();
            all_ns.sort_unstable();
            let pairs = [(0.5, got.p50_ms), (0.9, got.p90_ms), (0.95, got.p95_ms), (0.99, got.p99_ms), (0.999, got.p999_ms)];
            for (share, got_ms) in pairs {
                let rank = ((share * all_ns.len() as f64).ceil() as usize).max(1);
                let want_ms = all_ns[rank - 1] as f64 / 1e6;
                prop_assert!((got_ms.unwrap() - want_ms).abs() <= want_ms * 1e-3, "{share}: {got_ms:?}, not {want_ms}");
            }
            prop_assert_eq!(got.max_ms, all_ns.last().map(|ns| *ns as f64 / 1e6));
            prop_assert_eq!(got.total_ms, all_ns.iter().sum::<u64>() as f64 / 1e6);
        }

        #[test]
        fn a_histogram_counts_each_length_below_its_edge(all_ms in prop::collection::vec(0.001f64..1e5, 1..100)) {
            let all_ns: Vec<u64> = all_ms.iter().map(|ms| (ms * 1e6) as u64).collect();
            let bars = lengths(&all_ns, 1).histogram();
            prop_assert!(bars.is_sorted_by(|a, b| a.0 < b.0));
            prop_assert_eq!(bars.iter().map(|(_, count)| count).sum::<u64>(), all_ns.len() as u64);
            for (edge_ms, _) in &bars {
                // The histogram's own steps of a thousandth may put a length on an edge beyond it.
                let near = |factor: f64| all_ns.iter().filter(|ns| **ns as f64 / 1e6 <= edge_ms * factor).count() as u64;
                let below: u64 = bars.iter().filter(|(edge, _)| edge <= edge_ms).map(|(_, count)| count).sum();
                prop_assert!((near(0.999)..=near(1.001)).contains(&below), "{edge_ms}");
            }
        }
    }

    #[test]
    fn names_beyond_the_bound_are_counted_together_and_the_largest_sum_stands_first() {
        let mut table = Table::default();
        for name in 0..100_u64 {
            let mut record = GcRecord::new(GcRecordKind::Pause, "", 0, name);
            record.duration_ns = Some(if name == 7 { 1_000_000_000 } else { 1_000_000 });
            table.add(&format!("name {name}"), &record, None);
        }
        let rows = table.rows();
        assert_eq!(rows.len(), ROWS_MAX + 1);
        assert_eq!((rows[0].name.as_str(), rows[1].name.as_str()), ("name 7", OTHERS));
        assert_eq!(rows.iter().map(|row| row.durations.count).sum::<u64>(), 100);
        assert_eq!(rows[1].durations.total_ms, 68.0);
    }

    #[test]
    fn what_has_no_length_is_counted_and_not_taken_for_zero() {
        let mut lengths = Lengths::default();
        lengths.add_length(None, None, (0, 1));
        let durations = lengths.durations();
        assert_eq!(
            (durations.count, durations.without_length, durations.p50_ms, durations.max_ms),
            (1, 1, None, None)
        );
    }
}
