//! The limit's arithmetic: worked examples, and properties over any snapshot.

use crate::report::{MIB, Snapshot};
use assay_memory::{advise, findings};
use assay_model::{Advice, AdviceLine, Certainty, CgroupMemory, MemoryReport, Problem};
use proptest::prelude::*;

fn line<'a>(advice: &'a Advice, name: &str) -> &'a AdviceLine {
    advice
        .lines
        .iter()
        .find(|line| line.name == name)
        .unwrap_or_else(|| panic!("no line {name}: {advice:#?}"))
}

fn bound(snapshot: &Snapshot, name: &str) -> (u64, bool) {
    let advice = advise(std::slice::from_ref(&snapshot.0));
    let line = line(&advice, name);
    assert!(!line.bound_from.is_empty());
    (line.bound_bytes, line.is_hard)
}

fn with_kernel(snapshot: Snapshot) -> Snapshot {
    snapshot.with(|report| {
        report.outside_rss.page_tables_bytes = Some(MIB);
        report.outside_rss.threads = Some(40);
        report.outside_rss.kernel_stacks_bytes = Some(40 * (16 << 10));
        report.cgroup = Some(CgroupMemory {
            processes: Some(1),
            slab_bytes: Some(2 * MIB),
            sockets_bytes: Some(MIB),
            limit_bytes: Some(900 * MIB),
            ..CgroupMemory::default()
        });
    })
}

#[test]
fn the_limit_is_the_sum_of_its_lines_in_whole_mib() {
    let snapshot = with_kernel(Snapshot::plain_jvm());
    let advice = advise(std::slice::from_ref(&snapshot.0));
    let sum: u64 = advice.lines.iter().map(|line| line.bound_bytes).sum();
    assert_eq!(advice.limit_bytes, sum.next_multiple_of(MIB));
    let kernel = MIB + 40 * (16 << 10) + 3 * MIB;
    assert_eq!(advice.now_bytes, snapshot.0.rss_bytes + kernel, "what the container is charged now");
    assert_eq!((advice.pid, advice.current_limit_bytes), (4242, Some(900 * MIB)));
    assert!(advice.lines.iter().all(|line| line.peak_bytes.is_none()), "one snapshot has no peak");
    assert!(advice.problems.is_empty(), "{:?}", advice.problems);
}

#[test]
fn what_the_jvm_bounds_is_bounded_by_that() {
    let snapshot = Snapshot::plain_jvm();
    assert_eq!(bound(&snapshot, "Java heap"), (512 * MIB, true));
    assert_eq!(bound(&snapshot, "JIT-compiled code: code cache"), (240 * MIB, true));
    assert_eq!(bound(&snapshot, "class metadata: metaspace"), (34 * MIB * 120 / 100, false));
    let limited = snapshot.jvm(|jvm| jvm.metaspace_bytes_max = Some(128 * MIB));
    assert_eq!(bound(&limited, "class metadata: metaspace"), (128 * MIB, true));
}

#[test]
fn a_bound_is_never_below_what_was_seen() {
    let snapshot = Snapshot::plain_jvm().jvm(|jvm| jvm.heap_bytes_max = Some(100 * MIB));
    assert_eq!(bound(&snapshot, "Java heap"), (200 * MIB, true));
}

#[test]
fn direct_buffers_have_a_bound_only_where_one_is_set() {
    let buffers =
        || Snapshot::plain_jvm().entry("direct and mapped buffers/java.nio.DirectByteBuffer", 40 * MIB);
    let free = buffers().flag("MaxDirectMemorySize", "0");
    assert_eq!(bound(&free, "direct buffers"), (60 * MIB, false));
    let beyond = |snapshot: &Snapshot| advise(std::slice::from_ref(&snapshot.0)).direct_beyond_bytes;
    assert_eq!(beyond(&free), Some(452 * MIB), "the JVM allows as much as the heap has, 512 MiB");
    assert_eq!(beyond(&Snapshot::plain_jvm()), Some(512 * MIB), "also where there are none yet");
    let said = |problem: &Problem| problem.text.contains("MaxDirectMemorySize");
    assert!(advise(std::slice::from_ref(&free.0)).problems.iter().any(said));
    let set = buffers().flag("MaxDirectMemorySize", &(100 * MIB).to_string());
    assert_eq!((bound(&set, "direct buffers"), beyond(&set)), ((100 * MIB, true), None));
    assert!(!advise(&[set.0]).problems.iter().any(said));
}

