//! Rules on the JVM's settings: references, large pages, threads.

use super::rule::{Found, Rule, Share, With, collector, size};
use assay_model::{GcJvm, GcReport, ReferenceMode, RuleId, Severity, Threshold};

pub(super) static RULES: &[&Rule] =
    &[&REFERENCE_MODE_LIMIT, &LARGE_PAGES_REFUSED, &GC_THREADS_FEW, &GC_THREADS_MANY];

/// What of the stopped time these explain: threads that lack, and threads that wait for each other.
pub(super) static SHARES: &[Share] = &[
    (&GC_THREADS_FEW, |_| 0.6),
    (&GC_THREADS_MANY, |report| {
        threads(report).map_or(0.0, |(threads, _, cpus)| 1.0 - cpus as f64 / threads as f64)
    }),
];

const MIB: u64 = 1 << 20;

/// The largest heaps of HotSpot's modes, as measured on JDK 17 and 25 with 8-byte alignment, and where what is lost beyond them is regained.
const UNSCALED: Threshold = Threshold::bytes("unscaled", 2 << 30);
const UNSCALED_LEFT: Threshold = Threshold::bytes("unscaled_left", 2_300 << 20);
const ZERO_BASED: Threshold = Threshold::bytes("zero_based", 30 << 30);
const COMPRESSED: Threshold = Threshold::bytes("compressed", 32 << 30);
const COMPRESSED_LEFT: Threshold = Threshold::bytes("compressed_left", 40 << 30);
/// Compressed references end so much below what 32 bits reach, by the same measurement.
const KEPT_BELOW_COMPRESSED: u64 = 24 * MIB;

/// How a limit of HotSpot's modes is crossed: the largest heap of a cheaper mode, the range that is little beyond it, and what is
/// lost there.
const LIMITS: [(u64, std::ops::RangeInclusive<u64>, &str); 3] = [
    (UNSCALED.whole(), UNSCALED.whole() + MIB..=UNSCALED_LEFT.whole(), "compressed oops are unscaled"),
    (
        ZERO_BASED.whole(),
        ZERO_BASED.whole() + MIB..=COMPRESSED.whole() - KEPT_BELOW_COMPRESSED - MIB,
        "compressed oops are zero-based",
    ),
    (
        ZERO_BASED.whole(),
        COMPRESSED.whole() - KEPT_BELOW_COMPRESSED..=COMPRESSED_LEFT.whole(),
        "oops are compressed (4 bytes, not 8), so that up to a third more objects fit",
    ),
];

static REFERENCE_MODE_LIMIT: Rule = Rule {
    id: RuleId::of("reference-mode-limit"),
    severity: Severity::Warning,
    thresholds: &[
        UNSCALED,
        UNSCALED_LEFT,
        ZERO_BASED,
        COMPRESSED,
        COMPRESSED_LEFT,
        J9_UNSCALED,
        J9_BY_DEFAULT,
        J9_COMPRESSED,
        J9_LEFT,
    ],
    evidence: "The largest heap and its reference mode, if it is little above a threshold: above {unscaled} \
        up to {unscaled_left}, or above {zero_based} up to {compressed_left}. For OpenJ9, by {j9_left} or \
        less.",
    cause: "Above about {unscaled}, {zero_based} and {compressed} (OpenJ9: {j9_unscaled}, {j9_by_default} and {j9_compressed}) \
            references are decoded with more work, or are larger.",
    fix: "Set `-Xmx` at the threshold.",
    alternatives: &["Make the heap so much larger that the loss is regained: `assay heap modes`."],
    judge: references,
};

fn references(report: &GcReport) -> Option<Found> {
    references_of_hotspot(report).or_else(|| references_of_j9(report))
}

