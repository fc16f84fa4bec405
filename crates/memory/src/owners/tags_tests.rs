//! Tags without a search for owners: what is read for them, that they name the same blocks, and that these are the blocks
//! and bytes that the JVM counts.

use super::rules::{JNI_REFERENCES, of_tag};
use crate::SnapshotDepth;
use crate::entry_table::EntryKey;
use crate::jvm::Jvm;
use crate::options::ReadOptions;
use crate::snapshot::{Snapshot, take};
use assay_allocators::BlockState;
use assay_linux::{AlteredMemory, CachedMemory, LiveProcess, MemorySource, ProcRoot};
use assay_model::FigureSource;
use assay_testkit::{each_java, skip, start_java};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Mutex;

/// Bytes of some ranges that were read, twice what was read twice.
fn bytes_of(reads: &[Range<u64>], ranges: &[Range<u64>]) -> u64 {
    let of = |range: &Range<u64>, read: &Range<u64>| {
        range.end.min(read.end).saturating_sub(range.start.max(read.start))
    };
    ranges.iter().map(|range| reads.iter().map(|read| of(range, read)).sum::<u64>()).sum()
}

/// Each block that a tag owns: its address, and the entry.
fn by_tags(snapshot: &Snapshot<'_>) -> BTreeMap<u64, String> {
    let owned = snapshot.survey.blocks.iter().zip(snapshot.claims.owners.iter());
    let keys = owned.filter_map(|(block, owner)| Some((block.address, snapshot.entries.key(owner?))));
    let is_renamed = |key: &EntryKey| key.below == [JNI_REFERENCES.1];
    let of_tags = keys.filter(|(_, key)| key.source == FigureSource::Nmt || is_renamed(key));
    of_tags.map(|(at, key)| (at, format!("{}/{}", key.area.title(), key.below.join("/")))).collect()
}

#[test]
fn tags_are_told_without_a_look_at_the_java_heap_and_are_those_of_a_whole_search() {
    let mut ran = false;
    for (feature, java) in each_java(64) {
        ran = true;
        let jvm = start_java(&java, &["-XX:NativeMemoryTracking=summary", "-Xmx128m"], &[], "Waiting");
        jvm.freeze();
        let source = LiveProcess::open(&ProcRoot::default(), jvm.pid()).expect("our child");
        let at = |depth| {
            let reads = Mutex::new(Vec::new());
            let source = AlteredMemory::new(&source, |address, bytes| {
                let mut reads = reads.lock().expect("no test panicked while it read");
                reads.push(address..address + bytes.len() as u64);
            });
            let memory = CachedMemory::new(&source);
            let snapshot = take(&memory, Jvm::find(&memory), &ReadOptions::of_depth(depth), &[]);
            let heap = snapshot.jvm.as_ref().and_then(|jvm| jvm.heap.as_ref()).expect("a JVM with a heap");
            let resident: u64 =
                heap.reserved.iter().map(|range| source.pages().resident_bytes_in(range.clone())).sum();
            (
                by_tags(&snapshot),
                bytes_of(&reads.lock().expect("as above"), &heap.reserved),
                resident,
                snapshot.sums.total_bytes(),
            )
        };
        let (mut tags, read_bytes, resident_bytes, total_bytes) = at(SnapshotDepth::Structures);
        let (mut searched, read_by_search, _, total_by_search) = at(SnapshotDepth::Owners);
        println!(
            "JDK {feature}: {read_bytes} and {read_by_search} of {resident_bytes} bytes of the heap read"
        );
        assert!(resident_bytes / 2 < read_by_search, "the account of what is read works");
        // The names of its threads are Java strings.
        assert!(read_bytes < 64 << 10, "JDK {feature}: {read_bytes} bytes of the heap were read");
        assert_eq!(total_bytes, total_by_search);
        // A tag does not name whose arena a chunk is: these alone need pointers, which may lead from a tagged block.
        let chunks: BTreeSet<u64> = tags
            .iter()
            .filter(|(_, entry)| *entry == "JIT compiler arenas/arenas")
            .map(|(block, _)| *block)
            .collect();
        tags.retain(|block, _| !chunks.contains(block));
        searched.retain(|block, _| !chunks.contains(block));
        println!("JDK {feature}: {} blocks by tags, {} chunks", tags.len(), chunks.len());
        assert!(1000 < tags.len() && !chunks.is_empty());
        // References of native code have the tag of internal memory, and a name of their own in a search.
        let of_native_code = |entry: &str| entry == "JVM internal/JNI references";
        tags.retain(|block, _| !searched.get(block).is_some_and(|entry| of_native_code(entry)));
        // Untagged blocks that a tagged one points at get its entry in a search.
        searched.retain(|block, _| tags.contains_key(block));
        assert!(tags == searched, "JDK {feature}");
    }
    if !ran {
        skip!("no 64-bit JDK 17 or 25");
    }
}

