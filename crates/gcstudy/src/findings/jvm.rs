//! Rules on the JVM's settings: references, large pages, threads.

use super::rule::{Rule, With, collector, size};
use assay_model::{Finding, GcJvm, GcReport, GcRule, ReferenceMode, Severity};

pub(super) const RULES: &[Rule] = &[references, references_of_j9, large_pages, few_threads];

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;

/// What a limit of HotSpot's modes is crossed by, as measured on JDK 17 and 25 with 8-byte alignment: the heap as large as fits a cheaper
/// mode, the range that is little beyond it, and what is lost there.
const LIMITS: [(u64, std::ops::RangeInclusive<u64>, &str); 3] = [
    (2_048 * MIB, 2_049 * MIB..=2_300 * MIB, "compressed oops are unscaled"),
    (30 * GIB, 30 * GIB + MIB..=32_743 * MIB, "compressed oops are zero-based"),
    (
        30 * GIB,
        32_744 * MIB..=40 * GIB,
        "oops are compressed (4 bytes, not 8), so that up to a third more objects fit",
    ),
];

fn references(report: &GcReport) -> Option<Finding<GcRule>> {
    let jvm = report.jvms.last().filter(|jvm| is_hotspot(jvm) && jvm.collector.as_deref() != Some("Z"))?;
    let heap = jvm.heap_bytes_max?;
    let read = jvm.mode.as_ref()?;
    let (limit, _, what) = LIMITS.iter().find(|(_, range, _)| range.contains(&heap))?;
    use ReferenceMode::{
        CompressedDisjointBase, CompressedNonZeroBase, CompressedUnscaled, CompressedZeroBased,
    };
    let is_crossed = match read.mode {
        CompressedUnscaled => false,
        CompressedZeroBased => *limit == LIMITS[0].0,
        CompressedDisjointBase | CompressedNonZeroBase => true,
        ReferenceMode::Full64 | ReferenceMode::Full64CompressedClassPointers => 32 * GIB - 32 * MIB < heap,
        ReferenceMode::Bits32 => false,
    };
    let evidence = format!("heap of at most {}: {} ({})", size(heap as f64), read.mode.name(), read.evidence);
    let claim = format!(
        "The heap is slightly above a threshold of its reference mode: up to {} {what}.",
        size(*limit as f64)
    );
    is_crossed.then(|| {
        Finding::measured(GcRule::ReferenceModeLimit, Severity::Warning, claim, evidence)
            .at([(jvm.source, jvm.line)])
            .change(
                format!("Set -Xmx{}m", limit / MIB),
                "Cheaper references for the same objects; `assay heap predict` says what fits",
            )
            .or("Make the heap so much larger that the loss is regained: `assay heap modes` says from which size on")
    })
}

fn is_hotspot(jvm: &GcJvm) -> bool {
    const COLLECTORS: [&str; 7] = ["Serial", "Parallel", "G1", "CMS", "Z", "Shenandoah", "Epsilon"];
    jvm.collector.as_deref().is_some_and(|name| COLLECTORS.contains(&name))
}

/// OpenJ9's limits: shift 0 below 4 GB, shift 3 up to 25 GB by default, compressed up to 57 GB with shift 4 (its documentation).
const J9_LIMITS_GIB: [u64; 3] = [4, 25, 57];
/// A heap above a limit by less than this share loses more than it gains.
const J9_SHARE: f64 = 0.15;

fn references_of_j9(report: &GcReport) -> Option<Finding<GcRule>> {
    let jvm = report.jvms.last().filter(|jvm| jvm.collector.is_some() && !is_hotspot(jvm))?;
    let heap = jvm.heap_bytes_max? as f64;
    let is_above = |limit: &&u64| {
        let limit = (**limit * GIB) as f64;
        limit < heap && heap <= limit * (1.0 + J9_SHARE)
    };
    let limit = J9_LIMITS_GIB.iter().find(is_above)?;
    let mode = jvm.mode.as_ref().map_or("not said", |read| read.mode.name());
    let claim = format!("The heap is slightly above {limit} GB, where references of OpenJ9 cost more.");
    let evidence = format!("heap of at most {}, references: {mode}", size(heap));
    Some(
        Finding::measured(GcRule::ReferenceModeLimit, Severity::Warning, claim, evidence)
            .at([(jvm.source, jvm.line)])
            .change(
                format!("Set -Xmx{}m, below the limit", limit * 1024 - 1),
                "Cheaper or smaller references for the same objects",
            )
            .or("Make the heap much larger, so that the loss is regained"),
    )
}

const TRANSPARENT: &str = "-XX:+UseTransparentHugePages";
const FEWER_MISSES: &str = "Fewer misses of the translation buffer";

fn large_pages(report: &GcReport) -> Option<Finding<GcRule>> {
    let jvm = report.jvms.last()?;
    let told = jvm.large_pages.as_deref()?;
    let asks = |flag: &String| flag == "-XX:+UseLargePages" || flag == TRANSPARENT;
    let asked = jvm.flags.iter().find(|flag| asks(flag));
    let is_refused = asked.is_some() && told.to_ascii_lowercase().starts_with("disabled");
    let evidence = format!("requested: {}; got: {told}", asked.map_or("", String::as_str));
    is_refused.then(|| {
        let claim = "Large pages were requested but not available.";
        let found = Finding::measured(GcRule::LargePagesRefused, Severity::Error, claim, evidence);
        let found = found.at([(jvm.source, jvm.line)]);
        if asked.is_some_and(|flag| flag == TRANSPARENT) {
            let file = if jvm.collector.as_deref() == Some("Z") {
                "advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled"
            } else {
                "madvise > /sys/kernel/mm/transparent_hugepage/enabled"
            };
            return found.change(format!("Allow transparent huge pages: echo {file}"), FEWER_MISSES);
        }
        found
            .change(
                "Reserve them: sysctl -w vm.nr_hugepages=N, N the heap divided by the size of a page",
                format!("{FEWER_MISSES}; reserved pages are lost for anything else"),
            )
            .or("Allow the user to lock memory: memlock in /etc/security/limits.d")
            .or(format!("Use transparent huge pages: {TRANSPARENT}"))
    })
}

/// HotSpot's own number of parallel threads for so many processors; a damaged log may name any number of these.
fn threads_for(processors: u64) -> u64 {
    if processors <= 8 { processors } else { 8 + (processors - 8) / 8 * 5 + (processors - 8) % 8 * 5 / 8 }
}

fn few_threads(report: &GcReport) -> Option<Finding<GcRule>> {
    if !matches!(collector(report), Some("Parallel" | "G1" | "CMS")) {
        return None;
    }
    let jvm = report.jvms.last()?;
    let (threads, processors) = (jvm.parallel_workers?, jvm.processors?);
    let usual = threads_for(processors);
    (threads < usual).then(|| {
        let claim = "Fewer threads collect than the JVM would take for these processors.";
        let evidence = format!("{threads} threads, {processors} processors: {usual} would be usual");
        Finding::measured(GcRule::GcThreadsFew, Severity::Warning, claim, evidence)
            .at([(jvm.source, jvm.line)])
            .change(
                "Leave -XX:ParallelGCThreads out, unless other JVMs share the processors",
                "Pauses shorter nearly in proportion; CPU time comes in shorter bursts",
            )
            .or(format!("Set -XX:ParallelGCThreads={usual}"))
    })
}
