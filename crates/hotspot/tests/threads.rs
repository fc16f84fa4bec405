//! Threads, held against what the JVM answers to `Thread.print` and against the kernel's names of them.

use crate::support::flipped::put;
use crate::support::{Jvm, javas, stopped};
use assay_hotspot::{Hotspot, JvmThread, ListRead};
use assay_linux::{AlteredMemory, CachedMemory, LiveProcess, MemorySource, ProcRoot};
use assay_model::ThreadKind;
use assay_testkit::{each_release, find_java, skip, start_java};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Name, address and thread id of each.
type Printed = BTreeSet<(String, u64, u32)>;

/// `"VM Thread" os_prio=0 cpu=1.39ms elapsed=0.35s tid=0x00007f58280c1000 nid=0x1c2 runnable`, and `nid=450` or `[450]`
/// since JDK 19.
fn printed(answer: &str) -> Printed {
    let hexadecimal = |text: &str| {
        let digits: String =
            text.trim_start_matches("0x").chars().take_while(char::is_ascii_hexdigit).collect();
        u64::from_str_radix(&digits, 16).ok()
    };
    let thread = |line: &str| {
        let (name, rest) = line.strip_prefix('"')?.rsplit_once("\" ")?;
        let address = hexadecimal(rest.split_once("tid=")?.1)?;
        let tid = rest.split_once("nid=")?.1;
        let digits: String = tid.chars().take_while(char::is_ascii_digit).collect();
        let tid = if tid.starts_with("0x") { hexadecimal(tid)? } else { digits.parse().ok()? };
        Some((name.to_owned(), address, u32::try_from(tid).ok()?))
    };
    answer.lines().filter_map(thread).collect()
}

/// Whether the JVM gave the kernel, which keeps 15 bytes, this name: its beginning, or its two ends in later releases.
fn is_kernel_name(kernel: &str, name: &str) -> bool {
    kernel == name
        || (15 < name.len() && (name.starts_with(kernel) && kernel.len() == 15))
        || (15 < name.len() && kernel == format!("{}..{}", &name[..7], &name[name.len() - 6..]))
}

/// The threads of a JVM that stands still, the kernel's view of it, and what the JVM prints of them before and after.
///
/// A name of which a collector was just moving the object is unknown, until the JVM itself has looked at it: then it is looked at again.
fn look(jvm: &Jvm, case: &str) -> (Vec<JvmThread>, LiveProcess, [Printed; 2]) {
    // The first command starts the thread that answers.
    jvm.jcmd(&["VM.version"]);
    let mut before = printed(&jvm.jcmd(&["Thread.print"]));
    for _ in 0..20 {
        jvm.freeze();
        let process = jvm.process();
        let hotspot = Hotspot::open(&process).expect("readable").expect("a JVM");
        let threads = hotspot.threads();
        assert_eq!(hotspot.problems(), [], "{case}");
        jvm.thaw();
        let after = printed(&jvm.jcmd(&["Thread.print"]));
        if threads.iter().all(|thread| thread.name.is_some()) {
            return (threads, process, [before, after]);
        }
        before = after;
    }
    panic!("{case}: names stay unknown");
}

fn check(jvm: &Jvm, case: &str) -> Vec<JvmThread> {
    let (threads, process, [before, after]) = look(jvm, case);
    let own = |t: &JvmThread| (t.name.clone().unwrap_or_default(), t.address, t.tid_inside);
    let read: BTreeSet<_> = threads.iter().map(own).collect();
    assert!(12 < before.len(), "{case}: {before:?}");
    // Compilers and collectors start and stop threads as they like.
    for thread in before.intersection(&after) {
        assert!(read.contains(thread), "{case}: {thread:?} is missing in {read:x?}");
    }
    let kernel: BTreeMap<_, _> = process.threads().iter().map(|t| (t.tid_inside, &t.name)).collect();
    for thread in &threads {
        let stack = thread.stack.clone().expect("a stack");
        let mapping = process.mappings().iter().find(|m| m.addresses.contains(&(stack.end - 1)));
        assert!(mapping.is_some_and(|m| m.permissions.starts_with(b"rw")), "{case}: {thread:x?}");
        let name = thread.name.as_deref().expect("known");
        // The program was started as `java`; Java code may rename a thread without telling the kernel.
        let known = kernel.get(&thread.tid_inside).expect("a thread of the kernel");
        if name != "main" && name.is_ascii() && name.len() < 256 {
            assert!(is_kernel_name(known, name), "{case}: {known} {thread:x?}");
        }
    }
    // Of the kernel's threads only the first, which waits for the JVM to end, is unknown to the JVM.
    assert_eq!(threads.len() + 1, kernel.len(), "{case}: {threads:x?} {kernel:?}");
    for kind in [ThreadKind::Java, ThreadKind::Compiler, ThreadKind::Vm] {
        assert!(threads.iter().any(|t| t.kind == kind), "{case}: no {kind:?} in {threads:x?}");
    }
    threads
}

