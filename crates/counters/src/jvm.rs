//! The JVM's own list of its threads.

use crate::carriers::CarrierLook;
use crate::own_names::{of_java_list, of_other_list};
use crate::role::{Role, is_timer, roles_of};
use assay_hotspot::{Collector, Hotspot, ListRead, ThreadLists};
use assay_linux::{CachedMemory, LinuxError, LiveProcess, MemorySource, ProcRoot};
use assay_model::{Problem, ThreadKind, ThreadRole, TimeJvm};
use std::collections::HashMap;

/// How often the lists are read at one reading where they break off, or names are moved meanwhile.
const READS_MAX: u32 = 4;
/// Carriers that are looked at.
const CARRIERS_MAX: usize = 512;

/// Name and role of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Label {
    pub(crate) role: ThreadRole,
    /// Whether the role rests on the kernel's name of the thread.
    pub(crate) is_inferred: bool,
    pub(crate) name: String,
    /// Whether the JVM's own name of it, and what its role depends on, could be read, or no later reading can show more.
    pub(crate) is_whole: bool,
}

impl Label {
    /// That of a thread which the JVM does not list.
    pub(crate) fn stranger(kernel_name: &str) -> Label {
        Label::by_kernel_name(Role::UNKNOWN, kernel_name)
    }

    fn by_kernel_name(role: Role, kernel_name: &str) -> Label {
        let Role { role, is_inferred } = role;
        Label { role, is_inferred, name: kernel_name.to_owned(), is_whole: true }
    }
}

/// Facts about threads that a JVM without symbols does not export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Lacks {
    /// One of its lists of threads.
    pub(crate) list: bool,
    /// Names of Java threads.
    pub(crate) java_names: bool,
}

/// What a JVM held at one moment; each is absent where the JVM does not tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Holds {
    /// Live and dead objects of the Java heap.
    pub(crate) heap_bytes: Option<u64>,
    /// `MaxHeapSize`.
    pub(crate) heap_bytes_max: Option<u64>,
    /// Classes that it has loaded since it started, those that are unloaded included.
    pub(crate) classes_loaded: Option<u64>,
}

/// What is read of a JVM. Its memory is opened once for both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    /// Its lists of threads.
    Threads,
    /// These, and what it holds and its carriers do at this moment.
    ThreadsAndMoment,
}

/// A JVM at one moment.
#[derive(Debug, Clone)]
pub(crate) struct JvmMoment {
    pub(crate) holds: Holds,
    /// One look at each carrier of virtual threads.
    pub(crate) carriers: Vec<CarrierLook>,
}

/// A JVM as it was read.
#[derive(Debug, Clone)]
pub(crate) struct Jvm {
    pub(crate) facts: TimeJvm,
    /// By thread id in Assay's PID namespace.
    pub(crate) labels: HashMap<u32, Label>,
    /// Lists that could not be read at any time.
    pub(crate) lacks: Lacks,
    /// Whether compiled methods keep frame pointers.
    pub(crate) has_frame_pointers: bool,
    /// Where that was to be read.
    pub(crate) moment: Option<JvmMoment>,
    pub(crate) problems: Vec<Problem>,
}

/// Reads the JVM of a process; `None` where it has none.
///
/// Folklore: ZGC moves a thread's Java object or its name at any time, to where nothing was when the process was read; and before JDK 17
/// the location of the new place is not known. Such a label is not whole, and is there at a later reading. Held by:
/// `every_thread_that_the_jvm_prints_has_its_role`.
///
/// It is read again at once, and so is one whose object another collector has just moved, and a list that breaks off, since the JVM was
/// just starting or ending a thread.
pub(crate) fn read_jvm(proc: &ProcRoot, pid: u32, reads: Reads) -> Result<Option<Jvm>, LinuxError> {
    for _ in 1..READS_MAX {
        match read_once(proc, pid, reads)? {
            Some((_, true)) => {}
            read => return Ok(read.map(|(jvm, _)| jvm)),
        }
    }
    Ok(read_once(proc, pid, reads)?.map(|(jvm, _)| jvm))
}

