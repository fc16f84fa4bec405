//! Names of the stored formats. The number rises when a key is renamed, changes its meaning or goes away; a new key does not raise it.
//! A reader takes every number from the one of 0.1.0 up to its own: who raises a number leaves `since` as it is.

macro_rules! formats {
    ($($(#[$doc:meta])* $name:ident = $id:literal, since $oldest:literal;)*) => {
        $($(#[$doc])* pub const $name: &str = $id;)*

        /// Every stored format.
        pub const ALL: &[&str] = &[$($name),*];

        /// The lowest number of each that is read.
        const OLDEST: &[(&str, u32)] = &[$(($name, $oldest)),*];
    };
}

formats! {
    /// `plan.json`
    PLAN = "assay.plan/1", since 1;
    /// `host.json`
    HOST = "assay.host/2", since 2;
    /// `hosts.json`
    HOSTS = "assay.hosts/1", since 1;
    /// `assay flags --json`
    FLAGS = "assay.flags/2", since 2;
    /// `assay host --json`
    HOST_CHECK = "assay.host-check/3", since 3;
    /// `assay host --snapshot`
    HOST_SNAPSHOT = "assay.host-snapshot/1", since 1;
    /// `assay host diff --json`
    HOST_COMPARISON = "assay.host-comparison/2", since 2;
    /// `assay host --what-if --json`
    WHAT_IF = "assay.what-if/2", since 2;
    /// `trial.json`
    TRIAL = "assay.trial/4", since 4;
    /// `summary.json`
    SUMMARY = "assay.summary/5", since 5;
    /// `assay compare --json`
    RUN_COMPARISON = "assay.run-comparison/1", since 1;
    /// `assay bisect --json`
    BISECT = "assay.bisect/1", since 1;
    /// `assay ab --json`
    AB = "assay.ab/1", since 1;
    /// `assay fit --json`
    FIT = "assay.fit/1", since 1;
    /// `assay judge --json`
    JUDGE = "assay.judge/1", since 1;
    /// `assay load --json`
    LOAD = "assay.load/3", since 3;
    /// `assay capacity --json`
    CAPACITY = "assay.capacity/4", since 4;
    /// `assay gc --json`
    GC = "assay.gc/5", since 5;
    /// `assay gc diff --json`
    GC_COMPARISON = "assay.gc-comparison/2", since 2;
    /// First line of a trial's `gc.ndjson`
    GC_EVENTS = "assay.gc-events/3", since 3;
    /// `assay memory --json`
    MEMORY = "assay.memory/5", since 5;
    /// `assay memory advise --json`
    MEMORY_ADVICE = "assay.memory-advice/4", since 4;
    /// `assay memory diff --json`
    MEMORY_CHANGE = "assay.memory-change/3", since 3;
    /// First line of a file of `assay memory --record`
    MEMORY_RECORD = "assay.memory-record/4", since 4;
    /// `assay memory PID --page-out KINDS --json`
    MEMORY_PAGE_OUT = "assay.memory-page-out/1", since 1;
    /// `assay memory PID --trim --json`
    MEMORY_TRIM = "assay.memory-trim/1", since 1;
    /// `assay memory --json`
    MEMORY_JVMS = "assay.memory-jvms/1", since 1;
    /// `assay memory FILE --json`
    MEMORY_TOOL_REPORT = "assay.memory-tool-report/1", since 1;
    /// `assay heap predict --json`
    HEAP_PREDICTION = "assay.heap-prediction/3", since 3;
    /// `assay heap layout --json`
    HEAP_LAYOUT = "assay.heap-layout/2", since 2;
    /// `assay heap modes --json`
    HEAP_MODES = "assay.heap-modes/4", since 4;
    /// `assay time --json`
    TIME = "assay.time/4", since 4;
    /// `assay time diff --json`
    TIME_CHANGE = "assay.time-change/1", since 1;
    /// `assay why --json`
    WHY = "assay.why/1", since 1;
    /// A line of `events.ndjson`; the lines themselves do not name it
    RUN_EVENTS = "assay.events/2", since 2;
    /// A line of a trial's `memory.ndjson`; the lines themselves do not name it
    MEMORY_SAMPLES = "assay.memory-samples/2", since 2;
    /// `assay studies --json`
    STUDIES = "assay.studies/1", since 1;
    /// A study file (`studies/*.toml`)
    STUDY_FILE = "assay.study/1", since 1;
    /// A workload file (`workloads/*/workload.toml`)
    WORKLOAD_FILE = "assay.workload/1", since 1;
    /// A scenario file
    SCENARIO_FILE = "assay.scenario/1", since 1;
}

/// Whether `stored` names the format `of`, whatever its number.
pub fn is_of(stored: &str, of: &str) -> bool {
    let name = of.split_once('/').map(|(name, _)| name);
    stored.split_once('/').is_some_and(|(stored, _)| Some(stored) == name)
}

/// Whether what names itself `stored` can be read as the format `of`: it is of that one, or of an earlier number that is still read.
///
/// # Errors
/// A sentence that says what it is, which numbers this version reads, and what to do.
pub fn check(stored: &str, of: &str) -> Result<(), String> {
    let oldest = OLDEST.iter().find(|(format, _)| *format == of).map_or(1, |(_, oldest)| *oldest);
    within(stored, of, oldest)
}

fn within(stored: &str, of: &str, oldest: u32) -> Result<(), String> {
    let number = |id: &str| id.split_once('/').and_then(|(_, number)| number.parse::<u32>().ok());
    let newest = number(of).unwrap_or(oldest);
    let reads = if oldest < newest { format!("{of}, and numbers from {oldest} on") } else { of.to_owned() };
    match number(stored).filter(|_| is_of(stored, of)) {
        None => Err(format!("its schema is {stored}, this version reads {reads}")),
        Some(number) if newest < number => Err(format!(
            "it is {stored}, which a newer Assay wrote; this version reads {reads}: take a newer Assay"
        )),
        Some(number) if number < oldest => Err(format!(
            "it is {stored}, which a development version before 0.1.0 wrote; this version reads {reads}: measure again"
        )),
        Some(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::within;

    #[test]
    fn every_number_since_the_oldest_is_read_and_others_say_what_to_do() {
        for stored in ["assay.gc/5", "assay.gc/6", "assay.gc/7"] {
            assert_eq!(within(stored, "assay.gc/7", 5), Ok(()));
        }
        let refused = |stored: &str| within(stored, "assay.gc/7", 5).expect_err(stored);
        assert_eq!(
            refused("assay.gc/4"),
            "it is assay.gc/4, which a development version before 0.1.0 wrote; this version reads assay.gc/7, and numbers from 5 on: measure again"
        );
        assert_eq!(
            refused("assay.gc/8"),
            "it is assay.gc/8, which a newer Assay wrote; this version reads assay.gc/7, and numbers from 5 on: take a newer Assay"
        );
        for other in ["assay.memory/5", "assay.gc", "gc/5", "assay.gc/", "assay.gc/-5", ""] {
            let told = format!("its schema is {other}, this version reads assay.gc/7");
            assert!(refused(other).starts_with(&told), "{other}");
        }
    }
}
