//! Memory that a process maps several times counts once where it is memory that is counted.

use assay_linux::{Mapping, ProcRoot};
use assay_memory::{ReadOptions, advise, read};
use assay_model::{Area, MemoryEntry, MemoryReport};
use assay_testkit::{each_release, skip, start_java};

/// ZGC without generations: all that JDK 11 and 17 have, the default of 21.
const OPTIONS: [&str; 5] =
    ["-XX:+UnlockExperimentalVMOptions", "-XX:+UseZGC", "-Xms128m", "-Xmx192m", "-XX:+AlwaysPreTouch"];
/// The kernel rounds the share of each mapping down.
const ROUNDED_BYTES: u64 = 1024;

fn of_heap(report: &MemoryReport, of: fn(&MemoryEntry) -> u64) -> u64 {
    let is_heap = |entry: &&MemoryEntry| Area::of_path(&entry.path) == Some(Area::JavaHeap);
    report.entries.iter().filter(is_heap).map(of).sum()
}

#[test]
fn a_heap_that_zgc_maps_three_times_is_the_kernel_s_share_of_it_in_savings_limits_and_private_memory() {
    let mut ran = false;
    for (feature, java) in each_release(64).into_iter().filter(|(feature, _)| (11..24).contains(feature)) {
        let jvm = start_java(&java, &OPTIONS, &[], "Waiting");
        jvm.freeze();
        let mappings: Vec<Mapping> = ProcRoot::default()
            .open_smaps(jvm.pid())
            .expect("our child")
            .collect::<Result<_, _>>()
            .expect("mappings as documented");
        let views: Vec<&Mapping> = mappings.iter().filter(|m| m.name.contains("java_heap")).collect();
        let share: u64 = views.iter().filter_map(|m| m.pss_bytes).sum();
        let report = read(jvm.pid(), &ReadOptions::default()).expect("our child");
        let (resident, memory) =
            (of_heap(&report, |e| e.resident_bytes), of_heap(&report, MemoryEntry::bytes_of_memory));
        println!("JDK {feature}: {resident} resident, {memory} of memory, share {share}");
        ran = true;
        // Nobody else has it: divided among its own mappings, each page counts once.
        assert!(memory.abs_diff(share) <= views.len() as u64 * ROUNDED_BYTES, "{memory} {share}");
        assert!(memory < resident - memory / 2, "mapped more than once");
        let repeated = report.rss_bytes - report.bytes_of_memory();
        assert!(
            repeated.abs_diff(resident - memory) < 1 << 20,
            "{repeated}: what else is mapped twice is little"
        );
        let jvm_facts = report.jvm.as_ref().expect("a JVM");
        assert!(jvm_facts.heap_committed_bytes <= jvm_facts.heap_bytes_max, "{jvm_facts:?}");
        assert!(jvm_facts.heap_used_bytes <= jvm_facts.heap_committed_bytes, "{jvm_facts:?}");
        let beside = &report.outside_rss;
        let (shared, own) = (beside.shared_bytes.expect("a rollup"), beside.uss_bytes.expect("a rollup"));
        assert!(memory < own, "the heap is this process's alone: {beside:?}");
        assert!(shared < report.rss_bytes - resident, "{beside:?}");
        let advice = advise(std::slice::from_ref(&report));
        let heap = advice.lines.iter().find(|line| line.name == "Java heap").expect("a line");
        assert_eq!(Some(heap.bound_bytes), jvm_facts.heap_bytes_max);
        assert_eq!(heap.now_bytes, memory);
    }
    if !ran {
        skip!("no JVM whose ZGC maps the heap several times");
    }
}
