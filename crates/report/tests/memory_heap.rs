//! A process's Java heap as people see it: what is alive, and memory that is mapped several times.

use crate::kafka;
use crate::memory::{in_full, view};
use assay_model::*;
use assay_report::*;

#[test]
fn what_is_alive_in_the_heap_is_shown_with_what_holds_it() {
    let mut snapshot = kafka::snapshot();
    let holder = HeapHolder {
        kind: HolderKind::StaticField,
        name: "app.Cache.entries".to_owned(),
        objects: 9,
        bytes: 30 << 20,
        classes: vec![ClassObjects { class: "app.Entry".to_owned(), objects: 9, bytes: 30 << 20 }],
    };
    let live = HeapLive {
        live_bytes: 36 << 20,
        unsure_bytes: 0,
        dead_bytes: 108 << 20,
        is_partial: false,
        holders: vec![holder],
    };
    let shown = |snapshot: &MemoryReport| in_full(snapshot, view(200, Extent::All));
    assert!(!shown(&snapshot).contains("garbage"));
    snapshot.jvm.as_mut().expect("a JVM").heap_live = Some(live.clone());
    let text = shown(&snapshot);
    assert!(
        text.contains("144.0 MiB of Java objects: 36.0 MiB are alive, 108.0 MiB (75.0 %) are garbage."),
        "{text}"
    );
    assert!(text.contains("static field app.Cache.entries") && text.contains("app.Entry 30.0 MiB"), "{text}");
    let on_stacks = HeapLive { unsure_bytes: 5 << 20, ..live.clone() };
    snapshot.jvm.as_mut().expect("a JVM").heap_live = Some(on_stacks);
    let text = shown(&snapshot).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("garbage. 5.0 MiB of the live objects may be garbage: only words"), "{text}");
    snapshot.jvm.as_mut().expect("a JVM").heap_live = Some(HeapLive { is_partial: true, ..live });
    assert!(shown(&snapshot).contains("at least 36.0 MiB are alive and at most 108.0 MiB"));
}

/// As ZGC does without generations.
#[test]
fn a_heap_that_is_mapped_three_times_is_said_to_take_a_third_of_what_the_rss_counts() {
    let mut snapshot = kafka::snapshot();
    let is_heap = |entry: &&mut MemoryEntry| entry.path[0] == Area::JavaHeap.title();
    for entry in snapshot.entries.iter_mut().filter(is_heap) {
        entry.memory_bytes = Some(entry.resident_bytes);
        entry.resident_bytes *= 3;
    }
    let heap = Area::JavaHeap.bytes_in(&snapshot.areas);
    let memory = snapshot.rss_bytes;
    snapshot.rss_bytes += 2 * heap;
    let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
    let document = memory::document(&snapshot, &[], None).markdown();
    let headline = format!("{} of memory: {} Java heap, mapped three times", mib(memory), mib(heap));
    let beyond = format!(
        "{} ({:.1} %) outside the Java heap, RSS counts {}",
        mib(memory - heap),
        (memory - heap) as f64 / memory as f64 * 100.0,
        mib(snapshot.rss_bytes)
    );
    for part in [headline, beyond, format!("{} of memory, mapped three times", mib(heap))] {
        assert!(document.contains(&part), "{part} in {document}");
    }
    assert!(!memory::document(&kafka::snapshot(), &[], None).markdown().contains("of memory, mapped"));
}
