//! What kernel and container do with the process, and what stays unknown.

use super::profilers;
use super::rule::{Found, Judge, Rule, finding, matters};
use super::words::{bytes, of_area, percent};
use assay_model::{Area, MemoryReport, PieceKind, RuleId, Severity, Threshold};

pub(super) static RULES: &[&Rule] = &[&SWAPPED_OUT, &KILLED_AT_LIMIT, &NEAR_LIMIT, &UNKNOWN_LARGE];

/// A collection that has to swap in takes seconds: less than this is pages that nobody uses.
const SWAPPED: Threshold = Threshold::bytes("swapped", 16 << 20);
/// A container that is charged more than this may be killed by its next collection's survivors.
const LIMIT: Threshold = Threshold::percent("limit", 90.0);
/// On idle JVMs and busy servers without tracking less than 0.05 % stays unknown: above 1 % a cause is missing.
const UNKNOWN: Threshold = Threshold::percent("unknown", 1.0);

static SWAPPED_OUT: Rule = Rule {
    id: RuleId::of("swapped-out"),
    severity: Severity::Warning,
    thresholds: &[SWAPPED],
    evidence: "Bytes of the process in swap, from {swapped} on.",
    cause: "The kernel wrote pages to the swap device. A collection that reads them back takes seconds.",
    fix: "Set a smaller `-Xmx`.",
    alternatives: &[
        "Give the machine more memory.",
        "Keep the container out of swap: `memory.swap.max=0`.",
        "Set `vm.swappiness=1`.",
    ],
    judge: Judge::of(swapped),
};

