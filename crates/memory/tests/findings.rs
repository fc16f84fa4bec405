//! Every rule has a snapshot that has what it speaks of, and one that just has not.

use crate::report::{MIB, Snapshot};
use assay_memory::{findings, rules};
use assay_model::{Allocator, AllocatorFacts, ArenaFacts, CgroupMemory, Finding, RuleId, ThreadKind};
use assay_testkit::assert_one_step_each;

/// A rule, a snapshot that it speaks of, the gain that it must predict, and a snapshot in which the same thing is harmless.
struct Case {
    rule: &'static str,
    has: Snapshot,
    gain_bytes: Option<u64>,
    has_not: Snapshot,
}

fn glibc(snapshot: Snapshot, trim_gain_bytes: u64, freed_by_arena: &[u64]) -> Snapshot {
    snapshot.with(|report| {
        let arenas = freed_by_arena.iter().zip(0..).map(|(freed, index)| ArenaFacts {
            index,
            freed_resident_bytes: Some(*freed),
            ..ArenaFacts::default()
        });
        report.allocator = Some(AllocatorFacts {
            name: Allocator::Glibc,
            trim_gain_bytes: Some(trim_gain_bytes),
            arenas: arenas.collect(),
            ..AllocatorFacts::default()
        });
    })
}

pub fn plain() -> Snapshot {
    Snapshot::plain_jvm()
}

fn heap_cases() -> Vec<Case> {
    let freed = |committed: u64| {
        plain().entry("Java heap/free but resident", 200 * MIB).jvm(|jvm| {
            (jvm.heap_used_bytes, jvm.heap_committed_bytes) = (Some(70 * MIB), Some(committed));
        })
    };
    let fixed = |snapshot: Snapshot| snapshot.flag("MinHeapSize", &(512 * MIB).to_string());
    vec![
        Case {
            rule: "heap-free-but-resident",
            has: freed(290 * MIB),
            // 70 MiB used may keep 30 MiB free.
            gain_bytes: Some(190 * MIB),
            // The collector keeps that much anyway.
            has_not: freed(103 * MIB),
        },
        Case {
            rule: "heap-size-fixed",
            has: fixed(plain().entry("Java heap/free but resident", 200 * MIB)),
            gain_bytes: Some(200 * MIB),
            has_not: fixed(plain().entry("Java heap/free but resident", 10 * MIB)),
        },
    ]
}

fn malloc_cases() -> Vec<Case> {
    vec![
        Case {
            rule: "retained-by-malloc",
            has: glibc(plain(), 30 * MIB, &[30 * MIB]),
            gain_bytes: Some(30 * MIB),
            has_not: glibc(plain(), 3 * MIB, &[30 * MIB]),
        },
        Case {
            rule: "malloc-arenas",
            has: glibc(plain(), 0, &[9 * MIB, 20 * MIB, 5 * MIB, 4 * MIB]),
            // What the remaining arenas would keep is not known.
            gain_bytes: None,
            has_not: glibc(plain(), 0, &[9 * MIB, 20 * MIB]),
        },
        Case {
            rule: "arena-tops",
            has: glibc(plain().entry("retained by malloc/arena 1/top", 9 * MIB), 0, &[MIB, MIB]),
            gain_bytes: Some(9 * MIB - 2 * (128 << 10)),
            has_not: glibc(plain().entry("retained by malloc/arena 1/bins", 9 * MIB), 0, &[MIB, MIB]),
        },
    ]
}

