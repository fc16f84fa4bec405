//! Memory: huge pages, swap, nodes, what is left.

use crate::check::view::{Judged, Judgement, View, chosen, lists_meet, mib};
use assay_jdk::containers::{UnseenLimit, unseen_limit};
use assay_jdk::release_and_update;
use assay_model::HostJvm;

const MODE: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
const SHARED_MODE: &str = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";
const MEMINFO: &str = "/proc/meminfo";
const STATUS: &str = "/proc/{pid}/status";
const NODES: &str = "/sys/devices/system/node/node*/cpulist";
const ROLLUP: &str = "/proc/{pid}/smaps_rollup";

fn mode<'a>(view: &View<'a>, path: &str) -> Result<&'a str, Judged> {
    let Some(text) = view.optional(path)? else {
        return Err(Judged::not_applicable("this kernel has no transparent huge pages"));
    };
    chosen(text).ok_or_else(|| Judged::unknown(format!("no choice in {:?}", text.trim())))
}

pub(super) fn thp_thread_stacks(view: &View<'_>) -> Judgement {
    let mode = mode(view, MODE)?;
    if mode != "always" {
        return Ok(Judged::good(mode, "only memory that asks for them gets huge pages"));
    }
    Ok(match view.flag("THPStackMitigation")? {
        Some(flag) if flag.value == "true" => Judged::good(mode, "this JVM keeps its stacks out of them"),
        Some(_) => Judged::bad(mode, "-XX:-THPStackMitigation was given"),
        None => Judged::bad(mode, "this JVM does not have THPStackMitigation"),
    })
}

pub(super) fn thp_requested(view: &View<'_>) -> Judgement {
    if !view.is_on("UseTransparentHugePages")? {
        return Err(Judged::not_applicable("this JVM does not ask for them"));
    }
    // The heap of ZGC is shared memory, which has a mode of its own.
    let is_shared = view.jvm()?.collector.as_deref() == Some("ZGC");
    let mode = mode(view, if is_shared { SHARED_MODE } else { MODE })?;
    let why =
        if is_shared { "the heap of ZGC is shared memory (shmem_enabled)" } else { "the kernel's mode" };
    Ok(Judged::bad_if(matches!(mode, "never" | "deny"), mode, why))
}

pub(super) fn huge_pages_unused(view: &View<'_>) -> Judgement {
    let total = view.keyed(MEMINFO, "HugePages_Total")?;
    let Some(total) = total.filter(|total| *total != 0) else {
        return Err(Judged::not_applicable("none are reserved"));
    };
    let free = view.keyed_or_unknown(MEMINFO, "HugePages_Free")?;
    let reserved = view.keyed(MEMINFO, "HugePages_Rsvd")?.unwrap_or(0);
    let idle = free.saturating_sub(reserved);
    let why = format!("{idle} of {total} reserved pages are neither used nor promised");
    Ok(Judged::bad_if(total.div_ceil(2) < idle, total, why))
}

pub(super) fn huge_pages_delivered(view: &View<'_>) -> Judgement {
    if !view.is_on("UseLargePages")? {
        return Err(Judged::not_applicable("this JVM does not ask for huge pages"));
    }
    let keys = ["AnonHugePages", "ShmemPmdMapped", "FilePmdMapped", "Shared_Hugetlb", "Private_Hugetlb"];
    let mut kib = 0u64;
    for key in keys {
        kib = kib.saturating_add(view.keyed(ROLLUP, key)?.unwrap_or(0));
    }
    let value = mib(kib << 10);
    Ok(Judged::bad_if(kib == 0, value, "memory of this JVM in huge pages"))
}

pub(super) fn swap_used(view: &View<'_>) -> Judgement {
    let kib = view.keyed_or_unknown(STATUS, "VmSwap")?;
    Ok(Judged::bad_if(kib != 0, format!("{kib} KiB"), "memory of this JVM that is swapped out"))
}

pub(super) fn swappiness(view: &View<'_>) -> Judgement {
    if view.keyed(MEMINFO, "SwapTotal")?.unwrap_or(0) == 0 {
        return Err(Judged::not_applicable("this machine has no swap"));
    }
    let swappiness = view.number("/proc/sys/vm/swappiness")?;
    Ok(Judged::bad_if(30 < swappiness, swappiness, "good: at most 30"))
}

pub(super) fn overcommit(view: &View<'_>) -> Judgement {
    let mode = view.number("/proc/sys/vm/overcommit_memory")?;
    if mode != 2 {
        return Ok(Judged::good(mode, "reserving is not limited (2 would be strict)"));
    }
    let (limit, taken) =
        (view.keyed_or_unknown(MEMINFO, "CommitLimit")?, view.keyed_or_unknown(MEMINFO, "Committed_AS")?);
    let left = limit.saturating_sub(taken);
    let why = format!("strict, with {} of {} left", mib(left << 10), mib(limit << 10));
    Ok(Judged::bad_if(left < limit / 10, mode, why))
}

/// The CPU lists of the nodes, where there are several.
fn nodes<'a>(view: &View<'a>) -> Result<Vec<&'a str>, Judged> {
    let nodes: Vec<&str> =
        view.all(NODES)?.iter().map(|(_, list)| *list).filter(|list| !list.is_empty()).collect();
    match nodes.len() {
        0 => Err(Judged::unknown("this kernel lists no nodes")),
        1 => Err(Judged::not_applicable("this machine has one node")),
        _ => Ok(nodes),
    }
}

