//! What can be typed after `assay completions` and `assay reference`.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

/// Arguments of `assay completions`.
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell
    pub shell: Shell,
}

/// Arguments of `assay reference`.
#[derive(Debug, Args)]
pub struct ReferenceArguments {
    /// The page of findings in place of that of commands
    #[arg(long, conflicts_with = "man")]
    pub findings: bool,
    /// The page of metrics in place of that of commands
    #[arg(long, conflicts_with_all = ["man", "findings"])]
    pub metrics: bool,
    /// Write a man page of each command into this folder
    #[arg(long, value_name = "DIR")]
    pub man: Option<PathBuf>,
}
