//! Thread stacks: whose they are, how much of them is in use, and how much is left from deeper calls.

use crate::address_map::AddressRange;
use crate::entry_table::{EntryId, EntryTable};
use crate::pthread::{PthreadStack, holds_first_thread, stacks_in};
use assay_hotspot::{Hotspot, JvmThread};
use assay_linux::{MemorySource, ThreadFacts};
use assay_model::{Area, FigureSource, ThreadKind, ThreadMemory};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::{Bound, Range};

/// With more threads than this, those whose names differ in numbers only share an entry.
const THREADS_WITH_LEAVES_MAX: usize = 256;
/// Threads that are listed one by one, the biggest first.
const THREADS_LISTED_MAX: usize = 2_000;

/// A thread's stack, from whoever knows it.
struct Stack {
    addresses: Range<u64>,
    thread: Option<ThreadFacts>,
    name: String,
    kind: ThreadKind,
    known_from: FigureSource,
}

/// The stacks of a process.
#[derive(Default)]
pub(crate) struct Stacks {
    pub(crate) spans: Vec<AddressRange>,
    /// The threads, with the resident bytes of their stacks, the biggest first.
    pub(crate) threads: Vec<ThreadMemory>,
    /// What lies below the stack pointer, of threads that wait.
    pub(crate) stale: Vec<Range<u64>>,
}

/// Ranges of all stacks, and the threads with the resident bytes of their stacks. `unclaimed` are resident ranges of
/// anonymous memory in which stacks that the JVM does not know may lie.
pub(crate) fn stack_spans(
    source: &dyn MemorySource,
    hotspot: Option<&Hotspot<'_>>,
    jvm_threads: &[JvmThread],
    unclaimed: &[Range<u64>],
    entries: &mut EntryTable,
) -> Stacks {
    let kernel: HashMap<u32, &ThreadFacts> = source.threads().iter().map(|t| (t.tid_inside, t)).collect();
    let mut stacks: Vec<Stack> = jvm_threads.iter().filter_map(|t| jvm_stack(source, t, &kernel)).collect();
    let known: HashSet<u32> = stacks.iter().filter_map(|s| s.thread.as_ref()).map(|t| t.tid_inside).collect();
    // Starts by ends: there may be ten thousand, and a million ranges to compare with them.
    let mut taken: BTreeMap<u64, u64> = stacks.iter().map(|s| (s.addresses.end, s.addresses.start)).collect();
    let mut native = Vec::new();
    for found in unclaimed.iter().flat_map(|range| stacks_in(source, range)) {
        if !overlaps(&taken, &(found.addresses.end - 1..found.addresses.end)) {
            taken.insert(found.addresses.end, found.addresses.start);
            native.push(found);
        }
    }
    let unlisted = unlisted_threads(hotspot, &native);
    let jvm_threads: Vec<&JvmThread> = jvm_threads.iter().chain(unlisted.iter().flatten()).collect();
    for (at, found) in native.into_iter().enumerate() {
        let unlisted = unlisted.get(at).and_then(Option::as_ref);
        stacks.push(native_stack(found, unlisted, &jvm_threads, &kernel, &known));
    }
    let first =
        unclaimed.iter().filter(|range| !overlaps(&taken, range) && holds_first_thread(source, range));
    let mut spans: Vec<AddressRange> =
        first.map(|range| AddressRange::new(range.clone(), first_thread_entry(entries))).collect();
    let grouped = THREADS_WITH_LEAVES_MAX < stacks.len();
    let (mut threads, mut stale_ranges) = (Vec::new(), Vec::new());
    for stack in &stacks {
        let name = if grouped { without_numbers(&stack.name) } else { stack.name.clone() };
        // A stack grows down: what lies below the pointer is left from calls that have returned.
        let pointer = stack.thread.as_ref().and_then(|t| t.stack_pointer);
        let pointer = pointer.filter(|p| stack.addresses.contains(p));
        let Range { start, end } = stack.addresses;
        let live = entries.entry(Area::Stacks, &[stack.kind.word(), &name, "in use"], stack.known_from);
        if let Some(pointer) = pointer {
            let stale =
                entries.entry(Area::Stacks, &[stack.kind.word(), &name, "stale, below SP"], stack.known_from);
            spans.push(AddressRange::new(start..pointer, stale));
            stale_ranges.push(start..pointer);
            spans.push(AddressRange::new(pointer..end, live));
        } else {
            let whole = entries.entry(Area::Stacks, &[stack.kind.word(), &name, "touched"], stack.known_from);
            spans.push(AddressRange::new(start..end, whole));
        }
        threads.push(ThreadMemory {
            tid: stack.thread.as_ref().map_or(0, |t| t.tid),
            name: stack.name.clone(),
            kind: stack.kind,
            stack_bytes: Some(end - start),
            stack_resident_bytes: source.pages().resident_bytes_in(start..end),
            stack_stale_bytes: pointer.map(|pointer| source.pages().resident_bytes_in(start..pointer)),
        });
    }
    threads.sort_by_key(|t| std::cmp::Reverse(t.stack_resident_bytes));
    threads.truncate(THREADS_LISTED_MAX);
    Stacks { spans, threads, stale: stale_ranges }
}

