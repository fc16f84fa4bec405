//! The runner: from a study file to a run directory.
//!
//! A study file names a server or a benchmark program, what is varied, how it is loaded and how trials are laid out. It is read and checked
//! as a whole ([`Study::read`]), or built in code and checked alike ([`Study::checked`]), joined with what this machine has
//! ([`Checked::prepare`]), and run ([`run`], [`run_for_value`]); what a run left
//! is read again by [`load_run`]. The engine tells what it does by `RunEvent`s and prints nothing.
//!
//! | part | files |
//! | --- | --- |
//! | study file, workload file, their mistakes | `study_file`, `program_table`, `process_table`, `fault_table`, `faults`, `read`, `document`, `checked`, `checked_variants`, `host_table`, `attached`, `workload`, `checkout`, `units`, `ready_made` |
//! | what this machine will run | `each_jdk`, `variant`, `preload`, `memory_left`, `prepare`, `plan` |
//! | measuring | `runner`, `benchmark_results`, `capacity` |
//! | a rule tried on a load | `what_if` |
//! | what is left | `run_dir`, `redacted`, `curves`, `summary`, `claims`, `gate`, `scaling`, `across` |

mod across;
mod attached;
mod benchmark_results;
mod capacity;
mod checked;
mod checked_variants;
mod checkout;
mod claims;
mod curves;
mod document;
mod each_jdk;
mod emulation;
mod error;
mod fault_table;
mod faults;
mod gate;
mod host_table;
mod measured;
mod memory_left;
mod missing;
mod names;
mod needed;
mod plan;
mod preload;
mod prepare;
mod process_table;
mod program_table;
mod read;
mod ready_made;
#[cfg(test)]
mod ready_made_tests;
mod redacted;
mod run_dir;
mod runner;
mod scaling;
mod study_file;
mod summary;
mod units;
mod variant;
mod what_if;
mod workload;

pub use across::compare_runs;
pub use assay_measure::observers::Observe;
pub use checked::Checked;
pub use checkout::{fetched_sources, sources};
pub use claims::{check_claims, contradictions};
pub use error::{Diagnostic, StudyError};
pub use fault_table::{FaultLimit, FaultSignal, FaultTable};
pub use gate::{Gate, GateError};
pub use host_table::{GroupTable, HostTable, PagesFor};
pub use prepare::Prepared;
pub use program_table::{BenchmarkTable, CommandLine, ProcessTable, RunAs, ServerTable, TlsTable};
pub use ready_made::{READY_MADE, ReadyMade};
pub use run_dir::{load_run, report_path};
pub use runner::{RunOptions, RunResult, Source, generator, run, run_for_value};
pub use study_file::{
    CapacityTable, DesignTable, Factor, Level, LimitsTable, LoadKind, LoadTable, QuickTable, Settings, Study,
    WarmUpTable, study_schema, workload_schema,
};
pub use units::{Seconds, Size, Swap, parse_size};
pub use what_if::{judged as judge_what_if, what_if};
pub use workload::cache_of;
