//! Cost of recording one request: three histograms, and five with an interval log. Divide by three for one value.
//! `cargo bench -p assay-load --bench record`

use assay_load::IntervalLogs;
use assay_load::recorder::{Recorder, RequestTimes};
use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;

fn record(criterion: &mut Criterion) {
    for (name, logs) in [
        ("record a request", None),
        ("record a request, with interval log", Some(IntervalLogs::each_second(std::io::sink()))),
    ] {
        let mut recorder = Recorder::new(0, logs);
        let mut n = 0_u64;
        criterion.bench_function(name, |bencher| {
            bencher.iter(|| {
                // Spread over 0.1 to 10 ms, as answers are.
                n = n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let done_ns = 100_000 + (n >> 40) % 9_900_000;
                let sent_ns = Some(20_000);
                recorder.record(black_box(&RequestTimes {
                    intended_ns: 0,
                    sendable_ns: 10_000,
                    sent_ns,
                    done_ns,
                }));
            });
        });
    }
}

criterion_group!(benches, record);
criterion_main!(benches);