fn references_of_hotspot(report: &GcReport) -> Option<Found> {
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
        ReferenceMode::Full64 | ReferenceMode::Full64CompressedClassPointers => {
            COMPRESSED.whole() - 32 * MIB < heap
        }
        ReferenceMode::Bits32 => false,
    };
    let evidence = format!("heap of at most {}: {} ({})", size(heap as f64), read.mode.name(), read.evidence);
    let claim = format!(
        "The heap is slightly above a threshold of its reference mode: up to {} {what}.",
        size(*limit as f64)
    );
    is_crossed.then(|| {
        REFERENCE_MODE_LIMIT.finding(claim, evidence)
            .at([(jvm.source, jvm.line)])
            .change(
                format!("Set -Xmx{}m", limit / MIB),
                "Cheaper references for the same objects. `assay heap predict` shows whether they fit",
            )
            .or("Make the heap so much larger that the loss is regained: `assay heap modes` says from which size on")
    })
}

fn is_hotspot(jvm: &GcJvm) -> bool {
    const COLLECTORS: [&str; 7] = ["Serial", "Parallel", "G1", "CMS", "Z", "Shenandoah", "Epsilon"];
    jvm.collector.as_deref().is_some_and(|name| COLLECTORS.contains(&name))
}

/// OpenJ9's limits (its documentation): shift 0 below the first, shift 3 up to the second by default, compressed up to the third with shift 4.
const J9_UNSCALED: Threshold = Threshold::bytes("j9_unscaled", 4 << 30);
const J9_BY_DEFAULT: Threshold = Threshold::bytes("j9_by_default", 25 << 30);
const J9_COMPRESSED: Threshold = Threshold::bytes("j9_compressed", 57 << 30);
/// A heap above a limit by less than this share loses more than it gains.
const J9_LEFT: Threshold = Threshold::percent("j9_left", 15.0);

fn references_of_j9(report: &GcReport) -> Option<Found> {
    let jvm = report.jvms.last().filter(|jvm| jvm.collector.is_some() && !is_hotspot(jvm))?;
    let heap = jvm.heap_bytes_max? as f64;
    let is_above = |limit: &Threshold| limit.value < heap && heap <= limit.value * (1.0 + J9_LEFT.share());
    let limit = [J9_UNSCALED, J9_BY_DEFAULT, J9_COMPRESSED].into_iter().find(is_above)?;
    let mode = jvm.mode.as_ref().map_or("not said", |read| read.mode.name());
    let claim = format!("The heap is slightly above {limit}, where references of OpenJ9 cost more.");
    let evidence = format!("heap of at most {}, references: {mode}", size(heap));
    Some(
        REFERENCE_MODE_LIMIT
            .finding(claim, evidence)
            .at([(jvm.source, jvm.line)])
            .change(
                format!("Set -Xmx{}m, below the limit", limit.whole() / MIB - 1),
                "Cheaper or smaller references for the same objects",
            )
            .or("Make the heap much larger, so that the loss is regained"),
    )
}

const TRANSPARENT: &str = "-XX:+UseTransparentHugePages";
const FEWER_MISSES: &str = "Fewer misses of the translation buffer";

static LARGE_PAGES_REFUSED: Rule = Rule {
    id: RuleId::of("large-pages-refused"),
    severity: Severity::Error,
    thresholds: &[],
    evidence: "The option that requested large pages, and the pages that the JVM got according to the log.",
    cause: "None are reserved, the user may not lock memory, or transparent ones are off.",
    fix: "Reserve them: `vm.nr_hugepages`. If transparent ones were requested, allow these.",
    alternatives: &[
        "Allow the user to lock memory (memlock).",
        "Use transparent ones: `-XX:+UseTransparentHugePages`.",
    ],
    judge: large_pages,
};

