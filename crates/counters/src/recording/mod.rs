//! Java methods by the JDK's flight recorder: of a file that is there, or of a recording that is started and stopped for it.
//!
//! Recorded threads are found among those of the account by their Java names, which give the role. The recorder knows Java threads alone:
//! what collectors and compilers do is not in it.

mod recorder;
mod stacks;

pub use recorder::{Recorder, no_recording};

use assay_jfr::{Event, JfrError, Profile};
use assay_model::{Problem, RecordingOrigin, StackUnit, TimeGroup, TimeRecording};
use stacks::{Roles, stacks_of};
use std::fs::File;
use std::path::Path;

/// Subject of a problem of a recording.
const ABOUT: &str = "recording";

/// A recording that was read.
#[derive(Debug)]
pub struct Recorded {
    profile: Profile,
    origin: RecordingOrigin,
}

/// Reads a recording.
///
/// # Errors
/// When it cannot be read, or is none.
pub fn read_recording(path: &Path) -> Result<Recorded, JfrError> {
    Ok(Recorded { profile: assay_jfr::read(File::open(path)?)?, origin: RecordingOrigin::File })
}

impl Recorded {
    /// It in the stored form, and what is wrong with it. `groups`: the threads of the account, for roles.
    pub fn among(&self, groups: &[TimeGroup]) -> (TimeRecording, Vec<Problem>) {
        recording_of(&self.profile, self.origin, groups)
    }
}

fn recording_of(
    profile: &Profile,
    origin: RecordingOrigin,
    groups: &[TimeGroup],
) -> (TimeRecording, Vec<Problem>) {
    let roles = Roles::of(groups);
    let is_own = origin == RecordingOrigin::Started;
    let of = |events: &[Event], unit| stacks_of(profile, events, unit, &roles, is_own);
    // Samples of CPU time say more than those of a thread that looks at some others 50 times a second, and are not to be added to them.
    let cpu = of(&[Event::CpuTimeSample], StackUnit::Samples)
        .or_else(|| of(&[Event::ExecutionSample], StackUnit::Samples));
    // Both stand for all allocation.
    let allocation = of(&[Event::ObjectAllocationSample], StackUnit::Bytes)
        .or_else(|| of(&[Event::AllocationInNewTlab, Event::AllocationOutsideTlab], StackUnit::Bytes));
    let recording = TimeRecording {
        origin,
        started_ns: profile.started_ns,
        duration_ns: profile.duration_ns,
        cpu,
        native: of(&[Event::NativeMethodSample], StackUnit::Samples),
        allocation,
    };
    let mut problems: Vec<Problem> =
        profile.problems.iter().map(|problem| Problem::new(ABOUT, problem.clone())).collect();
    if recording.cpu.is_none() && recording.allocation.is_none() {
        problems.push(Problem::new(
            ABOUT,
            "it has neither samples of running threads nor of allocation: record with settings=profile",
        ));
    }
    (recording, problems)
}
