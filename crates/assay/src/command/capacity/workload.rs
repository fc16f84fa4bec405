//! The capacity of a ready-made workload: a study of one variant and one launch, so that its server is started, warmed up,
//! watched and stopped as in any study.

use crate::arguments::{CapacityArguments, MethodName};
use crate::failure::Failure;
use crate::progress::Progress;
use assay_model::{CapacityReport, RunEvent, RunEventKind, file};
use assay_study::{StudyError, load_run, run_text};
use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Stands where messages name a study file.
const NAME: &str = "assay capacity --workload";

/// Starts the workload's server, finds its capacity and stops it. What the run leaves is removed.
pub fn find(arguments: &CapacityArguments, name: &str, stop: &AtomicBool) -> Result<CapacityReport, Failure> {
    let text = study_of(arguments, name)?;
    let folder = tempfile::tempdir()?;
    let mut progress = Progress::new();
    let mut on_event = |event: &RunEvent| {
        // Its end is told by what is printed; the folder that it names is removed.
        if !matches!(event.kind, RunEventKind::RunEnded { .. }) {
            progress.show(event);
        }
    };
    let ran = run_text(NAME, &text, &folder.path().join("run"), stop, &mut on_event);
    progress.finish();
    let ran = match ran {
        Ok(ran) => ran,
        // The folder to go on with goes with this process, but what was found by then is told.
        Err(StudyError::Interrupted { .. }) => {
            let partial = partial(&folder.path().join("run"));
            return partial.ok_or_else(|| Failure::interrupted("interrupted; the server is stopped"));
        }
        Err(error) => return Err(error.into()),
    };
    let stored = load_run(&ran.dir)?;
    let found = stored.trials.into_iter().filter_map(|trial| trial.capacity).next_back();
    found.ok_or_else(|| Failure::internal("the run has no capacity".to_owned()))
}

/// What a run that was interrupted had found by then.
fn partial(run: &Path) -> Option<CapacityReport> {
    let trials = run.join(file::TRIALS).read_dir().ok()?.flatten();
    let texts = trials.filter_map(|trial| fs_err::read_to_string(trial.path().join(file::CAPACITY)).ok());
    texts.filter_map(|text| serde_json::from_str(&text).ok()).next()
}

/// A text in TOML: JSON's escapes are among those of its basic strings.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn list(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", texts.join(", "))
}

fn study_of(arguments: &CapacityArguments, name: &str) -> Result<String, Failure> {
    let mut lines = vec![
        "schema = \"assay.study/1\"".to_owned(),
        "name = \"capacity\"".to_owned(),
        format!("workload = {}", quoted(name)),
        format!("seed = {}", arguments.seed),
        format!("jvm_options = {}", list(&arguments.jvm_option)),
    ];
    lines.extend(arguments.java.as_ref().map(|java| format!("jvm = {}", quoted(java))));
    lines.extend(arguments.heap.as_ref().map(|heap| format!("heap = {}", quoted(heap))));
    if let Some(scenario) = &arguments.scenario {
        let path = fs_err::canonicalize(scenario).map_err(|e| Failure::input(e.to_string()))?;
        lines.push(format!("scenario = {}", quoted(&path.to_string_lossy())));
    }
    lines.push("[workload_options]".to_owned());
    lines.extend(arguments.option.iter().map(|(key, value)| format!("{} = {}", quoted(key), quoted(value))));
    let cap_s = if arguments.no_warm_up { 0.0 } else { arguments.warm_up.as_secs_f64() };
    lines.push(format!(
        "[design]\nblocks = 1\nrepeats_max = 0\nwarm_up = {{ min = \"0s\", cap = \"{cap_s}s\" }}"
    ));
    let limits: Vec<String> = arguments.limits.0.iter().map(f64::to_string).collect();
    let method = match arguments.method {
        MethodName::Search => "search",
        MethodName::Sweep => "sweep",
    };
    lines.push(format!(
        "[capacity]\nmethod = \"{method}\"\nlimits_ms = [{}]\npercentile = {}\nlimited_operations = {}\nconnections = {}\n\
         in_flight_max = {}",
        limits.join(", "),
        arguments.percentile,
        list(&arguments.limited),
        arguments.connections,
        arguments.in_flight
    ));
    lines.extend(arguments.budget.map(|budget| format!("budget = \"{}s\"", budget.as_secs_f64())));
    Ok(lines.into_iter().fold(String::new(), |mut text, line| {
        // Writing to a String does not fail.
        let _ = writeln!(text, "{line}");
        text
    }))
}