fn thread_cases() -> Vec<Case> {
    let stale = |bytes: u64| {
        plain().threads(10, ThreadKind::Java, Some(MIB), 900 << 10).with(|report| {
            report.threads.iter_mut().for_each(|thread| thread.stack_stale_bytes = Some(bytes));
        })
    };
    let threads = |number: u64| {
        plain()
            .entry("stacks/Java/worker-#/touched", 100 * MIB)
            .with(|r| r.outside_rss.threads = Some(number))
    };
    let huge = |snapshot: Snapshot, bytes: u64| {
        snapshot.with(|report| report.outside_rss.huge_pages_bytes = Some(bytes))
    };
    let inflated = plain().threads(20, ThreadKind::Java, Some(2 * MIB), 2 * MIB).threads(
        20,
        ThreadKind::Java,
        Some(MIB),
        128 << 10,
    );
    vec![
        Case {
            rule: "stale-stacks",
            has: stale(800 << 10),
            gain_bytes: Some(10 * (800 << 10)),
            has_not: stale(100 << 10),
        },
        Case { rule: "many-threads", has: threads(2_000), gain_bytes: None, has_not: threads(400) },
        Case {
            rule: "huge-pages-in-stacks",
            has: huge(inflated.clone(), 40 * MIB),
            gain_bytes: Some(20 * (2 * MIB - (128 << 10))),
            has_not: huge(inflated, 0),
        },
        Case {
            rule: "huge-pages-unrequested",
            has: huge(
                plain()
                    .flag("UseTransparentHugePages", "false")
                    .entry("retained by malloc/arena 1/bins", 40 * MIB),
                100 * MIB,
            ),
            gain_bytes: None,
            has_not: huge(
                plain()
                    .flag("UseTransparentHugePages", "true")
                    .entry("retained by malloc/arena 1/bins", 40 * MIB),
                100 * MIB,
            ),
        },
    ]
}

fn owner_cases() -> Vec<Case> {
    let direct = |limit: &str| {
        plain()
            .entry("direct and mapped buffers/java.nio.DirectByteBuffer/no object holds it", 200 * MIB)
            .flag("MaxDirectMemorySize", limit)
    };
    let cached = |number: u64| {
        plain()
            .entry(
                "direct and mapped buffers/java.nio.DirectByteBuffer/sun.nio.ch.Util$BufferCache",
                200 * MIB,
            )
            .count(number)
            .size(200 * MIB)
    };
    let inflaters = |holder: &str| {
        plain()
            .entry(&format!("direct and mapped buffers/java.util.zip.Inflater/{holder}"), 40 * MIB)
            .count(900)
    };
    let loaders = |name: &str, number: u64| {
        plain().entry(&format!("class metadata/non-class/used/{name}"), 60 * MIB).count(number)
    };
    vec![
        Case {
            rule: "direct-buffers-without-limit",
            has: direct("0"),
            gain_bytes: None,
            has_not: direct("300000000"),
        },
        Case {
            rule: "nio-thread-buffers",
            has: cached(40),
            gain_bytes: Some(200 * MIB),
            // Small ones are what the cache is for.
            has_not: cached(4_000),
        },
        Case {
            rule: "inflaters-of-open-jars",
            has: inflaters("java.util.zip.ZipFile"),
            gain_bytes: None,
            has_not: plain()
                .entry("direct and mapped buffers/java.util.zip.Inflater/java.util.zip.ZipFile", 9 * MIB),
        },
        Case {
            rule: "zip-streams-not-ended",
            has: plain().entry("direct and mapped buffers/java.util.zip.Deflater", 40 * MIB).count(600),
            gain_bytes: Some(40 * MIB),
            has_not: plain().entry("direct and mapped buffers/java.util.zip.Deflater", 10 * MIB).count(600),
        },
        Case {
            rule: "class-loaders-of-one-name",
            has: loaders("jdk.internal.reflect.DelegatingClassLoader", 60),
            gain_bytes: Some(60 * MIB),
            // An OSGi server has one for each bundle.
            has_not: loaders("org.eclipse.osgi.internal.loader.EquinoxClassLoader", 224),
        },
        Case {
            rule: "metaspace-waste",
            has: plain()
                .entry("class metadata/non-class/free chunks", 10 * MIB)
                .entry("class metadata/non-class/unused tails", 2 * MIB),
            gain_bytes: Some(12 * MIB),
            has_not: plain().entry("class metadata/non-class/free chunks", 5 * MIB),
        },
        Case {
            rule: "cds-archive-private",
            has: plain().entry("class metadata/CDS archive/private", 40 * MIB),
            gain_bytes: None,
            has_not: plain()
                .entry("class metadata/CDS archive/private", 40 * MIB)
                .entry("class metadata/CDS archive/shared", 41 * MIB),
        },
        Case {
            rule: "native-memory-tracking",
            has: tracked("summary"),
            gain_bytes: Some(9 * MIB),
            has_not: tracked("off"),
        },
    ]
}

