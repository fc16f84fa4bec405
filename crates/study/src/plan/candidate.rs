//! A variant that may run on this machine: its JVM and changes, or why it cannot run here.

use crate::check::combinations::VariantSpec;
use crate::check::variants::place_of;
use crate::file::document::Document;
use crate::file::fault::{group_of, treatment_of};
use crate::file::study::Study;
use crate::file::workload::Workload;
use crate::plan::builds::Build;
use crate::plan::changes::all_wanted;
use crate::plan::memory_left::MemoryLeft;
use crate::plan::names::workload_options;
use crate::plan::preload;
use crate::plan::variant_launch::VariantLaunch;
use assay_jdk::options::max_heap_bytes;
use assay_jdk::{InstalledJvms, JvmWish};
use assay_launch::WantedChange;
use assay_load::Scenario;
use assay_model::{Design, JvmFacts, PlannedFault, ReferenceMode, RequestedMode, SkippedVariant, Variant};
use std::path::Path;
use std::sync::Arc;

/// A combination of levels on this machine.
pub(super) struct Candidate {
    pub spec: VariantSpec,
    /// Its JVM and changes, or why it cannot run here.
    pub found: Result<Found, String>,
    /// The key of the study file that asks for what is missing, if anything is.
    pub place: String,
    /// Name of the variant that it is compared with; absent for a baseline, and until baselines are chosen.
    pub baseline: Option<String>,
    /// Its scenario; absent where the ready URL is requested, and until scenarios are read.
    pub scenario: Option<Scenario>,
    /// The copy that it is started in, if it has one of its own.
    pub build: Option<Arc<Build>>,
}

/// A variant's share of the machine.
pub(super) struct Found {
    /// Absent for a program that runs on no JVM.
    pub jvm: Option<JvmFacts>,
    /// Changes to the machine that its levels ask for, in the order in which they are made.
    pub changes: Vec<WantedChange>,
}

/// Resources of this machine that variants need; the servers of the resident design share its memory.
struct Resources<'a> {
    workload: &'a Workload,
    /// Absent where the program runs on no JVM.
    jvms: Option<&'a InstalledJvms>,
    /// Whether a variant has a 32-bit JVM, so that the others get one of the same build.
    compares_32: bool,
    memory: MemoryLeft,
    /// Control groups that faults will limit.
    groups: Vec<WantedChange>,
}

/// All of them, in the study's order. A mode that the JVM of a variant cannot have is a mistake in the study.
pub(super) fn candidates(
    study: &Study,
    specs: Vec<VariantSpec>,
    jvms: Option<&InstalledJvms>,
    (design, faults): (Design, &[PlannedFault]),
    (workload, document): (&Workload, &mut Document),
) -> Vec<Candidate> {
    let is_32 =
        |spec: &VariantSpec| spec.reference_mode == Some(RequestedMode::Exactly(ReferenceMode::Bits32));
    let mut resources = Resources {
        workload,
        jvms,
        compares_32: specs.iter().any(is_32),
        memory: MemoryLeft::for_design(design),
        groups: faults.iter().filter_map(|fault| group_of(&fault.action)).map(WantedChange::Group).collect(),
    };
    specs.into_iter().map(|spec| resources.candidate(study, spec, document)).collect()
}

impl Resources<'_> {
    fn candidate(&mut self, study: &Study, mut spec: VariantSpec, document: &mut Document) -> Candidate {
        let wish =
            JvmWish { jvm: spec.jvm.as_deref(), mode: spec.reference_mode, compares_32: self.compares_32 };
        let jvm = self.jvms.map(|jvms| jvms.choose(wish)).transpose();
        let place = place_of_lack(study, &spec, jvm.is_err());
        if let Ok(Some(jvm)) = &jvm
            && let Err(what) = spec.wanted_mode().jvm_options(jvm.feature)
        {
            let what = format!("variant `{}` in JDK {}: {what}", spec.name, jvm.feature);
            document.add(&place_of(study, &spec.indices), what);
        }
        let found = jvm.and_then(|jvm| self.find(&mut spec, jvm));
        Candidate { spec, found, place, baseline: None, scenario: None, build: None }
    }

    /// Everything that a variant needs besides its JVM.
    fn find(&mut self, spec: &mut VariantSpec, jvm: Option<JvmFacts>) -> Result<Found, String> {
        if let Some(library) = &spec.preload {
            let path = preload::find(library, jvm.as_ref().map_or(usize::BITS as u8, |jvm| jvm.bits))?;
            spec.environment.insert("LD_PRELOAD".to_owned(), path.to_string_lossy().into_owned());
        }
        let changes = all_wanted(&spec.host, &spec.limits, Path::new("/"))?;
        self.groups.iter().try_for_each(WantedChange::check_here)?;
        self.memory.take(spec.heap.map(|heap| heap.bytes).or_else(|| self.heap_of_command(spec)))?;
        Ok(Found { jvm, changes })
    }

    /// The largest heap that command and options of a variant set; the last one counts.
    fn heap_of_command(&self, spec: &VariantSpec) -> Option<u64> {
        let command = spec.words(self.workload).unwrap_or_default();
        max_heap_bytes(spec.jvm_options.iter().chain(&command).map(String::as_str))
    }
}