#[test]
fn threads_are_those_that_the_jvm_prints() {
    let mut ran = 0;
    for bits in [64, 32] {
        for (feature, java) in javas(bits) {
            for options in [
                &["-XX:+UseSerialGC"][..],
                &["-XX:+UseParallelGC", "-XX:-UseCompressedOops", "-XX:-UseCompressedClassPointers"],
                &["-XX:+UseG1GC", "-XX:ObjectAlignmentInBytes=16"],
                &["-XX:+UseZGC"],
                &["-XX:+UseZGC", "-XX:+ZGenerational"],
                &["-XX:+UseShenandoahGC"],
                &["-XX:+UseCompactObjectHeaders"],
                &["-XX:StartFlightRecording", "-Xlog:async"],
            ] {
                let all = [&["-XX:+UnlockExperimentalVMOptions"], options].concat();
                let case = format!("{feature} {bits} {options:?}");
                let Some(jvm) = Jvm::start(&java, &all) else {
                    println!("skipped: this JVM does not take {case}");
                    continue;
                };
                ran += 1;
                let threads = check(&jvm, &case);
                let started = threads.iter().filter(|t| {
                    t.name.as_deref().is_some_and(|n| n.starts_with("Thread-")) && t.kind == ThreadKind::Java
                });
                assert_eq!(started.count(), 12, "{case}: {threads:x?}");
            }
        }
    }
    if ran == 0 {
        skip!("no JDK 17, 21 or 25");
    }
}

#[test]
fn names_are_whole_whatever_they_are_made_of() {
    let mut ran = 0;
    for (_, java) in [64, 32].into_iter().flat_map(javas) {
        let Some(jvm) = Jvm::start_program(&java, &[], "Named", &[]) else { continue };
        ran += 1;
        jvm.freeze();
        let process = jvm.process();
        let hotspot = Hotspot::open(&process).expect("readable").expect("a JVM");
        let names: Vec<_> = hotspot.threads().into_iter().filter_map(|t| t.name).collect();
        let long = "x".repeat(3000);
        for name in ["Thé café", "線程 🚀", "a name that is longer than what the kernel keeps", &long] {
            assert!(names.iter().any(|n| n == name), "{name} is missing in {names:?}");
        }
    }
    if ran == 0 {
        skip!("no JDK 17, 21 or 25");
    }
}

/// Words in which the JVM's lists go on, and whether it is the list of Java threads: where it begins, where its threads are or, before
/// JDK 10, the second; of the others the second, where a symbol tells.
fn links(hotspot: &Hotspot<'_>, memory: &dyn MemorySource) -> Vec<(u64, bool)> {
    let structs = hotspot.structs();
    let offset = |of, field| structs.offset(of, field).expect("exported");
    let listed = structs.static_address("ThreadsSMRSupport", "_java_thread_list");
    let begin = listed.or(structs.static_address("Threads", "_thread_list")).expect("exported");
    let next = if listed.is_some() { ("ThreadsList", "_threads") } else { ("JavaThread", "_next") };
    let first = memory.word(begin).expect("it runs");
    let others = hotspot
        .symbols()
        .address("_ZN13NonJavaThread9_the_listE")
        .and_then(|first| Some(memory.word(first)? + offset("NamedThread", "_name") - memory.word_bytes()));
    let java = [(begin, true), (first + offset(next.0, next.1), true)];
    java.into_iter().chain(others.map(|other| (other, false))).collect()
}

#[test]
fn a_list_that_breaks_off_is_not_whole_and_that_is_told() {
    const NOWHERE: u64 = 0x10;
    let mut ran = 0;
    for (feature, java) in each_release(64) {
        let (_jvm, process) = stopped(&java);
        let hotspot = Hotspot::open(&process).expect("readable").expect("a JVM");
        let whole = hotspot.thread_lists();
        assert_eq!(whole.java, ListRead::Whole, "JDK {feature}: {:?}", hotspot.problems());
        for (link, is_java) in links(&hotspot, &process) {
            let altered = AlteredMemory::new(&process, |address, bytes| {
                put(&NOWHERE.to_le_bytes(), link, address, bytes);
            });
            let hotspot = Hotspot::open(&altered).expect("readable").expect("a JVM");
            let lists = hotspot.thread_lists();
            let (broken, other, was) = if is_java {
                (lists.java, lists.others, whole.others)
            } else {
                (lists.others, lists.java, whole.java)
            };
            assert_eq!((broken, other), (ListRead::BrokenOff, was), "JDK {feature}, Java: {is_java}");
            assert!(lists.threads.len() < whole.threads.len(), "JDK {feature}, Java: {is_java}");
            let told = hotspot.problems().into_iter().filter(|p| p.text.contains("breaks off"));
            assert_eq!(told.count(), 1, "JDK {feature}, Java: {is_java}");
            ran += 1;
        }
    }
    if ran == 0 {
        skip!("no JDK");
    }
}

