//! What a large share of each area means, and the step that fits it.

use super::super::classes::loader;
use super::super::profilers;
use super::super::words::{bytes, option_size};
use super::share::Share;
use crate::mapped::WRITTEN;
use crate::owners::{
    BEHIND_BUFFERS, DIRECT_BUFFERS, JAVA_OBJECTS, JDK_LIBRARIES, NIO_THREAD_CACHE, NO_HOLDER, NO_HOLDER_SEEN,
    is_of_program,
};
use assay_model::{Allocator, Area, Change, MemoryReport};
use std::collections::BTreeMap;

/// The entry of shared memory, files in memory and devices.
const SHARED_MEMORY: &str = "shared memory and devices";
/// From so many class loaders of one class on, their number is the cause.
const LOADERS_MIN: u64 = 50;

/// What a finding says of a share.
pub(super) struct Words {
    pub claim: String,
    /// Evidence beside the share of RSS.
    pub details: Vec<String>,
    pub step: Change,
    pub alternatives: Vec<String>,
}

impl Words {
    fn new(claim: String, details: impl IntoIterator<Item = String>, step: impl Into<Change>) -> Words {
        Words { claim, details: details.into_iter().collect(), step: step.into(), alternatives: Vec::new() }
    }

    fn or(mut self, alternative: impl Into<String>) -> Words {
        self.alternatives.push(alternative.into());
        self
    }
}

pub(super) fn words(share: &Share<'_>, report: &MemoryReport) -> Words {
    let held = share.bytes();
    let part = share.part.unwrap_or_default();
    let pid = report.pid;
    match share.area {
        Area::Buffers | Area::Code if part.ends_with(WRITTEN) => written(share, pid),
        Area::Buffers => buffers(share, part, report),
        Area::NativeLibraries => library(share, part, report),
        Area::Code => Words::new(
            format!("{part} itself has {held} resident: its code and its variables"),
            share.most(2),
            format!("See which parts of it are resident: grep -A 22 {part} /proc/{pid}/smaps"),
        ),
        Area::Other => other(share, part, pid),
        Area::JitWork => compilers(share, report),
        Area::JitCode => Words::new(
            format!("compiled code takes {held}"),
            share.most(1),
            format!("See how full the code cache is: jcmd {pid} Compiler.codecache"),
        )
        .or(format!("Bound it: -XX:ReservedCodeCacheSize={}", option_size(share.memory_bytes))),
        Area::ClassMetadata => classes(share, report),
        Area::Stacks => Words::new(
            format!("thread stacks have {held} resident"),
            share.most(2),
            format!("See what the threads do: jcmd {pid} Thread.print"),
        ),
        Area::GcStructures => Words::new(
            format!("the collector's own tables take {held}"),
            share.most(1),
            "Set a smaller -Xmx, for which the tables have room",
        ),
        Area::JvmWork => jvm_work(share, report),
        Area::FreedResident | Area::AllocatorOverhead => allocator(share, report),
        // Where they were looked for, another rule speaks of what is not known.
        Area::MallocHeap | Area::NativeAnonymous | Area::JavaHeap => Words::new(
            format!("{held} has no owner yet, since none was looked for"),
            share.most(1),
            format!("Look for the owners: assay memory {pid} --depth owners"),
        ),
    }
}

/// Pages of private mappings of files that the program wrote to.
fn written(share: &Share<'_>, pid: u32) -> Words {
    let claim =
        format!("{} are pages of mapped files that the program wrote to: memory of its own", share.bytes());
    let step = match share.largest(2) {
        Some((file, _)) => format!("See where that file is mapped: grep {file} /proc/{pid}/maps"),
        None => format!("See which files are mapped: less /proc/{pid}/maps"),
    };
    Words::new(claim, share.most(2), step)
}

/// Native memory that Java objects own.
fn buffers(share: &Share<'_>, class: &str, report: &MemoryReport) -> Words {
    let (held, pid) = (share.bytes(), report.pid);
    let holder = share.largest(2);
    let held_by = holder.as_ref().map(|(holder, of)| format!("held by {holder}, {}", bytes(*of)));
    let heap_dump = format!("See who keeps the objects: jcmd {pid} GC.heap_dump /tmp/heap.hprof");
    if class == JAVA_OBJECTS {
        let claim =
            format!("Java code has {held} of native memory, allocated without a buffer around it (Unsafe)");
        return Words::new(claim, held_by, profilers::of_malloc(report));
    }
    let of_jdk = format!("{class} objects hold {held} of native memory");
    match (class, holder) {
        ("mapped files", _) => Words::new(
            format!("{held} are pages of files that Java code maps"),
            share.most(2),
            format!("See who keeps the mappings: jcmd {pid} GC.heap_dump /tmp/heap.hprof"),
        ),
        (DIRECT_BUFFERS, holder) => {
            direct_buffers(format!("direct buffers hold {held}"), holder, heap_dump, pid)
        }
        (BEHIND_BUFFERS, holder) => {
            let claim = format!("native code has {held} to which Java has buffers as handles");
            match holder {
                Some((holder, _)) => {
                    Words::new(claim, held_by, format!("Let {holder} close what it no longer needs"))
                        .or(profilers::of_malloc(report))
                }
                None => Words::new(claim, None, profilers::of_malloc(report)),
            }
        }
        ("java.lang.foreign.MemorySegment", _) => {
            let claim = format!("memory segments of Java's foreign memory API hold {held}");
            Words::new(claim, held_by, "Close the arena of segments that are no longer used: Arena.close()")
                .or(heap_dump)
        }
        (class, _) if is_of_program(class) => {
            let claim = format!("{class} objects that are not closed hold {held} of native memory");
            Words::new(claim, held_by, format!("Close each {class} that is no longer used (close())"))
                .or(heap_dump)
                .or("Call the method that frees it, where that has another name than close()")
        }
        _ => Words::new(of_jdk, held_by, heap_dump),
    }
}