fn tracked(level: &str) -> Snapshot {
    plain()
        .entry("allocator overhead/NMT headers", 6 * MIB)
        .entry("JVM internal/native memory tracking", 3 * MIB)
        .jvm(|jvm| jvm.native_memory_tracking = Some(level.to_owned()))
}

fn code_cases() -> Vec<Case> {
    let cache = |used: u64| plain().jvm(|jvm| jvm.code_cache_used_bytes = Some(used));
    let tables = |bytes: u64| plain().entry("GC structures/remembered sets", bytes);
    let jars = |bytes: u64| plain().entry("code/mapped jars/app.jar", bytes);
    vec![
        Case {
            rule: "code-cache-fragmented",
            has: plain().entry("JIT-compiled code/non-profiled nmethods/free", 10 * MIB),
            gain_bytes: Some(10 * MIB),
            has_not: plain().entry("JIT-compiled code/non-profiled nmethods/free", 5 * MIB),
        },
        Case {
            rule: "code-cache-nearly-full",
            has: cache(230 * MIB),
            gain_bytes: None,
            has_not: cache(200 * MIB),
        },
        Case {
            rule: "gc-structures-large",
            has: tables(40 * MIB),
            gain_bytes: Some(42 * MIB - MIB),
            has_not: tables(10 * MIB),
        },
        Case {
            rule: "large-share",
            has: plain().entry("native libraries/libtensor.so", 120 * MIB),
            gain_bytes: None,
            has_not: plain().entry("native libraries/libtensor.so", 60 * MIB),
        },
        Case { rule: "mapped-files", has: jars(40 * MIB), gain_bytes: None, has_not: jars(8 * MIB) },
    ]
}

fn host_cases() -> Vec<Case> {
    let contained = |mib: u64| plain().in_container(mib * MIB);
    let swap = |bytes: u64| plain().with(|report| report.outside_rss.swap_bytes = Some(bytes));
    let charged = |bytes: u64, inactive: u64| {
        plain().with(|report| {
            let limit_bytes = Some(1000 * MIB);
            let (current_bytes, inactive_file_bytes) = (Some(bytes), Some(inactive));
            report.cgroup =
                Some(CgroupMemory { current_bytes, limit_bytes, inactive_file_bytes, ..Default::default() });
        })
    };
    let unknown = |mib: u64| plain().entry("malloc, no known owner", mib * MIB);
    let killed = |kills: u64| {
        charged(0, 0).with(|report| report.cgroup.as_mut().expect("a group").oom_kills = Some(kills))
    };
    vec![
        Case { rule: "killed-at-limit", has: killed(2), gain_bytes: None, has_not: killed(0) },
        Case { rule: "swapped-out", has: swap(100 * MIB), gain_bytes: None, has_not: swap(10 * MIB) },
        Case {
            rule: "near-limit",
            has: charged(950 * MIB, 10 * MIB),
            gain_bytes: None,
            has_not: charged(950 * MIB, 500 * MIB),
        },
        Case { rule: "unknown-large", has: unknown(20), gain_bytes: None, has_not: unknown(2) },
        Case { rule: "container-unseen", has: contained(600), gain_bytes: None, has_not: contained(500) },
    ]
}

fn cases() -> Vec<Case> {
    let all = [heap_cases(), malloc_cases(), thread_cases(), owner_cases(), code_cases(), host_cases()];
    all.into_iter().flatten().collect()
}

pub fn of_rule(snapshot: &Snapshot, rule: &str) -> Option<Finding<RuleId>> {
    findings(&snapshot.0).into_iter().find(|finding| finding.rule == rule)
}