fn large_pages(report: &GcReport) -> Option<Found> {
    let jvm = report.jvms.last()?;
    let told = jvm.large_pages.as_deref()?;
    let asks = |flag: &String| flag == "-XX:+UseLargePages" || flag == TRANSPARENT;
    let asked = jvm.flags.iter().find(|flag| asks(flag));
    let is_refused = asked.is_some() && told.to_ascii_lowercase().starts_with("disabled");
    let evidence = format!("requested: {}; got: {told}", asked.map_or("", String::as_str));
    is_refused.then(|| {
        let claim = "Large pages were requested but not available.";
        let found = LARGE_PAGES_REFUSED.finding(claim, evidence);
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
                format!("{FEWER_MISSES}. Reserved pages are unavailable for anything else"),
            )
            .or("Allow the user to lock memory: memlock in /etc/security/limits.d")
            .or(format!("Use transparent huge pages: {TRANSPARENT}"))
    })
}

/// HotSpot's own number of parallel threads for so many processors; a damaged log may name any number of these.
fn threads_for(processors: u64) -> u64 {
    if processors <= 8 { processors } else { 8 + (processors - 8) / 8 * 5 + (processors - 8) % 8 * 5 / 8 }
}

static GC_THREADS_FEW: Rule = Rule {
    id: RuleId::of("gc-threads-few"),
    severity: Severity::Warning,
    thresholds: &[],
    evidence: "Parallel GC threads, processors, and HotSpot's own choice.",
    cause: "`-XX:ParallelGCThreads` is set, or was set for another machine.",
    fix: "Leave `-XX:ParallelGCThreads` out, unless other JVMs share the processors.",
    alternatives: &["Set it to the usual number."],
    judge: few_threads,
};

fn few_threads(report: &GcReport) -> Option<Found> {
    if !matches!(collector(report), Some("Parallel" | "G1" | "CMS")) {
        return None;
    }
    let jvm = report.jvms.last()?;
    let (threads, usual, processors) = threads(report)?;
    (threads < usual).then(|| {
        let claim = "Fewer threads collect than the JVM would take for these processors.";
        let evidence = format!("{threads} threads, {processors} processors: {usual} would be usual");
        GC_THREADS_FEW
            .finding(claim, evidence)
            .at([(jvm.source, jvm.line)])
            .change(
                "Leave -XX:ParallelGCThreads out, unless other JVMs share the processors",
                "Pauses shorter nearly in proportion. CPU time comes in shorter bursts",
            )
            .or(format!("Set -XX:ParallelGCThreads={usual}"))
    })
}

/// Threads that collect in pauses, as many as HotSpot would take, and processors.
fn threads(report: &GcReport) -> Option<(u64, u64, u64)> {
    let jvm = report.jvms.last()?;
    let (threads, processors) = (jvm.parallel_workers?, jvm.processors?);
    Some((threads, threads_for(processors), processors))
}

/// More threads for each processor than this only take it from each other.
const FOR_EACH: Threshold = Threshold::count("for_each", 2);

static GC_THREADS_MANY: Rule = Rule {
    id: RuleId::of("gc-threads-many"),
    severity: Severity::Warning,
    thresholds: &[FOR_EACH],
    evidence: "Parallel GC threads and processors: more than {for_each} threads for each processor.",
    cause: "`-XX:ParallelGCThreads` was set for another machine: the threads of a collection take processors from each other, and all wait for \
            the last one.",
    fix: "Leave `-XX:ParallelGCThreads` out.",
    alternatives: &["Set it to the usual number."],
    judge: many_threads,
};

fn many_threads(report: &GcReport) -> Option<Found> {
    let jvm = report.jvms.last()?;
    let (threads, usual, processors) = threads(report)?;
    (FOR_EACH.whole().saturating_mul(processors) < threads).then(|| {
        let claim = "Far more threads collect than there are processors: they take these from each other.";
        let evidence = format!("{threads} threads, {processors} processors: {usual} would be usual");
        GC_THREADS_MANY
            .finding(claim, evidence)
            .at([(jvm.source, jvm.line)])
            .change(
                "Leave -XX:ParallelGCThreads out",
                "Pauses do not wait for threads that have no processor",
            )
            .or(format!("Set -XX:ParallelGCThreads={usual}"))
    })
}
