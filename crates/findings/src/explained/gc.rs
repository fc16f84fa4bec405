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
                "Take a heap dump at the next time and see what is kept: `-XX:+HeapDumpOnOutOfMemoryError`.",
                &["Give the heap more room, where it is needed (`-Xmx`)."],
            ),
            G::LiveSetGrows => says(
                "Bytes that survive collections of the whole heap, first and last, and their growth in an hour with its interval.",
                "A leak, or a cache without a limit; in a log of less than half an hour a start looks the same, and the finding is a note.",
                "Take two heap dumps some hours apart and compare the classes that grow.",
                &[],
            ),
            G::HeapTooSmall => says(
                "The live set as a share of the largest heap, from 70 % on.",
                "The heap is too small for its live set: collections are frequent and free little.",
                "Set `-Xmx` to twice the live set at least.",
                &["Keep fewer objects."],
            ),
            G::HeapTooLarge => says(
                "The live set and the largest heap, from 8 times on, with less than 0.5 % of the time in pauses; heaps from 1 GiB on.",
                "The heap was sized for more than the program keeps.",
                "Try `-Xmx` of four times the live set and compare both logs with `assay gc diff`.",
                &[],
            ),
            G::EvacuationFailure => says(
                "Pauses with evacuation failure.",
                "G1 found no free region for survivors; such pauses are longer and may end in full collections.",
                "Give the heap more room (`-Xmx`).",
                &[
                    "Keep more in reserve: `-XX:G1ReservePercent=20`.",
                    "Begin marking earlier: a lower `-XX:InitiatingHeapOccupancyPercent`.",
                ],
            ),
            G::PromotionFailure => says(
                "Collections with promotion failure.",
                "The old generation had no room for what young collections promote, or only in pieces (CMS).",
                "Make the old generation larger (`-Xmx`).",
                &["Leave it more of the heap: a smaller `-Xmn`.", "Let CMS begin earlier."],
            ),
            G::ExplicitGc => says(
                "Collections by `System.gc()`, their number and time.",
                "The program, a library or a tool triggers them: RMI each hour, NIO when direct memory runs out.",
                "Find what calls `System.gc()`.",
                &[
                    "Let RMI ask less often: `-Dsun.rmi.dgc.server.gcInterval`.",
                    "Give direct memory more room: `-XX:MaxDirectMemorySize`.",
                    "Make them concurrent with G1: `-XX:+ExplicitGCInvokesConcurrent`.",
                    "Ignore them: `-XX:+DisableExplicitGC`.",
                ],
            ),
            G::MetaspaceThreshold => says(
                "Collections by the metadata threshold: three or more after the first ten minutes, or twelve at the start.",
                "Metaspace grew to its threshold, which rises a step at a time.",
                "Set `-XX:MetaspaceSize` above what is used.",
                &["Look for class loaders that are kept, where metaspace goes on growing."],
            ),
            G::FullGcByTools => says(
                "Full collections by heap dumps, histograms, agents and diagnostic commands.",
                "A person or a monitoring tool requested them.",
                "Ask less often.",
                &["Ask without a collection: `jcmd PID GC.class_histogram -all`."],
            ),
            G::FullGc => says(
                "Full collections for room, by cause, with their time and interval.",
                "Collectors that work concurrently did not keep up; or the old generation filled up.",
                "Give the heap more room (`-Xmx`); with CMS, let it begin earlier.",
                &[
                    "Begin marking earlier (G1).",
                    "Give marking more threads: `-XX:ConcGCThreads`.",
                    "Keep fewer objects that live long.",
                ],
            ),
            G::HumongousAllocations => says(
                "Pauses by humongous allocations (three or more), the most bytes in them, and the size of a region.",
                "An object of half a region or more takes whole regions, and triggers concurrent cycles.",
                "Set a larger `-XX:G1HeapRegionSize`.",
                &["Reuse large arrays."],
            ),
            G::DegeneratedCycles => says(
                "Degenerated cycles of all cycles.",
                "Shenandoah ran out of memory before a concurrent cycle ended, and finished it in a pause.",
                "Give the heap more room (`-Xmx`).",
                &[
                    "Let cycles begin earlier: a higher `-XX:ShenandoahMinFreeThreshold`.",
                    "Give them more threads: `-XX:ConcGCThreads`.",
                ],
            ),
            G::AllocationStalls => says(
                "Stalls, their total and longest time, by kind.",
                "Threads waited for memory while the concurrent collector worked: pauses by another name.",
                "Give the heap more room (`-Xmx`).",
                &[
                    "Let cycles begin earlier: a higher `-XX:ZAllocationSpikeTolerance`.",
                    "Give them more threads: `-XX:ConcGCThreads`.",
                ],
            ),
            G::ConcurrentModeFailure => says(
                "Concurrent mode failures and promotion failures.",
                "The old generation was full before CMS had finished, or is fragmented.",
                "Let CMS begin earlier: `-XX:CMSInitiatingOccupancyFraction=60 -XX:+UseCMSInitiatingOccupancyOnly`.",
                &["Use G1, which compacts: the step where the old generation is fragmented."],
            ),
            G::PrematurePromotion => says(
                "The promoted share of what is allocated (from 20 % on) and its rate (from 10 MiB/s on), where pauses take 3 % or more.",
                "Young generation or survivor spaces are so small that objects are promoted before they die.",
                "Make the young generation larger: `-Xmn`, with G1 `-XX:MaxGCPauseMillis`.",
                &[
                    "Make the survivor spaces larger: a lower `-XX:SurvivorRatio`.",
                    "Change nothing, if the program was filling a cache.",
                ],
            ),
            G::ThroughputLow => says(
                "GC throughput below 90 %, or the application running less than 90 % of the time, in a log of 10 s or more.",
                "Collections, or other safepoints, stop the application too much of the time.",
                "Give the heap more room (`-Xmx`); at other safepoints, find out what asks for them.",
                &["Allocate less.", "Find the threads that reach safepoints late."],
            ),
            G::PausesLong => says(
                "The longest pause and the 99th percentile; long is above 400 ms, and above 30 ms for ZGC and Shenandoah.",
                "The collector stops the application for work that grows with the heap; or threads waited for processors, memory or each other.",
                "Use a concurrent collector; with G1, set `-XX:MaxGCPauseMillis`.",
                &["Leave `-Xmn` out, so that G1 can size the young generation."],
            ),
            G::YoungCollectionsFrequent => says(
                "Young collections more often than once a second, with 3 % or more of the time in pauses.",
                "The young generation is small for the allocation rate.",
                "Give the heap more room (`-Xmx`); with Serial and Parallel, a larger young generation (`-Xmn`).",
                &["Allocate less."],
            ),
            G::GcKernelTime => says(
                "CPU time of collections in the kernel and in user mode; made where the kernel has more.",
                "Page faults of memory that is touched for the first time, swapping, or compaction for transparent huge pages.",
                "Touch the heap at the start: `-XX:+AlwaysPreTouch`.",
                &[
                    "Keep the heap out of swap.",
                    "Set `defrag` of transparent huge pages to another word than `always`.",
                ],
            ),
            G::GcThreadsWait => says(
                "Time in pauses, and CPU time of collector threads in them: less than 80 % of it.",
                "GC threads were descheduled during pauses: a CPU limit, other processes, swapping, or a log on a slow disk.",
                "Find out why threads wait for processors: `assay host`.",
                &[
                    "Look at `nr_throttled` in `cpu.stat` of the JVM's control group.",
                    "Write the log asynchronously: `-Xlog:async`.",
                ],
            ),
            G::TimeToSafepointLong => says(
                "99th percentile (from 10 ms on, of 100 or more), longest (from 100 ms on) and sum (from 1 % of the time on) of reaching safepoints.",
                "One thread is late, and all others wait for it: a long counted loop, a large array copy, a page fault on a mapped file.",
                "Find the thread: `-XX:+SafepointTimeout -XX:SafepointTimeoutDelay=50` names it.",
                &["Look for long counted loops, large array copies and page faults on mapped files."],
            ),
            G::SafepointsOther => says(
                "Time at safepoints that are not collections, from 1 % on, by operation; without the time to reach them where \
                 `time-to-safepoint-long` is found.",
                "Thread dumps, heap histograms, deoptimization, biased locking.",
                "Find out what asks for the named operations; before JDK 15, `-XX:-UseBiasedLocking`.",
                &[
                    "Let monitoring take fewer thread dumps and heap histograms.",
                    "Look for code that changes: each change stops the application for deoptimization.",
                    "Rule out that processors were not free: `assay host` on that machine shows CPU limits, swapping and other load.",
                ],
            ),
            G::JniCriticalSections => says(
                "Pauses that wait for or follow JNI critical sections, from 5 % on.",
                "Native code holds an array in place (`GetPrimitiveArrayCritical`), and collections must wait.",
                "Let the callers copy instead of holding the array.",
                &["Use G1 of JDK 22, which pins regions."],
            ),
            G::ReferenceModeLimit => says(
                "The largest heap and its reference mode, where it is little above a threshold.",
                "Above about 2, 30 and 32 GB (OpenJ9: 4, 25 and 57 GB) references are decoded with more work, or are larger.",
                "Set `-Xmx` at the threshold.",
                &["Make the heap so much larger that the loss is regained: `assay heap modes`."],
            ),
            G::LargePagesRefused => says(
                "The option that requested large pages, and what the JVM got according to the log.",
                "None are reserved, the user may not lock memory, or transparent ones are off.",
                "Reserve them: `vm.nr_hugepages`; where transparent ones were requested, allow these.",
                &[
                    "Allow the user to lock memory (memlock).",
                    "Use transparent ones: `-XX:+UseTransparentHugePages`.",
                ],
            ),
            G::GcThreadsFew => says(
                "Parallel GC threads, processors, and what HotSpot would take.",
                "`-XX:ParallelGCThreads` is set, or was set for another machine.",
                "Leave `-XX:ParallelGCThreads` out, unless other JVMs share the processors.",
                &["Set it to what is usual."],
            ),
            G::MessagesDropped => says(
                "Messages that the log says it dropped.",
                "The buffer of asynchronous logging was full.",
                "Make the buffer larger: `-XX:AsyncLogBufferSize`.",
                &["Let threads wait while the disk is slow: `-Xlog:async:stall` (JDK 25)."],
            ),
            G::LinesNotUnderstood => says(
                "Lines that were not recognized, of all, and the most frequent one.",
                "Another program wrote into the log, or a format that this version does not know.",
                "Report the quoted line: figures may lack what such lines say.",
                &[],
            ),
            G::LogBreaksOff => says(
                "The file that ends within a line.",
                "The JVM was killed, the disk was full, or the log is still being written.",
                "Nothing, where that is known.",
                &[],
            ),
            G::LogContradictsItself => says(
                "A figure that the log gives of itself, and what was read.",
                "The log is not whole, or was misread.",
                "Read all parts of a rotated log.",
                &["Report it, where the log is whole."],
            ),
            G::JvmRestarted => says(
                "How many JVMs wrote the log, and where each begins.",
                "The JVM was started anew; rates do not span that.",
                "Change nothing.",
                &["Write one log for each start (`%t` in the file's name)."],
            ),
            G::LogLacksFigures => says(
                "What the log lacks: times, heap sizes, safepoints, CPU times, settings.",
                "The JVM was started with fewer log tags than these figures need.",
                "Start the JVM with the `-Xlog` line that the finding gives.",
                &[],
            ),
            G::Other => None,
        }
    }
}