#[test]
fn every_rule_has_a_case() {
    // Of `advise`; tests/advise.rs has looks for them.
    let of_limits = ["heap-larger-than-committed", "code-cache-reserve", "direct-limit-above-use"];
    // Of records; tests/verdict.rs has some.
    let of_growth = "memory-grows";
    let cases = cases();
    let has_case = |rule: &str| {
        of_limits.contains(&rule) || rule == of_growth || cases.iter().any(|case| case.rule == rule)
    };
    let without: Vec<_> = rules().into_iter().filter(|rule| !has_case(&rule.id)).collect();
    assert!(without.is_empty(), "{without:?}");
}

#[test]
fn every_rule_speaks_where_it_should_and_is_silent_where_it_should_not() {
    for case in cases() {
        let found = of_rule(&case.has, case.rule).unwrap_or_else(|| panic!("{} is silent", case.rule));
        assert_eq!(found.gain_bytes, case.gain_bytes, "{found:?}");
        let texts = [found.claim.clone(), found.evidence_line(), found.command().to_owned()];
        assert_one_step_each(found.ways());
        assert!(texts.iter().all(|text| !text.is_empty() && !text.contains("  ")), "{found:?}");
        assert!(found.evidence_line().chars().any(|c| c.is_ascii_digit()), "evidence has figures: {found:?}");
        let wrong = of_rule(&case.has_not, case.rule);
        assert!(wrong.is_none(), "{wrong:?}");
    }
}

#[test]
fn a_look_that_one_rule_speaks_of_moves_no_other() {
    // What is large is also in the allocator's arenas, or in huge pages: these two may speak along.
    let along = |rule: &RuleId| *rule == "retained-by-malloc" || *rule == "unknown-large";
    for case in cases() {
        let others: Vec<_> =
            findings(&case.has.0).into_iter().filter(|f| f.rule != case.rule && !along(&f.rule)).collect();
        assert!(others.is_empty(), "beside {}: {others:?}", case.rule);
    }
}

#[test]
fn nothing_is_said_of_a_process_without_anything_remarkable() {
    assert_eq!(findings(&plain().0), []);
    assert_eq!(findings(&Snapshot::new().0), []);
    let no_jvm = Snapshot::new().entry("code/sleep", MIB).entry("other/[vdso]", 8 << 10);
    assert_eq!(findings(&no_jvm.0), []);
}

#[test]
fn the_biggest_gain_comes_first_and_claims_without_one_come_last() {
    let snapshot = glibc(plain(), 30 * MIB, &[])
        .entry("JIT-compiled code/non-profiled nmethods/free", 60 * MIB)
        .with(|report| report.outside_rss.swap_bytes = Some(100 * MIB));
    let gains: Vec<_> = findings(&snapshot.0).iter().map(|finding| finding.gain_bytes).collect();
    assert_eq!(gains, [Some(60 * MIB), Some(30 * MIB), None]);
}

#[test]
fn each_holder_of_streams_is_named_once_and_open_jars_have_none_to_close() {
    let zip = "direct and mapped buffers/java.util.zip";
    let snapshot = plain()
        .entry(&format!("{zip}.Inflater"), MIB)
        .entry(&format!("{zip}.Inflater/shop.Reader"), 20 * MIB)
        .entry(&format!("{zip}.Inflater/shop.Store"), 6 * MIB)
        .entry(&format!("{zip}.Deflater/shop.Reader"), 5 * MIB)
        .entry(&format!("{zip}.Inflater/java.util.zip.ZipFile"), 300 * MIB);
    let found = of_rule(&snapshot, "zip-streams-not-ended").expect("a finding");
    assert_eq!(
        found.claim,
        "java.util.zip.Deflater and java.util.zip.Inflater hold 32.0 MiB of native memory"
    );
    assert!(found.evidence_line().contains("held by shop.Reader 25.0 MiB, shop.Store 6.0 MiB;"), "{found:?}");
    let jars = of_rule(&snapshot, "inflaters-of-open-jars").expect("a finding");
    assert!(jars.ways().all(|way| !way.contains("stream")), "{jars:?}");
}

