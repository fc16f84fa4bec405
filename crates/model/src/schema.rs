//! Names of the stored formats. The number rises when a key is renamed, changes its meaning or goes away; a new key does not raise it.
//! A reader takes every number up to its own.

macro_rules! formats {
    ($($(#[$doc:meta])* $name:ident = $id:literal;)*) => {
        $($(#[$doc])* pub const $name: &str = $id;)*

        /// Every stored format.
        pub const ALL: &[&str] = &[$($name),*];
    };
}

formats! {
    /// `plan.json`
    PLAN = "assay.plan/1";
    /// `host.json`
    HOST = "assay.host/2";
    /// `assay flags --json`
    FLAGS = "assay.flags/1";
    /// `assay host --json`
    HOST_CHECK = "assay.host-check/3";
    /// `assay host --snapshot`
    HOST_SNAPSHOT = "assay.host-snapshot/1";
    /// `assay host diff --json`
    HOST_COMPARISON = "assay.host-comparison/2";
    /// `assay host --what-if --json`
    WHAT_IF = "assay.what-if/2";
    /// `trial.json`
    TRIAL = "assay.trial/4";
    /// `summary.json`
    SUMMARY = "assay.summary/4";
    /// `assay compare --json`
    RUN_COMPARISON = "assay.run-comparison/1";
    /// `assay load --json`
    LOAD = "assay.load/3";
    /// `assay capacity --json`
    CAPACITY = "assay.capacity/4";
    /// `assay gc --json`
    GC = "assay.gc/5";
    /// `assay gc diff --json`
    GC_COMPARISON = "assay.gc-comparison/2";
    /// First line of a trial's `gc.ndjson`
    GC_EVENTS = "assay.gc-events/3";
    /// `assay memory --json`
    MEMORY = "assay.memory/5";
    /// `assay memory advise --json`
    MEMORY_ADVICE = "assay.memory-advice/4";
    /// `assay memory diff --json`
    MEMORY_CHANGE = "assay.memory-change/3";
    /// First line of a file of `assay memory --record`
    MEMORY_RECORD = "assay.memory-record/4";
    /// `assay memory PID --trim --json`
    MEMORY_TRIM = "assay.memory-trim/1";
    /// `assay memory --json`
    MEMORY_JVMS = "assay.memory-jvms/1";
    /// `assay heap predict --json`
    HEAP_PREDICTION = "assay.heap-prediction/3";
    /// `assay heap layout --json`
    HEAP_LAYOUT = "assay.heap-layout/2";
    /// `assay heap modes --json`
    HEAP_MODES = "assay.heap-modes/4";
    /// `assay time --json`
    TIME = "assay.time/4";
    /// `assay time diff --json`
    TIME_CHANGE = "assay.time-change/1";
    /// A line of `events.ndjson`; the lines themselves do not name it
    RUN_EVENTS = "assay.events/2";
    /// A line of a trial's `memory.ndjson`; the lines themselves do not name it
    MEMORY_SAMPLES = "assay.memory-samples/2";
    /// `assay studies --json`
    STUDIES = "assay.studies/1";
    /// A study file (`studies/*.toml`)
    STUDY_FILE = "assay.study/1";
    /// A workload file (`workloads/*/workload.toml`)
    WORKLOAD_FILE = "assay.workload/1";
    /// A scenario file
    SCENARIO_FILE = "assay.scenario/1";
}

/// Whether what names itself `stored` can be read as the format `of`: it is of that one or of an earlier number.
pub fn is_readable(stored: &str, of: &str) -> bool {
    let parts = |text: &str| {
        let (name, number) = text.rsplit_once('/')?;
        Some((name.to_owned(), number.parse::<u32>().ok()?))
    };
    match (parts(stored), parts(of)) {
        (Some((name, number)), Some((wanted, newest))) => name == wanted && (1..=newest).contains(&number),
        _ => false,
    }
}
