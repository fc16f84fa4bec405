//! Memory that lies: a JVM whose bytes are flipped at random. An answer, or an error, within bounded time; no panic.

use crate::support::flipped::flipped;
use crate::support::{Jvm, javas};
use assay_hotspot::Hotspot;
use assay_linux::MemorySource;
use assay_testkit::skip;
use std::time::{Duration, Instant};

/// All that is read of a JVM; how many parts gave something.
fn look(source: &dyn MemorySource) -> usize {
    let Ok(Some(hotspot)) = Hotspot::open(source) else { return 0 };
    let heap = hotspot.heap();
    if let Some(heap) = &heap {
        assert!(heap.spaces.windows(2).all(|pair| pair[0].addresses.end <= pair[1].addresses.start));
        assert!(heap.spaces.iter().all(|s| s.addresses.start <= s.top && s.top <= s.addresses.end));
    }
    let tables = hotspot.gc_tables();
    assert!(tables.windows(2).all(|pair| pair[0].addresses.end <= pair[1].addresses.start));
    let threads = hotspot.threads();
    assert!(threads.iter().all(|t| t.stack.as_ref().is_none_or(|stack| stack.start < stack.end)));
    let _ = (hotspot.metaspace(), hotspot.code_cache(), hotspot.nmt(), hotspot.arenas());
    assert!(hotspot.problems().len() <= 100);
    usize::from(heap.is_some()) + usize::from(!tables.is_empty()) + usize::from(!threads.is_empty())
}

#[test]
fn flipped_bytes_give_an_answer_or_an_error_in_bounded_time() {
    let all: Vec<_> = [64, 32].into_iter().flat_map(javas).collect();
    if all.is_empty() {
        skip!("no JDK 17, 21 or 25");
    }
    let mut answers = 0;
    for (feature, java) in all {
        for collector in ["Serial", "Parallel", "G1", "Z", "Shenandoah"] {
            let Some(jvm) = Jvm::start(&java, &[&format!("-XX:+Use{collector}GC")]) else { continue };
            jvm.freeze();
            let process = jvm.process();
            // Of a 32-bit JVM with Shenandoah no table is known.
            assert!(2 <= look(&process), "{feature} {collector}: the untouched JVM is read");
            for (seed, one_in) in
                [(1, 3), (2, 30), (3, 300), (4, 1000), (5, 3000), (6, 3000), (7, 10_000), (8, 30_000)]
            {
                let start = Instant::now();
                answers += look(&flipped(&process, one_in, seed));
                let elapsed = start.elapsed();
                assert!(
                    elapsed < Duration::from_secs(120),
                    "{feature} {collector} {seed} {one_in}: {elapsed:?}"
                );
            }
        }
    }
    // The test is worth something only if many of the looks get far.
    assert!(100 < answers, "{answers}");
}
