//! How many bytes of GC log the reader gets through in a second.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

/// A G1 and a Parallel collection as a JVM started with `xlog_option` logs them, again and again.
fn large_log() -> String {
    let mut log = String::new();
    for id in 0..20_000_u64 {
        let at = format!("[{}.{:03}s][{}ns]", id / 10, id % 1_000, 2_642_000_000_000 + id * 100_000_000);
        for line in include_str!("../../../fuzz/corpus/gclog_read/one-collection-g1").lines() {
            log.push_str(&format!("{at}{}\n", line.replace("GC(0)", &format!("GC({id})"))));
        }
    }
    log
}

fn read(criterion: &mut Criterion) {
    let log = large_log();
    let mut group = criterion.benchmark_group("gclog");
    group.throughput(Throughput::Bytes(log.len() as u64)).sample_size(10);
    group.bench_function("read", |bencher| {
        bencher.iter(|| assay_gclog::read("bench", black_box(log.as_bytes())).events.len());
    });
    group.finish();
}

criterion_group!(benches, read);
criterion_main!(benches);