#[test]
fn stacks_are_bounded_by_what_was_touched_and_the_line_says_what_they_could_be() {
    let snapshot = with_kernel(Snapshot::plain_jvm());
    assert_eq!(bound(&snapshot, "stacks"), (3 * MIB * 125 / 100, false));
    let advice = advise(&[snapshot.0]);
    let from = &line(&advice, "stacks").bound_from;
    assert!(from.contains("40 threads") && from.contains("all of 1.0 MiB each would be 40.0 MiB"), "{from}");
}

#[test]
fn the_code_cache_is_bounded_by_the_code_that_its_classes_can_have() {
    let classes = |count: u64| Snapshot::plain_jvm().jvm(|jvm| jvm.classes = Some(count));
    let code = "JIT-compiled code: code cache";
    assert_eq!(
        bound(&classes(1024), code),
        (32 * MIB, false),
        "8 MiB, 20 MiB for 1,024 classes, and a fifth of that"
    );
    assert_eq!(bound(&classes(0), code), (30 * MIB, false), "half as much again as there is");
    assert_eq!(bound(&classes(100_000), code), (240 * MIB, true), "more than the reserve is not possible");
}

#[test]
fn every_line_says_what_is_known_of_its_bound() {
    let snapshot = with_kernel(Snapshot::plain_jvm().jvm(|jvm| jvm.classes = Some(1000)));
    let advice = advise(&[snapshot.0]);
    let of = |name: &str| line(&advice, name).certainty;
    assert_eq!(of("Java heap"), Some(Certainty::Known));
    assert_eq!(of("JIT-compiled code: code cache"), Some(Certainty::Inferred));
    assert_eq!(of("kernel: page tables"), Some(Certainty::Inferred));
    assert_eq!(of("JVM internal and malloc"), Some(Certainty::Unknown));
    let agrees = |line: &AdviceLine| line.certainty.is_some_and(|c| (c == Certainty::Known) == line.is_hard);
    assert!(advice.lines.iter().all(agrees), "{advice:#?}");
}

#[test]
fn gc_structures_grow_like_the_heap_but_not_without_end() {
    let snapshot = Snapshot::plain_jvm();
    let rest = Snapshot::plain_jvm().entry("GC structures/malloc", 2 * MIB);
    assert_eq!(
        bound(&rest, "GC structures: the rest"),
        (4 * MIB, false),
        "2 MiB for 256 MiB, 512 MiB at most"
    );
    let taken = rest.size(8 * MIB);
    assert_eq!(
        bound(&taken, "GC structures: the rest"),
        (16 * MIB, false),
        "what it has of malloc may become resident"
    );
    assert_eq!(
        bound(&snapshot, "GC structures: tables of the heap"),
        (4 * MIB, false),
        "their room is not known"
    );
    let room = Snapshot::plain_jvm().jvm(|jvm| jvm.gc_tables_bytes = Some(11 * MIB));
    assert_eq!(
        bound(&room, "GC structures: tables of the heap"),
        (11 * MIB, true),
        "room for the largest heap"
    );
    let small =
        snapshot.jvm(|jvm| (jvm.heap_committed_bytes, jvm.heap_bytes_max) = (Some(MIB), Some(500 * MIB)));
    assert_eq!(
        bound(&small, "GC structures: tables of the heap"),
        (52 * MIB, false),
        "a tenth of the heap at most"
    );
}

#[test]
fn compilers_that_idle_are_given_what_they_need_at_work() {
    assert_eq!(bound(&Snapshot::plain_jvm(), "JIT compiler arenas"), (17 * MIB, false));
    let busy = Snapshot::plain_jvm().entry("JIT compiler arenas/compiler arenas", 40 * MIB);
    assert_eq!(bound(&busy, "JIT compiler arenas"), (60 * MIB, false));
    let no_jvm = Snapshot::new().entry("code/sleep", MIB);
    assert!(advise(&[no_jvm.0]).lines.iter().all(|line| line.name != "JIT compiler arenas"));
}

