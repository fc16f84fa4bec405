//! `assay capacity`: how many requests a second a server sustains within response-time limits.

mod audit;
mod progress;
mod workload;

use crate::arguments::{AtLeast, CapacityArguments, MethodName};
use crate::command::inject::{self, GroupLoad};
use crate::failure::Failure;
use crate::output_file::{can_be_written, write_file};
use crate::{output, stop};
use assay_load::{Generator, GeneratorConfig, LoadSource, Scenario};
use assay_measure::{
    Bounds, CapacityConfig, CapacitySearch, MeasureEvent, Procedure, ServerData, Turn, WarmUpPlan, Watch,
    WatchConfig, With, default_budget_s,
};
use assay_model::{CapacityMethod, CapacityReport};
use assay_report::{LeavesShown, TerminalView, render_capacity_html, render_capacity_terminal};
use audit::DataUrls;
use progress::Progress;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Name of the stored form in the folder of `--out`.
pub const STORED: &str = "capacity.json";

/// Finds a capacity and prints it. The exit code is 0 also when the result is not valid, which it says, unless `--at-least` asks
/// for more.
pub fn capacity(arguments: &CapacityArguments) -> Result<ExitCode, Failure> {
    check_wanted(arguments)?;
    let stored = arguments.out.as_deref().map(new_file).transpose()?;
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    let stop = stop::flag_on_signal()?;
    let report = match &arguments.workload {
        Some(name) => workload::find(arguments, name, &stop)?,
        None => find(arguments, &stop)?,
    };
    if let Some(path) = &stored {
        store(path, &report)?;
    }
    if let Some(path) = &arguments.html {
        write_file(path, |mut out| render_capacity_html(&report, &mut out))?;
        eprintln!("written: {}", path.display());
    }
    if arguments.json {
        output::print_json(&report)?;
    } else {
        let view =
            TerminalView { width: output::width(), color: output::is_coloured(), leaves: LeavesShown::All };
        output::print(|out| out.write_all(render_capacity_terminal(&report, view).as_bytes()))?;
    }
    Ok(exit_code(arguments, &report, &stop))
}

/// Finds the capacity of a server that runs already.
fn find(arguments: &CapacityArguments, stop: &AtomicBool) -> Result<CapacityReport, Failure> {
    let (config, mut source) = prepare(arguments)?;
    let mut watch = Watch::start(&watch_config(arguments)?)?;
    let mut progress = Progress::new();
    let mut on_event = |event: MeasureEvent| progress.show(&event);
    // As long slices as tell one second from the next, whatever the time for all of them.
    let warm_up = (!arguments.no_warm_up).then_some(WarmUpPlan {
        load: WarmUpPlan::USERS,
        slice: Duration::from_secs(1),
        min: Duration::ZERO,
        cap: arguments.warm_up,
    });
    let (audit, reset) = (arguments.audit_url.as_deref(), arguments.reset_url.as_deref());
    let mut urls = DataUrls { audit, reset };
    let data = (audit.is_some() || reset.is_some()).then_some(&mut urls as &mut dyn ServerData);
    let mut search = CapacitySearch { config, warm_up: warm_up.into() };
    let mut with = With { source: &mut *source, watcher: &mut watch, data, stop, on_event: &mut on_event };
    let turn = Turn { block: 1, attempt: 1, is_last: true };
    let measured = search.warm_up(&mut with).and_then(|_| search.measure(&mut with, turn));
    progress.finish();
    measured?.and_then(|of| of.capacity).ok_or_else(|| Failure::internal("a search gave no capacity"))
}

fn check_wanted(arguments: &CapacityArguments) -> Result<(), Failure> {
    for wanted in &arguments.at_least {
        if !arguments.limits.0.contains(&wanted.limit_ms) {
            let what = format!("--at-least names {} ms, which is not among --limits", wanted.limit_ms);
            return Err(Failure::input(what));
        }
    }
    Ok(())
}

