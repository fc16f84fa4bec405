//! Parts of a run that were made apart, by other machines or at other times, put together to one run directory.
//!
//! What proves that they belong together is compared, and not believed: the plan but for what a machine may differ in, the version of Assay, the
//! JVMs. No block may be missing or there twice.

use crate::RunDirError;
use crate::curves;
use crate::hosts::hosts;
use crate::run_dir::{RunDir, load_run, load_trials};
use crate::summary::summarise;
use assay_model::{Finding, Plan, PlannedTrial, StoredRun, Summary, Trial, file};
use assay_text::redact::Redactor;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A part of a run, as it was read.
struct Part {
    folder: PathBuf,
    run: StoredRun,
    trials: Vec<(PathBuf, Trial)>,
    /// Blocks of which it has a trial that counts.
    blocks: BTreeSet<u32>,
}

/// Puts parts together into a new run directory; its path, absolute. With `may_lack_blocks` those that are missing stay so.
///
/// # Errors
/// Folders that are no parts of one run, with the first difference; blocks that are missing or there twice; a folder that cannot be written.
pub fn merge(folders: &[PathBuf], out: &Path, may_lack_blocks: bool) -> Result<PathBuf, RunDirError> {
    let mut parts = folders.iter().map(|folder| Part::read(folder)).collect::<Result<Vec<_>, _>>()?;
    parts.sort_by_key(|part| part.blocks.first().copied());
    let Some((first, others)) = parts.split_first() else {
        return Err(RunDirError::Use("no part was named".to_owned()));
    };
    others.iter().try_for_each(|other| same_run(first, other))?;
    let plan = whole_plan(&parts);
    check_twice(&parts)?;
    let missing = missing(&plan, &parts);
    if !missing.is_empty() && !may_lack_blocks {
        return Err(lacking(&plan, &missing));
    }
    let dir = RunDir::open(out, false, 0, Redactor::default())?;
    let trials = copy_trials(&dir, &parts)?;
    let of_parts: Vec<_> = parts.iter().map(|part| (part.blocks.clone(), &part.run.host)).collect();
    let summary = summary(&plan, &trials, &parts, dir.path());
    dir.write_text(file::STUDY, &first.run.study_text)?;
    dir.write_json(file::HOST, &first.run.host)?;
    dir.write_json(file::HOSTS, &hosts(&plan, &trials, &of_parts))?;
    dir.write_json(file::SUMMARY, &summary)?;
    // Last: a folder with a plan is a run directory.
    dir.write_json(file::PLAN, &plan)?;
    Ok(dir.path().to_owned())
}

impl Part {
    fn read(folder: &Path) -> Result<Part, RunDirError> {
        let run = load_run(folder)?;
        let trials = load_trials(folder)?;
        let counting = trials.iter().filter(|(_, trial)| trial.counts());
        let blocks = counting.map(|(_, trial)| trial.block).collect();
        Ok(Part { folder: folder.to_owned(), run, trials, blocks })
    }

    fn name(&self) -> String {
        self.folder.display().to_string()
    }
}

/// The plan of all parts together.
fn whole_plan(parts: &[Part]) -> Plan {
    let of_all = parts.iter().flat_map(|part| &part.run.plan.trials);
    let trials: BTreeMap<u32, &PlannedTrial> = of_all.map(|trial| (trial.number, trial)).collect();
    let first = &parts[0].run.plan;
    let planned: f64 = parts.iter().map(|part| part.run.plan.expected_s).sum();
    Plan {
        trials: trials.into_values().cloned().collect(),
        part: Vec::new(),
        expected_s: planned,
        ..first.clone()
    }
}

/// Refuses a part of another run.
fn same_run(first: &Part, other: &Part) -> Result<(), RunDirError> {
    let refused = |what: String| {
        Err(RunDirError::Use(format!(
            "{} and {} are not parts of one run: {what}\n  run the same study with the same Assay and the \
                same JVMs: assay run STUDY --blocks N,N --out DIR",
            first.name(),
            other.name()
        )))
    };
    let version = |part: &Part| part.run.plan.provenance.assay_version.clone();
    if version(first) != version(other) {
        return refused(format!("Assay {} and {}", version(first), version(other)));
    }
    match plan_difference(&first.run.plan, &other.run.plan) {
        Some(difference) => refused(difference),
        None => Ok(()),
    }
}

/// The first difference between the plans of one study on two hosts, in words, beyond that in which hosts may differ. Absent: their blocks
/// belong to the same run.
pub fn plan_difference(one: &Plan, other: &Plan) -> Option<String> {
    first_difference("", &comparable(one), &comparable(other))
}

/// A plan without what may differ between the machines that make its parts: where JVMs lie, which processors there are, how long it takes.
fn comparable(plan: &Plan) -> Value {
    let mut plan = plan.clone();
    (plan.part, plan.trials, plan.expected_s) = (Vec::new(), Vec::new(), 0.0);
    plan.variants.iter_mut().filter_map(|variant| variant.jvm.as_mut()).for_each(|jvm| jvm.home.clear());
    if let Some(duet) = &mut plan.duet {
        duet.halves = Default::default();
    }
    let mut value = serde_json::to_value(plan).unwrap_or_default();
    if let Some(keys) = value.as_object_mut() {
        keys.remove("provenance");
    }
    value
}

