//! A run from its first file to its last event. Progress is reported as events; nothing is printed.

mod benchmark;
mod benchmark_results;
mod budget;
mod builds;
mod data_urls;
mod duet;
mod emulated;
mod faults;
mod fresh;
pub(crate) mod guest;
mod in_step;
mod launched;
mod no_times;
mod page_outs;
mod procedure;
mod resident;
mod self_ending;
mod server;
mod side_group;
mod specs;
mod state;
mod supervise;
mod treatments;

pub use state::{RunResult, Source};

use crate::error::StudyError;
use crate::plan::prepare::Prepared;
use assay_load::{Generator, GeneratorConfig, LoadError, LoadSource};
use assay_model::{Design, RunEvent, StoredRun, TrialOutcome};
use assay_results::run_dir::{RunDir, load_run};
use state::Run;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Where to run.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// Run directory; absent: `runs/STUDY-TIME` below the current folder.
    pub out: Option<PathBuf>,
    /// Go on with the run in `out`.
    pub resume: bool,
    /// Whether settings of the machine may be changed while trials run.
    pub allow_host_changes: bool,
}

/// Runs a study. `stop` ends it early: what is whole is kept, and every server is stopped.
///
/// Call it from a thread that lives as long as the run; servers die with that thread.
///
/// # Errors
/// Something that the environment lacks, an interruption, or our own fault.
pub fn run(
    prepared: &Prepared,
    options: &RunOptions,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&RunEvent),
) -> Result<RunResult, StudyError> {
    run_from(prepared, options, &generator, stop, on_event)
}

/// Load from a generator of this process, on one thread.
///
/// # Errors
/// As of [`Generator::new`]; more threads, which whoever runs the study has to bring.
pub fn generator(config: GeneratorConfig, threads: u32) -> Result<Box<dyn LoadSource + Send>, LoadError> {
    if 1 < threads {
        let fix = "use 1: this program makes load by one thread alone".into();
        return Err(LoadError::Setting { name: "threads", value: threads.to_string(), fix });
    }
    Ok(Box::new(Generator::new(config)?))
}

/// The same with load from `source`.
///
/// # Errors
/// As of [`run`].
pub fn run_from(
    prepared: &Prepared,
    options: &RunOptions,
    source: &Source<'_>,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&RunEvent),
) -> Result<RunResult, StudyError> {
    if options.resume && options.out.is_none() {
        return Err(StudyError::Use(
            "--resume needs --out with the folder of the run to go on with".to_owned(),
        ));
    }
    treatments::check_allowed(&prepared.plan, options.allow_host_changes)?;
    let out = options.out.clone().unwrap_or_else(|| default_out(&prepared.plan.study));
    let launches = match (prepared.plan.design, &prepared.plan.budget) {
        (Design::Resident, _) => prepared.plan.variants.len(),
        // More blocks are planned than are expected to fit.
        (Design::Fresh | Design::Duet, Some(budget)) => prepared.plan.variants.len() * budget.blocks as usize,
        (Design::Fresh | Design::Duet, None) => prepared.plan.trials.len(),
    };
    let dir = RunDir::open(&out, options.resume, launches, prepared.redactor.clone())?;
    let mut run = Run::begin(prepared, (dir, options.allow_host_changes), source, stop, on_event)?;
    if options.resume {
        run.take_up()?;
    } else {
        run.write_head()?;
    }
    run.announce()?;
    let worked = builds::make_all(&mut run, &prepared.launches).and_then(|()| match prepared.plan.design {
        Design::Fresh => fresh::run_all(&mut run, &prepared.launches),
        Design::Resident => resident::run_all(&mut run, &prepared.launches),
        Design::Duet => duet::run_all(&mut run, &prepared.launches),
    });
    run.end(worked)
}

/// Runs a study with load from `source`, and returns the run as a value instead of leaving a run directory. A run that was stopped gives
/// its results so far.
///
/// # Errors
/// As [`run`], but for the interruption of a run that has trials.
pub fn run_for_value(
    prepared: &Prepared,
    source: &Source<'_>,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&RunEvent),
) -> Result<StoredRun, StudyError> {
    let folder = tempfile::tempdir()?;
    let dir = folder.path().join("run");
    let options = RunOptions { out: Some(dir.clone()), ..RunOptions::default() };
    match run_from(prepared, &options, source, stop, on_event) {
        Ok(_) => Ok(load_run(&dir)?),
        Err(interrupted @ StudyError::Interrupted { .. }) => {
            load_run(&dir).ok().filter(|run| !run.trials.is_empty()).ok_or(interrupted)
        }
        // A trial whose audit failed has its value all the same. Otherwise the folder that the error names is gone.
        Err(StudyError::NoTrial { reason, .. }) => {
            let is_whole = |run: &StoredRun| {
                run.trials.iter().any(|stored| stored.trial.outcome == TrialOutcome::Completed)
            };
            load_run(&dir).ok().filter(is_whole).ok_or(StudyError::Environment(reason))
        }
        Err(error) => Err(error),
    }
}

/// The folder of a run that names none: `runs/STUDY-TIME` below the current folder, and not one that exists.
pub fn default_out(study: &str) -> PathBuf {
    let time = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    let base = PathBuf::from("runs").join(format!("{study}-{time}"));
    // Two runs in the same second.
    (2..100).fold(base.clone(), |out, n| {
        if out.exists() { PathBuf::from(format!("{}-{n}", base.display())) } else { out }
    })
}