/// Buffers that the JDK allocates and frees: what helps depends on who holds most of them.
fn direct_buffers(claim: String, holder: Option<(String, u64)>, heap_dump: String, pid: u32) -> Words {
    let Some((holder, of)) = holder else { return Words::new(claim, None, heap_dump) };
    let of = bytes(of);
    match holder.as_str() {
        NO_HOLDER => Words::new(
            claim,
            [format!("no object in the heap holds {of} of it: a collection frees that")],
            format!("Have the JVM collect: jcmd {pid} GC.run"),
        )
        .or("Free them in the program, where the library that makes them can"),
        NO_HOLDER_SEEN => Words::new(
            claim,
            [format!(
                "no object was seen to hold {of} of it, but the program ran on while its heap was read"
            )],
            "Look again while the process is stopped: --freeze",
        )
        .or(format!("Have the JVM collect: jcmd {pid} GC.run")),
        NIO_THREAD_CACHE => Words::new(
            claim,
            [format!(
                "threads keep {of} of it from reading and writing through heap buffers ({NIO_THREAD_CACHE})"
            )],
            "Read and write with fewer threads",
        )
        .or("Use direct buffers in the program"),
        holder => Words::new(
            claim,
            [format!("held by {holder}, {of}")],
            format!("Let {holder} drop the buffers that it no longer needs"),
        )
        .or(heap_dump),
    }
}

/// Memory that a library other than the JDK's has allocated.
fn library(share: &Share<'_>, library: &str, report: &MemoryReport) -> Words {
    let claim = format!("{library} has {} allocated", share.bytes());
    let jvm = report.jvm.is_some();
    let details = jvm.then(|| "native memory tracking of the JVM does not see it".to_owned());
    let words = Words::new(claim, share.most(2).into_iter().chain(details), profilers::of_malloc(report));
    if jvm {
        words.or(format!("Record it with a profiler of malloc: heaptrack --pid {}", report.pid))
    } else {
        words
    }
}

/// Shared memory, devices, and what a program names itself.
fn other(share: &Share<'_>, part: &str, pid: u32) -> Words {
    let held = share.bytes();
    let (most, largest) = (share.most(2), share.largest(2).map(|(name, _)| name));
    match (part, largest) {
        (SHARED_MEMORY, Some(name)) if name.starts_with("SYSV") => {
            let claim = format!("{held} are shared memory segments of System V");
            Words::new(claim, most, "See which processes are attached to them: ipcs -m -p")
        }
        (SHARED_MEMORY, Some(name)) if name.starts_with("memfd:") || name == "zero" => {
            let claim = format!("{held} are shared memory without a file");
            Words::new(claim, most, format!("See which processes map it: grep -l {name} /proc/[0-9]*/maps"))
        }
        (SHARED_MEMORY, Some(name)) => {
            let claim = format!(
                "{held} are files in memory (/dev/shm or another tmpfs), which take it until they are deleted"
            );
            Words::new(claim, most, "See which of them are still needed: ls -lS /dev/shm")
                .or(format!("See in which folder they lie: grep {name} /proc/{pid}/maps"))
        }
        (part, Some(name)) => Words::new(
            format!("{held} are mapped under the name {name}"),
            [part.to_owned()],
            format!("Look in the program for who gives that name: grep {name} /proc/{pid}/maps"),
        ),
        (part, None) => Words::new(
            format!("{held} are {part}"),
            most,
            format!("See where it is mapped: less /proc/{pid}/smaps"),
        ),
    }
}