/// The JVM, and whether another reading may show more at once.
fn read_once(proc: &ProcRoot, pid: u32, reads: Reads) -> Result<Option<(Jvm, bool)>, LinuxError> {
    let process = LiveProcess::open(proc, pid)?;
    let memory = CachedMemory::new(&process);
    let mut jvm = Jvm {
        facts: TimeJvm::default(),
        labels: HashMap::new(),
        lacks: Lacks::default(),
        has_frame_pointers: false,
        moment: None,
        problems: Vec::new(),
    };
    let hotspot = match Hotspot::open(&memory) {
        Ok(Some(hotspot)) => hotspot,
        Ok(None) => return Ok(None),
        Err(error) => {
            jvm.problems.push(Problem::new("libjvm", error.to_string()));
            return Ok(Some((jvm, false)));
        }
    };
    let kernel: HashMap<u32, (u32, &str)> =
        process.threads().iter().map(|t| (t.tid_inside, (t.tid, t.name.as_str()))).collect();
    // While the program runs this collector moves objects: earlier addresses are outdated.
    let moves_objects = hotspot.collector() == Some(Collector::Z);
    let hotspot = if moves_objects { hotspot.seen_through(&process) } else { hotspot };
    let lists = hotspot.thread_lists();
    let lists_may_tell_more = lists.may_tell_more();
    // Where no class can be read, as of a release whose layout is not known, another look finds none either.
    let has_classes = lists.threads.iter().any(|thread| thread.java_class.is_some());
    let is_missing = |list| list == ListRead::NotFound;
    jvm.lacks =
        Lacks { list: is_missing(lists.java) || is_missing(lists.others), java_names: !lists.has_java_names };
    let addresses: HashMap<u32, u64> = lists
        .threads
        .iter()
        .filter_map(|thread| Some((kernel.get(&thread.tid_inside)?.0, thread.address)))
        .collect();
    jvm.labels = labels_of(lists, &kernel);
    jvm.has_frame_pointers = hotspot.flags().bool("PreserveFramePointer") == Some(true);
    let version = hotspot.version();
    jvm.facts = TimeJvm {
        version: version.map(|v| v.name()),
        feature: version.map(|v| v.feature),
        collector: hotspot.collector().map(|collector| collector.name().to_owned()),
    };
    jvm.problems.extend(hotspot.problems());
    if reads == Reads::ThreadsAndMoment {
        let carriers = jvm.labels.iter().filter(|(_, label)| label.role == ThreadRole::Carrier);
        let carriers = carriers.filter_map(|(tid, _)| Some((*tid, *addresses.get(tid)?)));
        let taken = hotspot.carriers();
        let look = |(tid, address)| CarrierLook::at((proc, pid, tid), || taken.is_taken(address));
        let carriers = carriers.take(CARRIERS_MAX).filter_map(look).collect();
        jvm.moment = Some(JvmMoment { holds: holds(&hotspot), carriers });
    }
    let is_moved_meanwhile = has_classes && jvm.labels.values().any(|label| !label.is_whole);
    Ok(Some((jvm, lists_may_tell_more || is_moved_meanwhile)))
}

fn holds(hotspot: &Hotspot<'_>) -> Holds {
    let counters = hotspot.perf_counters();
    let counter = |name| counters.as_ref().and_then(|counters| u64::try_from(counters.number(name)?).ok());
    // A heap of which only the reserved addresses are known has no spaces.
    let heap = hotspot.heap().filter(|heap| !heap.spaces.is_empty());
    Holds {
        heap_bytes: heap.map(|heap| heap.used_bytes()),
        heap_bytes_max: hotspot.flags().uint("MaxHeapSize"),
        classes_loaded: counter("java.cls.loadedClasses"),
    }
}

/// Labels by thread id in Assay's PID namespace. `kernel`: by thread id in the process's own the one in Assay's, and the kernel's name.
fn labels_of(lists: ThreadLists, kernel: &HashMap<u32, (u32, &str)>) -> HashMap<u32, Label> {
    let ThreadLists { threads, java, others, has_java_names, has_entries } = lists;
    let threads: Vec<_> = threads
        .into_iter()
        .filter_map(|thread| {
            let (_, kernel_name) = kernel.get(&thread.tid_inside)?;
            Some((thread, *kernel_name))
        })
        .collect();
    // A thread that is on no list, since the JVM does not export it, may have one of the names of the JVM's threads.
    let of_missing = |name: &str| {
        let of_java = || of_java_list(name).filter(|_| java == ListRead::NotFound);
        of_other_list(name).filter(|_| others == ListRead::NotFound).or_else(of_java)
    };
    let mut labels: HashMap<u32, Label> = kernel
        .values()
        .filter_map(|(tid, name)| {
            Some((*tid, Label::by_kernel_name(Role::inferred(of_missing(name)?), name)))
        })
        .collect();
    let roles = roles_of(&threads);
    for ((thread, kernel_name), Role { role, is_inferred }) in threads.into_iter().zip(roles) {
        let Some((tid, _)) = kernel.get(&thread.tid_inside) else { continue };
        let is_java = thread.kind == ThreadKind::Java;
        let has_name = thread.name.is_some() || !has_java_names;
        let has_kind = thread.kind != ThreadKind::Other || has_entries;
        let is_told = has_kind && (!is_timer(&thread) || role != ThreadRole::Unknown);
        let is_whole = has_name && is_told && (!is_java || thread.java_class.is_some());
        let name = thread.name.unwrap_or_else(|| kernel_name.to_owned());
        labels.insert(*tid, Label { role, is_inferred, name, is_whole });
    }
    labels
}
