//! Corrupt memory: a JVM whose structures were overwritten gives less, in bounded time and memory, and never a panic.

use crate::support::{Jvm, javas};
use assay_hotspot::Hotspot;
use assay_linux::{AlteredMemory, LiveProcess, Mapping, MemorySource};
use assay_testkit::{Damage, find_java, skip};
use std::path::Path;
use std::time::{Duration, Instant};

/// A process in which some words read differently. `only_anonymous`: only memory of no file is damaged, so that
/// structures which are found by symbols lead into it.
fn corrupt(process: &LiveProcess, damage: Damage, only_anonymous: bool) -> impl MemorySource + '_ {
    let is_spared = move |address: u64| {
        let mappings = process.mappings();
        let at = mappings.partition_point(|mapping| mapping.addresses.end <= address);
        only_anonymous && mappings.get(at).is_some_and(Mapping::is_file)
    };
    AlteredMemory::new(process, move |address, buffer| {
        // Bulk reads of memory are not structures.
        if !is_spared(address) && buffer.len() <= 64 << 10 {
            damage.apply(address, buffer, |at| process.u64(at).map(u64::to_le_bytes));
        }
    })
}

/// Reads every part; the number of things that were found.
fn read_all(source: &dyn MemorySource) -> usize {
    let Ok(Some(hotspot)) = Hotspot::open(source) else { return 0 };
    let mut found = 0;
    if let Some(metaspace) = hotspot.metaspace() {
        assert!(metaspace.nodes.iter().all(|n| n.chunks.iter().all(|c| c.addresses.start < c.addresses.end)));
        found += metaspace.used_bytes() as usize % 7 + metaspace.loaders.len();
    }
    if let Some(cache) = hotspot.code_cache() {
        for heap in &cache.heaps {
            assert!(heap.reserved.start <= heap.frontier && heap.frontier <= heap.reserved.end);
            found += heap.blobs.len();
        }
    }
    let (nmt, arenas, names) = (hotspot.nmt(), hotspot.arenas(), hotspot.names());
    found += nmt.counters.len() + arenas.pooled().len();
    for mapping in source.mappings().iter().filter(|m| m.permissions.starts_with(b"rw") && !m.is_file()) {
        let start = mapping.addresses.start;
        let _ = nmt.scan(source, start..mapping.addresses.end.min(start + (64 << 10)), |_, _| found += 1);
        for at in (start..mapping.addresses.end.min(start + (1 << 10))).step_by(8) {
            found += usize::from(arenas.chunk_at(source, at, 1 << 10).is_some());
            let mut object = [0; 128];
            found += usize::from(
                source.read(at, &mut object).is_ok() && arenas.arena_in(source, at, &object).is_some(),
            );
            found += usize::from(names.klass_of_object(at).is_some());
            found += usize::from(names.instance_bytes(at).is_some());
            found += usize::from(names.symbol_at(at).is_some());
        }
    }
    found
}

fn check(java: &Path, seeds: u64) {
    let options = ["-XX:NativeMemoryTracking=summary", "-XX:+UseSerialGC"];
    let jvm = Jvm::start_program(java, &options, "Metadata", &[]).expect("a JVM");
    jvm.freeze();
    let process = jvm.process();
    let whole = read_all(&process);
    assert!(500 < whole, "{whole} things in sound memory");
    let (mut least, mut longest) = (usize::MAX, Duration::ZERO);
    for seed in 0..seeds {
        let one_in = [10_000, 1_000, 100, 20][seed as usize % 4];
        let source = corrupt(&process, Damage::new(seed, one_in), seed % 8 < 6);
        let start = Instant::now();
        least = least.min(read_all(&source));
        longest = longest.max(start.elapsed());
    }
    println!("{}: {whole} things whole, {least} at least; at most {longest:?}", java.display());
    assert!(least < whole, "damage has an effect");
    assert!(longest < Duration::from_secs(120), "{longest:?}");
}

#[test]
fn corrupt_structures_give_less_and_never_a_panic() {
    let seeds = std::env::var("ASSAY_TEST_CORRUPT_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(8);
    let javas = javas(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (_, java) in &javas {
        check(java, seeds);
    }
    if let Some(java) = find_java(17, 32) {
        check(&java, seeds);
    }
}