#[test]
fn pages_of_files_are_provided_for_in_part() {
    let snapshot = Snapshot::plain_jvm().entry("code/mapped jars/app.jar", 40 * MIB);
    assert_eq!(bound(&snapshot, "mapped files"), (20 * MIB, false));
}

#[test]
fn peaks_come_from_all_looks_and_now_is_the_last() {
    let early = Snapshot::plain_jvm().entry("JVM internal/services", 95 * MIB);
    let advice = advise(&[early.0, Snapshot::plain_jvm().after_s(60).0]);
    let line = line(&advice, "JVM internal and malloc");
    assert_eq!((line.now_bytes, line.peak_bytes, line.bound_bytes), (5 * MIB, Some(100 * MIB), 120 * MIB));
}

#[test]
fn a_peak_that_the_kernel_remembers_is_provided_for() {
    let before = advise(&[Snapshot::plain_jvm().0]);
    let snapshot = Snapshot::plain_jvm().with(|report| report.outside_rss.rss_peak_bytes = Some(3000 * MIB));
    let advice = advise(&[snapshot.0]);
    assert!(before.limit_bytes < 3000 * MIB && 3000 * MIB <= advice.limit_bytes);
    assert!(!line(&advice, "resident once, in no snapshot").is_hard);
}

#[test]
fn kernel_figures_that_are_not_told_are_said_to_be_missing() {
    let advice = advise(&[Snapshot::plain_jvm().0]);
    assert_eq!(advice.problems.iter().filter(|problem| problem.about.starts_with("kernel")).count(), 3);
    let shared = with_kernel(Snapshot::plain_jvm())
        .with(|report| report.cgroup.as_mut().expect("a group").processes = Some(3));
    let advice = advise_one(shared.0);
    assert!(advice.lines.iter().all(|line| !line.name.contains("slab")), "three processes share it");
    assert!(advice.problems.iter().any(|problem| problem.text.contains("3 processes")));
}

fn advise_one(snapshot: MemoryReport) -> Advice {
    advise(&[snapshot])
}

#[test]
fn settings_lower_bounds_and_promise_what_they_bring() {
    let snapshot = Snapshot::plain_jvm().jvm(|jvm| jvm.heap_bytes_max = Some(2048 * MIB));
    let before = advise_one(snapshot.0.clone());
    let gain = |rule: &str| {
        let setting = before.settings.iter().find(|setting| setting.rule == rule);
        setting.unwrap_or_else(|| panic!("no {rule}: {:#?}", before.settings))
    };
    assert_eq!(gain("heap-larger-than-committed").command().split(',').next(), Some("Set -Xmx320m"));
    assert_eq!(gain("heap-larger-than-committed").gain_bytes, Some((2048 - 320) * MIB));
    assert!(gain("code-cache-reserve").command().starts_with("Set -XX:ReservedCodeCacheSize=32m,"));
    let reserve = gain("code-cache-reserve").gain_bytes.expect("a gain");
    let after = advise_one(snapshot.jvm(|jvm| jvm.code_cache_bytes_max = Some(32 * MIB)).0);
    assert_eq!(before.limit_bytes - after.limit_bytes, reserve, "what was promised");
    let gains: Vec<_> = before.settings.iter().map(|setting| setting.gain_bytes).collect();
    assert!(gains.is_sorted_by(|a, b| b <= a), "{gains:?}");
}

#[test]
fn without_a_look_there_is_no_advice() {
    let advice = advise(&[]);
    assert_eq!((advice.limit_bytes, advice.lines.len(), advice.problems.len()), (0, 0, 1));
}

/// Entries and figures of a process, as numbers that can be raised one at a time.
#[derive(Debug, Clone)]
struct Figures {
    entries: Vec<u64>,
    /// Largest heap, code cache's reserve, page tables, peak RSS, slab, kernel stacks.
    sizes: [u64; 6],
    metaspace_max: Option<u64>,
}

