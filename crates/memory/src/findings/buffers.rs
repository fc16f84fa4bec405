//! Native memory that Java objects own.

use super::weight::{finding, matters};
use super::words::{bytes, flag, option_size, percent, under};
use assay_model::{Area, Finding, MemoryReport, MemoryRule};

/// Below this share of RSS direct buffers are not what makes a process large.
const DIRECT_SHARE_MIN: u64 = 10;
/// Streams that are open at a time in a busy server are tens; each Deflater has 260 KB, each Inflater 40 KB.
const ZIP_STREAMS_BYTES_MIN: u64 = 16 << 20;

/// Direct buffers with no limit of their own.
pub(super) fn direct_without_limit(report: &MemoryReport) -> Option<Finding<MemoryRule>> {
    let jvm = report.jvm.as_ref()?;
    let direct = under(report, &[Area::Buffers.title(), "java.nio.DirectByteBuffer"]);
    let has_limit = flag(jvm, "MaxDirectMemorySize")? != 0;
    if has_limit || direct < report.rss_bytes / DIRECT_SHARE_MIN || !matters(report, direct) {
        return None;
    }
    let heap =
        jvm.heap_bytes_max.map_or(String::new(), |max| format!(", which is the heap's, {}", bytes(max)));
    let limit = option_size(direct.saturating_add(direct / 4));
    let found = finding(
        MemoryRule::DirectBuffersWithoutLimit,
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

/// Deflaters and inflaters that nobody ends.
pub(super) fn zip_streams(report: &MemoryReport) -> Option<Finding<MemoryRule>> {
    let is_zip = |part: &String| part.contains("Deflater") || part.contains("Inflater");
    let streams: Vec<_> = report.entries.iter().filter(|entry| entry.path.iter().any(is_zip)).collect();
    let held = streams.iter().fold(0u64, |sum, entry| sum.saturating_add(entry.resident_bytes));
    if held < ZIP_STREAMS_BYTES_MIN || !matters(report, held) {
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
        MemoryRule::ZipStreamsNotEnded,
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
