//! Prints what is read of a running JVM's class metadata, code cache, native memory tracking and arenas.
//!
//! `cargo run -p assay-hotspot --example parts PID`

use assay_hotspot::{BlobKind, ChunkState, Hotspot};
use assay_linux::{LiveProcess, ProcRoot};
use std::collections::BTreeMap;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let pid = std::env::args().nth(1).ok_or("usage: parts PID")?.parse()?;
    let source = LiveProcess::open(&ProcRoot::at("/proc"), pid)?;
    let hotspot = Hotspot::open(&source)?.ok_or("no JVM")?;
    if let Some(metaspace) = hotspot.metaspace() {
        println!("metaspace: {} bytes used, {:?}", metaspace.used_bytes(), metaspace.known_from);
        for node in &metaspace.nodes {
            let bytes = |state| -> u64 {
                let of_state = node.chunks.iter().filter(|chunk| chunk.state == state);
                of_state.map(|chunk| chunk.addresses.end - chunk.addresses.start).sum()
            };
            println!(
                "  node {:x?} class {}: {} chunks, {} in use, {} free",
                node.addresses,
                node.is_class_space,
                node.chunks.len(),
                bytes(ChunkState::InUse),
                bytes(ChunkState::Free)
            );
        }
        for (i, loader) in metaspace.loaders.iter().enumerate() {
            let chunks = metaspace.nodes.iter().flat_map(|node| &node.chunks);
            let own = chunks.filter(|chunk| chunk.loader == Some(i as u32));
            let used: u64 = own.map(|chunk| chunk.used_bytes).sum();
            println!(
                "  {:x} {} x{}: {:?} classes, {used} used",
                loader.address, loader.name, loader.count, loader.classes
            );
        }
        println!("  archive {:x?}", metaspace.archive);
    }
    if let Some(cache) = hotspot.code_cache() {
        for heap in &cache.heaps {
            println!(
                "code heap {}: {:x?}, {} used, {} to frontier",
                heap.name,
                heap.reserved,
                heap.used_bytes,
                heap.frontier - heap.reserved.start
            );
            let mut kinds: BTreeMap<(BlobKind, &str), (usize, usize)> = BTreeMap::new();
            for blob in &heap.blobs {
                let of_kind = kinds.entry((blob.kind, &blob.name)).or_default();
                of_kind.0 += 1;
                of_kind.1 += blob.malloc_parts.len();
            }
            for ((kind, name), (blobs, parts)) in kinds {
                println!("  {kind:?} {name}: {blobs} with {parts} malloc parts");
            }
        }
    }
    let nmt = hotspot.nmt();
    println!("NMT {:?}, {} thread stacks", nmt.level, nmt.thread_stacks.unwrap_or(0));
    for c in &nmt.counters {
        println!("  {c:?}");
    }
    let arenas = hotspot.arenas();
    println!("arenas: {} chunks pooled, tags {:?}", arenas.pooled().len(), arenas.tags());
    for problem in hotspot.problems() {
        println!("problem: {problem:?}");
    }
    Ok(())
}
