//! The scenarios of a study's variants.

use crate::file::document::Document;
use crate::file::workload::Workload;
use crate::plan::candidate::Candidate;
use crate::plan::names::{fixed_placeholders, workload_options};
use crate::plan::variant_launch::VariantLaunch;
use assay_load::Scenario;
use assay_model::{PlannedCapacity, PlannedScenario};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Gives each variant that can run here its scenario. Where none can, all are read: mistakes in them are reported all the same. Each file
/// is read once.
pub(super) fn read_scenarios(workload: &Workload, candidates: &mut [Candidate], document: &mut Document) {
    let Some(template) = &workload.scenario else { return };
    let is_none_present = !candidates.iter().any(Candidate::is_present);
    let mut read: BTreeMap<PathBuf, Option<Scenario>> = BTreeMap::new();
    for candidate in candidates.iter_mut().filter(|c| c.is_present() || is_none_present) {
        let names = fixed_placeholders(workload, &workload_options(&candidate.spec, workload));
        let path = workload.scenario_dir.join(names.fill(template));
        let scenario = read.entry(path.clone()).or_insert_with(|| {
            Scenario::read(&path).inspect_err(|e| document.add("scenario", e.to_string())).ok()
        });
        candidate.scenario.clone_from(scenario);
    }
}

fn scenarios_of(candidates: &[Candidate]) -> impl Iterator<Item = &Scenario> {
    candidates.iter().filter_map(|candidate| candidate.scenario.as_ref())
}

/// A study sets the rate of each window itself, and compares windows of the same load.
pub(super) fn check_rate(candidates: &[Candidate], document: &mut Document) {
    if scenarios_of(candidates).any(|scenario| scenario.rate.is_some()) {
        document.add(
            "scenario",
            "its [rate] is a schedule for `assay load`. A study sets the rate of each window itself, so that \
                windows can be compared: leave [rate] out",
        );
    }
}

/// Limits are of operations that the scenario has.
pub(super) fn check_limited(capacity: &PlannedCapacity, candidates: &[Candidate], document: &mut Document) {
    let own: Vec<String> = capacity.operation_limits_ms.keys().cloned().collect();
    let together = if capacity.limits_ms.is_empty() { &[][..] } else { &capacity.limited_operations };
    for (key, operations) in
        [("capacity.limited_operations", together), ("capacity.operation_limits_ms", own.as_slice())]
    {
        let mut scenarios = scenarios_of(candidates).peekable();
        if scenarios.peek().is_none() && !operations.is_empty() {
            document.add(key, "without a scenario there is one operation only");
        }
        if let Some(e) = scenarios.find_map(|scenario| scenario.check_operations(operations).err()) {
            document.add(key, e.to_string());
        }
    }
}

/// Each scenario once, with the variants that are loaded by it.
pub(super) fn planned_scenarios(launches: &[VariantLaunch]) -> Vec<PlannedScenario> {
    let mut planned: Vec<PlannedScenario> = Vec::new();
    for launch in launches {
        let Some(text) = launch.scenario.as_ref().map(Scenario::text) else { continue };
        let variant = launch.variant.name.clone();
        match planned.iter_mut().find(|one| one.text == text) {
            Some(one) => one.variants.push(variant),
            None => planned.push(PlannedScenario { text: text.to_owned(), variants: vec![variant] }),
        }
    }
    planned
}
