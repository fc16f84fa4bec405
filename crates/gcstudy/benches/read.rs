//! How many bytes of GC log go through stream and analysis in a second, by collector.
//!
//! The peers beside it, with the ratio: `scripts/gclog-peers`.

#[path = "../tests/analysed/mod.rs"]
mod analysed;
#[path = "../tests/made/mod.rs"]
mod made;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use made::Made;
use std::fs;
use std::hint::black_box;

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
const OTHERS: [(&str, &str); 2] = [
    ("8-cms", "../../shared/data/gclog/preunified-cms-parnew-details-gccause-170-1.7.0_cms.log"),
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
    }
    group.finish();
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
