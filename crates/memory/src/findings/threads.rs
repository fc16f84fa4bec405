//! Threads and their stacks.

use super::rule::{Found, Judge, Rule, finding, matters};
use super::words::{bytes, ends, of_area, percent};
use assay_model::{Area, MemoryReport, RuleId, Severity, Threshold};

pub(super) static RULES: &[&Rule] = &[&STALE_STACKS, &MANY_THREADS];

/// From here on the number itself is the cause: stacks, kernel stacks, malloc caches and page tables come with each.
const THREADS: Threshold = Threshold::count("threads", 500);

static STALE_STACKS: Rule = Rule {
    id: RuleId::of("stale-stacks"),
    severity: Severity::Warning,
    thresholds: &[],
    evidence: "Resident stack below the stack pointers of all threads.",
    cause: "Deeper calls have returned. The pages that they touched stay until the thread ends.",
    fix: "Let idle threads of pools end.",
    alternatives: &["Use fewer threads.", "Bound the depth of stacks: `-Xss`."],
    judge: Judge::of(stale_stacks).about(|path| ends(path, Area::Stacks, "stale, below SP")),
};

/// Stack pages below the stack pointer, left from deeper calls.
fn stale_stacks(report: &MemoryReport) -> Option<Found> {
    let stale = report.threads.iter().filter_map(|thread| thread.stack_stale_bytes);
    let gain = stale.fold(0u64, u64::saturating_add);
    matters(report, gain).then(|| {
        let number = report.threads.len();
        finding(
            &STALE_STACKS,
            format!("{} of thread stacks is stale: used by deeper calls that have returned", bytes(gain)),
            format!(
                "below the stack pointers of {number} threads: {} of {} resident stack; it stays until the thread ends",
                bytes(gain),
                bytes(of_area(report, Area::Stacks))
            ),
            "Let idle threads of pools end (keep-alive)".to_owned(),
            Some(gain),
        )
        .of_resident(gain)
        .or("Use fewer threads")
        .or("Bound the depth of stacks: -Xss")
    })
}

static MANY_THREADS: Rule = Rule {
    id: RuleId::of("many-threads"),
    severity: Severity::Warning,
    thresholds: &[THREADS],
    evidence: "The number of threads (from {threads} on), their resident stacks and their kernel stacks.",
    cause: "Each thread has a stack, a kernel stack, a cache of malloc and page tables.",
    fix: "Use smaller pools.",
    alternatives: &["Use virtual threads (from JDK 21 on)."],
    judge: Judge::of(many_threads).about(|path| Area::of_path(path) == Some(Area::Stacks)),
};

/// Very many threads.
fn many_threads(report: &MemoryReport) -> Option<Found> {
    let listed = Some(report.threads.len() as u64).filter(|threads| *threads != 0);
    let threads = report.outside_rss.threads.or(listed).filter(|threads| THREADS.whole() <= *threads)?;
    let stacks = of_area(report, Area::Stacks);
    let beside = report.outside_rss.kernel_stacks_bytes;
    if !matters(report, stacks.saturating_add(beside.unwrap_or(0))) {
        return None;
    }
    let kernel = beside.map_or(String::new(), |b| {
        format!("; {} of kernel stacks besides, charged to the container", bytes(b))
    });
    let reserve = report.jvm.as_ref().and_then(|jvm| jvm.thread_stack_bytes);
    let reserve = reserve.map_or(String::new(), |b| format!(" (each reserves {}, touched or not)", bytes(b)));
    let feature = report.jvm.as_ref().and_then(|jvm| jvm.feature);
    let found = finding(
        &MANY_THREADS,
        format!("{threads} threads"),
        format!(
            "stacks {} resident{reserve}, {} of RSS{kernel}",
            bytes(stacks),
            percent(stacks, report.rss_bytes)
        ),
        "Use smaller thread pools".to_owned(),
        None,
    );
    Some(if feature.is_some_and(|f| 21 <= f) { found.or("Use virtual threads") } else { found })
}
