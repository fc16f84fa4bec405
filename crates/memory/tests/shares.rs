//! Large shares that no special rule speaks of: planted snapshots, each with the words that are right and those that are wrong.

use crate::report::{MIB, Snapshot};
use assay_memory::findings;
use assay_model::{
    Allocator, AllocatorFacts, Finding, MemoryReport, PageKinds, RuleId, Severity, ThreadKind,
};
use assay_testkit::assert_one_step_each;

const RULE: &str = "large-share";

/// What was planted, the words that the finding must have, and words that it must not have.
struct Planted {
    name: &'static str,
    snapshot: Snapshot,
    right: &'static [&'static str],
    wrong: &'static [&'static str],
}

fn plain() -> Snapshot {
    Snapshot::plain_jvm()
}

/// Java objects that own native memory, and files in memory.
fn held() -> Vec<Planted> {
    vec![
        Planted {
            name: "rocksdb options that nobody closes",
            snapshot: plain()
                .entry("direct and mapped buffers/org.rocksdb.ColumnFamilyOptions/app.Tables", 900 * MIB)
                .count(10_000)
                .flag("MaxDirectMemorySize", "0"),
            right: &[
                "org.rocksdb.ColumnFamilyOptions",
                "900.0 MiB",
                "76.1 % of RSS",
                "held by app.Tables",
                "10000 pieces",
                "close()",
            ],
            wrong: &["NativeMemoryTracking", "MaxDirectMemorySize", "--trim"],
        },
        Planted {
            name: "direct buffers below a limit that somebody set",
            snapshot: plain()
                .entry("direct and mapped buffers/java.nio.DirectByteBuffer/app.Replies", 400 * MIB)
                .flag("MaxDirectMemorySize", "800000000"),
            right: &["direct buffers", "Let app.Replies drop", "400.0 MiB"],
            wrong: &["Set -XX:MaxDirectMemorySize", "close()"],
        },
        Planted {
            name: "dead direct buffers below a limit that somebody set",
            snapshot: plain()
                .entry("direct and mapped buffers/java.nio.DirectByteBuffer/no object holds it", 400 * MIB)
                .flag("MaxDirectMemorySize", "800000000"),
            right: &["direct buffers", "no object in the heap holds 400.0 MiB", "jcmd 4242 GC.run"],
            wrong: &["Let no object", "held by no object", "MaxDirectMemorySize"],
        },
        Planted {
            name: "direct buffers that a running program perhaps holds, below a limit that somebody set",
            snapshot: plain()
                .entry(
                    "direct and mapped buffers/java.nio.DirectByteBuffer/perhaps no object holds it",
                    400 * MIB,
                )
                .flag("MaxDirectMemorySize", "800000000"),
            right: &[
                "direct buffers",
                "no object was seen to hold 400.0 MiB",
                "--freeze",
                "jcmd 4242 GC.run",
            ],
            wrong: &["Let perhaps", "held by perhaps", "MaxDirectMemorySize"],
        },
        Planted {
            name: "small direct buffers of very many threads",
            snapshot: plain()
                .entry(
                    "direct and mapped buffers/java.nio.DirectByteBuffer/sun.nio.ch.Util$BufferCache",
                    400 * MIB,
                )
                .count(10_000)
                .size(400 * MIB)
                .flag("MaxDirectMemorySize", "0"),
            right: &["threads keep 400.0 MiB", "fewer threads"],
            wrong: &["Let sun.nio", "maxCachedBufferSize", "MaxDirectMemorySize"],
        },
        Planted {
            name: "memory of native code that buffers are handles of",
            snapshot: plain()
                .entry(
                    "direct and mapped buffers/native memory behind java.nio.DirectByteBuffer/app.Tables",
                    400 * MIB,
                )
                .flag("MaxDirectMemorySize", "0"),
            right: &["native code has 400.0 MiB", "Let app.Tables close", "asprof -e nativemem"],
            wrong: &["DirectByteBuffer objects", "MaxDirectMemorySize"],
        },
        Planted {
            name: "pages that the program wrote to of a file of its own",
            snapshot: plain().entry("direct and mapped buffers/mapped files, written/index.bin", 400 * MIB),
            right: &["wrote to", "most of it: index.bin", "grep index.bin /proc/4242/maps"],
            wrong: &["close()", "can drop"],
        },
        Planted {
            name: "the same of a jar, which is called code",
            snapshot: plain().entry("code/mapped jars, written/app.jar", 400 * MIB),
            right: &["wrote to", "grep app.jar /proc/4242/maps"],
            wrong: &["its code and its variables"],
        },
        Planted {
            name: "a segment that is mapped twice, which is there once",
            snapshot: plain()
                .entry("other/shared memory and devices/queue", 800 * MIB)
                .pages(PageKinds { shared_bytes: 800 * MIB, ..PageKinds::default() })
                .with(|report| {
                    report.entries.last_mut().expect("an entry").memory_bytes = Some(400 * MIB);
                }),
            right: &["400.0 MiB are files in memory", "of it 400.0 MiB shared memory"],
            wrong: &["800.0 MiB"],
        },
        Planted {
            name: "segments of arenas that stay open",
            snapshot: plain().entry("direct and mapped buffers/java.lang.foreign.MemorySegment", 400 * MIB),
            right: &["memory segments", "Arena.close()"],
            wrong: &["MaxDirectMemorySize"],
        },
        Planted {
            name: "memory of Unsafe, which no object leads to",
            snapshot: plain().entry("direct and mapped buffers/native memory of Java objects", 400 * MIB),
            right: &["Unsafe", "asprof -e nativemem"],
            wrong: &["close()", "native memory of Java objects objects"],
        },
        Planted {
            name: "files in /dev/shm",
            snapshot: plain()
                .entry("other/shared memory and devices/queue-1", 500 * MIB)
                .entry("other/shared memory and devices/queue-2", 300 * MIB),
            right: &[
                "800.0 MiB",
                "files in memory (/dev/shm or another tmpfs)",
                "most of it: queue-1, 500.0 MiB",
                "ls -lS /dev/shm",
            ],
            wrong: &["drop at any time", "asprof"],
        },
        Planted {
            name: "a segment of System V",
            snapshot: plain().entry("other/shared memory and devices/SYSV00000000", 400 * MIB),
            right: &["System V", "ipcs -m"],
            wrong: &["/dev/shm"],
        },
    ]
}

