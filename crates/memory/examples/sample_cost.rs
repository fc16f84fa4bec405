//! What one sample of a process costs, and what it says: `cargo run --release -p assay-memory --example sample_cost PID`.

use assay_linux::{ProcRoot, monotonic_ns, process_cpu};
use assay_memory::sample;

const SAMPLES: u32 = 50;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pid: u32 = std::env::args().nth(1).ok_or("usage: sample_cost PID")?.parse()?;
    let proc = ProcRoot::default();
    let mut wall_us: Vec<u64> = Vec::new();
    let cpu_before_ns = process_cpu(std::process::id())?.total_ns;
    for _ in 0..SAMPLES {
        let start_ns = monotonic_ns();
        sample(&proc, pid, None, start_ns)?;
        wall_us.push((monotonic_ns() - start_ns) / 1000);
    }
    let cpu_us = (process_cpu(std::process::id())?.total_ns - cpu_before_ns) / 1000 / u64::from(SAMPLES);
    wall_us.sort_unstable();
    let mappings = proc.open_smaps(pid)?.count();
    let rollup_start_ns = monotonic_ns();
    let rollup = proc.read_smaps_rollup(pid)?;
    let rollup_us = (monotonic_ns() - rollup_start_ns) / 1000;
    println!(
        "{mappings} mappings: median {} µs, CPU {cpu_us} µs per sample; rollup {rollup_us} µs",
        wall_us[25]
    );
    println!("{:?}\n{rollup:?}", sample(&proc, pid, None, monotonic_ns())?);
    Ok(())
}
