//! Findings of `assay memory` and `assay memory advise`.

use super::{Explain, Explained, says};
use assay_model::MemoryRule;

impl Explain for MemoryRule {
    fn explained(self) -> Option<Explained> {
        use MemoryRule as M;
        match self {
            M::RetainedByMalloc => says(
                "Whole free pages inside malloc's bins, in bytes and as a share of RSS.",
                "The program freed the memory, and malloc keeps it for the next request instead of returning it to the kernel.",
                "Trim it now: `assay memory PID --trim`.",
                &[
                    "Trim it for good: `-XX:TrimNativeHeapInterval=30000` (17.0.9, and from 21 on).",
                    "Use an allocator that gives back by itself, such as jemalloc.",
                ],
            ),
            M::MallocArenas => says(
                "How many arenas of glibc's malloc keep freed memory, and how much of it lies beyond the two largest.",
                "glibc gives threads arenas of their own, up to eight per processor; what one arena has freed, another cannot use.",
                "Set `MALLOC_ARENA_MAX=2` in the environment. Threads that allocate much may then wait for each other.",
                &[],
            ),
            M::ArenaTops => says(
                "Resident bytes at the free ends of glibc's arenas, 128 KiB of each left out.",
                "An end is given back when it exceeds a threshold, and each freed large block raises that threshold, up to 64 MiB.",
                "Set `GLIBC_TUNABLES=glibc.malloc.trim_threshold=131072` in the environment.",
                &[],
            ),
            M::HeapFreeButResident => says(
                "Committed heap without objects, as a share of the heap's resident bytes (from 10 % on), and what a collection could give back.",
                "The heap grew for a peak, and the collector keeps it: it shrinks only at collections, down to `MaxHeapFreeRatio`.",
                "With G1, set `-XX:G1PeriodicGCInterval=60000 -XX:MinHeapFreeRatio=10 -XX:MaxHeapFreeRatio=30`; with ZGC, `-XX:ZUncommitDelay`. The finding names the options of the collector at hand.",
                &["Set them while the JVM runs (`jcmd PID VM.set_flag`).", "Set a smaller `-Xmx`."],
            ),
            M::HeapSizeFixed => says(
                "Free but resident heap, of a heap whose smallest and largest size are equal.",
                "`-Xms` equals `-Xmx`, so that the heap never shrinks; with `-XX:+AlwaysPreTouch` all of it is resident from the start.",
                "Set `-Xms` below `-Xmx` and leave `-XX:+AlwaysPreTouch` out.",
                &["Make both smaller."],
            ),
            M::HeapLargerThanCommitted => says(
                "`MaxHeapSize` and the largest committed heap in all samples.",
                "The heap may grow beyond what its collector has committed so far: a limit must hold that, too.",
                "Set a smaller `-Xmx`, where what was seen is all that the server needs.",
                &[],
            ),
            M::StaleStacks => says(
                "Resident stack below the stack pointers of all threads.",
                "Deeper calls have returned; the pages that they touched stay until the thread ends.",
                "Let idle threads of pools end.",
                &["Use fewer threads.", "Bound the depth of stacks: `-Xss`."],
            ),
            M::ManyThreads => says(
                "The number of threads (from 500 on), their resident stacks and their kernel stacks.",
                "Each thread has a stack, a kernel stack, a cache of malloc and page tables.",
                "Use smaller pools.",
                &["Use virtual threads (from JDK 21 on)."],
            ),
            M::HugePagesInStacks => says(
                "Eight or more stacks of at least 1 MiB resident, what the other stacks have, and the process's huge pages.",
                "With transparent huge pages set to `always`, the first touch makes a whole huge page of a stack resident (JDK-8303215).",
                "`echo madvise > /sys/kernel/mm/transparent_hugepage/enabled`",
                &[
                    "Use a JDK update from 2024 on.",
                    "Set `-Xss1020k`, which is not a multiple of the huge page size.",
                ],
            ),
            M::HugePagesUnrequested => says(
                "Bytes in huge pages (from 64 MiB on), and freed memory and stacks, of which at least a quarter as much is resident.",
                "Transparent huge pages are set to `always`: the kernel also gives them where little of each is used.",
                "`echo madvise > /sys/kernel/mm/transparent_hugepage/enabled`",
                &[
                    "Do the same and ask for huge pages for the Java heap alone: `-XX:+UseTransparentHugePages`.",
                ],
            ),
            M::DirectBuffersWithoutLimit => says(
                "Direct buffers from 10 % of RSS on, and the limit that holds because none is set: that of the heap.",
                "Direct memory is freed when the buffer's object is collected, which a large heap does rarely.",
                "Set `-XX:MaxDirectMemorySize`, which makes the JVM collect in time.",
                &[
                    "Set `-Djdk.nio.maxCachedBufferSize=262144`, for buffers that I/O on heap buffers leaves in each thread.",
                ],
            ),
            M::DirectLimitAboveUse => says(
                "`MaxDirectMemorySize` and the largest resident direct memory in all samples.",
                "The limit of the container must hold what direct buffers may take.",
                "Set a smaller `-XX:MaxDirectMemorySize`, where what was seen is all that the server needs.",
                &[],
            ),
            M::ZipStreamsNotEnded => says(
                "Native memory of `Deflater` and `Inflater` objects (from 16 MiB on), with the number of blocks.",
                "The native part is freed by `end()`, or when the object is collected, which may be late.",
                "Close the streams (try-with-resources).",
                &["Call `end()` on each."],
            ),
            M::ClassLoadersOfOneName => says(
                "How many class loaders serve one reflective accessor each (from 50 on), and what their classes occupy.",
                "Up to JDK 17 each accessor that was called 15 times becomes a class with a loader of its own, whose metaspace chunks are mostly \
                 empty.",
                "Keep accessors out of bytecode: `-Dsun.reflect.inflationThreshold=2147483647`.",
                &["Use a newer JDK, which needs no such loaders."],
            ),
            M::MetaspaceWaste => says(
                "Free chunks and unused ends of loaders' chunks, from a fifth of metaspace's resident bytes on.",
                "Each class loader takes chunks of its own; those of loaders that are gone stay committed before JDK 16.",
                "Use a JDK that gives metaspace back; where it does, set `-XX:MetaspaceReclaimPolicy=aggressive`, if the release has it.",
                &["Load classes with fewer class loaders."],
            ),
            M::CdsArchivePrivate => says(
                "Private and shared bytes of the class-data archive; made where private ones prevail and are 10 % of RSS or more.",
                "The JVM moved the archive to a random address and so wrote to its pages, which are then no longer shared with other JVMs.",
                "Where several JVMs share a host, set `-XX:+UnlockDiagnosticVMOptions -XX:ArchiveRelocationMode=0`.",
                &["Make an archive of the application's classes, too: `-XX:ArchiveClassesAtExit`."],
            ),
            M::CodeCacheFragmented => says(
                "Free but resident code cache, from a quarter of the area on.",
                "Code was thrown away, and the room between is larger than what later compilations need.",
                "Set `-XX:ReservedCodeCacheSize` with room for what is used and half as much again.",
                &[],
            ),
            M::CodeCacheNearlyFull => says(
                "Used and reserved code cache; made from 90 % on.",
                "There is more hot code than the cache holds: the JVM throws compiled code away, or stops compiling.",
                "Set `-XX:ReservedCodeCacheSize` twice as large.",
                &[],
            ),
            M::CodeCacheReserve => says(
                "The reserve and the most code that was in use in all samples.",
                "The limit of the container must hold the reserve, since code may fill it.",
                "Set a smaller `-XX:ReservedCodeCacheSize`, where what was seen is all that the server needs.",
                &[],
            ),
            M::GcStructuresLarge => says(
                "The collector's tables as a share of the committed heap (from 10 % on), and the largest of them.",
                "Remembered sets, mark bitmaps and card tables grow with the heap and with references between regions.",
                "For a heap up to 1 GiB, `-XX:+UseSerialGC`; with G1, larger regions (`-XX:G1HeapRegionSize`); with others, `-XX:+UseParallelGC` where its pauses are acceptable.",
                &[],
            ),
            M::NativeMemoryTracking => says(
                "The level of tracking, and the bytes of its headers and tables.",
                "Tracking adds a header to each malloc block of the JVM.",
                "Start without `-XX:NativeMemoryTracking`: Assay's areas do not need it.",
                &[],
            ),
            M::MappedFiles => says(
                "The number of mapped files and their resident bytes, from 5 % of RSS on.",
                "Jars and other files are mapped; their pages count as RSS, and the kernel can drop them at any time.",
                "Count them half for a limit, as `assay memory advise` does.",
                &[],
            ),
            M::SwappedOut => says(
                "Bytes of the process in swap, from 16 MiB on.",
                "The kernel wrote pages to the swap device; a collection that reads them back takes seconds.",
                "Set a smaller `-Xmx`.",
                &[
                    "Give the machine more memory.",
                    "Keep the container out of swap: `memory.swap.max=0`.",
                    "Set `vm.swappiness=1`.",
                ],
            ),
            M::NearLimit => says(
                "What the container is charged without page cache that can be dropped, as a share of its limit; made from 90 % on.",
                "The next growth may exceed the limit, and the kernel then kills a process of the container.",
                "Find out which limit the process needs: `assay memory advise PID`.",
                &[],
            ),
            M::UnknownLarge => says(
                "Bytes without a known owner, from 1 % of RSS on, with the largest pieces and what they contain.",
                "Memory that neither the JVM nor an allocator nor a Java object is known to own, such as that of a library with its own allocator.",
                "Start it with `-XX:NativeMemoryTracking=summary`, which names what the JVM allocates.",
                &["Record what allocates it with a profiler of malloc."],
            ),
            M::Other => None,
        }
    }
}
