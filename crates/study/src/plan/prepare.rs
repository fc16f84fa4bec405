//! From a checked study to what this machine will run: JVMs chosen, variants that cannot run skipped with their reason,
//! programs and files that are missing reported, the plan fixed.

use super::secrets::secrets_of;
use crate::check::capacity;
use crate::check::checked::Checked;
use crate::check::combinations::{VariantSpec, combine};
use crate::check::emulation;
use crate::check::faults;
use crate::check::layout::Layout;
use crate::error::{Diagnostic, StudyError};
use crate::file::document::Document;
use crate::file::program::ProcessTable;
use crate::file::study::{Factor, Study};
use crate::file::workload::{Workload, folder_of};
use crate::plan::baselines::choose_baselines;
use crate::plan::bounds::{bounds, limits_of};
use crate::plan::builds;
use crate::plan::candidate::{Candidate, candidates};
use crate::plan::duet;
use crate::plan::duration;
use crate::plan::missing;
use crate::plan::needed;
use crate::plan::planned::{Conditions, plan};
use crate::plan::scenarios::{check_limited, check_rate, read_scenarios};
use crate::plan::variant_launch::{VariantLaunch, builds_of};
use assay_emulate::Place;
use assay_host::provenance;
use assay_jdk::InstalledJvms;
use assay_launch::JVM_OPTIONS;
use assay_linux::ProcRoot;
use assay_measure::Bounds;
use assay_measure::observers::Observe;
use assay_model::{
    Finding, Metric, Plan, PlannedFault, PlannedProcedure, Problem, Provenance, SkippedVariant, StudyRule,
    Subject,
};
use assay_results::Gate;
use assay_results::findings::url_alone;
use assay_text::redact::Redactor;
use std::path::PathBuf;

/// Version of Assay, which is stored with everything that it made.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A study and what this machine will run of it: everything that a run needs to know before it starts.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) plan: Plan,
    pub(crate) layout: Layout,
    /// Limits beyond which a window is disturbed.
    pub(crate) bounds: Bounds,
    pub(crate) observe: Vec<Observe>,
    pub(crate) workload: Workload,
    pub(crate) study_text: String,
    pub(crate) study_dir: PathBuf,
    /// Knows the secrets.
    pub(crate) redactor: Redactor,
    /// In the order of the plan's variants.
    pub(crate) launches: Vec<VariantLaunch>,
    pub(crate) problems: Vec<Problem>,
    /// The metrics that are asked about: by the study, and by conditions.
    pub(crate) asked: Vec<Metric>,
    /// Whether the study has a form with fewer levels or shorter windows.
    pub(crate) has_short_form: bool,
    /// Consequences of the choice of variants for the result.
    pub(crate) findings: Vec<Finding<StudyRule>>,
}

impl Prepared {
    /// Has it asked about the metrics of conditions, too: a window that was disturbed in one of them is measured again.
    pub fn ask(&mut self, conditions: &[Gate]) {
        for metric in conditions.iter().map(Gate::metric) {
            if !self.asked.contains(metric) {
                self.asked.push(metric.clone());
            }
        }
    }

    /// The plan of the run.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What follows from the choice of variants, before anything runs.
    pub fn findings(&self) -> &[Finding<StudyRule>] {
        &self.findings
    }

    /// Clean copies that variants are started in, each with the names of its variants, in words, and whether it was made before.
    pub fn builds(&self) -> Vec<(Vec<&str>, String, bool)> {
        let all = builds_of(&self.launches);
        all.into_iter().map(|(build, names)| (names, build.describe(), build.is_made())).collect()
    }
}

impl Checked {
    /// Joins the study, or its short form, with what this machine has; nothing is started or written.
    ///
    /// # Errors
    /// Everything missing or impossible here, with its place in the study file.
    pub fn prepare(self, quick: bool) -> Result<Prepared, StudyError> {
        if self.is_for_guests() {
            let what = format!("the trials of {} run in emulated machines: assay run runs them", self.name());
            return Err(StudyError::Use(what));
        }
        prepare(self, quick, provenance(&ProcRoot::default(), VERSION)).map_err(StudyError::Diagnostics)
    }
}

