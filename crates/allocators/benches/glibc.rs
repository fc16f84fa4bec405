//! Chunks a second: over a heap in this program's own memory, and over a live process with a million blocks. Beside it, in
//! the same run: what it takes to read the same bytes without understanding them, and glibc's own `malloc_info` in that
//! process, which looks at free chunks only.

use assay_allocators::survey;
use assay_linux::{LiveProcess, MemorySource, ProcRoot};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;

#[expect(dead_code, unused_imports, unused_macros, reason = "the tests use the rest of it")]
#[path = "../tests/blocks_program/mod.rs"]
mod blocks_program;
#[expect(dead_code, reason = "the tests use the rest of it")]
#[path = "../tests/synthetic/mod.rs"]
mod synthetic;

const READ_BYTES: u64 = 1 << 20;

fn walk(criterion: &mut Criterion) {
    let process = synthetic::RELEASES[6].process(1, 50_000);
    let mut group = criterion.benchmark_group("glibc");
    group.sample_size(20).measurement_time(Duration::from_secs(8));
    group.throughput(Throughput::Elements(process.blocks.len() as u64));
    group.bench_function("walk, own memory", |bencher| {
        bencher.iter(|| survey(&process.image, &[]).blocks.len());
    });
    let Some(program) = blocks_program::program() else { return };
    let mut target = blocks_program::Blocks::start(&program, "blocks=1400000 max=400 free=30", &[]);
    let source = target.open();
    let seen = survey(&source, &[]);
    assert!(1_000_000 < seen.blocks.len() && seen.problems.is_empty(), "{:?}", seen.problems);
    group.throughput(Throughput::Elements(seen.blocks.len() as u64));
    group.bench_function("walk, live process", |bencher| bencher.iter(|| survey(&source, &[]).blocks.len()));
    group.bench_function("plain reading of the same bytes", |bencher| {
        bencher.iter(|| seen.ranges.iter().map(|range| read(&source, &range.addresses)).sum::<u64>());
    });
    group.bench_function("malloc_info in the process itself", |bencher| {
        bencher.iter(|| target.command('i'));
    });
    let pid = target.pid();
    group.bench_function("opening the process", |bencher| {
        bencher
            .iter(|| LiveProcess::open(&ProcRoot::default(), pid).expect("it is alive").pages().runs().len());
    });
    group.finish();
}

fn read(source: &LiveProcess, range: &std::ops::Range<u64>) -> u64 {
    let mut buffer = vec![0; READ_BYTES as usize];
    let mut sum = 0;
    for part in source.pages().resident_in(range.clone()) {
        for at in (part.start..part.end).step_by(READ_BYTES as usize) {
            let wanted = (part.end - at).min(READ_BYTES);
            source.read(at, &mut buffer[..wanted as usize]).expect("resident");
            sum += u64::from(black_box(&buffer)[0]) + wanted;
        }
    }
    sum
}

criterion_group!(benches, walk);
criterion_main!(benches);
