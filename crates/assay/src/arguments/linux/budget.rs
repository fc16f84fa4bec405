//! A time budget instead of a number of blocks.

use super::number::parse_positive_number;
use assay_text::duration;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// How long a run may take, and when it has decided enough.
#[derive(Debug, Args)]
pub struct BudgetArguments {
    /// Instead of the study's number of blocks, add blocks until everything that is asked is decided, or this time is over: 60m. Asked are
    /// the metric that decides, the study's claims and each --fail-if, which then exits with 1 only if fresh blocks alone show it again
    #[arg(long, value_name = "DURATION", value_parser = duration::parse_positive)]
    pub budget: Option<Duration>,
    /// With --budget: the smallest difference of interest, percent. An interval within it means no difference [default: 2]
    #[arg(long, value_name = "PERCENT", value_parser = parse_positive_number, requires = "budget")]
    pub difference: Option<f64>,
    /// With --budget: a run directory of the same study, whose scatter says which difference the time can show [default: the newest in runs]
    #[arg(long, value_name = "RUN", requires = "budget")]
    pub earlier: Option<PathBuf>,
}
