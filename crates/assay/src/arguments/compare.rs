//! Arguments of `assay compare`.

use super::FormatArguments;
use clap::Args;
use std::path::PathBuf;

/// Arguments of `assay compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// The earlier run directory
    pub before: PathBuf,
    /// The later run directory
    pub after: PathBuf,
    /// Form of the result.
    #[command(flatten)]
    pub format: FormatArguments,
    /// Write a page to FILE
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}
