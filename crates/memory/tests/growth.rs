//! Leaks of known size in live JVMs: the first cause is the right one, and the growth is explained.
//!
//! `cargo test -p assay-memory --test all growth:: -- --nocapture` prints the figures as a table.

use crate::probes::{Probe, built};
use assay_memory::explain_change;
use assay_model::{Cause, MemoryChange, MemoryReport};
use assay_testkit::{each_java, find_java, skip};
use std::path::Path;

/// The part of the growth that has to have a cause.
const EXPLAINED_SHARE_MIN: f64 = 0.95;

/// A kind of leak: how the probe is asked for it, by how much it grows, and what the first cause must begin with.
struct Leak {
    kind: &'static str,
    grow: u32,
    cause: &'static [&'static str],
    /// What its explanation has to say besides.
    says: &'static str,
}

const LEAKS: [Leak; 11] = [
    Leak {
        kind: "direct 0 64k",
        grow: 800,
        cause: &[
            "direct and mapped buffers",
            "java.nio.DirectByteBuffer",
            "assay.probes.buffers.DirectBuffers",
        ],
        says: "direct buffers that assay.probes.buffers.DirectBuffers holds",
    },
    Leak {
        kind: "deflaters 0",
        grow: 200,
        cause: &["direct and mapped buffers", "java.util.zip.Deflater", "assay.probes.zip.Deflaters"],
        says: "call end()",
    },
    Leak {
        kind: "malloc 0 40000",
        grow: 1500,
        cause: &["native libraries", "libprobe.so"],
        says: "native code of libprobe.so",
    },
    Leak {
        kind: "statics 0 40000",
        grow: 1500,
        cause: &["native libraries", "libprobe.so"],
        says: "native code of libprobe.so",
    },
    Leak {
        kind: "peers 0 40000",
        grow: 1500,
        cause: &["direct and mapped buffers", "assay.probes.malloc.PeerBlocks$Peer"],
        says: "heap dump",
    },
    Leak {
        kind: "unsafe 0 40000",
        grow: 1500,
        cause: &["direct and mapped buffers", "long[]", "assay.probes.malloc.UnsafeBlocks"],
        says: "heap dump",
    },
    Leak { kind: "loaders 0 20", grow: 300, cause: &["class metadata"], says: "they leak" },
    Leak {
        kind: "threads 0 200k",
        grow: 300,
        cause: &["stacks", "Java"],
        says: "300 of the new ones called probe-#",
    },
    Leak { kind: "arenas 0 500 8k", grow: 15, cause: &["retained by malloc"], says: "--trim" },
    Leak {
        kind: "mapped 0 1m",
        grow: 60,
        cause: &["direct and mapped buffers", "mapped files"],
        says: "files",
    },
    // Whoever mapped them: that they are huge pages has to be said.
    Leak { kind: "huge 0 2m", grow: 30, cause: &[], says: "huge pages" },
];

fn the_first_cause_is_the_leak(feature: u32) {
    let Some(java) = find_java(feature, 64) else { skip!("no 64-bit JDK {feature}") };
    let Some(folder) = built() else { skip!("the probes are not built: workloads/probes/build") };
    let wrong: Vec<String> =
        LEAKS.iter().filter_map(|leak| explained(leak, feature, &java, &folder)).collect();
    assert!(wrong.is_empty(), "JDK {feature}:\n{}", wrong.join("\n"));
}

/// Prints how a leak is explained; what is wrong with that.
fn explained(leak: &Leak, feature: u32, java: &Path, folder: &Path) -> Option<String> {
    let mut probe = Probe::start(java, folder, leak.kind, &[]);
    let before = probe.snapshot();
    let held = probe.ask(&format!("grow {}", leak.grow));
    let after = probe.snapshot();
    let change = explain_change(&before, &after);
    let grown = change.after_bytes.cast_signed() - change.before_bytes.cast_signed();
    let share = change.explained_share.unwrap_or(0.0);
    let Some(first) = change.causes.first() else { return Some(format!("{}: nothing changed", leak.kind)) };
    println!(
        "JDK {feature} | {:15} | {grown:>9} | {:>9} | {:6.2} % | {}",
        leak.kind,
        first.change_bytes(),
        share * 100.0,
        first.path.join(" > ")
    );
    let is_right = is_cause(first, leak) && EXPLAINED_SHARE_MIN <= share;
    (!is_right).then(|| format!("{}: {share}, {}; {held}", leak.kind, described(&change, &after)))
}

fn is_cause(first: &Cause, leak: &Leak) -> bool {
    let begins =
        leak.cause.len() <= first.path.len() && first.path.iter().zip(leak.cause).all(|(a, b)| a == b);
    begins && first.explanation.contains(leak.says)
}

fn described(change: &MemoryChange, after: &MemoryReport) -> String {
    let cause = |c: &Cause| format!("{} {} ({})", c.path.join(" > "), c.change_bytes(), c.explanation);
    let causes: Vec<String> = change.causes.iter().map(cause).collect();
    let unknown: Vec<_> = after.unknown.iter().take(8).collect();
    format!("{causes:#?}, {unknown:#?}, {:?}", after.problems)
}

#[test]
fn the_first_cause_is_the_leak_on_jdk_17() {
    the_first_cause_is_the_leak(17);
}

#[test]
fn the_first_cause_is_the_leak_on_jdk_25() {
    the_first_cause_is_the_leak(25);
}

/// The probe's heap is resident from the start, but here.
#[test]
fn classes_that_grew_in_the_java_heap_are_named() {
    let Some(folder) = built() else { skip!("the probes are not built: workloads/probes/build") };
    let javas = each_java(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (feature, java) in javas {
        let mut probe = Probe::start(&java, &folder, "heap 0 9000", &["-XX:-AlwaysPreTouch"]);
        let before = probe.snapshot();
        probe.ask("grow 6000");
        let change = explain_change(&before, &probe.snapshot());
        let first = change.causes.first().expect("it grew");
        assert_eq!(first.path[0], "Java heap", "JDK {feature}: {:#?}", change.causes);
        // 6,000 arrays of 9,000 bytes and a header are 51.6 MiB.
        let text = &first.explanation;
        assert!(text.contains("in the whole heap: byte[] +51."), "JDK {feature}: {text}");
    }
}
