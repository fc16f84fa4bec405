//! The procedure of a study's trials, and the load generators that it measures with.

use super::server::Server;
use super::state::{Failure, Run};
use crate::file::program::ServerTable;
use crate::file::study::{CONNECTIONS, LoadKind, LoadTable, USERS};
use crate::plan::duration::SETTLE_S;
use crate::plan::variant_launch::VariantLaunch;
use assay_load::{GeneratorConfig, Http, Load, LoadError, Scenario};
use assay_measure::{CapacityConfig, CapacitySearch, Procedure, WarmUpPlan, Windows, limited_apart};
use assay_model::PlannedCapacity;
use std::time::Duration;

/// The procedure that measures a server of this run.
pub(super) fn of_server(run: &Run<'_>, server: &Server<'_>) -> Box<dyn Procedure> {
    let (prepared, load) = (run.prepared, &server.launched.launch.load);
    let layout = prepared.layout;
    let seconds = Duration::from_secs_f64;
    let (min, cap) = (seconds(layout.warm_up_min_s), seconds(layout.warm_up_cap_s));
    let warm_up = |load| (!cap.is_zero()).then(|| WarmUpPlan::within(load, min, cap));
    match prepared.plan.procedure.capacity() {
        Some(planned) => {
            // A mistake in the address is reported by the generator.
            let load = base(server.launched.launch, (&server.url, server.table.url.as_deref()))
                .map_or(load.load(), |(_, scenario)| before_search(load.load(), &scenario, planned.users));
            let warm_up = warm_up(with_threads(load, planned.threads));
            let config = capacity_config(run, server, planned);
            Box::new(CapacitySearch { config, warm_up: warm_up.into() })
        }
        None => Box::new(Windows {
            load: load.load(),
            settle: seconds(SETTLE_S),
            length: seconds(layout.window_s),
            warm_up: warm_up(load.load()).into(),
            bounds: prepared.bounds,
            connections: connections_of(load),
            has_faults: !prepared.plan.faults.is_empty(),
        }),
    }
}

/// Each thread has a user of a closed loop at least.
fn with_threads(load: Load, threads: Option<u32>) -> Load {
    match load {
        Load::Closed { users, think } => Load::Closed { users: users.max(threads.unwrap_or(1)), think },
        open => open,
    }
}

fn capacity_config(run: &Run<'_>, server: &Server<'_>, planned: &PlannedCapacity) -> CapacityConfig {
    let variant = &server.launched.launch.variant;
    let jvm = variant.jvm.as_ref().map_or_else(String::new, |jvm| format!(", JVM {}", jvm.version));
    CapacityConfig {
        target: match (&server.table.url, &server.launched.launch.scenario) {
            (Some(url), Some(scenario)) => format!("{url} with scenario {}", scenario.name()),
            (Some(url), None) => url.clone(),
            (None, _) => format!("workload {}, {}{jvm}", run.prepared.plan.workload, variant.name),
        },
        scenario: server.launched.launch.scenario.as_ref().map(|scenario| scenario.text().to_owned()),
        method: planned.method,
        percentile: planned.percentile,
        limits: planned.limits(),
        limited_operations: planned.limited_operations.clone(),
        budget_s: planned.budget_s,
        connections: planned.connections,
        seed: server.launched.trial.seed,
        bounds: run.prepared.bounds,
        counts_disturbed: planned.count_disturbed,
    }
}

/// The generator of a trial, with the seed of its warm-up or of a measurement.
///
/// There is one from the warm-up to the last window: its users begin their sessions once, before any load. Each measurement draws from its
/// own seed all the same, so that those of all variants in a block draw alike.
pub(super) fn generator_of(
    run: &Run<'_>,
    server: &Server<'_>,
    seed: u64,
) -> Result<GeneratorConfig, Failure> {
    let of_load = loaded_by(server.launched.launch, &server.url, &server.table, seed)
        .map_err(|e| Failure::Variant(e.to_string()))?;
    let base_url = |url: &String| base(server.launched.launch, (url, None)).map(|(base_url, _)| base_url);
    let replicas = server.replica_urls.iter().map(base_url).collect::<Result<Vec<_>, _>>();
    let replicas = replicas.map_err(|e| Failure::Variant(e.to_string()))?;
    let tls = server.table.tls.as_ref().map(|tls| tls.options(&run.prepared.study_dir)).transpose();
    let tls = tls.map_err(|e| Failure::Variant(e.to_string()))?.unwrap_or_default();
    if let Some(planned) = run.prepared.plan.procedure.capacity() {
        return Ok(GeneratorConfig {
            in_flight_max: planned.in_flight_max,
            users: planned.users,
            seed: server.launched.trial.seed,
            limited: planned.limited_operations.clone(),
            limited_apart: limited_apart(&planned.limits()),
            shared: server.shared.clone(),
            tls,
            http: of_load.http,
            ..GeneratorConfig::new(of_load.base_url, of_load.scenario, planned.connections)
        });
    }
    Ok(GeneratorConfig { shared: server.shared.clone(), tls, replicas, ..of_load })
}

/// Threads that make a variant's load together.
pub(super) fn threads_of(run: &Run<'_>, server: &Server<'_>) -> u32 {
    let threads = match run.prepared.plan.procedure.capacity() {
        Some(planned) => planned.threads,
        None => server.launched.launch.load.threads,
    };
    threads.unwrap_or(1)
}

/// The generator of a variant's load, against a server at this address.
pub(super) fn loaded_by(
    launch: &VariantLaunch,
    url: &str,
    server: &ServerTable,
    seed: u64,
) -> Result<GeneratorConfig, LoadError> {
    let (base_url, scenario) = base(launch, (url, server.url.as_deref()))?;
    let http = server.http2_streams.map_or(Http::One, |streams| Http::Two { streams });
    let load = &launch.load;
    let config = GeneratorConfig::new(base_url, scenario, connections_of(load));
    let users = load.users.filter(|_| load.kind == LoadKind::Open);
    Ok(GeneratorConfig { in_flight_max: load.in_flight_max, users, seed, http, ..config })
}

/// Where load goes, and what its users do.
fn base(
    launch: &VariantLaunch,
    (url, attached): (&str, Option<&str>),
) -> Result<(String, Scenario), LoadError> {
    let (base_url, of_url) = assay_load::for_url(url)?;
    Ok(match (&launch.scenario, attached) {
        // The scenario's paths are appended to the address of a server that runs already. A started server is loaded at the address at
        // which it reports that it is ready.
        (Some(scenario), Some(url)) => (url.to_owned(), scenario.clone()),
        (scenario, _) => {
            let scenario = scenario.clone().unwrap_or(of_url);
            (scenario.address_of(&base_url), scenario)
        }
    })
}

fn connections_of(load: &LoadTable) -> u32 {
    match load.kind {
        LoadKind::Closed => load.users.unwrap_or(USERS),
        LoadKind::Open => load.connections.unwrap_or(CONNECTIONS),
    }
}

/// The few users of a warm-up before a search do not think: code is compiled by what runs.
fn before_search(load: Load, scenario: &Scenario, users_max: Option<u32>) -> Load {
    match load {
        Load::Closed { users, .. } => {
            let users = users_max.map_or(users, |most| users.min(most));
            Load::Closed { users: scenario.in_whole_rooms(users), think: Some(Duration::ZERO) }
        }
        Load::Open { .. } => load,
    }
}
