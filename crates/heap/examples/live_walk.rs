//! What walking the heap of a running JVM costs it, and Assay: `cargo run --release -p assay-heap --example live_walk -- PID [TIMES]`.

use assay_heap::live::histogram;
use std::time::{Duration, Instant};

const MIB: f64 = (1 << 20) as f64;

fn main() {
    let mut arguments = std::env::args().skip(1).filter_map(|argument| argument.parse::<u32>().ok());
    let Some(pid) = arguments.next() else { return eprintln!("a process number, and how often") };
    for _ in 0..arguments.next().unwrap_or(1) {
        let began = Instant::now();
        match histogram(pid, Duration::from_secs(60)) {
            Ok(live) => {
                let (freeze, bytes) = (&live.freeze, &live.freeze.bytes);
                println!(
                    "used {:.0} MiB, objects {}, frozen {:.1} ms ({:.3} s per GiB), in all {:.1} ms, read {:.0} MiB, \
                     skipped {} B, attempts {}, classes {}, peak RSS {:.1} MiB",
                    bytes.used_bytes as f64 / MIB,
                    freeze.objects,
                    freeze.frozen_ns as f64 / 1e6,
                    freeze.frozen_ns as f64 / 1e9 / (bytes.used_bytes.max(1) as f64 / (1024.0 * MIB)),
                    began.elapsed().as_secs_f64() * 1e3,
                    freeze.bytes_read as f64 / MIB,
                    bytes.skipped_bytes,
                    freeze.attempts,
                    live.histogram.classes.len(),
                    peak_rss_mib(),
                );
            }
            Err(error) => eprintln!("{error}"),
        }
    }
}

/// The largest resident size of this process so far.
fn peak_rss_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}
