//! Threads and their stacks.

use super::weight::{finding, matters};
use super::words::{bytes, of_area, percent, total};
use assay_model::{Area, Finding, MemoryReport, MemoryRule};

/// From here on the number itself is the cause: stacks, kernel stacks, malloc caches and page tables come with each.
const THREADS_MANY: u64 = 500;
/// Servers were measured at 50 to 110 KiB a thread; with a huge page beneath it a stack has 2 MiB.
const STACK_INFLATED_BYTES: u64 = 1 << 20;
/// What a stack is taken to need where all of them are inflated.
const STACK_USUAL_BYTES: u64 = 128 << 10;
/// Stacks in a row that look inflated: one deep recursion is not a pattern.
const STACKS_INFLATED_MIN: usize = 8;

/// Stack pages below the stack pointer, left from deeper calls.
pub(super) fn stale_stacks(report: &MemoryReport) -> Option<Finding<MemoryRule>> {
    let stale = report.threads.iter().filter_map(|thread| thread.stack_stale_bytes);
    let gain = stale.fold(0u64, u64::saturating_add);
    matters(report, gain).then(|| {
        let number = report.threads.len();
        finding(
            MemoryRule::StaleStacks,
            format!("{} of thread stacks is stale: used by deeper calls that have returned", bytes(gain)),
            format!(
                "below the stack pointers of {number} threads: {} of {} resident stack; it stays until the thread ends",
                bytes(gain),
                bytes(of_area(report, Area::Stacks))
            ),
            "Let idle threads of pools end (keep-alive)".to_owned(),
            Some(gain),
        )
        .or("Use fewer threads")
        .or("Bound the depth of stacks: -Xss")
    })
}

/// Very many threads.
pub(super) fn many_threads(report: &MemoryReport) -> Option<Finding<MemoryRule>> {
    let listed = Some(report.threads.len() as u64).filter(|threads| *threads != 0);
    let threads = report.outside_rss.threads.or(listed).filter(|threads| THREADS_MANY <= *threads)?;
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
        MemoryRule::ManyThreads,
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

/// Stacks that a huge page made resident as a whole.
pub(super) fn huge_pages_in_stacks(report: &MemoryReport) -> Option<Finding<MemoryRule>> {
    let huge = report.outside_rss.huge_pages_bytes.filter(|huge| *huge != 0)?;
    let inflated: Vec<u64> = report
        .threads
        .iter()
        .map(|thread| thread.stack_resident_bytes)
        .filter(|resident| STACK_INFLATED_BYTES <= *resident)
        .collect();
    if inflated.len() < STACKS_INFLATED_MIN {
        return None;
    }
    // What the other stacks need is what these would need too.
    let others = report.threads.len() - inflated.len();
    let usual = report.threads.iter().map(|t| t.stack_resident_bytes).filter(|b| *b < STACK_INFLATED_BYTES);
    let usual = usual.fold(0, u64::saturating_add).checked_div(others as u64).unwrap_or(STACK_USUAL_BYTES);
    let all = total(&inflated);
    let gain = all.saturating_sub(usual.saturating_mul(inflated.len() as u64)).min(huge);
    matters(report, gain).then(|| {
        finding(
            MemoryRule::HugePagesInStacks,
            format!("huge pages make {} thread stacks resident beyond what they need", inflated.len()),
            format!(
                "{} stacks have {} resident, the others {} each; {} of the process lies in huge pages",
                inflated.len(),
                bytes(all),
                bytes(usual),
                bytes(huge)
            ),
            "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled".to_owned(),
            Some(gain),
        )
        .or("Use a JDK update from 2024 on, which keeps huge pages out of stacks (JDK-8303215)")
        .or("Set -Xss1020k, which is not a multiple of the huge page size")
    })
}
