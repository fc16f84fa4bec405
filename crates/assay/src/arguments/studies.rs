//! What can be typed after `assay studies`.

use clap::Args;

/// Arguments of `assay studies`.
#[derive(Debug, Args)]
pub struct StudiesArguments {
    /// Print this study or scenario
    pub name: Option<String>,
    /// Print the list as JSON
    #[arg(long, conflicts_with = "name")]
    pub json: bool,
}
