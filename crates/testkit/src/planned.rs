//! The least plan and the least trials that a run can have, for tests of what is computed from its trials.

use assay_model::{Design, Plan, PlannedProcedure, Provenance, Trial, TrialOutcome, Variant, Window, schema};
use std::collections::BTreeMap;

/// Where the plan was made; nothing is known of the machine.
pub fn provenance() -> Provenance {
    Provenance {
        assay_version: "0".into(),
        kernel: None,
        os: None,
        architecture: "x86_64".into(),
        cpu_model: None,
        cpus: None,
        memory_bytes: None,
    }
}

/// A variant without factors.
pub fn variant(name: &str, baseline: Option<&str>) -> Variant {
    Variant {
        name: name.into(),
        levels: BTreeMap::new(),
        reference_mode: None,
        compact_headers: false,
        max_heap_bytes: None,
        jvm: None,
        jvm_options: vec![],
        environment_names: vec![],
        workload_options: BTreeMap::new(),
        baseline: baseline.map(str::to_owned),
        treatments: vec![],
        build: None,
    }
}

/// A plan of these variants, in fresh servers.
pub fn plan(variants: Vec<Variant>) -> Plan {
    Plan {
        schema: schema::PLAN.into(),
        provenance: provenance(),
        study: "s".into(),
        question: String::new(),
        background: String::new(),
        workload: "custom".into(),
        procedure: PlannedProcedure::Windows,
        quick: false,
        design: Design::Fresh,
        duet: None,
        seed: 7,
        blocks: 4,
        load: String::new(),
        load_sets_rate: false,
        warm_up: String::new(),
        window_s: 1.0,
        repeats_max: 0,
        factors: vec![],
        called: BTreeMap::new(),
        primary_metric: "cpu_ms_per_request".into(),
        variants,
        skipped: vec![],
        scenarios: Vec::new(),
        requests: Vec::new(),
        trials: vec![],
        expected_s: 0.0,
        published: vec![],
        claims: vec![],
        faults: vec![],
        part: vec![],
        guest: None,
        budget: None,
    }
}

/// A window that counts, with a value.
pub fn window(block: u32, metric: &str, value: f64) -> Window {
    Window {
        block,
        attempt: 1,
        end_monotonic_ns: 1,
        requests: 1,
        completed: 1,
        metrics: BTreeMap::from([(metric.to_owned(), value)]),
        ..Window::default()
    }
}

/// One resident launch with a window a block.
pub fn trial(variant: &str, metric: &str, by_block: &[f64]) -> Trial {
    Trial {
        schema: schema::TRIAL.into(),
        provenance: provenance(),
        number: 1,
        variant: variant.into(),
        block: 1,
        attempt: 1,
        seed: 1,
        treatments: vec![],
        command: vec![],
        processes: vec![],
        jvm: None,
        mode: None,
        collector: None,
        started_at: String::new(),
        started_monotonic_ns: None,
        start_to_ready_ms: None,
        users: None,
        session_starts: None,
        warm_up: None,
        windows: (1..).zip(by_block).map(|(block, value)| window(block, metric, *value)).collect(),
        response_curve: vec![],
        audit: None,
        outcome: TrialOutcome::Completed,
        group: None,
        page_outs: Vec::new(),
        excluded_observers: vec![],
        problems: vec![],
    }
}
