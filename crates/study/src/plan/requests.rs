//! What a study's load sends: how many requests, of which operations, of how many users.

use crate::check::layout::Layout;
use crate::file::study::{CONNECTIONS, LoadTable};
use crate::plan::variant_launch::VariantLaunch;
use assay_load::{GeneratorConfig, Scenario, for_url, planned_mix};
use assay_model::{PlannedProcedure, PlannedRequests};
use std::time::Duration;

/// Stands for the address of a server that does not run yet.
const ADDRESS: &str = "http://127.0.0.1/";

/// Each load with its scenario once, with the variants that are loaded by it.
pub(super) fn planned_requests(
    launches: &[VariantLaunch],
    procedure: &PlannedProcedure,
    layout: &Layout,
) -> Vec<PlannedRequests> {
    let window_s = procedure.emulation().map_or(layout.window_s, |planned| planned.window_s);
    let mut planned: Vec<PlannedRequests> = Vec::new();
    if *procedure == PlannedProcedure::Benchmark {
        return planned;
    }
    for launch in launches {
        let of_url = || for_url(ADDRESS).ok().map(|(_, scenario)| scenario);
        let Some(scenario) = launch.scenario.clone().or_else(of_url) else { continue };
        let requests = match procedure.capacity() {
            Some(search) => planned_mix(&scenario, search.users.map(|users| (users, true)), None),
            None => of_load(&launch.load, scenario, window_s),
        };
        match planned
            .iter_mut()
            .find(|one| PlannedRequests { variants: Vec::new(), ..(*one).clone() } == requests)
        {
            Some(one) => one.variants.push(launch.variant.name.clone()),
            None => planned.push(PlannedRequests { variants: vec![launch.variant.name.clone()], ..requests }),
        }
    }
    planned
}

fn of_load(load: &LoadTable, scenario: Scenario, window_s: f64) -> PlannedRequests {
    let connections = load.connections.unwrap_or(CONNECTIONS);
    let config =
        GeneratorConfig { users: load.users, ..GeneratorConfig::new(ADDRESS, scenario, connections) };
    config.planned_requests(&load.load(), Duration::try_from_secs_f64(window_s).unwrap_or(Duration::MAX))
}
