//! `assay memory advise`: the limit that a process needs.

use super::read::read;
use crate::arguments::AdviseArguments;
use crate::command::identity_of;
use crate::command::process::pid_of;
use crate::failure::Failure;
use crate::{output, stop};
use assay_linux::ProcRoot;
use assay_memory::{LookDepth, ReadOptions};
use assay_model::MemoryReport;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Between two looks: at least this, and at least four times what a look takes, so that Assay stays a light load.
const INTERVAL: Duration = Duration::from_secs(2);
const SCANS_PER_INTERVAL: u64 = 4;
/// Looks that are kept: a look of a large process has some hundred KB.
const LOOKS_MAX: usize = 400;
const NAP: Duration = Duration::from_millis(50);

/// Looks once, or for as long as asked, and says what limit the process needs.
pub fn advise(arguments: &AdviseArguments) -> Result<ExitCode, Failure> {
    let pid = pid_of(&arguments.pid)?;
    let looks = looks(pid, arguments.watch_for)?;
    if looks.last().is_some_and(|l| l.jvm.is_none()) {
        return Err(Failure::input(format!(
            "process {pid} is not a JVM that could be read: its bounds are not known\n  assay memory {pid} shows what it holds now"
        )));
    }
    let advice = assay_memory::advise(&looks);
    if arguments.json {
        output::print_json(&advice)?;
    } else {
        output::print_text(&assay_report::render_advice_terminal(&advice, output::view()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn looks(pid: u32, watch_for: Option<Duration>) -> Result<Vec<MemoryReport>, Failure> {
    // However long it takes: a limit without a line for direct buffers would be wrong, and peaks are of one depth.
    let options = ReadOptions::of_depth(LookDepth::Owners);
    let mut looks = vec![read(pid, &options)?];
    let proc = ProcRoot::default();
    let identity = identity_of(pid)?;
    let Some(watch_for) = watch_for else { return Ok(looks) };
    let stop = stop::flag_on_signal()?;
    let end = Instant::now() + watch_for;
    while Instant::now() < end && !stop.load(Ordering::SeqCst) {
        let scan_ns = looks.last().map_or(0, |l| l.scan_ns);
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
            Ok(look) => looks.push(look),
            Err(e) => say!("note: a snapshot failed and is left out: {e}"),
        }
        if LOOKS_MAX < looks.len() {
            // Every second one, the first and the newest among them; peaks between are lost, and told.
            say!("note: more than {LOOKS_MAX} snapshots: every second one is dropped");
            let mut index = looks.len();
            looks.retain(|_| {
                index -= 1;
                index % 2 == 0
            });
        }
    }
    Ok(looks)
}
