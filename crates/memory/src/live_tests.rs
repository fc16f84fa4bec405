//! Tests against real JVMs: what the layout says, beside what the JVM itself says.

use crate::layout::Layout;
use crate::sample::{read_words, sample};
use assay_linux::{Mapping, ProcRoot};
use assay_model::{Area, HeapRange, MemorySample};
use assay_testkit::{Running, each_java, find_java, skip, start_java};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A JVM that has started some threads, has printed the log lines that name its heap and class space, and waits.
fn start(java: &Path, options: &[&str]) -> Running {
    let logging = ["-Xmx256m", "-Xlog:pagesize=info,gc+metaspace=info"];
    start_java(java, &options.iter().copied().chain(logging).collect::<Vec<_>>(), &[], "Waiting")
}

/// `Heap:  min=8M max=256M base=0x00000000f0000000 page_size=4K size=256M`, which every reference mode prints.
fn heap(jvm: &Running) -> Option<HeapRange> {
    let (_, line) = jvm.said.split_once(" Heap: ")?;
    let (_, start) = line.split_once("base=0x")?;
    let start = start.split_once(' ')?.0;
    let (_, mib) = line.split_once("max=")?;
    let mib: u64 = mib.split_once("M ")?.0.parse().ok()?;
    Some(HeapRange { start_address: u64::from_str_radix(start, 16).ok()?, reserved_bytes: mib << 20 })
}

/// `Compressed class space mapped at: 0x00007f562c000000-0x00007f566c000000, reserved size: 1073741824`
fn class_space(jvm: &Running) -> Option<Range<u64>> {
    let (_, line) = jvm.said.split_once("Compressed class space mapped at: 0x")?;
    let (start, rest) = line.split_once("-0x")?;
    let (end, _) = rest.split_once(',')?;
    Some(u64::from_str_radix(start, 16).ok()?..u64::from_str_radix(end, 16).ok()?)
}

fn mappings(jvm: &Running) -> Vec<Mapping> {
    let smaps = ProcRoot::default().open_smaps(jvm.pid()).expect("our child's mappings");
    smaps.collect::<Result<_, _>>().expect("mappings as documented")
}

fn sample_of(jvm: &Running) -> MemorySample {
    sample(&ProcRoot::default(), jvm.pid(), heap(jvm), 0).expect("a sample")
}

fn area(sample: &MemorySample, area: Area) -> u64 {
    sample.areas.iter().find(|a| a.area == area).map_or(0, |a| a.resident_bytes)
}

fn javas() -> Vec<PathBuf> {
    each_java(64).into_values().chain(each_java(32).into_values()).collect()
}

#[test]
fn the_areas_of_a_frozen_jvm_sum_to_the_kernel_s_rollup() {
    let javas = javas();
    if javas.is_empty() {
        skip!("no JDK");
    }
    for java in javas {
        for collector in ["-XX:+UseG1GC", "-XX:+UseSerialGC", "-XX:+UseParallelGC"] {
            let jvm = start(&java, &[collector]);
            jvm.freeze();
            let rollup = ProcRoot::default().read_smaps_rollup(jvm.pid()).expect("readable");
            let Some(rollup) = rollup else { skip!("this kernel has no smaps_rollup") };
            let sample = sample_of(&jvm);
            let case = format!("{} {collector}", java.display());
            assert_eq!(sample.rss_bytes, rollup.rss_bytes, "{case}");
            assert_eq!(
                sample.areas.iter().map(|a| a.resident_bytes).sum::<u64>(),
                rollup.rss_bytes,
                "{case}"
            );
            for shown in [Area::Code, Area::JitCode, Area::Stacks, Area::MallocHeap, Area::ClassMetadata] {
                assert!(0 < area(&sample, shown), "{case}: {shown:?} is missing in {sample:?}");
            }
        }
    }
}

#[test]
fn the_java_heap_holds_what_the_program_keeps_alive_and_no_more_than_its_range() {
    let javas = javas();
    if javas.is_empty() {
        skip!("no JDK");
    }
    for java in javas {
        // A 32-bit JVM does not know the option about references.
        for references in [None, Some("-XX:-UseCompressedOops")] {
            let options = ["-XX:+UseSerialGC", "-XX:+IgnoreUnrecognizedVMOptions"];
            let jvm = start(&java, &options.into_iter().chain(references).collect::<Vec<_>>());
            let heap = heap(&jvm).expect("the log's line");
            let resident_bytes = area(&sample_of(&jvm), Area::JavaHeap);
            // `Waiting` keeps 32 MiB of arrays; what the kernel merged with the heap must not come on top.
            assert!((32 << 20..=heap.reserved_bytes).contains(&resident_bytes), "{java:?}: {resident_bytes}");
        }
    }
}