#[test]
fn a_limit_for_direct_memory_is_advised_for_what_it_bounds_and_where_buffers_are_dead() {
    let direct = "direct and mapped buffers/java.nio.DirectByteBuffer";
    let behind = "direct and mapped buffers/native memory behind java.nio.DirectByteBuffer/org.duckdb.DuckDBConnection";
    for live in [direct.to_owned(), format!("{direct}/io.netty.buffer.PoolArena"), behind.to_owned()] {
        let snapshot = plain().entry(&live, 400 * MIB).flag("MaxDirectMemorySize", "0");
        let found = findings(&snapshot.0);
        let steps: Vec<&str> = found.iter().flat_map(|found| found.ways()).collect();
        assert!(steps.iter().all(|step| !step.contains("MaxDirectMemorySize")), "{live}: {steps:?}");
    }
    // Live ones of threads and dead ones: each has its own advice, the limit holds both.
    let both = plain()
        .entry(&format!("{direct}/sun.nio.ch.Util$BufferCache"), 320 * MIB)
        .count(40)
        .size(320 * MIB)
        .entry(&format!("{direct}/no object holds it"), 80 * MIB)
        .flag("MaxDirectMemorySize", "0");
    let cached = of_rule(&both, "nio-thread-buffers").expect("a finding");
    assert_eq!(cached.command(), "Set -Djdk.nio.maxCachedBufferSize=262144");
    let cached = of_rule(&glibc(both.clone(), 0, &[]), "nio-thread-buffers").and_then(|found| found.change);
    assert_eq!(cached.expect("a step").environment["GLIBC_TUNABLES"], "glibc.malloc.trim_threshold=131072");
    let dead = of_rule(&both, "direct-buffers-without-limit").expect("a finding");
    assert!(dead.command().contains("-XX:MaxDirectMemorySize=500m"), "{dead:?}");
    assert!(dead.ways().all(|way| !way.contains("--freeze")), "{dead:?}");
    // Of a process that ran on nobody knows it.
    let unsure = plain()
        .entry(&format!("{direct}/perhaps no object holds it"), 400 * MIB)
        .flag("MaxDirectMemorySize", "0");
    let unsure = of_rule(&unsure, "direct-buffers-without-limit").expect("a finding");
    assert!(unsure.claim.contains("perhaps no object holds"), "{unsure:?}");
    assert!(unsure.ways().any(|way| way.contains("--freeze")), "{unsure:?}");
}