/// Native libraries, with and without a JVM.
fn libraries() -> Vec<Planted> {
    let library =
        |snapshot: Snapshot| snapshot.entry("native libraries/libtensor.so", 800 * MIB).count(70_000);
    let tracked = |level: &str| plain().jvm(|jvm| jvm.native_memory_tracking = Some(level.to_owned()));
    let right = &["libtensor.so has 800.0 MiB allocated", "asprof -e nativemem -d 60 -f native.jfr 4242"];
    vec![
        Planted {
            name: "a library of C++ beside a JVM without tracking",
            snapshot: library(tracked("off")),
            right,
            wrong: &["Start with -XX:NativeMemoryTracking", "VM.native_memory"],
        },
        Planted {
            name: "the same beside a JVM that tracks, which sees nothing of it",
            snapshot: library(tracked("detail")),
            right: &["libtensor.so", "does not see it", "asprof -e nativemem"],
            wrong: &["VM.native_memory"],
        },
        Planted {
            name: "the same without a JVM",
            snapshot: library(Snapshot::new().entry("code/server", 20 * MIB)),
            right: &["libtensor.so", "heaptrack --pid 4242"],
            wrong: &["asprof", "jcmd", "tracking of the JVM"],
        },
        Planted {
            name: "what the JVM itself keeps, which it can name",
            snapshot: plain().entry("JVM internal/services", 400 * MIB),
            right: &["most of it: services", "-XX:NativeMemoryTracking=summary"],
            wrong: &["asprof", "heaptrack"],
        },
        Planted {
            name: "a library of the JDK, of which tracking sees nothing",
            snapshot: plain().entry("JVM internal/libraries of the JDK/libfontmanager.so", 400 * MIB),
            right: &["libraries of the JDK", "asprof -e nativemem"],
            wrong: &["NativeMemoryTracking", "VM.native_memory"],
        },
    ]
}

