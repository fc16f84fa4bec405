//! One launch of a program that measures itself: started with the variant's JVM options, watched until it ends, its results
//! and the logs of the JVMs in which it measured read. It is one trial with one window.

use super::benchmark_results;
use super::server::{TrialId, blank_trial, plan, record};
use super::specs::{has_unified_logging, variant_spec};
use super::state::{Failure, Run, outcome_of};
use super::treatments::Applied;
use crate::file::program::BenchmarkTable;
use crate::plan::names::fixed_placeholders;
use crate::plan::variant_launch::VariantLaunch;
use assay_gclog::log_options;
use assay_jdk::modes;
use assay_launch::{Local, POLL_INTERVAL, ProcessSpec, Processes, ReadyWhen};
use assay_measure::{Benchmark, Context, Measurement, OwnLoad, Procedure, Watch, WatchConfig};
use assay_model::{GcJvm, Problem, RunEventKind, Trial, Window, file};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a launch may take.
const TIMEOUT_S: f64 = 600.0;
/// How long it may take to stop when it is asked to.
const STOP: Duration = Duration::from_secs(5);
/// How often machine and process are looked at meanwhile: seldom, since what is measured may last nanoseconds.
const WATCH_EVERY: Duration = Duration::from_millis(200);
/// JVMs of one launch whose logs are read.
const LOGS_MAX: usize = 1000;
/// Name of their logs, in which the JVM puts its process number; relative to the trial's folder.
const FORK_LOG: (&str, &str) = ("gc-", ".log");
/// Characters by which a path would end, or become another one, on its way through JMH and the JVM's logging option.
const PATH_BREAKERS: [char; 3] = [':', '"', '%'];

/// A launch in progress.
pub(super) struct Launched<'a> {
    pub launch: &'a VariantLaunch,
    pub trial: Trial,
    pub process: Processes<Local>,
    /// Why it could not be started.
    pub failed: Option<Failure>,
    /// What was changed for it. Behind the process: that is gone before the changes are taken back.
    pub applied: Applied,
    pub folder: PathBuf,
    pub folder_name: String,
}

/// One launch of a benchmark program, and whether its variant cannot work at all.
pub(super) fn one(
    run: &mut Run<'_>,
    launch: &VariantLaunch,
    turn: TrialId,
) -> Result<(Trial, bool), Failure> {
    let mut launched = start(run, launch, turn)?;
    let timeout = Duration::from_secs_f64(table(run)?.timeout_s.unwrap_or(TIMEOUT_S));
    let mut procedure = Benchmark { bounds: run.prepared.bounds };
    let ended = measure(run, &mut launched, turn, &mut procedure, timeout);
    let completed = ended.and_then(|measurement| complete(&mut launched, measurement.window));
    conclude(run, launched, completed)
}

/// Stops what is left of a launch and stores its trial.
pub(super) fn conclude(
    run: &mut Run<'_>,
    mut launched: Launched<'_>,
    completed: Result<(), Failure>,
) -> Result<(Trial, bool), Failure> {
    let problems = launched.process.finish(false);
    let problems = problems.into_iter().map(|(role, what)| Problem::new(role, what));
    launched.trial.problems.extend(problems);
    let (treatments, problems) = launched.applied.take_back();
    launched.trial.treatments = treatments;
    launched.trial.problems.extend(problems);
    run.advance(run.prepared.layout.window_s);
    let Launched { mut trial, folder_name, .. } = launched;
    trial.windows.iter().for_each(|window| run.note_window(window.counts()));
    let (outcome, is_hopeless) = outcome_of(completed)?;
    trial.outcome = outcome;
    Ok((run.store(trial, &folder_name)?, is_hopeless))
}

fn table<'a>(run: &Run<'a>) -> Result<&'a BenchmarkTable, Failure> {
    let table = run.prepared.workload.program.benchmark();
    table.ok_or_else(|| Failure::Run(crate::StudyError::Internal("the study has no benchmark".to_owned())))
}

