//! Prints one snapshot of a process: `cargo run -p assay-memory --release --example snapshot -- PID [ignore-nmt]`

use assay_memory::{ReadOptions, SnapshotDepth, read};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pid = std::env::args().nth(1).ok_or("usage: snapshot PID")?.parse()?;
    let ignore_nmt = std::env::args().nth(2).is_some();
    let options = ReadOptions { ignore_nmt, ..ReadOptions::of_depth(SnapshotDepth::Owners) };
    let report = read(pid, &options)?;
    println!(
        "rss {} closure {} change {}",
        report.rss_bytes, report.difference_bytes, report.rss_change_during_scan_bytes
    );
    println!(
        "unknown {} inferred {} scan {} ms, cpu {} ms",
        report.unknown_bytes,
        report.inferred_bytes,
        report.scan_ns / 1_000_000,
        report.scan_cpu_ns / 1_000_000
    );
    for area in &report.areas {
        println!("{:>12} {}", area.resident_bytes, area.area.title());
    }
    for entry in &report.entries {
        println!(
            "{:>12} {:>10} {:<10} {}",
            entry.resident_bytes,
            entry.count.unwrap_or(0),
            entry.source.title(),
            entry.path.join(" / ")
        );
    }
    for source in &report.sources {
        println!("{:>12} {}", source.resident_bytes, source.source.title());
    }
    for piece in &report.unknown {
        println!("unknown {piece:?}");
    }
    for problem in &report.problems {
        println!("problem {problem:?}");
    }
    Ok(())
}
