//! Rules of findings about a process's memory.

use crate::closed::closed;

closed! {
    /// What `assay memory` finds, by the rule that found it.
    #[expect(missing_docs, reason = "the word says it, and the claim of its finding says it in full")]
    MemoryRule {
        DirectBuffersWithoutLimit = "direct-buffers-without-limit",
        ZipStreamsNotEnded = "zip-streams-not-ended",
        ClassLoadersOfOneName = "class-loaders-of-one-name",
        MetaspaceWaste = "metaspace-waste",
        CdsArchivePrivate = "cds-archive-private",
        CodeCacheFragmented = "code-cache-fragmented",
        CodeCacheNearlyFull = "code-cache-nearly-full",
        GcStructuresLarge = "gc-structures-large",
        NativeMemoryTracking = "native-memory-tracking",
        MappedFiles = "mapped-files",
        HeapFreeButResident = "heap-free-but-resident",
        HeapSizeFixed = "heap-size-fixed",
        HugePagesUnrequested = "huge-pages-unrequested",
        SwappedOut = "swapped-out",
        NearLimit = "near-limit",
        UnknownLarge = "unknown-large",
        RetainedByMalloc = "retained-by-malloc",
        MallocArenas = "malloc-arenas",
        ArenaTops = "arena-tops",
        StaleStacks = "stale-stacks",
        ManyThreads = "many-threads",
        HugePagesInStacks = "huge-pages-in-stacks",
        HeapLargerThanCommitted = "heap-larger-than-committed",
        CodeCacheReserve = "code-cache-reserve",
        DirectLimitAboveUse = "direct-limit-above-use",
    }
}
