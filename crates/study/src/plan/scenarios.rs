//! The scenarios of a study's variants.

use crate::check::combinations::VariantSpec;
use crate::file::document::Document;
use crate::file::workload::Workload;
use crate::plan::names::{fixed_placeholders, workload_options};
use crate::plan::variant_launch::VariantLaunch;
use assay_load::Scenario;
use assay_model::PlannedScenario;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The scenario of each variant that can run here, or of each where none can: mistakes in it are told all the same. Read once for each
/// file.
pub(crate) fn scenarios(
    workload: &Workload,
    specs: &[VariantSpec],
    present: &[bool],
    document: &mut Document,
) -> Vec<Option<Scenario>> {
    let Some(template) = &workload.scenario else { return vec![None; specs.len()] };
    let mut read: BTreeMap<PathBuf, Option<Scenario>> = BTreeMap::new();
    let mut of = |spec: &VariantSpec| {
        let names = fixed_placeholders(workload, &workload_options(spec, workload));
        let path = workload.scenario_dir.join(names.fill(template));
        let scenario = read.entry(path.clone()).or_insert_with(|| {
            Scenario::read(&path).inspect_err(|e| document.add("scenario", e.to_string())).ok()
        });
        scenario.clone()
    };
    let is_none_present = !present.contains(&true);
    let is_read = |is_present: &bool| *is_present || is_none_present;
    specs
        .iter()
        .zip(present)
        .map(|(spec, is_present)| is_read(is_present).then(|| of(spec)).flatten())
        .collect()
}

/// A study sets the rate of each window itself, and compares windows of the same load.
pub(crate) fn check_rate(scenarios: &[Option<Scenario>], document: &mut Document) {
    if scenarios.iter().flatten().any(|scenario| scenario.rate.is_some()) {
        document.add(
            "scenario",
            "its [rate] is a schedule for `assay load`; a study sets the rate of each of its windows and searches itself, so that they can \
             be compared: leave [rate] out",
        );
    }
}

/// Limits hold for operations that there are.
pub(crate) fn check_limited(operations: &[String], scenarios: &[Option<Scenario>], document: &mut Document) {
    let mut scenarios = scenarios.iter().flatten().peekable();
    if scenarios.peek().is_none() && !operations.is_empty() {
        document.add("capacity.limited_operations", "without a scenario there is one operation only");
    }
    if let Some(e) = scenarios.find_map(|scenario| scenario.check_operations(operations).err()) {
        document.add("capacity.limited_operations", e.to_string());
    }
}

/// Each scenario once, with the variants that are loaded by it.
pub(crate) fn planned_scenarios(launches: &[VariantLaunch]) -> Vec<PlannedScenario> {
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
