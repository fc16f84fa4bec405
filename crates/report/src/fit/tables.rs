//! The tables of a fitted container.

use super::words;
use assay_kit::Table;
use assay_kit::number::{signed_size, size};
use assay_kit::text::clean;
use assay_model::{FitProbe, FitReport, FitVerdict, FittedOption};

/// What formulas would have set.
pub fn formulas(report: &FitReport) -> Table {
    Table::of("Settings of common formulas, each with the same -Xmx", &report.formulas)
        .words("Formula", |of| words::formula(of.name))
        .figures("Memory", |of| size(of.memory_bytes))
        .figures("Above the smallest", |of| signed_size(of.above_bytes))
        .words("Holds", |of| match of.holds {
            Some(true) => "yes",
            Some(false) => "no",
            None => "within the interval",
        })
        .figures("CPU, millicores", |of| {
            of.cpu_millicores.map_or_else(|| "-".to_owned(), |cpu| format!("{cpu:.0}"))
        })
        .words("Arithmetic", |of| clean(&of.arithmetic))
        .table()
}

/// Probes at the same limit of memory.
struct AtLimit<'a> {
    memory_bytes: u64,
    probes: Vec<&'a FitProbe>,
}

impl AtLimit<'_> {
    fn mean(&self, of: impl Fn(&FitProbe) -> Option<f64>) -> Option<f64> {
        let values: Vec<f64> = self.probes.iter().filter_map(|probe| of(probe)).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }
}

/// The curve of memory against CPU time and response time.
pub fn curve(report: &FitReport) -> Table {
    let is_memory = |probe: &&FitProbe| probe.counts && probe.cpu_millicores.is_none();
    let mut probes: Vec<&FitProbe> =
        report.probes.iter().filter(is_memory).filter(|probe| probe.memory_bytes.is_some()).collect();
    probes.sort_by_key(|probe| probe.memory_bytes);
    let of_each = probes
        .chunk_by(|a, b| a.memory_bytes == b.memory_bytes)
        .map(|near| AtLimit { memory_bytes: near[0].memory_bytes.unwrap_or(0), probes: near.to_vec() });
    Table::of("Memory against response time and CPU time, means of the runs at each limit", of_each)
        .figures("Memory limit", |of| size(of.memory_bytes))
        .figures("-Xmx", |of| {
            let heap = of.probes.iter().filter_map(|probe| probe.heap_bytes).max();
            heap.map_or_else(|| "-".to_owned(), size)
        })
        .figures("Runs that held", |of| {
            let held = of.probes.iter().filter(|probe| probe.verdict == FitVerdict::Holds).count();
            format!("{held} of {}", of.probes.len())
        })
        .figures("p99, ms", |of| words::figure(of.mean(|probe| probe.response_ms.p99)))
        .figures("CPU time per request, ms", |of| words::figure(of.mean(|probe| probe.cpu_ms_per_request)))
        .figures("Waited for memory, %", |of| words::figure(of.mean(|probe| probe.stalled_percent)))
        .table()
}

/// All that was tried.
pub fn probes(report: &FitReport) -> Table {
    Table::of("Every probe, in order", &report.probes)
        .figures("Probe", |of| of.number.to_string())
        .figures("Memory limit", |of| of.memory_bytes.map_or_else(|| "none".to_owned(), size))
        .figures("CPU limit, millicores", |of| {
            of.cpu_millicores.map_or_else(|| "none".to_owned(), |cpu| format!("{cpu:.0}"))
        })
        .figures("-Xmx", |of| of.heap_bytes.map_or_else(|| "-".to_owned(), size))
        .words("Result", |of| of.verdict.word().to_owned() + if of.counts { "" } else { ", left out" })
        .figures("p99, ms", |of| words::figure(of.response_ms.p99))
        .figures("Largest charge", |of| of.peak_bytes.map_or_else(|| "-".to_owned(), size))
        .words("Why it was made", |of| words::purpose(of))
        .words("Detail", |of| clean(&of.detail))
        .table()
}

/// Each value of an option.
pub fn values(option: &FittedOption) -> Table {
    let ratio = |of: &assay_model::FitValue| match of.ratio {
        Some(ratio) => assay_kit::number::interval(ratio.estimate, ratio.ends()),
        None if Some(of.value) == option.best => "best".to_owned(),
        None => "-".to_owned(),
    };
    Table::of("Each value, and its ratio to the best one: above 1 is worse", &option.values)
        .figures("Value", |of| of.value.to_string())
        .figures(option.metric.as_str(), |of| {
            of.metric.map_or_else(|| "-".to_owned(), |of| assay_kit::number::interval(of.estimate, of.ends()))
        })
        .figures("Ratio to the best", |of| ratio(of))
        .figures("Blocks", |of| of.blocks.to_string())
        .table()
}
