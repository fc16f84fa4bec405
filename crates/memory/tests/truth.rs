//! Known amounts of memory, of each kind: what a snapshot says came on top is what a program allocated, by 1 % or 64 KiB.
//!
//! `cargo test -p assay-memory --test all truth:: -- --nocapture` prints the figures as a table.

use crate::probes::{Probe, built};
use assay_model::{Area, MemoryReport};
use assay_testkit::{find_java, skip};
use serde_json::Value;
use std::path::Path;

/// What a snapshot may differ by from what was allocated: the larger of both.
const TOLERANCE_PERCENT: u64 = 1;
const TOLERANCE_BYTES: u64 = 64 << 10;

/// An amount of one kind of memory.
struct Amount {
    /// As the probe is asked for it, and by how much it grows.
    kind: &'static str,
    grow: u32,
    options: &'static [&'static str],
    /// What the test asks it for before each snapshot.
    settle: &'static str,
    /// Where it has to be found: an area, and parts of the path beneath it.
    area: Area,
    entry: &'static [&'static str],
    /// Bytes that it takes, the overhead of its kind included: from the probe's answers before and after, its growth and
    /// the JVM's feature release.
    expected: fn(&Value, &Value, u64, u32) -> u64,
}

/// An amount that is found in `entry` and is what the probe says, or what is computed.
const fn amount(
    kind: &'static str,
    grow: u32,
    area: Area,
    entry: &'static [&'static str],
    expected: fn(&Value, &Value, u64, u32) -> u64,
) -> Amount {
    Amount { kind, grow, options: &[], settle: "hold", area, entry, expected }
}

/// Bytes of a block of glibc's malloc that are the program's: blocks are multiples of 16, with 8 of header.
fn usable(bytes: u64) -> u64 {
    (bytes + 8).next_multiple_of(16).max(32) - 8
}

/// A figure of a probe's answer.
fn figure(held: &Value, name: &str) -> u64 {
    held.get(name).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {name} in {held}"))
}

/// Resident bytes of all entries of an area that have these parts beneath it, in this order; others may lie between.
fn resident(snapshot: &MemoryReport, area: Area, parts: &[&str]) -> u64 {
    let belongs = |path: &[String]| {
        let mut left = path.iter().skip(1);
        path.first().is_some_and(|first| first == area.title())
            && parts.iter().all(|part| left.any(|name| name == part))
    };
    snapshot.entries.iter().filter(|entry| belongs(&entry.path)).map(|entry| entry.resident_bytes).sum()
}

fn grown(before: &Value, after: &Value, name: &str) -> u64 {
    figure(after, name).checked_sub(figure(before, name)).expect("what only grows")
}

fn bytes(before: &Value, after: &Value, _: u64, _: u32) -> u64 {
    grown(before, after, "bytes")
}

fn usable_bytes(before: &Value, after: &Value, _: u64, _: u32) -> u64 {
    grown(before, after, "usable_bytes")
}

/// By glibc's own account. Compilers use malloc too, so the JVM has to run without them.
fn malloc_bytes(before: &Value, after: &Value, _: u64, _: u32) -> u64 {
    grown(before, after, "malloc_bytes")
}

/// A symbol of 6 + 1000 bytes, rounded up to 1008. 17 keeps it in a block of its own, with a node of two pointers in the
/// table; 25 behind the node's pointer to the next.
fn symbol_blocks(_: &Value, _: &Value, count: u64, feature: u32) -> u64 {
    count * if feature < 21 { usable(1008) + usable(16) } else { usable(8 + 1008) }
}

/// A node of two pointers for each string, and its handle: 64 of these in a block of 64 x 8 bytes, 64 of bookkeeping and
/// 64 so that it can be aligned.
fn string_nodes(_: &Value, _: &Value, count: u64, _: u32) -> u64 {
    count * usable(16) + count.div_ceil(64) * usable(64 * 8 + 64 + 64)
}

/// A String (24) and an array with 16 bytes of header.
fn string_objects(_: &Value, _: &Value, count: u64, _: u32) -> u64 {
    count * (24 + (16 + 1000u64).next_multiple_of(8))
}

/// Softly referenced objects go at each collection: otherwise the JVM's own caches, 1.4 MB, go at whichever collection comes
/// a second later for each free MB, which on a busy machine is the one between two snapshots.
const NO_SOFT: &[&str] = &["-XX:SoftRefLRUPolicyMSPerMB=0", "-Xms128m", "-Xmx128m"];

const LIBPROBE: &[&str] = &["libprobe.so"];

