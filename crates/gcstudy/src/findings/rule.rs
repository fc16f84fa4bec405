//! The parts of rules.

use assay_model::{Change, Finding, GcReport, GcTrend, RuleId, Threshold};
pub(super) use assay_text::size::rounded_signed as size;

/// What a rule finds.
pub(super) type Found = Finding<RuleId>;

/// A rule.
pub(super) type Rule = assay_model::Rule<fn(&GcReport) -> Option<Found>>;

/// A rule whose findings are causes, and the share of the stopped time that one explains.
pub(super) type Share = (&'static Rule, fn(&GcReport) -> f64);

/// What is added to a finding.
pub(super) trait With {
    fn change(self, step: impl Into<String>, expected_effect: impl Into<String>) -> Self;
    /// The first of these steps, and the others as alternatives.
    fn steps(self, steps: Vec<String>, expected_effect: impl Into<String>) -> Self;
    /// The step and its alternatives instead where a J9 wrote the log; the expected effect is the same.
    fn on_j9(self, report: &GcReport, step: &str, alternatives: &[&str]) -> Self;
    /// A wait for a processor brings about the same: where the log shows one, its cause is the step, and else one to rule out.
    fn or_starved(self, report: &GcReport) -> Self;
}

impl With for Found {
    fn change(mut self, step: impl Into<String>, expected_effect: impl Into<String>) -> Self {
        let expected_effect = Some(expected_effect.into());
        self.change = Some(Change { command: step.into(), expected_effect, ..Change::default() });
        self
    }

    fn steps(mut self, steps: Vec<String>, expected_effect: impl Into<String>) -> Self {
        let mut steps = steps.into_iter();
        if let Some(first) = steps.next() {
            let (alternatives, expected_effect) = (steps.collect(), Some(expected_effect.into()));
            self.change = Some(Change { command: first, alternatives, expected_effect, ..Change::default() });
        }
        self
    }

    fn on_j9(mut self, report: &GcReport, step: &str, alternatives: &[&str]) -> Self {
        if let Some(of_hotspot) = self.change.as_mut().filter(|_| is_j9(report)) {
            step.clone_into(&mut of_hotspot.command);
            of_hotspot.alternatives = alternatives.iter().map(|text| (*text).to_owned()).collect();
        }
        self
    }

    fn or_starved(mut self, report: &GcReport) -> Self {
        let Some(of_others) = self.change.as_mut() else { return self };
        let Some(shown) = waited(report) else { return self.or(FREE_PROCESSORS) };
        self.evidence.push(format!("threads were kept from working: {shown}"));
        let step = std::mem::replace(&mut of_others.command, WHY_THREADS_WAIT.to_owned());
        of_others.alternatives.insert(0, format!("Only if nothing keeps threads waiting: {step}"));
        of_others.expected_effect = Some("Threads that have work run".to_owned());
        self
    }
}

/// Where to look for the cause when threads that could run do not.
pub(super) const WHY_THREADS_WAIT: &str = "Find out why threads wait for processors: `assay host` on that machine shows CPU limits, swapping \
                                           and other load";

/// The same, where the log does not show that they wait.
const FREE_PROCESSORS: &str = "Rule out that processors were not free, which brings about the same: `assay host` on that machine shows CPU \
                               limits, swapping and other load";

/// More room for the heap, with what it has.
pub(super) fn more_room(report: &GcReport) -> String {
    let above = heap_max(report).map_or_else(String::new, |max| format!(" above {}", size(max)));
    format!("Give the heap more room: raise -Xmx{above}")
}

/// Live objects below this share of the heap leave it room enough: a larger one collects as much as often.
const ROOMY: f64 = 0.5;

/// More room where live objects fill the heap, or may: then that comes first, and another step second. A heap that is half empty after each
/// collection needs the other step alone.
pub(super) fn room_first(report: &GcReport, other: &str) -> Vec<String> {
    let share =
        report.live_set.as_ref().zip(heap_max(report)).map(|(live, max)| live.level_bytes as f64 / max);
    // More heap only delays the end of a leak.
    if report.live_set.as_ref().is_some_and(|live| live.trend == GcTrend::Grows) {
        return vec![other.to_owned()];
    }
    match share.or_else(|| after_share(report)) {
        Some(share) if share < ROOMY => vec![other.to_owned()],
        _ => vec![more_room(report), other.to_owned()],
    }
}

/// The heap in use after the least of collections, as a share of the largest heap: an upper bound of what lives.
fn after_share(report: &GcReport) -> Option<f64> {
    let after = report.series.points.iter().filter_map(|point| point.after_bytes_min).min()?;
    Some(after as f64 / heap_max(report)?)
}

pub(super) const LESS_ALLOCATION: &str = "Allocate less: find what allocates most";
pub(super) const EARLIER_MARKING: &str = "Begin marking earlier: lower -XX:InitiatingHeapOccupancyPercent";
pub(super) const MORE_RESERVE: &str = "Keep more in reserve: -XX:G1ReservePercent=20";
pub(super) const MORE_THREADS: &str = "Give concurrent work more threads: raise -XX:ConcGCThreads";
pub(super) const EARLIER_CMS: &str =
    "Let CMS begin earlier: -XX:CMSInitiatingOccupancyFraction=60 -XX:+UseCMSInitiatingOccupancyOnly";

/// A sum of CPU times below this many steps of a single figure tells nothing: HotSpot counts in 10 ms.
pub(super) const STEPS: Threshold = Threshold::count("steps", 20);

/// The least CPU time of collector threads in pauses where nothing keeps them waiting. Steps of 10 ms are cut off as often as rounded up, so
/// that sums agree; this is for what is left.
pub(super) const WORKED: Threshold = Threshold::percent("worked", 80.0);

/// What shows that threads of the collector waited in pauses: they ran for less time than passed. Absent where the log has no CPU
/// times, and where these are too short to tell.
pub(super) fn waited(report: &GcReport) -> Option<String> {
    let cpu = report.cpu.filter(|cpu| STEPS.value * cpu.resolution_s <= cpu.real_s)?;
    let worked_s = cpu.user_s + cpu.sys_s;
    (worked_s < WORKED.share() * cpu.real_s).then(|| {
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
        let looks =
            report.live_set.as_ref().filter(|live| COLLECTIONS_FOR_LIMIT.whole() <= live.count).is_some();
        report.series.points.iter().filter_map(|point| point.capacity_bytes).max().filter(|_| looks)
    };
    let said = heap_max(report).map(|bytes| (bytes, "at most"));
    said.or_else(|| Some((seen()? as f64, "so far at most")))
}

/// After so many a JVM would have made its heap larger if it could.
pub(super) const COLLECTIONS_FOR_LIMIT: Threshold = Threshold::count("collections", 3);

/// Whether a J9 wrote the log, whose options are others.
pub(super) fn is_j9(report: &GcReport) -> bool {
    report.sources.iter().any(|source| source.dialect.as_deref() == Some("j9"))
}

/// Below this share of time in pauses collections cost little, as long as no single one is felt.
pub(super) const FELT: Threshold = Threshold::percent("felt", 3.0);

/// A pause that users notice, of a collector that stops the application to move objects; jifa's default.
pub(super) const LONG: Threshold = Threshold::ms("long", 400.0);

/// Of a shorter log a share of the time is that of its start or its end.
pub(super) const LONG_ENOUGH: Threshold = Threshold::seconds("long_enough", 5.0);

/// The span of a log that is long enough to speak of shares of it, seconds.
pub(super) fn span_of_shares(report: &GcReport) -> Option<f64> {
    report.span_s.filter(|s| LONG_ENOUGH.value <= *s)
}

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

/// A part of all time in which the application stood still or waited for the collector.
pub(super) fn of_stopped(report: &GcReport, ms: f64) -> f64 {
    let others_ms = report.other_safepoints_ms.unwrap_or(0.0) + report.stalled_ms.unwrap_or(0.0);
    ms / (report.pauses.total_ms + others_ms).max(f64::MIN_POSITIVE)
}