/// Areas of the JVM and of the allocator.
fn areas() -> Vec<Planted> {
    let on_8 = |snapshot: Snapshot| snapshot.jvm(|jvm| jvm.feature = Some(8));
    let loaders = || {
        let name = "groovy.lang.GroovyClassLoader$InnerLoader";
        plain()
            .entry(&format!("class metadata/non-class/used/{name}"), 200 * MIB)
            .count(1_200)
            .entry(&format!("class metadata/class space/used/{name}"), 40 * MIB)
            .count(1_200)
    };
    let arenas = || plain().entry("JIT compiler arenas/arenas", 300 * MIB).count(9_000);
    let freed = |name: Allocator| {
        plain().entry("retained by malloc/arena 1/bins", 300 * MIB).with(|report| {
            report.allocator = Some(AllocatorFacts { name, ..AllocatorFacts::default() });
        })
    };
    vec![
        Planted {
            name: "loaders of one class",
            snapshot: loaders(),
            right: &[
                "1200 class loaders of groovy.lang.GroovyClassLoader$InnerLoader",
                "240.0 MiB",
                "GC.heap_dump",
            ],
            wrong: &["2400", "MaxMetaspaceSize"],
        },
        Planted {
            name: "many classes of one loader, on JDK 8",
            snapshot: on_8(plain().entry("class metadata/non-class/used/app", 300 * MIB).count(1)),
            right: &["loader app, 300.0 MiB", "jmap -clstats 4242"],
            wrong: &["VM.classloader_stats", "1 class loaders"],
        },
        Planted {
            name: "a compilation that takes much",
            snapshot: arenas(),
            right: &["JIT compilers hold 300.0 MiB", "most of it: arenas", "jcmd 4242 Compiler.queue"],
            wrong: &["native memory tracking", "MemLimit"],
        },
        Planted {
            name: "the same while one method is compiled",
            snapshot: arenas().jvm(|jvm| jvm.compiling = vec!["app.Rules::evaluate".to_owned()]),
            right: &["they compile app.Rules::evaluate", "-XX:CompileCommand=exclude,app.Rules::evaluate"],
            wrong: &["Compiler.queue"],
        },
        Planted {
            name: "the same while several are, on JDK 25, which can bound each",
            snapshot: arenas().jvm(|jvm| {
                jvm.feature = Some(25);
                jvm.compiling = vec!["app.Rules::evaluate".to_owned(), "app.Rules::read".to_owned()];
            }),
            right: &["they compile app.Rules::evaluate, app.Rules::read", "Compiler.queue", "MemLimit"],
            wrong: &["exclude"],
        },
        Planted {
            name: "the same on JDK 8, which has no such command",
            snapshot: on_8(arenas()),
            right: &["-XX:+PrintCompilation"],
            wrong: &["jcmd"],
        },
        Planted {
            name: "chunks that the compilers keep for a moment",
            snapshot: plain().entry("JIT compiler arenas/idle chunk pool", 300 * MIB),
            right: &["Look again in 10 s"],
            wrong: &["Compiler.queue"],
        },
        Planted {
            name: "freed memory between blocks in use, where a trim gives nothing back",
            snapshot: freed(Allocator::Glibc),
            right: &["glibc keeps 300.0 MiB that was freed", "LD_PRELOAD=libjemalloc.so.2"],
            wrong: &["--trim", "MALLOC_CONF"],
        },
        Planted {
            name: "the same in jemalloc",
            snapshot: freed(Allocator::Jemalloc),
            right: &["jemalloc keeps 300.0 MiB", "MALLOC_CONF=dirty_decay_ms"],
            wrong: &["LD_PRELOAD"],
        },
        Planted {
            name: "deep stacks of few threads",
            snapshot: plain().entry("stacks/Java/recursion/in use", 300 * MIB),
            right: &["thread stacks have 303.0 MiB", "most of it: recursion", "Thread.print"],
            wrong: &["virtual threads"],
        },
    ]
}

