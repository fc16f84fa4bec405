//! From factors to variants: every combination of levels that is not excluded, with its settings joined.

use crate::file::host::{GroupTable, HostTable};
use crate::file::program::ProcessTable;
use crate::file::study::{Factor, LimitsTable, LoadKind, LoadTable, QuickTable, Settings, Study};
use crate::file::units::Size;
use crate::file::workload::Workload;
use assay_jdk::modes::WantedMode;
use assay_launch::Wanted;
use assay_load::{ArrivalLaw, Scenario};
use assay_model::{PlannedScenario, RequestedMode, Variant};
use std::collections::BTreeMap;

/// Most variants of a study.
pub(crate) const VARIANTS_MAX: usize = 200;

/// A combination of levels, before it is known whether this machine can run it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct VariantSpec {
    /// Level names joined by `/`; `default` in a study without factors.
    pub name: String,
    /// Level name by factor.
    pub levels: BTreeMap<String, String>,
    /// Index of the level by factor, in the study's order.
    pub indices: Vec<usize>,
    pub reference_mode: Option<RequestedMode>,
    pub compact_headers: bool,
    pub heap: Option<Size>,
    pub jvm: Option<String>,
    pub jvm_options: Vec<String>,
    pub environment: BTreeMap<String, String>,
    pub preload: Option<String>,
    pub workload_options: BTreeMap<String, String>,
    pub load: LoadTable,
    /// Settings of the machine, those of later factors behind.
    pub host: Vec<HostTable>,
    pub limits: Vec<GroupTable>,
}

impl VariantSpec {
    /// What it asks of a JVM.
    pub fn wanted_mode(&self) -> WantedMode<'_> {
        WantedMode {
            mode: self.reference_mode,
            max_heap_bytes: self.heap.map(|heap| heap.bytes),
            has_compact_headers: self.compact_headers,
            options: &self.jvm_options,
        }
    }
}

/// How one variant is launched and loaded.
#[derive(Debug, Clone)]
pub(crate) struct VariantLaunch {
    pub variant: Variant,
    /// The command's words with their placeholders.
    pub command: Vec<String>,
    pub environment: BTreeMap<String, String>,
    pub load: LoadTable,
    /// Absent: the ready URL is requested.
    pub scenario: Option<Scenario>,
    /// Changes to the machine, in the order in which they are made.
    pub changes: Vec<Wanted>,
}

impl VariantLaunch {
    /// How many processes run beside its server.
    pub fn beside(&self, workload: &Workload) -> u32 {
        ProcessTable::count_all(&workload.processes, &self.variant.workload_options)
    }

    /// The same of several.
    pub fn all_beside(launches: &[VariantLaunch], workload: &Workload) -> Vec<u32> {
        launches.iter().map(|launch| launch.beside(workload)).collect()
    }
}

/// All variants of the study, or of its short form, in the study's order: the last factor varies fastest.
pub(crate) fn combine(study: &Study, quick: Option<&QuickTable>) -> Vec<VariantSpec> {
    let mut combinations: Vec<Vec<usize>> = vec![Vec::new()];
    for factor in &study.factor {
        let wanted = quick.and_then(|q| q.levels.get(&factor.name));
        let indices: Vec<usize> = (0..factor.level.len())
            .filter(|i| wanted.is_none_or(|names| names.contains(&factor.level[*i].name)))
            .collect();
        combinations = combinations
            .into_iter()
            .flat_map(|before| indices.iter().map(move |i| [before.as_slice(), &[*i]].concat()))
            .take(VARIANTS_MAX + 1)
            .collect();
    }
    let excluded = |levels: &BTreeMap<String, String>| {
        let further = quick.map_or(&[][..], |q| &q.exclude);
        study.exclude.iter().chain(further).any(|rule| {
            !rule.is_empty() && rule.iter().all(|(factor, level)| levels.get(factor) == Some(level))
        })
    };
    let variants = combinations.into_iter().map(|indices| variant(study, quick, &indices));
    variants.filter(|v| !excluded(&v.levels)).collect()
}

