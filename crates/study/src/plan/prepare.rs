//! From a checked study to what this machine will run: JVMs chosen, variants that cannot run skipped with their reason,
//! programs and files that are missing told, the plan fixed.

use crate::check::capacity;
use crate::check::checked::Checked;
use crate::check::combinations::{VariantSpec, combine};
use crate::check::emulation;
use crate::check::faults;
use crate::check::layout::Layout;
use crate::check::variants::place_of;
use crate::error::{Diagnostic, StudyError};
use crate::file::fault::{group_of, treatment_of};
use crate::file::program::ProcessTable;
use crate::file::study::LoadKind;
use crate::file::workload::Workload;
use crate::plan::baselines::{baselines, replaced_baselines};
use crate::plan::bounds::{bounds, limits_of};
use crate::plan::changes::all_wanted;
use crate::plan::memory_left::MemoryLeft;
use crate::plan::missing;
use crate::plan::names::workload_options;
use crate::plan::needed;
use crate::plan::order::{load_seed, order};
use crate::plan::preload;
use crate::plan::scenarios::{check_limited, check_rate, planned_scenarios, scenarios};
use crate::plan::variant_launch::VariantLaunch;
use crate::result::redacted::secrets_of;
use assay_host::provenance;
use assay_jdk::{InstalledJvms, JvmWish};
use assay_launch::{JVM_OPTIONS, Wanted};
use assay_linux::ProcRoot;
use assay_measure::Bounds;
use assay_measure::observers::Observe;
use assay_model::{
    Design, Finding, JvmFacts, Plan, PlannedProcedure, PlannedTrial, Problem, Provenance, ReferenceMode,
    RequestedMode, SkippedVariant, StudyRule, Subject, Variant, metric, schema,
};
use assay_text::redact::Redactor;
use std::path::{Path, PathBuf};

/// Version of Assay, which is stored with whatever it made.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Load and warm-up of a program that measures itself.
const BENCHMARK_S_OWN: &str = "the benchmark program's own";

/// What warms a server up whose capacity is then searched for.
const WARM_UP_LOAD: &str = "8 users in closed loop";

/// A study and what this machine will run of it: everything that a run needs to know before it starts.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) plan: Plan,
    pub(crate) layout: Layout,
    /// What is accepted of a window.
    pub(crate) bounds: Bounds,
    pub(crate) observe: Vec<Observe>,
    pub(crate) workload: Workload,
    pub(crate) study_text: String,
    pub(crate) study_dir: PathBuf,
    /// Knows what must not be stored.
    pub(crate) redactor: Redactor,
    /// In the order of the plan's variants.
    pub(crate) launches: Vec<VariantLaunch>,
    pub(crate) problems: Vec<Problem>,
    /// What the choice of variants means for the result.
    pub(crate) findings: Vec<Finding<StudyRule>>,
}