fn planted() -> impl Iterator<Item = Planted> {
    [held(), libraries(), areas()].into_iter().flatten()
}

fn text(found: &Finding<RuleId>) -> String {
    let ways: Vec<&str> = found.ways().collect();
    format!("{}; {}; {}", found.claim, found.evidence_line(), ways.join(" | "))
}

#[test]
fn the_largest_share_stands_first_with_owner_holder_and_step() {
    for Planted { name, snapshot, right, wrong } in planted() {
        let found = findings(&snapshot.0);
        let first = found.first().unwrap_or_else(|| panic!("{name}: nothing is said"));
        assert_eq!(first.rule, RULE, "{name}: {found:?}");
        assert_eq!(first.severity, Severity::Warning, "{name}");
        let text = text(first);
        for words in right {
            assert!(text.contains(words), "{name}: {words} in {text}");
        }
        for words in wrong {
            assert!(!text.contains(words), "{name}: {words} in {text}");
        }
        assert_one_step_each(first.ways());
        assert_eq!(first.gain_bytes, None, "{name}: nobody knows what closing brings");
    }
}

#[test]
fn findings_stand_in_the_order_of_the_bytes_that_they_speak_of_and_are_as_grave_as_their_share() {
    let snapshot = plain()
        .entry("direct and mapped buffers/java.nio.DirectByteBuffer/no object holds it", 320 * MIB)
        .flag("MaxDirectMemorySize", "0")
        .entry("code/mapped jars/app.jar", 2_000 * MIB)
        .entry("class metadata/non-class/free chunks", 60 * MIB)
        .with(|report| {
            report.allocator =
                Some(AllocatorFacts { trim_gain_bytes: Some(90 * MIB), ..AllocatorFacts::default() });
        });
    let found = findings(&snapshot.0);
    let named: Vec<(&str, Option<u64>, Severity)> = found
        .iter()
        .map(|of| (of.rule.as_str(), of.resident_bytes.map(|bytes| bytes / MIB), of.severity))
        .collect();
    assert_eq!(
        named,
        [
            ("mapped-files", Some(2_000), Severity::Warning),
            ("direct-buffers-without-limit", Some(320), Severity::Warning),
            ("retained-by-malloc", Some(90), Severity::Note),
            ("metaspace-waste", Some(60), Severity::Note),
        ]
    );
}

#[test]
fn what_a_special_rule_speaks_of_has_no_general_finding() {
    let loaders = "class metadata/non-class/used/jdk.internal.reflect.DelegatingClassLoader";
    let spoken_of = [
        plain().entry("code/mapped jars/app.jar", 900 * MIB),
        plain().entry(loaders, 600 * MIB).count(900),
        plain().entry("GC structures/remembered sets", 600 * MIB),
        plain().entry("malloc, no known owner/in use", 600 * MIB),
        plain().entry("stacks/Java/worker-#/in use", 600 * MIB).with(|r| r.outside_rss.threads = Some(5_000)),
    ];
    for snapshot in spoken_of {
        let found = findings(&snapshot.0);
        assert!(found.iter().all(|finding| finding.rule != RULE), "{found:?}");
        assert!(found.iter().any(|finding| finding.severity == Severity::Warning), "{found:?}");
    }
}

#[test]
fn a_trim_that_gives_little_back_does_not_speak_for_all_that_was_freed() {
    let snapshot = plain().entry("retained by malloc/arena 1/bins", 900 * MIB).with(|report| {
        report.allocator = Some(AllocatorFacts {
            name: Allocator::Glibc,
            trim_gain_bytes: Some(40 * MIB),
            ..AllocatorFacts::default()
        });
    });
    let found = findings(&snapshot.0);
    let rules: Vec<&str> = found.iter().map(|finding| finding.rule.as_str()).collect();
    assert_eq!(rules, [RULE, "retained-by-malloc"]);
}

