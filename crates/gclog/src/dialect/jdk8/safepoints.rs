//! Rows of the table of `-XX:+PrintSafepointStatistics`:
//!
//! ```text
//!          vmop                    [threads: total initially_running wait_to_block]    [time: spin block sync cleanup vmop] page_trap_count
//! 0.123: G1IncCollectionPause      [      20          0              0    ]      [     0     0     1     0    10    ]  0
//! ```

use super::text::Stamp;
use crate::contract::At;
use assay_model::{GcRecord, GcRecordKind};

/// Times in the table are whole milliseconds.
const STEP_NS: u64 = 1_000_000;

/// A row without its stamp, which is that of the beginning. Spinning and blocking are parts of the time to synchronise.
pub(super) fn row(text: &str, stamp: &Stamp, at: At) -> Option<GcRecord> {
    let (operation, figures) = text.split_once('[')?;
    let operation = operation.trim();
    let is_name = operation.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b' '));
    let (threads, times) = figures.split_once('[')?;
    let mut numbers = times.split_once(']')?.0.split_ascii_whitespace().map(|word| word.parse::<u64>().ok());
    let mut number = || numbers.next().flatten();
    let (_spin, _block, sync, cleanup, work) = (number()?, number()?, number()?, number()?, number()?);
    if !is_name || operation.is_empty() || !threads.trim_end().ends_with(']') {
        return None;
    }
    let total_ns = sync.checked_add(cleanup)?.checked_add(work)?.checked_mul(STEP_NS)?;
    let mut record = GcRecord::new(GcRecordKind::Safepoint, operation, at.source, at.line);
    record.end = stamp.after(total_ns);
    record.duration_ns = Some(total_ns);
    record.duration_resolution_ns = Some(STEP_NS);
    record.time_to_safepoint_ns = Some(sync * STEP_NS);
    Some(record)
}