impl Prepared {
    /// What a run will do.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}

impl Checked {
    /// Joins the study, or its short form, with what this machine has; nothing is started or written.
    ///
    /// # Errors
    /// What is missing or impossible here, with its place in the study file.
    pub fn prepare(self, quick: bool) -> Result<Prepared, StudyError> {
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
    let capacity = capacity::planned(&study, quick);
    let emulated = emulation::planned(&study, quick);
    let layout = Layout::of(&study.design, short.map(|q| &q.design))
        .with_length(capacity.as_ref().map(|c| c.budget_s).or(emulated.as_ref().map(emulation::trial_s)));
    let mut specs = combine(&study, short);
    if !uses_jvm(&workload.program.words().unwrap_or_default(), &workload)
        && specs.iter().any(|spec| spec.jvm.is_some())
    {
        let what = "the command starts no JVM that could be chosen: it has neither `java` in front nor {java} nor {jvm_options}";
        document.add("jvm", what);
    }
    let jvms = InstalledJvms::find(&workload.cache);
    let compares_32 =
        specs.iter().any(|v| v.reference_mode == Some(RequestedMode::Exactly(ReferenceMode::Bits32)));
    let command = workload.program.words().unwrap_or_default();
    let uses_jvm = uses_jvm(&command, &workload);
    let mut memory = MemoryLeft::for_design(layout.kind);
    let faults = faults::planned(&study);
    let groups = faults.iter().filter_map(|fault| group_of(&fault.action));
    let groups: Vec<Wanted> = groups.map(Wanted::Group).collect();

    let mut outcome: Vec<Result<Option<JvmFacts>, String>> = Vec::new();
    let mut places = Vec::new();
    let mut changes: Vec<Vec<Wanted>> = Vec::new();
    for spec in &mut specs {
        let wish = JvmWish { jvm: spec.jvm.as_deref(), mode: spec.reference_mode, compares_32 };
        let jvm = if uses_jvm { jvms.choose(wish).map(Some) } else { Ok(None) };
        places.push(missing::place(&study, spec, jvm.is_err()));
        if let Ok(Some(jvm)) = &jvm
            && let Err(what) = spec.wanted_mode().jvm_options(jvm.feature)
        {
            let what = format!("variant `{}` in JDK {}: {what}", spec.name, jvm.feature);
            document.add(&place_of(&study, &spec.indices), what);
        }
        let jvm = jvm.and_then(|jvm| preload_into(spec, jvm.as_ref()).map(|()| jvm));
        let wanted = all_wanted(&spec.host, &spec.limits, Path::new("/"));
        let wanted =
            wanted.and_then(|wanted| groups.iter().try_for_each(Wanted::check_here).map(|()| wanted));
        changes.push(wanted.clone().unwrap_or_default());
        let jvm = jvm.and_then(|jvm| wanted.map(|_| jvm));
        outcome.push(jvm.and_then(|jvm| memory.take(spec.heap.map(|h| h.bytes)).map(|()| jvm)));
    }
    let present: Vec<bool> = outcome.iter().map(Result::is_ok).collect();
    let partners = baselines(&study, &specs, &present);
    let findings = replaced_baselines(&study, &specs, &outcome);
    let scenarios = scenarios(&workload, &specs, &present, &mut document);
    check_rate(&scenarios, &mut document);
    if let Some(capacity) = &capacity {
        check_limited(&capacity.limited_operations, &scenarios, &mut document);
    }
    match workload.program.attached() {
        Some(server) => {
            let folder = crate::file::workload::folder_of(&document.file);
            needed::check_attached(server, &folder, layout, &mut document);
        }
        None => {
            let runs =
                specs.iter().zip(&present).filter(|(_, is_present)| **is_present).map(|(spec, _)| spec);
            needed::check(
                &workload,
                &command,
                uses_jvm,
                layout.kind,
                &runs.collect::<Vec<_>>(),
                &mut document,
            );
        }
    }
    let (mut launches, mut skipped) = (Vec::new(), Vec::new());
    for (i, result) in outcome.into_iter().enumerate() {
        let spec = &specs[i];
        match result {
            Err(reason) => {
                skipped.push(SkippedVariant { name: spec.name.clone(), levels: spec.levels.clone(), reason });
            }
            Ok(jvm) => {
                let baseline = partners[i].map(|p| specs[p].name.clone());
                let of_faults = faults.iter().filter_map(treatment_of);
                let treatments = changes[i].iter().map(Wanted::planned).chain(of_faults).collect();
                launches.push(VariantLaunch {
                    variant: Variant { treatments, ..variant(spec, &workload, jvm, baseline) },
                    command: command.clone(),
                    environment: spec.environment.clone(),
                    load: spec.load.clone(),
                    scenario: scenarios[i].clone(),
                    changes: std::mem::take(&mut changes[i]),
                });
            }
        }
    }
    if launches.is_empty() {
        missing::tell(&skipped, &places, &mut document);
    }
    if !document.found.is_empty() {
        document.found.dedup();
        return Err(document.found);
    }
    let names: Vec<String> = launches.iter().map(|l| l.variant.name.clone()).collect();
    let seed = study.seed.unwrap_or(1);
    let loads: Vec<String> = launches
        .iter()
        .map(|l| capacity.as_ref().map_or_else(|| l.load.describe(), capacity::describe))
        .collect();
    let window_s = emulated.as_ref().map_or(layout.window_s, |planned| planned.window_s);
    let procedure = match (workload.program.subject(), emulated, capacity) {
        (Subject::Benchmark, ..) => PlannedProcedure::Benchmark,
        (Subject::Server, Some(planned), _) => PlannedProcedure::Emulated(planned),
        (Subject::Server, None, Some(planned)) => PlannedProcedure::Capacity(planned),
        (Subject::Server, None, None) => PlannedProcedure::Windows,
    };
    let load_sets_rate =
        procedure == PlannedProcedure::Windows && launches.iter().all(|l| l.load.kind == LoadKind::Open);
    let plan = Plan {
        schema: schema::PLAN.to_owned(),
        provenance,
        study: study.name.clone(),
        question: study.question.clone(),
        background: study.background.clone(),
        workload: workload.name.clone(),
        load: match procedure {
            PlannedProcedure::Benchmark => BENCHMARK_S_OWN.to_owned(),
            _ if loads.iter().all(|l| *l == loads[0]) => loads[0].clone(),
            _ => "varied".to_owned(),
        },
        load_sets_rate,
        warm_up: match procedure {
            PlannedProcedure::Benchmark => BENCHMARK_S_OWN.to_owned(),
            PlannedProcedure::Capacity(_) => layout.describe_warm_up(WARM_UP_LOAD),
            PlannedProcedure::Windows => layout.describe_warm_up("the load"),
            PlannedProcedure::Emulated(ref planned) => emulation::describe_warm_up(planned),
        },
        primary_metric: study.primary_metric.clone().unwrap_or_else(|| match procedure {
            PlannedProcedure::Capacity(_) => metric::CRITICAL_RATE_PER_S.to_owned(),
            PlannedProcedure::Windows => metric::CPU_MS_PER_REQUEST.to_owned(),
            PlannedProcedure::Benchmark => metric::NS_PER_OP.to_owned(),
            PlannedProcedure::Emulated(_) => metric::EMULATED_USER_INSTRUCTIONS_PER_REQUEST.to_owned(),
        }),
        expected_s: layout.expected_s(&VariantLaunch::all_beside(&launches, &workload), &procedure),
        procedure,
        quick,
        design: layout.kind,
        seed,
        blocks: layout.blocks,
        window_s,
        repeats_max: layout.repeats_max,
        factors: factors(&study.factor, &specs),
        scenarios: planned_scenarios(&launches),
        trials: planned(&names, &layout, seed),
        variants: launches.iter().map(|l| l.variant.clone()).collect(),
        skipped,
        published: Vec::new(),
        claims: Vec::new(),
        faults,
    };
    // What the load sets says nothing about what others measured.
    let is_measured = |metric: &str| !plan.is_set_by_load(metric);
    let published = study.published.iter().filter(|p| is_measured(&p.metric)).cloned().collect();
    let claims = study.claim.iter().filter(|c| is_measured(&c.about.metric)).cloned().collect();
    let plan = Plan { published, claims, ..plan };
    use Observe::{Gc, Host, Latency, Memory};
    let mut usual = match plan.procedure.emulation() {
        Some(_) => Vec::new(),
        None => vec![Gc, Memory, Host],
    };
    usual.extend(plan.procedure.has_even_load().then_some(Latency));
    if let Some(server) = workload.program.attached() {
        usual.retain(|o| *o != Gc && (*o != Memory || server.pid.is_some()));
    }
    let observe = study.observe.clone().unwrap_or(usual);
    let texts = [&text, &workload.text].into_iter();
    let redactor = secrets_of(texts.chain(plan.scenarios.iter().map(|scenario| &scenario.text)));
    Ok(Prepared {
        bounds: bounds(&limits_of(&study, &specs), observe.contains(&Host), &plan.procedure),
        plan,
        layout,
        observe,
        study_dir: crate::file::workload::folder_of(&document.file),
        redactor,
        workload,
        study_text: text,
        launches,
        problems: jvms.problems,
        findings,
    })
}

/// Has the wanted library loaded into the server before all others, or says why that cannot be.
fn preload_into(spec: &mut VariantSpec, jvm: Option<&JvmFacts>) -> Result<(), String> {
    let Some(library) = &spec.preload else { return Ok(()) };
    let path = preload::find(library, jvm.map_or(usize::BITS as u8, |j| j.bits))?;
    spec.environment.insert("LD_PRELOAD".to_owned(), path.to_string_lossy().into_owned());
    Ok(())
}

/// The factors with the levels that take part.
fn factors(factors: &[crate::file::study::Factor], specs: &[VariantSpec]) -> Vec<(String, Vec<String>)> {
    let takes_part =
        |factor: &str, level: &str| specs.iter().any(|s| s.levels.get(factor).is_some_and(|l| l == level));
    let of = |f: &crate::file::study::Factor| {
        let levels = f.level.iter().map(|l| l.name.clone()).filter(|l| takes_part(&f.name, l)).collect();
        (f.name.clone(), levels)
    };
    factors.iter().map(of).collect()
}

fn planned(names: &[String], layout: &Layout, seed: u64) -> Vec<PlannedTrial> {
    let blocks = if layout.kind == Design::Fresh { layout.blocks } else { 1 };
    let turns =
        (1..=blocks).flat_map(|b| order(names.len(), b, layout.kind, seed).into_iter().map(move |i| (b, i)));
    turns
        .zip(1..)
        .map(|((block, i), number)| PlannedTrial {
            number,
            variant: names[i].clone(),
            block,
            seed: load_seed(seed, block, 1),
        })
        .collect()
}

fn uses_jvm(command: &[String], workload: &Workload) -> bool {
    let mut texts = command.iter().chain(workload.program.environment().values());
    command.first().is_some_and(|w| w == "java")
        || texts.any(|t| t.contains("{java}") || t.contains(JVM_OPTIONS))
        || workload.processes.iter().any(ProcessTable::uses_jvm)
}

fn variant(
    spec: &VariantSpec,
    workload: &Workload,
    jvm: Option<JvmFacts>,
    baseline: Option<String>,
) -> Variant {
    let mut options = spec.jvm_options.clone();
    if let Some(heap) = spec.heap {
        options.extend([format!("-Xms{}", heap.option_text()), format!("-Xmx{}", heap.option_text())]);
    }
    if let Some(jvm) = &jvm {
        // What this JVM cannot have was told before.
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
        baseline,
        treatments: Vec::new(),
    }
}