/// All that can be wrong with the server and its load is found here.
fn prepare(arguments: &CapacityArguments) -> Result<(CapacityConfig, Box<dyn LoadSource>), Failure> {
    let url = arguments.url.as_deref().unwrap_or_default();
    let (base_url, scenario) = match &arguments.scenario {
        Some(path) => (url.to_owned(), Scenario::read(path)?),
        None => Scenario::for_url(url)?,
    };
    for url in [&arguments.audit_url, &arguments.reset_url].into_iter().flatten() {
        Scenario::for_url(url)?;
    }
    let target = match &arguments.scenario {
        Some(_) => format!("{url} with scenario {}", scenario.name()),
        None => url.to_owned(),
    };
    let method = match arguments.method {
        MethodName::Search => CapacityMethod::Search,
        MethodName::Sweep => CapacityMethod::Sweep,
    };
    let config = CapacityConfig {
        target,
        method,
        budget_s: arguments.budget.map_or_else(|| default_budget_s(method), |budget| budget.as_secs_f64()),
        percentile: arguments.percentile,
        limits_ms: arguments.limits.0.clone(),
        limited_operations: arguments.limited.clone(),
        connections: arguments.connections,
        seed: arguments.seed,
        bounds: Bounds::default(),
        counts_disturbed: arguments.count_disturbed,
    };
    let group = GroupLoad {
        url,
        scenario: arguments.scenario.as_deref(),
        connections: arguments.connections,
        in_flight: arguments.in_flight,
        seed: arguments.seed,
        limited: arguments.limited.clone(),
    };
    let source: Box<dyn LoadSource> = match inject::connect(&arguments.injectors, group)? {
        Some(group) => Box::new(group),
        None => Box::new(Generator::new(GeneratorConfig {
            in_flight_max: arguments.in_flight,
            seed: arguments.seed,
            limited: arguments.limited.clone(),
            ..GeneratorConfig::new(base_url, scenario, arguments.connections)
        })?),
    };
    Ok((config, source))
}

fn watch_config(arguments: &CapacityArguments) -> Result<WatchConfig, Failure> {
    if let Some(log) = &arguments.gc_log {
        fs_err::File::open(log)
            .map_err(|e| Failure::input(format!("{e}; give --gc-log the file that the server writes")))?;
    }
    Ok(WatchConfig {
        pid: arguments.pid,
        companions: arguments.companion.clone(),
        gc_log: arguments.gc_log.clone(),
        every: None,
    })
}

/// Makes the folder before anything is measured, and refuses to write over an earlier result.
fn new_file(folder: &Path) -> Result<PathBuf, Failure> {
    let path = folder.join(STORED);
    if path.exists() {
        let what = format!("{} is there already: give --out another folder", path.display());
        return Err(Failure::input(what));
    }
    fs_err::create_dir_all(folder)
        .and_then(|()| tempfile::NamedTempFile::new_in(folder))
        .map_err(|e| Failure::input(format!("{e}; give --out a folder that can be written")))?;
    Ok(path)
}

/// The file appears whole or not at all.
fn store(path: &Path, report: &CapacityReport) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(report).map_err(|e| Failure::internal(e.to_string()))?;
    write_file(path, |out| writeln!(out, "{text}"))
}

fn exit_code(arguments: &CapacityArguments, report: &CapacityReport, stop: &AtomicBool) -> ExitCode {
    if stop.load(Ordering::Relaxed) {
        return ExitCode::from(stop::INTERRUPTED);
    }
    let missed: Vec<&AtLeast> = arguments.at_least.iter().filter(|wanted| !is_met(report, wanted)).collect();
    for wanted in &missed {
        eprintln!("not shown: {} requests a second under {} ms", wanted.rate_per_s, wanted.limit_ms);
    }
    if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// A valid result in which the limit is kept up to that rate, or was kept at it where no rate missed it.
fn is_met(report: &CapacityReport, wanted: &AtLeast) -> bool {
    let Some(limit) = report.limits.iter().find(|limit| limit.limit_ms == wanted.limit_ms) else {
        return false;
    };
    let kept = match (limit.rate_per_s, limit.first_failure_per_s) {
        (Some(rate), _) => Some(rate.estimate),
        (None, None) => limit.last_success_per_s,
        (None, Some(_)) => None,
    };
    report.valid && kept.is_some_and(|kept| wanted.rate_per_s <= kept)
}