const PATHS: [&str; 12] = [
    "Java heap/old/used",
    "class metadata/non-class/used/app",
    "class metadata/malloc",
    "JIT-compiled code/nmethods/methods",
    "JIT compiler arenas/compiler arenas",
    "stacks/Java/main/touched",
    "direct and mapped buffers/java.nio.DirectByteBuffer",
    "GC structures/card table",
    "code/mapped jars/a.jar",
    "retained by malloc/main arena/bins",
    "no known region/anonymous memory",
    "something new",
];

impl Figures {
    fn snapshot(&self) -> MemoryReport {
        let [heap, code, tables, peak, slab, stacks] = self.sizes;
        let mut snapshot = Snapshot::new().jvm(|jvm| {
            jvm.heap_bytes_max = Some(heap);
            jvm.heap_committed_bytes = Some(64 * MIB);
            jvm.code_cache_bytes_max = Some(code);
            jvm.metaspace_bytes_max = self.metaspace_max;
        });
        for (path, bytes) in PATHS.iter().zip(&self.entries) {
            snapshot = snapshot.entry(path, *bytes);
        }
        let snapshot = snapshot.with(|report| {
            report.outside_rss.page_tables_bytes = Some(tables);
            report.outside_rss.rss_peak_bytes = Some(peak);
            report.outside_rss.kernel_stacks_bytes = Some(stacks);
            report.cgroup =
                Some(CgroupMemory { processes: Some(1), slab_bytes: Some(slab), ..CgroupMemory::default() });
        });
        snapshot.0
    }
}

fn any_figures() -> impl Strategy<Value = Figures> {
    let bytes = || 0u64..1 << 33;
    (prop::collection::vec(bytes(), PATHS.len()), prop::array::uniform6(bytes()), prop::option::of(bytes()))
        .prop_map(|(entries, sizes, metaspace_max)| Figures { entries, sizes, metaspace_max })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lines_add_up_and_hold_what_was_seen(figures in any_figures()) {
        let snapshot = figures.snapshot();
        let advice = advise(std::slice::from_ref(&snapshot));
        let sum: u64 = advice.lines.iter().map(|line| line.bound_bytes).sum();
        prop_assert_eq!(advice.limit_bytes, sum.next_multiple_of(MIB));
        prop_assert!(figures.sizes[3] <= advice.limit_bytes, "the peak fits");
        for line in advice.lines.iter().filter(|line| line.name != "mapped files") {
            prop_assert!(line.now_bytes <= line.bound_bytes, "{line:?}");
        }
        let resident: u64 =
            advice.lines.iter().filter(|l| !l.name.starts_with("kernel")).map(|l| l.now_bytes).sum();
        prop_assert_eq!(resident, snapshot.rss_bytes);
    }

    #[test]
    fn a_larger_figure_never_lowers_the_limit(figures in any_figures(), which in 0usize..18, by in 1u64..1 << 32) {
        let mut larger = figures.clone();
        match which.checked_sub(PATHS.len()) {
            None => larger.entries[which] += by,
            Some(size) => larger.sizes[size] += by,
        }
        let limit = |figures: &Figures| advise(&[figures.snapshot()]).limit_bytes;
        prop_assert!(limit(&figures) <= limit(&larger));
    }

    #[test]
    fn another_look_never_lowers_the_limit(first in any_figures(), last in any_figures()) {
        // What the JVM bounds is read from the last snapshot, so both have the same limits.
        let mut first = first;
        (first.sizes[0], first.sizes[1], first.metaspace_max) = (last.sizes[0], last.sizes[1], last.metaspace_max);
        let one = advise(&[last.snapshot()]).limit_bytes;
        prop_assert!(one <= advise(&[first.snapshot(), last.snapshot()]).limit_bytes);
    }
}

#[test]
fn absurd_figures_from_a_file_do_no_harm() {
    let figures = Figures {
        entries: vec![u64::MAX / 16; PATHS.len()],
        sizes: [u64::MAX; 6],
        metaspace_max: Some(u64::MAX),
    };
    let advice = advise(&[figures.snapshot()]);
    assert_eq!(advice.limit_bytes % MIB, 0);
}

