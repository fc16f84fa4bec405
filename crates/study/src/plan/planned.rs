//! The plan as it is stored and shown: variants, order of trials, and what is measured in words.

use crate::check::capacity;
use crate::check::emulation;
use crate::check::guest;
use crate::check::layout::Layout;
use crate::file::study::{LoadKind, Study};
use crate::file::workload::Workload;
use crate::plan::order::{load_seed, order};
use crate::plan::requests::planned_requests;
use crate::plan::scenarios::planned_scenarios;
use crate::plan::variant_launch::VariantLaunch;
use assay_model::{
    Design, Plan, PlannedDuet, PlannedFault, PlannedProcedure, PlannedTrial, Provenance, SkippedVariant,
    metric, schema,
};
use std::collections::BTreeMap;

/// Load and warm-up of a program that measures itself.
const BENCHMARK_S_OWN: &str = "the benchmark program's own";

/// The load that warms a server up before the search for its capacity.
const WARM_UP_LOAD: &str = "8 users in closed loop";

/// The conditions that all trials of a run share.
pub(super) struct Conditions {
    pub provenance: Provenance,
    pub quick: bool,
    pub layout: Layout,
    pub procedure: PlannedProcedure,
    /// The factors with the levels that take part.
    pub factors: Vec<(String, Vec<String>)>,
    pub faults: Vec<PlannedFault>,
    /// How pairs run, in the duet design.
    pub duet: Option<PlannedDuet>,
}

/// The plan of a run of these variants.
pub(super) fn plan(
    study: &Study,
    workload: &Workload,
    conditions: Conditions,
    (launches, skipped): (&[VariantLaunch], Vec<SkippedVariant>),
) -> Plan {
    let Conditions { provenance, quick, layout, procedure, factors, faults, duet } = conditions;
    let seed = study.seed.unwrap_or(1);
    let requests = planned_requests(launches, &procedure, &layout);
    let plan = Plan {
        schema: schema::PLAN.to_owned(),
        provenance,
        study: study.name.clone(),
        question: study.question.clone(),
        background: study.background.clone(),
        workload: workload.name.clone(),
        load: load(&procedure, launches, study.replicas),
        load_sets_rate: procedure == PlannedProcedure::Windows
            && launches.iter().all(|launch| launch.load.kind == LoadKind::Open),
        warm_up: warm_up(&procedure, &layout),
        primary_metric: study.primary_metric.clone().unwrap_or_else(|| primary_metric(&procedure)),
        expected_s: layout.expected_s(&VariantLaunch::auxiliary_counts(launches, workload), &procedure),
        window_s: procedure.emulation().map_or(layout.window_s, |planned| planned.window_s),
        procedure,
        quick,
        design: layout.kind,
        duet,
        seed,
        blocks: layout.blocks,
        repeats_max: layout.repeats_max,
        called: called(study),
        factors,
        scenarios: planned_scenarios(launches),
        requests,
        trials: trials(launches, &layout, seed),
        variants: launches.iter().map(|launch| launch.variant.clone()).collect(),
        skipped,
        published: Vec::new(),
        claims: Vec::new(),
        faults,
        part: Vec::new(),
        guest: guest::planned(study),
        budget: None,
    };
    // A metric that the load sets cannot be compared with published values.
    let is_measured = |metric: &str| !plan.is_set_by_load(metric);
    let published = study.published.iter().filter(|p| is_measured(&p.metric)).cloned().collect();
    let claims = study.claim.iter().filter(|c| is_measured(&c.about.metric)).cloned().collect();
    Plan { published, claims, ..plan }
}

/// What sentences call the levels of the first factor.
fn called(study: &Study) -> BTreeMap<String, String> {
    let levels = study.factor.iter().take(1).flat_map(|factor| &factor.level);
    levels.filter_map(|level| Some((level.name.clone(), level.called.clone()?))).collect()
}

/// The load, in words.
fn load(procedure: &PlannedProcedure, launches: &[VariantLaunch], replicas: Option<u32>) -> String {
    match procedure {
        PlannedProcedure::Benchmark => return BENCHMARK_S_OWN.to_owned(),
        PlannedProcedure::Capacity(planned) => return capacity::describe(planned),
        PlannedProcedure::Windows | PlannedProcedure::Emulated(_) => {}
    }
    let mut loads = launches.iter().map(|launch| launch.load.describe());
    let first = loads.next().unwrap_or_default();
    let load = if loads.all(|load| load == first) { first } else { "varied".to_owned() };
    replicas.map_or(load.clone(), |servers| format!("{load}, shared by {servers} servers"))
}

/// The rule of the warm-up, in words.
fn warm_up(procedure: &PlannedProcedure, layout: &Layout) -> String {
    match procedure {
        PlannedProcedure::Benchmark => BENCHMARK_S_OWN.to_owned(),
        PlannedProcedure::Capacity(_) => layout.describe_warm_up(WARM_UP_LOAD),
        PlannedProcedure::Windows => layout.describe_warm_up("the load"),
        PlannedProcedure::Emulated(planned) => emulation::describe_warm_up(planned),
    }
}

/// The metric that decides where the study names none.
fn primary_metric(procedure: &PlannedProcedure) -> String {
    let id = match procedure {
        PlannedProcedure::Capacity(_) => metric::CRITICAL_RATE_PER_S,
        PlannedProcedure::Windows => metric::CPU_MS_PER_REQUEST,
        PlannedProcedure::Benchmark => metric::NS_PER_OP,
        PlannedProcedure::Emulated(_) => metric::EMULATED_USER_INSTRUCTIONS_PER_REQUEST,
    };
    id.to_owned()
}

pub(super) fn trials(launches: &[VariantLaunch], layout: &Layout, seed: u64) -> Vec<PlannedTrial> {
    let blocks = if layout.kind == Design::Resident { 1 } else { layout.blocks };
    let turns = (1..=blocks)
        .flat_map(|b| order(launches.len(), b, layout.kind, seed).into_iter().map(move |i| (b, i)));
    turns
        .zip(1..)
        .map(|((block, i), number)| PlannedTrial {
            number,
            variant: launches[i].variant.name.clone(),
            block,
            seed: load_seed(seed, block, 1),
        })
        .collect()
}
