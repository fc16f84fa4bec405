//! The runner: from a study file to a run directory.
//!
//! A study file names a server or a benchmark program, the factors, the load and the layout of trials. It is read and checked
//! as a whole ([`Study::read`]), or built in code and checked alike ([`Study::checked`]), planned for this machine
//! ([`Checked::prepare`]), and run ([`run`], [`run_for_value`]); `assay_results` reads the run directory again.
//! Progress is a stream of `RunEvent`s; nothing is printed.
//!
//! Each folder uses those above it in this table, and none below it:
//!
//! | folder | content |
//! | --- | --- |
//! | `source` | commits and folders that builds are made of |
//! | `file` | study file and workload file as they are written, with their lines; the ready-made studies |
//! | `check` | mistakes that are the same on every machine, and defaults |
//! | `plan` | this machine's part: JVMs, changes that levels ask for, variants that cannot run here, order and length of the run |
//! | `runner` | trials, from their start to their stored result |
//!
//! `what_if`, `ab`, `bisect` and `judge` use them all: the first makes a study of a rule's advice, and judges its run; the second of two commands; the third of two
//! commits, again and again; the last of flags and of parts of them, by the second. `fit` tries one server in container after container, `counted`
//! counts the instructions of a study's variants in guests, and `guests` has whole studies run in emulated machines.

mod ab;
mod bisect;
mod check;
mod counted;
mod error;
mod file;
mod fit;
mod guests;
mod judge;
mod plan;
mod runner;
mod source;
mod what_if;

pub use ab::{
    AbCommand, AbQuestion, Count, condition_of_count, conditions as ab_conditions, judged as ab_judged,
};
pub use assay_measure::observers::Observe;
pub use bisect::{Bisect, BisectEvent, BisectOptions, default_folder as bisect_folder};
pub use check::checked::Checked;
pub use counted::CountedForm;
pub use error::{Diagnostic, StudyError};
pub use file::checkout::{fetched_sources, sources};
pub use file::fault::{FaultLimit, FaultSignal, FaultTable};
pub use file::guest::GuestTable;
pub use file::host::{GroupTable, HostTable, PagesFor};
pub use file::program::{BenchmarkTable, CommandLine, ProcessTable, RunAs, ServerTable, TlsTable};
pub use file::ready_made::{READY_MADE, ReadyMade};
pub use file::study::{
    CapacityTable, DesignTable, EmulatedTable, Factor, Level, LimitsTable, LoadKind, LoadTable, QuickTable,
    Settings, Study, WarmUpTable, study_schema,
};
pub use file::units::{Seconds, Size, Swap, parse_size};
pub use file::workload::{cache_of, workload_schema};
pub use fit::{Fit, FitEvent, FitOption, FitOptions, FitServer, FitWorkload, default_folder as fit_folder};
pub use guests::{GuestEvent, InGuests};
pub use judge::{Judge, JudgeEvent, JudgeOptions, JudgedServer, default_folder as judge_folder};
pub use plan::budget::Budget;
pub use plan::part::Blocks;
pub use plan::prepare::Prepared;
pub use runner::{
    RunOptions, RunResult, Source, default_out as default_run_folder, generator, run, run_for_value, run_from,
};
pub use what_if::{judged as judge_what_if, what_if};
