//! What rules are made of.

use assay_model::{Change, Finding, GcReport, GcRule};
pub(super) use assay_text::size::rounded_signed as size;

/// A rule.
pub(super) type Rule = fn(&GcReport) -> Option<Finding<GcRule>>;

/// What is added to a finding.
pub(super) trait With {
    fn change(self, change: impl Into<String>, brings: impl Into<String>) -> Self;
    /// What to change instead where a J9 wrote the log; what it brings is the same.
    fn on_j9(self, report: &GcReport, change: &str) -> Self;
    /// A wait for a processor brings about the same: it is named as the cause where the log shows it, and as one to rule out where it
    /// does not.
    fn or_starved(self, report: &GcReport) -> Self;
}

impl With for Finding<GcRule> {
    fn change(mut self, change: impl Into<String>, brings: impl Into<String>) -> Self {
        let brings = Some(brings.into());
        self.change = Some(Change { command: change.into(), brings, ..Change::default() });
        self
    }

    fn on_j9(mut self, report: &GcReport, change: &str) -> Self {
        if let Some(of_hotspot) = self.change.as_mut().filter(|_| is_j9(report)) {
            change.clone_into(&mut of_hotspot.command);
        }
        self
    }

    fn or_starved(mut self, report: &GcReport) -> Self {
        let Some(of_others) = self.change.as_mut() else { return self };
        let change = &of_others.command;
        if let Some(shown) = waited(report) {
            self.evidence.push(format!("threads were kept from working: {shown}"));
            of_others.command =
                format!("First, why threads wait: {WAITS}. Only if none of these is the cause: {change}");
        } else {
            of_others.command = format!("{change}. The same comes of processors that are not free: {WAITS}");
        }
        self
    }
}

/// Where to look for the cause when threads that could run do not.
pub(super) const WAITS: &str = "look for throttling by a CPU limit (nr_throttled in cpu.stat), for other processes on these processors, \
                                and for swapping";

/// A sum of CPU times below this many steps of a single figure tells nothing: HotSpot counts in 10 ms.
pub(super) const STEPS_MIN: f64 = 20.0;

/// What shows that threads of the collector waited in pauses: they ran for less time than passed. Absent where the log has no CPU
/// times, and where these are too short to tell.
pub(super) fn waited(report: &GcReport) -> Option<String> {
    /// Steps of 10 ms are cut off as often as rounded up, so that sums agree; this is for what is left.
    const SHARE_MIN: f64 = 0.8;
    let cpu = report.cpu.filter(|cpu| STEPS_MIN * cpu.resolution_s <= cpu.real_s)?;
    let worked_s = cpu.user_s + cpu.sys_s;
    (worked_s < SHARE_MIN * cpu.real_s).then(|| {
        format!(
            "{:.2} s passed in {} pauses, in which collector threads ran for {worked_s:.2} s",
            cpu.real_s, cpu.count
        )
    })
}

/// Where things of this name stand.
pub(super) fn places(report: &GcReport, name: &str) -> Vec<(usize, u64)> {
    report.places.get(name).cloned().unwrap_or_default()
}

/// The collector of the last JVM.
pub(super) fn collector(report: &GcReport) -> Option<&str> {
    report.jvms.last()?.collector.as_deref()
}

/// Whether a collector moves objects while the application runs, so that its pauses do not grow with the heap.
pub(super) fn is_pauseless(report: &GcReport) -> bool {
    matches!(collector(report), Some("Z" | "Shenandoah"))
}

/// The largest heap that the last JVM may have, bytes.
pub(super) fn heap_max(report: &GcReport) -> Option<f64> {
    report.jvms.last()?.heap_bytes_max.filter(|bytes| *bytes > 0).map(|bytes| bytes as f64)
}

/// The same, or, where the log lacks the settings, the largest that it shows, if collections of all of the heap had cause to make it
/// larger since; and what to say of it.
pub(super) fn heap_limit(report: &GcReport) -> Option<(f64, &'static str)> {
    let seen = || {
        let looks = report.live_set.as_ref().filter(|live| COLLECTIONS_FOR_LIMIT <= live.count).is_some();
        report.series.points.iter().filter_map(|point| point.capacity_bytes).max().filter(|_| looks)
    };
    let said = heap_max(report).map(|bytes| (bytes, "at most"));
    said.or_else(|| Some((seen()? as f64, "so far at most")))
}

/// After so many a JVM would have made its heap larger if it could.
const COLLECTIONS_FOR_LIMIT: u64 = 3;

/// Whether a J9 wrote the log, whose options are others.
pub(super) fn is_j9(report: &GcReport) -> bool {
    report.sources.iter().any(|source| source.dialect.as_deref() == Some("j9"))
}

/// Below this share of time in pauses, percent, collections cost little, as long as no single one is felt.
pub(super) const PAUSED_PERCENT_FELT: f64 = 3.0;

/// Share of the span that the application was stopped for the collector, percent.
pub(super) fn paused_percent(report: &GcReport) -> Option<f64> {
    Some(100.0 - report.throughput_percent?)
}

/// Number of pauses with a cause, their sum in milliseconds, and where the longest of them is.
pub(super) type Caused = (u64, f64, Option<(usize, u64)>);

/// Pauses with a cause.
pub(super) fn caused(report: &GcReport, cause: &str) -> Option<Caused> {
    let row = report.pauses_by_cause.iter().find(|row| row.name == cause)?;
    Some((row.durations.count, row.durations.total_ms, row.durations.max_at))
}
