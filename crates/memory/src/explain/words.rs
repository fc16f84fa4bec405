//! Causes in plain words, and what to look at next.

use super::gather::Change;
use crate::findings::classes::loader;
use crate::findings::malloc::can_trim;
use crate::findings::words::{bytes, entries_of};
use crate::heap_classes::CLASSES_MAX;
use crate::mapped::WRITTEN;
use crate::owners::{
    BEHIND_BUFFERS, DIRECT_BUFFERS, JDK_LIBRARIES, NIO_THREAD_CACHE, NO_HOLDER, NO_HOLDER_SEEN, ON_STACKS,
};
use crate::stacks::without_numbers;
use assay_model::{Area, MemoryReport, ThreadMemory};
use std::collections::BTreeMap;

/// Parts that are named when a cause has many.
const PARTS_NAMED: usize = 3;

/// Explains a change in a sentence or two.
pub(super) fn explanation(change: &Change, before: &MemoryReport, after: &MemoryReport) -> String {
    let pid = to_ask(after);
    let second = change.path.get(1).map(String::as_str);
    let text = match change.area() {
        Some(Area::JavaHeap) => java_heap(change, before, after),
        Some(Area::Buffers) => buffers(second, change.path.get(2).map(String::as_str), &pid),
        Some(Area::JvmWork) => jvm_work(change, before, after),
        Some(Area::NativeLibraries) => native_library(change.path.get(1)),
        Some(Area::ClassMetadata) => classes(change, before, after),
        Some(Area::Stacks) => stacks(change, before, after),
        Some(Area::FreedResident) => retained(after),
        Some(Area::AllocatorOverhead) => "headers and rounding: they follow the number of blocks in use".to_owned(),
        Some(Area::Code) => match second {
            Some("mapped files" | "mapped jars" | "fonts" | "locale" | "class files") => {
                "pages of files that are mapped: the kernel can drop them at any time. Growth without end means mappings \
                 that nobody releases"
                    .to_owned()
            }
            Some(kind) if kind.ends_with(WRITTEN) => written(kind),
            _ => "libraries that were loaded, or pages of them that were used for the first time".to_owned(),
        },
        Some(Area::JitCode) => {
            "compiled methods: grows while the program warms up, at most to ReservedCodeCacheSize".to_owned()
        }
        Some(Area::JitWork) => {
            "arenas of the compilers: given back some seconds after they are idle".to_owned()
        }
        Some(Area::GcStructures) => {
            "the collector's tables: they follow the committed heap and the references between its regions".to_owned()
        }
        Some(Area::Other) | None => "named by the kernel or the program".to_owned(),
        Some(Area::MallocHeap) => {
            "malloc blocks in use by an owner that could not be found. Next: their sizes and contents are listed as unknown"
                .to_owned()
        }
        Some(Area::NativeAnonymous) => {
            "memory that a program or library mapped by itself. Next: its addresses and contents are listed as unknown"
                .to_owned()
        }
    };
    format!("{text}{}", parts(change))
}

/// What malloc keeps, and what gives it back: a trim, where the JVM can be asked for one.
fn retained(after: &MemoryReport) -> String {
    let what = "freed by the program and kept by malloc";
    if after.jvm.as_ref().is_some_and(can_trim) {
        let pid = to_ask(after);
        return format!(
            "{what}. Next: assay memory {pid} --trim returns its whole pages. Findings name settings that do \
                so permanently"
        );
    }
    format!("{what}. Next: findings name settings that give it back")
}

/// The parts of a cause that has several, where they are names and not kinds.
fn parts(change: &Change) -> String {
    let total = change.bytes().signum();
    let same: Vec<_> =
        change.parts.iter().filter(|(_, bytes)| bytes.signum() == total && total != 0).collect();
    if same.len() < 2 {
        return String::new();
    }
    let name = |path: &[String]| path[change.path.len().min(path.len())..].join(": ");
    let named: Vec<String> = same
        .iter()
        .take(PARTS_NAMED)
        .filter_map(|(path, by)| {
            let below = Some(name(path)).filter(|name| !name.is_empty());
            Some(format!("{} {}", below.or_else(|| path.last().cloned())?, signed(*by)))
        })
        .collect();
    let more = same.len() - named.len().min(same.len());
    let more = if more == 0 { String::new() } else { format!(", {more} more") };
    format!(". Including: {}{more}", named.join(", "))
}

fn signed(by: i64) -> String {
    format!("{}{}", if by < 0 { "-" } else { "+" }, bytes(by.unsigned_abs()))
}

fn java_heap(change: &Change, before: &MemoryReport, after: &MemoryReport) -> String {
    let is_free = |part: &String| matches!(part.as_str(), "free but resident" | "unused above top");
    if change.path.iter().any(is_free) {
        return "heap pages without objects that stay resident; findings name the collector's setting that gives them back"
            .to_owned();
    }
    let classes = if 0 < change.bytes() { grown_classes(before, after) } else { String::new() };
    format!(
        "Java objects, live or not yet collected{classes}. Next: jcmd {} GC.class_histogram counts the live \
            ones by class. If RSS grows and they do not, the heap has only not been collected",
        to_ask(after)
    )
}

