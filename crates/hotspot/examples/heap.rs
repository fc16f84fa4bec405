//! Prints what is read of a running JVM's heap, collector's tables and threads.
//!
//! `cargo run -p assay-hotspot --example heap PID`

use assay_hotspot::Hotspot;
use assay_linux::{LiveProcess, MemorySource, ProcRoot};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pid = std::env::args().nth(1).ok_or("usage: heap PID")?.parse()?;
    let process = LiveProcess::open(&ProcRoot::default(), pid)?;
    let start = Instant::now();
    let hotspot = Hotspot::open(&process)?.ok_or("no JVM")?;
    println!(
        "opened in {:?}: {:?}, {:?}",
        start.elapsed(),
        hotspot.version(),
        hotspot.symbols().known_from()
    );
    let start = Instant::now();
    if let Some(heap) = hotspot.heap() {
        println!(
            "{:?}, reserved {:x?}, used {}, committed {}",
            heap.collector,
            heap.reserved,
            heap.used_bytes(),
            heap.committed_bytes()
        );
        for space in &heap.spaces {
            println!("  {:x?} top {:x} {}", space.addresses, space.top, space.name);
        }
    }
    println!("heap in {:?}", start.elapsed());
    let start = Instant::now();
    for table in hotspot.gc_tables() {
        let resident_bytes = process.pages().resident_bytes_in(table.addresses.clone());
        println!("  {:x?} {} {:?}, resident {resident_bytes}", table.addresses, table.name, table.known_from);
    }
    println!("tables in {:?}", start.elapsed());
    let start = Instant::now();
    for thread in hotspot.threads() {
        println!("  {} {:?} {:?} {:x?}", thread.tid_inside, thread.name, thread.kind, thread.stack);
    }
    println!("threads in {:?}", start.elapsed());
    for problem in hotspot.problems() {
        println!("{problem:?}");
    }
    Ok(())
}