fn start<'a>(run: &mut Run<'_>, launch: &'a VariantLaunch, turn: TrialId) -> Result<Launched<'a>, Failure> {
    let number = run.next_number();
    let variant = launch.variant.name.clone();
    let TrialId { block, attempt, .. } = turn;
    run.emit(RunEventKind::TrialStarted { number, variant: variant.clone(), block, attempt })?;
    let folder_name = run.dir.make_trial_folder(number, &variant)?;
    let folder = run.dir.path().join(&folder_name);
    let logs = log_option(launch, &folder).map_err(Failure::Variant)?;
    let mut names = fixed_placeholders(&run.prepared.workload, &launch.variant.workload_options);
    names.set_path("results", &folder.join(file::BENCHMARK));
    let (applied, changed) = Applied::make(run.treatments.as_ref(), launch, &[], number);
    let groups = applied.groups.clone();
    let program =
        ProcessSpec { stop_timeout: STOP, groups, ..variant_spec(run, launch, ReadyWhen::Started, logs) };
    let mut process = plan(run, launch, Some(program), &folder, turn, names, |_, spec| spec)?;
    let mut trial = blank_trial(run, launch, number, turn);
    record(&process, &mut trial);
    trial.treatments.clone_from(&applied.records);
    let started = changed.map_err(Failure::Variant);
    let failed =
        started.and_then(|()| process.start_server(&|| !run.is_stopped()).map_err(Failure::Trial)).err();
    Ok(Launched { launch, trial, process, failed, applied, folder, folder_name })
}

/// A log for each JVM that gets the variant's options: only that proves which reference mode it took.
fn log_option(launch: &VariantLaunch, folder: &Path) -> Result<Vec<String>, String> {
    if launch.variant.jvm.is_none() {
        return Ok(Vec::new());
    }
    let path = folder.join(format!("{}%p{}", FORK_LOG.0, FORK_LOG.1));
    let path = path.to_str().filter(|p| p.matches(PATH_BREAKERS).eq(["%"]));
    let options = path.and_then(|path| log_options(path, has_unified_logging(&launch.variant)));
    let options = options.ok_or(
        "the run directory's path has a colon, double quote or percent sign, or is not UTF-8; a benchmark's JVMs cannot log there: \
         choose another --out (before JDK 9 also with other characters than letters, digits and -_./)",
    )?;
    Ok(options)
}

/// Watches it in a thread of its own until it ends by itself. What it used is read before the process is waited for: then its
/// number, and its account, is gone.
pub(super) fn measure(
    run: &Run<'_>,
    launched: &mut Launched<'_>,
    turn: TrialId,
    procedure: &mut dyn Procedure,
    timeout: Duration,
) -> Result<Measurement, Failure> {
    if let Some(why) = launched.failed.take() {
        return Err(why);
    }
    run.check_stop()?;
    let config = WatchConfig {
        pid: launched.process.server_pid(),
        companions: launched.process.companion_pids(),
        every: Some(WATCH_EVERY),
        ..WatchConfig::default()
    };
    let mut watch = Watch::start(&config).map_err(|e| Failure::Trial(e.to_string()))?;
    let (has_ended, stop) = (AtomicBool::new(false), AtomicBool::new(false));
    let turn = assay_measure::MeasurementId { block: turn.block, attempt: turn.attempt };
    let (waited, measured) = std::thread::scope(|scope| {
        let watcher = &mut watch;
        let (has_ended, stop) = (&has_ended, &stop);
        let thread = scope.spawn(move || {
            let mut source = OwnLoad { has_ended };
            let mut on_event = |_| ();
            let mut with =
                Context { source: &mut source, watcher, data: None, stop, on_event: &mut on_event };
            procedure.measure(&mut with, turn)
        });
        let waited = wait(run, launched, timeout);
        let over = if waited.is_ok() { has_ended } else { stop };
        over.store(true, Ordering::Relaxed);
        (waited, thread.join())
    });
    waited?;
    match measured {
        Ok(Ok(Some(measurement))) => Ok(measurement),
        Ok(Ok(None)) => Err(Failure::Interrupted),
        Ok(Err(e)) => Err(Failure::Trial(e.to_string())),
        Err(_) => Err(Failure::Run(crate::StudyError::Internal("measuring panicked".to_owned()))),
    }
}