#[test]
fn a_list_that_is_replaced_while_it_is_read_is_read_again() {
    let mut ran = 0;
    for (feature, java) in each_release(64) {
        let (_jvm, process) = stopped(&java);
        let hotspot = Hotspot::open(&process).expect("readable").expect("a JVM");
        let whole = hotspot.thread_lists();
        let (begin, _) = links(&hotspot, &process)[0];
        let list = process.word(begin).expect("it runs");
        let offset = |of, field| hotspot.structs().offset(of, field);
        let fields = offset("ThreadsList", "_length").zip(offset("ThreadsList", "_threads"));
        // Where the list began a moment ago: a list that is freed by now, with another number in place of its length; before JDK 10 the
        // second thread.
        let earlier = match fields {
            Some(_) => list + 64,
            None => process.word(list + offset("JavaThread", "_next").expect("exported")).expect("a second"),
        };
        for is_replaced_once in [true, false] {
            let reads = AtomicU64::new(0);
            // In the other case it changes between the two for ever.
            let is_stale = |read: u64| read == 1 || !is_replaced_once && !read.is_multiple_of(2);
            let altered = AlteredMemory::new(&process, |address, bytes| {
                let is_begin = (address..address + bytes.len() as u64).contains(&begin);
                let read = reads.fetch_add(u64::from(is_begin), Ordering::Relaxed) + u64::from(is_begin);
                if !is_stale(read) {
                    return;
                }
                put(&earlier.to_le_bytes(), begin, address, bytes);
                if let Some((length, threads)) = fields {
                    put(&1u32.to_le_bytes(), earlier + length, address, bytes);
                    let threads_at = process.word(list + threads).expect("the whole list");
                    put(&threads_at.to_le_bytes(), earlier + threads, address, bytes);
                }
            });
            let cached = CachedMemory::new(&altered);
            let hotspot = Hotspot::open(&cached).expect("readable").expect("a JVM");
            let lists = hotspot.thread_lists();
            if is_replaced_once {
                assert_eq!((lists.java, &lists.threads), (ListRead::Whole, &whole.threads), "JDK {feature}");
            } else {
                assert_eq!(lists.java, ListRead::BrokenOff, "JDK {feature}");
                assert!(lists.may_tell_more(), "JDK {feature}");
            }
        }
        ran += 1;
    }
    if ran == 0 {
        skip!("no JDK");
    }
}

/// Folklore: a collector may be moving the objects of the two threads that tell with what a thread of Java code begins. All of a JVM
/// without symbols, as that of JDK 8 is built, were then Java threads, its compilers too.
#[test]
fn a_thread_of_which_nothing_tells_what_it_is_for_is_not_called_a_java_thread() {
    let Some(java) = find_java(8, 64) else { skip!("no 64-bit JDK 8") };
    let (_jvm, process) = stopped(&java);
    let hotspot = Hotspot::open(&process).expect("readable").expect("a JVM");
    let whole = hotspot.thread_lists();
    assert!(whole.has_entries && !whole.may_tell_more() && !whole.has_java_names);
    let is_handler =
        |t: &&JvmThread| t.java_class.as_deref() == Some("java.lang.ref.Reference$ReferenceHandler");
    let handler = whole.threads.iter().find(is_handler).expect("every JVM has one");
    let object_at = handler.address + hotspot.structs().offset("JavaThread", "_threadObj").expect("exported");
    let altered =
        AlteredMemory::new(&process, |address, bytes| put(&0u64.to_le_bytes(), object_at, address, bytes));
    let hotspot = Hotspot::open(&altered).expect("readable").expect("a JVM");
    let lists = hotspot.thread_lists();
    assert!(!lists.has_entries && lists.may_tell_more());
    let tids = |threads: &[JvmThread]| threads.iter().map(|thread| thread.tid_inside).collect::<Vec<_>>();
    assert_eq!(tids(&lists.threads), tids(&whole.threads));
    for (was, is) in whole.threads.iter().zip(&lists.threads) {
        assert!([was.kind, ThreadKind::Other].contains(&is.kind), "{was:?} {is:?}");
    }
}

