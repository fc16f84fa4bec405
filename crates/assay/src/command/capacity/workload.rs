//! The capacity of a ready-made workload: a study of one variant and one launch, so that its server is started, warmed up,
//! watched and stopped as in any study.

use crate::arguments::{CapacityArguments, MethodName};
use crate::failure::Failure;
use crate::progress::Progress;
use assay_model::{CapacityReport, RunEvent, RunEventKind};
use assay_study::{
    CapacityTable, DesignTable, MethodWord, Seconds, Settings, Study, StudyError, WarmUpTable, run_for_value,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Stands where messages name a study file.
const NAME: &str = "assay capacity --workload";

/// Starts the workload's server, finds its capacity and stops it. What the run leaves is removed.
pub fn find(arguments: &CapacityArguments, name: &str, stop: &AtomicBool) -> Result<CapacityReport, Failure> {
    let checked = study_of(arguments, name)?.checked(NAME).map_err(StudyError::Diagnostics)?;
    let prepared = checked.prepare(false)?;
    let mut progress = Progress::new();
    let mut on_event = |event: &RunEvent| {
        // Its end is told by what is printed; the folder that it names is removed.
        if !matches!(event.kind, RunEventKind::RunEnded { .. }) {
            progress.show(event);
        }
    };
    let ran = run_for_value(&prepared, stop, &mut on_event);
    progress.finish();
    let interrupted = || Failure::interrupted("interrupted; the server is stopped");
    let run = match ran {
        Ok(run) => run,
        // The folder to go on with is gone.
        Err(StudyError::Interrupted { .. }) => return Err(interrupted()),
        Err(error) => return Err(error.into()),
    };
    match run.trials.into_iter().filter_map(|trial| trial.capacity).next_back() {
        Some(found) => Ok(found),
        None if stop.load(Ordering::SeqCst) => Err(interrupted()),
        None => Err(Failure::internal("the run has no capacity".to_owned())),
    }
}

fn study_of(arguments: &CapacityArguments, name: &str) -> Result<Study, Failure> {
    let scenario = arguments.scenario.as_ref().map(fs_err::canonicalize).transpose();
    let scenario = scenario.map_err(|e| Failure::input(e.to_string()))?;
    let cap = if arguments.no_warm_up { Duration::ZERO } else { arguments.warm_up };
    Ok(Study {
        workload: Some(name.to_owned()),
        scenario: scenario.map(|path| path.to_string_lossy().into_owned()),
        seed: Some(arguments.seed),
        settings: Settings {
            jvm: arguments.java.clone(),
            heap: arguments.heap,
            jvm_options: arguments.jvm_option.clone(),
            workload_options: arguments.option.iter().cloned().collect(),
            ..Settings::default()
        },
        design: DesignTable {
            blocks: Some(1),
            repeats_max: Some(0),
            warm_up: WarmUpTable { min: Some(Seconds(0.0)), cap: Some(cap.into()) },
            ..DesignTable::default()
        },
        capacity: Some(CapacityTable {
            method: Some(match arguments.method {
                MethodName::Search => MethodWord::Search,
                MethodName::Sweep => MethodWord::Sweep,
            }),
            limits_ms: Some(arguments.limits.0.clone()),
            percentile: Some(arguments.percentile),
            limited_operations: Some(arguments.limited.clone()),
            budget: arguments.budget.map(Seconds::from),
            connections: Some(arguments.connections),
            in_flight_max: Some(arguments.in_flight),
        }),
        ..Study::named("capacity")
    })
}
