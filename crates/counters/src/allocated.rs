//! What a JVM's Java threads allocate between two readings, from outside: the JVM's own counts.
//!
//! Folklore: JDK 8 counts part of the TLABs that a collection takes away twice, some per cent with Serial and Parallel; later releases are exact
//! to the byte. Held by: `what_threads_allocate_is_read_to_the_kib_on_each_release`.

use assay_hotspot::{AllocatedBytes, Hotspot};
use assay_linux::{CachedMemory, LiveProcess, ProcRoot, monotonic_ns};

/// How often a JVM is read that was just starting or ending a thread.
const READS_MAX: u32 = 3;

/// The allocation of a JVM, from its first reading on. It opens the process's memory for each reading and copies nothing of the Java heap.
#[derive(Debug)]
pub struct AllocationGauge {
    pid: u32,
    first: Moment,
    last: Moment,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Moment {
    monotonic_ns: u64,
    allocated: AllocatedBytes,
    /// Threads that have ended since the JVM started; absent where it shares no counters (`-XX:-UsePerfData`).
    threads_ended: Option<u64>,
}

/// What was allocated between two readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocated {
    /// The first reading, on `CLOCK_MONOTONIC`.
    pub from_ns: u64,
    /// The last.
    pub to_ns: u64,
    /// By all Java threads.
    pub bytes: u64,
}

impl AllocationGauge {
    /// Takes the first reading.
    ///
    /// # Errors
    /// In words: no JVM, no right to read it, or a JVM that does not export its counts.
    pub fn start(pid: u32) -> Result<AllocationGauge, String> {
        let first = Moment::read(pid)?;
        Ok(AllocationGauge { pid, last: first.clone(), first })
    }

    /// Takes another reading.
    ///
    /// # Errors
    /// As of [`AllocationGauge::start`].
    pub fn read(&mut self) -> Result<(), String> {
        self.last = Moment::read(self.pid)?;
        Ok(())
    }

    /// Starts a new interval at the last reading.
    pub fn restart(&mut self) {
        self.first = self.last.clone();
    }

    /// What was allocated between the first reading and the last.
    ///
    /// # Errors
    /// In words: threads have ended meanwhile, and this JVM does not say what they had allocated.
    pub fn between(&self) -> Result<Allocated, String> {
        between(&self.first, &self.last)
    }
}

fn between(first: &Moment, last: &Moment) -> Result<Allocated, String> {
    let (before, after) = (&first.allocated, &last.allocated);
    let exited = before.exited.zip(after.exited).map(|(before, after)| after.saturating_sub(before));
    let gone: Vec<u64> = before
        .by_thread
        .iter()
        .filter(|(key, _)| !after.by_thread.contains_key(key))
        .map(|(_, bytes)| *bytes)
        .collect();
    let of_exited = match exited {
        // Bytes that they had allocated before the first reading are not of this interval.
        Some(exited) => exited.saturating_sub(gone.iter().sum()),
        None => {
            let ended = first
                .threads_ended
                .zip(last.threads_ended)
                .map(|(before, after)| after.saturating_sub(before));
            let ended = ended.unwrap_or(0).max(gone.len() as u64);
            if ended != 0 {
                return Err(format!(
                    "{ended} threads ended during the measurement, and this JVM has no symbol for their \
                        allocation"
                ));
            }
            0
        }
    };
    let of_living = after
        .by_thread
        .iter()
        .map(|(key, bytes)| bytes.saturating_sub(before.by_thread.get(key).copied().unwrap_or(0)));
    let bytes = of_living.fold(of_exited, u64::saturating_add);
    Ok(Allocated { from_ns: first.monotonic_ns, to_ns: last.monotonic_ns, bytes })
}

impl Moment {
    fn read(pid: u32) -> Result<Moment, String> {
        let process = LiveProcess::open(&ProcRoot::default(), pid).map_err(|e| e.to_string())?;
        let memory = CachedMemory::new(&process);
        let hotspot = Hotspot::open(&memory).map_err(|e| e.to_string())?.ok_or("the process has no JVM")?;
        let counters = hotspot.perf_counters();
        let counter =
            |name| counters.as_ref().and_then(|counters| u64::try_from(counters.number(name)?).ok());
        let (started, live) = (counter("java.threads.started"), counter("java.threads.live"));
        let threads_ended = started.zip(live).map(|(started, live)| started.saturating_sub(live));
        // Its counts are read last, through no cache, and stamped: they are of this moment.
        let hotspot = hotspot.seen_through(&process);
        let read = || {
            Some(Moment {
                allocated: hotspot.allocated_bytes()?,
                monotonic_ns: monotonic_ns(),
                threads_ended,
            })
        };
        let read = (0..READS_MAX).find_map(|_| read());
        read.ok_or_else(|| "this JVM does not export what its threads allocate".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(
        monotonic_ns: u64,
        threads: &[(u64, u32, u64)],
        exited: Option<u64>,
        ended: Option<u64>,
    ) -> Moment {
        let by_thread = threads.iter().map(|(address, tid, bytes)| ((*address, *tid), *bytes)).collect();
        Moment { monotonic_ns, allocated: AllocatedBytes { by_thread, exited }, threads_ended: ended }
    }

    #[test]
    fn new_threads_count_from_nothing_and_an_address_that_is_used_again_is_another_thread() {
        let first = moment(5, &[(0x10, 1, 100), (0x20, 2, 50)], Some(7), None);
        let last = moment(9, &[(0x10, 1, 130), (0x20, 3, 20), (0x30, 4, 1)], Some(7 + 58), None);
        // Thread 2 ended with 58, of which 50 were there at the first reading.
        assert_eq!(between(&first, &last), Ok(Allocated { from_ns: 5, to_ns: 9, bytes: 30 + 20 + 1 + 8 }));
    }

    #[test]
    fn without_the_jvm_s_count_of_threads_that_ended_there_is_no_figure_where_some_did() {
        let first = moment(0, &[(0x10, 1, 100), (0x20, 2, 50)], None, Some(3));
        assert_eq!(
            between(&first, &moment(1, &[(0x10, 1, 130), (0x20, 2, 50)], None, Some(3))).map(|of| of.bytes),
            Ok(30)
        );
        let one_gone = moment(1, &[(0x10, 1, 130)], None, None);
        assert!(between(&first, &one_gone).is_err_and(|why| why.starts_with("1 threads")));
        let unseen = moment(1, &[(0x10, 1, 130), (0x20, 2, 50)], None, Some(5));
        assert!(
            between(&first, &unseen).is_err_and(|why| why.starts_with("2 threads")),
            "they started and ended in between"
        );
    }
}
