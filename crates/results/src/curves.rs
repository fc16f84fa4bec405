//! Percentile curves over several windows, from the merged histograms of the interval logs. Percentiles of windows are
//! never averaged.

use crate::run_dir::read_json;
use assay_model::{CapacityReport, LatencyPoint, SearchStep, Trial, Window, file, schema};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use std::collections::BTreeMap;
use std::path::Path;

const NS_PER_MS: f64 = 1e6;
/// Largest interval log that is read: a second takes some 4 KB.
const LOG_BYTES_MAX: u64 = 256 << 20;

/// Response times of a trial's windows that count, merged; for a search, those at the highest rate that it sustained. Absent when there is no whole interval log.
pub fn histogram_of(folder: &Path, trial: &Trial) -> Option<Histogram<u64>> {
    let path = folder.join(file::LATENCY_LOG);
    if LOG_BYTES_MAX < std::fs::metadata(&path).ok()?.len() {
        return None;
    }
    let text = std::fs::read(path).ok()?;
    let by_window = merged_by_window(&text)?;
    let report = read_json::<CapacityReport>(&folder.join(file::CAPACITY), schema::CAPACITY).ok();
    let counts: Vec<bool> = match &report {
        Some(report) => at_highest_rate(report),
        None => trial.windows.iter().map(Window::counts).collect(),
    };
    if by_window.len() != counts.len() {
        return None;
    }
    let mut counting = by_window.into_iter().zip(counts).filter(|(_, counts)| *counts);
    let (mut merged, _) = counting.next()?;
    for (histogram, _) in counting {
        merged.add(&histogram).ok()?;
    }
    Some(merged)
}

/// The percentile curve of a histogram of nanoseconds.
pub fn curve(histogram: &Histogram<u64>) -> Vec<LatencyPoint> {
    LatencyPoint::curve(histogram.len(), |quantile| histogram.value_at_quantile(quantile) as f64 / NS_PER_MS)
}

/// Percentile curve of each variant over its trials that count, of their response times by the trial's number.
pub fn by_variant(
    trials: &[Trial],
    histograms: &BTreeMap<u32, Histogram<u64>>,
) -> BTreeMap<String, Vec<LatencyPoint>> {
    let mut merged: BTreeMap<&str, Histogram<u64>> = BTreeMap::new();
    for trial in trials.iter().filter(|trial| trial.counts()) {
        let Some(histogram) = histograms.get(&trial.number) else { continue };
        match merged.get_mut(&*trial.variant) {
            // The histograms are all of the same shape, or grow.
            Some(sum) => drop(sum.add(histogram)),
            None => drop(merged.insert(&trial.variant, histogram.clone())),
        }
    }
    merged.into_iter().map(|(variant, histogram)| (variant.to_owned(), curve(&histogram))).collect()
}

/// Which windows of a search are at the highest rate that was sustained: other rates have other response times.
fn at_highest_rate(report: &CapacityReport) -> Vec<bool> {
    let rate = |(window, step): (&Window, &SearchStep)| {
        (step.is_sustained && window.counts()).then_some(step.offered_rate_per_s)
    };
    let highest = report.steps().filter_map(rate).fold(0.0, f64::max);
    report.steps().map(|of| rate(of) == Some(highest)).collect()
}

/// One histogram for each log in the file; a log begins with its base time.
fn merged_by_window(text: &[u8]) -> Option<Vec<Histogram<u64>>> {
    let mut windows: Vec<Histogram<u64>> = Vec::new();
    let mut deserializer = Deserializer::new();
    for entry in IntervalLogIterator::new(text) {
        match entry.ok()? {
            LogEntry::BaseTime(_) => windows.push(Histogram::new(3).ok()?),
            LogEntry::StartTime(_) => {}
            // Tagged intervals are service times.
            LogEntry::Interval(interval) if interval.tag().is_none() => {
                let bytes = STANDARD.decode(interval.encoded_histogram()).ok()?;
                let histogram: Histogram<u64> = deserializer.deserialize(&mut bytes.as_slice()).ok()?;
                windows.last_mut()?.add(&histogram).ok()?;
            }
            LogEntry::Interval(_) => {}
        }
    }
    Some(windows)
}
