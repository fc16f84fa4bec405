//! Native memory that Java objects own.

use super::rule::{Found, Judge, Rule, finding, matters};
use super::words::{bytes, flag, memory_of, option_size, percent, under};
use assay_model::{Area, MemoryReport, RuleId, Severity, Threshold};

pub(super) static RULES: &[&Rule] = &[&DIRECT_BUFFERS_WITHOUT_LIMIT, &ZIP_STREAMS_NOT_ENDED];

/// Below this share of RSS direct buffers are not what makes a process large.
const DIRECT: Threshold = Threshold::percent("direct", 10.0);
/// Streams that are open at a time in a busy server are tens; each Deflater has 260 KB, each Inflater 40 KB.
const ZIP_STREAMS: Threshold = Threshold::bytes("zip_streams", 16 << 20);

static DIRECT_BUFFERS_WITHOUT_LIMIT: Rule = Rule {
    id: RuleId::of("direct-buffers-without-limit"),
    severity: Severity::Warning,
    thresholds: &[DIRECT],
    evidence: "Direct buffers from {direct} of RSS on, and the limit that holds because none is set: that of the heap.",
    cause: "Direct memory is freed when the buffer's object is collected, which a large heap does rarely.",
    fix: "Set `-XX:MaxDirectMemorySize`, which makes the JVM collect in time.",
    alternatives: &[
        "Set `-Djdk.nio.maxCachedBufferSize=262144`, for buffers that I/O on heap buffers leaves in each thread.",
    ],
    judge: Judge::of(direct_without_limit),
};

/// Direct buffers with no limit of their own.
fn direct_without_limit(report: &MemoryReport) -> Option<Found> {
    let jvm = report.jvm.as_ref()?;
    let direct = under(report, &[Area::Buffers.title(), "java.nio.DirectByteBuffer"]);
    let has_limit = flag(jvm, "MaxDirectMemorySize")? != 0;
    if has_limit || direct < DIRECT.share_of(report.bytes_of_memory()) || !matters(report, direct) {
        return None;
    }
    let heap =
        jvm.heap_bytes_max.map_or(String::new(), |max| format!(", which is the heap's, {}", bytes(max)));
    let limit = option_size(direct.saturating_add(direct / 4));
    let found = finding(
        &DIRECT_BUFFERS_WITHOUT_LIMIT,
        format!("direct buffers hold {}, and may grow as large as the heap", bytes(direct)),
        format!(
            "{} of RSS; no limit of their own is set, so the JVM's holds{heap}",
            percent(direct, report.rss_bytes)
        ),
        format!("Set -XX:MaxDirectMemorySize={limit}, which makes the JVM collect dead buffers in time"),
        None,
    );
    Some(found.or(
        "Set -Djdk.nio.maxCachedBufferSize=262144, if they belong to threads that read and write through heap buffers",
    ))
}

static ZIP_STREAMS_NOT_ENDED: Rule = Rule {
    id: RuleId::of("zip-streams-not-ended"),
    severity: Severity::Warning,
    thresholds: &[ZIP_STREAMS],
    evidence: "Native memory of `Deflater` and `Inflater` objects (from {zip_streams} on), with the number of blocks.",
    cause: "The native part is freed by `end()`, or when the object is collected, which may be late.",
    fix: "Close the streams (try-with-resources).",
    alternatives: &["Call `end()` on each."],
    judge: Judge::of(zip_streams),
};

/// Deflaters and inflaters that nobody ends.
fn zip_streams(report: &MemoryReport) -> Option<Found> {
    let is_zip = |part: &String| part.contains("Deflater") || part.contains("Inflater");
    let streams: Vec<_> = report.entries.iter().filter(|entry| entry.path.iter().any(is_zip)).collect();
    let held = memory_of(streams.iter().copied());
    if held < ZIP_STREAMS.whole() || !matters(report, held) {
        return None;
    }
    let count = streams.iter().try_fold(0u64, |sum, entry| Some(sum.saturating_add(entry.count?)));
    let count = count.map_or(String::new(), |count| format!(" in {count} blocks"));
    let names: Vec<&str> = streams
        .iter()
        .filter_map(|entry| entry.path.iter().find(|part| is_zip(part)))
        .map(String::as_str)
        .collect();
    let found = finding(
        &ZIP_STREAMS_NOT_ENDED,
        format!("{} hold {} of native memory", names.join(" and "), bytes(held)),
        format!(
            "{}{count}, {} of RSS; freed only when end() is called or the object is collected",
            bytes(held),
            percent(held, report.rss_bytes)
        ),
        "Close the streams (try-with-resources)".to_owned(),
        Some(held),
    );
    Some(found.or("Call end() on each Deflater and Inflater"))
}