/// A thread that is stopped between counting a block and writing its header (or freeing it) makes the JVM's own books
/// differ by that block; what a reader gets wrong is there in every stop.
const STOPS_MAX: u32 = 5;

/// What differs between a frozen JVM's counters and the blocks that the allocator's walk found, tag by tag; and how many
/// blocks there are. A block that has not the entry of its tag is a failure in every stop.
fn differences(source: &LiveProcess) -> (Vec<String>, u64) {
    let memory = CachedMemory::new(source);
    let options = ReadOptions::of_depth(SnapshotDepth::Structures);
    let Snapshot { entries, jvm, survey, claims, .. } = take(&memory, Jvm::find(&memory), &options, &[]);
    let nmt = &jvm.as_ref().expect("a JVM").nmt;
    let mut found = vec![(0, 0); nmt.tags.len()];
    for (i, block) in (0..).zip(&survey.blocks).filter(|(_, b)| b.state == BlockState::Used) {
        // The header's page is resident, since it was written; the rest of a block need not be.
        let mut header = [0; 16];
        if source.read(block.address, &mut header).is_err() {
            continue;
        }
        let Some(header) = nmt.header_of(source, block.address, &header, block.bytes) else { continue };
        let tag = &nmt.tags[usize::from(header.tag)];
        let key = claims.owners.get(i).map(|entry| entries.key(entry)).expect("an owner");
        // Idle chunks of arenas are found in the JVM's own pool, which says more than their tag, and so does the table of strings.
        let is_by_tag = (key.area, key.below.join("/").as_str(), key.source)
            == (of_tag(tag).0, of_tag(tag).1, FigureSource::Nmt);
        let is_found =
            ["Arena Chunk", "Symbol"].contains(&tag.as_str()) && key.source == FigureSource::Symbols;
        assert!(is_by_tag || is_found, "{tag}: {key:?}");
        let (blocks, asked_bytes) = &mut found[usize::from(header.tag)];
        (*blocks, *asked_bytes) = (*blocks + 1, *asked_bytes + header.asked_bytes);
    }
    assert_eq!(nmt.counters.len(), found.len());
    let differ = nmt.counters.iter().zip(&found).filter_map(|(counted, found)| {
        let is_equal = (counted.malloc_count, counted.malloc_bytes) == *found;
        (!is_equal).then(|| format!("{counted:?}, found {found:?}"))
    });
    (differ.collect(), found.iter().map(|(blocks, _)| blocks).sum())
}

#[test]
fn blocks_and_bytes_of_every_tag_equal_the_jvms_counters() {
    let mut ran = false;
    for (feature, java) in each_java(64) {
        ran = true;
        let jvm = start_java(&java, &["-XX:NativeMemoryTracking=summary", "-Xmx128m"], &[], "Waiting");
        let mut stops = (0..STOPS_MAX).map(|_| {
            jvm.freeze();
            let source = LiveProcess::open(&ProcRoot::default(), jvm.pid()).expect("our child");
            let (differ, blocks) = differences(&source);
            jvm.thaw();
            println!("JDK {feature}: {blocks} blocks, {differ:?}");
            differ.is_empty() && 1000 < blocks
        });
        assert!(stops.any(|is_equal| is_equal), "JDK {feature}: its counters differ in every stop");
    }
    if !ran {
        skip!("no 64-bit JDK 17 or 25");
    }
}