static AMOUNTS: [Amount; 19] = [
    amount("direct 0 10000", 4000, Area::Buffers, &["java.nio.DirectByteBuffer"], |_, _, count, _| {
        count * usable(10_000)
    }),
    amount("mapped 0 1m", 50, Area::Buffers, &["mapped files"], bytes),
    amount("threads 0 200k", 100, Area::Stacks, &["Java"], bytes),
    amount("classes 0 20", 3000, Area::ClassMetadata, &["used"], bytes),
    amount("loaders 0 20", 200, Area::ClassMetadata, &["used"], bytes),
    amount("malloc 0 10000", 4000, Area::NativeLibraries, LIBPROBE, usable_bytes),
    amount("malloc 0 300k", 150, Area::NativeLibraries, LIBPROBE, usable_bytes),
    amount("statics 0 10000", 4000, Area::NativeLibraries, LIBPROBE, usable_bytes),
    amount("peers 0 10000", 4000, Area::Buffers, &["assay.probes.malloc.PeerBlocks$Peer"], usable_bytes),
    amount("unsafe 0 10000", 4000, Area::Buffers, &["long[]"], |_, _, count, _| count * usable(10_000)),
    // Without the compilers, which on a busy machine give back half a megabyte of their own between the two snapshots.
    Amount { options: &["-Xint"], ..amount("arenas 0 400 16k", 6, Area::FreedResident, &["bins"], bytes) },
    amount("huge 0 4m", 10, Area::Buffers, &["java.lang.Long"], bytes),
    Amount {
        options: &["-Xint"],
        ..amount("deflaters 0", 150, Area::Buffers, &["java.util.zip.Deflater"], malloc_bytes)
    },
    Amount {
        options: &["-Xint"],
        ..amount("inflaters 0", 1000, Area::Buffers, &["java.util.zip.Inflater"], malloc_bytes)
    },
    amount("code 0", 2000, Area::JitCode, &["methods"], bytes),
    amount("symbols 0 1000", 20_000, Area::JvmWork, &["symbols"], symbol_blocks),
    amount("interned 0 1000", 20_000, Area::JvmWork, &["strings"], string_nodes),
    Amount {
        settle: "gc",
        options: NO_SOFT,
        ..amount("interned 0 1000", 20_000, Area::JavaHeap, &["used"], string_objects)
    },
    Amount { settle: "gc", options: NO_SOFT, ..amount("heap 0 1m", 50, Area::JavaHeap, &["used"], bytes) },
];

/// The two releases keep these differently, so both are asked for them.
const ON_BOTH: &str = "symbols 0 1000";

/// What `./check` asks a release for without `--long`: 17 and 25 take turns with the amounts.
fn in_turn(feature: u32) -> impl Iterator<Item = &'static Amount> {
    let takes_odd = feature == 25;
    let tried = move |(at, amount): &(usize, &Amount)| (at % 2 == 1) == takes_odd || amount.kind == ON_BOTH;
    AMOUNTS.iter().enumerate().filter(tried).map(|(_, amount)| amount)
}

fn attributed(feature: u32, amounts: impl Iterator<Item = &'static Amount>) {
    let Some(java) = find_java(feature, 64) else { skip!("no 64-bit JDK {feature}") };
    let Some(folder) = built() else { skip!("the probes are not built: workloads/probes/build") };
    let wrong: Vec<String> = amounts.filter_map(|amount| told(amount, feature, &java, &folder)).collect();
    assert!(wrong.is_empty(), "JDK {feature}:\n{}", wrong.join("\n"));
}

/// Asks until nothing changes any more: a collection spares soft references that were read since the one before, under any
/// policy, as those are that the first answers come from; what they alone led to goes at the one after that.
fn settled(probe: &mut Probe, how: &str) -> Value {
    for _ in 0..3 {
        probe.ask(how);
    }
    probe.ask(how)
}

/// Prints the figures of an amount; what is wrong with them.
fn told(amount: &Amount, feature: u32, java: &Path, folder: &Path) -> Option<String> {
    let mut probe = Probe::start(java, folder, amount.kind, amount.options);
    let held_before = settled(&mut probe, amount.settle);
    let before = probe.snapshot();
    probe.ask(&format!("grow {}", amount.grow));
    let held_after = settled(&mut probe, amount.settle);
    let after = probe.snapshot();
    let expected = (amount.expected)(&held_before, &held_after, u64::from(amount.grow), feature);
    let of = |snapshot: &MemoryReport| resident(snapshot, amount.area, amount.entry);
    let told = of(&after).cast_signed() - of(&before).cast_signed();
    let difference = told - expected.cast_signed();
    let path = [&[amount.area.title()], amount.entry].concat().join(" > ");
    println!(
        "JDK {feature} | {:18} | {path:50} | {expected:>10} | {told:>10} | {difference:>8} | {:+.3} %",
        amount.kind,
        difference as f64 * 100.0 / expected as f64
    );
    let tolerance = TOLERANCE_BYTES.max(expected * TOLERANCE_PERCENT / 100);
    (tolerance < difference.unsigned_abs()).then(|| {
        let change = assay_memory::explain_change(&before, &after);
        let causes: Vec<_> = change.causes.iter().map(|c| (c.path.join(" > "), c.change_bytes())).collect();
        format!("{}: {difference} of {expected}; {causes:#?}; {held_after}", amount.kind)
    })
}

#[test]
fn known_amounts_are_told_on_jdk_17() {
    attributed(17, in_turn(17));
}

#[test]
fn known_amounts_are_told_on_jdk_25() {
    attributed(25, in_turn(25));
}

#[test]
#[ignore = "long: all amounts on both releases"]
fn every_known_amount_is_told_on_jdk_17_and_25() {
    for feature in [17, 25] {
        attributed(feature, AMOUNTS.iter());
    }
}
