//! Reading a live process in full.

use crate::copying::{CopyPlan, available_bytes};
use crate::facts::{allocator_facts, jvm_facts};
use crate::findings::findings;
use crate::jvm::Jvm;
use crate::options::ReadOptions;
use crate::owners::object_ranges;
use crate::sample::MemoryError;
use crate::snapshot::{Snapshot, take};
use crate::system_map::{NamedRange, ask};
use assay_hotspot::Hotspot;
use assay_linux::{
    CachedMemory, Freeze, LinuxError, LiveProcess, MemorySource, ProcRoot, SysRoot, monotonic_ns,
    thread_cpu_ns,
};
use assay_model::{Area, JvmContainer, MemoryReport, OutsideRss, Problem, schema};
use std::time::Duration;

/// Looks at a process whose lists of threads break off.
const LOOKS_MAX: u32 = 4;

/// Reads the memory of a process of this machine: every resident byte in an entry.
///
/// The process is not stopped unless asked for, and then only while what must be of one moment is copied. It runs nothing, and no
/// page of it becomes resident. On a running process mappings, pages and contents are from slightly different moments:
/// `difference_bytes` and `rss_change_during_scan_bytes` say how far apart; nothing is copied, so that a snapshot takes 100 MiB at most
/// whatever the size of the process.
///
/// # Errors
/// When the process is gone or a thread of the kernel, belongs to somebody else, or could not be stopped as asked.
pub fn read(pid: u32, options: &ReadOptions) -> Result<MemoryReport, MemoryError> {
    let proc = ProcRoot::default();
    let (began_ns, cpu_began_ns) = (monotonic_ns(), thread_cpu_ns());
    let mut problems = Vec::new();
    let named = if options.ask_jvm { ask(&proc, pid, &mut problems) } else { Vec::new() };
    let process = LiveProcess::open(&proc, pid)?;
    let mut report = match options.freeze {
        Some(limit) => read_stopped(&proc, &process, limit, options, &named)?,
        None => read_running(&proc, process, options, &named)?,
    };
    report.problems.append(&mut problems);
    let groups = proc.read_cgroups(&SysRoot::default(), Some(pid));
    let cgroup = groups.and_then(|groups| groups.read_memory(&proc, &mut report.problems));
    report.cgroup = noted(cgroup, &mut report.problems).flatten();
    if let Some(jvm) = &mut report.jvm {
        let limits = noted(proc.read_container_limits(&SysRoot::default(), pid), &mut report.problems);
        jvm.container = jvm.container.take().zip(limits).map(|(of, limits)| JvmContainer { limits, ..of });
    }
    report.program = proc.read_process_stat(pid).map_or_else(|_| String::new(), |stat| stat.command);
    report.main = report.jvm.as_ref().and_then(|_| assay_host::main_of_process(&proc, pid));
    report.boot_id = noted(proc.read_boot_id(), &mut report.problems);
    report.monotonic_ns = began_ns;
    report.scan_ns = monotonic_ns().saturating_sub(began_ns);
    let cpu_ns = thread_cpu_ns().saturating_sub(cpu_began_ns);
    report.scan_cpu_ns = report.scan_cpu_ns.saturating_add(cpu_ns);
    report.findings = findings(&report);
    Ok(report)
}

/// Looks at a running process: anew where the JVM was just starting or ending a thread, so that its list of them could not be read.
fn read_running(
    proc: &ProcRoot,
    mut process: LiveProcess,
    options: &ReadOptions,
    named: &[NamedRange],
) -> Result<MemoryReport, MemoryError> {
    let pid = process.pid();
    let mut looks = 1;
    loop {
        let memory = CachedMemory::new(&process);
        let jvm = Jvm::find(&memory);
        let may_tell_more = matches!(&jvm, Ok(Some(jvm)) if jvm.may_tell_more_threads);
        if looks == LOOKS_MAX || !may_tell_more {
            let seen = take(&memory, jvm, options, named);
            return Ok(of_process(proc, &process, &seen, None));
        }
        looks += 1;
        let next = LiveProcess::open(proc, pid)?;
        if next.identity() != process.identity() {
            return Err(LinuxError::NoMemory { pid }.into());
        }
        drop(jvm);
        process = next;
    }
}

