//! Percentile curves over several windows, from the merged histograms of the interval logs. Percentiles of windows are
//! never averaged.

use assay_model::{Trial, file};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use std::path::Path;

/// Largest interval log that is read: a second takes some 4 KB.
const LOG_BYTES_MAX: u64 = 256 << 20;

/// Response times of a trial's windows that count, merged; absent when there is no whole interval log.
pub(crate) fn histogram_of(folder: &Path, trial: &Trial) -> Option<Histogram<u64>> {
    let path = folder.join(file::LATENCY_LOG);
    if LOG_BYTES_MAX < std::fs::metadata(&path).ok()?.len() {
        return None;
    }
    let text = std::fs::read(path).ok()?;
    let by_window = merged_by_window(&text)?;
    if by_window.len() != trial.windows.len() {
        return None;
    }
    let mut counting = by_window.into_iter().zip(&trial.windows).filter(|(_, w)| w.disturbances.is_empty());
    let (mut merged, _) = counting.next()?;
    for (histogram, _) in counting {
        merged.add(&histogram).ok()?;
    }
    Some(merged)
}

/// One histogram for each log in the file; a log begins with its base time.
fn merged_by_window(text: &[u8]) -> Option<Vec<Histogram<u64>>> {
    let mut windows: Vec<Histogram<u64>> = Vec::new();
    let mut deserializer = Deserializer::new();
    for entry in IntervalLogIterator::new(text) {
        match entry.ok()? {
            LogEntry::BaseTime(_) => windows.push(Histogram::new(3).ok()?),
            LogEntry::StartTime(_) => {}
            // Tagged intervals are service times.
            LogEntry::Interval(interval) if interval.tag().is_none() => {
                let bytes = base64(interval.encoded_histogram())?;
                let histogram: Histogram<u64> = deserializer.deserialize(&mut bytes.as_slice()).ok()?;
                windows.last_mut()?.add(&histogram).ok()?;
            }
            LogEntry::Interval(_) => {}
        }
    }
    Some(windows)
}

/// Base64 of the standard alphabet (RFC 4648, section 4), which the library writes but does not offer to read.
fn base64(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (mut bits, mut count, mut bytes) = (0_u32, 0, Vec::with_capacity(text.len() * 3 / 4));
    for byte in text.trim_end_matches('=').bytes() {
        bits = bits << 6 | u32::from(digit(byte)?);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_rfc() {
        for (text, want) in [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYmFy", "foobar")]
        {
            assert_eq!(base64(text).unwrap(), want.as_bytes());
        }
        assert_eq!(base64("Zm9*"), None);
    }
}