/// On how many of the nodes the view's JVM may run.
fn nodes_of_jvm(view: &View<'_>, nodes: &[&str]) -> Result<usize, Judged> {
    let allowed = view.text(STATUS)?.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let unknown = || Judged::unknown("which processors this JVM may use could not be read");
    let allowed = allowed.ok_or_else(unknown)?;
    let meets = nodes.iter().map(|node| lists_meet(node, allowed).ok_or_else(unknown));
    Ok(meets.collect::<Result<Vec<bool>, Judged>>()?.into_iter().filter(|meets| *meets).count())
}

pub(super) fn numa_balancing(view: &View<'_>) -> Judgement {
    let nodes = nodes(view)?;
    let Some(text) = view.optional("/proc/sys/kernel/numa_balancing")? else {
        return Err(Judged::not_applicable("this kernel does not move pages between nodes"));
    };
    let is_on = text.trim() != "0";
    let mut bound = Vec::new();
    for jvm in &view.snapshot.jvms {
        if nodes_of_jvm(&view.of_jvm(jvm), &nodes)? == 1 {
            bound.push(jvm.pid.to_string());
        }
    }
    if bound.is_empty() {
        return Err(Judged::not_applicable("no JVM is bound to one node"));
    }
    Ok(Judged::bad_if(is_on, text.trim(), format!("bound to one node: {}", bound.join(", "))))
}

pub(super) fn numa_spanned(view: &View<'_>) -> Judgement {
    let nodes = nodes(view)?;
    let spanned = nodes_of_jvm(view, &nodes)?;
    let value = format!("{spanned} of {} nodes", nodes.len());
    if spanned <= 1 {
        return Ok(Judged::good(value, "this JVM runs on one node"));
    }
    let is_known = view.is_on("UseNUMA")?;
    Ok(Judged::bad_if(!is_known, value, format!("UseNUMA is {}", if is_known { "on" } else { "off" })))
}

pub(super) fn available(view: &View<'_>) -> Judgement {
    let (total, available) =
        (view.keyed_or_unknown(MEMINFO, "MemTotal")?, view.keyed_or_unknown(MEMINFO, "MemAvailable")?);
    let why = format!("of {}; good: at least 5 %", mib(total << 10));
    Ok(Judged::bad_if(available < total / 20, mib(available << 10), why))
}

pub(super) fn heaps_over_memory(view: &View<'_>) -> Judgement {
    let total = view.keyed_or_unknown(MEMINFO, "MemTotal")? << 10;
    if view.snapshot.jvms.is_empty() {
        return Err(Judged::not_applicable("no JVM runs here"));
    }
    let heaps: Result<Vec<u64>, Judged> =
        view.snapshot.jvms.iter().map(|jvm| view.of_jvm(jvm).flag_number("MaxHeapSize")).collect();
    let sum = heaps?.into_iter().fold(0u64, u64::saturating_add);
    let why = format!("limits of the heaps of {} JVMs; memory {}", view.snapshot.jvms.len(), mib(total));
    Ok(Judged::bad_if(total < sum, mib(sum), why))
}

pub(super) fn heap_over_container(view: &View<'_>) -> Judgement {
    let Some(limit) = view.group()?.memory_bytes else {
        return Err(Judged::not_applicable("its control group has no memory limit"));
    };
    // A smaller -Xmx would hide why the heap is what it is.
    if let Some(unseen) = unseen_by(view.jvm()?).filter(|unseen| unseen.heap.is_some()) {
        return Err(Judged::not_applicable(format!("container-unseen says why: {}", unseen.why.cause())));
    }
    let heap = view.flag_number("MaxHeapSize")?;
    let why = format!("of a limit of {}; good: at most 90 %", mib(limit));
    Ok(Judged::bad_if(limit / 10 * 9 < heap, mib(heap), why))
}

/// What the JVM does not see of its control group.
fn unseen_by(jvm: &HostJvm) -> Option<UnseenLimit> {
    let release = jvm.version.as_deref().and_then(release_and_update);
    unseen_limit(jvm.container.as_ref()?, release)
}

pub(super) fn container_unseen(view: &View<'_>) -> Judgement {
    let (group, jvm) = (view.group()?, view.jvm()?);
    if group.memory_bytes.is_none() && group.cpus.is_none() {
        return Err(Judged::not_applicable("its control group has no limit"));
    }
    let Some(container) = &jvm.container else {
        return Err(Judged::unknown("what it took from its control group could not be read"));
    };
    let Some(unseen) = unseen_by(jvm) else {
        let heap = container.view.heap_bytes_max.map_or_else(|| "unknown heap".to_owned(), mib);
        return Ok(Judged::good(heap, "heap and processors are within its limits"));
    };
    let heap = unseen.heap.map(|(heap, limit)| format!("heap {}, limit {}", mib(heap), mib(limit)));
    let processors = unseen.processors.map(|(counted, cpus)| format!("{counted} processors, limit {cpus}"));
    let value: Vec<String> = heap.into_iter().chain(processors).collect();
    let release = jvm.version.as_deref().and_then(release_and_update);
    let why = format!("{}; {}", unseen.why.cause(), unseen.why.fix(release));
    Ok(Judged::bad(value.join("; "), why))
}

/// More than this many for each processor that it may use are not from a few pools.
const ARENAS_MAX: u64 = 16;

pub(super) fn malloc_arenas(view: &View<'_>) -> Judgement {
    let HostJvm { malloc_arenas, limits_arenas, .. } = view.jvm()?;
    let arenas = malloc_arenas.ok_or_else(|| Judged::unknown("its mappings could not be read"))?;
    let why = match limits_arenas {
        Some(true) => "its environment limits them",
        Some(false) => "its environment does not limit them",
        None => "its environment could not be read",
    };
    Ok(Judged::bad_if(ARENAS_MAX < arenas, arenas, format!("{why}; good: at most {ARENAS_MAX}")))
}
