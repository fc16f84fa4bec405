//! What can be typed after `assay host`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Arguments of `assay host`.
#[derive(Debug, Args)]
pub struct HostArguments {
    /// What to do instead of checking.
    #[command(subcommand)]
    pub command: Option<HostCommand>,
    /// A snapshot to judge, instead of this machine
    #[arg(value_name = "SNAPSHOT", conflicts_with = "snapshot")]
    pub from: Option<PathBuf>,
    /// Show what is good and what does not apply, too
    #[arg(long)]
    pub all: bool,
    /// Print the stored form as JSON
    #[arg(long, conflicts_with = "all")]
    pub json: bool,
    /// Write what was read to FILE
    #[arg(long, value_name = "FILE")]
    pub snapshot: Option<PathBuf>,
    /// End with exit code 1 if something is bad, and at least this grave
    #[arg(long, value_name = "SEVERITY")]
    pub fail_on: Option<Severity>,
}

/// Commands beside the check.
#[derive(Debug, Subcommand)]
pub enum HostCommand {
    /// What differs between two snapshots, of two machines or of one before and after
    Diff(HostDiffArguments),
}

/// Arguments of `assay host diff`.
#[derive(Debug, Args)]
pub struct HostDiffArguments {
    /// The first snapshot
    pub before: PathBuf,
    /// The second one
    pub after: PathBuf,
    /// Print the stored form as JSON
    #[arg(long)]
    pub json: bool,
}

/// How grave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Severity {
    /// Anything
    Note,
    /// What costs something
    Warning,
    /// What hurts users, or will
    Error,
}
