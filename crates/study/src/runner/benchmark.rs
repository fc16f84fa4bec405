//! One trial of a program that measures itself: it gets the variant's JVM options; its results are read, and the logs of the JVMs in
//! which it measured.

use super::benchmark_results;
use super::launched::{Begun, Launched, Starting, TrialId};
use super::self_ending::{conclude, measure};
use super::specs::{has_unified_logging, variant_spec};
use super::state::{Failure, Run};
use crate::error::StudyError;
use crate::file::program::BenchmarkTable;
use crate::plan::names::fixed_placeholders;
use crate::plan::variant_launch::VariantLaunch;
use assay_gclog::log_options;
use assay_jdk::modes;
use assay_launch::{ProcessSpec, ReadyWhen};
use assay_measure::Benchmark;
use assay_measure::observers::{Observe, ObserverSetup, Observers};
use assay_model::{GcJvm, Problem, Trial, Window, file};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// How long a launch may take.
const TIMEOUT_S: f64 = 600.0;
/// How long it may take to stop when it is asked to.
const STOP: Duration = Duration::from_secs(5);
/// JVMs of one launch whose logs are read.
const LOGS_MAX: usize = 1000;
/// Name of their logs, in which the JVM puts its process number; relative to the trial's folder.
const FORK_LOG: (&str, &str) = ("gc-", ".log");
/// Characters by which a path would end, or become another one, on its way through JMH and the JVM's logging option.
const PATH_BREAKERS: [char; 3] = [':', '"', '%'];

/// One launch of a benchmark program, and whether its variant cannot work at all.
pub(super) fn one(run: &mut Run<'_>, launch: &VariantLaunch, id: TrialId) -> Result<(Trial, bool), Failure> {
    let begun = Begun::begin(run, launch, id)?;
    let starting = starting(run, &begun);
    let mut launched = begun.start(run, starting)?;
    let timeout = Duration::from_secs_f64(table(run)?.timeout_s.unwrap_or(TIMEOUT_S));
    let mut procedure = Benchmark { bounds: run.prepared.bounds };
    // Collections and the reference mode are those of all JVMs that it starts, from their logs.
    let of_process = |o: &Observe| matches!(o, Observe::Memory | Observe::Areas);
    let wanted: Vec<Observe> = run.prepared.observe.iter().copied().filter(of_process).collect();
    let observers = Observers::new(&ObserverSetup {
        wanted: &wanted,
        window_s: run.prepared.layout.window_s,
        verifies_mode: false,
        ends_by_itself: true,
    });
    let ended = measure(run, &mut launched, id, &mut procedure, timeout, observers);
    let completed = ended.and_then(|measurement| complete(&mut launched, measurement.window));
    conclude(run, launched, completed)
}

fn table<'a>(run: &Run<'a>) -> Result<&'a BenchmarkTable, Failure> {
    let table = run.prepared.workload.program.benchmark();
    table.ok_or_else(|| Failure::Run(StudyError::Internal("the study has no benchmark".to_owned())))
}

fn starting(run: &Run<'_>, begun: &Begun<'_>) -> Result<Starting<'static>, String> {
    let logs = log_option(begun.launch, &begun.folder)?;
    let mut names = fixed_placeholders(&run.prepared.workload, &begun.launch.variant.workload_options);
    names.set_path("results", &begun.folder.join(file::BENCHMARK));
    let program = variant_spec(run.prepared, begun.launch, ReadyWhen::Started, logs);
    let program = ProcessSpec { stop_timeout: STOP, ..program };
    Ok(Starting { program: Some(program), names, options_of_each: &|_| Vec::new() })
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

/// Reads the results and logs of a launch that ended well.
fn complete(launched: &mut Launched<'_>, mut window: Window) -> Result<(), Failure> {
    read_modes(launched).map_err(Failure::Variant)?;
    let results = benchmark_results::read(&launched.folder.join(file::BENCHMARK)).map_err(Failure::Trial)?;
    window.metrics.extend(results.metrics);
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
        return Err("no JVM of the benchmark program wrote a log, so its JVM options are unproven: does the command pass \
                    {jvm_options} to the JVMs that measure?"
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
