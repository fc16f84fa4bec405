//! What a JVM says of itself, by `jcmd`: its threads, the objects of its heap, what it tracks of its native memory.

use std::collections::BTreeMap;

/// A thread as `Thread.print` has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrintedThread {
    /// Its name.
    pub name: String,
    /// Whether it is a Java thread; the JVM's own have no number.
    pub is_java: bool,
}

/// Threads by their ids, of an answer to `Thread.print`:
/// `"main" #1 prio=5 os_prio=0 cpu=1.39ms elapsed=0.35s tid=0x00007f nid=0x1c2 runnable`, and `nid=450` or `[450]` since JDK 19.
pub fn printed_threads(answer: &str) -> BTreeMap<u32, PrintedThread> {
    let thread = |line: &str| {
        let (name, rest) = line.strip_prefix('"')?.rsplit_once("\" ")?;
        let number = |text: &str| {
            let end = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
            match text[..end].strip_prefix("0x") {
                Some(digits) => u32::from_str_radix(digits, 16).ok(),
                None => text[..end].parse().ok(),
            }
        };
        let tid = match rest.split_once("nid=") {
            Some((_, rest)) => number(rest)?,
            None => number(rest.split_once('[')?.1)?,
        };
        Some((tid, PrintedThread { name: name.to_owned(), is_java: rest.starts_with('#') }))
    };
    answer.lines().filter_map(thread).collect()
}

/// The role of a thread of a JVM that runs `testdata/java/Working.java`, as `assay time` spells it: what that program's source and the
/// names that the JVM gives to its own threads say. `None` where both have a thread of that name.
pub fn role_in_working(thread: &PrintedThread) -> Option<&'static str> {
    const OF_VM: [&str; 3] = ["VM Thread", "VM Periodic Task Thread", "AsyncLog Thread"];
    const OF_VM_IN_JAVA: [&str; 7] = [
        "Signal Dispatcher",
        "Service Thread",
        "Monitor Deflation Thread",
        "Notification Thread",
        "Sweeper thread",
        "Attach Listener",
        "Surrogate Locker Thread (Concurrent GC)",
    ];
    const OF_POLLERS: [&str; 7] = [
        "Read-Poller-",
        "Write-Poller",
        "Read-Updater",
        "Write-Updater",
        "MasterPoller",
        "Master-Poller",
        "VirtualThread-",
    ];
    let name = thread.name.as_str();
    let starts = |begin: &str| name.starts_with(begin);
    Some(match name {
        _ if !thread.is_java => {
            if OF_VM.contains(&name) {
                "VM"
            } else {
                "collector"
            }
        }
        "Reference Handler" | "Finalizer" | "Common-Cleaner" => "JDK",
        _ if OF_VM_IN_JAVA.contains(&name) => "VM",
        // The program's own pool is the first.
        _ if starts("ForkJoinPool-1-") => "application",
        _ if starts("ForkJoinPool-2-worker") => "virtual-thread-carrier",
        _ if starts("ForkJoinPool-2-") => "virtual-thread-poller",
        _ if starts("C1 CompilerThread") => "C1",
        _ if starts("C2 CompilerThread") => "C2",
        "Read-Poller" => return None,
        _ if OF_POLLERS.into_iter().any(starts) => "virtual-thread-poller",
        _ => "application",
    })
}

/// Instances and bytes by class, of an answer to `GC.class_histogram`. Classes are spelt as a program writes them; of several with one
/// name the sum.
pub fn class_histogram(answer: &str) -> BTreeMap<String, (u64, u64)> {
    let mut counts = BTreeMap::new();
    for line in answer.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [number, instances, bytes, name, ..] = words[..] else { continue };
        let (Ok(instances), Ok(bytes)) = (instances.parse::<u64>(), bytes.parse::<u64>()) else { continue };
        if number.ends_with(':') {
            let count = counts.entry(spelt(name)).or_insert((0, 0));
            *count = (count.0 + instances, count.1 + bytes);
        }
    }
    counts
}

/// `[Ljava.lang.String;` as `java.lang.String[]`.
fn spelt(name: &str) -> String {
    let of = name.trim_start_matches('[');
    let dimensions = name.len() - of.len();
    let stem = match of {
        _ if dimensions == 0 => of,
        "Z" => "boolean",
        "C" => "char",
        "F" => "float",
        "D" => "double",
        "B" => "byte",
        "S" => "short",
        "I" => "int",
        "J" => "long",
        of => of.trim_start_matches('L').trim_end_matches(';'),
    };
    format!("{stem}{}", "[]".repeat(dimensions))
}

/// What a tag of native memory tracking has, in bytes where it is not a number of things.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words of `VM.native_memory`")]
pub struct TrackedMemory {
    pub malloc_bytes: u64,
    pub malloc_count: u64,
    pub arena_bytes: u64,
    pub arena_count: u64,
    pub reserved_bytes: u64,
    pub committed_bytes: u64,
}

/// How a JVM is asked for what it tracks, and the bytes of the unit in which it answers, rounded: JDK 8 has none below KB.
pub fn tracking_report(feature: u32) -> ([&'static str; 3], u64) {
    if feature < 9 {
        (["VM.native_memory", "summary", "scale=KB"], 1024)
    } else {
        (["VM.native_memory", "summary", "scale=1"], 1)
    }
}

/// By tag, of an answer to `VM.native_memory summary scale=1`. A tag with nothing in it is not printed.
pub fn tracked_memory(answer: &str) -> BTreeMap<String, TrackedMemory> {
    let mut by_tag: BTreeMap<String, TrackedMemory> = BTreeMap::new();
    let mut tag = None;
    for line in answer.lines() {
        // Rows begin like `-                     Class (reserved=...`, details like `(malloc=97183 #951)`.
        if let Some(rest) = line.strip_prefix('-') {
            tag = rest.split_once(" (").map(|(name, _)| name.trim().to_owned());
            by_tag.extend(tag.clone().map(|tag| (tag, TrackedMemory::default())));
        }
        let numbers = |label: &str| {
            let rest = &line[line.find(label)? + label.len()..];
            // Of nothing there is no number of blocks: `(malloc=0 tag=Code) (peak=800 #2)`.
            let rest = rest.split_once(')').map_or(rest, |(rest, _)| rest);
            let digits = rest.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
            let numbers: Vec<u64> = digits.filter_map(|digits| digits.parse().ok()).collect();
            Some((*numbers.first()?, numbers.get(1).copied().unwrap_or(0)))
        };
        let Some(row) = tag.as_ref().and_then(|tag| by_tag.get_mut(tag)) else { continue };
        if let Some(found) = numbers("(malloc=") {
            (row.malloc_bytes, row.malloc_count) = found;
        }
        if let Some(found) = numbers("(arena=") {
            (row.arena_bytes, row.arena_count) = found;
        }
        if let Some(found) = numbers("(mmap: reserved=") {
            (row.reserved_bytes, row.committed_bytes) = found;
        }
    }
    by_tag
}
