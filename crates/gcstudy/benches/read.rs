//! How many bytes of GC log go through stream and analysis in a second, by collector.
//!
//! Beside each log, in turns: a program that finds the ends of its lines and nothing else (`memchr`, AVX2), which is as fast as any reader
//! could be. The ratio of both, and the speed, are printed as medians of seven turns. Readers by others: `scripts/gclog-peers`.

#[path = "../tests/analysed/mod.rs"]
mod analysed;
#[path = "../tests/made/mod.rs"]
mod made;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use made::Made;
use std::fs;
use std::hint::black_box;
use std::time::Instant;

const KINDS: [&str; 8] = [
    "17-serial-normal",
    "17-parallel-normal",
    "17-g1-evacuation-failure",
    "17-z-normal",
    "17-shenandoah-normal",
    "25-g1-evacuation-failure",
    "25-genz-normal",
    "25-genshenandoah-normal",
];
/// Of forms without numbers that go on: again and again as they are, each time another JVM. The first is read where it is there.
const OTHERS: [(&str, &str); 3] = [
    ("8-cms", "../../shared/data/gclog/preunified-cms-parnew-details-gccause-170-1.7.0_cms.log"),
    ("8-cms-scavenge-before-remark", "gclog/jdk8/cms-scavenge-before-remark.log"),
    ("j9-gencon", "gclog/j9/gencon.xml"),
];
const BYTES: usize = 16_000_000;

fn read(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("gclog");
    let kinds = KINDS.map(|kind| {
        let path = assay_testkit::testdata("gclog/kinds").join(kind).join("star.default.log");
        let mut made = Made::new(&fs::read_to_string(path).expect("the recorded log"));
        (kind, long(|| made.next_part()))
    });
    let others = OTHERS.into_iter().filter_map(|(kind, path)| {
        let part = fs::read_to_string(assay_testkit::testdata(path)).ok()?;
        Some((kind, long(|| part.clone())))
    });
    for (kind, log) in kinds.into_iter().chain(others) {
        group.throughput(Throughput::Bytes(log.len() as u64)).sample_size(10);
        group.bench_function(kind, |bencher| bencher.iter(|| analysed::report(black_box(log.as_bytes()))));
        beside_lines(kind, &log);
    }
    group.finish();
}

/// The peer: how many lines there are.
fn lines(log: &str) -> usize {
    memchr::memchr_iter(b'\n', log.as_bytes()).count()
}

/// Prints how fast a log is read, and how many times as long that takes as counting its lines, in turns: a disturbance hits both.
fn beside_lines(kind: &str, log: &str) {
    let seconds = |run: &dyn Fn()| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    let turn = || {
        let read_s = seconds(&|| drop(black_box(analysed::report(log.as_bytes()))));
        let lines_s = seconds(&|| {
            black_box(lines(black_box(log)));
        });
        (log.len() as f64 / read_s / 1e6, read_s / lines_s)
    };
    let (mut speeds, mut ratios): (Vec<f64>, Vec<f64>) = (0..7).map(|_| turn()).unzip();
    speeds.sort_by(f64::total_cmp);
    ratios.sort_by(f64::total_cmp);
    println!(
        "{kind}: {:.0} MB/s ({:.0} to {:.0}), {:.0} times as long as counting its lines ({:.0} to {:.0})",
        speeds[3], speeds[0], speeds[6], ratios[3], ratios[0], ratios[6]
    );
}

fn long(mut next_part: impl FnMut() -> String) -> String {
    let mut log = String::new();
    while log.len() < BYTES {
        log.push_str(&next_part());
    }
    log
}

criterion_group!(benches, read);
criterion_main!(benches);
