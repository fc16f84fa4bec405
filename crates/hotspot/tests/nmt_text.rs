//! The text of `jcmd VM.native_memory` as each JVM here prints it.

use crate::support::Jvm;
use assay_hotspot::{NmtPart, is_nmt_text, parse_nmt_text};
use assay_testkit::{each_java, skip, tracked_memory, tracking_report};

/// Categories that are too small to be printed, each below a unit, and roundings of those that are.
const ROUNDED_MAX: u64 = 40;

#[test]
fn the_report_of_every_release_is_read_whole() {
    let javas = each_java(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (feature, java) in &javas {
        let jvm = Jvm::start(java, &["-Xint", "-XX:NativeMemoryTracking=detail"]).expect("a JVM");
        let (asked, unit_bytes) = tracking_report(*feature);
        let answer = jvm.jcmd(&asked);
        assert!(is_nmt_text(&answer), "{feature}: {answer}");
        let read = parse_nmt_text(&answer).expect("a report");
        assert_eq!((read.unit_bytes, read.sites.len()), (unit_bytes, 0), "{feature}");
        let by_tag = tracked_memory(&answer);
        assert_eq!(read.tags.len(), by_tag.len(), "{feature}");
        for tag in &read.tags {
            let expected = by_tag.get(&tag.name).unwrap_or_else(|| panic!("{feature}: {}", tag.name));
            let part = |name: &str| tag.parts.iter().find(|part: &&NmtPart| part.name == name);
            let malloc = part("malloc")
                .map_or((0, 0), |part| (part.amount.committed_bytes / unit_bytes, part.count.unwrap_or(0)));
            assert_eq!(malloc, (expected.malloc_bytes, expected.malloc_count), "{feature}: {}", tag.name);
            let mapped = part("mmap").map_or(0, |part| part.amount.committed_bytes / unit_bytes);
            assert_eq!(mapped, expected.committed_bytes, "{feature}: {}", tag.name);
            let parts: u64 = tag.parts.iter().map(|part| part.amount.committed_bytes).sum();
            let rounded = tag.amount.committed_bytes.abs_diff(parts);
            assert!(rounded <= unit_bytes * tag.parts.len() as u64, "{feature}: {tag:?}");
        }
        let sum: u64 = read.tags.iter().map(|tag| tag.amount.committed_bytes).sum();
        let rounded = sum.abs_diff(read.total.committed_bytes);
        assert!(rounded <= ROUNDED_MAX * unit_bytes, "{feature}: {sum} of {:?}", read.total);
        let detail = jvm.jcmd(&["VM.native_memory", "detail"]);
        let detailed = parse_nmt_text(&detail).expect("a report");
        assert_eq!(detailed.unit_bytes, 1024, "{feature}");
        assert!(10 < detailed.sites.len(), "{feature}: {} sites", detailed.sites.len());
        assert!(detailed.sites.iter().all(|site| !site.tag.is_empty() && site.bytes > 0), "{feature}");
    }
}
