//! Stored runs: the run directory, and everything computed from its trials. Nothing here knows study files or processes, and nothing
//! needs Linux.

mod across;
mod claims;
pub mod curves;
mod decisions;
mod duet;
mod earlier;
mod error;
pub mod findings;
mod gate;
mod hosts;
mod measured;
mod merge;
mod outlook;
pub mod redacted;
pub mod run_dir;
mod scaling;
pub mod summary;

pub use across::compare_runs;
pub use claims::{check_claims, claim_verdict, contradictions};
pub use decisions::is_decided;
pub use duet::is_whole;
pub use earlier::earlier_run;
pub use error::RunDirError;
pub use gate::{Gate, GateError};
pub use measured::ByBlock;
pub use merge::{merge, plan_difference};
pub use outlook::outlooks;
pub use run_dir::{load_run, report_path};