/// The classes whose objects grew most in the whole heap.
fn grown_classes(before: &MemoryReport, after: &MemoryReport) -> String {
    let classes = |snapshot: &'_ MemoryReport| snapshot.jvm.as_ref().and_then(|jvm| jvm.heap_classes.clone());
    let (Some(before), Some(after)) = (classes(before), classes(after)) else { return String::new() };
    // A class that is not listed has no objects, or fewer bytes than the last one that is.
    let unlisted_bytes = before.get(CLASSES_MAX - 1).map_or(0, |last| last.bytes);
    let old: BTreeMap<&str, u64> = before.iter().map(|of| (of.class.as_str(), of.bytes)).collect();
    let mut grown: Vec<(u64, &str)> = after
        .iter()
        .filter_map(|new| {
            let bytes = old.get(new.class.as_str()).copied().unwrap_or(unlisted_bytes);
            Some((new.bytes.checked_sub(bytes).filter(|by| *by != 0)?, new.class.as_str()))
        })
        .collect();
    grown.sort_unstable_by(|a, b| b.cmp(a));
    let named = grown.iter().take(PARTS_NAMED).map(|(by, class)| format!("{class} +{}", bytes(*by)));
    let named: Vec<String> = named.collect();
    if named.is_empty() { String::new() } else { format!("; in the whole heap: {}", named.join(", ")) }
}

/// The process that a command can ask: of one that has ended, its successor.
fn to_ask(snapshot: &MemoryReport) -> String {
    if snapshot.end.is_some() { "PID".to_owned() } else { snapshot.pid.to_string() }
}

fn buffers(kind: Option<&str>, holder: Option<&str>, pid: &str) -> String {
    let held = |what: &str| holder.map_or(what.to_owned(), |holder| format!("{what} that {holder} holds"));
    match kind {
        Some(kind) if kind.ends_with(WRITTEN) => written(kind),
        Some(holder) if holder.contains("Deflater") || holder.contains("Inflater") => format!(
            "{} that nobody ended. Next: close the streams that use them, or call end(). A heap dump shows \
                their holders",
            held(&format!("native memory of {holder} objects"))
        ),
        Some("mapped files") => {
            "files that Java code maps: clean pages, which the kernel can drop. Growth without end means mapped buffers that \
             are never released"
                .to_owned()
        }
        Some(DIRECT_BUFFERS) => match holder {
            Some(NIO_THREAD_CACHE) => {
                "direct buffers that threads keep from reading and writing through heap buffers. Next: \
                 -Djdk.nio.maxCachedBufferSize=262144 frees larger ones after use"
                    .to_owned()
            }
            Some(NO_HOLDER) => {
                "direct buffers that no object holds: the next collection frees them. Next: -XX:MaxDirectMemorySize makes the JVM \
                 collect in time"
                    .to_owned()
            }
            Some(NO_HOLDER_SEEN) => {
                "direct buffers that perhaps no object holds: the program ran on while its heap was read. Next: --freeze tells, and \
                 -XX:MaxDirectMemorySize makes the JVM free dead ones in time"
                    .to_owned()
            }
            _ => format!(
                "{}. Next: jcmd {pid} GC.class_histogram counts java.nio.DirectByteBuffer, a heap dump shows \
                    their holders. -XX:MaxDirectMemorySize does not help: held buffers are not freed",
                held("direct buffers")
            ),
        },
        Some(BEHIND_BUFFERS) => format!(
            "{}. Next: find the code that makes them and does not close them. Native code allocates and frees \
                this memory",
            held("native memory to which buffers are handles")
        ),
        Some(kind) => {
            let what = held(&format!("native memory of {kind} objects"));
            format!("{what}. Next: a heap dump shows the way to them")
        }
        None => "native memory that Java objects own. Next: the holders, in a heap dump".to_owned(),
    }
}

/// Pages of a private mapping that the program wrote to.
fn written(kind: &str) -> String {
    format!(
        "{kind}: private pages that the program wrote to, which the kernel cannot drop. Next: who maps the file to change it"
    )
}

fn native_library(name: Option<&String>) -> String {
    let name = name.map_or("native libraries", String::as_str);
    format!(
        "malloc by native code of {name}. Next: who calls into it and does not free; a profiler of malloc shows the calls"
    )
}