/// Stops a process, copies it, lets it go on and looks at the copy. `before` is the process as it was just before.
fn read_stopped(
    proc: &ProcRoot,
    before: &LiveProcess,
    limit: Duration,
    options: &ReadOptions,
    named: &[NamedRange],
) -> Result<MemoryReport, MemoryError> {
    let pid = before.pid();
    let cached = CachedMemory::new(before);
    let hotspot = Hotspot::open(&cached);
    let heap = hotspot.as_ref().ok().and_then(|hotspot| hotspot.as_ref()?.heap());
    let plan = CopyPlan::new(before, heap.as_ref(), options, available_bytes(proc));
    let room = plan.room();

    let freeze = Freeze::start(proc, pid, limit)?;
    let process = LiveProcess::open_stopped(proc, pid)?;
    if process.identity() != before.identity() {
        return Err(LinuxError::NoMemory { pid }.into());
    }
    let outside_rss = proc.read_beside_rss_of(pid, process.mappings());
    let (hotspot, heap) = match hotspot {
        Ok(Some(hotspot)) => {
            let stopped = CachedMemory::new(&process);
            let hotspot = hotspot.seen_through(&stopped);
            let heap = hotspot.heap();
            (Ok(Some(hotspot.seen_through(&cached))), heap)
        }
        other => (other, None),
    };
    let copied = plan.copy(process, heap.as_ref(), room);
    let memory = CachedMemory::new(&copied);
    // It reads names from the Java heap, which may not be part of the copy.
    let jvm = hotspot.map(|hotspot| hotspot.map(|hotspot| Jvm::read(hotspot.seen_through(&memory))));
    let frozen = freeze.end();

    let mut seen = take(&memory, jvm, options, named);
    if frozen.is_some_and(|times| times.is_cut_short) {
        seen.problems.push(Problem::new(
            "freeze",
            "the time allowed was over before everything was copied, and the process ran on: allow more, --freeze=10s",
        ));
    }
    let objects = seen.jvm.as_ref().and_then(|jvm| jvm.heap.as_ref()).map(object_ranges).unwrap_or_default();
    let copy = CopyPlan::report(&copied, seen.depth, &objects, &mut seen.problems);
    let mut report = of_process(proc, copied.process(), &seen, Some(outside_rss));
    report.frozen_ns = frozen.map(|times| times.stopped_ns);
    report.copy = Some(copy);
    report.scan_cpu_ns = copied.helpers_cpu_ns();
    Ok(report)
}

/// A snapshot of a process with the kernel's counts beside its RSS: read now, unless they were read while it was stopped.
fn of_process(
    proc: &ProcRoot,
    process: &LiveProcess,
    seen: &Snapshot<'_>,
    outside_rss: Option<Result<OutsideRss, LinuxError>>,
) -> MemoryReport {
    let mut problems = Vec::new();
    let outside_rss = outside_rss.unwrap_or_else(|| proc.read_beside_rss(process.pid()));
    let outside_rss = noted(outside_rss, &mut problems).unwrap_or_default();
    let rss_after_bytes = noted(rss_after(process, &outside_rss), &mut problems);
    let mut report = assemble(process, seen, rss_after_bytes);
    report.outside_rss = outside_rss;
    seen.mapped_again.correct(&mut report.outside_rss);
    report.start_ticks = Some(process.identity().start_ticks);
    report.problems.append(&mut problems);
    report.problems.extend(process.problems().iter().cloned());
    report
}

