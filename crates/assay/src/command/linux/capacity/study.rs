//! `assay capacity` is a study of one variant and one trial, of a ready-made workload that is started or of a server that runs already: it
//! is warmed up, watched and judged as in any study.

use crate::arguments::{CapacityArguments, MethodName, TlsArguments};
use crate::command::linux::inject;
use crate::command::linux::load::STREAMS_OF_HTTP1;
use crate::command::linux::studies;
use crate::command::process::pid_of;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::seed;
use assay_load::{Generator, GeneratorConfig, Http, LoadError, LoadSource, for_url, scenario_text_of};
use assay_model::{CapacityMethod, CapacityReport, Plan, RunEvent, RunEventKind};
use assay_study::{
    CapacityTable, DesignTable, Observe, Prepared, Seconds, ServerTable, Settings, Study, StudyError,
    TlsTable, WarmUpTable, generator, run_for_value,
};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::NamedTempFile;

/// Stands where messages name a study file.
const NAME: &str = "assay capacity";

/// A search that was checked, and sent nothing yet.
pub struct Wanted {
    prepared: Prepared,
    seed: u64,
    /// A study names a file; that of a ready-made scenario lives as long as the search.
    _scenario: Option<NamedTempFile>,
}

impl Wanted {
    /// What would be done.
    pub fn plan(&self) -> &Plan {
        self.prepared.plan()
    }
}

/// Checks what was asked for.
pub fn wanted(arguments: &CapacityArguments) -> Result<Wanted, Failure> {
    let seed = arguments.seed.unwrap_or_else(seed::any);
    let ready_made = arguments.scenario.as_deref().and_then(studies::ready_made_scenario);
    let file = match (ready_made, &arguments.url) {
        (Some(scenario), _) => Some(file_of(scenario.text)?),
        (None, Some(url)) if !arguments.request.is_plain() => {
            let request = arguments.request.request().map_err(Failure::input)?;
            Some(file_of(&scenario_text_of(url, &request)?.1)?)
        }
        _ => None,
    };
    let scenario = file.as_ref().map(NamedTempFile::path).or(arguments.scenario.as_deref());
    let checked = study_of(arguments, scenario, seed)?.checked(NAME).map_err(StudyError::Diagnostics)?;
    let prepared = checked.prepare(false)?;
    if let Some(url) = arguments.url.as_deref().filter(|_| arguments.injectors.injectors.is_empty()) {
        let (base_url, of_url) = for_url(url)?;
        let scenario = arguments.scenario.as_deref().map_or(Ok(of_url), studies::scenario)?;
        // A host name that cannot be resolved is an error at once; injectors may resolve others.
        Generator::new(GeneratorConfig::new(base_url, scenario, arguments.connections))?;
    }
    Ok(Wanted { prepared, seed, _scenario: file })
}

/// Finds the capacity. Files of the run are removed; a server that it started is stopped, one that ran already runs on.
pub fn find(
    wanted: &Wanted,
    arguments: &CapacityArguments,
    stop: &AtomicBool,
) -> Result<CapacityReport, Failure> {
    let Wanted { prepared, seed, .. } = wanted;
    let source = |config: GeneratorConfig, threads: u32| -> Result<Box<dyn LoadSource + Send>, LoadError> {
        match inject::several(&arguments.injectors, Some(threads), &config)? {
            Some(several) => Ok(several),
            None => generator(config, threads),
        }
    };
    let progress = Progress::of_search(prepared.plan());
    let mut on_event = |event: &RunEvent| {
        use RunEventKind::{
            CapacityWindowEnded, LoadProgress, ObserverExcluded, ServerReady, SessionsProgress, WarmUpEnded,
            WarmUpProgress,
        };
        // The others tell one trial from the next, and name a folder that is removed.
        if matches!(
            event.kind,
            CapacityWindowEnded { .. }
                | LoadProgress { .. }
                | ObserverExcluded { .. }
                | ServerReady { .. }
                | SessionsProgress { .. }
                | WarmUpEnded { .. }
                | WarmUpProgress { .. }
        ) {
            progress.show(event);
        }
    };
    let ran = run_for_value(prepared, &source, stop, &mut on_event);
    drop(progress);
    let interrupted = || Failure::interrupted("interrupted before anything was measured");
    let run = match ran {
        Ok(run) => run,
        // The folder to go on with is gone.
        Err(StudyError::Interrupted { .. }) => return Err(interrupted()),
        Err(error) => return Err(error.into()),
    };
    match run.trials.into_iter().filter_map(|trial| trial.capacity).next_back() {
        // The seed that gives the same draws again.
        Some(found) => Ok(CapacityReport { seed: *seed, ..found }),
        None if stop.load(Ordering::SeqCst) => Err(interrupted()),
        None => Err(Failure::internal("the run has no capacity".to_owned())),
    }
}

