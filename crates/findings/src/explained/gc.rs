//! Findings of `assay gc`.

use super::{Explain, Explained, says};
use assay_model::GcRule;

impl Explain for GcRule {
    #[expect(clippy::too_many_lines, reason = "a table")]
    fn explained(self) -> Option<Explained> {
        use GcRule as G;
        match self {
            G::OutOfMemory => says(
                "How often the log says so.",
                "The heap, metaspace or direct memory was full, and a collection did not help.",
                "A heap dump at the next time (`-XX:+HeapDumpOnOutOfMemoryError`), and a check of what is kept; more room only where it is needed.",
            ),
            G::LiveSetGrows => says(
                "Bytes that survive collections of the whole heap, first and last, and their growth in an hour with its interval.",
                "A leak, or a cache without a limit; in a log of less than half an hour a start looks the same, and the finding is a note.",
                "Two heap dumps some hours apart, and a comparison of the classes that grow.",
            ),
            G::HeapTooSmall => says(
                "The live set as a share of the largest heap, from 70 % on.",
                "The heap is too small for its live set: collections are frequent and free little.",
                "`-Xmx` of twice the live set or more, or fewer objects that are kept.",
            ),
            G::HeapTooLarge => says(
                "The live set and the largest heap, from 8 times on, with less than 0.5 % of the time in pauses; heaps from 1 GiB on.",
                "The heap was sized for more than the program keeps.",
                "`-Xmx` of four times the live set, and `assay gc diff` of both logs.",
            ),
            G::EvacuationFailure => says(
                "Pauses with evacuation failure.",
                "G1 found no free region for survivors; such pauses are longer and may end in full collections.",
                "More heap, `-XX:G1ReservePercent=20`, or marking that begins earlier (`-XX:InitiatingHeapOccupancyPercent`).",
            ),
            G::PromotionFailure => says(
                "Collections with promotion failure.",
                "The old generation had no room for what young collections promote, or only in pieces (CMS).",
                "A larger old generation (`-Xmx`, a smaller `-Xmn`); with CMS an earlier begin.",
            ),
            G::ExplicitGc => says(
                "Collections by `System.gc()`, their number and time.",
                "The program, a library or a tool triggers them: RMI each hour, NIO when direct memory runs out.",
                "Find the caller; `-XX:+ExplicitGCInvokesConcurrent` makes them concurrent with G1, `-XX:+DisableExplicitGC` ignores them.",
            ),
            G::MetaspaceThreshold => says(
                "Collections by the metadata threshold: three or more after the first ten minutes, or twelve at the start.",
                "Metaspace grew to its threshold, which rises a step at a time.",
                "`-XX:MetaspaceSize` above what is used; where it goes on growing, look for class loaders that are kept.",
            ),
            G::FullGcByTools => says(
                "Full collections by heap dumps, histograms, agents and diagnostic commands.",
                "A person or a monitoring tool requested them.",
                "Ask less often, or without a collection (`jcmd PID GC.class_histogram -all`).",
            ),
            G::FullGc => says(
                "Full collections for room, by cause, with their time and interval.",
                "Collectors that work concurrently did not keep up; or the old generation filled up.",
                "More heap; marking that begins earlier and has more threads (`-XX:ConcGCThreads`); fewer objects that live long.",
            ),
            G::HumongousAllocations => says(
                "Pauses by humongous allocations (three or more), the most bytes in them, and the size of a region.",
                "An object of half a region or more takes whole regions, and triggers concurrent cycles.",
                "Larger regions (`-XX:G1HeapRegionSize`), or smaller and reused arrays.",
            ),
            G::DegeneratedCycles => says(
                "Degenerated cycles of all cycles.",
                "Shenandoah ran out of memory before a concurrent cycle ended, and finished it in a pause.",
                "More heap, an earlier begin (`-XX:ShenandoahMinFreeThreshold`), or more threads (`-XX:ConcGCThreads`).",
            ),
            G::AllocationStalls => says(
                "Stalls, their total and longest time, by kind.",
                "Threads waited for memory while the concurrent collector worked: pauses by another name.",
                "More heap, an earlier begin (`-XX:ZAllocationSpikeTolerance`, `-XX:SoftMaxHeapSize`), or more threads.",
            ),
            G::ConcurrentModeFailure => says(
                "Concurrent mode failures and promotion failures.",
                "The old generation was full before CMS had finished, or is fragmented.",
                "`-XX:CMSInitiatingOccupancyFraction=60 -XX:+UseCMSInitiatingOccupancyOnly`; or G1, which compacts.",
            ),
            G::PrematurePromotion => says(
                "The promoted share of what is allocated (from 20 % on) and its rate (from 10 MiB/s on), where pauses take 3 % or more.",
                "Young generation or survivor spaces are so small that objects are promoted before they die.",
                "A larger young generation (`-Xmn`, `-XX:NewRatio`) or larger survivor spaces (`-XX:SurvivorRatio`).",
            ),
            G::ThroughputLow => says(
                "GC throughput below 90 %, or the application running less than 90 % of the time, in a log of 10 s or more.",
                "Collections, or other safepoints, stop the application too much of the time.",
                "More heap, or less allocation; for other safepoints the threads that reach them late and the operations that need them.",
            ),
            G::PausesLong => says(
                "The longest pause and the 99th percentile; long is above 400 ms, and above 30 ms for ZGC and Shenandoah.",
                "The collector stops the application for work that grows with the heap; or threads waited for processors, memory or each other.",
                "A concurrent collector; with G1 `-XX:MaxGCPauseMillis` and a young generation that is not fixed.",
            ),
            G::YoungCollectionsFrequent => says(
                "Young collections more often than once a second, with 3 % or more of the time in pauses.",
                "The young generation is small for the allocation rate.",
                "A larger young generation (`-Xmx`; `-Xmn` for Serial and Parallel), or less allocation.",
            ),
            G::GcKernelTime => says(
                "CPU time of collections in the kernel and in user mode; made where the kernel has more.",
                "Page faults of memory that is touched for the first time, swapping, or compaction for transparent huge pages.",
                "`-XX:+AlwaysPreTouch`, no swap, `defrag` other than `always`.",
            ),
            G::GcThreadsWait => says(
                "Time in pauses, and CPU time of collector threads in them: less than 80 % of it.",
                "GC threads were descheduled during pauses: a CPU limit, other processes, swapping, or a log on a slow disk.",
                "Look at `nr_throttled` in `cpu.stat`, at other processes, at swapping; `-Xlog:async`.",
            ),
            G::TimeToSafepointLong => says(
                "99th percentile (from 10 ms on, of 100 or more), longest (from 100 ms on) and sum (from 1 % of the time on) of reaching safepoints.",
                "One thread is late, and all others wait for it: a long counted loop, a large array copy, a page fault on a mapped file.",
                "`-XX:+SafepointTimeout -XX:SafepointTimeoutDelay=50` names the thread.",
            ),
            G::SafepointsOther => says(
                "Time at safepoints that are not collections, from 1 % on, by operation.",
                "Thread dumps, heap histograms, deoptimization, biased locking.",
                "Fewer of the named operations; `-XX:-UseBiasedLocking` before JDK 15.",
            ),
            G::JniCriticalSections => says(
                "Pauses that wait for or follow JNI critical sections, from 5 % on.",
                "Native code holds an array in place (`GetPrimitiveArrayCritical`), and collections must wait.",
                "Callers that copy; JDK 22 and later pin regions with G1.",
            ),
            G::ReferenceModeLimit => says(
                "The largest heap and its reference mode, where it is little above a threshold.",
                "Above about 2, 30 and 32 GB (OpenJ9: 4, 25 and 57 GB) references are decoded with more work, or are larger.",
                "`-Xmx` at the threshold, or so much larger that it makes up for the loss: `assay heap modes`.",
            ),
            G::LargePagesRefused => says(
                "The option that requested large pages, and what the JVM got according to the log.",
                "None are reserved, the user may not lock memory, or transparent ones are off.",
                "`vm.nr_hugepages` and memlock; or `madvise` for transparent ones (`shmem_enabled=advise` for ZGC).",
            ),
            G::GcThreadsFew => says(
                "Parallel GC threads, processors, and what HotSpot would take.",
                "`-XX:ParallelGCThreads` is set, or was set for another machine.",
                "Leave it out, unless other JVMs share the processors.",
            ),
            G::MessagesDropped => says(
                "Messages that the log says it dropped.",
                "The buffer of asynchronous logging was full.",
                "`-XX:AsyncLogBufferSize`, or `-Xlog:async:stall` (JDK 25).",
            ),
            G::LinesNotUnderstood => says(
                "Lines that were not recognized, of all, and the most frequent one.",
                "Another program wrote into the log, or a format that this version does not know.",
                "Report the quoted line; figures may lack what such lines say.",
            ),
            G::LogBreaksOff => says(
                "The file that ends within a line.",
                "The JVM was killed, the disk was full, or the log is still being written.",
                "Nothing, where that is known.",
            ),
            G::LogContradictsItself => says(
                "A figure that the log gives of itself, and what was read.",
                "The log is not whole, or was misread.",
                "All parts of a rotated log; otherwise report it.",
            ),
            G::JvmRestarted => says(
                "How many JVMs wrote the log, and where each begins.",
                "The JVM was started anew; rates do not span that.",
                "Nothing; or one log for each start (`%t` in the file's name).",
            ),
            G::LogLacksFigures => says(
                "What the log lacks: times, heap sizes, safepoints, CPU times, settings.",
                "The JVM was started with fewer log tags than these figures need.",
                "The `-Xlog` line that the finding gives.",
            ),
            G::Other => None,
        }
    }
}
