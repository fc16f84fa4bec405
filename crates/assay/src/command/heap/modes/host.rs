//! What this host puts in the way of a heap: the mappings of a stopped JVM, and the kernel's limits.

use super::jvm::{java_of, reason};
use assay_heap::modes::{StoppedJvm, classes_in_log, protected_page_in_log};
use assay_jdk::modes::AddressSpace;
use assay_jdk::{Release, StartedJvm};
use assay_linux::{Mapping, ProcRoot, SysRoot};
use assay_model::{JvmFacts, Problem};
use assay_text::size;
use rustix::process::{Resource, getrlimit};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A start takes 50 to 500 ms.
const TIME: Duration = Duration::from_secs(20);
/// Lines up to the first class come at once; with these levels a JVM writes some 100 KiB more, and waits when the pipe of
/// 64 KiB is full.
const LOG: &str = "-Xlog:gc+heap+coops=debug,gc+init=info,gc+metaspace=info,pagesize=info,gc=info,class+load=debug,class+init=info";
/// In the line of the first class; heap, archive and class space are mapped by then.
const FIRST_CLASS: &str = "source: ";
/// Largest heap of the map where the JVM has 32 bits.
const MAP_HEAP_BYTES_32: u64 = 512 << 20;
/// A 32-bit process on a 64-bit kernel has all addresses but the last two pages.
const END_32: u64 = (1 << 32) - (2 << 12);
const MAPPINGS_MAX: usize = 100_000;
/// `ADDR_NO_RANDOMIZE`, `ADDR_COMPAT_LAYOUT` and `MMAP_PAGE_ZERO` of `personality(2)`.
const ADDRESS_PERSONALITIES: [(u64, &str); 3] = [
    (0x004_0000, "addresses are not randomised"),
    (0x020_0000, "the old layout, libraries from a third of the addresses upwards"),
    (0x010_0000, "the first page is mapped"),
];

/// Starts the JVM, stops it once its heap is there, and reads its mappings.
pub fn stopped_jvm(
    facts: &JvmFacts,
    options: &[String],
    heap_bytes: u64,
    stop: &AtomicBool,
) -> Result<StoppedJvm, Problem> {
    let source = format!("address map of {}", facts.home);
    let problem = |what: String| Problem::new(source.clone(), what);
    if !Release::of(facts.feature).jvm.has_unified_logging {
        let what =
            format!("JDK {} cannot be stopped by its log (-Xlog): a usual process is taken", facts.feature);
        return Err(problem(what));
    }
    let heap_bytes = if facts.bits == 32 { heap_bytes.min(MAP_HEAP_BYTES_32) } else { heap_bytes };
    let mut words = options.to_vec();
    words.extend([
        format!("-Xmx{}", size::option(heap_bytes)),
        "-Xms4m".to_owned(),
        "-XX:-AlwaysPreTouch".to_owned(),
        LOG.to_owned(),
    ]);
    let mut jvm = StartedJvm::start(&java_of(facts), &words, TIME).map_err(|e| problem(e.to_string()))?;
    let has_heap = jvm.read_until(FIRST_CLASS, stop).map_err(|e| problem(e.to_string()))?;
    let log = jvm.text();
    if !has_heap {
        return Err(problem(reason(&log)));
    }
    let smaps = ProcRoot::default().open_smaps(jvm.pid()).map_err(|e| problem(e.to_string()))?;
    let mappings: Result<Vec<Mapping>, _> = smaps.take(MAPPINGS_MAX).collect();
    let heap = assay_gclog::read_jvm(log.as_bytes()).heap;
    let protected = protected_page_in_log(&log).unwrap_or(u64::MAX);
    let heap = heap.map(|heap| {
        let end = heap.start_address.saturating_add(heap.reserved_bytes);
        heap.start_address.min(protected)..end
    });
    let (archive, class_space) = classes_in_log(&log);
    Ok(StoppedJvm { mappings: mappings.map_err(|e| problem(e.to_string()))?, heap, class_space, archive })
}

/// The addresses of such a JVM's process.
pub fn space(bits: u8, stopped: Option<&StoppedJvm>) -> AddressSpace {
    let mut space = AddressSpace { page_bytes: rustix::param::page_size() as u64, ..AddressSpace::default() };
    if let Some(lowest) = number("sys/vm/mmap_min_addr") {
        space.lowest_address = lowest.max(space.page_bytes);
    }
    if bits == 32 {
        space.end_address = END_32;
    } else if cfg!(target_arch = "aarch64") {
        space.end_address = 1 << 48;
    }
    let reserved = stopped.map_or(0, |jvm| jvm.bytes_beside_heap());
    space.reservable_bytes = getrlimit(Resource::As).current.map(|limit| limit.saturating_sub(reserved));
    stopped.map_or(space.clone(), |jvm| jvm.space(space))
}

fn text(path: &str) -> Option<String> {
    std::fs::read_to_string(ProcRoot::default().path().join(path)).ok()
}

fn number(path: &str) -> Option<u64> {
    text(path)?.trim().parse().ok()
}

/// What is out of the ordinary here and has a say in where heaps lie, or whether they can be filled.
pub fn unusual(want: Option<u64>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut tell = |source: &str, what: String| problems.push(Problem::new(source, what));
    if number("sys/kernel/randomize_va_space").is_some_and(|mode| mode != 2) {
        tell(
            "kernel.randomize_va_space",
            "addresses are not, or not all, randomised on this host".to_owned(),
        );
    }
    if number("sys/vm/overcommit_memory") == Some(2) {
        let what = "2: a heap is reserved without limit, but its committed part (-Xms, growth) counts against \
            CommitLimit, and a start with a large -Xms may fail";
        tell("vm.overcommit_memory", what.to_owned());
    }
    if number("sys/vm/legacy_va_layout").is_some_and(|on| on != 0) {
        tell("vm.legacy_va_layout", "libraries lie from a third of the addresses upwards".to_owned());
    }
    let personality = text("self/personality").and_then(|t| u64::from_str_radix(t.trim(), 16).ok());
    for (bit, what) in ADDRESS_PERSONALITIES {
        if personality.is_some_and(|word| word & bit != 0) {
            tell("personality", format!("{what}; JVMs started from here inherit it"));
        }
    }
    if let Some(limit) = getrlimit(Resource::As).current {
        let what = format!("{limit} bytes of addresses: a heap that does not fit is refused at the start");
        tell("ulimit -v", what);
    }
    if let (Some(want), Some((bytes, what))) = (want, memory())
        && bytes < want
    {
        let what = format!(
            "-Xmx{} is more than the {:.1} GiB of {what}: it can be reserved, but never be filled",
            size::option(want),
            bytes as f64 / f64::from(1 << 30)
        );
        tell("memory", what);
    }
    problems
}

/// The smaller of the container's limit and the machine's memory.
fn memory() -> Option<(u64, &'static str)> {
    let proc = ProcRoot::default();
    let machine = proc.read_meminfo().ok().and_then(|m| m.total_bytes).map(|bytes| (bytes, "this machine"));
    let groups = proc.read_cgroups(&SysRoot::default(), None).ok();
    let limit = groups.and_then(|groups| groups.read_limits().ok()?.memory_bytes);
    let container = limit.map(|bytes| (bytes, "this container"));
    machine.into_iter().chain(container).min()
}
