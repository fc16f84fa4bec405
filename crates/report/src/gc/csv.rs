//! What GC logs say as CSV: a row for each figure, with what it is of, its value in full and its unit.

use assay_kit::text;
use assay_model::{Estimate, GcDurations, GcReport, GcRow};
use std::io::{self, Write};

/// The columns, in order.
const COLUMNS: &str = "table,name,metric,unit,value,low,high";

/// Writes all of it; what is absent has no row.
pub fn render(report: &GcReport, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{COLUMNS}")?;
    let mut rows = Rows(out);
    rows.plain("log", "", "span", "s", report.span_s)?;
    rows.plain("log", "", "throughput", "percent", report.throughput_percent)?;
    rows.plain("log", "", "lines_not_understood", "lines", Some(report.not_understood.lines as f64))?;
    rows.durations("pauses", "all", &report.pauses)?;
    let tables: [(&str, &[GcRow]); 7] = [
        ("pauses_by_phase", &report.pauses_by_phase),
        ("pauses_by_cause", &report.pauses_by_cause),
        ("full_by_cause", &report.full_by_cause),
        ("concurrent_by_phase", &report.concurrent_by_phase),
        ("cycles_by_phase", &report.cycles_by_phase),
        ("stalls_by_phase", &report.stalls_by_phase),
        ("safepoints_by_operation", &report.safepoints_by_operation),
    ];
    for (table, list) in tables {
        for row in list {
            rows.durations(table, &row.name, &row.durations)?;
        }
    }
    rows.durations("time_to_safepoint", "all", &report.time_to_safepoint)?;
    rows.plain("safepoints", "other", "total", "ms", report.other_safepoints_ms)?;
    rows.estimate("memory", "allocated", "rate", "bytes/s", report.allocated_bytes_per_s.as_ref())?;
    rows.whole("memory", "allocated", "total", "bytes", report.allocated_bytes)?;
    rows.estimate("memory", "promoted", "rate", "bytes/s", report.promoted_bytes_per_s.as_ref())?;
    rows.plain("memory", "promoted", "share", "percent", report.promoted_percent)?;
    rows.whole("memory", "freed", "total", "bytes", report.freed_bytes)?;
    rows.estimate("memory", "garbage", "per_request", "bytes", report.garbage_bytes_per_request.as_ref())?;
    if let Some(live) = &report.live_set {
        rows.whole("memory", "live_set", "last", "bytes", Some(live.last_bytes))?;
        rows.whole("memory", "live_set", "max", "bytes", Some(live.max_bytes))?;
        rows.estimate("memory", "live_set", "slope", "bytes/h", live.slope_bytes_per_h.as_ref())?;
    }
    for (space, of) in &report.spaces {
        let name = super::words::space(*space);
        rows.whole("spaces", name, "last", "bytes", of.last_bytes)?;
        rows.whole("spaces", name, "max", "bytes", of.max_bytes)?;
        rows.whole("spaces", name, "capacity_max", "bytes", of.capacity_bytes_max)?;
    }
    for mmu in &report.mmu {
        rows.plain(
            "mmu",
            &format!("{} ms", mmu.window_ms),
            "share",
            "percent",
            Some(mmu.utilisation_percent),
        )?;
    }
    for (name, cpu) in [("pauses", &report.cpu), ("concurrent", &report.concurrent_cpu)] {
        let Some(cpu) = cpu else { continue };
        rows.plain("cpu", name, "user", "s", Some(cpu.user_s))?;
        rows.plain("cpu", name, "system", "s", Some(cpu.sys_s))?;
        rows.plain("cpu", name, "real", "s", Some(cpu.real_s))?;
    }
    for (trouble, number) in &report.troubles {
        rows.plain("troubles", super::words::trouble(*trouble), "count", "events", Some(*number as f64))?;
    }
    for (trigger, number) in &report.triggers {
        rows.plain("triggers", trigger, "count", "events", Some(*number as f64))?;
    }
    Ok(())
}

struct Rows<'a>(&'a mut dyn Write);

impl Rows<'_> {
    fn row(&mut self, of: [&str; 4], values: [String; 3]) -> io::Result<()> {
        let [table, name, metric, unit] = of.map(text::csv);
        let [value, low, high] = values;
        writeln!(self.0, "{table},{name},{metric},{unit},{value},{low},{high}")
    }

    fn plain(
        &mut self,
        table: &str,
        name: &str,
        metric: &str,
        unit: &str,
        value: Option<f64>,
    ) -> io::Result<()> {
        let none = String::new;
        match value.filter(|v| v.is_finite()) {
            Some(value) => self.row([table, name, metric, unit], [value.to_string(), none(), none()]),
            None => Ok(()),
        }
    }

    /// Bytes beyond 2^53 keep their last digit.
    fn whole(
        &mut self,
        table: &str,
        name: &str,
        metric: &str,
        unit: &str,
        value: Option<u64>,
    ) -> io::Result<()> {
        let none = String::new;
        value.map_or(Ok(()), |v| self.row([table, name, metric, unit], [v.to_string(), none(), none()]))
    }

    fn estimate(
        &mut self,
        table: &str,
        name: &str,
        metric: &str,
        unit: &str,
        value: Option<&Estimate>,
    ) -> io::Result<()> {
        let Some(value) = value.filter(|v| v.estimate.is_finite()) else { return Ok(()) };
        let end = |v: Option<f64>| v.filter(|v| v.is_finite()).map_or_else(String::new, |v| v.to_string());
        self.row([table, name, metric, unit], [value.estimate.to_string(), end(value.low), end(value.high)])
    }

    fn durations(&mut self, table: &str, name: &str, of: &GcDurations) -> io::Result<()> {
        self.whole(table, name, "count", "events", Some(of.count))?;
        if of.count == 0 {
            return Ok(());
        }
        let figures = [
            ("total", Some(of.total_ms)),
            ("p50", of.p50_ms),
            ("p90", of.p90_ms),
            ("p95", of.p95_ms),
            ("p99", of.p99_ms),
            ("p99.9", of.p999_ms),
            ("max", of.max_ms),
        ];
        figures.into_iter().try_for_each(|(metric, value)| self.plain(table, name, metric, "ms", value))
    }
}
