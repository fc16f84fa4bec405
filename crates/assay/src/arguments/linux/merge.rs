//! Arguments of `assay merge`.

use super::FormatArguments;
use clap::Args;
use std::path::PathBuf;

/// Arguments of `assay merge`.
#[derive(Debug, Args)]
pub struct MergeArguments {
    /// Run directories of assay run --blocks, of the same study
    #[arg(required = true, num_args = 1..)]
    pub runs: Vec<PathBuf>,
    /// Folder for the whole run
    #[arg(long)]
    pub out: PathBuf,
    /// Do without blocks that are missing
    #[arg(long)]
    pub partial: bool,
    /// Write the page to FILE as well as to the run directory
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Form of the result.
    #[command(flatten)]
    pub format: FormatArguments,
}
