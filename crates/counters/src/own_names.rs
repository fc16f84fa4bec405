//! Names that HotSpot gives to its own threads, for JVMs whose lists cannot be read.
//!
//! The JVM gives the kernel the names of its threads. Any program may give a thread such a name: roles by such names are inferred, and
//! only for threads that are on no list. Names are those of JDK 8 to 28.

use assay_model::ThreadRole::{self, C1, C2, Collector, OtherCompiler, Vm};

/// Bytes of a name that the kernel keeps.
const KERNEL_BYTES: usize = 15;
/// Bytes that later releases keep of the beginning and of the end of a longer name, with two dots between.
const HEAD_BYTES: usize = 7;
const TAIL_BYTES: usize = 6;

/// What stands between the number of a worker of JDK 8 and the name of its pool.
const POOL: &str = " (";

/// Threads of the list of Java threads. The last `#` of a name stands for a number.
const IN_JAVA_LIST: &[(&str, ThreadRole)] = &[
    ("C1 CompilerThread#", C1),
    ("C2 CompilerThread#", C2),
    ("JVMCI CompilerThread#", OtherCompiler),
    ("Signal Dispatcher", Vm),
    ("Service Thread", Vm),
    ("Monitor Deflation Thread", Vm),
    ("Notification Thread", Vm),
    ("Sweeper thread", Vm),
    ("Attach Listener", Vm),
    ("StringDedupThread", Vm),
    ("Training replay thread", Vm),
    // JDK 8: locks monitors for a concurrent collector.
    ("Surrogate Locker Thread (Concurrent GC)", Vm),
];

/// Threads of the other list.
const IN_OTHER_LIST: &[(&str, ThreadRole)] = &[
    ("VM Thread", Vm),
    ("VM Periodic Task Thread", Vm),
    ("AsyncLog Thread", Vm),
    ("JFR Thread Sampler", Vm),
    ("JFR Sampler Thread", Vm),
    ("JFR CPU Sampler Thread", Vm),
    ("Native Heap Trimmer", Vm),
    ("Archive Worker Thread", Vm),
    // Workers of all collectors.
    ("GC Thread##", Collector),
    ("ParGC Thread##", Collector),
    ("GC task thread##", Collector),
    ("Gang worker##", Collector),
    ("Safepoint Cleanup Thread##", Collector),
    ("StrDedup", Collector),
    ("StringDedupProcessor", Collector),
    ("String Deduplication Thread", Collector),
    ("G1 Main Marker", Collector),
    ("G1 Main Concurrent Mark GC Thread", Collector),
    ("G1 Conc##", Collector),
    ("G1 Refine##", Collector),
    ("G1 Refine Control", Collector),
    ("G1 Refinement Workers##", Collector),
    ("G1 Concurrent Refinement Thread##", Collector),
    // Folklore: a refinement thread of JDK 8 may run before it is given its name, and keeps this one; only threads of a concurrent
    // collector start so. Held by: `every_thread_that_the_jvm_prints_has_its_role`.
    ("Unknown Thread", Collector),
    ("G1 Service", Collector),
    ("G1 Young RemSet Sampling", Collector),
    ("Concurrent Mark-Sweep GC Thread", Collector),
    ("CMS Main Thread", Collector),
    ("CMS Thread##", Collector),
    ("Shenandoah GC Threads##", Collector),
    ("Shenandoah Control Thread", Collector),
    ("ShenandoahControlThread", Collector),
    ("Shenandoah Concurrent Thread", Collector),
    ("Shenandoah Regulator Thread", Collector),
    ("Shenandoah Uncommit Thread", Collector),
    ("ShenControl", Collector),
    ("ShenRegulator", Collector),
    ("ShenUncommit", Collector),
    ("ShenWorker##", Collector),
    ("ZDirector", Collector),
    ("ZDriver", Collector),
    ("ZDriverMajor", Collector),
    ("ZDriverMinor", Collector),
    ("ZStat", Collector),
    ("ZUncommitter", Collector),
    ("ZUncommitter##", Collector),
    ("ZUnmapper", Collector),
    ("ZWorker##", Collector),
    ("ZWorkerYoung##", Collector),
    ("ZWorkerOld##", Collector),
    ("RuntimeWorker##", Collector),
    // ZGC without generations in JDK 21 to 23.
    ("XDirector", Collector),
    ("XDriver", Collector),
    ("XStat", Collector),
    ("XUncommitter", Collector),
    ("XUnmapper", Collector),
    ("XWorker##", Collector),
];

/// The role of a thread of the Java list by the kernel's name of it; none where the name is not one of the JVM's.
pub(crate) fn of_java_list(kernel_name: &str) -> Option<ThreadRole> {
    role_in(IN_JAVA_LIST, kernel_name)
}

/// The role of a thread of the other list by the kernel's name of it.
pub(crate) fn of_other_list(kernel_name: &str) -> Option<ThreadRole> {
    role_in(IN_OTHER_LIST, kernel_name)
}

/// Whether a thread of a JVM is a collector's own, by the name that the kernel has of it alone: cheaper than asking the JVM, and inferred.
/// Serial has none, and collects on the VM thread.
pub fn is_collector_s(kernel_name: &str) -> bool {
    of_other_list(kernel_name) == Some(Collector)
}

/// Whether a thread of a JVM is a JIT compiler's, by the same; inferred likewise.
pub fn is_compiler_s(kernel_name: &str) -> bool {
    of_java_list(kernel_name).is_some_and(|role| ThreadRole::COMPILERS.contains(&role))
}

