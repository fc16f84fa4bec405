//! Reading a live process in full.

use crate::facts::{allocator_facts, jvm_facts};
use crate::findings::findings;
use crate::look::{Look, look};
use crate::options::ReadOptions;
use crate::sample::MemoryError;
use crate::system_map::ask;
use assay_linux::{
    CachedMemory, Freeze, LinuxError, LiveProcess, MemorySource, ProcRoot, SysRoot, monotonic_ns,
    thread_cpu_ns,
};
use assay_model::{Area, BesideRss, MemoryReport, Problem, schema};

/// Reads the memory of a process of this machine: every resident byte in a leaf.
///
/// The process is not stopped unless asked for, runs nothing, and no page of it becomes resident. On a running process
/// mappings, pages and contents are from slightly different moments: `closure_bytes` and `rss_change_during_scan_bytes`
/// say how far apart.
///
/// # Errors
/// When the process is gone or a thread of the kernel, belongs to somebody else, or could not be stopped as asked.
pub fn read(pid: u32, options: &ReadOptions) -> Result<MemoryReport, MemoryError> {
    let proc = ProcRoot::default();
    let (began_ns, cpu_began_ns) = (monotonic_ns(), thread_cpu_ns());
    let mut ask_problems = Vec::new();
    let named = if options.ask_jvm { ask(&proc, pid, &mut ask_problems) } else { Vec::new() };
    let freeze = options.freeze.map(|limit| Freeze::start(&proc, pid, limit)).transpose()?;
    let source = LiveProcess::open(&proc, pid)?;
    let memory = CachedMemory::new(&source);
    let mut seen = look(&memory, options, &named);
    seen.problems.extend(ask_problems);
    let beside_rss = noted(proc.read_beside_rss(pid), &mut seen.problems).unwrap_or_default();
    let rss_after_bytes = noted(rss_after(&source, &beside_rss), &mut seen.problems);
    let frozen = freeze.and_then(Freeze::end);
    if frozen.is_some_and(|times| times.is_cut_short) {
        seen.problems.push(Problem::new(
            "freeze",
            "the time allowed was over before everything was read, and the process ran on: allow more, --freeze=10s",
        ));
    }
    seen.problems.extend(source.problems().iter().cloned());
    let mut report = assemble(&source, &seen, rss_after_bytes);
    let groups = proc.read_cgroups(&SysRoot::default(), Some(pid));
    let cgroup = groups.and_then(|groups| groups.read_memory(&proc, &mut report.problems));
    report.cgroup = noted(cgroup, &mut report.problems).flatten();
    report.beside_rss = beside_rss;
    report.program = proc.read_process_stat(pid).map_or_else(|_| String::new(), |stat| stat.command);
    report.start_ticks = Some(source.identity().start_ticks);
    report.boot_id = noted(proc.read_boot_id(), &mut report.problems);
    report.frozen_ns = frozen.map(|times| times.stopped_ns);
    report.monotonic_ns = began_ns;
    report.scan_ns = monotonic_ns().saturating_sub(began_ns);
    report.scan_cpu_ns = thread_cpu_ns().saturating_sub(cpu_began_ns);
    report.findings = findings(&report);
    Ok(report)
}

/// Reads memory that need not be that of a live process: a recording, or one that a test has changed.
///
/// What only the kernel knows of a live process is absent: figures beside the RSS, the control group, how long it was
/// stopped. Like [`read`] it never fails on what it finds; what could not be read is in the report's problems.
pub fn read_source(source: &dyn MemorySource, options: &ReadOptions) -> MemoryReport {
    let (began_ns, cpu_began_ns) = (monotonic_ns(), thread_cpu_ns());
    let memory = CachedMemory::new(source);
    let seen = look(&memory, options, &[]);
    let mut report = assemble(source, &seen, None);
    let first = source.threads().iter().find(|thread| thread.tid == source.pid());
    report.program = first.map_or_else(String::new, |thread| thread.name.clone());
    report.monotonic_ns = began_ns;
    report.scan_ns = monotonic_ns().saturating_sub(began_ns);
    report.scan_cpu_ns = thread_cpu_ns().saturating_sub(cpu_began_ns);
    report.findings = findings(&report);
    report
}

/// What was seen in the stored form, without what only the kernel knows.
fn assemble(source: &dyn MemorySource, seen: &Look<'_>, rss_after_bytes: Option<u64>) -> MemoryReport {
    let Look { leaves, sums, .. } = seen;
    let rss_bytes = source.mappings().iter().fold(0, |sum: u64, m| sum.saturating_add(m.rss_bytes));
    let total_bytes = sums.total_bytes();
    let less = |a: u64, b: u64| a.cast_signed().saturating_sub(b.cast_signed());
    let closure_bytes = less(total_bytes, rss_bytes);
    // The largest distance from the first figure that was seen: the process may have grown and shrunk again.
    let at_end = rss_after_bytes.map_or(0, |after| less(after, rss_bytes));
    let change = if at_end.abs() < closure_bytes.abs() { closure_bytes } else { at_end };
    let unknown_bytes = sums.of_area(Area::MallocHeap, leaves) + sums.of_area(Area::NativeAnonymous, leaves);
    MemoryReport {
        schema: schema::MEMORY.to_owned(),
        provenance: assay_host::provenance(&ProcRoot::default(), env!("CARGO_PKG_VERSION")),
        pid: source.pid(),
        program: String::new(),
        start_ticks: None,
        boot_id: None,
        taken_at: jiff::Timestamp::now().to_string(),
        monotonic_ns: 0,
        scan_ns: 0,
        scan_cpu_ns: 0,
        depth: Some(seen.depth),
        owners_left_out: seen.owners_left_out.clone(),
        frozen_ns: None,
        rss_bytes,
        rss_change_during_scan_bytes: change,
        closure_bytes,
        unknown_bytes,
        inferred_bytes: sums.inferred_bytes(leaves),
        areas: sums.areas(leaves),
        leaves: sums.leaves(leaves),
        tiers: sums.tiers(leaves),
        unknown: seen.unknown.clone(),
        jvm: seen.jvm.as_ref().map(|jvm| jvm_facts(jvm, seen)),
        allocator: allocator_facts(&seen.survey, sums),
        threads: seen.threads.clone(),
        beside_rss: BesideRss::default(),
        cgroup: None,
        findings: Vec::new(),
        problems: seen.problems.clone(),
    }
}

/// The RSS once more, when everything has been read. Each look at it is a walk of the kernel over all pages, and the one
/// for shared and private bytes has it already.
fn rss_after(source: &LiveProcess, beside_rss: &BesideRss) -> Result<u64, LinuxError> {
    let seen = beside_rss.shared_bytes.zip(beside_rss.uss_bytes);
    match seen {
        Some((shared, unshared)) if source.still_exists()? => Ok(shared.saturating_add(unshared)),
        _ => Ok(source.mappings_now()?.iter().map(|m| m.rss_bytes).sum()),
    }
}

fn noted<T>(read: Result<T, LinuxError>, problems: &mut Vec<Problem>) -> Option<T> {
    read.map_err(|error| problems.push(Problem::from(&error))).ok()
}