fn jvm_work(change: &Change, before: &MemoryReport, after: &MemoryReport) -> String {
    let pid = to_ask(after);
    let second = change.path.get(1).map_or("", String::as_str);
    match second {
        JDK_LIBRARIES => native_library(change.path.get(2)),
        "symbols" => "names of classes, methods and fields: they follow the classes loaded".to_owned(),
        "strings" => {
            format!("interned strings. Next: jcmd {pid} VM.stringtable; String.intern() on data keeps it")
        }
        "JNI references" => {
            "references of native code to Java objects, which keep them alive. Next: who makes global references and does not delete \
             them; -Xcheck:jni warns of some"
                .to_owned()
        }
        "threads" => match before.outside_rss.threads.zip(after.outside_rss.threads) {
            Some((from, to)) if from == to => {
                format!(
                    "what the JVM keeps for each thread: {to} threads as before, whose arenas and handles changed"
                )
            }
            Some((from, to)) => {
                format!("what the JVM keeps for each thread: {from} threads before, {to} after")
            }
            None => "what the JVM keeps for each thread".to_owned(),
        },
        ON_STACKS => {
            "blocks to which only the stacks of running threads lead: work under way, which comes and goes"
                .to_owned()
        }
        _ => "the JVM's own work".to_owned(),
    }
}

fn classes(change: &Change, before: &MemoryReport, after: &MemoryReport) -> String {
    let classes = |snapshot: &MemoryReport| snapshot.jvm.as_ref()?.classes;
    let number = match (classes(before), classes(after)) {
        (Some(from), Some(to)) => format!(": {from} classes before, {to} after"),
        _ => String::new(),
    };
    let is_free = |part: &String| matches!(part.as_str(), "free chunks" | "unused tails");
    if change.path.iter().any(is_free) {
        return format!("metaspace that class loaders gave back or have not used yet{number}");
    }
    let pid = to_ask(after);
    match more_loaders(before, after) {
        Some((name, from, to)) => format!(
            "classes and the data of their loaders{number}. Class loaders called {name}: {from} before, {to} \
                after. If their number goes on growing, they leak. Next: jcmd {pid} VM.classloader_stats, \
                and a heap dump's path to the oldest of them"
        ),
        None => format!(
            "classes and the data of their loaders{number}. Next: jcmd {pid} VM.classloader_stats counts \
                classes by loader"
        ),
    }
}

/// The class of loaders of which most were added, and their number before and after.
fn more_loaders(before: &MemoryReport, after: &MemoryReport) -> Option<(String, u64, u64)> {
    let counts = |snapshot: &MemoryReport| {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for entry in entries_of(snapshot, Area::ClassMetadata) {
            if let Some((name, count)) = loader(entry).zip(entry.count) {
                let known = counts.entry(name.to_owned()).or_default();
                *known = count.max(*known);
            }
        }
        counts
    };
    let (old, new) = (counts(before), counts(after));
    let grown = new.into_iter().map(|(name, to)| {
        let from = old.get(&name).copied().unwrap_or(0);
        (name, from, to)
    });
    let most = grown.max_by_key(|(_, from, to)| to.saturating_sub(*from))?;
    (most.1 + 1 < most.2).then_some(most)
}

fn stacks(change: &Change, before: &MemoryReport, after: &MemoryReport) -> String {
    let number = |snapshot: &MemoryReport| of_kind(&change.path, snapshot).count();
    let (from, to) = (number(before), number(after));
    let grown: BTreeMap<String, usize> = of_kind(&change.path, after)
        .filter(|thread| !before.threads.iter().any(|old| old.tid == thread.tid))
        .fold(BTreeMap::new(), |mut names, thread| {
            *names.entry(without_numbers(&thread.name)).or_default() += 1;
            names
        });
    let most = grown.into_iter().max_by_key(|(_, number)| *number);
    let most =
        most.map_or(String::new(), |(name, number)| format!(", {number} of the new ones called {name}"));
    if from < to {
        return format!(
            "threads: {from} before, {to} after{most}. Next: who starts them and does not end them (jcmd {} Thread.print)",
            to_ask(after)
        );
    }
    "deeper calls than before: what a stack has touched stays resident until its thread ends".to_owned()
}

/// The threads whose stacks a path speaks of.
fn of_kind<'a>(path: &'a [String], snapshot: &'a MemoryReport) -> impl Iterator<Item = &'a ThreadMemory> {
    snapshot.threads.iter().filter(move |thread| {
        path.get(1).is_none_or(|kind| kind == thread.kind.word())
            // Where threads are many, their entries have names without numbers.
            && path.get(2).is_none_or(|name| *name == thread.name || *name == without_numbers(&thread.name))
    })
}

/// Growth in threads, for a cause that is about stacks.
pub(super) fn thread_change(path: &[String], before: &MemoryReport, after: &MemoryReport) -> Option<i64> {
    if Area::of_path(path) != Some(Area::Stacks) || (before.threads.is_empty() && after.threads.is_empty()) {
        return None;
    }
    let number = |snapshot: &MemoryReport| of_kind(path, snapshot).count() as i64;
    Some(number(after) - number(before))
}