fn variant(study: &Study, quick: Option<&QuickTable>, indices: &[usize]) -> VariantSpec {
    let chosen: Vec<(&Factor, usize)> = study.factor.iter().zip(indices.iter().copied()).collect();
    let levels: BTreeMap<String, String> =
        chosen.iter().map(|(factor, i)| (factor.name.clone(), factor.level[*i].name.clone())).collect();
    let names: Vec<&str> = chosen.iter().map(|(factor, i)| factor.level[*i].name.as_str()).collect();
    let mut spec = VariantSpec {
        name: if names.is_empty() { "default".to_owned() } else { names.join("/") },
        levels,
        reference_mode: None,
        compact_headers: false,
        heap: None,
        jvm: None,
        jvm_options: Vec::new(),
        environment: BTreeMap::new(),
        preload: None,
        workload_options: BTreeMap::new(),
        load: LoadTable::closed(8),
        host: Vec::new(),
        limits: Vec::new(),
        indices: indices.to_vec(),
    };
    spec.apply(&study.settings);
    if let Some(quick) = quick {
        spec.workload_options.extend(quick.workload_options.clone());
        spec.jvm_options.extend(quick.jvm_options.clone());
        if let Some(load) = &quick.load {
            spec.load = load.clone();
        }
    }
    for level in chosen.iter().map(|(factor, i)| &factor.level[*i]) {
        spec.apply(&level.settings);
        spec.limits.extend(level.limits.clone());
    }
    spec
}

