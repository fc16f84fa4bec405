//! The interval log: one histogram per second in the text format of HdrHistogram, so that `HistogramLogProcessor`
//! and other tools read it. Response times stand untagged, service times under the tag `service`; values are
//! nanoseconds, the `Interval_Max` column milliseconds; the base time is the wall clock at the start.
//!
//! Format: HdrHistogram's `HistogramLogReader`, log format 1.3, payload V2 with deflate. The empty `#[StartTime`
//! line of the Java writer's legend is not needed by readers.
//! Packing an interval takes about a millisecond, which would make requests late, so a thread of its own does it.

use crate::clock;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use std::io::{BufWriter, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

const NS_PER_MS: f64 = 1e6;

/// Where the interval log goes.
pub struct IntervalLogs {
    /// Gets the text; a thread of the generator writes to it.
    pub writer: Box<dyn Write + Send>,
    /// Length of an interval; one second is usual.
    pub interval: Duration,
}

impl IntervalLogs {
    /// A log with intervals of one second.
    pub fn each_second(writer: impl Write + Send + 'static) -> Self {
        IntervalLogs { writer: Box::new(writer), interval: Duration::from_secs(1) }
    }
}

/// Histograms of one interval.
pub(crate) struct Interval {
    pub response: Histogram<u64>,
    pub service: Histogram<u64>,
}

struct Finished {
    offset: Duration,
    length: Duration,
    interval: Interval,
}

/// CPU time of the writing thread, and why it could not write.
type Written = (u64, Option<String>);

/// The log as the recorder sees it.
pub(crate) struct IntervalLog {
    pub current: Interval,
    pub next_roll_ns: u64,
    start_ns: u64,
    current_start_ns: u64,
    interval_ns: u64,
    to_writer: Sender<Finished>,
    writer: JoinHandle<Written>,
}

impl IntervalLog {
    pub fn start(start_ns: u64, logs: IntervalLogs) -> Self {
        let interval_ns = u64::try_from(logs.interval.as_nanos()).unwrap_or(u64::MAX).max(1_000_000);
        let (to_writer, finished) = channel();
        let started = SystemTime::now();
        IntervalLog {
            current: Interval::empty(),
            next_roll_ns: start_ns.saturating_add(interval_ns),
            start_ns,
            current_start_ns: start_ns,
            interval_ns,
            to_writer,
            writer: std::thread::spawn(move || {
                let error = write(logs.writer, started, &finished).err();
                (clock::thread_cpu_ns(), error)
            }),
        }
    }

    pub fn roll(&mut self, now_ns: u64) {
        let interval = std::mem::replace(&mut self.current, Interval::empty());
        let finished = Finished {
            offset: Duration::from_nanos(self.current_start_ns - self.start_ns),
            length: Duration::from_nanos(now_ns.saturating_sub(self.current_start_ns)),
            interval,
        };
        // A writer that failed is gone; its error is reported at the end.
        let _ = self.to_writer.send(finished);
        self.current_start_ns = now_ns.max(self.current_start_ns);
        while self.next_roll_ns <= now_ns {
            self.next_roll_ns += self.interval_ns;
        }
    }

    pub fn finish(mut self, now_ns: u64) -> Written {
        if self.current_start_ns < now_ns {
            self.roll(now_ns);
        }
        drop(self.to_writer);
        self.writer.join().unwrap_or_else(|_| (0, Some("its writer panicked".to_owned())))
    }
}

fn write(
    writer: Box<dyn Write + Send>,
    started: SystemTime,
    finished: &Receiver<Finished>,
) -> Result<(), String> {
    let told = |error: &dyn std::fmt::Debug| format!("cannot write the interval log: {error:?}");
    let mut writer = BufWriter::new(writer);
    let mut serializer = V2DeflateSerializer::new();
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment("[Histogram log format version 1.3]")
        .add_comment(
            "[nanoseconds, untagged: response time from the intended start, Tag=service: from the send]",
        )
        .with_base_time(started)
        .with_start_time(started)
        .with_max_value_divisor(NS_PER_MS)
        .begin_log_with(&mut writer, &mut serializer)
        .map_err(|error| told(&error))?;
    for Finished { offset, length, interval } in finished {
        log.write_histogram(&interval.response, offset, length, None).map_err(|error| told(&error))?;
        log.write_histogram(&interval.service, offset, length, Tag::new("service"))
            .map_err(|error| told(&error))?;
    }
    writer.flush().map_err(|error| told(&error))
}

#[cfg(test)]
mod tests {
    use crate::recorder::{Recorder, RequestTimes};
    use crate::testing::SharedBytes;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    use super::*;

    fn times(intended_ns: u64, sent_ns: u64, done_ns: u64) -> RequestTimes {
        RequestTimes { intended_ns, sendable_ns: intended_ns, sent_ns: Some(sent_ns), done_ns }
    }

    #[test]
    fn the_log_holds_every_recorded_value_by_interval_and_tag() {
        let bytes = SharedBytes::default();
        let mut recorder = Recorder::new(0, Some(IntervalLogs::each_second(bytes.clone())));
        recorder.record(&times(0, 5_000_000, 10_000_000));
        recorder.roll(1_000_000_000);
        recorder.record(&times(0, 1_990_000_000, 2_000_000_000));
        let recorded = recorder.finish(1_500_000_000);
        assert_eq!((recorded.response.len(), recorded.log_error), (2, None));

        let text = bytes.take();
        let mut seen = Vec::new();
        for entry in IntervalLogIterator::new(&text) {
            if let Ok(LogEntry::Interval(interval)) = entry {
                let packed = base64(interval.encoded_histogram());
                let histogram: Histogram<u64> = Deserializer::new()
                    .deserialize(&mut packed.as_slice())
                    .expect("what was written is read");
                let tag = interval.tag().map(|tag| tag.as_str().to_owned());
                let max_ms = histogram.max().div_ceil(1_000_000);
                seen.push((interval.start_timestamp().as_secs(), tag, histogram.len(), max_ms));
            }
        }
        let service = || Some("service".to_owned());
        assert_eq!(seen, [(0, None, 1, 11), (0, service(), 1, 6), (1, None, 1, 2001), (1, service(), 1, 11)]);
    }

    /// Base64 of the standard alphabet, written down here as an oracle of its own.
    fn base64(text: &str) -> Vec<u8> {
        const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let (mut bits, mut count, mut out) = (0u32, 0, Vec::new());
        for byte in text.bytes().filter(|byte| *byte != b'=') {
            let digit = ALPHABET.iter().position(|known| *known == byte).expect("base64 digit");
            bits = bits << 6 | digit as u32;
            count += 6;
            if count >= 8 {
                count -= 8;
                out.push((bits >> count) as u8);
            }
        }
        out
    }

    #[test]
    fn a_full_disk_is_told_and_loses_no_recorded_value() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::Error::from(std::io::ErrorKind::StorageFull))
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let mut recorder = Recorder::new(0, Some(IntervalLogs::each_second(Full)));
        recorder.record(&times(0, 0, 10));
        let recorded = recorder.finish(20);
        assert_eq!(recorded.response.len(), 1);
        assert!(recorded.log_error.expect("told").contains("StorageFull"));
    }
}