fn role_in(names: &[(&str, ThreadRole)], kernel_name: &str) -> Option<ThreadRole> {
    names.iter().find(|(name, _)| is_kernel_name(name, kernel_name)).map(|(_, role)| *role)
}

/// Whether the JVM gives the kernel this name for a thread of such a name: the beginning of a longer one, or its two ends.
///
/// Folklore: JDK 8 adds the pool behind the number, `Gang worker#0 (Parallel GC Threads)`; JDK 28 keeps the two ends,
/// `C2 Comp..hread0`. Held by: `names_are_those_that_the_kernel_has_of_real_jvms`.
pub(crate) fn is_kernel_name(name: &str, kernel_name: &str) -> bool {
    let (stem, is_numbered) = name.strip_suffix('#').map_or((name, false), |stem| (stem, true));
    if let Some(rest) = kernel_name.strip_prefix(stem) {
        let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_cut = kernel_name.len() == KERNEL_BYTES;
        let is_pool = is_cut && (behind.starts_with(POOL) || POOL.starts_with(behind));
        return match (is_numbered, rest.is_empty()) {
            (false, is_whole) => is_whole,
            (true, true) => is_cut,
            (true, false) => behind.len() < rest.len() && (behind.is_empty() || is_pool),
        };
    }
    if kernel_name.len() != KERNEL_BYTES || stem.len() + usize::from(is_numbered) <= KERNEL_BYTES {
        return false;
    }
    let ends = || {
        let (head, tail) = (kernel_name.get(..HEAD_BYTES)?, kernel_name.get(KERNEL_BYTES - TAIL_BYTES..)?);
        let text = tail.trim_end_matches(|c: char| is_numbered && c.is_ascii_digit());
        let has_number = text.len() < tail.len();
        let is_gap = kernel_name.get(HEAD_BYTES..KERNEL_BYTES - TAIL_BYTES)? == "..";
        Some(is_gap && has_number == is_numbered && stem.starts_with(head) && stem.ends_with(text))
    };
    stem.starts_with(kernel_name) || ends().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_the_kernel_has_of_real_jvms() {
        // Copied from `/proc/PID/task/*/comm` of JDK 8, 11, 21, 25 and 28.
        let java = [
            ("C1 CompilerThre", C1),
            ("C2 CompilerThre", C2),
            ("C1 Comp..hread0", C1),
            ("C2 Comp..read12", C2),
            ("Signal Dispatch", Vm),
            ("Signal ..atcher", Vm),
            ("Service Thread", Vm),
            ("Monitor Deflati", Vm),
            ("Monitor..Thread", Vm),
            ("Notification Th", Vm),
            ("Notific..Thread", Vm),
            ("Sweeper thread", Vm),
            ("Attach Listener", Vm),
            ("Surrogate Locke", Vm),
            ("StringDedupThre", Vm),
            ("StringD..Thread", Vm),
        ];
        for (name, role) in java {
            assert_eq!((of_java_list(name), of_other_list(name)), (Some(role), None), "{name}");
        }
        let vm = ["VM Thread", "VM Periodic Tas", "VM Peri..Thread"];
        let collector = [
            "GC Thread#0",
            "GC Thread#12",
            "ParGC Thread#1",
            "GC task thread#",
            "Gang worker#0 (",
            "Gang worker#12 ",
            "Concurrent Mark",
            "CMS Main Thread",
            "String Deduplic",
            "StrDedup",
            "G1 Concurrent R",
            "Unknown Thread",
            "G1 Main Concurr",
            "G1 Main Marker",
            "G1 Conc#0",
            "G1 Refine#0",
            "G1 Refi..kers#0",
            "G1 Refi..ontrol",
            "G1 Service",
            "G1 Young RemSet",
            "Shenandoah GC T",
            "Shenandoah Cont",
            "ShenandoahContr",
            "ShenControl",
            "ShenUncommit",
            "ShenWorker#1",
            "ZDirector",
            "ZDriver",
            "ZDriverMajor",
            "ZStat",
            "ZUncommitter",
            "ZUncommitter#0",
            "ZWorker#0",
            "ZWorkerYoung#0",
            "ZWorkerOld#1",
            "RuntimeWorker#0",
            "RuntimeWorker#1",
            "XDirector",
            "XUnmapper",
            "XWorker#0",
        ];
        for (name, role) in
            vm.map(|name| (name, Vm)).into_iter().chain(collector.map(|name| (name, Collector)))
        {
            assert_eq!((of_java_list(name), of_other_list(name)), (None, Some(role)), "{name}");
        }
    }

    #[test]
    fn names_that_only_resemble_the_jvm_s_tell_nothing() {
        let strangers = [
            "",
            "java",
            "VM",
            "VM Thread 2",
            "GC Thread",
            "GC Thread#",
            "GC Thread#x",
            "GC Thread#0x",
            "GC Thread#0 x",
            "C2 CompilerThr",
            "C2 Comp..hread",
            "C2 Comp..hreadx",
            "C2 Comp..thread",
            "ZStatistics",
            "ZWorker",
            "ZWorker#",
            "G1 Conc",
            "Service",
            "Monitor..thread",
            "é Compi..hread0",
            "C2 Com..CThread",
            "http-nio-8080-e",
        ];
        for name in strangers {
            assert_eq!((of_java_list(name), of_other_list(name)), (None, None), "{name}");
        }
    }
}
