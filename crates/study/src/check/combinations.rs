//! From factors to variants: every combination of levels that is not excluded, with its settings joined.

use crate::file::host::{GroupTable, HostTable};
use crate::file::page_out::PageOutTable;
use crate::file::program::CommandLine;
use crate::file::study::{Factor, LoadTable, QuickTable, Settings, Study};
use crate::file::units::Size;
use assay_jdk::modes::WantedMode;
use assay_model::RequestedMode;
use std::collections::BTreeMap;

/// Most variants of a study.
pub(crate) const VARIANTS_MAX: usize = 200;

/// The placeholder of the folder of a copy that a variant is started in.
pub(crate) const BUILD: &str = "build";

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
    pub page_out: Option<PageOutTable>,
    pub workload_options: BTreeMap<String, String>,
    pub load: LoadTable,
    /// Settings of the machine, those of later factors last.
    pub host: Vec<HostTable>,
    pub limits: Vec<GroupTable>,
    /// In place of those of the server's or benchmark program's table.
    pub command: Option<CommandLine>,
    pub directory: Option<String>,
    pub commit: Option<String>,
    pub build: Option<CommandLine>,
    pub build_timeout_s: Option<f64>,
}

impl VariantSpec {
    /// Its demands on a JVM.
    pub fn wanted_mode(&self) -> WantedMode<'_> {
        WantedMode {
            mode: self.reference_mode,
            max_heap_bytes: self.heap.map(|heap| heap.bytes),
            has_compact_headers: self.compact_headers,
            options: &self.jvm_options,
        }
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
        page_out: None,
        workload_options: BTreeMap::new(),
        load: LoadTable::closed(8),
        host: Vec::new(),
        limits: Vec::new(),
        command: None,
        directory: None,
        commit: None,
        build: None,
        build_timeout_s: None,
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
        fn replace<T: Clone>(to: &mut Option<T>, from: &Option<T>) {
            if from.is_some() {
                to.clone_from(from);
            }
        }
        self.reference_mode = settings.reference_mode.or(self.reference_mode);
        self.compact_headers = settings.compact_headers.unwrap_or(self.compact_headers);
        self.heap = settings.heap.or(self.heap);
        replace(&mut self.jvm, &settings.jvm);
        replace(&mut self.preload, &settings.preload);
        replace(&mut self.page_out, &settings.page_out);
        replace(&mut self.command, &settings.command);
        replace(&mut self.directory, &settings.directory);
        replace(&mut self.commit, &settings.commit);
        replace(&mut self.build, &settings.build);
        replace(&mut self.build_timeout_s, &settings.build_timeout_s);
        self.jvm_options.extend(settings.jvm_options.iter().cloned());
        self.environment.extend(settings.environment.clone());
        self.workload_options.extend(settings.workload_options.clone());
        if let Some(load) = &settings.load {
            self.load = load.clone();
        }
        self.host.extend(settings.host.clone());
    }
}
