//! Rules of findings about GC logs.

use crate::closed::closed;

closed! {
    /// What `assay gc` finds, by the rule that found it.
    #[expect(missing_docs, reason = "the word says it, and the claim of its finding says it in full")]
    GcRule {
        OutOfMemory = "out-of-memory",
        LiveSetGrows = "live-set-grows",
        HeapTooSmall = "heap-too-small",
        HeapTooLarge = "heap-too-large",
        EvacuationFailure = "evacuation-failure",
        PromotionFailure = "promotion-failure",
        ExplicitGc = "explicit-gc",
        MetaspaceThreshold = "metaspace-threshold",
        FullGcByTools = "full-gc-by-tools",
        FullGc = "full-gc",
        HumongousAllocations = "humongous-allocations",
        DegeneratedCycles = "degenerated-cycles",
        AllocationStalls = "allocation-stalls",
        ConcurrentModeFailure = "concurrent-mode-failure",
        PrematurePromotion = "premature-promotion",
        ThroughputLow = "throughput-low",
        PausesLong = "pauses-long",
        YoungCollectionsFrequent = "young-collections-frequent",
        GcKernelTime = "gc-kernel-time",
        GcThreadsWait = "gc-threads-wait",
        TimeToSafepointLong = "time-to-safepoint-long",
        SafepointsOther = "safepoints-other",
        JniCriticalSections = "jni-critical-sections",
        ReferenceModeLimit = "reference-mode-limit",
        LargePagesRefused = "large-pages-refused",
        GcThreadsFew = "gc-threads-few",
        MessagesDropped = "messages-dropped",
        LinesNotUnderstood = "lines-not-understood",
        LogBreaksOff = "log-breaks-off",
        LogContradictsItself = "log-contradicts-itself",
        JvmRestarted = "jvm-restarted",
        LogLacksFigures = "log-lacks-figures",
    }
}
