//! Shenandoah of JDK 8: a bracket on a line of its own for each pause and phase, in the words of unified logging.
//!
//! ```text
//! 463.254: #0: [Pause Init Mark (process weakrefs), 7.438 ms]
//! 463.261: #0: [Concurrent marking 12G->13G(18G), 42.990 ms]
//! ```

use super::text::Stamp;
use crate::contract::At;
use crate::dialect::unified::timed;
use assay_model::{GcRecord, GcRecordKind, GcSizes};

/// The event of such a line.
pub(super) enum ShenandoahLine {
    /// Something begins; its end stands on another line.
    Start,
    /// It has ended.
    End(Box<GcRecord>),
}

/// The event of a line; `None` when it is another line, or breaks off. Where beginnings are logged too, the stamp of a line is that of
/// the end, else of the beginning.
pub(super) fn read(text: &str, has_starts: bool, at: At) -> Option<ShenandoahLine> {
    // Nothing but a stamp stands before it, so it is the first bracket.
    let open = memchr::memchr(b'[', text.as_bytes())?;
    let behind = &text[open + 1..];
    if !behind.starts_with("Pause ") && !behind.starts_with("Concurrent ") {
        return None;
    }
    let (before, stamp) = Stamp::behind(&text[..open]);
    let inside = behind.trim_end().strip_suffix(']')?;
    let (what, length) = inside.rsplit_once(", ")?;
    if !before.trim().is_empty() {
        return None;
    }
    if length == "start" {
        return Some(ShenandoahLine::Start);
    }
    let line = format!("{what} {}ms", length.strip_suffix(" ms")?);
    let timed = timed::read(&line).filter(|timed| timed.has_ended)?;
    let (ns, step_ns) = timed.duration?;
    let mut record = GcRecord::new(timed.kind, timed.phase(), at.source, at.line);
    record.scope = timed.scope;
    record.cause = timed.cause.map(str::to_owned);
    record.cycle_id = stamp.gc_id;
    record.anomalies = timed.anomalies();
    record.end = stamp.after(if has_starts { 0 } else { ns });
    (record.duration_ns, record.duration_resolution_ns) = (Some(ns), Some(step_ns));
    if let Some(sizes) = timed.sizes {
        record.heap = GcSizes {
            before_bytes: Some(sizes.before_bytes),
            after_bytes: Some(sizes.after_bytes),
            capacity_bytes: sizes.capacity_bytes,
            resolution_bytes: Some(sizes.resolution_bytes),
        };
    }
    matches!(record.kind, GcRecordKind::Pause | GcRecordKind::Concurrent)
        .then(|| ShenandoahLine::End(Box::new(record)))
}

/// Whether a line explains what Shenandoah does: indented below the pause or phase, or about when the next cycle begins.
pub(super) fn explains(text: &str) -> bool {
    const BEGINNINGS: [&str; 6] =
        ["Trigger", "Free: ", "Evacuation Reserve", "Cancelling ", "Uncommit", "Max: "];
    text.starts_with("    ") || BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
}
