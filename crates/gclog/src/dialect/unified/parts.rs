//! Parts of pauses that are kept: `Reference Processing: 12.3ms`, `Ext Root Scanning (ms): Min: 0.1, Avg: 0.2, Max: 0.3, ..`.

use crate::decimal::Decimal;
use crate::scan::Scan;
use assay_model::GcPart;

/// What a line of phases says of one; nanoseconds. Where it has a time for each thread, the pause waits for the longest.
pub(super) fn read(text: &str) -> Option<(GcPart, u64)> {
    let (part, behind) = match text.as_bytes().first()? {
        b'R' => (GcPart::References, text.strip_prefix("Reference Processing")?),
        b'S' => (GcPart::StringDeduplication, text.strip_prefix("String Dedup Fixup")?),
        b'E' => {
            let (_, mut longest) = text.strip_prefix("Ext Root Scanning (ms):")?.split_once("Max: ")?;
            longest = longest.trim_start();
            let (ms, _) = Decimal::take(&mut longest)?.scaled(6)?;
            return Some((GcPart::RootScan, ms));
        }
        _ => return None,
    };
    let mut scan = Scan(behind.trim_start_matches([':', ' ']));
    let (ns, _) = scan.duration()?;
    scan.end()?;
    Some((part, ns))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("Reference Processing", None),
            ("Ext Root Scanning (ms): skipped", None),
            ("Remembered Sets (ms): Min: 0.0, Avg: 0.1, Max: 12.5", None),
            ("", None),
        ] {
            assert_eq!(read(text), want, "{text}");
        }
    }
}