/// Where these bytes lie in the Java heap.
fn places_of(needle: &[u8], memory: &dyn MemorySource) -> Vec<u64> {
    let hotspot = Hotspot::open(memory).expect("readable").expect("a JVM");
    let reserved = hotspot.heap().expect("a heap").reserved;
    let is_of_heap = |at: u64| reserved.iter().any(|range| range.contains(&at));
    let mut places = Vec::new();
    for run in memory.pages().runs().iter().filter(|run| is_of_heap(run.addresses.start)) {
        let Range { start, end } = run.addresses.clone();
        let mut bytes = vec![0; usize::try_from(end - start).expect("it is resident")];
        if memory.read(start, &mut bytes).is_ok() {
            places.extend(
                (start..).zip(bytes.windows(needle.len())).filter(|(_, b)| *b == needle).map(|(at, _)| at),
            );
        }
    }
    places
}

/// As after ZGC has moved the characters of a name: what they were is empty.
#[test]
fn a_name_whose_characters_are_gone_is_unknown_and_not_empty() {
    const NAME: &str = "a name that is longer than what the kernel keeps";
    let mut ran = 0;
    for (feature, java) in javas(64) {
        let Some(jvm) = Jvm::start_program(&java, &["-XX:+UseSerialGC", "-Xmn4m"], "Named", &[]) else {
            continue;
        };
        ran += 1;
        jvm.freeze();
        let process = jvm.process();
        let places = places_of(NAME.as_bytes(), &process);
        let altered = AlteredMemory::new(&process, |address, bytes| {
            let end = address + bytes.len() as u64;
            for place in &places {
                // The array's header lies before them.
                let gone = (place - 16).max(address)..(place + NAME.len() as u64).min(end);
                let at = |edge: u64| usize::try_from(edge.saturating_sub(address)).unwrap_or(0);
                if !gone.is_empty() {
                    bytes[at(gone.start)..at(gone.end)].fill(0);
                }
            }
        });
        let names = |memory: &dyn MemorySource| -> Vec<Option<String>> {
            let hotspot = Hotspot::open(memory).expect("readable").expect("a JVM");
            hotspot.threads().into_iter().map(|thread| thread.name).collect()
        };
        let (whole, altered) = (names(&process), names(&altered));
        let gone = whole.iter().zip(&altered).filter(|(whole, altered)| whole != altered);
        let gone: Vec<_> = gone.map(|(whole, altered)| (whole.as_deref(), altered.as_deref())).collect();
        assert_eq!(gone, [(Some(NAME), None)], "JDK {feature}");
    }
    if ran == 0 {
        skip!("no JDK 17, 21 or 25");
    }
}

/// Whatever a program calls its threads, and whether or not names can be read: libjvm of JDK 8 has no symbols.
#[test]
fn what_a_thread_is_for_follows_from_what_it_begins_with() {
    let mut ran = 0;
    for (feature, java) in [64, 32].into_iter().flat_map(each_release) {
        let jvm = start_java(&java, &["-Xmx128m", "-XX:+UseG1GC"], &[], "Impostor");
        jvm.freeze();
        let process = LiveProcess::open(&ProcRoot::default(), jvm.pid()).expect("our child");
        let hotspot = Hotspot::open(&process).expect("readable").expect("a JVM");
        let kernel: BTreeMap<_, _> =
            process.threads().iter().map(|t| (t.tid_inside, t.name.as_str())).collect();
        let threads = hotspot.threads();
        let of_name = |thread: &&JvmThread| {
            kernel.get(&thread.tid_inside).is_some_and(|name| is_kernel_name(name, "Signal Dispatcher"))
        };
        // Thread ids wrap around: one below the main thread's belongs to a later thread.
        let age = |thread: &JvmThread| (thread.tid_inside < jvm.pid(), thread.tid_inside);
        let kinds: BTreeMap<_, ThreadKind> =
            threads.iter().filter(of_name).map(|thread| (age(thread), thread.kind)).collect();
        // The JVM starts its own before the program begins.
        let kinds: Vec<ThreadKind> = kinds.into_values().collect();
        assert_eq!(kinds, [ThreadKind::Vm, ThreadKind::Java], "JDK {feature}: {threads:x?}");
        assert!(
            threads.iter().any(|thread| thread.kind == ThreadKind::Compiler),
            "JDK {feature}: {threads:x?}"
        );
        ran += 1;
    }
    if ran == 0 {
        skip!("no JDK");
    }
}