impl VariantSpec {
    fn apply(&mut self, settings: &Settings) {
        let replace = |to: &mut Option<String>, from: &Option<String>| {
            if from.is_some() {
                to.clone_from(from);
            }
        };
        self.reference_mode = settings.reference_mode.or(self.reference_mode);
        self.compact_headers = settings.compact_headers.unwrap_or(self.compact_headers);
        self.heap = settings.heap.or(self.heap);
        replace(&mut self.jvm, &settings.jvm);
        replace(&mut self.preload, &settings.preload);
        self.jvm_options.extend(settings.jvm_options.iter().cloned());
        self.environment.extend(settings.environment.clone());
        self.workload_options.extend(settings.workload_options.clone());
        if let Some(load) = &settings.load {
            self.load = load.clone();
        }
        self.host.extend(settings.host.clone());
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

impl LoadTable {
    /// Closed load of so many users.
    pub(crate) fn closed(users: u32) -> Self {
        LoadTable {
            kind: LoadKind::Closed,
            users: Some(users),
            think: None,
            rate_per_s: None,
            arrivals: None,
            connections: None,
            in_flight_max: None,
        }
    }

    /// In words, for plan and report.
    pub(crate) fn describe(&self) -> String {
        match self.kind {
            LoadKind::Closed => {
                let think = self.think.map(|t| format!(", {} s between an answer and the next request", t.0));
                format!("closed loop, {} users{}", self.users.unwrap_or(8), think.unwrap_or_default())
            }
            LoadKind::Open => {
                let law = match self.arrivals.unwrap_or(ArrivalLaw::Poisson) {
                    ArrivalLaw::Constant => "constant",
                    ArrivalLaw::Poisson => "Poisson",
                };
                let rate = self.rate_per_s.unwrap_or_default();
                format!(
                    "open loop, {rate} requests/s, {law} arrivals, {} connections",
                    self.connections.unwrap_or(64)
                )
            }
        }
    }
}

/// The variant that each one is compared with, by index: `None` for a baseline.
///
/// A variant's partner has the baseline level in exactly one factor and agrees in the others. Variants are compared along
/// the factors that `baseline` names (without any, along the first), and of these along the first in which
/// the variant is not at the baseline. `present` says which variants can be run: if the baseline's cannot, the next level in the
/// study's order that can takes its place.
pub(crate) fn baselines(study: &Study, variants: &[VariantSpec], present: &[bool]) -> Vec<Option<usize>> {
    let find = |indices: &[usize]| {
        variants.iter().zip(present).position(|(v, is_present)| *is_present && v.indices == indices)
    };
    let partner = |variant: &VariantSpec, at: usize, factor: &Factor| {
        let own = variant.indices[at];
        let with = |level: usize| {
            let mut indices = variant.indices.clone();
            indices[at] = level;
            find(&indices)
        };
        let by_name = |name: &String| factor.level.iter().position(|l| l.name == *name);
        if let Some(level) = factor.level[own].baseline.as_ref().and_then(by_name)
            && let Some(found) = with(level)
        {
            return Some(found);
        }
        let base = match study.baseline.get(&factor.name) {
            Some(name) => by_name(name)?,
            None if study.baseline.is_empty() && at == 0 => 0,
            None => return None,
        };
        if own == base {
            return None;
        }
        // The wanted level first, then the others in the study's order; one that comes to the variant itself means
        // that it is the baseline here.
        let order = std::iter::once(base).chain((0..factor.level.len()).filter(|i| *i != base));
        order.take_while(|level| *level != own).find_map(with)
    };
    let of = |variant: &VariantSpec| {
        study.factor.iter().enumerate().find_map(|(at, factor)| partner(variant, at, factor))
    };
    variants.iter().zip(present).map(|(v, is_present)| if *is_present { of(v) } else { None }).collect()
}

/// The study's limits. A CPU limit that a level or a fault asks for is what is studied, so its throttling spoils no window.
pub(crate) fn limits_of(study: &Study, specs: &[VariantSpec]) -> LimitsTable {
    let by_fault = study.fault.iter().any(|fault| fault.limit.is_some_and(|limit| limit.cpus.is_some()));
    let by_level = specs.iter().flat_map(|spec| &spec.limits).any(|limits| limits.cpus.is_some());
    let is_studied = by_fault || by_level;
    let throttled_share =
        study.limits.throttled_share.or(Some(1.0).filter(|_| is_studied && study.capacity.is_none()));
    LimitsTable { throttled_share, ..study.limits.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUDY: &str = r#"
schema = "assay.study/1"
name = "x"
baseline = { mode = "a" }
[[factor]]
name = "mode"
level = [{ name = "a" }, { name = "b" }, { name = "c" }, { name = "c, compact", baseline = "c" }]
[[factor]]
name = "heap"
level = [{ name = "1g", heap = "1g" }, { name = "2g", heap = "2g" }]
[[exclude]]
mode = "b"
heap = "2g"
"#;

    /// `variant < baseline` for every variant that is compared, the named ones missing.
    fn pairs(missing: &[&str]) -> Vec<String> {
        let study: Study = toml::from_str(STUDY).unwrap();
        let variants = combine(&study, None);
        let present: Vec<bool> = variants.iter().map(|v| !missing.contains(&v.name.as_str())).collect();
        let partners = baselines(&study, &variants, &present);
        let compared = variants.iter().zip(partners);
        compared.filter_map(|(v, p)| Some(format!("{} < {}", v.name, variants[p?].name))).collect()
    }

    #[test]
    fn every_level_is_compared_with_the_baseline_at_the_same_other_levels_or_with_the_one_it_names() {
        let want =
            ["b/1g < a/1g", "c/1g < a/1g", "c/2g < a/2g", "c, compact/1g < c/1g", "c, compact/2g < c/2g"];
        assert_eq!(pairs(&[]), want);
    }

    #[test]
    fn the_next_level_that_can_be_run_takes_the_place_of_a_missing_baseline() {
        let want = ["c/1g < b/1g", "c/2g < a/2g", "c, compact/1g < c/1g", "c, compact/2g < c/2g"];
        assert_eq!(pairs(&["a/1g"]), want);
        let want = ["b/1g < a/1g", "c, compact/1g < a/1g", "c, compact/2g < c/2g"];
        assert_eq!(pairs(&["c/1g", "a/2g"]), want);
    }
}