/// The part of a thread's stack that its calls use now: from the stack pointer on, where it is known.
pub(crate) fn stack_in_use(source: &dyn MemorySource, thread: &JvmThread) -> Option<Range<u64>> {
    let stack = thread.stack.clone()?;
    let facts = source.threads().iter().find(|facts| facts.tid_inside == thread.tid_inside);
    let pointer = facts.and_then(|facts| facts.stack_pointer).filter(|pointer| stack.contains(pointer));
    Some(pointer.unwrap_or(stack.start)..stack.end)
}

fn first_thread_entry(entries: &mut EntryTable) -> EntryId {
    entries.explained(
        Area::NativeLibraries,
        &["first thread's variables"],
        FigureSource::Content,
        "thread-local variables of the thread that started the program",
    )
}

/// Whether a range overlaps one of some others, which are starts by ends and do not overlap each other.
fn overlaps(taken: &BTreeMap<u64, u64>, range: &Range<u64>) -> bool {
    let next = taken.range((Bound::Excluded(range.start), Bound::Unbounded)).next();
    next.is_some_and(|(_, start)| *start < range.end)
}

fn jvm_stack(
    source: &dyn MemorySource,
    thread: &JvmThread,
    kernel: &HashMap<u32, &ThreadFacts>,
) -> Option<Stack> {
    let addresses = thread.stack.clone()?;
    // Of the first thread the JVM takes a part as its stack; the kernel names all of it.
    let of_kernel = |m: &&assay_linux::Mapping| m.addresses.contains(&addresses.start) && m.name == "[stack]";
    if source.mappings().iter().any(|m| of_kernel(&m)) {
        return None;
    }
    let facts = kernel.get(&thread.tid_inside).copied();
    let name = thread.name.clone().or_else(|| facts.map(|t| t.name.clone()));
    Some(Stack {
        addresses,
        thread: facts.cloned(),
        name: name.unwrap_or_else(|| "without a name".to_owned()),
        kind: thread.kind,
        known_from: FigureSource::VmStructs,
    })
}

/// The JVM's threads on these stacks, where it has no list of them that can be read.
fn unlisted_threads(hotspot: Option<&Hotspot<'_>>, native: &[PthreadStack]) -> Vec<Option<JvmThread>> {
    let without_symbols = hotspot.filter(|hotspot| !hotspot.symbols().has_symtab());
    let stacks: Vec<_> = native.iter().map(|stack| (stack.control_block, stack.addresses.clone())).collect();
    without_symbols.map_or_else(Vec::new, |hotspot| hotspot.threads_on(&stacks))
}

/// A stack that the C library knows: of a thread that the JVM did not start or does not list, or of one that has ended.
fn native_stack(
    found: PthreadStack,
    unlisted: Option<&JvmThread>,
    jvm_threads: &[&JvmThread],
    kernel: &HashMap<u32, &ThreadFacts>,
    known: &HashSet<u32>,
) -> Stack {
    let tid = unlisted.map(|thread| thread.tid_inside).or(found.tid_inside);
    let facts = tid.filter(|tid| !known.contains(tid)).and_then(|tid| kernel.get(&tid).copied());
    let of_jvm = facts.and_then(|f| jvm_threads.iter().find(|t| t.tid_inside == f.tid_inside));
    let (name, kind) = match (facts, of_jvm) {
        (facts, Some(thread)) => {
            let kernel_name = || facts.map_or_else(String::new, |facts| facts.name.clone());
            (thread.name.clone().unwrap_or_else(kernel_name), thread.kind)
        }
        (Some(facts), None) => (facts.name.clone(), ThreadKind::Native),
        (None, None) => ("kept for the next thread".to_owned(), ThreadKind::Native),
    };
    Stack {
        addresses: found.addresses,
        thread: facts.cloned(),
        name,
        kind,
        known_from: FigureSource::Content,
    }
}

/// `http-exec-17` and `http-exec-4` become `http-exec-#`.
pub(crate) fn without_numbers(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for letter in name.chars() {
        if !letter.is_ascii_digit() {
            out.push(letter);
        } else if !out.ends_with('#') {
            out.push('#');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::without_numbers;

    #[test]
    fn numbers_in_names_are_one_sign() {
        assert_eq!(without_numbers("pool-12-thread-345"), "pool-#-thread-#");
    }
}