fn prepare(checked: Checked, quick: bool, provenance: Provenance) -> Result<Prepared, Vec<Diagnostic>> {
    let Checked { study, text, workload, mut document } = checked;
    if quick && study.quick.is_none() {
        document.add("name", "the study has no short form: leave --quick away, or add a [quick] table");
        return Err(document.found);
    }
    let short = study.quick.as_ref().filter(|_| quick);
    let procedure = procedure(&study, workload.program.subject(), quick);
    let layout =
        Layout::of(&study.design, short.map(|q| &q.design)).with_length(duration::trial_s(&procedure));
    let faults = faults::planned(&study);
    let specs = combine(&study, short);
    let limits = limits_of(&study, &specs);
    let (builds, uncommitted) = builds::resolve(&study, &specs, &workload, &mut document);
    let jvms = jvms(&workload, &procedure);
    let on_jvm = Some(&jvms).filter(|_| uses_jvm(&workload, &specs));
    check_jvm_is_used(&specs, on_jvm.is_some(), &mut document);
    let mut candidates =
        candidates(&study, specs, on_jvm, (layout.kind, &faults), (&workload, &mut document));
    candidates.iter_mut().zip(builds).for_each(|(candidate, build)| candidate.build = build);
    let mut findings = choose_baselines(&study, &mut candidates);
    findings.extend(uncommitted);
    read_scenarios(&workload, &mut candidates, &mut document);
    check_here(&candidates, &workload, (&procedure, layout), on_jvm.is_some(), &mut document);
    let halves = duet::halves(&layout, &candidates, &mut document);
    if !document.found.is_empty() {
        document.found.dedup();
        return Err(document.found);
    }
    let factors = factors(&study, &candidates);
    let (mut launches, skipped) = launches(candidates, &workload, &faults);
    let duet = halves.map(|halves| duet::planned(&layout, &halves, &workload, &mut launches));
    let conditions = Conditions { provenance, quick, layout, procedure, factors, faults, duet };
    let plan = plan(&study, &workload, conditions, (&launches, skipped));
    let is_compared = 1 < launches.len() && plan.procedure != PlannedProcedure::Benchmark;
    if is_compared && launches.iter().all(|launch| launch.scenario.is_none()) {
        let url = workload.program.server().map(|table| table.url.as_ref().unwrap_or(&table.ready_url));
        findings.extend(url.map(|url| url_alone(url)));
    }
    let observe = study.observe.clone().unwrap_or_else(|| {
        let mut usual = usual_observers(&plan.procedure, &workload);
        // Several threads keep no log together. In an emulated guest times mean nothing.
        let no_times = study.has_threads() || plan.guest.is_some();
        usual.retain(|observed| *observed != Observe::Latency || !no_times);
        usual
    });
    let texts = [&text, &workload.text].into_iter();
    let redactor = secrets_of(texts.chain(plan.scenarios.iter().map(|scenario| &scenario.text)));
    Ok(Prepared {
        bounds: bounds(&limits, observe.contains(&Observe::Host), &plan.procedure),
        asked: plan.asked(),
        plan,
        layout,
        observe,
        study_dir: folder_of(&document.file),
        redactor,
        workload,
        study_text: text,
        launches,
        has_short_form: study.quick.is_some(),
        problems: jvms.problems,
        findings,
    })
}

/// The JVMs that variants can have: this machine's, or those of the emulated one. Without the latter there is none; that the machine is
/// missing is said where it is looked for.
fn jvms(workload: &Workload, procedure: &PlannedProcedure) -> InstalledJvms {
    let processor = procedure.emulation().map(|planned| planned.processor);
    match processor.and_then(assay_emulate::guest_of) {
        Some(guest) => {
            let place = Place::find(&workload.cache, &guest);
            InstalledJvms::at(&place.map(|place| place.fetched_jvm_homes()).unwrap_or_default())
        }
        None => InstalledJvms::find(&workload.cache),
    }
}

