//! What kernel and container do with the process, and what stays unknown.

use super::weight::{finding, matters};
use super::words::{bytes, is_on, of_area, percent};
use assay_model::{Area, Finding, MemoryReport, MemoryRule, PieceKind};

/// Less in huge pages is a stack or two.
const HUGE_BYTES_MIN: u64 = 64 << 20;
/// Share of what is free or beside the heap that must lie in huge pages to be called their doing.
const HUGE_SHARE_MIN: u64 = 4;
/// A collection that has to swap in takes seconds: less than this is pages that nobody uses.
const SWAP_BYTES_MIN: u64 = 16 << 20;
/// A container that is charged more than this may be killed by its next collection's survivors.
const LIMIT_PERCENT: u64 = 90;
/// On idle JVMs and busy servers without tracking less than 0.05 % stays unknown: above 1 % a cause is missing.
const UNKNOWN_SHARE_MAX: u64 = 100;

/// Huge pages that nobody asked for, in memory that is mostly free.
pub(super) fn huge_pages_unasked(report: &MemoryReport) -> Option<Finding<MemoryRule>> {
    let jvm = report.jvm.as_ref()?;
    let huge = report.outside_rss.huge_pages_bytes.filter(|huge| HUGE_BYTES_MIN <= *huge)?;
    if is_on(jvm, "UseTransparentHugePages")? {
        return None;
    }
    // The heap and live buffers use what they touch: there huge pages cost nothing.
    let freed = of_area(report, Area::FreedResident).saturating_add(of_area(report, Area::Stacks));
    if freed < huge / HUGE_SHARE_MIN || !matters(report, freed) {
        return None;
    }
    let found = finding(
        MemoryRule::HugePagesUnrequested,
        "the kernel gives huge pages unasked, also where little of them is used".to_owned(),
        format!(
            "{} in huge pages; freed memory and stacks, which need small ones, have {} resident",
            bytes(huge),
            bytes(freed)
        ),
        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled".to_owned(),
        None,
    );
    Some(found.or("Do the same and ask for huge pages for the Java heap alone: -XX:+UseTransparentHugePages"))
}

/// Memory of the process in swap.
pub(super) fn swapped(report: &MemoryReport) -> Option<Finding<MemoryRule>> {
    let swap = report.outside_rss.swap_bytes.filter(|swap| SWAP_BYTES_MIN <= *swap)?;
    let found = finding(
        MemoryRule::SwappedOut,
        format!("{} of the process is swapped out; a collection that needs it takes seconds", bytes(swap)),
        format!("swap {}, RSS {}", bytes(swap), bytes(report.rss_bytes)),
        "Set a smaller -Xmx".to_owned(),
        None,
    );
    Some(
        found
            .or("Give the machine more memory")
            .or("Keep the container out of swap: memory.swap.max=0")
            .or("sysctl -w vm.swappiness=1"),
    )
}

/// A container near its limit.
pub(super) fn near_limit(report: &MemoryReport) -> Option<Finding<MemoryRule>> {
    let cgroup = report.cgroup.as_ref()?;
    let (current, limit) = (cgroup.current_bytes?, cgroup.limit_bytes.filter(|limit| *limit != 0)?);
    // Page cache that nobody used lately is dropped before anything is killed.
    let droppable = cgroup.inactive_file_bytes.unwrap_or(0);
    let needed = current.saturating_sub(droppable);
    if u128::from(needed) * 100 < u128::from(limit) * u128::from(LIMIT_PERCENT) {
        return None;
    }
    let others = match (cgroup.processes, cgroup.processes_rss_bytes) {
        (Some(2..), Some(rss)) => {
            format!("; other processes in the group have {}", bytes(rss.saturating_sub(report.rss_bytes)))
        }
        _ => String::new(),
    };
    Some(finding(
        MemoryRule::NearLimit,
        format!("the container is charged {} of its limit", percent(needed, limit)),
        format!(
            "charged {}, of it {} page cache that can be dropped, limit {}{others}",
            bytes(current),
            bytes(droppable),
            bytes(limit)
        ),
        format!("Find out which limit this process needs: assay memory advise {}", report.pid),
        None,
    ))
}

/// More unknown than can be left unsaid.
pub(super) fn unknown_share(report: &MemoryReport) -> Option<Finding<MemoryRule>> {
    if !report.has_owners() {
        // Nobody looked for the owners: they are not unknown.
        return None;
    }
    let unknown = report.unknown_bytes;
    if unknown <= report.rss_bytes / UNKNOWN_SHARE_MAX || !matters(report, unknown) {
        return None;
    }
    let kind = |kind: PieceKind| {
        let pieces = report.unknown.iter().filter(|piece| piece.kind == kind);
        pieces.max_by_key(|piece| piece.resident_bytes)
    };
    let largest = [kind(PieceKind::Region), kind(PieceKind::Block)].into_iter().flatten();
    let largest: Vec<String> =
        largest.map(|p| format!("{} ({}, {})", p.what, bytes(p.resident_bytes), p.contents)).collect();
    let largest =
        if largest.is_empty() { String::new() } else { format!("; the largest: {}", largest.join(", ")) };
    let is_tracked = report
        .jvm
        .as_ref()
        .and_then(|jvm| jvm.native_memory_tracking.as_deref())
        .is_some_and(|level| level != "off");
    let setting = match (&report.jvm, is_tracked) {
        (Some(_), false) => {
            "Start it with -XX:NativeMemoryTracking=summary, which names what the JVM itself allocates"
                .to_owned()
        }
        _ => "Record what allocates it: a profiler of malloc from the next start on".to_owned(),
    };
    Some(finding(
        MemoryRule::UnknownLarge,
        format!("the owner of {} is not known", bytes(unknown)),
        format!("{} of RSS{largest}", percent(unknown, report.rss_bytes)),
        setting,
        None,
    ))
}