/// Memory of the process in swap.
fn swapped(report: &MemoryReport) -> Option<Found> {
    let swap = report.outside_rss.swap_bytes.filter(|swap| SWAPPED.whole() <= *swap)?;
    let found = finding(
        &SWAPPED_OUT,
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

/// The finding of a kill, to which a record adds what grew before.
pub(crate) const KILLED: &str = "killed-at-limit";

static KILLED_AT_LIMIT: Rule = Rule {
    id: RuleId::of(KILLED),
    severity: Severity::Error,
    thresholds: &[],
    evidence: "Processes of the container that the kernel killed for memory, its limit, and how often the \
        charge reached it. A record also has these at the end of the process.",
    cause: "The container needed more memory than its limit, and nothing was left that the kernel could drop.",
    fix: "Find out which limit the process needs: `assay memory advise PID`.",
    alternatives: &[
        "Record it until the next time (`assay memory PID --record FILE`): the record says what grew before.",
    ],
    judge: Judge::of(killed_at_limit),
};

/// Processes of the container that the kernel killed: the recorded one, or others before it.
fn killed_at_limit(report: &MemoryReport) -> Option<Found> {
    let group = report.cgroup.as_ref();
    let ended = report.end.as_ref().filter(|end| end.is_killed());
    let (kills, limit) = match ended {
        Some(end) => (end.oom_kills?, end.limit_bytes?),
        None => (group?.oom_kills.filter(|kills| 0 < *kills)?, group?.limit_bytes?),
    };
    let limit = bytes(limit);
    let hits = match ended {
        Some(end) => end.limit_hits,
        None => group.and_then(|group| group.limit_hits),
    };
    let claim = match (ended.map(|end| end.processes), hits) {
        (Some(Some(1)), Some(0)) => format!(
            "the kernel killed the process for memory, and not at its container's own limit; the tightest limit is {limit}"
        ),
        (Some(Some(1)), Some(_)) => format!("the kernel killed the process at the memory limit of {limit}"),
        (Some(Some(1)), None) => format!("the kernel killed the process for memory; its limit is {limit}"),
        (Some(_), _) => {
            format!(
                "the process ended when the kernel killed one of its container for memory; the limit is {limit}"
            )
        }
        (None, _) => {
            format!(
                "the kernel has killed {kills} of the container's processes for memory; its limit is {limit}"
            )
        }
    };
    let hits = match hits {
        Some(0) => "; the charge never ran into the container's own limit: that of a group above, or the \
                    machine's memory, was full"
            .to_owned(),
        Some(hits) => format!("; the charge ran into the limit {hits} times"),
        None => String::new(),
    };
    let at_last = group.and_then(|group| group.current_bytes).map_or_else(String::new, |current| {
        let when = if ended.is_some() { "at the last snapshot" } else { "now" };
        format!("; charged {} {when}", bytes(current))
    });
    let evidence = format!("killed processes (oom_kill): {kills}{hits}{at_last}");
    let found = finding(
        &KILLED_AT_LIMIT,
        claim,
        evidence,
        format!("Find out which limit this process needs: assay memory advise {}", report.pid),
        None,
    );
    Some(match ended {
        // The process is gone; its successor has another number.
        Some(_) => found.to_do("Find out which limit its successor needs: assay memory advise PID"),
        None => found.or(format!(
            "Record what grows until the next time: assay memory {} --record killed.ndjson",
            report.pid
        )),
    })
}

static NEAR_LIMIT: Rule = Rule {
    id: RuleId::of("near-limit"),
    severity: Severity::Error,
    thresholds: &[LIMIT],
    evidence: "The container's charge without reclaimable page cache, as a share of its limit. Made from \
        {limit} on.",
    cause: "The next growth may exceed the limit, and the kernel then kills a process of the container.",
    fix: "Find out which limit the process needs: `assay memory advise PID`.",
    alternatives: &[],
    judge: Judge::of(near_limit),
};

/// A container near its limit.
fn near_limit(report: &MemoryReport) -> Option<Found> {
    let cgroup = report.cgroup.as_ref().filter(|_| report.end.is_none())?;
    let (current, limit) = (cgroup.current_bytes?, cgroup.limit_bytes.filter(|limit| *limit != 0)?);
    // Page cache that nobody used lately is dropped before anything is killed.
    let droppable = cgroup.inactive_file_bytes.unwrap_or(0);
    let needed = current.saturating_sub(droppable);
    if needed < LIMIT.share_of(limit) {
        return None;
    }
    let others = match (cgroup.processes, cgroup.processes_rss_bytes) {
        (Some(2..), Some(rss)) => {
            format!("; other processes in the group have {}", bytes(rss.saturating_sub(report.rss_bytes)))
        }
        _ => String::new(),
    };
    Some(finding(
        &NEAR_LIMIT,
        format!("the container is charged {} of its limit", percent(needed, limit)),
        format!(
            "charged {}, including {} of reclaimable page cache, limit {}{others}",
            bytes(current),
            bytes(droppable),
            bytes(limit)
        ),
        format!("Find out which limit this process needs: assay memory advise {}", report.pid),
        None,
    ))
}

static UNKNOWN_LARGE: Rule = Rule {
    id: RuleId::of("unknown-large"),
    severity: Severity::Note,
    thresholds: &[UNKNOWN],
    evidence: "Bytes without a known owner, above {unknown} of RSS, with the largest pieces and their content.",
    cause: "Neither the JVM nor an allocator nor a Java object is known to own it, such as memory of a \
        library with its own allocator.",
    fix: "Record the calls of malloc: `asprof -e nativemem -d 60 -f native.jfr PID` (async-profiler), or \
        `heaptrack --pid PID` without a JVM. For mapped memory, record the calls of mmap.",
    alternatives: &[
        "Start it with `-XX:NativeMemoryTracking=summary`, which names what the JVM itself allocates, but nothing of other libraries.",
    ],
    judge: Judge::of(unknown_share).about(is_unknown),
};

fn is_unknown(path: &[String]) -> bool {
    matches!(Area::of_path(path), Some(Area::MallocHeap | Area::NativeAnonymous))
}

/// More unknown than can be left unsaid.
fn unknown_share(report: &MemoryReport) -> Option<Found> {
    if !report.has_owners() {
        // Nobody looked for the owners: they are not unknown.
        return None;
    }
    let unknown = report.unknown_bytes;
    if unknown <= UNKNOWN.share_of(report.bytes_of_memory()) || !matters(report, unknown) {
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
    // What the JVM allocates leads back to its own variables: what does not is a library's, which its tracking does not name.
    let setting = match of_area(report, Area::MallocHeap) < of_area(report, Area::NativeAnonymous) {
        true => profilers::of_mmap(report),
        false => profilers::of_malloc(report),
    };
    let found = finding(
        &UNKNOWN_LARGE,
        format!("the owner of {} is not known", bytes(unknown)),
        format!("{} of RSS{largest}", percent(unknown, report.rss_bytes)),
        setting,
        None,
    );
    let is_of_jvm = report.jvm.is_some() && !is_tracked;
    let tracking =
        "Start it with -XX:NativeMemoryTracking=summary, which names what the JVM itself allocates";
    Some(if is_of_jvm { found.or(tracking) } else { found })
}
