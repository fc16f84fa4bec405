//! The heap of a running JVM, which is stopped while it is read.

use super::objects::Heap;
use crate::arguments::ProcessName;
use crate::command::process::{identity_of, pid_of};
use crate::failure::Failure;
use assay_heap::live::{self, LiveError, LiveHistogram};
use std::time::Duration;

/// How long a process is stopped for each GiB of its heap that is in use. Measured: 1.9 to 2.0 s on 2 busy cores, for a heap
/// of small objects; large arrays take less.
const FREEZE_S_PER_GIB: f64 = 2.0;

/// Reads it; the process is stopped for `freeze` at most.
pub fn heap_of(process: &ProcessName, freeze: Duration) -> Result<Heap, Failure> {
    let pid = pid_of(process)?;
    identity_of(pid)?;
    let LiveHistogram { histogram, model, freeze, .. } =
        live::histogram_after(pid, freeze, &|used| announce(pid, used, freeze)).map_err(not_walked)?;
    let frozen_ms = Some(freeze.frozen_ns as f64 / 1e6);
    let (known_model, known_stranger) = model.map_or_else(|why| (None, Some(why)), |m| (Some(m), None));
    Ok(Heap { histogram, source: format!("process {pid}"), known_model, known_stranger, frozen_ms })
}

/// Says that a process is about to be stopped, and for how long about.
fn announce(pid: u32, used_bytes: u64, limit: Duration) {
    let gib = used_bytes as f64 / f64::from(1 << 30);
    let expected = Duration::from_secs_f64(gib * FREEZE_S_PER_GIB).min(limit);
    say!(
        "stopping process {pid} while {gib:.2} GiB of heap are read: some {:.1} s, {limit:?} at most (--freeze)",
        expected.as_secs_f64()
    );
}

/// What a process is, and how long it may be stopped, is the user's choice; the rest is the environment's.
fn not_walked(error: LiveError) -> Failure {
    match error {
        LiveError::Linux(error) => error.into(),
        error @ (LiveError::NoJvm { .. } | LiveError::TimeOver { .. }) => Failure::input(error.to_string()),
        error => Failure::environment(error.to_string()),
    }
}