/// How the trials of a study, or of its short form, measure.
pub(super) fn procedure(study: &Study, subject: Subject, is_quick: bool) -> PlannedProcedure {
    let (emulated, capacity) = (emulation::planned(study, is_quick), capacity::planned(study, is_quick));
    match (subject, emulated, capacity) {
        (Subject::Benchmark, ..) => PlannedProcedure::Benchmark,
        (Subject::Server, Some(planned), _) => PlannedProcedure::Emulated(planned),
        (Subject::Server, None, Some(planned)) => PlannedProcedure::Capacity(planned),
        (Subject::Server, None, None) => PlannedProcedure::Windows,
    }
}

/// Whether a JVM is chosen for what the workload starts.
fn uses_jvm(workload: &Workload, specs: &[VariantSpec]) -> bool {
    let is_for_jvm = |text: &String| text.contains("{java}") || text.contains(JVM_OPTIONS);
    let is_jvm = |spec: &VariantSpec| {
        let words = spec.words(workload).unwrap_or_default();
        words.first().is_some_and(|word| word == "java") || words.iter().any(is_for_jvm)
    };
    specs.iter().any(is_jvm)
        || workload.program.environment().values().any(is_for_jvm)
        || workload.processes.iter().any(ProcessTable::uses_jvm)
}

fn check_jvm_is_used(specs: &[VariantSpec], uses_jvm: bool, document: &mut Document) {
    if !uses_jvm && specs.iter().any(|spec| spec.jvm.is_some()) {
        let what = "the command starts no JVM that could be chosen: it has neither `java` in front nor {java} nor {jvm_options}";
        document.add("jvm", what);
    }
}

/// Mistakes that show only on this machine, and everything that it lacks.
fn check_here(
    candidates: &[Candidate],
    workload: &Workload,
    (procedure, layout): (&PlannedProcedure, Layout),
    uses_jvm: bool,
    document: &mut Document,
) {
    check_rate(candidates, document);
    if let Some(capacity) = procedure.capacity() {
        check_limited(capacity, candidates, document);
    }
    workload.program.server().into_iter().for_each(|server| needed::check_tls(server, document));
    match workload.program.attached() {
        Some(server) => needed::check_attached(server, layout, document),
        None => needed::check(workload, uses_jvm, layout.kind, candidates, document),
    }
    missing::check(candidates, document);
}

/// The factors with the levels that take part.
fn factors(study: &Study, candidates: &[Candidate]) -> Vec<(String, Vec<String>)> {
    let takes_part = |factor: &str, level: &str| {
        candidates.iter().any(|c| c.spec.levels.get(factor).is_some_and(|l| l == level))
    };
    let of = |f: &Factor| {
        let levels = f.level.iter().map(|l| l.name.clone()).filter(|l| takes_part(&f.name, l)).collect();
        (f.name.clone(), levels)
    };
    study.factor.iter().map(of).collect()
}

/// The variants that are launched, and those that cannot be.
fn launches(
    candidates: Vec<Candidate>,
    workload: &Workload,
    faults: &[PlannedFault],
) -> (Vec<VariantLaunch>, Vec<SkippedVariant>) {
    let (mut launches, mut skipped) = (Vec::new(), Vec::new());
    for candidate in candidates {
        match candidate.into_launch(workload, faults) {
            Ok(launch) => launches.push(launch),
            Err(one) => skipped.push(one),
        }
    }
    (launches, skipped)
}

/// The observers of a study that names none.
fn usual_observers(procedure: &PlannedProcedure, workload: &Workload) -> Vec<Observe> {
    use Observe::{Gc, Host, Latency, Memory};
    let mut usual = match procedure.emulation() {
        Some(_) => Vec::new(),
        None => vec![Gc, Memory, Host],
    };
    usual.extend(procedure.has_even_load().then_some(Latency));
    if let Some(server) = workload.program.attached() {
        usual.retain(|o| *o != Gc && (*o != Memory || server.pid.is_some()));
    }
    usual
}
