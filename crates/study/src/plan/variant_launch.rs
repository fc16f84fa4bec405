//! How a variant is launched and loaded on this machine.

use crate::file::page_out::PageOutTable;
use crate::file::program::ProcessTable;
use crate::file::study::LoadTable;
use crate::file::workload::Workload;
use crate::plan::builds::Build;
use assay_launch::{JVM_OPTIONS, WantedChange};
use assay_load::Scenario;
use assay_model::Variant;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The copies of all variants, each once, with the names of its variants.
pub(crate) fn builds_of(launches: &[VariantLaunch]) -> Vec<(&Arc<Build>, Vec<&str>)> {
    let mut all: Vec<(&Arc<Build>, Vec<&str>)> = Vec::new();
    for launch in launches {
        let Some(build) = &launch.build else { continue };
        match all.iter_mut().find(|(known, _)| known.planned.id == build.planned.id) {
            Some((_, names)) => names.push(&launch.variant.name),
            None => all.push((build, vec![&launch.variant.name])),
        }
    }
    all
}

/// How one variant is launched and loaded.
#[derive(Debug, Clone)]
pub(crate) struct VariantLaunch {
    pub variant: Variant,
    /// The command's words with their placeholders.
    pub command: Vec<String>,
    /// The folder that it is started in; that of the study where there is none.
    pub directory: Option<String>,
    /// The copy that it is started in, if it has one of its own.
    pub build: Option<Arc<Build>>,
    pub environment: BTreeMap<String, String>,
    pub load: LoadTable,
    /// Dead memory that is paged out of it while it runs.
    pub page_out: Option<PageOutTable>,
    /// Absent: the ready URL is requested.
    pub scenario: Option<Scenario>,
    /// Changes to the machine, in the order in which they are made.
    pub changes: Vec<WantedChange>,
}

impl VariantLaunch {
    /// Whether its command, or an environment variable, takes JVM options.
    pub fn takes_jvm_options(&self, workload: &Workload) -> bool {
        let environment = workload.program.environment().values();
        self.command.iter().chain(environment).any(|text| text.contains(JVM_OPTIONS))
    }

    /// Number of its auxiliary processes.
    pub fn auxiliary_count(&self, workload: &Workload) -> u32 {
        ProcessTable::count_all(&workload.processes, &self.variant.workload_options)
    }

    /// Those of several variants.
    pub fn auxiliary_counts(launches: &[VariantLaunch], workload: &Workload) -> Vec<u32> {
        launches.iter().map(|launch| launch.auxiliary_count(workload)).collect()
    }
}
