//! The least plan that a run can have, for tests of what is computed from its trials.

use assay_model::{Design, Plan, PlannedProcedure, Provenance, Variant, schema};
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
    }
}