/// The compilers at work.
fn compilers(share: &Share<'_>, report: &MemoryReport) -> Words {
    let pid = report.pid;
    let claim = format!("the JIT compilers hold {} for their work", share.bytes());
    let jvm = report.jvm.as_ref();
    let compiling = jvm.map_or(&[][..], |jvm| &jvm.compiling);
    let named = (!compiling.is_empty()).then(|| format!("they compile {}", compiling.join(", ")));
    let feature = jvm.and_then(|jvm| jvm.feature);
    let is_idle = share.largest(1).is_some_and(|(part, _)| part == "idle chunk pool");
    let step = match (feature, compiling) {
        _ if is_idle => format!("Look again in 10 s, when idle chunks are freed: assay memory {pid}"),
        (_, [method]) => format!("Leave that method to the interpreter: -XX:CompileCommand=exclude,{method}"),
        (Some(9..), _) => format!("See which methods are compiled: jcmd {pid} Compiler.queue"),
        _ => "See which methods are compiled: -XX:+PrintCompilation".to_owned(),
    };
    let words = Words::new(claim, share.most(1).into_iter().chain(named), step);
    match feature {
        Some(22..) => words.or("Bound what one compilation takes: -XX:CompileCommand=MemLimit,*.*,256m"),
        _ => words,
    }
}

/// Classes, by the class of their loaders.
fn classes(share: &Share<'_>, report: &MemoryReport) -> Words {
    let (held, pid) = (share.bytes(), report.pid);
    let mut loaders: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for entry in &share.entries {
        let Some(name) = loader(entry) else { continue };
        let (of, count) = loaders.entry(name).or_default();
        *of = of.saturating_add(entry.bytes_of_memory());
        // That of either space is the number of all loaders of the class.
        *count = entry.count.unwrap_or(0).max(*count);
    }
    let statistics = match report.jvm.as_ref().and_then(|jvm| jvm.feature) {
        Some(..9) => format!("See which loaders have the classes: jmap -clstats {pid}"),
        _ => format!("See which loaders have the classes: jcmd {pid} VM.classloader_stats"),
    };
    let classes = report.jvm.as_ref().and_then(|jvm| jvm.classes).map(|classes| format!("{classes} classes"));
    match loaders.into_iter().max_by_key(|(_, (of, _))| *of) {
        Some((name, (of, count))) if LOADERS_MIN <= count => Words::new(
            format!("{count} class loaders of {name} keep their classes: class metadata takes {held}"),
            [format!("their own part {}", bytes(of))].into_iter().chain(classes),
            format!("Find out who keeps loaders of {name}: jcmd {pid} GC.heap_dump /tmp/heap.hprof"),
        )
        .or(statistics),
        Some((name, (of, _))) => {
            let most = format!("most of it: loader {name}, {}", bytes(of));
            Words::new(format!("class metadata takes {held}"), [most].into_iter().chain(classes), statistics)
        }
        None => Words::new(
            format!("class metadata takes {held}"),
            share.most(1).into_iter().chain(classes),
            statistics,
        ),
    }
}

/// What the JVM and the JDK's libraries keep for themselves.
fn jvm_work(share: &Share<'_>, report: &MemoryReport) -> Words {
    let pid = report.pid;
    let claim = format!("the JVM keeps {} for its own work", share.bytes());
    let tracking = report.jvm.as_ref().and_then(|jvm| jvm.native_memory_tracking.as_deref());
    let largest = share.largest(1).map(|(part, _)| part);
    let step = match largest.as_deref() {
        Some(JDK_LIBRARIES) => profilers::of_malloc(report),
        Some("strings") => format!("See how many strings are interned: jcmd {pid} VM.stringtable"),
        Some("symbols") => format!("See how many names the JVM keeps: jcmd {pid} VM.symboltable"),
        _ if tracking.is_some_and(|level| level != "off") => {
            format!("See how the JVM divides it: jcmd {pid} VM.native_memory summary")
        }
        _ => "Start with -XX:NativeMemoryTracking=summary, which names what the JVM itself allocates"
            .to_owned(),
    };
    Words::new(claim, share.most(1), step)
}

/// What the allocator keeps, or needs for itself, and a trim does not give back.
fn allocator(share: &Share<'_>, report: &MemoryReport) -> Words {
    let facts = report.allocator.as_ref();
    let name = facts.map_or("the allocator", |facts| facts.name.word());
    let held = share.bytes();
    let claim = match share.area {
        Area::FreedResident => format!("{name} keeps {held} that was freed, between blocks in use"),
        _ => format!("{name} needs {held} in addition to the blocks that it hands out"),
    };
    let blocks = facts.and_then(|facts| facts.used_blocks).map(|blocks| format!("{blocks} blocks in use"));
    let step = match facts.map(|facts| facts.name) {
        Some(Allocator::Jemalloc) => {
            Change::to_set(&[], &[("MALLOC_CONF", "dirty_decay_ms:1000,muzzy_decay_ms:0")], "")
        }
        Some(Allocator::Tcmalloc) => Change::to_set(&[], &[("TCMALLOC_RELEASE_RATE", "10")], ""),
        Some(Allocator::Mimalloc) => Change::to_set(&[], &[("MIMALLOC_PURGE_DELAY", "0")], ""),
        _ => "Use an allocator that packs blocks closer: LD_PRELOAD=libjemalloc.so.2".into(),
    };
    Words::new(claim, share.most(1).into_iter().chain(blocks), step)
}
