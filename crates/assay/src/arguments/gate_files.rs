//! Files for a build: what conditions come to.

use clap::Args;
use std::path::PathBuf;

/// Files that get the verdicts on conditions.
#[derive(Debug, Args)]
pub struct GateFilesArguments {
    /// Write the verdict on each condition, and whether the result can be used, to FILE as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write the same and the result to FILE as Markdown, for the summary of a build
    #[arg(long, value_name = "FILE")]
    pub summary: Option<PathBuf>,
}
