//! What can be typed after `assay host`.

use super::{FormatArguments, GateFilesArguments};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Arguments of `assay host`.
#[derive(Debug, Args)]
pub struct HostArguments {
    /// A command in place of the check.
    #[command(subcommand)]
    pub command: Option<HostCommand>,
    /// A snapshot to judge, instead of this machine
    #[arg(value_name = "SNAPSHOT", conflicts_with = "snapshot")]
    pub from: Option<PathBuf>,
    /// Write a page to FILE
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Form of the result.
    #[command(flatten)]
    pub format: FormatArguments,
    /// Write the values that were read to FILE, as a snapshot
    #[arg(long, value_name = "FILE")]
    pub snapshot: Option<PathBuf>,
    /// Exit with 1 if a rule of at least this severity is broken
    #[arg(long, value_name = "SEVERITY")]
    pub fail_on: Option<Severity>,
    /// The verdict on --fail-on.
    #[command(flatten)]
    pub gate_files: GateFilesArguments,
    /// Write broken rules to FILE as SARIF 2.1.0, for lists of alerts
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
    /// Measure the advice of RULE: compare this machine with and without it, on the load of STUDY
    #[arg(long, num_args = 2, action = clap::ArgAction::Set, value_names = ["RULE", "STUDY"], conflicts_with_all = ["from", "snapshot", "fail_on", "all", "junit", "summary", "sarif", "html"])]
    pub what_if: Option<Vec<String>>,
    /// The short form of the study
    #[arg(long, requires = "what_if")]
    pub quick: bool,
    /// Let the comparison change settings of this machine while its trials run
    #[arg(long, requires = "what_if")]
    pub allow_host_changes: bool,
    /// Folder for the run [default: runs/<study>-<time>]
    #[arg(long, value_name = "FOLDER", requires = "what_if")]
    pub out: Option<PathBuf>,
    /// The smallest improvement that matters, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0, requires = "what_if")]
    pub least: f64,
}

/// Commands in place of the check.
#[derive(Debug, Subcommand)]
pub enum HostCommand {
    /// Differences between two snapshots, of two machines or of one before and after
    Diff(HostDiffArguments),
}

/// Arguments of `assay host diff`.
#[derive(Debug, Args)]
pub struct HostDiffArguments {
    /// The first snapshot
    pub before: PathBuf,
    /// The second one
    pub after: PathBuf,
    /// Write a page to FILE
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Form of the result.
    #[command(flatten)]
    pub format: FormatArguments,
}

/// How grave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Severity {
    /// Any broken rule
    Note,
    /// Costs memory, time or connections
    Warning,
    /// Affects users, now or later
    Error,
}