/// Reads memory that need not be that of a live process: a recording, or one that a test has changed.
///
/// Values that only the kernel of a live process has are absent: figures beside the RSS, the control group, how long it was
/// stopped. Like [`read`] it never fails on what it finds; what could not be read is in the report's problems.
pub fn read_source(source: &dyn MemorySource, options: &ReadOptions) -> MemoryReport {
    let (began_ns, cpu_began_ns) = (monotonic_ns(), thread_cpu_ns());
    let memory = CachedMemory::new(source);
    let seen = take(&memory, Jvm::find(&memory), options, &[]);
    let mut report = assemble(source, &seen, None);
    // Nobody knows its limits.
    report.jvm.iter_mut().for_each(|jvm| jvm.container = None);
    let first = source.threads().iter().find(|thread| thread.tid == source.pid());
    report.program = first.map_or_else(String::new, |thread| thread.name.clone());
    report.monotonic_ns = began_ns;
    report.scan_ns = monotonic_ns().saturating_sub(began_ns);
    report.scan_cpu_ns = thread_cpu_ns().saturating_sub(cpu_began_ns);
    report.findings = findings(&report);
    report
}

/// A snapshot in the stored form, without values that only the kernel has.
fn assemble(source: &dyn MemorySource, seen: &Snapshot<'_>, rss_after_bytes: Option<u64>) -> MemoryReport {
    let Snapshot { entries, sums, .. } = seen;
    let rss_bytes = source.mappings().iter().fold(0, |sum: u64, m| sum.saturating_add(m.rss_bytes));
    let total_bytes = sums.total_bytes();
    let less = |a: u64, b: u64| a.cast_signed().saturating_sub(b.cast_signed());
    let difference_bytes = less(total_bytes, rss_bytes);
    // The largest distance from the first figure: the process may have grown and shrunk again.
    let at_end = rss_after_bytes.map_or(0, |after| less(after, rss_bytes));
    let change = if at_end.abs() < difference_bytes.abs() { difference_bytes } else { at_end };
    let unknown_bytes =
        sums.of_area(Area::MallocHeap, entries) + sums.of_area(Area::NativeAnonymous, entries);
    MemoryReport {
        schema: schema::MEMORY.to_owned(),
        provenance: assay_host::provenance(&ProcRoot::default(), env!("CARGO_PKG_VERSION")),
        pid: source.pid(),
        program: String::new(),
        main: None,
        start_ticks: None,
        boot_id: None,
        taken_at: jiff::Timestamp::now().to_string(),
        monotonic_ns: 0,
        scan_ns: 0,
        scan_cpu_ns: 0,
        depth: Some(seen.depth),
        owners_left_out: seen.owners_left_out.clone(),
        frozen_ns: None,
        copy: None,
        rss_bytes,
        rss_change_during_scan_bytes: change,
        difference_bytes,
        unknown_bytes,
        inferred_bytes: sums.inferred_bytes(entries),
        areas: sums.areas(entries),
        entries: sums.entries(entries),
        sources: sums.sources(entries),
        unknown: seen.unknown.clone(),
        jvm: seen.jvm.as_ref().map(|jvm| jvm_facts(jvm, seen)),
        allocator: allocator_facts(&seen.survey, sums),
        threads: seen.threads.clone(),
        outside_rss: OutsideRss::default(),
        cgroup: None,
        findings: Vec::new(),
        growth: None,
        end: None,
        problems: seen.problems.clone(),
    }
}

/// The RSS once more, when everything has been read. Each reading is a walk of the kernel over all pages, and the one
/// for shared and private bytes has it already.
fn rss_after(source: &LiveProcess, outside_rss: &OutsideRss) -> Result<u64, LinuxError> {
    let seen = outside_rss.shared_bytes.zip(outside_rss.uss_bytes);
    match seen {
        Some((shared, unshared)) if source.still_exists()? => Ok(shared.saturating_add(unshared)),
        _ => Ok(source.mappings_now()?.iter().map(|m| m.rss_bytes).sum()),
    }
}

fn noted<T>(read: Result<T, LinuxError>, problems: &mut Vec<Problem>) -> Option<T> {
    read.map_err(|error| problems.push(Problem::from(&error))).ok()
}