/// The kernel counts what ZGC without generations maps three times at each address; a control group is charged once.
#[test]
fn what_is_mapped_three_times_is_counted_once_in_savings_and_limits() {
    let once = Snapshot::plain_jvm()
        .entry("Java heap/free but resident", 200 * MIB)
        .jvm(|jvm| {
            (jvm.heap_used_bytes, jvm.heap_committed_bytes) = (Some(70 * MIB), Some(290 * MIB));
            jvm.collector = Some("Z".to_owned());
        })
        .with(|report| report.outside_rss.rss_peak_bytes = Some(report.rss_bytes));
    let thrice = once.clone().with(|report| {
        for entry in report.entries.iter_mut().filter(|entry| entry.path[0] == "Java heap") {
            entry.memory_bytes = Some(entry.resident_bytes);
            entry.resident_bytes *= 3;
            report.rss_bytes += 2 * entry.resident_bytes / 3;
        }
        report.outside_rss.rss_peak_bytes = Some(report.rss_bytes);
    });
    assert!(once.0.rss_bytes + 700 * MIB < thrice.0.rss_bytes);
    let [of_once, of_thrice] = [&once, &thrice].map(|snapshot| advise(std::slice::from_ref(&snapshot.0)));
    assert_eq!((of_once.limit_bytes, of_once.now_bytes), (of_thrice.limit_bytes, of_thrice.now_bytes));
    let gain = |snapshot: &Snapshot| {
        let found = findings(&snapshot.0).into_iter().find(|found| found.rule == "heap-free-but-resident");
        found.and_then(|found| found.gain_bytes)
    };
    assert_eq!((gain(&once), gain(&thrice)), (Some(200 * MIB), Some(200 * MIB)));
}

#[test]
fn a_limit_by_observation_stands_beside_the_worst_case() {
    let small = Snapshot::plain_jvm().with(|report| report.outside_rss.page_tables_bytes = Some(MIB));
    let advice = advise(&[small.clone().entry("stacks/Java/deep", 30 * MIB).0, small.0.clone()]);
    let needed = small.0.rss_bytes + 30 * MIB + MIB;
    assert_eq!(advice.observed_peak_bytes, Some(needed), "of all snapshots, with the kernel's part");
    assert_eq!(advice.observed_limit_bytes, Some((needed * 6 / 5).next_multiple_of(MIB)));
    assert!(advice.observed_limit_bytes < Some(advice.limit_bytes), "512 MiB of heap may come");
    let group = CgroupMemory { current_bytes: Some(900 * MIB), ..CgroupMemory::default() };
    let peak = small.clone().with(|report| {
        report.outside_rss.rss_peak_bytes = Some(report.rss_bytes + 100 * MIB);
        report.cgroup = Some(group);
    });
    let advice = advise(std::slice::from_ref(&peak.0));
    assert_eq!(advice.observed_peak_bytes, Some(small.0.rss_bytes + 101 * MIB), "what the kernel remembers");
    assert_eq!((advice.group_bytes, advice.now_bytes), (Some(900 * MIB), small.0.rss_bytes + MIB));
    assert_eq!(advise(&[]).observed_limit_bytes, None);
}

/// A limit that counts them half kills a program that changed a file in a private mapping.
#[test]
fn pages_of_files_that_were_written_are_not_halved() {
    for kind in ["direct and mapped buffers/mapped files", "code/mapped jars", "code/class files"] {
        let of = |path: String| {
            let advice = advise(&[Snapshot::plain_jvm().entry(&path, 100 * MIB).0]);
            advice.lines.iter().map(|line| line.bound_bytes).sum::<u64>()
        };
        let nothing = advise(&[Snapshot::plain_jvm().0]).lines.iter().map(|l| l.bound_bytes).sum::<u64>();
        assert_eq!(of(format!("{kind}/a")) - nothing, 50 * MIB, "{kind}");
        assert!(100 * MIB <= of(format!("{kind}, written/a")) - nothing, "{kind}");
    }
    let file = Snapshot::plain_jvm().entry("direct and mapped buffers/mapped files, written/a", 100 * MIB);
    assert!(findings(&file.0).iter().all(|found| found.rule != "mapped-files"));
}