impl Candidate {
    /// Whether it can run here.
    pub fn is_present(&self) -> bool {
        self.found.is_ok()
    }

    /// How it is launched, or why it is not.
    pub fn into_launch(
        self,
        workload: &Workload,
        faults: &[PlannedFault],
    ) -> Result<VariantLaunch, SkippedVariant> {
        let Candidate { spec, found, baseline, scenario, build, .. } = self;
        match found {
            Ok(Found { jvm, changes }) => {
                let of_faults = faults.iter().filter_map(treatment_of);
                let treatments = changes.iter().map(WantedChange::planned).chain(of_faults).collect();
                let planned = build.as_ref().map(|build| build.planned.clone());
                let variant =
                    Variant { baseline, treatments, build: planned, ..variant(&spec, workload, jvm) };
                let command = spec.words(workload).unwrap_or_default();
                let directory = directory(&spec, workload, build.as_deref());
                let VariantSpec { environment, load, page_out, .. } = spec;
                Ok(VariantLaunch {
                    variant,
                    command,
                    directory,
                    build,
                    environment,
                    load,
                    page_out,
                    scenario,
                    changes,
                })
            }
            Err(reason) => Err(SkippedVariant { name: spec.name, levels: spec.levels, reason }),
        }
    }
}

/// Where it is started: in its copy, unless it names a folder that only the trial has.
fn directory(spec: &VariantSpec, workload: &Workload, build: Option<&Build>) -> Option<String> {
    let named = spec.directory(workload);
    match build {
        Some(build) if named.is_none_or(|path| !path.contains('{')) => {
            Some(build.workdir.to_string_lossy().into_owned())
        }
        _ => named.cloned(),
    }
}

/// A variant as the plan has it, without what it is compared with and what it changes.
fn variant(spec: &VariantSpec, workload: &Workload, jvm: Option<JvmFacts>) -> Variant {
    let mut options = spec.jvm_options.clone();
    if let Some(heap) = spec.heap {
        options.extend([format!("-Xms{}", heap.option_text()), format!("-Xmx{}", heap.option_text())]);
    }
    if let Some(jvm) = &jvm {
        // A mode that this JVM cannot have is reported already.
        options.extend(spec.wanted_mode().jvm_options(jvm.feature).unwrap_or_default());
    }
    let mut environment_names: Vec<String> =
        workload.program.environment().keys().chain(spec.environment.keys()).cloned().collect();
    environment_names.sort();
    environment_names.dedup();
    Variant {
        name: spec.name.clone(),
        levels: spec.levels.clone(),
        reference_mode: spec.reference_mode,
        compact_headers: spec.compact_headers,
        max_heap_bytes: spec.heap.map(|h| h.bytes),
        jvm,
        jvm_options: options,
        environment_names,
        workload_options: workload_options(spec, workload),
        baseline: None,
        treatments: Vec::new(),
        build: None,
    }
}

/// The key in the study file that asks for what is missing.
fn place_of_lack(study: &Study, spec: &VariantSpec, is_jvm: bool) -> String {
    if !is_jvm || spec.jvm.is_none() {
        return place_of(study, &spec.indices);
    }
    let sets_jvm = |(factor, level): (usize, &usize)| {
        let is_set = study.factor[factor].level[*level].settings.jvm.is_some();
        is_set.then(|| format!("factor.{factor}.level.{level}.jvm"))
    };
    spec.indices.iter().enumerate().find_map(sets_jvm).unwrap_or_else(|| "jvm".to_owned())
}
