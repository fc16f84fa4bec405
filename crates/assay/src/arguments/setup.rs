//! What can be typed after `assay setup`.

use clap::Args;

/// Arguments of `assay setup`.
#[derive(Debug, Args)]
pub struct SetupArguments {
    /// Where to clone the sources from, where there are none yet: what git takes [default: the repository of this release]
    #[arg(long, value_name = "URL|FOLDER")]
    pub from: Option<String>,
}