#[test]
fn java_objects_the_jvm_s_own_code_and_small_processes_have_no_general_finding() {
    let small = |report: &MemoryReport| report.rss_bytes < 64 * MIB;
    let usual = [
        plain().entry("Java heap/old/used", 8_000 * MIB),
        Snapshot::new().entry("Java heap/old/used", 12 * MIB).entry("code/libjvm.so", 18 * MIB),
        Snapshot::new()
            .entry("class metadata/CDS archive/shared", 13 * MIB)
            .entry("class metadata/non-class/used/app", 8 * MIB)
            .entry("code/libjvm.so", 18 * MIB),
    ];
    assert!(small(&usual[1].0) && small(&usual[2].0));
    for snapshot in usual {
        let found = findings(&snapshot.0);
        assert!(found.is_empty(), "{found:?}");
    }
}

#[test]
fn pages_that_a_program_has_written_of_a_mapped_file_are_no_pages_that_the_kernel_can_drop() {
    let mapped = |droppable_bytes, private_bytes| {
        let pages = PageKinds { droppable_bytes, private_bytes, ..PageKinds::default() };
        let path = "direct and mapped buffers/mapped files/index";
        findings(&plain().entry(path, droppable_bytes + private_bytes).pages(pages).0)
    };
    let as_in_the_file = mapped(400 * MIB, 20 * MIB);
    assert_eq!(as_in_the_file.len(), 1, "{as_in_the_file:?}");
    assert_eq!(
        (as_in_the_file[0].rule.as_str(), as_in_the_file[0].resident_bytes),
        ("mapped-files", Some(400 * MIB))
    );
    let written = mapped(20 * MIB, 400 * MIB);
    assert!(written.iter().all(|of| !of.claim.contains("drop")), "{written:?}");
    assert_eq!(written[0].rule, RULE, "{written:?}");
}

#[test]
fn the_kind_of_pages_is_evidence() {
    let evidence = |pages: PageKinds| {
        let entry = plain().entry("other/shared memory and devices/queue", 400 * MIB).pages(pages);
        findings(&entry.0)[0].evidence_line()
    };
    let shared = PageKinds { shared_bytes: 400 * MIB, huge_bytes: Some(300 * MIB), ..PageKinds::default() };
    let of_shared = evidence(shared);
    assert!(
        of_shared.contains("of it 400.0 MiB shared memory") && of_shared.contains("300.0 MiB in huge pages"),
        "{of_shared}"
    );
    let private = PageKinds { private_bytes: 400 * MIB, huge_bytes: Some(0), ..PageKinds::default() };
    assert!(!evidence(private).contains("of it 400"), "what is usual is not said");
}

#[test]
fn two_large_shares_have_a_finding_each_the_larger_first() {
    let snapshot = plain()
        .entry("native libraries/libtensor.so", 300 * MIB)
        .entry("direct and mapped buffers/app.Cache", 500 * MIB)
        .threads(3, ThreadKind::Java, Some(MIB), MIB);
    let claims: Vec<String> = findings(&snapshot.0).into_iter().map(|finding| finding.claim).collect();
    assert_eq!(claims.len(), 2, "{claims:?}");
    assert!(claims[0].contains("app.Cache") && claims[1].contains("libtensor.so"), "{claims:?}");
}

#[test]
fn unknown_memory_is_looked_for_where_it_comes_from() {
    let step = |path: &str, tracking: &str| {
        let snapshot =
            plain().entry(path, 90 * MIB).jvm(|jvm| jvm.native_memory_tracking = Some(tracking.to_owned()));
        let found =
            findings(&snapshot.0).into_iter().find(|of| of.rule == "unknown-large").expect("a finding");
        assert_one_step_each(found.ways());
        (found.command().to_owned(), found.ways().skip(1).any(|way| way.contains("NativeMemoryTracking")))
    };
    let (blocks, may_track) = step("malloc, no known owner/in use", "off");
    assert!(blocks.contains("asprof -e nativemem") && may_track, "{blocks}");
    let (regions, _) = step("no known region/anonymous memory", "off");
    assert!(regions.contains("sys_enter_mmap"), "{regions}");
    let (_, may_track) = step("malloc, no known owner/in use", "summary");
    assert!(!may_track, "it is tracked already");
}