/// The first place where two values differ, with both: `variants[1].jvm.version is "17.0.15" and "17.0.16"`.
fn first_difference(place: &str, one: &Value, other: &Value) -> Option<String> {
    let inside = |key: &str| if place.is_empty() { key.to_owned() } else { format!("{place}.{key}") };
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            let of =
                |map: &serde_json::Map<String, Value>, key: &str| map.get(key).cloned().unwrap_or_default();
            keys.into_iter().find_map(|key| first_difference(&inside(key), &of(one, key), &of(other, key)))
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let mut both = one.iter().zip(other).enumerate();
            both.find_map(|(at, (one, other))| first_difference(&format!("{place}[{at}]"), one, other))
        }
        _ if one == other => None,
        _ => Some(format!("{place} is {one} and {other}")),
    }
}

/// Refuses a variant that counts in the same block of two parts.
fn check_twice(parts: &[Part]) -> Result<(), RunDirError> {
    let mut made: BTreeMap<(u32, &str), &Part> = BTreeMap::new();
    for part in parts {
        let own: BTreeSet<(u32, &str)> = part.counting().collect();
        for block in own {
            if let Some(other) = made.insert(block, part) {
                return Err(RunDirError::Use(format!(
                    "block {} is in {} and in {}: leave one of them away",
                    block.0,
                    other.name(),
                    part.name()
                )));
            }
        }
    }
    Ok(())
}

impl Part {
    /// Block and variant of each trial that counts.
    fn counting(&self) -> impl Iterator<Item = (u32, &str)> {
        let trials = self.trials.iter().map(|(_, trial)| trial).filter(|trial| trial.counts());
        trials.map(|trial| (trial.block, &*trial.variant))
    }
}

/// Blocks that lack a variant. One that counts in no block of any part cannot be measured, and is not waited for.
fn missing(plan: &Plan, parts: &[Part]) -> Vec<u32> {
    let made: BTreeSet<(u32, &str)> = parts.iter().flat_map(Part::counting).collect();
    let can_be = |name: &str| made.iter().any(|(_, variant)| *variant == name);
    let names: Vec<&str> =
        plan.variants.iter().map(|variant| &*variant.name).filter(|name| can_be(name)).collect();
    let lacks = |block: &u32| names.is_empty() || names.iter().any(|name| !made.contains(&(*block, name)));
    (1..=plan.blocks).filter(lacks).collect()
}

fn lacking(plan: &Plan, missing: &[u32]) -> RunDirError {
    let numbers: Vec<String> = missing.iter().map(u32::to_string).collect();
    let (noun, quick) =
        (if missing.len() == 1 { "block" } else { "blocks" }, if plan.quick { " --quick" } else { "" });
    let numbers = numbers.join(",");
    RunDirError::Use(format!(
        "{noun} {numbers} of {} of {} {}: make {} with\n  assay run STUDY{quick} --blocks {numbers} --out DIR\nor add --partial to do without",
        plan.blocks,
        plan.study,
        if missing.len() == 1 { "is missing" } else { "are missing" },
        if missing.len() == 1 { "it" } else { "them" },
    ))
}

/// Copies all trials, in the order of the plan, with new numbers.
fn copy_trials(dir: &RunDir, parts: &[Part]) -> Result<Vec<Trial>, RunDirError> {
    let mut all: Vec<&(PathBuf, Trial)> = parts.iter().flat_map(|part| &part.trials).collect();
    all.sort_by_key(|(_, trial)| (trial.block, trial.number));
    let mut trials = Vec::new();
    for ((folder, trial), number) in all.into_iter().zip(1..) {
        let trial = Trial { number, ..trial.clone() };
        let name = dir.make_trial_folder(number, &trial.variant)?;
        dir.copy_files(folder, &name, file::TRIAL)?;
        dir.write_json(&format!("{name}/{}", file::TRIAL), &trial)?;
        trials.push(trial);
    }
    Ok(trials)
}

/// The result of the trials together. Consequences of the choice of variants are those that the parts were given.
fn summary(plan: &Plan, trials: &[Trial], parts: &[Part], dir: &Path) -> Summary {
    let stored = load_trials(dir).unwrap_or_default();
    let histogram = |(folder, trial): &(PathBuf, Trial)| {
        let histogram = trial.counts().then(|| curves::histogram_of(folder, trial))??;
        Some((trial.number, histogram))
    };
    let histograms = stored.iter().filter_map(histogram).collect();
    let mut summary = summarise(plan, trials, curves::by_variant(trials, &histograms));
    for part in parts {
        let own: Vec<Trial> = part.trials.iter().map(|(_, trial)| trial.clone()).collect();
        let of_trials = summarise(plan, &own, BTreeMap::new()).findings;
        let given = part.run.summary.iter().flat_map(|summary| &summary.findings);
        let given: Vec<_> = given.filter(|found| !of_trials.contains(found)).cloned().collect();
        for found in given {
            if !summary.findings.contains(&found) {
                summary.findings.push(found);
            }
        }
    }
    Finding::sort(&mut summary.findings);
    summary
}

#[cfg(test)]
mod tests;