/// Until it ends by itself.
fn wait(run: &Run<'_>, launched: &mut Launched<'_>, timeout: Duration) -> Result<(), Failure> {
    let begun = Instant::now();
    let process = &mut launched.process;
    loop {
        run.check_stop()?;
        // Asked in this order: it may end well between the two questions.
        let how = process.ended("before it was done");
        if process.server_ended().is_some_and(|ended| ended.code == Some(0)) {
            return Ok(());
        }
        if let Some(how) = how {
            return Err(Failure::Trial(how));
        }
        if timeout <= begun.elapsed() {
            let seconds = timeout.as_secs_f64();
            let who = match run.prepared.plan.procedure.emulation() {
                Some(_) => "emulated guest",
                None => "benchmark program",
            };
            let what = format!("the {who} did not end within {seconds} s");
            return Err(Failure::Trial(what + &process.last_words()));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Reads what a launch that ended well has left.
fn complete(launched: &mut Launched<'_>, mut window: Window) -> Result<(), Failure> {
    read_modes(launched).map_err(Failure::Variant)?;
    let results = benchmark_results::read(&launched.folder.join(file::BENCHMARK)).map_err(Failure::Trial)?;
    window.metrics = results.metrics;
    window.problems.extend(results.problems);
    launched.trial.windows.push(window);
    Ok(())
}

/// Takes the reference mode from the log of every JVM in which it was measured. All must have the mode that was asked for.
fn read_modes(launched: &mut Launched<'_>) -> Result<(), String> {
    let variant = &launched.launch.variant;
    if variant.jvm.is_none() {
        return Ok(());
    }
    let logs = read_logs(&launched.folder);
    if logs.is_empty() {
        return Err("no JVM of the benchmark program wrote a log, so nothing shows that it measured in a JVM with the \
                    variant's options: does the command give {jvm_options} to the JVMs in which it measures?"
            .to_owned());
    }
    let mut unread = Vec::new();
    for (name, log) in &logs {
        match (&log.mode, variant.reference_mode) {
            (Some(read), Some(wanted)) => {
                modes::check(wanted, variant.compact_headers, read)
                    .map_err(|how| format!("{name}: {how}"))?;
            }
            (None, Some(_)) => unread.push(name.as_str()),
            _ => {}
        }
    }
    let trial = &mut launched.trial;
    if !unread.is_empty() {
        let what = format!(
            "does not show which reference mode the JVM chose, so it could not be verified ({} of {} logs)",
            unread.len(),
            logs.len()
        );
        trial.problems.push(Problem::new(unread[0], what));
    }
    let known =
        |log: &GcJvm| log.mode.as_ref().map(|read| (read.mode, read.shift_bits, read.compact_headers));
    let first = logs.values().find(|log| log.mode.is_some());
    let is_same = |first: &&GcJvm| logs.values().all(|l| l.mode.is_none() || known(l) == known(first));
    match first.filter(is_same) {
        Some(log) => trial.mode.clone_from(&log.mode),
        None if first.is_some() => {
            trial
                .problems
                .push(Problem::new(file::GC_LOG, "the program's JVMs chose different reference modes"));
        }
        None => {}
    }
    trial.collector = logs.values().find_map(|log| log.collector.clone());
    Ok(())
}

/// The launch's JVMs as their logs show them, by the file name of the log.
fn read_logs(folder: &Path) -> BTreeMap<String, GcJvm> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let name_of = |entry: std::fs::DirEntry| entry.file_name().into_string().ok();
    let is_log = |name: &String| name.starts_with(FORK_LOG.0) && name.ends_with(FORK_LOG.1);
    let names = entries.filter_map(name_of).filter(is_log).take(LOGS_MAX);
    let read = |name: String| {
        let log = std::fs::File::open(folder.join(&name)).ok()?;
        Some((name, assay_gclog::read_jvm(log)))
    };
    names.filter_map(read).collect()
}