fn file_of(text: &str) -> Result<NamedTempFile, Failure> {
    let mut file = tempfile::Builder::new().prefix("scenario-").suffix(".toml").tempfile()?;
    file.write_all(text.as_bytes())?;
    Ok(file)
}

fn study_of(arguments: &CapacityArguments, scenario: Option<&Path>, seed: u64) -> Result<Study, Failure> {
    let text = |path: &Path| -> Result<String, Failure> {
        let path = std::path::absolute(path).map_err(|e| Failure::input(e.to_string()))?;
        Ok(path.to_string_lossy().into_owned())
    };
    let gc_log = arguments.gc_log.as_deref().map(text).transpose()?;
    let pid = arguments.pid.as_ref().map(pid_of).transpose()?;
    let companions = arguments.companion.iter().map(pid_of).collect::<Result<Vec<_>, _>>()?;
    let TlsArguments { trust, client_cert, client_key, server_name, insecure, no_resumption } =
        &arguments.tls;
    let tls = TlsTable {
        trust: trust.as_deref().map(text).transpose()?,
        client_cert: client_cert.as_deref().map(text).transpose()?,
        client_key: client_key.as_deref().map(text).transpose()?,
        server_name: server_name.clone(),
        resumption: no_resumption.then_some(false),
        verify: insecure.then_some(false),
    };
    let http = arguments.http.http().ok_or_else(|| Failure::input(STREAMS_OF_HTTP1))?;
    let http2_streams = match http {
        Http::One => None,
        Http::Two { .. } if arguments.url.is_none() => {
            let what = "--http 2 is for a server with a URL: the ready-made workloads speak HTTP/1.1";
            return Err(Failure::input(what));
        }
        Http::Two { streams } => Some(streams),
    };
    let tls = Some(tls).filter(|tls| *tls != TlsTable::default());
    let server = |url: &String| ServerTable {
        url: Some(url.clone()),
        tls,
        http2_streams,
        pid,
        companions,
        gc_log,
        audit_url: arguments.audit_url.clone(),
        reset_url: arguments.reset_url.clone(),
        ..ServerTable::default()
    };
    let cap = if arguments.no_warm_up { Duration::ZERO } else { arguments.warm_up };
    Ok(Study {
        workload: arguments.workload.clone(),
        server: arguments.url.as_ref().map(server),
        scenario: scenario.map(text).transpose()?,
        // Only the capacity is reported.
        observe: arguments.url.is_some().then(|| vec![Observe::Host]),
        seed: Some(seed),
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
                MethodName::Search => CapacityMethod::Search,
                MethodName::Sweep => CapacityMethod::Sweep,
            }),
            limits_ms: Some(arguments.limits.of_all.clone()).filter(|limits_ms| !limits_ms.is_empty()),
            operation_limits_ms: Some(arguments.limits.of_operations.clone()),
            percentile: Some(arguments.percentile),
            limited_operations: Some(arguments.limited.clone()),
            budget: arguments.budget.map(Seconds::from),
            connections: Some(arguments.connections),
            users: arguments.users,
            in_flight_max: arguments.in_flight,
            threads: arguments.threads,
            count_disturbed: Some(arguments.count_disturbed),
        }),
        ..Study::named("capacity")
    })
}
