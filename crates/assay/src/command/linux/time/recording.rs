//! `assay time --jfr`: a recording that is there, or one that is made for the account.

use crate::arguments::TimeAccountArguments;
use crate::failure::Failure;
use assay_counters::{Recorded, Recorder, TimeGauge, no_recording, read_recording};
use assay_model::TimeReport;
use std::path::Path;
use std::time::Duration;

/// How long an account is where no time is given; a recording is made for the same time.
pub(super) const DURATION_DEFAULT: Duration = Duration::from_secs(10);

/// What the flight recorder says.
pub(super) enum Recording {
    None,
    Read(Recorded),
    Runs(Recorder),
    Failed(String),
}

/// How much longer than the reading a recording may last, should nobody stop it.
const RECORDING_SPARE: Duration = Duration::from_secs(30);

impl Recording {
    /// Reads the file that was named, if one was.
    pub(super) fn read(arguments: &TimeAccountArguments) -> Result<Recording, Failure> {
        match &arguments.jfr {
            Some(Some(path)) => {
                let recorded = read_recording(path).map_err(|error| unreadable(path, &error))?;
                Ok(Recording::Read(recorded))
            }
            Some(None) | None => Ok(Recording::None),
        }
    }

    /// Has the JVM record.
    pub(super) fn start(gauge: &TimeGauge, pid: u32, arguments: &TimeAccountArguments) -> Recording {
        let feature = gauge.report(None).jvm.and_then(|jvm| jvm.feature);
        let at_most = arguments.duration.unwrap_or(DURATION_DEFAULT) + RECORDING_SPARE;
        match Recorder::start(pid, feature, at_most) {
            Ok(recorder) => Recording::Runs(recorder),
            Err(why) => Recording::Failed(why),
        }
    }

    /// Ends one that runs.
    pub(super) fn ended(self) -> Recording {
        match self {
            Recording::Runs(recorder) => recorder.stop().map_or_else(Recording::Failed, Recording::Read),
            other => other,
        }
    }

    pub(super) fn add_to(&self, report: &mut TimeReport) {
        match self {
            Recording::Read(recorded) => {
                let (recording, problems) = recorded.among(&report.groups);
                report.recording = Some(recording);
                report.problems.extend(problems);
            }
            Recording::Failed(why) => report.problems.push(no_recording(why.as_str())),
            Recording::None | Recording::Runs(_) => {}
        }
    }
}

fn unreadable(path: &Path, error: &impl std::fmt::Display) -> Failure {
    let hint =
        "make one with: jcmd PID JFR.start duration=60s filename=/tmp/one.jfr, or let --jfr alone do it";
    Failure::input(format!("{}: {error}\n  {hint}", path.display()))
}
