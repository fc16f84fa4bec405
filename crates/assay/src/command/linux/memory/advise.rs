//! `assay memory advise`: the limit that a process needs.

use super::read::read;
use crate::arguments::AdviseArguments;
use crate::command::process::identity_of;
use crate::command::process::pid_of;
use crate::failure::Failure;
use crate::forms::show_as_asked;
use crate::output_file::can_be_written;
use crate::stop;
use assay_linux::ProcRoot;
use assay_memory::{ReadOptions, SnapshotDepth};
use assay_model::MemoryReport;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Between two snapshots: at least this, and at least four times what a snapshot takes, so that Assay stays a light load.
const INTERVAL: Duration = Duration::from_secs(2);
const SCANS_PER_INTERVAL: u64 = 4;
/// Snapshots that are kept: a snapshot of a large process has some hundred KB.
const SNAPSHOTS_MAX: usize = 400;
const NAP: Duration = Duration::from_millis(50);

/// Looks once, or for as long as asked, and says what limit the process needs.
pub fn advise(arguments: &AdviseArguments) -> Result<ExitCode, Failure> {
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    let pid = pid_of(&arguments.pid)?;
    let snapshots = snapshots(pid, arguments.watch_for)?;
    if snapshots.last().is_some_and(|l| l.jvm.is_none()) {
        return Err(Failure::input(format!(
            "process {pid} is not a JVM that could be read: its bounds are not known\n  assay memory {pid} shows what it holds now"
        )));
    }
    let advice = assay_memory::advise(&snapshots);
    show_as_asked(&advice, &arguments.format, arguments.html.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

fn snapshots(pid: u32, watch_for: Option<Duration>) -> Result<Vec<MemoryReport>, Failure> {
    // However long it takes: a limit without a line for direct buffers would be wrong, and peaks are of one depth.
    let options = ReadOptions::of_depth(SnapshotDepth::Owners);
    let mut snapshots = vec![read(pid, &options)?];
    let proc = ProcRoot::default();
    let identity = identity_of(pid)?;
    let Some(watch_for) = watch_for else { return Ok(snapshots) };
    let stop = stop::flag_on_signal()?;
    let end = Instant::now() + watch_for;
    while Instant::now() < end && !stop.load(Ordering::SeqCst) {
        let scan_ns = snapshots.last().map_or(0, |l| l.scan_ns);
        let pause = INTERVAL.max(Duration::from_nanos(scan_ns.saturating_mul(SCANS_PER_INTERVAL)));
        let next = (Instant::now() + pause).min(end);
        while Instant::now() < next && !stop.load(Ordering::SeqCst) {
            std::thread::sleep(NAP);
        }
        if !proc.is_running(identity).unwrap_or(true) {
            say!("note: the process has ended; what was seen until then counts");
            break;
        }
        match assay_memory::read(pid, &options) {
            Ok(snapshot) => snapshots.push(snapshot),
            Err(e) => say!("note: a snapshot failed and is left out: {e}"),
        }
        if SNAPSHOTS_MAX < snapshots.len() {
            // Every second one, the first and the newest among them; peaks between are lost, which the text says.
            say!("note: more than {SNAPSHOTS_MAX} snapshots: every second one is dropped");
            let mut index = snapshots.len();
            snapshots.retain(|_| {
                index -= 1;
                index % 2 == 0
            });
        }
    }
    Ok(snapshots)
}
