//! What can be typed after `assay setup`.

use clap::Args;

/// Arguments of `assay setup`.
#[derive(Debug, Args)]
pub struct SetupArguments {
    /// Git URL or folder to clone the sources from, if there are none yet [default: the repository of this release]
    #[arg(long, value_name = "URL|FOLDER")]
    pub from: Option<String>,
}
