//! Arenas against the JVM's own counters of them.

use crate::support::{Jvm, javas};
use assay_hotspot::{ArenaChunk, ArenaObject, Arenas, Hotspot, Nmt};
use assay_linux::{LiveProcess, MemorySource};
use assay_testkit::{find_java, skip};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

/// All tracked blocks: where their payload begins, bytes asked for, tag.
fn blocks(nmt: &Nmt, source: &LiveProcess) -> Vec<(u64, u64, u8)> {
    let mut blocks = Vec::new();
    for mapping in source.mappings().iter().filter(|m| m.permissions.starts_with(b"rw") && !m.is_file()) {
        let mut keep = |payload, header: assay_hotspot::NmtHeader| {
            blocks.push((payload, header.asked_bytes, header.tag));
        };
        nmt.scan(source, mapping.addresses.clone(), &mut keep).expect("headers");
    }
    blocks
}

/// Every word of writable memory but the Java heap at which an arena object lies: blocks, stacks, data.
fn arena_objects(hotspot: &Hotspot<'_>, arenas: &Arenas, source: &LiveProcess) -> Vec<ArenaObject> {
    let mut objects = Vec::new();
    let heap = hotspot.heap().expect("a heap").reserved;
    let is_heap = |address: &u64| heap.iter().any(|range| range.contains(address));
    for mapping in source.mappings().iter().filter(|m| m.permissions.starts_with(b"rw")) {
        for part in source.pages().resident_in(mapping.addresses.clone()).filter(|part| !is_heap(&part.start))
        {
            let mut bytes = vec![0; (part.end - part.start) as usize];
            if source.read(part.start, &mut bytes).is_err() {
                continue;
            }
            let word = source.word_bytes() as usize;
            let at_word = |at: usize| arenas.arena_in(source, part.start + at as u64, &bytes[at..]);
            objects.extend((0..bytes.len()).step_by(word).filter_map(at_word));
        }
    }
    objects
}

/// Chunks from an arena's first on.
fn chain(chunks: &BTreeMap<u64, ArenaChunk>, first: u64) -> Vec<u64> {
    let mut chain = Vec::new();
    let mut at = first;
    while let Some(chunk) = chunks.get(&at).filter(|_| chain.len() < 100_000) {
        chain.push(at);
        at = chunk.next;
    }
    chain
}

/// Arenas by tag: number and bytes.
fn arenas_counted(jvm: &Jvm) -> Vec<(u64, u64)> {
    let source = jvm.process();
    let nmt = Hotspot::open(&source).expect("a readable JVM").expect("a JVM").nmt();
    nmt.counters.iter().map(|counters| (counters.arena_count, counters.arena_bytes)).collect()
}

/// Stops the JVM at a moment at which no compiler has an arena in its hands that is counted and not yet made, or given
/// back and still counted.
fn freeze_without_compiling(jvm: &Jvm) {
    for _ in 0..100 {
        let before = arenas_counted(jvm);
        std::thread::sleep(Duration::from_millis(200));
        jvm.freeze();
        if arenas_counted(jvm) == before {
            return;
        }
        jvm.thaw();
    }
    panic!("the JVM compiles without an end");
}

fn check(java: &Path, options: &[&str], program: &str) {
    let options = [&["-XX:NativeMemoryTracking=summary"], options].concat();
    let jvm = Jvm::start_program(java, &options, program, &[]).expect("a JVM");
    freeze_without_compiling(&jvm);
    let source = jvm.process();
    let hotspot = Hotspot::open(&source).expect("a readable JVM").expect("a JVM");
    let (nmt, arenas) = (hotspot.nmt(), hotspot.arenas());
    let tag = nmt.tags.iter().position(|tag| tag == "Arena Chunk").expect("a tag of chunks");

    // By shape, chunks are those blocks that have their tag, and no others.
    let mut chunks = BTreeMap::new();
    let (mut missed, mut wrong) = (Vec::new(), Vec::new());
    for (payload, bytes, of) in blocks(&nmt, &source) {
        match (usize::from(of) == tag, arenas.chunk_at(&source, payload, bytes)) {
            (true, Some(chunk)) => {
                assert_eq!(chunk.end(), payload + bytes, "{chunk:x?} fills its block");
                chunks.insert(payload, chunk);
            }
            (true, None) => missed.push((payload, bytes)),
            (false, Some(chunk)) => wrong.push((chunk, nmt.tags[usize::from(of)].clone())),
            (false, None) => {}
        }
    }
    assert!(missed.is_empty(), "{missed:x?}");
    assert!(wrong.is_empty(), "{wrong:x?}");
    assert_eq!(nmt.counters[tag].malloc_count, chunks.len() as u64);

    // Chunks of arenas add up to what the JVM counts for them, tag by tag; what is left over idles in the pools.
    let objects = arena_objects(&hotspot, &arenas, &source);
    let mut by_tag: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let mut used = BTreeSet::new();
    for object in &objects {
        let own = chain(&chunks, object.first);
        // Stale copies of arenas lie in stacks: their chunks belong to others by now, or are shorter than they say.
        let bytes: u64 = own.iter().map(|at| chunks[at].bytes).sum();
        let is_whole = own.contains(&object.chunk) && bytes == object.bytes;
        if is_whole && used.insert(object.first) {
            let row = by_tag.entry(&nmt.tags[usize::from(object.memory_tag)]).or_default();
            *row = (row.0 + 1, row.1 + bytes);
        }
    }
    let pooled: BTreeSet<_> = arenas.pooled().iter().copied().collect();
    assert!(pooled.iter().all(|chunk| chunks.contains_key(chunk)), "{pooled:x?}");
    let counted = nmt.counters.iter().filter(|c| c.arena_count != 0);
    let counted: BTreeMap<_, _> = counted.map(|c| (&*c.tag, (c.arena_count, c.arena_bytes))).collect();
    println!(
        "{} {options:?}: {} chunks, {} pooled, {} objects, {by_tag:?}; counted {counted:?}",
        java.display(),
        chunks.len(),
        pooled.len(),
        objects.len()
    );
    for (tag, (arenas, bytes)) in &counted {
        let found = by_tag.get(tag).copied().unwrap_or_default();
        assert_eq!(found, (*arenas, *bytes), "{tag}: {options:?}");
    }
    let tags: BTreeSet<_> = objects.iter().filter_map(|object| object.tag.as_deref()).collect();
    assert!(arenas.tags().is_empty() || tags.is_subset(&arenas.tags().iter().map(String::as_str).collect()));
}

#[test]
fn chunks_and_arenas_equal_the_jvm_s_counters() {
    let javas = javas(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (_, java) in &javas {
        check(java, &["-XX:+UseSerialGC"], "Metadata");
        check(java, &["-Xshare:off"], "Waiting");
    }
}

#[test]
fn arenas_of_a_32_bit_jvm() {
    let Some(java) = find_java(17, 32) else { skip!("no 32-bit JVM") };
    check(&java, &["-XX:+UseSerialGC"], "Metadata");
}
