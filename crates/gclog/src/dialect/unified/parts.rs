//! Parts of pauses that are kept: `Reference Processing: 12.3ms`, `Ext Root Scanning (ms): Min: 0.1, Avg: 0.2, Max: 0.3, ..`.

use crate::decimal::Decimal;
use crate::scan::Scan;
use assay_model::GcPart;

/// What a line of phases says of one; nanoseconds. Where it has a time for each thread, the pause waits for the longest; of deduplication,
/// which is one of several things that the threads do in turn there, the mean counts.
pub(super) fn read(text: &str) -> Option<(GcPart, u64)> {
    let (part, behind) = match text.as_bytes().first()? {
        // Since JDK 18: `StringDedup Requests0 Weak  Min: 9.28, Avg: 14.34, Max: 19.41, ..`.
        b'S' if text.starts_with("StringDedup ") => {
            return Some((GcPart::StringDeduplication, milliseconds(text, "Avg: ")?));
        }
        b'R' => (GcPart::References, text.strip_prefix("Reference Processing")?),
        b'S' => (GcPart::StringDeduplication, text.strip_prefix("String Dedup Fixup")?),
        b'E' => {
            let behind = text.strip_prefix("Ext Root Scanning (ms):")?;
            return Some((GcPart::RootScan, milliseconds(behind, "Max: ")?));
        }
        _ => return None,
    };
    let mut scan = Scan(behind.trim_start_matches([':', ' ']));
    let (ns, _) = scan.duration()?;
    scan.end()?;
    Some((part, ns))
}

/// The milliseconds behind a name, in nanoseconds.
fn milliseconds(text: &str, name: &str) -> Option<u64> {
    let (_, behind) = text.split_once(name)?;
    let mut number = behind.trim_start();
    Some(Decimal::take(&mut number)?.scaled(6)?.0)
}

/// How long the thread that deduplicates strings worked, and the smallest step of that: `Concurrent String Deduplication 1024.0B->0.0B(1024.0B)
/// avg 52.1% (1.024s, 1.025s) 0.345ms`; since JDK 18 `.. 22.065ms of 22.094ms`. `None` for other lines, such as that of its beginning.
pub(super) fn deduplication(text: &str) -> Option<(u64, u64)> {
    let behind = text.strip_prefix("Concurrent String Deduplication ")?;
    let mut scan = Scan(behind.trim_end().rsplit_once(' ')?.1);
    let duration = scan.duration()?;
    scan.end()?;
    Some(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_that_deduplicates_is_read_in_the_words_of_all_releases() {
        let begin = "Concurrent String Deduplication (1.024s)";
        let jdk_11 =
            "Concurrent String Deduplication 1024.0B->0.0B(1024.0B) avg 52.1% (1.024s, 1.025s) 0.345ms";
        let jdk_25 = "Concurrent String Deduplication 15421 (inspected), 113/6104.0B (new unknown), 15306/837.0K (deduped), total \
                      avg deduped/new unknown bytes 14040.6%, 837.0K (total deduped),6104.0B (total new unknown), 22.065ms of 22.094ms";
        assert_eq!(deduplication(begin), None);
        assert_eq!(deduplication(jdk_11), Some((345_000, 1_000)));
        assert_eq!(deduplication(jdk_25), Some((22_094_000, 1_000)));
    }

    #[test]
    fn parts_are_read_in_the_words_of_all_releases() {
        for (text, want) in [
            ("Reference Processing: 38.7ms", Some((GcPart::References, 38_700_000))),
            ("Reference Processing 0.123ms", Some((GcPart::References, 123_000))),
            ("String Dedup Fixup: 0.3ms", Some((GcPart::StringDeduplication, 300_000))),
            (
                "Ext Root Scanning (ms):        Min:  0.0, Avg:  0.1, Max: 12.5, Diff:  0.1, Sum:  0.1, Workers: 2",
                Some((GcPart::RootScan, 12_500_000)),
            ),
            (
                "StringDedup Requests0 Weak     Min: 9.28, Avg: 14.34, Max: 19.41, Diff: 10.13, Sum: 28.69, Workers: 2",
                Some((GcPart::StringDeduplication, 14_340_000)),
            ),
            ("StringDedup Table Weak skipped", None),
            ("Reference Processing", None),
            ("Ext Root Scanning (ms): skipped", None),
            ("Remembered Sets (ms): Min: 0.0, Avg: 0.1, Max: 12.5", None),
            ("", None),
        ] {
            assert_eq!(read(text), want, "{text}");
        }
    }
}