#[test]
fn the_setting_fits_release_and_collector() {
    let trim = |version: &str| {
        let digits = version.find(|c: char| !c.is_ascii_digit()).unwrap_or(version.len());
        let feature = version[..digits].parse().ok();
        let snapshot = glibc(plain(), 30 * MIB, &[]).jvm(|jvm| {
            (jvm.version, jvm.feature) = (Some(version.to_owned()), feature);
        });
        let found = of_rule(&snapshot, "retained-by-malloc").expect("a finding");
        assert_one_step_each(found.ways());
        found.ways().collect::<Vec<_>>().join(" | ")
    };
    assert!(trim("17.0.15+6-Debian-1deb12u1").contains("Trim it for good: -XX:TrimNativeHeapInterval=30000"));
    assert!(trim("17.0.9+9").contains("-XX:+UnlockExperimentalVMOptions -XX:TrimNativeHeapInterval"));
    assert!(trim("21.0.2+13").contains("-XX:+UnlockExperimentalVMOptions"));
    assert!(trim("25.0.3+7").contains("Trim it for good: -XX:TrimNativeHeapInterval"));
    for without in ["17.0.8+7", "11.0.22+7", "8u504 (HotSpot 25.504-b01)", "19.0.2"] {
        assert!(!trim(without).contains("TrimNativeHeapInterval"), "{without}");
    }
    for can in ["17.0.9+9", "19.0.2", "25.0.3+7"] {
        assert!(trim(can).starts_with("Trim it now: assay memory 4242 --trim"), "{can}");
    }
    for cannot in ["17.0.8+7", "11.0.22+7", "8u504 (HotSpot 25.504-b01)"] {
        let ways = trim(cannot);
        assert!(
            ways.contains("--trim --in-thread") && ways.matches("--trim").count() == 1,
            "{cannot}: {ways}"
        );
    }
    let updated = glibc(plain(), 30 * MIB, &[]).jvm(|jvm| {
        (jvm.version, jvm.feature) = (Some("11.0.33+3".to_owned()), Some(11));
        jvm.has_trim_command = Some(true);
    });
    let found = of_rule(&updated, "retained-by-malloc").expect("a finding");
    assert_eq!(found.command(), "Trim it now: assay memory 4242 --trim", "the JVM's own word counts");
    let deaf = glibc(plain().flag("DisableAttachMechanism", "true"), 30 * MIB, &[]);
    let found = of_rule(&deaf, "retained-by-malloc").expect("a finding");
    let asks = |way: &str| way.contains("--trim") && !way.contains("--in-thread");
    assert!(!found.ways().any(asks), "it does not listen: {found:?}");
    let heap = |collector: &str| {
        let snapshot = plain().entry("Java heap/free but resident", 200 * MIB).jvm(|jvm| {
            (jvm.heap_used_bytes, jvm.heap_committed_bytes) = (Some(70 * MIB), Some(290 * MIB));
            jvm.collector = Some(collector.to_owned());
        });
        let found = of_rule(&snapshot, "heap-free-but-resident")?;
        assert_one_step_each(found.ways());
        Some(found.command().to_owned())
    };
    let wanted = [
        ("G1", "G1PeriodicGCInterval"),
        ("Z", "ZUncommitDelay"),
        ("Shenandoah", "ShenandoahUncommitDelay"),
        ("Serial", "MaxHeapFreeRatio"),
        ("Parallel", "MaxHeapFreeRatio"),
    ];
    for (collector, option) in wanted {
        assert!(heap(collector).is_some_and(|setting| setting.contains(option)), "{collector}");
    }
    assert_eq!(heap("Epsilon"), None, "it never gives back");
}

/// The function of the JVM's command reaches glibc's malloc alone.
#[test]
fn memory_that_another_allocator_keeps_is_given_back_by_its_own_call() {
    let snapshot = glibc(plain(), 30 * MIB, &[]).with(|report| {
        report.allocator.as_mut().expect("an allocator").name = Allocator::Jemalloc;
    });
    let found = of_rule(&snapshot, "retained-by-malloc").expect("a finding");
    let asks = |way: &str| way.contains("--trim --in-thread");
    assert!(found.gain_bytes == Some(30 * MIB) && asks(found.command()), "{found:?}");
    assert!(found.ways().all(|way| asks(way) || !way.contains("rim")), "{found:?}");
    assert!(found.evidence_line().contains("that jemalloc keeps"), "{found:?}");
}

#[test]
fn what_the_heap_would_give_back_is_the_least_since_dead_objects_count_as_used() {
    let cases = heap_cases();
    let found = of_rule(&cases[0].has, "heap-free-but-resident").expect("a finding");
    assert!(found.is_at_least && found.evidence_line().contains("at least"), "{found:?}");
    assert!(of_rule(&cases[1].has, "heap-size-fixed").is_some_and(|found| !found.is_at_least));
}

#[test]
fn entries_of_unknown_names_and_extreme_figures_do_no_harm() {
    let snapshot = plain()
        .entry("an area of tomorrow/some entry", MIB)
        .entry("Java heap", u64::MAX >> 8)
        .entry("retained by malloc/top", u64::MAX >> 8)
        .count(0)
        .threads(3, ThreadKind::Other, None, u64::MAX / 2)
        .with(|report| report.threads.iter_mut().for_each(|t| t.stack_stale_bytes = Some(u64::MAX / 2)));
    let snapshot = glibc(snapshot, u64::MAX, &[u64::MAX / 8; 4]);
    assert!(!findings(&snapshot.0).is_empty());
}