#[test]
fn the_class_space_is_where_the_jvm_s_log_says() {
    let mut ran = false;
    for java in javas() {
        for options in
            [["-XX:+UseG1GC"], ["-XX:+UseSerialGC"], ["-Xshare:off"], ["-XX:CompressedClassSpaceSize=64m"]]
        {
            let jvm = start(&java, &options);
            let Some(logged) = class_space(&jvm) else { continue };
            ran = true;
            let mappings = mappings(&jvm);
            let layout = Layout::new(&mappings, &|_, _, _| false);
            let told = layout.class_space().cloned();
            let expected = matches!(options, ["-XX:+UseG1GC"] | ["-XX:+UseSerialGC"]).then_some(logged);
            assert_eq!(told, expected, "{java:?} {options:?}");
        }
    }
    if !ran {
        skip!("no 64-bit JDK 17 or 25");
    }
}

/// Where the layout sees anonymous memory of an area.
fn told(jvm: &Running, area: Area) -> Vec<u64> {
    let mappings = mappings(jvm);
    let proc = ProcRoot::default();
    let read = |address, words: &mut [u64; 4], bits| read_words(&proc, jvm.pid(), address, words, bits);
    let layout = Layout::new(&mappings, &read);
    let of_area = (0..mappings.len()).filter(|i| layout.area_of(*i) == area && mappings[*i].name.is_empty());
    of_area.map(|i| mappings[i].addresses.start).collect()
}

#[test]
fn what_is_called_a_stack_is_one_by_the_jvm_s_own_account() {
    let Some(java) = find_java(25, 64) else { skip!("no 64-bit JDK 25, whose System.map names the stacks") };
    let jvm = start(&java, &["-XX:NativeMemoryTracking=summary"]);
    let before = told(&jvm, Area::Stacks);
    let map = jvm.jcmd(&["System.map"]);
    let after = told(&jvm, Area::Stacks);
    let named = |line: &&str| line.contains("STACK-") && line.contains(" rw-p ");
    let by_jvm: Vec<u64> = map
        .lines()
        .filter(named)
        .filter_map(|line| u64::from_str_radix(line.split_once('-')?.0.trim_start_matches("0x"), 16).ok())
        .collect();
    // A thread may start or end while the JVM writes its map.
    let stranger = |start: &&u64| after.contains(start) && !by_jvm.contains(start);
    let strangers: Vec<_> = before.iter().filter(stranger).collect();
    assert!(strangers.is_empty(), "not stacks: {strangers:x?}, of {before:x?}");
    // The JVM may name a stack that the kernel merged with its neighbour.
    assert!(12 < by_jvm.len() && by_jvm.len() * 9 <= after.len() * 10, "{} of {}", after.len(), by_jvm.len());
}

#[test]
fn arenas_are_those_that_glibc_s_own_statistics_count() {
    let Some(java) = find_java(25, 64) else { skip!("no 64-bit JDK 25, which prints malloc_info") };
    let jvm = start(&java, &["-Xshare:off"]);
    // The first command makes the thread that answers, and perhaps an arena for it.
    jvm.jcmd(&["VM.version"]);
    let before = told(&jvm, Area::MallocHeap).len();
    let statistics = jvm.jcmd(&["System.native_heap_info"]);
    let after = told(&jvm, Area::MallocHeap).len();
    // One of glibc's heaps is the main one, `[heap]`.
    let arenas = statistics.matches("<heap nr=").count().saturating_sub(1);
    assert!(0 < arenas && before <= arenas && arenas <= after, "{before} {arenas} {after}: {statistics}");
}

#[test]
fn zgc_s_heap_is_told_by_its_name() {
    let Some(java) = find_java(25, 64) else { skip!("no 64-bit JDK 25") };
    let resident_bytes = area(&sample_of(&start(&java, &["-XX:+UseZGC"])), Area::JavaHeap);
    assert!(32 << 20 <= resident_bytes, "{resident_bytes}");
}
