//! What is found in the sample.

use assay_model::{Finding, RuleId, Severity};

const KIB: u64 = 1 << 10;

/// Findings, those of most bytes first.
pub fn findings() -> Vec<Finding<RuleId>> {
    vec![
        Finding {
            gain_bytes: Some(15_904 * KIB),
            ..Finding::measured(
                RuleId::of("retained-by-malloc"),
                Severity::Warning,
                "malloc keeps 20.5 MiB that the program has freed",
                "12 arenas of glibc 2.36 hold 9,213 freed blocks; a trim returns the whole pages among them",
            )
            .to_do("Trim it now: assay memory 4242 --trim")
            .or("Trim it for good: -XX:TrimNativeHeapInterval=30000")
        },
        Finding {
            gain_bytes: Some(10_752 * KIB),
            ..Finding::measured(
                RuleId::of("heap-free-but-resident"),
                Severity::Warning,
                "16.5 MiB of the Java heap hold no object and stay resident",
                "17 regions of 1 MiB are free or above the top",
            )
            .to_do("Set -XX:G1PeriodicGCInterval=60000 -XX:MinHeapFreeRatio=10 -XX:MaxHeapFreeRatio=30")
        },
        Finding {
            gain_bytes: None,
            ..Finding::measured(
                RuleId::of("malloc-arenas"),
                Severity::Warning,
                "12 arenas spread what few threads use at a time",
                "92 threads, 12 arenas",
            )
            .to_do("Set MALLOC_ARENA_MAX=2 in the environment")
        },
    ]
}
