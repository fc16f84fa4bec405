//! Garbage of the Java heap that a mark counted, as a finding.

use crate::findings::{of_rule, plain};
use crate::report::{MIB, Snapshot};
use assay_model::HeapLive;

#[test]
fn garbage_that_a_mark_counted_is_part_of_what_the_heap_would_give_back() {
    // As a heap of 1,224 MiB of which 36 MiB are alive: without a mark, 78 MiB are promised.
    let used = |plain: Snapshot| {
        plain.entry("Java heap/humongous/used", 944 * MIB).entry("Java heap/free but resident", 80 * MIB).jvm(
            |jvm| {
                (jvm.heap_used_bytes, jvm.heap_committed_bytes) = (Some(1_144 * MIB), Some(1_224 * MIB));
                jvm.heap_bytes_max = Some(1_600 * MIB);
            },
        )
    };
    assert!(of_rule(&used(plain()), "heap-free-but-resident").is_none(), "less than a tenth is free");
    let live = |is_partial| HeapLive {
        live_bytes: 36 * MIB,
        unsure_bytes: 0,
        dead_bytes: 1_108 * MIB,
        is_partial,
        holders: Vec::new(),
    };
    let marked = |is_partial| used(plain()).jvm(|jvm| jvm.heap_live = Some(live(is_partial)));
    let found = of_rule(&marked(false), "heap-free-but-resident").expect("a finding");
    // 36 MiB may keep 15 MiB free.
    assert_eq!(found.gain_bytes.map(|gain| gain / MIB), Some(1_172), "{found:?}");
    assert_eq!(found.resident_bytes, Some(1_188 * MIB), "free and garbage");
    assert!(!found.is_at_least && found.evidence_line().contains("including 1.1 GiB of garbage"));
    assert!(of_rule(&marked(true), "heap-free-but-resident").is_none(), "an unfinished mark proves nothing");
    let unsure = marked(false).jvm(|jvm| {
        let live =
            HeapLive { live_bytes: 644 * MIB, unsure_bytes: 600 * MIB, dead_bytes: 500 * MIB, ..live(false) };
        jvm.heap_live = Some(live);
    });
    let found = of_rule(&unsure, "heap-free-but-resident").expect("a finding");
    assert!(
        found.is_at_least && found.evidence_line().contains("600.0 MiB more may be garbage"),
        "{found:?}"
    );
}

#[test]
fn free_heap_is_promised_where_the_release_has_the_option_that_returns_it() {
    let found = |collector: &str, flag: Option<(&str, &str)>| {
        let snapshot = plain().entry("Java heap/free but resident", 200 * MIB).jvm(|jvm| {
            (jvm.heap_used_bytes, jvm.heap_committed_bytes) = (Some(70 * MIB), Some(290 * MIB));
            jvm.collector = Some(collector.to_owned());
        });
        let snapshot = flag.map_or(snapshot.clone(), |(name, value)| snapshot.flag(name, value));
        let found = of_rule(&snapshot, "heap-free-but-resident").expect("a finding");
        (found.change.expect("a step").jvm_options, found.gain_bytes)
    };
    let (steps, adapts) = ("ShrinkHeapInSteps", "UseAdaptiveSizePolicyWithSystemGC");
    let ratios = ["-XX:MinHeapFreeRatio=10", "-XX:MaxHeapFreeRatio=30"];
    let with = |option| [&ratios[..], &[option]].concat();
    let gain = Some(190 * MIB);
    assert_eq!(found("Serial", Some((steps, "true"))), (owned(&with("-XX:-ShrinkHeapInSteps")), gain));
    assert_eq!(found("Serial", Some((steps, "false"))), (owned(&ratios), gain));
    assert_eq!(found("Serial", None), (owned(&ratios), gain), "four collections do, on JDK 8");
    let adaptive = with("-XX:+UseAdaptiveSizePolicyWithSystemGC");
    assert_eq!(found("Parallel", Some((adapts, "false"))), (owned(&adaptive), gain));
    assert_eq!(found("Parallel", None), (owned(&ratios), None), "nothing is known of ratios alone");
}

fn owned(options: &[&str]) -> Vec<String> {
    options.iter().map(|option| (*option).to_owned()).collect()
}
