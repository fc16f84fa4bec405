//! Options and choices of JVMs.

use crate::check::view::{Judged, Judgement, View, mib};
use assay_model::FlagOrigin;

/// Without compressed references a heap needs about this much to hold what one of 31 GB holds with them (first paper).
const BEYOND_THRESHOLD_BYTES: u64 = 48 << 30;
const THRESHOLD_BYTES: u64 = 31 << 30;
/// Smaller ones are tools, which SerialGC suits.
const SERVER_HEAP_BYTES: u64 = 512 << 20;
const CODE_CACHE_BYTES: u64 = 128 << 20;
const STACK_KIB_MAX: u64 = 2048;
const THREADS_MANY: u64 = 500;

pub(super) fn serial_by_default(view: &View<'_>) -> Judgement {
    let jvm = view.jvm()?;
    let collector = jvm.collector.as_deref().ok_or_else(|| Judged::unknown("its collector is not known"))?;
    if collector != "Serial" {
        return Ok(Judged::good(collector, "its collector"));
    }
    let flag = view.flag("UseSerialGC")?;
    if flag.is_some_and(|flag| flag.set_by == FlagOrigin::User) {
        return Ok(Judged::good(collector, "an option asks for it"));
    }
    let heap = view.flag_number("MaxHeapSize")?;
    let why = format!("no option selects it; heap up to {}", mib(heap));
    Ok(Judged::bad_if(SERVER_HEAP_BYTES <= heap, collector, why))
}

pub(super) fn compressed_oops_threshold(view: &View<'_>) -> Judgement {
    let Some(flag) = view.flag("UseCompressedOops")? else {
        return Err(Judged::not_applicable("this JVM has one kind of references"));
    };
    let heap = view.flag_number("MaxHeapSize")?;
    if flag.value == "true" {
        return Ok(Judged::good(mib(heap), "references are compressed"));
    }
    // ZGC never compresses them.
    if view.jvm()?.collector.as_deref() == Some("ZGC") {
        return Err(Judged::not_applicable("ZGC does not compress references"));
    }
    let is_bad = heap < BEYOND_THRESHOLD_BYTES;
    let why = if THRESHOLD_BYTES < heap {
        "references are not compressed: 31 GB with them would hold as much"
    } else {
        "references are not compressed, although the heap is small enough"
    };
    Ok(Judged::bad_if(
        is_bad,
        mib(heap),
        if is_bad { why } else { "large enough without compressed references" },
    ))
}

pub(super) fn code_cache(view: &View<'_>) -> Judgement {
    let bytes = view.flag_number("ReservedCodeCacheSize")?;
    if !view.is_set("ReservedCodeCacheSize")? {
        return Ok(Judged::good(mib(bytes), "nobody changed it"));
    }
    Ok(Judged::bad_if(bytes < CODE_CACHE_BYTES, mib(bytes), "an option sets it; good: at least 128 MiB"))
}

pub(super) fn thread_stack_size(view: &View<'_>) -> Judgement {
    let kib = view.flag_number("ThreadStackSize")?;
    let threads = view.keyed_or_unknown("/proc/{pid}/status", "Threads")?;
    let is_bad = STACK_KIB_MAX < kib && THREADS_MANY < threads;
    Ok(Judged::bad_if(is_bad, format!("{kib} KiB"), format!("{threads} threads")))
}

pub(super) fn gc_log(view: &View<'_>) -> Judgement {
    let logs = view.jvm()?.logs_collections;
    let logs = logs.ok_or_else(|| Judged::unknown("options may come from a place that was not read"))?;
    Ok(Judged::bad_if(!logs, if logs { "on" } else { "off" }, "options of this JVM"))
}

pub(super) fn heap_dump_on_oom(view: &View<'_>) -> Judgement {
    let is_on = view.is_on("HeapDumpOnOutOfMemoryError")?;
    Ok(Judged::bad_if(!is_on, if is_on { "on" } else { "off" }, "HeapDumpOnOutOfMemoryError"))
}

pub(super) fn numa_without_nodes(view: &View<'_>) -> Judgement {
    let nodes = view.all("/sys/devices/system/node/node*/cpulist")?.len();
    if nodes == 0 {
        return Err(Judged::unknown("this kernel lists no nodes"));
    }
    // The JVM itself switches it off: the option is still marked as set by somebody.
    if !view.is_set("UseNUMA")? {
        return Err(Judged::not_applicable("no option asks for it"));
    }
    Ok(Judged::bad_if(nodes == 1, format!("{nodes} nodes"), "an option asks for UseNUMA"))
}

pub(super) fn stack_trace_omitted(view: &View<'_>) -> Judgement {
    if !view.is_set("OmitStackTraceInFastThrow")? {
        return Err(Judged::not_applicable("no option sets it"));
    }
    let is_on = view.is_on("OmitStackTraceInFastThrow")?;
    Ok(Judged::bad_if(is_on, if is_on { "on" } else { "off" }, "an option sets it"))
}

pub(super) fn atomics(view: &View<'_>) -> Judgement {
    if !view.snapshot.provenance.architecture.starts_with("aarch64") {
        return Err(Judged::not_applicable("it is about 64-bit Arm"));
    }
    let features = view.text("/proc/cpuinfo")?.lines().find(|line| line.starts_with("Features"));
    let features = features.ok_or_else(|| Judged::unknown("/proc/cpuinfo lists no features"))?;
    if !features.split_whitespace().any(|word| word == "atomics") {
        return Err(Judged::not_applicable("this processor has no such instructions"));
    }
    let is_on = view.is_on("UseLSE")?;
    Ok(Judged::bad_if(!is_on, if is_on { "on" } else { "off" }, "UseLSE"))
}
